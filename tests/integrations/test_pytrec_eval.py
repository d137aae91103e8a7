"""tieaware in the place of the installed pytrec_eval."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import pytrec_eval
from collections_of_dicts import collection

import tieaware
from tieaware import InputError
from tieaware.integrations import pytrec_eval as ours

REQUESTS = [
    ["all_trec"],
    ["official", "P.3", "iprec_at_recall.0.25,0.33", "Rprec_mult.0.35,1.5", "success_2", "utility.1,2,3,4"],
    ["map_cut.1,3", "ndcg_cut", "recall.10,100", "map", "P_5", "P.10", "set_F.0.5", "11pt_avg.0.2,0.5", "relstring.9"],
    [],
]


def test_the_names_are_the_originals():
    assert ours.supported_measures == pytrec_eval.supported_measures
    assert ours.supported_nicknames == pytrec_eval.supported_nicknames


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("measures", REQUESTS, ids=["all_trec", "official", "families", "none"])
def test_every_value_is_the_originals(measures, seed):
    """Of each query, under the same keys in the same order: with every level, and of judged documents alone."""
    qrels, run = collection(seed, tied=seed % 2, labels=((0, 1), (-1, 0, 1, 3))[seed % 3 > 0])
    options = 1 + (seed % 4 == 3), seed % 5 == 2
    expected = pytrec_eval.RelevanceEvaluator(qrels, measures, *options).evaluate(run)
    found = ours.RelevanceEvaluator(qrels, measures, *options).evaluate(run)
    assert [(query, list(of_query)) for query, of_query in found.items()] == [
        (query, list(of_query)) for query, of_query in expected.items()
    ]
    for query in expected:
        assert found[query] == pytest.approx(expected[query], rel=1e-13, abs=1e-15)
    if not seed % 2:
        average = ours.RelevanceEvaluator(qrels, measures, *options, ties="average").evaluate(run)
        assert all(average[query] == pytest.approx(expected[query], rel=1e-11, abs=1e-15) for query in expected)


def test_the_average_is_that_of_tieaware():
    qrels, run = collection(1, tied=True)
    found = ours.RelevanceEvaluator(qrels, ["map", "ndcg_cut.10", "gm_map"], ties="average").evaluate(run)
    result = tieaware.evaluate(qrels, run, ["AP", "nDCG@10"], queries="both")
    for query in result.queries:
        ap, ndcg = result["run", "AP", query], result["run", "nDCG@10", query]
        assert found[query] == {"map": ap, "gm_map": math.log(max(ap, 1e-5)), "ndcg_cut_10": ndcg}


def test_scores_are_single_precision_where_ties_are_trec_evals():
    """As in the original; under the other rules, scores that differ do not tie."""
    qrels, run = {"1": {"a": 1, "b": 0}}, {"1": {"a": 1.0 + 2.0**-25, "b": 1.0}}
    (expected,) = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run).values()
    assert expected == ours.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)["1"] == {"recip_rank": 0.5}
    assert ours.RelevanceEvaluator(qrels, {"recip_rank"}, ties="average").evaluate(run)["1"] == {"recip_rank": 1.0}
    huge = {"1": {"a": 1e39, "b": math.inf}}
    assert ours.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(huge)["1"] == {"recip_rank": 0.5}


def test_nothing_to_evaluate():
    """Without judgments, or a query in common, there are no values; queries without judgments are left out."""
    qrels = {"1": {"a": 1}, "2": {}, "3": {"a": 0}}
    for judged, run in ((qrels, {}), ({}, {"1": {"a": 1.0}}), (qrels, {"2": {"a": 1.0}}), (qrels, {"9": {"a": 1.0}})):
        expected = pytrec_eval.RelevanceEvaluator(judged, {"map"}).evaluate(run)
        assert ours.RelevanceEvaluator(judged, {"map"}).evaluate(run) == expected == {}
    run = {"3": {"a": 1.0, "b": 2.0}}
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"all_trec"}).evaluate(run)
    assert ours.RelevanceEvaluator(qrels, {"all_trec"}).evaluate(run) == expected
    only_unjudged = pytrec_eval.RelevanceEvaluator(qrels, {"set"}, 1, True).evaluate({"1": {"z": 1.0}})
    assert ours.RelevanceEvaluator(qrels, {"set"}, 1, True).evaluate({"1": {"z": 1.0}}) == only_unjudged
    # Here the original divides by zero,
    options = {"1": {"a": 1}}, {"iprec_at_recall", "11pt_avg", "P_5"}, 1, True
    (expected,) = pytrec_eval.RelevanceEvaluator(*options).evaluate({"1": {"z": 1.0}}).values()
    (found,) = ours.RelevanceEvaluator(*options).evaluate({"1": {"z": 1.0}}).values()
    assert found == {name: 0.0 if math.isnan(value) else value for name, value in expected.items()}
    assert math.isnan(expected["11pt_avg"])
    # and here it crashes.
    assert ours.RelevanceEvaluator(qrels, {"map", "num_ret"}).evaluate({"1": {}}) == {"1": {"num_ret": 0.0, "map": 0.0}}


@pytest.mark.filterwarnings("ignore")
def test_the_evaluator_of_mteb_runs_on_it(monkeypatch):
    """One import changed in mteb, where it is installed: its values stay, or become those of another rule."""
    metrics = pytest.importorskip("mteb._evaluators.retrieval_metrics")
    qrels, run = collection(3, tied=True, labels=(0, 0, 1, 2))
    del run["q7"]
    expected = metrics.calculate_retrieval_scores(run, qrels, [1, 3, 10])
    monkeypatch.setattr(metrics, "pytrec_eval", ours)
    found = metrics.calculate_retrieval_scores(run, qrels, [1, 3, 10])
    for name in ("ndcg", "map", "recall", "precision", "hit_rate"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-12)
    aware = partial(ours.RelevanceEvaluator, ties="average")
    monkeypatch.setattr(metrics, "pytrec_eval", SimpleNamespace(RelevanceEvaluator=aware))
    average = metrics.calculate_retrieval_scores(run, qrels, [1, 3, 10])
    result = tieaware.evaluate(qrels, run, ["nDCG@3", "R@10"], queries="both").mean()[0]
    assert [average.ndcg["NDCG@3"], average.recall["Recall@10"]] == pytest.approx(result, abs=1e-5)
    assert average.ndcg["NDCG@3"] != pytest.approx(expected.ndcg["NDCG@3"], abs=1e-3)


def test_files_and_means_are_read_and_taken_as_there():
    judgments, run = ["q1 0 d1 1", "q1 0 d2 0", "q2 0 d1 2"], ["q1 Q0 d1 1 2.5 t", "q2 Q0 d1 1 1e3 t"]
    assert ours.parse_qrel(judgments) == pytrec_eval.parse_qrel(judgments)
    assert ours.parse_run(run) == pytrec_eval.parse_run(run)
    for name in ("map", "num_ret", "gm_map", "num_q"):
        assert ours.compute_aggregated_measure(name, [0.5, 0.25]) == pytrec_eval.compute_aggregated_measure(
            name, [0.5, 0.25]
        )


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: ours.RelevanceEvaluator({}, {"bogus"}), "measures: expected .*, found the unsupported measure bogus"),
        (lambda: ours.RelevanceEvaluator({}, {"prefs"}), "measures: expected .* unsupported measure prefs_"),
        (lambda: ours.RelevanceEvaluator({}, "map"), "measures: expected a list or set of names .*, found 'map'"),
        (
            lambda: ours.RelevanceEvaluator({}, {"ndcg_cut.0"}),
            "parameters of .*'ndcg_cut': must be ranks of at least 1",
        ),
        (
            lambda: ours.RelevanceEvaluator({}, {"ndcg.5"}),
            "parameters of measure 'ndcg': must have the form name=number",
        ),
        (lambda: ours.RelevanceEvaluator({}, {"map"}, 0), "relevance_level: expected a whole number from 1"),
        (lambda: ours.RelevanceEvaluator({}, {"map"}, ties="none"), "ties: expected one of average"),
        (lambda: ours.RelevanceEvaluator({"q": {"d": 1.5}}, {"map"}), r"qrels\['q'\]\['d'\]: expected "),
        (
            lambda: ours.RelevanceEvaluator({"q": {"d": 1}}, {"map"}).evaluate({"q": {"d": np.nan}}),
            r"run\['q'\]\['d'\]: expected a number, found NaN",
        ),
        (lambda: ours.parse_run(["q Q0 d 1 t"]), "line 1: expected the fields query Q0 .*, found 5"),
        (lambda: ours.parse_run(["q Q0 d 1 x t"]), "line 1: expected a number, found 'x'"),
        (lambda: ours.parse_qrel(["q 0 d 1", "q 0 d 1"]), "line 2: expected each document .* once, found 'd' twice"),
    ],
)
def test_errors_are_one_line(call, problem):
    with pytest.raises(InputError, match=f"^{problem}") as raised:
        call()
    assert "\n" not in str(raised.value)
