"""The contexts that were retrieved for a question: values under ties, labels, graders, and errors."""

from itertools import permutations

import numpy as np
import pytest

import tieaware
from tieaware import InputError
from tieaware.integrations.retrieved_contexts import ContextValue, evaluate, graded


@pytest.mark.parametrize("measure", ["RR", "AP", "nDCG@3", "P@2", "R@3"])
def test_value_and_spread_are_those_over_all_orders(measure):
    """Three contexts tie; a relevant one was not retrieved, and labels may be real numbers."""
    relevant, scores = {"a": 1, "c": 0.5 if measure.startswith("nDCG") else 1, "x": 1}, [3.0, 2.0, 2.0, 2.0]
    orders = [evaluate(relevant, ["b", *order], None, measure).value for order in permutations("acd")]
    found = evaluate(relevant, ["b", *"acd"], scores, measure)
    np.testing.assert_allclose(found[:4], (np.mean(orders), np.std(orders), min(orders), max(orders)), rtol=1e-12)
    assert found.tied == 3


def test_values_are_those_of_evaluate():
    qrels, run = {"q": {"a": 2, "b": 0, "x": 1}}, {"q": {"b": 0.5, "a": 0.5, "c": 0.25}}
    for rule in ("average", "optimistic", "pessimistic", "run_order"):
        found = evaluate(qrels["q"], list(run["q"]), list(run["q"].values()), "nDCG", ties=rule)
        assert found.value == float(tieaware.evaluate(qrels, run, "nDCG", ties=rule))


def test_the_best_passage_of_a_document_counts():
    assert evaluate({"a"}, ["b", "a", "a"], [3.0, 1.0, 5.0], "RR").value == 1.0
    assert evaluate({"a"}, ["b", "a", "b", "a"], None, "P@2").value == 0.5


def test_contexts_without_a_name_are_different_and_not_relevant():
    assert evaluate({"a"}, [None, None, "a"], None, "RR").value == 1 / 3


def test_nothing_retrieved_or_nothing_relevant():
    nothing = ContextValue(0.0, 0.0, 0.0, 0.0, 0)
    assert evaluate({"a"}, [], None, "RR") == evaluate([], ["a"], [1.0], "RR") == evaluate({}, [], [], "RR") == nothing


def test_labels_of_a_grader():
    asked = []

    def grader(question, texts):
        asked.append((question, list(texts)))
        return [len(text) for text in texts]

    labels = graded(grader, "why?", ["aa", "b", "aa"])
    assert asked == [("why?", ["aa", "b"])]
    worst = (1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3))
    assert evaluate(labels, ["b", "aa"], [1, 1], "nDCG@10").min == pytest.approx(worst)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evaluate({"a"}, ["a"], [1.0, 2.0], "RR"), "scores: must be one for each of 1 contexts; found 2"),
        (lambda: evaluate({"a"}, ["a"], [np.nan], "RR"), "scores[0]: expected a number, found NaN"),
        (lambda: evaluate("ab", ["a"]), "relevant: expected a collection of identifiers or texts, found 'ab'"),
        (lambda: evaluate({"a"}, "ab"), "retrieved: expected a collection of identifiers or texts, found 'ab'"),
        (lambda: evaluate({"a"}, [["a"]]), "retrieved: expected a collection of identifiers or texts, found [['a']]"),
        (lambda: evaluate(7, ["a"]), "relevant: expected a collection of identifiers or texts, found 7"),
        (lambda: evaluate({"a"}, ["a"], None, "RR AP"), "measure: must be one measure; found 'RR AP'"),
        (lambda: graded(lambda question, texts: [1], "q", ["a", "b"]),
         "grader: must return a label for each of 2 contexts; found 1"),
        (lambda: graded(lambda question, texts: ["good"], "q", ["a"]), "grader[0]: expected a number, found 'good'"),
        (lambda: graded(lambda question, texts: [np.nan], "q", ["a"]), "grader[0]: expected a number, found NaN"),
    ],
)  # fmt: skip
def test_unusable_contexts_are_refused(call, message):
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value) == message
