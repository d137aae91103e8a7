from typing import Any

import numpy as np
import numpy.typing as npt

def listed(
    labels: npt.NDArray[Any], offsets: npt.NDArray[np.int64], zeros: bool, pool: bool
) -> (
    tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int64]]
    | None
): ...
def count(labels: npt.NDArray[np.int32], offsets: npt.NDArray[np.int64], least: int) -> npt.NDArray[np.float64]: ...
def highest(labels: npt.NDArray[np.int32]) -> int: ...
def longest(offsets: npt.NDArray[np.int64]) -> int: ...
def clear_undefined(norms: npt.NDArray[np.float64], totals: npt.NDArray[np.float64]) -> None: ...
def weighted(
    offsets: npt.NDArray[np.int64],
    positions: npt.NDArray[np.int64],
    labels: npt.NDArray[np.int32],
    first: int,
    by_label: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]: ...
