import numpy as np
from numpy.typing import NDArray

def smallest_windows(
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    needed: NDArray[np.int32],
    documents: NDArray[np.int32],
    position_starts: NDArray[np.int64],
    positions: NDArray[np.int32],
    candidates: NDArray[np.int32],
) -> NDArray[np.int32]: ...
