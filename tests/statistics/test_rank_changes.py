"""p-MRR: mteb's formula on untied runs, and the mean over all orders of ties."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tieaware.statistics import p_mrr


def ranks(scores, document):
    """Return the ranks that a document may have in a list; the rank after the last one if the list lacks it."""
    if document not in scores:
        return range(len(scores) + 1, len(scores) + 2)
    above = sum(score > scores[document] for score in scores.values())
    return range(above + 1, above + sum(score == scores[document] for score in scores.values()) + 1)


def change(before, after):
    """Return mteb's contribution of a document: the change of its reciprocal rank, relative to the greater one."""
    return Fraction(after, before) - 1 if before >= after else 1 - Fraction(before, after)


def by_definition(original, changed, documents):
    values = []
    for query, listed in documents.items():
        pairs = [list(product(ranks(original[query], d), ranks(changed[query], d))) for d in listed]
        of_documents = [sum(change(*pair) for pair in each) / len(each) for each in pairs]
        values.append(sum(of_documents, Fraction(0)) / len(of_documents))
    return np.array(values, dtype=float)


@pytest.mark.parametrize("levels", [2, 6, 10**6])
def test_values_equal_those_of_all_ranks(levels):
    rng = np.random.default_rng(levels)

    def run():
        return {
            f"q{q}": {f"d{d}": float(rng.integers(levels)) for d in rng.permutation(25)[: rng.integers(1, 25)]}
            for q in range(15)
        }  # fmt: skip

    original, changed = run(), run()
    documents = {f"q{q}": [f"d{d}" for d in rng.permutation(25)[: rng.integers(1, 6)]] for q in (7, 2, 11, 0)}
    found = p_mrr(original, changed, documents)
    assert found.queries == ["q7", "q2", "q11", "q0"]
    np.testing.assert_allclose(found.values, by_definition(original, changed, documents), rtol=1e-12, atol=1e-14)
    assert found.mean == pytest.approx(found.values.mean())
    # The change back is the opposite.
    np.testing.assert_allclose(p_mrr(changed, original, documents).values, -found.values, rtol=1e-12, atol=1e-14)


def test_a_constant_scorer_changes_nothing():
    run = {"q": {f"d{i}": 1.0 for i in range(100)}}
    assert p_mrr(run, run, {"q": ["d3", "d50"]}).mean == pytest.approx(0.0, abs=1e-14)


def test_ids_may_be_integers():
    original, changed = {7: {1: 3.0, 2: 2.0}}, {7: {1: 1.0, 2: 2.0}}
    assert p_mrr(original, changed, {7: [1]}).mean == 0.5
    assert p_mrr(original, changed, {7: [1, 2]}).values.tolist() == [0.0]
