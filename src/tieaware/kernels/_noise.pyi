from typing import Any

import numpy as np
import numpy.typing as npt

class KernelNoise:
    def __init__(self, table: npt.NDArray[np.float64], start: float, width: float, step: float) -> None: ...

class NoisyMeasures:
    def __init__(
        self,
        slots: list[npt.NDArray[np.float64]],
        gains: list[npt.NDArray[np.float64]],
        stays: list[npt.NDArray[np.float64] | None],
        counted: list[bool],
        judged_only: list[bool],
    ) -> None: ...

def expectations(
    noise: KernelNoise,
    window: tuple[float, float],
    reach: tuple[float, float],
    measures: NoisyMeasures,
    scores: npt.NDArray[np.float64],
    sizes: npt.NDArray[np.float64],
    lists: tuple[npt.NDArray[Any] | None, ...],
    norms: npt.NDArray[np.float64],
    largest: npt.NDArray[np.float64],
    tolerance: float,
    beyond: float,
    undefined: float,
    values: npt.NDArray[np.float64],
    errors: npt.NDArray[np.float64],
    first: int,
    last: int,
) -> None: ...
