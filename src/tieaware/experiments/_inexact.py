"""Inexact retrieval: what each method saves, and what it loses, with ties resolved exactly."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tieaware._evaluate import evaluate
from tieaware.checks.arguments import number, sequence, shown, unexpected, whole_number
from tieaware.checks.arrays import Integers, Values
from tieaware.defaults import INEXACT_MEASURES
from tieaware.errors import InputError
from tieaware.experiments.evaluating import progress
from tieaware.experiments.experiment import Experiment
from tieaware.experiments.plots import Drawing, file_name, label, style
from tieaware.inputs import QrelsLike, as_qrels
from tieaware.inputs.run import Run
from tieaware.measures import Measure, parse_measures
from tieaware.output.tables import Cell, Table, percent, significant
from tieaware.results import Results
from tieaware.retrieval import Costs, Exact, Index, Method
from tieaware.runtime.extras import load
from tieaware.statistics import PairedTest, holm, paired_test, rbo
from tieaware.statistics.values import ROUNDING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# How often each method searches for its time, of which the shortest counts.
_REPEATS = 3
# The reader of rank-biased overlap, who reads ten documents on average.
_PERSISTENCE = 0.9
# Which share of the baseline's mean a method may lose, and at which level a loss is significant, in the verdict.
_LOST, _ALPHA = 0.01, 0.05


def inexact(
    index: Index,
    topics: Mapping[Any, Any],
    qrels: QrelsLike,
    methods: Sequence[Method],
    measures: str | Measure | Sequence[str | Measure] = INEXACT_MEASURES,
    *,
    baseline: Method | None = None,
    k: int = 1000,
    confidence: float = 0.95,
    threads: int | None = None,
) -> Inexact:
    """Measure what methods of inexact retrieval save and lose, against exact search.

    Parameters
    ----------
    index : tieaware.retrieval.Index
    topics : mapping of ids to queries
        A query is text, or a sequence of terms.
    qrels : Qrels, path, or {query: {document: label}}
        The judgments.
    methods : sequence of tieaware.retrieval.Method
        At least one; each name once.
    measures : sequence of str or Measure
        What to evaluate.
    baseline : tieaware.retrieval.Method, optional
        What the methods are compared with; by default, exact search with the weighting of the first method.
    k : int
        How many documents are asked for. The group of tied documents that K divides is taken whole, so that a value is
        the expectation over all orders of it.
    confidence : float
        Of the intervals of the differences, between 0 and 1.
    threads : int or None
        For searching and evaluating; None for one per core. Time is measured with one.

    Returns
    -------
    Inexact
        Costs, overlap and values of the baseline, which comes first, and of each method.

    Raises
    ------
    InputError
        As by `tieaware.evaluate`; or there is no method, a name twice, or fewer than two judged topics.

    Examples
    --------
    >>> from tieaware import retrieval, samples
    >>> collection = samples.generate_texts(n_documents=500, n_topics=20)
    >>> index = retrieval.Index.build(collection.documents.items())
    >>> methods = [retrieval.Champions(r=r) for r in (2, 500)]
    >>> outcome = inexact(index, collection.topics, collection.qrels, methods, ["AP"], k=100)
    >>> outcome.methods
    ('Exact()', 'Champions(r=2)', 'Champions(r=500)')
    >>> outcome.tests[0].difference.round(2)        # lists of 500 hold all documents, those of 2 too few
    array([-0.23,  0.  ])
    """
    parsed = parse_measures(measures)
    k = whole_number("k", k, 1)
    confidence = number("confidence", confidence, 0, 1, ends=False)
    all_methods = _checked(index, methods, baseline)
    judged = as_qrels(qrels)
    runs: dict[str, Run] = {}
    costs: list[Costs] = []
    for method in progress(all_methods, "searching"):
        runs[str(method)], cost = method.counted(index, topics, k, whole_ties=True, threads=threads)
        costs.append(cost)
    seconds = _seconds(index, topics, k, all_methods)
    results = evaluate(judged, runs, parsed, spread=True, threads=threads)
    if len(results.queries) < 2:
        raise unexpected("qrels", "at least two judged topics", f"{len(results.queries)}")
    first = _lists(next(iter(runs.values())), k)
    compared = [
        [(_overlap(a, b), _agreement(a, b)) for a, b in zip(_lists(run, k), first, strict=True)]
        for run in progress(runs.values(), "comparing")
    ]
    overlap, agreement = np.moveaxis(np.array(compared), -1, 0)
    tests = tuple(
        paired_test(results.values[1:, :, m], results.values[:1, :, m], confidence=confidence)
        for m in range(len(parsed))
    )
    return Inexact(
        tuple(runs), k,
        np.array([cost.postings for cost in costs]),
        np.array([cost.documents for cost in costs]),
        np.array([cost.comparisons for cost in costs]),
        seconds, overlap, agreement, np.array([_tied(run) for run in runs.values()]), results, tests, confidence,
    )  # fmt: skip


def _checked(index: Any, methods: Any, baseline: Any) -> list[Method]:
    """Return the baseline, and behind it the methods."""
    if not isinstance(index, Index):
        raise unexpected("index", "a tieaware.retrieval.Index", shown(index))
    given = sequence("methods", methods, "tieaware.retrieval's methods")
    if not given:
        raise unexpected("methods", "at least one", "none")
    for i, method in enumerate(given):
        if not isinstance(method, Method):
            raise unexpected(f"methods[{i}]", "a method, such as tieaware.retrieval.Champions(r=100)", shown(method))
    if baseline is None:
        baseline = Exact(weighting=given[0].weighting)
    elif not isinstance(baseline, Method):
        raise unexpected("baseline", "a method, such as tieaware.retrieval.Exact()", shown(baseline))
    seen = {str(baseline)}
    for i, method in enumerate(given):
        if str(method) in seen:
            problem = f"each method must be given only once, and must not be the baseline; found {method}"
            raise InputError(f"methods[{i}]", problem, argument="methods")
        seen.add(str(method))
    return [baseline, *given]


def _seconds(index: Index, topics: Mapping[Any, Any], k: int, methods: Sequence[Method]) -> Values:
    """Return how long each method takes for all topics: the shortest of several times, the methods by turns.

    What does not depend on the query was prepared before.
    """
    taken = np.full((_REPEATS, len(methods)), np.inf)
    for repeat in progress(range(_REPEATS), "timing"):
        for i, method in enumerate(methods):
            start = time.perf_counter()
            method.search(index, topics, k, threads=1)
            taken[repeat, i] = time.perf_counter() - start
    shortest: Values = taken.min(axis=0)
    return shortest


class _List(NamedTuple):
    """A ranked list: the score of each document, and how probable it is that it is among the first K."""

    scores: dict[bytes, float]
    within: dict[bytes, float]


def _lists(run: Run, k: int) -> list[_List]:
    """Return the lists of a run, each of which ends with a whole group of tied documents."""
    names = list(run.documents)
    lists = []
    for a, b in pairwise(run.offsets.tolist()):
        scores = run.scores[a:b].tolist()
        above = sum(score > scores[-1] for score in scores)
        last = min(1.0, (k - above) / (b - a - above)) if scores else 0.0
        within = [1.0] * above + [last] * (b - a - above)
        lists.append(_List(dict(zip(names[a:b], scores, strict=True)), dict(zip(names[a:b], within, strict=True))))
    return lists


def _overlap(a: _List, b: _List) -> float:
    """Return the share of the second list's first K that is expected among the first list's, the ties in any order."""
    if not b.within:
        return 1.0
    return sum(share * a.within.get(name, 0.0) for name, share in b.within.items()) / sum(b.within.values())


def _agreement(a: _List, b: _List) -> float:
    """Return the rank-biased overlap of two lists, the mean over the orders of their ties."""
    if not a.scores or not b.scores:
        return float(a.scores == b.scores)
    return rbo(a.scores, b.scores, _PERSISTENCE)


def _tied(run: Run) -> float:
    """Return the share of the documents of a run that tie with another, of the same query."""
    if not len(run.scores):
        return 0.0
    same = run.scores[1:] == run.scores[:-1]
    same[run.offsets[1:-1][(run.offsets[1:-1] > 0) & (run.offsets[1:-1] < len(run.scores))] - 1] = False
    return float((np.append(same, False) | np.insert(same, 0, False)).mean())


@dataclass(frozen=True, eq=False)
class Inexact(Experiment):
    """What methods of inexact retrieval save and lose.

    Attributes
    ----------
    methods : tuple of str
        The baseline, and behind it the methods.
    k : int
        How many documents were asked for.
    postings, documents, comparisons : int64[n_methods, n_topics]
        What each search has cost: postings read, documents scored, comparisons of scores to find the first K.
    seconds : float64[n_methods]
        How long all topics took in one thread: the shortest of three times.
    overlap : float64[n_methods, n_topics]
        Which share of the baseline's first K is expected among the method's, ties in any order independently. Where K
        divides a group of tied documents, that of the baseline with itself is below 1.
    agreement : float64[n_methods, n_topics]
        The rank-biased overlap (p = 0.9) with the baseline's ranking: the mean over the orders of the ties of both.
    tied : float64[n_methods]
        The share of the documents found that tie with another.
    results : Results
        The values of each method, as a run of its name, with their spread over the orders of ties.
    tests : tuple of PairedTest
        For each measure, the paired t-tests of each method against the baseline, float64[n_methods - 1].
    confidence : float
        Of the intervals of the differences.
    """

    methods: tuple[str, ...]
    k: int
    postings: Integers
    documents: Integers
    comparisons: Integers
    seconds: Values
    overlap: Values
    agreement: Values
    tied: Values
    results: Results
    tests: tuple[PairedTest, ...]
    confidence: float

    @property
    def title(self) -> str:  # type: ignore[override]
        """What was measured, in a line."""
        return f"{len(self.methods) - 1} methods of inexact retrieval against {self.methods[0]}, first {self.k:,}"

    @property
    def heading(self) -> str:
        """What was asked: the heading of the report."""
        return "What does inexact retrieval save, and what does it lose?"

    def verdict(self) -> str:
        r"""Return which method saves most and keeps 99 % of the baseline's mean, and how many lose significantly.

        Returns
        -------
        str
            Two sentences, of the first measure.

        Examples
        --------
        >>> from tieaware import retrieval
        >>> from tieaware import samples
        >>> collection = samples.generate_texts(n_documents=500, n_topics=20)
        >>> index = retrieval.Index.build(collection.documents.items())
        >>> methods = [retrieval.Champions(r=r) for r in (2, 500)]
        >>> outcome = inexact(index, collection.topics, collection.qrels, methods, ["AP"], k=100)
        >>> print(outcome.verdict().replace(": ", ":\n").replace(". ", ".\n"))
        No method that reads fewer postings keeps 99 % of the mean AP of Exact(), 0.460:
        the best, Champions(r=2), reads 40.8 % of the postings and loses 0.232.
        1 of 2 lose significantly (paired t-test, Holm's p below 0.05).
        """
        measure, means = self.results.measures[0], self.results.mean()[:, 0]
        sign = -1.0 if measure.definition.less_is_better else 1.0
        losses = sign * (means[0] - means)
        n, p = len(means) - 1, self.adjusted[0]
        cheaper = [i for i in range(1, n + 1) if self.shares[i] < 1.0]
        kept = [i for i in cheaper if losses[i] <= _LOST * abs(means[0])]
        # Of those that save and keep the cheapest; else the one that loses least, if possible of those that save.
        i = min(kept, key=self.shares.__getitem__) if kept else min(cheaper or range(1, n + 1), key=losses.__getitem__)
        method, read = self.methods[i], f"{percent(self.shares[i])} of the postings"
        change = f"{'loses' if losses[i] > 0.0 else 'gains'} {significant(abs(losses[i]))}"
        change = change if abs(losses[i]) > ROUNDING else "loses nothing"
        of_exact = f"the mean {measure} of {self.methods[0]}, {significant(means[0])}"
        if n == 1:
            first = f"{method} reads {read} and {change} of {of_exact}"
            is_not = "" if p[0] < _ALPHA else "not "
            return f"{first}. The difference is {is_not}significant (Holm's p = {significant(p[0])})."
        keep = f"{100 * (1 - _LOST):.0f} % of {of_exact}"
        if kept:
            verbs = "read fewer postings and keep" if len(kept) > 1 else "reads fewer postings and keeps"
            first = f"{len(kept)} of {n} methods {verbs} {keep}: {method} reads {read} and {change}."
        elif cheaper:
            first = f"No method that reads fewer postings keeps {keep}: the best, {method}, reads {read} and {change}."
        else:
            first = f"None of {n} methods reads fewer postings than {self.methods[0]}: the best, {method}, {change}."
        worse = int(((p < _ALPHA) & (losses[1:] > 0.0)).sum())
        return f"{first} {worse} of {n} lose significantly (paired t-test, Holm's p below {_ALPHA})."

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the tables to read first: what each method saves and loses."""
        return ("methods",)

    @cached_property
    def adjusted(self) -> tuple[Values, ...]:
        """Holm's p values, over the methods, by measure."""
        return tuple(holm(test.p) for test in self.tests)

    @cached_property
    def shares(self) -> Values:
        """The postings that each method reads, as a share of the baseline's, float64[n_methods]."""
        return _shares(self.postings)

    def frontier(self, m: int = 0) -> list[int]:
        """Return the methods than which none is better that reads as few postings.

        Parameters
        ----------
        m : int
            The measure, as a position in the results.

        Returns
        -------
        list of int
            Positions in `methods`, by ascending cost.

        Examples
        --------
        >>> from tieaware import retrieval
        >>> index = retrieval.Index.build([("d1", "tie tie"), ("d2", "tie order"), ("d3", "order")])
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d3": 1}}
        >>> outcome = inexact(index, {"q1": "tie", "q2": "order"}, qrels, [retrieval.Champions(r=1)], ["RR"])
        >>> [outcome.methods[i] for i in outcome.frontier()]
        ['Exact()']
        """
        means = self.results.mean()[:, m]
        best = -means if self.results.measures[m].definition.less_is_better else means
        frontier: list[int] = []
        for i in np.lexsort((-best, self.shares)).tolist():
            if not frontier or best[i] > best[frontier[-1]]:
                frontier.append(i)
        return frontier

    def tables(self) -> dict[str, Table]:
        """Return what each method saves and loses, its values by every measure, and its costs.

        Returns
        -------
        dict of str to Table
            "methods", "measures" and "costs".
        """
        return {"methods": self._methods(), "measures": self._measures(), "costs": self._costs()}

    def _methods(self) -> Table:
        measures = self.results.measures
        means = self.results.mean()
        ratios = self.seconds / self.seconds[0]
        rows: list[tuple[Cell, ...]] = []
        for i, method in enumerate(self.methods):
            changes: list[Cell] = []
            for m in range(len(measures)):
                changes.append(float(means[i, m]))
                changes.append(float(self.adjusted[m][i - 1]) if i else None)
            rows.append(
                (
                    method, float(self.shares[i]), float(ratios[i]), float(self.overlap[i].mean()),
                    float(self.agreement[i].mean()), float(self.tied[i]), *changes,
                )
            )  # fmt: skip
        names = (name for measure in measures for name in (str(measure), "p"))
        columns = ("method", "postings", "time", "overlap", "RBO", "tied", *names)
        notes = (
            f"postings, time: as shares of those of {self.methods[0]}, time in one thread. overlap: the expected share "
            f"of its first {self.k:,} that the method finds. RBO: rank-biased overlap with its ranking, p = "
            f"{_PERSISTENCE}. tied: the share of the documents found that tie with another.",
            f"Measures: the mean over {len(self.results.queries)} topics of the expectation over all orders of ties. "
            f"p: of its difference from {self.methods[0]}, paired t-test, two-sided, Holm's correction for "
            f"{len(self.methods) - 1} methods.",
        )
        return Table(self.title, columns, rows, notes)

    def _measures(self) -> Table:
        results = self.results
        assert results.min is not None
        assert results.max is not None
        n, std = len(results.queries), results.mean_std()
        rows: list[tuple[Cell, ...]] = []
        for m, (measure, test) in enumerate(zip(results.measures, self.tests, strict=True)):
            for i, method in enumerate(self.methods):
                values = results.values[i, :, m], results.min[i, :, m], results.max[i, :, m]
                mean, least, greatest = (float(each.mean()) for each in values)
                changes: tuple[Cell, ...] = (None,) * 5
                if i:
                    parts = (test.difference, test.low, test.high, test.p, self.adjusted[m])
                    changes = tuple(float(np.asarray(part)[i - 1]) for part in parts)
                rows.append((str(measure), method, mean, float(std[i, m]), least, greatest, *changes))
        columns = (
            "measure", "method", "mean", "std", "least", "largest", "difference", f"{self.confidence:.0%} from",
            f"{self.confidence:.0%} to", "p", "Holm",
        )  # fmt: skip
        notes = (
            f"Means over {n} topics. std, least, largest: of the mean, over all orders of the tied documents. "
            f"difference from {self.methods[0]}, its confidence interval and p: paired t-test, two-sided; Holm: p "
            "corrected for the methods.",
        )
        return Table("What the methods are worth", columns, rows, notes)

    def _costs(self) -> Table:
        rows: list[tuple[Cell, ...]] = [
            (method, *(float(cost[i].mean()) for cost in (self.postings, self.documents, self.comparisons)),
             float(self.seconds[i] / max(self.postings.shape[1], 1) * 1e6))
            for i, method in enumerate(self.methods)
        ]  # fmt: skip
        columns = ("method", "postings", "documents", "comparisons", "microseconds")
        notes = (
            "Means over the topics. postings: read; documents: scored; comparisons: of scores, to find the first "
            f"{self.k:,}; microseconds: of this machine, in one thread.",
        )
        return Table("What a topic costs", columns, rows, notes)

    def drawings(self) -> dict[str, Drawing]:
        """Return the figures: cost against each measure, with the frontier, and against the overlap.

        Returns
        -------
        dict of str to Drawing
            "frontier-…", with the names of the measures, and "agreement".
        """
        figures = {
            f"frontier-{file_name(measure)}": Drawing(
                f"{measure} against the postings read, as a share of those of {self.methods[0]}. Bars: the range of "
                "the mean over all orders of the tied documents. The line joins the methods than which none is better "
                "that reads as few postings.",
                _Frontier(self, m), (6.8, 5.0), f"What is saved, and what {measure} is left",
            )
            for m, measure in enumerate(self.results.measures)
        }  # fmt: skip
        figures["agreement"] = Drawing(
            f"Rank-biased overlap with the ranking of {self.methods[0]}, p = {_PERSISTENCE}, against what they read.",
            _Agreement(self), (6.8, 5.0), "How well the rankings agree",
        )  # fmt: skip
        return figures


def _shares(costs: Integers) -> Values:
    """Return the costs of all topics as shares of the first row's; of nothing, 1."""
    totals = costs.sum(axis=1, dtype=np.float64)
    return totals / totals[0] if totals[0] else np.ones(len(totals))


def _families(methods: Sequence[str]) -> dict[str, list[int]]:
    """Return the methods of each kind: those of the same name, whatever their parameters."""
    families: dict[str, list[int]] = {}
    for i, method in enumerate(methods):
        families.setdefault(method.partition("(")[0], []).append(i)
    return families


@dataclass(frozen=True)
class _Frontier:
    """Draws what methods are worth against what they read; those of a kind look alike, and are joined by their cost."""

    outcome: Inexact
    m: int

    def __call__(self, ax: Axes) -> None:
        outcome, results = self.outcome, self.outcome.results
        assert results.min is not None
        assert results.max is not None
        means = results.mean()[:, self.m]
        ends = np.stack([results.min[:, :, self.m].mean(axis=1), results.max[:, :, self.m].mean(axis=1)])
        frontier = outcome.frontier(self.m)
        ax.step(outcome.shares[frontier], means[frontier], where="post", color="#888888", linewidth=4.0, alpha=0.4,
                label="frontier")  # fmt: skip
        for place, (family, members) in enumerate(_families(outcome.methods).items()):
            order = sorted(members, key=lambda i: float(outcome.shares[i]))
            look = style(place)
            ax.errorbar(
                outcome.shares[order], means[order], yerr=np.abs(ends[:, order] - means[order]), label=label(family),
                linewidth=0.9, elinewidth=1.2, **look,
            )  # fmt: skip
        _name_some(ax, outcome, means, frontier)
        _cost_axis(ax, outcome)
        ax.set_ylabel(f"mean {results.measures[self.m]}")
        _legend(ax)


@dataclass(frozen=True)
class _Agreement:
    """Draws how well the rankings of methods agree with the baseline's, against what they read."""

    outcome: Inexact

    def __call__(self, ax: Axes) -> None:
        outcome = self.outcome
        agreement = outcome.agreement.mean(axis=1)
        for place, (family, members) in enumerate(_families(outcome.methods).items()):
            order = sorted(members, key=lambda i: float(outcome.shares[i]))
            ax.plot(outcome.shares[order], agreement[order], label=label(family), linewidth=0.9, **style(place))
        _cost_axis(ax, outcome)
        ax.set_ylabel("rank-biased overlap")
        _legend(ax)


def _cost_axis(ax: Axes, outcome: Inexact) -> None:
    ax.set_xscale("log")
    least, most = 100.0 * outcome.shares.min(), 100.0 * outcome.shares.max()
    ticks = [i * 10.0**k for k in range(-6, 6) for i in (1, 2, 5)]
    shown = [tick for tick in ticks if least / 1.3 <= tick <= most * 1.3]
    ax.set_xticks([tick / 100.0 for tick in shown], [f"{tick:,g} %" for tick in shown])
    ax.minorticks_off()
    ax.set_xlabel(f"postings read, as a share of those of {label(outcome.methods[0])}")


def _legend(ax: Axes) -> None:
    """Name the kinds of methods above the axes, where the names hide no point."""
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.01), borderaxespad=0.0, ncols=4)


def _name_some(ax: Axes, outcome: Inexact, heights: Values, some: Sequence[int]) -> None:
    """Write the names of methods beside their points: to the left where these are far to the right."""
    halo = load("matplotlib.patheffects", "analysis").withStroke(linewidth=2.0, foreground="#ffffff")
    for i in some:
        share = float(outcome.shares[i])
        side, shift = ("right", -6) if share > 0.3 else ("left", 6)
        ax.annotate(label(outcome.methods[i]), (share, float(heights[i])), fontsize=7.5, horizontalalignment=side,
                    xytext=(shift, 5), textcoords="offset points", path_effects=[halo])  # fmt: skip
