"""Labels that are real numbers: values against enumeration, and sums that no order of documents changes."""

from __future__ import annotations

import math
import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.queries import Query, flat, offsets_of

from tieaware import Evaluator, reference
from tieaware.checks.arrays import Values
from tieaware.kernels import _labels
from tieaware.lists.exact_sums import digits_of, exact_squares
from tieaware.ties import RULES

MEASURES = (
    "nDCG", "nDCG@3", "DCG@2", "nDCG(dcg='exp-log2')@3", "nDCG(discount='1/rank')", "DCG(discount='log',base=3.0)",
    "nDCG(judged_only=True)@3", "RBP(gains='label')", "RBP(rel=0.5,p=0.5)@3", "AP(rel=0.3)", "RR(rel=0.7)@3",
    "P(rel=0.1)@2", "R(rel=0.3)@3", "Q(rel=0.1)", "Q(rel=0.3,beta=10.0)@3", "ERR", "ERR(max_rel=3)@3", "Compat",
    "Compat(p=0.5,normalize=False)", "Hole@3", "MeanRank(rel=0.3)",
    "Bpref(rel=0.3)", "Rprec(rel=0.7)", "Judged@3", "NumRel(rel=0.3)", "Success(rel=2.3)@2",
)  # fmt: skip
# Their enumeration has no powers of two of real labels.
OF_REFERENCE = (*MEASURES, "iRBU", "iRBU(p=0.5)@3", "iRBU(max_rel=5,judged_only=True)@4")
GRADES = (-1.0, -1.0, 0.0, 0.1, 0.3, 0.30000000000000004, 0.7, 1.0, 2.3, 2.9)


def some_queries(seed: int, n: int = 40, longest: int = 6) -> list[tuple[list[float], list[float], list[float]]]:
    """Draw scores, labels and the labels of all judged documents, with a label of 2.3 in every query."""
    rng = random.Random(seed)
    drawn = []
    for _ in range(n):
        size = rng.randint(1, longest)
        labels = [rng.choice(GRADES) for _ in range(size)]
        drawn.append(([float(rng.randint(0, 2)) for _ in range(size)], labels, [*labels, 2.3, rng.choice(GRADES)]))
    return drawn


def evaluator(queries, measures=MEASURES, **options) -> Evaluator:
    lists = [labels for _, labels, _ in queries]
    judged = [judged for _, _, judged in queries]
    return Evaluator(
        flat(lists, np.float64), measures, offsets=offsets_of(lists),
        judgments=(flat(judged, np.float64), offsets_of(judged)), **options,
    )  # fmt: skip


def test_values_are_those_of_the_enumeration():
    """The mean, standard deviation, minimum and maximum over all orders of tied documents."""
    queries = some_queries(1)
    mean, variance, minimum, maximum = oracle.over_queries(MEASURES, [Query(*query) for query in queries])
    spread = evaluator(queries).spread(flat([scores for scores, _, _ in queries], np.float64))
    for found, expected in zip(spread, (mean, np.sqrt(variance), minimum, maximum), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("ties", RULES)
def test_values_are_those_of_the_reference(ties):
    queries = some_queries(2, n=12, longest=20)
    docids = [[f"d{i:02}" for i in range(len(scores))] for scores, _, _ in queries]
    expected = [
        [reference.evaluate(m, *query, ties=ties, docids=ids) for m in OF_REFERENCE]
        for query, ids in zip(queries, docids, strict=True)
    ]
    flat_ids = [each for ids in docids for each in ids]
    evaluate = evaluator(queries, OF_REFERENCE, ties=ties, docids=flat_ids)
    all_scores = flat([scores for scores, _, _ in queries], np.float64)
    np.testing.assert_allclose(evaluate(all_scores), expected, rtol=1e-12, atol=1e-12)
    if RULES[ties].averages:
        variances = [[reference.variance(m, *query) for m in OF_REFERENCE] for query in queries]
        np.testing.assert_allclose(evaluate.spread(all_scores).std ** 2, variances, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("ties", ["average", "optimistic", "pessimistic"])
@pytest.mark.parametrize("precision", [None, "bands:1.5", "decimals:0"])
def test_no_order_of_the_documents_changes_a_bit(ties, precision):
    rng = np.random.default_rng(5)
    labels = rng.random((1, 60)) ** 8
    scores = rng.integers(0, 4, (1, 60)) + rng.permutation(60) * (1e-3 if precision == "bands:1.5" else 0.0)
    measures = ["nDCG@10", "DCG", "RBP(gains='label')", "Q(rel=0.01)", "nDCG(dcg='exp-log2')"]

    def bits(order):
        evaluator = Evaluator(labels[:, order], measures, ties=ties, precision=precision)
        found = evaluator.spread(scores[:, order]) if ties == "average" else evaluator(scores[:, order])
        return np.stack(found).tobytes()

    assert {bits(rng.permutation(60)) for _ in range(50)} == {bits(np.arange(60))}


def test_the_number_of_threads_the_engine_and_the_other_lists_change_no_bit():
    rng = np.random.default_rng(7)
    labels, scores = rng.random((64, 90)), rng.integers(0, 9, (64, 90)) * 1.0
    known = Evaluator(labels, MEASURES[:8])(scores)
    np.testing.assert_array_equal(Evaluator(labels, MEASURES[:8], threads=4)(scores), known)
    np.testing.assert_array_equal(Evaluator(labels, MEASURES[:8])(scores.astype(np.float32)), known)
    for i in range(0, 64, 7):
        np.testing.assert_array_equal(Evaluator(labels[i : i + 1], MEASURES[:8])(scores[i : i + 1]), known[i : i + 1])
    pickled = pickle.loads(pickle.dumps(Evaluator(labels, MEASURES[:8])))
    np.testing.assert_array_equal(pickled.rows(3, 9)(scores[3:9]), known[3:9])


def test_whole_labels_have_the_same_bits_in_any_type():
    """Also beside one real label in another list, which turns all labels into real numbers."""
    rng = np.random.default_rng(8)
    labels, scores = rng.integers(-1, 4, (30, 25)), rng.integers(0, 5, (30, 25)) * 1.0
    measures = ["nDCG@10", "nDCG(dcg='exp-log2')", "AP(rel=2)", "Q", "RBP(gains='label')", "P@3", "DCG", "ERR", "iRBU"]
    known = Evaluator(labels, measures).spread(scores)
    more = np.vstack([labels, np.full((1, 25), 0.5)])
    for values, again in zip(Evaluator(more, measures).spread(np.vstack([scores, scores[:1]])), known, strict=True):
        np.testing.assert_allclose(values[:-1], again, rtol=1e-13, atol=1e-15)
    for values, again in zip(Evaluator(labels.astype(np.float32), measures).spread(scores), known, strict=True):
        np.testing.assert_array_equal(values, again)


def test_equal_gains_have_no_spread():
    spread = Evaluator([[0.7] * 100], ["nDCG@10", "DCG", "RBP(gains='label')", "Q(rel=0.5)"]).spread([[1.0] * 100])
    assert (spread.std == 0.0).all()


def test_the_spread_of_gains_that_differ_in_the_last_bit():
    """The variance is a tiny difference of large numbers, and still correct to nearly all digits."""
    labels = [0.7, np.nextafter(0.7, 1.0)]
    std = Evaluator([labels], "DCG@1").spread([[1.0, 1.0]]).std.item()
    assert std == pytest.approx((labels[1] - labels[0]) / 2, rel=1e-9)


@given(st.lists(st.floats(0.0, 1e6) | st.sampled_from([0.1, 0.25, 1e-300, 5e-324, 3.0]), max_size=30), st.randoms())
def test_digits_add_up_to_the_correctly_rounded_sum(gains, rng):
    """In any order, and equal to math.fsum; the squares are exact, too."""
    array = np.array(gains)
    digits = digits_of((array,), 2**20)
    assert [math.fsum(column) for column in digits.T] == gains
    shuffled = digits[:, rng.sample(range(len(gains)), len(gains))]
    sums: Values = np.add.accumulate(shuffled, axis=1)[:, -1:] if gains else np.zeros((len(digits), 1))
    assert _labels.rounded_sums(np.ascontiguousarray(sums)).item() == math.fsum(gains)
    kept = array[array > 1e-100]
    squares = digits_of(exact_squares(kept), 2**20)
    of_squares = _labels.rounded_sums(np.ascontiguousarray(squares.sum(axis=1)[:, None])).item()
    assert of_squares == float(sum((oracle.Fraction(x) ** 2 for x in kept.tolist()), oracle.Fraction(0)))


def test_a_table_of_gains():
    labels, scores = [[0, 1, 2, 2]], [[1.0, 1.0, 0.5, 0.2]]
    table = Evaluator(labels, "nDCG(gains={0: 0, 1: 1, 2: 3.5})@3")(scores)
    np.testing.assert_array_equal(table, Evaluator([[0, 1, 3.5, 3.5]], "nDCG@3")(scores))


def test_missing_labels_are_unjudged_where_this_is_asked_for():
    labels = [np.nan, 1.0, 0.5, np.nan]
    values = Evaluator(labels, ["Judged@4", "nDCG"], missing="unjudged")([4.0, 3.0, 2.0, 1.0])
    np.testing.assert_array_equal(values, Evaluator([-1, 1.0, 0.5, -1], ["Judged@4", "nDCG"])([4.0, 3.0, 2.0, 1.0]))


def test_whole_labels_may_all_be_below_the_threshold():
    assert Evaluator([1, 0], "AP(rel=2)")([1.0, 0.0]).item() == 0.0


def test_sparse_real_labels():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(11)
    dense = np.where(rng.random((8, 30)) < 0.3, rng.random((8, 30)), 0.0)
    scores = rng.integers(0, 5, (8, 30)) * 1.0
    values = Evaluator.from_sparse(sparse.csr_array(dense), ["nDCG@5", "AP(rel=0.5)"])(scores)
    np.testing.assert_array_equal(values, Evaluator(dense, ["nDCG@5", "AP(rel=0.5)"])(scores))
