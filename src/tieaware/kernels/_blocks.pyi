import numpy as np
from numpy.typing import NDArray

from tieaware.kernels._term_lists import PostingLists

class Memory:
    def __init__(self, n_documents: int) -> None: ...

class Blocks:
    def __init__(
        self,
        postings: PostingLists,
        maxima: NDArray[np.uint8],
        scales: NDArray[np.float64],
        largest: NDArray[np.float64],
        n_documents: int,
    ) -> None: ...

class Base:
    def __init__(self, values: NDArray[np.float64], parts: NDArray[np.uint16], order: NDArray[np.int32]) -> None: ...

class Queries:
    def __init__(
        self,
        terms: NDArray[np.int64],
        weights: NDArray[np.float64],
        offsets: NDArray[np.int64],
        at_least: NDArray[np.int64],
        floors: NDArray[np.float64],
    ) -> None: ...

def search(
    blocks: Blocks, base: Base | None, queries: Queries, k: int, until: int, whole_ties: bool, memory: Memory
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]: ...
