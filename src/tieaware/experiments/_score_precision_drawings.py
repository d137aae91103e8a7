"""The list of figures of the experiment on score precision, with their captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from tieaware.checks.arrays import Values
from tieaware.experiments._score_precision_figures import Boxes, Changes, Lines, Precisions, Scatter, Variations
from tieaware.experiments._score_precision_pairs import Verdicts
from tieaware.measures import Measure
from tieaware.output.plots import Drawing, file_name
from tieaware.output.tables import counted
from tieaware.precision import Coarsening


class Outcome(Protocol):
    """The part of the outcome of the experiment that the figures show; see `tieaware.experiments.precision`."""

    @property
    def precisions(self) -> Sequence[Coarsening]: ...
    @property
    def runs(self) -> Sequence[str]: ...
    @property
    def measures(self) -> Sequence[Measure]: ...
    @property
    def alpha(self) -> float: ...
    @property
    def axis(self) -> Precisions: ...
    @property
    def runs_by_queries(self) -> str: ...
    @property
    def changed(self) -> Values: ...
    @property
    def worst(self) -> Mapping[tuple[int, int], tuple[float, float]]: ...
    @property
    def pairs(self) -> Verdicts: ...
    @property
    def correlations(self) -> tuple[Values, Values]: ...
    def flat_differences(self) -> Values: ...


def drawings_of(outcome: Outcome) -> dict[str, Drawing]:
    """Return the figures by file name; see the method `drawings` of the outcome."""
    measures = list(enumerate(outcome.measures))
    differences = {f"differences-{file_name(measure)}": _differences(outcome, m, measure) for m, measure in measures}
    changes = {f"changes-{file_name(measure)}": _changes(outcome, m, measure) for m, measure in measures}
    if len(outcome.runs) < 2:
        return differences | changes
    # The figures of all measures come second, after the main one.
    main = dict([next(iter(differences.items()))])
    drawings = main | _lines(outcome) | differences | changes
    for m, measure in measures:
        drawings[f"p-changes-{file_name(measure)}"] = _variations(outcome, m, measure)
    for m, measure in measures:
        drawings[f"p-values-{file_name(measure)}"] = _p_values(outcome, m, measure)
    return drawings


def _differences(outcome: Outcome, m: int, measure: Measure) -> Drawing:
    worst = {p: bounds for (p, i), bounds in outcome.worst.items() if i == m}
    return Drawing(
        f"{measure}: original − coarsened, over {outcome.runs_by_queries}. "
        "Box: quartiles and median; whiskers: 10 % and 90 %; small points: the values beyond; dots: the largest loss "
        f"and gain{'; triangles: the worst case.' if worst else '.'}",
        Boxes(outcome.axis, measure, outcome.flat_differences()[:, m], worst),
        title=f"Loss of {measure} per query",
    )


def _changes(outcome: Outcome, m: int, measure: Measure) -> Drawing:
    return Drawing(
        f"{measure}: the p values of paired t-tests of coarsened against original, a point for each of "
        f"{counted(len(outcome.runs), 'run')}, without correction. Below the dashed line at {outcome.alpha:g}, a run "
        "changes significantly; the numbers at the top count these runs.",
        Changes(outcome.axis, outcome.changed[:, :, m], outcome.alpha),
        title=f"Significance of the changes of {measure} in each run",
    )


def _variations(outcome: Outcome, m: int, measure: Measure) -> Drawing:
    alpha, p_name = outcome.alpha, outcome.pairs.procedure.p_name
    low, high = alpha / 10.0, min(10.0 * alpha, 1.0)
    both = list(zip(*outcome.pairs.corrected, strict=True))
    changed = [old.verdicts(alpha)[m] != new.verdicts(alpha)[m] for old, new in both]
    return Drawing(
        f"{measure}: the factor by which {p_name} of the paired t-test moves, for {outcome.pairs.named}: with "
        f"coarsened scores ÷ with original scores. Orange: all pairs whose verdict at {alpha:g} changes; the numbers "
        f"at the top count them. Box: quartiles and median of the pairs with a p from {low:g} to {high:g} before; "
        "whiskers: 10 % and 90 %; grey: those beyond. Factors above 1,000 are shown as 1,000.",
        Variations(outcome.axis, [old.p[m] for old, _ in both], [new.p[m] for _, new in both], changed, alpha, p_name),
        title=f"Changes of p values between runs by {measure}",
    )


def _p_values(outcome: Outcome, m: int, measure: Measure) -> Drawing:
    before, after = outcome.pairs.corrected
    p_name = outcome.pairs.procedure.p_name
    return Drawing(
        f"{measure}: {p_name} of the paired t-test for {outcome.pairs.named}, with the original "
        f"scores and with {outcome.precisions[-1]}. Dashed: {outcome.alpha}; verdicts vanish in the upper left and "
        "appear in the lower right.",
        Scatter(str(outcome.precisions[-1]), before[-1].p[m], after[-1].p[m], outcome.alpha, p_name),
        (5.6, 5.2),
        f"Verdicts between runs by {measure}, before and after",
    )


def _lines(outcome: Outcome) -> dict[str, Drawing]:
    tau, tau_ap = outcome.correlations
    lines = {
        "verdicts": ("Share of pairs of runs with the same verdict", "same verdicts", outcome.pairs.shares()[0]),
        "tau": ("Kendall's τ_b between the orders of the runs before and after", r"Kendall's $\tau_b$", tau),
        "tau-ap": ("τ_AP,b between the orders of the runs before and after", r"$\tau_{AP,b}$", tau_ap),
    }
    curves = {
        name: Drawing(f"{caption}, by precision.", Lines(outcome.axis, axis, outcome.measures, values), title=caption)
        for name, (caption, axis, values) in lines.items()
    }
    tested = f"Share of {outcome.pairs.named} with the same verdict ({outcome.pairs.described}), by precision."
    curves["verdicts"] = replace(curves["verdicts"], caption=tested)
    return curves
