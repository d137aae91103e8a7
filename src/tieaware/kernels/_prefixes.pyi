import numpy as np
from numpy.typing import NDArray

def choose_all(
    terms: NDArray[np.int64],
    offsets: NDArray[np.int64],
    starts: NDArray[np.int64],
    documents: NDArray[np.int32],
    weights: NDArray[np.float32],
    samples: NDArray[np.float32],
    first_filters: NDArray[np.int64],
    query_weights: NDArray[np.float64],
    share_read: float,
    most: int,
    share: float,
    by_term: bool,
    k: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]: ...
