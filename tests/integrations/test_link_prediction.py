"""Link prediction, compared with enumeration of all orders, an `Evaluator`, and the formulas of OGB and PyKEEN."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from support import oracle

from tieaware import Evaluator, InputError
from tieaware.integrations import link_prediction
from tieaware.integrations.link_prediction import evaluate

MEASURES = ("RR", "RR@3", "Hits@1", "Hits@10", "nDCG@4", "nDCG", "AP@2", "R@3", "P@5", "RBP(p=0.85)", "AUC")
RULES = ("average", "optimistic", "pessimistic")


def tied(n, m, dtype=np.float64, seed=0):
    """Return scores of n positives and of m negatives for each, with few distinct values."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, n).astype(dtype), rng.integers(0, 4, (n, m)).astype(dtype)


def realistic(positive, negatives):
    """Return the mean of the optimistic and the pessimistic rank, from which OGB and PyKEEN compute their values."""
    at_least = np.count_nonzero(negatives >= positive[:, None], axis=1)
    return 1 + (at_least + np.count_nonzero(negatives > positive[:, None], axis=1)) / 2


def test_values_equal_those_over_all_orders():
    positive, negatives = tied(40, 5)
    values = evaluate(positive, negatives, MEASURES)
    best, worst = (evaluate(positive, negatives, MEASURES, ties=rule) for rule in RULES[1:])
    for i, scores in enumerate(np.column_stack((positive, negatives)).tolist()):
        orders = oracle.enumerate_orders(scores, [1, -1, -1, -1, -1, -1])
        for j, measure in enumerate(MEASURES):
            exact = oracle.over_orders(measure, orders, [1])
            assert values[i, j] == pytest.approx(float(exact.mean), abs=1e-15)
            assert best[i, j] == pytest.approx(float(exact.maximum), abs=1e-15)
            assert worst[i, j] == pytest.approx(float(exact.minimum), abs=1e-15)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("n", "m"), [(0, 3), (3, 0), (1, 1), (7, 9), (300, 700), (2, 70_000)])
@pytest.mark.parametrize(("first", "second"), [("f8", "f8"), ("f4", "f4"), ("f4", "f8"), ("i4", "f2")])
def test_values_have_the_bits_of_an_evaluator(n, m, first, second, rule):
    """Several rows are evaluated at a time. The bits do not depend on how many, or on the types of the scores."""
    positive, negatives = tied(n, m)
    positive, negatives = positive.astype(first), negatives.astype(second)
    labels = np.full((n, m + 1), -1)
    labels[:, 0] = 1
    expected = Evaluator(labels, MEASURES, ties=rule)(np.column_stack((positive, negatives)).astype(np.float64))
    np.testing.assert_array_equal(evaluate(positive, negatives, MEASURES, ties=rule), expected)


@pytest.mark.parametrize("rule", RULES)
def test_excluded_negatives_and_lists_of_different_lengths(rule):
    """An excluded negative does not affect the values, for any score."""
    positive, negatives = tied(400, 200)
    mask = np.random.default_rng(1).random(negatives.shape) < 0.3
    lists = [row[~out] for row, out in zip(negatives, mask, strict=True)]
    one_by_one = np.concatenate([
        evaluate(positive[i : i + 1], each[None], MEASURES, ties=rule) for i, each in enumerate(lists)
    ])  # fmt: skip
    negatives[mask] = np.nan
    np.testing.assert_array_equal(evaluate(positive, negatives, MEASURES, exclude=mask, ties=rule), one_by_one)
    np.testing.assert_array_equal(evaluate(positive, lists, MEASURES, ties=rule), one_by_one)


def test_all_forms_of_negatives():
    positive, (negatives, *_) = tied(50, 30)
    expected = evaluate(positive, np.tile(negatives, (50, 1)))
    np.testing.assert_array_equal(evaluate(positive, negatives), expected)
    np.testing.assert_array_equal(evaluate(list(positive), [list(negatives)] * 50), expected)
    np.testing.assert_array_equal(evaluate(positive, np.tile(negatives, (50, 1)).T.copy().T), expected)


def test_the_reciprocal_of_the_mean_rank_is_less_than_the_mean_reciprocal_rank():
    """With ties, the reciprocal of the mean rank is smaller. Without ties, both values and the hits are equal."""
    for g, e, theirs, exact in [(0, 1, Fraction(2, 3), Fraction(3, 4)), (0, 9, Fraction(2, 11), Fraction(7381, 25200))]:
        positive, negatives = np.array([1.0]), np.array([[2.0] * g + [1.0] * e + [0.0]])
        assert 1 / realistic(positive, negatives)[0] == pytest.approx(float(theirs), abs=1e-15)
        assert evaluate(positive, negatives, "RR")[0, 0] == pytest.approx(float(exact), abs=1e-15)
    positive, negatives = tied(200, 60)
    assert (evaluate(positive, negatives, "RR")[:, 0] >= 1 / realistic(positive, negatives) - 1e-15).all()
    untied = np.random.default_rng(3).permutation(200 * 61).reshape(200, 61)
    rank = realistic(untied[:, 0], untied[:, 1:])
    np.testing.assert_array_equal(evaluate(untied[:, 0], untied[:, 1:]), np.column_stack((1 / rank, rank <= 10)))


def test_the_evaluator_for_ogb_has_its_keys():
    positive, negatives = tied(30, 20)
    result = link_prediction.Evaluator("ogbl-wikikg2").eval({"y_pred_pos": positive, "y_pred_neg": negatives})
    assert list(result) == ["hits@1_list", "hits@3_list", "hits@10_list", "mrr_list"]
    expected = evaluate(positive, negatives, ["Hits@1", "Hits@3", "Hits@10", "RR"])
    np.testing.assert_array_equal(np.column_stack(list(result.values())), expected)


@pytest.mark.parametrize("rule", RULES)
def test_the_evaluator_for_ogb_with_shared_negatives(rule):
    """OGB's Hits@K, the share of positives above the K-th best negative, equals the pessimistic value."""
    rng = np.random.default_rng(2)
    scores = {"y_pred_pos": rng.integers(8, 20, 90), "y_pred_neg": rng.integers(0, 16, 400).astype(np.float32)}
    evaluator = link_prediction.Evaluator("ogbl-ddi", ties=rule)
    assert (evaluator.name, evaluator.eval_metric) == ("ogbl-ddi", "hits@20")
    ((name, hits),) = evaluator.eval(scores).items()
    expected = evaluate(*scores.values(), ["Hits@20", "AUC"], ties=rule).mean(axis=0)
    assert (name, hits) == ("hits@20", pytest.approx(expected[0], abs=1e-15))
    if rule == "pessimistic":
        threshold = np.sort(scores["y_pred_neg"])[-20]
        assert hits == np.mean(scores["y_pred_pos"] > threshold)
    few = {**scores, "y_pred_neg": scores["y_pred_neg"][:19]}
    assert evaluator.eval(few) == {"hits@20": 1.0}
    area = link_prediction.Evaluator("ogbl-vessel", ties=rule).eval(scores)
    assert area == {"rocauc": pytest.approx(expected[1], abs=1e-15)}


NAN = [[0.0, 1.0], [0.0, np.nan]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evaluate([1.0], [[0.0], [1.0]]), r"negatives: expected shape \(1, m\), .*, found shape \(2, 1\)"),
        (lambda: evaluate(np.ones((1, 1)), [[0.0]]), "positive: expected a one-dimensional array, found shape"),
        (lambda: evaluate([1.0, 1.0], NAN), r"negatives\[1, 1\]: expected a number, found NaN"),
        (lambda: evaluate([1.0, np.nan], [[0.0, 1.0]] * 2), r"positive\[1\]: expected a number, found NaN"),
        (lambda: evaluate([1.0, 1.0], [[0.0], NAN[1]]), r"negatives\[1\]\[1\]: expected a number, found NaN"),
        (lambda: evaluate([1.0], [[0.0], [1.0, 2.0]]), "negatives: expected 1 list, one for each positive, found 2"),
        (lambda: evaluate([1.0], [[0.0]], "Bpref"), "measures: Bpref needs judged negatives, which link prediction"),
        (lambda: evaluate([1.0], [[0.0]], "AP(judged_only=True)"), r"measures: AP\(judged_only=True\) needs judged"),
        (lambda: evaluate([1.0], [[0.0]], ties="run_order"), "ties: expected one of average, optimistic, pessimistic"),
        (lambda: evaluate([1.0], [[0.0, 1.0]], exclude=[[0, 1]]), r"exclude: expected bools of shape \(1, 2\)"),
        (lambda: evaluate([1.0], [[0.0, 1.0]], exclude=[[True]]), r"exclude: expected bools of shape \(1, 2\)"),
        (lambda: evaluate([1.0], [[np.nan, np.nan]], exclude=[[True, False]]), r"negatives\[0, 1\]: expected a number"),
        (lambda: link_prediction.Evaluator("ogbl-did"), r"name: expected one of ogbl-ppa, .*; did you mean ogbl-ddi"),
        (lambda: link_prediction.Evaluator("ogbl-ddi").eval({"y_pred_pos": [1.0]}), "input_dict: the key y_pred_neg"),
        (lambda: link_prediction.adjusted([], np.empty((0, 3))), "positive: must have at least one element$"),
    ],
)
def test_errors_name_the_argument(call, message):
    with pytest.raises(InputError, match=f"^{message}"):
        call()


def by_formulas(ranks, sizes, k):
    """Return adjusted and z of the rank, of Hits@k and of RR by the closed forms that PyKEEN's documentation has."""
    harmonic = np.array([math.fsum(1 / j for j in range(1, n + 1)) for n in sizes])
    squares = np.array([math.fsum(1 / j**2 for j in range(1, n + 1)) for n in sizes])
    share = np.minimum(k / sizes, 1.0)
    rank, hits, reciprocal = ranks.mean(), (ranks <= k).mean(), (1 / ranks).mean()
    expected = ((sizes + 1) / 2).mean(), share.mean(), (harmonic / sizes).mean()
    variances = (sizes**2 - 1) / 12, share * (1 - share), squares / sizes - (harmonic / sizes) ** 2
    errors = [np.sqrt(each.sum()) / len(ranks) for each in variances]
    shares = zip((hits, reciprocal), expected[1:], strict=True)
    adjusted = [1 - (rank - 1) / (expected[0] - 1), *((value - c) / (1 - c) for value, c in shares)]
    z = [(expected[0] - rank) / errors[0], (hits - expected[1]) / errors[1], (reciprocal - expected[2]) / errors[2]]
    return np.array(adjusted), np.array(z), rank / expected[0]


@pytest.mark.parametrize("form", ["matrix", "excluded", "lists", "shared"])
def test_adjusted_means_are_those_of_pykeen(form):
    """AMRI, adjusted Hits@k, the adjusted inverse harmonic mean rank, their z, and AMR; without ties, as by formula."""
    rng = np.random.default_rng(30)
    n, m = 60, 40
    positive, negatives = rng.random(n), rng.random((n, m))
    exclude = rng.random((n, m)) < 0.3 if form == "excluded" else np.zeros((n, m), bool)
    if form == "shared":
        negatives = np.tile(negatives[0], (n, 1))
    rows = [row[~out] for row, out in zip(negatives, exclude, strict=True)]
    if form == "lists":
        rows = [row[: 5 + i % 30] for i, row in enumerate(rows)]
    given = {"matrix": negatives, "excluded": negatives, "lists": rows, "shared": negatives[0]}[form]
    options = {"exclude": exclude} if form == "excluded" else {}
    found = link_prediction.adjusted(positive, given, ["MeanRank", "Hits@3", "RR"], **options)
    ranks = np.array([1 + np.count_nonzero(row > p) for p, row in zip(positive, rows, strict=True)])
    sizes = np.array([len(row) + 1 for row in rows])
    adjusted, z, amr = by_formulas(ranks, sizes, 3)
    np.testing.assert_allclose(found.adjusted, adjusted, rtol=1e-12)
    np.testing.assert_allclose(found.z, z, rtol=1e-12)
    assert found.mean[0] / found.chance[0] == pytest.approx(amr, rel=1e-13)
    values = evaluate(positive, given, ["MeanRank", "Hits@3", "RR"], **options)
    np.testing.assert_allclose(found.mean, values.mean(axis=0), rtol=1e-15)


def test_a_constant_scorer_earns_chance():
    found = link_prediction.adjusted(np.zeros(5), np.zeros((5, 9)), ["MeanRank", "Hits@3", "RR", "Hits@10"])
    np.testing.assert_allclose(found.mean, found.chance, rtol=1e-15)
    np.testing.assert_allclose(found.adjusted[:3], 0.0, atol=1e-15)
    # Each of the ten candidates is among the first ten, so no rank is better than another.
    assert np.isnan(found.adjusted[3])
    assert np.isnan(found.z[3])
    for rule, sign in (("optimistic", 1), ("pessimistic", -1)):
        one_sided = link_prediction.adjusted(np.zeros(5), np.zeros((5, 9)), ["MeanRank", "Hits@3", "RR"], ties=rule)
        assert (np.sign(one_sided.z) == sign).all()
        assert (np.sign(one_sided.adjusted) == sign).all()
