from typing import Any

import numpy as np
from numpy.typing import NDArray

def largest(
    starts: NDArray[np.int64], values: NDArray[np.floating[Any] | np.integer[Any]], sizes: NDArray[np.int64]
) -> NDArray[np.uint8]: ...
