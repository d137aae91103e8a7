"""Lists for tests of boosters, and the documentation's tables of the values that the boosters compute themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np

PAGE = Path(__file__).parents[2] / "docs" / "tools" / "lightgbm.md"


def lists(levels):
    """Return labels from 0 to 4 and scores of 30 lists of 50 documents. The first list has no relevant document.

    The scores have `levels` distinct values; if `levels` is None, the scores of a list are distinct.
    """
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 5, (30, 50)) * (rng.random((30, 50)) < 0.2)
    labels[0] = 0
    distinct = rng.permuted(np.tile(np.arange(50), (30, 1)), axis=1)
    return labels, (distinct if levels is None else distinct * levels // 50) / 64


def own_values(tool):
    """Return the rows of the documentation's table of the values that a tool computes itself, without backticks."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {tool}'s own values\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    assert rows, f"the page has no table of the values of {tool}"
    return [tuple(cell.strip().replace("`", "") for cell in row) for row in rows]
