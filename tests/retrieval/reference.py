"""A reference implementation of all retrieval methods in plain Python; the package's results must equal it exactly.

Each function returns the scores of the documents that a method finds, and `top` ranks them. The term weights are taken
from the index; test_weighting.py tests them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np


@dataclass
class Collection:
    """A collection and a query.

    `weights` has the weight of each document by term, `query` the weight of each query term, `texts` the tokens of each
    document.
    """

    weights: dict[int, dict[int, float]]
    query: dict[int, float]
    texts: list[list[int]] = field(default_factory=list)
    quality: list[float] = field(default_factory=list)

    @property
    def documents(self) -> range:
        """The numbers of all documents."""
        return range(len(self.texts))


Scores = dict[int, float]


def top(scores: Scores, k: int, whole_ties: bool) -> list[tuple[int, float]]:
    """Rank by score, then by number; with whole ties, include all documents that tie with the k-th."""
    ranked = sorted(scores.items(), key=lambda each: (-each[1], each[0]))
    return ranked[:k] + [each for each in ranked[k:] if whole_ties and each[1] == ranked[k - 1][1]]


def total(values: Iterable[float]) -> float:
    """Add values from left to right; sum() of Python 3.12 and later compensates for rounding errors."""
    result = 0.0
    for value in values:
        result += value
    return result


def score(query: Scores, weights: dict[int, dict[int, float]], document: int) -> float:
    """Return the score of a document: the sum over the terms in ascending order."""
    return total(query[t] * weights[t][document] for t in sorted(query) if document in weights[t])


def terms_in(c: Collection, document: int) -> int:
    """Count the query's terms that a document contains."""
    return sum(document in c.weights[t] for t in c.query)


def matching(c: Collection) -> list[int]:
    """Return the documents that contain a term of the query."""
    return [d for d in c.documents if terms_in(c, d)]


def exact(c: Collection, documents: list[int] | None = None) -> Scores:
    """Score the given documents, by default all, and leave out those with score 0."""
    scores = {d: score(c.query, c.weights, d) for d in (matching(c) if documents is None else documents)}
    return {d: s for d, s in scores.items() if s > 0}


def in_bands(scores: Scores, k: int, whole: bool, rho: Fraction) -> list[tuple[int, float]]:
    """Give all documents of band g the score 1/g; with `whole`, include the whole band that contains rank k.

    Band g begins with rank b_g: b_1 = 1, and b_{g+1} = rho b_g, rounded up. Documents with the same score are ranked by
    number, as by `top`; inside a band, they are sorted by number.
    """
    ranked = [document for document, _ in top(scores, len(scores), False)]
    result: list[tuple[int, float]] = []
    first, band = 1, 1
    while first <= min(k, len(ranked)):
        after = math.ceil(rho * first)
        members = ranked[first - 1 : after - 1 if whole else min(after - 1, k)]
        result += [(document, 1 / band) for document in sorted(members)]
        first, band = after, band + 1
    return result


def rounded_up(share: float, n: int) -> int:
    """Return a share of n, rounded up with a tolerance for floating-point error."""
    return math.ceil(share * n - 1e-9)


def high_idf(c: Collection, min_idf: float, share: float) -> Scores:
    """Score by the terms of high idf only, including all terms that tie with the last of them."""
    idf = {t: math.log10(len(c.texts) / len(c.weights[t])) for t in c.query}
    highest = sorted(idf.values(), reverse=True)[: rounded_up(share, len(idf))]
    kept = {t: w for t, w in c.query.items() if highest and idf[t] >= max(min_idf, highest[-1])}
    return exact(Collection(c.weights, kept, c.texts))


def at_least(c: Collection, m: int, share: float) -> Scores:
    """Score only documents that contain several of the query's terms."""
    n = len(c.query)
    return exact(c, [d for d in matching(c) if terms_in(c, d) >= max(min(m, n), rounded_up(share, n))])


def best(values: Scores, r: int) -> set[int]:
    """Return the r documents with the largest values; if values tie, the documents with the lowest numbers."""
    return set(sorted(values, key=lambda d: (-values[d], d))[:r])


def champions(c: Collection, k: int, r: int, share: float, fallback: bool) -> Scores:
    """Score the union of the terms' champion lists, or all documents if the union is too small."""
    lists = [best(c.weights[t], max(r, rounded_up(share, len(c.weights[t])))) for t in c.query]
    union = sorted(set().union(*lists))
    return exact(c) if fallback and len(union) < k else exact(c, union)


def net_scores(c: Collection, documents: list[int]) -> Scores:
    """Return score plus quality of the given documents, whose scores may be 0."""
    return {d: score(c.query, c.weights, d) + c.quality[d] for d in documents}


def net_score(c: Collection, share: float) -> Scores:
    """Score the matching documents among the share of all documents with the highest quality."""
    order = sorted(c.documents, key=lambda d: (-c.quality[d], d))[: rounded_up(share, len(c.texts))]
    return net_scores(c, [d for d in matching(c) if d in order])


def global_champions(c: Collection, k: int, r: int, fallback: bool) -> Scores:
    """Score the union of the terms' documents with the largest sum of quality and weight."""
    lists = [best({d: c.quality[d] + w for d, w in c.weights[t].items()}, r) for t in c.query]
    union = sorted(set().union(*lists))
    return net_scores(c, matching(c) if fallback and len(union) < k else union)


def high_low(c: Collection, k: int, r: int, m: int) -> Scores:
    """Score the documents in the high lists of several terms, or all matching documents if those are too few."""
    times = Counter(d for t in c.query for d in best(c.weights[t], r))
    high = sorted(d for d in times if times[d] >= min(m, len(c.query)))
    return net_scores(c, high if len(high) >= k else matching(c))


def cluster_pruning(c: Collection, n_leaders: int | None, b1: int, b2: int, seed: int) -> Scores:
    """Score the followers of the leaders nearest to the query."""
    n = len(c.texts)
    if n_leaders is None:
        n_leaders = math.ceil(math.sqrt(n))
    drawn = np.random.PCG64(seed).random_raw(n).tolist()
    leaders = sorted(sorted(c.documents, key=lambda d: (drawn[d], d))[:n_leaders])
    vectors = {leader: {t: c.weights[t][leader] for t in c.weights if leader in c.weights[t]} for leader in leaders}
    for vector in vectors.values():
        length = math.sqrt(total(w * w for w in vector.values()))
        vector.update({t: float(np.float32(w / length)) for t, w in vector.items() if length})

    followers = {leader: {leader} for leader in leaders}
    for d in c.documents:
        near = sorted(leaders, key=lambda leader: (-score(vectors[leader], c.weights, d), leader))
        for leader in near[:b1] if d not in leaders else []:
            followers[leader].add(d)
    by_term = {t: {leader: vectors[leader][t] for leader in leaders if t in vectors[leader]} for t in c.query}
    near = sorted(leaders, key=lambda leader: (-score(c.query, by_term, leader), leader))
    return exact(c, sorted(set().union(*(followers[leader] for leader in near[:b2]))))


def tiers(c: Collection, k: int, thresholds: tuple[float, ...], quantiles: tuple[float, ...], by: str) -> Scores:
    """Search the tier of the postings with the largest values, and then further tiers until k documents are found."""
    values = c.weights if by == "weight" else term_frequencies(c)
    ascending = sorted(v for by_document in values.values() for v in by_document.values())
    n = len(ascending)
    for threshold in [*thresholds, *(ascending[min(int(q * n), n - 1)] for q in quantiles), 0]:
        kept = {t: {d: w for d, w in c.weights[t].items() if values[t][d] >= threshold} for t in c.weights}
        scores = exact(Collection(kept, c.query, c.texts))
        if len(scores) >= k:
            break
    return scores


def term_frequencies(c: Collection) -> dict[int, dict[int, int]]:
    """Count how often each term occurs in each document."""
    return {t: {d: c.texts[d].count(t) for d in c.weights[t]} for t in c.weights}


def smallest_window(needed: Counter[int], text: list[int]) -> int:
    """Try all windows, the shortest first; return the length of the first that contains all needed terms, or 0."""
    for length in range(1, len(text) + 1):
        for start in range(len(text) - length + 1):
            if needed.total() and needed <= Counter(text[start : start + length]):
                return length
    return 0


def proximity(c: Collection, k: int, needed: Counter[int], alpha: float, depth: int | None) -> Scores:
    """Rerank the top documents: add alpha, divided by the width of the smallest window, to their scores."""
    scores = {}
    for d, s in top(exact(c), max(k, depth or 0), True):
        window = smallest_window(needed, c.texts[d])
        scores[d] = s + (alpha / window if window else 0.0)
    return scores


def zone_score(matches: dict[str, bool], weights: dict[str, float]) -> float:
    """Sum the weights of the zones that match."""
    return total(weights[zone] for zone in weights if matches[zone])


def zone_matches(query: set[str], zones: dict[str, list[str]], match: str) -> dict[str, bool]:
    """Return whether each zone contains all of the query's terms, or any of them."""
    test = all if match == "all" else any
    return {zone: bool(query) and test(t in words for t in query) for zone, words in zones.items()}


def inclusion(ranked: list[tuple[int, float]], k: int) -> dict[int, float]:
    """Return, for each document, the probability that it is in the top k if tied documents are in random order."""
    sizes = Counter(s for _, s in ranked)
    above = {s: sum(n for other, n in sizes.items() if other > s) for s in sizes}
    return {d: min(1.0, max(0, k - above[s]) / sizes[s]) for d, s in ranked}


def centroid(c: Collection, p: dict[int, float]) -> Scores:
    """Return the mean of the vectors of some documents, weighted by p."""
    n = round(total(p.values())) or 1
    return {t: total(p[d] * w[d] for d in sorted(p) if d in w) / n for t, w in c.weights.items()}


def rocchio(
    c: Collection, relevant: dict[int, float], nonrelevant: dict[int, float], alpha: float, beta: float, gamma: float,
    n_terms: int | None,
) -> Scores:  # fmt: skip
    """Move a query towards the centroid of the relevant documents and away from the others; keep positive weights."""
    towards, away = centroid(c, relevant), centroid(c, nonrelevant)
    vector = {t: alpha * c.query.get(t, 0.0) + beta * towards[t] - gamma * away[t] for t in c.weights}
    positive = {t: w for t, w in vector.items() if w > 0}
    added = sorted((t for t in positive if t not in c.query), key=lambda t: (-positive[t], t))
    left_out = [] if n_terms is None else added[n_terms:]
    return {t: w for t, w in positive.items() if t not in left_out}


def blind_feedback(c: Collection, depth: int, alpha: float, beta: float, n_terms: int | None) -> Scores:
    """Expand the query with the top documents, each weighted by its probability to be in the top, and search again."""
    ranked = top(exact(c), depth, True)
    return exact(Collection(c.weights, rocchio(c, inclusion(ranked, depth), {}, alpha, beta, 0.0, n_terms), c.texts))
