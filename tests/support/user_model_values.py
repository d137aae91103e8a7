"""The definitions of measures of C/W/L and NTCIR for documents in one order, in fractions. Part of the oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

import mpmath

from tieaware.measures import Measure

_DIGITS = 50

Order = Sequence[int]


def _rounded(number: mpmath.mpf) -> Fraction:
    """Return a number to 50 digits."""
    return Fraction(int(mpmath.nint(number * 10**_DIGITS)), 10**_DIGITS)


@cache
def _discount(j: int) -> Fraction:
    with mpmath.workdps(_DIGITS + 5):
        return _rounded(1 / mpmath.log(1 + j, 2))


def _discounted(gains: Order) -> Fraction:
    return sum((g * _discount(j) for j, g in enumerate(gains, 1) if g), Fraction(0))


def _gains(measure: Measure, order: Order) -> list[Fraction]:
    low, high = int(measure["min_rel"]), int(measure["max_rel"])
    table = measure.parameters.get("gains")
    if table:
        return [Fraction(table.gains.get(label, 0)) / Fraction(max(table.gains.values())) for label in order]
    if measure.parameters.get("dcg") == "exp-log2":
        return [Fraction(max(2**max(label, 0) - 2**low, 0), 2**high - 2**low) for label in order]
    return [Fraction(max(label - low, 0)) / (high - low) for label in order]


def sdcg(measure: Measure, order: Order, judged: Order) -> Fraction:
    depth = len(order) if measure.cutoff is None else measure.cutoff
    weights = [_discount(j) for j in range(1, depth + 1)]
    gained = sum((w * g for w, g in zip(weights, _gains(measure, order), strict=False)), Fraction(0))
    return gained / sum(weights) if depth else gained


def insq(measure: Measure, order: Order, judged: Order) -> Fraction:
    """The user reads on at rank j with the probability ((j + 2T - 1) / (j + 2T))²."""
    T, k = Fraction(measure["T"]), measure.cutoff
    views, viewed, gained = Fraction(1), Fraction(0), Fraction(0)
    for j, gain in enumerate([*_gains(measure, order), *[Fraction(0)] * ((k or 0) - len(order))], 1):
        viewed, gained = viewed + views, gained + views * gain
        views *= ((j + 2 * T - 1) / (j + 2 * T)) ** 2
    if k is None:
        with mpmath.workdps(_DIGITS + 5):
            first = mpmath.mpf(T.numerator) / T.denominator * 2
            viewed = _rounded(first**2 * mpmath.psi(1, first))
    return gained / viewed


def inst(measure: Measure, order: Order, judged: Order) -> Fraction:
    """The user reads on at rank j, with the gain G so far, with the probability ((a - 1) / a)², a = j + 2T - G."""
    T, k = Fraction(measure["T"]), measure.cutoff
    views, viewed, gained, found = Fraction(1), Fraction(0), Fraction(0), Fraction(0)
    for j, gain in enumerate([*_gains(measure, order), *[Fraction(0)] * ((k or 0) - len(order))], 1):
        viewed, gained, found = viewed + views, gained + views * gain, found + gain
        views *= ((j + 2 * T - found - 1) / (j + 2 * T - found)) ** 2
    if k is None:
        b = len(order) + 2 * T - found
        with mpmath.workdps(_DIGITS + 5):
            viewed += views * b**2 * _rounded(mpmath.psi(1, mpmath.mpf(b.numerator) / b.denominator))
    return gained / viewed


def bpm(measure: Measure, order: Order, judged: Order) -> Fraction:
    """The user stops at the first rank with a gain of at least T so far, or at rank k."""
    found, depth = Fraction(0), measure.cutoff or len(order)
    for j, gain in enumerate(_gains(measure, order), 1):
        found += gain
        if found >= Fraction(repr(measure["T"])):
            return found / j
    return found / depth if depth else found


def _nearly_err(goes_on: Callable[[Measure, int], Fraction]) -> Callable[[Measure, Order, Order], Fraction]:
    """Return the value of a user who reads on at rank j with the probability goes_on(j) (1 - g_j)."""

    def value(measure: Measure, order: Order, judged: Order) -> Fraction:
        k = len(order) if measure.cutoff is None else measure.cutoff
        views, viewed, gained = Fraction(1), Fraction(0), Fraction(0)
        for j, gain in enumerate([*_gains(measure, order), *[Fraction(0)] * (k - len(order))], 1):
            viewed, gained = viewed + views, gained + views * gain
            views *= goes_on(measure, j) * (1 - gain)
        if measure.cutoff is None and measure.name == "NERR10":
            viewed += views / (1 - Fraction(measure["p"]))
        if measure.cutoff is None and measure.name == "NERR11":
            first = k + 2 * Fraction(measure["T"])
            with mpmath.workdps(_DIGITS + 5):
                viewed += views * first**2 * _rounded(mpmath.psi(1, mpmath.mpf(first.numerator) / first.denominator))
        return gained / viewed if viewed else viewed

    return value


nerr_8 = _nearly_err(lambda measure, j: Fraction(1))
nerr_9 = _nearly_err(lambda measure, j: Fraction(j, j + 1))
nerr_10 = _nearly_err(lambda measure, j: Fraction(measure["p"]))
nerr_11 = _nearly_err(lambda measure, j: (1 - 1 / (j + 2 * Fraction(measure["T"]))) ** 2)


def ms_ndcg(measure: Measure, order: Order, judged: Order) -> Fraction:
    exponential = measure["dcg"] == "exp-log2"
    order, best = (
        [2 ** max(x, 0) - 1 if exponential else max(x, 0) for x in labels]
        for labels in (order, sorted(judged, reverse=True)[: measure.cutoff])
    )
    ideal = _discounted(best)
    return _discounted(order) / ideal if ideal else Fraction(0)


def _cascade(measure: Measure, order: Order, utility: Callable[[int], Fraction]) -> Fraction:
    value, stays = Fraction(0), Fraction(1)
    for j, label in enumerate(order, 1):
        stop = Fraction(2 ** max(label, 0) - 1, 2 ** int(measure["max_rel"]))
        value += stays * stop * utility(j)
        stays *= 1 - stop
    return value


def nerr(measure: Measure, order: Order, judged: Order) -> Fraction:
    best = sorted(judged, reverse=True)[: measure.cutoff]
    value, ideal = (_cascade(measure, labels, lambda j: Fraction(1, j)) for labels in (order, best))
    return value / ideal if ideal else Fraction(0)


def irbu(measure: Measure, order: Order, judged: Order) -> Fraction:
    return _cascade(measure, order, lambda j: Fraction(measure["p"]) ** j)


def _blended_ratio(measure: Measure, order: Order, judged: Order, j: int, least: int) -> Fraction:
    beta, table = Fraction(measure["beta"]), measure.parameters.get("gains")
    hits, best = (
        [Fraction(table.gains.get(label, 0) if table else label) for label in labels if label >= least]
        for labels in (order[:j], judged)
    )
    best = sorted(best, reverse=True)[:j]
    return (len(hits) + beta * sum(hits)) / (j + beta * sum(best))


def o_measure(measure: Measure, order: Order, judged: Order) -> Fraction:
    least = int(measure["rel"])
    ranks = (j for j, label in enumerate(order, 1) if label >= least)
    return next((_blended_ratio(measure, order, judged, j, least) for j in ranks), Fraction(0))


def p_plus(measure: Measure, order: Order, judged: Order) -> Fraction:
    highest = max(order, default=0)
    if highest < 1:
        return Fraction(0)
    ranks = [j for j, label in enumerate(order, 1) if label > 0 and highest not in order[: j - 1]]
    return sum((_blended_ratio(measure, order, judged, j, 1) for j in ranks), Fraction(0)) / len(ranks)


# Each function takes the measure, the labels of the first k documents, and the labels of all judged documents.
VALUES: dict[str, Callable[[Measure, Order, Order], Fraction]] = {
    "SDCG": sdcg, "INSQ": insq, "INST": inst, "BPM": bpm, "MSnDCG": ms_ndcg, "nERR": nerr, "iRBU": irbu,
    "O": o_measure, "PPlus": p_plus, "NERR8": nerr_8, "NERR9": nerr_9, "NERR10": nerr_10, "NERR11": nerr_11,
}  # fmt: skip
