import numpy as np
from numpy.typing import NDArray

def nearest(
    offsets: NDArray[np.int64],
    terms: NDArray[np.int32],
    weights: NDArray[np.float32],
    starts: NDArray[np.int64],
    leaders: NDArray[np.int32],
    leader_weights: NDArray[np.float32],
    n_leaders: int,
    rows: NDArray[np.int64],
    dense_weights: NDArray[np.float32],
    b: int,
    out: NDArray[np.int32],
) -> None: ...
