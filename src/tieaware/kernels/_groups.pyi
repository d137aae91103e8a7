import numpy as np
import numpy.typing as npt

AVERAGE: int
IN_ORDER: int
BEST_FIRST: int
WORST_FIRST: int

class PreparedLists:
    n_queries: int
    n_docs: int
    n_keys: int
    n_weights: int
    def __init__(
        self,
        rule: int,
        depth: int,
        counting_limit: int,
        sorted_lists: npt.NDArray[np.bool_] | None,
        offsets: npt.NDArray[np.int64],
        key_offsets: npt.NDArray[np.int64],
        key_position: npt.NDArray[np.int64],
        key_weight: npt.NDArray[np.float64],
        key_rank: npt.NDArray[np.int64] | None = None,
        order: npt.NDArray[np.int64] | None = None,
        excluded_offsets: npt.NDArray[np.int64] | None = None,
        excluded_position: npt.NDArray[np.int64] | None = None,
        key_excluded: npt.NDArray[np.int64] | None = None,
    ) -> None: ...
    def rows(self, first: int, last: int) -> PreparedLists: ...
