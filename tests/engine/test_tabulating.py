"""Long lists with few distinct scores, which are grouped by a hash table: every engine gives the same values."""

from __future__ import annotations

import numpy as np
import pytest

from tieaware import Evaluator, InputError
from tieaware.engine import engine_choice
from tieaware.engine.engine_choice import EngineChoice

MEASURES = ("AP", "RR", "nDCG@10", "nDCG", "P@700", "Bpref", "infAP", "Q", "ERR", "AUC", "Judged@50")
RULES = ("average", "optimistic", "pessimistic", "run_order")


def some_lists(n_scores: int, length: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_scores)
    labels = np.where(rng.random((4, length)) < share, rng.integers(0, 3, (4, length)), -1)
    return labels, rng.choice(rng.normal(size=n_scores), (4, length))


def values_by_engine(monkeypatch, labels, scores, measures=MEASURES, ties="average", spread=False):
    """Return the values with each engine: sorting (which may use the table), counting and locating."""
    found = []
    for choice in (EngineChoice(sorting=True), EngineChoice(10**6, sorting=False), EngineChoice(0, sorting=False)):
        monkeypatch.setattr(engine_choice, "CHOICE", choice)
        evaluator = Evaluator(labels, measures, ties=ties)
        found.append(np.array(evaluator.spread(scores)) if spread else evaluator(scores))
    return found


# There are as many documents as tabulating needs, and one fewer; as many scores as it takes, and one more.
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("length", [767, 768, 1_500])
@pytest.mark.parametrize("n_scores", [1, 2, 11, 54, 100, 128, 129, 400])
def test_every_engine_gives_the_same_bits(monkeypatch, n_scores, length, dtype):
    labels, scores = some_lists(n_scores, length, 0.6)
    scores = scores.astype(dtype)
    for ties in RULES:
        first, *others = values_by_engine(monkeypatch, labels, scores, ties=ties)
        for other in others:
            np.testing.assert_array_equal(first, other, err_msg=ties)


@pytest.mark.parametrize("n_scores", [1, 11, 100])
def test_the_spread_has_the_same_bits(monkeypatch, n_scores):
    labels, scores = some_lists(n_scores, 800, 0.3)
    measures = ("AP", "nDCG@10", "Bpref", "P@20")
    first, *others = values_by_engine(monkeypatch, labels, scores, measures, spread=True)
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_a_cutoff_leaves_groups_out(monkeypatch):
    """A measure that looks at the first ranks only needs the first groups."""
    labels, scores = some_lists(60, 900, 1.0)
    for measures in (("P@1",), ("nDCG@5", "RR@3")):
        first, *others = values_by_engine(monkeypatch, labels, scores, measures)
        for other in others:
            np.testing.assert_array_equal(first, other)


def test_zeros_infinities_and_colliding_scores(monkeypatch):
    """Both zeros are one score. Scores that differ in the last bit are two."""
    rng = np.random.default_rng(5)
    near = [0.0, -0.0, np.inf, -np.inf, 1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0), 5e-324, -5e-324]
    labels, scores = some_lists(2, 1_000, 0.5)[0], rng.choice(near, (4, 1_000))
    first, *others = values_by_engine(monkeypatch, labels, scores)
    for other in others:
        np.testing.assert_array_equal(first, other)
    np.testing.assert_array_equal(first, values_by_engine(monkeypatch, labels, scores + 0.0)[0])


@pytest.mark.parametrize("place", [0, 30, 999])
def test_nan_is_refused(place):
    scores = np.tile([1.0, 2.0], 500)
    scores[place] = np.nan
    with pytest.raises(InputError, match="NaN"):
        Evaluator(np.tile([1, 0], 500), ["Bpref"])(scores)
