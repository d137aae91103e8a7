"""The greatest F at any rank, compared with the enumeration of all orders, the reference, and random orders."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.exactness import assert_spread_is_exact
from support.queries import Query, evaluator, random_query, scores_of

from tieaware import Evaluator, InputError, reference

NAMES = (
    "MaxF", "MaxF@1", "MaxF@2", "MaxF@4", "MaxF@20", "MaxF(beta=0.5)@3", "MaxF(beta=2.0)", "MaxF(beta=0.3,rel=2)@3",
    "MaxF(rel=0)", "MaxF(judged_only=True)@2",
)  # fmt: skip


@pytest.fixture(scope="module")
def some():
    rng = random.Random(47)
    return [Query((1.0,) * 6, (1, 1, 1, 1, 1, 1), (1,) * 6), *(random_query(rng, 7) for _ in range(150))]


def test_values_and_spread_are_exact(some):
    """Mean, variance, minimum and maximum equal enumeration of all orders; so do those of the reference."""
    assert_spread_is_exact(some, NAMES)


@pytest.mark.parametrize("ties", ["run_order", "optimistic", "pessimistic"])
def test_orders_have_the_greatest_f_of_all_ranks(some, ties):
    """For one order, the value is the largest F@k."""
    values = evaluator(some, "MaxF(beta=2.0)", ties=ties)(scores_of(some))[:, 0]
    at_ranks = evaluator(some, [f"F(beta=2.0)@{k}" for k in range(1, 8)], ties=ties)(scores_of(some))
    np.testing.assert_allclose(values, at_ranks.max(axis=1), rtol=1e-14)


@pytest.mark.parametrize("k", [None, 5, 17])
@pytest.mark.parametrize("distinct", [1, 4, 12])
def test_lists_too_long_to_enumerate(distinct, k):
    """Long lists have the values of the reference, which goes through the list in the other direction."""
    rng = random.Random(distinct)
    labels = tuple(int(rng.random() < 0.2) for _ in range(30))
    query = Query(tuple(float(rng.randrange(distinct)) for _ in labels), labels, (*labels, 1, 1))
    for beta in (0.5, 1.0, 3.0):
        name = f"MaxF(beta={beta})" + ("" if k is None else f"@{k}")
        spread = evaluator([query], name).spread(scores_of([query]))
        assert spread.mean[0, 0] == pytest.approx(reference.evaluate(name, *query), rel=1e-12)
        assert spread.std[0, 0] ** 2 == pytest.approx(reference.variance(name, *query), rel=1e-9, abs=1e-14)


def test_a_constant_scorer_of_a_thousand_documents():
    """Mean and standard deviation agree with those of random orders."""
    labels = np.zeros(1000, dtype=int)
    labels[:30] = 1
    spread = Evaluator(labels, "MaxF").spread(np.ones(1000))
    rng = np.random.default_rng(5)
    ranks = np.array([np.sort(rng.choice(1000, 30, replace=False)) + 1 for _ in range(4000)])
    sampled = (2 * np.arange(1, 31) / (ranks + 30)).max(axis=1)
    assert spread.mean[0, 0] == pytest.approx(sampled.mean(), abs=4 * sampled.std() / len(sampled) ** 0.5)
    assert spread.std[0, 0] == pytest.approx(sampled.std(), rel=0.1)


def test_groups_that_take_too_long_are_refused():
    """A cut-off or another tie rule helps."""
    labels = np.zeros(20_000, dtype=int)
    labels[::20] = 1
    with pytest.raises(InputError, match=r"^MaxF: the exact value of large tie groups takes too long"):
        Evaluator(labels, "MaxF")(np.ones(20_000))
    assert Evaluator(labels, "MaxF", ties="optimistic")(np.ones(20_000))[0, 0] == 1.0
    assert 0.0 < Evaluator(labels, "MaxF@20")(np.ones(20_000))[0, 0] < 0.02
