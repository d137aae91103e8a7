"""Fixtures of the fault tests: failing calls of the C library, and a folder in memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from injected import Faults


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
