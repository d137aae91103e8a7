import numpy as np
from numpy.typing import NDArray

_Weights = NDArray[np.float32 | np.uint8 | np.uint16]

def accumulate(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    query_weights: NDArray[np.float64],
    documents: NDArray[np.int32],
    weights: _Weights,
    n_documents: int,
    k: int,
    base: NDArray[np.float64] | None,
    at_least: int,
    whole_ties: bool,
    all_in_heap: bool,
    floor: float,
    bounds: NDArray[np.float64] | None,
    rows: NDArray[np.int64] | None,
    dense_weights: _Weights | None,
    chunk_size: int,
    bitmap_rows: NDArray[np.int64] | None,
    bitmaps: NDArray[np.uint64] | None,
    ranks: NDArray[np.uint32] | None,
    order: NDArray[np.int32] | None,
    rest: float,
    until: int,
) -> tuple[NDArray[np.int32], NDArray[np.float64], int, int, int]: ...
