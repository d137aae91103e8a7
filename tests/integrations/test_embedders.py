"""What mteb and sentence-transformers are given: values by hand, where neither is installed."""

import numpy as np
import pytest

from tieaware.errors import InputError
from tieaware.integrations import mteb
from tieaware.integrations import sentence_transformers as embedders

RUN = {"q1": {"a": 1.0, "b": 1.0, "c": 0.5}, "empty": {}, "q2": {"c": 2.0, "a": 1.0, "d": 1.0}}
QRELS = {"q1": {"b": 1, "z": 2}, "q2": {"a": 1, "c": 0}, "empty": {"a": 1}, "silent": {"a": 1}}


def test_values_stand_in_the_order_of_the_results():
    assert mteb.mrr(QRELS, RUN, [1, 2]) == {"MRR@1": [0.5, 0, 0], "MRR@2": [0.75, 0, 0.25]}
    assert mteb.top_k_accuracy(QRELS, RUN, [2]) == {"Accuracy@2": [1, 0, 0.5]}
    assert mteb.recall_cap({**QRELS, "q2": {"c": 0}}, RUN, [1, 3]) == {
        "R_cap_at_1": [0.5, 0, None], "R_cap_at_3": [0.5, 0, None],
    }  # fmt: skip
    # d is judged for no query, but z is, and was not retrieved.
    assert mteb.hole(QRELS, RUN, [2, 4]) == {"Hole_at_2": [0, 0, 0.25], "Hole_at_4": [0, 0, 0.25]}


@pytest.mark.parametrize(("ties", "expected"), [("optimistic", 1), ("pessimistic", 0.5), ("docid_ascending", 0.5)])
def test_every_rule_serves(ties, expected):
    assert mteb.mrr({"q": {"b": 1}}, {"q": {"b": 1.0, "a": 1.0}}, [2], ties=ties) == {"MRR@2": [expected]}


def test_reranked_candidates_by_any_rule():
    evaluator = embedders.TieAwareReranking()
    evaluator.at_k = 1
    assert evaluator.compute_metrics([0, 1], np.zeros(2, np.float32))[0] == 0.5
    evaluator.ties = "run_order"
    assert evaluator.compute_metrics([0, 1], np.zeros(2, np.float32))[0] == 0
    with pytest.raises(InputError, match="found NaN for document 1"):
        evaluator.compute_metrics([0, 1], [1.0, np.nan])


def test_all_that_ties_with_the_last_wanted_is_kept():
    """Over chunks of any size: what is kept is the head of all scores, and whatever equals its end."""
    rng = np.random.default_rng(5)
    scores = rng.integers(6, size=(4, 50)).astype(np.float32)
    for depth, size in ((1, 50), (7, 3), (49, 20), (50, 11), (80, 50)):
        retrieved = embedders.Retrieved(lambda _, chunk: scores[:, chunk], depth)
        for start in range(0, 50, size):
            retrieved(None, np.arange(start, min(start + size, 50)))
        for (values, places), row in zip(retrieved.candidates, scores, strict=True):
            expected = np.flatnonzero(row >= np.sort(row)[-min(depth, 50)])
            np.testing.assert_array_equal(places, expected)
            np.testing.assert_array_equal(values, row[expected])
