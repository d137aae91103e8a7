"""infAP: average precision inferred from a partly judged pool, in which the label -2 means pooled but unjudged."""

from __future__ import annotations

import random
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from support import oracle
from support.queries import Query, evaluator, random_query, scores_of

import tieaware
from tieaware import Evaluator, reference

NAMES = ("infAP", "infAP(rel=2)", "infAP(rel=0)", "AP", "infAP(judged_only=True)", "infAP(rel=2,judged_only=True)")


@pytest.fixture(scope="module")
def some():
    rng = random.Random(61)
    special = [Query((1.0,) * 7, (1, 1, 0, -2, -2, -1, 0), (1, 1, 0, -2, -2, 0, 1, -2))]
    drawn = [random_query(rng, 7) for _ in range(200)]
    # Change half of the labels -1 (outside the pool) to -2 (pooled but unjudged).
    drawn = [q._replace(labels=tuple(x if x >= 0 else rng.choice((-1, -2)) for x in q.labels)) for q in drawn]
    return special + drawn


def test_the_expectation_is_exact(some):
    exact = oracle.over_queries(NAMES, some)[0]
    by_reference = [[reference.evaluate(name, *query) for name in NAMES] for query in some]
    for values in (evaluator(some, NAMES)(scores_of(some)), by_reference):
        np.testing.assert_allclose(values, exact, rtol=0, atol=1e-13)


@pytest.mark.parametrize("ties", ["run_order", "optimistic", "pessimistic"])
def test_an_order_has_the_value_of_the_definition(some, ties):
    values = evaluator(some, NAMES, ties=ties)(scores_of(some))
    for query, row in zip(some, values, strict=True):
        ranked = reference.rank(query.scores, query.labels, ties)
        expected = [float(oracle.value(tieaware.parse_measure(name), ranked, query.judged)) for name in NAMES]
        np.testing.assert_allclose(row, expected, rtol=1e-13)


@pytest.mark.parametrize("distinct", [1, 3, 30])
def test_long_lists_have_the_values_of_the_reference(distinct):
    rng = random.Random(distinct)
    labels = tuple(rng.choice((-2, -2, -1, -1, 0, 1, 2)) for _ in range(45))
    query = Query(tuple(float(rng.randrange(distinct)) for _ in labels), labels, (*labels, 1, 0, -2))
    value = evaluator([query], ["infAP"])(scores_of([query]))[0, 0]
    assert value == pytest.approx(reference.evaluate("infAP", *query), rel=1e-12)


def exact_mean(n_before, n, relevant, nonrelevant, pooled, reciprocals, number):
    """Return infAP of one tie below documents outside the pool, from the mean of 1/rank of each judged document.

    `reciprocals` is a function that returns these means, and `number` is their type.
    """
    judged, epsilon = relevant + nonrelevant, number(1) / 100_000
    share = number(pooled) / (n - judged) if n > judged else number(0)
    total = number(0)
    for y, h in enumerate(reciprocals(n_before, n, judged)):
        found = y * h + share * (1 - (y + 1 + n_before) * h)
        hits = number(y * (relevant - 1)) / (judged - 1) if judged > 1 else number(0)
        total += h + found * (hits + epsilon) / (y + 2 * epsilon)
    return float(total / judged)


def reciprocals_in_fractions(t, n, judged):
    """Yield the mean of 1/(t+x) for the first, second … of the judged documents; x is its place in the tie."""
    for i in range(1, judged + 1):
        places = range(i, n - judged + i + 1)
        chances = (Fraction(comb(x - 1, i - 1) * comb(n - x, judged - i), comb(n, judged)) for x in places)
        yield sum(chance / (t + x) for x, chance in zip(places, chances, strict=True))


def reciprocals_in_long_doubles(t, n, judged):
    """Yield the same means for many documents, from the chances relative to the likeliest place."""
    for i in range(1, judged + 1):
        x = np.arange(i, n - judged + i + 1, dtype=np.longdouble)
        rises = x[:-1] * (n - x[:-1] - judged + i) / ((x[:-1] - i + 1) * (n - x[:-1]))
        likeliest = (i - 1) * (n - judged) // max(judged - 1, 1)
        above = np.cumprod(rises[likeliest:])
        below = np.cumprod(1 / rises[:likeliest][::-1])[::-1]
        chances = np.concatenate((below, np.ones(1, dtype=np.longdouble), above))
        yield (chances / (t + x)).sum() / chances.sum()


def of_one_tie(n_before, n, relevant, nonrelevant, pooled):
    """Return the value of the same list."""
    labels = np.full(n_before + n, -1)
    start = n_before
    for label, count in ((1, relevant), (0, nonrelevant), (-2, pooled)):
        labels[start : start + count] = label
        start += count
    scores = np.concatenate((np.arange(n_before + 1, 1, -1.0), np.ones(n)))
    return Evaluator(labels, ["infAP"])(scores)[0, 0]


def test_ties_have_the_exact_value_in_fractions():
    rng = random.Random(63)
    for _ in range(150):
        n, t = rng.randint(1, 40), rng.choice((0, 1, 7, 1000, 10**6))
        judged = rng.randint(1, n)
        relevant, pooled = rng.randint(1, judged), rng.randint(0, n - judged)
        ties = t, n, relevant, judged - relevant, pooled
        assert of_one_tie(*ties) == pytest.approx(exact_mean(*ties, reciprocals_in_fractions, Fraction), rel=1e-14)


@pytest.mark.parametrize(
    ("t", "n", "relevant", "nonrelevant", "pooled"),
    [
        (0, 3000, 20, 200, 900), (5, 2500, 700, 1100, 300), (10**6, 2000, 1, 1500, 0), (300, 4000, 2, 0, 3000),
        (0, 100_000, 3, 4, 50_000), (10**5, 100_000, 2, 3, 0), (0, 5000, 1, 0, 0), (0, 5000, 1, 0, 2000),
        (7, 100_000, 1, 0, 99_999), (10**6, 300, 1, 0, 100),
    ],
)  # fmt: skip
def test_large_ties_have_an_exact_value(t, n, relevant, nonrelevant, pooled):
    """The mean of 1/rank has a recurrence, whose errors must not grow."""
    exact = exact_mean(t, n, relevant, nonrelevant, pooled, reciprocals_in_long_doubles, np.longdouble)
    assert of_one_tie(t, n, relevant, nonrelevant, pooled) == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("t", [0, 9, 10**5, 10**6])
def test_a_large_tie_with_one_unjudged_document(t):
    """The q-th judged document has the place q + 1 with the probability q/n; otherwise the place q."""
    n = 100_000
    relevant = n // 3
    q = np.arange(1, n, dtype=np.longdouble)
    h = (1 - q / n) / (t + q) + q / n / (t + q + 1)
    share = ((q - 1) * (relevant - 1) / (n - 2) + 1e-5) / (q - 1 + 2e-5)
    exact = float((h + (q - 1) * h * share).sum() / (n - 1))
    assert of_one_tie(t, n, relevant, n - 1 - relevant, 0) == pytest.approx(exact, rel=1e-13)


def test_its_spread_is_nan(some):
    spread = evaluator(some, NAMES).spread(scores_of(some))
    np.testing.assert_array_equal(spread.mean, evaluator(some, NAMES)(scores_of(some)))
    defined = [any(label > 0 for label in query.judged) for query in some]
    for kind in ("std", "min", "max"):
        assert np.isnan(getattr(spread, kind)[defined, 0]).all()
        assert not np.isnan(getattr(spread, kind)[:, 3]).any()


@pytest.mark.filterwarnings("error")
def test_exports_show_what_is_known():
    """Exports omit columns that would be NaN: the std, min and max of infAP, and the std of GMAP's geometric mean."""
    qrels, run = {"q": {"a": 1, "b": -1}}, {"q": {"a": 1.0, "b": 1.0}}
    result = tieaware.evaluate(qrels, run, ["infAP", "GMAP", "AP"], spread=True)
    names = [f"{name}{kind}" for name, kinds in (("infAP", ()), ("GMAP", ("min", "max")), ("AP", ("std", "min", "max")))
             for kind in ("", *(f"_{k}" for k in kinds))]  # fmt: skip
    assert list(result.to_dict()["run"]["q"]) == names
    assert result.to_dict()["run"]["q"]["infAP"] == pytest.approx((1 + (1 + 0.5) / 2) / 2)
    assert np.isnan(result.mean_std()[0, :2]).all()
    assert "nan" not in result.to_trec_eval(per_query=True)


def test_judgments_of_a_sampled_pool_have_trec_evals_values():
    """A document with a negative label in judgments is in the pool."""
    rng = random.Random(62)
    documents = [f"d{i}" for i in range(60)]
    qrels, run = {}, {}
    for query in map(str, range(100)):
        qrels[query] = {d: rng.choice((-3, -2, -1, -1, 0, 1, 2)) for d in rng.sample(documents, 40)}
        run[query] = {d: float(rng.randrange(20)) for d in rng.sample(documents, 50)}
    pytrec_eval = pytest.importorskip("pytrec_eval")
    for name, judged_only in (("infAP", False), ("infAP(judged_only=True)", True)):
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"infAP"}, judged_docs_only_flag=judged_only)
        theirs = evaluator.evaluate(run)
        ours = tieaware.evaluate(qrels, run, [name], ties="trec_eval")
        for query, values in theirs.items():
            assert ours["run", name, query] == pytest.approx(values["infAP"], rel=1e-12)


def test_arrays_and_judgments_agree():
    """In arrays, an unjudged document has the label -1, or -2 if it is in the pool."""
    qrels = {"q": {"a": 1, "b": 0, "c": 2, "d": -1}}
    run = {"q": {"a": 3.0, "b": 3.0, "c": 1.0, "d": 2.0, "e": 2.0, "f": 2.0}}
    in_arrays = {**qrels["q"], "d": -2}
    labels = [in_arrays.get(document, -1) for document in run["q"]]
    value = Evaluator(labels, ["infAP"])(list(run["q"].values()))[0, 0]
    assert value == tieaware.evaluate(qrels, run, "infAP").values.item()
    assert value != Evaluator(np.maximum(labels, -1), ["infAP"])(list(run["q"].values()))[0, 0]
