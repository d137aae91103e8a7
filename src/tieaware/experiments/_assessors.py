"""The assessors experiment: how measures and verdicts change if the labels of one assessor replace another's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number, sequence, shown, threshold
from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import first_greatest, merged, rounding_of
from tieaware.defaults import ASSESSOR_MEASURES
from tieaware.engine.views import View
from tieaware.errors import InputError
from tieaware.experiments.evaluating import evaluate_with_progress, known_tau, repeatable_runs
from tieaware.experiments.experiment import Experiment
from tieaware.inputs import Qrels, QrelsLike, as_qrels
from tieaware.lists.grades import Missing
from tieaware.measures import Measure, parse_measures
from tieaware.output.plots import COLOURS, Axes, Drawing, display_name, file_name, label_points
from tieaware.output.tables import Cell, Table, counted, percent, significant, table_by
from tieaware.runtime.extras import load
from tieaware.statistics import Kappa, kappa
from tieaware.statistics.multiple_comparisons import Correction
from tieaware.statistics.procedures import PairTest, Procedure, Verdicts, checked
from tieaware.ties import TieRuleName


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


# If there are more runs than _FEW, only _NAMED runs are named.
_FEW, _NAMED = 12, 8


def _draw_means(
    means: Values, labels: Mapping[int, str], names: tuple[str, str], measure: str, ax: Axes
) -> None:  # fmt: skip
    """Draw the means of runs by either assessor, float64[2, n_runs], against each other; name the runs `labels`."""
    first, second = means
    both = np.concatenate((first, second))
    space = 0.06 * float(np.ptp(both)) or 0.05
    ends = float(both.min()) - space, float(both.max()) + space
    ax.plot(ends, ends, color="#666666", linestyle=":", linewidth=1.2)
    ax.plot(first, second, "o", color=COLOURS[0], markersize=6.0, markeredgecolor="#ffffff")
    x, y = (f"mean {measure} by {display_name(name)}" for name in names)
    ax.set(xlabel=x, ylabel=y, xlim=ends, ylim=ends, aspect="equal")
    points = list(zip(first.tolist(), second.tolist(), strict=True))
    diagonal = [(each, each) for each in np.linspace(*ends, 60).tolist()]
    obstacles = [(x, y, y) for x, y in (*points, *diagonal)]
    label_points(ax, list(labels.values()), [points[i] for i in labels], obstacles)


def _moved_most(means: Values) -> list[int]:
    """Return the runs that the figure names: all if they are few, otherwise those whose ranks differ most."""
    if means.shape[1] <= _FEW:
        return list(range(means.shape[1]))
    ranks = load("scipy.stats", "analysis").rankdata(np.stack([merged(each) for each in means]), axis=1)
    return list(np.argsort(-np.abs(ranks[0] - ranks[1]), kind="stable").tolist()[:_NAMED])


def assessors(
    qrels_a: QrelsLike,
    qrels_b: QrelsLike,
    runs: Any,
    measures: str | Measure | Sequence[str | Measure] = ASSESSOR_MEASURES,
    *,
    names: Sequence[str] = ("A", "B"),
    ties: TieRuleName = "average",
    rel: float = 1,
    alpha: float = 0.05,
    test: PairTest = "t",
    correction: Correction | None = None,
    threads: int | None = None,
    consistent_only: bool = False,
    missing: Missing | None = None,
) -> Assessors:
    """Evaluate runs with the judgments of two assessors, and compare the means, the orders of runs and the verdicts.

    Only the queries that both assessors judged count.

    Parameters
    ----------
    qrels_a, qrels_b : Qrels, path, or {query: {document: label}}
        The judgments of each assessor.
    runs, measures, ties, threads, consistent_only, missing
        As for `tieaware.evaluate`.
    names : sequence of two str
        The names of the assessors in tables and figures.
    rel : float
        The smallest relevant label, at least 0, for the agreement. Measures have their own parameter of this name.
    alpha : float
        The significance level of the tests between runs, between 0 and 1.
    test, correction
        As for `tieaware.Results.table`; the test "none" is not possible.

    References
    ----------
    Manning, C. D., Raghavan, P. and Schütze, H. (2008). Introduction to Information Retrieval, section 8.5.
    Voorhees, E. M. (2000). Variations in relevance judgments and the measurement of retrieval effectiveness.
    Information Processing and Management 36.

    See Also
    --------
    tieaware.statistics.kappa : the agreement of any number of assessors.

    Examples
    --------
    >>> first = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0, "d2": 1}}
    >>> second = {"q1": {"d1": 1, "d2": 1}, "q2": {"d1": 1, "d2": 0}}
    >>> run = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 1.0, "d2": 1.0}}
    >>> outcome = assessors(first, second, run, "RR")
    >>> outcome.values[:, 0, :, 0]
    array([[1.  , 0.75],
           [1.  , 0.75]])
    >>> round(outcome.agreement.kappa.value, 4)
    -0.6
    """
    parsed = parse_measures(measures)
    both = _checked_names(names)
    rel = threshold("rel", rel)
    alpha = number("alpha", alpha, 0, 1, ends=False)
    procedure = checked(test, correction)
    judged = as_qrels(qrels_a, missing), as_qrels(qrels_b, missing)
    common = common_queries(*judged, both)
    values, runs = [], repeatable_runs(runs, consistent_only)
    for qrels in judged:
        (result,) = evaluate_with_progress(qrels, runs, parsed, [View(ties)], threads)
        values.append(result.values[:, _places(qrels, common), :])
    queries = tuple(judged[0].queries.take(_places(judged[0], common)).to_list())
    by_either = np.stack(values)
    compared = _compared(by_either, procedure, alpha)
    agreed = agreement(judged, common, rel, missing)
    return Assessors(both, result.runs, queries, parsed, by_either, agreed, *compared, procedure, alpha)


def _checked_names(names: Any) -> tuple[str, str]:
    given = tuple(sequence("names", names, "texts"))
    if len(given) != 2 or not all(isinstance(name, str) for name in given) or given[0] == given[1]:
        raise InputError("names", f"must be two different texts, not {shown(names)}")
    return given[0], given[1]


def _places(qrels: Qrels, queries: Sequence[bytes]) -> Integers:
    """Return the positions of queries in judgments."""
    place = {query: i for i, query in enumerate(qrels.queries)}
    return np.array([place[query] for query in queries], dtype=np.int64)


def _compared(
    values: Values, procedure: Procedure, alpha: float
) -> tuple[Integers, Integers, tuple[tuple[Verdicts, ...], ...]]:
    """Test all pairs of runs by each assessor; without two runs and two queries, there are no pairs."""
    _, n_runs, n_queries, n_measures = values.shape
    if n_runs < 2 or n_queries < 2:
        return np.arange(0), np.arange(0), ((), ())
    first, second = np.triu_indices(n_runs, 1)
    tests = [
        tuple(
            procedure.verdicts(np.ascontiguousarray(of_one[:, :, m]), first, second, alpha) for m in range(n_measures)
        )
        for of_one in values
    ]
    return first, second, (tests[0], tests[1])


class _Moved(NamedTuple):
    """What the second assessor's labels change by one measure.

    `means`, float64[2, n_runs], are by either assessor. `tau` is Kendall's τ_b between the orders of the runs, or None
    if it is undefined; `changed` are the pairs of runs whose verdict changes, and `most` is the run whose mean moves
    most.
    """

    means: Values
    tau: float | None
    changed: Integers
    most: int


@dataclass(frozen=True, eq=False, repr=False)
class Assessors(Experiment):
    """The values of runs with the labels of two assessors, and the agreement of these assessors.

    Attributes
    ----------
    names : tuple of str
        The names of the two assessors.
    runs, queries, measures : tuple
        The names of the runs and of the queries that both assessors judged, and the measures.
    values : float64[2, n_runs, n_queries, n_measures]
        The values by either assessor.
    agreement : Agreement
        The labels of the documents that both assessors judged: ``share``, ``kappa``, ``kappa_of_relevance``,
        ``overlap`` and others.
    first, second : int64[n_pairs]
        The runs of each pair, as positions in `runs`; no pairs without two runs and two queries.
    tests : tuple of two tuples of Verdicts
        For either assessor and each measure, the tests of all pairs and their verdicts.
    procedure : Procedure
        The test and the correction.
    alpha : float
        The significance level.
    """

    names: tuple[str, str]
    runs: tuple[str, ...]
    queries: tuple[str | int, ...]
    measures: tuple[Measure, ...]
    values: Values
    agreement: Agreement
    first: Integers
    second: Integers
    tests: tuple[tuple[Verdicts, ...], ...]
    procedure: Procedure
    alpha: float

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which states the assessors and the number of runs and queries."""
        runs, queries = counted(len(self.runs), "run"), counted(len(self.queries), "query", "queries")
        return f"{runs} by the labels of {self.names[0]} and of {self.names[1]}, {queries}"

    heading = "What changes with another assessor?"

    @property
    def taus(self) -> tuple[float | None, ...]:
        """For each measure, Kendall's τ_b between the orders of the runs by either assessor; None if undefined."""
        return tuple(self._moved(m).tau for m in range(len(self.measures)))

    @property
    def changed(self) -> tuple[Integers, ...]:
        """For each measure, the pairs of runs whose verdict changes, as positions in `first` and `second`."""
        return tuple(self._moved(m).changed for m in range(len(self.measures)))

    def swaps(self) -> Swaps:
        """Return what the means would be if, for each query, the labels of either assessor were taken.

        Returns
        -------
        Swaps
            The mean, std, min and max of the mean of each run over all mixtures of the two assessors, and the pairs of
            runs whose order no mixture changes.

        Examples
        --------
        >>> first = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0, "d2": 1}}
        >>> second = {"q1": {"d1": 1, "d2": 1}, "q2": {"d1": 0, "d2": 1}}
        >>> run = {"q1": {"d1": 1.0, "d2": 1.0}, "q2": {"d1": 1.0, "d2": 1.0}}
        >>> found = assessors(first, second, run, "RR").swaps()
        >>> found.mean, found.std, found.min, found.max
        (array([[0.8125]]), array([[0.0625]]), array([[0.75]]), array([[0.875]]))
        """
        return Swaps.of(self.values)

    def _moved(self, m: int) -> _Moved:
        means = self.values[..., m].mean(axis=2)
        changed = np.arange(0)
        if len(self.first):
            changed = np.flatnonzero(self.tests[0][m].signs != self.tests[1][m].signs)
        most = first_greatest(np.abs(means[1] - means[0]), rounding_of(means))
        return _Moved(means, known_tau(*means), changed, most)

    def verdict(self) -> str:
        r"""Return the agreement of the assessors, and what the second one's labels change by the first measure.

        Examples
        --------
        >>> first = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0, "d2": 1}}
        >>> second = {"q1": {"d1": 1, "d2": 1}, "q2": {"d1": 0, "d2": 1}}
        >>> run = {"q1": {"d1": 1.0, "d2": 1.0}, "q2": {"d1": 1.0, "d2": 1.0}}
        >>> print(assessors(first, second, run, "RR").verdict().replace("). ", ").\n"))
        A and B give 75 % of 4 documents the same label (kappa 0.467, dubious).
        With the labels of B instead of A, the mean RR of run moves by 0.125, from 0.750 to 0.875.
        """
        a, b = self.names
        n, measure, moved = len(self.agreement.first), self.measures[0], self._moved(0)
        first = f"No document is judged by both {a} and {b}."
        if n:
            kappa, share = self.agreement.kappa, percent(self.agreement.share)
            value = "undefined" if np.isnan(kappa.value) else f"{significant(kappa.value)}, {kappa.meaning}"
            first = f"{a} and {b} give {share} of {counted(n, 'document')} the same label (kappa {value})."
        start = f"{first} With the labels of {b} instead of {a}, the mean {measure}"
        if not (moved.means[0] != moved.means[1]).any():
            return f"{start} of every run stays the same."
        (before, after), run = moved.means[:, moved.most].tolist(), self.runs[moved.most]
        by = f"by {significant(abs(after - before))}, from {significant(before)} to {significant(after)}."
        if len(self.runs) == 1:
            return f"{start} of {run} moves {by}"
        tau = "undefined" if moved.tau is None else significant(moved.tau)
        last = f"Kendall's τ between the two orders of {counted(len(self.runs), 'run')} is {tau}"
        if len(self.first):
            n_changed = len(moved.changed)
            pairs = f"{n_changed:,} of {counted(len(self.first), 'verdict')}"
            last = f"{last}, and {pairs} between them {'changes' if n_changed == 1 else 'change'}"
        return f"{start} of {run} moves most: {by} {last}."

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the tables that a command prints by default."""
        return ("measures", "agreement")

    def tables(self) -> dict[str, Table]:
        """Return the tables of measures, runs, changed verdicts, mixtures of both assessors, and of the agreement.

        Their names: "measures", "runs", "changed-verdicts", "swaps", "agreement", "labels" and "queries".
        """
        return {
            "measures": self._measures(),
            "runs": self._runs(),
            "changed-verdicts": self._changed_verdicts(),
            "swaps": self.swaps().table(self.runs, self.measures),
            "agreement": self.agreement.table(self.names),
            "labels": self.agreement.by_label(self.names),
            "queries": self.agreement.by_query(self.names, self.queries),
        }

    def _measures(self) -> Table:
        moved, known = [self._moved(m) for m in range(len(self.measures))], len(self.first) > 0
        unknown = [None] * len(moved)
        means = {f"mean by {name}": [each.means[i].mean() for each in moved] for i, name in enumerate(self.names)}
        n_significant = {
            f"significant by {name}": [np.count_nonzero(each.signs) for each in tests] if known else unknown
            for name, tests in zip(self.names, self.tests, strict=True)
        }
        columns: dict[str, Any] = {
            **means, "largest difference": [each.means[1, each.most] - each.means[0, each.most] for each in moved],
            "of run": [self.runs[each.most] for each in moved], "tau": [each.tau for each in moved],
            "pairs": [len(self.first)] * len(moved), **n_significant,
            "verdict changes": [len(each.changed) for each in moved] if known else unknown,
        }  # fmt: skip
        notes = (
            "mean: over all runs and queries. largest difference: between a run's means. tau: Kendall's τ_b between "
            f"the orders of the runs by mean. significant: the pairs of runs that differ significantly ({self._test}). "
            "verdict changes: the pairs that do so by only one assessor, or in opposite directions.",
        )
        return table_by(self.title, {"measure": self.measures}, columns, notes)

    @property
    def _test(self) -> str:
        return self.procedure.described(self.alpha, counted(len(self.first), "pair"), len(self.runs))

    def _runs(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for m, measure in enumerate(self.measures):
            before, after = means = self._moved(m).means
            less = measure.definition.less_is_better
            # Equal means share the best of their ranks.
            best_first = merged(means) * (1.0 if less else -1.0)
            ranks = load("scipy.stats", "analysis").rankdata(best_first, "min", axis=1).astype(np.int64)
            columns = (before, after, after - before, *ranks)
            rows += [
                (str(measure), run, *row)
                for run, *row in zip(self.runs, *(each.tolist() for each in columns), strict=True)
            ]
        names = ("measure", "run", *self.names, "difference", *(f"rank by {name}" for name in self.names))
        notes = ("Means over the queries. Runs with the same mean share the best of their ranks.",)
        return Table("The mean of each run by either assessor", names, rows, notes)

    def _changed_verdicts(self) -> Table:
        rows: list[tuple[Cell, ...]] = [
            (str(measure), self.runs[self.first[i]], self.runs[self.second[i]],
             *(float(each[i]) for tests in self.tests for each in (tests[m].test.difference, tests[m].adjusted)))
            for m, measure in enumerate(self.measures)
            for i in self._moved(m).changed.tolist()
        ]  # fmt: skip
        a, b = self.names
        columns = ("measure", "run", "against", f"difference by {a}", f"p by {a}", f"difference by {b}", f"p by {b}")
        note = f"The pairs of runs whose verdict changes. p: {self.procedure.p_name} ({self._test})."
        return Table("Changed verdicts between runs", columns, rows, (note,))

    def drawings(self) -> dict[str, Drawing]:
        """Return a figure for each measure: the mean of each run by one assessor against that by the other.

        Their names: "means-…", with the names of the measures.
        """
        figures = {}
        for m, measure in enumerate(self.measures):
            moved = self._moved(m)
            tau = "" if moved.tau is None else f" Kendall's τ between the two orders is {significant(moved.tau)}."
            labels = {i: self.runs[i] for i in _moved_most(moved.means)}
            draw, n = partial(_draw_means, moved.means, labels, self.names, str(measure)), len(labels)
            shown = "" if n == len(self.runs) else f" Named: the {n} of {len(self.runs)} runs whose ranks differ most."
            figures[f"means-{file_name(measure)}"] = Drawing(
                f"The mean {measure} of each run by the labels of {self.names[1]} against that by the labels of "
                f"{self.names[0]}. On the dotted line, both are equal.{tau}{shown}",
                draw, (5.6, 5.2), f"Mean {measure}",
            )  # fmt: skip
        return figures
