"""The parameters of measures, with their defaults, ranges and descriptions, from which errors and the docs are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from tieaware.checks import arguments

# The type of a parameter's value; a bool is an int.
Setting = int | float | str


class Parameter(Protocol):
    """A parameter of a measure."""

    @property
    def default(self) -> Setting:
        """The value if none is given."""

    @property
    def description(self) -> str:
        """The meaning, in a few words."""

    @property
    def range(self) -> str:
        """The allowed values, as text."""

    def checked(self, where: str, value: Any) -> Setting:
        """Return a value as a plain Python object; raise InputError at `where` if it is not allowed."""


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
        """Check a whole number."""
        return arguments.whole_number(where, value, self.least, self.most)


@dataclass(frozen=True, eq=False)
class Number:
    """A parameter whose value is a number from `least` to `most`; without `ends`, these two are not allowed."""

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
        """Check a number, and convert it to float, so that 2 and 2.0 give equal measures."""
        return arguments.number(where, value, self.least, self.most, ends=self.ends)


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
        """Check a word."""
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
        """Check a flag."""
        return arguments.flag(where, value)
