from typing import Any

import numpy as np
from numpy.typing import NDArray

def columns_of(
    judgments: dict[Any, Any],
) -> (
    tuple[
        NDArray[np.uint8],
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.uint8],
        NDArray[np.int64],
        NDArray[np.int32] | NDArray[np.float64],
        NDArray[np.uint64],
    ]
    | None
): ...
def object_sections(array: NDArray[np.object_], start: int, stop: int) -> NDArray[np.int64]: ...
def object_identifiers(
    array: NDArray[np.object_], start: int, stop: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64]] | None: ...
def texts(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> list[Any]: ...
