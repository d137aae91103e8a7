"""What goes wrong when an input is not what it should be."""

from __future__ import annotations

__all__ = ["InputError"]


class InputError(ValueError):
    """A user's input cannot be used.

    The message is one line, ``where: expected …, found …``: where is ``path:line`` of a file, and else the argument,
    with the index or the keys of the value.
    """
