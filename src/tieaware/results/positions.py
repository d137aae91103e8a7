"""Look-up of positions by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tieaware.checks.arguments import shown


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
        some = ", ".join(map(str, names[:5])) + (" …" if len(names) > 5 else "")
        raise KeyError(f"no {kind} {shown(name)}; there are {len(names)}: {some}") from None
