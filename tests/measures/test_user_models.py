"""Measures of the C/W/L framework: labels that do not start at 0, and deep groups."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tieaware
from tieaware.measures.user_models import trigamma


def value(measure, labels):
    return tieaware.Evaluator(labels, [measure])(-np.arange(len(labels), dtype=np.float64))[0, 0]


def test_trigamma():
    assert trigamma(1.0) == pytest.approx(math.pi**2 / 6, rel=1e-15)
    assert trigamma(0.5) == pytest.approx(math.pi**2 / 2, rel=1e-15)
    for x in (1e-3, 0.3, 7.0, 20.5, 1e5, 1e9):
        assert trigamma(x) == pytest.approx(1.0 / x**2 + trigamma(x + 1.0), rel=1e-14)


def test_labels_need_not_start_at_0():
    """Labels below min_rel have no gain, and unjudged documents have none either."""
    assert value("SDCG(min_rel=1,max_rel=3)@4", [2, 1, 0, -1]) == value("SDCG(max_rel=2)@4", [1, 0, 0, -1])
    assert value("INSQ(min_rel=3)", [3, 2, 1]) == 0.0


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
