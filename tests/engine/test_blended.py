"""O-measure and P+, whose best and worst orders do not always follow the labels."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.exactness import assert_spread_is_exact
from support.queries import Query, evaluator, random_query, scores_of

from tieaware import Evaluator, InputError

NAMES = (
    "O", "O@2", "O(beta=0.3,rel=2)",
    "PPlus", "PPlus(beta=0.2)", "PPlus(beta=10.0,max_rel=6)", "PPlus(judged_only=True)",
)  # fmt: skip


@pytest.fixture(scope="module")
def some():
    rng = random.Random(59)
    special = [
        Query((1.0,) * 7, (2, 1, 1, 3, 0, 3, 2), (3, 3, 3, 2, 2, 1, 1, 0)),
        Query((2.0, 2.0, 2.0, 1.0, 1.0, 1.0), (1, 0, 2, 3, 1, 0), (3, 2, 1, 1, 0, 0)),
        Query((1.0, 1.0), (3, 3), (3, 3)),
        Query((1.0, 1.0), (0, 0), (3, 3, 0, 0)),
    ]
    return special + [random_query(rng, 7) for _ in range(150)]


def test_values_and_spread_are_exact(some):
    """Mean, variance, minimum and maximum equal enumeration of all orders; so do those of the reference."""
    assert_spread_is_exact(some, NAMES)


@pytest.mark.parametrize(("ties", "kind"), [("optimistic", "max"), ("pessimistic", "min")])
def test_the_rules_have_the_extremes_of_the_spread(some, ties, kind):
    expected = getattr(evaluator(some, NAMES).spread(scores_of(some)), kind)
    values = evaluator(some, NAMES, ties=ties)(scores_of(some))
    np.testing.assert_allclose(values, expected, rtol=1e-14, atol=1e-15)


def test_the_best_order_of_p_plus_is_not_by_label():
    """Below documents without gain, a further relevant document above the best one lifts the mean of the ratios."""
    labels, scores = [0, 0, 2, 1], [1.0, 1.0, 0.0, 0.0]
    spread = Evaluator(labels, ["PPlus"]).spread(scores)
    # The ideal cumulated gains are 2, 3, 3 and 3.
    assert spread.min[0, 0] == pytest.approx((1 + 2) / (3 + 3))  # 0 0 2 1: the ratio at rank 3
    assert spread.max[0, 0] == pytest.approx(((1 + 1) / (3 + 3) + (2 + 3) / (4 + 3)) / 2)  # 0 0 1 2: ranks 3 and 4


@pytest.mark.parametrize("measure", ["O", "O@40", "PPlus", "PPlus(beta=0.1)"])
@pytest.mark.parametrize("levels", [1, 4])
def test_large_groups_agree_with_random_orders(measure, levels):
    rng = np.random.default_rng(levels)
    labels = np.where(rng.random(200) < 0.3, rng.integers(1, 4, 200), 0)
    scores = rng.integers(0, levels, 200).astype(np.float64)
    spread = Evaluator(labels, [measure]).spread(scores)
    orders = [np.lexsort((rng.random(200), -scores)) for _ in range(6000)]
    judgments = np.tile(labels, len(orders)), np.arange(len(orders) + 1) * 200
    untied = Evaluator(np.stack([labels[order] for order in orders]), [measure], judgments=judgments)
    sampled = untied(np.tile(-np.arange(200.0), (len(orders), 1)))[:, 0]
    assert spread.mean[0, 0] == pytest.approx(sampled.mean(), abs=4 * sampled.std() / len(sampled) ** 0.5)
    assert spread.std[0, 0] == pytest.approx(sampled.std(), rel=0.1)
    assert spread.min[0, 0] <= sampled.min()
    assert spread.max[0, 0] >= sampled.max()


def test_groups_that_take_too_long_are_refused():
    labels = np.ones(40_000, dtype=int)
    labels[:20_000] = 0
    labels[-1] = 2
    with pytest.raises(InputError, match=r"^PPlus: the exact value of large tie groups takes too long"):
        Evaluator(labels, ["PPlus"])(np.zeros(40_000))
    assert 0.0 < Evaluator(labels, ["O"])(np.zeros(40_000))[0, 0] < 1.0
    assert 0.0 < Evaluator(labels, ["PPlus"])(np.arange(40_000.0))[0, 0] <= 1.0
