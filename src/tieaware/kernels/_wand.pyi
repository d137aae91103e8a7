import numpy as np
from numpy.typing import NDArray

_Weights = NDArray[np.float32 | np.uint8 | np.uint16]

def wand(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    query_weights: NDArray[np.float64],
    bounds: NDArray[np.float64],
    documents: NDArray[np.int32],
    weights: _Weights,
    n_documents: int,
    k: int,
    whole_ties: bool,
    floor: float,
    first_blocks: NDArray[np.int64] | None,
    lasts: NDArray[np.int32] | None,
    maxima: _Weights | None,
    block_size: int,
) -> tuple[NDArray[np.int32], NDArray[np.float64], int, int, int]: ...
