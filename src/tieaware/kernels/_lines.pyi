import numpy as np
import numpy.typing as npt

from tieaware.kernels._engine import Engine

class Line:
    n_blurred: int
    def __init__(
        self,
        engine: Engine,
        a: npt.NDArray[np.float64],
        d: npt.NDArray[np.float64],
        e: npt.NDArray[np.float64],
        low: float,
        high: float,
        width: float,
        relative: float,
        included: npt.NDArray[np.uint8],
        reaches: npt.NDArray[np.uint8],
        centre: npt.NDArray[np.float64] | None = None,
        with_meetings: bool = False,
    ) -> None: ...
    @property
    def breaks(self) -> npt.NDArray[np.float64]: ...
    @property
    def means(self) -> npt.NDArray[np.float64]: ...
    @property
    def meetings(self) -> npt.NDArray[np.float64]: ...
    @property
    def sums(self) -> npt.NDArray[np.float64] | None: ...
