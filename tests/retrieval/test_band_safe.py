"""Band-safe search: the bands of exact search, from fewer postings, and the same values by the mean over bands."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import reference
from collections_of_words import index_of_chunks, queries_of_chunks
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import Search, find, searches

import tieaware
from tieaware.precision import Bands
from tieaware.retrieval import BandSafe, Exact, Index, Query

WEIGHTINGS = ("lnc.ltc", "bm25", "impact:8", "impact:2:nnn.nnn")
RHOS = ("1", "1.1", "1.25", "1.5", "2", "3", "10")


@given(searches(), st.sampled_from(RHOS), st.booleans())
@settings(max_examples=400, deadline=None)
def test_results_equal_the_reference(search: Search, rho, look_up):
    scores = reference.exact(search.collection())
    method = BandSafe(rho=rho, look_up=look_up, weighting=search.weighting)
    if rho == "1":
        assert search.found(method) == search.expected(scores)
    else:
        expected = reference.in_bands(scores, search.k, search.whole_ties, Fraction(rho))
        assert search.found(method) == expected


@pytest.fixture(scope="module")
def index():
    return index_of_chunks()


@pytest.fixture(scope="module")
def queries():
    return queries_of_chunks(12)


def same(run, other):
    return run.documents == other.documents and run.scores.tobytes() == other.scores.tobytes()


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("look_up", [True, False])
@pytest.mark.parametrize("k", [1, 10, 700])
def test_the_bands_are_those_of_exact_search(index, queries, weighting, k, look_up):
    exact, all_costs = Exact(weighting=weighting).counted(index, queries, k)
    for rho in (1, 1.5, 3):
        run, costs = BandSafe(rho=rho, look_up=look_up, weighting=weighting).counted(index, queries, k)
        assert (run.offsets == exact.offsets).all()
        if rho == 1:
            assert same(run, exact)
        else:
            assert run.scores.tobytes() == Bands(rho).coarsen(exact.scores, exact.offsets).tobytes()
            for a, b in pairwise(run.offsets.tolist()):
                found, expected = ([*map(int, each.documents.take(np.arange(a, b)))] for each in (run, exact))
                for score in np.unique(run.scores[a:b]):
                    (rows,) = np.nonzero(run.scores[a:b] == score)
                    assert [found[row] for row in rows] == sorted(expected[row] for row in rows)
        assert costs.postings.sum() <= all_costs.postings.sum()
        assert (costs.documents <= all_costs.documents).all()


def test_larger_bands_need_no_more_work(index):
    for weighting, look_up in (("bm25", True), ("lnc.ltc", True), ("bm25", False)):
        methods = [BandSafe(rho=rho, look_up=look_up, weighting=weighting) for rho in (1, 1.1, 2)]
        # With whole bands, the last boundary would depend on rho.
        costs = [method.counted(index, queries_of_chunks(), 15)[1] for method in methods]
        for a, b in pairwise(costs):
            assert b.postings.sum() <= a.postings.sum()
            assert b.documents.sum() <= a.documents.sum()
        assert costs[2].postings.sum() < costs[0].postings.sum() or not look_up


MEASURES = (
    "nDCG", "nDCG@10", "AP", "AP@20", "RR", "RR@5", "P@1", "P@10", "R@30", "RBP", "ERR@20", "Rprec", "Bpref", "Q",
    "IAP11",
)  # fmt: skip


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("rho", ["1.1", "1.25", "1.5", "2", "3"])
def test_values_equal_those_of_exact_search_by_the_mean_over_bands(index, queries, weighting, rho):
    rng = np.random.default_rng(17)
    exact = Exact(weighting=weighting).search(index, queries, 40)
    names = exact.to_dict()
    qrels = {
        query: {document: int(label) for document, label in zip(names[query], rng.integers(0, 4, 40), strict=False)}
        for query in names
        if names[query]
    }
    for k, whole_ties in ((1, False), (10, False), (17, False), (17, True), (40, False)):
        run = BandSafe(rho=rho, weighting=weighting).search(index, queries, k, whole_ties=whole_ties)
        depth = tieaware.bands(rho, 1000) if whole_ties else None
        end = k if depth is None else int(depth[depth > k][0]) - 1
        baseline = Exact(weighting=weighting).search(index, queries, end)
        precision = f"bands:{rho}"
        expected = tieaware.evaluate(qrels, baseline, MEASURES, precision=precision).values
        assert expected.any()
        assert tieaware.evaluate(qrels, run, MEASURES).values.tobytes() == expected.tobytes()
        assert tieaware.evaluate(qrels, run, MEASURES, precision=precision).values.tobytes() == expected.tobytes()


def test_documents_inside_a_band_are_not_scored():
    # With k = 3 and rho 2, the bands are d0, then d1 and d2; the order of these two need not be known.
    texts = [("d0", "a a a a a b"), ("d1", "a a a a b b"), ("d2", "a a a a b"), ("d3", "a"), ("d4", "b")]
    index = Index.build(texts, analyzer=str.split)
    query = {"q": Query(np.array([0, 1]), np.array([1, 1]), np.array([8.0, 0.25]))}
    costs = {rho: BandSafe(rho=rho, weighting="nnn.nnn").counted(index, query, 3)[1] for rho in (1, 2)}
    assert costs[1].documents.tolist() == [3]
    assert costs[2].documents.tolist() == [0]
    # Reading a posting of `a` less would leave d3 unseen, but blocks have eight postings.
    assert costs[2].postings.tolist() == [4]
    assert costs[1].postings.tolist()[0] > 4


def test_queries_with_negative_weights_or_many_terms_are_searched_exactly():
    words = [f"w{i}" for i in range(70)]
    index = Index.build(((i, " ".join(words[i:])) for i in range(20)), analyzer=str.split)
    many = index.query(words)
    negative = Query(np.array([0, 10]), np.array([1, 1]), np.array([-1.0, 2.0]))
    for query in (many, negative):
        found = find(BandSafe(rho=2, weighting="nnn.nnn"), index, 3, False, query)
        exact = find(Exact(weighting="nnn.nnn"), index, 3, False, query)
        assert sorted(found.documents[1:]) == sorted(exact.documents[1:])
        assert found.scores.tolist() == [1.0, 0.5, 0.5]
        assert found.documents[0] == exact.documents[0]
        again = find(BandSafe(rho=1, weighting="nnn.nnn"), index, 3, True, query)
        whole = find(Exact(weighting="nnn.nnn"), index, 3, True, query)
        assert again.documents.tolist() == whole.documents.tolist()
        assert again.scores.tolist() == whole.scores.tolist()


def test_the_bands_of_a_query_with_a_filter_have_only_documents_that_pass(index, queries):
    passing = np.arange(0, len(index), 3, dtype=np.int32)
    filtered = {name: index.query(words)._replace(documents=passing) for name, words in queries.items()}
    exact = Exact(weighting="bm25").search(index, filtered, 20)
    assert exact.documents.to_list()
    for look_up in (True, False):
        run = BandSafe(rho=2, look_up=look_up, weighting="bm25").search(index, filtered, 20)
        assert run.scores.tobytes() == Bands(2).coarsen(exact.scores, exact.offsets).tobytes()
        for a, b in pairwise(run.offsets.tolist()):
            assert set(run.documents.take(np.arange(a, b))) == set(exact.documents.take(np.arange(a, b)))
        one = BandSafe(rho=1, look_up=look_up, weighting="bm25")
        for whole_ties in (False, True):
            whole = Exact(weighting="bm25").search(index, filtered, 20, whole_ties=whole_ties)
            assert same(one.search(index, filtered, 20, whole_ties=whole_ties), whole)
