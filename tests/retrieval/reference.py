"""Every method of retrieval in readable Python, on dicts: what the package finds is to be this, bit for bit.

Weights are given, as the index has them: what terms are worth is another matter. A method returns the scores of all
documents that it finds; `top` ranks them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Collection:
    """A collection as a query sees it.

    `weights` are those of documents by term, `query` those of the query's terms, `texts` the tokens of each document.
    """

    weights: dict[int, dict[int, float]]
    query: dict[int, float]
    texts: list[list[int]] = field(default_factory=list)
    quality: list[float] = field(default_factory=list)

    @property
    def documents(self) -> range:
        """All documents."""
        return range(len(self.texts))


Scores = dict[int, float]


def top(scores: Scores, k: int, whole_ties: bool) -> list[tuple[int, float]]:
    """Rank by score, and of those that tie by number; with whole ties, add all that tie with the last."""
    ranked = sorted(scores.items(), key=lambda each: (-each[1], each[0]))
    return ranked[:k] + [each for each in ranked[k:] if whole_ties and each[1] == ranked[k - 1][1]]


def total(values: Iterable[float]) -> float:
    """Add one after the other; later Pythons' sum() carries what rounding loses."""
    result = 0.0
    for value in values:
        result += value
    return result


def score(query: Scores, weights: dict[int, dict[int, float]], document: int) -> float:
    """Sum over the terms, in ascending order."""
    return total(query[t] * weights[t][document] for t in sorted(query) if document in weights[t])


def terms_in(c: Collection, document: int) -> int:
    """Count the query's terms that a document has."""
    return sum(document in c.weights[t] for t in c.query)


def matching(c: Collection) -> list[int]:
    """Give the documents that have a term of the query."""
    return [d for d in c.documents if terms_in(c, d)]


def exact(c: Collection, documents: list[int] | None = None) -> Scores:
    """Score documents, all or some, and leave out those without a score."""
    scores = {d: score(c.query, c.weights, d) for d in (matching(c) if documents is None else documents)}
    return {d: s for d, s in scores.items() if s > 0}


def rounded_up(share: float, n: int) -> int:
    """Give a share of n, rounded up but for what is lost in multiplying."""
    return math.ceil(share * n - 1e-9)


def high_idf(c: Collection, min_idf: float, share: float) -> Scores:
    """Keep only the terms of high idf, with all that tie with the last."""
    idf = {t: math.log10(len(c.texts) / len(c.weights[t])) for t in c.query}
    highest = sorted(idf.values(), reverse=True)[: rounded_up(share, len(idf))]
    kept = {t: w for t, w in c.query.items() if highest and idf[t] >= max(min_idf, highest[-1])}
    return exact(Collection(c.weights, kept, c.texts))


def at_least(c: Collection, m: int, share: float) -> Scores:
    """Keep only documents with several of the query's terms."""
    n = len(c.query)
    return exact(c, [d for d in matching(c) if terms_in(c, d) >= max(min(m, n), rounded_up(share, n))])


def best(values: Scores, r: int) -> set[int]:
    """Give the r documents of the largest values; of those that tie, the first."""
    return set(sorted(values, key=lambda d: (-values[d], d))[:r])


def champions(c: Collection, k: int, r: int, share: float, fallback: bool) -> Scores:
    """Score the union of the terms' best documents, or all if they are too few."""
    lists = [best(c.weights[t], max(r, rounded_up(share, len(c.weights[t])))) for t in c.query]
    union = sorted(set().union(*lists))
    return exact(c) if fallback and len(union) < k else exact(c, union)


def net_scores(c: Collection, documents: list[int]) -> Scores:
    """Add quality to scores, which may be 0."""
    return {d: score(c.query, c.weights, d) + c.quality[d] for d in documents}


def net_score(c: Collection, share: float) -> Scores:
    """Rank the documents of best quality, a share of all."""
    order = sorted(c.documents, key=lambda d: (-c.quality[d], d))[: rounded_up(share, len(c.texts))]
    return net_scores(c, [d for d in matching(c) if d in order])


def global_champions(c: Collection, k: int, r: int, fallback: bool) -> Scores:
    """Rank the union of each term's documents of the largest quality plus weight."""
    lists = [best({d: c.quality[d] + w for d, w in c.weights[t].items()}, r) for t in c.query]
    union = sorted(set().union(*lists))
    return net_scores(c, matching(c) if fallback and len(union) < k else union)


def high_low(c: Collection, k: int, r: int, m: int) -> Scores:
    """Rank the documents in the high lists of several terms, or all if they are too few."""
    times = Counter(d for t in c.query for d in best(c.weights[t], r))
    high = sorted(d for d in times if times[d] >= min(m, len(c.query)))
    return net_scores(c, high if len(high) >= k else matching(c))


def cluster_pruning(c: Collection, n_leaders: int | None, b1: int, b2: int, seed: int) -> Scores:
    """Score the followers of the leaders that are nearest to the query."""
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
    """Search the postings of the largest values, and more of them until there are k documents."""
    values = c.weights if by == "weight" else term_frequencies(c)
    ascending = sorted(v for of_term in values.values() for v in of_term.values())
    n = len(ascending)
    for threshold in [*thresholds, *(ascending[min(int(q * n), n - 1)] for q in quantiles), 0]:
        kept = {t: {d: w for d, w in c.weights[t].items() if values[t][d] >= threshold} for t in c.weights}
        scores = exact(Collection(kept, c.query, c.texts))
        if len(scores) >= k:
            break
    return scores


def term_frequencies(c: Collection) -> dict[int, dict[int, int]]:
    """Count the terms of each document."""
    return {t: {d: c.texts[d].count(t) for d in c.weights[t]} for t in c.weights}


def smallest_window(needed: Counter[int], text: list[int]) -> int:
    """Try all passages, the shortest first: the length of one that holds all that is needed; 0 if none does."""
    for length in range(1, len(text) + 1):
        for start in range(len(text) - length + 1):
            if needed.total() and needed <= Counter(text[start : start + length]):
                return length
    return 0


def proximity(c: Collection, k: int, needed: Counter[int], alpha: float, depth: int | None) -> Scores:
    """Add alpha over the smallest window to the scores of the top documents."""
    scores = {}
    for d, s in top(exact(c), max(k, depth or 0), True):
        window = smallest_window(needed, c.texts[d])
        scores[d] = s + (alpha / window if window else 0.0)
    return scores


def zone_score(matches: dict[str, bool], weights: dict[str, float]) -> float:
    """Sum the weights of the zones that match."""
    return total(weights[zone] for zone in weights if matches[zone])


def zone_matches(query: set[str], zones: dict[str, list[str]], match: str) -> dict[str, bool]:
    """Tell in which zones all of the query's terms are, or any."""
    test = all if match == "all" else any
    return {zone: bool(query) and test(t in words for t in query) for zone, words in zones.items()}


def inclusion(ranked: list[tuple[int, float]], k: int) -> dict[int, float]:
    """Give the probability of each document to be among the first k, if those that tie come in any order."""
    sizes = Counter(s for _, s in ranked)
    above = {s: sum(n for other, n in sizes.items() if other > s) for s in sizes}
    return {d: min(1.0, max(0, k - above[s]) / sizes[s]) for d, s in ranked}


def centroid(c: Collection, p: dict[int, float]) -> Scores:
    """Give the mean vector of some documents, each with a weight."""
    n = round(total(p.values())) or 1
    return {t: total(p[d] * w[d] for d in sorted(p) if d in w) / n for t, w in c.weights.items()}


def rocchio(
    c: Collection, relevant: dict[int, float], nonrelevant: dict[int, float], alpha: float, beta: float, gamma: float,
    n_terms: int | None,
) -> Scores:  # fmt: skip
    """Move a query towards the centroid of the relevant documents and away from the others; keep what is positive."""
    towards, away = centroid(c, relevant), centroid(c, nonrelevant)
    vector = {t: alpha * c.query.get(t, 0.0) + beta * towards[t] - gamma * away[t] for t in c.weights}
    positive = {t: w for t, w in vector.items() if w > 0}
    added = sorted((t for t in positive if t not in c.query), key=lambda t: (-positive[t], t))
    left_out = [] if n_terms is None else added[n_terms:]
    return {t: w for t, w in positive.items() if t not in left_out}


def blind_feedback(c: Collection, depth: int, alpha: float, beta: float, n_terms: int | None) -> Scores:
    """Take the top documents for relevant, each with its probability to be among them, and search again."""
    ranked = top(exact(c), depth, True)
    return exact(Collection(c.weights, rocchio(c, inclusion(ranked, depth), {}, alpha, beta, 0.0, n_terms), c.texts))
