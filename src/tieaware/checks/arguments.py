"""What is asked of single arguments, and how an error says that it is not so: ``where: expected …, found …``.

Each check returns the value in plain Python's type. What is asked of arrays stands in `tieaware.checks.arrays`.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Collection, Iterable, Sized
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from tieaware.errors import InputError

Value = TypeVar("Value")

_LONGEST_SHOWN = 80

# No longer collection of an unknown type is asked for its own words, which may be all of its elements.
_LONGEST_COLLECTION = 1000


class _Short(reprlib.Repr):
    """Shows a few elements of a collection, and takes no time for a large one: reprlib would sort sets and dicts."""

    def repr_set(self, x: set[Any], level: int) -> str:
        return super().repr_set(set(islice(x, self.maxset + 1)), level)

    def repr_frozenset(self, x: frozenset[Any], level: int) -> str:
        return super().repr_frozenset(frozenset(islice(x, self.maxfrozenset + 1)), level)

    def repr_dict(self, x: dict[Any, Any], level: int) -> str:
        return super().repr_dict(dict(islice(x.items(), self.maxdict + 1)), level)

    def repr_instance(self, x: Any, level: int) -> str:
        # Arrays and ranges have short words of their own.
        has_words = hasattr(x, "__array__") or isinstance(x, range | memoryview)
        if isinstance(x, Sized) and not has_words and len(x) > _LONGEST_COLLECTION:
            return f"{type(x).__name__} of {len(x)}"
        return super().repr_instance(x, level)


_short = _Short()
_short.maxstring = _short.maxother = _short.maxlong = _LONGEST_SHOWN


def unexpected(where: str, expected: str, found: str, argument: str | None = None) -> InputError:
    """Return the error "expected X, found Y" for a value of a wrong type or out of its range.

    Parameters as for `InputError`.
    """
    return InputError(where, expected=expected, found=found, argument=argument)


def shown(value: object) -> str:
    """Show any value in a message: on one line, and not too long."""
    try:
        text = repr(value) if isinstance(value, str) and len(value) <= _LONGEST_SHOWN else _short.repr(value)
    except Exception:
        # An object whose repr fails still has a type.
        text = object.__repr__(value)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_SHOWN + 2 else f"{text[:_LONGEST_SHOWN]}…"


def is_integer(value: object) -> bool:
    """Whether a value is a whole number: Python's or NumPy's, and no bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


is_whole = is_integer


def whole_number(where: str, value: Any, least: int, most: int | None = None) -> int:
    """Return a whole number within a range."""
    if not is_integer(value) or value < least or (most is not None and value > most):
        reach = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        raise unexpected(where, f"a whole number {reach}", shown(value))
    return int(value)


def number(where: str, value: Any, least: float, most: float, *, ends: bool = True) -> float:
    """Return a number from `least` to `most`; without the `ends`, between them."""
    try:
        fits = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        converted = float(value) if fits else np.nan
    except OverflowError:
        converted = np.nan
    # A long double may be too large for a float, or too small.
    if (converted == 0 or np.isinf(converted)) and converted != value:
        converted = np.nan
    # A NaN fits no comparison.
    if not (least <= converted <= most if ends else least < converted < most):
        reach = f"from {least:g} to {most:g}" if ends else f"between {least:g} and {most:g}"
        raise unexpected(where, f"a number {reach}", shown(value))
    return converted


def sequence(where: str, value: Any, of: str) -> tuple[Any, ...]:
    """Return the elements of a sequence, which are said to be of a kind; text is none."""
    try:
        if not isinstance(value, str | bytes):
            return tuple(value)
    except TypeError:
        pass
    raise unexpected(where, f"a sequence of {of}", shown(value))


def whole_numbers(argument: str, values: Any, least: int, most: int | None = None) -> tuple[int, ...]:
    """Check a sequence of whole numbers within a range."""
    return _each(argument, values, "whole numbers", lambda value: whole_number(argument, value, least, most))


def numbers(argument: str, values: Any, least: float, most: float) -> tuple[float, ...]:
    """Check a sequence of numbers from `least` to `most`."""
    return _each(argument, values, "numbers", lambda value: number(argument, value, least, most))


def _each(argument: str, values: Any, of: str, check: Callable[[Any], Value]) -> tuple[Value, ...]:
    """Check each element of a sequence; an error names the element's index."""
    checked = []
    for i, value in enumerate(sequence(argument, values, of)):
        try:
            checked.append(check(value))
        except InputError as error:
            raise error.at(f"{argument}[{i}]") from None
    return tuple(checked)


def flag(where: str, value: Any) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        raise unexpected(where, "True or False", shown(value))
    return bool(value)


def one_of(where: str, value: Any, choices: Collection[str]) -> str:
    """Return one of several words; the error names the nearest."""
    if not isinstance(value, str) or value not in choices:
        hint = did_you_mean(value, choices) if isinstance(value, str) else ""
        raise unexpected(where, f"one of {', '.join(choices)}", f"{shown(value)}{hint}")
    return value


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint at the known words that are nearest to a word, whatever its case; empty if none is near."""
    import difflib

    by_lower_case = {each.lower(): each for each in reversed(list(known))}
    near = [by_lower_case[each] for each in difflib.get_close_matches(word.lower(), by_lower_case, 3, 0.5)]
    return f"; did you mean {' or '.join(near)}?" if near else ""
