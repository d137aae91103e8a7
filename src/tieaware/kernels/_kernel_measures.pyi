import numpy as np
import numpy.typing as npt

class Notation:
    _text: str
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

class KernelMeasure:
    name: str
    refusal: str | None
    weighting: int
    n_weightings: int
    def __init__(
        self,
        *,
        name: str,
        refusal: str | None = None,
        kernel: str,
        weighting: int,
        n_weightings: int,
        squared_weighting: int,
        cutoff: int | None = None,
        measure_number: float,
        judged_only: bool,
        less_is_better: bool,
        always_defined: bool,
        geometric: bool,
        lookup: npt.NDArray[np.float64] | None = None,
        squares: npt.NDArray[np.float64] | None = None,
        of_queries: npt.NDArray[np.float64] | None = None,
    ) -> None: ...
    def with_lookup(
        self,
        lookup: npt.NDArray[np.float64] | None,
        squares: npt.NDArray[np.float64] | None,
        of_queries: npt.NDArray[np.float64] | None = None,
    ) -> KernelMeasure: ...

class Measures:
    n: int
    def __init__(self, kernels: list[KernelMeasure]) -> None: ...
