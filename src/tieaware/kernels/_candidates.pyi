import numpy as np
from numpy.typing import NDArray

_Weights = NDArray[np.float32 | np.uint8 | np.uint16]

def search(
    candidate_starts: NDArray[np.int64],
    candidate_stops: NDArray[np.int64],
    candidates: NDArray[np.int32],
    at_least: int,
    fewest: int,
    n_documents: int,
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    query_weights: NDArray[np.float64],
    documents: NDArray[np.int32],
    weights: _Weights,
    bitmap_rows: NDArray[np.int64] | None,
    bitmaps: NDArray[np.uint64] | None,
    ranks: NDArray[np.uint32] | None,
    base: NDArray[np.float64] | None,
    k: int,
    whole_ties: bool,
) -> tuple[NDArray[np.int32], NDArray[np.float64], int, int, int] | None: ...
def score(
    candidates: NDArray[np.int32],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    query_weights: NDArray[np.float64],
    documents: NDArray[np.int32],
    weights: _Weights,
    sums: NDArray[np.float64],
) -> int: ...
