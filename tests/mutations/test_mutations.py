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


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_found(copy: Copy, fault: Fault):
    copy.plant(fault)
    try:
        assert copy.failed(*fault.tests)
    finally:
        copy.remove(fault)
