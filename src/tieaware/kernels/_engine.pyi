from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.kernels._coarsening import KernelCoarsening
from tieaware.kernels._groups import PreparedLists
from tieaware.kernels._kernel_measures import Measures

class Engine:
    n_measures: int
    def __init__(
        self,
        lists: PreparedLists,
        measures: Measures,
        *,
        norms: npt.NDArray[np.float64],
        query_numbers: npt.NDArray[np.float64],
        lookup_starts: npt.NDArray[np.int64],
        undefined: float,
        judged: int,
        judged_lengths: npt.NDArray[np.int64],
        shared_scores: bool = False,
        coarsening: KernelCoarsening | None = None,
        carries: npt.NDArray[np.int32] | None = None,
    ) -> None: ...
    @property
    def weighted_offsets(self) -> npt.NDArray[np.int64]: ...
    @property
    def weighted_positions(self) -> npt.NDArray[np.int64]: ...
    @property
    def coarsens(self) -> bool: ...
    def sharing_scores(self) -> Engine: ...
    def rows(self, first: int, last: int) -> Engine: ...
    def call(self, scores: Any, out: Any, in_rows: bool) -> int | None: ...
    def evaluate(self, scores: npt.NDArray[Any], out: npt.NDArray[np.float64], first: int, last: int) -> int: ...
    def sweep(
        self,
        scores: npt.NDArray[Any],
        bands: list[npt.NDArray[np.int64]],
        placement: int,
        spread: bool,
        out: npt.NDArray[np.float64],
        first: int,
        last: int,
    ) -> int: ...
    def spread(self, scores: npt.NDArray[Any] | None, out: npt.NDArray[np.float64], first: int, last: int) -> int: ...
    def means(
        self, scores: npt.NDArray[Any], out: npt.NDArray[np.float64], first: int, last: int
    ) -> tuple[int, int] | None: ...
