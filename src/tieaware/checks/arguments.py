"""Validation of single arguments, and formatting of values in error messages."""

from __future__ import annotations

import os
import re
import reprlib
from collections.abc import Callable, Collection, Iterable, Sequence, Sized
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from tieaware.errors import InputError, printable

Value = TypeVar("Value")
Choice = TypeVar("Choice", bound=str)

# The largest integer of 64 bits, which is the largest of NumPy and of the kernels.
LARGEST_INTEGER = 2**63 - 1
_LONGEST_SHOWN = 80
# Comparing the spelling of more names takes too long.
_MOST_COMPARED = 1000
_URL = re.compile(r"[a-z][a-z0-9]+:/", re.ASCII)

# Do not call repr() on a larger collection of unknown type: it may print every element.
_LARGEST_COLLECTION = 1000


class _Short(reprlib.Repr):
    """Formats the first elements of a collection in constant time; the base class would sort a whole set or dict."""

    def repr_set(self, x: set[Any], level: int) -> str:
        return super().repr_set(set(islice(x, self.maxset + 1)), level)

    def repr_frozenset(self, x: frozenset[Any], level: int) -> str:
        return super().repr_frozenset(frozenset(islice(x, self.maxfrozenset + 1)), level)

    def repr_dict(self, x: dict[Any, Any], level: int) -> str:
        return super().repr_dict(dict(islice(x.items(), self.maxdict + 1)), level)

    def repr_instance(self, x: Any, level: int) -> str:
        # The repr of an array or a range is short at any size.
        is_short = hasattr(x, "__array__") or isinstance(x, range | memoryview)
        if isinstance(x, Sized) and not is_short and len(x) > _LARGEST_COLLECTION:
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
    """Format any value for a message: on one line, and at most about 80 characters long."""
    try:
        text = repr(value) if isinstance(value, str) and len(value) <= _LONGEST_SHOWN else _short.repr(value)
    except Exception:
        # The object's own __repr__ raised an error; the default repr shows the object's type.
        text = object.__repr__(value)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_SHOWN + 2 else f"{text[:_LONGEST_SHOWN]}…"


def is_integer(value: object) -> bool:
    """Return whether a value is an integer of Python or NumPy, and not a bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def whole_number(where: str, value: Any, least: int, most: int = LARGEST_INTEGER) -> int:
    """Check that a value is a whole number from `least` to `most`, and return it as an int."""
    if not is_integer(value) or not least <= value <= most:
        is_small = most == LARGEST_INTEGER and not (is_integer(value) and value > most)
        reach = f"of at least {least:,}" if is_small else f"from {least:,} to {most:,}"
        raise unexpected(where, f"a whole number {reach}", shown(value))
    return int(value)


def checked_seed(value: Any) -> int:
    """Check that a value is a seed of random numbers, and return it as an int; NumPy takes seeds of any size."""
    if not is_integer(value) or value < 0:
        raise unexpected("seed", "a whole number of at least 0", shown(value))
    return int(value)


def number(where: str, value: Any, least: float, most: float, *, ends: bool = True) -> float:
    """Check that a value is a number from `least` to `most`, which `ends` includes, and return it as a float."""
    try:
        is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        converted = float(value) if is_number else np.nan
    except OverflowError:
        converted = np.nan
    # A long double can be too large for a float, which would become infinite, or too small, which would become 0.
    if (converted == 0 or np.isinf(converted)) and converted != value:
        converted = np.nan
    # NaN fails both comparisons.
    if not (least <= converted <= most if ends else least < converted < most):
        reach = f"from {least:g} to {most:g}" if ends else f"between {least:g} and {most:g}"
        raise unexpected(where, f"a number {reach}", shown(value))
    return converted


def checked_share(where: str, value: Any, others: str = "") -> float:
    """Check that a value is a share above 0, such as 0.99 or "99%", and return it as a float of at most 1.

    `others` are other values that the caller allows, for the message.
    """
    try:
        text = str(value) if isinstance(value, str) else ""
        parsed = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0) if text else value
        converted = number(where, parsed, 0, 1)
    except ValueError:
        converted = 0.0
    if not converted:
        raise unexpected(where, f"{others}a share such as 99% or 0.99", shown(value))
    return converted


def threshold(where: str, value: Any, least: int = 0, most: int = 2**31) -> int | float:
    """Check that a value is a number from `least` to `most`; return it as an int if it is a whole number."""
    try:
        converted = number(where, value, least, most)
    except InputError:
        raise unexpected(where, f"a number from {least:,} to {most:,}", shown(value)) from None
    return int(converted) if converted == int(converted) else converted


def path_text(argument: str, value: Any) -> str:
    """Check that a value is the path of a file or folder, and return it as text.

    Python's own functions also take the number of an open file, which they close at the end: True is standard output.
    """
    if not isinstance(value, str | bytes | os.PathLike):
        raise unexpected(argument, "a path", shown(value))
    text = os.fsdecode(value)
    if not text:
        raise InputError(argument, "the path is empty")
    if "\0" in text:
        raise InputError(printable(text), "a path cannot have an embedded null character", argument=argument)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise InputError(printable(text), "the path cannot be encoded for the file system", argument=argument) from None
    return text


def is_url(path: str) -> bool:
    """Return whether a path is a URL such as s3://bucket/key, which pathlib shortens to s3:/bucket/key."""
    return _URL.match(path) is not None


def local_path(argument: str, value: Any) -> str:
    """Return the path of an output as text; raise InputError if it is not a path, or is a URL.

    The system would take s3://bucket/key for a file in a local folder called "s3:".
    """
    text = path_text(argument, value)
    if is_url(text):
        raise InputError(printable(text), "only local files can be written", argument=argument)
    return text


def output_folder(argument: str, value: Any) -> str:
    """Return the path of an output folder as text; raise InputError if it is no path, a URL or a file."""
    text = local_path(argument, value)
    if os.path.exists(text) and not os.path.isdir(text):
        raise InputError(argument, f"{printable(text)} is a file, not a folder")
    return text


def sequence(where: str, value: Any, of: str) -> tuple[Any, ...]:
    """Check that a value is a sequence but not text, and return its elements, which a message calls `of` (a plural)."""
    try:
        if not isinstance(value, str | bytes):
            return tuple(value)
    except TypeError:
        pass
    raise unexpected(where, f"a sequence of {of}", shown(value))


def whole_numbers(argument: str, values: Any, least: int, most: int = LARGEST_INTEGER) -> tuple[int, ...]:
    """Check that a value is a sequence of whole numbers from `least` to `most`, and return them."""
    return _each(argument, values, "whole numbers", lambda value: whole_number(argument, value, least, most))


def numbers(argument: str, values: Any, least: float, most: float) -> tuple[float, ...]:
    """Check that a value is a sequence of numbers from `least` to `most`, and return them."""
    return _each(argument, values, "numbers", lambda value: number(argument, value, least, most))


def _each(argument: str, values: Any, of: str, check: Callable[[Any], Value]) -> tuple[Value, ...]:
    """Check each element of a sequence with `check`; an error names the element's index."""
    checked = []
    for i, value in enumerate(sequence(argument, values, of)):
        try:
            checked.append(check(value))
        except InputError as error:
            raise error.at(f"{argument}[{i}]") from None
    return tuple(checked)


def flag(where: str, value: Any) -> bool:
    """Check that a value is True or False, and return it as a bool."""
    if not isinstance(value, bool | np.bool_):
        raise unexpected(where, "True or False", shown(value))
    return bool(value)


def one_of(where: str, value: Any, choices: Collection[Choice]) -> Choice:
    """Check that a value is one of the choices, and return it; the error suggests the choice spelled most alike."""
    if not isinstance(value, str) or value not in choices:
        hint = did_you_mean(value, choices) if isinstance(value, str) else ""
        raise unexpected(where, f"one of {', '.join(choices)}", f"{shown(value)}{hint}")
    return value  # type: ignore[return-value]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint such as "; did you mean AP?" with the known words that are spelled alike; empty if there are none.

    Upper and lower case are not distinguished.
    """
    import difflib

    by_lower_case = {each.lower(): each for each in reversed(list(known))}
    near = [by_lower_case[each] for each in difflib.get_close_matches(word.lower(), by_lower_case, 3, 0.6)]
    return f"; did you mean {' or '.join(near)}?" if near else ""


def position(kind: str, names: Sequence[Any], name: Any) -> int:
    """Return the position of a name; raise KeyError, which lists some that exist, if it does not exist."""
    try:
        return names.index(name)
    except ValueError:
        raise unknown(kind, names, name) from None


def unknown(kind: str, names: Sequence[Any], name: Any) -> KeyError:
    """Return the error for a name that does not exist."""
    is_comparable = isinstance(name, str) and len(names) <= _MOST_COMPARED
    hint = did_you_mean(name, map(str, names)) if is_comparable else ""
    are = "is" if len(names) == 1 else "are"
    some = ", ".join(map(str, names[:5])) + (", …" if len(names) > 5 else "")
    listed = f"there {are} {len(names)}: {some}" if names else "there are none"
    if str(name) in map(str, names):
        # Only the type differs, such as "301" instead of 301; the list would not show it.
        hint, listed = "", f"the {kind} names are of type {type(names[0]).__name__}, not {type(name).__name__}"
    return KeyError(f"no {kind} {shown(name)}{hint or ';'} {listed}")
