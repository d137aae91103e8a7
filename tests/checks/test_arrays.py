"""The order of rows by numbers, which lists that take turns are brought together by."""

import numpy as np
import pytest

from tieaware import Run
from tieaware.checks.arrays import stable_order


@pytest.mark.parametrize("n_numbers", [1, 2, 2**16 - 1, 2**16, 2**16 + 1, 2**32, 2**33, 2**48 + 1, 2**62])
def test_numbers_of_any_size_are_sorted_stably(n_numbers):
    rng = np.random.default_rng(n_numbers)
    # Close together, far apart, and the last there may be.
    few = rng.integers(0, min(n_numbers, 40), 1000)
    for numbers in (few, n_numbers - 1 - few, rng.integers(0, n_numbers, 1000)):
        np.testing.assert_array_equal(stable_order(numbers), np.argsort(numbers, kind="stable"))
    assert stable_order(few[:0]).tolist() == []


def test_queries_that_take_turns_may_be_many():
    """More than there are numbers of 16 bits."""
    n, queries = 200_000, np.random.default_rng(3).permutation(70_000)
    rows = np.arange(n) % len(queries)
    run = Run.from_columns(queries[rows], np.arange(n), np.arange(n))
    assert run.queries.to_list() == queries.tolist()
    np.testing.assert_array_equal(run.scores, np.argsort(rows, kind="stable"))
