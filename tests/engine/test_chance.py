"""The value of a random order, compared with enumeration of all orders, and with the spread of equal scores."""

import pickle
import random

import numpy as np
import pytest
from support.queries import MEASURES, Query, evaluator, random_query, scores_of

from tieaware import Evaluator
from tieaware.measures import parse_measure
from tieaware.ties import RULES


@pytest.fixture(scope="module")
def lists():
    rng = random.Random(30)
    return [random_query(rng, 7) for _ in range(40)]


def all_tied(lists):
    return [Query((0.0,) * len(query.labels), query.labels, query.judged) for query in lists]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("precision", [None, "decimals:0", "bands:2", "levels:3"])
def test_it_has_the_bits_of_equal_scores_under_any_rule(lists, rule, precision):
    """The tie rule and the precision of the evaluator do not matter."""
    measures = [measure for measure in MEASURES if precision is None or "judged_only" not in measure]
    spread = evaluator(lists, measures).spread(scores_of(all_tied(lists)))
    ids = [f"d{i}" for i in range(len(scores_of(lists)))] if RULES[rule].by_document else None
    found = evaluator(lists, measures, ties=rule, precision=precision, docids=ids).chance()
    np.testing.assert_array_equal(found.mean, spread.mean)
    np.testing.assert_array_equal(found.std, spread.std)
    less = [parse_measure(measure).definition.less_is_better for measure in measures]
    np.testing.assert_array_equal(found.ideal, np.where(less, spread.min, spread.max))


def test_rows_threads_and_copies_change_no_bit(lists):
    many = lists * 60
    whole = evaluator(many)
    expected = np.stack(whole.chance())
    for other in (evaluator(many, threads=3), pickle.loads(pickle.dumps(whole))):
        np.testing.assert_array_equal(np.stack(other.chance()), expected)
    parts = [np.stack(whole.rows(i, i + 800).chance()) for i in range(0, len(many), 800)]
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), expected)
    np.testing.assert_array_equal(np.stack(whole.rows(5, 9).rows(1, 3).chance()), expected[:, 6:8])


def test_excluded_items_are_not_ranked():
    """An item is excluded from the catalogue: chance is that of the items that are left."""
    sparse = pytest.importorskip("scipy.sparse")
    relevance = sparse.csr_array(([1, 1], ([0, 1], [0, 2])), shape=(2, 5))
    excluded = sparse.csr_array(([1, 1], ([0, 0], [1, 2])), shape=(2, 5))
    measures = ["RR", "P@2", "nDCG", "AP@3", "ESL", "AUC"]
    found = Evaluator.from_sparse(relevance, measures, exclude=excluded).chance()
    expected = Evaluator([1, 0, 0, 0, 0, 1, 0, 0], measures, offsets=[0, 3, 8]).chance()
    np.testing.assert_array_equal(np.stack(found), np.stack(expected))


def test_unknown_deviations_are_nan_and_means_are_known():
    found = Evaluator([1, 0, 0, -2], "infAP").chance()
    assert found.mean.item() == Evaluator([1, 0, 0, -2], "infAP")([0.0] * 4).item()
    assert np.isnan([found.std.item(), found.ideal.item()]).all()


def test_undefined_queries_are_undefined():
    found = Evaluator([[0, 0], [0, 1]], ["AP", "NumRet"], undefined=float("nan")).chance()
    np.testing.assert_array_equal(found.mean, [[np.nan, 2], [0.75, 2]])
    np.testing.assert_array_equal(found.ideal, [[np.nan, 2], [1, 2]])


def test_lists_may_be_empty():
    found = Evaluator([], ["AP", "NumRet"], offsets=[0, 0, 0]).chance()
    assert not np.stack(found).any()
    assert Evaluator([], ["AP"], offsets=[0]).chance().mean.shape == (0, 1)
