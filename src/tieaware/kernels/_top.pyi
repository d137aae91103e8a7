import numpy as np
from numpy.typing import NDArray

def top(
    documents: NDArray[np.int32],
    scores: NDArray[np.float64],
    k: int,
    whole_ties: bool,
) -> tuple[NDArray[np.int32], NDArray[np.float64], int, int]: ...
def largest(starts: NDArray[np.int64], values: NDArray[np.float64], sizes: NDArray[np.int64]) -> NDArray[np.bool_]: ...
