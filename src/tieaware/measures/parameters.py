"""Types of parameters of measures. Each parameter has a default, a range and a description, which the docs show."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from tieaware.checks import arguments
from tieaware.errors import InputError

_LARGEST_LABEL = 2**31 - 1

# Matches one setting in a list such as "gains={0: 0, 1: 2}, rel=1": a comma ends it, but not inside braces.
_ONE_SETTING = re.compile(r"(?:\{[^}]*\}?|[^,{])+")

# A table is part of the notation of a measure, which should stay readable.
_LARGEST_TABLE = 100

# The type of a parameter's value. It includes bool, which is a subclass of int.
Setting = int | float | str


def settings_in(text: str) -> list[str]:
    """Split the text in brackets of a measure into settings, such as "rel=2"."""
    return [setting for setting in map(str.strip, _ONE_SETTING.findall(text)) if setting]


class Parameter(Protocol):
    """A parameter of a measure."""

    @property
    def default(self) -> Setting:
        """The value of the parameter if the user gives none."""

    @property
    def description(self) -> str:
        """The meaning of the parameter, in a few words."""

    @property
    def range(self) -> str:
        """The allowed values, as text."""

    def checked(self, where: str, value: Any) -> Setting:
        """Return a value as a plain Python object; raise InputError, with `where` in the message, if it is invalid."""


@dataclass(frozen=True, eq=False)
class WholeNumber:
    """A parameter whose value is a whole number from `least` to `most`."""

    default: int
    least: int
    most: int
    description: str

    @property
    def range(self) -> str:
        """The allowed values, as text."""
        return f"{self.least:,} … {self.most:,}"

    def checked(self, where: str, value: Any) -> Setting:
        """Return the value as an int, or raise InputError if it is not a whole number in the range."""
        return arguments.whole_number(where, value, self.least, self.most)


@dataclass(frozen=True, eq=False)
class Number:
    """A parameter whose value is a number from `least` to `most`; both limits are allowed only if `ends` is True."""

    default: float
    least: float
    most: float
    description: str
    ends: bool = True

    @property
    def range(self) -> str:
        """The allowed values, as text."""
        return f"{self.least:g} … {self.most:g}{'' if self.ends else ', exclusive'}"

    def checked(self, where: str, value: Any) -> Setting:
        """Return the value as a float, because 2 and 2.0 must give equal measures; or raise InputError."""
        return arguments.number(where, value, self.least, self.most, ends=self.ends)


@dataclass(frozen=True, eq=False)
class Threshold:
    """A parameter whose value is a number from `least` to `most`, shown as a whole number if it is one."""

    default: int
    least: int
    most: int
    description: str

    @property
    def range(self) -> str:
        """The allowed values, as text."""
        return f"{self.least:,} … {self.most:,}"

    def checked(self, where: str, value: Any) -> Setting:
        """Return the value as an int or a float, because 2 and 2.0 must give equal measures; or raise InputError."""
        return arguments.threshold(where, value, self.least, self.most)


class Lookup(str):
    """Gains by label as a text in Python's notation, such as "{0: 0, 1: 1, 2: 3.5}", or "" for no table."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    @property
    def gains(self) -> dict[float, float]:
        """The gain of each label, in ascending order of the labels."""
        return dict(ast.literal_eval(self)) if self else {}


NO_TABLE = Lookup()


@dataclass(frozen=True, eq=False)
class Gains:
    """A parameter whose value is a table of gains by label, or one of the words in `words`."""

    words: tuple[str, ...]
    description: str
    default: Setting = NO_TABLE

    @property
    def range(self) -> str:
        """The allowed values, as text."""
        return ", ".join(("{label: gain}", *self.words))

    def checked(self, where: str, value: Any) -> Setting:
        """Return the value as a `Lookup` or a word; raise InputError if gains are negative or fall with the label."""
        if isinstance(value, Lookup) or (isinstance(value, str) and value in self.words):
            return value
        if not isinstance(value, Mapping) or not value:
            expected = "a dict of gains by label, such as {0: 0, 1: 1, 2: 3.5}"
            raise arguments.unexpected(where, " or ".join((expected, *map(repr, self.words))), arguments.shown(value))
        if len(value) > _LARGEST_TABLE:
            raise InputError(where, f"has {len(value)} labels; at most {_LARGEST_TABLE} are possible")
        gains = {
            _plain(arguments.number(f"a label in {where}", label, 0, _LARGEST_LABEL)):
            _plain(arguments.number(f"the gain of label {label} in {where}", gain, 0, 2**52))
            for label, gain in value.items()
        }  # fmt: skip
        gains = dict(sorted(gains.items()))
        for lower, higher in pairwise(gains):
            if gains[lower] > gains[higher]:
                raise InputError(where, f"must not fall: label {higher} has a smaller gain than label {lower}")
        return Lookup(repr(gains))


def _plain(value: float) -> float:
    return int(value) if value == int(value) else value


@dataclass(frozen=True, eq=False)
class Word:
    """A parameter whose value is one of several words."""

    default: str
    choices: tuple[str, ...]
    description: str

    @property
    def range(self) -> str:
        """The allowed values, as text."""
        return ", ".join(self.choices)

    def checked(self, where: str, value: Any) -> Setting:
        """Return the value, or raise InputError if it is not one of the words."""
        return arguments.one_of(where, value, self.choices)


@dataclass(frozen=True, eq=False)
class Flag:
    """A parameter whose value is True or False."""

    default: bool
    description: str

    @property
    def range(self) -> str:
        """The allowed values, as text."""
        return "False, True"

    def checked(self, where: str, value: Any) -> Setting:
        """Return the value as a bool, or raise InputError if it is neither True nor False."""
        return arguments.flag(where, value)


# Parameters that many families share.

Parameters = dict[str, Parameter]

REL: Parameters = {"rel": Threshold(1, 0, 2**31, "the smallest relevant label")}
JUDGED_ONLY: Parameters = {"judged_only": Flag(False, "remove unjudged documents from the list first")}
GAIN_KIND: Parameters = {"dcg": Word("log2", ("log2", "exp-log2"), "the gain: the label, or 2^label - 1")}
TABLE: Parameters = {"gains": Gains((), "the gain of each label, instead of the label itself")}
DISCOUNT: Parameters = {
    "discount": Word(
        "log2", ("log2", "log", "1/rank"),
        "the discount: 1 / log2(1 + rank); 1 before rank `base`, then 1 / log_base(rank); or 1 / rank",
    ),
    "base": Number(
        2.0, 1.0, 1e9, "the base of the logarithm, and the first rank that is discounted, of discount='log'", ends=False
    ),
}  # fmt: skip
GRADED: Parameters = {**GAIN_KIND, **TABLE, **DISCOUNT, **JUDGED_ONLY}
BINARY: Parameters = {**REL, **JUDGED_ONLY}
