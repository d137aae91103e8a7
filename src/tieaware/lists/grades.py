"""Relevance labels that are real numbers, such as 0.7: numbered, so that they can be handled like whole labels.

The different values of the labels are numbered by size, and arrays of labels hold these numbers. So labels compare as
their numbers do, and everything that only compares labels needs no second form for real ones. A `Grades` object holds
the values; where labels are whole numbers, there is none, and arrays of labels hold the labels themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import one_of, shown, unexpected
from tieaware.checks.arrays import Labels, Place, Values, as_array, as_integer_labels, as_labels, element, first
from tieaware.errors import InputError, warn

# The meaning of a missing label (NaN); by default, it is an error.
Missing: TypeAlias = Literal["unjudged"]

# The largest real label, as for whole labels.
_LARGEST = float(2**31 - 1)
_EXPECTED = "a number from -2147483648 to 2147483647"
# The types of labels among objects.
_NUMBERS = (int, float, np.integer, np.floating, np.bool_)


class Grades:
    """The different values of real labels, in ascending order, starting with 0. Immutable.

    A label of 0 or more is replaced by its index in `values`. A negative label stands for itself, rounded up to a whole
    number from -2 to -1.

    Parameters
    ----------
    values : float64[n]

    Attributes
    ----------
    weights : dict
        A cache of the weights that measures give to these labels, which `tieaware.engine.weights` fills.
    """

    __slots__ = ("values", "weights")

    values: Values
    weights: dict[Any, Any]

    def __init__(self, values: Values) -> None:
        self.values = values
        self.weights = {}
        values.setflags(write=False)

    @classmethod
    def of(cls, labels: Values) -> Grades:
        """Return the values of labels; none is NaN."""
        return cls(np.union1d(np.zeros(1), labels[labels > 0.0]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grades) and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash(self.values.tobytes())

    def __reduce__(self) -> tuple[type[Grades], tuple[Values]]:
        return Grades, (self.values,)

    def numbers(self, labels: Values) -> Labels:
        """Return the numbers of labels whose values are all in `values`: int32 of the same shape."""
        negative = np.ceil(np.clip(labels, -2.0, -1.0))
        return np.where(labels < 0.0, negative, np.searchsorted(self.values, labels)).astype(np.int32)

    def labels(self, numbers: Labels) -> Values:
        """Return the labels with these numbers; negative numbers stand for themselves."""
        return np.where(numbers < 0, numbers, self.values[np.maximum(numbers, 0)])

    def first_of(self, least: float) -> int:
        """Return the smallest number of a label of at least `least`; len(values) if there is none."""
        return int(np.searchsorted(self.values, least))

    @property
    def highest(self) -> float:
        """The largest label."""
        return float(self.values[-1])


class GradedLabels(NamedTuple):
    """Labels of any shape; if they are real numbers, `grades` are their values, and `labels` the numbers of these."""

    labels: npt.NDArray[Any]
    grades: Grades | None

    @classmethod
    def read(cls, values: Any, where: str, place: Place | None = None, missing: Missing | None = None) -> GradedLabels:
        """Return labels in the form that the library uses, whole or real.

        Integers and bools are returned without conversion, even beyond the range of int32. `where` is the name of the
        labels in messages, and `place` returns that of a single label, given its index in the flattened array. With
        `missing`, NaN means that a document is unjudged; otherwise it is an error, as are labels above 2^31 - 1.
        """
        check_missing(missing)
        array = as_array(values, where)
        if array.dtype.kind in "biu":
            return cls(as_integer_labels(array, where), None)
        return cls.of(whole_or_real(array, where, place, missing))

    @classmethod
    def of(cls, labels: npt.NDArray[Any]) -> GradedLabels:
        """Return labels that `whole_or_real` returned: int32 as they are, float64 as numbers and values."""
        if labels.dtype == np.int32:
            return cls(labels, None)
        between = labels[(labels < 0.0) & (labels != np.floor(labels))]
        if len(between):
            scale = "if they are of a scale that crosses 0, add a number to all"
            warn(f"labels: {between[0]:g} is negative, and means unjudged, as all negative labels do; {scale}")
        grades = Grades.of(labels.reshape(-1))
        return cls(grades.numbers(labels), grades)


def whole_or_real(
    values: Any, where: str, place: Place | None = None, missing: Missing | None = None
) -> npt.NDArray[Any]:
    """Convert labels to int32 if all of them are whole numbers, otherwise to float64 without NaN.

    Parameters and errors as for `GradedLabels.read`. With `missing`, None among objects means the same as NaN.
    """
    check_missing(missing)
    array = as_array(values, where)
    if missing and array.dtype.kind == "O":
        # Without dimensions, NumPy returns the object itself.
        array = np.asarray(np.frompyfunc(_nan_if_none, 1, 1)(array), object)
    if array.dtype.kind == "f":
        # NaN and numbers that are too large become integers that depend on the processor, but differ from them.
        with np.errstate(invalid="ignore"):
            whole = array.astype(np.int32, order="C")
            is_whole = bool((whole == array).all())
        if is_whole:
            return whole
    reals = None if array.dtype.kind in "biu" else _as_reals(array)
    if reals is None:
        if array.dtype.kind == "O":
            _check_objects(array, where, place)
        return as_labels(array, where, place)
    _check_finite(reals, array, where, place, missing)
    reals = np.where(np.isnan(reals), -1.0, reals)
    return as_labels(reals, where, place) if (reals == np.floor(reals)).all() else reals


def check_missing(missing: Any) -> None:
    """Raise InputError if the argument `missing` is neither None nor "unjudged"."""
    if missing is not None:
        one_of("missing", missing, ("unjudged",))


def _nan_if_none(value: object) -> object:
    """Return NaN for None and for the missing value of pandas, which need not be installed."""
    return np.nan if value is None or type(value).__name__ == "NAType" else value


def numbered_alike(parts: Sequence[tuple[Labels, Grades | None]]) -> tuple[list[Labels], Grades | None]:
    """Number several arrays of labels by the same values; return the arrays and the values (None if all are whole)."""
    known = [grades for _, grades in parts if grades is not None]
    if not known:
        return [labels for labels, _ in parts], None
    if all(grades == known[0] for _, grades in parts):
        return [labels for labels, _ in parts], known[0]
    reals = [labels.astype(np.float64) if grades is None else grades.labels(labels) for labels, grades in parts]
    grades = Grades.of(np.concatenate([real.reshape(-1) for real in reals]))
    return [grades.numbers(real) for real in reals], grades


def _as_reals(array: npt.NDArray[Any]) -> Values | None:
    """Return real numbers as float64; None for an array in which something is not a number, or all are whole."""
    if array.dtype.kind == "O":
        if not all(isinstance(value, _NUMBERS) for value in array.reshape(-1).tolist()):
            return None
        try:
            with np.errstate(over="ignore"):
                array = array.astype(np.float64)
        except OverflowError:
            return None
    if array.dtype.kind != "f":
        return None
    # The conversion of a signalling NaN of float32 is invalid, too.
    with np.errstate(over="ignore", invalid="ignore"):
        reals: Values = array.astype(np.float64)
    # Whole numbers take the path of integers, which also words the error about labels that are too large.
    return reals if (np.isnan(reals) | (reals != np.floor(reals))).any() else None


def _check_objects(array: npt.NDArray[Any], where: str, place: Place | None) -> None:
    """Raise InputError at the first object that is not a number, or is too large."""
    for row, value in enumerate(array.reshape(-1).tolist()):
        # A Python integer may be too large for a float, and a number of NumPy may have a type too small for the limit.
        number = value if isinstance(value, int) else float(value) if isinstance(value, _NUMBERS) else np.inf
        if abs(number) > _LARGEST + 1:
            at = place(row) if place else element(where, array.shape, row)
            raise unexpected(at, _EXPECTED, shown(value))


def _check_finite(
    reals: Values, given: npt.NDArray[Any], where: str, place: Place | None, missing: Missing | None
) -> None:
    """Raise InputError at the first label that is infinite, too large, or NaN without `missing`."""
    wrong = ~((reals >= -_LARGEST - 1.0) & (reals <= _LARGEST))
    if missing is not None:
        wrong &= ~np.isnan(reals)
    row = first(wrong)
    if row is None:
        return
    at = place(row) if place else element(where, given.shape, row)
    if np.isnan(reals.reshape(-1)[row]):
        raise InputError(at, "is NaN; pass missing='unjudged' if NaN means that a document is not judged")
    raise unexpected(at, _EXPECTED, shown(float(reals.reshape(-1)[row])))
