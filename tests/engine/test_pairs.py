"""AUC within a cut-off, whose best and worst orders of tied documents do not follow the labels."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.exactness import assert_spread_is_exact
from support.queries import Query, evaluator, random_query, scores_of

from tieaware import Evaluator, InputError, evaluate, reference

NAMES = ("AUC@1", "AUC@2", "AUC@3", "AUC@5", "AUC(rel=2)@3", "AUC(judged_only=True)@3", "AUC@100", "AUC")


@pytest.fixture(scope="module")
def some():
    rng = random.Random(51)
    special = [Query((1.0,) * 6, (1, 1, 1, 0, 0, 0), (1,) * 6), Query((2.0, 1.0, 1.0, 1.0), (0, 1, 1, 1), (1, 1, 1, 1))]
    return special + [random_query(rng, 7) for _ in range(200)]


def test_values_and_spread_are_exact(some):
    """Mean, variance, minimum and maximum equal enumeration of all orders; so do those of the reference."""
    assert_spread_is_exact(some, NAMES)


@pytest.mark.parametrize("k", [3, 40, 999, 1500])
def test_large_groups_have_the_values_of_the_reference(k):
    """The kernel sums probabilities starting at the likeliest value. The reference uses binomial coefficients."""
    rng = np.random.default_rng(k)
    labels = (rng.random(2000) < 0.3).astype(int)
    scores = rng.integers(0, 3, 2000).astype(float)
    spread = Evaluator(labels, [f"AUC@{k}"]).spread(scores)
    arguments = f"AUC@{k}", scores.tolist(), labels.tolist()
    assert spread.mean[0, 0] == pytest.approx(reference.evaluate(*arguments), rel=1e-11)
    assert spread.std[0, 0] ** 2 == pytest.approx(reference.variance(*arguments), rel=1e-8)


def test_the_best_order_is_not_by_label():
    """Below a nonrelevant document, one relevant document within the cut-off is better than two."""
    evaluate_top = Evaluator([0, 1, 1, 0, 0], ["AUC@3"])
    spread = evaluate_top.spread([2.0, 1.0, 1.0, 1.0, 1.0])
    assert spread.max[0, 0] == 0.5  # 0 1 0: one of two pairs is in the right order; 0 1 1: none of two
    assert spread.min[0, 0] == 0.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("ties", "kind"), [("optimistic", "max"), ("pessimistic", "min")])
def test_the_rules_have_the_extremes_of_the_spread(some, ties, kind, dtype):
    """The rule's value is the extreme of the spread, also with other measures, with threads, and in all methods."""
    names = ("AP", *NAMES, "nDCG")
    scores = scores_of(some, dtype)
    expected = getattr(evaluator(some, names).spread(scores), kind)
    for threads in (1, 3):
        evaluate_all = evaluator(some, names, ties=ties, threads=threads)
        out = np.empty_like(expected)
        np.testing.assert_allclose(evaluate_all(scores, out), expected, rtol=1e-15, atol=1e-15)
        np.testing.assert_allclose(evaluate_all.many(np.stack([scores] * 2))[1], out.mean(axis=0), rtol=1e-14)
        np.testing.assert_allclose(evaluate_all.columns(scores[:, None])[0], out.mean(axis=0), rtol=1e-14)
    with pytest.raises(InputError, match="NaN for document 1"):
        Evaluator([1, 0], ["AUC@1"], ties=ties)([1.0, np.nan])
    value = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "AUC@1", ties=ties).values.item()
    assert value == (ties == "optimistic")


@pytest.mark.parametrize("ties", ["run_order", "trec_eval"])
def test_one_order_is_one_value(some, ties):
    ids = [f"{i:x}" for i in range(sum(len(query.labels) for query in some))]
    docids = ids if ties == "trec_eval" else None
    values = evaluator(some, NAMES, ties=ties, docids=docids)(scores_of(some))
    at = 0
    for query, row in zip(some, values, strict=True):
        of_query = ids[at : at + len(query.labels)]
        expected = [reference.evaluate(name, *query, ties, of_query) for name in NAMES]
        np.testing.assert_allclose(row, expected, rtol=1e-14)
        at += len(query.labels)
