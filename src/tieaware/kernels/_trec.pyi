import numpy as np
from numpy.typing import NDArray

LONGEST_LINE: int

class Parser:
    bad_line: bytes | None
    tag: bytes | None
    def __init__(
        self, judgments: bool = False, continued: bool = False, missing: bool = False, surplus: bool = False
    ) -> None: ...
    @property
    def n_sections(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def has_reals(self) -> bool: ...
    @property
    def line(self) -> int: ...
    def room(self, size: int) -> memoryview: ...
    def parse(self, written: int, final: bool = False) -> bool: ...
    def take(
        self, n_sections: int
    ) -> tuple[
        NDArray[np.uint8],
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.uint8],
        NDArray[np.int64],
        NDArray[np.float64],
        NDArray[np.int64],
        NDArray[np.int64],
    ]: ...
