"""The experiment on score precision: how precise do scores need to be? It compares runs before and after coarsening.

`banding` merges ranks into bands of geometrically growing width; `precision` takes any list of coarsenings. Both return
a `Precision`, which answers five questions: how far values move, how many runs change, how many verdicts between runs
change, how well the order of the runs is kept, and how close the largest observed loss is to the worst case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number, sequence, shown, unexpected
from tieaware.checks.arrays import Values
from tieaware.checks.rounding import first_greatest
from tieaware.defaults import PRECISION_MEASURES, RHOS
from tieaware.engine.views import View
from tieaware.errors import InputError
from tieaware.experiments._coarsened_runs import Chains, CoarsenedRuns, Keep
from tieaware.experiments._coarsest import Coarsest, Search, checked_keep
from tieaware.experiments._precision_figures import (
    change_points,
    difference_boxes,
    groups_ranks,
    growth_of,
    lines_by_precision,
    p_factors,
    p_points,
)
from tieaware.experiments.evaluating import evaluate_with_progress
from tieaware.experiments.experiment import Experiment
from tieaware.inputs import QrelsLike, as_qrels, as_sources, consistent
from tieaware.lists.grades import Missing
from tieaware.measures import Measure, parse_measures
from tieaware.measures.definitions import NumRet
from tieaware.measures.worst_cases import known_worst_case, worst_case
from tieaware.output.plots import Drawing, file_name
from tieaware.output.tables import Table, counted, significant, table_by
from tieaware.precision import Bands, Coarsening, Gap, parse_precision
from tieaware.precision.ladders import FAMILIES
from tieaware.runtime.progress import progress
from tieaware.statistics.multiple_comparisons import Correction
from tieaware.statistics.procedures import checked, pairs_of
from tieaware.statistics.verdicts import CHANGES
from tieaware.ties import TieRuleName


def banding(
    qrels: QrelsLike,
    runs: Any,
    rhos: Sequence[str | float | Fraction] = RHOS,
    measures: str | Measure | Sequence[str | Measure] = PRECISION_MEASURES,
    *,
    alpha: float = 0.05,
    keep: Keep | None = None,
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
    keep : str or float, optional
        What has to stay, by which the verdict names the coarsest precision that is safe; see `Precision.coarsest`. A
        share is also that of the column of runs that keep it, which is 99 % by default.
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
        qrels, runs, growths, measures, alpha=alpha, keep=keep, threads=threads, correction=correction,
        baseline=baseline, consistent_only=consistent_only, missing=missing,
    )  # fmt: skip


def precision(
    qrels: QrelsLike,
    runs: Any,
    precisions: str | Coarsening | Sequence[str | Coarsening],
    measures: str | Measure | Sequence[str | Measure] = PRECISION_MEASURES,
    *,
    alpha: float = 0.05,
    keep: Keep | None = None,
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
    qrels, runs, measures, alpha, keep, threads, correction, baseline, consistent_only, missing
        As for `banding`.
    precisions : sequence of str or Coarsening, or the name of a family
        Such as "decimals:2" or "bfloat16"; see `tieaware.precision`. With the name of a family, "bands", "decimals",
        "significant", "levels" or "floats", its precisions are searched for the coarsest that is safe, from fine to
        coarse, by `keep`, or by everything that `keep` may be. The runs are then held in memory.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> run = {"q1": {"d1": 0.52, "d2": 0.49}, "q2": {"d1": 0.8, "d2": 0.6}}
    >>> precision(qrels, run, ["decimals:1", "decimals:0"], ["RR"]).values[:, 0, :, 0]
    array([[0.75, 0.5 ],
           [1.  , 0.75]])
    """
    _check_no_measures(precisions)
    alpha = number("alpha", alpha, 0, 1, ends=False)
    checked("t", correction)
    checked_keep(keep, 2)
    parsed = parse_measures(measures)

    def evaluated(judged: QrelsLike, given: Any, coarsenings: Sequence[Coarsening], consistent_only: bool) -> Precision:
        references: list[TieRuleName] = ["run_order" if groups_ranks(each) else "average" for each in coarsenings]
        distinct = list(dict.fromkeys(references))
        views = [*map(View, distinct), *(View("average", each) for each in coarsenings)]
        chains = Chains(coarsenings)
        observe = chains.add if any(isinstance(each, Gap) for each in coarsenings) else None
        results = evaluate_with_progress(
            judged, given, [*parsed, NumRet], views, threads, consistent_only, observe, missing
        )  # fmt: skip
        first = results[0]
        before = {rule: each.values[:, :, :-1] for rule, each in zip(distinct, results, strict=False)}
        pairs_of(first.runs, baseline)
        if len(first.queries) < 2:
            raise unexpected("qrels", "at least 2 queries to compare over", f"{len(first.queries)}")
        return Precision(
            tuple(coarsenings),
            first.runs,
            first.queries,
            parsed,
            tuple(before[reference] for reference in references),
            np.stack([result.values[:, :, :-1] for result in results[len(distinct) :]]),
            int(first.values[:, :, -1].max()),
            alpha,
            checked_keep(keep, len(first.runs)),
            correction,
            baseline,
            chains.widest(first.runs),
        )

    if isinstance(precisions, str) and precisions in FAMILIES:
        sources = as_sources(runs)
        held = {name: each.whole() for name, each in (consistent(sources) if consistent_only else sources).items()}
        judged = as_qrels(qrels, missing, subtopics=any(each.definition.needs_subtopics for each in parsed))
        keeps: list[Keep] = ["verdicts", "order", 0.99] if len(held) > 1 else [0.99]
        keeps = keeps if keep is None else [checked_keep(keep, len(held))]
        return Search(FAMILIES[precisions], lambda some: evaluated(judged, held, some, False), keeps).run()
    several = [precisions] if isinstance(precisions, str | Coarsening) else precisions
    coarsenings = [parse_precision(each) for each in sequence("precisions", several, "texts such as 'decimals:2'")]
    if not coarsenings:
        raise unexpected("precisions", "at least one, such as 'decimals:2'", "none")
    return evaluated(qrels, runs, coarsenings, consistent_only)


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
class Precision(CoarsenedRuns, Experiment):
    """The effect of coarser scores on the values of measures."""

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which states the number of runs, of queries and of score precisions."""
        return (
            f"The effect of coarser scores: {counted(len(self.runs), 'run')}, {len(self.queries)} queries, "
            f"{counted(len(self.precisions), 'precision')}"
        )

    heading = "How precise do scores need to be?"

    def coarsest(self, keep: Keep | None = None) -> Coarsest:
        """Return the coarsest precision that is safe, among those that were tried.

        Parameters
        ----------
        keep : str or float, optional
            What has to stay. "verdicts": the verdict on each pair of runs. "order": the order of each pair of runs by
            their means. A share such as "99%" or 0.99: all runs are known to keep this share of their mean, by the
            rule of `tieaware.statistics.kept`, with intervals of level 1 - `alpha`. By default what `precision` was
            called with; otherwise "verdicts", or "99%" if there is one run.

        Returns
        -------
        Coarsest
            With `verdict`, `precision`, `limits`, tables and a figure.

        Raises
        ------
        InputError
            If `keep` is none of these, or about pairs and there is one run.

        Examples
        --------
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
        >>> run = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}
        >>> banding(qrels, run, ["1", "1.5", "2"], ["RR"]).coarsest("90%").precision
        Bands(rho=Fraction(3, 2))
        """
        return Coarsest(self, self.keep if keep is None else checked_keep(keep, len(self.runs)))

    def verdict(self) -> str:
        """Return which precision is the coarsest that is safe, and how far values change with the one of most change.

        Examples
        --------
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
        >>> run = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}
        >>> import textwrap
        >>> print(textwrap.fill(banding(qrels, run, ["1", "2"], ["RR"]).verdict(), 100))
        bands:1 is the coarsest precision that lets the run keep 99%; bands:2 is the first that may not (RR;
        it is open: 29 queries would decide). With bands:2, which changes values most, RR loses 0.0417 on
        average (p = 0.500, uncorrected paired t-test); the largest loss of a query is 0.0833 (query q2).
        """
        answer = self.coarsest().verdict()
        if not self.moved.any():
            return answer
        p = first_greatest(np.abs(self.differences).mean(axis=(1, 2, 3)))
        # Whether a smaller value is a loss depends on the measure.
        lost = self.differences[p] * np.where(self._less_is_better, -1.0, 1.0)
        most = ", which changes values most," if len(self.precisions) > 1 else ","
        return f"{answer} With {self.precisions[p]}{most} {self._change(p, lost)}."

    @cached_property
    def worst(self) -> dict[tuple[int, int], tuple[float, float]]:
        """The worst-case loss and gain of one query, where known, by the positions of the precision and the measure."""
        known = [
            ((p, m), (measure, rho, max(self.depth, 1)))
            for p, rho in enumerate(map(growth_of, self.precisions))
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
            "changed-verdicts": self.pairs.changes(),
            "runs": self._runs(),
        }

    def _table(self, title: str, columns: Mapping[str, npt.NDArray[Any]], notes: Sequence[str]) -> Table:
        """Return a table: a row for each measure and precision, a column for each array [n_precisions, n_measures]."""
        names = {"measure": self.measures, "precision": self.precisions}
        return table_by(title, names, {name: each.T for name, each in columns.items()}, notes)

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
        kept = zip((f"keep {100.0 * self.share:g}%", "lose more", "open"), (1, -1, 0), strict=True)
        columns = {
            "mean loss": flat.mean(axis=2), "mean |change|": np.abs(flat).mean(axis=2),
            "runs changed": (self.changed <= self.alpha).sum(axis=1),
            **{name: (self.keeps == kind).sum(axis=1) for name, kind in kept},
            "same verdicts": self.pairs.shares()[0], "tau": tau, "tau AP": tau_ap,
        }  # fmt: skip
        notes = [
            f"mean loss: original − coarsened, over {self.runs_by_queries}. "
            "mean |change|: the mean of the absolute differences, in which losses and gains do not cancel. Original: "
            "for bands, the run's own order; for other precisions, the average over ties of the unrounded scores.",
            f"runs changed: paired t-test of coarsened against original, p ≤ {self.alpha}, without correction for "
            f"multiple tests, so chance alone would count about {self.alpha:.0%} of the runs.",
            f"keep {100.0 * self.share:g}%: the number of runs that are known to keep this share of their mean: the "
            f"{1.0 - self.alpha:.0%} interval excludes a greater loss, or no value changes. lose more: the number of "
            "runs whose interval excludes a smaller loss. open: all other runs; "
            f"{len(self.queries)} queries are too few to tell, which does not indicate a loss.",
            f"same verdicts: the share of {self.pairs.named} with the same verdict before and after "
            f"({self.pairs.described}). tau, tau AP: Kendall's τ_b and τ_AP,b between the orders of the runs by mean, "
            "before and after.",
            *self._note_of_chains(),
        ]
        return self._table(self.title, columns, notes)

    def _note_of_chains(self) -> list[str]:
        """Return a note on the widest groups of near scores; no note if there are none."""
        known = [(each, chain) for each, chain in zip(self.precisions, self.widest, strict=False) if chain is not None]
        found = [f"{each}: {significant(chain.width)} ({chain.run}, {chain.query})" for each, chain in known]
        start = "Groups of near scores chain, so they can be wider than the tolerance. The widest, highest minus lowest"
        return [f"{start} score (run, query): {'; '.join(found)}."] if found else []

    def _differences(self) -> Table:
        flat = self.flat_differences()
        quantiles = np.quantile(flat, (0.1, 0.25, 0.5, 0.75, 0.9), axis=2)
        shape = flat.shape[:2]
        bounds = np.full((2, *shape), np.nan)
        for place, worst in self.worst.items():
            bounds[:, *place] = worst
        columns = {
            "mean": flat.mean(axis=2), "sd": flat.std(axis=2, ddof=1), "lost": (flat > 0.0).mean(axis=2),
            "gained": (flat < 0.0).mean(axis=2),
            **dict(zip(("10 %", "25 %", "median", "75 %", "90 %"), quantiles, strict=True)),
            "largest loss": flat.max(axis=2), "loss of run, query": self._places(flat), "possible loss": bounds[0],
            "largest gain": (-flat).max(axis=2) + 0.0, "gain of run, query": self._places(-flat),
            "possible gain": bounds[1],
        }  # fmt: skip
        notes = [
            "original − coarsened, per run and query. lost, gained: shares of positive and of negative differences. "
            "loss, gain of run, query: where the largest loss and gain occur first.",
            "possible: the exact worst case of banding over all ranks of the longest list, where known "
            f"({counted(self.depth, 'rank')}).",
        ]
        return self._table("Differences of values", columns, notes)

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
        return self._table("Verdicts between runs", dict(zip(CHANGES, self.pairs.shares(), strict=True)), notes)

    def _runs(self) -> Table:
        kept = np.array(["open", "keeps", "loses"])[self.keeps]
        decisions = np.where(self.moved, kept, "unchanged")
        sides = self._before, self.values, self.differences
        means = [np.ascontiguousarray(np.moveaxis(each, 2, 3)).mean(axis=3) for each in sides]
        arrays = (*means, self.changed, decisions, *self._ends)
        titles = ("original", "coarsened", "loss", "p", f"keeps {100.0 * self.share:g}%", "kept from", "kept to")
        columns = {name: np.moveaxis(each, 2, 0) for name, each in zip(titles, arrays, strict=True)}
        names = {"measure": self.measures, "precision": self.precisions, "run": self.runs}
        notes = (
            "p: two-sided paired t-test of coarsened against original. kept from, kept to: the "
            f"{1.0 - self.alpha:.0%} interval of the share of the mean that is kept; –: no end, because the mean is "
            "not significantly above 0.",
        )
        return table_by("Each run", names, columns, notes)

    def drawings(self) -> dict[str, Drawing]:
        """Return the figures: for each measure, differences and p values; for all, verdicts and orders of runs.

        Their names: "differences-…" and "changes-…", the p values of the runs; with several runs also "verdicts",
        "tau", "tau-ap", "p-changes-…" and "p-values-…", the p values of pairs of runs.
        """
        tried, pairs, flat = self.precisions, self.pairs, self.flat_differences()
        kinds: dict[str, Callable[[int, Measure], Drawing]] = {
            "differences": lambda m, measure: difference_boxes(
                tried, measure, flat[:, m], {p: worst for (p, i), worst in self.worst.items() if i == m},
                self.runs_by_queries,
            ),
            "changes": lambda m, measure: change_points(tried, measure, self.changed[:, :, m], self.alpha),
            "p-changes": lambda m, measure: p_factors(tried, m, measure, pairs),
            "p-values": lambda m, measure: p_points(str(tried[-1]), m, measure, pairs),
        }  # fmt: skip
        several = len(self.runs) > 1
        figures = {
            f"{kind}-{file_name(measure)}": drawing(m, measure)
            for kind, drawing in list(kinds.items())[: None if several else 2]
            for m, measure in enumerate(self.measures)
        }
        # The figures of all measures come second, after the main one.
        main, *others = figures
        lines = lines_by_precision(tried, self.measures, pairs, self.correlations) if several else {}
        return {main: figures[main]} | lines | {name: figures[name] for name in others}
