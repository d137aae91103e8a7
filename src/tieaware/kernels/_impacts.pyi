import numpy as np
from numpy.typing import NDArray

def choose(
    terms: NDArray[np.int64],
    term_starts: NDArray[np.int64],
    starts: NDArray[np.int64],
    weights: NDArray[np.float32 | np.uint8 | np.uint16],
    query_weights: NDArray[np.float64],
    share_read: float,
    most: int,
    share: float,
    by_term: bool,
) -> NDArray[np.int64]: ...
