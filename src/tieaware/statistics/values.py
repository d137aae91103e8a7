"""Numbers, as all of these functions take them, and when two are one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Values, as_numpy

# Differences of values below this are rounding: another order of adding the same numbers.
ROUNDING = 1e-12


def finite(values: npt.ArrayLike, name: str) -> Values:
    """Return numbers as an array, or raise InputError."""
    values = as_numpy(values, name)
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex numbers")
        # What is too large becomes infinite.
        with np.errstate(over="ignore"):
            array: Values = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, LookupError) as error:
        raise unexpected(name, "numbers", " ".join(str(error).split())) from None
    if not np.isfinite(array).all():
        raise unexpected(name, "finite numbers", f"{array[~np.isfinite(array)][0]}")
    return array
