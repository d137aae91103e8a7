"""The integration of beir, compared with the installed beir."""

import copy

import pytest
from collections_of_dicts import collection

from tieaware import InputError, evaluate
from tieaware.integrations import beir as ours
from tieaware.integrations import pytrec_eval

KS = [1, 3, 5, 10, 100]
QRELS = {"q": {"a": 1}}
METRICS = ("mrr", "MRR@k", "recall_cap", "hole", "acc", "top_k_accuracy")


@pytest.fixture
def theirs():
    return pytest.importorskip("beir.retrieval.evaluation", reason="beir is missing: pip install --no-deps beir")


def with_identical_names(seed, *, tied):
    """Return a collection in which some documents have the name of a query. All queries of the run are judged."""
    qrels, run = collection(seed, tied=tied, labels=(0, 0, 1, 2))
    del run["q7"]
    run["q0"]["q0"] = run["q1"]["q2"] = 3.0
    return qrels, run


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_values_equal_those_of_beir(theirs, seed, tied):
    """Values are equal under beir's own tie rules. Without ties they are also equal under `average`."""
    qrels, run = with_identical_names(seed, tied=tied)
    for metric in METRICS:
        expected = theirs.EvaluateRetrieval.evaluate_custom(qrels, run, KS, metric)
        assert ours.evaluate_custom(qrels, run, KS, metric, ties="run_order") == expected
        if not tied:
            assert ours.EvaluateRetrieval.evaluate_custom(qrels, run, KS, metric) == expected
    for ignored in (True, False):
        given = copy.deepcopy(run)
        found = ours.evaluate(qrels, given, KS, ignored, ties="trec_eval")
        assert given == run
        expected = theirs.EvaluateRetrieval.evaluate(qrels, given, KS, ignored)
        assert found == expected
        if not tied:
            assert ours.EvaluateRetrieval.evaluate(qrels, copy.deepcopy(run), KS, ignored) == expected


@pytest.mark.parametrize("seed", range(3))
def test_hole_is_the_function_of_beir_for_one_query(theirs, seed):
    """Scores do not tie. For several queries, beir counts a document as judged if it is judged for any of them."""
    from beir.retrieval.custom_metrics import hole

    qrels, run = with_identical_names(seed, tied=False)
    for query in qrels.keys() & run.keys():
        # In trec_eval's files, a negative label means unjudged; beir knows no such labels.
        judged = {query: {document: label for document, label in qrels[query].items() if label >= 0}}
        if judged[query]:
            retrieved = {query: run[query]}
            means = evaluate(judged, retrieved, [f"Hole@{k}" for k in KS]).mean()[0].tolist()
            assert [round(mean, 5) for mean in means] == list(hole(judged, retrieved, KS).values())


@pytest.mark.parametrize("seed", range(3))
def test_recall_cap_is_the_function_of_beir(theirs, seed):
    """Scores do not tie. beir divides by zero for queries without relevant documents, so every query has one."""
    from beir.retrieval.custom_metrics import recall_cap

    qrels, run = with_identical_names(seed, tied=False)
    qrels = {query: {**qrels[query], "relevant": 1} for query in run}
    means = evaluate(qrels, run, [f"Recall_cap@{k}" for k in KS]).mean()[0].tolist()
    assert [round(mean, 5) for mean in means] == list(recall_cap(qrels, run, KS).values())


def test_the_class_is_a_subclass_with_other_values(theirs):
    """The subclass averages over ties. All scores are equal, and the relevant document is first in the dict."""
    qrels, constant = {"q": {"a": 1}}, {"q": dict.fromkeys("abcdefghij", 0.5)}
    theirs_of, ours_of = theirs.EvaluateRetrieval(k_values=[10]), ours.EvaluateRetrieval(k_values=[10])
    assert isinstance(ours_of, theirs.EvaluateRetrieval)
    assert theirs_of.evaluate_custom(qrels, constant, [10], "mrr") == {"MRR@10": 1.0}
    assert ours_of.evaluate_custom(qrels, constant, ours_of.k_values, "mrr") == {"MRR@10": 0.2929}
    assert [theirs_of.evaluate(qrels, constant, [1])[0], ours_of.evaluate(qrels, constant, [1])[0]] == [
        {"NDCG@1": 0.0}, {"NDCG@1": 0.1},
    ]  # fmt: skip


def test_beir_runs_on_the_pytrec_eval_of_tieaware(theirs, monkeypatch):
    """If beir uses tieaware's replacement of pytrec_eval, its values stay the same to five decimals."""
    qrels, run = with_identical_names(5, tied=True)
    expected = theirs.EvaluateRetrieval.evaluate(qrels, copy.deepcopy(run), KS)
    monkeypatch.setattr(theirs, "pytrec_eval", pytrec_eval)
    assert theirs.EvaluateRetrieval.evaluate(qrels, copy.deepcopy(run), KS) == expected


def test_unanswered_queries_and_queries_without_relevant_documents_count_as_zero():
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 0}, "q4": {}}, {"q1": {"a": 1.0}, "q3": {"a": 1.0}}
    assert ours.evaluate_custom(qrels, run, [1], "r_cap") == {"R_cap@1": 0.25}
    assert ours.evaluate_custom(qrels, {}, [1], "mrr") == {"MRR@1": 0.0}
    assert ours.evaluate_custom(qrels, {"q9": {"a": 1.0, "b": 0.5}}, [2], "hole") == {"Hole@2": 0.125}


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: ours.evaluate_custom(QRELS, {}, [1], "mpr"), "metric: expected one of mrr, .*; did you mean mrr"),
        (lambda: ours.evaluate_custom(QRELS, {"x": {}}, [1], "mrr"), "results: query 'x' is not judged in qrels"),
        (lambda: ours.evaluate(QRELS, {"q": {"a": 1.0}}, [0]), r"k_values\[0\]: expected a whole number of at least 1"),
        (lambda: ours.evaluate(QRELS, {"q": {"a": 1.0}}, 5), "k_values: expected a sequence of whole numbers, found 5"),
        (lambda: ours.evaluate(QRELS, {"q": {"a": 1.0}}, []), "k_values: must not be empty"),
        (lambda: ours.evaluate(QRELS, {"x": {"a": 1.0}}, [1]), "run: no query of this run is judged in qrels"),
    ],
)
def test_errors_are_one_line(call, problem):
    with pytest.raises(InputError, match=f"^{problem}"):
        call()
