import numpy as np
from numpy.typing import NDArray

class Sums:
    def __init__(self, n_documents: int) -> None: ...

def search(
    terms: NDArray[np.int64],
    starts: NDArray[np.int64],
    documents: NDArray[np.int32],
    weights: NDArray[np.float32],
    query_weights: NDArray[np.float64],
    share_read: float,
    most: int,
    share: float,
    by_term: bool,
    k: int,
    whole_ties: bool,
    sums: Sums,
) -> tuple[NDArray[np.int32], NDArray[np.float64], int, int, int] | None: ...
