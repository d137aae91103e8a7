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


def test_the_rows_of_a_matrix_are_lists():
    matrix = np.random.default_rng(0).integers(0, 9, (7, 12)).astype(np.float32)
    rows, flat = count_ties(matrix, cutoffs=[3]), count_ties(matrix.ravel(), np.arange(8) * 12, [3])
    for row, other in zip(rows, flat, strict=True):
        np.testing.assert_array_equal(row, other)
    assert (rows.lists, count_ties(matrix[0]).lists, count_ties(matrix[:0]).lists) == (7, 1, 0)
    assert count_ties(matrix[0].tolist()).documents == 12


def test_a_single_cutoff_is_an_error_that_says_what_to_write():
    for arguments in (([2.0, 1.0], None, 10), ([[2.0, 1.0]], None, np.int64(10))):
        with pytest.raises(InputError) as error:
            count_ties(*arguments)
        assert str(error.value) == "cutoffs: must be a sequence of numbers; write cutoffs=[10]"
    with pytest.raises(InputError, match=r"^offsets: expected .*; for a cut-off write cutoffs=\[10\]"):
        count_ties([[2.0, 1.0]], 10)


@pytest.mark.parametrize(
    ("scores", "offsets", "message"),
    [
        ([[1, 2]], [0, 2], "offsets: must not be given with two-dimensional scores: each row is already one list"),
        (3.0, None, "scores: expected one or two dimensions, found shape ()"),
        ([[[1.0]]], None, "scores: expected one or two dimensions, found shape (1, 1, 1)"),
        ([[1.0, "x"]], None, "scores[0, 1]: expected a number, found 'x'"),
    ],
)
def test_unusable_scores_are_refused(scores, offsets, message):
    with pytest.raises(InputError) as error:
        count_ties(scores, offsets)
    assert str(error.value) == message


def test_several_matrices_are_counted_one_by_one():
    with pytest.raises(InputError, match="scores: must be numbers, not a dict; call count_ties once for each matrix"):
        count_ties({"float32": np.eye(2), "int8": np.eye(2)})
    with pytest.raises(InputError, match=r"not a run; write run = Run\.from_dict"):
        count_ties({"q1": {"d1": 1.0}})
