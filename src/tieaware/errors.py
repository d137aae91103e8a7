"""The error for unusable input, and escaping of text in messages."""

from __future__ import annotations

__all__ = ["InputError"]


class InputError(ValueError):
    """Input that cannot be used.

    The message is one line, ``where: problem``. Non-printable characters in it, such as the escape sequences of a
    terminal in a file name, are escaped.

    Parameters
    ----------
    where : str
        ``path:line`` in a file; else the argument, with the index or the keys of the value.
    problem : str
        What is wrong, and where it helps, what to do. Made of `expected` and `found` if these are given.
    expected, found : str, optional
        For a value of a wrong type or out of its range: what was expected, and the value.

    Attributes
    ----------
    where, problem : str
    expected, found : str or None

    Examples
    --------
    >>> print(InputError("runs/a.run:3", "the score is NaN"))
    runs/a.run:3: the score is NaN
    >>> print(InputError("threads", expected="a whole number of at least 1", found="0"))
    threads: expected a whole number of at least 1, found 0
    """

    def __init__(
        self, where: str, problem: str = "", expected: str | None = None, found: str | None = None
    ) -> None:
        # All of them, for pickle.
        super().__init__(where, problem, expected, found)
        self.where = where
        self.problem = problem or ("" if expected is None else f"expected {expected}, found {found}")
        self.expected = expected
        self.found = found

    def __str__(self) -> str:
        return printable(": ".join(filter(None, (self.where, self.problem))))

    def at(self, where: str) -> InputError:
        """Return the same problem somewhere else, such as in a part of an argument.

        Parameters
        ----------
        where : str
            The new place.

        Returns
        -------
        InputError
        """
        return InputError(where, self.problem, self.expected, self.found)


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
    """Write one character as an escape: a byte that is not UTF-8 as that byte."""
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")
