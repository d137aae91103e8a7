import numpy as np
import numpy.typing as npt

def means(values: npt.NDArray[np.float64], geometric: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]: ...
