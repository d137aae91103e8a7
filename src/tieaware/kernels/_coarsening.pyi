import numpy as np
import numpy.typing as npt

class KernelCoarsening:
    single: bool
    whole_list: bool
    def __init__(self, name: str, number: int = 0) -> None: ...
    def coarsen(
        self, scores: npt.NDArray[np.float64] | npt.NDArray[np.float32], offsets: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64] | npt.NDArray[np.float32]: ...

def least_double_of(k: int) -> float: ...
def by_rank(
    scores: npt.NDArray[np.float64] | npt.NDArray[np.float32],
    offsets: npt.NDArray[np.int64],
    of_rank: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]: ...
