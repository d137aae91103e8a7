"""Rank correlation with ties: Kendall's τ, AP correlation and rank-biased overlap.

The scores may be means. Equal means can differ in their last bits, so scores that differ by less than a share of 1e-12
tie, unless all are whole numbers. Scores of documents in runs tie only if they are equal: see
`tieaware.statistics.run_overlap`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import flag, number, one_of, whole_number
from tieaware.checks.arrays import Values
from tieaware.checks.rounding import merged, ratio
from tieaware.errors import InputError
from tieaware.runtime.extras import load
from tieaware.statistics.run_overlap import moments_of_overlap
from tieaware.statistics.values import finite

Ranking: TypeAlias = Mapping[Any, float] | npt.ArrayLike
# The letters that the literature gives to the variants of each coefficient.
Variant: TypeAlias = Literal["a", "b"]
OverlapVariant: TypeAlias = Literal["w", "a", "b"]


def _paired(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Values, Values]:
    """Return the scores of the same items in two orderings as arrays, or raise InputError."""
    first, second = finite(a, "a"), finite(b, "b")
    if first.ndim != 1 or first.shape != second.shape or len(first) < 2:
        raise _not_of_same_items("a, b", first, second)
    return merged(first), merged(second)


def _not_of_same_items(arguments: str, first: Values, second: Values) -> InputError:
    shapes = f"their shapes are {first.shape} and {second.shape}"
    return InputError(arguments, f"must be scores of the same items, at least two; {shapes}")


def kendall_tau(a: npt.ArrayLike, b: npt.ArrayLike, variant: Variant = "b") -> float:
    """Return Kendall's τ, the correlation of two orderings of the same items.

    Parameters
    ----------
    a, b : float[n_items]
        The scores of at least two items, such as the means of systems: means that differ only by rounding are equal.
    variant : str
        "b": (C − D) / √((pairs not tied in a) (pairs not tied in b)), which corrects for ties. "a": (C − D) / (all
        pairs). C and D are the numbers of pairs in the same order and in opposite order.

    Returns
    -------
    float
        −1 … 1; τ_b is NaN if an ordering ties all items.

    Raises
    ------
    InputError
        If a score is not finite, the shapes differ, or the variant is unknown.

    References
    ----------
    Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33.

    Examples
    --------
    >>> round(kendall_tau([3, 2, 2, 1], [4, 3, 2, 1]), 4), round(kendall_tau([3, 2, 2, 1], [4, 3, 2, 1], "a"), 4)
    (0.9129, 0.8333)
    """
    one_of("variant", variant, get_args(Variant))
    first, second = _paired(a, b)
    tied = [_tied_pairs(first), _tied_pairs(second)]
    pairs = len(first) * (len(first) - 1) / 2
    if pairs in tied:
        return math.nan if variant == "b" else 0.0
    tau = float(load("scipy.stats", "analysis").kendalltau(first, second).statistic)
    return tau if variant == "b" else tau * math.sqrt((pairs - tied[0]) * (pairs - tied[1])) / pairs


def kendall_taus(reference: npt.ArrayLike, orderings: npt.ArrayLike) -> Values:
    """Return Kendall's τ_b between one ordering and each of many others of the same items.

    Results and errors as for `kendall_tau`, in the shape of the orderings without the last axis.

    Parameters
    ----------
    reference : float[n_items]
        The scores of at least two items in the one ordering.
    orderings : float[..., n_items]
        The scores of the same items in the other orderings.

    Examples
    --------
    >>> kendall_taus([4, 3, 2, 1], [[3, 2, 2, 1], [1, 2, 3, 4]]).round(4)
    array([ 0.9129, -1.    ])
    """
    truth, scores = finite(reference, "reference"), finite(orderings, "orderings")
    if truth.ndim != 1 or scores.shape[-1:] != truth.shape or len(truth) < 2:
        raise _not_of_same_items("reference, orderings", truth, scores)
    truth, scores = merged(truth), merged(scores)
    first, second = np.triu_indices(len(truth), 1)
    of_truth = np.sign(truth[first] - truth[second])
    signs = np.sign(scores[..., first] - scores[..., second])
    untied = np.sqrt((of_truth != 0).sum() * (signs != 0).sum(axis=-1).astype(np.float64))
    return ratio(signs @ of_truth, untied)


def _tied_pairs(scores: Values) -> float:
    """Count the pairs of items with equal scores."""
    sizes = np.unique(scores, return_counts=True)[1]
    return float((sizes * (sizes - 1)).sum() / 2)


def tau_ap(reference: npt.ArrayLike, scores: npt.ArrayLike, ties: Variant = "a") -> float:
    """Return the AP correlation of two orderings of the same items, which gives the top more weight; ties may occur.

    Errors as for `kendall_tau`.

    Parameters
    ----------
    reference : float[n_items]
        The scores of the items in the true ordering; a higher score stands first.
    scores : float[n_items]
        The scores of the items in the ordering to evaluate.
    ties : str
        "a": the mean over all orders of the tied items, in `scores` and in `reference`. It measures how accurate the
        ordering is.
        "b": for two orderings, neither of them the truth: their agreement on the items that they do not tie. For
        each item below the first tie group of one ordering, take all items above the item's group, and compute the
        share of them that the other ordering also puts above the item. The mean share is scaled to −1 … 1 and averaged
        over both directions, so the arguments may be exchanged. Without ties, "b" is the symmetric AP correlation.

    Returns
    -------
    float
        −1 … 1; with "b", NaN if an ordering ties all items.

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
    one_of("ties", ties, get_args(Variant))
    truth, given = _paired(reference, scores)
    if ties == "a":
        return _tau_ap_mean(truth, given)
    return (_tau_ap_agreement(truth, given) + _tau_ap_agreement(given, truth)) / 2.0


def _tau_ap_mean(truth: Values, given: Values) -> float:
    """Return 2/(n-1) Σ_i [C_i/t_i Σ_{k=1…t_i} 1/(p_i+k-2) + 1/(2 t_i) Σ_{k=1…t_i-1} k/(p_i+k-1)] - 1.

    The sum is over all items i. The group of item i starts at rank p_i and has t_i items. C_i is the number of items
    above this group that also precede i in the truth; an item that the truth ties with i counts half.
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
    """Return 2 mean(C_i / (p_i-1)) - 1 over the items i below the first group of `given`.

    The group of item i in `given` starts at rank p_i. C_i of the items above this group precede i in `other`, too.
    """
    shares = []
    for score in np.unique(given)[:-1]:
        above, group = other[given > score], other[given == score]
        shares.append((above[:, None] > group).mean(axis=0))
    return 2.0 * float(np.concatenate(shares).mean()) - 1.0 if shares else math.nan


def rbo(
    a: Ranking,
    b: Ranking,
    p: float = 0.9,
    ties: OverlapVariant = "a",
    *,
    depth: int | None = None,
    extrapolate: bool = True,
) -> float:
    """Return the rank-biased overlap of two rankings, which may have different items and ties.

    RBO = (1-p)/p Σ_d p^d A_d, where A_d is the agreement of the rankings down to rank d.

    Parameters
    ----------
    a, b : dict of score by item, or float[n_items] of the same items
        The scores of the items; a higher score stands first. An item of only one ranking occupies its rank there and
        adds nothing to the overlap.
    p : float
        The persistence, between 0 and 1: the probability that the reader goes on to the next rank.
    ties : str
        The treatment of a group of tied items that rank d divides.
        "w": all items of the group count: A_d = 2 |both| / (|seen in a| + |seen in b|).
        "a": the mean over all orders of the tied items: A_d = |overlap| / d, where each item of the group counts with
        the share of the group that is above rank d.
        "b": the overlap of "a" divided by its largest possible value, √(Σ share_a² Σ share_b²), so that a ranking with
        ties agrees fully with itself.
    depth : int, optional
        The rank at which the comparison ends. Default, and at most: the end of the longer ranking.
    extrapolate : bool
        True: below the end of a ranking, assume the agreement that was seen up to there (RBO_EXT). False: sum the
        agreement over the compared ranks only. This is less than the least possible overlap, which `rbo_bounds`
        returns, because the items that both rankings have also agree at all deeper ranks.

    Returns
    -------
    float
        0 … 1.

    Raises
    ------
    InputError
        If p or depth is out of range, a ranking is empty, a score is not finite, two arrays differ in length, or `ties`
        is not "w", "a" or "b".

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
    p = number("p", p, 0, 1, ends=False)
    one_of("ties", ties, get_args(OverlapVariant))
    deepest = None if depth is None else whole_number("depth", depth, 1)
    extrapolate = flag("extrapolate", extrapolate)
    rankings = _groups(a, b)
    last = rankings.longer if deepest is None else min(deepest, rankings.longer)
    read = _read(last, p)
    agreement = _agreement(rankings, read, ties)
    overlap = _summed(agreement.extrapolated if extrapolate else agreement.seen, p)
    if extrapolate and read == last:
        overlap += p**last * float(agreement.extrapolated[-1])
    return overlap


class OverlapSpread(NamedTuple):
    """The rank-biased overlap of two rankings over all orders of their tied items.

    Attributes
    ----------
    mean, std : float
        The mean and the standard deviation, if every order of the tied items of both rankings is equally likely.
    min, max : float
        The least and the greatest overlap that an order can give.
    """

    mean: float
    std: float
    min: float
    max: float


def rbo_spread(
    a: Ranking, b: Ranking, p: float = 0.9, *, depth: int | None = None, extrapolate: bool = True
) -> OverlapSpread:
    """Return the rank-biased overlap of two rankings over all orders of the tied items, exactly.

    For rankings of equal length, the mean is `rbo` with ``ties="a"``. For others that differs below the end of the
    shorter ranking, where it takes the unknown items to be tied like those of the longer one.

    Parameters as for `rbo`.

    Notes
    -----
    The overlap is a sum of w_d X_d, where X_d counts the common items of the first d ranks, so its mean follows from
    that of X_d. All X_d are greatest at once if each tie group has the items first that stand higher in the other
    ranking, with the items of one group there in the same order; they are least for the opposite orders. The variance
    is a sum of terms that are not negative; ``ext/engine/_overlap.pyx`` has the formula.

    Examples
    --------
    >>> spread = rbo_spread({"x": 3, "y": 2, "z": 2}, {"x": 5, "y": 4, "w": 1})
    >>> [round(value, 4) for value in spread]
    [0.7075, 0.0225, 0.685, 0.73]
    """
    rankings = _groups(a, b)
    common = np.isfinite(rankings.tops).all(axis=0)
    starts, sizes = rankings.tops[:, common].astype(np.int64) - 1, rankings.sizes[:, common].astype(np.int64)
    lengths = np.array([[rankings.shorter], [rankings.longer]])
    moments = moments_of_overlap(np.zeros(starts.shape[1], np.int64), starts, sizes, lengths, p, depth, extrapolate)
    return OverlapSpread(*(float(each[0]) for each in moments))


class OverlapBounds(NamedTuple):
    """The rank-biased overlap of two rankings that go on beyond the known items.

    Attributes
    ----------
    extrapolated : float
        The overlap if the rankings continue to agree as before: RBO_EXT, which `rbo` returns.
    least : float
        The overlap if the rankings have no further items in common: RBO_MIN.
    greatest : float
        The overlap if the rankings have as many further items in common as possible: RBO_MAX.
    """

    extrapolated: float
    least: float
    greatest: float

    @property
    def residual(self) -> float:
        """The width of the bounds: greatest − least, RBO_RES."""
        return self.greatest - self.least


def rbo_bounds(a: Ranking, b: Ranking, p: float = 0.9, ties: OverlapVariant = "a") -> OverlapBounds:
    """Return the rank-biased overlap of two rankings, with bounds on its value if the rankings were longer.

    Parameters as for `rbo`; a and b are the beginnings of infinite rankings.

    Examples
    --------
    >>> bounds = rbo_bounds({"x": 3, "y": 2, "z": 2}, {"x": 5, "y": 4}, p=0.8)
    >>> [round(value, 4) for value in (*bounds, bounds.residual)]
    [0.9067, 0.5647, 0.96, 0.3953]
    """
    p = number("p", p, 0, 1, ends=False)
    one_of("ties", ties, get_args(OverlapVariant))
    rankings = _groups(a, b)
    read = _read(rankings.longer, p)
    agreement = _agreement(rankings, read, ties)
    extrapolated, least, greatest = (_summed(values, p) for values in agreement)
    if read == rankings.longer:
        longer, common = rankings.longer, rankings.common
        extrapolated += p**longer * float(agreement.extrapolated[-1])
        # Below the end of both rankings, the least overlap assumes no further common items. The greatest overlap
        # assumes that each further item of a ranking is in the other ranking, too, until all items are common.
        least += (1.0 - p) / p * common * _reciprocal_tail(longer, p)
        both = longer + rankings.shorter - common
        d = np.arange(longer + 1, both + 1)
        greatest += (1.0 - p) / p * float((p**d * (2.0 * d - longer - rankings.shorter + common) / d).sum()) + p**both
    return OverlapBounds(extrapolated, least, greatest)


def _read(last: int, p: float) -> int:
    """Return the number of ranks to compare: deeper ranks would add less than the rounding error."""
    return min(last, math.ceil(math.log(1e-17) / math.log(p)))


def _summed(agreement: Values, p: float) -> float:
    """Return (1-p)/p Σ_d p^d A_d."""
    return (1.0 - p) / p * float((p ** np.arange(1, len(agreement) + 1) * agreement).sum())


def _reciprocal_tail(n: int, p: float) -> float:
    """Return Σ_{d > n} p^d / d."""
    d = np.arange(1, n + 1)
    return max(-math.log1p(-p) - float((p**d / d).sum()), 0.0)


class _Rankings(NamedTuple):
    """The first rank and the size of each item's group in two rankings: float64[2, n_items].

    The shorter ranking is the first row. An item that a ranking lacks has an infinite rank in the ranking's row.
    """

    tops: Values
    sizes: Values

    @property
    def shorter(self) -> int:
        """The number of items in the shorter ranking."""
        return int(np.isfinite(self.tops[0]).sum())

    @property
    def longer(self) -> int:
        """The number of items in the longer ranking."""
        return int(np.isfinite(self.tops[1]).sum())

    @property
    def common(self) -> int:
        """The number of items in both rankings."""
        return int(np.isfinite(self.tops).all(axis=0).sum())


def _groups(a: Ranking, b: Ranking) -> _Rankings:
    """Number the items of both rankings, and find the group of each item."""
    rankings: list[Mapping[Any, float]] = []
    for name, ranking in (("a", a), ("b", b)):
        given = ranking if isinstance(ranking, Mapping) else _numbered(ranking, name)
        if not given:
            raise InputError(name, "must have at least one item")
        rankings.append(given)
    if not isinstance(a, Mapping) and not isinstance(b, Mapping) and len(rankings[0]) != len(rankings[1]):
        lengths = f"{len(rankings[0])} and {len(rankings[1])}"
        raise InputError("a, b", f"must be scores of the same items; they have {lengths} scores")
    place: dict[Hashable, int] = {item: i for i, item in enumerate({**rankings[0], **rankings[1]})}
    tops, sizes = np.full((2, len(place)), np.inf), np.ones((2, len(place)))
    for i, (name, ranking) in enumerate(zip("ab", rankings, strict=True)):
        scores = finite(list(ranking.values()), name)
        if scores.ndim != 1:
            raise InputError(name, "must have one score for each item")
        scores = merged(scores)
        ascending = np.sort(scores)
        items = [place[item] for item in ranking]
        first, end = (np.searchsorted(ascending, scores, side=side) for side in ("left", "right"))
        tops[i, items] = len(scores) - end + 1
        sizes[i, items] = end - first
    order = [0, 1] if len(rankings[0]) <= len(rankings[1]) else [1, 0]
    return _Rankings(tops[order], sizes[order])


def _numbered(ranking: npt.ArrayLike, name: str) -> dict[int, float]:
    """Return an array of scores as a dict of the scores by position; `name` is the argument in the message."""
    scores = finite(ranking, name)
    if scores.ndim != 1:
        raise InputError(
            name, f"must be a dict of scores by item, or a flat array of scores; found {scores.ndim} dimensions"
        )
    return dict(enumerate(scores.tolist()))


# The number of array elements that _agreement computes at once, which limits its memory.
_AT_ONCE = 1 << 18


class _AgreementByDepth(NamedTuple):
    """The agreement A_d at each depth d, under three assumptions about the items below the end of the shorter ranking.

    `extrapolated` and `greatest` are as in `OverlapBounds`. `seen` assumes that unknown items are not common items.
    """

    extrapolated: Values
    seen: Values
    greatest: Values


def _agreement(rankings: _Rankings, read: int, ties: OverlapVariant) -> _AgreementByDepth:
    """Compare two rankings at the depths 1 … read.

    Below the end s of the shorter ranking, its next d - s items are unknown. `extrapolated` assumes that each of them
    is in the longer ranking with probability A_s, and `seen` that none is. `greatest` assumes that they are the first
    items that only the longer ranking has. An unknown item that is common counts with its share in the longer ranking.
    """
    ended = rankings.shorter
    reached = (rankings.tops <= read).any(axis=0)
    tops, sizes = rankings.tops[:, reached], rankings.sizes[:, reached]
    alone = np.flatnonzero(np.isinf(tops[0]))
    alone = alone[np.argsort(tops[1, alone], kind="stable")]
    # An untied item counts fully from its rank on. The share of a tied item is computed for each depth.
    tied = (sizes > 1.0).any(axis=0)
    untied_common = _seen_by(tops[:, ~tied].max(axis=0, initial=0.0), read)
    untied = np.stack([_seen_by(of[~tied], read) for of in tops], axis=1)
    found = np.empty((3, read))
    step = max(1, _AT_ONCE // max(1, tops.size))
    # The depths below the end of the shorter ranking need the agreement at its end, so a new batch begins there.
    for start, stop in pairwise(sorted({*range(0, read, step), min(ended, read), read})):
        d = np.arange(start + 1.0, stop + 1.0)
        share = _shares(tops[:, tied], sizes[:, tied], d, ties)
        common = np.tile((share[:, 0] * share[:, 1]).sum(axis=1) + untied_common[start:stop], (3, 1))
        squares = (share**2).sum(axis=2) + untied[start:stop]
        if start >= ended:
            _add_unknown(common, d - ended, found[0, ended - 1], _shares(tops[1, alone], sizes[1, alone], d, ties))
            squares[:, 0] = d
        if ties == "w":
            found[:, start:stop] = 2.0 * common / squares.sum(axis=1)
        elif ties == "a":
            found[:, start:stop] = common / d
        else:
            found[:, start:stop] = common / np.sqrt(squares[:, 0] * squares[:, 1])
    return _AgreementByDepth(*found)


def _add_unknown(common: Values, unknown: Values, at_end: float, shares: Values) -> None:
    """Add the unknown items of the shorter ranking to the common ones, at each depth, as `_agreement` says.

    `unknown` has the number of these items at each depth, `at_end` is A_s, and `shares`, [n_depths, n_items], has the
    shares of the items that only the longer ranking has, in its order.
    """
    common[0] += unknown * at_end * shares.sum(axis=1) / (shares > 0.0).sum(axis=1)
    first = np.minimum(unknown, shares.shape[1]).astype(np.int64) - 1
    common[2] += np.take_along_axis(shares.cumsum(axis=1), first[:, None], axis=1)[:, 0]


def _seen_by(tops: Values, read: int) -> Values:
    """Return, for each depth 1 … read, how many of the ranks `tops` are not below this depth."""
    reached = tops[tops <= read].astype(np.int64)
    return np.bincount(reached, minlength=read + 1)[1:].cumsum().astype(np.float64)


def _shares(tops: Values, sizes: Values, d: Values, ties: OverlapVariant) -> Values:
    """Return the share with which each item counts at each depth `d`; the depths are the first axis."""
    d = d.reshape(-1, *(1,) * tops.ndim)
    return (tops <= d).astype(np.float64) if ties == "w" else np.clip((d - tops + 1.0) / sizes, 0.0, 1.0)
