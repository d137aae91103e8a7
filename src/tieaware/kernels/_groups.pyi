import numpy as np
import numpy.typing as npt

from tieaware.engine.documents import ExcludedDocuments, WeightedDocuments

AVERAGE: int
IN_ORDER: int
BEST_FIRST: int
WORST_FIRST: int

class PreparedLists:
    n_queries: int
    n_docs: int
    n_weighted: int
    n_weightings: int
    def __init__(
        self,
        offsets: npt.NDArray[np.int64],
        weighted: WeightedDocuments,
        excluded: ExcludedDocuments | None = None,
        *,
        placement: int,
        depth: int,
        counting_limit: int,
        first_group: bool = False,
        spread: bool = False,
        order: npt.NDArray[np.int64] | None = None,
        sorted_lists: npt.NDArray[np.bool_] | None = None,
    ) -> None: ...
    def rows(self, first: int, last: int) -> PreparedLists: ...
