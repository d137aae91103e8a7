"""Numbers, as all of these functions take them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tieaware.errors import InputError

Values = npt.NDArray[np.float64]


def finite(values: npt.ArrayLike, name: str) -> Values:
    """Return numbers as an array, or raise InputError."""
    try:
        array: Values = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: {str(error).splitlines()[0]}, expected numbers") from None
    if not np.isfinite(array).all():
        raise InputError(f"{name}: found {array[~np.isfinite(array)][0]}, expected finite numbers")
    return array
