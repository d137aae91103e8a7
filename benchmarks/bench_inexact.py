"""Methods of inexact retrieval against exact search: the time of a method follows what it reads."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from benchmarks.bench_retrieval import Words
from tieaware import Run
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
from tieaware.retrieval.method import posting_weights

SECTION = "Inexact retrieval: 2·10⁵ documents of 60 words, 60 queries of 2 to 6 words, top 10, one thread"
PREPARATION = "Preparation of inexact retrieval: 3·10⁴ documents of 60 words, BM25, one thread"
WEIGHTINGS = ("lnc.ltc", "bm25")
K = 10


@pytest.fixture(scope="module")
def words(small) -> Words:
    made = Words(2_000, 500) if small else Words(200_000, 100_000)
    made.queries = dict(list(made.queries.items())[:60])
    return made


@pytest.fixture(scope="module")
def index(words) -> Index:
    return build(words)


@pytest.fixture(scope="module")
def fewer_words(small) -> Words:
    return Words(2_000, 500) if small else Words(30_000, 30_000)


def build(words: Words) -> Index:
    n = len(words.offsets) - 1
    quality = np.random.default_rng(2009).random(n)
    tokens = words.tokens.copy(), words.offsets.copy()
    return Index.from_tokens(tokens, map(str, range(words.n_terms)), quality=quality, positions=False)


def search(method: Method, index: Index, words: Words) -> Run:
    return method.search(index, words.queries, K, threads=1)


def postings_read(method: Method, index: Index, words: Words) -> float:
    """Return the postings that a method reads, as a share of those of exact search."""
    read, all_read = (
        each.counted(index, words.queries, K, threads=1)[1].postings.sum()
        for each in (method, Exact(weighting=method.weighting))
    )
    return float(read / all_read)


def same(a: Method, b: Method, index: Index, words: Words) -> None:
    """Assert that two methods find the same documents with the same scores."""
    one, other = (search(each, index, words) for each in (a, b))
    assert one.documents == other.documents
    assert one.scores.tobytes() == other.scores.tobytes()


# Each method with its limit, at which it must find the same as another method, and the most time that it may take, as a
# share of the time of exact search. A number that is added to the postings read is marked by "+".
ROWS = {
    "NetScore": (NetScore(), lambda n: (NetScore(), GlobalChampions(r=n)), "+0.2"),
    "AtLeast(m=2)": (AtLeast(m=2), lambda n: (AtLeast(m=1), Exact()), "1.0"),
    "HighLow(r=1000)": (HighLow(r=1000), lambda n: (HighLow(r=n), NetScore()), "0.3"),
    "GlobalChampions(r=1000)": (GlobalChampions(r=1000), lambda n: (GlobalChampions(r=n), NetScore()), "0.3"),
    "Champions(r=1000)": (Champions(r=1000), lambda n: (Champions(r=n), Exact()), "0.3"),
    "Champions(r=100)": (Champions(r=100), lambda n: (Champions(r=1, share=1.0), Exact()), "0.15"),
    "Tiers(quantiles=(0.9,))": (Tiers(quantiles=(0.9,)), lambda n: (Tiers(thresholds=(1e9,)), Exact()), "+0.1"),
    "ImpactOrdered(postings=0.1)": (
        ImpactOrdered(postings=0.1), lambda n: (ImpactOrdered(postings=10**12), Exact()), "0.2"
    ),
    "ClusterPruning": (ClusterPruning(), lambda n: (ClusterPruning(b2=n, leaders=200), Exact()), "+0.1"),
}  # fmt: skip


def weighted(method: Method, weighting: str) -> Method:
    return type(method)(**{**vars(method), "weighting": weighting})


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("name", ROWS)
def test_search(compare, index, words, name, weighting):
    row, limits, goal = ROWS[name]
    method, exact = weighted(row, weighting), Exact(weighting=weighting)

    def check() -> None:
        at_limit, other = (weighted(each, weighting) for each in limits(len(index)))
        same(at_limit, other, index, words)
        assert len(search(method, index, words).scores) > 0

    read = postings_read(method, index, words)
    at_most = read + float(goal) if goal[0] == "+" else float(goal)
    compare(
        SECTION, name, check=check, contender=partial(search, method, index, words), of="method",
        baseline=partial(search, exact, index, words), to="Exact", at_most=round(at_most, 2), budget=1.0,
        column=weighting,
    )  # fmt: skip


@pytest.mark.parametrize(
    "method",
    [Champions(r=100), Champions(r=1000), GlobalChampions(r=1000), NetScore(), Tiers(quantiles=(0.9,)),
     ImpactOrdered(postings=0.1), ClusterPruning()],
    ids=str,
)  # fmt: skip
def test_preparation(compare, fewer_words, method):
    words, method = fewer_words, weighted(method, "bm25")
    nothing: dict[str, str] = {}
    # Bitmaps and dense lists, which many methods share, are prepared with each method, too.
    fresh = [build(words)]

    def prepare() -> Run:
        return method.search(fresh[0], nothing, K, threads=1)

    def rebuild() -> Index:
        fresh[0] = build(words)
        posting_weights(fresh[0], "bm25")
        return fresh[0]

    def check() -> None:
        first = search(method, fresh[0], words)
        assert search(method, rebuild(), words).documents == first.documents
        rebuild()

    compare(
        PREPARATION, str(method), check=check, contender=prepare, of="preparing", baseline=rebuild,
        to="Index.from_tokens and the weights", at_most=5.0, budget=1.5,
    )  # fmt: skip


def test_growth_of_clusters(compare, small):
    """The time per document that clusters take grows at most with the root of the number of documents."""
    both = [Words(n, 1_000 if small else 50_000) for n in ((300, 3_000) if small else (10_000, 100_000))]
    few, many = map(build, both)
    times = len(many) // len(few)
    for each in (few, many):
        posting_weights(each, "bm25")
    # Each preparation has its own seed, because the index keeps what was prepared.
    seeds = iter(range(10_000))

    def prepare(index: Index) -> None:
        ClusterPruning(weighting="bm25", seed=next(seeds)).search(index, {}, K, threads=1)

    def check() -> None:
        for each, words in zip((few, many), both, strict=True):
            every_leader = ClusterPruning(weighting="bm25", b2=len(each), seed=next(seeds))
            same(every_leader, Exact(weighting="bm25"), each, words)

    def prepare_few() -> None:
        for _ in range(times):
            prepare(few)

    compare(
        PREPARATION, "clusters of 10⁵ documents, and ten times clusters of 10⁴", check=check,
        contender=partial(prepare, many), of="10⁵ documents", baseline=prepare_few, to="ten times 10⁴", at_most=3.2,
        budget=4.0,
    )  # fmt: skip
