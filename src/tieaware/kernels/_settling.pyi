import numpy as np
from numpy.typing import NDArray

_Weights = NDArray[np.float32 | np.uint8 | np.uint16]

class Accumulators:
    def __init__(self, n_documents: int) -> None: ...

def search(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    query_weights: NDArray[np.float64],
    sorted_documents: NDArray[np.int32],
    sorted_weights: _Weights,
    documents: NDArray[np.int32],
    weights: _Weights,
    n_documents: int,
    k: int,
    boundaries: NDArray[np.int64] | None,
    by_look_up: bool,
    accumulators: Accumulators,
) -> tuple[NDArray[np.int32], NDArray[np.float64], int, int, int]: ...
