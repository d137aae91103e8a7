"""The test whether runs are better than chance: exact where the distributions are known, else by simulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import checked_seed, whole_number
from tieaware.checks.arrays import Values
from tieaware.checks.rounding import rounding_of
from tieaware.engine.weights import also_weighted
from tieaware.errors import InputError
from tieaware.inputs import Qrels, QrelsLike, RunLike, RunSource, as_qrels, as_sources, check_numbers, match
from tieaware.lists.judgments import POOLED
from tieaware.measures import Measure, named_measures
from tieaware.output.tables import Table, counted, significant
from tieaware.statistics.random_orders import Distribution, LabelledList, sum_of


@dataclass(frozen=True, eq=False)
class ChanceTest:
    """The p values of a test against chance.

    Attributes
    ----------
    runs, names : tuple of str
        The runs, and the names of the measures.
    queries : tuple of str or of int
        The judged queries.
    p : float64[n_runs, n_measures]
        The probability that a run which orders documents at random has at least this mean over the queries.
    error : float64[n_runs, n_measures]
        The standard error of p: 0 where it is exact.
    p_by_query : float64[n_runs, n_queries, n_measures]
        The probability that a random order of the query has at least this value; 1 for unanswered queries.
    exact : bool[n_runs, n_measures]
        Whether p was computed from the exact distributions; otherwise by simulation.
    exact_by_query : bool[n_runs, n_queries, n_measures]
    samples : int
        The number of simulated orders.

    Examples
    --------
    >>> from tieaware import statistics
    >>> test = statistics.better_than_chance({"q1": {"d1": 1}}, {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}, "RR")
    >>> test.p.round(4), test.exact
    (array([[0.3333]]), array([[ True]]))
    """

    runs: tuple[str, ...]
    names: tuple[str, ...]
    queries: tuple[str | int, ...]
    p: Values
    error: Values
    p_by_query: Values
    exact: npt.NDArray[np.bool_]
    exact_by_query: npt.NDArray[np.bool_]
    samples: int

    def table(self) -> Table:
        """Return a table with a row for each run and measure: p, its standard error, and how p was computed.

        Returns
        -------
        Table
        """
        rows = [
            (run, name, self.p[i, j], self.error[i, j] or None, "exact" if self.exact[i, j] else "simulated")
            for i, run in enumerate(self.runs)
            for j, name in enumerate(self.names)
        ]
        over = counted(len(self.queries), "query", "queries")
        title = f"Probability that a random order is at least as good, over {over}"
        return Table(title, ("run", "measure", "p", "standard error", "computed"), rows)

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{run} {name}: p={significant(self.p[i, j])}"
            for i, run in enumerate(self.runs[:3])
            for j, name in enumerate(self.names[:3])
        )
        more = ", …" if len(self.runs) > 3 or len(self.names) > 3 else ""
        return f"ChanceTest({shown}{more})"


def better_than_chance(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike] | Mapping[str, object],
    measures: str | Measure | Sequence[str | Measure],
    *,
    samples: int = 10_000,
    seed: int = 0,
) -> ChanceTest:
    """Test whether runs are better than chance: whether they order their documents with regard to relevance.

    If not, every assignment of the labels to the documents of a list is equally likely. p is the probability of those
    whose mean over the queries is at least that of the run. The ties of the run stay as they are, and are averaged
    over. This is a permutation test, so it needs no assumption on distributions. It does not test whether the run has
    found relevant documents at all: chance orders the same documents.

    For each list, the distribution of the values is exact if the labels can be placed on the tie groups in no more than
    some thousand ways: for a measure of hits such as P@k (hypergeometric), for RR and Success, for one relevant
    document, and for small cut-offs. p is exact if the sum over the queries has few values, as for P@k. Otherwise it is
    simulated.

    Parameters
    ----------
    qrels, runs, measures
        As for `tieaware.evaluate`. All judged queries count. GMAP, whose mean is geometric, cannot be tested.
    samples : int
        The number of random orders of each list for simulations, 1 … 10^7. No simulated p is less than
        1 / (samples + 1).
    seed : int
        The seed of the simulations.

    References
    ----------
    Fisher, R. A. (1935), The design of experiments, on permutation tests. The exact distributions under ties are
    tieaware's own.

    Examples
    --------
    The only relevant document ties with one of four others, in first place.

    >>> from tieaware import statistics
    >>> qrels, run = {"q1": {"d1": 1}}, {"bm25": {"q1": {"d1": 2, "d2": 2, "d3": 1, "d4": 1, "d5": 1}}}
    >>> print(statistics.better_than_chance(qrels, run, ["RR", "P@1"]).table())
    Probability that a random order is at least as good, over 1 query
    <BLANKLINE>
    run   measure       p  standard error  computed
    bm25  RR       0.4000               –  exact
    bm25  P@1      0.4000               –  exact
    """
    asked, names = named_measures(measures)
    for measure in asked:
        if measure.definition.is_geometric:
            raise InputError("measures", f"{measure} has a geometric mean, which cannot be tested against chance")
    samples, seed = whole_number("samples", samples, 1, 10**7), checked_seed(seed)
    subtopics = any(measure.definition.needs_subtopics for measure in asked)
    judged, sources = as_qrels(qrels, subtopics=subtopics), as_sources(runs)
    shape = len(sources), len(judged), len(asked)
    p_by_query, exact_by_query = np.ones(shape), np.ones(shape, np.bool_)
    p, error, exact = np.ones(shape[::2]), np.zeros(shape[::2]), np.ones(shape[::2], np.bool_)
    for i, (name, source) in enumerate(sources.items()):
        rng = np.random.default_rng([seed, i])
        tests = [_SumOverQueries(measure, samples) for measure in asked]
        for row, listed in _lists(judged, source, name, asked):
            unknown = tuple(test.measure for test in tests if not test.add(listed))
            drawn = listed.samples(unknown, samples, rng) if unknown else np.empty((samples, 0))
            columns = iter(drawn.T)
            for j, test in enumerate(tests):
                p_by_query[i, row, j], exact_by_query[i, row, j] = test.of_query(columns)
        for j, test in enumerate(tests):
            p[i, j], error[i, j], exact[i, j] = test.of_all(rng)
    queries = tuple(judged.queries.to_list())
    return ChanceTest(tuple(sources), names, queries, p, error, p_by_query, exact, exact_by_query, samples)


def _lists(
    judged: Qrels, source: RunSource, name: str, measures: tuple[Measure, ...]
) -> Iterator[tuple[int, LabelledList]]:
    """Yield the row and the list of each judged query that a run answers."""
    check_numbers(judged, source, name)
    matched = match(judged, source.whole())
    offsets, judged_offsets, labels = matched.lists.offsets, matched.lists.judged_offsets, matched.lists.labels
    if also_weighted(measures)["pool"]:
        labels = np.where(labels < 0, np.int32(POOLED), labels)
    if np.isnan(matched.scores).any():
        raise InputError(name, "a score is NaN")
    for query in np.flatnonzero((matched.rows >= 0) & (np.diff(offsets) > 0)).tolist():
        own = slice(judged_offsets[query], judged_offsets[query + 1])
        scores: Any = np.ascontiguousarray(matched.scores[offsets[query] : offsets[query + 1]])
        row = int(matched.rows[query])
        positions, grades = matched.lists.positions[own], matched.lists.grades
        yield row, LabelledList(scores, positions, labels[own], judged.judgments, row, grades)


class _SumOverQueries:
    """The sum of a measure over the queries of a run, and the distribution of this sum if the labels are random."""

    def __init__(self, measure: Measure, samples: int) -> None:
        self.measure = measure
        self._observed = 0.0
        self._distributions: list[Distribution] = []
        # The sums of the sampled values of the queries whose distribution is not known.
        self._sampled: Values | None = None
        self._samples = samples
        self._value = 0.0
        self._last: Distribution | None = None

    def add(self, listed: LabelledList) -> bool:
        """Add the value of a query; return whether its distribution is known. `of_query` must follow."""
        self._value = float(listed.observed((self.measure,))[0])
        self._observed += self._value
        self._last = listed.distribution(self.measure)
        return self._last is not None

    def of_query(self, drawn: Iterator[Values]) -> tuple[float, bool]:
        """Return p of the query, and whether it is exact. Otherwise the next of the drawn arrays has its samples."""
        if self._last is not None:
            self._distributions.append(self._last)
            return self._tail(self._last, self._value), True
        values = next(drawn)
        self._sampled = values.copy() if self._sampled is None else self._sampled + values
        return self._share(values, self._value), False

    def of_all(self, rng: np.random.Generator) -> tuple[float, float, bool]:
        """Return p of the sum over the queries, its standard error, and whether it is exact."""
        total = sum_of(self._distributions) if self._sampled is None else None
        if total is not None:
            return self._tail(total, self._observed), 0.0, True
        sums = np.zeros(self._samples) if self._sampled is None else self._sampled
        for each in self._distributions:
            sums = sums + rng.choice(each.values, self._samples, p=each.probabilities / each.probabilities.sum())
        p = self._share(sums, self._observed)
        return p, float(np.sqrt(p * (1.0 - p) / self._samples)), False

    def _tail(self, distribution: Distribution, value: float) -> float:
        less = self.measure.definition.less_is_better
        return min(distribution.at_most(value) if less else distribution.at_least(value), 1.0)

    def _share(self, values: Values, value: float) -> float:
        """Return the share of values that are at least as good, with the observed one among them."""
        rounding = rounding_of(values)
        good = values <= value + rounding if self.measure.definition.less_is_better else values >= value - rounding
        return float((1 + np.count_nonzero(good)) / (len(values) + 1))
