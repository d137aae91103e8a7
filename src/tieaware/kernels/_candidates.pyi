from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tieaware.kernels._term_lists import PostingLists

_Bounds: TypeAlias = tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64] | None,
    float,
    bool,
    NDArray[np.int64] | None,
    NDArray[np.uint64] | None,
]

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
    cuts: tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]] | None,
    bounds: _Bounds | None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]: ...
def score(
    candidates: NDArray[np.int32],
    postings: PostingLists,
    terms: NDArray[np.int64],
    query_weights: NDArray[np.float64],
    n_documents: int,
    sums: NDArray[np.float64],
) -> int: ...
