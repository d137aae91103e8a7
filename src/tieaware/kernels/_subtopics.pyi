import numpy as np
import numpy.typing as npt

def greedy_gains(
    codes: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    relevant: npt.NDArray[np.bool_],
    weights: npt.NDArray[np.float64],
    alpha: float,
    depth: int,
    rounding: float,
) -> npt.NDArray[np.float64]: ...
