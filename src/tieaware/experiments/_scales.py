"""The experiment on scales of few levels: how much of a measure they keep, and whether it pays to learn their cuts.

Each scale has cuts that all queries share. They divide the range of scores into equal steps, or make levels that grow
by a constant factor, or are those with the highest mean. Cuts are chosen on some queries, and judged on others: the
queries are divided at random into folds, and the cuts for each fold are those chosen on the other folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import checked_seed, whole_number, whole_numbers
from tieaware.checks.arrays import Scores, Values
from tieaware.checks.rounding import ratio
from tieaware.defaults import SCALE_FOLDS, SCALE_MEASURE, SCALE_SIZES
from tieaware.errors import InputError
from tieaware.experiments.evaluating import JudgedRun, repeatable_runs
from tieaware.experiments.experiment import Experiment
from tieaware.inputs import QrelsLike, as_qrels
from tieaware.lists.grades import Missing
from tieaware.measures import Measure, parse_measure
from tieaware.output.plots import Axes, Drawing, legend_above, style
from tieaware.output.tables import Table, counted, percent, significant, table_by
from tieaware.precision import Thresholds, geometric_thresholds
from tieaware.precision.thresholds import best_scales
from tieaware.runtime.progress import progress
from tieaware.statistics import PairedTest, paired_test

KINDS = ("equal width", "geometric", "learned")
_GEOMETRIC, _LEARNED = 1, 2
# The most candidates for a cut. On other queries, scales chosen among more are no better, and each pair takes time.
_CANDIDATES = 64
_ALPHA = 0.05
# The most runs whose scales a command prints by default.
_WITH_CUTS = 5


def scales(
    qrels: QrelsLike,
    runs: Any,
    sizes: int | Sequence[int] = SCALE_SIZES,
    measure: str | Measure = SCALE_MEASURE,
    *,
    folds: int = SCALE_FOLDS,
    seed: int = 0,
    consistent_only: bool = False,
    threads: int | None = None,
    missing: Missing | None = None,
) -> Scales:
    """Divide scores into few levels that all queries share, and find out how much of a measure each scale keeps.

    For each run and number of levels, three scales are made of its scores: levels of equal width, levels that grow by a
    constant factor (`tieaware.precision.geometric_thresholds`), and the levels with the highest mean of the measure
    (`tieaware.precision.best_thresholds`, of 64 candidates). All are made of the scores of some queries, and judged on
    others.

    Parameters
    ----------
    qrels, runs, consistent_only, threads, missing
        As for `tieaware.evaluate`.
    sizes : int or sequence of int
        The numbers of levels, each 2 … 1,000.
    measure : str or Measure
        A measure that is a sum over levels: AP, RR, nDCG, DCG, RBP, ERR, P, R, Success or Hits.
    folds : int
        The number of parts of the queries, each of which is judged by scales made of the others; 2 … the number of
        judged queries.
    seed : int
        The seed of the random division into folds, at least 0.

    Returns
    -------
    Scales

    Raises
    ------
    InputError
        If an argument is out of range, the measure is no sum over levels, or the queries of some folds have no document
        that counts for the measure.

    Examples
    --------
    >>> random = np.random.default_rng(1)
    >>> qrels = {f"q{q}": {f"d{d}": int(d < 5) for d in range(60)} for q in range(20)}
    >>> run = {q: {d: 2 * label + random.normal() for d, label in own.items()} for q, own in qrels.items()}
    >>> outcome = scales(qrels, {"bm25": run}, 4)
    >>> outcome.shares.shape, bool((outcome.shares < 1).all()), len(outcome.chosen[0][2][0].cuts)
    ((1, 3, 1), True, 3)
    """
    given = (sizes,) if isinstance(sizes, int | np.integer) else sizes
    levels = tuple(dict.fromkeys(whole_numbers("sizes", given, 2, 1000)))
    if not levels:
        raise InputError("sizes", "must have at least one number of levels")
    parsed = parse_measure(measure)
    if not parsed.definition.additive:
        raise InputError("measure", f"{parsed} is no sum over the levels of a scale, so the best scale is not known")
    judged, sources = as_qrels(qrels, missing), repeatable_runs(runs, consistent_only)
    n_queries = len(judged.queries)
    folds = whole_number("folds", folds, 2, max(2, n_queries))
    fold_of = np.random.default_rng(checked_seed(seed)).permutation(n_queries) % folds
    exact = np.zeros((len(sources), n_queries))
    values = np.zeros((len(levels), len(KINDS), len(sources), n_queries))
    chosen = []
    for r, name in enumerate(progress(list(sources), "scales")):
        queries, lists = JudgedRun.of(judged, name, sources[name])

        exact[r, queries] = _values(lists, parsed, None, threads)
        chosen.append(_made(name, lists, parsed, levels, threads))
        for fold in np.unique(fold_of[queries]):
            held_out = np.flatnonzero(fold_of[queries] == fold)
            others = lists.part(np.flatnonzero(fold_of[queries] != fold))
            for i, of_kinds in enumerate(_made(name, others, parsed, levels, threads)):
                for kind, scale in enumerate(of_kinds):
                    part = lists.part(held_out)
                    values[i, kind, r, queries[held_out]] = _values(part, parsed, scale, threads)
    of_runs = tuple(tuple(tuple(run[i][kind] for run in chosen) for kind in range(3)) for i in range(len(levels)))
    return Scales(parsed, tuple(sources), levels, exact, values, of_runs, folds, seed)


def _values(lists: JudgedRun, measure: Measure, scale: Thresholds | None, threads: int | None) -> Values:
    return lists.evaluator(measure, precision=scale, threads=threads)(lists.scores)[:, 0]


def _made(
    name: str, lists: JudgedRun, measure: Measure, sizes: Sequence[int], threads: int | None
) -> list[tuple[Thresholds, ...]]:
    """Return the scales of each kind that are made of these lists of a run, for each number of levels."""
    scores = lists.scores
    try:
        learned = best_scales(lists.evaluator(measure, threads=threads), scores, sizes, _CANDIDATES)
        geometric = [geometric_thresholds(scores, n, lists.offsets) for n in sizes]
    except InputError as error:
        problem = f"no scale can be made of {counted(len(lists.offsets) - 1, 'list')} of the run: {error.problem}"
        raise InputError(name, problem) from None
    return list(zip([_equal(scores, n) for n in sizes], geometric, learned, strict=True))


def _equal(scores: Scores, n: int) -> Thresholds:
    """Return the scale of n levels of equal width over the range of the finite scores."""
    finite = scores[np.isfinite(scores)].astype(np.float64)
    # Half of the range, because the whole range may overflow.
    cuts = 2.0 * np.linspace(0.5 * finite.min(), 0.5 * finite.max(), n + 1)[1:-1]
    return Thresholds(tuple(np.unique(cuts).tolist()))


@dataclass(frozen=True, eq=False, repr=False)
class Scales(Experiment):
    """The share of a measure that scales of few levels keep, on queries that they were not chosen on.

    The kinds of scales are in the order of equal width, geometric and learned.

    Attributes
    ----------
    measure : Measure
    runs : tuple of str
    sizes : tuple of int
        The numbers of levels.
    exact : float64[n_runs, n_queries]
        The values of the scores as they are, for all judged queries; 0 for queries that a run does not answer.
    values : float64[n_sizes, 3, n_runs, n_queries]
        The values with the scales of each kind, which were made of the queries of other folds.
    chosen : tuple of tuples of Thresholds
        By size, kind and run: the scale made of all queries, for use.
    folds, seed : int
    """

    measure: Measure
    runs: tuple[str, ...]
    sizes: tuple[int, ...]
    exact: Values
    values: Values
    chosen: tuple[tuple[tuple[Thresholds, ...], ...], ...]
    folds: int
    seed: int

    heading = "Which scale of few levels keeps the most?"

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which states the numbers of runs and queries."""
        over = counted(self.exact.shape[1], "query", "queries")
        return f"{self.measure} kept by scales of {counted(len(self.runs), 'run')}, on held-out queries of {over}"

    @property
    def shares(self) -> Values:
        """The share of each run's mean that a scale keeps, float64[n_sizes, 3, n_runs]; NaN if the mean is 0."""
        return ratio(self.values.mean(axis=3), self.exact.mean(axis=1))

    @property
    def tests(self) -> PairedTest:
        """The paired t-tests of learned against geometric scales, by size, over the queries' means of all runs."""
        of_kinds = self.values.mean(axis=2)
        return paired_test(of_kinds[:, _LEARNED], of_kinds[:, _GEOMETRIC])

    def verdict(self) -> str:
        """Return what each kind of scale keeps, and whether learning pays, for each number of levels.

        Learning pays if the mean of learned scales is significantly higher than that of geometric ones, at 0.05.
        """
        return " ".join(self._sentence(i) for i in range(len(self.sizes)))

    def _sentence(self, i: int) -> str:
        equal, geometric, learned = (percent(share) for share in self._mean_shares(i))
        kept = f"With {self.sizes[i]} levels, these are {learned}, {geometric} and {equal}"
        if i == 0:
            kept = (
                f"With {self.sizes[0]} levels, learned thresholds keep {learned} of {self.measure} on queries that "
                f"they were not chosen on, geometric ones {geometric} and levels of equal width {equal}"
            )
        tests = self.tests
        difference, p = float(tests.difference[i]), float(tests.p[i])
        pays = "pays" if difference > 0 and p <= _ALPHA else "does not pay"
        n_more = int((self.shares[i, _LEARNED] > self.shares[i, _GEOMETRIC]).sum())
        of_runs = f"; more in {n_more} of {len(self.runs)} runs" if len(self.runs) > 1 else ""
        return (
            f"{kept}: learning {pays} ({significant(abs(difference))} of {self.measure} "
            f"{'more' if difference >= 0 else 'less'} than geometric thresholds, p = {significant(p)}{of_runs})."
        )

    def _mean_shares(self, i: int) -> list[float]:
        """Return the mean share of the runs for each kind; NaN if no run has one."""
        known = self.shares[i][:, ~np.isnan(self.shares[i][0])]
        return list(known.mean(axis=1).tolist()) if known.size else [np.nan] * len(KINDS)

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the tables that a command prints by default."""
        return ("scales", "cuts") if len(self.runs) <= _WITH_CUTS else ("scales",)

    def tables(self) -> dict[str, Table]:
        """Return the share that is kept by each kind of scale; and for each run, its scales and their shares.

        Their names: "scales" and "cuts".
        """
        return {"scales": self._summary(), "cuts": self._cuts()}

    def _summary(self) -> Table:
        known = np.where(np.isnan(self.shares), np.inf, self.shares)
        lowest = np.where(np.isinf(known.min(axis=2)), np.nan, known.min(axis=2))
        columns: dict[str, npt.ArrayLike] = {
            "share kept": [self._mean_shares(i) for i in range(len(self.sizes))], "lowest": lowest,
            "run": np.where(np.isnan(lowest), "", np.array(self.runs, dtype=object)[known.argmin(axis=2)]),
        }  # fmt: skip
        notes = (
            f"share kept: the mean of {self.measure} with the scale, divided by that with the scores as they are, on "
            f"queries that the scale was not made of; its mean over the runs. Ties within a level are averaged.",
            f"{self.folds} folds of the queries, seed {self.seed}; each is judged by the scales made of the others.",
        )
        return table_by(self.title, {"levels": self.sizes, "scale": KINDS}, columns, notes)

    def _cuts(self) -> Table:
        scales = [[[str(kind[r]) for kind in of_size] for of_size in self.chosen] for r in range(len(self.runs))]
        columns: dict[str, npt.ArrayLike] = {"share kept": self.shares.transpose(2, 0, 1), "precision": scales}
        notes = ("precision: the scale made of all queries, as --precision takes it. The share is that of the folds.",)
        names = {"run": self.runs, "levels": self.sizes, "scale": KINDS}
        return table_by("The scales of each run", names, columns, notes)

    def drawings(self) -> dict[str, Drawing]:
        """Return the figure of the shares by the number of levels. Its name: "scales"."""
        caption = (
            f"The share of {self.measure} that scales keep on queries that they were not made of, by the number of "
            f"levels: the mean of {counted(len(self.runs), 'run')}, and from the lowest to the highest run."
        )
        return {"scales": Drawing(caption, self._draw, (6.0, 4.0), f"{self.measure} kept by scales of few levels")}

    def _draw(self, ax: Axes) -> None:
        shares, places = self.shares, np.arange(len(self.sizes))
        known = shares[:, :, ~np.isnan(shares[0, 0])]
        for kind, name in enumerate(KINDS):
            means = np.array([self._mean_shares(i)[kind] for i in range(len(self.sizes))])
            low = known[:, kind].min(axis=1, initial=np.inf)
            reach = np.abs([low, known[:, kind].max(axis=1, initial=-np.inf)] - means)
            ax.errorbar(places + 0.08 * (kind - 1), means, reach, capsize=3, label=name, **style(kind))
        ax.set_xticks(places, list(map(str, self.sizes)))
        ax.set(xlabel="levels", ylabel=f"share of {self.measure} kept")
        legend_above(ax)
