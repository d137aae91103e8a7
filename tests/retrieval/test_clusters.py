"""Cluster pruning: results against the reference, the choice of leaders, costs and parameters."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import Search, searches

from tieaware import InputError
from tieaware.kernels import _clusters
from tieaware.retrieval import ClusterPruning, Exact, Index


@given(searches(), st.sampled_from((None, 1, 2, 4, 20)), st.integers(1, 3), st.integers(1, 3), st.integers(0, 2))
@settings(max_examples=75, deadline=None)
def test_results_equal_the_reference(search: Search, leaders, b1, b2, seed):
    method = ClusterPruning(weighting=search.weighting, leaders=leaders, b1=b1, b2=b2, seed=seed)
    assert search.found(method) == search.expected(
        reference.cluster_pruning(search.collection(), leaders, b1, b2, seed)
    )


@given(searches(), st.integers(1, 3), st.integers(0, 2**70))
@settings(max_examples=30, deadline=None)
def test_visiting_all_leaders_equals_exact_search(search: Search, b1, seed):
    method = ClusterPruning(weighting=search.weighting, b1=b1, b2=len(search.index), seed=seed)
    assert search.found(method) == search.found(Exact(weighting=search.weighting))


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


def test_more_leaders_find_more_and_cost_more():
    rng = np.random.default_rng(2)
    topics = rng.integers(10, size=400)
    documents = [(i, " ".join(f"w{t}{w}" for w in rng.integers(8, size=6))) for i, t in enumerate(topics)]
    index = Index.build(documents, analyzer=str.split)
    queries = {f"q{i}": f"w{i}1 w{i}2" for i in range(10)}
    exact = Exact().search(index, queries, 5)

    def total_score_and_cost(**parameters):
        run, costs = ClusterPruning(**parameters).counted(index, queries, 5)
        assert len(run.scores) <= len(exact.scores)
        return run.scores.sum(), costs.documents.sum()

    default, two_leaders, five_visited = (total_score_and_cost(**each) for each in ({}, {"b1": 2}, {"b2": 5}))
    assert default[0] < five_visited[0] <= exact.scores.sum() + 1e-9
    assert default[0] <= two_leaders[0]
    assert default[1] < two_leaders[1] < five_visited[1]
    all_visited = total_score_and_cost(b2=20)
    assert all_visited[0] == exact.scores.sum()
    assert all_visited[1] > five_visited[1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"leaders": 0}, "leaders: expected a whole number of at least 1, found 0"),
        ({"b1": 0}, "b1: expected a whole number of at least 1, found 0"),
        ({"b2": None}, "b2: expected a whole number of at least 1, found None"),
        ({"seed": -1}, "seed: expected a whole number of at least 0, found -1"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        ClusterPruning(**parameters)


def test_the_name_shows_the_first_parameter_and_all_changed_ones():
    assert str(ClusterPruning()) == "ClusterPruning(b1=1)"
    assert str(ClusterPruning(weighting="bm25", seed=3, b2=2)) == "ClusterPruning(b1=1, b2=2, seed=3, weighting='bm25')"
