"""The parameters of measures: each knows its default, its range, and what it is for; errors and the docs say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from tieaware.checks import arguments

# What a parameter can be set to.
Setting = int | float | str


class Parameter(Protocol):
    """One parameter of a measure."""

    @property
    def default(self) -> Setting:
        """What it is, if nothing else is said."""

    @property
    def description(self) -> str:
        """What it is for."""

    @property
    def range(self) -> str:
        """What it can be."""

    def checked(self, where: str, value: Any) -> Setting:
        """Return a value as plain Python has it, or raise InputError."""


@dataclass(frozen=True, eq=False)
class WholeNumber:
    """A whole number from `least` to `most`."""

    default: int
    least: int
    most: int
    description: str

    @property
    def range(self) -> str:
        """What it can be."""
        return f"{self.least:,} … {self.most:,}"

    def checked(self, where: str, value: Any) -> Setting:
        """Return the number."""
        return arguments.whole_number(where, value, self.least, self.most)


@dataclass(frozen=True, eq=False)
class Number:
    """A number from `least` to `most`; without the `ends`, between them."""

    default: float
    least: float
    most: float
    description: str
    ends: bool = True

    @property
    def range(self) -> str:
        """What it can be."""
        return f"{self.least:g} … {self.most:g}{'' if self.ends else ', exclusive'}"

    def checked(self, where: str, value: Any) -> Setting:
        """Return the number as a float, so that 2 and 2.0 are one."""
        return arguments.number(where, value, self.least, self.most, ends=self.ends)


@dataclass(frozen=True, eq=False)
class Word:
    """One of several words."""

    default: str
    choices: tuple[str, ...]
    description: str

    @property
    def range(self) -> str:
        """What it can be."""
        return ", ".join(self.choices)

    def checked(self, where: str, value: Any) -> Setting:
        """Return the word."""
        return arguments.one_of(where, value, self.choices)


@dataclass(frozen=True, eq=False)
class Flag:
    """True or False."""

    default: bool
    description: str

    @property
    def range(self) -> str:
        """What it can be."""
        return "False, True"

    def checked(self, where: str, value: Any) -> Setting:
        """Return the flag."""
        return arguments.flag(where, value)
