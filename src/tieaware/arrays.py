"""What the library's arrays are called, and what is asked of those that callers give.

Each check returns an array as the kernels need it: contiguous, aligned, native, of one of the types below; or raises
InputError, which says where, what was expected and what was found. No number that passes was rounded or has wrapped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tieaware.checks import shown, unexpected

Values: TypeAlias = npt.NDArray[np.float64]
Scores: TypeAlias = npt.NDArray[np.float64] | npt.NDArray[np.float32]
Labels: TypeAlias = npt.NDArray[np.int32]
Integers: TypeAlias = npt.NDArray[np.int64]
# Where each of several lists starts, and where the last ends: int64[n_lists + 1], ascending from 0.
Offsets: TypeAlias = npt.NDArray[np.int64]

# Says where an element is, as a message begins with it: "labels[3]", "run.txt:12", "run['q1']['d1']".
Place: TypeAlias = Callable[[int], str]

_LEAST_LABEL, _LARGEST_LABEL = -(2**31), 2**31 - 1

# Up to here float64 holds every whole number.
_LARGEST_EXACT = 2.0**53
_LARGEST_OFFSET = 2**62


def as_array(values: Any, where: str) -> npt.NDArray[Any]:
    """Return what NumPy makes of values: an array of numbers, or of objects where they are no plain numbers."""
    if isinstance(values, np.ndarray):
        return values
    try:
        return np.asarray(values)
    except (TypeError, ValueError, OverflowError) as error:
        if "inhomogeneous" in str(error):
            raise unexpected(
                where, "flat values, or lists of equal length (flat, with their sizes as group=, for others)",
                "lists of different lengths",
            ) from None  # fmt: skip
        raise unexpected(where, "an array of numbers", " ".join(str(error).split())) from None


def flat_array(values: Any, where: str) -> npt.NDArray[Any]:
    """Return an array of one dimension."""
    array = as_array(values, where)
    if array.ndim != 1:
        raise unexpected(where, "one dimension", f"shape {array.shape}")
    return array


def as_labels(values: Any, where: str, place: Place | None = None) -> Labels:
    """Return labels as int32: whole numbers of 32 bits, also as floats.

    Parameters
    ----------
    values : array of numbers, or of objects
        Of any shape; the place is that in the flat array.
    where : str
        What the labels are called.
    place : callable, optional
        Says where an element is; by default ``where[index]``.
    """
    array = as_array(values, where)
    if array.dtype == np.int32:
        return np.require(array, requirements=["C", "A"])
    if array.size == 0:
        return np.zeros(array.shape, dtype=np.int32)
    if array.dtype.kind not in "biufO":
        raise unexpected(where, "whole numbers", f"{array.dtype}, such as {shown(array.flat[0])}")
    wrong = _no_label(array.reshape(-1))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise unexpected(
            f"{where}[{row}]" if place is None else place(row),
            f"a whole number from {_LEAST_LABEL} to {_LARGEST_LABEL}", shown(array.reshape(-1).tolist()[row]),
        )  # fmt: skip
    return np.require(array, np.int32, ["C", "A"])


def _no_label(array: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which elements are no labels."""
    if array.dtype.kind == "O":
        return np.array([not _is_label(value) for value in array.tolist()], dtype=bool)
    wrong = ~((array >= _LEAST_LABEL) & (array <= _LARGEST_LABEL))
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            wrong |= array != np.floor(array)
    return wrong


def _is_label(value: Any) -> bool:
    if not isinstance(value, int | float | np.integer | np.floating | np.bool_):
        return False
    return bool(_LEAST_LABEL <= value <= _LARGEST_LABEL and value == int(value))


def as_scores(values: Any, where: str, place: Place | None = None) -> Scores:
    """Return scores as float64 or float32, of which no two are equal that were not.

    Parameters
    ----------
    values : array of numbers, or of objects
        Of any shape; the place is that in the flat array. A NaN passes: the kernels find it.
    where : str
        What the scores are called.
    place : callable, optional
        Says where an element is; by default ``where[index]``.
    """
    array = as_array(values, where)
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "f" and size in (4, 8):
        floats: Scores = np.require(array, array.dtype.newbyteorder("="), ["C", "A"])
        if array is not values:
            _check_exact(values, floats, where, place)
        return floats
    if kind == "b" or (kind in "iu" and size <= 2) or (kind == "f" and size == 2):
        return np.require(array, np.float32, ["C", "A"])
    if kind not in "iuf" and not (kind == "O" and array.size):
        if array.size == 0:
            return np.zeros(array.shape)
        raise unexpected(where, "real numbers", f"{array.dtype}, such as {shown(array.flat[0])}")
    converted = _as_float64(array, where, place)
    if size >= 8:
        _check_exact(array, converted, where, place)
    return converted


def _as_float64(array: npt.NDArray[Any], where: str, place: Place | None) -> Values:
    if array.dtype.kind == "O":
        for i, value in enumerate(array.reshape(-1).tolist()):
            if not _is_real(value):
                raise unexpected(f"{where}[{i}]" if place is None else place(i), "a number", shown(value))
    with np.errstate(over="ignore"):
        return np.require(array, np.float64, ["C", "A"])


def _is_real(value: Any) -> bool:
    """Whether a value is a number that float64 has room for: not text, although float() reads it, nor complex."""
    if isinstance(value, str | bytes | bytearray | complex | np.complexfloating):
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _check_exact(values: Any, converted: Scores, where: str, place: Place | None) -> None:
    """Raise InputError where a score was rounded: it might tie with another then."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        suspects = (converted != values) & ~np.isnan(converted)
    else:
        # Whole numbers below 2^53 are exact, and NumPy would round the others to compare them: Python does not.
        suspects = (np.abs(converted) >= _LARGEST_EXACT) & np.isfinite(converted)
    if not suspects.any():
        return
    given = np.asarray(values, dtype=object).reshape(-1)
    for row in np.flatnonzero(suspects):
        if float(converted.reshape(-1)[row]) != given[row]:
            raise unexpected(
                f"{where}[{row}]" if place is None else place(int(row)),
                "a number that float64 holds, lest it tie by rounding", shown(given[row]),
            )  # fmt: skip


def check_no_nan(scores: Scores, where: str, place: Place | None = None) -> None:
    """Raise InputError at the first score that is NaN."""
    missing = np.isnan(scores)
    if missing.any():
        row = int(missing.argmax())
        raise unexpected(f"{where}[{row}]" if place is None else place(row), "a number", "NaN")


def as_integers(values: Any, where: str) -> Integers:
    """Return a flat array of whole numbers as int64."""
    array = flat_array(values, where)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise unexpected(where, "whole numbers", f"{array.dtype}, such as {shown(array[0])}")
    # No offset or size is as large; below, no sum or difference of two wraps around.
    outside = (array > _LARGEST_OFFSET) | (array < -_LARGEST_OFFSET)
    if outside.any():
        row = int(outside.argmax())
        raise unexpected(f"{where}[{row}]", f"a whole number of at most {_LARGEST_OFFSET:,}", shown(array[row]))
    return np.require(array, np.int64, ["C", "A"])


def as_offsets(values: Any, n: int, where: str, of: str) -> Offsets:
    """Return offsets that start at 0, never decrease, and end at n, which is the number `of` what they divide."""
    offsets = as_integers(values, where)
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != n:
        ends = f"{offsets[0]} … {offsets[-1]}" if len(offsets) else "none"
        raise unexpected(where, f"0 … {n}, the number of {of}", ends)
    falls = offsets[1:] < offsets[:-1]
    if falls.any():
        i = int(falls.argmax()) + 1
        raise unexpected(f"{where}[{i}]", f"at least {offsets[i - 1]}, as before it", f"{offsets[i]}")
    return offsets


def offsets_of_sizes(values: Any, n: int, where: str, of: str) -> Offsets:
    """Return the offsets of lists of these sizes, which add up to n, the number `of` what they divide."""
    sizes = as_integers(values, where)
    outside = (sizes < 0) | (sizes > n)
    if outside.any():
        i = int(outside.argmax())
        raise unexpected(f"{where}[{i}]", f"a size from 0 to {n}, the number of {of}", f"{sizes[i]}")
    # In Python's integers where those of 64 bits might wrap around.
    total = int(sizes.sum()) if len(sizes) * (n + 1) < _LARGEST_OFFSET else sum(sizes.tolist())
    if total != n:
        raise unexpected(where, f"sizes that add up to {n}, the number of {of}", f"{total}")
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))


def offsets_of_runs(values: Any, n: int, where: str, of: str) -> Offsets:
    """Return the offsets of the runs of n equal values, one for each `of` what; none may come back after another."""
    array = flat_array(values, where)
    if len(array) != n:
        raise unexpected(where, f"{n} values, one for each of the {of}", f"{len(array)}")
    starts = np.flatnonzero(array[1:] != array[:-1]) + 1
    firsts = array[np.concatenate(([0], starts))] if n else array
    _, places = np.unique(firsts, return_index=True)
    if len(places) != len(firsts):
        again = firsts.tolist()[np.setdiff1d(np.arange(len(firsts)), places)[0]]
        raise unexpected(where, "the rows of a query side by side", f"{again!r} again after another query")
    return np.concatenate(([0], starts, [n] if n else [])).astype(np.int64)
