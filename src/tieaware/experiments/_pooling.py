"""The pooling experiment: which documents are pooled for assessment when ties cross the depth of the pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import threshold, whole_number
from tieaware.checks.arrays import Integers, Offsets, Scores, Values
from tieaware.checks.rounding import merged
from tieaware.defaults import POOL_DEPTH
from tieaware.experiments.evaluating import repeatable_runs
from tieaware.experiments.experiment import Experiment
from tieaware.inputs import Qrels, QrelsLike, Run, as_qrels
from tieaware.lists.grades import Missing
from tieaware.lists.identifiers import Identifiers
from tieaware.output.plots import COLOURS, Axes, Drawing, display_name, legend_above, name_rows
from tieaware.output.tables import Cell, Table, counted, percent, significant, table_by
from tieaware.runtime.progress import progress
from tieaware.statistics.tie_counts import tie_groups


class Candidates:
    """The documents that may be pooled, and their queries, in the order of their first appearance."""

    def __init__(self) -> None:
        # The place and the name of each query and of each document.
        self._queries: dict[bytes, tuple[int, str | int]] = {}
        self._documents: dict[tuple[int, bytes], tuple[int, str | int]] = {}
        self._first: tuple[str, Run] | None = None

    @property
    def queries(self) -> tuple[str | int, ...]:
        """The names of the queries."""
        return tuple(name for _, name in self._queries.values())

    @property
    def query_of(self) -> Integers:
        """The query of each document, as a position in `queries`."""
        return np.array([query for query, _ in self._documents], dtype=np.int64)

    def names(self, order: Integers) -> tuple[str | int, ...]:
        """Return the names of the documents in an order."""
        names = [name for _, name in self._documents.values()]
        return tuple(names[i] for i in order.tolist())

    def add(self, name: str, run: Run, depth: int) -> tuple[Integers, Values, Integers]:
        """Add the documents that a run may contribute. `name` is the name of the run in messages.

        Return their positions among all candidates; the probability, above 0, that the run contributes each; and the
        queries for which the depth divides a tie group of the run.
        """
        self._check_kinds(name, run.queries, run.documents)
        if self._first is None and len(run):
            self._first = name, run
        rows, probability, divided = _within(run.scores, run.offsets, depth)
        named = zip(run.queries, run.queries.to_list(), strict=True)
        query = np.array(
            [self._queries.setdefault(key, (len(self._queries), name))[0] for key, name in named], dtype=np.int64
        )
        of_row = query[np.searchsorted(run.offsets, rows, side="right") - 1]
        documents = run.documents.take(rows)
        entries = zip(of_row.tolist(), documents, documents.to_list(), strict=True)
        places = [self._documents.setdefault((q, key), (len(self._documents), name))[0] for q, key, name in entries]
        return np.array(places, dtype=np.int64), probability, query[divided]

    def _check_kinds(self, name: str, queries: Identifiers, documents: Identifiers) -> None:
        """Raise InputError if the identifiers are integers, and those of the first run text, or the reverse."""
        if self._first is not None:
            first_name, first = self._first
            queries.check_kind(first.queries, name, first_name)
            documents.check_kind(first.documents, name, first_name)

    def labels(self, qrels: Qrels, missing: Missing | None = None) -> Values:
        """Return the label of each document; NaN if it is not judged. With `missing`, the label -1 means unjudged."""
        self._check_kinds(qrels.name, qrels.queries, qrels.documents)
        labels = np.full(len(self._documents), np.nan)
        places = [self._queries.get(key, (-1,))[0] for key in qrels.queries]
        of_row = np.repeat(places, np.diff(qrels.offsets)).tolist()
        for q, document, label in zip(of_row, qrels.documents, qrels.labels.tolist(), strict=True):
            if (q, document) in self._documents and (missing is None or label != -1):
                labels[self._documents[q, document][0]] = label
        return labels

    def order(self, probability: Values) -> Integers:
        """Return the order of the documents by query, descending probability and identifier."""
        keys = zip(self._documents, (-probability).tolist(), range(len(probability)), strict=True)
        return np.array([i for *_, i in sorted((q, p, key, i) for (q, key), p, i in keys)], dtype=np.int64)


def _within(scores: Scores, offsets: Offsets, depth: int) -> tuple[Integers, Values, Integers]:
    """Find the rows that may be within the first `depth` ranks of their list.

    Return the rows, the share of the orders of tied documents that put each of them there, and the lists in which the
    depth divides a tie group.
    """
    order, list_of, before, size = tie_groups(scores, offsets)
    share = np.clip(depth - before, 0, size) / size
    probability = np.repeat(share, size)
    within = probability > 0.0
    return order[within], probability[within], list_of[(share > 0.0) & (share < 1.0)]


class Pools(NamedTuple):
    """The contributions of runs: an entry for each run and document that it may contribute, with the probability.

    `shape` has the numbers of runs and of queries, and `query_of` the query of each document.
    """

    run: Integers
    document: Integers
    probability: Values
    query_of: Integers
    shape: tuple[int, int]

    def missed(self) -> tuple[Values, Integers]:
        """Return the probability that no run contributes each document by chance, and how many surely contribute it.

        Runs that surely contribute a document do not count for the probability.
        """
        missing, is_sure = np.ones(len(self.query_of)), self.probability == 1.0
        np.multiply.at(missing, self.document[~is_sure], 1.0 - self.probability[~is_sure])
        return missing, np.bincount(self.document[is_sure], minlength=len(missing))

    def unique(self, counted: npt.NDArray[np.bool_]) -> Values:
        """Return how many of the counted documents each run alone is expected to contribute: [n_runs, n_queries]."""
        missing, n_sure = (each[self.document] for each in self.missed())
        p, is_sure = self.probability, self.probability == 1.0
        own = np.divide(missing, 1.0 - p, out=missing, where=~is_sure)
        return self.sums(np.where(n_sure == is_sure, p * own, 0.0) * counted[self.document])

    def sums(self, weights: Values | None = None) -> Values:
        """Return the sums of a weight of each entry, by run and query; by default the number of entries."""
        n_runs, n_queries = self.shape
        places = self.run * n_queries + self.query_of[self.document]
        return np.bincount(places, weights, minlength=n_runs * n_queries).reshape(self.shape).astype(np.float64)


# The most runs in a figure.
_MOST_DRAWN = 60


def _draw_sizes(expected: Values, certain: Integers, largest: Integers, ax: Axes) -> None:
    """Draw the expected size of the pool of each query, between its certain documents and whole tie groups."""
    order = np.lexsort((largest, expected))
    # Each query is as wide as a step, so that a single query is visible too.
    edges = np.arange(len(order) + 1) + 0.5

    def step(values: Values | Integers) -> Values:
        ordered = values[order]
        return np.append(ordered, ordered[-1:] if len(ordered) else 0.0)

    ax.fill_between(edges, step(certain), step(largest), step="post", color="#cfe3f1", label="certain to whole groups")
    ax.step(edges, step(expected), where="post", color=COLOURS[0], linewidth=1.8, label="expected")
    ax.set(xlabel="queries, by expected size", ylabel="documents in the pool", xlim=(0.5, max(len(order), 1) + 0.5))
    ax.set_ylim(bottom=0.0)
    ax.locator_params(axis="x", integer=True)
    legend_above(ax)


def _draw_unique(runs: Sequence[str], unique: Values, relevant: Values | None, ax: Axes) -> None:
    """Draw the expected number of documents that only one run contributes, and of relevant ones."""
    order = np.argsort(unique, kind="stable")[-_MOST_DRAWN:]
    places = np.arange(len(order))
    ax.barh(places, unique[order], color="#8fbcd9", height=0.7, label="unique")
    if relevant is not None:
        ax.barh(places, relevant[order], color=COLOURS[0], height=0.7, label="unique and relevant")
    name_rows(ax, [display_name(runs[i]) for i in order])
    ax.set_xlim(left=0.0)
    ax.set_xlabel("documents of a single run")
    legend_above(ax)


def pooling(
    runs: Any,
    depth: int = POOL_DEPTH,
    *,
    qrels: QrelsLike | None = None,
    rel: float = 1,
    consistent_only: bool = False,
    missing: Missing | None = None,
) -> Pooling:
    """Pool the first documents of each run for assessment, and find the documents whose pooling depends on ties.

    A run contributes its first `depth` documents for each query. If the depth divides a tie group of n documents, of
    which m fit, each of these documents is contributed with probability m/n. The tie orders of different runs are
    independent, so a document is pooled with probability 1 - Π (1 - p), where p is the probability of each run.

    Parameters
    ----------
    runs, consistent_only, missing
        As for `tieaware.evaluate`.
    depth : int
        The number of documents that a run contributes for each query, at least 1.
    qrels : Qrels, path, or {query: {document: label}}, optional
        Judgments, to count the relevant documents in the pool.
    rel : float
        The smallest relevant label, at least 0; used only with judgments.

    References
    ----------
    Manning, C. D., Raghavan, P. and Schütze, H. (2008). Introduction to Information Retrieval, section 8.5.
    Zobel, J. (1998). How reliable are the results of large-scale information retrieval experiments? SIGIR 1998. For
    documents that only one run contributes.

    Examples
    --------
    >>> first = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 2.0, "d4": 2.0}}
    >>> second = {"q1": {"d2": 9.0, "d5": 8.0, "d4": 8.0}}
    >>> outcome = pooling({"first": first, "second": second}, depth=2)
    >>> print(outcome.tables()["documents"])
    The documents that may be pooled
    <BLANKLINE>
    query  document  probability  runs
    q1     d1             1.0000     1
    q1     d2             1.0000     2
    q1     d4             0.6667     2
    q1     d5             0.5000     1
    q1     d3             0.3333     1
    <BLANKLINE>
    probability: over the independent orders of tied documents. runs: the number of runs that may contribute it.
    >>> outcome.expected, outcome.whole_groups()
    (array([3.5]), {'q1': ['d1', 'd2', 'd4', 'd5', 'd3']})
    """
    depth = whole_number("depth", depth, 1, 2**31)
    rel = threshold("rel", rel)
    judged = None if qrels is None else as_qrels(qrels, missing)
    sources = repeatable_runs(runs, consistent_only)
    candidates = Candidates()
    found = [candidates.add(name, each.whole(), depth) for name, each in progress(sources.items(), "runs")]
    documents, probabilities, cut = zip(*found, strict=True)
    run = np.repeat(np.arange(len(found)), list(map(len, documents)))
    query_of, shape = candidates.query_of, (len(found), len(candidates.queries))
    pools = Pools(run, np.concatenate(documents), np.concatenate(probabilities), query_of, shape)
    divided = np.zeros(shape, dtype=bool)
    for row, queries in zip(divided, cut, strict=True):
        row[queries] = True
    missed, n_sure = pools.missed()
    # However many runs may contribute a document, it is not certain: only a sure one has the probability 1.
    probability = np.where(n_sure > 0, 1.0, np.minimum(1.0 - merged(missed), np.nextafter(1.0, 0.0)))
    order = candidates.order(probability)
    labels = None if judged is None else candidates.labels(judged, missing)
    return Pooling(
        tuple(sources), candidates.queries, depth, query_of[order], candidates.names(order), probability[order],
        np.bincount(pools.document, minlength=len(order))[order], pools.sums(pools.probability), pools.sums(),
        divided, pools.unique(np.ones(len(query_of), dtype=bool)), rel,
        None if labels is None else labels[order], None if labels is None else pools.unique(labels >= rel),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Pooling(Experiment):
    """Pools of documents for assessment: the first documents of each run, where ties leave it open which these are.

    Attributes
    ----------
    runs : tuple of str
    queries : tuple of str or of int
        The names of the runs, and of the queries that any run answers.
    depth : int
        The number of documents that a run contributes for each query.
    query_of : int64[n_documents]
        The query of each document that may be pooled, as a position in `queries`.
    documents : tuple of str or of int
        The documents that may be pooled, by query; those that are pooled most probably come first.
    probability : float64[n_documents]
        The probability that the document is in the pool of its query, over 0 and at most 1.
    n_runs : int64[n_documents]
        The number of runs that may contribute the document.
    contributed : float64[n_runs, n_queries]
        The number of documents that each run contributes: the depth, or the length of a shorter list.
    in_whole_groups : float64[n_runs, n_queries]
        The number of documents that each run contributes if tie groups that the depth divides are taken as a whole.
    divided : bool[n_runs, n_queries]
        Whether the depth divides a tie group.
    unique : float64[n_runs, n_queries]
        The expected number of documents that only this run contributes.
    rel : float
        The smallest relevant label.
    labels : float64[n_documents] or None
        The labels of the documents; NaN for unjudged ones. None without judgments.
    unique_relevant : float64[n_runs, n_queries] or None
        The expected number of relevant documents that only this run contributes. None without judgments.
    """

    runs: tuple[str, ...]
    queries: tuple[str | int, ...]
    depth: int
    query_of: Integers
    documents: tuple[str | int, ...]
    probability: Values
    n_runs: Integers
    contributed: Values
    in_whole_groups: Values
    divided: npt.NDArray[np.bool_]
    unique: Values
    rel: float
    labels: Values | None
    unique_relevant: Values | None

    @property
    def expected(self) -> Values:
        """The expected number of documents in the pool of each query, float64[n_queries]."""
        return self._by_query(self.probability)

    @property
    def certain(self) -> Integers:
        """The number of documents that are pooled in every order of tied documents, int64[n_queries]."""
        return np.bincount(self.query_of[self.probability == 1.0], minlength=len(self.queries)).astype(np.int64)

    @property
    def largest(self) -> Integers:
        """The number of documents in the pool that takes whole tie groups, int64[n_queries]."""
        return np.bincount(self.query_of, minlength=len(self.queries)).astype(np.int64)

    def whole_groups(self) -> dict[str | int, list[str | int]]:
        """Return the pool that takes tie groups as a whole where the depth divides them.

        Returns
        -------
        dict of query to list of documents
            In the order of `documents`. It does not depend on the order of tied documents.
        """
        ends = np.append(0, np.cumsum(self.largest)).tolist()
        return {
            query: list(self.documents[start:end])
            for query, start, end in zip(self.queries, ends, ends[1:], strict=False)
        }

    def _by_query(self, weights: Values) -> Values:
        return np.bincount(self.query_of, weights, minlength=len(self.queries)).astype(np.float64)

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which states the depth and the number of runs and queries."""
        runs, queries = counted(len(self.runs), "run"), counted(len(self.queries), "query", "queries")
        return f"Pools of {runs} to depth {self.depth:,}, {queries}"

    heading = "Which documents are pooled?"

    def verdict(self) -> str:
        r"""Return the expected size of the pool, and how far it depends on the order of tied documents.

        Examples
        --------
        >>> outcome = pooling({"q1": {"d1": 2.0, "d2": 1.0, "d3": 1.0, "d4": 1.0}}, depth=2)
        >>> print(outcome.verdict().replace(". ", ".\n"))
        The pool has 2 documents in expectation.
        The depth divides a tie group in 1 of 1 list (100 %).
        1 document is pooled in every order of ties; with whole tie groups, the pool has 4 documents.
        """
        expected = float(self.expected.sum())
        n = max(len(self.queries), 1)
        mean = f", {significant(round(expected / n, 9))} a query" if n > 1 else ""
        size = f"The pool has {_documents(expected)} in expectation{mean}."
        lists, divided = int((self.contributed > 0.0).sum()), int(self.divided.sum())
        if not divided:
            return f"{size} The depth divides no tie group, so the pool does not depend on the order of ties."
        certain, largest = int(self.certain.sum()), int(self.largest.sum())
        share = percent(divided / lists)
        sure = f"{counted(certain, 'document')} {'is' if certain == 1 else 'are'} pooled in every order of ties"
        return (
            f"{size} The depth divides a tie group in {divided:,} of {counted(lists, 'list')} ({share}). {sure}; with "
            f"whole tie groups, the pool has {counted(largest, 'document')}."
        )

    def tables(self) -> dict[str, Table]:
        """Return the tables of the runs' contributions, of the pools of all queries, and of their documents.

        Their names: "runs", "queries" and "documents".
        """
        return {"runs": self._contributions(), "queries": self._sizes(), "documents": self._documents()}

    def _contributions(self) -> Table:
        columns: dict[str, npt.NDArray[Any]] = {
            "lists": (self.contributed > 0.0).sum(axis=1), "divided": self.divided.sum(axis=1),
            "documents": self.contributed.sum(axis=1).round().astype(np.int64),
            "whole groups": self.in_whole_groups.sum(axis=1).astype(np.int64), "unique": self.unique.sum(axis=1),
        }  # fmt: skip
        note = (
            f"divided: the number of lists in which depth {self.depth:,} divides a tie group. documents: the number "
            "that the run contributes. whole groups: the number if divided tie groups are taken as a whole. unique: "
            "the expected number of documents that no other run contributes."
        )
        if self.unique_relevant is not None:
            columns["unique relevant"] = self.unique_relevant.sum(axis=1)
            note = f"{note} unique relevant: those with a label of at least {self.rel}."
        return table_by(self.title, {"run": self.runs}, columns, (note,))

    def _sizes(self) -> Table:
        columns = {"expected": self.expected, "certain": self.certain, "whole groups": self.largest}
        note = (
            "expected: the expected number of documents in the pool, over the independent orders of tied documents. "
            "certain: those that are pooled in every order. whole groups: the size of the pool if divided tie groups "
            "are taken as a whole."
        )
        if self.labels is not None:
            for name, some in (("judged", ~np.isnan(self.labels)), ("relevant", self.labels >= self.rel)):
                columns[name] = self._by_query(np.where(some, self.probability, 0.0))
            note = f"{note} judged, relevant: the expected numbers; relevant is a label of at least {self.rel}."
        return table_by("The pool of each query", {"query": self.queries}, columns, (note,))

    def _documents(self) -> Table:
        columns: dict[str, Sequence[Cell]] = {
            "query": [self.queries[q] for q in self.query_of.tolist()], "document": self.documents,
            "probability": self.probability.tolist(), "runs": self.n_runs.tolist(),
        }  # fmt: skip
        notes = (
            "probability: over the independent orders of tied documents. runs: the number of runs that may contribute "
            "it.",
        )
        if self.labels is not None:
            # A label that is a whole number is shown as one.
            whole = [int(label) if label.is_integer() else label for label in self.labels.tolist()]
            columns["label"] = [label if label == label else None for label in whole]
        rows = list(zip(*columns.values(), strict=True))
        return Table("The documents that may be pooled", tuple(columns), rows, notes)

    def drawings(self) -> dict[str, Drawing]:
        """Return the figures of the sizes of the pools and of the documents that only one run contributes.

        Their names: "sizes" and "unique".
        """
        many = len(self.runs) > _MOST_DRAWN
        shown = f" Shown: the {_MOST_DRAWN} of {len(self.runs)} runs with the most." if many else ""
        relevant = None if self.unique_relevant is None else self.unique_relevant.sum(axis=1)
        also = "; darker: the relevant ones" if relevant is not None else ""
        return {
            "sizes": Drawing(
                "The size of each query's pool: the documents that are pooled in every order of tied documents, the "
                "expected number, and the number if divided tie groups are taken as a whole.",
                partial(_draw_sizes, self.expected, self.certain, self.largest), (6.2, 3.8), "The sizes of the pools",
            ),
            "unique": Drawing(
                f"The expected number of documents that no other run contributes{also}.{shown}",
                partial(_draw_unique, self.runs, self.unique.sum(axis=1), relevant),
                (6.8, 1.3 + 0.22 * min(len(self.runs), _MOST_DRAWN)), "Documents of a single run",
            ),
        }  # fmt: skip


def _documents(count: float) -> str:
    """Return a number of documents, which is whole or has three significant digits or more."""
    shown = f"{count:,.0f}" if count >= 1000 else significant(round(count, 9))
    return f"{shown} document{'' if shown == '1' else 's'}"
