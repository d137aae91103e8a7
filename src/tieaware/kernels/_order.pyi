import numpy as np
from numpy.typing import NDArray

def order(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], list_offsets: NDArray[np.int64], descending: bool
) -> NDArray[np.int64]: ...
