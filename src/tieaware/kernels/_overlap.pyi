import numpy as np
import numpy.typing as npt

def moments(
    cells: npt.NDArray[np.int64],
    orders: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    depths: npt.NDArray[np.int64],
    shorter: npt.NDArray[np.int64],
    power: npt.NDArray[np.float64],
    extrapolate: bool,
) -> npt.NDArray[np.float64]: ...
