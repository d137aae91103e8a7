"""The table of a paper: runs × measures, the best in bold, and letters for the runs that a run beats significantly."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tieaware.checks.arguments import did_you_mean, flag, number, one_of, shown, unexpected, whole_number
from tieaware.checks.arrays import Values
from tieaware.measures import Measure
from tieaware.output.tables import Cell, Marked, Table
from tieaware.statistics.paired_tests import holm, paired_test
from tieaware.statistics.values import ROUNDING

if TYPE_CHECKING:
    from tieaware.results._results import Results

# What the methods of statistics.paired_test are called in a note.
TESTS = {
    "t": "paired t-test", "wilcoxon": "Wilcoxon signed-rank test", "sign": "sign test",
    "permutation": "paired permutation test", "none": "",
}  # fmt: skip
CORRECTIONS = {"holm": ", Holm-corrected for {n}", "none": ", not corrected for {n}"}
SPREADS = {
    "std": "±: the standard deviation of the mean over the orders that ties allow.",
    "range": "In brackets: the least and the largest mean that an order of the tied documents gives.",
}


class Design(NamedTuple):
    """What is shown beside the means, and how runs are compared; `tieaware.Results.table` says what each is."""

    baseline: str | None = None
    test: str = "t"
    correction: str = "holm"
    alpha: float = 0.05
    best: bool = True
    digits: int = 3
    spread: str | None = None

    def checked(self) -> Design:
        """Return the same, or raise InputError."""
        one_of("test", self.test, TESTS)
        one_of("correction", self.correction, CORRECTIONS)
        if self.spread is not None:
            one_of("spread", self.spread, SPREADS)
        alpha = number("alpha", self.alpha, 0, 1, ends=False)
        digits = whole_number("digits", self.digits, 0, 17)
        return self._replace(alpha=alpha, best=flag("best", self.best), digits=digits)


def paper_table(results: Results, design: Design) -> Table:
    """Return the table; see `tieaware.Results.table`."""
    design = design.checked()
    is_name = isinstance(design.baseline, str)
    if design.baseline is not None and not (is_name and design.baseline in results.runs):
        hint = did_you_mean(design.baseline, results.runs) if is_name else ""
        raise unexpected("baseline", "one of the runs", f"{shown(design.baseline)}{hint}")
    if design.spread is not None and results.std is None:
        raise unexpected("spread", "results of evaluate(..., spread=True)", "none of a spread")
    opponents = _opponents(results, design)
    letters = [_letter(i) for i in range(len(results.runs))] if opponents else [""] * len(results.runs)
    named = zip(results.runs, letters, strict=True)
    columns: list[Sequence[Cell]] = [[Marked(run, run, raised=letter) for run, letter in named]]
    beside = _beside(results, design)
    for m, summary in enumerate(results.summary().T):
        beaten = _beaten(results.values[:, :, m], results.measures[m], opponents, design)
        raised = [_separator(letters).join(letters[i] for i in sorted(losers)) for losers in beaten]
        columns.append(_cells(summary, results.measures[m], raised, beside[m], design))
    notes = _notes(results, design, sum(map(len, opponents.values())))
    return Table(results.title, ("run", *results.names), list(zip(*columns, strict=True)), notes)


def _opponents(results: Results, design: Design) -> dict[int, list[int]]:
    """With which others a run is compared, by position: each two runs once, or each with the baseline; or none."""
    n = len(results.runs)
    if design.test == "none" or n < 2:
        return {}
    if len(results.queries) < 2:
        raise unexpected("test", "'none' where there are fewer than two queries", repr(design.test))
    if np.isnan(results.values).any():
        raise unexpected("test", "'none' where a run has no value of a query, as in queries='both'", repr(design.test))
    if design.baseline is not None:
        baseline = results.runs.index(design.baseline)
        return {baseline: [i for i in range(n) if i != baseline]}
    return {i: list(range(i + 1, n)) for i in range(n - 1)}


def _is_tested(measure: Measure) -> bool:
    """Whether the tests, which are of arithmetic means, say something about its summary."""
    return measure.definition.summary == "mean"


def _beaten(values: Values, measure: Measure, opponents: dict[int, list[int]], design: Design) -> list[set[int]]:
    """Which runs each run beats significantly: values are float64[n_runs, n_queries]."""
    beaten: list[set[int]] = [set() for _ in values]
    if not opponents or not _is_tested(measure):
        return beaten
    differences, p = _tested(values, opponents, design.test, "two-sided")
    significant = (holm(p) if design.correction == "holm" else p) < design.alpha
    if design.test in ("wilcoxon", "sign"):
        # They go by ranks and signs, which may speak for the run whose mean is less.
        greater = _tested(values, opponents, design.test, "greater")[1] < 0.5
        significant &= greater == (differences > 0.0)
    first_wins = (differences < 0.0) if measure.definition.less_is_better else (differences > 0.0)
    pairs = [(i, other) for i, others in opponents.items() for other in others]
    for k in np.flatnonzero(significant & (differences != 0.0)).tolist():
        winner, loser = pairs[k] if first_wins[k] else pairs[k][::-1]
        beaten[winner].add(loser)
    return beaten


def _tested(values: Values, opponents: dict[int, list[int]], test: str, alternative: str) -> tuple[Values, Values]:
    """The differences of the means of all pairs, and their p values."""
    # A run and its opponents at a time: all differences of all pairs may be too large for the memory.
    tests = [paired_test(values[i], values[others], test, alternative) for i, others in opponents.items()]
    return np.concatenate([each.difference for each in tests]), np.concatenate([each.p for each in tests])


def _cells(
    summary: Values, measure: Measure, raised: Sequence[str], beside: Sequence[str], design: Design
) -> list[Cell]:
    """The cells of a measure: its means, and what marks them."""
    is_count = measure.definition.is_count
    best = np.zeros(len(summary), dtype=np.bool_)
    if design.best and len(summary) > 1 and not is_count and not np.isnan(summary).all():
        best = np.abs(summary - (np.nanmin if measure.definition.less_is_better else np.nanmax)(summary)) <= ROUNDING
    digits = 0 if is_count else design.digits
    cells = zip(summary.tolist(), best.tolist(), raised, beside, strict=True)
    return [None if np.isnan(value) else Marked(value, f"{value:.{digits}f}", *marks) for value, *marks in cells]


def _beside(results: Results, design: Design) -> list[list[str]]:
    """What ties leave open of the means of each measure; nothing where it is not known, and of counts."""
    if design.spread is None:
        return [[""] * len(results.runs)] * len(results.names)
    numbers = {column.name: [f"{x:.{design.digits}f}" for x in column.summary] for column in results.columns()}
    form, kinds = {"std": ("± {}", ("std",)), "range": ("[{}, {}]", ("min", "max"))}[design.spread]
    beside = []
    for name in results.names:
        known = zip(*(numbers.get(f"{name}_{kind}", ()) for kind in kinds), strict=True)
        beside.append([form.format(*each) for each in known] or [""] * len(results.runs))
    return beside


def _letter(i: int) -> str:
    """The letter of a run: a … z, aa, ab and so on."""
    return (_letter(i // 26 - 1) if i >= 26 else "") + ascii_lowercase[i % 26]


def _separator(letters: Sequence[str]) -> str:
    return "," if len(letters) > 26 else ""


def _notes(results: Results, design: Design, n_pairs: int) -> tuple[str, ...]:
    """How the table is read."""
    notes = []
    if n_pairs:
        correction = CORRECTIONS[design.correction].format(n=f"{n_pairs} pair{'s' * (n_pairs != 1)}")
        notes.append(
            "Raised letters: the runs that a run beats significantly"
            + (f", compared with {design.baseline} alone" if design.baseline is not None else "")
            + f" ({TESTS[design.test]}, two-sided, p < {design.alpha:g}{correction})."
        )
        pairs = zip(results.names, results.measures, strict=True)
        untested = [name for name, measure in pairs if not _is_tested(measure)]
        notes += [f"Not tested: {', '.join(untested)}."] if untested else []
    if design.best and len(results.runs) > 1:
        notes.append("Bold, in plain text a star: the best of a measure.")
    return (*notes, *([] if design.spread is None else [SPREADS[design.spread]]))
