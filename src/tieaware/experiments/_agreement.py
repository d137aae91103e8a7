"""The agreement of two assessors, and what all mixtures of their labels do to the means of runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import rounding_of
from tieaware.errors import InputError
from tieaware.inputs import Qrels
from tieaware.lists.grades import Missing
from tieaware.measures import Measure
from tieaware.output.tables import Cell, Table, table_by
from tieaware.statistics import Kappa, kappa


class Agreement(NamedTuple):
    """The labels of two assessors for the documents that both judged.

    `query_of` is the query of each document, as a position among the queries that both assessors judged; `judged`,
    int64[2, n_queries], the number of documents that each assessor judged for each query; `rel` the smallest relevant
    label.
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


class Swaps(NamedTuple):
    """The means of runs over all 2^n_queries mixtures of two assessors, computed exactly, not by sampling.

    For each query, the labels of one or of the other assessor are taken, independently and with equal probability.

    Attributes
    ----------
    mean, std, min, max : float64[n_runs, n_measures]
        The mean, the standard deviation, the least and the greatest mean of each run over all mixtures.
    kept : bool[n_pairs, n_measures]
        Whether a pair of runs has the same order in all mixtures, and never the same mean; pairs as those of
        ``np.triu_indices(n_runs, 1)``.
    """

    mean: Values
    std: Values
    min: Values
    max: Values
    kept: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, values: Values) -> Swaps:
        """Compute the means over all mixtures.

        The queries are independent: the variance of the mean of values that are a or b with equal probability is
        Σ (a - b)² / 4 / n². The least difference of two runs is the mean of the lesser differences of each query.

        Parameters
        ----------
        values : float64[2, n_runs, n_queries, n_measures]
            The values by either assessor.

        Returns
        -------
        Swaps
        """
        n_queries = values.shape[2]
        variance = ((values[0] - values[1]) ** 2).sum(axis=1) / 4.0
        first, second = np.triu_indices(values.shape[1], 1)
        kept, rounding = np.empty((len(first), values.shape[3]), np.bool_), rounding_of(*values.max(axis=1), axis=0)
        for i, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            differences = values[:, a] - values[:, b]
            least, greatest = differences.min(axis=0).mean(axis=0), differences.max(axis=0).mean(axis=0)
            kept[i] = (least > rounding) | (greatest < -rounding)
        return cls(
            values.mean(axis=0).mean(axis=1), np.sqrt(variance) / n_queries,
            values.min(axis=0).mean(axis=1), values.max(axis=0).mean(axis=1), kept,
        )  # fmt: skip

    def table(self, runs: Sequence[str], measures: Sequence[Measure]) -> Table:
        """Return a table with a row for each measure and run.

        Parameters
        ----------
        runs : sequence of str
            The names of the runs.
        measures : sequence of Measure

        Returns
        -------
        Table
        """
        kept = ", ".join(f"{n:,} by {measure}" for n, measure in zip(self.kept.sum(axis=0), measures, strict=True))
        notes = [
            "Each query is judged by either assessor, independently and with equal probability. All mixtures count."
        ]
        if len(runs) > 1:
            notes.append(f"Pairs of runs with the same order in all mixtures, of {len(self.kept):,}: {kept}.")
        names = {"measure": measures, "run": runs}
        columns = dict(zip(("mean", "std", "least", "greatest"), (each.T for each in self[:4]), strict=True))
        return table_by("The mean of each run over all mixtures of the assessors", names, columns, notes)
