"""The integration of pytrec_eval, compared with the installed pytrec_eval."""

import math
import re
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import pytrec_eval
from collections_of_dicts import collection
from support.errors import message_of

import tieaware
from tieaware.integrations import pytrec_eval as ours

REQUESTS = [
    ["all_trec"],
    ["official", "P.3", "iprec_at_recall.0.25,0.33", "Rprec_mult.0.35,1.5", "success_2", "utility.1,2,3,4"],
    ["map_cut.1,3", "ndcg_cut", "recall.10,100", "map", "P_5", "P.10", "set_F.0.5", "11pt_avg.0.2,0.5", "relstring.9"],
    [],
]


def test_names_and_nicknames_equal_those_of_the_original():
    assert ours.supported_measures == pytrec_eval.supported_measures
    assert ours.supported_nicknames == pytrec_eval.supported_nicknames


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("measures", REQUESTS, ids=["all_trec", "official", "families", "none"])
def test_values_equal_those_of_the_original(measures, seed):
    """Values and the order of the keys are equal, also with a relevance level or without unjudged documents."""
    qrels, run = collection(seed, tied=seed % 2, labels=((0, 1), (-1, 0, 1, 3))[seed % 3 > 0])
    options = 1 + (seed % 4 == 3), seed % 5 == 2
    expected = pytrec_eval.RelevanceEvaluator(qrels, measures, *options).evaluate(run)
    found = ours.RelevanceEvaluator(qrels, measures, *options).evaluate(run)
    assert [(query, list(values)) for query, values in found.items()] == [
        (query, list(values)) for query, values in expected.items()
    ]
    for query in expected:
        assert found[query] == pytest.approx(expected[query], rel=1e-13, abs=1e-15)
    if not seed % 2:
        average = ours.RelevanceEvaluator(qrels, measures, *options, ties="average").evaluate(run)
        assert all(average[query] == pytest.approx(expected[query], rel=1e-11, abs=1e-15) for query in expected)


def test_averages_equal_those_of_evaluate():
    qrels, run = collection(1, tied=True)
    found = ours.RelevanceEvaluator(qrels, ["map", "ndcg_cut.10", "gm_map"], ties="average").evaluate(run)
    result = tieaware.evaluate(qrels, run, ["AP", "nDCG@10"], queries="both")
    for query in result.queries:
        ap, ndcg = result["run", "AP", query], result["run", "nDCG@10", query]
        assert found[query] == {"map": ap, "gm_map": math.log(max(ap, 1e-5)), "ndcg_cut_10": ndcg}


def test_the_rule_trec_eval_rounds_scores_to_single_precision():
    """Scores that are equal in single precision tie, as in pytrec_eval. Under other tie rules they do not."""
    qrels, run = {"1": {"a": 1, "b": 0}}, {"1": {"a": 1.0 + 2.0**-25, "b": 1.0}}
    (expected,) = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run).values()
    assert expected == ours.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)["1"] == {"recip_rank": 0.5}
    assert ours.RelevanceEvaluator(qrels, {"recip_rank"}, ties="average").evaluate(run)["1"] == {"recip_rank": 1.0}
    huge = {"1": {"a": 1e39, "b": math.inf}}
    assert ours.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(huge)["1"] == {"recip_rank": 0.5}


def test_without_judged_queries_there_are_no_values():
    qrels = {"1": {"a": 1}, "2": {}, "3": {"a": 0}}
    for judged, run in ((qrels, {}), ({}, {"1": {"a": 1.0}}), (qrels, {"2": {"a": 1.0}}), (qrels, {"9": {"a": 1.0}})):
        expected = pytrec_eval.RelevanceEvaluator(judged, {"map"}).evaluate(run)
        assert ours.RelevanceEvaluator(judged, {"map"}).evaluate(run) == expected == {}
    run = {"3": {"a": 1.0, "b": 2.0}}
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"all_trec"}).evaluate(run)
    assert ours.RelevanceEvaluator(qrels, {"all_trec"}).evaluate(run) == expected
    only_unjudged = pytrec_eval.RelevanceEvaluator(qrels, {"set"}, 1, True).evaluate({"1": {"z": 1.0}})
    assert ours.RelevanceEvaluator(qrels, {"set"}, 1, True).evaluate({"1": {"z": 1.0}}) == only_unjudged
    # pytrec_eval itself divides by zero in this case.
    options = {"1": {"a": 1}}, {"iprec_at_recall", "11pt_avg", "P_5"}, 1, True
    (expected,) = pytrec_eval.RelevanceEvaluator(*options).evaluate({"1": {"z": 1.0}}).values()
    (found,) = ours.RelevanceEvaluator(*options).evaluate({"1": {"z": 1.0}}).values()
    assert found == {name: 0.0 if math.isnan(value) else value for name, value in expected.items()}
    assert math.isnan(expected["11pt_avg"])
    # pytrec_eval itself crashes in this case.
    assert ours.RelevanceEvaluator(qrels, {"map", "num_ret"}).evaluate({"1": {}}) == {"1": {"num_ret": 0.0, "map": 0.0}}


@pytest.mark.filterwarnings("ignore")
def test_mteb_runs_on_it(monkeypatch):
    """If mteb uses tieaware's replacement of pytrec_eval, its values stay the same, or are averages if so requested."""
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


def test_parsing_and_aggregation_equal_those_of_the_original():
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
        (lambda: ours.RelevanceEvaluator({}, {"bogus"}), "measures: unknown measure 'bogus'$"),
        (lambda: ours.RelevanceEvaluator({}, {"prefs"}), "measures: unknown measure 'prefs_"),
        (lambda: ours.RelevanceEvaluator({}, "map"), "measures: expected a list or set of names .*, found 'map'"),
        (
            lambda: ours.RelevanceEvaluator({}, {"ndcg_cut.0"}),
            "parameters of .*'ndcg_cut': must be ranks of at least 1",
        ),
        (
            lambda: ours.RelevanceEvaluator({}, {"ndcg.5"}),
            "parameters of measure 'ndcg': must have the form name=number",
        ),
        (lambda: ours.RelevanceEvaluator({}, {"map"}, 0), "relevance_level: expected a number above 0, found 0$"),
        (lambda: ours.RelevanceEvaluator({}, {"map"}, -1), "relevance_level: expected a number from 0 to"),
        (lambda: ours.RelevanceEvaluator({}, {"map"}, ties="none"), "ties: expected one of average"),
        (lambda: ours.RelevanceEvaluator({"q": {"d": "1"}}, {"map"}), r"qrels\['q'\]\['d'\]: expected "),
        (
            lambda: ours.RelevanceEvaluator({"q": {"d": 1}}, {"map"}).evaluate({"q": {"d": np.nan}}),
            r"run\['q'\]\['d'\]: expected a number, found NaN",
        ),
        (lambda: ours.parse_run(["q Q0 d 1 t"]), "line 1: must have the fields query Q0 .*; it has 5 fields"),
        (lambda: ours.parse_run(["q Q0 d 1 x t"]), "line 1: expected a number, found 'x'"),
        (lambda: ours.parse_qrel(["q 0 d 1", "q 0 d 1"]), "line 2: document 'd' occurs twice for its query"),
    ],
)
def test_errors_are_one_line(call, problem):
    assert re.match(problem, message_of(call))
