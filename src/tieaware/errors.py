"""What goes wrong when an input is not what it should be."""

from __future__ import annotations

__all__ = ["InputError"]


class InputError(ValueError):
    """A user's input cannot be used.

    The message is one line. For a file it is ``path:line: what was found and what was expected``; for
    anything else it names the argument, and the index or keys of the value.
    """
