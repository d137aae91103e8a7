"""Smoothing with earlier scores of the caller: the order of systems on few topics, with a prior for each system.

The best weight alpha follows from two variances over the systems: v, that of the error of a mean over the topics, and
that of the differences between means and priors, which is v plus the variance of the errors of the priors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number, sequence, shown, unexpected
from tieaware.checks.arrays import Values
from tieaware.checks.rounding import merged, rounding_of
from tieaware.errors import InputError
from tieaware.experiments.evaluating import known_tau
from tieaware.experiments.experiment import Experiment
from tieaware.measures import Measure, parse_measure
from tieaware.output.plots import Axes, Drawing, display_name, style
from tieaware.output.tables import Cell, Table, counted, significant
from tieaware.results import Results, with_values
from tieaware.runtime.extras import load
from tieaware.statistics import standardize
from tieaware.statistics.values import finite


def systems_by_topics(values: Results | npt.ArrayLike, measure: str | Measure | None) -> Values:
    """Return the values of systems on topics; raise InputError if they are not finite or not two-dimensional."""
    if isinstance(values, Results):
        values = with_values(values).values[:, :, place_of(values, measure)]
    elif measure is not None:
        raise InputError("measure", f"must not be given with an array, found {shown(measure)}")
    array = finite(values, "values")
    if array.ndim != 2:
        raise unexpected("values", "two dimensions, systems × topics", f"{array.ndim}")
    return array


def place_of(results: Results, measure: str | Measure | None) -> int:
    """Return the position of a measure among those of the results; without a measure, there must be only one."""
    known = ", ".join(map(str, results.measures))
    if measure is None and len(results.measures) != 1:
        raise InputError("values", f"the results have several measures ({known}): choose one with `measure`")
    wanted = results.measures[0] if measure is None else parse_measure(measure)
    if wanted not in results.measures:
        raise unexpected("measure", f"one of the results' measures, {known}", f"{wanted}")
    return results.measures.index(wanted)


def mean_of_known(values: Values) -> Values:
    """Return the mean over the last axis without NaN. If all values are NaN, it is 0.5, the middle of their range."""
    known = ~np.isnan(values)
    count = known.sum(axis=-1)
    total = values.sum(axis=-1, where=known)
    return np.asarray(np.divide(total, count, out=np.full(total.shape, 0.5), where=count > 0))


KINDS = ("raw", "standardized")
# The most systems whose names the figure and the verdict show.
_NAMED, _IN_VERDICT = 30, 5


class Variances(NamedTuple):
    """The variances that decide how much priors are worth.

    Attributes
    ----------
    of_means : float
        The mean over the systems of the variance of the error of a system's mean. The difficulty of a topic, which is
        the mean of its values over the systems, moves all systems alike, so it is no error of their order.
    of_differences : float
        The variance over the systems of the mean less the prior.
    """

    of_means: float
    of_differences: float

    @classmethod
    def of(cls, values: Values, priors: Values, n_sets: int) -> Variances | None:
        """Return the variances; None if there are too few systems or topics.

        Parameters
        ----------
        values : float64[n_systems, n_topics]
            Topics without values have NaN for all systems.
        priors : float64[n_systems]
        n_sets : int
            The number of sets of priors that were shifted, or 1.
        """
        known = values[:, ~np.isnan(values).any(axis=0)]
        n_systems, n_topics = known.shape
        if n_systems <= n_sets or n_systems < 2 or n_topics < 2:
            return None
        errors = known - known.mean(axis=0)
        # Each system is part of the mean over the systems, so subtracting that mean lowers the variance of every error.
        of_means = errors.var(axis=1, ddof=1).mean() / n_topics * n_systems / (n_systems - 1)
        differences = known.mean(axis=1) - priors
        squares = np.square(differences - differences.mean()).sum()
        rounding = float(rounding_of(known, priors)) ** 2
        return cls(*(0.0 if each <= rounding else float(each) for each in (of_means, squares / (n_systems - n_sets))))

    @property
    def alpha(self) -> float:
        """The best weight of the means: 1 - v / var(mean - prior), in 0 … 1; 1 if the means have no error."""
        if self.of_means == 0.0:
            return 1.0
        return max(0.0, 1.0 - self.of_means / self.of_differences) if self.of_differences else 0.0

    def worth(self, alpha: float) -> float:
        """Return how many times as many topics, without priors, would order the systems as well as this alpha does.

        The error of a smoothed score has the variance alpha² v + (1 - alpha)² u, with the variance u of the errors of
        the priors; that of a mean has the variance v, and it falls as topics are added. At the best alpha, the ratio is
        1 / alpha.
        """
        of_priors = max(0.0, self.of_differences - self.of_means)
        error = alpha**2 * self.of_means + (1.0 - alpha) ** 2 * of_priors
        return self.of_means / error if error else (1.0 if alpha == 1.0 else np.inf)


def smoothed(
    values: Results | npt.ArrayLike,
    alphas: tuple[float, ...] | None,
    measure: str | Measure | None,
    priors: Results | Mapping[str, float] | npt.ArrayLike,
    sets: Mapping[str, str] | Sequence[str] | None = None,
) -> Smoothed:
    """Mix the values of systems with their priors, for each alpha; see `tieaware.experiments.smoothing`."""
    array = systems_by_topics(values, measure)
    if not array.size:
        raise unexpected("values", "at least one system and one topic", f"the shape {array.shape}")
    of_kinds = [array]
    if isinstance(values, Results):
        place = place_of(values, measure)
        systems, chosen = values.runs, values.measures[place]
        less_is_better = chosen.definition.less_is_better
        earlier = _earlier(priors, systems, chosen)
    else:
        systems, less_is_better = tuple(map(str, range(len(array)))), False
        if isinstance(priors, Results | Mapping):
            raise InputError("priors", "must be an array of earlier means, as values is an array without names")
        earlier = finite(priors, "priors")
        if earlier.shape != array.shape[:1]:
            raise unexpected("priors", f"one earlier mean for each of {len(array)} systems", f"shape {earlier.shape}")
    of_priors = [earlier if earlier.ndim == 1 else earlier.mean(axis=1)]
    if earlier.ndim == 2 and len(array) > 1:
        of_kinds.append(standardize(array))
        of_priors.append(mean_of_known(standardize(earlier)))
    of_sets = None if sets is None else _sets(sets, systems)
    prior = np.stack(of_priors)
    means = np.stack([mean_of_known(each) for each in of_kinds])
    if of_sets is not None:
        prior = _shifted(prior, means, of_sets)
    n_sets = 1 if of_sets is None else len(set(of_sets))
    variances = tuple(Variances.of(each, own, n_sets) for each, own in zip(of_kinds, prior, strict=True))
    if alphas is None:
        if variances[0] is None:
            problem = "must be given: to estimate the best alpha takes two topics, and more systems than sets of priors"
            raise InputError("alphas", problem)
        # The priors alone, the estimated best alpha, and the means alone.
        alphas = tuple(sorted({0.0, variances[0].alpha, 1.0}))
    weights = np.array(alphas)[:, None, None]
    mixed = weights * np.stack(of_kinds)[:, None] + (1.0 - weights) * prior[:, None, :, None]
    return Smoothed(alphas, systems, means, prior, mixed, less_is_better, variances, of_sets)


def _sets(sets: Mapping[str, str] | Sequence[str], systems: tuple[str, ...]) -> tuple[str, ...]:
    """Return the set of each system's prior."""
    if isinstance(sets, Mapping):
        lacking = [system for system in systems if system not in sets]
        if lacking:
            raise InputError("sets", f"there is no set of the prior of run {shown(lacking[0])}")
        sets = [sets[system] for system in systems]
    given = sequence("sets", sets, "names")
    if len(given) != len(systems):
        raise unexpected("sets", f"one set for each of {len(systems)} systems", f"{len(given)}")
    return tuple(map(str, given))


def _shifted(priors: Values, means: Values, sets: tuple[str, ...]) -> Values:
    """Return the priors, shifted set by set so that each set has the mean of its systems' measured means."""
    shifted = priors.copy()
    _, of_system = np.unique(sets, return_inverse=True)
    for i in range(of_system.max() + 1):
        own = of_system == i
        shifted[:, own] += means[:, own].mean(axis=1, keepdims=True) - priors[:, own].mean(axis=1, keepdims=True)
    return shifted


def _earlier(priors: Results | Mapping[str, float] | npt.ArrayLike, runs: tuple[str, ...], measure: Measure) -> Values:
    """Return the earlier means of the runs, float64[n_runs], or their earlier values, float64[n_runs, n_topics]."""
    if not isinstance(priors, Results | Mapping):
        raise unexpected("priors", "earlier Results, or a dict of names and means", f"{type(priors).__name__}")
    known = priors.runs if isinstance(priors, Results) else priors
    lacking = [run for run in runs if run not in known]
    if lacking:
        more = f", nor of {counted(len(lacking) - 1, 'other')}" if len(lacking) > 1 else ""
        raise InputError("priors", f"there is no prior of run {shown(lacking[0])}{more}")
    if isinstance(priors, Results):
        rows = [priors.runs.index(run) for run in runs]
        return finite(with_values(priors).values[rows, :, place_of(priors, measure)], "priors")
    return np.array([number(f"priors[{shown(run)}]", priors[run], -np.inf, np.inf, ends=False) for run in runs])


@dataclass(frozen=True, eq=False, repr=False)
class Smoothed(Experiment):
    """The smoothed scores and orders of systems, with priors of the caller.

    Attributes
    ----------
    alphas : tuple of float
        The weights of the measured scores; the priors have the rest of the weight.
    systems : tuple of str
        The names of the systems: those of the runs, or positions.
    means, priors : float64[n_kinds, n_systems]
        The measured mean and the prior of each system, shifted if there are sets. The kinds are raw values and, if the
        priors are results of several runs, values that are standardized over these runs on each topic.
    values : float64[n_kinds, n_alphas, n_systems, n_topics]
        The smoothed values on each topic: alpha times the value, plus 1 - alpha times the prior. NaN
        for standardized values of a topic on which all systems are equal.
    less_is_better : bool
        Whether the measure is one of which a small value is good.
    variances : tuple of Variances or None
        For each kind, the variances from which the best alpha is estimated; None if systems or topics are too few.
    sets : tuple of str or None
        The set that each system's prior comes from, if sets were given.
    """

    alphas: tuple[float, ...]
    systems: tuple[str, ...]
    means: Values
    priors: Values
    values: Values
    less_is_better: bool
    variances: tuple[Variances | None, ...]
    sets: tuple[str, ...] | None = None

    @property
    def alpha(self) -> float | None:
        """The best alpha, estimated from raw values; None if systems or topics are too few.

        It is 1 - v / var(mean - prior), where v is the variance of the error of a mean over the topics.
        """
        return None if self.variances[0] is None else self.variances[0].alpha

    def topics_for(self, alpha: float, *, standardized: bool = False) -> float | None:
        """Return the number of topics that would order the systems as well without priors, as far as the values show.

        At the estimated alpha, it is the number of topics divided by alpha. It may be infinite: the means then differ
        from the priors by no more than the errors of the means. None if systems or topics are too few.
        """
        variances = self.variances[int(standardized)]
        return None if variances is None else variances.worth(alpha) * self._n_topics(int(standardized))

    def _n_topics(self, kind: int) -> int:
        """Return the number of topics with values of this kind."""
        return int((~np.isnan(self.values[kind, 0]).any(axis=0)).sum())

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which states the number of systems and of topics."""
        return (
            f"{counted(len(self.systems), 'system')} on {counted(self.values.shape[3], 'topic')}, with earlier scores"
        )

    heading = "How do earlier scores change the order of the systems?"

    @property
    def scores(self) -> Values:
        """The smoothed score of each system, float64[n_kinds, n_alphas, n_systems]."""
        alphas = np.array(self.alphas)[:, None]
        return alphas * self.means[:, None] + (1.0 - alphas) * self.priors[:, None]

    def order(self, alpha: float, *, standardized: bool = False) -> tuple[str, ...]:
        """Return the systems by smoothed score, the best first; equal scores are in the order of the systems.

        Parameters
        ----------
        alpha : float
            One of `alphas`.
        standardized : bool
            Whether to order by standardized values; needs priors that are Results.

        Returns
        -------
        tuple of str

        Raises
        ------
        InputError
            If alpha was not tried, or there are no standardized values.
        """
        if alpha not in self.alphas:
            raise unexpected("alpha", f"one of {', '.join(f'{each:g}' for each in self.alphas)}", shown(alpha))
        if standardized and len(self.means) < 2:
            raise InputError(
                "standardized", "needs priors that are Results of several runs, with a value for each topic"
            )
        best_first = self._best_first(int(standardized), self.alphas.index(alpha))
        return tuple(self.systems[i] for i in best_first)

    def _best_first(self, kind: int, i: int) -> list[int]:
        scores = merged(self.scores[kind, i])
        return list(np.argsort(scores if self.less_is_better else -scores, kind="stable").tolist())

    def verdict(self) -> str:
        """Return how many topics the priors are worth, and the systems that are the best with them.

        The verdict is for the estimated alpha. If that was not tried, it is for the smallest alpha above 0.
        """
        tried = self.alpha is not None and self.alpha in self.alphas
        alpha = self.alpha if tried else min((each for each in self.alphas if each > 0.0), default=self.alphas[0])
        assert alpha is not None
        order = self.order(alpha)
        best = ", ".join(order[:_IN_VERDICT]) + (
            f" and {counted(more, 'other')}" if (more := len(order) - _IN_VERDICT) > 0 else ""
        )
        tau = self._taus(0)[self.alphas.index(alpha)]
        against = "" if tau is None else f" Kendall's τ with their order without earlier scores is {significant(tau)}."
        return f"{self._worth(alpha)}At alpha {alpha:.3g}, the order of the systems is {best}.{against}"

    def _worth(self, alpha: float) -> str:
        """Return how many topics the priors save at an alpha, and at the estimated one; empty if that is unknown."""
        best, topics = self.alpha, self.topics_for(alpha)
        if best is None or topics is None:
            return ""
        n, is_best = counted(self._n_topics(0), "topic"), alpha == best
        saved = (
            f"the priors are worth more topics than can be told: the means over {n} differ from them by no more than "
            "the errors of the means"
        )
        if topics < np.inf:
            # The number is rounded down, but not because of rounding errors.
            saved = f"{n} order the systems about as well as {int(topics + 1e-9):,} without priors"
        estimated = ", which is estimated from the values" if is_best else ""
        other = "" if is_best else f" The estimated best alpha is {best:.3g}."
        return f"With alpha {alpha:.3g}{estimated}, {saved}.{other} "

    def _taus(self, kind: int) -> list[float | None]:
        """Return Kendall's τ_b of the order at each alpha with the order of the measured means."""
        return [known_tau(self.means[kind], scores) for scores in self.scores[kind]]

    def tables(self) -> dict[str, Table]:
        """Return the tables: the smoothed score and the rank of each system, and how much the orders change.

        Their names: "smoothed" and "orders".
        """
        tables = {"smoothed": self._scores()}
        taus = [
            (kind, alpha, tau, self.topics_for(alpha, standardized=bool(k)))
            for k, kind in enumerate(KINDS[: len(self.means)])
            for alpha, tau in zip(self.alphas, self._taus(k), strict=True)
        ]
        notes = (
            "tau: Kendall's τ_b between the order by smoothed scores and the order by the measured means alone.",
            "topics: how many would order the systems as well without priors, estimated from the variances of the "
            "means' errors and of the differences between means and priors.",
        )
        return {**tables, "orders": Table("Orders of the systems", ("values", "alpha", "tau", "topics"), taus, notes)}

    def _scores(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for k, kind in enumerate(KINDS[: len(self.means)]):
            scores = self.scores[k]
            best_first = merged(scores) * (1 if self.less_is_better else -1)
            # Equal scores share the best of their ranks.
            ranks = load("scipy.stats", "analysis").rankdata(best_first, "min", axis=1)
            for s in self._best_first(k, -1):
                numbers = [cell for i in range(len(self.alphas)) for cell in (float(scores[i, s]), int(ranks[i, s]))]
                name = (self.systems[s],) if self.sets is None else (self.systems[s], self.sets[s])
                rows.append((kind, *name, float(self.means[k, s]), float(self.priors[k, s]), *numbers))
        of_alphas = [name for alpha in self.alphas for name in (f"score {alpha:g}", f"rank {alpha:g}")]
        columns = ("values", "system", *(() if self.sets is None else ("set",)), "mean", "prior", *of_alphas)
        return Table(self.title, columns, rows, self._notes())

    def _notes(self) -> tuple[str, ...]:
        known = zip(KINDS, self.variances, strict=False)
        estimates = ", ".join(f"{each.alpha:.3g} for {kind} values" for kind, each in known if each is not None)
        notes = (
            f"mean: over {counted(self.values.shape[3], 'topic')}. score A: A · mean + (1 − A) · prior, for each alpha "
            "A. rank A: by this score; equal scores have the same rank. Rows are sorted by rank "
            f"{self.alphas[-1]:g}.",
            f"The estimated best alpha is {estimates}." if estimates else "",
            "prior: shifted so that the priors of a set have the mean of their systems' means." if self.sets else "",
            "standardized: Φ((x − μ)/σ) over these systems on each topic, σ with the divisor n − 1; topics with σ = 0 "
            "are left out." if len(self.means) > 1 else "",
        )  # fmt: skip
        return tuple(filter(None, notes))

    def drawings(self) -> dict[str, Drawing]:
        """Return a figure of the smoothed scores by alpha for each kind of values.

        Their names: "smoothed", and with Results as priors "smoothed-standardized".
        """
        height = max(4.0, 0.16 * min(len(self.systems), _NAMED) + 1.5)
        return {
            name: Drawing(
                f"The score of each system by alpha, the weight of its mean on {counted(self.values.shape[3], 'topic')}"
                f", by {kind} values: the prior at the left, the mean at the right. Where lines cross, the order "
                "changes. Dotted: the alphas of the table.",
                lambda ax, k=k: self._draw(ax, k),  # type: ignore[misc]
                (7.0, height),
                f"Smoothed scores, {kind} values",
            )
            for k, (name, kind) in enumerate(zip(("smoothed", "smoothed-standardized"), KINDS, strict=True))
            if k < len(self.means)
        }

    def _draw(self, ax: Axes, kind: int) -> None:
        means, priors = self.means[kind], self.priors[kind]
        for alpha in self.alphas:
            ax.axvline(alpha, color="#bbbbbb", linestyle=":", linewidth=1.0)
        for s, (prior, mean) in enumerate(zip(priors.tolist(), means.tolist(), strict=True)):
            ax.plot([0.0, 1.0], [prior, mean], **{**style(s), "markersize": 4})
        if len(means) <= _NAMED:
            self._name(ax, means)
        ax.set(xlim=(-0.02, 1.02), xlabel="α: the weight of the measured mean; the rest is the prior's", ylabel="score")

    def _name(self, ax: Axes, means: Values) -> None:
        """Write the names of the systems at the right ends of their lines."""
        low, high = ax.get_ylim()
        # Names that would overlap are moved apart, from the lowest upwards, and then back below the top.
        by_height = np.argsort(means, kind="stable")
        steps = (high - low) / max(26, len(means)) * np.arange(len(means))
        heights = np.maximum.accumulate(means[by_height] - steps) + steps
        heights = np.minimum(heights, high - steps[::-1])
        for s, at in zip(by_height.tolist(), heights.tolist(), strict=True):
            ax.plot([1.015, 1.06], [means[s], at], color="#999999", linewidth=0.6, clip_on=False)
            ax.text(1.07, at, display_name(self.systems[s]), va="center", fontsize=8, color=style(s)["color"])
        ax.set_ylim(low, high)
