"""Measures of users who read on with a probability: SDCG, INSQ, and INST, BPM and NERR, which count the gain found."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tieaware import Evaluator, reference
from tieaware.measures.user_models import trigamma


def test_bpm_of_binary_labels_is_rr():
    """If one relevant document is enough, BPM@k is RR@k, also in large groups."""
    rng = np.random.default_rng(2)
    labels = (rng.random((40, 300)) < 0.02).astype(int)
    scores = rng.integers(0, 4, labels.shape).astype(np.float64)
    for k in (1, 7, 60, 300):
        spread = Evaluator(labels, [f"BPM(max_rel=1)@{k}", f"RR@{k}"]).spread(scores)
        for values in spread:
            np.testing.assert_allclose(values[:, 0], values[:, 1], rtol=1e-9, atol=1e-15)


def test_inst_of_long_lists_agrees_with_the_reference():
    """Long runs of documents without gain are passed at once."""
    labels = np.zeros(400, dtype=int)
    labels[[3, 90, 91, 250]] = [2, 4, 1, 3]
    scores = -np.arange(400.0)
    scores[250:253] = scores[250]
    for name in ("INST", "INST(T=30.0)", "INST@300", "INST(T=7.5)@5000"):
        spread = Evaluator(labels, [name]).spread(scores)
        arguments = name, scores.tolist(), labels.tolist()
        ranked = sorted(scores, reverse=True)
        assert ranked[250] == ranked[252]
        values = [
            reference.evaluate(name, (-np.arange(400.0)).tolist(), [*labels[:250], *three, *labels[253:]])
            for three in ([3, 0, 0], [0, 3, 0], [0, 0, 3])
        ]
        assert spread.mean[0, 0] == pytest.approx(np.mean(values), rel=1e-12), arguments
        assert (spread.min[0, 0], spread.max[0, 0]) == pytest.approx((min(values), max(values)), rel=1e-12)
        assert spread.std[0, 0] == pytest.approx(np.std(values), rel=1e-6)


def test_nerr_of_binary_labels_looks_at_the_first_relevant_document():
    """Every document below it has no views, so a large tie needs one step for each of its ranks."""
    n, r = 3000, 40
    labels = np.zeros(n, dtype=int)
    labels[:r] = 1
    spread = Evaluator(labels, ["NERR8(max_rel=1)", "NERR9(max_rel=1)", "NERR10(max_rel=1)"]).spread(np.zeros(n))
    ranks = np.arange(1, n - r + 2)
    chances = r / n * np.cumprod(np.r_[1.0, (n - ranks[:-1] - r + 1.0) / (n - ranks[:-1])])
    powers = 0.9 ** (ranks - 1.0)
    for i, weights in enumerate((np.ones(len(ranks)), 1.0 / ranks, powers)):
        values = weights / np.cumsum(weights)
        mean = (chances * values).sum()
        assert spread.mean[0, i] == pytest.approx(mean, rel=1e-12)
        assert spread.std[0, i] == pytest.approx((chances * (values - mean) ** 2).sum() ** 0.5, rel=1e-10)
        assert (spread.min[0, i], spread.max[0, i]) == pytest.approx((values[-1], 1.0), rel=1e-12)


@pytest.mark.parametrize("name", ["SDCG@3", "INSQ", "INST", "NERR8@7", "NERR9", "NERR10", "NERR11"])
def test_real_labels_are_gains_too(name):
    """The values equal those of whole labels with the same gains, and enumeration where there are no such labels."""
    labels = [0.25, 0.5, -1.0, 0.0, 1.0, 0.25]
    scores = [1.0, 1.0, 2.0, 2.0, 1.0, 0.0]
    parameter = name.replace("@", "(max_rel=1)@") if "@" in name else f"{name}(max_rel=1)"
    real = Evaluator(labels, [parameter]).spread(scores)
    whole = Evaluator([1, 2, -1, 0, 4, 1], [name]).spread(scores)
    for found, expected in zip(real, whole, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)
    labels = [0.1, 3.7, 3.99, 0.0, 2.0]
    exact = [reference.evaluate(name, scores[:5], labels), reference.variance(name, scores[:5], labels)]
    spread = Evaluator(labels, [name]).spread(scores[:5])
    assert [spread.mean[0, 0], spread.std[0, 0] ** 2] == pytest.approx(exact, rel=1e-10)
    # A label above 0, and no gain.
    assert Evaluator([0.5, 1.0], [f"{name.partition('@')[0]}(min_rel=2)"])([1.0, 1.0])[0, 0] == 0.0


@pytest.mark.parametrize("name", ["INST(min_rel=2)", "NERR9(min_rel=2)", "NERR11(min_rel=2)"])
def test_measures_that_look_at_other_documents_do_not_matter(name):
    """Other measures divide the documents without gain into groups, where a sum could be rounded otherwise."""
    rng = np.random.default_rng(5)
    labels = rng.choice([0, 1, 2, 4], (30, 90), p=[0.6, 0.3, 0.07, 0.03])
    scores = -np.arange(90.0) // rng.integers(1, 3, (30, 90))
    alone = Evaluator(labels, [name]).spread(scores)
    beside = Evaluator(labels, ["AP", name, "Bpref"]).spread(scores)
    for found, expected in zip(beside, alone, strict=True):
        np.testing.assert_array_equal(found[:, 1], expected[:, 0])


def test_trigamma():
    assert trigamma(1.0) == pytest.approx(math.pi**2 / 6, rel=1e-15)
    assert trigamma(0.5) == pytest.approx(math.pi**2 / 2, rel=1e-15)
    for x in (1e-3, 0.3, 7.0, 20.5, 1e5, 1e9):
        assert trigamma(x) == pytest.approx(1.0 / x**2 + trigamma(x + 1.0), rel=1e-14)


def test_labels_need_not_start_at_0():
    """Labels below min_rel have no gain, and unjudged documents have none either."""
    scores = [4.0, 3.0, 2.0, 1.0]
    expected = Evaluator([1, 0, 0, -1], "SDCG(max_rel=2)@4")(scores)
    assert Evaluator([2, 1, 0, -1], "SDCG(min_rel=1,max_rel=3)@4")(scores) == expected
    assert Evaluator([3, 2, 1], "INSQ(min_rel=3)")(scores[:3]) == 0.0


def test_deep_groups_have_a_precise_spread():
    """In a group far below the top, all ranks have nearly the same weight, so their variance is tiny but not lost."""
    n = 200_000
    labels = np.zeros(n, dtype=np.int32)
    labels[-1] = 1
    scores = np.zeros(n)
    scores[-2:] = -1.0
    spread = Evaluator(labels, ["INSQ(max_rel=1)"]).spread(scores)
    difference = (1.0 / (n * n) - 1.0 / ((n + 1.0) * (n + 1.0))) / trigamma(2.0)
    assert spread.std[0, 0] == pytest.approx(difference / 2.0, rel=1e-9)
