import numpy as np
from numpy.typing import NDArray

class PostingLists:
    def __init__(
        self,
        starts: NDArray[np.int64],
        stops: NDArray[np.int64],
        documents: NDArray[np.int32],
        weights: NDArray[np.float32 | np.uint8 | np.uint16],
        rows: NDArray[np.int64] | None,
        dense_weights: NDArray[np.float32 | np.uint8 | np.uint16] | None,
        bitmap_rows: NDArray[np.int64] | None,
        bitmaps: NDArray[np.uint64] | None,
        ranks: NDArray[np.uint32] | None,
    ) -> None: ...

def largest_products(
    query_weights: NDArray[np.float64], weights: NDArray[np.float64], offsets: NDArray[np.int64]
) -> NDArray[np.float64]: ...
def sum_of_products(query_weights: NDArray[np.float64], weights: NDArray[np.float64]) -> float: ...
def sums(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]: ...
def concatenated(arrays: tuple[NDArray[np.int64], ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None: ...
