"""Fixtures of the fault tests: failing calls of the C library, and a folder in memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from injected import Faults

from tieaware import experiments
from tieaware.output import plots


@pytest.fixture
def faults() -> Faults:
    """Give the control of faults.c; skip the test if faults.c is not preloaded."""
    try:
        return Faults()
    except ValueError:
        pytest.skip("faults.c is not preloaded: run `make faults`")


@pytest.fixture
def in_memory() -> Iterator[Path]:
    """Give an empty folder, in memory if possible: on a disk, thousands of synchronised files would be slow."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def experiment() -> Iterator[Any]:
    """Give the outcome of an experiment; each of its figures is drawn only once, to save time."""
    matrix = np.random.default_rng(3).random((4, 9))
    drawn = experiments.smoothing(matrix, topics=3, repeats=5)
    figures = {}
    with pytest.MonkeyPatch.context() as patch:
        draw = plots.Drawing._laid_out
        patch.setattr(plots.Drawing, "_laid_out", lambda self: figures.setdefault(self.caption, draw(self)))
        yield drawn
