import numpy as np
from numpy.typing import NDArray

from tieaware.kernels._term_lists import PostingLists

def accumulate(
    postings: PostingLists,
    terms: NDArray[np.int64],
    query_weights: NDArray[np.float64],
    n_documents: int,
    k: int,
    base: NDArray[np.float64] | None,
    at_least: int,
    whole_ties: bool,
    all_in_heap: bool,
    floor: float,
    bounds: NDArray[np.float64] | None,
    chunk_size: int,
    order: NDArray[np.int32] | None,
    rest: float,
    highest: float,
    until: int,
) -> tuple[NDArray[np.int32], NDArray[np.float64], int, int, int]: ...
