"""Exact search: Exact and MaxScore against the reference and against each other."""

import numpy as np
import pytest
import reference
from collections_of_words import index_of_chunks, queries_of_chunks
from hypothesis import given, settings
from searches import Search, find, searches

from tieaware import InputError
from tieaware.retrieval import Exact, Index, MaxScore, Query

WEIGHTINGS = ("lnc.ltc", "bm25", "impact:8", "impact:2:nnn.nnn")


@given(searches())
@settings(max_examples=75, deadline=None)
def test_results_equal_the_reference(search: Search):
    expected = search.expected(reference.exact(search.collection()))
    for method in (Exact(), Exact(heap="all"), MaxScore()):
        assert search.found(type(method)(**{**vars(method), "weighting": search.weighting})) == expected


@pytest.fixture(scope="module")
def index():
    return index_of_chunks()


@pytest.fixture(scope="module")
def queries():
    return queries_of_chunks()


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_max_score_finds_the_same_bits_and_reads_less(index, queries, weighting):
    for k in (1, 10, 1000):
        for whole_ties in (False, True):
            exact, costs = Exact(weighting=weighting).counted(index, queries, k, whole_ties=whole_ties)
            for threads in (1, 3):
                run, fewer = MaxScore(weighting=weighting).counted(
                    index, queries, k, whole_ties=whole_ties, threads=threads
                )
                assert run.documents == exact.documents
                assert (run.offsets == exact.offsets).all()
                assert run.scores.tobytes() == exact.scores.tobytes()
                assert (fewer.postings <= costs.postings).all()
            if k == 1:
                # The more scores tie, the fewer postings can be skipped.
                most = 0.85 if weighting.startswith("impact:2") else 0.4
                assert fewer.postings.sum() < most * costs.postings.sum()


def test_weighting_bnn_gives_query_terms_the_weight_1():
    index = Index.build([("d1", "a a b"), ("d2", "a b b"), ("d3", "b")], analyzer=str.split)
    query = index.query("b b a")
    assert find(Exact(weighting="nnn.bnn"), index, 3, False, query).scores.tolist() == [3.0, 3.0, 1.0]
    assert find(Exact(weighting="nnn.nnn"), index, 3, False, query).scores.tolist() == [5.0, 4.0, 2.0]


def test_a_query_may_have_negative_weights():
    index = Index.build([("d1", "a b"), ("d2", "a"), ("d3", "b")], analyzer=str.split)
    query = Query(np.array([0, 1]), np.array([1, 1]), np.array([2.0, -1.0]))
    for method in (Exact(weighting="nnn.nnn"), MaxScore(weighting="nnn.nnn")):
        found = find(method, index, 3, False, query)
        assert (found.documents.tolist(), found.scores.tolist()) == ([1, 0], [2.0, 1.0])


def test_names_and_parameters():
    assert str(Exact()) == "Exact()"
    assert str(Exact(heap="all", weighting="bm25")) == "Exact(heap='all', weighting='bm25')"
    assert str(MaxScore(weighting="bm25")) == "MaxScore(weighting='bm25')"
    with pytest.raises(InputError, match=r"^heap: expected one of all, found 'best'"):
        Exact(heap="best")
