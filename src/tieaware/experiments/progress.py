"""A progress bar for what takes long."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from tieaware.extras import load

Item = TypeVar("Item")


def progress(items: Iterable[Item], label: str, total: int | None = None) -> Iterable[Item]:
    """Go through the items, with a bar on a terminal once that has taken two seconds."""
    bar: Iterable[Item] = load("tqdm", "analysis").tqdm(
        items, desc=label, total=total, delay=2.0, disable=None, leave=False
    )
    return bar
