import numpy as np
import numpy.typing as npt

def largest_sums(
    edges: npt.NDArray[np.int64], weights: npt.NDArray[np.float64], most: int, gain: bool
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]: ...
