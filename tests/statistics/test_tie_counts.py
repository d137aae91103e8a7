"""Counts of ties."""

import numpy as np
import pytest

from tieaware import InputError
from tieaware.statistics import count_ties


def test_count_ties_refuses_offsets_that_do_not_match():
    ties = count_ties(np.array([2, 2, 1, 1, 1], dtype=np.int8), [0, 3, 3, 5], [1, 2])
    assert (ties.lists, ties.tied_lists, ties.tied_documents, ties.across) == (3, 2, 4, (2, 0))
    for offsets, cutoffs, message in (
        ([0, 4], [1], r"offsets: must start at 0 and end at 5, the number of scores; found 0 … 4"),
        ([0, 5], [0], r"cutoffs\[0\]: expected a whole number of at least 1, found 0"),
    ):
        with pytest.raises(InputError, match=message):
            count_ties([2, 2, 1, 1, 1], offsets, cutoffs)
