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
