"""The suite finds planted faults: each of them makes a test fail, and without it the same tests pass."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from mutations.planted import FAULTS, Fault
from mutations.planting import Copy


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    return Copy(tmp_path_factory.mktemp("mutations") / "copy")


def test_all_tests_pass_without_a_fault(copy):
    assert copy.failed(*sorted({test for fault in FAULTS for test in fault.tests})) == []


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("excluded documents count", 14),
        ("excluded items are forgotten", 14),
        ("a list's excluded documents are those of the first", 14),
        ("rows after a spill keep the numbers of their batch", 14),
        ("in long lists, excluded documents use up the cut-off", 60),
        ("half precision and bfloat16 round toward zero", 180),
    ],
)
def test_the_differential_fuzzer_finds_faults_in_seconds(copy: Copy, name: str, seconds: float):
    """It draws exclusions, spilling, coarse scores and other tools' interfaces for every batch."""
    (fault,) = (fault for fault in FAULTS if fault.name == name)
    copy.plant(fault)
    try:
        assert copy.differs(seconds)
    finally:
        copy.remove(fault)


def test_the_differential_fuzzer_finds_nothing_without_a_fault(copy: Copy):
    assert not copy.differs(14)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_found(copy: Copy, fault: Fault):
    copy.plant(fault)
    try:
        assert copy.failed(*fault.tests)
    finally:
        copy.remove(fault)
