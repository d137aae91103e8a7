"""Searches of many queries at a time find for each query what a search of this query alone finds."""

import numpy as np
import pytest
from searches import find

from tieaware.errors import InputError
from tieaware.retrieval import (
    AtLeast,
    Champions,
    ClusterPruning,
    Exact,
    GlobalChampions,
    HighLow,
    ImpactOrdered,
    Index,
    Method,
    NetScore,
    Tiers,
)
from tieaware.retrieval.index import Query
from tieaware.retrieval.method import posting_weights, query_weights

METHODS = (
    Champions(r=4), Champions(r=20, weighting="bm25"), Champions(r=2, fallback=True),
    Champions(r=5, weighting="lm-dirichlet:2000", fallback=True), GlobalChampions(r=6), HighLow(r=3, m=2),
    ClusterPruning(b2=2), ClusterPruning(b1=2, b2=3, weighting="bm25"), Exact(), ImpactOrdered(postings=0.2),
    ImpactOrdered(postings=9, weighting="bm25"), Tiers(quantiles=(0.9, 0.5)), AtLeast(m=2), NetScore(weighting="bm25"),
)  # fmt: skip


@pytest.fixture(scope="module")
def index() -> Index:
    rng = np.random.default_rng(7)
    tokens = np.minimum(rng.zipf(1.3, (3000, 7)), 200).astype(np.int32) - 1
    quality = rng.integers(0, 4, 3000) / 3
    return Index.from_tokens(
        (tokens.ravel(), np.arange(0, 21_001, 7)), [str(i) for i in range(200)], quality=quality
    )  # fmt: skip


def queries(index: Index) -> dict[int, Query]:
    """Return queries of different lengths, some with their own weights, one of them with a filter, and some empty."""
    rng = np.random.default_rng(8)
    made: dict[int, Query] = {}
    for i in range(150):
        terms = np.unique(rng.integers(0, 200 if i % 3 else 12, i % 7))
        weights = rng.integers(-1, 4, len(terms)) / 3 if i % 10 == 9 else None
        made[i] = Query(terms, rng.integers(1, 3, len(terms)), weights)
    made[149] = made[149]._replace(documents=np.arange(0, 3000, 2, dtype=np.int32))
    return made


@pytest.mark.parametrize("whole_ties", [False, True])
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_chunks_of_queries(method: Method, index: Index, whole_ties: bool):
    asked = queries(index)
    runs = [method.counted(index, asked, 5, whole_ties=whole_ties, threads=threads) for threads in (1, 2, 3)]
    run, costs = runs[0]
    for other, other_costs in runs[1:]:
        assert other.documents == run.documents
        assert other.offsets.tolist() == run.offsets.tolist()
        assert other.scores.tobytes() == run.scores.tobytes()
        assert other_costs.postings.tolist() == costs.postings.tolist()
    for i, query in asked.items():
        alone, own_costs = method.counted(index, {i: query}, 5, whole_ties=whole_ties)
        own = slice(run.offsets[i], run.offsets[i + 1])
        assert alone.documents.to_list() == run.documents.to_list()[own]
        assert alone.scores.tobytes() == run.scores[own].tobytes()
        assert own_costs.postings[0] == costs.postings[i]
        assert own_costs.documents[0] == costs.documents[i]
        assert own_costs.comparisons[0] == costs.comparisons[i]
        if query.documents is None:
            found = find(method, index, 5, whole_ties, query)
            assert found.scores.tobytes() == alone.scores.tobytes()
            assert found.n_postings == costs.postings[i]


def test_no_queries(index):
    run, costs = Champions(r=4).counted(index, {})
    assert len(run.documents) == len(costs.postings) == 0


def test_a_weight_is_missing(index):
    wrong = Query(np.array([1, 2]), np.ones(2, np.int64), np.ones(1))
    with pytest.raises(InputError, match="each term of a query must have a weight"):
        Champions(r=4).search(index, {"q": wrong})


@pytest.fixture(scope="module")
def long_index() -> Index:
    """Return an index with terms of all frequencies: in dense form, with bitmaps, with filters, and rare ones."""
    rng = np.random.default_rng(11)
    shares = np.cumsum(np.arange(1, 3001) ** -1.1)
    tokens = np.searchsorted(shares, rng.random((20_000, 20)) * shares[-1]).astype(np.int32)
    quality = np.round(rng.random(20_000), 2)
    return Index.from_tokens(
        (tokens.ravel(), np.arange(0, 400_001, 20)), [str(i) for i in range(3000)], quality=quality
    )  # fmt: skip


@pytest.mark.parametrize("weighting", ["lnc.ltc", "bm25", "impact:8"])
@pytest.mark.parametrize("make", [Champions, GlobalChampions, HighLow])
@pytest.mark.parametrize(("r", "k"), [(30, 3), (200, 10), (1000, 100)])
def test_entries_that_are_left_out_are_not_of_the_top(long_index: Index, make, weighting: str, r: int, k: int):
    """All documents of the champion lists, scored by NumPy, have the same top."""
    index, postings = long_index, long_index.postings
    rng = np.random.default_rng(r)
    rows = [np.unique(rng.integers(0, (60, 600, 3000)[i % 3], rng.integers(2, 7))) for i in range(60)]
    asked = {i: Query(terms, np.ones(len(terms), np.int64)) for i, terms in enumerate(rows)}
    whole = r == 200
    run, costs = make(r=r, weighting=weighting).counted(index, asked, k, whole_ties=whole)
    weights = posting_weights(index, weighting).astype(np.float64)
    base = np.zeros(len(index)) if make is Champions else index.quality
    for i, query in asked.items():
        own = query_weights(index, weighting, query)
        sums, candidates, n_entries = np.zeros(len(index)), np.zeros(len(index), bool), 0
        for term, weight in zip(query.terms, own, strict=True):
            of_term = slice(postings.starts[term], postings.starts[term + 1])
            documents = postings.documents[of_term]
            sums[documents] += weight * weights[of_term]
            values = weights[of_term] + (base[documents] if make is GlobalChampions else 0)
            best = documents[np.argsort(-values, kind="stable")[:r]]
            candidates[best] = True
            n_entries += len(best)
        if make is HighLow and candidates.sum() < k:
            candidates[:] = np.isin(np.arange(len(index)), np.concatenate([
                postings.documents[postings.starts[t] : postings.starts[t + 1]] for t in query.terms
            ]))  # fmt: skip
        numbers = np.flatnonzero(candidates)
        scores = sums[numbers] + base[numbers] if make is not Champions else sums[numbers]
        order = np.lexsort((numbers, -scores))
        n = k if not whole or len(order) <= k else int((scores >= scores[order[k - 1]]).sum())
        found = slice(run.offsets[i], run.offsets[i + 1])
        assert run.scores[found].tobytes() == scores[order[:n]].tobytes()
        assert run.documents.to_list()[found] == numbers[order[:n]].tolist()
        assert costs.documents[i] <= len(numbers)
    # Few of the candidates are scored.
    if r == 1000 and k == 100 and make is Champions:
        assert costs.documents.mean() < 1000
