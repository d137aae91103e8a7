"""The gate: whether a run is worse than a base by more than a tolerance, as a verdict for continuous integration."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tieaware.checks.arguments import flag, number, path_text
from tieaware.checks.arrays import Values
from tieaware.checks.rounding import rounding_of, without_rounding
from tieaware.defaults import GATE_MEASURES
from tieaware.engine.views import View, plan_of
from tieaware.errors import InputError
from tieaware.experiments._gate_sides import (
    Name,
    Side,
    Stored,
    evaluated,
    in_order,
    is_stored,
    save,
    side_of,
    stored,
    values_of,
)
from tieaware.experiments.experiment import Experiment
from tieaware.inputs import Qrels, QrelsLike, as_qrels
from tieaware.lists.grades import Missing
from tieaware.measures import Measure
from tieaware.output.plots import COLOURS, Axes, Drawing, display_name
from tieaware.output.tables import Cell, Marked, Table, as_json, counted, in_markdown, significant
from tieaware.results import Results
from tieaware.statistics.mean_changes import Decision, MeanChange, mean_change, topics_to_show
from tieaware.statistics.multiple_comparisons import holm
from tieaware.statistics.planning import detectable_difference

# The fewest queries, and the quantile of the normal distribution for probability 0.8.
_FEWEST, _NORMAL_80 = 3, 0.8416212
# The version of the keys that `Gate.to_dict` returns.
_SCHEMA = 1
# The queries that lost most are listed, up to this number; and the queries that a message names.
_LOST, _NAMED = 10, 5
# The decisions, the one that decides for all measures first.
_ORDER: tuple[Decision, ...] = ("worse", "cannot tell", "better", "kept")
_STARTS: dict[Decision, str] = {"worse": "FAIL", "cannot tell": "CANNOT TELL", "better": "PASS", "kept": "PASS"}


def gate(
    qrels: QrelsLike,
    runs: Any,
    base: Any,
    measures: str | Measure | Sequence[str | Measure] | None = None,
    *,
    tolerance: float = 0.01,
    alpha: float = 0.05,
    allow_missing: bool = False,
    threads: int | None = None,
    missing: Missing | None = None,
) -> Gate:
    """Decide whether a run is worse than a base by more than a tolerance.

    Values are averages over ties, so they depend neither on the order of the rows nor on the ids of the documents. A
    run is never worse than itself.

    Parameters
    ----------
    qrels, threads, missing
        As for `tieaware.evaluate`. All judged queries count.
    runs : run, or sequence of runs, or path of a .npz file
        As for `tieaware.evaluate`, or a file of stored values, as `base` may be. Several runs are repetitions of one
        system, such as calls of a grader that does not always answer alike: their means are compared, and how much they
        differ is part of the standard error.
    base : run, sequence of runs, or path of a .npz file
        The runs to compare with; several are repetitions, too. A file holds what `Gate.save` wrote, or values that
        `evaluate` or `Results.save` stored.
    measures : sequence of str or Measure, or one string, optional
        By default those of a saved base, otherwise nDCG@10. With several measures, p values have Holm's correction.
    tolerance : float
        The loss of the mean that does not matter, at least 0, in the unit of the measures: 0.01, not a percentage.
    alpha : float
        The level of the paired t-test, from 1e-9 to 0.5; the level of the intervals is 1 - `alpha`. If all queries
        change alike, the sign test decides instead.
    allow_missing : bool
        Whether a side may lack queries that the other answers; they count 0.

    Returns
    -------
    Gate

    Raises
    ------
    InputError
        If an argument is out of range; if a side lacks queries that the other answers; if a saved base was evaluated
        with other judgments or measures; if its mean is below that of the first base of its chain by more than the
        tolerance; or if a measure has no arithmetic mean.

    Examples
    --------
    >>> qrels = {f"q{i}": {"d1": 1} for i in range(9)}
    >>> base = {query: {"d1": 2.0, "d2": 1.0} for query in qrels}
    >>> run = {query: {"d1": 1.0, "d2": 1.0} for query in qrels}
    >>> gate(qrels, {"new": run}, {"old": base}, "RR").sentence
    'FAIL: RR fell by 0.250 (95%: 0.250 to 0.250; 1.000 → 0.750, p = 0.00391, 9 queries).'
    """
    tolerance, alpha = number("tolerance", tolerance, 0, 1e150), number("alpha", alpha, 1e-9, 0.5)
    allowed = flag("allow_missing", allow_missing)
    files = {name: stored(runs) for name, runs in (("base", base), ("runs", runs)) if is_stored(runs)}
    if measures is None and "base" in files:
        wanted = files["base"].results.measures
    else:
        wanted = plan_of(GATE_MEASURES if measures is None else measures, [View(spread=True)]).measures
    for measure in wanted:
        if measure.definition.summary != "mean":
            raise InputError("measures", f"the summary of {measure} is not an arithmetic mean, so no test compares it")
        largest = measure.definition.limits[1]
        if tolerance >= largest:
            problem = f"must be less than {largest:g}, the largest value of {measure}; found {tolerance:g}"
            raise InputError("tolerance", problem)
    known = {*wanted, *(measure for file in files.values() for measure in file.results.measures)}
    judged = as_qrels(qrels, missing, subtopics=any(each.definition.needs_subtopics for each in known))
    before, after = (
        _stored_side(files[name], judged, wanted) if name in files else evaluated(judged, runs, wanted, threads)
        for name, runs in (("base", base), ("runs", runs))
    )
    queries = after.results.queries
    if len(queries) < _FEWEST:
        found = counted(len(queries), "query", "queries")
        raise InputError(judged.name, f"a gate needs at least {_FEWEST} queries; the judgments have {found}")
    before = before._replace(results=in_order(before.results, queries))
    if "base" in files and (fallen := _fallen(before.results, before.first, tolerance)):
        problem = f"{fallen}: small losses have added up; give the first base, or save a new one"
        raise InputError(files["base"].name, problem)
    lacking = _lacking(after, before)
    if not allowed:
        of_base = _lacking(before, after)
        for side, other, queries, name in ((after, "base", lacking, "run"), (before, "run", of_base, "base")):
            if queries:
                several = counted(len(queries), f"query that the {other} answers", f"queries that the {other} answers")
                remedy = "if that is meant, --allow-missing (in Python allow_missing=True) counts them 0"
                problem = f"no documents for {several}: {_listed(queries)}; {remedy}"
                raise InputError(f"{name} {', '.join(side.results.runs)}", problem)
    return _decided(judged, before, after, wanted, tolerance, alpha, lacking)


def _stored_side(file: Stored, qrels: Qrels, measures: Sequence[Measure]) -> Side:
    """Return a side that was stored; raise InputError if it lacks a measure."""
    for measure in measures:
        if measure not in file.results.measures:
            others = " ".join(file.results.names)
            problem = f"holds {others}, but not {measure}; give the run that it was made from"
            raise InputError(file.name, problem)
    return side_of(file, qrels)


def _lacking(side: Side, other: Side) -> tuple[Name, ...]:
    """Return the queries that a run of a side lacks, although a run of the other side answers them."""
    silent = set(other.silent)
    return tuple(query for query in side.unanswered if query not in silent)


def _fallen(results: Results, first: Results | None, tolerance: float) -> str:
    """Return a clause if a mean is below that of the first base by more than the tolerance; otherwise ""."""
    if first is None:
        return ""
    for measure in results.measures:
        now, then = (float(values_of(each, [measure]).mean()) for each in (results, first))
        loss = now - then if measure.definition.less_is_better else then - now
        if float(without_rounding(np.asarray(loss - tolerance), rounding_of([now, then]))) > 0.0:
            return f"its {measure}, {_number(now)}, has lost {_number(loss)} since the first base, {_number(then)}"
    return ""


class _Judged(NamedTuple):
    """The decision on one measure. `change` has the sign with which larger is better; `sign` is -1 if less is better.

    `ties` are the least and the greatest change over all orders of tied documents; NaN if they are unknown.
    `detectable` is the true loss with which the verdict is "worse" with probability 0.8, and `needed` the number of
    queries with which it is "kept" with this probability, if nothing changed; None if there is no such number.
    """

    name: str
    change: MeanChange
    sign: float
    p: float
    decision: Decision
    ties: tuple[float, float]
    detectable: float | None
    needed: int | None

    @property
    def moved(self) -> float:
        """The change of the mean itself, whose sign is that of the values."""
        return self.sign * self.change.difference + 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the change of the mean itself."""
        low, high = self.change.low, self.change.high
        return (low, high) if self.sign > 0.0 else (-high + 0.0, -low + 0.0)

    @property
    def means(self) -> tuple[float, float]:
        """The means of the base and of the run."""
        return self.sign * self.change.before + 0.0, self.sign * self.change.after + 0.0


def _decided(
    qrels: Qrels, before: Side, after: Side, measures: Sequence[Measure], tolerance: float, alpha: float,
    lacking: tuple[Name, ...],
) -> Gate:  # fmt: skip
    signs = [-1.0 if measure.definition.less_is_better else 1.0 for measure in measures]
    values = [side.values(measures) for side in (before, after)]
    changes = [
        mean_change(*(sign * side[:, :, m] for side in values), confidence=1.0 - alpha) for m, sign in enumerate(signs)
    ]
    least, most = (
        after.values(measures, ends[0]).mean(axis=(0, 1)) - before.values(measures, ends[1]).mean(axis=(0, 1))
        for ends in (("min", "max"), ("max", "min"))
    )
    names = [after.results.names[after.results.measures.index(measure)] for measure in measures]
    judged = []
    level = alpha / len(measures)
    for m, (change, p) in enumerate(zip(changes, holm(list(map(_p, changes))).tolist(), strict=True)):
        decision = change.decision(tolerance, alpha, p=p)
        detectable, needed = _detectable(change, tolerance, level), _needed(change, tolerance, alpha)
        ties = float(least[m]), float(most[m])
        judged.append(_Judged(names[m], change, signs[m], p, decision, ties, detectable, needed))
    return Gate(qrels, before, after, tuple(judged), values[0].mean(axis=0), values[1].mean(axis=0), tolerance, alpha,
                lacking)  # fmt: skip


def _p(change: MeanChange) -> float:
    """Return the p value of a change; that of the sign test if all queries changed alike, which the t-test trusts."""
    return change.p if change.variance or not change.difference else 2.0 ** (1 - change.n_topics)


def _needed(change: MeanChange, tolerance: float, alpha: float) -> int | None:
    """Return the number of queries for which "kept" has probability 0.8, if nothing changed."""
    return None if change.runs_differ else topics_to_show(tolerance, change.variance, alpha)


def _detectable(change: MeanChange, tolerance: float, alpha: float) -> float | None:
    """Return the true loss that is "worse" with probability 0.8: the test rejects, and the tolerance is exceeded."""
    if not change.variance or change.runs_differ:
        return None
    beyond = tolerance + _NORMAL_80 * math.sqrt(change.variance / change.n_topics)
    return max(detectable_difference(change.n_topics, change.variance, alpha=alpha), beyond)


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Experiment):
    """The verdict on a run against a base.

    Attributes
    ----------
    qrels : Qrels
    before, after : Side
        The base and the run.
    judged : tuple
        For each measure: its name, the change, Holm's p, the decision and what orders of ties could change.
    before_values, after_values : float64[n_queries, n_measures]
        The value of each query, averaged over repeated runs.
    tolerance, alpha : float
    missing : tuple of str or of int
        The queries that the base answers and the run does not, which count 0.
    """

    qrels: Qrels
    before: Side
    after: Side
    judged: tuple[_Judged, ...]
    before_values: Values
    after_values: Values
    tolerance: float
    alpha: float
    missing: tuple[Name, ...] = ()

    @property
    def decision(self) -> Decision:
        """The verdict: "worse" if a measure is, otherwise "cannot tell" if one is, otherwise "better" or "kept"."""
        return self._deciding.decision

    @property
    def passed(self) -> bool:
        """False if the run is worse."""
        return self.decision != "worse"

    @property
    def _deciding(self) -> _Judged:
        return min(self.judged, key=lambda each: _ORDER.index(each.decision))

    @property
    def title(self) -> str:  # type: ignore[override]
        """The design: the runs, the number of queries, the tolerance and the test."""
        sides = f"{self._names(self.after)} against {self._names(self.before)}"
        holms = ", Holm-corrected" if len(self.judged) > 1 else ""
        n = counted(len(self.after.results.queries), "query", "queries")
        return f"{sides}: {n}, tolerance {self.tolerance:g}, paired t-test{holms}, p ≤ {self.alpha:g}"

    @staticmethod
    def _names(side: Side) -> str:
        n = len(side.results.runs)
        return side.results.runs[0] if n == 1 else f"{n} runs ({_listed(side.results.runs)})"

    @property
    def heading(self) -> str:
        """The heading of the report: the question that the gate answers."""
        return f"Is {self._names(self.after)} worse than {self._names(self.before)}?"

    @property
    def sentence(self) -> str:
        """The verdict in one sentence, which begins with PASS, FAIL or CANNOT TELL."""
        judged = self._deciding
        end = {
            "kept": f", and a loss of more than {self.tolerance:g} is excluded",
            "cannot tell": f"; {self._not_excluded(judged.change)}",
        }.get(judged.decision, "")  # fmt: skip
        if judged.decision == "kept" and not judged.change.difference and not judged.change.variance:
            end = ""
        return f"{_STARTS[judged.decision]}: {self._described(judged)}{end}."

    def _not_excluded(self, change: MeanChange) -> str:
        """Say which loss the queries can exclude, if it is known."""
        if change.runs_differ or not change.variance:
            return f"a loss of more than {self.tolerance:g} is not excluded"
        return f"these queries can exclude a loss of {_number(self._excluded(change))}, not of {self.tolerance:g}"

    def _excluded(self, change: MeanChange) -> float:
        """Return the loss that the queries exclude with probability 0.8, if nothing changed."""
        return detectable_difference(change.n_topics, change.variance, alpha=self.alpha)

    def _described(self, judged: _Judged) -> str:
        moved, (low, high) = judged.moved, judged.interval
        before, after = judged.means
        n = counted(judged.change.n_topics, "query", "queries")
        if not moved and low == high:
            return f"{judged.name} did not change ({_number(after)}, {n})"
        how = f"{'fell' if moved < 0 else 'rose'} by {_number(abs(moved))}" if moved else "did not change"
        if low < 0.0 < high:
            interval = f"a fall of {-low:.3f} to a rise of {high:.3f}"
        else:
            interval = " to ".join(f"{end:.3f}" for end in sorted((abs(low), abs(high))))
        interval = f"{100.0 * (1.0 - self.alpha):g}%: {interval}"
        p_name = "Holm's p" if len(self.judged) > 1 else "p"
        p = f"{p_name} = {significant(judged.p)}"
        return f"{judged.name} {how} ({interval}; {_number(before)} → {_number(after)}, {p}, {n})"

    def verdict(self) -> str:
        """Return the verdict, what the queries can show, and what orders of tied documents could change."""
        return " ".join([self.sentence, *self.details()])

    def details(self) -> list[str]:
        """Return the sentences that follow the verdict.

        Returns
        -------
        list of str
        """
        judged = self._deciding
        others = [f"{self._described(each)}: {each.decision}." for each in self.judged if each is not judged]
        plan, alone = self._plan(judged), self._alone()
        return list(filter(None, [*others, alone, plan, *self._unanswered(), _of_ties(judged)]))

    def _alone(self) -> str:
        """Name the measures that would fail if they were the only one, if the verdict is not "worse"."""
        if self.decision == "worse":
            return ""
        decisions = {
            each.name: each.change.decision(self.tolerance, self.alpha, p=_p(each.change)) for each in self.judged
        }
        alone = [name for name, decision in decisions.items() if decision == "worse"]
        if not alone:
            return ""
        return f"{' and '.join(alone)} alone would fail: of several measures, each has to be surer (Holm's correction)."

    def _plan(self, judged: _Judged) -> str:
        """Say what loss the queries can detect, and how many would decide."""
        if judged.change.runs_differ:
            return "Whole runs differ by more than their queries explain, so more repetitions are needed to decide."
        if judged.detectable is None:
            return ""
        change = judged.change
        n = counted(change.n_topics, "query can", "queries can")
        detected = f"{n} detect a true loss of {_number(judged.detectable)} with probability 0.8"
        if judged.decision != "cannot tell" or judged.needed is None:
            return f"{detected}."
        return (
            f"{detected}. To decide with this probability, if nothing changed, judge {judged.needed:,} queries, or "
            f"allow a tolerance of {_number(self._excluded(change))}."
        )

    def _unanswered(self) -> list[str]:
        """Say for how many queries the sides have no documents."""
        sentences = [] if not self.missing else [
            f"The run has no documents for {counted(len(self.missing), 'query', 'queries')} that the base answers, "
            f"which count 0: {_listed(self.missing)}."
        ]  # fmt: skip
        n = len(self.after.results.queries)
        both = set(self.after.unanswered) & set(self.before.silent)
        only = set(self.before.unanswered) - set(self.after.unanswered)
        if both:
            sentences.append(f"Neither side has documents for {len(both):,} of {n:,} queries.")
        if only:
            sentences.append(f"The base has no documents for {len(only):,} of {n:,} queries, which count 0.")
        return sentences

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the tables that a command prints: the measures, and the queries that lost, if there are any."""
        return ("measures", "lost") if self._lost() else ("measures",)

    def tables(self) -> dict[str, Table]:
        """Return two tables: "measures", and "lost" with the queries that lost most by the measure that decides."""
        columns = (
            "measure", "base", "run", "change", "from", "to", "p", "verdict", "ties from", "ties to", "detects",
        )  # fmt: skip
        rows = [
            (
                each.name, *each.means, each.moved, *each.interval, each.p, each.decision,
                *(None if np.isnan(end) else end for end in each.ties), each.detectable,
            )
            for each in self.judged
        ]  # fmt: skip
        notes = (
            f"from, to: the {100.0 * (1.0 - self.alpha):g}% interval of the change, for each measure alone. ties from, "
            "ties to: the least and the largest change if the tied documents of both sides are ordered. detects: the "
            "true loss that these queries detect with probability 0.8.",
        )
        lost = Table(
            f"The queries that lost most by {self._deciding.name}",
            ("query", "base", "run", "change", "document", "label", "rank before", "rank now"),
            [(*row[:-2], *map(_shown_rank, row[-2:])) for row in self._lost()],
            (
                "document: the relevant document that lost most, by label ÷ rank; ranks of tied documents are means. "
                "–: not retrieved.",
            ),
        )
        return {"measures": Table(self.title, columns, rows, notes), "lost": lost}

    def _lost(self) -> list[tuple[Any, ...]]:
        m = self.judged.index(self._deciding)
        before, after, sign = self.before_values[:, m], self.after_values[:, m], self.judged[m].sign
        changes = without_rounding(sign * (after - before), rounding_of(before, after))
        labels, rows = self.qrels.to_dict(), []
        for i in np.argsort(changes, kind="stable")[:_LOST].tolist():
            if changes[i] < 0.0:
                query = self.after.results.queries[i]
                values = float(before[i]), float(after[i]), float(sign * changes[i] + 0.0)
                rows.append((query, *values, *self._lost_document(query, labels.get(query, {}))))
        return rows

    def _lost_document(self, query: Name, labels: dict[Name, Any]) -> tuple[Any, ...]:
        """Return the relevant document that lost most, with label and ranks; None if there is none, or unknown."""
        found: tuple[Any, ...] = (None, None, None, None)
        if self.before.ranks is None or self.after.ranks is None:
            return found
        now, most = self.after.ranks.get(query, {}), 0.0
        for document, rank in self.before.ranks.get(query, {}).items():
            label, later = labels.get(document, 0), now.get(document)
            loss = label / rank - (0.0 if later is None else label / later)
            if loss > most:
                most, found = loss, (document, label, rank, later)
        return found

    def drawings(self) -> dict[str, Drawing]:
        """Return one figure, "queries": the change of each query by the measure that decides."""
        judged = self._deciding
        m = self.judged.index(judged)
        changes = np.sort(self.after_values[:, m] - self.before_values[:, m])
        name = display_name(judged.name)

        def draw(ax: Axes) -> None:
            places = np.arange(1, len(changes) + 1)
            worse = changes * judged.sign < 0.0
            for some, colour, label in ((worse, COLOURS[1], "lost"), (~worse, COLOURS[0], "gained, or did not change")):
                ax.bar(places[some], changes[some], color=colour, width=1.0, label=label)
            ax.axhline(judged.moved, color=COLOURS[-1], linewidth=0.8, linestyle="--", label="mean")
            ax.set_xlabel(f"{counted(len(changes), 'query', 'queries')}, sorted by the change")
            ax.set_ylabel(f"change of {name}")
            ax.legend(loc="upper left")

        caption = f"The change of {name} on each query. {self.sentence}"
        return {"queries": Drawing(caption, draw, (6.2, 3.6), f"Changes of {name}")}

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict and its numbers; the keys are always the same, and described by a JSON Schema.

        Returns
        -------
        dict
        """
        names = "query", "base", "run", "change", "document", "label", "rank_before", "rank_now"
        return {
            "schema": _SCHEMA, "verdict": self.decision, "passed": self.passed, "sentence": self.sentence,
            "base": list(self.before.results.runs), "runs": list(self.after.results.runs),
            "queries": len(self.after.results.queries), "tolerance": self.tolerance, "alpha": self.alpha,
            "missing": list(self.missing), "base_unanswered": len(self.before.unanswered),
            "run_unanswered": len(self.after.unanswered), "measures": [_as_dict(each) for each in self.judged],
            "lost": [dict(zip(names, row, strict=True)) for row in self._lost()],
        }  # fmt: skip

    def to_json(self) -> str:
        """Return what `to_dict` returns, as JSON.

        Returns
        -------
        str
        """
        return as_json(self.to_dict())

    def to_markdown(self) -> str:
        """Return the verdict and the tables as Markdown, for a comment on a pull request.

        Returns
        -------
        str
        """
        start, _, rest = self.verdict().partition(": ")
        parts = [f"**{start}:** {in_markdown(rest)}\n"]
        tables = self.tables()
        for table in (tables[name] for name in self.answers):
            notes = "".join(f"\n{in_markdown(note)}\n" for note in table.notes)
            parts.append(f"{in_markdown(table.title)}\n\n{table.to_markdown()}{notes}")
        return "\n".join(parts)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the values of the run as the base of later gates, beside those of the first base of the chain.

        Parameters
        ----------
        path : str or os.PathLike
            A file name that ends in .npz; an existing file is replaced.

        Raises
        ------
        InputError
            If the run is worse, or its mean is below that of the first base by more than the tolerance.
        """
        name = path_text("path", path)
        if not is_stored(name):
            raise InputError(name, "the name of a saved base must end in .npz")
        if refusal := self.refusal():
            raise InputError(name, refusal)
        save(self.after._replace(first=self.before.first or self.before.results), path, self.qrels)

    def refusal(self) -> str:
        """Return the reason why the run cannot be the base of later gates; "" if it can.

        Returns
        -------
        str
        """
        if not self.passed:
            return "a run that is worse is not saved as a base"
        fallen = _fallen(self.after.results, self.before.first or self.before.results, self.tolerance)
        return f"the run is not saved as a base: {fallen}" if fallen else ""


def _as_dict(judged: _Judged) -> dict[str, Any]:
    low, high = judged.interval
    ties = [None if np.isnan(end) else end for end in judged.ties]
    return {
        "measure": judged.name, "verdict": judged.decision, "base": judged.means[0], "run": judged.means[1],
        "change": judged.moved, "low": low, "high": high, "p": judged.p,
        "ties_low": ties[0], "ties_high": ties[1], "detectable_loss": judged.detectable,
        "queries_needed": judged.needed,
    }  # fmt: skip


def _of_ties(judged: _Judged) -> str:
    """Say what an evaluator that orders tied documents could report; "" if it is always the same, or unknown."""
    low, high = (round(end, 3) + 0.0 for end in judged.ties)
    if low == high or np.isnan(low):
        return ""
    ends = [f"a {'fall' if end < 0.0 else 'rise'} of {abs(end):.3f}" if end else "no change" for end in (low, high)]
    return f"If the tied documents of both sides were ordered, there could be anything from {ends[0]} to {ends[1]}."


def _shown_rank(rank: float | None) -> Cell:
    """Return a rank as a cell without decimals, unless it is the mean rank of an even number of tied documents."""
    return None if rank is None else Marked(rank, f"{rank:g}")


def _number(x: float) -> str:
    """Format a number with three decimals, or more if it would appear as 0."""
    return f"{x + 0.0:.3f}" if x == 0.0 or abs(x) >= 0.0005 else significant(x)


def _listed(queries: Sequence[Name]) -> str:
    names = ", ".join(map(str, queries[:_NAMED]))
    return names if len(queries) <= _NAMED else f"{names} …"
