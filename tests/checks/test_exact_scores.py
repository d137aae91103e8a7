"""Scores that float64 cannot represent exactly are refused at every entry point: rounding could create ties."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from support.errors import message_of

import tieaware
from tieaware import Evaluator, Run
from tieaware.checks.arguments import shown
from tieaware.checks.arrays import as_scores
from tieaware.statistics import count_ties

BEYOND = 2**53 + 1
PRECISE = np.longdouble(1) + np.finfo(np.longdouble).eps
EXACT = "a number that float64 represents exactly"


ENTRY_POINTS = {
    "call": lambda scores: Evaluator([1, 0], ["RR"])(scores),
    "mean": lambda scores: Evaluator([1, 0], ["RR"]).mean(scores),
    "spread": lambda scores: Evaluator([1, 0], ["RR"]).spread(scores),
    "many": lambda scores: Evaluator([1, 0], ["RR"]).many([scores]),
    "columns": lambda scores: Evaluator([1, 0], ["RR"]).columns([[score] for score in scores]),
    "columns of an array": lambda scores: Evaluator([1, 0], ["RR"]).columns(np.array([scores], object).T),
    "Run": lambda scores: Run(*columns_of("q"), columns_of("ab")[0], np.array(scores, object)),
    "Run.from_columns": lambda scores: Run.from_columns(["q", "q"], ["a", "b"], scores),
    "Run.from_dict": lambda scores: Run.from_dict({"q": dict(zip("ab", scores, strict=True))}),
    # A kernel reads plain dicts, and must round in the same way.
    "evaluate": lambda scores: tieaware.evaluate({"q": {"a": 1}}, {"q": dict(zip("ab", scores, strict=True))}, "RR"),
}


def columns_of(names):
    return tieaware.inputs.Identifiers.from_sequence(list(names)), np.array([0, 2])


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
@pytest.mark.parametrize(
    "scores",
    [
        np.array([2**53, 2**53 + 1]),
        np.array([2**63, 2**53 + 1], np.uint64),
        [2**53, 2**53 + 1],
        [0.5, 2**53 + 1],
        [2**70, 2**53 + 1],
        [np.int64(2**53), np.int64(2**53 + 1)],
        [Fraction(1, 3), 2**53 + 1],
    ],
    ids=str,
)
def test_every_entry_point_refuses_whole_scores_that_would_tie_in_float64(entry_point, scores):
    """If float64 rounded them, 2^53 and 2^53 + 1 would tie, and RR would be 0.75 instead of 0.5."""
    expected = f"expected {EXACT}, found 9007199254740993"
    assert expected in message_of(ENTRY_POINTS[entry_point], scores)


@pytest.mark.parametrize("entry_point", ENTRY_POINTS)
@pytest.mark.parametrize("scores", [[2**53, 2**53 + 2], np.array([2**62, 2**63], np.uint64), [0.5, 2**70]], ids=str)
def test_every_entry_point_accepts_large_scores_that_float64_represents(entry_point, scores):
    ENTRY_POINTS[entry_point](scores)


@pytest.mark.parametrize(
    "score",
    [
        BEYOND, -BEYOND, 2**70 + 1, np.int64(BEYOND), np.int64(2**63 - 1), np.uint64(2**64 - 1), Decimal(BEYOND),
        Fraction(BEYOND), *([PRECISE] if float(PRECISE) != PRECISE else []),
    ],
    ids=repr,
)  # fmt: skip
def test_the_error_names_the_score_and_its_place(score):
    """The score may be in a list of numbers, in an array of integers or objects, or in a dict."""
    shown_score = shown(score.item() if isinstance(score, np.integer) else score)
    labels, qrels, relevance = [0, 1], {"q": {"d": 1}}, scipy.sparse.csr_array([[0, 1]])
    forms = [[0, score], [0.5, score], (1, score), np.array([0, score], object)]
    if isinstance(score, np.generic):
        forms.append(np.array([0, score], type(score)))
    evaluator = Evaluator(labels, ["RR"])
    flat = [
        (lambda scores: as_scores(scores, "scores"), "scores[1]"), (evaluator, "scores[1]"),
        (evaluator.mean, "scores[1]"), (evaluator.spread, "scores[1]"),
        (Evaluator(labels, ["RR"], ties="run_order"), "scores[1]"), (Evaluator(labels, ["RR"], threads=2), "scores[1]"),
        (lambda scores: Run.from_columns(["q", "q"], ["c", "d"], scores), "score[1]"),
        (lambda scores: count_ties(scores, [0, 2]), "scores[1]"),
        (lambda scores: evaluator.many([scores]), "candidates[0, 1]"),
        (lambda scores: evaluator.columns([[each] for each in scores]), "features[1, 0]"),
        (lambda scores: Evaluator.from_sparse(relevance, ["RR"])([scores]), "scores[0, 1]"),
    ]  # fmt: skip
    for entry_point, where in flat:
        for form in forms:
            assert message_of(entry_point, form) == f"{where}: expected {EXACT}, found {shown_score}"
    for run in ({"q": {"c": 0, "d": score}}, {"q": {"c": 0.5, "d": score}}, {"q": {7: 1, "d": score}}):
        for entry_point in (Run.from_dict, lambda run: tieaware.evaluate(qrels, run, ["RR"])):
            assert message_of(entry_point, run) == f"run['q']['d']: expected {EXACT}, found {shown_score}"


def test_large_scores_keep_their_values():
    large = [2**53, -(2**53), 2**53 + 2, 2**62, 3 * 2**60, -(2**63), 0, 1]
    objects = np.array(large, object)
    for scores in (large, np.array(large), objects, list(map(Decimal, large)), list(map(Fraction, large))):
        assert as_scores(scores, "scores").tolist() == large
        assert Run.from_columns(["q"] * 8, list("abcdefgh"), scores).scores.tolist() == large
        run = {"q": dict(zip("abcdefgh", scores, strict=True))}
        assert Run.from_dict(run).scores.tolist() == large
        assert tieaware.evaluate({"q": {"d": 1}}, run, ["RR"]).values.item() == 1.0
    unsigned = np.array([2**63, 2**64 - 2**11, 5], np.uint64)
    assert as_scores(unsigned, "scores").tolist() == unsigned.tolist()
    assert as_scores(np.array([1, np.inf, -np.inf], np.longdouble), "scores").tolist() == [1, np.inf, -np.inf]


def test_fractions_and_decimals_are_rounded_as_by_float():
    """Unlike whole numbers, they are rounded without an error, because few fractions are exact floats anyway."""
    scores = [Decimal("0.1"), Fraction(1, 3), Decimal("1e-300"), 2, Decimal(0), Fraction(0), Decimal("inf")]
    floats = [0.1, 1 / 3, 1e-300, 2.0, 0.0, 0.0, np.inf]
    assert as_scores(scores, "scores").tolist() == floats
    assert Run.from_dict({"q": dict(zip("abcdefg", scores, strict=True))}).scores.tolist() == floats
    assert Run.from_columns(["q"] * 7, list("abcdefg"), scores).scores.tolist() == floats
    assert Evaluator([0, 1, 0, 0, 0, 0, 0], ["RR"])(scores) == 1 / 3


@pytest.mark.parametrize("score", [Decimal("1e400"), Decimal("-1e400"), Decimal("1e-400"), Fraction(1, 10**400)])
def test_fractions_and_decimals_do_not_become_infinite_or_0(score):
    """Two of them would tie."""
    assert message_of(as_scores, [1, score], "scores").startswith(f"scores[1]: expected {EXACT}, found ")
    assert message_of(Run.from_dict, {"q": {"a": score}}).startswith(f"run['q']['a']: expected {EXACT}, found ")
