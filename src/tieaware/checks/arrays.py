"""Type aliases for arrays, and validation of arrays that callers pass.

Each check returns an array as the kernels need it: contiguous, aligned, in native byte order, of one of the types
below. A conversion never overflows an integer. It never makes different scores equal, except that Fraction and Decimal
scores are rounded to float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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
# The start of each list in a flat array, followed by the end of the last list: int64[n_lists + 1], never decreasing.
Offsets: TypeAlias = npt.NDArray[np.int64]

# Returns the name of an element in messages, given its index in the flattened array; see tieaware.checks.
Place: TypeAlias = Callable[[int], str]

_LEAST_LABEL, _LARGEST_LABEL = -(2**31), 2**31 - 1

_LABEL_TYPES = (int, float, np.integer, np.floating, np.bool_)
# Types that are never scores, although float() accepts some of their values.
_NOT_SCORE_TYPES = (str, bytes, bytearray, complex, np.complexfloating, np.ndarray)

# float64 represents every whole number up to this one exactly.
_LARGEST_EXACT = 2.0**53
# The largest absolute value of an integer. No list is as long as this limit, and the sum or difference of two integers
# below it does not overflow int64.
_LARGEST_OFFSET = 2**62


def as_numpy(values: Any, where: str, place: Place | None = None) -> Any:
    """Convert tensors and array subclasses, even inside a list, to plain NumPy arrays; return other values unchanged.

    InputError is raised if NumPy cannot read a tensor, or an element is masked.
    """
    if type(values) is np.ndarray:
        return as_builtin_dtype(values)
    if isinstance(values, np.ndarray):
        mask = getattr(values, "mask", None)
        if isinstance(mask, np.ndarray | np.bool_) and mask.dtype == np.bool_ and mask.any():
            i = int(np.broadcast_to(mask, values.shape).argmax())
            raise InputError(element(where, values.shape, i), "masked values are not allowed")
        return as_builtin_dtype(np.asarray(values))
    if is_tensor(values):
        return as_builtin_dtype(as_host(values, where))
    if isinstance(values, list | tuple) and any(map(_needs_conversion, set(map(type, values)))):
        try:
            return [as_numpy(value, place(i) if place else f"{where}[{i}]") for i, value in enumerate(values)]
        except RecursionError:
            raise InputError(where.partition("[")[0], "the list contains itself, or is nested too deeply") from None
    return values


def _needs_conversion(kind: type) -> bool:
    """Return whether `as_numpy` converts values of a type."""
    return is_tensor(kind) or (issubclass(kind, np.ndarray) and kind is not np.ndarray)


def as_array(values: Any, where: str) -> npt.NDArray[Any]:
    """Convert values to an array of numbers if all of them are numbers; otherwise to an array of objects."""
    values = as_numpy(values, where)
    if isinstance(values, np.ndarray):
        return values
    if isinstance(values, set | frozenset):
        raise InputError(where, f"must not be a set, because a set has no order: {shown(values)}")
    if hasattr(values, "tocsr"):
        remedy = "call its toarray()"
        raise InputError(where, f"must not be a sparse matrix: {remedy}")
    if isinstance(values, Iterable) and not isinstance(values, Sequence):
        values = list(values)
    try:
        if isinstance(values, list | tuple) and {str, bytes} & set(map(type, values)):
            # If some values are text, NumPy would convert the numbers to text, too.
            return np.asarray(values, object)
        array = np.asarray(values)
        return np.asarray(values, object) if array.dtype.kind in "US" else as_builtin_dtype(array)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        rows = values if isinstance(values, list | tuple) else ()
        if type(error) is ValueError and any(isinstance(row, list | tuple | np.ndarray) for row in rows):
            problem = "lists of different lengths must be concatenated, with their lengths given as group"
            raise InputError(where, problem) from None
        raise InputError(where, f"cannot be read as an array of numbers: {' '.join(str(error).split())}") from None


def as_contiguous(array: npt.NDArray[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Convert an array to a dtype, C-contiguous and aligned; return the same array if no conversion is needed."""
    flags = array.flags
    if array.dtype == dtype and flags.c_contiguous and flags.aligned:
        return array
    return np.require(array, dtype, ["C", "A"])


def as_flat(values: Any, where: str) -> npt.NDArray[Any]:
    """Convert values to a one-dimensional array; each element of a list becomes one element, even if it is a list."""
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
        raise unexpected(where, "a one-dimensional array", f"shape {array.shape}")
    return array


def stable_order(numbers: Integers) -> Integers:
    """Return the positions that sort non-negative integers stably, as ``np.argsort(numbers, kind="stable")`` does.

    NumPy sorts 16-bit integers by radix, but larger integers by comparison, which takes several times as long.
    So this function sorts by one 16-bit digit after another, the lowest digit first.
    """
    order = np.argsort(numbers.astype(np.uint16), kind="stable")
    for shift in range(16, int(numbers.max(initial=0)).bit_length(), 16):
        order = order[np.argsort((numbers[order] >> shift).astype(np.uint16), kind="stable")]
    return order.astype(np.int64, copy=False)


def first(wrong: npt.NDArray[np.bool_]) -> int | None:
    """Return the index, in the flattened array, of the first element that is true; None if there is none."""
    return int(wrong.argmax()) if wrong.any() else None


def element(where: str, shape: tuple[int, ...], index: int) -> str:
    """Return the name of the element with an index in the flattened array: "labels[3]", or "labels[0, 3]"."""
    return f"{where}[{', '.join(map(str, np.unravel_index(index, shape)))}]" if shape else where


def _plain(array: npt.NDArray[Any], index: int) -> Any:
    """Return an element of the flattened array as a plain Python value, to show it in a message."""
    return array.reshape(-1)[index : index + 1].tolist()[0]


def as_labels(values: Any, where: str, place: Place | None = None) -> Labels:
    """Convert labels of any shape to int32: whole numbers within 32 bits; floats are accepted if they are whole."""
    array = as_array(values, where)
    if array.dtype == np.int32:
        return as_contiguous(array, array.dtype)
    if array.size == 0:
        return np.zeros(array.shape, dtype=np.int32)
    if array.dtype.kind not in "biufO":
        # The dtype, such as that of text, has no labels: raise the error about the first element that is not a label.
        array = array.astype(object)
    row = _first_invalid_label(array.reshape(-1))
    if row is not None:
        raise _label_error_at(row, array, where, place)
    return as_contiguous(array, np.int32)


def as_integer_labels(values: npt.NDArray[Any], where: str) -> npt.NDArray[Any]:
    """Return integer and bool labels without conversion, even if some exceed the range of int32.

    Labels of any other type are converted to int32 with `as_labels`.
    """
    if values.dtype.kind not in "biu":
        return as_labels(values, where)
    return as_contiguous(values, values.dtype.newbyteorder("="))


def label_error(array: npt.NDArray[Any], where: str) -> InputError:
    """Return the error that names the first element that is not a label; the array must have such an element."""
    row = _first_invalid_label(array.reshape(-1))
    assert row is not None
    return _label_error_at(row, array, where, None)


def _label_error_at(row: int, array: npt.NDArray[Any], where: str, place: Place | None) -> InputError:
    return unexpected(
        place(row) if place else element(where, array.shape, row),
        f"a number from {_LEAST_LABEL} to {_LARGEST_LABEL}", shown(_plain(array, row)),
    )  # fmt: skip


def _first_invalid_label(array: npt.NDArray[Any]) -> int | None:
    """Return the index of the first element that is not a label; None if all elements are labels."""
    if array.dtype.kind == "O":
        return next((i for i, value in enumerate(array.tolist()) if not _is_label(value)), None)
    # Compare in float64: float32 would round the largest label up to a number that is too large.
    wrong = ~((array >= np.float64(_LEAST_LABEL)) & (array <= np.float64(_LARGEST_LABEL)))
    if array.dtype.kind == "f":
        wrong |= array != np.floor(array)
    return first(wrong)


def _is_label(value: Any) -> bool:
    if not isinstance(value, _LABEL_TYPES):
        return False
    plain = value.item() if isinstance(value, np.generic) else value
    return bool(_LEAST_LABEL <= plain <= _LARGEST_LABEL and plain == int(plain))


def as_scores(values: Any, where: str, place: Place | None = None, *, flat: bool = False) -> Scores:
    """Convert scores to float32 or float64 without creating new ties.

    Objects of type Fraction and Decimal that are not whole numbers are rounded as float() rounds them. Any other number
    that float64 cannot represent exactly is an error. NaN is not an error here, because the kernels report it. With
    `flat`, the scores must be one-dimensional.
    """
    # An iterator is read only once, but its numbers are compared with those of the array below.
    given = as_numpy(list(values) if isinstance(values, Iterator) else values, where, place)
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
                wanted = "a number in the range of float64" if isinstance(value, int) else "a number"
                raise unexpected(place(i) if place else element(where, array.shape, i), wanted, shown(value))
    with np.errstate(over="ignore"):
        converted: Values = as_contiguous(array, np.float64)
    if array.itemsize >= 8:
        _check_exact(array, converted, where, place)
    return converted


def _is_real(value: Any) -> bool:
    """Return whether a value is a real number in the range of float64. Text and arrays do not count as numbers."""
    if isinstance(value, _NOT_SCORE_TYPES):
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _check_exact(given: Any, converted: Scores, where: str, place: Place | None) -> None:
    """Raise InputError at the first score that the conversion rounded: it might now tie with another score."""
    kind = given.dtype.kind if isinstance(given, np.ndarray) else "O"
    if kind == "f":
        suspects = (converted != given) & ~np.isnan(converted)
    else:
        # Only whole numbers of 2^53 and more can have been rounded; objects can also have become infinite or 0.
        suspects = np.abs(converted) >= _LARGEST_EXACT
        if isinstance(given, np.ndarray) and kind == "O":
            suspects |= converted == 0
            precise = [isinstance(value, np.longdouble) for value in given.reshape(-1).tolist()]
            suspects |= np.reshape(precise, suspects.shape)
    if not suspects.any():
        return
    if kind in "iu":
        # Do not convert floats beyond the integer type's maximum back: the result depends on the processor.
        with np.errstate(invalid="ignore"):
            suspects = (converted.astype(given.dtype) != given) | (converted >= float(np.iinfo(given.dtype).max))
    elements = np.asarray(given, dtype=None if kind in "iuf" else object).reshape(-1)
    for row in np.flatnonzero(suspects).tolist():
        value: Any = elements[row].item() if hasattr(elements[row], "item") else elements[row]
        # Python compares numbers of different types exactly, without converting them.
        if isinstance(value, Number) and value != converted.reshape(-1)[row].item():
            where_it_is = place(row) if place else element(where, converted.shape, row)
            raise unexpected(where_it_is, "a number that float64 represents exactly", shown(value))


def check_no_nan(scores: Scores, where: str, place: Place | None = None) -> None:
    """Raise InputError at the first score that is NaN."""
    missing = np.isnan(scores)
    if missing.any():
        row = int(missing.argmax())
        raise unexpected(place(row) if place else element(where, scores.shape, row), "a number", "NaN")


def as_integers(values: Any, where: str) -> Integers:
    """Convert a one-dimensional array of integers to int64, always as a copy."""
    array = as_flat(values, where)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.dtype.kind == "O":
        wrong = np.array([not is_integer(each) or abs(each) > _LARGEST_OFFSET for each in array.tolist()])
    elif array.dtype.kind in "iu":
        wrong = (array > _LARGEST_OFFSET) | (array < -_LARGEST_OFFSET)
    else:
        raise unexpected(where, "whole numbers", f"an array of {array.dtype}")
    row = first(wrong)
    if row is not None:
        raise unexpected(f"{where}[{row}]", "a whole number from -2^62 to 2^62", shown(_plain(array, row)))
    # Copy the array, so that the checked offsets stay valid for the kernels even if the caller changes the array later.
    return np.array(array, np.int64, order="C")


def as_offsets(values: Any, n: int, where: str, of: str) -> Offsets:
    """Check offsets: they start at 0, never decrease, and end at n. `of` names the n elements, as in "labels"."""
    offsets = as_integers(values, where)
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != n:
        found = f"{offsets[0]} … {offsets[-1]}" if len(offsets) else "no offsets"
        raise InputError(where, f"must start at 0 and end at {n}, the number of {of}; found {found}")
    last = first(offsets[1:] < offsets[:-1])
    if last is not None:
        problem = f"must be at least {offsets[last]}, the offset before it; found {offsets[last + 1]}"
        raise InputError(f"{where}[{last + 1}]", problem)
    return offsets


def offsets_from_sizes(values: Any, n: int, where: str, of: str) -> Offsets:
    """Convert the sizes of lists to offsets; the sizes must add up to n. `of` names the n elements, as in "labels"."""
    sizes = as_integers(values, where)
    i = first((sizes < 0) | (sizes > n))
    if i is not None:
        raise unexpected(f"{where}[{i}]", f"a size from 0 to {n}, the number of {of}", f"{sizes[i]}")
    # Add as Python integers if the sum might overflow int64.
    total = int(sizes.sum()) if len(sizes) * (n + 1) < _LARGEST_OFFSET else sum(sizes.tolist())
    if total != n:
        raise InputError(where, f"the sizes must add up to {n}, the number of {of}; they add up to {total}")
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))


def offsets_from_qid(values: Any, n: int, where: str, of: str) -> Offsets:
    """Convert n query ids, one per row, to offsets of the lists. The rows of a query must be contiguous.

    `of` names the n rows in messages, as in "labels".
    """
    array = as_flat(values, where)
    if len(array) != n:
        raise InputError(where, f"{n} {of} need {n} query ids, one for each; found {len(array)}")
    if array.dtype.kind == "f" and isinstance(values, list | tuple) and (np.abs(array) >= 2.0**53).any():
        # NumPy converts integers to float64, and so rounds them, if some exceed int64 or stand beside floats.
        array = np.array([*values, None], dtype=object)[:-1]
    given = array
    if array.dtype.kind == "O":
        array = _numbered(array, where)
    elif (array != array).any():
        row = int((array != array).argmax())
        raise unexpected(f"{where}[{row}]", "a query id", shown(_plain(array, row)))
    starts = np.flatnonzero(array[1:] != array[:-1]) + 1
    firsts = array[np.concatenate(([0], starts))] if n else array
    _, places = np.unique(firsts, return_index=True)
    if len(places) != len(firsts):
        row = int(np.concatenate(([0], starts))[np.setdiff1d(np.arange(len(firsts)), places)[0]])
        problem = f"query {shown(_plain(given, row))} occurs again after another query; its rows must be contiguous"
        raise InputError(f"{where}[{row}]", problem)
    return np.concatenate(([0], starts, [n] if n else [])).astype(np.int64)


def _numbered(array: npt.NDArray[Any], where: str) -> Integers:
    """Replace query ids by 0, 1, … in the order in which they first occur. Unlike sorting, this allows mixed types."""
    numbers: dict[Any, int] = {}
    rows = np.empty(len(array), dtype=np.int64)
    for row, query in enumerate(array.tolist()):
        try:
            # A missing id is None, or a value such as NaN that is not equal to itself.
            is_id = query is not None and bool(query == query)
            rows[row] = numbers.setdefault(query, len(numbers))
        except (TypeError, ValueError):
            is_id = False
        if not is_id:
            raise unexpected(f"{where}[{row}]", "a query id", shown(query))
    return rows
