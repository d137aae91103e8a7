import numpy as np
import numpy.typing as npt

ADDITIVE: int
AVERAGE_PRECISION: int
RECIPROCAL_RANK: int

def lambdas(
    scores: npt.NDArray[np.float64],
    gains: npt.NDArray[np.float64],
    order: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    norms: npt.NDArray[np.float64],
    slots: npt.NDArray[np.float64],
    family: int,
    truncation: int,
    sigma: float,
    normalised: bool,
    gradient: npt.NDArray[np.float64],
    hessian: npt.NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
