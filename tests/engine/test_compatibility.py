"""Compatibility of large tie groups: closed forms, and ranks whose weights are negligible."""

from __future__ import annotations

import numpy as np
import pytest

from tieaware import Evaluator


def test_one_grade_is_a_weighted_sum_over_ranks():
    """With one grade, a document at rank x adds Σ_{d ≥ x} p^(d-1)/d, and the variance has its closed form."""
    n, r, p = 700, 40, 0.95
    labels = np.zeros(n, np.int64)
    labels[:r] = 1
    d = np.arange(1, n + 1)
    weights = np.cumsum((p ** (d - 1) / d)[::-1])[::-1]
    norm = (p ** (d - 1) * np.minimum(d, r) / d).sum()
    mean = r / n * weights.sum() / norm
    variance = r / n * (n - r) / (n - 1) * ((weights**2).sum() - weights.sum() ** 2 / n) / norm**2
    spread = Evaluator(labels, "Compat").spread(np.zeros(n))
    assert spread.mean.item() == pytest.approx(mean, rel=1e-12)
    assert spread.std.item() == pytest.approx(np.sqrt(variance), rel=1e-10)
    assert spread.max.item() == pytest.approx(1.0, rel=1e-14)


def test_long_lists_end_where_weights_are_negligible():
    """The weights of a million ranks underflow; a tie far below adds nothing."""
    n = 1_000_000
    labels, scores = np.zeros(n, np.int64), -np.arange(n, dtype=float)
    labels[[2, 5, n - 1]] = 1, 2, 1
    scores[-1] = scores[-2]
    judged = np.append(labels[:2000], 1)
    top = Evaluator(labels[:2000], "Compat", offsets=[0, 2000], judgments=(judged, [0, 2001]))(scores[:2000])
    spread = Evaluator(labels, "Compat").spread(scores)
    assert spread.mean.item() == pytest.approx(top.item(), rel=1e-12)
    assert spread.std.item() == 0.0


def test_the_highest_grade_is_255():
    assert Evaluator([255, 1], "Compat")([1.0, 0.0]).item() == 1.0
