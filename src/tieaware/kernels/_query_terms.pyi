import numpy as np
from numpy.typing import NDArray

def largest_products(
    query_weights: NDArray[np.float64], weights: NDArray[np.float64], offsets: NDArray[np.int64]
) -> NDArray[np.float64]: ...
def sums(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]: ...
