"""The table of results for a paper: runs × measures, with the best means in bold and significant differences marked.

Up to ten runs are compared with each other: letters after a mean name the runs that the run of this row beats. With a
baseline, and with more runs, each run is compared with one: daggers after a mean, the difference, and the p value. With
`groups`, runs of any number are compared with each other, and runs that share a letter are not separated.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from tieaware.checks.arguments import flag, number, one_of, whole_number
from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import merged
from tieaware.errors import InputError
from tieaware.output.tables import Cell, Marked, Note, Table, counted
from tieaware.results.exports import Export, ExportColumn, caption_of, label_of
from tieaware.statistics.intervals import mean_interval
from tieaware.statistics.letter_display import groups, letters
from tieaware.statistics.mean_changes import Margin, margin_of
from tieaware.statistics.multiple_comparisons import Correction
from tieaware.statistics.procedures import CORRECTIONS, TESTS, Procedure, Test, Verdicts, checked, pairs_of
from tieaware.statistics.ranks_of_systems import rank_intervals

Beside: TypeAlias = Literal["std", "range", "interval"]

# For each choice of what is beside a mean: the kinds of columns, the format of their numbers, and the note.
BESIDE = {
    "std": (("std",), "± {}", "±: the standard deviation of the mean over the orders of tied documents."),
    "range": (("min", "max"), "[{}, {}]", "In brackets: the range of the mean over the orders of tied documents."),
    "interval": ((), "", "In brackets: the interval of the mean over queries (Student's t, level 0.95)."),
}
# More runs are compared with a baseline: letters for all of them would be hard to read.
_MOST_LETTERS = 10
# The marks of runs that are significantly better and worse than the baseline.
_BETTER, _WORSE = "†", "‡"


class Design(NamedTuple):
    """The design of the table: parameters as for `tieaware.Results.table`."""

    baseline: str | None = None
    test: Test = "t"
    correction: Correction | None = None
    alpha: float = 0.05
    best: bool = True
    digits: int = 3
    spread: Beside | None = None
    groups: bool = False
    keep: float | str | None = None
    tolerance: float | None = None

    def checked(self) -> Design:
        """Return the design in plain Python types; raise InputError if an argument is not valid."""
        one_of("test", self.test, (*TESTS, "none"))
        if self.correction is not None:
            one_of("correction", self.correction, CORRECTIONS)
        if self.test != "none":
            checked(self.test, self.correction)
        if self.spread is not None:
            one_of("spread", self.spread, BESIDE)
        alpha = number("alpha", self.alpha, 0, 1, ends=False)
        digits = whole_number("digits", self.digits, 0, 17)
        groups = flag("groups", self.groups)
        _ = self.margin
        if groups and (self.baseline is not None or self.test == "none"):
            raise InputError("groups", "needs a test of all pairs of runs: leave out the baseline, and choose a test")
        return self._replace(alpha=alpha, best=flag("best", self.best), digits=digits, groups=groups)

    @property
    def margin(self) -> Margin | None:
        """The margin within which runs keep the mean of the baseline; None without one."""
        return margin_of(self.keep, self.tolerance, self.baseline)

    @property
    def procedure(self) -> Procedure | None:
        """The test and the correction; None if nothing is tested."""
        return None if self.test == "none" else checked(self.test, self.correction)


class _Plan(NamedTuple):
    """The pairs of runs that are compared, by position.

    Attributes
    ----------
    first, second : int64[n_pairs]
        The pairs in the family of tests.
    baseline : int or None
        The run with which the table compares the others; None if it compares all runs with each other.
    reason : str
        Why this run is the baseline, if the caller has not chosen it.
    """

    first: Integers
    second: Integers
    baseline: int | None = None
    reason: str = ""


class _Tested(NamedTuple):
    """One measure with its comparisons, for the notes and cells.

    Attributes
    ----------
    marks : list of str
        The raised marks after the mean of each run.
    difference, p : float64[n_runs] or None
        The difference of each run from the baseline, and the corrected p value; NaN for the baseline itself.
    disagrees : bool
        Whether a test is significant, but favours the run with the worse mean.
    ranked : bool
        Whether the marks are ranks instead of letters.
    """

    marks: list[str]
    difference: Values | None = None
    p: Values | None = None
    disagrees: bool = False
    ranked: bool = False


def paper_table(export: Export, design: Design) -> Table:
    """Return the table; see `tieaware.Results.table`."""
    design = design.checked()
    # An unknown baseline is an error even if nothing is tested.
    first, second = pairs_of(export.runs, design.baseline)
    if design.spread in ("std", "range") and not export.has_spread:
        raise InputError("spread", "the results have no spread; evaluate with spread=True")
    measured = _by_measure(export.columns)
    values = [columns["value"] for columns in measured]
    if design.spread == "interval" and (len(export.queries) < 2 or any(np.isnan(each.values).any() for each in values)):
        raise InputError("spread", "intervals need at least two queries, and a value of each run on each query")
    plan = _planned(export, values, design, first, second)
    n = len(export.runs)
    has_letters = plan is not None and plan.baseline is None and not design.groups
    names_of_runs = list(ascii_lowercase[:n]) if has_letters else [""] * n
    names = ["run"]
    named = zip(export.runs, names_of_runs, strict=True)
    columns: list[Sequence[Cell]] = [[Marked(run, run, raised=letter) for run, letter in named]]
    found = [_tested(column, plan, names_of_runs, design) for column in values]
    for column, by_kind, tested in zip(values, measured, found, strict=True):
        names.append(column.name)
        columns.append(_cells(column, tested.marks, _beside(by_kind, design), design))
        if tested.difference is not None:
            names.append(f"Δ {column.name}")
            columns.append(_differences(tested.difference, design))
        if tested.p is not None:
            names.append(f"p {column.name}")
            columns.append(_p_values(tested.p, design.alpha))
        if design.margin is not None and tested.difference is not None and plan is not None:
            names.append(f"keeps {column.name}")
            columns.append(_kept(column, plan, design.margin))
    notes = _notes(export, values, design, plan, found)
    rows = list(zip(*columns, strict=True))
    caption = f"{caption_of(export)}{_tested_sentence(export, design, plan)}"
    return Table(export.title, tuple(names), rows, notes, caption=caption, label=_label(export, design))


def _by_measure(columns: Sequence[ExportColumn]) -> list[dict[str, ExportColumn]]:
    """Group the columns by measure: for each measure, a dict of its columns by kind, such as "value" or "std"."""
    measured: list[dict[str, ExportColumn]] = []
    for column in columns:
        if column.kind == "value":
            measured.append({})
        measured[-1][column.kind] = column
    return measured


def _planned(
    export: Export, values: Sequence[ExportColumn], design: Design, first: Integers, second: Integers
) -> _Plan | None:
    """Return the given pairs of runs as those to compare; None if none are."""
    n = len(export.runs)
    if n < 2 or (design.procedure is None and design.baseline is None):
        return None
    if design.procedure is not None:
        _check_testable(export, values)
    tested = [column for column in values if column.is_tested]
    if not tested:
        return None
    if design.baseline is not None:
        return _Plan(first, second, export.runs.index(design.baseline))
    if n <= _MOST_LETTERS or design.groups:
        return _Plan(first, second)
    # The results determine the baseline, so the correction is for all pairs.
    column, less_is_better = tested[0], tested[0].measure.definition.less_is_better
    # Several runs may have the best mean: then the first of them is the baseline.
    best = int((np.argmin if less_is_better else np.argmax)(merged(column.summary)))
    return _Plan(
        first, second, best, f"the run with the {'lowest' if less_is_better else 'highest'} mean {column.name}"
    )


def _check_testable(export: Export, values: Sequence[ExportColumn]) -> None:
    """Raise InputError if the results cannot be tested."""
    if len(export.queries) < 2:
        raise InputError("test", "significance tests need at least two queries; choose the test 'none'")
    if any(np.isnan(column.values).any() for column in values):
        raise InputError("test", "significance tests need a value of each run on each query; choose the test 'none'")


def _tested(column: ExportColumn, plan: _Plan | None, names: Sequence[str], design: Design) -> _Tested:
    """Test the pairs of runs by one measure, and return the marks and numbers for the table."""
    n = len(column.summary)
    if plan is None or not column.is_tested:
        return _Tested([""] * n)
    procedure = design.procedure
    if procedure is None:
        return _Tested([""] * n, _from_baseline(plan, column.summary[plan.first] - column.summary[plan.second], n))
    found = procedure.verdicts(column.values, plan.first, plan.second, design.alpha)
    better = -found.signs if column.measure.definition.less_is_better else found.signs
    disagrees = bool(((found.adjusted <= design.alpha) & (found.signs == 0.0) & (found.test.difference != 0.0)).any())
    if design.groups:
        return _of_groups(column, plan, better, design.alpha)._replace(disagrees=disagrees)
    if plan.baseline is None:
        return _Tested(_beaten(plan, better, names), disagrees=disagrees)
    return _marked(plan, found, better, n, disagrees)


def _marked(plan: _Plan, found: Verdicts, better: Values, n: int, disagrees: bool) -> _Tested:
    """Return the daggers, the differences from the baseline and the p values of all runs."""
    assert plan.baseline is not None
    turned = np.where(plan.first == plan.baseline, -1.0, 1.0)
    signs = _from_baseline(plan, better * turned, n)
    marks = [_BETTER if sign > 0.0 else _WORSE if sign < 0.0 else "" for sign in signs.tolist()]
    difference = _from_baseline(plan, found.test.difference * turned, n)
    return _Tested(marks, difference, _from_baseline(plan, found.adjusted, n), disagrees)


def _from_baseline(plan: _Plan, of_pairs: Values, n: int) -> Values:
    """Return for each run the element of `of_pairs` for its pair with the baseline; NaN for the baseline itself."""
    of_runs = np.full(n, np.nan)
    for runs, opponents in ((plan.first, plan.second), (plan.second, plan.first)):
        some = opponents == plan.baseline
        of_runs[runs[some]] = of_pairs[some]
    return of_runs


def _beaten(plan: _Plan, better: Values, names: Sequence[str]) -> list[str]:
    """Return for each run the letters of the runs that it beats significantly."""
    raised = [""] * len(names)
    for i, other, sign in sorted(zip(plan.first.tolist(), plan.second.tolist(), better.tolist(), strict=True)):
        if sign:
            winner, loser = (i, other) if sign > 0.0 else (other, i)
            raised[winner] += names[loser]
    return ["".join(sorted(each)) for each in raised]


def _of_groups(column: ExportColumn, plan: _Plan, better: Values, alpha: float) -> _Tested:
    """Return the letters of each run's groups, whose runs no test separates; a is the group with the best run.

    If the letters from a to z are too few, return the ranks that each run may have.
    """
    n = len(column.summary)
    separated = np.zeros((n, n), dtype=np.bool_)
    separated[plan.first, plan.second] = better != 0.0
    larger_is_better = -column.summary if column.measure.definition.less_is_better else column.summary
    found = groups(separated, larger_is_better)
    if len(found) <= len(ascii_lowercase):
        return _Tested(letters(found, n))
    ranks = rank_intervals(column.larger_is_better, level=1.0 - alpha)
    ends = zip(ranks.low.tolist(), ranks.high.tolist(), strict=True)
    return _Tested([f"{low}–{high}" for low, high in ends], ranked=True)


def _cells(column: ExportColumn, raised: Sequence[str], beside: Sequence[str], design: Design) -> list[Cell]:
    """Return the cells of one measure: the mean of each run, with bold type, raised letters and the text beside it."""
    summary = column.summary
    best = np.zeros(len(summary), dtype=np.bool_)
    if design.best and len(summary) > 1 and not column.is_count and not np.isnan(summary).all():
        means = merged(summary)
        best = means == (np.nanmin if column.measure.definition.less_is_better else np.nanmax)(means)
    cells = zip(summary.tolist(), best.tolist(), raised, beside, strict=True)
    return [
        None if np.isnan(value) else Marked(value, column.shown(value, design.digits), *marks)
        for value, *marks in cells
    ]


def _beside(columns: dict[str, ExportColumn], design: Design) -> list[str]:
    """Return the text beside the mean of each run: its spread or interval, or nothing where that is not known."""
    if design.spread == "interval" and columns["value"].is_tested:
        found = mean_interval(columns["value"].values)
        ends = zip(*_within_range(columns["value"], found.low, found.high), strict=True)
        return [f"[{low:z.{design.digits}f}, {high:z.{design.digits}f}]" for low, high in ends]
    kinds, form, _ = BESIDE.get(design.spread or "", ((), "", ""))
    if not kinds or not all(kind in columns for kind in kinds):
        return [""] * len(columns["value"].summary)
    numbers = ([f"{x:z.{design.digits}f}" for x in columns[kind].summary] for kind in kinds)
    return [form.format(*each) for each in zip(*numbers, strict=True)]


def _within_range(column: ExportColumn, low: Values, high: Values) -> list[list[float]]:
    """Cut intervals at the ends of the measure's range. Values that leave it, as differences do, have no range."""
    least, greatest = column.measure.definition.limits
    if least <= column.values.min() and column.values.max() <= greatest:
        low, high = np.maximum(low, least), np.minimum(high, greatest)
    return [low.tolist(), high.tolist()]


def _differences(differences: Values, design: Design) -> list[Cell]:
    """Return the cells of the differences from the baseline."""
    return [None if np.isnan(x) else Marked(x, f"{x:+z.{design.digits}f}") for x in differences.tolist()]


def _p_values(p: Values, alpha: float) -> list[Cell]:
    """Return the cells of p values."""
    return [None if np.isnan(x) else Marked(x, _shown_p(x, alpha)) for x in p.tolist()]


def _kept(column: ExportColumn, plan: _Plan, margin: Margin) -> list[Cell]:
    """Return for each run whether it keeps the baseline's mean up to a margin: yes, no, or how many queries decide."""
    assert plan.baseline is not None
    base, less = column.values[plan.baseline], column.measure.definition.less_is_better
    cells: list[Cell] = []
    for i, values in enumerate(column.values):
        found = margin.kept(base, values, less_is_better=less)
        many = "" if found.needed is None else f" ({found.needed:,} queries)"
        shown = {"keeps": "yes", "loses": "no", "open": f"open{many}"}[found.decision]
        cells.append(None if i == plan.baseline else shown)
    return cells


def _shown_p(p: float, alpha: float) -> str:
    """Format a p value with three decimals, or more if rounding would move it across the significance level."""
    least = 0.001
    if p < min(least, alpha):
        return f"<{min(least, alpha):g}"
    decimals = next((n for n in range(3, 17) if (float(f"{p:.{n}f}") <= alpha) == (p <= alpha)), 17)
    return f"{p:.{decimals}f}"


def _label(export: Export, design: Design) -> str:
    """Return the label: that of the results, with the choices of the design that are not defaults."""
    against = [] if design.baseline is None else [f"vs {design.baseline}"]
    given = [each for each in (design.test, design.correction) if each not in ("t", "holm", None)]
    return label_of(export, *against, *given, *([] if design.spread is None else [design.spread]))


def _tested_sentence(export: Export, design: Design, plan: _Plan | None) -> str:
    """Return a sentence for the caption that says which runs are compared, and by which test; or ""."""
    if plan is None or design.procedure is None:
        return ""
    runs = "All runs are compared with each other" if plan.baseline is None else (
        f"Each run is compared with {export.runs[plan.baseline]}"
    )  # fmt: skip
    article = "" if design.test == "tukey" else "the " if design.test == "randomised-tukey" else "a "
    return f" {runs} by {article}{_described(export, design.procedure, design.alpha, plan)}."


def _described(export: Export, procedure: Procedure, alpha: float, plan: _Plan) -> str:
    family = f"all {counted(len(plan.first), 'pair')} of runs" if plan.reason else counted(len(plan.first), "pair")
    return procedure.described(alpha, family, len(export.runs))


def _notes(
    export: Export, values: Sequence[ExportColumn], design: Design, plan: _Plan | None, found: Sequence[_Tested]
) -> tuple[str, ...]:
    """Return the notes below the table, which explain the marks, the bold type and the spread."""
    has_ranks = any(tested.ranked for tested in found)
    notes: list[str] = [] if plan is None else _of_comparisons(export, design, plan, has_ranks)
    if any(tested.disagrees for tested in found):
        notes.append("A significant p without a mark: the test and the means disagree on which run is better.")
    untested = [column.name for column in values if not column.is_tested]
    if untested and len(export.runs) > 1 and (plan is not None or design.procedure is not None):
        notes.append(f"Not {'tested' if design.procedure else 'compared'}: {', '.join(untested)}.")
    if design.best and len(export.runs) > 1:
        notes.append(Note("Bold: the best mean of each measure.", plain="Star: the best mean of each measure."))
    if design.margin is not None and plan is not None:
        what, limit = "share of the baseline's mean", str(design.margin)
        if design.tolerance is not None:
            what, limit = "loss of the mean", f"{design.tolerance:g}"
        yes, no = ("above", "below") if design.tolerance is None else ("at most", "above")
        notes.append(
            f"keeps: whether the 95% interval of the {what} is {yes} {limit} (yes), {no} it (no), or neither (open: "
            "the queries that would decide, if the loss is as observed)."
        )
    return (*notes, *([] if design.spread is None else [BESIDE[design.spread][2]]))


def _of_comparisons(export: Export, design: Design, plan: _Plan, has_ranks: bool) -> list[str]:
    """Return the notes on the test, and on the letters or daggers and the columns that it adds."""
    how = _described(export, design.procedure, design.alpha, plan) if design.procedure else ""
    limit = design.procedure.limit(design.alpha, len(export.queries), len(plan.first)) if design.procedure else ""
    limits = [limit] if limit else []
    if design.groups:
        meaning = "Raised letters after a mean: runs that share a letter are not significantly different"
        if has_ranks:
            level = f"level {1.0 - design.alpha:g}"
            meaning += f"; ranks, where 26 letters are too few: those that the run may have ({level})"
        return [_without_test(meaning, how), *limits]
    if plan.baseline is None:
        return [_without_test("Raised letters after a mean: the runs that are significantly worse", how), *limits]
    baseline = f"Baseline: {export.runs[plan.baseline]}{plan.reason and f', {plan.reason}'}."
    difference = "Δ: the difference from the mean of the baseline."
    if design.procedure is None:
        return [baseline, difference]
    is_corrected = design.procedure.corrects or design.procedure.is_of_all_runs
    return [
        baseline,
        _without_test(f"{_BETTER}, {_WORSE}: significantly better, or worse, than the baseline", how),
        f"{difference} p: the p value{' after the correction' if is_corrected else ''}.",
        *limits,
    ]


def _without_test(meaning: str, how: str) -> Note:
    """Return a note that says by which test runs differ, except in LaTeX, where the caption says it."""
    return Note(f"{meaning} ({how}).", latex=f"{meaning}.")
