"""Comparing systems: paired tests, rank correlation, smoothing, agreement of assessors. Needs `tieaware[analysis]`.

SciPy does what SciPy has. Where two samples are equal, its tests have no answer, and these have: nothing was shown,
p = 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.errors import InputError
from tieaware.extras import load

Values = npt.NDArray[np.float64]
Ranking = Mapping[Any, float] | npt.ArrayLike


class PairedTest(NamedTuple):
    """The outcome of a paired test; every field has the shape of the samples without the axis of the pairs.

    Attributes
    ----------
    difference : float64[...]
        The mean of a − b.
    statistic : float64[...]
        Student's t; Wilcoxon's smaller sum of ranks (one-sided: that of the positive differences); the number of
        positive differences; or the mean difference.
    p : float64[...]
    low, high : float64[...] or None
        The confidence interval of the mean difference, from the t-test only. One end of a one-sided interval is
        infinite.
    """

    difference: Values
    statistic: Values
    p: Values
    low: Values | None = None
    high: Values | None = None


def paired_test(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    method: str = "t",
    alternative: str = "two-sided",
    *,
    axis: int = -1,
    confidence: float = 0.95,
    repeats: int = 10_000,
    seed: int = 0,
) -> PairedTest:
    """Test whether the differences of paired values centre on 0, for many pairs of samples at once.

    Parameters
    ----------
    a, b : array_like
        The values, e.g. of two systems on the same topics; broadcast against each other.
    method : str
        "t": Student's t-test. "wilcoxon": the signed-rank test, zeros left out. "sign": the binomial test of the
        signs, zeros left out. "permutation": the mean difference under random signs, all of them where there are no
        more than `repeats`.
    alternative : str
        "two-sided"; "greater": a is more than b; "less".
    axis : int
        The axis of the pairs.
    confidence : float
        Of the interval of the t-test, between 0 and 1.
    repeats, seed : int
        Of the permutation test.

    Returns
    -------
    PairedTest
        Where all differences are equal, t is infinite and p is 0; where all are 0, the statistic is 0 and p is 1.

    Raises
    ------
    InputError
        If a value is not finite, a difference exceeds 1e150, there are fewer than two pairs, or an argument has no
        meaning.

    Examples
    --------
    >>> test = paired_test([0.5, 0.75, 0.25, 1.0], [0.5, 0.5, 0.0, 0.5])
    >>> print(f"{test.difference:.2f} t={test.statistic:.4f} p={test.p:.4f} {test.low:.4f} … {test.high:.4f}")
    0.25 t=2.4495 p=0.0917 -0.0748 … 0.5748
    >>> paired_test([0.5, 0.25], [0.5, 0.25], "wilcoxon").p
    array(1.)
    """
    if method not in _METHODS:
        raise InputError(f"method={method!r}: expected one of {', '.join(_METHODS)}")
    if alternative not in ("two-sided", "greater", "less"):
        raise InputError(f"alternative={alternative!r}: expected two-sided, greater or less")
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence={confidence!r}: expected a number between 0 and 1")
    for name, number, least in (("repeats", repeats, 1), ("seed", seed, 0)):
        _check_whole(number, name, least)
    differences = _differences(_numbers(a, "a"), _numbers(b, "b"))
    if differences.ndim > 0 and not -differences.ndim <= axis < differences.ndim:
        raise InputError(f"axis={axis!r}: expected an axis of an array of shape {differences.shape}")
    if differences.ndim == 0 or differences.shape[axis] < 2:
        raise InputError(f"a: found an array of shape {differences.shape}, expected at least two pairs")
    return _METHODS[method](np.moveaxis(differences, axis, -1), alternative, confidence, int(repeats), int(seed))


def _check_whole(number: object, name: str, least: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < least:
        raise InputError(f"{name}={number!r}: expected a whole number of at least {least}")


def _numbers(values: npt.ArrayLike, name: str) -> Values:
    try:
        array: Values = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: {str(error).splitlines()[0]}, expected numbers") from None
    if not np.isfinite(array).all():
        raise InputError(f"{name}: found {array[~np.isfinite(array)][0]}, expected finite numbers")
    return array


def _differences(a: Values, b: Values) -> Values:
    try:
        with np.errstate(over="ignore"):
            differences: Values = np.asarray(a - b)
    except ValueError:
        raise InputError(f"a, b: shapes {a.shape} and {b.shape}, expected what broadcasts") from None
    # The squares of larger ones overflow.
    if (np.abs(differences) > 1e150).any():
        raise InputError(f"a, b: differ by {np.abs(differences).max()}, expected at most 1e150")
    return differences


def _t(differences: Values, alternative: str, confidence: float, repeats: int, seed: int) -> PairedTest:
    """Student's t; by hand, for SciPy's has no answer without a variance, and warns of it."""
    student = load("scipy.stats", "analysis").t
    n = differences.shape[-1]
    mean = np.asarray(differences.mean(axis=-1))
    # Equal differences have no variance, whatever the rounding of their mean makes of it.
    constant = (differences == differences[..., :1]).all(axis=-1)
    error = np.where(constant, 0.0, differences.std(axis=-1, ddof=1) / math.sqrt(n))
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where((error == 0.0) & (mean == 0.0), 0.0, mean / error)
    tail = {"two-sided": -np.abs(statistic), "greater": -statistic, "less": statistic}[alternative]
    p = student.cdf(tail, n - 1) * (2 if alternative == "two-sided" else 1)
    p = np.where((error == 0.0) & (mean == 0.0), 1.0, p)
    level = confidence if alternative != "two-sided" else (1.0 + confidence) / 2.0
    reach = student.ppf(level, n - 1) * error
    infinite = np.full_like(mean, np.inf)
    low = -infinite if alternative == "less" else mean - reach
    high = infinite if alternative == "greater" else mean + reach
    return PairedTest(mean, statistic, p, low, high)


def _wilcoxon(differences: Values, alternative: str, confidence: float, repeats: int, seed: int) -> PairedTest:
    stats = load("scipy.stats", "analysis")
    mean = np.asarray(differences.mean(axis=-1))
    samples = differences.reshape(mean.size, -1)
    statistic, p = np.zeros(mean.size), np.ones(mean.size)
    for alike in _alike(samples):
        statistic[alike], p[alike] = stats.wilcoxon(samples[alike], alternative=alternative, axis=-1)
    return PairedTest(mean, statistic.reshape(mean.shape), p.reshape(mean.shape))


def _alike(samples: Values) -> Iterator[npt.NDArray[np.intp]]:
    """The samples that are not 0 throughout, a few at a time: of these all hold zeros or none, and likewise ties.

    SciPy goes by zeros and ties when it chooses between the exact distribution and an approximate one, and chooses once
    for all samples of a call. A few dozen at a time cost hardly more than one, and their permutations fit into memory.
    """
    sizes = np.sort(np.abs(samples), axis=-1)
    zeros = sizes[:, 0] == 0.0
    ties = ((np.diff(sizes) == 0.0) & (sizes[:, 1:] > 0.0)).any(axis=-1)
    kinds = np.where(sizes[:, -1] > 0.0, 2 * zeros + ties, -1)
    for kind in range(4):
        alike = np.flatnonzero(kinds == kind)
        for start in range(0, len(alike), 64):
            yield alike[start : start + 64]


def _sign(differences: Values, alternative: str, confidence: float, repeats: int, seed: int) -> PairedTest:
    binomial = load("scipy.stats", "analysis").binom
    positive = (differences > 0.0).sum(axis=-1)
    n = (differences != 0.0).sum(axis=-1)
    less, greater = binomial.cdf(positive, n, 0.5), binomial.sf(positive - 1, n, 0.5)
    p = {"two-sided": np.minimum(2.0 * np.minimum(less, greater), 1.0), "less": less, "greater": greater}[alternative]
    mean = np.asarray(differences.mean(axis=-1))
    return PairedTest(mean, np.asarray(positive, dtype=np.float64), np.where(n == 0, 1.0, p))


def _permutation(differences: Values, alternative: str, confidence: float, repeats: int, seed: int) -> PairedTest:
    stats = load("scipy.stats", "analysis")
    mean = np.asarray(differences.mean(axis=-1))
    samples = differences.reshape(mean.size, -1)
    p = np.ones(mean.size)

    def mean_of(sample: Values, axis: int) -> Values:
        return np.asarray(sample.mean(axis=axis))

    for alike in _alike(samples):
        # A sample that may be paired with nothing: SciPy's way to say random signs. Every call draws the same ones.
        test = stats.permutation_test(
            (samples[alike],), mean_of, permutation_type="samples", vectorized=True, axis=-1, batch=100,
            n_resamples=repeats, alternative=alternative, rng=np.random.default_rng(seed),
        )  # fmt: skip
        p[alike] = test.pvalue
    return PairedTest(mean, mean, p.reshape(mean.shape))


_METHODS: dict[str, Callable[[Values, str, float, int, int], PairedTest]] = {
    "t": _t, "wilcoxon": _wilcoxon, "sign": _sign, "permutation": _permutation,
}  # fmt: skip


def holm(p: npt.ArrayLike) -> Values:
    """Adjust the p values of several tests, so that the chance of any false finding stays below the level.

    Parameters
    ----------
    p : array_like
        p values, in any order and shape.

    Returns
    -------
    float64[...]
        Holm's step-down values, in the same order and shape, at most 1.

    Raises
    ------
    InputError
        If a value is not a number from 0 to 1.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, 0.04])
    array([0.04, 0.09, 0.09, 0.09])
    """
    values = _numbers(p, "p")
    outside = values[(values < 0.0) | (values > 1.0)]
    if outside.size:
        raise InputError(f"p: found {outside[0]}, expected p values, 0 … 1")
    flat = values.ravel()
    order = np.argsort(flat, kind="stable")
    steps = flat[order] * np.arange(len(flat), 0, -1)
    adjusted = np.empty_like(flat)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted.reshape(values.shape)


def _paired(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Values, Values]:
    first, second = _numbers(a, "a"), _numbers(b, "b")
    if first.ndim != 1 or first.shape != second.shape or len(first) < 2:
        shapes = f"{first.shape} and {second.shape}"
        raise InputError(f"a, b: shapes {shapes}, expected scores of the same items, at least two")
    return first, second


def kendall_tau(a: npt.ArrayLike, b: npt.ArrayLike, variant: str = "b") -> float:
    """Correlate two orderings of the same items: Kendall's τ.

    Parameters
    ----------
    a, b : float[n_items]
        The scores of the items, at least two.
    variant : str
        "b": corrected for ties, (C − D) / √((pairs not tied in a) (pairs not tied in b)).
        "a": (C − D) / (all pairs). C and D count the pairs in the same and in opposite order.

    Returns
    -------
    float
        −1 … 1; τ_b is NaN where an ordering ties all items.

    Raises
    ------
    InputError
        If a score is not finite, or the shapes do not fit.

    Examples
    --------
    >>> round(kendall_tau([3, 2, 2, 1], [4, 3, 2, 1]), 4), round(kendall_tau([3, 2, 2, 1], [4, 3, 2, 1], "a"), 4)
    (0.9129, 0.8333)
    """
    if variant not in ("a", "b"):
        raise InputError(f"variant={variant!r}: expected 'a' or 'b'")
    first, second = _paired(a, b)
    tied = [_tied_pairs(first), _tied_pairs(second)]
    pairs = len(first) * (len(first) - 1) / 2
    if pairs in tied:
        return math.nan if variant == "b" else 0.0
    tau = float(load("scipy.stats", "analysis").kendalltau(first, second).statistic)
    return tau if variant == "b" else tau * math.sqrt((pairs - tied[0]) * (pairs - tied[1])) / pairs


def _tied_pairs(scores: Values) -> float:
    sizes = np.unique(scores, return_counts=True)[1]
    return float((sizes * (sizes - 1)).sum() / 2)


def tau_ap(reference: npt.ArrayLike, scores: npt.ArrayLike, ties: str = "a") -> float:
    """Correlate two orderings of the same items, with more weight at the top: AP correlation, with ties.

    Parameters
    ----------
    reference : float[n_items]
        The scores of the items in the true ordering, higher ones first.
    scores : float[n_items]
        Those in the ordering to be judged.
    ties : str
        "a": the mean over all orders of the tied items of `scores` (and of `reference`, if it has any): how accurate
        the ordering is.
        "b": how well the two orderings agree on what they do not tie, where neither is the truth. Each item below the
        first group has the share of the items above its group that the other ordering puts above it too, and does not
        tie with it; the mean share is scaled to −1 … 1, and the two directions are averaged, so that the arguments may
        be exchanged. Without ties it is the symmetric AP correlation.

    Returns
    -------
    float
        −1 … 1; with "b" NaN where an ordering ties all items.

    Raises
    ------
    InputError
        If a score is not finite, or the shapes do not fit.

    References
    ----------
    Yilmaz, E., Aslam, J. A. and Robertson, S. (2008). A new rank correlation coefficient for information retrieval.
    SIGIR 2008. Urbano, J. and Marrero, M. (2017). The treatment of ties in AP correlation. ICTIR 2017.

    Examples
    --------
    >>> truth, scores = [0.9, 0.6, 0.6, 0.2], [0.6, 0.5, 0.5, 0.2]
    >>> round(tau_ap(truth, scores), 4), round(tau_ap(truth, scores, ties="b"), 4)
    (0.8333, 1.0)
    """
    if ties not in ("a", "b"):
        raise InputError(f"ties={ties!r}: expected 'a' or 'b'")
    truth, given = _paired(reference, scores)
    if ties == "a":
        return _tau_ap_mean(truth, given)
    return (_tau_ap_agreement(truth, given) + _tau_ap_agreement(given, truth)) / 2.0


def _tau_ap_mean(truth: Values, given: Values) -> float:
    """2/(n-1) Σ_i [C_i/t_i Σ_{k=1…t_i} 1/(p_i+k-2) + 1/(2 t_i) Σ_{k=1…t_i-1} k/(p_i+k-1)] - 1, over items i.

    Item i's group starts at rank p_i and has t_i items; of those above it C_i precede i in the truth too, and half of
    those that the truth ties with i do.
    """
    n = len(given)
    total = 0.0
    for score in np.unique(given):
        group = np.flatnonzero(given == score)
        above = truth[given > score]
        p, t = len(above) + 1, len(group)
        if p > 1:
            higher = (above[:, None] > truth[group]).sum() + 0.5 * (above[:, None] == truth[group]).sum()
            total += higher / t * (1.0 / np.arange(p - 1, p + t - 1)).sum()
        inside = np.arange(1, t)
        total += 0.5 * (inside / (p + inside - 1)).sum()
    return 2.0 / (n - 1) * float(total) - 1.0


def _tau_ap_agreement(other: Values, given: Values) -> float:
    """2 mean(C_i / (p_i-1)) - 1 over the items i below the first group of `given`, which starts its group at p_i."""
    shares = []
    for score in np.unique(given)[:-1]:
        above, group = other[given > score], other[given == score]
        shares.append((above[:, None] > group).mean(axis=0))
    return 2.0 * float(np.concatenate(shares).mean()) - 1.0 if shares else math.nan


def rbo(
    a: Ranking, b: Ranking, p: float = 0.9, ties: str = "a", *, depth: int | None = None, extrapolate: bool = True
) -> float:
    """Compare two rankings of items that need not be the same: rank-biased overlap, with ties.

    RBO = (1-p)/p Σ_d p^d A_d, where A_d is how well the rankings agree down to rank d.

    Parameters
    ----------
    a, b : {item: score}, or float[n_items] of the same items
        Higher scores first. An item that only one ranking holds is no part of the overlap, and takes its place in the
        ranking that holds it.
    p : float
        The persistence, between 0 and 1: the reader goes on to the next rank with this probability.
    ties : str
        How items count that are tied across rank d.
        "w": those of a group that starts by rank d are all seen: A_d = 2 |both| / (|seen in a| + |seen in b|).
        "a": the mean over all orders of the tied items: A_d = |overlap| / d, each item with its share in the top d.
        "b": the same overlap over what it could be at most, √(Σ share_a² Σ share_b²), so that a ranking with ties
        agrees fully with itself.
    depth : int, optional
        Compare down to this rank; at most, and by default, to the end of the shorter ranking.
    extrapolate : bool
        True: below, the rankings go on to agree as well as at that rank. False: they share nothing more, and the
        result is the least that it can be.

    Returns
    -------
    float
        0 … 1.

    Raises
    ------
    InputError
        If p or depth is out of range, a ranking is empty, a score is not finite, or two arrays differ in length.

    References
    ----------
    Webber, W., Moffat, A. and Zobel, J. (2010). A similarity measure for indefinite rankings. ACM TOIS 28(4).
    Corsi, M. and Urbano, J. (2024). The treatment of ties in rank-biased overlap. SIGIR 2024.

    Examples
    --------
    >>> first, second = {"x": 3, "y": 2, "z": 2}, {"x": 5, "y": 4, "w": 1}
    >>> [round(rbo(first, second, ties=ties), 4) for ties in "wab"]
    [0.712, 0.7075, 0.7179]
    """
    if not 0.0 < p < 1.0:
        raise InputError(f"p={p!r}: expected a number between 0 and 1")
    if ties not in ("w", "a", "b"):
        raise InputError(f"ties={ties!r}: expected 'w', 'a' or 'b'")
    if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int | np.integer) or depth < 1):
        raise InputError(f"depth={depth!r}: expected a whole number of at least 1")
    tops, sizes, shorter = _groups(a, b)
    last = shorter if depth is None else min(int(depth), shorter)
    # What is deeper weighs less than rounding, but for the extrapolation, which wants the agreement at the last rank.
    read = min(last, math.ceil(math.log(1e-17) / math.log(p)))
    agreement = _agreement(tops, sizes, np.arange(1, read + 1), ties)
    overlap = (1.0 - p) / p * float((p ** np.arange(1, read + 1) * agreement).sum())
    if extrapolate and read == last:
        overlap += p**last * float(agreement[-1])
    return overlap


def _groups(a: Ranking, b: Ranking) -> tuple[Values, Values, int]:
    """The first rank and the size of each item's group in both rankings, [2, n_items]; and the shorter length.

    An item that a ranking does not hold is infinitely deep there.
    """
    rankings: list[Mapping[Any, float]] = []
    for name, ranking in (("a", a), ("b", b)):
        given = ranking if isinstance(ranking, Mapping) else _numbered(ranking, name)
        if not given:
            raise InputError(f"{name}: found no items, expected at least one")
        rankings.append(given)
    if not isinstance(a, Mapping) and not isinstance(b, Mapping) and len(rankings[0]) != len(rankings[1]):
        raise InputError(f"a, b: {len(rankings[0])} and {len(rankings[1])} scores, expected those of the same items")
    place: dict[Hashable, int] = {item: i for i, item in enumerate({**rankings[0], **rankings[1]})}
    tops, sizes = np.full((2, len(place)), np.inf), np.ones((2, len(place)))
    for i, (name, ranking) in enumerate(zip("ab", rankings, strict=True)):
        scores = _numbers(list(ranking.values()), name)
        ascending = np.sort(scores)
        items = [place[item] for item in ranking]
        first, end = (np.searchsorted(ascending, scores, side=side) for side in ("left", "right"))
        tops[i, items] = len(scores) - end + 1
        sizes[i, items] = end - first
    return tops, sizes, min(map(len, rankings))


def _numbered(ranking: npt.ArrayLike, name: str) -> dict[int, float]:
    scores = _numbers(ranking, name)
    if scores.ndim != 1:
        raise InputError(f"{name}: an array of {scores.ndim} dimensions, expected {{item: score}} or a score an item")
    return dict(enumerate(scores.tolist()))


def _agreement(tops: Values, sizes: Values, depths: npt.NDArray[np.int64], ties: str) -> Values:
    """A_d for each depth."""
    reached = (tops <= depths[-1]).any(axis=0)
    tops, sizes = tops[:, reached], sizes[:, reached]
    agreement = np.empty(len(depths))
    for i, d in enumerate(depths):
        whole = (tops <= d).astype(np.float64)
        share = np.clip((d - tops + 1.0) / sizes, 0.0, 1.0)
        if ties == "w":
            agreement[i] = 2.0 * (whole[0] * whole[1]).sum() / whole.sum()
        elif ties == "a":
            agreement[i] = (share[0] * share[1]).sum() / d
        else:
            agreement[i] = (share[0] * share[1]).sum() / math.sqrt((share[0] ** 2).sum() * (share[1] ** 2).sum())
    return agreement


def smooth(values: npt.ArrayLike, prior: npt.ArrayLike, alpha: float) -> Values:
    """Mix the values of systems on topics with what is known of the systems: α value + (1-α) prior.

    Parameters
    ----------
    values : float[..., n_systems, n_topics]
        For example average precision.
    prior : float[..., n_systems]
        Each system's mean over the topics of an earlier experiment.
    alpha : float
        The weight of the values, 0 … 1.

    Returns
    -------
    float64[..., n_systems, n_topics]

    Raises
    ------
    InputError
        If alpha is out of range, a value is not finite, or the shapes do not fit.

    References
    ----------
    Ravana, S. D., Park, L. A. F. and Moffat, A. (2009). System scoring using partial prior information. SIGIR 2009.

    Examples
    --------
    >>> smooth([[0.25, 0.75], [0.5, 0.5]], [0.25, 0.75], alpha=0.5)
    array([[0.25 , 0.5  ],
           [0.625, 0.625]])
    """
    if not 0.0 <= alpha <= 1.0:
        raise InputError(f"alpha={alpha!r}: expected a number from 0 to 1")
    array, means = _numbers(values, "values"), _numbers(prior, "prior")
    if array.ndim < 2 or means.shape[-1:] != array.shape[-2:-1]:
        raise InputError(f"prior: shape {means.shape}, expected one for each system of values, {array.shape}")
    smoothed: Values = alpha * array + (1.0 - alpha) * means[..., None]
    return smoothed


def standardize(values: npt.ArrayLike) -> Values:
    """Make topics comparable: Φ((value - μ) / σ), with mean and standard deviation over the systems of each topic.

    Parameters
    ----------
    values : float[..., n_systems, n_topics]
        At least two systems.

    Returns
    -------
    float64[..., n_systems, n_topics]
        0 … 1. σ has the divisor n_systems - 1. A topic on which all systems are equal says nothing, and is NaN.

    Raises
    ------
    InputError
        If a value is not finite, or there are fewer than two systems.

    References
    ----------
    Webber, W., Moffat, A. and Zobel, J. (2008). Score standardization for inter-collection comparison of retrieval
    systems. SIGIR 2008.

    Examples
    --------
    >>> standardize([[0.0, 0.5], [0.5, 0.5], [1.0, 0.5]]).round(4)
    array([[0.1587,    nan],
           [0.5   ,    nan],
           [0.8413,    nan]])
    """
    array = _numbers(values, "values")
    if array.ndim < 2 or array.shape[-2] < 2:
        raise InputError(f"values: shape {array.shape}, expected at least two systems in the last axis but one")
    equal = (array == array[..., :1, :]).all(axis=-2, keepdims=True)
    deviation = np.where(equal, np.nan, array.std(axis=-2, ddof=1, keepdims=True))
    standardized: Values = load("scipy.special", "analysis").ndtr(
        (array - array.mean(axis=-2, keepdims=True)) / deviation
    )
    return standardized


class Kappa(NamedTuple):
    """How far assessors agree beyond chance.

    Attributes
    ----------
    value : float
        The mean over all pairs of assessors.
    pairs : float64[n_assessors, n_assessors]
        Each pair's kappa; 1 on the diagonal.
    meaning : str
        The textbook's scale: "good" above 0.8, "fair" from 0.67, "dubious" below; "undefined" where the value is NaN.
    """

    value: float
    pairs: Values
    meaning: str


def kappa(*assessors: Sequence[Hashable], marginals: str = "pooled") -> Kappa:
    """Measure how far assessors agree beyond chance: (P(agree) - P(chance)) / (1 - P(chance)).

    Parameters
    ----------
    *assessors : sequences
        The labels that each assessor gave to the same documents; at least two assessors.
    marginals : str
        What chance is taken to be. "pooled": both assessors draw labels as often as they gave them together (Scott).
        "separate": each as often as they did alone (Cohen). "uniform": all labels that occur are equally likely.

    Returns
    -------
    Kappa
        NaN where chance alone would make them agree always.

    Raises
    ------
    InputError
        If there are fewer than two assessors, no document, or not the same number of them.

    References
    ----------
    Manning, C. D., Raghavan, P. and Schütze, H. (2008). Introduction to Information Retrieval, section 8.5.

    See Also
    --------
    kappa_of_table : from counts, with the textbook's example.

    Examples
    --------
    >>> outcome = kappa([2, 1, 1, 0], [2, 1, 0, 0], [2, 1, 1, 0])
    >>> outcome.pairs.round(4)
    array([[1.   , 0.619, 1.   ],
           [0.619, 1.   , 0.619],
           [1.   , 0.619, 1.   ]])
    >>> round(outcome.value, 4), outcome.meaning
    (0.746, 'fair')
    """
    _check_marginals(marginals)
    if len(assessors) < 2:
        raise InputError(f"assessors: found {len(assessors)}, expected at least two")
    sizes = {len(labels) for labels in assessors}
    if len(sizes) > 1 or 0 in sizes:
        raise InputError(f"assessors: found {sorted(sizes)} labels, expected the same number from each, at least one")
    codes: dict[Hashable, int] = {}
    coded = np.array([[codes.setdefault(label, len(codes)) for label in labels] for labels in assessors])
    pairs = np.eye(len(assessors))
    shares = [np.bincount(labels, minlength=len(codes)) / len(labels) for labels in coded]
    for i, j in combinations(range(len(assessors)), 2):
        agree = float((coded[i] == coded[j]).mean())
        pairs[i, j] = pairs[j, i] = _beyond_chance(agree, shares[i], shares[j], marginals)
    value = float(pairs[np.triu_indices(len(assessors), 1)].mean())
    return Kappa(value, pairs, _meaning(value))


def kappa_of_table(table: npt.ArrayLike, marginals: str = "pooled") -> Kappa:
    """Measure how far two assessors agree beyond chance, from how often each pair of labels occurred.

    Parameters
    ----------
    table : array_like[n_labels, n_labels]
        In row i and column j: how many documents got label i from the first assessor and j from the second.
    marginals : str
        What chance is taken to be, as in `kappa`; "uniform": all labels of the table are equally likely.

    Returns
    -------
    Kappa
        NaN where chance alone would make them agree always.

    Raises
    ------
    InputError
        If the table is not square, a count is negative or not finite, or all are 0.

    References
    ----------
    Manning, C. D., Raghavan, P. and Schütze, H. (2008). Introduction to Information Retrieval, section 8.5, whose
    example is below; its last steps are rounded there.

    Examples
    --------
    >>> outcome = kappa_of_table([[300, 20], [10, 70]])
    >>> round(outcome.value, 6), outcome.meaning
    (0.77591, 'fair')
    >>> round(kappa_of_table([[300, 20], [10, 70]], "separate").value, 6)
    0.776119
    """
    _check_marginals(marginals)
    counts = _numbers(table, "table")
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise InputError(f"table: shape {counts.shape}, expected a row and a column for each label")
    if (counts < 0.0).any() or not counts.any():
        found = counts.min() if counts.size else "no labels"
        raise InputError(f"table: found {found}, expected counts of at least 0, and one above")
    joint = counts / counts.sum()
    value = _beyond_chance(float(joint.trace()), joint.sum(axis=1), joint.sum(axis=0), marginals)
    return Kappa(value, np.array([[1.0, value], [value, 1.0]]), _meaning(value))


def _check_marginals(marginals: str) -> None:
    if marginals not in ("pooled", "separate", "uniform"):
        raise InputError(f"marginals={marginals!r}: expected pooled, separate or uniform")


def _beyond_chance(agree: float, first: Values, second: Values, marginals: str) -> float:
    """(P(agree) - P(chance)) / (1 - P(chance)), from the shares of the labels of either assessor."""
    if marginals == "uniform":
        chance = 1.0 / len(first)
    elif marginals == "pooled":
        chance = float((((first + second) / 2.0) ** 2).sum())
    else:
        chance = float((first * second).sum())
    return (agree - chance) / (1.0 - chance) if chance < 1.0 else math.nan


def _meaning(value: float) -> str:
    if math.isnan(value):
        return "undefined"
    return "good" if value > 0.8 else "fair" if value >= 0.67 else "dubious"
