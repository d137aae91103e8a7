"""The number of documents that the user of a measure views, against the weights of the ranks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tieaware import Evaluator, documents_viewed


@pytest.mark.parametrize(
    ("measure", "depth"),
    [("P@7", 7), ("RBP(p=0.6)", 200), ("RBP(p=0.9)@5", 5), ("SDCG(max_rel=1)@12", 12), ("INSQ(max_rel=1)@40", 40)],
)
def test_it_is_the_reciprocal_of_the_weight_of_the_first_rank(measure, depth):
    """A list with one relevant document at rank 1 has the weight of rank 1 as its value."""
    weights = np.array([
        Evaluator(np.eye(depth, dtype=int)[rank], measure).score(-np.arange(depth))
        for rank in range(depth)
    ])  # fmt: skip
    if "RBP" in measure and "@" in measure:
        # RBP is not divided by the weights within its cut-off.
        weights /= weights.sum()
    assert documents_viewed(measure) == pytest.approx(1.0 / weights[0], rel=1e-9)
    survival = weights / weights[0]
    assert documents_viewed(measure) == pytest.approx(survival.sum(), rel=1e-9)


def test_a_rank_to_infinity():
    assert documents_viewed("INSQ") == pytest.approx(4.0 * (math.pi**2 / 6.0 - 1.0), rel=1e-13)
    assert documents_viewed("INSQ@10000000") == pytest.approx(documents_viewed("INSQ"), rel=1e-6)
    assert documents_viewed("RBP(p=0.5)") == 2.0


def test_cwl_eval_has_the_same_totals():
    """Its expected total utility is the utility per document times this number; its expected depth, the number."""
    rbp = pytest.importorskip("cwl.ruler.measures.cwl_rbp").RBPCWLMetric(0.8)
    ranking = pytest.importorskip("cwl.ruler.ranking").Ranking
    rbp.measure(ranking("q", np.array([0.0, 0.0, 1.0]), np.full(3, np.nan), max_n=1000))
    value = Evaluator([0, 0, 1], "RBP(p=0.8)").score([3.0, 2.0, 1.0])
    assert rbp.expected_total_utility == pytest.approx(value * documents_viewed("RBP(p=0.8)"), rel=1e-9)
    assert rbp.expected_items == pytest.approx(documents_viewed("RBP(p=0.8)"), rel=1e-9)
