"""The repr of everything that a notebook shows: short, without the address of the object, and in the right number."""

import numpy as np
import pytest

import tieaware
from tieaware import retrieval, samples
from tieaware.integrations import link_prediction, pytrec_eval
from tieaware.integrations.boosting import BoostingMetric
from tieaware.statistics import count_ties

QRELS = {"q1": {"d1": 1}}
RUN = {"q1": {"d1": 2.0, "d2": 2.0}}
COLLECTION = samples.load()


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (tieaware.Qrels.from_dict(QRELS), "Qrels('qrels', 1 query, 1 judgment)"),
        (tieaware.Run.from_dict(RUN), "Run('run', 1 query, 2 documents)"),
        (
            tieaware.WorstCase(0.25, np.array([1, 0, 0], np.int8)),
            "WorstCase(value=0.25, labels: 3 ranks, 1 relevant)",
        ),
        (
            count_ties([[2.0, 2.0, 1.0], [3.0, 2.0, 1.0]]),
            "Ties(1 of 2 lists and 2 of 6 documents tied, 1 tie group, the largest of 2)",
        ),
        (count_ties([1.0]), "Ties(0 of 1 list and 0 of 1 document tied, 0 tie groups)"),
        (tieaware.AP.definition, "Definition('AP')"),
        (BoostingMetric(["nDCG@10", "RR"]), "BoostingMetric(nDCG@10, RR, ties: average)"),
        (
            BoostingMetric("RR", ties="optimistic", precision="bf16"),
            "BoostingMetric(RR, ties: optimistic, precision: bf16)",
        ),
        (
            link_prediction.Evaluator("ogbl-citation2"),
            "Evaluator('ogbl-citation2', metric: mrr, ties: average)",
        ),
        (
            pytrec_eval.RelevanceEvaluator(QRELS, ["map", "P_1"]),
            "RelevanceEvaluator(1 query, measures: map, P_1, ties: trec_eval)",
        ),
        (
            COLLECTION,
            "Collection(50 queries, 6 runs: continuous, two-decimals, bfloat16, int8-dot, grader-0-10, constant)",
        ),
        (samples.Texts({"d": {}}, {"q": "a", "r": "b"}, {}, {}), "Texts(1 document, 2 topics)"),
        (samples.discrete_lists(1, seed=1, mean_length=10), "DiscreteLists(1 list, "),
        (retrieval.Index.build([("d1", "tie")], analyzer=str.split), "Index(1 document, 1 term, 1 posting)"),
    ],
    ids=lambda each: "" if isinstance(each, str) else type(each).__name__,
)
def test_the_repr_is_one_short_line(shown, expected):
    assert repr(shown).startswith(expected)
    assert expected.endswith(", ") or repr(shown) == expected
    assert len(repr(shown)) <= 120


def test_a_long_list_of_measures_or_runs_is_cut():
    every = pytrec_eval.RelevanceEvaluator(QRELS, ["P", "recall", "map"])
    assert repr(every).endswith(", …, ties: trec_eval)")
    many = samples.Collection({}, QRELS, {f"run{i}": RUN for i in range(7)})
    assert repr(many) == "Collection(1 query, 7 runs: run0, run1, run2, run3, run4, run5, …)"


@pytest.mark.parametrize(
    "shown",
    [
        tieaware.evaluate(QRELS, {str(i): RUN for i in range(99)}, [f"P@{k}" for k in range(1, 99)], spread=True),
        tieaware.evaluate(COLLECTION.qrels, COLLECTION.runs, ["AP", "RR"], spread=True).means(),
        tieaware.Evaluator(np.zeros((50, 3), int), [f"P@{k}" for k in range(1, 99)]),
        tieaware.Evaluator(np.zeros((50, 3), int), ["AP", "P@5"]).spread(np.zeros((50, 3))),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_repr_fits_on_a_screen(shown):
    lines = repr(shown).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 200
    assert " object at 0x" not in repr(shown)
