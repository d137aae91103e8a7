"""FallOut, compared with torchmetrics: its values of lists without ties, and their mean over all orders of ties."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import tieaware

torch = pytest.importorskip("torch")
fall_out = pytest.importorskip("torchmetrics.functional.retrieval").retrieval_fall_out


def by_torchmetrics(labels, scores, k):
    """Return the value of one list, in single precision."""
    return float(fall_out(torch.tensor(scores), torch.tensor(labels), top_k=k))


@pytest.mark.parametrize("k", [1, 3, 20, 40, 60])
def test_fall_out_of_untied_lists(k):
    """A list without nonrelevant documents has the value 0 in both, and a cut-off may exceed the list."""
    rng = np.random.default_rng(2033)
    labels = (rng.random((50, 40)) < rng.choice([0.05, 0.5, 1.0], (50, 1))).astype(np.int64)
    labels[:, 0] = 1
    scores = rng.permuted(np.tile(np.arange(40.0), (50, 1)), axis=1)
    theirs = [by_torchmetrics(*pair, k) for pair in zip(labels, scores, strict=True)]
    np.testing.assert_allclose(tieaware.Evaluator(labels, [f"FallOut@{k}"])(scores)[:, 0], theirs, rtol=1e-6)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_fall_out_of_ties_is_the_mean_over_their_orders(k):
    labels, scores = np.array([1, 0, 0, 1, 0]), np.array([2.0, 1.0, 1.0, 1.0, 0.0])
    orders = [by_torchmetrics(labels[[0, *order, 4]], -np.arange(5.0), k) for order in permutations((1, 2, 3))]
    spread = tieaware.Evaluator(labels, [f"FallOut@{k}"]).spread(scores)
    expected = np.mean(orders), np.std(orders), min(orders), max(orders)
    np.testing.assert_allclose(np.ravel(spread), expected, rtol=1e-6, atol=1e-7)


def test_a_list_without_relevant_documents_has_a_value_in_torchmetrics_only():
    labels, scores = np.array([0, 0, 0]), np.array([3.0, 2.0, 1.0])
    assert by_torchmetrics(labels, scores, 1) == pytest.approx(1 / 3)
    assert tieaware.Evaluator(labels, ["FallOut@1"])(scores)[0, 0] == 0.0
