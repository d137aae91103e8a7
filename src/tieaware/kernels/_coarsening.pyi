import numpy as np
import numpy.typing as npt

class KernelCoarsening:
    single: bool
    whole_list: bool
    longest: int
    def __init__(
        self,
        name: str,
        number: int = 0,
        starts: npt.NDArray[np.int64] | None = None,
        atol: float = 0.0,
        rtol: float = 0.0,
    ) -> None: ...
    def coarsen(
        self, scores: npt.NDArray[np.float64] | npt.NDArray[np.float32], offsets: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64] | npt.NDArray[np.float32]: ...

def least_double_of(k: int) -> float: ...
