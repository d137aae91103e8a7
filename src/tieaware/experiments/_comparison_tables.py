"""The tables of the comparison experiment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tieaware.experiments._comparison_figures import TestedPairs
from tieaware.output.tables import Cell, Table, counted
from tieaware.statistics.letter_display import groups, letters

_UNKNOWN = "–: unknown."


def runs_and_wins(title: str, measures: Sequence[TestedPairs]) -> Table:
    """Return a row for each run and measure: its mean, and the runs that it beats."""
    rows = [row for tested in measures for row in _wins_of(tested)]
    tested = measures[0]
    ends = f"{tested.confidence:.0%} from", f"{tested.confidence:.0%} to"
    columns = ("measure", "run", "mean", *ends, "groups", "beats", "lost to", "p at most", "ties flip", "whom it beats")
    of_means = (
        f"{ends[0]}, {ends[1]}: the interval of the mean over queries (Student's t). groups: the tests separate no two "
        "runs that share a letter."
    )
    of_tests = (
        f"beats, lost to: the number of other runs that are significantly worse, or better ({tested.described}). p at "
        f"most: the largest p among the beaten runs ({tested.p_name}). ties flip: for how many of the other runs an "
        "order of the tied documents changes the verdict, or may; –: unknown."
    )
    if not any(row[6] for row in rows):
        of_tests = f"No run beats another significantly ({tested.described})."
    return Table(title, columns, rows, (of_tests, of_means, *_notes_on_ties(measures)))


def _notes_on_ties(measures: Sequence[TestedPairs]) -> tuple[str, ...]:
    return max((tested.notes_on_ties for tested in measures), key=len)


def _wins_of(tested: TestedPairs) -> list[tuple[Cell, ...]]:
    n, beaten = len(tested.runs), tested.beaten()
    p, flips = np.zeros((n, n)), np.zeros((n, n), dtype=bool)
    p[tested.first, tested.second] = p[tested.second, tested.first] = tested.adjusted
    if tested.resolutions is not None:
        by_pair = tested.resolutions.verdict_flips != 0
        flips[tested.first, tested.second] = flips[tested.second, tested.first] = by_pair
    rows: list[tuple[Cell, ...]] = []
    shared = letters(groups(beaten, -tested.means if tested.less_is_better else tested.means), n)
    low, high = tested.ends
    for run in tested.order:
        whom = tested.order[beaten[run, tested.order]]
        rows.append(
            (
                tested.measure, tested.runs[run], float(tested.means[run]), float(low[run]), float(high[run]),
                shared[run], len(whom), int(beaten[:, run].sum()),
                float(p[run, whom].max()) if whom.size else None,
                int(flips[run].sum()) if tested.resolutions is not None else None,
                ", ".join(tested.runs[i] for i in whom),
            )
        )  # fmt: skip
    return rows


def runs_and_baseline(title: str, measures: Sequence[TestedPairs]) -> Table:
    """Return a row for each run and measure: its mean, and its difference from the baseline with the verdict."""
    rows: list[tuple[Cell, ...]] = []
    for tested in measures:
        pairs = dict(zip(tested.first.tolist(), range(len(tested.first)), strict=True))
        for run in tested.order.tolist():
            start = (tested.measure, tested.runs[run], float(tested.means[run]))
            if run not in pairs:
                rows.append((*start, None, None, "baseline", None))
                continue
            i = pairs[run]
            better = tested.better[i]
            verdict = "better" if better > 0 else "worse" if better < 0 else "not significant"
            flips = None if tested.resolutions is None else _flips(tested, i)
            rows.append((*start, float(tested.test.difference[i]), float(tested.adjusted[i]), verdict, flips))
    columns = ("measure", "run", "mean", "difference", "p", "verdict", "ties flip")
    notes = (
        f"difference: of the mean from that of {measures[0].baseline}. p: {measures[0].p_name}. verdict: better or "
        f"worse if the difference is significant ({measures[0].described}). ties flip: {_FLIPS}; –: unknown.",
    )
    return Table(title, columns, rows, (*notes, *_notes_on_ties(measures)))


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
    return ("no", "yes", "open")[tested.resolutions.verdict_flips[i]]


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
