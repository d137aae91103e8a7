"""Measures of the C/W/L framework, compared with cwl_eval on lists without ties, and their limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cwl.ruler.measures.cwl_dcg import NDCGCWLMetric
from cwl.ruler.measures.cwl_insq import INSQCWLMetric
from cwl.ruler.ranking import Ranking

import tieaware
from tieaware.measures.user_models import trigamma

LABELS = [1, -1, 0, 3, -1, 2, 0, 4, 1, 0, -1, 4]
GAINS = np.maximum(LABELS, 0) / 4.0


def by_cwl_eval(metric, ranks):
    """Return the value of LABELS if cwl_eval looks at this many ranks."""
    return metric.measure(Ranking("q", GAINS, np.full(len(GAINS), np.nan), max_n=ranks))


def value(measure, labels=LABELS):
    return tieaware.Evaluator(labels, [measure])(-np.arange(len(labels), dtype=np.float64))[0, 0]


@pytest.mark.parametrize("k", [1, 2, 5, 12, 40, 1000])
def test_sdcg_agrees_with_cwl_eval(k):
    assert value(f"SDCG@{k}") == pytest.approx(by_cwl_eval(NDCGCWLMetric(k), 1000), rel=1e-12)


@pytest.mark.parametrize("T", [0.2, 0.5, 1.0, 3.0, 50.0])
def test_insq_agrees_with_cwl_eval(T):
    metric = INSQCWLMetric(T)
    for ranks in (12, 100, 1000):
        assert value(f"INSQ(T={T})@{ranks}") == pytest.approx(by_cwl_eval(metric, ranks), rel=1e-11)
    # Without a cut-off, the value is the limit of ever more ranks.
    ranks = 300_000
    rest = 2.0 * T / ranks
    assert value(f"INSQ(T={T})") == pytest.approx(by_cwl_eval(metric, ranks), rel=2.0 * rest)
    assert value(f"INSQ(T={T})") < by_cwl_eval(metric, ranks)


def test_expected_depth_of_insq():
    """The weight of the first rank is 1 / the number of documents that the user views: 2T + 1/2, nearly."""
    for T in (1.0, 10.0):
        first = value(f"INSQ(T={T},max_rel=1)", [1, 0])
        assert 1.0 / first == pytest.approx(2.0 * T + 0.5, rel=0.05)


def test_trigamma():
    assert trigamma(1.0) == pytest.approx(math.pi**2 / 6, rel=1e-15)
    assert trigamma(0.5) == pytest.approx(math.pi**2 / 2, rel=1e-15)
    for x in (1e-3, 0.3, 7.0, 20.5, 1e5, 1e9):
        assert trigamma(x) == pytest.approx(1.0 / x**2 + trigamma(x + 1.0), rel=1e-14)


def test_labels_need_not_start_at_0():
    """Labels below min_rel have no gain, and unjudged documents have none either."""
    assert value("SDCG(min_rel=1,max_rel=3)@4", [2, 1, 0, -1]) == value("SDCG(max_rel=2)@4", [1, 0, 0, -1])
    assert value("INSQ(min_rel=3)", [3, 2, 1]) == 0.0


def test_labels_may_be_real_numbers():
    """SDCG and INSQ scale them."""
    measures = ["SDCG(max_rel=1)@3", "INSQ(max_rel=1)"]
    ours = tieaware.Evaluator([0.25, 0.5, 0.0], measures).spread([1.0, 1.0, 0.0])
    whole = tieaware.Evaluator([1, 2, 0], ["SDCG@3", "INSQ"]).spread([1.0, 1.0, 0.0])
    for found, expected in zip(ours, whole, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_deep_groups_have_a_precise_spread():
    """In a group far below the top, all ranks have nearly the same weight, so their variance is tiny but not lost."""
    n = 200_000
    labels = np.zeros(n, dtype=np.int32)
    labels[-1] = 1
    scores = np.zeros(n)
    scores[-2:] = -1.0
    spread = tieaware.Evaluator(labels, ["INSQ(max_rel=1)"]).spread(scores)
    difference = (1.0 / (n * n) - 1.0 / ((n + 1.0) * (n + 1.0))) / trigamma(2.0)
    assert spread.std[0, 0] == pytest.approx(difference / 2.0, rel=1e-9)
