"""The tie prevalence experiment: how often scores tie, and how each tie rule changes the measures."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tieaware._evaluate import evaluate_views
from tieaware.checks.arguments import flag, whole_numbers
from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import first_greatest, rounding_of, without_rounding
from tieaware.defaults import TIE_CUTOFFS, TIE_MEASURES
from tieaware.engine.views import View
from tieaware.errors import InputError, warn
from tieaware.experiments._observed_lists import (
    AS_FAR,
    ObservedLists,
    between_identical,
    described,
    reaches_cut,
    warn_of_cuts,
)
from tieaware.experiments.evaluating import known_tau
from tieaware.experiments.experiment import Experiment
from tieaware.experiments.ties_by_tool import tools_by_rule
from tieaware.inputs import Qrels, QrelsLike, as_qrels, as_sources
from tieaware.inputs.runs.file_order import none_left
from tieaware.lists.grades import Missing
from tieaware.lists.swapped import look_like_labels
from tieaware.measures import Measure, parse_measures
from tieaware.output.plots import COLOURS, MARKERS, Axes, Drawing, display_name, file_name, name_rows
from tieaware.output.tables import Cell, Table, counted, percent, significant, table_by
from tieaware.results.provenance import unanswered_queries
from tieaware.runtime.progress import progress
from tieaware.statistics import Ties, count_ties
from tieaware.statistics.tie_counts import added_up
from tieaware.ties import RULES

# The most runs in a figure.
_MOST_DRAWN = 60


def _draw_shares(runs: Sequence[str], ties: Sequence[Ties], ax: Axes) -> None:
    """Draw the share of each run's documents that tie, with the original scores and with the scores as float32."""
    shares = np.array([each.tied_documents / max(each.documents, 1) for each in ties])
    single = np.array([each.float32_documents / max(each.documents, 1) for each in ties])
    order = np.lexsort((single, shares))[-_MOST_DRAWN:]
    places = np.arange(len(order))
    ax.barh(places, shares[order], color="#8fbcd9", height=0.7, label="tied")
    ax.plot(single[order], places, "|", color="#D55E00", markersize=7, markeredgewidth=1.6, label="as float32")
    _name_runs(ax, [display_name(runs[i]) for i in order])
    ax.set_xlim(0.0, 1.02)
    ax.set_xlabel("share of documents that tie")


def _draw_sizes(ties: Sequence[Ties], ax: Axes) -> None:
    """Draw the share of all documents by the size of their tie group, with a bar per power of two."""
    _, documents = _by_size(ties)
    ax.bar(np.arange(len(documents)), documents / max(documents.sum(), 1), color="#8fbcd9", edgecolor="#0072B2")
    ax.set_xticks(np.arange(len(documents)), _sizes(len(documents), "–"), rotation=35, ha="right")
    ax.set_xlabel("size of the group of equal scores (1: untied)")
    if documents.any():
        ax.set_yscale("log")
    ax.set_ylabel("share of documents")


def _by_size(ties: Sequence[Ties]) -> tuple[Integers, Integers]:
    """Count the tie groups of 1 document, of 2 to 3, of 4 to 7 and so on, and their documents."""
    sizes = np.concatenate([each.sizes for each in ties])
    untied = sum(each.documents for each in ties) - int(sizes.sum())
    powers = np.frexp(sizes)[1] - 1
    counts = [np.bincount(powers, weights, minlength=1).astype(np.int64) for weights in (None, sizes)]
    for of_each in counts:
        of_each[0] = untied
    return counts[0], counts[1]


def _sizes(count: int, to: str) -> list[str]:
    """Return the names of the first ranges of sizes of `_by_size`."""
    return ["1", *(f"{2**i}{to}{2 ** (i + 1) - 1}" for i in range(1, count))]


def _draw_ranges(
    runs: Sequence[str],
    average: Values,
    worst: Values,
    best: Values,
    marked: Mapping[str, Values],
    quantity: str,
    ax: Axes,
) -> None:
    """Draw how far tie orders move each run's mean from the average over all orders.

    `marked` has the means under other tie rules, by the name of the rule in the legend.
    """
    furthest = np.argsort(np.abs(best - worst), kind="stable")[-_MOST_DRAWN:]
    order = furthest[np.argsort(average[furthest], kind="stable")]
    worst, best = ((means - average)[order] for means in (worst, best))
    places = np.arange(len(order))
    ax.use_sticky_edges = False
    ax.axvline(0.0, color="#888888", linewidth=0.8)
    ax.barh(
        places, best - worst, left=worst, color="#cfe3f1", edgecolor="#0072B2", height=0.7,
        label="worst to best order",
    )  # fmt: skip
    for i, (name, means) in enumerate(marked.items(), 1):
        moved = (means - average)[order]
        ax.plot(moved, places, MARKERS[i], color=COLOURS[i], markersize=5, markerfacecolor="none", label=name)
    _name_runs(ax, [f"{display_name(runs[i])}  {significant(average[i])}" for i in order])
    ax.set_xlabel(quantity)


def _name_runs(ax: Axes, runs: Sequence[str]) -> None:
    name_rows(ax, runs)
    # Put the legend above the axes, where it hides no bar and may extend over the names of the runs.
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3)


# The rule that averages over all orders of tied documents, and the rules that take the best and the worst order.
# If at least this share of a run's documents share the highest score of their list, the verdict says so, unless the
# lists have fewer documents than this on average.
_SATURATED, _LONG = 0.2, 10
_AVERAGE = next(name for name, rule in RULES.items() if rule.averages)
_BEST, _WORST = (next(name for name, rule in RULES.items() if rule.extreme == end) for end in ("max", "min"))
# The rules that put tied documents into a single order that does not depend on their labels.
_ORDERS = tuple(name for name, rule in RULES.items() if not rule.averages and rule.extreme is None)
# The rules that the figures of ranges mark, and their names in the legend.
_MARKED = {"run_order": "order of the file", "trec_eval": "trec_eval's order"}


def tie_prevalence(
    runs: Any,
    qrels: QrelsLike | None = None,
    measures: str | Measure | Sequence[str | Measure] = TIE_MEASURES,
    cutoffs: Sequence[int] = TIE_CUTOFFS,
    *,
    consistent_only: bool = False,
    threads: int | None = None,
    missing: Missing | None = None,
) -> TiePrevalence:
    """Count the ties of runs; with judgments, evaluate the runs under every tie rule.

    Parameters
    ----------
    runs, threads, missing
        As for `tieaware.evaluate`.
    qrels : Qrels, path, or {query: {document: label}}, optional
        The judgments.
    measures : sequence of str or Measure
        The measures to evaluate; used only with judgments.
    cutoffs : sequence of int
        The ranks within and across which ties are counted, each at least 1.
    consistent_only : bool
        Whether to leave out runs whose rank column or file order puts a lower score before a higher one.

    Warns
    -----
    UserWarning
        If lists end inside a tie at the common length of their run (see `Ties`). They may have been cut there; then the
        dropped documents are missing from every average over ties. If judgments and runs seem to be swapped, because
        the labels are not whole numbers and the scores look like labels.

    References
    ----------
    Cabanac, G., Hubert, G., Boughanem, M. and Chrisment, C. (2010). Tie-breaking bias: effect of an uncontrolled
    parameter on information retrieval evaluation. CLEF 2010.
    McSherry, F. and Najork, M. (2008). Computing information retrieval performance measures efficiently in the presence
    of tied scores. ECIR 2008.
    Yang, Z., Moffat, A. and Turpin, A. (2016). How precise does document scoring need to be? AIRS 2016.

    Examples
    --------
    >>> outcome = tie_prevalence({"q1": {"d1": 2.0, "d2": 2.0, "d3": 1.0}}, {"q1": {"d2": 1}}, ["RR"], cutoffs=[1])
    >>> outcome.ties[0].tied_documents, outcome.ties[0].across
    (2, (1,))
    >>> [outcome.values[outcome.rules.index(rule)].item() for rule in ("average", "run_order", "trec_eval")]
    [0.75, 0.5, 1.0]
    """
    parsed = parse_measures(measures)
    cutoffs = whole_numbers("cutoffs", cutoffs, 1)
    consistent_only = flag("consistent_only", consistent_only)
    judged = None if qrels is None else _judgments(qrels, runs, missing)
    names, ties, values, deviations, left_out = [], [], [], [], []
    queries: tuple[str | int, ...] = ()
    unanswered: dict[str, int] = {}
    lists = ObservedLists()
    for name, source in progress(as_sources(runs).items(), "runs"):
        run = source.whole()
        tied = count_ties(run.scores, run.offsets, cutoffs, source.ranks())
        if consistent_only and tied.contradicts:
            left_out.append(name)
            continue
        names.append(name)
        lists.add(name, run)
        ties.append(tied)
        if judged is not None:
            results = evaluate_views(judged, {name: run}, parsed, [View(rule) for rule in RULES], threads=threads)
            queries, unanswered = results[0].queries, {**unanswered, **results[0].unanswered}
            values.append(np.stack([result.values[0] for result in results]))
            deviations.append(_deviations(judged, {name: run}, parsed, queries, threads))
    if not names:
        raise none_left(len(left_out))
    warn_of_cuts(names, ties)
    return TiePrevalence(
        tuple(names),
        tuple(ties),
        cutoffs,
        tuple(left_out),
        tuple(RULES),
        queries,
        parsed if judged is not None else (),
        np.stack(values, axis=1) if values else np.empty((len(RULES), len(names), 0, 0)),
        np.stack(deviations) if deviations else np.empty((len(names), 0, 0)),
        lists.identical(names, queries or None),
        unanswered,
    )


def _judgments(qrels: QrelsLike, runs: Any, missing: Missing | None) -> Qrels:
    """Read the judgments. If the runs look like judgments, an error or a warning asks whether the two are swapped."""
    swapped = "are judgments and runs swapped? write tie_prevalence(runs, qrels)"
    try:
        judged = as_qrels(qrels, missing)
    except InputError as error:
        if not _look_like_judgments(runs):
            raise
        raise InputError(error.where, f"{error.problem}; {swapped}") from None
    if judged.grades is not None and _look_like_judgments(runs):
        warn(f"{judged.name}: these labels look like scores, and the scores of the runs like labels: {swapped}")
    return judged


def _look_like_judgments(runs: Any) -> bool:
    """Return whether runs can be read as judgments whose labels are small whole numbers."""
    try:
        return look_like_labels(as_qrels(runs).labels.astype(np.float64))
    except InputError:
        return False


def _deviations(
    judged: QrelsLike,
    run: dict[str, Any],
    measures: Sequence[Measure],
    queries: Sequence[str | int],
    threads: int | None,
) -> Values:
    """Return the standard deviation of each value over the tie orders; NaN where it is unknown."""
    found = np.full((len(queries), len(measures)), np.nan)
    for m, measure in enumerate(measures):
        if measure.definition.has_spread:
            # InputError means that the spread of the measure would take too long to compute.
            with contextlib.suppress(InputError):
                (result,) = evaluate_views(judged, run, [measure], [View(_AVERAGE, spread=True)], threads=threads)
                assert result.std is not None
                found[:, m] = result.std[0, :, 0]
    return found


@dataclass(frozen=True, eq=False, repr=False)
class TiePrevalence(Experiment):
    """The number of ties in runs, and their effect on the measures.

    Attributes
    ----------
    runs : tuple of str
        The names of the runs whose ties were counted.
    ties : tuple of Ties
        The counts of ties in each run.
    cutoffs : tuple of int
        The ranks within and across which ties were counted.
    left_out : tuple of str
        The runs that were left out, because their ranks or their order contradict their scores.
    rules, queries : tuple of str
        The names of the tie rules, and of the judged queries. Without judgments, `queries` is empty.
    measures : tuple of Measure
        Empty without judgments.
    values : float64[n_rules, n_runs, n_queries, n_measures]
        The values under each tie rule.
    std : float64[n_runs, n_queries, n_measures]
        The standard deviation of each value over the tie orders; NaN where it is unknown.
    identical : tuple of tuple of str
        The groups of runs with the same documents and scores, in the same order.
    unanswered : dict of str to int
        The runs that leave judged queries unanswered, and how many.
    """

    runs: tuple[str, ...]
    ties: tuple[Ties, ...]
    cutoffs: tuple[int, ...]
    left_out: tuple[str, ...]
    rules: tuple[str, ...]
    queries: tuple[str | int, ...]
    measures: tuple[Measure, ...]
    values: Values
    std: Values
    identical: tuple[tuple[str, ...], ...] = ()
    unanswered: Mapping[str, int] = field(default_factory=dict)

    @property
    def bias(self) -> Values:
        """The value of each tie rule − the average over all orders: [n_rules, n_runs, n_queries, n_measures]."""
        return np.asarray(self.values - self.values[self.rules.index(_AVERAGE)])

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which states the number of runs and of lists."""
        return f"Ties in {counted(len(self.runs), 'run')}, {counted(sum(ties.lists for ties in self.ties), 'list')}"

    @property
    def heading(self) -> str:
        """The heading of the report: the question that the experiment answers."""
        return "How often do scores tie, and what does it change?" if self.measures else "How often do scores tie?"

    def verdict(self) -> str:
        r"""Return what to do about the ties, how many there are, and the effect of tie orders on each measure.

        Examples
        --------
        >>> from textwrap import fill
        >>> outcome = tie_prevalence({"q1": {"d1": 2.0, "d2": 2.0, "d3": 1.0}}, {"q1": {"d2": 1}}, ["RR"], cutoffs=[1])
        >>> print(fill(outcome.verdict(), 100))
        Report the average over ties: the order of tied documents moves the mean RR by up to 0.250 from the
        average over all orders. 1 of 1 list has a tie (100 %), and 66.7 % of all documents tie with
        another.
        """
        everything = added_up(self.ties)
        lists, tied, n = everything.lists, everything.tied_lists, len(self.runs)
        if not tied:
            nothing = f"Any tie rule will do: no two documents tie in {counted(lists, 'list')} of {counted(n, 'run')}."
            return f"{nothing} The order of ties can change no value."
        most = f"; {self._most_tied()}" if n > 1 else ""
        have = f"{'has' if tied == 1 else 'have'} a tie ({percent(tied / lists)})"
        counts = (
            f"{tied:,} of {counted(lists, 'list')} {have}, and "
            f"{percent(everything.tied_documents / everything.documents)} of all documents tie with another{most}."
        )
        known = [self._effect_of_order(), counts] if self.measures else [f"Report averages over ties: {counts}"]
        rest = [] if self.measures else [self._effect_of_cutoff(everything)]
        lacking = unanswered_queries(self.unanswered, len(self.queries))
        return " ".join(filter(None, [self._saturation(), *known, *rest, lacking]))

    def _saturation(self) -> str:
        """Say how to rank a run in which many documents share the highest score of their list; "" if there is none."""
        shares = [
            each.top_documents / each.documents if each.documents >= _LONG * each.lists > 0 else 0.0
            for each in self.ties
        ]  # fmt: skip
        i = int(np.argmax(shares))
        if shares[i] < _SATURATED:
            return ""
        run, grid = self.runs[i], self.ties[i].grid
        scores = f", and all its scores are {grid}" if grid else ""
        is_coarse = grid and not grid.startswith(("bfloat16", "float16"))
        advice = f"Use finer scores in {run}" if is_coarse else f"Rank {run} by logits, if its scores are probabilities"
        return f"{advice}: {percent(shares[i])} of its documents share the highest score of their list{scores}."

    def _most_tied(self) -> str:
        """Say in which run the largest share of documents is tied."""
        shares = np.array([ties.tied_documents / max(ties.documents, 1) for ties in self.ties])
        runs = [self.runs[i] for i in np.flatnonzero(shares == shares.max())]
        others = f" and {counted(len(runs) - 1, 'other run')}" if len(runs) > 1 else ""
        return f"{runs[0]}{others} {'has' if len(runs) == 1 else 'have'} the most, {percent(float(shares.max()))}"

    def _effect_of_cutoff(self, everything: Ties) -> str:
        """Say how many lists have a tie group that the first cut-off divides."""
        if not self.cutoffs:
            return f"The largest group of equal scores has {everything.sizes.max():,} documents."
        cut = everything.across[0]
        return f"A cut-off at {self.cutoffs[0]} divides a group of tied documents in {counted(cut, 'list')}."

    def _effect_of_order(self) -> str:
        """Say which values to report, how far tie orders move each measure, and how many pairs of runs can swap."""
        first, *others = found = [self._moves(m) for m in range(len(self.measures))]
        is_moved = any(each.startswith("moves") for each in found)
        advice = "Report the average over ties" if is_moved else "Any tie rule will do"
        return " ".join([f"{advice}: the order of tied documents {first}.", *(f"It {each}." for each in others)])

    def _moves(self, m: int) -> str:
        """Say how far tie orders move the means of a measure, and how many pairs of runs can swap places by it."""
        measure, n = self.measures[m], len(self.runs)
        means = {rule: values[..., m].mean(axis=1) for rule, values in zip(self.rules, self.values, strict=True)}
        worst, best = means[_WORST], means[_BEST]
        rounding = rounding_of(*means.values())
        moved = np.maximum(*(np.abs(without_rounding(each - means[_AVERAGE], rounding)) for each in (worst, best)))
        limit = AS_FAR if any(reaches_cut(measure, ties) for ties in self.ties) else ""
        run = first_greatest(moved, rounding)
        if not moved[run]:
            return f"changes no run's mean {measure}{limit}"
        size = f"by up to {significant(moved[run])}"
        average = "" if m else " from the average over all orders"
        if n == 1:
            return f"moves the mean {measure} {size}{average}{limit}"
        low, high = np.minimum(worst, best), np.maximum(worst, best)
        a, b = np.triu_indices(n, 1)
        # The tie orders of two runs are independent. So the runs can swap places if the ranges of their means overlap.
        either = (high[a] - low[b] > rounding) & (high[b] - low[a] > rounding)
        either &= ~between_identical(self.identical, self.runs, a, b)
        pairs = f"{int(either.sum()):,} of {len(a):,} pairs of runs can"
        pairs = pairs if n > 2 else f"the two runs {'can' if either[0] else 'cannot'}"
        swaps = f"{pairs} swap places by {measure}{limit}"
        some = f"{int((moved > 0.0).sum())} of {n} runs"
        return f"moves the mean {measure} of {some}{average}, {size} ({self.runs[run]}); {swaps}"

    @property
    def contradictions(self) -> tuple[str, ...]:
        """The runs whose file order or rank column puts a lower score before a higher one."""
        return tuple(run for run, ties in zip(self.runs, self.ties, strict=True) if ties.contradicts)

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the tables that a command prints by default; the one of cut-offs only if some were asked for."""
        asked = {"ties": True, "cutoffs": self.cutoffs and self.cutoffs != TIE_CUTOFFS, "rules": self.measures}
        return tuple(name for name, is_asked in asked.items() if is_asked)

    def tables(self) -> dict[str, Table]:
        """Return the tables of tie counts and tie group sizes; with judgments, also those of the effect of tie rules.

        Their names: "ties", "cutoffs" and "group-sizes"; with judgments also "rules", "orderings", "runs" and "bias".
        """
        tables = {"ties": self._counts(), "cutoffs": self._cutoffs(), "group-sizes": self._sizes()}
        if self.measures:
            tables |= {"rules": self._rules(), "orderings": self._orderings()}
            tables |= {"runs": self._runs(), "bias": self._bias()}
        return tables

    def _all(self) -> list[tuple[str, Ties]]:
        """Return the name and the counts of each run. If there are several, append their sums under the name "all"."""
        named = list(zip(self.runs, self.ties, strict=True))
        return [*named, ("all", added_up(self.ties))] if len(named) > 1 else named

    def _counts(self) -> Table:
        columns = (
            "run", "lists", "lists tied", "documents", "documents tied", "mean group", "median", "largest",
            "tied by float32", "file order", "rank column", "ranks twice",
            "cut in a tie",
        )  # fmt: skip
        contradicting, left_out = ", ".join(self.contradictions), ", ".join(self.left_out)
        notes = (
            "lists tied, documents tied: shares. mean group, median, largest: sizes of groups of two or more tied "
            "documents. tied by float32: the share of documents that tie only in single precision.",
            "file order, rank column: the number of lists that put a lower score before a higher one; ranks twice: the "
            "number of lists that repeat a rank; –: no such column.",
            "cut in a tie: the number of lists that have the length of the run's longest lists, and end inside a tie. "
            "They may have been cut there; –: too few lists have that length.",
            f"Runs whose file order or rank column contradicts their scores: {contradicting}." if contradicting else "",
            f"Left out, because file order or rank column contradicts the scores: {left_out}." if left_out else "",
            described(self.identical),
        )
        return Table(self.title, columns, [_count_row(*named) for named in self._all()], tuple(filter(None, notes)))

    def _cutoffs(self) -> Table:
        columns = ("run", *(f"{where} {k}" for k in self.cutoffs for where in ("within", "across")))
        rows: list[tuple[Cell, ...]] = [
            (run, *(n / max(ties.lists, 1) for counts in zip(ties.within, ties.across, strict=True) for n in counts))
            for run, ties in self._all()
        ]
        notes = (
            "within k: the share of lists with a tie among the first k documents. across k: the share of lists with "
            "a tie group that a cut-off at k divides.",
        )
        return Table("Ties and cut-offs", columns, rows, notes)

    def _sizes(self) -> Table:
        groups, documents = _by_size(self.ties)
        columns = {"groups": groups, "documents": documents, "share of documents": documents / max(documents.sum(), 1)}
        names = {"size of group": _sizes(len(groups), " … ")}
        return table_by("Sizes of the groups of equal scores", names, columns)

    def _rules(self) -> Table:
        average = self.values[self.rules.index(_AVERAGE)]
        rows: list[tuple[Cell, ...]] = []
        for m, measure in enumerate(self.measures):
            for rule, values in zip(self.rules, self.values, strict=True):
                rounding = rounding_of(values[:, :, m], average[:, :, m])
                by_topic = np.abs(without_rounding(values[:, :, m] - average[:, :, m], rounding))
                means, reference = values[:, :, m].mean(axis=1), average[:, :, m].mean(axis=1)
                by_run = np.abs(without_rounding(means - reference, rounding))
                run, query = np.unravel_index(first_greatest(by_topic, rounding), by_topic.shape)
                worst_run = first_greatest(by_run, rounding)
                rows.append(
                    (
                        str(measure), rule, float(means.mean()), float((means - reference).mean()),
                        float(by_topic[run, query]),
                        f"{self.runs[run]}, {self.queries[query]}" if by_topic[run, query] else None,
                        float(by_run[worst_run]), self.runs[worst_run] if by_run[worst_run] else None,
                        known_tau(means, reference),
                    )
                )  # fmt: skip
        columns = ("measure", "ties", "mean", "bias", "by topic", "of run, topic", "by run", "of run", "tau")
        notes = (
            f"mean: over {counted(len(self.runs), 'run')} and {counted(len(self.queries), 'query', 'queries')}, here "
            "called topics. bias: the mean − the average over all orders, which is the expectation. by topic, by run: "
            "the largest absolute difference from that average, of a single value and of a run's mean, and where it "
            "occurs. tau: Kendall's τ_b between the orders of the runs by mean and by the average.",
            *tools_by_rule(),
        )
        return Table("The effect of tie rules on the measures", columns, rows, notes)

    def _orderings(self) -> Table:
        of_measures = [self.values[..., m].mean(axis=2) for m in range(len(self.measures))]
        columns = {
            rule: [[known_tau(ranked, means[i]) for ranked in means] for means in of_measures]
            for i, rule in enumerate(self.rules)
        }
        names = {"measure": self.measures, "ties": self.rules}
        notes = ("Kendall's τ_b between the orders of the runs by mean, for each pair of tie rules.",)
        return table_by("Orders of the runs", names, columns, notes)

    def _runs(self) -> Table:
        measures = range(len(self.measures))
        columns = {
            rule: [values[:, :, m].mean(axis=1) for m in measures]
            for rule, values in zip(self.rules, self.values, strict=True)
        }
        names = {"measure": self.measures, "run": self.runs}
        return table_by("Means of the runs under each tie rule", names, columns)

    def _bias(self) -> Table:
        """Return a table: for each run, the range of its mean, and the bias of each rule that takes a single order."""
        by_rule = {rule: each.T for rule, each in zip(self.rules, self.values.mean(axis=2), strict=True)}
        mean, ends = by_rule[_AVERAGE], (by_rule[_WORST], by_rule[_BEST])
        # The tie orders of different topics are independent, so the variances of the topics add up.
        std = np.sqrt((self.std**2).sum(axis=1)) / max(len(self.queries), 1)
        columns = {"expectation": mean, "std": std.T, "min": np.minimum(*ends), "max": np.maximum(*ends)}
        columns |= {f"bias of {rule}": by_rule[rule] - mean for rule in _ORDERS}
        notes = (
            "For each run's mean over the topics: the expectation over all orders of the tied documents, the standard "
            "deviation, the least and the greatest value over these orders, and the bias of each rule: its value − "
            "the expectation. –: unknown.",
        )
        return table_by("The bias of each rule", {"measure": self.measures, "run": self.runs}, columns, notes)

    def drawings(self) -> dict[str, Drawing]:
        """Return the figures: tied documents per run, tie group sizes, and with judgments the range of each run's mean.

        Their names: "ties" and "group-sizes"; with judgments also "ranges-…", with the names of the measures.
        """
        n_runs = len(self.runs)
        height = 1.4 + 0.2 * min(n_runs, _MOST_DRAWN)
        most = f" Shown: the {_MOST_DRAWN} of {n_runs} runs {{}}." if n_runs > _MOST_DRAWN else ""
        figures = {
            "ties": Drawing(
                "The share of each run's documents that tie with another: with the original scores, and in single "
                "precision." + most.format("with the most"),
                partial(_draw_shares, self.runs, self.ties),
                (6.8, height),
                "The share of tied documents",
            ),
            "group-sizes": Drawing(
                "Documents by the size of the group of equal scores.",
                partial(_draw_sizes, self.ties),
                title="Documents by group",
            ),
        }
        figures |= {
            f"ranges-{file_name(measure)}": Drawing(
                f"How far the order of tied documents moves each run's mean {measure} from its average over all "
                "orders (the number beside its name)." + most.format("that it moves furthest"),
                self._ranges(m),
                (6.8, height),
                f"The range of each mean {measure} over ties",
            )
            for m, measure in enumerate(self.measures)
        }
        return figures

    def _ranges(self, m: int) -> partial[None]:
        means = dict(zip(self.rules, self.values[..., m].mean(axis=2), strict=True))
        marked = {name: means[rule] for rule, name in _MARKED.items()}
        quantity = f"mean {self.measures[m]} over {counted(len(self.queries), 'topic')} − the average over ties"
        return partial(_draw_ranges, self.runs, means[_AVERAGE], means[_WORST], means[_BEST], marked, quantity)


def _count_row(run: str, ties: Ties) -> tuple[Cell, ...]:
    n, sizes = max(ties.documents, 1), ties.sizes
    groups: tuple[Cell, ...] = (None, None, None)
    if len(sizes):
        groups = float(sizes.mean()), float(np.median(sizes)), int(sizes.max())
    return (
        run, ties.lists, ties.tied_lists / max(ties.lists, 1), ties.documents, ties.tied_documents / n, *groups,
        (ties.float32_documents - ties.tied_documents) / n, ties.unordered, ties.misranked, ties.repeated,
        None if ties.common_length is None else ties.cut_lists,
    )  # fmt: skip
