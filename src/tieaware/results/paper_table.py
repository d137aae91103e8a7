"""The table of results for a paper: runs × measures, with the best means in bold.

Letters after a mean name the runs that the run of this row beats significantly.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase
from typing import NamedTuple

import numpy as np

from tieaware.checks.arguments import did_you_mean, flag, number, one_of, shown, whole_number
from tieaware.checks.arrays import Values
from tieaware.errors import InputError
from tieaware.measures import Measure
from tieaware.output.tables import Cell, Marked, Note, Table
from tieaware.results.exports import Column, Export
from tieaware.statistics.multiple_comparisons import holm
from tieaware.statistics.paired_tests import paired_test
from tieaware.statistics.values import ROUNDING

# How the notes of a table name the tests of statistics.paired_test.
TESTS = {
    "t": "paired t-test", "wilcoxon": "Wilcoxon signed-rank test", "sign": "sign test",
    "permutation": "paired permutation test", "none": "",
}  # fmt: skip
CORRECTIONS = {"holm": ", Holm-corrected for {n}", "none": ", not corrected for {n}"}
# For each choice of spread: the kinds of columns shown beside a mean, the format of their numbers, and the note.
SPREADS = {
    "std": (("std",), "± {}", "±: the standard deviation of the mean over the orders of tied documents."),
    "range": (("min", "max"), "[{}, {}]", "In brackets: the range of the mean over the orders of tied documents."),
}


class Design(NamedTuple):
    """The design of the table: parameters as for `tieaware.Results.table`."""

    baseline: str | None = None
    test: str = "t"
    correction: str = "holm"
    alpha: float = 0.05
    best: bool = True
    digits: int = 3
    spread: str | None = None

    def checked(self) -> Design:
        """Return the design in plain Python types; raise InputError if an argument is not valid."""
        one_of("test", self.test, TESTS)
        one_of("correction", self.correction, CORRECTIONS)
        if self.spread is not None:
            one_of("spread", self.spread, SPREADS)
        alpha = number("alpha", self.alpha, 0, 1, ends=False)
        digits = whole_number("digits", self.digits, 0, 17)
        return self._replace(alpha=alpha, best=flag("best", self.best), digits=digits)


def paper_table(export: Export, design: Design) -> Table:
    """Return the table; see `tieaware.Results.table`."""
    design = design.checked()
    is_name = isinstance(design.baseline, str)
    if design.baseline is not None and not (is_name and design.baseline in export.runs):
        hint = did_you_mean(design.baseline, export.runs) if is_name else ""
        raise InputError("baseline", f"there is no run {shown(design.baseline)}{hint}")
    if design.spread is not None and not export.has_spread:
        raise InputError("spread", "the results have no spread; evaluate with the spread first")
    measured = _by_measure(export.columns)
    opponents = _opponents(export, [columns["value"] for columns in measured], design)
    letters = [_letter(i) for i in range(len(export.runs))] if opponents else [""] * len(export.runs)
    named = zip(export.runs, letters, strict=True)
    cells: list[Sequence[Cell]] = [[Marked(run, run, raised=letter) for run, letter in named]]
    for columns in measured:
        beaten = _beaten(columns["value"], opponents, design)
        raised = [_separator(letters).join(letters[i] for i in sorted(losers)) for losers in beaten]
        cells.append(_cells(columns["value"], raised, _beside(columns, design), design))
    values = [columns["value"] for columns in measured]
    notes = _notes(export, values, design, sum(map(len, opponents.values())))
    return Table(export.title, ("run", *(column.name for column in values)), list(zip(*cells, strict=True)), notes)


def _by_measure(columns: Sequence[Column]) -> list[dict[str, Column]]:
    """Group the columns by measure: for each measure, a dict of its columns by kind, such as "value" or "std"."""
    measured: list[dict[str, Column]] = []
    for column in columns:
        if column.kind == "value":
            measured.append({})
        measured[-1][column.kind] = column
    return measured


def _opponents(export: Export, values: Sequence[Column], design: Design) -> dict[int, list[int]]:
    """Return {run: runs that it is compared with}, all by position: every pair once, or each run with the baseline."""
    n = len(export.runs)
    if design.test == "none" or n < 2:
        return {}
    if len(export.queries) < 2:
        raise InputError("test", "significance tests need at least two queries; choose the test 'none'")
    if any(np.isnan(column.values).any() for column in values):
        raise InputError("test", "significance tests need a value of each run on each query; choose the test 'none'")
    if design.baseline is not None:
        baseline = export.runs.index(design.baseline)
        return {baseline: [i for i in range(n) if i != baseline]}
    return {i: list(range(i + 1, n)) for i in range(n - 1)}


def _is_tested(measure: Measure) -> bool:
    """Return whether a measure is tested: the tests compare arithmetic means, so its summary must be one."""
    return measure.definition.summary == "mean"


def _beaten(column: Column, opponents: dict[int, list[int]], design: Design) -> list[set[int]]:
    """Return for each run the set of runs that it beats significantly by one measure, all by position."""
    values, measure = column.values, column.measure
    beaten: list[set[int]] = [set() for _ in values]
    if not opponents or not _is_tested(measure):
        return beaten
    differences, p = _tested(values, opponents, design.test, "two-sided")
    significant = (holm(p) if design.correction == "holm" else p) < design.alpha
    if design.test in ("wilcoxon", "sign"):
        # These tests use ranks or signs, which may favour the run with the smaller mean. Then neither run wins.
        greater = _tested(values, opponents, design.test, "greater")[1] < 0.5
        significant &= greater == (differences > 0.0)
    first_wins = (differences < 0.0) if measure.definition.less_is_better else (differences > 0.0)
    pairs = [(i, other) for i, others in opponents.items() for other in others]
    for k in np.flatnonzero(significant & (differences != 0.0)).tolist():
        winner, loser = pairs[k] if first_wins[k] else pairs[k][::-1]
        beaten[winner].add(loser)
    return beaten


def _tested(values: Values, opponents: dict[int, list[int]], test: str, alternative: str) -> tuple[Values, Values]:
    """Return the differences of the means of all pairs of runs, and their p values."""
    # Test one run against its opponents at a time: the differences of all pairs may not fit into memory.
    tests = [paired_test(values[i], values[others], test, alternative) for i, others in opponents.items()]
    return np.concatenate([each.difference for each in tests]), np.concatenate([each.p for each in tests])


def _cells(column: Column, raised: Sequence[str], beside: Sequence[str], design: Design) -> list[Cell]:
    """Return the cells of one measure: the mean of each run, with bold type, raised letters and the text beside it."""
    summary = column.summary
    best = np.zeros(len(summary), dtype=np.bool_)
    if design.best and len(summary) > 1 and not column.is_count and not np.isnan(summary).all():
        extreme = (np.nanmin if column.measure.definition.less_is_better else np.nanmax)(summary)
        best = np.abs(summary - extreme) <= ROUNDING
    cells = zip(summary.tolist(), best.tolist(), raised, beside, strict=True)
    return [
        None if np.isnan(value) else Marked(value, column.shown(value, design.digits), *marks)
        for value, *marks in cells
    ]


def _beside(columns: dict[str, Column], design: Design) -> list[str]:
    """Return the text beside the mean of each run: the spread of the mean, or nothing where that is not known."""
    kinds, form, _ = SPREADS.get(design.spread or "", ((), "", ""))
    if not kinds or not all(kind in columns for kind in kinds):
        return [""] * len(columns["value"].summary)
    numbers = ([f"{x:.{design.digits}f}" for x in columns[kind].summary] for kind in kinds)
    return [form.format(*each) for each in zip(*numbers, strict=True)]


def _letter(i: int) -> str:
    """Return the letter that marks run i: a … z, then aa, ab and so on."""
    return (_letter(i // 26 - 1) if i >= 26 else "") + ascii_lowercase[i % 26]


def _separator(letters: Sequence[str]) -> str:
    return "," if len(letters) > 26 else ""


def _notes(export: Export, values: Sequence[Column], design: Design, n_pairs: int) -> tuple[str, ...]:
    """Return the notes below the table, which explain the letters, the bold type and the spread."""
    notes = []
    if n_pairs:
        correction = CORRECTIONS[design.correction].format(n=f"{n_pairs} pair{'s' * (n_pairs != 1)}")
        notes.append(
            "Raised letters after a mean: the runs that are significantly worse"
            + (f", compared with {design.baseline} only" if design.baseline is not None else "")
            + f" ({TESTS[design.test]}, two-sided, p < {design.alpha:g}{correction})."
        )
        untested = [column.name for column in values if not _is_tested(column.measure)]
        notes += [f"Not tested: {', '.join(untested)}."] if untested else []
    if design.best and len(export.runs) > 1:
        notes.append(Note("Bold: the best mean of each measure.", plain="Star: the best mean of each measure."))
    return (*notes, *([] if design.spread is None else [SPREADS[design.spread][2]]))
