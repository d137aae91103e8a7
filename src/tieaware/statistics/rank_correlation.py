"""How much two rankings agree, with ties: Kendall's τ, AP correlation, rank-biased overlap."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.arrays import Integers, Values
from tieaware.checks import number, one_of, unexpected, whole_number
from tieaware.extras import load
from tieaware.statistics.values import finite

Ranking = Mapping[Any, float] | npt.ArrayLike


def _paired(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Values, Values]:
    first, second = finite(a, "a"), finite(b, "b")
    if first.ndim != 1 or first.shape != second.shape or len(first) < 2:
        shapes = f"shapes {first.shape} and {second.shape}"
        raise unexpected("a, b", "scores of the same items, at least two", shapes)
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
        If a score is not finite, the shapes do not fit, or there is no such variant.

    References
    ----------
    Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33.

    Examples
    --------
    >>> round(kendall_tau([3, 2, 2, 1], [4, 3, 2, 1]), 4), round(kendall_tau([3, 2, 2, 1], [4, 3, 2, 1], "a"), 4)
    (0.9129, 0.8333)
    """
    one_of("variant", variant, ("a", "b"))
    first, second = _paired(a, b)
    tied = [_tied_pairs(first), _tied_pairs(second)]
    pairs = len(first) * (len(first) - 1) / 2
    if pairs in tied:
        return math.nan if variant == "b" else 0.0
    tau = float(load("scipy.stats", "analysis").kendalltau(first, second).statistic)
    return tau if variant == "b" else tau * math.sqrt((pairs - tied[0]) * (pairs - tied[1])) / pairs


def kendall_taus(reference: npt.ArrayLike, orderings: npt.ArrayLike) -> Values:
    """Correlate one ordering with many others of the same items, all at once: Kendall's τ_b.

    Parameters
    ----------
    reference : float[n_items]
        The scores of the items, at least two.
    orderings : float[..., n_items]
        The scores of the same items in each of the others.

    Returns
    -------
    float64[...]
        −1 … 1, as `kendall_tau`; NaN where an ordering ties all items.

    Raises
    ------
    InputError
        If a score is not finite, or the shapes do not fit.

    Examples
    --------
    >>> kendall_taus([4, 3, 2, 1], [[3, 2, 2, 1], [1, 2, 3, 4]]).round(4)
    array([ 0.9129, -1.    ])
    """
    truth, scores = finite(reference, "reference"), finite(orderings, "orderings")
    if truth.ndim != 1 or scores.shape[-1:] != truth.shape or len(truth) < 2:
        shapes = f"shapes {truth.shape} and {scores.shape}"
        raise unexpected("reference, orderings", "scores of the same items, at least two", shapes)
    first, second = np.triu_indices(len(truth), 1)
    of_truth = np.sign(truth[first] - truth[second])
    signs = np.sign(scores[..., first] - scores[..., second])
    untied = np.sqrt((of_truth != 0).sum() * (signs != 0).sum(axis=-1).astype(np.float64))
    taus: Values = np.divide(signs @ of_truth, untied, out=np.full(signs.shape[:-1], np.nan), where=untied > 0)
    return taus


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
        If a score is not finite, the shapes do not fit, or `ties` is neither "a" nor "b".

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
    one_of("ties", ties, ("a", "b"))
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
        If p or depth is out of range, a ranking is empty, a score is not finite, two arrays differ in length, or `ties`
        is neither "w", "a" nor "b".

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
    one_of("ties", ties, ("w", "a", "b"))
    deepest = None if depth is None else whole_number("depth", depth, 1)
    tops, sizes, shorter = _groups(a, b)
    last = shorter if deepest is None else min(deepest, shorter)
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
            raise unexpected(name, "at least one item", "none")
        rankings.append(given)
    if not isinstance(a, Mapping) and not isinstance(b, Mapping) and len(rankings[0]) != len(rankings[1]):
        raise unexpected("a, b", "scores of the same items", f"{len(rankings[0])} and {len(rankings[1])} scores")
    place: dict[Hashable, int] = {item: i for i, item in enumerate({**rankings[0], **rankings[1]})}
    tops, sizes = np.full((2, len(place)), np.inf), np.ones((2, len(place)))
    for i, (name, ranking) in enumerate(zip("ab", rankings, strict=True)):
        scores = finite(list(ranking.values()), name)
        ascending = np.sort(scores)
        items = [place[item] for item in ranking]
        first, end = (np.searchsorted(ascending, scores, side=side) for side in ("left", "right"))
        tops[i, items] = len(scores) - end + 1
        sizes[i, items] = end - first
    return tops, sizes, min(map(len, rankings))


def _numbered(ranking: npt.ArrayLike, name: str) -> dict[int, float]:
    scores = finite(ranking, name)
    if scores.ndim != 1:
        raise unexpected(name, "{item: score}, or a score for each item", f"an array of {scores.ndim} dimensions")
    return dict(enumerate(scores.tolist()))


def _agreement(tops: Values, sizes: Values, depths: Integers, ties: str) -> Values:
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
