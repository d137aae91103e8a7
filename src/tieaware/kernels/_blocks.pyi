import numpy as np
from numpy.typing import NDArray

from tieaware.kernels._term_lists import PostingLists

class Memory:
    def __init__(self, n_documents: int) -> None: ...

class Maxima:
    def __init__(self, largest: NDArray[np.uint8], scales: NDArray[np.float64]) -> None: ...

def search(
    postings: PostingLists,
    maxima: Maxima,
    terms: NDArray[np.int64],
    query_weights: NDArray[np.float64],
    largest: NDArray[np.float64],
    offsets: NDArray[np.int64],
    at_least: NDArray[np.int64],
    floors: NDArray[np.float64],
    n_documents: int,
    k: int,
    base: NDArray[np.float64] | None,
    base_parts: NDArray[np.uint16] | None,
    order: NDArray[np.int32] | None,
    until: int,
    whole_ties: bool,
    highest: float,
    memory: Memory,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]: ...
