"""Counts of ties."""

import numpy as np

from tieaware.statistics import count_ties


def test_an_empty_list_has_no_ties():
    ties = count_ties(np.array([2, 2, 1, 1, 1], dtype=np.int8), [0, 3, 3, 5], [1, 2])
    assert (ties.lists, ties.tied_lists, ties.tied_documents, ties.across) == (3, 2, 4, (2, 0))


def test_the_rows_of_a_matrix_are_lists():
    matrix = np.random.default_rng(0).integers(0, 9, (7, 12)).astype(np.float32)
    rows, flat = count_ties(matrix, cutoffs=[3]), count_ties(matrix.ravel(), np.arange(8) * 12, [3])
    for row, other in zip(rows, flat, strict=True):
        np.testing.assert_array_equal(row, other)
    assert (rows.lists, count_ties(matrix[0]).lists, count_ties(matrix[:0]).lists) == (7, 1, 0)
    assert count_ties(matrix[0].tolist()).documents == 12
