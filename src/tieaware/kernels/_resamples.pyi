import numpy as np
from numpy.typing import NDArray

def neighbours(
    samples: NDArray[np.float64],
    below: NDArray[np.int64],
    space: NDArray[np.float64],
    found: NDArray[np.float64],
) -> None: ...
def count_draws(drawn: NDArray[np.int64], counts: NDArray[np.float64]) -> None: ...
