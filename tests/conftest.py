"""What several test modules need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    """Give the folder of public test collections: $TIEAWARE_DATA, or shared/data beside the repository."""
    root = Path(__file__).parent.parent
    folder = Path(os.environ.get("TIEAWARE_DATA", root.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"the test collections are not at {folder}; TIEAWARE_DATA can name their folder")
    return folder
