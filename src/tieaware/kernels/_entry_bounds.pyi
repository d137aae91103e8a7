import numpy as np
from numpy.typing import NDArray

def fill_filters(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    documents: NDArray[np.int32],
    filter_starts: NDArray[np.int64],
    words: NDArray[np.uint64],
) -> None: ...
