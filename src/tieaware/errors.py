"""What goes wrong when an input is not what it should be, and how text from anywhere is shown in what is said of it."""

from __future__ import annotations

__all__ = ["InputError"]


class InputError(ValueError):
    """A user's input cannot be used.

    The message is one line, ``where: expected …, found …``: where is ``path:line`` of a file, and else the argument,
    with the index or the keys of the value. What is no text for a reader in it, such as the escape sequences of a
    terminal in the name of a file, is written as in a Python string.
    """

    def __str__(self) -> str:
        return printable(super().__str__())


def printable(text: str, keep: str = "") -> str:
    r"""Write what is no text for a reader, but for the characters to keep, as escapes.

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
