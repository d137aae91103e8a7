"""Every measure in plain Python over lists, written to be read.

A ranking without ties is a list of labels, the first-ranked document's first: ``[1, 0, 2]``. A ranking with
ties is a list of groups, each the labels of the documents that share a score: ``[[1, 0], [2]]`` says that the
first two documents may stand in either order. For every measure there are three functions: one such as
``average_precision`` takes a ranking; ``expected_average_precision`` takes groups and gives the mean of the
first over every order of the documents inside their groups, without enumerating those orders; and
``variance_of_average_precision`` gives its variance. When each group holds one document, the first two agree.

The arguments mean the same everywhere:

``ranking``, ``groups``
    The labels of the retrieved documents, as above. None or a negative label marks an unjudged document,
    which is neither relevant nor a gain.
``judged``
    The labels of all judged documents of the query, retrieved or not. N of them are relevant.
``k``
    The cut-off: only the first k ranks count; None is no cut-off. Where a measure divides by k, it does so
    even if the list is shorter.
``rel``
    The smallest label that is relevant.

A query without relevant judged documents is worth 0. In the formulas a group starts after t documents and
holds n, of which r are relevant; m of its ranks, t+1 … t+m, lie within the cut-off.

References
----------
.. [1] C. D. Manning, P. Raghavan, H. Schütze, *Introduction to Information Retrieval*, 2008, chapter 8.
.. [2] F. McSherry, M. Najork, "Computing information retrieval performance measures efficiently in the
       presence of tied scores", ECIR 2008, pages 414-421.
.. [3] E. M. Voorhees, "The TREC-8 question answering track report", TREC 1999.
.. [4] K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002.
.. [5] C. Burges and others, "Learning to rank using gradient descent", ICML 2005.
.. [6] A. Moffat, J. Zobel, "Rank-biased precision for measurement of retrieval effectiveness", ACM TOIS
       27(1), 2008.
.. [7] J. A. Hanley, B. J. McNeil, "The meaning and use of the area under a receiver operating
       characteristic (ROC) curve", Radiology 143, 1982.
.. [8] W. S. Cooper, "Expected search length", American Documentation 19(1), 1968.
.. [9] C. Buckley, E. M. Voorhees, "Retrieval evaluation with incomplete information", SIGIR 2004.
.. [10] O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan, "Expected reciprocal rank for graded relevance",
       CIKM 2009.
.. [11] E. Yilmaz, J. A. Aslam, "Estimating average precision with incomplete and imperfect judgments", CIKM 2006.
.. [12] T. Sakai, "New performance metrics based on multigrade relevance: their application to question answering",
       NTCIR-4, 2004.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import groupby, product
from typing import Any

from tieaware.errors import InputError
from tieaware.measures import Measure, parse_measure

Label = int | None
Ranking = Sequence[Label]
Groups = Sequence[Sequence[Label]]

ORDERS = ("run_order", "trec_eval", "optimistic", "pessimistic")


# From scores to a ranking, or to groups.


def rank(
    scores: Sequence[float],
    labels: Sequence[Label],
    ties: str = "run_order",
    docids: Sequence[str | bytes] | None = None,
) -> list[Label]:
    """Put the documents in one order: by score, the highest first, and tied ones as the tie rule says.

    Parameters
    ----------
    scores, labels : sequence
        Of the retrieved documents, in the order of the input.
    ties : str
        ``"run_order"``: as they stand in the input. ``"trec_eval"``: by document id, descending, compared as
        bytes.
        ``"optimistic"`` and ``"pessimistic"``: the best, or the worst, labels first.
    docids : sequence of str or bytes, optional
        The document ids, for ``"trec_eval"`` only.

    Returns
    -------
    list of labels

    Raises
    ------
    InputError
        If the tie rule is none of these, or its document ids are missing.

    Examples
    --------
    >>> scores, labels, docids = [0.5, 0.5, 0.9], [0, 2, 1], ["a", "b", "c"]
    >>> rank(scores, labels, "run_order"), rank(scores, labels, "trec_eval", docids)
    ([1, 0, 2], [1, 2, 0])
    >>> rank(scores, labels, "optimistic"), rank(scores, labels, "pessimistic")
    ([1, 2, 0], [1, 0, 2])
    """
    if ties not in ORDERS:
        raise InputError(f"ties={ties!r}: expected one of {', '.join(ORDERS)}")
    documents = list(range(len(scores)))
    if ties == "trec_eval":
        if docids is None:
            raise InputError("ties='trec_eval': docids are missing, expected one per score")
        names = [d.encode("utf-8", "surrogateescape") if isinstance(d, str) else d for d in docids]
        documents.sort(key=lambda d: names[d], reverse=True)
    elif ties in ("optimistic", "pessimistic"):
        grades = [-math.inf if label is None else label for label in labels]
        documents.sort(key=lambda d: grades[d], reverse=ties == "optimistic")
    documents.sort(key=lambda d: scores[d], reverse=True)  # stable: the order inside a tie remains
    return [labels[d] for d in documents]


def group(scores: Sequence[float], labels: Sequence[Label]) -> list[list[Label]]:
    """Gather the documents with equal scores, the highest score first.

    Examples
    --------
    >>> group([0.5, 0.5, 0.9], [0, 2, 1])
    [[1], [0, 2]]
    """
    documents = sorted(range(len(scores)), key=lambda d: scores[d], reverse=True)
    return [[labels[d] for d in tied] for _, tied in groupby(documents, key=lambda d: scores[d])]


# What a document, a list and a rank are worth.


def is_relevant(label: Label, rel: int = 1) -> bool:
    """Tell whether a document is judged, and its label at least ``rel``."""
    return label is not None and label >= 0 and label >= rel


def relevant(labels: Ranking, rel: int = 1) -> int:
    """Count the relevant documents."""
    return sum(is_relevant(label, rel) for label in labels)


def gain(label: Label, dcg: str = "log2") -> int:
    """Return the label (``"log2"``) [4]_ or 2^label - 1 (``"exp-log2"``) [5]_; 0 for labels below 1."""
    grade = _worth(label)
    return 2**grade - 1 if dcg == "exp-log2" else grade


def discount(j: int) -> float:
    """Return 1/log2(1 + j), the weight of rank j in DCG."""
    return 1 / math.log2(1 + j)


def ideal_gain(judged: Ranking, k: int | None = None, dcg: str = "log2") -> float:
    """Return the DCG of the judged documents in their best order."""
    return discounted_gain(sorted(judged, key=_worth, reverse=True), judged, k, dcg)


def _worth(label: Label) -> int:
    return 0 if label is None else max(label, 0)


def _ranks(groups: Groups, k: int | None) -> Iterator[tuple[range, Sequence[Label]]]:
    """Yield each group with its ranks t+1 … t+m, those within the cut-off."""
    t = 0
    for labels in groups:
        n = len(labels)
        m = n if k is None else min(max(k - t, 0), n)
        yield range(t + 1, t + m + 1), labels
        t += n


def _retrieved(groups: Groups) -> int:
    return sum(map(len, groups))


# Measures that count the relevant documents within the cut-off: the hits.


def hits(ranking: Ranking, k: int | None = None, rel: int = 1) -> int:
    """Count the relevant documents within the cut-off."""
    return relevant(ranking[:k], rel)


def expected_hits(groups: Groups, k: int | None = None, rel: int = 1) -> float:
    """Σ m r/n: each of a group's ranks holds a relevant document with probability r/n [2]_.

    Examples
    --------
    >>> expected_hits([[1], [1, 0, 0, 0]], k=3)
    1.5
    """
    return math.fsum(len(ranks) * relevant(labels, rel) / len(labels) for ranks, labels in _ranks(groups, k))


def variance_of_weighted_sum(
    groups: Groups, k: int | None, worth: Callable[[Label], float], weight: Callable[[int], float]
) -> float:
    """Give the variance of Σ_j weight(j) worth(document at rank j): s² Σ_j (d_j - mean d)² for each group.

    s² is the variance of the documents' worth, with the divisor n-1, and d_j the weight of the group's ranks, 0 below
    the cut-off.

    Examples
    --------
    >>> variance_of_weighted_sum([[1, 0]], None, float, lambda j: 1 / j)
    0.0625
    """
    total = 0.0
    for ranks, labels in _ranks(groups, k):
        n = len(labels)
        if n > 1:
            worths = [worth(label) for label in labels]
            weights = [weight(j) for j in ranks] + [0.0] * (n - len(ranks))
            means = math.fsum(worths) / n, math.fsum(weights) / n
            total += math.fsum((w - means[0]) ** 2 for w in worths) / (n - 1) * (
                math.fsum((d - means[1]) ** 2 for d in weights)
            )
    return total


def variance_of_hits(groups: Groups, k: int | None = None, rel: int = 1) -> float:
    """Give the variance of :func:`hits`: each of the first k ranks weighs 1."""
    return variance_of_weighted_sum(groups, k, lambda label: float(is_relevant(label, rel)), lambda j: 1.0)


def precision(ranking: Ranking, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Hits / k; without a cut-off, hits / retrieved documents ([1]_, section 8.3).

    Examples
    --------
    >>> precision([1, 0, 1], [1, 0, 1], k=4)
    0.5
    """
    depth = len(ranking) if k is None else k
    return hits(ranking, k, rel) / depth if depth else 0.0


def expected_precision(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the mean of :func:`precision`: expected hits / k [2]_.

    Examples
    --------
    >>> expected_precision([[1, 0]], [1, 0], k=1)
    0.5
    """
    depth = _retrieved(groups) if k is None else k
    return expected_hits(groups, k, rel) / depth if depth else 0.0


def variance_of_precision(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the variance of :func:`precision`."""
    depth = _retrieved(groups) if k is None else k
    return variance_of_hits(groups, k, rel) / depth**2 if depth else 0.0


def recall(ranking: Ranking, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Hits / N ([1]_, section 8.3).

    Examples
    --------
    >>> recall([1, 0, 1], [1, 0, 1, 1, 1], k=2)
    0.25
    """
    N = relevant(judged, rel)
    return hits(ranking, k, rel) / N if N else 0.0


def expected_recall(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the mean of :func:`recall`: expected hits / N [2]_; N is that of the judgments.

    Examples
    --------
    >>> expected_recall([[1, 0], [0]], [1, 0, 0, 1], k=1)
    0.25
    """
    N = relevant(judged, rel)
    return expected_hits(groups, k, rel) / N if N else 0.0


def variance_of_recall(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the variance of :func:`recall`."""
    N = relevant(judged, rel)
    return variance_of_hits(groups, k, rel) / N**2 if N else 0.0


def f1(ranking: Ranking, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """2 P R / (P + R), the harmonic mean of precision and recall ([1]_, section 8.3, equation 8.6).

    Examples
    --------
    >>> f1([1, 0, 1], [1, 0, 1, 1], k=1)
    0.5
    """
    P = precision(ranking, judged, k, rel)
    R = recall(ranking, judged, k, rel)
    return 2 * P * R / (P + R) if P + R else 0.0


def expected_f1(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the mean of :func:`f1`: 2 hits / (k + N), since P = hits/k and R = hits/N [2]_.

    Examples
    --------
    >>> expected_f1([[1, 0]], [1, 0, 1], k=2)
    0.5
    """
    N = relevant(judged, rel)
    depth = _retrieved(groups) if k is None else k
    return 2 * expected_hits(groups, k, rel) / (depth + N) if N else 0.0


def variance_of_f1(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the variance of :func:`f1`, 2 hits / (k + N)."""
    N = relevant(judged, rel)
    depth = _retrieved(groups) if k is None else k
    return 4 * variance_of_hits(groups, k, rel) / (depth + N) ** 2 if N else 0.0


def r_precision(ranking: Ranking, judged: Ranking, rel: int = 1) -> float:
    """Give the precision at rank N, where precision and recall are equal ([1]_, section 8.4).

    Examples
    --------
    >>> r_precision([1, 0, 1], [1, 0, 1])
    0.5
    """
    N = relevant(judged, rel)
    return precision(ranking, judged, N, rel) if N else 0.0


def expected_r_precision(groups: Groups, judged: Ranking, rel: int = 1) -> float:
    """Give the mean of :func:`r_precision`: expected hits within the first N ranks, / N.

    Examples
    --------
    >>> expected_r_precision([[1], [1, 0]], [1, 1, 0])
    0.75
    """
    N = relevant(judged, rel)
    return expected_precision(groups, judged, N, rel) if N else 0.0


def variance_of_r_precision(groups: Groups, judged: Ranking, rel: int = 1) -> float:
    """Give the variance of :func:`r_precision`."""
    N = relevant(judged, rel)
    return variance_of_precision(groups, judged, N, rel) if N else 0.0


# Measures of where the first relevant document stands.


def reciprocal_rank(ranking: Ranking, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """1 / the rank of the first relevant document, 0 if there is none within the cut-off [3]_.

    Examples
    --------
    >>> reciprocal_rank([0, 1, 1], [0, 1, 1])
    0.5
    """
    for j, label in enumerate(ranking[:k], start=1):
        if is_relevant(label, rel):
            return 1 / j
    return 0.0


def first_relevant(n: int, r: int) -> Iterator[float]:
    """Yield p_1, p_2, …: the probability that the first relevant document of a group comes x-th.

    p_1 = r/n, and p_{x+1} = p_x (n-x-r+1)/(n-x). These are the differences of the survival function, the
    probability that the first x documents are not relevant; the printed formula of [2]_ sums that function
    itself.

    Examples
    --------
    >>> list(first_relevant(4, 2))
    [0.5, 0.3333333333333333, 0.16666666666666666]
    """
    p = r / n
    yield p
    for x in range(1, n - r + 1):
        p *= (n - x - r + 1) / (n - x)
        yield p


def expected_reciprocal_rank(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the mean of :func:`reciprocal_rank`: Σ p_x/(t+x) in the first group with a relevant one.

    Examples
    --------
    >>> expected_reciprocal_rank([[1, 0]], [1, 0])
    0.75
    """
    for ranks, labels in _ranks(groups, k):
        r = relevant(labels, rel)
        if r:
            chances = first_relevant(len(labels), r)
            return math.fsum(p / j for j, p in zip(ranks, chances, strict=False))
    return 0.0


def variance_of_reciprocal_rank(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the variance of :func:`reciprocal_rank`: of 1/(t+x), with probability p_x, and of 0 below the cut-off."""
    for ranks, labels in _ranks(groups, k):
        r = relevant(labels, rel)
        if r:
            chances = list(first_relevant(len(labels), r))
            values = [1 / j for j in ranks][: len(chances)] + [0.0] * (len(chances) - len(ranks))
            mean = math.fsum(p * v for p, v in zip(chances, values, strict=True))
            return math.fsum(p * (v - mean) ** 2 for p, v in zip(chances, values, strict=True))
    return 0.0


def success(ranking: Ranking, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """1 if there is a relevant document within the cut-off, else 0.

    Examples
    --------
    >>> success([0, 1, 0], [0, 1, 0], k=1), success([0, 1, 0], [0, 1, 0], k=2)
    (0.0, 1.0)
    """
    return float(hits(ranking, k, rel) > 0)


def expected_success(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the mean of :func:`success`: Σ p_x = 1 - C(n-r, m)/C(n, m), the hypergeometric chance of a hit.

    Examples
    --------
    >>> expected_success([[1, 0]], [1, 0], k=1)
    0.5
    """
    for ranks, labels in _ranks(groups, k):
        r = relevant(labels, rel)
        if r:
            chances = first_relevant(len(labels), r)
            return math.fsum(p for _, p in zip(ranks, chances, strict=False))
    return 0.0


def variance_of_success(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give q (1 - q), where q is the mean of :func:`success`."""
    q = expected_success(groups, judged, k, rel)
    return q * (1 - q)


# Average precision.


def average_precision(ranking: Ranking, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the sum of the precision at each relevant document's rank, / N ([1]_, section 8.4).

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


def expected_average_precision(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the mean of :func:`average_precision`: (1/N) Σ_groups (r/n) Σ_j (R + 1 + a (j-t-1)) / j [2]_.

    Rank j holds a relevant document with probability r/n. If it does, the relevant documents up to there are
    the R of earlier groups, itself, and of the j-t-1 that precede it in its group each with probability a =
    (r-1)/(n-1). The last is 0 for a group of one, where the printed formula has 0/0.

    Examples
    --------
    >>> expected_average_precision([[1, 0], [0, 0]], [1, 0, 0, 0])
    0.75
    """
    N = relevant(judged, rel)
    if N == 0:
        return 0.0
    R = 0
    parts: list[float] = []
    for ranks, labels in _ranks(groups, k):
        n, r = len(labels), relevant(labels, rel)
        if r:
            a = (r - 1) / (n - 1) if n > 1 else 0.0
            parts.extend(r / n * (R + 1 + a * (j - ranks.start)) / j for j in ranks)
        R += r
    return math.fsum(parts) / N


def chance_of_all(n: int, r: int, i: int) -> float:
    """Give the probability that i given documents of a group are all relevant: r (r-1) over n (n-1), and so on."""
    return math.prod(max(r - x, 0) / (n - x) for x in range(i)) if i <= n else 0.0


def variance_of_average_precision(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the variance of :func:`average_precision`, from the chances that two to four ranks are all relevant.

    A relevant document at the x-th rank of its group, from 0, adds (c + those among the x ranks before it) / rank, with
    c = R + 1.

    Examples
    --------
    >>> variance_of_average_precision([[1, 0]], [1, 0])
    0.0625
    """
    N = relevant(judged, rel)
    c, total = 1, 0.0
    for ranks, labels in _ranks(groups, k):
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


# Measures that weigh the ranks.


def discounted_gain(ranking: Ranking, judged: Ranking, k: int | None = None, dcg: str = "log2") -> float:
    """Σ gain_j / log2(1 + j) [4]_, in the form of [5]_, which discounts the second rank too.

    Examples
    --------
    >>> discounted_gain([3, 0, 2], [3, 0, 2]), discounted_gain([3, 0, 2], [3, 0, 2], dcg="exp-log2")
    (4.0, 8.5)
    """
    return math.fsum(gain(label, dcg) * discount(j) for j, label in enumerate(ranking[:k], start=1))


def expected_discounted_gain(groups: Groups, judged: Ranking, k: int | None = None, dcg: str = "log2") -> float:
    """Give the mean of :func:`discounted_gain`: Σ_groups (mean gain) Σ_j 1/log2(1 + j) [2]_.

    Examples
    --------
    >>> expected_discounted_gain([[0, 0, 0], [4]], [0, 0, 0, 4], k=3)
    0.0
    >>> expected_discounted_gain([[2, 0]], [2, 0], k=1)
    1.0
    """
    return math.fsum(
        sum(gain(label, dcg) for label in labels) / len(labels) * math.fsum(map(discount, ranks))
        for ranks, labels in _ranks(groups, k)
    )


def variance_of_discounted_gain(
    groups: Groups, judged: Ranking, k: int | None = None, dcg: str = "log2"
) -> float:
    """Give the variance of :func:`discounted_gain`."""
    return variance_of_weighted_sum(groups, k, lambda label: gain(label, dcg), discount)


def normalised_discounted_gain(ranking: Ranking, judged: Ranking, k: int | None = None, dcg: str = "log2") -> float:
    """:func:`discounted_gain` / that of the judged documents in their best order [4]_.

    Examples
    --------
    >>> normalised_discounted_gain([0, 0, 2], [0, 0, 2])
    0.5
    """
    ideal = ideal_gain(judged, k, dcg)
    return discounted_gain(ranking, judged, k, dcg) / ideal if ideal else 0.0


def expected_normalised_discounted_gain(
    groups: Groups, judged: Ranking, k: int | None = None, dcg: str = "log2"
) -> float:
    """Give the mean of :func:`normalised_discounted_gain`: the ideal gain does not depend on the order [2]_.

    Examples
    --------
    >>> expected_normalised_discounted_gain([[2, 0]], [2, 0], k=1)
    0.5
    """
    ideal = ideal_gain(judged, k, dcg)
    return expected_discounted_gain(groups, judged, k, dcg) / ideal if ideal else 0.0


def variance_of_normalised_discounted_gain(
    groups: Groups, judged: Ranking, k: int | None = None, dcg: str = "log2"
) -> float:
    """Give the variance of :func:`normalised_discounted_gain`."""
    ideal = ideal_gain(judged, k, dcg)
    return variance_of_discounted_gain(groups, judged, k, dcg) / ideal**2 if ideal else 0.0


def rank_biased_precision(
    ranking: Ranking, judged: Ranking, k: int | None = None, p: float = 0.8, rel: int = 1
) -> float:
    """(1-p) Σ p^(j-1) over the ranks j of relevant documents: p is the reader's patience [6]_.

    Examples
    --------
    >>> rank_biased_precision([1, 0, 1], [1, 0, 1], p=0.5)
    0.625
    """
    return math.fsum((1 - p) * p ** (j - 1) for j, label in enumerate(ranking[:k], start=1) if is_relevant(label, rel))


def expected_rank_biased_precision(
    groups: Groups, judged: Ranking, k: int | None = None, p: float = 0.8, rel: int = 1
) -> float:
    """Give the mean of :func:`rank_biased_precision`: (1-p) Σ_groups (r/n) Σ_j p^(j-1), additive as DCG is.

    Examples
    --------
    >>> expected_rank_biased_precision([[1, 0]], [1, 0], p=0.5)
    0.375
    """
    return math.fsum(
        relevant(labels, rel) / len(labels) * math.fsum((1 - p) * p ** (j - 1) for j in ranks)
        for ranks, labels in _ranks(groups, k)
        if relevant(labels, rel)
    )


def variance_of_rank_biased_precision(
    groups: Groups, judged: Ranking, k: int | None = None, p: float = 0.8, rel: int = 1
) -> float:
    """Give the variance of :func:`rank_biased_precision`."""
    return variance_of_weighted_sum(
        groups, k, lambda label: float(is_relevant(label, rel)), lambda j: (1 - p) * p ** (j - 1)
    )


# Interpolated precision.


def wanted_at(recall: float, N: int) -> int:
    """Count the relevant documents that reach a recall, rounded as trec_eval 10 does; at least 1."""
    return max(int(recall * N + 0.5), 1)


def interpolated_precision(ranking: Ranking, judged: Ranking, recall: float = 0.0, rel: int = 1) -> float:
    """Give the greatest precision from the rank on at which the recall is reached; 0 if it is not ([1]_, section 8.4).

    Examples
    --------
    >>> interpolated_precision([0, 1, 1], [1, 1], recall=0.5)
    0.6666666666666666
    """
    wanted = wanted_at(recall, relevant(judged, rel))
    ranks = [j for j, label in enumerate(ranking, start=1) if is_relevant(label, rel)]
    return max((h / j for h, j in enumerate(ranks, start=1) if h >= wanted), default=0.0)


def chance_below(n: int, places: Sequence[int]) -> float:
    """Give the probability that of the relevant documents of a group the i-th stands at places[i] or later, for all i.

    Examples
    --------
    >>> chance_below(4, [2])
    0.75
    """
    r = len(places)
    chances = [1.0] + [0.0] * r  # that so many relevant documents are among the first x, none too early
    for x in range(1, n + 1):
        for a in reversed(range(min(r, x))):
            next_is_relevant = chances[a] * (r - a) / (n - x + 1)
            chances[a] -= next_is_relevant
            if x >= places[a]:
                chances[a + 1] += next_is_relevant
    return chances[r]


def expected_interpolated_precision(groups: Groups, judged: Ranking, recall: float = 0.0, rel: int = 1) -> float:
    """Give the mean of :func:`interpolated_precision`: Σ v P(max = v), from P(max ≤ v), a product over the groups.

    Examples
    --------
    >>> expected_interpolated_precision([[1, 0]], [1, 0])
    0.75
    """
    return _moments_of_interpolated_precision(groups, judged, recall, rel)[0]


def _moments_of_interpolated_precision(
    groups: Groups, judged: Ranking, recall: float, rel: int
) -> tuple[float, float]:
    wanted = wanted_at(recall, relevant(judged, rel))
    parts, R = [], 0
    values = {Fraction(0)}
    for ranks, labels in _ranks(groups, None):
        r, n = relevant(labels, rel), len(labels)
        parts.append((ranks[0] - 1, n, r, R))
        for h in range(max(R + 1, wanted), R + r + 1):
            values |= {Fraction(h, j) for j in ranks[h - R - 1 : n - r + h - R]}
        R += r
    mean = square = below = 0.0
    for v in sorted(values):
        # The h-th relevant document may stand at rank h/v or later.
        chance = math.prod(
            chance_below(n, [math.ceil(h / v) - t if h >= wanted and v else 1 if h < wanted else n + 1
                             for h in range(R + 1, R + r + 1)])
            for t, n, r, R in parts
        )  # fmt: skip
        mean += float(v) * (chance - below)
        square += float(v) ** 2 * (chance - below)
        below = chance
    return mean, max(square - mean**2, 0.0)


def variance_of_interpolated_precision(groups: Groups, judged: Ranking, recall: float = 0.0, rel: int = 1) -> float:
    """Give the variance of :func:`interpolated_precision`."""
    return _moments_of_interpolated_precision(groups, judged, recall, rel)[1]


def eleven_point_precision(ranking: Ranking, judged: Ranking, rel: int = 1) -> float:
    """Give the mean of :func:`interpolated_precision` at the recalls 0, 0.1 … 1.

    Examples
    --------
    >>> eleven_point_precision([1, 0], [1, 1])
    0.7272727272727273
    """
    return math.fsum(interpolated_precision(ranking, judged, i / 10, rel) for i in range(11)) / 11


def expected_eleven_point_precision(groups: Groups, judged: Ranking, rel: int = 1) -> float:
    """Give the mean of :func:`eleven_point_precision`."""
    return math.fsum(expected_interpolated_precision(groups, judged, i / 10, rel) for i in range(11)) / 11


def variance_of_eleven_point_precision(groups: Groups, judged: Ranking, rel: int = 1) -> float:
    """Give the variance of :func:`eleven_point_precision`, of all values it can have: for short lists.

    From the last rank up: the greatest precision so far is added where a recall is reached.

    Examples
    --------
    >>> round(variance_of_eleven_point_precision([[1, 0]], [1, 0]), 6)
    0.0625
    """
    N = relevant(judged, rel)
    points = [wanted_at(i / 10, N) for i in range(11)]
    h = sum(relevant(labels, rel) for labels in groups)
    chances = {(h, Fraction(0), Fraction(0)): 1.0}  # of h relevant documents above, the greatest precision, and the sum
    for ranks, labels in reversed(list(_ranks(groups, None))):
        h -= relevant(labels, rel)
        for j in reversed(ranks):
            before, chances = chances, {}
            for (above, best, points_sum), chance in before.items():
                share = (above - h) / (j - ranks.start + 1)
                higher = max(best, Fraction(above, j))
                for state, part in (
                    ((above, best, points_sum), 1 - share),
                    ((above - 1, higher, points_sum + higher * points.count(above)), share),
                ):
                    if part > 0:
                        chances[state] = chances.get(state, 0.0) + chance * part
    mean = sum(float(value) * chance for (_, _, value), chance in chances.items())
    return sum((float(value) - mean) ** 2 * chance for (_, _, value), chance in chances.items()) / 121


# Measures of relevant documents against nonrelevant ones.


def area_under_curve(ranking: Ranking, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the share of pairs of a retrieved relevant and a retrieved nonrelevant document in which the first leads.

    With a cut-off, of the documents within it. 0 without a relevant document, else 1 without a nonrelevant one.

    Examples
    --------
    >>> area_under_curve([0, 1, 0, 0], [0, 1, 0, 0])
    0.6666666666666666
    """
    return _moments_of_pairs([[label] for label in ranking[:k]], rel)[0]


def expected_area_under_curve(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the mean of :func:`area_under_curve`: a tied pair counts half [7]_.

    Examples
    --------
    >>> expected_area_under_curve([[1, 0], [0]], [1, 0, 0])
    0.75
    """
    return math.fsum(chance * _moments_of_pairs(above, rel)[0] for chance, above in cut(groups, k, rel))


def variance_of_area_under_curve(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Σ r (n-r) (n+1) / (12 (N⁺ N⁻)²) [7]_, plus, with a cut-off, that of the mean over what may be above it."""
    cases = [(chance, *_moments_of_pairs(above, rel)) for chance, above in cut(groups, k, rel)]
    mean = math.fsum(chance * value for chance, value, _ in cases)
    return math.fsum(chance * (variance + (value - mean) ** 2) for chance, value, variance in cases)


def cut(groups: Groups, k: int | None, rel: int = 1) -> Iterator[tuple[float, Groups]]:
    """Yield what may be above the cut-off, as groups, and how likely it is.

    Of a group that the cut-off divides, x relevant documents are above it, with a hypergeometric chance.

    Examples
    --------
    >>> list(cut([[1], [1, 0, 0]], 2))
    [(0.6666666666666666, [[1], [None]]), (0.3333333333333333, [[1], [1]])]
    """
    whole: list[Sequence[Label]] = []
    for ranks, labels in _ranks(groups, k):
        m, n, r = len(ranks), len(labels), relevant(labels, rel)
        if 0 < m < n:
            for x in range(max(m - (n - r), 0), min(m, r) + 1):
                chance = math.comb(r, x) * math.comb(n - r, m - x) / math.comb(n, m)
                yield chance, [*whole, [rel] * x + [None] * (m - x)]
            return
        if m:
            whole.append(labels)
    yield 1.0, whole


def _moments_of_pairs(groups: Groups, rel: int) -> tuple[float, float]:
    """Mean and variance of the share of pairs; the variance of a group's part is that of a sum of ranks [7]_."""
    counts = [(relevant(labels, rel), len(labels)) for labels in groups]
    N = sum(r for r, _ in counts)
    others = sum(n for _, n in counts) - N
    if not N or not others:
        return (1.0 if N else 0.0), 0.0
    below, led, variance = others, 0.0, 0.0
    for r, n in counts:
        below -= n - r
        led += r * (below + (n - r) / 2)
        variance += r * (n - r) * (n + 1) / 12
    return led / (N * others), variance / (N * others) ** 2


def search_length(ranking: Ranking, judged: Ranking, i: int = 1, rel: int = 1) -> float:
    """Count the nonrelevant documents above the i-th relevant one: all, where there are fewer relevant ones [8]_.

    0 for a query without relevant judged documents.

    Examples
    --------
    >>> search_length([0, 0, 1, 0, 1], [1, 1], i=2)
    3.0
    """
    return expected_search_length([[label] for label in ranking], judged, i, rel)


def expected_search_length(groups: Groups, judged: Ranking, i: int = 1, rel: int = 1) -> float:
    """Give the mean of :func:`search_length`: j + i (n-r)/(r+1), i counted inside the group, j before it [8]_.

    Examples
    --------
    >>> expected_search_length([[0], [1, 0, 0]], [1])
    2.0
    """
    if not relevant(judged, rel):
        return 0.0
    nonrelevant = 0
    for labels in groups:
        r, n = relevant(labels, rel), len(labels)
        if r >= i:
            return nonrelevant + i * (n - r) / (r + 1)
        i -= r
        nonrelevant += n - r
    return float(nonrelevant)


def variance_of_search_length(groups: Groups, judged: Ranking, i: int = 1, rel: int = 1) -> float:
    """Give i (n-r) (n+1) (r-i+1) / ((r+1)² (r+2)), for the group whose i-th relevant document is the wanted one."""
    for labels in groups:
        r, n = relevant(labels, rel), len(labels)
        if r >= i:
            return i * (n - r) * (n + 1) * (r - i + 1) / ((r + 1) ** 2 * (r + 2))
        i -= r
    return 0.0


def binary_preference(ranking: Ranking, judged: Ranking, rel: int = 1) -> float:
    """Σ (1 - min(x, M)/M) / N over relevant documents, x the judged nonrelevant ones above: bpref [9]_.

    M is the number of judged nonrelevant documents, and no more than N.

    Examples
    --------
    >>> binary_preference([0, 1, None, 0, 1], [0, 1, 0, 1])
    0.25
    """
    return expected_binary_preference([[label] for label in ranking], judged, rel)


def expected_binary_preference(groups: Groups, judged: Ranking, rel: int = 1) -> float:
    """Give the mean of :func:`binary_preference`.

    Of s judged nonrelevant documents of a group, 0, 1 … s precede a relevant one, each with the same probability.

    Examples
    --------
    >>> expected_binary_preference([[1, 0]], [1, 0])
    0.5
    """
    N = relevant(judged, rel)
    if not N:
        return 0.0
    M = min(N, relevant(judged, 0) - N)
    before, total = 0, 0.0
    for labels in groups:
        r = relevant(labels, rel)
        s = relevant(labels, 0) - r
        preferred = [1 - min(before + x, M) / M if M else 1.0 for x in range(s + 1)]
        total += r * math.fsum(preferred) / (s + 1)
        before += s
    return total / N


def variance_of_binary_preference(groups: Groups, judged: Ranking, rel: int = 1) -> float:
    """Give the variance of :func:`binary_preference`.

    Two relevant documents of a group have a and b ≥ a judged nonrelevant ones above them with the same probability for
    each of the C(s+2, 2) choices.
    """
    N = relevant(judged, rel)
    M = min(N, relevant(judged, 0) - N)
    before, total = 0, 0.0
    for labels in groups:
        r = relevant(labels, rel)
        s = relevant(labels, 0) - r
        if r and s and M:
            f = [1 - min(before + x, M) / M for x in range(s + 1)]
            both = math.fsum(f[a] * f[b] for b in range(s + 1) for a in range(b + 1)) / math.comb(s + 2, 2)
            mean = math.fsum(f) / (s + 1)
            total += r * math.fsum(x * x for x in f) / (s + 1) + r * (r - 1) * both - (r * mean) ** 2
        before += s
    return total / N**2 if N else 0.0


def inferred_average_precision(ranking: Ranking, judged: Ranking, rel: int = 1) -> float:
    """Infer average precision where documents of the pool (label -1) are not judged: infAP [11]_, as in trec_eval.

    A relevant document at rank j adds 1/j, and (pooled documents before it)/j times the share of relevant ones among
    those judged.

    Examples
    --------
    >>> round(inferred_average_precision([0, -1, 1], [0, 1]), 4)
    0.3333
    """
    return expected_inferred_average_precision([[label] for label in ranking], judged, rel)


def expected_inferred_average_precision(groups: Groups, judged: Ranking, rel: int = 1) -> float:
    """Give the mean of :func:`inferred_average_precision`.

    Any of n ranks may be that of a relevant document; a relevant, b judged nonrelevant and c pooled documents are then
    among those of the group before it, with the chance of drawing so many of each.

    Examples
    --------
    >>> round(expected_inferred_average_precision([[1, 0]], [1, 0]), 4)
    0.75
    """
    N = relevant(judged, rel)
    epsilon = 0.00001
    t = R = B = U = 0
    total = 0.0
    for labels in groups:
        n, r = len(labels), relevant(labels, rel)
        b, u = relevant(labels, 0) - r, sum(label == -1 for label in labels)
        if r:
            for x in range(n):
                part = 0.0
                for i, j, v in product(range(r), range(b + 1), range(u + 1)):
                    rest = x - i - j - v
                    if 0 <= rest <= n - r - b - u:
                        chance = math.comb(r - 1, i) * math.comb(b, j) * math.comb(u, v)
                        chance *= math.comb(n - r - b - u, rest)
                        share = (R + i + epsilon) / (R + i + B + j + 2 * epsilon)
                        part += chance * (1 + (R + i + B + j + U + v) * share)
                total += r / n * part / math.comb(n - 1, x) / (t + x + 1)
        t, R, B, U = t + n, R + r, B + b, U + u
    return total / N if N else 0.0


def variance_of_inferred_average_precision(groups: Groups, judged: Ranking, rel: int = 1) -> float:
    """NaN: the variance of :func:`inferred_average_precision` is not known."""
    return math.nan


def q_measure(
    ranking: Ranking, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: int = 1
) -> float:
    """Σ over relevant ranks j of (hits to j + beta gain to j) / (j + beta ideal gain to j), / N: Q-measure [12]_.

    The gain of a relevant document is its label.

    Examples
    --------
    >>> q_measure([0, 2, 1], [0, 2, 1])
    0.7166666666666667
    """
    return expected_q_measure([[label] for label in ranking], judged, k, beta, rel)


def expected_q_measure(
    groups: Groups, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: int = 1
) -> float:
    """Give the mean of :func:`q_measure`: Σ_x w_x E[(R + 1 + beta C) I + beta g + I Σ (I + beta g before it)].

    I tells whether the document in slot x of the group is relevant, g is its gain, R and C are hits and gain before the
    group, and w = 1/(j + beta ideal gain to j).

    Examples
    --------
    >>> expected_q_measure([[1, 0]], [1, 0])
    0.8333333333333333
    """
    N = relevant(judged, rel)
    total = 0.0
    for weights, hit, u, h in _parts_of_q(groups, judged, k, beta, rel):
        one, two = mean_over_distinct(u), mean_over_distinct(hit, h)
        total += math.fsum(w * (one + x * two) for x, w in enumerate(weights))
    return total / N if N else 0.0


def variance_of_q_measure(
    groups: Groups, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: int = 1
) -> float:
    """Give the variance of :func:`q_measure`: of Σ_x w_x (u_x + I_x Σ h before x), from means over up to four ranks.

    Examples
    --------
    >>> round(variance_of_q_measure([[1, 0]], [1, 0]), 6)
    0.027778
    """
    N = relevant(judged, rel)
    total = 0.0
    for weights, hit, u, h in _parts_of_q(groups, judged, k, beta, rel):
        e, squares = mean_over_distinct, [x * x for x in h]
        uu, uh = [x * x for x in u], [x * y for x, y in zip(u, h, strict=True)]
        mean = math.fsum(w * (e(u) + x * e(hit, h)) for x, w in enumerate(weights))
        square = math.fsum(
            w * w * (e(uu) + 2 * x * e(u, h) + x * e(hit, squares) + x * (x - 1) * e(hit, h, h))
            for x, w in enumerate(weights)
        )
        # Two ranks, with y documents of the group before the first and x before the second.
        one, three, four = e(u, u) + e(uh, hit), e(u, hit, h), (e(hit, hit, squares) + e(h, hit, h), e(hit, hit, h, h))
        square += 2 * math.fsum(
            w * v * (one + (x - 1 + y) * three + y * (four[0] + (x - 2) * four[1]))
            for x, w in enumerate(weights)
            for y, v in enumerate(weights[:x])
        )
        total += square - mean**2
    return total / N**2 if N else 0.0


def _parts_of_q(
    groups: Groups, judged: Ranking, k: int | None, beta: float, rel: int
) -> Iterator[tuple[list[float], list[float], list[float], list[float]]]:
    """Yield, for each group, the weights of its ranks, and for its documents I, u = c I + beta g and h = I + beta g."""
    ideal = sorted((_worth(label) for label in judged if is_relevant(label, rel)), reverse=True)
    c = 1.0
    for ranks, labels in _ranks(groups, k):
        hit = [float(is_relevant(label, rel)) for label in labels]
        g = [_worth(label) * i for label, i in zip(labels, hit, strict=True)]
        h = [i + beta * gain for i, gain in zip(hit, g, strict=True)]
        yield (
            [1 / (j + beta * sum(ideal[:j])) for j in ranks],
            hit,
            [c * i + beta * gain for i, gain in zip(hit, g, strict=True)],
            h,
        )
        c += sum(h)


def sum_over_distinct(*worths: Sequence[float]) -> float:
    """Sum worths[0][d0] worths[1][d1] … over all choices of different documents d0, d1 and so on.

    The last document may be any, less the cases in which it is one of the others.

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
    """Give the mean that :func:`sum_over_distinct` is the sum of; 0 without a choice."""
    choices = math.perm(len(worths[0]), len(worths))
    return sum_over_distinct(*worths) / choices if choices else 0.0


# Measures of a user who stops.


def stop_probability(label: Label, max_rel: int = 4) -> float:
    """(2^label - 1) / 2^max_rel, 0 for a label below 1."""
    return (2**label - 1) / 2**max_rel if label is not None and label > 0 else 0.0


def expected_reciprocal_rank_of_stop(
    ranking: Ranking, judged: Ranking, k: int | None = None, max_rel: int = 4
) -> float:
    """Σ_j 1/j Π_{i<j} (1 - stop_i) stop_j: ERR, the mean reciprocal of the rank at which a user stops [10]_.

    Examples
    --------
    >>> expected_reciprocal_rank_of_stop([1, 0, 2], [1, 0, 2], max_rel=2)
    0.4375
    """
    total, goes_on = 0.0, 1.0
    for j, label in enumerate(ranking[:k], start=1):
        stop = stop_probability(label, max_rel)
        total += goes_on * stop / j
        goes_on *= 1 - stop
    return total


def mean_products(factors: Sequence[float], m: int) -> list[float]:
    """Give the mean product of x of the factors, over all choices of x, for x = 0 … m.

    One factor q more, the i-th, makes of the mean A_x: ((i-x)/i) A_x + (x/i) q A_{x-1}.

    Examples
    --------
    >>> mean_products([0.5, 1.0, 1.0], 2)
    [1.0, 0.8333333333333334, 0.6666666666666666]
    """
    means = [1.0] + [0.0] * m
    for i, q in enumerate(factors, start=1):
        for x in range(min(m, i), 0, -1):
            means[x] = ((i - x) * means[x] + x * q * means[x - 1]) / i
    return means


def mean_reciprocal_rank_of_stop(groups: Groups, judged: Ranking, k: int | None = None, max_rel: int = 4) -> float:
    """Give the mean of :func:`expected_reciprocal_rank_of_stop`: Σ P Σ_x (A_{x-1} - A_x)/(t+x).

    A_x is the mean product of 1 - stop over x documents of the group, P the product over the groups before.

    Examples
    --------
    >>> mean_reciprocal_rank_of_stop([[1, 0]], [1, 0], max_rel=1)
    0.375
    """
    total, goes_on = 0.0, 1.0
    for ranks, labels in _ranks(groups, k):
        factors = [1 - stop_probability(label, max_rel) for label in labels]
        means = mean_products(factors, len(ranks))
        total += goes_on * math.fsum((means[x] - means[x + 1]) / j for x, j in enumerate(ranks))
        goes_on *= math.prod(factors)
    return total


def mean_products_of_prefixes(factors: Sequence[float], m: int) -> dict[tuple[int, int], float]:
    """Give the mean product of x factors squared and y others, over all choices, for x + y ≤ m; as in `mean_products`.

    That is the mean of T_x T_{x+y}, where T_x is the product of the first x factors in an order.
    """
    means = {(x, y): float(x == y == 0) for x in range(m + 1) for y in range(m + 1 - x)}
    for i, q in enumerate(factors, start=1):
        old = means
        means = {
            (x, y): (
                (i - x - y) * old[x, y]
                + (x * q * q * old[x - 1, y] if x else 0.0)
                + (y * q * old[x, y - 1] if y else 0.0)
            )
            / i
            if x + y <= i
            else 0.0
            for x, y in old
        }
    return means


def variance_of_reciprocal_rank_of_stop(
    groups: Groups, judged: Ranking, k: int | None = None, max_rel: int = 4
) -> float:
    """Give the variance of :func:`expected_reciprocal_rank_of_stop`: Σ P² Var Σ_x (T_{x-1} - T_x)/(t+x).

    T_x is the product of 1 - stop over the first x documents of the group, P that over the groups before.
    """
    total, goes_on = 0.0, 1.0
    for ranks, labels in _ranks(groups, k):
        factors = [1 - stop_probability(label, max_rel) for label in labels]
        m = len(ranks)
        if len(set(factors)) > 1 and m:
            means = mean_products_of_prefixes(factors, m)
            # The sum as Σ_x coefficient_x T_x.
            coefficients = [1 / ranks[0], *(1 / ranks[x] - 1 / ranks[x - 1] for x in range(1, m)), -1 / ranks[m - 1]]
            mean = math.fsum(coefficients[x] * means[0, x] for x in range(m + 1))
            square = math.fsum(
                coefficients[x] * coefficients[y] * means[min(x, y), abs(x - y)]
                for x in range(m + 1)
                for y in range(m + 1)
            )
            total += goes_on**2 * (square - mean**2)
        goes_on *= math.prod(factors)
    return total


# Measures of what is judged.


def judged_share(ranking: Ranking, judged: Ranking, k: int | None = None) -> float:
    """Give the share of judged documents within the cut-off, or of a list that is shorter.

    Examples
    --------
    >>> judged_share([0, None, 1], [0, 1], k=2)
    0.5
    """
    top = ranking[:k]
    return relevant(top, 0) / len(top) if top else 0.0


def expected_judged_share(groups: Groups, judged: Ranking, k: int | None = None) -> float:
    """Give the mean of :func:`judged_share`: expected hits, where every judged document is one.

    Examples
    --------
    >>> expected_judged_share([[0, None, None, None]], [0], k=2)
    0.25
    """
    depth = _retrieved(groups) if k is None else min(k, _retrieved(groups))
    return expected_hits(groups, k, 0) / depth if depth else 0.0


def variance_of_judged_share(groups: Groups, judged: Ranking, k: int | None = None) -> float:
    """Give the variance of :func:`judged_share`."""
    depth = _retrieved(groups) if k is None else min(k, _retrieved(groups))
    return variance_of_hits(groups, k, 0) / depth**2 if depth else 0.0


def rank_biased_residual(ranking: Ranking, judged: Ranking, p: float = 0.8) -> float:
    """1 - (1-p) Σ p^(j-1) over the ranks j of judged documents: what all others might add to RBP [6]_.

    Examples
    --------
    >>> rank_biased_residual([1, None, 0], [1, 0], p=0.5)
    0.375
    """
    return 1 - rank_biased_precision(ranking, judged, None, p, 0)


def expected_rank_biased_residual(groups: Groups, judged: Ranking, p: float = 0.8) -> float:
    """Give the mean of :func:`rank_biased_residual`.

    Examples
    --------
    >>> expected_rank_biased_residual([[1, None]], [1], p=0.5)
    0.625
    """
    return 1 - expected_rank_biased_precision(groups, judged, None, p, 0)


def variance_of_rank_biased_residual(groups: Groups, judged: Ranking, p: float = 0.8) -> float:
    """Give the variance of :func:`rank_biased_residual`."""
    return variance_of_rank_biased_precision(groups, judged, None, p, 0)


# Measures of all that is retrieved, which no order changes.


def set_precision(ranking: Ranking, judged: Ranking, relative: bool = False, rel: int = 1) -> float:
    """Hits / retrieved documents; if relative, / the hits that there could be."""
    best = min(len(ranking), relevant(judged, rel)) if relative else len(ranking)
    return relevant(ranking, rel) / best if best else 0.0


def set_recall(ranking: Ranking, judged: Ranking, rel: int = 1) -> float:
    """Hits / N."""
    return recall(ranking, judged, None, rel)


def set_f(ranking: Ranking, judged: Ranking, beta: float = 1.0, rel: int = 1) -> float:
    """(1 + beta) P R / (R + beta P) of set precision and recall, as trec_eval has it.

    Examples
    --------
    >>> set_f([1, 0, 0, 0], [1, 1])
    0.3333333333333333
    """
    P, R = set_precision(ranking, judged, False, rel), set_recall(ranking, judged, rel)
    return (1 + beta) * P * R / (R + beta * P) if P and R else 0.0


def set_average_precision(ranking: Ranking, judged: Ranking, rel: int = 1) -> float:
    """Set precision times set recall."""
    return set_precision(ranking, judged, False, rel) * set_recall(ranking, judged, rel)


# Counts, which no order changes.


def number_of_queries(ranking: Ranking, judged: Ranking) -> float:
    """Count this query."""
    return 1.0


def number_retrieved(ranking: Ranking, judged: Ranking) -> float:
    """Count the retrieved documents."""
    return float(len(ranking))


def number_relevant(ranking: Ranking, judged: Ranking, rel: int = 1) -> float:
    """Count the relevant documents, N."""
    return float(relevant(judged, rel))


def number_relevant_retrieved(ranking: Ranking, judged: Ranking, rel: int = 1) -> float:
    """Count the relevant documents that were retrieved."""
    return float(relevant(ranking, rel))


# One entry for all of them.

# The value of a ranking; and of groups, the mean and the variance over the orders of tied documents.
MEASURES: dict[str, tuple[Callable[..., float], Callable[..., float], Callable[..., float]]] = {
    "P": (precision, expected_precision, variance_of_precision),
    "R": (recall, expected_recall, variance_of_recall),
    "F1": (f1, expected_f1, variance_of_f1),
    "AP": (average_precision, expected_average_precision, variance_of_average_precision),
    "RR": (reciprocal_rank, expected_reciprocal_rank, variance_of_reciprocal_rank),
    "nDCG": (normalised_discounted_gain, expected_normalised_discounted_gain, variance_of_normalised_discounted_gain),
    "DCG": (discounted_gain, expected_discounted_gain, variance_of_discounted_gain),
    "RBP": (rank_biased_precision, expected_rank_biased_precision, variance_of_rank_biased_precision),
    "Success": (success, expected_success, variance_of_success),
    "Rprec": (r_precision, expected_r_precision, variance_of_r_precision),
    "GMAP": (average_precision, expected_average_precision, variance_of_average_precision),
    "IPrec": (interpolated_precision, expected_interpolated_precision, variance_of_interpolated_precision),
    "IAP11": (eleven_point_precision, expected_eleven_point_precision, variance_of_eleven_point_precision),
    "AUC": (area_under_curve, expected_area_under_curve, variance_of_area_under_curve),
    "ESL": (search_length, expected_search_length, variance_of_search_length),
    "Bpref": (binary_preference, expected_binary_preference, variance_of_binary_preference),
    "infAP": (inferred_average_precision, expected_inferred_average_precision, variance_of_inferred_average_precision),
    "Q": (q_measure, expected_q_measure, variance_of_q_measure),
    "ERR": (
        expected_reciprocal_rank_of_stop,
        mean_reciprocal_rank_of_stop,
        variance_of_reciprocal_rank_of_stop,
    ),
    "Judged": (judged_share, expected_judged_share, variance_of_judged_share),
    "RBPResidual": (rank_biased_residual, expected_rank_biased_residual, variance_of_rank_biased_residual),
}

# The value of what is retrieved, in any order.
OF_SETS: dict[str, Callable[..., float]] = {
    "SetP": set_precision,
    "SetR": set_recall,
    "SetF": set_f,
    "SetAP": set_average_precision,
    "NumQ": number_of_queries,
    "NumRet": number_retrieved,
    "NumRel": number_relevant,
    "NumRelRet": number_relevant_retrieved,
}


def evaluate(
    measure: str | Measure,
    scores: Sequence[float],
    labels: Sequence[Label],
    judged: Sequence[Label] | None = None,
    ties: str = "average",
    docids: Sequence[str | bytes] | None = None,
) -> float:
    """Evaluate one query.

    Parameters
    ----------
    measure : str or Measure
        What to measure, for example ``"nDCG@10"``.
    scores : sequence of float
        Of the retrieved documents; infinities order as they should, and -0.0 equals 0.0.
    labels : sequence of int or None
        Of the same documents. None or a negative label marks an unjudged one.
    judged : sequence of int or None, optional
        The labels of all judged documents of the query, retrieved or not; by default, of those retrieved.
    ties : str
        ``"average"``: the mean over every order of the documents that tie. The others put them in one order,
        as :func:`rank` does: ``"run_order"``, ``"trec_eval"``, ``"optimistic"``, ``"pessimistic"``.
    docids : sequence of str or bytes, optional
        The document ids, for ``"trec_eval"`` only.

    Returns
    -------
    float
        0 for a query without relevant judged documents or without retrieved ones (but counts are counts).

    Raises
    ------
    InputError
        If the lengths disagree, a score is NaN, the tie rule or the measure is unknown, or the document ids
        that the rule needs are missing.

    Examples
    --------
    >>> from tieaware import reference
    >>> scores, labels = [1.0, 1.0, 1.0, 0.5], [1, 0, 0, 2]
    >>> [reference.evaluate("RR", scores, labels, ties=rule) for rule in ("optimistic", "pessimistic")]
    [1.0, 0.3333333333333333]
    >>> round(reference.evaluate("RR", scores, labels), 6)
    0.611111
    """
    measure = parse_measure(measure)
    _check(scores, labels, docids, ties)
    arguments = _arguments(measure)
    judged = labels if judged is None else judged
    if arguments.pop("judged_only", False):
        kept = [d for d, label in enumerate(labels) if is_relevant(label, 0)]
        scores, labels = [scores[d] for d in kept], [labels[d] for d in kept]
        docids = docids if docids is None else [docids[d] for d in kept]
    if measure.name in OF_SETS:
        return OF_SETS[measure.name](labels, judged, **arguments)
    of_ranking, expected, _ = MEASURES[measure.name]
    if ties == "average":
        return expected(group(scores, labels), judged, **arguments)
    return of_ranking(rank(scores, labels, ties, docids), judged, **arguments)


def variance(
    measure: str | Measure,
    scores: Sequence[float],
    labels: Sequence[Label],
    judged: Sequence[Label] | None = None,
) -> float:
    """Give the variance of a measure for one query, over all orders of the documents that tie.

    Groups are independent of each other, so the variances of their parts add up. The parameters and errors are those of
    :func:`evaluate`. The variance of infAP is not known: NaN.

    Examples
    --------
    >>> variance("RR", [1.0, 1.0, 0.5], [1, 0, 0])
    0.0625
    """
    measure = parse_measure(measure)
    _check(scores, labels)
    arguments = _arguments(measure)
    judged = labels if judged is None else judged
    if arguments.pop("judged_only", False):
        kept = [d for d, label in enumerate(labels) if is_relevant(label, 0)]
        scores, labels = [scores[d] for d in kept], [labels[d] for d in kept]
    if measure.name in OF_SETS:
        return 0.0
    return MEASURES[measure.name][2](group(scores, labels), judged, **arguments)


def _check(
    scores: Sequence[float],
    labels: Sequence[Label],
    docids: Sequence[str | bytes] | None = None,
    ties: str = "average",
) -> None:
    for name, values in (("labels", labels), ("docids", docids)):
        if values is not None and len(values) != len(scores):
            raise InputError(f"{name}: {len(values)} values, expected one per score: {len(scores)}")
    for i, score in enumerate(scores):
        if math.isnan(score):
            raise InputError(f"scores[{i}]: NaN, expected a number")
    if ties not in ("average", *ORDERS):
        raise InputError(f"ties={ties!r}: expected one of average, {', '.join(ORDERS)}")


def _arguments(measure: Measure) -> dict[str, Any]:
    """Return the measure's parameters as the functions take them."""
    cutoff = {"k": measure.cutoff} if measure.definition.has_cutoff else {}
    return {**measure.parameters, **cutoff}
