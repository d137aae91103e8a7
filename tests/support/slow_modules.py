"""Modules of which `make test` would run nothing, because all of their tests are slow."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

# Where the names of these modules are kept among what pytest collected.
SLOW_MODULES = pytest.StashKey[list[str]]()


def slow_modules(items: Sequence[pytest.Item]) -> list[str]:
    """Return the names of modules that have slow tests only. A module that skips itself has no tests."""
    quick = {item.path for item in items if item.get_closest_marker("slow") is None}
    return sorted(path.name for path in {item.path for item in items} - quick)
