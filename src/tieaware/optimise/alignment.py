"""Alignment of several runs: one row for each query and document that any of the runs has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tieaware.checks.arrays import Integers, Offsets, Values
from tieaware.inputs import Run
from tieaware.kernels import _identifiers
from tieaware.lists.identifiers import Identifiers


class Aligned(NamedTuple):
    """The scores that several runs give to the same documents.

    Attributes
    ----------
    queries : Identifiers
        Each query once, in the order in which the runs have them first.
    offsets : int64[n_queries + 1]
        The rows of query ``q`` are ``offsets[q]`` to ``offsets[q + 1]``.
    documents : Identifiers
        The document of each row, in the order in which the runs have them first.
    scores : float64[n_runs, n_rows]
        The score of each document in each run; NaN where the run does not have the document.
    """

    queries: Identifiers
    offsets: Offsets
    documents: Identifiers
    scores: Values


def align(runs: Sequence[Run]) -> Aligned:
    """Align runs by query and document.

    Raises
    ------
    InputError
        The identifiers are text in one run and integers in another.
    """
    for run in runs[1:]:
        run.queries.check_kind(runs[0].queries, f"{run.name}.query", runs[0].name)
        run.documents.check_kind(runs[0].documents, f"{run.name}.doc", runs[0].name)
    all_queries = _concatenated([run.queries for run in runs])
    all_documents = _concatenated([run.documents for run in runs])
    query_numbers, first_queries = _identifiers.number(all_queries.data, all_queries.offsets)
    document_numbers, first_documents = _identifiers.number(all_documents.data, all_documents.offsets)
    sizes = np.concatenate([np.diff(run.offsets) for run in runs])
    pairs = np.repeat(query_numbers, sizes) * max(len(first_documents), 1) + document_numbers
    rows, firsts, row_of = _numbered(pairs, max(len(first_documents), 1))
    scores = np.full((len(runs), rows), np.nan)
    end = 0
    for i, run in enumerate(runs):
        start, end = end, end + len(run.documents)
        scores[i, row_of[start:end]] = run.scores
    offsets = np.zeros(len(first_queries) + 1, np.int64)
    query_of_row = pairs[firsts] // max(len(first_documents), 1)
    np.cumsum(np.bincount(query_of_row, minlength=len(first_queries)), out=offsets[1:])
    return Aligned(all_queries.take(first_queries), offsets, all_documents.take(firsts), scores)


def _numbered(pairs: Integers, n_documents: int) -> tuple[int, Integers, Integers]:
    """Number the distinct pairs of query and document: by query, then by first appearance.

    Returns the number of distinct pairs, the index at which each of them appears first, and the number of each pair.
    """
    distinct, firsts, inverse = np.unique(pairs, return_index=True, return_inverse=True)
    order = np.lexsort((firsts, distinct // n_documents))
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order))
    return len(distinct), firsts[order].astype(np.int64), numbers[inverse.ravel()]


def _concatenated(columns: Sequence[Identifiers]) -> Identifiers:
    """Return the identifiers of several columns as one column, of the kind that all non-empty columns have."""
    ends = np.cumsum([0, *(len(column.data) for column in columns)])
    offsets = [column.offsets[1:] + end for column, end in zip(columns, ends[:-1], strict=True)]
    kinds = {column.kind for column in columns if len(column)}
    return Identifiers.of(
        np.concatenate([column.data for column in columns]),
        np.concatenate([np.zeros(1, np.int64), *offsets]),
        kinds.pop() if len(kinds) == 1 else "any",
    )
