"""What the library's arrays are called, and what is asked of those that callers give.

Each check returns an array as the kernels need it: contiguous, aligned, native, of one of the types below; or raises
InputError, which says where, what was expected and what was found. No number that passes was rounded or has wrapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from numbers import Number
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import is_integer, shown, unexpected
from tieaware.checks.tensors import as_builtin_dtype, as_host, is_tensor
from tieaware.errors import InputError

Values: TypeAlias = npt.NDArray[np.float64]
Scores: TypeAlias = npt.NDArray[np.float64] | npt.NDArray[np.float32]
Labels: TypeAlias = npt.NDArray[np.int32]
Integers: TypeAlias = npt.NDArray[np.int64]
# Where each of several lists starts, and where the last ends: int64[n_lists + 1], ascending from 0.
Offsets: TypeAlias = npt.NDArray[np.int64]

# Says where an element is, as a message begins with it: "labels[3]", "run.txt:12", "run['q1']['d1']".
Place: TypeAlias = Callable[[int], str]

_LEAST_LABEL, _LARGEST_LABEL = -(2**31), 2**31 - 1

_LABEL_TYPES = (int, float, np.integer, np.floating, np.bool_)
# Which float() would take, some of them.
_NO_SCORE_TYPES = (str, bytes, bytearray, complex, np.complexfloating, np.ndarray)

# Up to here float64 holds every whole number.
_LARGEST_EXACT = 2.0**53
_LARGEST_OFFSET = 2**62


def as_numpy(values: Any, where: str, place: Place | None = None) -> Any:
    """Return tensors, subclasses of arrays and arrays of foreign types as plain arrays; anything else as it is.

    The parameters are those of `as_labels`. Those in a list are taken one by one.

    Raises
    ------
    InputError
        If NumPy cannot read a tensor, or an element is masked.
    """
    if type(values) is np.ndarray:
        return as_builtin_dtype(values)
    if isinstance(values, np.ndarray):
        mask = getattr(values, "mask", None)
        if isinstance(mask, np.ndarray | np.bool_) and mask.dtype == np.bool_ and mask.any():
            i = int(np.broadcast_to(mask, values.shape).argmax())
            raise unexpected(element(where, values.shape, i), "a value", "a masked one")
        return as_builtin_dtype(np.asarray(values))
    if is_tensor(values):
        return as_builtin_dtype(as_host(values, where))
    if isinstance(values, list | tuple) and any(map(_needs_conversion, set(map(type, values)))):
        return [as_numpy(value, place(i) if place else f"{where}[{i}]") for i, value in enumerate(values)]
    return values


def _needs_conversion(kind: type) -> bool:
    """Whether values of a type are what `as_numpy` changes."""
    return is_tensor(kind) or (issubclass(kind, np.ndarray) and kind is not np.ndarray)


def as_array(values: Any, where: str) -> npt.NDArray[Any]:
    """Return what NumPy makes of values: an array of numbers, or of objects where they are no plain numbers."""
    values = as_numpy(values, where)
    if isinstance(values, np.ndarray):
        return values
    if isinstance(values, set | frozenset):
        raise unexpected(where, "values in an order", f"a set, {shown(values)}")
    if isinstance(values, Iterable) and not isinstance(values, Sequence):
        values = list(values)
    try:
        if isinstance(values, list | tuple) and {str, bytes} & set(map(type, values)):
            # Beside a text, NumPy makes text of the numbers, too.
            return np.asarray(values, object)
        array = np.asarray(values)
        return np.asarray(values, object) if array.dtype.kind in "US" else as_builtin_dtype(array)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        if "inhomogeneous" in str(error):
            raise unexpected(
                where, "flat values, or lists of equal length (flat, with their sizes as group=, for others)",
                "lists of different lengths",
            ) from None  # fmt: skip
        raise unexpected(where, "an array of numbers", " ".join(str(error).split())) from None


def as_contiguous(array: npt.NDArray[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array of this type, contiguous and aligned: itself, if it is that."""
    flags = array.flags
    if array.dtype == dtype and flags.c_contiguous and flags.aligned:
        return array
    return np.require(array, dtype, ["C", "A"])


def as_flat(values: Any, where: str) -> npt.NDArray[Any]:
    """Return an array of one dimension; of a list, each value is one element, even if it is a list."""
    if isinstance(values, list | tuple):
        with suppress(InputError):
            array = as_array(values, where)
            if array.ndim == 1:
                return array
        return np.fromiter(values, object, len(values))
    array = as_array(values, where)
    if array.ndim == 0:
        raise unexpected(where, "a sequence", shown(values))
    if array.ndim != 1:
        raise unexpected(where, "one dimension", f"shape {array.shape}")
    return array


def stable_order(numbers: Integers) -> Integers:
    """Return the order that sorts whole numbers from 0, stably.

    NumPy's stable sort counts numbers of 16 bits; larger ones it compares, which takes several times as long. So these
    are sorted by 16 bits after 16 bits, the last first.
    """
    order = np.argsort(numbers.astype(np.uint16), kind="stable")
    for shift in range(16, int(numbers.max(initial=0)).bit_length(), 16):
        order = order[np.argsort((numbers[order] >> shift).astype(np.uint16), kind="stable")]
    return order.astype(np.int64, copy=False)


def element(where: str, shape: tuple[int, ...], index: int) -> str:
    """Say where an element is that has this index in the flat array: "labels[3]", or "labels[0, 3]"."""
    return f"{where}[{', '.join(map(str, np.unravel_index(index, shape)))}]" if shape else where


def _plain(array: npt.NDArray[Any], index: int) -> Any:
    """Return an element of the flat array as Python has it, to show it."""
    return array.reshape(-1)[index : index + 1].tolist()[0]


def as_labels(values: Any, where: str, place: Place | None = None) -> Labels:
    """Return labels as int32: whole numbers of 32 bits, also as floats.

    Parameters
    ----------
    values : array of numbers, or of objects
        Of any shape.
    where : str
        What the labels are called.
    place : callable, optional
        Says where an element is, by its index in the flat array, if that is not ``where[index]``.
    """
    array = as_array(values, where)
    if array.dtype == np.int32:
        return as_contiguous(array, array.dtype)
    if array.size == 0:
        return np.zeros(array.shape, dtype=np.int32)
    if array.dtype.kind not in "biufO":
        # Of text and the like, whose first element is to be named.
        array = array.astype(object)
    row = _first_invalid_label(array.reshape(-1))
    if row is not None:
        raise _error_at(array, row, where, place)
    return as_contiguous(array, np.int32)


def as_integer_labels(values: npt.NDArray[Any], where: str) -> npt.NDArray[Any]:
    """Return labels as whole numbers or bools of the type that they have; some may need more than 32 bits yet.

    Where they have another type, they are converted as `as_labels` does it.
    """
    if values.dtype.kind not in "biu":
        return as_labels(values, where)
    return as_contiguous(values, values.dtype.newbyteorder("="))


def label_error(array: npt.NDArray[Any], where: str, place: Place | None = None) -> InputError:
    """Return the error that names the first element that is no label; see `as_labels`."""
    row = _first_invalid_label(array.reshape(-1))
    assert row is not None
    return _error_at(array, row, where, place)


def _error_at(array: npt.NDArray[Any], row: int, where: str, place: Place | None) -> InputError:
    return unexpected(
        place(row) if place else element(where, array.shape, row),
        f"a whole number from {_LEAST_LABEL} to {_LARGEST_LABEL}", shown(_plain(array, row)),
    )  # fmt: skip


def _first_invalid_label(array: npt.NDArray[Any]) -> int | None:
    """Return the first element that is no label, if there is one."""
    if array.dtype.kind == "O":
        return next((i for i, value in enumerate(array.tolist()) if not _is_label(value)), None)
    # Compared in float64 at least: the largest label is no number of float32, which would round it up.
    wrong = ~((array >= np.float64(_LEAST_LABEL)) & (array <= np.float64(_LARGEST_LABEL)))
    if array.dtype.kind == "f":
        wrong |= array != np.floor(array)
    return int(wrong.argmax()) if wrong.any() else None


def _is_label(value: Any) -> bool:
    if not isinstance(value, _LABEL_TYPES):
        return False
    plain = value.item() if isinstance(value, np.generic) else value
    return bool(_LEAST_LABEL <= plain <= _LARGEST_LABEL and plain == int(plain))


def as_scores(values: Any, where: str, place: Place | None = None, *, flat: bool = False) -> Scores:
    """Return scores as float64 or float32, of which no two numbers are equal that were not.

    Numbers that are no whole ones, of the types Decimal and Fraction, are rounded as float() does it. Any other that
    float64 does not hold is refused, also of the type longdouble.

    Parameters
    ----------
    values : array of numbers, or of objects
        Of any shape. A NaN passes: the kernels find it.
    where : str
        What the scores are called.
    place : callable, optional
        As for `as_labels`.
    flat : bool
        Whether they must be of one dimension.
    """
    given = as_numpy(values, where, place)
    array = as_flat(given, where) if flat else as_array(given, where)
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "f" and size in (4, 8):
        floats: Scores = as_contiguous(array, array.dtype.newbyteorder("="))
        if array is not given:
            _check_exact(given, floats, where, place)
        return floats
    if kind == "b" or (kind in "iu" and size <= 2) or (kind == "f" and size == 2):
        return as_contiguous(array, np.float32)
    if array.size == 0:
        return np.zeros(array.shape)
    if kind not in "iuf":
        array = array.astype(object)
        for i, value in enumerate(array.reshape(-1).tolist()):
            if not _is_real(value):
                wanted = "a number that float64 has room for" if isinstance(value, int) else "a number"
                raise unexpected(place(i) if place else element(where, array.shape, i), wanted, shown(value))
    with np.errstate(over="ignore"):
        converted: Values = as_contiguous(array, np.float64)
    if array.itemsize >= 8:
        _check_exact(array, converted, where, place)
    return converted


def _is_real(value: Any) -> bool:
    """Whether a value is a number that float64 has room for; text and arrays are none, although float() reads some."""
    if isinstance(value, _NO_SCORE_TYPES):
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _check_exact(given: Any, converted: Scores, where: str, place: Place | None) -> None:
    """Raise InputError where a score was rounded: it might tie with another then."""
    kind = given.dtype.kind if isinstance(given, np.ndarray) else "O"
    if kind == "f":
        suspects = (converted != given) & ~np.isnan(converted)
    else:
        # Whole numbers below 2^53 are exact.
        suspects = (np.abs(converted) >= _LARGEST_EXACT) & np.isfinite(converted)
        if isinstance(given, np.ndarray) and kind == "O":
            precise = [isinstance(value, np.longdouble) for value in given.reshape(-1).tolist()]
            suspects |= np.reshape(precise, suspects.shape)
    if not suspects.any():
        return
    if kind in "iu":
        # One past the largest converts back to whatever the processor likes.
        with np.errstate(invalid="ignore"):
            suspects = (converted.astype(given.dtype) != given) | (converted >= float(np.iinfo(given.dtype).max))
    elements = np.asarray(given, dtype=None if kind in "iuf" else object).reshape(-1)
    for row in np.flatnonzero(suspects).tolist():
        value: Any = elements[row].item() if hasattr(elements[row], "item") else elements[row]
        # Python compares the numbers themselves.
        if isinstance(value, Number) and value != converted.reshape(-1)[row].item():
            raise unexpected(
                place(row) if place else element(where, converted.shape, row),
                "a number that float64 holds, lest it tie by rounding", shown(value),
            )  # fmt: skip


def check_no_nan(scores: Scores, where: str, place: Place | None = None) -> None:
    """Raise InputError at the first score that is NaN."""
    missing = np.isnan(scores)
    if missing.any():
        row = int(missing.argmax())
        raise unexpected(place(row) if place else element(where, scores.shape, row), "a number", "NaN")


def as_integers(values: Any, where: str) -> Integers:
    """Return a flat array of whole numbers as int64."""
    array = as_flat(values, where)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    # No offset or size is as large; below, no sum or difference of two wraps around.
    if array.dtype.kind == "O":
        wrong = np.array([not is_integer(each) or abs(each) > _LARGEST_OFFSET for each in array.tolist()])
    elif array.dtype.kind in "iu":
        wrong = (array > _LARGEST_OFFSET) | (array < -_LARGEST_OFFSET)
    else:
        raise unexpected(where, "whole numbers", f"{array.dtype}")
    if wrong.any():
        row = int(wrong.argmax())
        raise unexpected(f"{where}[{row}]", "a whole number within ±2^62", shown(_plain(array, row)))
    # A copy, for the kernels rely on offsets that the caller may change afterwards.
    return np.array(array, np.int64, order="C")


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


def offsets_from_sizes(values: Any, n: int, where: str, of: str) -> Offsets:
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


def offsets_from_qid(values: Any, n: int, where: str, of: str) -> Offsets:
    """Return the offsets of the runs of n equal values, one for each `of` what; none may come back after another."""
    array = as_flat(values, where)
    if len(array) != n:
        raise unexpected(where, f"{n} values, one for each of the {of}", f"{len(array)}")
    given = array
    if array.dtype.kind == "O":
        array = _numbered(array, where)
    elif (array != array).any():
        row = int((array != array).argmax())
        raise unexpected(f"{where}[{row}]", "a query", shown(_plain(array, row)))
    starts = np.flatnonzero(array[1:] != array[:-1]) + 1
    firsts = array[np.concatenate(([0], starts))] if n else array
    _, places = np.unique(firsts, return_index=True)
    if len(places) != len(firsts):
        row = int(np.concatenate(([0], starts))[np.setdiff1d(np.arange(len(firsts)), places)[0]])
        again = f"{shown(_plain(given, row))} again after another query"
        raise unexpected(f"{where}[{row}]", "the rows of a query side by side", again)
    return np.concatenate(([0], starts, [n] if n else [])).astype(np.int64)


def _numbered(array: npt.NDArray[Any], where: str) -> Integers:
    """Number objects as they first appear, which sorting them would not do for all."""
    numbers: dict[Any, int] = {}
    rows = np.empty(len(array), dtype=np.int64)
    for row, query in enumerate(array.tolist()):
        try:
            # A missing value is no query: it is none, or not equal to itself.
            known = query is not None and bool(query == query)
            rows[row] = numbers.setdefault(query, len(numbers))
        except (TypeError, ValueError):
            known = False
        if not known:
            raise unexpected(f"{where}[{row}]", "a query", shown(query))
    return rows
