"""DCG, nDCG and AUC agree with scikit-learn, which also averages over ties."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import dcg_score, ndcg_score, roc_auc_score

from tieaware.evaluator import Evaluator

CUTOFFS = (None, 1, 3, 10, 40, 100)


def notation(name: str, k: int | None, parameters: str = "") -> str:
    return f"{name}{parameters}" if k is None else f"{name}{parameters}@{k}"


@pytest.fixture(scope="module", params=[1.0, 0.9], ids=["whole labels", "real labels"])
def tied(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    """Draw graded labels and tied scores of 60 lists of 40 documents. The first list has no relevant document."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 5, (60, 40)) * (rng.random((60, 40)) < rng.random((60, 1)))
    labels[0] = 0
    scores = np.floor(rng.random((60, 40)) * rng.integers(1, 60, (60, 1))) / 3
    return (labels if request.param == 1.0 else labels * request.param), scores


@pytest.mark.parametrize("k", CUTOFFS)
@pytest.mark.parametrize("dcg", ["log2", "exp-log2"])
@pytest.mark.parametrize(("name", "theirs"), [("nDCG", ndcg_score), ("DCG", dcg_score)])
def test_cumulated_gain(tied, name, theirs, dcg, k):
    """The values, list by list, and their mean agree with ndcg_score and dcg_score."""
    labels, scores = tied
    gains = labels if dcg == "log2" else 2**labels - 1
    evaluate = Evaluator(labels, [notation(name, k, f"(dcg={dcg})")])
    expected = [theirs(gains[[i]], scores[[i]], k=k) for i in range(len(labels))]
    np.testing.assert_allclose(evaluate(scores)[:, 0], expected, rtol=1e-12, atol=1e-12)
    assert evaluate.mean(scores)[0] == pytest.approx(theirs(gains, scores, k=k), rel=1e-12)


def test_roc_auc_score(tied):
    """AUC agrees with roc_auc_score, where a tied pair counts ½."""
    labels, scores = tied
    values = Evaluator(labels, ["AUC", "AUC(rel=3)"])(scores)
    for column, least in enumerate((1, 3)):
        both = [i for i in range(len(labels)) if 0 < (labels[i] >= least).sum() < labels.shape[1]]
        assert len(both) > 20
        expected = [roc_auc_score(labels[i] >= least, scores[i]) for i in both]
        np.testing.assert_allclose(values[both, column], expected, rtol=1e-12)
