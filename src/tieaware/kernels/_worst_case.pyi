import numpy as np
import numpy.typing as npt

def average_precision(
    starts: npt.NDArray[np.int64], depth: int, gain: bool
) -> tuple[float, npt.NDArray[np.int8]]: ...
