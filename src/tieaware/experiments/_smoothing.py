"""The smoothing experiment: how much earlier scores from other topics help to order systems.

In each repeat the systems are split into halves X and Y, and three disjoint sets of topics are drawn: Qa, Qb and Qc.
The earlier scores of X are from Qa, the earlier scores of Y are from Qb, and all systems are measured on Qc. A system's
score is α · mean(Qc) + (1-α) · mean(Qa or Qb). The baseline measures all systems on Qa and Qc. The quality of an order
of the systems is its correlation with their order on all topics. The sizes of the sets and of X can be chosen.

If the caller has earlier scores, nothing is drawn: `_smoothed` mixes them with the values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import checked_seed, number, numbers, sequence, unexpected, whole_number
from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import merged
from tieaware.defaults import LARGEST_SET, SMOOTHING_ALPHAS
from tieaware.errors import InputError
from tieaware.experiments._smoothed import KINDS, Smoothed, mean_of_known, smoothed, systems_by_topics
from tieaware.experiments.experiment import Experiment
from tieaware.measures import Measure
from tieaware.output.plots import COLOURS, Axes, Drawing, legend_above
from tieaware.output.tables import Table, counted, significant, table_by
from tieaware.results import Results
from tieaware.runtime.progress import progress
from tieaware.statistics import kendall_taus, smooth, standardize


@overload
def smoothing(
    values: Results | npt.ArrayLike,
    alphas: Sequence[float] | None = ...,
    *,
    measure: str | Measure | None = None,
    repeats: int = 10_000,
    topics: int | Sequence[int] | None = None,
    seed: int = 0,
    share: float = 0.5,
    priors: None = None,
) -> Smoothing: ...


@overload
def smoothing(
    values: Results | npt.ArrayLike,
    alphas: Sequence[float] | None = ...,
    *,
    measure: str | Measure | None = None,
    priors: Results | Mapping[str, float] | npt.ArrayLike,
    sets: Mapping[str, str] | Sequence[str] | None = ...,
) -> Smoothed: ...


def smoothing(
    values: Results | npt.ArrayLike,
    alphas: Sequence[float] | None = None,
    *,
    measure: str | Measure | None = None,
    repeats: int = 10_000,
    topics: int | Sequence[int] | None = None,
    seed: int = 0,
    share: float = 0.5,
    priors: Results | Mapping[str, float] | npt.ArrayLike | None = None,
    sets: Mapping[str, str] | Sequence[str] | None = None,
) -> Smoothing | Smoothed:
    """Order systems by smoothed scores: in a simulation of earlier scores, or with the caller's own earlier scores.

    Each repeat of the simulation draws three sets of topics. Half of the systems, or another share, have earlier scores
    from the first set, the others from the second set, and all systems are measured on the third set. With `priors`,
    nothing is drawn: the earlier scores are those of the caller, and the result is a `Smoothed`.

    Parameters
    ----------
    values : float[n_systems, n_topics], or Results
        For example the AP of each run on each topic; at least four systems.
    alphas : sequence of float, optional
        The weights of the scores on the third set of topics, each from 0 to 1. The earlier scores have the rest of the
        weight. By default 0, 0.5, 0.8 and 1; with `priors` 0, 1 and the best alpha, which is estimated from the values.
    measure : str or Measure, optional
        The measure of the Results to use; needed only if the Results have several measures.
    repeats : int
        The number of random splits, at least 1.
    topics : int or sequence of three int, optional
        The size of each of the three sets of topics, or the sizes of the first, second and third set, at least 1; by
        default 25, or a third of all topics if there are fewer than 75.
    seed : int
        The seed of the random splits, at least 0.
    share : float
        The share of the systems whose earlier scores are from the first set, between 0 and 1. Their number is rounded
        down, and at least two systems must be in either part.
    priors : dict of str to float, Results, or float[n_systems], optional
        The caller's own earlier scores: the earlier mean of each run by name, or earlier results of the same runs and
        measure, or the earlier means in the order of an array of values. Not with `repeats`, `topics`, `seed` and
        `share`, which are for the simulation.
    sets : dict of str to str, or sequence of str, optional
        The set of topics that each prior comes from: by name, or in the order of an array of values. The priors of a
        set are then shifted so that they have the mean of their systems on the new topics, because the topics of
        another set may be easier. Only with `priors`.

    Returns
    -------
    Smoothing or Smoothed
        The quality of the orders for the baseline and each alpha, in each repeat. With `priors`, the smoothed values
        and the orders of the systems for each alpha.

    Raises
    ------
    InputError
        If there are fewer than 4 systems, or fewer topics than the three sets need; if a value is not finite; if an
        argument is out of range; or if a run has no prior or no set; or
        without `alphas`, if there are too few topics or systems to estimate the best alpha.

    References
    ----------
    Ravana, S. D., Park, L. A. F. and Moffat, A. (2009). System scoring using partial prior information. SIGIR 2009.
    Webber, W., Moffat, A. and Zobel, J. (2008). Score standardization for inter-collection comparison of retrieval
    systems. SIGIR 2008.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> values = random.random((20, 1)) / 2 + random.random((20, 30)) / 2      # systems that differ, and noise
    >>> outcome = smoothing(values, [0, 0.5, 1], repeats=500, topics=5)
    >>> outcome.best
    {'raw': 0.5, 'standardized': 0.5}

    Earlier scores of the caller:

    >>> smoothing([[0.5, 0.7], [0.6, 0.9]], [0.25, 1], priors=[0.9, 0.3]).order(0.25)
    ('0', '1')
    """
    if priors is not None:
        for name, given in (("repeats", repeats != 10_000), ("topics", topics is not None), ("seed", seed != 0),
                            ("share", share != 0.5)):  # fmt: skip
            if given:
                raise InputError(name, "must not be given with priors: nothing is drawn")
        return smoothed(values, None if alphas is None else _weights(alphas), measure, priors, sets)
    if sets is not None:
        raise InputError("sets", "must not be given without priors")
    array = systems_by_topics(values, measure)
    n_systems, n_topics = array.shape
    repeats = whole_number("repeats", repeats, 1, 10**9)
    sizes = _sizes(topics, n_topics)
    seed = checked_seed(seed)
    share = number("share", share, 0, 1, ends=False)
    if n_systems < 4:
        raise InputError("values", f"two halves of systems need at least 4 systems, found {n_systems}")
    # A share such as 0.29 of 100 systems is a little less than 29 in floating point.
    n_first = int(share * n_systems + 1e-9)
    if not 2 <= n_first <= n_systems - 2:
        parts = f"{n_first} and {n_systems - n_first}"
        raise InputError("share", f"both parts need at least 2 systems; {share} of {n_systems} makes {parts}")
    if n_topics < sum(sizes):
        sets = f"three sets of {_counted_topics(sizes)}"
        raise InputError("values", f"{sets} need at least {sum(sizes)} topics, found {n_topics}")
    weights = _weights(SMOOTHING_ALPHAS if alphas is None else alphas)
    truths = np.stack([array.mean(axis=1), mean_of_known(standardize(array))])
    random = np.random.default_rng(seed)
    taus = np.empty((len(KINDS), 1 + len(weights), repeats))
    # Process the repeats in batches, to limit the memory for the values of the halves of the systems.
    step = max(1, 2**22 // (n_systems * max(*sizes, n_systems)))
    for start in progress(range(0, repeats, step), "smoothing"):
        n = min(step, repeats - start)
        scores = _scores(array, weights, sizes, random, n, n_first)
        for kind in range(len(KINDS)):
            taus[kind, :, start : start + n] = _taus(truths[kind], scores[kind])
    return Smoothing(weights, taus, n_systems, n_topics, sizes[2], seed, sizes, n_first)


def _weights(alphas: Sequence[float]) -> tuple[float, ...]:
    weights = numbers("alphas", alphas, 0, 1)
    if not weights:
        raise unexpected("alphas", "at least one", "none")
    return weights


def _sizes(topics: int | Sequence[int] | None, n_topics: int) -> tuple[int, int, int]:
    """Return the sizes of the three sets of topics."""
    if topics is None:
        topics = max(1, min(LARGEST_SET, n_topics // 3))
    if isinstance(topics, str) or not isinstance(topics, Sequence | np.ndarray):
        size = whole_number("topics", topics, 1, 10**9)
        return size, size, size
    sizes = sequence("topics", topics, "whole numbers")
    if len(sizes) != 3:
        raise unexpected("topics", "a size, or the sizes of three sets", f"{len(sizes)} of them")
    a, b, c = (whole_number(f"topics[{i}]", size, 1, 10**9) for i, size in enumerate(sizes))
    return a, b, c


def _counted_topics(sizes: tuple[int, int, int]) -> str:
    """Return the sizes of the sets in words, such as "25 topics" or "25, 25 and 50 topics"."""
    a, b, c = sizes
    return counted(a, "topic") if a == b == c else f"{a:,}, {b:,} and {counted(c, 'topic')}"


def _scores(
    values: Values, alphas: tuple[float, ...], sizes: tuple[int, int, int], random: np.random.Generator, repeats: int,
    n_first: int,
) -> Values:  # fmt: skip
    """Return the scores of the systems; the axes are raw or standardized, baseline or alpha, repeat, and system."""
    n_systems, n_topics = values.shape
    systems = random.permuted(np.tile(np.arange(n_systems), (repeats, 1)), axis=1)
    drawn = random.permuted(np.tile(np.arange(n_topics), (repeats, 1)), axis=1)
    to_a, to_b, to_c = np.cumsum(sizes)
    of_a, of_b, of_c = drawn[:, :to_a], drawn[:, to_a:to_b], drawn[:, to_b:to_c]
    standardized = standardize(values)
    scores = np.empty((len(KINDS), 1 + len(alphas), repeats, n_systems))
    for kind, of_all in enumerate((values, standardized)):
        now = _means(of_all, of_c)
        scores[kind, 0] = _means(of_all, np.concatenate((of_a, of_c), axis=1))
        prior = np.empty((repeats, n_systems))
        for members, known in ((systems[:, :n_first], of_a), (systems[:, n_first:], of_b)):
            earlier = values[members[:, :, None], known[:, None, :]]
            earlier = standardize(earlier) if kind else earlier
            np.put_along_axis(prior, members, mean_of_known(earlier), axis=1)
        for i, alpha in enumerate(alphas):
            scores[kind, 1 + i] = smooth(now[..., None], prior, alpha)[..., 0]
    return scores


def _means(values: Values, topics: Integers) -> Values:
    """Return the mean of each system over each set of topics, leaving out NaN: [n_sets, n_systems]."""
    return mean_of_known(np.moveaxis(values[:, topics], 0, 1))


def _taus(truth: Values, scores: Values) -> Values:
    """Return Kendall's τ_b of many orders of systems with the true order; 0 for an order in which all systems tie."""
    taus = kendall_taus(truth, scores)
    return np.where(np.isnan(taus), 0.0, taus)


@dataclass(frozen=True, eq=False, repr=False)
class Smoothing(Experiment):
    """The quality of the orders of systems, for raw and standardized values, the baseline and each alpha.

    Attributes
    ----------
    alphas : tuple of float
        The weights of the scores on the third set of topics, on which all systems are measured.
    taus : float64[2, 1 + n_alphas, n_repeats]
        Kendall's τ_b with the order on all topics. Axes: raw or standardized values; the baseline, then each alpha;
        repeat.
    n_systems, n_topics, topics, seed : int
        The number of systems and topics, the size of the third set of topics, and the seed of the splits.
    sizes : tuple of three int
        The sizes of the three sets of topics.
    n_first : int
        The number of systems whose earlier scores are from the first set.
    """

    alphas: tuple[float, ...]
    taus: Values
    n_systems: int
    n_topics: int
    topics: int
    seed: int
    sizes: tuple[int, int, int]
    n_first: int

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which states the number of systems and of repeats."""
        return f"Ordering {self.n_systems} systems with earlier scores from other topics, {self._repeats}"

    @property
    def _repeats(self) -> str:
        return counted(self.taus.shape[2], "repeat")

    heading = "How much do earlier scores, from other topics, help to order systems?"

    def verdict(self) -> str:
        """Return the quality of the order at the best alpha, without earlier scores, and with more topics in common.

        Examples
        --------
        >>> rng = np.random.default_rng(3)
        >>> outcome = smoothing(np.linspace(0.0, 1.0, 10)[:, None] + rng.normal(size=(10, 30)), repeats=20)
        >>> outcome.verdict().partition(",")[0]
        'Earlier scores from other topics help: the order of the systems is best at alpha 0.5 (the best of 4 tried)'
        """
        best, (raw, *others), standardized = self.best, self._qualities(0), self._qualities(1)
        n = len(self.alphas)
        tried = f" (the best of {n} tried)" if n > 1 else ""
        start = "The order of the systems is best"
        if 1.0 in self.alphas:
            help_or_not = "help" if best["raw"] < 1.0 else "do not help"
            start = f"Earlier scores from other topics {help_or_not}: the order of the systems is best"
        against = [f"{others[-1]} if all systems are measured on both sets of topics"]
        against = [*(f"{other} without earlier scores (alpha 1)" for other in others[:-1]), *against]
        start = f"{start} at alpha {best['raw']:g}{tried}"
        return (
            f"{start}, where its mean Kendall's τ with the order on all topics is {raw}, "
            f"against {' and '.join(against)}. With standardized values it is best at alpha "
            f"{best['standardized']:g}: {standardized[0]}, against {' and '.join(standardized[1:])}."
        )

    def _qualities(self, kind: int) -> list[str]:
        """Return the mean τ at the best alpha; at alpha 1, if it was tried and is not the best; and of the baseline."""
        means = self.taus[kind].mean(axis=1).tolist()
        best = self.best[KINDS[kind]]
        alphas = [best, 1.0] if 1.0 in self.alphas and self.best["raw"] < 1.0 else [best]
        return [significant(mean) for mean in (*(means[1 + self.alphas.index(alpha)] for alpha in alphas), means[0])]

    @property
    def best(self) -> dict[str, float]:
        """The alpha with the highest mean τ, for raw and for standardized values."""
        means = self.taus[:, 1:].mean(axis=2)
        return {kind: self.alphas[int(np.argmax(row))] for kind, row in zip(KINDS, merged(means), strict=True)}

    def tables(self) -> dict[str, Table]:
        """Return the table of the distribution of τ for the baseline and each alpha.

        Its name: "smoothing".
        """
        designs = ["all systems on two sets of topics", *(f"smoothed, alpha {alpha:g}" for alpha in self.alphas)]
        shape, several = self.taus.shape[:2], self.taus.shape[2] > 1
        quantiles = np.quantile(self.taus, (0.05, 0.5, 0.95), axis=2)
        columns: dict[str, npt.ArrayLike] = {
            "mean tau": self.taus.mean(axis=2),
            "sd": self.taus.std(axis=2, ddof=1) if several else np.full(shape, np.nan),
            **dict(zip(("5 %", "median", "95 %"), quantiles, strict=True)),
            "best": [["best alpha" * (alpha == self.best[kind]) for alpha in (None, *self.alphas)] for kind in KINDS],
        }
        names = {"values": KINDS, "design": designs}
        return {"smoothing": table_by(self.title, names, columns, self._notes())}

    def _notes(self) -> tuple[str, ...]:
        return (
            f"tau: Kendall's τ_b with the order on all {self.n_topics} topics, by raw or by standardized means. "
            "These topics contain the sampled ones, which favours every design.",
            "alpha: the weight of the set of topics on which all systems are measured; the rest is the weight of the "
            "earlier scores, which each part of the systems has from a set of topics of its own.",
            f"{'Halves' if self.n_first == self.n_systems // 2 else 'Parts'} of {self.n_first} and "
            f"{self.n_systems - self.n_first} systems; three disjoint sets of {_counted_topics(self.sizes)} in each of "
            f"{self._repeats}; seed {self.seed}.",
            "standardized: Φ((x − μ)/σ) over the systems measured on the topic, σ with the divisor n − 1; topics with "
            "σ = 0 are left out. The earlier values of each part of the systems are standardized without the other "
            "part, so that they no longer show which part is better.",
        )

    def drawings(self) -> dict[str, Drawing]:
        """Return the figure of the distributions of τ for the baseline and each alpha.

        Its name: "smoothing".
        """
        caption = (
            f"Kendall's τ_b with the order of {self.n_systems} systems on all {self.n_topics} topics, over "
            f"{self._repeats}. Box: quartiles and median; whiskers: 5 % and 95 %."
        )
        width = max(7.0, 0.55 * self.taus.shape[1] + 1.5)
        return {"smoothing": Drawing(caption, self._draw, (width, 4.2), "Agreement of the orders of systems")}

    def _draw(self, ax: Axes) -> None:
        places = np.arange(self.taus.shape[1])
        for kind, (name, taus) in enumerate(zip(KINDS, self.taus, strict=True)):
            boxes = ax.boxplot(
                list(taus), positions=list(places + (kind - 0.5) * 0.36), widths=0.3, whis=(5, 95), showfliers=False,
                patch_artist=True, boxprops={"facecolor": "#ffffff", "edgecolor": COLOURS[kind]},
                medianprops={"color": "#000000"}, whiskerprops={"color": COLOURS[kind]},
                capprops={"color": COLOURS[kind]},
            )  # fmt: skip
            for box in boxes["boxes"]:
                box.set_hatch("" if kind == 0 else "////")
            boxes["boxes"][0].set_label(name)
        ax.set_xticks(places, ["all on\ntwo sets", *(f"{alpha:g}" for alpha in self.alphas)])
        ax.set_xlabel("baseline, and α: the weight of the topics on which all systems are measured")
        ax.set_ylabel(r"Kendall's $\tau_b$ with the order on all topics")
        legend_above(ax)
