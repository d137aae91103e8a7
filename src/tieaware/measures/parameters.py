"""Types of parameters of measures. Each parameter has a default, a range and a description, which the docs show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from tieaware.checks import arguments

# The type of a parameter's value. It includes bool, which is a subclass of int.
Setting = int | float | str


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
