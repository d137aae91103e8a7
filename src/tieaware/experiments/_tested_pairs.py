"""The tests of pairs of runs by one measure, with their tables, and the verdict in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Values
from tieaware.experiments._observed_lists import AS_FAR, NOTE, UNKNOWN, described
from tieaware.output.tables import Cell, Marked, Table, counted, joined, significant
from tieaware.results.provenance import unanswered_queries
from tieaware.statistics import PairedTest, Resolutions
from tieaware.statistics.letter_display import groups, letters
from tieaware.statistics.mean_changes import Kept, Margin
from tieaware.statistics.procedures import CORRECTIONS, Procedure


@dataclass(frozen=True)
class TestedPairs:
    """The tests of all pairs of runs by one measure, and the effect of tie orders on these tests.

    `ends` has the ends of the intervals of the means over the queries. `first` and `second` are the runs of each pair,
    by position; with a baseline, `second` is the baseline. `adjusted` and `signs` have the p value of each pair after
    the correction, and the sign of the difference if it is significant, otherwise 0. `is_cut` says whether lists may
    have been cut inside a tie where the measure reaches, and is None if the lists are unknown; `identical` has the
    groups of runs with the same documents and scores. With a margin, `kept` says whether the run of each pair keeps it,
    and `turned` whether an order of ties changes that: 1, 0, or -1 if it is undecided.
    """

    runs: Sequence[str]
    n_queries: int
    means: Values
    ends: tuple[Values, Values]
    measure: str
    first: Integers
    second: Integers
    test: PairedTest
    adjusted: Values
    signs: Values
    resolutions: Resolutions | None
    procedure: Procedure
    baseline: str | None
    alpha: float
    confidence: float
    less_is_better: bool
    is_cut: bool | None = False
    identical: Sequence[Sequence[str]] = ()
    margin: Margin | None = None
    kept: Sequence[Kept] = ()
    turned: npt.NDArray[np.int8] | None = None

    @property
    def order(self) -> Integers:
        """The runs by position, from the best to the worst."""
        return np.argsort(self.means if self.less_is_better else -self.means, kind="stable")

    @property
    def better(self) -> Values:
        """1 for a pair whose first run is significantly better, -1 if it is significantly worse, otherwise 0."""
        return -self.signs if self.less_is_better else self.signs

    @property
    def described(self) -> str:
        """The test, the level and the correction in a phrase."""
        return self.procedure.described(self.alpha, counted(len(self.first), "pair"), len(self.runs))

    @property
    def interval(self) -> str:
        """The kind of the intervals in a phrase, such as "95% confidence interval of this pair alone, …"."""
        simultaneous = self.procedure.test == "tukey"
        kind = "simultaneous for all runs" if simultaneous else "of this pair alone, not corrected"
        return f"{self.confidence:.0%} confidence interval{',' * simultaneous} {kind}"

    @property
    def deciding(self) -> str:
        """The kind of the intervals that leave out 0 where the difference is significant, in two or three words."""
        kind = "for all runs" if self.procedure.is_of_all_runs else CORRECTIONS[self.procedure.correction]
        return f"{100.0 * (1.0 - self.alpha):g}% interval, {kind}"

    @property
    def notes_on_ties(self) -> tuple[str, ...]:
        """The notes on lists that may have been cut inside a tie, and on runs with the same documents and scores."""
        if self.resolutions is None:
            return ()
        cut = "" if self.is_cut is False or self.resolutions is None else NOTE if self.is_cut else UNKNOWN
        return tuple(filter(None, [cut, described(self.identical)]))

    def beaten(self) -> npt.NDArray[np.bool_]:
        """Return a matrix, bool[n_runs, n_runs]: whether the row's run is significantly better than the column's."""
        beaten = np.zeros((len(self.runs),) * 2, dtype=bool)
        beaten[self.first, self.second] = self.better > 0.0
        beaten[self.second, self.first] = self.better < 0.0
        return beaten


_UNKNOWN = "–: unknown."
# The most groups that are shown as letters: with more, a run of many groups has a long line of them.
_LETTERS = 26
# The most names of runs that a table shows in a cell.
_SHOWN = 12


def runs_and_wins(title: str, measures: Sequence[TestedPairs], ranks: Table) -> Table:
    """Return a row for each run and measure: its mean, and the runs that it beats.

    `ranks` has the ranks of the runs, with a column for each measure.
    """
    possible = dict(zip(ranks.columns[1:], list(zip(*ranks.rows, strict=True))[1:], strict=True))
    rows = [row for tested in measures for row in _wins_of(tested, possible[tested.measure])]
    tested = measures[0]
    ends = f"{tested.confidence:.0%} from", f"{tested.confidence:.0%} to"
    columns = ("measure", "run", "mean", *ends, "groups", "beats", "lost to", "p at most", "ties flip", "whom it beats")
    of_means = (
        f"{ends[0]}, {ends[1]}: the interval of the mean over queries (Student's t). groups: the tests separate no two "
        f"runs that share a letter; if there are more than {_LETTERS} groups, the ranks that the run may have."
    )
    of_tests = (
        f"beats, lost to: the number of other runs that are significantly worse, or better ({tested.described}). p at "
        f"most: the largest p among the beaten runs ({tested.procedure.p_name}). ties flip: for how many of the other "
        "runs an order of the tied documents changes the verdict, or may; –: unknown."
    )
    if not any(row[6] for row in rows):
        of_tests = f"No run beats another significantly ({tested.described})."
    return Table(title, columns, rows, (of_tests, of_means, *_notes_on_ties(measures)))


def _notes_on_ties(measures: Sequence[TestedPairs]) -> tuple[str, ...]:
    return max((tested.notes_on_ties for tested in measures), key=len)


def _wins_of(tested: TestedPairs, ranks: Sequence[Cell]) -> list[tuple[Cell, ...]]:
    n, beaten = len(tested.runs), tested.beaten()
    p, flips = np.zeros((n, n)), np.zeros((n, n), dtype=bool)
    p[tested.first, tested.second] = p[tested.second, tested.first] = tested.adjusted
    if tested.resolutions is not None:
        by_pair = tested.resolutions.verdict_flips != 0
        flips[tested.first, tested.second] = flips[tested.second, tested.first] = by_pair
    rows: list[tuple[Cell, ...]] = []
    found = groups(beaten, -tested.means if tested.less_is_better else tested.means)
    shared = letters(found, n) if len(found) <= _LETTERS else ranks
    low, high = tested.ends
    for run in tested.order:
        whom = tested.order[beaten[run, tested.order]]
        rows.append(
            (
                tested.measure, tested.runs[run], float(tested.means[run]), float(low[run]), float(high[run]),
                shared[run], len(whom), int(beaten[:, run].sum()),
                float(p[run, whom].max()) if whom.size else None,
                int(flips[run].sum()) if tested.resolutions is not None else None,
                _cell([tested.runs[i] for i in whom]),
            )
        )  # fmt: skip
    return rows


def _cell(runs: Sequence[str]) -> Cell:
    """Return a cell with all names, of which a table shows a few."""
    names, more = ", ".join(runs), len(runs) - _SHOWN
    return Marked(names, f"{', '.join(runs[:_SHOWN])} and {more} more") if more > 0 else names


def runs_and_baseline(title: str, measures: Sequence[TestedPairs]) -> Table:
    """Return a row for each run and measure: its mean, and its difference from the baseline with the verdict."""
    rows: list[tuple[Cell, ...]] = []
    margin = measures[0].margin
    for tested in measures:
        pairs = dict(zip(tested.first.tolist(), range(len(tested.first)), strict=True))
        for run in tested.order.tolist():
            start = (tested.measure, tested.runs[run], float(tested.means[run]))
            if run not in pairs:
                rows.append((*start, None, None, "baseline", None, *([None] * 5 if margin else [])))
                continue
            i = pairs[run]
            better = tested.better[i]
            verdict = "better" if better > 0 else "worse" if better < 0 else "not significant"
            flips = None if tested.resolutions is None else _flips(tested, i)
            kept = _kept_cells(tested, i) if margin else ()
            rows.append((*start, float(tested.test.difference[i]), float(tested.adjusted[i]), verdict, flips, *kept))
    columns: tuple[str, ...] = ("measure", "run", "mean", "difference", "p", "verdict", "ties flip")
    notes = [
        f"difference: of the mean from that of {measures[0].baseline}. p: {measures[0].procedure.p_name}. verdict: "
        f"better or worse if the difference is significant ({measures[0].described}). ties flip: {_FLIPS}; –: "
        "unknown.",
    ]
    if margin is not None:
        columns = (*columns, f"keeps {margin}", "kept from", "kept to", "queries needed", "keep flips")
        share = "share of the mean of the baseline; if less is better, of the baseline's mean in that of the run"
        what = share if margin.share is not None else "difference from the baseline"
        notes.append(
            f"kept from, kept to: the {measures[0].confidence:.0%} interval of the {what}, for each run alone. queries "
            "needed: those that decide with probability 0.8, if the true loss is the observed one. keep flips: as ties "
            f"flip, for {columns[7]}."
        )
    return Table(title, columns, rows, (*notes, *_notes_on_ties(measures)))


def _kept_cells(tested: TestedPairs, i: int) -> tuple[Cell, ...]:
    """Return the cells of pair i about the margin: decision, ends, queries needed, and whether ties flip it."""
    kept, flips = tested.kept[i], None if tested.turned is None else _FLIP_NAMES[tested.turned[i]]
    return kept.decision, *_ends(kept), kept.needed, flips


def pairs_as_dicts(tested: TestedPairs) -> list[dict[str, Any]]:
    """Return a dict for each pair, always with the same keys; None stands for what is unknown or was not asked."""
    names = "run", "against", "difference", "low", "high", "p", "corrected_p"
    ties = "ties_low", "ties_high", "sign_flips", "verdict_flips"
    found = []
    for i, (_, *row) in enumerate(_pairs_of(tested, is_corrected=True)):
        pair = dict(zip((*names, *ties), row, strict=True))
        better = tested.better[i]
        pair["verdict"] = "better" if better > 0 else "worse" if better < 0 else "not significant"
        what = _kept_cells(tested, i) if tested.kept else [None] * 5
        pair |= dict(zip(("kept", "kept_low", "kept_high", "queries_needed", "kept_flips"), what, strict=True))
        found.append(pair)
    return found


def _ends(kept: Kept) -> tuple[float | None, float | None]:
    """Return the ends of the interval of what is kept; None where they are infinite."""
    return kept.low if math.isfinite(kept.low) else None, kept.high if math.isfinite(kept.high) else None


# Whether an order of ties changes a verdict: 0, 1 or -1.
_FLIP_NAMES = ("no", "yes", "open")
_FLIPS = (
    "whether an order of the tied documents of these two runs changes the verdict, if all other runs stay as they are: "
    "yes, no, or open if it is not known"
)


def tested_pairs(title: str, measures: Sequence[TestedPairs]) -> Table:
    """Return a row for each pair of runs and measure: the test, and the effect of ties."""
    tested = measures[0]
    corrected = tested.procedure.short_correction
    rows = [row for each in measures for row in _pairs_of(each, is_corrected=bool(corrected))]
    names = (
        "measure", "run", "against", "difference", f"{tested.confidence:.0%} from", f"{tested.confidence:.0%} to", "p",
        *([corrected] if corrected else []), "with ties from", "with ties to", "sign flips", "verdict flips",
    )  # fmt: skip
    interval = f"the {tested.interval}" if tested.test.low is not None else "no confidence interval for this test"
    notes = [
        f"difference: of the means over {counted(tested.n_queries, 'query', 'queries')}, with {interval}. Verdicts: "
        f"{tested.described}." + (f" p: before the correction; {corrected}: after it." if corrected else "")
    ]
    if tested.resolutions is None:
        return Table(title, names, rows, (*notes, _UNKNOWN))
    notes.append(
        "with ties: the least and the largest difference over all orders of the tied documents, chosen for each run "
        f"separately. sign flips: yes if some order reverses the sign. verdict flips: {_FLIPS}."
    )
    notes += _notes_on_ties(measures)
    return Table(title, names, rows, tuple(notes))


def _pairs_of(tested: TestedPairs, *, is_corrected: bool) -> list[tuple[Cell, ...]]:
    test, runs = tested.test, tested.runs
    p = (test.p, tested.adjusted) if is_corrected else (test.p,)
    missing = [None] * len(tested.first)
    ends = [missing if end is None else end.tolist() for end in (test.low, test.high)]
    numbers = zip(test.difference.tolist(), *ends, *(column.tolist() for column in p), strict=True)
    return [
        (tested.measure, runs[a], runs[b], *values, *_ties(tested, i))
        for i, (a, b, values) in enumerate(zip(tested.first, tested.second, numbers, strict=True))
    ]


def _ties(tested: TestedPairs, i: int) -> tuple[Cell, ...]:
    """Return the cells of pair i about ties: least and largest difference, and whether sign and verdict flip."""
    effect = tested.resolutions
    if effect is None:
        return (None,) * 4
    sign = "yes" if effect.sign_flips[i] else "no"
    return float(effect.lowest[i]), float(effect.highest[i]), sign, _flips(tested, i)


def _flips(tested: TestedPairs, i: int) -> str:
    assert tested.resolutions is not None
    return _FLIP_NAMES[tested.resolutions.verdict_flips[i]]


def verdict_counts(measures: Sequence[TestedPairs]) -> Table:
    """Return a row for each measure: how many verdicts there are of each kind."""
    corrected = measures[0].procedure.short_correction
    rows: list[tuple[Cell, ...]] = []
    for tested in measures:
        effect = tested.resolutions
        counts: tuple[Cell, ...] = (None,) * 3
        if effect is not None:
            flips = effect.verdict_flips
            counts = int(effect.sign_flips.sum()), int((flips == 1).sum()), int((flips == -1).sum())
        n_before, n_significant = int((tested.test.p <= tested.alpha).sum()), int((tested.signs != 0.0).sum())
        significant = (n_before, n_significant) if corrected else (n_significant,)
        rows.append((tested.measure, len(tested.first), *significant, *counts))
    before = ("uncorrected", f"by {corrected}") if corrected else ("significant",)
    columns = ("measure", "pairs", *before, "sign flips", "verdict flips", "verdict open")
    start = (
        f"uncorrected, by {corrected}: the pairs that differ significantly without and with the correction"
        if corrected else "significant: the pairs that differ significantly"
    )  # fmt: skip
    by = f" by {corrected}" if corrected else ""
    notes = (
        f"{start} ({measures[0].described}). sign flips, verdict flips: the pairs for which an order of the tied "
        f"documents reverses the sign of the difference, or changes the verdict{by}; verdict open: those for which it "
        "is not known whether one does.",
    )
    return Table("The number of pairs by verdict", columns, rows, (*notes, *_notes_on_ties(measures)))


# The most runs that are named as better or worse than a baseline.
_NAMED = 3
# With this many queries, tests find even differences that are too small to matter.
_MANY_QUERIES = 1000
# The most pairs that are named because ties can change their verdict.
_FLIPPED = 5


def verdict(measures: Sequence[TestedPairs], unanswered: Mapping[str, int]) -> str:
    """Return who is best by the first measure, how sure that is, and what ties can change; then the other measures.

    With a margin, the runs that keep it come first. `unanswered` has the runs that leave queries unanswered.
    """
    tested = measures[0]
    lacking = unanswered_queries(unanswered, tested.n_queries)
    if tested.margin is not None:
        sentences = [_by_all(measures), *(_margins(each, tested.margin) for each in measures), lacking]
        return " ".join(filter(None, [*sentences, described(tested.identical)]))
    if tested.baseline is None:
        start = [f"{_best_run(tested)}; {_effect_of_ties(tested)}.", f"{_number_of_verdicts(tested)}."]
    else:
        start = [f"{_against_baseline(tested)}; {_effect_of_ties(tested)}."]
        start += [f"{_best_mean(tested)}."] if len(tested.first) > 1 else []
    # The sentence about a single pair already says that its runs are identical.
    known = tested.resolutions is not None and len(tested.first) > 1
    identical = described(tested.identical) if known else ""
    limit = tested.procedure.limit(tested.alpha, tested.n_queries, len(tested.first))
    rest = [*(_by_another_measure(each) for each in measures[1:]), identical, limit]
    if tested.baseline is not None and tested.n_queries >= _MANY_QUERIES:
        rest.append(f"With {tested.n_queries:,} queries, small differences are significant; keep says which matter.")
    return " ".join(filter(None, [*start, lacking, *rest]))


def _by_all(measures: Sequence[TestedPairs]) -> str:
    """Say which runs keep the margin by each of several measures."""
    tested, n = measures[0], len(measures)
    if n == 1:
        return ""
    keeps = np.array([[kept.decision == "keeps" for kept in each.kept] for each in measures]).all(axis=0)
    runs = [tested.runs[run] for run in tested.first[keeps]]
    who = f"{_joined(runs)} {'keep' if len(runs) > 1 else 'keeps'}" if runs else "No run is known to keep"
    return f"{who} {tested.margin} of {tested.baseline} by {'both' if n == 2 else f'all {n}'} measures."


def _margins(tested: TestedPairs, margin: Margin) -> str:
    """Say which runs keep the margin, which lose more, and which are open, with the queries that would decide."""
    sides = [margin.allows(kept.estimate, less_is_better=tested.less_is_better) for kept in tested.kept]
    parts = []
    for decision, allowed in (("keeps", True), ("open", True), ("open", False), ("loses", False)):
        some = [i for i, kept in enumerate(tested.kept) if (kept.decision, sides[i]) == (decision, allowed)]
        if not some:
            continue
        who, several = _joined([tested.runs[i] for i in tested.first[some]]), len(some) > 1
        keep, lose = ("keep", "lose") if several else ("keeps", "loses")
        end = f"{keep} {margin}" if allowed else f"{lose} more"
        if decision == "open":
            needed = [n for i in some if (n := tested.kept[i].needed) is not None]
            numbers = _joined([f"{n:,}" for n in needed]) if len(needed) <= _NAMED else f"up to {max(needed):,}"
            it, seen = ("they", "these differences") if several else ("it", "this difference")
            many = f" ({numbers} queries would show that {it} {end}, at {seen})" if len(needed) == len(some) else ""
            parts.append(f"{who} {'are' if several else 'is'} open{many}")
        else:
            parts.append(f"{who} {end}{f' of {tested.baseline}' if allowed else ''}")
    keeps = any(kept.decision == "keeps" for kept in tested.kept)
    none = "" if keeps else f"no run is known to keep {margin} of {tested.baseline}: "
    return f"By {tested.measure}, {none}{'; '.join(parts)}.{_ties_at_the_margin(tested)}"


def _ties_at_the_margin(tested: TestedPairs) -> str:
    """Say for which runs an order of ties changes whether they keep the margin; "" if that is unknown."""
    if tested.turned is None:
        return ""
    as_far = AS_FAR if tested.is_cut is not False else ""
    for flips, what in ((1, "An order of the tied documents can change that for"), (-1, "Ties may change that for")):
        runs = [tested.runs[i] for i in tested.first[tested.turned == flips]]
        if runs:
            return f" {what} {_joined(runs)}{as_far}."
    return f" No order of the tied documents changes that{as_far}."


def _joined(names: Sequence[str]) -> str:
    """Return a few names with commas and "and", or the number of many."""
    if len(names) > 2 * _NAMED:
        return f"{len(names)} runs"
    return joined(names)


def _only_run(tested: TestedPairs) -> str:
    """Say whether the only run is better or worse than the baseline by a measure, and by how much."""
    run, baseline = tested.runs[tested.first[0]], tested.baseline
    kinds = "does not differ significantly from", "is significantly better than", "is significantly worse than"
    kind = kinds[int(np.sign(tested.better[0]))]
    before, after = (significant(float(tested.means[i[0]])) for i in (tested.second, tested.first))
    p = f"{tested.procedure.p_name} = {significant(float(tested.adjusted[0]))}"
    difference = float(tested.test.difference[0])
    change = f"{'-' if difference < 0 else '+'}{significant(abs(difference))}"
    return f"{run} {kind} {baseline} by {tested.measure}: {change} ({before} → {after}, {p})"


def _best_run(tested: TestedPairs) -> str:
    """Say which run is best, how sure its mean is, how many runs it beats, and which it does not beat."""
    means, best, others = tested.means, int(tested.order[0]), len(tested.runs) - 1
    if (n_best := _number_of_best(tested)) > 1:
        who = "Both runs" if n_best == 2 and others == 1 else f"{n_best} of {others + 1} runs"
        return f"{who} share the {_extreme(tested)}, {significant(means[best])}"
    beaten = tested.beaten()[best]
    beats = int(beaten.sum())
    if beats == others:
        which = "the other run" if others == 1 else "both other runs" if others == 2 else f"all other {others} runs"
    else:
        which = "the other run" if others == 1 else f"{beats or 'any'} of the other {others} runs"
    better = "is significantly better than" if beats else "is not significantly better than"
    equal = [run for i, run in enumerate(tested.runs) if i != best and not beaten[i]] if beats else []
    but = f", but not than {_listed(equal)}" if equal else ""
    low, high = (significant(float(end[best])) for end in tested.ends)
    mean = f"{significant(means[best])} ({tested.confidence:.0%} interval {low} to {high})"
    return f"{tested.runs[best]} has the {_extreme(tested)}, {mean}, and {better} {which}{but}"


def _number_of_best(tested: TestedPairs) -> int:
    """Return how many runs have the best mean."""
    return int((tested.means == tested.means[tested.order[0]]).sum())


def _listed(runs: Sequence[str]) -> str:
    """Return a few names with commas and "or", or the number of many."""
    if len(runs) > _NAMED:
        return f"{len(runs)} of them"
    return f"{', '.join(runs[:-1])} or {runs[-1]}" if len(runs) > 1 else runs[0]


def _extreme(tested: TestedPairs) -> str:
    return f"{'lowest' if tested.less_is_better else 'highest'} mean {tested.measure}"


def _best_mean(tested: TestedPairs) -> str:
    best = tested.means[tested.order[0]]
    names = [run for run, mean in zip(tested.runs, tested.means, strict=True) if mean == best]
    return f"{_joined(names)} {'has' if len(names) == 1 else 'have'} the {_extreme(tested)}, {significant(best)}"


def _number_of_verdicts(tested: TestedPairs) -> str:
    if len(tested.first) == 1:
        difference, p = abs(float(tested.test.difference[0])), float(tested.adjusted[0])
        return f"The difference of {significant(difference)} has {tested.procedure.p_name} = {significant(p)}"
    n = int((tested.signs != 0.0).sum())
    return f"{n} of {len(tested.first)} pairs of runs differ significantly ({_level(tested)})"


def _against_baseline(tested: TestedPairs) -> str:
    """Say how many runs are significantly better and worse than the baseline, with the names of a few."""
    if (n := len(tested.first)) == 1:
        return _only_run(tested)
    better, worse = (np.flatnonzero(sign * tested.better > 0.0) for sign in (1.0, -1.0))
    if not len(better) + len(worse):
        return f"By {tested.measure}, none of {n} runs differs significantly from {tested.baseline} ({_level(tested)})"
    return (
        f"By {tested.measure}, {len(better)} of {n} runs{_few(tested, better)} "
        f"{'is' if len(better) == 1 else 'are'} significantly better than {tested.baseline}, and "
        f"{len(worse)}{_few(tested, worse)} {'is' if len(worse) == 1 else 'are'} significantly worse "
        f"({_level(tested)})"
    )


def _few(tested: TestedPairs, pairs: Integers, most: int = _NAMED) -> str:
    """Return the names of a few pairs, beside a baseline those of the runs, in parentheses; "" if they are many."""
    first, second = ([tested.runs[i] for i in each[pairs]] for each in (tested.first, tested.second))
    names = first if tested.baseline is not None else [f"{a} and {b}" for a, b in zip(first, second, strict=True)]
    return f" ({', '.join(names)})" if 0 < len(names) <= most else ""


def _level(tested: TestedPairs) -> str:
    return f"{tested.procedure.p_name} below {tested.alpha:g}"


def _by_another_measure(tested: TestedPairs) -> str:
    if tested.baseline is not None:
        return f"{_against_baseline(tested)}; {_effect_of_ties(tested)}."
    best = int(tested.order[0])
    n, n_best = int((tested.signs != 0.0).sum()), _number_of_best(tested)
    who = f"{tested.runs[best]} is the best" if n_best == 1 else f"{n_best} runs share the best mean"
    if len(tested.first) == 1:
        found = f"with {tested.procedure.p_name} = {significant(float(tested.adjusted[0]))}"
    else:
        found = f"and {n} of {len(tested.first)} pairs differ significantly"
    return f"By {tested.measure}, {who}, {found}; {_effect_of_ties(tested)}."


def _effect_of_ties(tested: TestedPairs) -> str:
    """Say how many signs and verdicts the order of tied documents can change."""
    effect = tested.resolutions
    if effect is None:
        return "the effect of ties is unknown: the results have no spread"
    as_far = AS_FAR if tested.is_cut is not False else ""
    if len(tested.first) == 1 and tested.identical:
        return "the two runs have the same documents and scores"
    if len(tested.first) == 1:
        return f"{_effect_on_the_pair(tested, effect)}{as_far}"
    kinds = effect.sign_flips, effect.verdict_flips == 1, effect.verdict_flips == -1
    signs, verdicts, n_open = (int(kind.sum()) for kind in kinds)
    if not signs + verdicts + n_open:
        return f"no order of the tied documents changes a sign or a verdict{as_far}"
    changes = [f"reverse {counted(signs, 'difference')}"] if signs else []
    flips = f"{counted(verdicts, 'pair')}{_few(tested, np.flatnonzero(effect.verdict_flips == 1), _FLIPPED)}"
    changes += [f"change the verdict of {flips}"] if verdicts else []
    text = f"orders of the tied documents can {' and '.join(changes)}" if changes else ""
    if not n_open:
        return f"{text if verdicts else f'{text}, but change no verdict'}{as_far}"
    unknown = f"for {counted(n_open, 'pair')}, it is not known whether ties can change the verdict"
    return f"{text}; {unknown}{as_far}" if text else f"{unknown}{as_far}"


def _effect_on_the_pair(tested: TestedPairs, effect: Resolutions) -> str:
    """Say whether the order of tied documents can change the sign and the verdict of the only pair."""
    reverses, changes = bool(effect.sign_flips[0]), int(effect.verdict_flips[0])
    order, reversal = "order of the tied documents", "reverse the difference"
    if changes < 0:
        start = f"an {order} can {reversal}, but " if reverses else ""
        return f"{start}it is not known whether {'one' if reverses else f'an {order}'} can change the verdict"
    if not changes:
        return f"an {order} can {reversal}, but none changes the verdict" if reverses else (
            f"no {order} reverses the difference or changes the verdict"
        )  # fmt: skip
    becomes = "significant" if not tested.signs[0] else "not significant"
    # A significant difference with a sign that can change may also become significant in the other direction.
    change = "change the verdict" if tested.signs[0] and reverses else f"make it {becomes}"
    return f"orders of the tied documents can {f'{reversal} or ' if reverses else ''}{change}"
