"""What the kernels do at their edges: an unknown name, too large a group, and memory that cannot be had."""

from __future__ import annotations

from dataclasses import replace

import pytest

import tieaware
from tieaware.measures import DEFINITIONS, Measure


def test_a_kernel_that_there_is_not_is_named():
    misspelt = Measure(replace(DEFINITIONS["P"], kernel="hit"))
    with pytest.raises(ValueError, match="^kernel: expected one of .*hits.*, found 'hit'$"):
        tieaware.Evaluator([1, 0], [misspelt])
