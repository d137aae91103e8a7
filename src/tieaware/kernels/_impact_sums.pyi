import numpy as np
from numpy.typing import NDArray

class Accumulators: ...

def search(
    terms: NDArray[np.int64],
    query_weights: NDArray[np.float64],
    ranges: NDArray[np.int64],
    term_starts: NDArray[np.int64],
    segments: NDArray[np.int64],
    documents: NDArray[np.int32],
    weights: NDArray[np.uint8],
    n_documents: int,
    k: int,
    whole_ties: bool,
    accumulators: Accumulators,
) -> tuple[NDArray[np.int32], NDArray[np.float64], int, int] | None: ...
