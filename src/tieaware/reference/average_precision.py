"""Average precision, inferred average precision and the Q-measure.

Numbers in brackets, such as [1], refer to the list of references in the docstring of `tieaware.reference`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

from tieaware.reference.gains import Gains, gain
from tieaware.reference.rankings import Functions, Groups, Ranking, is_relevant, relevant, with_ranks


def average_precision(ranking: Ranking, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the sum of the precisions at the ranks of relevant documents, divided by N ([1]_, section 8.4).

    Parameters as for `tieaware.reference`; the value is 0 … 1.

    Examples
    --------
    >>> average_precision([1, 0, 0, 1], [1, 0, 0, 1])
    0.75
    """
    N = relevant(judged, rel)
    if N == 0:
        return 0.0
    found = 0
    precisions = []
    for j, label in enumerate(ranking[:k], start=1):
        if is_relevant(label, rel):
            found += 1
            precisions.append(found / j)
    return math.fsum(precisions) / N


def mean_of_average_precision(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the mean of `average_precision`: (1/N) Σ_groups (r/n) Σ_j (R + 1 + a (j-t-1)) / j [2]_.

    Rank j holds a relevant document with probability r/n. If it does, the relevant documents down to rank j are the R
    of earlier groups, this document, and each of the j-t-1 documents before it in its group with probability a =
    (r-1)/(n-1). In a group of one document a is 0, where the printed formula has 0/0.

    Parameters as for `average_precision`.

    Examples
    --------
    >>> mean_of_average_precision([[1, 0], [0, 0]], [1, 0, 0, 0])
    0.75
    """
    N = relevant(judged, rel)
    if N == 0:
        return 0.0
    R = 0
    terms: list[float] = []
    for ranks, labels in with_ranks(groups, k):
        n, r = len(labels), relevant(labels, rel)
        if r:
            a = (r - 1) / (n - 1) if n > 1 else 0.0
            terms.extend(r / n * (R + 1 + a * (j - ranks.start)) / j for j in ranks)
        R += r
    return math.fsum(terms) / N


def chance_of_all(n: int, r: int, i: int) -> float:
    """Return the probability that i given documents of a group are all relevant: r (r-1) … / (n (n-1) …).

    Parameters
    ----------
    n : int
        The size of the group.
    r : int
        The number of relevant documents in the group, 0 … n.
    i : int
        The number of given documents, at least 0.

    Returns
    -------
    float
        0 … 1.

    Examples
    --------
    >>> chance_of_all(4, 2, 2)
    0.16666666666666666
    """
    return math.prod(max(r - x, 0) / (n - x) for x in range(i)) if i <= n else 0.0


def variance_of_average_precision(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the variance of `average_precision`, from the probabilities that up to four ranks are all relevant.

    Let x be the number of documents before a relevant document in its group, h the number of relevant ones among these
    x, and c the number of relevant documents in earlier groups, plus 1. The document adds (c + h) / its rank to the sum
    of precisions.

    Parameters as for `average_precision`; the value is 0 … 1/4.

    Examples
    --------
    >>> variance_of_average_precision([[1, 0]], [1, 0])
    0.0625
    """
    N = relevant(judged, rel)
    c, total = 1, 0.0
    for ranks, labels in with_ranks(groups, k):
        n, r = len(labels), relevant(labels, rel)
        p1, p2, p3, p4 = (chance_of_all(n, r, i) for i in (1, 2, 3, 4))
        if 0 < r < n:
            mean = math.fsum((c * p1 + x * p2) / j for x, j in enumerate(ranks))
            square = math.fsum(
                (c * c * p1 + (2 * c + 1) * x * p2 + x * (x - 1) * p3) / j**2 for x, j in enumerate(ranks)
            )
            square += 2 * math.fsum(
                (c * (c + 1) * p2 + ((c + 2) * y + c * (x - 1)) * p3 + y * (x - 2) * p4) / (i * j)
                for x, j in enumerate(ranks)
                for y, i in enumerate(ranks[:x])
            )
            total += square - mean**2
        c += r
    return total / N**2 if N else 0.0


def inferred_average_precision(ranking: Ranking, judged: Ranking, rel: float = 1) -> float:
    """Estimate average precision where documents of the pool (label -2) are not judged: infAP [11]_, as in trec_eval.

    A relevant document at rank j adds 1/j + u/j · s, and the sum is divided by N. Here u is the number of documents
    before it that are in the pool, judged or not, and s is the share of relevant ones among its judged predecessors.

    Parameters as for `tieaware.reference`; the value is 0 … 1.

    Examples
    --------
    >>> round(inferred_average_precision([0, -2, 1], [0, 1]), 4)
    0.3333
    """
    return mean_of_inferred_average_precision([[label] for label in ranking], judged, rel)


def mean_of_inferred_average_precision(groups: Groups, judged: Ranking, rel: float = 1) -> float:
    """Return the mean of `inferred_average_precision`.

    A relevant document stands at each of the n ranks of its group with probability 1/n. For each rank, the function
    sums over all cases: i relevant, j judged nonrelevant and v pooled but unjudged documents of the group come before
    the document. Each case is weighted by the probability of i, j and v in a random order.

    Parameters as for `inferred_average_precision`.

    Examples
    --------
    >>> round(mean_of_inferred_average_precision([[1, 0]], [1, 0]), 4)
    0.75
    """
    N = relevant(judged, rel)
    epsilon = 0.00001
    t = R = B = U = 0
    total = 0.0
    for labels in groups:
        n, r = len(labels), relevant(labels, rel)
        b, u = relevant(labels, 0) - r, sum(label is not None and label < -1 for label in labels)
        if r:
            for x in range(n):
                value = 0.0
                for i, j, v in product(range(r), range(b + 1), range(u + 1)):
                    rest = x - i - j - v
                    if 0 <= rest <= n - r - b - u:
                        chance = math.comb(r - 1, i) * math.comb(b, j) * math.comb(u, v)
                        chance *= math.comb(n - r - b - u, rest)
                        share = (R + i + epsilon) / (R + i + B + j + 2 * epsilon)
                        value += chance * (1 + (R + i + B + j + U + v) * share)
                total += r / n * value / math.comb(n - 1, x) / (t + x + 1)
        t, R, B, U = t + n, R + r, B + b, U + u
    return total / N if N else 0.0


def variance_of_inferred_average_precision(groups: Groups, judged: Ranking, rel: float = 1) -> float:
    """Return NaN: the variance of `inferred_average_precision` is not known.

    Parameters as for `inferred_average_precision`; the value is NaN.

    Examples
    --------
    >>> variance_of_inferred_average_precision([[1, 0]], [1, 0])
    nan
    """
    return math.nan


def q_measure(
    ranking: Ranking, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1, gains: Gains = None
) -> float:
    """Return the Q-measure [12]_: Σ_j (hits to j + beta gain to j) / (j + beta ideal gain to j), / N.

    The sum is over the ranks j of relevant documents, and "to j" means in total over the ranks 1 … j. The gain of a
    relevant document is its label, or its gain in a table.

    Other parameters as for `tieaware.reference`; the value is 0 … 1.

    Parameters
    ----------
    beta : float
        The weight of the gain against the hits, above 0.
    gains : {label: gain}, optional
        As for `tieaware.reference.gains.gain`.

    Examples
    --------
    >>> q_measure([0, 2, 1], [0, 2, 1])
    0.7166666666666667
    """
    return mean_of_q_measure([[label] for label in ranking], judged, k, beta, rel, gains)


def mean_of_q_measure(
    groups: Groups, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1, gains: Gains = None
) -> float:
    """Return the mean of `q_measure`: Σ_x w_x E[(R + 1 + beta C) I + beta g + I Σ (I + beta g before it)].

    This sum over the slots x of all groups is divided by N. I is 1 if the document in slot x is relevant, else 0, and g
    is its gain. R and C are the hits and the gain before the group. The inner sum is over the documents before slot x
    in the group. For the rank j of slot x, w_x = 1/(j + beta ideal gain to j).

    Parameters as for `q_measure`.

    Examples
    --------
    >>> mean_of_q_measure([[1, 0]], [1, 0])
    0.8333333333333333
    """
    N = relevant(judged, rel)
    total = 0.0
    for weights, hit, u, h in _terms_of_q(groups, judged, k, beta, rel, gains):
        one, two = mean_over_distinct(u), mean_over_distinct(hit, h)
        total += math.fsum(w * (one + x * two) for x, w in enumerate(weights))
    return total / N if N else 0.0


def variance_of_q_measure(
    groups: Groups, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1, gains: Gains = None
) -> float:
    """Return the variance of `q_measure`, from the mean products over up to four different documents of a group.

    With the symbols of `mean_of_q_measure`, u = (R + 1 + beta C) I + beta g and h = I + beta g. The measure is the sum
    of w_x (u_x + I_x Σ h) over the slots x, divided by N; the inner sum is over the documents before slot x in the
    group.

    Parameters as for `q_measure`; the value is 0 … 1/4.

    Examples
    --------
    >>> round(variance_of_q_measure([[1, 0]], [1, 0]), 6)
    0.027778
    """
    N = relevant(judged, rel)
    total = 0.0
    for weights, hit, u, h in _terms_of_q(groups, judged, k, beta, rel, gains):
        e, squares = mean_over_distinct, [x * x for x in h]
        uu, uh = [x * x for x in u], [x * y for x, y in zip(u, h, strict=True)]
        mean = math.fsum(w * (e(u) + x * e(hit, h)) for x, w in enumerate(weights))
        square = math.fsum(
            w * w * (e(uu) + 2 * x * e(u, h) + x * e(hit, squares) + x * (x - 1) * e(hit, h, h))
            for x, w in enumerate(weights)
        )
        # For each pair of slots of the group: y documents of the group stand before the upper slot, x before the lower.
        one, three, four = e(u, u) + e(uh, hit), e(u, hit, h), (e(hit, hit, squares) + e(h, hit, h), e(hit, hit, h, h))
        square += 2 * math.fsum(
            w * v * (one + (x - 1 + y) * three + y * (four[0] + (x - 2) * four[1]))
            for x, w in enumerate(weights)
            for y, v in enumerate(weights[:x])
        )
        total += square - mean**2
    return total / N**2 if N else 0.0


def _terms_of_q(
    groups: Groups, judged: Ranking, k: int | None, beta: float, rel: float, gains: Gains
) -> Iterator[tuple[list[float], list[float], list[float], list[float]]]:
    """Yield four lists for each group: w_x of its ranks, and I, u and h of its documents.

    The symbols are those of `variance_of_q_measure`.
    """
    ideal = sorted((gain(label, gains=gains) for label in judged if is_relevant(label, rel)), reverse=True)
    c = 1.0
    for ranks, labels in with_ranks(groups, k):
        hit = [float(is_relevant(label, rel)) for label in labels]
        g = [gain(label, gains=gains) * i for label, i in zip(labels, hit, strict=True)]
        h = [i + beta * worth for i, worth in zip(hit, g, strict=True)]
        yield (
            [1 / (j + beta * math.fsum(ideal[:j])) for j in ranks],
            hit,
            [c * i + beta * worth for i, worth in zip(hit, g, strict=True)],
            h,
        )
        c += math.fsum(h)


def sum_over_distinct(*worths: Sequence[float]) -> float:
    """Sum ``worths[0][d0] worths[1][d1] …`` over all choices of different documents d0, d1 and so on.

    The function first sums over all documents for the last place, and then subtracts the cases in which this document
    is in an earlier place, too.

    Parameters
    ----------
    *worths : sequences of float, of equal lengths
        One sequence for each place: ``worths[i][d]`` is the factor of document d in place i.

    Returns
    -------
    float
        0 if there are fewer documents than places.

    Examples
    --------
    >>> sum_over_distinct([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    22.0
    """
    *others, last = worths
    if not others:
        return math.fsum(last)
    total = sum_over_distinct(*others) * math.fsum(last)
    for i, other in enumerate(others):
        both = [x * y for x, y in zip(other, last, strict=True)]
        total -= sum_over_distinct(*others[:i], both, *others[i + 1 :])
    return total


def mean_over_distinct(*worths: Sequence[float]) -> float:
    """Return `sum_over_distinct` divided by the number of choices; 0 if no choice is possible.

    Parameters as for `sum_over_distinct`.

    Examples
    --------
    >>> mean_over_distinct([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    3.6666666666666665
    """
    choices = math.perm(len(worths[0]), len(worths))
    return sum_over_distinct(*worths) / choices if choices else 0.0


MEASURES: dict[str, Functions] = {
    "AP": (average_precision, mean_of_average_precision, variance_of_average_precision),
    "GMAP": (average_precision, mean_of_average_precision, variance_of_average_precision),
    "infAP": (inferred_average_precision, mean_of_inferred_average_precision, variance_of_inferred_average_precision),
    "Q": (q_measure, mean_of_q_measure, variance_of_q_measure),
}
