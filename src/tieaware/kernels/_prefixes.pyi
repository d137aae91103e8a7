import numpy as np
from numpy.typing import NDArray

def choose(
    terms: NDArray[np.int64],
    query_weights: NDArray[np.float64],
    starts: NDArray[np.int64],
    documents: NDArray[np.int32],
    weights: NDArray[np.float32 | np.uint8 | np.uint16],
    samples: NDArray[np.float32 | np.uint8 | np.uint16],
    share_read: float,
    most: int,
    share: float,
    by_term: bool,
) -> NDArray[np.int64]: ...
def choose_all(
    terms: NDArray[np.int64],
    query_weights: NDArray[np.float64],
    offsets: NDArray[np.int64],
    starts: NDArray[np.int64],
    documents: NDArray[np.int32],
    weights: NDArray[np.float32 | np.uint8 | np.uint16],
    samples: NDArray[np.float32 | np.uint8 | np.uint16],
    first_filters: NDArray[np.int64],
    share_read: float,
    most: int,
    share: float,
    by_term: bool,
    k: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]: ...
