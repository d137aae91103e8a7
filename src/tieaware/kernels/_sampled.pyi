import numpy as np
import numpy.typing as npt

def moments(
    above: npt.NDArray[np.int64],
    tied: npt.NDArray[np.int64],
    n: npt.NDArray[np.int64],
    m: int,
    values: npt.NDArray[np.float64],
    replacement: bool,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], int]: ...
