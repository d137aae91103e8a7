"""The agreement of two assessors on the documents that both judged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers
from tieaware.errors import InputError
from tieaware.inputs import Qrels
from tieaware.lists.grades import Missing
from tieaware.output.tables import Cell, Table
from tieaware.statistics import Kappa, kappa


class Agreement(NamedTuple):
    """The labels of two assessors for the documents that both judged.

    Attributes
    ----------
    query_of : int64[n_documents]
        The query of each document, as a position among the queries that both assessors judged.
    first, second : int64[n_documents], or float64[n_documents] if a label is not a whole number
        The labels of the two assessors.
    judged : int64[2, n_queries]
        The number of documents that each assessor judged for each query.
    rel : float
        The smallest relevant label.
    """

    query_of: Integers
    first: npt.NDArray[Any]
    second: npt.NDArray[Any]
    judged: Integers
    rel: float

    @property
    def share(self) -> float:
        """The share of the documents with the same label from both; NaN without documents."""
        return float((self.first == self.second).mean()) if len(self.first) else math.nan

    @property
    def kappa(self) -> Kappa:
        """The agreement beyond chance on labels; see `tieaware.statistics.kappa`."""
        return _kappa(self.first, self.second)

    @property
    def kappa_of_relevance(self) -> Kappa:
        """The agreement beyond chance on whether documents are relevant."""
        return _kappa(self.first >= self.rel, self.second >= self.rel)

    @property
    def relevant(self) -> Integers:
        """The number of documents that the first, the second, both and either assessor found relevant, int64[4]."""
        first, second = self.first >= self.rel, self.second >= self.rel
        return np.array([np.count_nonzero(each) for each in (first, second, first & second, first | second)])

    @property
    def overlap(self) -> float:
        """The documents that both assessors found relevant ÷ those that either did; NaN if there are none."""
        _, _, both, either = self.relevant.tolist()
        return both / either if either else math.nan

    def table(self, names: tuple[str, str]) -> Table:
        """Return a row of counts and coefficients."""
        judged, relevant = self.judged.sum(axis=1).tolist(), self.relevant.tolist()
        row: list[Cell] = [
            *judged, len(self.first), *map(_known, (self.share, self.kappa.value, self.kappa_of_relevance.value)),
            *relevant[:3], _known(self.overlap),
        ]  # fmt: skip
        a, b = names
        columns = (
            f"judged by {a}", f"by {b}", "by both", "same label", "kappa of labels", "kappa of relevance",
            f"relevant by {a}", f"relevant by {b}", "relevant by both", "overlap",
        )  # fmt: skip
        notes = (
            "From same label on, of the documents that both judged. same label: the share. kappa: with pooled "
            f"marginals; relevance is a label of at least {self.rel}. overlap: the documents that both found relevant "
            "÷ those that either did.",
        )
        return Table("The agreement of the assessors", columns, [tuple(row)], notes)

    def by_label(self, names: tuple[str, str]) -> Table:
        """Return a table that counts the documents with each pair of labels."""
        labels = np.unique(np.concatenate((self.first, self.second))).tolist()
        rows: list[tuple[Cell, ...]] = [
            (label, *(int(((self.first == label) & (self.second == other)).sum()) for other in labels))
            for label in labels
        ]
        note = f"Rows: the labels of {names[0]}. Columns: the labels of {names[1]}."
        columns = (f"label by {names[0]}", *map(str, labels))
        return Table("The documents that both judged, by label", columns, rows, (note,))

    def by_query(self, names: tuple[str, str], queries: Sequence[str | int]) -> Table:
        """Return a row for each query."""
        first, second = self.first >= self.rel, self.second >= self.rel
        chosen = np.ones(len(first), bool), self.first == self.second, first, second, first & second
        counts = [np.bincount(self.query_of[some], minlength=len(queries)).tolist() for some in chosen]
        columns = ("query", "both judged", "same label", *(f"relevant by {name}" for name in (*names, "both")))
        return Table("The agreement on each query", columns, list(zip(queries, *counts, strict=True)))


def agreement(
    qrels: tuple[Qrels, Qrels], common: Sequence[bytes], rel: float, missing: Missing | None = None
) -> Agreement:
    """Compare the labels of two assessors for the queries that both judged.

    With `missing`, documents of the label -1 are unjudged.
    """
    labels: list[list[dict[bytes, float]]] = [_labels(each, common, missing) for each in qrels]
    shared = [
        (q, label, second[document])
        for q, (first, second) in enumerate(zip(*labels, strict=True))
        for document, label in first.items()
        if document in second
    ]
    kind = np.int64 if all(each.grades is None for each in qrels) else np.float64
    query_of, first, second = np.array(shared, dtype=kind).reshape(-1, 3).T
    judged = np.array([[len(each) for each in lists] for lists in labels])
    return Agreement(query_of.astype(np.int64), first, second, judged, rel)


def common_queries(first: Qrels, second: Qrels, names: tuple[str, str]) -> list[bytes]:
    """Return the queries that both assessors judged, in the order of the first; raise InputError if there are none."""
    second.queries.check_kind(first.queries, names[1], names[0])
    second.documents.check_kind(first.documents, names[1], names[0])
    others = set(second.queries)
    common = [query for query in first.queries if query in others]
    if not common:
        raise InputError("qrels_a, qrels_b", f"no query is judged by both {names[0]} and {names[1]}")
    return common


def _labels(qrels: Qrels, queries: Sequence[bytes], missing: Missing | None) -> list[dict[bytes, float]]:
    """Return the labels of the documents of some queries; with `missing`, without the unjudged documents."""
    documents, labels, offsets = list(qrels.documents), qrels.labels.tolist(), qrels.offsets.tolist()
    place = {query: i for i, query in enumerate(qrels.queries)}
    lists = [slice(offsets[place[query]], offsets[place[query] + 1]) for query in queries]
    listed = [dict(zip(documents[each], labels[each], strict=True)) for each in lists]
    if missing is None:
        return listed
    return [{document: label for document, label in each.items() if label != -1} for each in listed]


def _kappa(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> Kappa:
    if not len(first):
        return Kappa(math.nan, np.full((2, 2), math.nan), "undefined")
    return kappa(first.tolist(), second.tolist())


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number
