"""Look-up of positions by name, with errors that list the names that exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tieaware.checks.arguments import did_you_mean, shown

# Comparing the spelling of more names takes too long.
_MOST_COMPARED = 1000


def position(kind: str, names: Sequence[Any], name: Any) -> int:
    """Return the position of a name.

    Raises
    ------
    KeyError
        If the name does not exist. The message lists some that do.
    """
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
