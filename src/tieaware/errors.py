"""InputError, the error for input that cannot be used; errors for missing attributes; warnings; escaping of text."""

from __future__ import annotations

import os
import sys
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class InputError(ValueError):
    """The error that is raised for input that cannot be used.

    The message is one line, ``where: problem``. Non-printable characters in the message, such as a terminal's
    escape sequences in the name of a file, are escaped.

    Parameters
    ----------
    where : str
        The place of the problem: ``path:line`` in a file; or the name of an argument, followed by the index or the keys
        of the value, as in ``labels[3]``.
    problem : str
        What is wrong and, where it helps, what to do. If it is empty, it is made from `expected` and `found`.
    expected, found : str, optional
        For a value of a wrong type or out of its range: what was expected, and the value.
    argument : str, optional
        The name of the argument without index or keys, if `where` is not just this name.

    Attributes
    ----------
    where, problem : str
    expected, found : str or None
    argument : str
        The name of the argument without index or keys; `where` if it was not given.

    Examples
    --------
    >>> print(InputError("runs/a.run:3", "the score is NaN"))
    runs/a.run:3: the score is NaN
    >>> print(InputError("threads", expected="a whole number of at least 1", found="0"))
    threads: expected a whole number of at least 1, found 0
    """

    def __init__(
        self,
        where: str,
        problem: str = "",
        expected: str | None = None,
        found: str | None = None,
        argument: str | None = None,
    ) -> None:
        # Pickling passes the exception's args to this function, so args must hold all five parameters.
        super().__init__(where, problem, expected, found, argument)
        self.where = where
        self.problem: str = problem or ("" if expected is None else f"expected {expected}, found {found}")
        self.expected = expected
        self.found = found
        self.argument: str = argument or where

    def __str__(self) -> str:
        return printable(": ".join(filter(None, (self.where, self.problem))))

    def at(self, where: str, argument: str | None = None) -> InputError:
        """Return an error about the same problem at another place.

        Parameters
        ----------
        where : str
            The new place, such as an element of the argument.
        argument : str, optional
            The name of the argument without index or keys. By default, the argument of this error.

        Returns
        -------
        InputError

        Examples
        --------
        >>> error = InputError("cutoffs", expected="a whole number of at least 1", found="0").at("cutoffs[3]")
        >>> print(error)
        cutoffs[3]: expected a whole number of at least 1, found 0
        >>> error.argument
        'cutoffs'
        """
        return type(self)(where, self.problem, self.expected, self.found, argument or self.argument)


class NoRangeError(InputError):
    """The error about a list without a finite score, which `levels` cannot divide.

    A reader catches it where the list may have more rows.
    """


@cache
def hints(owner: str) -> dict[str, str]:
    """Return what to write instead of names that users of other tools type, by name: the table of an owner."""
    # Import only here: only an error needs it.
    import tomllib

    with open(os.path.join(_PACKAGE, "data", "hints.toml"), "rb") as file:
        table = tomllib.load(file).get(owner, {})
    return {name: remedy.replace("{name}", name) for remedy, names in table.items() for name in names}


def missing(owner: str, name: str, obj: object, instead: str = "") -> AttributeError:
    """Return the error for an attribute that does not exist.

    Parameters
    ----------
    owner : str
        The name of the class or module.
    name : str
    obj : object
        The object itself, in which Python looks for attributes with a similar name.
    instead : str
        What to write instead; by default what `hints` has.
    """
    # Libraries look for names with an underscore, and must not wait for the table.
    instead = instead or ("" if name.startswith("_") else hints(owner).get(name, ""))
    if instead:
        return AttributeError(f"{owner} has no {name!r}; write {instead}")
    return AttributeError(f"{owner} has no attribute {name!r}", name=name, obj=obj)


class Hinted:
    """The base of a class whose error for a missing attribute says what to write instead."""

    __slots__ = ()

    # Type checkers do not read this method, so that they find misspelled names.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing(type(self).__name__, name, self)


def printable(text: str, keep: str = "") -> str:
    r"""Escape non-printable characters, except those in `keep`.

    Examples
    --------
    >>> print(printable("\x1b[31m, a\nb, \udcff, é"))
    \x1b[31m, a\nb, \xff, é
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else _escape(c) for c in text)


def _escape(character: str) -> str:
    """Return the escape of a character. A surrogate that stands for a byte that is not UTF-8 becomes that byte."""
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def warn(message: str) -> None:
    """Issue a UserWarning about the line outside this package that called it, however deep the call is.

    Parameters
    ----------
    message : str
        One line; non-printable characters are escaped.

    Warns
    -----
    UserWarning
        Always.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(printable(message), UserWarning, stacklevel=level)
