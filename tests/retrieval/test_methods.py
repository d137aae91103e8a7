"""All methods of retrieval by one contract: reference, guarantees, ties, chunks, threads, files and parameters.

Tests of a single method follow the contract, or have a file of their own.
"""

import math
from dataclasses import fields
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import reference
from collections_of_words import index_of_chunks, queries_of_chunks
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import Search, find, searches

from tieaware import InputError
from tieaware.kernels import _clusters, _top
from tieaware.retrieval import (
    RM3,
    WAND,
    AtLeast,
    BandSafe,
    BlindFeedback,
    BlockMaxWAND,
    Champions,
    ClusterPruning,
    Exact,
    ExactNetScore,
    GlobalChampions,
    HighIdf,
    HighLow,
    ImpactOrdered,
    Index,
    MaxScore,
    Method,
    NetScore,
    Proximity,
    Query,
    Tiers,
    WeightedZones,
    parse_method,
)
from tieaware.retrieval.method import known_methods, posting_weights, query_weights

SHARES = st.sampled_from((0.0, 0.1, 0.3, 0.5, 0.9, 1.0))
FEW, LISTS = st.integers(1, 3), st.integers(1, 5)
# Binary fractions, which float32 represents exactly.
DESCENDING = st.sets(st.sampled_from((0.0, 0.125, 0.25, 0.5, 0.75, 1.0))).map(lambda s: tuple(sorted(s, reverse=True)))
TIERS = st.one_of(
    st.fixed_dictionaries({name: DESCENDING, "by": st.sampled_from(("weight", "tf"))})
    for name in ("thresholds", "quantiles")
)


def exact(search: Search, **_) -> reference.Scores:
    return reference.exact(search.collection())


def net_score(search: Search, share=1.0, quality_weight=1.0, score_weight=1.0) -> reference.Scores:
    c = search.collection()
    quality, query = [quality_weight * q for q in c.quality], {t: score_weight * w for t, w in c.query.items()}
    return reference.net_score(reference.Collection(c.weights, query, c.texts, quality), share)


def tiers(search: Search, by, **given) -> reference.Scores:
    values = {"thresholds": (), "quantiles": ()} | given
    return reference.tiers(search.collection(), search.k, **values, by=by)


def proximity(search: Search, alpha, depth) -> reference.Scores:
    return reference.proximity(search.collection(), search.k, search.needed, alpha, depth)


# For each method, its parameters, and the scores of the reference for a search with them.
WEIGHTS_OF_PARTS = {
    "quality_weight": st.sampled_from((0.0, 0.5, 1.0, 3.0)), "score_weight": st.sampled_from((0.0, 0.25, 1.0))
}  # fmt: skip
NET_SCORES = st.one_of(map(st.fixed_dictionaries, (WEIGHTS_OF_PARTS, {"share": st.sampled_from((0.0, 0.2, 0.5, 1.0))})))
REFERENCES = {
    Exact: ({"heap": st.sampled_from((None, "all"))}, exact), MaxScore: ({}, exact), WAND: ({}, exact),
    BlockMaxWAND: ({"block": st.sampled_from((1, 2, 64))}, exact),
    Champions: (
        {"r": LISTS, "share": st.sampled_from((0.0, 0.3, 0.5, 1.0)), "fallback": st.booleans()},
        lambda search, **given: reference.champions(search.collection(), search.k, **given),
    ),
    ClusterPruning: (
        {"leaders": st.sampled_from((None, 1, 2, 4, 20)), "b1": FEW, "b2": FEW, "seed": st.integers(0, 2)},
        lambda search, leaders, **given: reference.cluster_pruning(search.collection(), leaders, **given),
    ),
    HighIdf: (
        {"min_idf": st.sampled_from((0.0, 0.05, 0.2, 0.5, 1.0)), "share": SHARES},
        lambda search, **given: reference.high_idf(search.collection(), **given),
    ),
    AtLeast: (
        {"m": st.integers(1, 4), "share": SHARES},
        lambda search, **given: reference.at_least(search.collection(), **given),
    ),
    Tiers: (TIERS, tiers), ExactNetScore: (WEIGHTS_OF_PARTS, net_score),
    NetScore: (NET_SCORES, net_score),
    GlobalChampions: (
        {"r": LISTS, "fallback": st.booleans()},
        lambda search, **given: reference.global_champions(search.collection(), search.k, **given),
    ),
    HighLow: (
        {"r": LISTS, "m": FEW}, lambda search, **given: reference.high_low(search.collection(), search.k, **given)
    ),
    Proximity: (
        {"alpha": st.sampled_from((0.0, 0.1, 1.0, 7.0)), "depth": st.sampled_from((None, 1, 3, 20))}, proximity
    ),
    BlindFeedback: (
        {"depth": st.sampled_from((1, 2, 3, 20)), "alpha": st.sampled_from((0.0, 1.0)),
         "beta": st.sampled_from((0.0, 0.75)), "n_terms": st.sampled_from((None, 0, 1, 2))},
        lambda search, **given: reference.blind_feedback(search.collection(), **given),
    ),
}  # fmt: skip


@pytest.mark.parametrize("method", REFERENCES, ids=lambda method: method.__name__)
@given(search=searches(), data=st.data())
@settings(max_examples=100, deadline=None)
def test_results_equal_the_reference(method, search: Search, data):
    parameters, expected = REFERENCES[method]
    drawn = data.draw(st.fixed_dictionaries(parameters) if isinstance(parameters, dict) else parameters)
    assert search.found(method(weighting=search.weighting, **drawn)) == search.expected(expected(search, **drawn))


def test_every_method_has_a_reference():
    """These four are tested in files of their own."""
    methods = {each for each in known_methods().values() if each.__module__.startswith("tieaware.")}
    assert methods == {*REFERENCES, BandSafe, ImpactOrdered, RM3, WeightedZones}


def longest(df):
    """Return the length of the whole list of each term."""
    return df


@given(searches(), st.integers(1, 3), st.integers(0, 2**70), st.booleans())
@settings(max_examples=60, deadline=None)
def test_methods_that_leave_nothing_out_equal_exact_search(search: Search, b1, seed, has_parts):
    """If a weighting has parts for documents, this holds for the methods that can use it."""
    n, weighting = len(search.index), "lm-dirichlet:3" if has_parts else search.weighting
    expected = search.found(Exact(weighting=weighting))
    for method, parameters in (
        (Exact, {"heap": "all"}), (MaxScore, {}), (WAND, {}), (BlockMaxWAND, {}), (Champions, {"r": n}),
        (Champions, {"r": 1, "share": 1.0}), (Champions, {"r": longest}), (AtLeast, {}), (HighIdf, {}),
        (HighIdf, {"method": "WAND"}), (Proximity, {"alpha": 0}), (BlindFeedback, {"beta": 0}), (BandSafe, {"rho": 1}),
        (ClusterPruning, {"b1": b1, "b2": n, "seed": seed}), (ImpactOrdered, {}), (Tiers, {}),
        (Tiers, {"quantiles": (0,)}), (Tiers, {"thresholds": (99, 98)}),
    ):  # fmt: skip
        if method._adds_document_parts or not has_parts:
            assert search.found(method(weighting=weighting, **parameters)) == expected, method


METHODS = (
    Exact(), MaxScore(), WAND(), BlockMaxWAND(block=7), Champions(r=4), Champions(r=20, weighting="bm25"),
    Champions(r=2, fallback=True), Champions(r=5, weighting="lm-dirichlet:2000", fallback=True), GlobalChampions(r=6),
    HighLow(r=3, m=2), ClusterPruning(b2=2), ClusterPruning(b1=2, b2=3, weighting="bm25"),
    ImpactOrdered(postings=0.2), ImpactOrdered(postings=9, weighting="bm25"),
    ImpactOrdered(postings=0.2, weighting="impact:8"), Tiers(quantiles=(0.9, 0.5)), AtLeast(m=2),
    NetScore(weighting="bm25"), ExactNetScore(), HighIdf(share=0.5), HighIdf(method="Champions(r=3)"), BandSafe(),
    BandSafe(rho=1), BandSafe(rho=2, look_up=False, weighting="bm25"), BlindFeedback(depth=2, n_terms=4),
    RM3(depth=2, n_terms=4), Proximity(),
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
def test_a_query_has_the_same_result_in_any_chunk_and_file(method: Method, index: Index, whole_ties: bool, tmp_path):
    """Other queries, threads and saving change no run. Documents rank by score, and ties by place in the index."""
    asked = queries(index) | {150: ["unknown"], 151: Query(np.empty(0, np.int64), np.empty(0, np.int64))}
    index.save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index")
    run, costs = method.counted(index, asked, 5, whole_ties=whole_ties, threads=1)
    for where, threads in ((index, 2), (index, 3), (loaded, 1)):
        other, other_costs = method.counted(where, asked, 5, whole_ties=whole_ties, threads=threads)
        assert (other.documents, other.offsets.tolist()) == (run.documents, run.offsets.tolist())
        assert other.scores.tobytes() == run.scores.tobytes()
        assert other_costs.postings.tolist() == costs.postings.tolist()
    assert (run.name, len(run.offsets)) == (str(method), 153)
    assert run.offsets[150] == run.offsets[152]
    assert method.search(index, {}).documents.to_list() == []
    numbers = run.documents.to_list()
    for i, query in asked.items():
        alone, own_costs = method.counted(index, {i: query}, 5, whole_ties=whole_ties)
        own = slice(run.offsets[i], run.offsets[i + 1])
        assert alone.documents.to_list() == numbers[own]
        assert alone.scores.tobytes() == run.scores[own].tobytes()
        assert [*own_costs.postings, *own_costs.documents, *own_costs.comparisons] == [
            costs.postings[i], costs.documents[i], costs.comparisons[i]
        ]  # fmt: skip
        ranking = list(zip((-run.scores[own]).tolist(), numbers[own], strict=True))
        assert ranking == sorted(ranking)
        assert len(ranking) <= 5 or (whole_ties and ranking[4][0] == ranking[-1][0])


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
@pytest.mark.parametrize(("r", "k"), [(3, 1), (30, 3), (30, 100), (200, 10), (1000, 100)])
def test_entries_that_are_left_out_are_not_of_the_top(long_index: Index, make, weighting: str, r: int, k: int):
    """All documents of the champion lists, scored by NumPy, have the same top."""
    index, postings = long_index, long_index.postings
    rng = np.random.default_rng(r)
    rows = [np.unique(rng.integers(0, (60, 600, 3000)[i % 3], rng.integers(2, 7))) for i in range(60)]
    asked = {i: Query(terms, np.ones(len(terms), np.int64)) for i, terms in enumerate(rows)}
    whole = r == 200 or k > r
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


@pytest.mark.parametrize("weighting", ["lnc.ltc", "bm25", "impact:8", "impact:16", "impact:2:nnn.nnn"])
def test_exact_methods_find_the_same_bits_and_read_less(weighting):
    # WAND moves its cursors in Python, which takes longer.
    compiled = ((MaxScore, {}, 1), (MaxScore, {}, 3)), index_of_chunks(), queries_of_chunks()
    counted = ((WAND, {}, 1), (BlockMaxWAND, {}, 3), (BlockMaxWAND, {"block": 7}, 1))
    small = counted, index_of_chunks(4_000), queries_of_chunks(24)
    for (methods, index, queries), k, whole_ties in product((compiled, small), (1, 10, 1000), (False, True)):
        exact, costs = Exact(weighting=weighting).counted(index, queries, k, whole_ties=whole_ties)
        for method, parameters, threads in methods:
            run, fewer = method(weighting=weighting, **parameters).counted(
                index, queries, k, whole_ties=whole_ties, threads=threads
            )
            assert run.documents == exact.documents
            assert (run.offsets == exact.offsets).all()
            assert run.scores.tobytes() == exact.scores.tobytes()
            assert (fewer.postings <= costs.postings).all()
            if method is not MaxScore:
                assert (fewer.documents <= costs.documents).all()
            if k == 1:
                # The more scores tie, the fewer postings can be skipped.
                share = 0.9 if weighting.startswith("impact:2") else 0.5
                name = "postings" if method is MaxScore else "documents"
                assert getattr(fewer, name).sum() < share * getattr(costs, name).sum()


def test_a_query_may_have_negative_or_infinite_weights():
    index = Index.build([("d1", "a b"), ("d2", "a"), ("d3", "b")], analyzer=str.split)
    cases = ([2.0, -1.0], [1, 0], [2.0, 1.0]), ([np.inf, 1.0], [0, 1, 2], [np.inf, np.inf, 1.0])
    for (weights, documents, scores), method in product(cases, (Exact, MaxScore, WAND, BlockMaxWAND)):
        query = Query(np.array([0, 1]), np.array([1, 1]), np.array(weights))
        found = find(method(weighting="nnn.nnn"), index, 3, False, query)
        assert (found.documents.tolist(), found.scores.tolist()) == (documents, scores)


def test_the_largest_values_equal_a_stable_sort():
    """Lists of any length, with few or many distinct values, and values that differ in their last bits only."""
    rng = np.random.default_rng(3)
    lengths = [0, 1, 2, 30, 300, 5000, 24, 25, 700, 700]
    starts = np.cumsum([0, *lengths])
    sizes = np.array([3, 0, 1, 7, 100, 2500, 12, 24, 699, 1])
    values = rng.integers(0, 200, starts[-1]).astype(np.float64)
    values[100:3000] = 1 + rng.integers(0, 50, 2900) * np.finfo(np.float64).eps
    values[3000:4000] = rng.choice([-np.inf, -1.5, -0.0, 0.0, 5e-324, np.inf], 1000)
    marked = _top.largest(starts, values, sizes)
    for a, b, size in zip(starts[:-1], starts[1:], sizes, strict=True):
        expected = np.argsort(-values[a:b], kind="stable")[:size]
        assert np.flatnonzero(marked[a:b]).tolist() == sorted(expected.tolist())
    for wrong in ((starts[1:], values, sizes), (starts, values[:9], sizes), (starts, values, -sizes)):
        with pytest.raises(ValueError, match="starts"):
            _top.largest(*wrong)


def test_first_tied_documents_are_champions_and_all_reads_count():
    index = Index.build([(i, "tie") for i in range(9)] + [(9, "tie tie rank")], analyzer=str.split)
    run, costs = Champions(weighting="nnn.nnn", r=3).counted(index, {"q": "tie rank", "r": "no"}, k=5)
    assert run.documents.to_list() == [9, 0, 1]
    # The two champion lists have four entries, and the three documents in them have four postings of the query's terms.
    assert costs.postings.tolist() == [8, 0]
    assert costs.documents.tolist() == [3, 0]
    # Three champions are enough for the top three, but too few for the top five.
    method = Champions(weighting="nnn.nnn", r=3, fallback=True)
    assert method.counted(index, {"q": "tie rank"}, k=3)[1].postings.tolist() == [8]
    run, costs = method.counted(index, {"q": "tie rank"}, k=5)
    assert run.documents.to_list() == [9, 0, 1, 2, 3]
    assert costs.postings.tolist() == [4 + 11]


@pytest.mark.parametrize("shares", [(0.1, 0.05), (0.9, 0.1, 0.3)])
def test_the_nearest_leaders_equal_a_stable_sort(shares):
    """Leaders whose products tie are in the order of their numbers; terms are frequent or rare among the leaders."""
    rng = np.random.default_rng(8)
    documents, own = (rng.integers(1, 4, (n, len(shares))) * (rng.random((n, len(shares))) < shares) for n in (50, 40))
    products = documents.astype(float) @ own.T

    def listed(matrix):
        rows, columns = np.nonzero(matrix)
        starts = np.searchsorted(rows, np.arange(len(matrix) + 1))
        return starts, columns.astype(np.int32), matrix[rows, columns].astype(np.float32)

    frequent = (own > 0).sum(axis=0) >= 10
    rows = np.where(frequent, np.cumsum(frequent) - 1, -1)
    for b in (1, 3, 40):
        found = np.empty((50, b), np.int32)
        _clusters.nearest(*listed(documents), *listed(own.T), 40, rows, own.T[frequent].astype(np.float32), b, found)
        np.testing.assert_array_equal(found, np.argsort(-products, axis=1, kind="stable")[:, :b])


def test_leaders_may_have_vectors_of_zeros():
    index = Index.build([(i, "every") for i in range(9)], analyzer=str.split)
    assert len(ClusterPruning(weighting="ntn.ntn", b2=2).search(index, {"q": "every"}).scores) == 0


def test_more_leaders_cost_more():
    rng = np.random.default_rng(2)
    topics = rng.integers(10, size=400)
    documents = [(i, " ".join(f"w{t}{w}" for w in rng.integers(8, size=6))) for i, t in enumerate(topics)]
    index = Index.build(documents, analyzer=str.split)
    queries = {f"q{i}": f"w{i}1 w{i}2" for i in range(10)}
    methods = (ClusterPruning(b1=b1, b2=b2) for b1, b2 in ((1, 1), (2, 1), (1, 5), (1, 20)))
    costs = [method.counted(index, queries, 5)[1].documents.sum() for method in methods]
    assert costs == sorted(set(costs))


def test_postings_of_frequent_terms_are_not_read():
    index = Index.build([(i, "the tie" if i % 5 == 0 else "the") for i in range(20)], analyzer=str.split)
    run, costs = HighIdf(min_idf=0.5).counted(index, {"q": "the tie", "r": "the"}, k=3)
    assert run.documents.to_list() == [0, 5, 10]
    assert costs.postings.tolist() == [4, 0]
    assert str(HighIdf(min_idf=0.5)) == "HighIdf(min_idf=0.5)"


def test_net_score_stops_early_with_the_same_result():
    """The quality of 20,000 documents falls so fast that the search can stop after the first chunks."""
    rng = np.random.default_rng(1)
    words = rng.choice(list("abcdefgh"), (20_000, 5))
    quality = np.round(rng.random(20_000) ** 8, 3)
    index = Index.build(((i, " ".join(row)) for i, row in enumerate(words)), analyzer=str.split, quality=quality)
    queries = {"one": "a", "two": "b c", "three": "d e f"}
    for whole_ties in (False, True):
        run, costs = NetScore().counted(index, queries, 10, whole_ties=whole_ties)
        everything = HighLow(r=20_000).search(index, queries, 10, whole_ties=whole_ties)
        np.testing.assert_array_equal(run.scores, everything.scores)
        assert run.documents == everything.documents
    _, all_costs = Exact().counted(index, queries, 10)
    assert (costs.postings < all_costs.postings / 4).all()
    assert (costs.documents < all_costs.documents / 2).all()


def test_costs_include_all_tiers_read():
    index = Index.build([(i, "tie " * (1 + i)) for i in range(6)], analyzer=str.split)
    tiers = Tiers(weighting="nnn.nnn", thresholds=[5, 3], by="tf")
    assert str(tiers) == "Tiers(thresholds=(5.0, 3.0), by='tf', weighting='nnn.nnn')"
    assert hash(tiers) == hash(Tiers(weighting="nnn.nnn", thresholds=(5, 3), by="tf"))
    costs = [tiers.counted(index, {"q": "tie"}, k)[1].postings.tolist() for k in (2, 3, 4, 5, 7)]
    assert costs == [[2], [2 + 4], [2 + 4], [2 + 4 + 6], [2 + 4 + 6]]


def among_rare_terms(c: reference.Collection, min_idf: float, share: float) -> reference.Collection:
    """Return the collection with only those terms of the query that have a high idf."""
    idf = {t: math.log10(len(c.texts) / len(c.weights[t])) for t in c.query}
    highest = sorted(idf.values(), reverse=True)[: reference.rounded_up(share, len(idf))]
    kept = {t: w for t, w in c.query.items() if highest and idf[t] >= max(min_idf, highest[-1])}
    return reference.Collection(c.weights, kept, c.texts, c.quality)


@given(searches(), st.sampled_from((0.0, 0.2, 1.0)), st.sampled_from((0.0, 0.5, 1.0)), st.sampled_from((1, 2, 5)))
@settings(max_examples=100, deadline=None)
def test_methods_among_terms_of_high_idf_equal_the_reference(search: Search, min_idf, share, r):
    rare = among_rare_terms(search.collection(), min_idf, share)
    options = {"weighting": search.weighting, "min_idf": min_idf, "share": share}
    for method in (f"Champions(r={r})", Champions(r=r, weighting=search.weighting)):
        found = search.found(HighIdf(method=method, **options))
        assert found == search.expected(reference.champions(rare, search.k, r, 0, False))
    assert search.found(HighIdf(method="AtLeast(m=2)", **options)) == search.expected(reference.at_least(rare, 2, 0))
    assert search.found(HighIdf(method="Exact", **options)) == search.found(HighIdf(**options))
    assert search.found(HighIdf(method="WAND", **options)) == search.found(HighIdf(**options))


def by_df(df):
    """Return longer lists for rarer terms."""
    return 4 / df


@given(searches())
@settings(max_examples=100, deadline=None)
def test_lists_have_the_lengths_that_a_function_gives(search: Search):
    c = search.collection()
    lists = [reference.best(c.weights[t], math.ceil(4 / len(c.weights[t]))) for t in c.query]
    expected = search.expected(reference.exact(c, sorted(set().union(*lists))))
    assert search.found(Champions(r=by_df, weighting=search.weighting)) == expected


def test_function_of_df_gives_the_name():
    index = Index.from_tokens([[0], [0], [0, 1]], ["often", "rare", "never"])
    given = []
    Champions(r=lambda df: given.append(df.tolist()) or df).search(index, {"q": ["often"]})
    assert str(Champions(r=by_df)) == "Champions(r=by_df)"
    # A term without documents counts as one with a single document, so that functions may divide by df.
    assert given == [[3, 1, 1]]


def test_qualities_above_one():
    documents = [("d1", "tie"), ("d2", "tie tie"), ("d3", "tie")]
    index = Index.build(documents, analyzer=str.split, quality={"d1": 7.5, "d2": 0, "d3": 100})
    for method in (NetScore(weighting="nnn.nnn"), HighLow(weighting="nnn.nnn")):
        run = method.search(index, {"q": "tie"})
        assert dict(zip(run.documents.to_list(), run.scores.tolist(), strict=True)) == {"d3": 101, "d1": 8.5, "d2": 2}


def test_different_methods_have_different_names():
    """A parameter that is None or () is left out of the name only if that is its default."""
    names = {}
    for method in known_methods().values():
        names[str(method())] = method()
        for field in fields(method):
            for value in (None, ()):
                try:
                    changed = method(**{field.name: value})
                except InputError:
                    continue
                assert names.setdefault(str(changed), changed) == changed
                assert parse_method(str(changed)) == changed


@pytest.mark.parametrize(
    ("method", "name"),
    [
        (ClusterPruning(), "ClusterPruning(b1=1)"), (WAND(), "WAND()"), (Exact(), "Exact()"),
        (ClusterPruning(weighting="bm25", seed=3, b2=2), "ClusterPruning(b1=1, b2=2, seed=3, weighting='bm25')"),
        (Exact(heap="all", weighting="bm25"), "Exact(heap='all', weighting='bm25')"),
        (MaxScore(weighting="bm25"), "MaxScore(weighting='bm25')"),
        (BlockMaxWAND(weighting="bm25"), "BlockMaxWAND(block=64, weighting='bm25')"),
        (HighIdf(share=0.5, method="Champions(r=5)"), "HighIdf(min_idf=0.0, share=0.5, method='Champions(r=5)')"),
        (HighIdf(share=0.5, method=Champions(r=5)), "HighIdf(min_idf=0.0, share=0.5, method='Champions(r=5)')"),
        (RM3(n_terms=5, original=0.2, weighting="bm25"), "RM3(depth=10, n_terms=5, original=0.2, weighting='bm25')"),
        (BandSafe(), "BandSafe(rho=1.5)"), (BandSafe(rho="1.5"), "BandSafe(rho=1.5)"),
        (BandSafe(rho=Fraction(3, 2)), "BandSafe(rho=1.5)"), (BandSafe(rho=Fraction(4, 3)), "BandSafe(rho='4/3')"),
        (BandSafe(rho=1.62, look_up=False, weighting="bm25"), "BandSafe(rho=1.62, look_up=False, weighting='bm25')"),
    ],
)  # fmt: skip
def test_names(method, name):
    assert str(method) == name
    assert str(parse_method(name)) == name


ONE, TWO = Index.build([("d", "a")], analyzer=str.split), Index.build([("d1", "a"), ("d2", "a")], analyzer=str.split)
AT_LEAST_1 = "expected a whole number of at least 1, found"
LENGTHS = "r: expected a function that returns"
NO_QUALITY = "index: has no static quality; build it with a quality of at least 0 for each document"


def lengths(function):
    return lambda: Champions(r=function).search(TWO, {"q": "a"})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Exact().search(ONE, {}, 0), f"k: {AT_LEAST_1} 0"),
        (lambda: Exact().search(ONE, {}, whole_ties=1), "whole_ties: expected True or False, found 1"),
        (lambda: Exact(heap="best"), "heap: expected one of all, found 'best'.*"),
        (lambda: BlockMaxWAND(block=0), "block: .*"),
        (lambda: Champions(r=0), f"r: {AT_LEAST_1} 0"),
        (lambda: Champions(share=2), "share: expected a number from 0 to 1, found 2"),
        (lambda: Champions(fallback="no"), "fallback: expected True or False, found 'no'"),
        (lambda: Champions(weighting="xyz"), "weighting: expected .*, found 'xyz'"),
        (lengths(lambda df: 5), rf"{LENGTHS} a length for each of 1 terms, found int64 of shape \(\)"),
        (lengths(lambda df: ["x"]), rf"{LENGTHS} a length for each of 1 terms, found <U1 of shape .*"),
        (lengths(lambda df: -df), f"{LENGTHS} lengths of at least 0, found -2"),
        (lengths(lambda df: df * np.nan), f"{LENGTHS} lengths of at least 0, found nan"),
        (lambda: ClusterPruning(leaders=0), f"leaders: {AT_LEAST_1} 0"),
        (lambda: ClusterPruning(b1=0), f"b1: {AT_LEAST_1} 0"),
        (lambda: ClusterPruning(b2=None), f"b2: {AT_LEAST_1} None"),
        (lambda: ClusterPruning(seed=-1), "seed: expected a whole number of at least 0, found -1"),
        (lambda: HighIdf(min_idf=-1), "min_idf: expected a number from 0 to inf, found -1"),
        (lambda: HighIdf(share=2), "share: expected a number from 0 to 1, found 2"),
        (lambda: HighIdf(method="Champion"),
         r"method: unknown method 'Champion'; did you mean Champions or GlobalChampions\?"),
        (lambda: HighIdf(method="Champions(r=0)"), rf"r of Champions\(r=0\): {AT_LEAST_1} 0"),
        (lambda: HighIdf(method=5), "method: expected a method or its name, found 5"),
        (lambda: HighIdf(method=AtLeast(weighting="bm25")),
         "method: must have the weighting of HighIdf, lnc.ltc; found bm25"),
        (lambda: AtLeast(m=0.5), f"m: {AT_LEAST_1} 0.5"),
        (lambda: AtLeast(share="half"), "share: expected a number from 0 to 1, found 'half'"),
        (lambda: Tiers(thresholds=(1, 2)), r"thresholds: expected numbers in descending order, found \(1.0, 2.0\)"),
        (lambda: Tiers(quantiles=(0.5, 0.5)), r"quantiles: expected numbers in descending order, found \(0.5, 0.5\)"),
        (lambda: Tiers(quantiles=(0.5, 2)), r"quantiles\[1\]: expected a number from 0 to 1, found 2"),
        (lambda: Tiers(thresholds=3), "thresholds: expected a sequence of numbers, found 3"),
        (lambda: Tiers(thresholds=(3,), quantiles=(0.5,)), "thresholds: must not be given with quantiles: .*"),
        (lambda: Tiers(by="idf"), "by: expected one of weight, tf, found 'idf'.*"),
        (lambda: NetScore(share=-0.1), "share: expected a number from 0 to 1, found -0.1"),
        (lambda: NetScore(quality_weight=-1), r"quality_weight: expected a number from 0 to 1e\+12, found -1"),
        (lambda: NetScore(score_weight=-1), r"score_weight: expected a number from 0 to 1e\+12, found -1"),
        (lambda: NetScore().search(ONE, {"q": "a"}), NO_QUALITY),
        (lambda: GlobalChampions().search(ONE, {"q": "a"}), NO_QUALITY),
        (lambda: HighLow().search(ONE, {"q": "a"}), NO_QUALITY),
        (lambda: GlobalChampions(r=0), f"r: {AT_LEAST_1} 0"),
        (lambda: GlobalChampions(fallback=1), "fallback: expected True or False, found 1"),
        (lambda: HighLow(r=0.5), f"r: {AT_LEAST_1} 0.5"),
        (lambda: HighLow(m=0), "m: expected a whole number from 1 to 2,147,483,647, found 0"),
        (lambda: RM3(depth=0), f"depth: {AT_LEAST_1} 0"), (lambda: RM3(n_terms=0), f"n_terms: {AT_LEAST_1} 0"),
        (lambda: RM3(original=1.5), "original: expected a number from 0 to 1, found 1.5"),
        (lambda: BlindFeedback(depth=0), f"depth: {AT_LEAST_1} 0"),
        (lambda: BlindFeedback(alpha=-1), r"alpha: expected a number from 0 to 1\.79769e\+308, found -1"),
        (lambda: BlindFeedback(beta=math.inf), r"beta: expected a number from 0 to 1\.79769e\+308, found inf"),
        (lambda: BlindFeedback(n_terms=-1), "n_terms: expected a whole number of at least 0, found -1"),
        (lambda: BandSafe(rho=0.9), "rho: .*"), (lambda: BandSafe(rho="half"), "rho: .*"),
        (lambda: BandSafe(rho=None), "rho: .*"), (lambda: BandSafe(look_up=1), "look_up: .*"),
        (lambda: Proximity(alpha=-1), r"alpha: expected a number from 0 to 1\.79769e\+308, found -1"),
        (lambda: Proximity(depth=0), f"depth: {AT_LEAST_1} 0"),
        (lambda: Proximity().search(Index.build([("d", "a")], analyzer=str.split, positions=False), {"q": "a"}),
         "index: has no positions; build it with positions"),
        (lambda: Exact().search(ONE, {"q": Query(np.array([0]), np.ones(1, np.int64), np.ones(2))}),
         ".*each term of a query must have a weight.*"),
        (lambda: ImpactOrdered(postings=-1), "postings: expected a whole number of at least 0, found -1"),
        (lambda: ImpactOrdered(postings=1.5), "postings: expected a number from 0 to 1, found 1.5"),
        (lambda: ImpactOrdered(floor=2), "floor: expected a number from 0 to 1, found 2"),
        (lambda: ImpactOrdered(order="df"), "order: expected one of impact, idf, found 'df'.*"),
    ],
)  # fmt: skip
def test_unusable_arguments_are_refused_in_one_line(call, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        call()
