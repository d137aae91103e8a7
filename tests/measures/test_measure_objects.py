"""Measure objects of ir_measures are accepted as measures, without an import of the integration by the core."""

from __future__ import annotations

import subprocess
import sys

import pytest

CONVERT = """
import sys
import tieaware
assert not any(name.startswith(("ir_measures", "tieaware.integrations")) for name in sys.modules)
from ir_measures import AP, nDCG
print(tieaware.parse_measure(AP(rel=2) @ 10), tieaware.Evaluator([1, 0], nDCG @ 5).measures)
"""


def test_a_measure_of_ir_measures_needs_no_import_of_the_integration():
    pytest.importorskip("ir_measures")
    done = subprocess.run([sys.executable, "-c", CONVERT], capture_output=True, text=True, check=True)
    assert done.stdout == "AP(rel=2)@10 (nDCG@5,)\n"
