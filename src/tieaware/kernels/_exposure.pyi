from typing import Any

import numpy as np
import numpy.typing as npt

def exposures(
    scores: npt.NDArray[Any],
    offsets: npt.NDArray[np.int64],
    order: npt.NDArray[np.int64] | None,
    average: bool,
    prefix_sums: npt.NDArray[np.float64],
    cutoff: int,
    out: npt.NDArray[np.float64],
    first: int,
    last: int,
) -> int: ...
