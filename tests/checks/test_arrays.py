"""Sorting of integers, and offsets that callers change later."""

import numpy as np
import pytest

from tieaware import Evaluator, Run
from tieaware.checks.arrays import stable_order


@pytest.mark.parametrize("n_numbers", [1, 2, 2**16 - 1, 2**16, 2**16 + 1, 2**32, 2**33, 2**48 + 1, 2**62])
def test_integers_of_any_size_are_sorted_stably(n_numbers):
    rng = np.random.default_rng(n_numbers)
    small = rng.integers(0, min(n_numbers, 40), 1000)
    for numbers in (small, n_numbers - 1 - small, rng.integers(0, n_numbers, 1000)):
        np.testing.assert_array_equal(stable_order(numbers), np.argsort(numbers, kind="stable"))
    assert stable_order(small[:0]).tolist() == []


def test_rows_of_more_queries_than_16_bits_can_number_are_sorted_by_query():
    n, queries = 200_000, np.random.default_rng(3).permutation(70_000)
    rows = np.arange(n) % len(queries)
    run = Run.from_columns(queries[rows], np.arange(n), np.arange(n))
    assert run.queries.to_list() == queries.tolist()
    np.testing.assert_array_equal(run.scores, np.argsort(rows, kind="stable"))


def test_an_evaluator_keeps_its_offsets_if_the_caller_changes_the_array():
    """The kernels rely on the offsets that were checked."""
    for name, lists in (("offsets", np.array([0, 2, 4])), ("group", np.array([2, 2]))):
        evaluator = Evaluator([1, 0, 0, 1], ["RR"], **{name: lists})
        expected = evaluator([1.0, 2.0, 3.0, 3.0])
        lists[:] = 1
        np.testing.assert_array_equal(evaluator([1.0, 2.0, 3.0, 3.0]), expected)
