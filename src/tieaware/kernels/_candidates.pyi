import numpy as np
from numpy.typing import NDArray

from tieaware.kernels._term_lists import PostingLists

def search(
    candidates: PostingLists,
    which: NDArray[np.int64],
    which_offsets: NDArray[np.int64],
    at_least: int,
    fewest: int,
    n_documents: int,
    postings: PostingLists,
    terms: NDArray[np.int64],
    query_weights: NDArray[np.float64],
    offsets: NDArray[np.int64],
    base: NDArray[np.float64] | None,
    parts: NDArray[np.float64] | None,
    k: int,
    whole_ties: bool,
    ascending: bool,
    cut_weights: NDArray[np.float64] | None,
    cut_documents: NDArray[np.int32] | None,
    cut_filters: NDArray[np.int64] | None,
    largest: NDArray[np.float64] | None,
    missing: NDArray[np.float64] | None,
    kth_largest: NDArray[np.float64] | None,
    bases: NDArray[np.float64] | None,
    most_base: float,
    missing_with_base: bool,
    filter_starts: NDArray[np.int64] | None,
    filter_words: NDArray[np.uint64] | None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]: ...
def score(
    candidates: NDArray[np.int32],
    postings: PostingLists,
    terms: NDArray[np.int64],
    query_weights: NDArray[np.float64],
    n_documents: int,
    sums: NDArray[np.float64],
) -> int: ...
