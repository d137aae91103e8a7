"""The experiment on score precision: how precise do scores need to be? It compares runs before and after coarsening.

`banding` merges ranks into bands of geometrically growing width; `precision` takes any list of coarsenings. Both return
a `Precision`, which answers five questions: how far values move, how many runs change, how many verdicts between runs
change, how well the order of the runs is kept, and how close the largest observed loss is to the worst case.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number, sequence, shown, unexpected
from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import first_greatest, rounding_of, without_rounding
from tieaware.defaults import PRECISION_MEASURES, RHOS
from tieaware.engine.views import View
from tieaware.errors import InputError
from tieaware.experiments._coarsened_pairs import Chain, Chains, Changes, CoarsenedPairs, note_of
from tieaware.experiments._precision_figures import (
    Precisions,
    change_points,
    difference_boxes,
    lines_by_precision,
    p_factors,
    p_points,
)
from tieaware.experiments.evaluating import evaluate_with_progress
from tieaware.experiments.experiment import Experiment
from tieaware.inputs import QrelsLike
from tieaware.lists.grades import Missing
from tieaware.measures import Measure, parse_measures
from tieaware.measures.definitions import NumRet
from tieaware.measures.worst_cases import known_worst_case, worst_case
from tieaware.output.plots import Drawing, file_name
from tieaware.output.tables import Cell, Table, counted
from tieaware.precision import Bands, Coarsening, parse_precision
from tieaware.runtime.extras import load
from tieaware.runtime.progress import progress
from tieaware.statistics import kendall_tau, paired_test, tau_ap
from tieaware.statistics.multiple_comparisons import Correction
from tieaware.statistics.paired_tests import Alternative
from tieaware.statistics.procedures import checked, pairs_of
from tieaware.statistics.verdicts import CHANGES, pair_tests


def banding(
    qrels: QrelsLike,
    runs: Any,
    rhos: Sequence[str | float | Fraction] = RHOS,
    measures: str | Measure | Sequence[str | Measure] = PRECISION_MEASURES,
    *,
    alpha: float = 0.05,
    kept: float = 0.99,
    threads: int | None = None,
    correction: Correction = "none",
    baseline: str | None = None,
    consistent_only: bool = False,
    missing: Missing | None = None,
) -> Precision:
    """Treat ranks within the same geometric band as tied, and compare the averages with the run's own order.

    Parameters
    ----------
    qrels, runs, measures, threads, missing
        As for `tieaware.evaluate`.
    rhos : sequence of str, Fraction, int or float
        The growth factors of the bands, each at least 1; see `tieaware.bands`.
    alpha : float
        The significance level, between 0 and 1.
    kept : float
        The share of a run's mean that the one-sided test must show to be kept, between 0 and 1.
    correction : str
        The correction of the tests between runs for all pairs that are compared, by one measure with one precision:
        "none", the default, "holm", "bh" (Benjamini–Hochberg) or "bonferroni". The tests of a single run, before
        against after, are not corrected.
    baseline : str, optional
        The only run with which the other runs are compared; by default, all runs are compared with each other.
    consistent_only : bool
        Whether to leave out runs whose rank column or file order puts a lower score before a higher one.

    References
    ----------
    Yang, Z., Moffat, A. and Turpin, A. (2016). How precise does document scoring need to be? AIRS 2016.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> run = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}
    >>> banding(qrels, run, rhos=["1", "2"], measures=["RR"]).differences[:, 0, :, 0].round(4)
    array([[0.    , 0.    ],
           [0.    , 0.0833]])
    """
    growths = [Bands(rho) for rho in sequence("rhos", rhos, "numbers")]
    return precision(
        qrels, runs, growths, measures, alpha=alpha, kept=kept, threads=threads, correction=correction,
        baseline=baseline, consistent_only=consistent_only, missing=missing,
    )  # fmt: skip


def precision(
    qrels: QrelsLike,
    runs: Any,
    precisions: str | Coarsening | Sequence[str | Coarsening],
    measures: str | Measure | Sequence[str | Measure] = PRECISION_MEASURES,
    *,
    alpha: float = 0.05,
    kept: float = 0.99,
    threads: int | None = None,
    correction: Correction = "none",
    baseline: str | None = None,
    consistent_only: bool = False,
    missing: Missing | None = None,
) -> Precision:
    """Coarsen the scores of each run, and compare its values, averaged over ties, before and after.

    Bands of ranks are compared with the run's own order, as in `banding`.

    Parameters
    ----------
    qrels, runs, measures, alpha, kept, threads, correction, baseline, consistent_only, missing
        As for `banding`.
    precisions : sequence of str or Coarsening
        Such as "decimals:2" or "bfloat16"; see `tieaware.precision`.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> run = {"q1": {"d1": 0.52, "d2": 0.49}, "q2": {"d1": 0.8, "d2": 0.6}}
    >>> precision(qrels, run, ["decimals:1", "decimals:0"], ["RR"]).values[:, 0, :, 0]
    array([[0.75, 0.5 ],
           [1.  , 0.75]])
    """
    _check_no_measures(precisions)
    alpha, kept = number("alpha", alpha, 0, 1, ends=False), number("kept", kept, 0, 1, ends=False)
    checked("t", correction)
    several = [precisions] if isinstance(precisions, str | Coarsening) else precisions
    coarsenings = [parse_precision(each) for each in sequence("precisions", several, "texts such as 'decimals:2'")]
    if not coarsenings:
        raise unexpected("precisions", "at least one, such as 'decimals:2'", "none")
    references = [View("run_order" if _groups_ranks(each) else "average") for each in coarsenings]
    distinct = list(dict.fromkeys(references))
    views = [*distinct, *(View("average", each) for each in coarsenings)]
    parsed = parse_measures(measures)
    chains = Chains(coarsenings)
    observe = chains.add if chains else None
    results = evaluate_with_progress(qrels, runs, [*parsed, NumRet], views, threads, consistent_only, observe, missing)
    first = results[0]
    pairs_of(first.runs, baseline)
    if len(first.queries) < 2:
        raise unexpected("qrels", "at least 2 queries to compare over", f"{len(first.queries)}")
    return Precision(
        tuple(coarsenings),
        first.runs,
        first.queries,
        parsed,
        tuple(results[distinct.index(reference)].values[:, :, :-1] for reference in references),
        np.stack([result.values[:, :, :-1] for result in results[len(distinct) :]]),
        int(first.values[:, :, -1].max()),
        alpha,
        kept,
        correction,
        baseline,
        chains.widest(first.runs),
    )


def _check_no_measures(precisions: Any) -> None:
    """Raise InputError if measures were passed in place of score precisions, as in the other experiments."""
    each = (precisions,) if isinstance(precisions, str | Measure) else precisions
    try:
        measures = parse_measures(list(each))
    except (InputError, TypeError):
        return
    if measures:
        given = shown(precisions)
        raise InputError("precisions", f"{given} are measures; write precision(qrels, runs, 'bfloat16', {given})")


@dataclass(frozen=True, eq=False, repr=False)
class Precision(Experiment):
    """The effect of coarser scores on the values of measures.

    Attributes
    ----------
    precisions : tuple of Coarsening
        The score precisions, along the first axis of `values`.
    runs : tuple of str
    queries : tuple of str or of int
        The names along the second and the third axis.
    measures : tuple of Measure
        The measures along the fourth axis.
    originals : tuple of float64[n_runs, n_queries, n_measures]
        For each precision, the values before coarsening.
    values : float64[n_precisions, n_runs, n_queries, n_measures]
        The values after coarsening.
    depth : int
        The length of the longest list.
    alpha, kept : float
        The significance level, and the share of a run's mean that the one-sided test must show to be kept.
    correction : str
        The correction of the tests between runs.
    baseline : str or None
        The only run with which the others are compared; None if all runs are compared with each other.
    widest : tuple
        For each precision, the widest group of near scores (width, run, query); None if the precision is no `Gap`.
    """

    precisions: tuple[Coarsening, ...]
    runs: tuple[str, ...]
    queries: tuple[str | int, ...]
    measures: tuple[Measure, ...]
    originals: tuple[Values, ...]
    values: Values
    depth: int
    alpha: float
    kept: float
    correction: Correction = "none"
    baseline: str | None = None
    widest: tuple[Chain | None, ...] = ()

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which states the number of runs, of queries and of score precisions."""
        return (
            f"The effect of coarser scores: {counted(len(self.runs), 'run')}, {len(self.queries)} queries, "
            f"{counted(len(self.precisions), 'precision')}"
        )

    heading = "How precise do scores need to be?"

    def verdict(self) -> str:
        """Return what changes with the precision that changes values most: significance, losses, gains, and verdicts.

        Examples
        --------
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
        >>> run = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}
        >>> import textwrap
        >>> print(textwrap.fill(banding(qrels, run, ["1", "2"], ["RR"]).verdict(), 100))
        With bands:2, which changes values most (mean absolute change 0.0417), RR (p = 0.500) does not
        change significantly (paired t-test, uncorrected). RR loses 0.0417 on average (largest loss 0.0833
        on query q2; largest gain 0).
        """
        # Whether a smaller value is a loss depends on the measure.
        sign = np.where([measure.definition.less_is_better for measure in self.measures], -1.0, 1.0)
        lost = np.moveaxis(self.differences * sign, 3, 1)
        p = np.moveaxis(self.changed, 2, 1)
        keeps = np.moveaxis(self.keeps, 2, 1)
        return Changes(
            self.precisions, self.measures, lost, p, self.pairs, self.alpha, self.queries, keeps, self.kept
        ).sentences()

    @cached_property
    def differences(self) -> Values:
        """Original − coarsened values: float64[n_precisions, n_runs, n_queries, n_measures]; rounding errors are 0."""
        originals = np.stack(self.originals)
        rounding = rounding_of(originals, self.values, axis=2)
        return without_rounding(originals - self.values, rounding[:, :, None])

    @cached_property
    def changed(self) -> Values:
        """The p value of each run's paired t-test of coarsened against original: [n_precisions, n_runs, n_measures]."""
        return paired_test(np.stack(self.originals), self.values, axis=2).p

    @cached_property
    def not_kept(self) -> Values:
        """The p value of the hypothesis that a run keeps at most a share `kept` of its mean; shape as for `changed`."""
        return self._p_of_share("greater")

    @cached_property
    def keeps(self) -> Integers:
        """1 where a run keeps the share `kept` of its mean, -1 where it does not, 0 where undecided; as for `changed`.

        The value is 1 if no value of the run changes or the one-sided test shows that the share is kept; -1 if the
        opposite test shows that it is not kept; and 0 if there are too few queries to show either.
        """
        less = self._p_of_share("less") <= self.alpha
        return np.where(self._unchanged | (self.not_kept <= self.alpha), 1, np.where(less, -1, 0))

    def _p_of_share(self, alternative: Alternative) -> Values:
        return paired_test(self.values, self.kept * np.stack(self.originals), alternative=alternative, axis=2).p

    @cached_property
    def most_lost(self) -> Values:
        """The largest share of its mean that each run may have lost; shape as for `changed`.

        This is Fieller's upper confidence bound of the ratio mean loss ÷ mean. NaN if there is no bound, because the
        run's own mean is not significantly above 0; 0 if no value changes.
        """
        original = np.stack(self.originals)
        n = len(self.queries)
        reach = float(load("scipy.stats", "analysis").t.ppf(1.0 - self.alpha, n - 1)) ** 2 / n / (n - 1)
        mean, loss = original.mean(axis=2), self.differences.mean(axis=2)
        from_mean, from_loss = original - mean[:, :, None], self.differences - loss[:, :, None]
        # The bound is the larger root q of a q² - 2 b q + c: the share for which the mean of q · original - loss is t
        # standard errors from 0.
        a = mean**2 - reach * (from_mean**2).sum(axis=2)
        b = mean * loss - reach * (from_mean * from_loss).sum(axis=2)
        c = loss**2 - reach * (from_loss**2).sum(axis=2)
        known = a > 0.0
        bound = (b + np.sqrt(np.maximum(b**2 - a * c, 0.0))) / np.where(known, a, 1.0)
        return np.where(self._unchanged, 0.0, np.where(known, bound, np.nan))

    @property
    def _unchanged(self) -> npt.NDArray[np.bool_]:
        return np.asarray(~self.differences.any(axis=2))

    @cached_property
    def pairs(self) -> CoarsenedPairs:
        """The tests of pairs of runs, before and after coarsening."""
        first, second = pairs_of(self.runs, self.baseline)
        originals = {id(original): original for original in self.originals}
        both = progress([*originals.values(), *self.values], "pairs of runs")
        tested = [pair_tests(values, first, second) for values in both]
        tests = dict(zip(originals, tested, strict=False))
        before = tuple(tests[id(original)] for original in self.originals)
        after = tuple(tested[len(originals) :])
        procedure = checked("t", self.correction)
        return CoarsenedPairs(before, after, self.alpha, self.runs, first, second, procedure, self.baseline)

    @property
    def runs_by_queries(self) -> str:
        """The numbers of runs and queries, in words."""
        return f"{counted(len(self.runs), 'run')} × {len(self.queries)} queries"

    @cached_property
    def correlations(self) -> tuple[Values, Values]:
        """Kendall's τ_b and τ_AP,b of the orders of runs before and after coarsening: [n_precisions, n_measures]."""
        shape = len(self.precisions), len(self.measures)
        taus, taus_ap = np.full(shape, np.nan), np.full(shape, np.nan)
        if len(self.runs) > 1:
            for p, m in np.ndindex(shape):
                before = self.originals[p][:, :, m].mean(axis=1)
                after = self.values[p, :, :, m].mean(axis=1)
                taus[p, m] = kendall_tau(before, after)
                taus_ap[p, m] = tau_ap(before, after, ties="b")
        return taus, taus_ap

    @cached_property
    def worst(self) -> dict[tuple[int, int], tuple[float, float]]:
        """The worst-case loss and gain of one query, where known, by the positions of the precision and the measure."""
        known = [
            ((p, m), (measure, rho, max(self.depth, 1)))
            for p, rho in enumerate(map(_growth, self.precisions))
            for m, measure in enumerate(self.measures)
            if rho is not None and known_worst_case(measure, self.depth)
        ]
        return {
            place: (worst_case(*lists).value, worst_case(*lists, gain=True).value)
            for place, lists in progress(known, "worst cases")
        }

    def tables(self) -> dict[str, Table]:
        """Return the tables: a summary, the differences of values, the verdicts between runs, and each run.

        Their names: "summary", "differences", "verdicts", "changed-verdicts" and "runs".
        """
        return dict(self._tables)

    @cached_property
    def _tables(self) -> dict[str, Table]:
        return {
            "summary": self._summary(),
            "differences": self._differences(),
            "verdicts": self._verdicts(),
            "changed-verdicts": self.pairs.changed(self.measures, self.precisions),
            "runs": self._runs(),
        }

    def _table(self, title: str, columns: Sequence[str], cells: Iterable[Any], notes: Sequence[str]) -> Table:
        """Return a table: a row for each measure and precision, a column for each array [n_precisions, n_measures]."""
        rows: list[tuple[Cell, ...]] = [
            (str(measure), str(each), *(_cell(cell[p, m]) for cell in cells))
            for m, measure in enumerate(self.measures)
            for p, each in enumerate(self.precisions)
        ]
        return Table(title, ("measure", "precision", *columns), rows, tuple(notes))

    def flat_differences(self) -> Values:
        """Return the differences of each precision and measure in one row.

        Returns
        -------
        float64[n_precisions, n_measures, n_runs · n_queries]
        """
        return np.moveaxis(self.differences, 3, 1).reshape(len(self.precisions), len(self.measures), -1)

    def _summary(self) -> Table:
        flat = self.flat_differences()
        tau, tau_ap = self.correlations
        cells = [
            flat.mean(axis=2),
            np.abs(flat).mean(axis=2),
            (self.changed <= self.alpha).sum(axis=1),
            *((self.keeps == kind).sum(axis=1) for kind in (1, -1, 0)),
            self.pairs.shares()[0],
            tau,
            tau_ap,
        ]
        columns = [
            "mean loss", "mean |change|", "runs changed", f"runs kept {self.kept:.0%}", "lost more", "undecided",
            "same verdicts", "tau", "tau AP",
        ]  # fmt: skip
        notes = [
            f"mean loss: original − coarsened, over {self.runs_by_queries}. "
            "mean |change|: the mean of the absolute differences, in which losses and gains do not cancel. Original: "
            "for bands, the run's own order; for other precisions, the average over ties of the unrounded scores.",
            f"runs changed: paired t-test of coarsened against original, p ≤ {self.alpha}, without correction for "
            f"multiple tests, so chance alone would count about {self.alpha:.0%} of the runs.",
            f"runs kept {self.kept:.0%}: the number of runs that keep more than {self.kept:.0%} of their mean, because "
            f"no value changes or by a one-sided test with p ≤ {self.alpha}. lost more: the number of runs that keep "
            f"less, by such a test. undecided: all other runs; {len(self.queries)} queries are too few to tell, which "
            "does not indicate a loss.",
            f"same verdicts: the share of {self.pairs.named} with the same verdict before and after "
            f"({self.pairs.described}). tau, tau AP: Kendall's τ_b and τ_AP,b between the orders of the runs by mean, "
            "before and after.",
            *note_of(self.precisions, self.widest),
        ]
        return self._table(self.title, columns, cells, notes)

    def _differences(self) -> Table:
        flat = self.flat_differences()
        quantiles = np.quantile(flat, (0.1, 0.25, 0.5, 0.75, 0.9), axis=2)
        shape = flat.shape[:2]
        bounds = np.full((2, *shape), np.nan)
        for place, worst in self.worst.items():
            bounds[:, *place] = worst
        cells = [
            flat.mean(axis=2),
            flat.std(axis=2, ddof=1),
            (flat > 0.0).mean(axis=2),
            (flat < 0.0).mean(axis=2),
            *quantiles,
            flat.max(axis=2),
            self._places(flat),
            bounds[0],
            (-flat).max(axis=2) + 0.0,
            self._places(-flat),
            bounds[1],
        ]
        columns = [
            "mean", "sd", "lost", "gained", "10 %", "25 %", "median", "75 %", "90 %",
            "largest loss", "loss of run, query", "possible loss",
            "largest gain", "gain of run, query", "possible gain",
        ]  # fmt: skip
        notes = [
            "original − coarsened, per run and query. lost, gained: shares of positive and of negative differences. "
            "loss, gain of run, query: where the largest loss and gain occur first.",
            "possible: the exact worst case of banding over all ranks of the longest list, where known "
            f"({counted(self.depth, 'rank')}).",
        ]
        return self._table("Differences of values", columns, cells, notes)

    def _places(self, flat: Values) -> npt.NDArray[np.object_]:
        """Return the run and the query of the largest positive difference of each precision and measure, as text."""
        places = np.full(flat.shape[:2], None, dtype=object)
        for place in np.ndindex(places.shape):
            run, query = divmod(first_greatest(flat[place]), len(self.queries))
            if flat[place].max() > 0.0:
                places[place] = f"{self.runs[run]}, {self.queries[query]}"
        return places

    def _verdicts(self) -> Table:
        notes = [
            f"Shares of {self.pairs.named}, before and after ({self.pairs.described}). appear: significant only after; "
            "vanish: only before; flip: both times, with opposite signs.",
            "signs: the difference of means changes its sign, significant or not.",
        ]
        return self._table("Verdicts between runs", CHANGES, self.pairs.shares(), notes)

    def _runs(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for m, measure in enumerate(self.measures):
            for p, each in enumerate(self.precisions):
                before, after = self.originals[p][:, :, m].mean(axis=1), self.values[p, :, :, m].mean(axis=1)
                losses = self.differences[p, :, :, m].mean(axis=1)
                unchanged = self._unchanged[p, :, m]
                tests = self.changed[p, :, m], np.where(unchanged, np.nan, self.not_kept[p, :, m])
                columns = (column.tolist() for column in (before, after, losses, *tests, self.most_lost[p, :, m]))
                kept = np.where(unchanged, "unchanged", np.array(["undecided", "yes", "no"])[self.keeps[p, :, m]])
                by_run = zip(self.runs, *columns, kept.tolist(), strict=True)
                rows += [
                    (str(measure), str(each), run, *(None if cell != cell else cell for cell in row))
                    for run, *row in by_run
                ]
        names = (
            "measure", "precision", "run", "original", "coarsened", "loss", "p", f"p not {self.kept:.0%}",
            "lost at most", f"kept {self.kept:.0%}",
        )  # fmt: skip
        notes = (
            f"p: two-sided paired t-test of coarsened against original. p not {self.kept:.0%}: one-sided test of the "
            f"hypothesis that the coarsened mean is at most {self.kept:.0%} of the original; if it is small, more is "
            "kept. Runs without a changed value are not tested.",
            f"lost at most: the upper confidence bound, at {self.alpha}, of the lost share of the mean; –: no bound, "
            "because the run's own mean is not significantly above 0.",
        )
        return Table("Each run", names, rows, notes)

    def drawings(self) -> dict[str, Drawing]:
        """Return the figures: for each measure, differences and p values; for all, verdicts and orders of runs.

        Their names: "differences-…" and "changes-…", the p values of the runs; with several runs also "verdicts",
        "tau", "tau-ap", "p-changes-…" and "p-values-…", the p values of pairs of runs.
        """
        axis, pairs = self.axis, self.pairs
        differences, changes, p_changes, p_values = {}, {}, {}, {}
        for m, measure in enumerate(self.measures):
            name = file_name(measure)
            worst = {p: bounds for (p, i), bounds in self.worst.items() if i == m}
            flat = self.flat_differences()[:, m]
            differences[f"differences-{name}"] = difference_boxes(axis, measure, flat, worst, self.runs_by_queries)
            changes[f"changes-{name}"] = change_points(axis, measure, self.changed[:, :, m], self.alpha)
            if len(self.runs) > 1:
                p_changes[f"p-changes-{name}"] = p_factors(axis, m, measure, pairs)
                p_values[f"p-values-{name}"] = p_points(str(self.precisions[-1]), m, measure, pairs)
        if len(self.runs) < 2:
            return differences | changes
        # The figures of all measures come second, after the main one.
        main = dict([next(iter(differences.items()))])
        lines = lines_by_precision(axis, self.measures, pairs, self.correlations)
        return main | lines | differences | changes | p_changes | p_values

    @property
    def axis(self) -> Precisions:
        """The horizontal axis of the figures: growth factors, if all precisions are bands, or the precisions."""
        if all(_growth(each) is not None for each in self.precisions):
            growths = [str(each).partition(":")[2] for each in self.precisions]
            return Precisions("growth of the bands, ρ", growths)
        return Precisions("precision of the scores", [str(each) for each in self.precisions])


def _groups_ranks(precision: Coarsening) -> bool:
    """Return whether a coarsening groups ranks into bands, regardless of the scores."""
    return bool(getattr(precision, "groups_ranks", False))


def _growth(precision: Coarsening) -> Fraction | None:
    """Return the growth factor of a coarsening into geometric bands of ranks; None for any other coarsening."""
    return getattr(precision, "rho", None) if _groups_ranks(precision) else None


def _cell(value: Any) -> Cell:
    if value is None or isinstance(value, str):
        return value
    if np.isnan(value):
        return None
    return int(value) if isinstance(value, np.integer) else float(value)
