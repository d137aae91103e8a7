import numpy as np
from numpy.typing import NDArray

class Accumulators: ...

def search(
    terms: NDArray[np.int64],
    term_starts: NDArray[np.int64],
    segments: NDArray[np.int64],
    documents: NDArray[np.int32],
    weights: NDArray[np.float32 | np.uint8 | np.uint16],
    query_weights: NDArray[np.float64],
    share_read: float,
    most: int,
    share: float,
    by_term: bool,
    n_documents: int,
    k: int,
    whole_ties: bool,
    accumulators: Accumulators,
) -> tuple[NDArray[np.int32], NDArray[np.float64], int, int, int] | None: ...
