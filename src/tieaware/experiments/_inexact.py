"""The experiment on inexact retrieval: the cost and the quality of its methods, averaged exactly over ties."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from tieaware._evaluate import evaluate
from tieaware.checks.arguments import number, one_of, sequence, shown, unexpected, whole_number
from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import merged, rounding_of
from tieaware.defaults import INEXACT_MEASURES
from tieaware.errors import InputError
from tieaware.experiments.experiment import Experiment
from tieaware.inputs import QrelsLike, as_qrels
from tieaware.inputs.runs.run import Run
from tieaware.lists.grades import Missing
from tieaware.measures import Measure, parse_measures
from tieaware.output.plots import Axes, Drawing, display_name, file_name, label_points, legend_above, style
from tieaware.output.tables import Cell, Table, counted, joined, percent, significant, table_by
from tieaware.results import Results
from tieaware.results.provenance import unanswered_queries
from tieaware.retrieval import Costs, Exact, ExactNetScore, Index, Method
from tieaware.retrieval.index import as_index
from tieaware.runtime.progress import progress
from tieaware.statistics import PairedTest, holm, paired_test, rbo
from tieaware.statistics.tie_counts import tie_groups

# Each method is timed this many times, and the shortest time is reported.
_REPEATS = 3
# The parameter p of rank-biased overlap: with 0.9, a reader looks at ten documents on average.
_PERSISTENCE = 0.9
# A method keeps the quality of the baseline if its mean is worse by at most the share _LOST of the baseline's mean. A
# difference is significant if its p value, after Holm's correction, is below _ALPHA.
_LOST, _ALPHA = 0.01, 0.05
Cost: TypeAlias = Literal["time", "postings"]
# The costs as axes of figures name them.
_COSTS: dict[Cost, str] = {"time": "time, one thread", "postings": "postings read"}
# A method is faster if it takes at most this share of the baseline's time; smaller differences are noise.
_FASTER = 0.95


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
    missing: Missing | None = None,
) -> Inexact:
    """Compare the cost and the quality of inexact retrieval methods with exact search.

    Parameters
    ----------
    index : tieaware.retrieval.Index
    topics : mapping of ids to queries
        A query is text, or a sequence of terms.
    qrels : Qrels, path, or {query: {document: label}}
        The judgments.
    methods : sequence of tieaware.retrieval.Method
        At least one method; no method twice.
    measures : sequence of str or Measure
        The measures to evaluate.
    baseline : tieaware.retrieval.Method, optional
        The method to compare with; by default exact search with the weighting of the first method. If it does not add
        static quality, methods that do are compared with `tieaware.retrieval.ExactNetScore`, which then is a method of
        the experiment, too.
    k : int
        The number of documents to retrieve. If rank k lies inside a tie group, the whole group is retrieved, so that
        values are averages over all orders of the group.
    confidence : float
        The confidence level of the intervals, between 0 and 1.
    threads : int or None
        The threads for searching and evaluating; None for one per core. Times are measured with one thread.
    missing : "unjudged", optional
        As for `tieaware.evaluate`.

    References
    ----------
    Manning, C. D., Raghavan, P. and Schütze, H. (2008). Introduction to Information Retrieval. Cambridge University
    Press, chapters 6, 7 and 9.

    Examples
    --------
    >>> from tieaware import retrieval, samples
    >>> collection = samples.generate_texts(n_documents=500, n_topics=20)
    >>> index = retrieval.Index.build(collection.documents.items())
    >>> methods = [retrieval.Champions(r=r) for r in (2, 500)]
    >>> outcome = inexact(index, collection.topics, collection.qrels, methods, ["AP"], k=100)
    >>> outcome.methods
    ('Exact()', 'Champions(r=2)', 'Champions(r=500)')
    >>> outcome.tests[0].difference.round(2)        # champion lists of 500 hold all documents
    array([-0.23,  0.  ])
    """
    parsed = parse_measures(measures)
    k = whole_number("k", k, 1)
    confidence = number("confidence", confidence, 0, 1, ends=False)
    all_methods, baselines = _compared(_checked(index, methods, baseline))
    judged = as_qrels(qrels, missing)
    runs: dict[str, Run] = {}
    costs: list[Costs] = []
    for method in progress(all_methods, "searching"):
        runs[str(method)], cost = method.counted(index, topics, k, whole_ties=True, threads=threads)
        costs.append(cost)
    seconds = _seconds(index, topics, k, all_methods)
    results = evaluate(judged, runs, parsed, spread=True, threads=threads)
    if len(results.queries) < 2:
        raise InputError("qrels", f"at least two topics must be judged, found {len(results.queries)}")
    exact = {i: _lists(list(runs.values())[i], k) for i in set(baselines)}
    compared = [
        [(_overlap(a, b), _agreement(a, b)) for a, b in zip(_lists(run, k), exact[i], strict=True)]
        for i, run in zip(baselines, progress(runs.values(), "comparing"), strict=True)
    ]
    overlap, agreement = np.moveaxis(np.array(compared), -1, 0)
    tests = tuple(
        paired_test(results.values[1:, :, m], results.values[list(baselines[1:]), :, m], confidence=confidence)
        for m in range(len(parsed))
    )
    return Inexact(
        tuple(runs), k,
        np.array([cost.postings for cost in costs]),
        np.array([cost.documents for cost in costs]),
        np.array([cost.comparisons for cost in costs]),
        seconds, overlap, agreement, np.array([_tied(run) for run in runs.values()]), results, tests, confidence,
        baselines,
    )  # fmt: skip


def _checked(index: Any, methods: Any, baseline: Any) -> list[Method]:
    """Check the index, the methods and the baseline; return the baseline, followed by the methods."""
    as_index(index)
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
    seen = {str(baseline): baseline}
    for i, method in enumerate(given):
        name = str(method)
        if name in seen:
            problem = f"each method must be given only once, and must not be the baseline; found {method}"
            if seen[name] != method:
                problem = f"has the same name as another method, {name}; give the functions in them different names"
            raise InputError(f"methods[{i}]", problem, argument="methods")
        seen[name] = method
    return [baseline, *given]


def _compared(methods: list[Method]) -> tuple[list[Method], tuple[int, ...]]:
    """Return the methods, and for each the position of the exact one that ranks by the same sums.

    The baseline is the first. If it does not add quality, an exact method is inserted for those that do.
    """
    baseline, *others = methods
    weights = [each.net_weights if baseline.net_weights is None else None for each in others]
    exact = [
        ExactNetScore(quality_weight=quality, score_weight=score, weighting=baseline.weighting)
        for quality, score in dict.fromkeys(each for each in weights if each is not None)
    ]
    added = [each for each in exact if each not in others]
    together = [baseline, *added, *others]
    place = {each.net_weights: together.index(each) for each in exact}
    of_others = [0 if each is None else place[each] for each in weights]
    baselines = [0] * (1 + len(added)) + of_others
    return together, tuple(0 if each in exact else at for each, at in zip(together, baselines, strict=True))


def _seconds(index: Index, topics: Mapping[Any, Any], k: int, methods: Sequence[Method]) -> Values:
    """Return the seconds that each method takes for all topics: the shortest of several times.

    The methods take turns. Preparation that does not depend on the query is not timed.
    """
    taken = np.full((_REPEATS, len(methods)), np.inf)
    for repeat in progress(range(_REPEATS), "timing"):
        for i, method in enumerate(methods):
            start = time.perf_counter()
            method.search(index, topics, k, threads=1)
            taken[repeat, i] = time.perf_counter() - start
    return np.asarray(taken.min(axis=0))


class _RankedList(NamedTuple):
    """A ranked list: {document: score}, and {document: probability of being among the first k} over tie orders."""

    scores: dict[bytes, float]
    within: dict[bytes, float]


def _lists(run: Run, k: int) -> list[_RankedList]:
    """Return the ranked lists of a run. Each list must end with a whole tie group."""
    names = list(run.documents)
    lists = []
    for a, b in pairwise(run.offsets.tolist()):
        scores = run.scores[a:b].tolist()
        above = sum(score > scores[-1] for score in scores)
        last = min(1.0, (k - above) / (b - a - above)) if scores else 0.0
        within = [1.0] * above + [last] * (b - a - above)
        lists.append(
            _RankedList(dict(zip(names[a:b], scores, strict=True)), dict(zip(names[a:b], within, strict=True)))
        )
    return lists


def _overlap(a: _RankedList, b: _RankedList) -> float:
    """Return the expected share of the first k documents of b that are among the first k of a, over tie orders."""
    if not b.within:
        return 1.0
    shared = (share * a.within.get(name, 0.0) for name, share in b.within.items())
    return math.fsum(shared) / math.fsum(b.within.values())


def _agreement(a: _RankedList, b: _RankedList) -> float:
    """Return the rank-biased overlap of two lists, averaged over their tie orders."""
    if not a.scores or not b.scores:
        return float(a.scores == b.scores)
    return rbo(a.scores, b.scores, _PERSISTENCE)


def _tied(run: Run) -> float:
    """Return the share of a run's documents that tie with another document of the same list."""
    *_, sizes = tie_groups(run.scores, run.offsets)
    return float(sizes[sizes > 1].sum() / max(len(run.scores), 1))


@dataclass(frozen=True, eq=False, repr=False)
class Inexact(Experiment):
    """The cost and the quality of inexact retrieval methods.

    Attributes
    ----------
    methods : tuple of str
        The baseline, followed by the methods. An exact method with static quality comes second if it was added.
    k : int
        The number of documents to retrieve.
    postings, documents, comparisons : int64[n_methods, n_topics]
        The costs of each search: the number of postings read, of documents scored, and of comparisons of scores to find
        the first k documents.
    seconds : float64[n_methods]
        The time that each method takes for all topics in one thread: the shortest of three measurements.
    overlap : float64[n_methods, n_topics]
        The expected share of the baseline's first k documents that are among the first k of the method, over
        independent tie orders of both. If rank k lies inside a tie group, even the baseline's overlap with itself is
        below 1.
    agreement : float64[n_methods, n_topics]
        The rank-biased overlap (p = 0.9) of the method's ranking with the baseline's, averaged over the tie orders of
        both.
    tied : float64[n_methods]
        The share of the retrieved documents that tie with another document.
    results : Results
        The values of each method and their spread over tie orders. Each method is a run under the name of the method.
    tests : tuple of PairedTest
        For each measure, the paired t-tests of each method against its baseline, float64[n_methods - 1].
    confidence : float
        The confidence level of the intervals.
    baselines : tuple of int
        For each method, the position of the exact method with which it is compared: 0, or that of an `ExactNetScore`
        for a method that adds static quality. Times and postings are always relative to the first method.
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
    baselines: tuple[int, ...]

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which states the number of methods, the baseline and k."""
        methods = counted(len(self._inexact), "method")
        return f"{methods} of inexact retrieval against {self.methods[0]}, first {self.k:,}"

    heading = "What does inexact retrieval save, and what does it lose?"

    def verdict(self) -> str:
        r"""Return the fastest method that keeps 99 % of the first measure's mean, and how many lose significantly.

        Each method is compared with the exact one that ranks by the same sums.

        Examples
        --------
        >>> from tieaware import retrieval, samples
        >>> collection = samples.generate_texts(n_documents=500, n_topics=20)
        >>> index = retrieval.Index.build(collection.documents.items())
        >>> outcome = inexact(index, collection.topics, collection.qrels, [retrieval.Champions(r=2)], ["AP"], k=100)
        >>> print(outcome.verdict().replace(", reads", ",\nreads").replace(". ", ".\n"))     # doctest: +ELLIPSIS
        Champions(r=2) takes ... % of the time of Exact(),
        reads 40.8 % of the postings, and loses 0.232 of the mean AP of Exact(), 0.460.
        The difference is significant (Holm's p = 5.64e-05).
        """
        measure, means = self.results.measures[0], merged(self.results.mean()[:, 0])
        sign = -1.0 if measure.definition.less_is_better else 1.0
        exact = means[list(self.baselines)]
        losses = sign * (exact - means)
        chosen, p = self._inexact, np.append(np.nan, self.adjusted[0])
        n, times = len(chosen), self.times
        faster = [i for i in chosen if times[i] <= _FASTER]
        kept = [i for i in faster if losses[i] - _LOST * abs(exact[i]) <= rounding_of(means)]
        # Choose the fastest method that keeps enough; if there is none, the method that loses least, preferably among
        # the faster ones.
        i = min(kept, key=times.__getitem__) if kept else min(faster or chosen, key=losses.__getitem__)
        change = f"{'loses' if losses[i] > 0.0 else 'gains'} {significant(abs(losses[i]))}"
        change = change if losses[i] else "loses nothing"
        time, read = percent(times[i]), percent(self.shares[i])
        lacking = unanswered_queries(self.results.unanswered, len(self.results.queries))
        of_first = f" of {self.methods[0]}" if n == 1 else ""
        costs = f"takes {time} of the time{of_first}, reads {read} of the postings, and {change}"
        named = {b: f"{self.methods[b]}, {significant(means[b])}" for b in sorted({self.baselines[i] for i in chosen})}
        if n == 1:
            is_not = "" if p[i] < _ALPHA else "not "
            return " ".join(filter(None, [
                f"{self.methods[i]} {costs} of the mean {measure} of {named[self.baselines[i]]}. The difference is "
                f"{is_not}significant (Holm's p = {significant(p[i])}).", lacking,
            ]))
        keep = f"{100 * (1 - _LOST):.0f} % of the mean {measure} of {', or of '.join(named.values())}"
        if kept:
            verbs = "are faster and keep" if len(kept) > 1 else "is faster and keeps"
            first = f"{len(kept)} of {n} methods {verbs} {keep}: {self.methods[i]} {costs}."
        elif faster:
            first = f"No faster method keeps {keep}: the best, {self.methods[i]}, {costs}."
        else:
            first = f"None of {n} methods is faster than {self.methods[0]}: the best, {self.methods[i]}, {costs}."
        worse = sum(bool(p[i] <= _ALPHA and losses[i] > 0.0) for i in chosen)
        lose = "loses" if worse == 1 else "lose"
        tests = f"{worse} of {n} {lose} significantly (paired t-test, Holm's p below {_ALPHA})."
        return " ".join(filter(None, [first, tests, lacking]))

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the tables that a command prints by default."""
        return ("methods",)

    @cached_property
    def adjusted(self) -> tuple[Values, ...]:
        """For each measure, the p values of all methods after Holm's correction."""
        return tuple(holm(test.p) for test in self.tests)

    @property
    def _inexact(self) -> list[int]:
        """The methods that are compared with an exact one, by position."""
        exact = {0, *self.baselines}
        return [i for i in range(len(self.methods)) if i not in exact] or list(range(1, len(self.methods)))

    @cached_property
    def times(self) -> Values:
        """The time that each method takes ÷ the time that the baseline takes, float64[n_methods]."""
        return np.asarray(self.seconds / self.seconds[0])

    @cached_property
    def shares(self) -> Values:
        """The postings that each method reads ÷ those of the baseline, float64[n_methods]; 1 if it reads none."""
        totals = self.postings.sum(axis=1, dtype=np.float64)
        return totals / totals[0] if totals[0] else np.ones(len(totals))

    def frontier(self, m: int = 0, cost: Cost = "time") -> list[int]:
        """Return the Pareto frontier: the methods that no other method beats at the same cost or less.

        Parameters
        ----------
        m : int
            The measure, as a position in the results.
        cost : "time" or "postings"
            The cost. Times differ a little whenever they are measured.

        Returns
        -------
        list of int
            The methods on the frontier, as positions in `methods`, by ascending cost.

        Raises
        ------
        InputError
            If there is no such cost.

        Examples
        --------
        >>> from tieaware import retrieval
        >>> index = retrieval.Index.build([("d1", "tie tie"), ("d2", "tie order"), ("d3", "order")])
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d3": 1}}
        >>> outcome = inexact(index, {"q1": "tie", "q2": "order"}, qrels, [retrieval.Champions(r=1)], ["RR"])
        >>> [outcome.methods[i] for i in outcome.frontier(cost="postings")]
        ['Exact()']
        """
        costs = self._ratios(one_of("cost", cost, ("time", "postings")))
        means = merged(self.results.mean()[:, m])
        best = -means if self.results.measures[m].definition.less_is_better else means
        frontier: list[int] = []
        for i in np.lexsort((-best, costs)).tolist():
            if not frontier or best[i] > best[frontier[-1]]:
                frontier.append(i)
        return frontier

    def tables(self) -> dict[str, Table]:
        """Return three tables: cost and quality of the methods, the tests by each measure, and the costs per topic.

        Their names: "methods", "measures" and "costs".
        """
        return {"methods": self._methods(), "measures": self._measures(), "costs": self._costs()}

    def _methods(self) -> Table:
        measures = self.results.measures
        means = self.results.mean()
        rows: list[tuple[Cell, ...]] = []
        for i, method in enumerate(self.methods):
            changes: list[Cell] = [
                cell
                for mean, p in zip(means[i].tolist(), self.adjusted, strict=True)
                for cell in (mean, float(p[i - 1]) if i else None)
            ]
            rows.append(
                (
                    method, float(self.times[i]), float(self.shares[i]), float(self.overlap[i].mean()),
                    float(self.agreement[i].mean()), float(self.tied[i]), *changes,
                )
            )  # fmt: skip
        names = (name for measure in measures for name in (str(measure), "p"))
        columns = ("method", "time", "postings", "overlap", "RBO", "tied", *names)
        notes = (
            f"time, in one thread, and postings: relative to {self.methods[0]}. overlap: the expected share of its "
            f"first {self.k:,} documents that the method finds. RBO: rank-biased overlap with its ranking, p = "
            f"{_PERSISTENCE}. tied: the share of the retrieved documents that tie with another.",
            f"Measures: means over {len(self.results.queries)} topics, expected over all tie orders. "
            f"p: difference from {self.methods[0]}, paired t-test, two-sided, Holm's correction for "
            f"{counted(len(self.methods) - 1, 'method')}.",
            *self._other_baselines(),
            *self._why_better(),
        )
        return Table(self.title, columns, rows, notes)

    def _other_baselines(self) -> tuple[str, ...]:
        """Name the methods that are compared with an exact method that adds quality, one sentence for each of these."""
        exact = sorted({0, *self.baselines})[1:]
        ranked = {b: [each for each, at in zip(self.methods, self.baselines, strict=True) if at == b] for b in exact}
        return tuple(
            f"{joined(some)}: compared with {self.methods[b]}, which adds the same quality."
            for b, some in ranked.items()
        )

    def _why_better(self) -> tuple[str, ...]:
        """Explain how a method can have a better mean than the baseline, if one has."""
        sign = np.where([measure.definition.less_is_better for measure in self.results.measures], -1.0, 1.0)
        gains = sign * (self.results.mean() - self.results.mean()[list(self.baselines)])
        if (gains <= rounding_of(self.results.mean(), axis=0)).all():
            return ()
        return (
            f"A method can be better than {self.methods[0]}: one that names another weighting ranks by other term "
            "weights (impact:8 are the weights of BM25 in 8 bits), and one that skips postings may skip noise.",
        )

    def _measures(self) -> Table:
        results, measures = self.results, range(len(self.tests))
        assert results.min is not None
        assert results.max is not None
        of_methods = {"mean": results.values, "least": results.min, "largest": results.max}
        means = {name: [each[:, :, m].mean(axis=1) for m in measures] for name, each in of_methods.items()}
        tested = {
            "difference": [test.difference for test in self.tests],
            f"{self.confidence:.0%} from": [test.low for test in self.tests],
            f"{self.confidence:.0%} to": [test.high for test in self.tests],
            "p": [test.p for test in self.tests], "Holm": self.adjusted,
        }  # fmt: skip
        # The first method, with which the others are compared, has no test.
        tests = {name: np.insert(np.array(each), 0, np.nan, axis=1) for name, each in tested.items()}
        columns = {"mean": means.pop("mean"), "std": results.mean_std().T, **means, **tests}
        notes = (
            f"Means over {len(results.queries)} topics. std, least, largest: of the mean, over all orders of the tied "
            f"documents. difference: from {self.methods[0]}, with its confidence interval and p (paired t-test, "
            "two-sided); Holm: p corrected for the number of methods.",
        )
        names = {"measure": results.measures, "method": self.methods}
        return table_by("Quality of the methods", names, columns, notes)

    def _costs(self) -> Table:
        columns = {
            "postings": self.postings.mean(axis=1), "documents": self.documents.mean(axis=1),
            "comparisons": self.comparisons.mean(axis=1),
            "microseconds": self.seconds / max(self.postings.shape[1], 1) * 1e6,
        }  # fmt: skip
        notes = (
            "Means over the topics. postings read; documents scored; comparisons of scores to find the first "
            f"{self.k:,}; microseconds on this machine, in one thread.",
        )
        return table_by("Cost per topic", {"method": self.methods}, columns, notes)

    def drawings(self) -> dict[str, Drawing]:
        """Return the figures: each measure against time and against postings, and the agreement against time.

        Their names: "frontier-…" for time and "postings-…", with the names of the measures, and "agreement".
        """
        prefixes: dict[Cost, str] = {"time": "frontier", "postings": "postings"}
        figures = {
            f"{prefix}-{file_name(measure)}": Drawing(
                f"{measure} against {_COSTS[cost]}, relative to {self.methods[0]}. Bars: the range of the mean over "
                "all orders of the tied documents. Grey line: the best mean at this cost or less; the methods on it "
                "are named.",
                partial(self._draw_frontier, m, cost), (6.8, 5.0), f"{cost.capitalize()} and {measure}",
            )
            for cost, prefix in prefixes.items()
            for m, measure in enumerate(self.results.measures)
        }  # fmt: skip
        agreement = Drawing(
            f"Rank-biased overlap with the ranking of exact search, p = {_PERSISTENCE}, against time.",
            self._draw_agreement, (6.8, 5.0), "Agreement of the rankings",
        )  # fmt: skip
        return {**figures, "agreement": agreement}

    def _ratios(self, cost: Cost) -> Values:
        """Return the costs of the methods ÷ that of the first one."""
        return self.times if cost == "time" else self.shares

    def _families(self, costs: Values) -> list[tuple[str, list[int]]]:
        """Group the methods into families, which differ in their parameters only; sort each family by cost."""
        families: dict[str, list[int]] = {}
        for i, method in enumerate(self.methods):
            families.setdefault(method.partition("(")[0], []).append(i)
        return [(name, sorted(family, key=lambda i: float(costs[i]))) for name, family in families.items()]

    def _short_names(self, some: Sequence[int]) -> list[str]:
        """Return the names of methods without the weighting of the first one, which the axis names."""
        _, option, rest = self.methods[0].partition("weighting='")
        weighting = option + rest[: rest.find("'") + 1]
        if not option:
            return [self.methods[i] for i in some]
        shorter = [name.replace(f", {weighting}", "").replace(weighting, "") for name in self.methods]
        return [self.methods[i] if i == 0 else shorter[i] for i in some]

    def _draw_axis(self, cost: Cost, ax: Axes) -> None:
        """Set the scale, the ticks and the name of the axis of costs, and the legend."""
        ax.set_xscale("log")
        costs = self._ratios(cost)
        least, most = 100.0 * costs.min(), 100.0 * costs.max()
        steps = (1, 1.5, 2, 3, 5, 7) if most < 10.0 * least else (1, 2, 5)
        ticks = [i * 10.0**k for k in range(-6, 6) for i in steps]
        shown = [tick for tick in ticks if least / 1.3 <= tick <= most * 1.3]
        ax.set_xticks([tick / 100.0 for tick in shown], [f"{tick:,g} %" for tick in shown])
        ax.minorticks_off()
        ax.set_xlabel(f"{_COSTS[cost]}, relative to {display_name(self.methods[0])}")
        legend_above(ax)

    def _draw_frontier(self, m: int, cost: Cost, ax: Axes) -> None:
        """Draw a measure against cost, with a marker and line per family of methods, and the Pareto frontier."""
        results, costs, frontier = self.results, self._ratios(cost), self.frontier(m, cost)
        assert results.min is not None
        assert results.max is not None
        means, families = results.mean()[:, m], self._families(costs)
        ends = np.stack([values[:, :, m].mean(axis=1) for values in (results.min, results.max)])
        ax.step(costs[frontier], means[frontier], where="post", color="#888888", linewidth=4.0, alpha=0.4,
                label="best by cost")  # fmt: skip
        for place, (family, order) in enumerate(families):
            ax.errorbar(
                costs[order], means[order], yerr=np.abs(ends[:, order] - means[order]), label=display_name(family),
                linewidth=0.9, elinewidth=1.2, **style(place),
            )  # fmt: skip
        ax.set_ylabel(f"mean {results.measures[m]}")
        self._draw_axis(cost, ax)
        points = list(zip(costs[frontier].tolist(), means[frontier].tolist(), strict=True))
        corners = [(after[0], before[1]) for before, after in pairwise(points)]
        steps = [each for pair in zip(points, corners, strict=False) for each in pair] + points[-1:]
        lines = [np.column_stack([costs[order], means[order]]) for _, order in families]
        obstacles = list(zip(costs.tolist(), *ends.tolist(), strict=True))
        label_points(ax, self._short_names(frontier), points, obstacles, [*lines, np.array(steps)])

    def _draw_agreement(self, ax: Axes) -> None:
        """Draw how well the rankings of each method agree with those of exact search, against time."""
        agreement = self.agreement.mean(axis=1)
        for place, (family, order) in enumerate(self._families(self.times)):
            ax.plot(self.times[order], agreement[order], label=display_name(family), linewidth=0.9, **style(place))
        ax.set_ylabel("rank-biased overlap")
        self._draw_axis("time", ax)
