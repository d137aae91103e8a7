"""Measures that need only the first tie group with a relevant document are evaluated without finding the others."""

from __future__ import annotations

import numpy as np
import pytest

import tieaware
from tieaware.errors import InputError
from tieaware.measures import DEFINITIONS

FIRST = ("RR", "RR@3", "RR@1000", "Success@1", "Success@5", "Hits@10", "Hits@2000")


def drawn(seed, distinct, dtype):
    """Draw lists of 0 to 3,000 documents, some without relevant documents, and tied scores."""
    rng = np.random.default_rng(seed)
    sizes = np.append(rng.integers(0, 60, 300), [2049, 3000, 0])
    offsets = np.append(0, np.cumsum(sizes))
    share = np.repeat(rng.choice([0.0, 0.05, 0.4, 1.0], len(sizes)), sizes)
    labels = (rng.random(offsets[-1]) < share) * rng.integers(-1, 4, offsets[-1])
    scores = rng.integers(0, distinct, offsets[-1]).astype(dtype) / 8
    return labels, offsets, scores


def pair(make, labels, **options):
    """Return an evaluator of these measures alone, and one of these and average precision, which needs all groups."""
    return make(labels, FIRST, **options), make(labels, [*FIRST, "AP"], **options)


def test_the_definitions_that_need_only_the_first_group():
    assert {name for name, each in DEFINITIONS.items() if each.first_group} == {"RR", "Success", "Hits"}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("distinct", [1, 3, 40, 10**6])
def test_values_have_the_bits_of_an_evaluation_of_all_groups(distinct, dtype):
    """With average precision, all groups are found."""
    labels, offsets, scores = drawn(distinct, distinct, dtype)
    alone, beside = pair(tieaware.Evaluator, labels, offsets=offsets)
    expected = beside(scores)[:, :-1]
    assert 0 < np.count_nonzero(expected) < expected.size
    assert alone(scores).tobytes() == np.ascontiguousarray(expected).tobytes()
    for threads in (1, 2):
        many = tieaware.Evaluator(labels, FIRST, offsets=offsets, threads=threads).many(np.stack([scores, -scores]))
        assert many.tobytes() == np.ascontiguousarray(beside.many(np.stack([scores, -scores]))[:, :-1]).tobytes()


@pytest.mark.parametrize("options", [
    {"ties": "optimistic"}, {"ties": "pessimistic"}, {"ties": "run_order"}, {"precision": "bands:2"},
    {"precision": "decimals:0"}, {"precision": "levels:4"},
], ids=str)  # fmt: skip
def test_other_rules_and_precisions(options):
    labels, offsets, scores = drawn(5, 90, np.float64)
    alone, beside = pair(tieaware.Evaluator, labels, offsets=offsets, **options)
    assert alone(scores).tobytes() == np.ascontiguousarray(beside(scores)[:, :-1]).tobytes()
    if "ties" not in options:
        for found, expected in zip(alone.spread(scores), beside.spread(scores), strict=True):
            assert found.tobytes() == np.ascontiguousarray(expected[:, :-1]).tobytes()


def test_measures_with_different_weights_look_at_different_groups():
    """The first relevant document of one measure need not be relevant for the other."""
    labels, offsets, scores = drawn(9, 30, np.float64)
    measures = ["RR", "RR(rel=2)", "RR(judged_only=True)", "Success(rel=3)@5"]
    together = tieaware.Evaluator(labels, measures, offsets=offsets)(scores)
    for column, measure in enumerate(measures):
        alone = tieaware.Evaluator(labels, measure, offsets=offsets)(scores)
        np.testing.assert_array_equal(alone[:, 0], together[:, column], measure)


def test_excluded_documents_are_not_ranked():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(3)
    relevance = rng.random((50, 80)) < 0.1
    exclude = (rng.random((50, 80)) < 0.3) & ~relevance
    scores = rng.integers(0, 12, (50, 80)) / 4
    relevance, exclude = (sparse.csr_array(each.astype(np.int32)) for each in (relevance, exclude))
    alone, beside = (each(scores) for each in pair(tieaware.Evaluator.from_sparse, relevance, exclude=exclude))
    assert alone.tobytes() == np.ascontiguousarray(beside[:, :-1]).tobytes()
    everything = tieaware.Evaluator.from_sparse(relevance, FIRST)(scores)
    assert (everything < alone).any()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("labels", [[1, 0, 0], [0, 0, 1], [1, 1, 1], [0, 0, 0]])
@pytest.mark.parametrize("place", range(3))
def test_nan_is_found_wherever_it_is(place, labels, dtype):
    scores = np.array([1, 2, 3], dtype)
    scores[place] = np.nan
    with pytest.raises(InputError, match=r"NaN"):
        tieaware.Evaluator([labels], "RR")(scores[None])
