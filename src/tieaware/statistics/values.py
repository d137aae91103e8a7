"""Validation of numbers and of shapes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Values, as_numpy
from tieaware.errors import InputError


def finite(values: npt.ArrayLike, name: str) -> Values:
    """Return the values as a float64 array; raise InputError if one is not finite. `name` begins the message."""
    values = as_numpy(values, name)
    try:
        given = np.asarray(values)
        objects = given.reshape(-1).tolist() if given.dtype.kind == "O" else ()
        if given.dtype.kind == "c" or any(isinstance(each, complex | np.complexfloating) for each in objects):
            raise TypeError("complex numbers")
        # A number that is too large for float64 becomes infinite, which the check below reports.
        with np.errstate(over="ignore"):
            # From the values as they were given, because NumPy names a value of an array of text by its own type.
            array: Values = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, LookupError) as error:
        raise InputError(name, f"must be numbers: {' '.join(str(error).split())}") from None
    if not np.isfinite(array).all():
        raise unexpected(name, "finite numbers", f"{array[~np.isfinite(array)][0]}")
    return array


def broadcast_shape(arguments: str, first: Values, second: Values) -> tuple[int, ...]:
    """Return the shape to which two arrays broadcast; raise InputError, which names `arguments`, if there is none."""
    try:
        return np.broadcast_shapes(first.shape, second.shape)
    except ValueError:
        shapes = f"{first.shape} and {second.shape} do not"
        raise InputError(arguments, f"must have shapes that broadcast: {shapes}") from None
