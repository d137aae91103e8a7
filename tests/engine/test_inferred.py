"""infAP: average precision inferred from a partly judged pool, in which the label -2 means pooled but unjudged."""

from __future__ import annotations

import random

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
    values = evaluator(some, NAMES)(scores_of(some))
    for i, query in enumerate(some):
        orders = oracle.enumerate_orders(query.scores, query.labels)
        for j, name in enumerate(NAMES):
            exact = oracle.over_orders(name, orders, query.judged)
            assert values[i, j] == pytest.approx(float(exact.mean), abs=1e-13), (query, name)
            expected = reference.evaluate(name, query.scores, query.labels, query.judged)
            assert expected == pytest.approx(float(exact.mean), abs=1e-13), (query, name)


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


@pytest.mark.parametrize(("t", "n", "pooled"), [(0, 5000, 0), (0, 5000, 2000), (7, 100_000, 99_999), (10**6, 300, 100)])
def test_one_relevant_document_in_a_large_group(t, n, pooled):
    """With no judged document before a relevant one, half of the pooled documents before it count as relevant."""
    labels = np.full(t + n, -1)
    labels[t] = 1
    labels[t + 1 : t + 1 + pooled] = -2
    scores = np.concatenate((np.arange(t + 1, 1, -1.0), np.ones(n)))
    ranks = np.arange(t + 1, t + n + 1)
    expected = ((1 + 0.5 * pooled / (n - 1) * (ranks - t - 1)) / ranks).mean()
    assert Evaluator(labels, ["infAP"])(scores)[0, 0] == pytest.approx(expected, rel=1e-10)


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
