"""The spread over the orders of tied documents, compared with exact arithmetic, the reference and the tie rules."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from support.queries import MEASURES, Query, evaluator, scores_of

import tieaware
from tieaware import Evaluator, reference
from tieaware.engine.engine_choice import COUNTING_LIMIT
from tieaware.measures import parse_measure
from tieaware.results import export_of
from tieaware.results.exports import as_columns

KINDS = ("mean", "std", "min", "max")

# The reference enumerates the orders of this measure, which would take too long here.
ENUMERATED = ("O",)


def long_lists(distinct: int) -> list[Query]:
    """Draw lists with many, with few and without weighted documents: different engines group them."""
    rng = random.Random(distinct)
    lists = []
    for n, relevant in ((400, 0.5), (300, 0.03), (200, 0.0), (60, 1.0)):
        labels = tuple(rng.choice((1, 2, 3)) if rng.random() < relevant else 0 for _ in range(n))
        lists.append(Query(tuple(float(rng.randrange(distinct)) for _ in range(n)), labels, labels))
    return lists


@pytest.mark.parametrize("distinct", [1, 5, 10**6])
def test_mean_and_extremes_are_those_of_the_tie_rules(distinct):
    """The mean has the bits of the average. The extremes equal the optimistic and pessimistic values up to rounding."""
    lists = long_lists(distinct)
    spread = evaluator(lists).spread(scores_of(lists))
    np.testing.assert_array_equal(spread.mean, evaluator(lists)(scores_of(lists)))
    less = np.array([parse_measure(measure).definition.less_is_better for measure in MEASURES])
    worst, best = (evaluator(lists, ties=rule)(scores_of(lists)) for rule in ("pessimistic", "optimistic"))
    np.testing.assert_allclose(spread.min, np.where(less, best, worst), rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(spread.max, np.where(less, worst, best), rtol=1e-15, atol=1e-15)
    assert (spread.min <= spread.mean).all()
    assert (spread.mean <= spread.max).all()
    if distinct == 10**6:
        assert not spread.std.any()
        np.testing.assert_array_equal(spread.min, spread.max)
    else:
        assert spread.std[0].any()


@pytest.mark.parametrize("distinct", [1, 5, 40])
def test_long_lists_have_the_variance_of_the_reference(distinct):
    """Lists too long to enumerate have the same variance in two independent implementations."""
    rng = random.Random(distinct)
    labels = tuple(rng.choice((-1, 0, 0, 0, 1, 2)) for _ in range(60))
    query = Query(tuple(float(rng.randrange(distinct)) for _ in labels), labels, (*labels, 1, 0))
    spread = evaluator([query]).spread(scores_of([query]))
    for measure, std in zip(MEASURES, spread.std[0], strict=True):
        if parse_measure(measure).name in ENUMERATED:
            continue
        expected = reference.variance(measure, query.scores, query.labels, query.judged)
        assert std**2 == pytest.approx(expected, rel=1e-8, abs=1e-13), measure


def test_more_weighted_documents_than_are_counted():
    assert sum(label > 0 for label in long_lists(5)[0].labels) > COUNTING_LIMIT


# Deep groups, whose variance is a small difference of large numbers.


def deep(t: int, n: int, r: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a list of t documents, every 50th relevant, followed by n tied documents, r of them relevant."""
    scores = np.concatenate((np.arange(t + 1, 1, -1, dtype=float), np.ones(n)))
    labels = np.zeros(t + n, dtype=int)
    labels[:t:50] = 1
    labels[t : t + r] = 1
    return scores, labels


@pytest.mark.parametrize(
    ("t", "n", "r", "k"),
    [
        (0, 100, 2, None), (0, 1000, 2, None), (0, 1000, 10, None), (0, 1000, 110, None), (0, 900, 240, None),
        (3, 1000, 10, 500), (20, 1000, 20, None), (100, 2000, 5, 1500), (5, 1500, 120, 90), (0, 500, 3, 90),
        (0, 50, 1, None), (0, 50, 1, 25), (7, 50, 2, 32), (1000, 20, 1, None), (1000, 20, 1, 1010), (1000, 20, 3, None),
        (10**6, 8, 1, None), (10**6, 8, 1, 10**6 + 4), (10**6, 8, 4, None), (10**6, 8, 4, 10**6 + 4),
    ],
)  # fmt: skip
def test_the_first_relevant_document_of_large_and_of_deep_groups(t, n, r, k):
    """The variance of RR in a large group has a recurrence over the relevant documents."""
    scores, labels = deep(t, n, r)
    labels[:t] = 0
    chance, mean, second = Fraction(r, n), Fraction(0), Fraction(0)
    for x in range(1, min(n - r + 1, (k or t + n) - t) + 1):
        mean, second = mean + chance / (t + x), second + chance / (t + x) ** 2
        chance *= Fraction(n - x - r + 1, max(n - x, 1))
    spread = Evaluator(labels, ["RR" if k is None else f"RR@{k}"]).spread(scores)
    assert spread.std[0, 0] ** 2 == pytest.approx(float(second - mean * mean), rel=1e-12 if t < 1000 else 1e-9)


@pytest.mark.parametrize(("t", "k"), [(0, None), (3, 7), (1000, None), (1000, 1004), (10**5, None), (10**6, None)])
@pytest.mark.parametrize("grades", [(1,), (1, 1, 1), (3, 1, 2)])
def test_the_q_measure_of_deep_groups(t, k, grades):
    """The variance agrees with exact fractions, computed over all placements of the relevant documents."""
    n = 7
    scores, labels = deep(t, n, len(grades))
    labels[t : t + len(grades)] = grades
    ideal = np.cumsum(np.sort(labels)[::-1]).tolist()
    hits, gain, total = int((labels[:t] > 0).sum()), int(labels[:t].sum()), int((labels > 0).sum())
    values = []
    for places in permutations(range(1, n + 1), len(grades)):
        value, found, more = Fraction(0), 0, 0
        for place, grade in sorted(zip(places, grades, strict=True)):
            found, more, j = found + 1, more + grade, t + place
            if k is None or j <= k:
                value += Fraction(hits + found + gain + more, j + ideal[j - 1])
        values.append(value / total)
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    spread = Evaluator(labels, ["Q" if k is None else f"Q@{k}"]).spread(scores)
    assert spread.std[0, 0] ** 2 == pytest.approx(float(variance), rel=1e-9, abs=0)


# Arguments, errors and results.


def test_scores_are_coarsened_first():
    """The spread is over the orders of documents whose coarse scores are equal, such as those in one band."""
    spread = Evaluator([0, 1, 0], ["RR"], precision="bands:2").spread([3.0, 2.0, 1.0])
    assert [getattr(spread, kind)[0, 0] for kind in KINDS] == pytest.approx([5 / 12, 1 / 12, 1 / 3, 1 / 2])
    rounded = Evaluator([1, 0], ["RR"], precision="decimals:0").spread([1.2, 0.9])
    assert [getattr(rounded, kind)[0, 0] for kind in KINDS] == [0.75, 0.25, 0.5, 1.0]


def test_an_undefined_query_has_no_spread():
    spread = Evaluator([0, 0], ["AP", "NumRet"], undefined=np.nan).spread([1.0, 1.0])
    assert np.isnan(spread.mean[0, 0])
    assert spread.std[0].tolist() == [0.0, 0.0]


QRELS = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
RUN = {"q1": {"a": 1.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}


def test_results_carry_the_spread():
    result = tieaware.evaluate(QRELS, {"x": RUN, "y": {"q1": {"a": 1.0}}}, ["RR", "NumRet"], spread=True)
    assert result["x", "RR", "q1"] == 0.75
    np.testing.assert_array_equal(result.std[0, :, 0], [0.25, 0.0, 0.0])
    np.testing.assert_array_equal(result.min[0, :, 0], [0.5, 1.0, 0.0])
    np.testing.assert_array_equal(result.max[0, :, 0], [1.0, 1.0, 0.0])
    np.testing.assert_array_equal(result["x"].std, result.std[:1])
    # The queries are independent and only one of three varies, so the std of the mean is a third of its std.
    assert result.mean_std()[0, 0] == pytest.approx(0.25 / 3)
    assert result.to_dict()["x"]["q1"] == {"RR": 0.75, "RR_std": 0.25, "RR_min": 0.5, "RR_max": 1.0, "NumRet": 2.0}
    assert list(as_columns(export_of(result))) == ["run", "query", "RR", "RR_std", "RR_min", "RR_max", "NumRet"]


def test_results_without_a_spread_and_of_answered_queries():
    plain = tieaware.evaluate(QRELS, RUN, ["RR"])
    assert (plain.std, plain.min, plain.max) == (None, None, None)
    answered = tieaware.evaluate(QRELS, RUN, ["RR"], spread=True, queries="both")
    assert (answered.queries, answered.mean_std().item()) == (("q1", "q2"), pytest.approx(0.125))


def test_the_std_of_the_mean_is_that_of_the_enumeration():
    """The standard deviation of the mean equals enumeration over all pairs of orders of two queries."""
    qrels = {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}}
    run = {"q1": dict.fromkeys("abc", 1.0), "q2": dict.fromkeys("abcd", 1.0)}
    result = tieaware.evaluate(qrels, run, ["RR"], spread=True)
    first = [1, 1 / 2, 1 / 3]
    second = [1] * 6 + [1 / 2] * 4 + [1 / 3] * 2
    means = np.array([(x + y) / 2 for x in first for y in second])
    assert result.mean_std()[0, 0] == pytest.approx(means.std(), rel=1e-12)
    assert result.mean()[0, 0] == pytest.approx(means.mean(), rel=1e-12)


@pytest.mark.parametrize("n_scores", [1, 6, 40])
def test_the_extremes_of_dense_lists_are_those_of_the_orders_by_label(n_scores):
    """The lists are sorted, and the cut-offs divide groups whose other documents stand below them in the best order."""
    rng = np.random.default_rng(3)
    labels, scores = rng.integers(-1, 4, (40, 120)), rng.integers(0, n_scores, (40, 120)).astype(float)
    measures = ["nDCG@10", "DCG@7", "P(rel=2)@10", "ERR@10"]
    spread = Evaluator(labels, measures).spread(scores)
    np.testing.assert_array_equal(spread.max, Evaluator(labels, measures, ties="optimistic")(scores))
    np.testing.assert_array_equal(spread.min, Evaluator(labels, measures, ties="pessimistic")(scores))
