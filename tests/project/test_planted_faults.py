"""The planted faults of `make mutations`: each can still be planted, and the suite finds three of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutations.planted import FAULTS
from mutations.planting import Copy

ROOT = Path(__file__).parents[2]
# One in a kernel, one in the threads, and one in the temporary files.
FEW = (
    "the last digit of a score is truncated", "the last lists are left out when threads divide the lists",
    "rows after a spill keep the numbers of their batch",
)  # fmt: skip


def test_each_fault_changes_one_place_of_the_sources():
    for fault in FAULTS:
        text = (ROOT / fault.path).read_text(encoding="utf-8")
        assert text.count(fault.old) == 1, f"{fault.name}: {fault.path} must contain this text once: {fault.old!r}"
        assert fault.built or fault.path.startswith("src/"), fault.name
        assert all((ROOT / test).exists() for test in fault.tests), fault.name
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 20
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    assert f"It plants {len(FAULTS)} small mistakes" in page


@pytest.mark.slow
def test_the_suite_finds_planted_faults(tmp_path):
    copy = Copy(tmp_path / "copy")
    faults = [fault for fault in FAULTS if fault.name in FEW]
    assert len(faults) == len(FEW)
    for fault in faults:
        copy.plant(fault)
        assert copy.failed(*fault.tests), fault.name
        copy.remove(fault)
    assert copy.failed(*{test for fault in faults for test in fault.tests}) == []
