"""One score for each item, which all users share: the same bits as a copy for each user, without the copies."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.matrices import sparse
from support.queries import MEASURES, SCORES

from tieaware import Evaluator, InputError
from tieaware.ties import RULES

AVERAGED = ("infAP", "infAP(rel=2)", "IPrec@0.0", "IPrec@0.4", "IAP11")
COARSENINGS = (None, "decimals:0", "float16", "bands:1.5", "levels:3", "gap:0.3")


def made(seed, n_users, n_items, *, judged=0.3, excluded=0.3):
    """Draw labels, a mask of the judged and one of the excluded items, and one score for each item."""
    rng = np.random.default_rng(seed)
    shape = n_users, n_items
    labels = rng.integers(-3, 4, shape)
    is_judged = rng.random(shape) < judged
    is_excluded = (rng.random(shape) < excluded) & ~(is_judged & (labels > 0))
    return labels, is_judged, is_excluded, rng.choice(SCORES, n_items)


def evaluator_of(labels, judged, excluded, measures, **options):
    relevance, exclude = sparse(judged, labels), sparse(excluded, labels)
    if RULES[options.get("ties", "average")].by_document:
        options["docids"] = [f"{7919 * i % 1000003:x}" for i in range(labels.shape[1])]
    return Evaluator.from_sparse(relevance, measures, exclude=exclude if excluded.any() else None, **options)


def assert_same(evaluator, scores):
    """Assert that every method returns the bits that it returns for a copy of the scores for each user."""
    n = evaluator.n_queries
    copies = np.tile(scores, (n, 1))
    methods = [evaluator, evaluator.mean]
    if "ties: average" in repr(evaluator):
        methods.append(lambda each: np.stack(evaluator.spread(each)))
    for method in methods:
        assert method(scores).tobytes() == method(copies).tobytes()
    assert evaluator(scores[None]).tobytes() == evaluator(copies).tobytes()
    np.testing.assert_array_equal(*evaluator.results({"one": scores, "copies": copies}).values)
    for first, last in ((0, 1), (1, n), (n // 2, n // 2)):
        rows = evaluator.rows(first, last)
        assert rows(scores).tobytes() == rows(copies[first:last]).tobytes()


@pytest.mark.parametrize("precision", COARSENINGS)
@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("excluded", [0.0, 0.3])
def test_values_are_those_of_copies(ties, precision, excluded):
    """Levels, gaps and bands depend on the items that a user does not have, the other precisions on each score."""
    measures = [name for name in ("AP", "nDCG@2", "NumRet", "Bpref", "P(judged_only=True)@5", *AVERAGED)
                if ties == "average" or name not in AVERAGED]  # fmt: skip
    measures = [name for name in measures if precision in (None, "decimals:0", "float16") or "judged" not in name]
    drawn = made(3, 13, 60, excluded=excluded)
    assert_same(evaluator_of(*drawn[:3], measures, ties=ties, precision=precision), drawn[3])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.float16])
@pytest.mark.parametrize("threads", [1, 3])
def test_long_lists_and_several_threads(dtype, threads):
    for judged, n_items in ((0.01, 4_000), (0.9, 700)):
        *drawn, scores = made(5, 30, n_items, judged=judged)
        evaluator = evaluator_of(*drawn, ["AP", "nDCG@10"], threads=threads)
        assert_same(evaluator, (4 * scores.clip(-9, 9)).astype(dtype))


@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_values_of_drawn_lists_are_those_of_copies(data):
    seed, n_users, n_items = (data.draw(st.integers(*bounds)) for bounds in ((0, 999), (2, 4), (0, 6)))
    *drawn, scores = made(seed, n_users, n_items)
    ties = data.draw(st.sampled_from(list(RULES)))
    measures = [name for name in MEASURES if ties == "average" or name not in AVERAGED]
    assert_same(evaluator_of(*drawn, measures, ties=ties), scores)


def test_copies_for_a_few_users_at_a_time_give_the_same_bits(monkeypatch):
    """Levels depend on the excluded items, so the scores are copied; the last copies are for fewer users."""
    *drawn, scores = made(4, 11, 50)
    evaluator = evaluator_of(*drawn, ["AP", "RR"], precision="levels:3")
    for size in (1, 3 * scores.nbytes, 5 * scores.nbytes):
        monkeypatch.setattr("tieaware.engine.prepared.COPIED_BYTES", size)
        assert_same(evaluator, scores)


@pytest.mark.parametrize("precision", [None, "decimals:0", "levels:3"])
def test_rows_of_lists_that_share_scores(precision):
    *drawn, scores = made(4, 11, 50)
    prepared = evaluator_of(*drawn, ["AP"], precision=precision)._prepared
    values = np.empty((2, 5, 1))
    assert prepared.sharing_scores().rows(3, 8).evaluate(scores, values[0]) == -1
    assert prepared.rows(3, 8).sharing_scores().evaluate(scores, values[1]) == -1
    np.testing.assert_array_equal(*values)


def test_scores_of_one_user_keep_their_meaning():
    evaluator = Evaluator.from_sparse(sparse(np.ones((1, 3), bool), np.array([[0, 1, 0]])), ["RR"])
    np.testing.assert_array_equal(evaluator([2.0, 2.0, 1.0]), [[0.75]])


@pytest.mark.parametrize("precision", [None, "decimals:0", "levels:2"])
def test_nan_is_an_error_unless_every_user_has_the_item(precision):
    labels = np.array([[0, 1, 0], [0, 1, 0]])
    scores = np.array([np.nan, 1.0, 0.0])
    everybody = np.array([[1, 0, 0], [1, 0, 0]], bool)
    good = evaluator_of(labels, labels > 0, everybody, ["RR"], precision=precision)
    np.testing.assert_array_equal(good(scores), [[1.0], [1.0]])
    bad = evaluator_of(labels, labels > 0, everybody & [[True], [False]], ["RR"], precision=precision)
    for call in (bad, bad.mean, bad.spread, bad.score):
        with pytest.raises(InputError, match=r"^scores: expected numbers, found NaN for document 0 of query 1$"):
            call(scores)
    with pytest.raises(
        InputError, match=r"^scores\['popular'\]: expected numbers, found NaN for document 0 of query 1$"
    ):
        bad.results({"popular": scores})


def test_a_pickled_evaluator_takes_shared_scores():
    *drawn, scores = made(3, 5, 9)
    evaluator = evaluator_of(*drawn, ["AP"])
    assert_same(pickle.loads(pickle.dumps(evaluator)), scores)
    shared = evaluator._prepared.engine.sharing_scores()
    out = np.empty((2, 5, 1))
    assert [each.evaluate(scores, into, 0, 5) for each, into in zip((shared, pickle.loads(pickle.dumps(shared))), out,
                                                                    strict=True)] == [-1, -1]  # fmt: skip
    np.testing.assert_array_equal(*out)


@pytest.mark.parametrize("precision", [None, "bfloat16", "levels:5"])
def test_memory_does_not_grow_with_the_number_of_users(precision):
    """A copy for each of 2,000 users would take 160 MB, and one for each block of users at most 4 MiB."""
    n_users, n_items = 2_000, 10_000
    rng = np.random.default_rng(1)
    judged, excluded = np.zeros((2, n_users, n_items), bool)
    judged[np.arange(n_users), rng.integers(0, n_items // 2, n_users)] = True
    excluded[np.arange(n_users), rng.integers(n_items // 2, n_items, n_users)] = True
    evaluator = evaluator_of(judged.astype(int), judged, excluded, ["RR"], precision=precision)
    scores = rng.integers(0, 100, n_items).astype(float)
    tracemalloc.start()
    try:
        evaluator(scores)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < (1 << 20 if precision != "levels:5" else 40 << 20)


def test_a_sum_over_the_rows_of_a_matrix_is_one_score_for_each_item():
    """SciPy's matrices, unlike its arrays, return a matrix of one row."""
    evaluator = Evaluator.from_sparse(sparse(np.eye(3, dtype=bool), np.eye(3, dtype=int)), ["RR"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        counts = np.matrix([[3.0, 2.0, 2.0]])
    assert evaluator(counts).tolist() == evaluator([3.0, 2.0, 2.0]).tolist()
    assert evaluator.results({"popularity": counts}).mean().item() == evaluator.score(counts) == pytest.approx(11 / 18)
    with pytest.raises(InputError, match=r"scores: expected shape \(9,\) or \(3, 3\), or \(3,\) for all queries"):
        evaluator(counts.T)
