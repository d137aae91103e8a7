import numpy as np
import numpy.typing as npt

from tieaware.kernels._engine import Engine

def reaching(
    engine: Engine, a: npt.NDArray[np.float64], d: npt.NDArray[np.float64], low: float, high: float
) -> npt.NDArray[np.uint8]: ...
