"""What these tests need besides: calls of the C library that fail."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from injected import Faults


@pytest.fixture
def faults() -> Faults:
    """Give what lets calls fail; `make faults` loads it."""
    try:
        return Faults()
    except ValueError:
        pytest.skip("faults.c is not loaded: make faults does that")


@pytest.fixture
def in_memory() -> Iterator[Path]:
    """Give an empty folder, in memory if there is such a place: each of thousands of files would wait for the disk."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        yield Path(folder)
