"""The reference agrees with calculations by hand, its functions agree with each other, and errors name the argument."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from support import oracle

from tieaware import InputError, reference

TOLERANCE = 1e-12


def test_oracle_by_hand():
    """The oracle of the tests, which enumerates all orders, agrees with values calculated by hand."""
    tie = oracle.exact("RR", [1.0, 1.0], [1, 0], [1, 0])
    assert tie == (Fraction(3, 4), Fraction(1, 16), Fraction(1, 2), Fraction(1))
    three = oracle.exact("AP", [1.0, 1.0, 1.0], [1, 1, 0], [1, 1, 0, 1])
    values = [Fraction(2, 3), (Fraction(1) + Fraction(2, 3)) / 3, (Fraction(1, 2) + Fraction(2, 3)) / 3]
    mean = sum(values) / 3
    assert three == (mean, sum((v - mean) ** 2 for v in values) / 3, min(values), max(values))
    assert oracle.exact("P@4", [2.0, 1.0, 1.0], [0, 1, -1], [0, 1, 1]).mean == Fraction(1, 4)
    assert float(oracle.exact("nDCG", [1.0, 0.5], [0, 2], [0, 2]).mean) == pytest.approx(1 / math.log2(3))
    assert oracle.exact("F1", [], [], [1]) == (0, 0, 0, 0)


@pytest.mark.parametrize("name", reference.MEASURES)
def test_groups_of_one_are_a_ranking(name):
    """If every group has one document, the mean over all orders is the value of the ranking, and the variance is 0."""
    of_ranking, of_groups, variance = reference.MEASURES[name]
    ranking = [0, 2, None, 1, -1, 0, 3]
    judged = [*ranking, 0, 1]
    value = of_ranking(ranking, judged)
    assert value > 0.0
    alone = [[label] for label in ranking]
    assert of_groups(alone, judged) == pytest.approx(value, rel=TOLERANCE)
    assert name == "infAP" or variance(alone, judged) == pytest.approx(0.0, abs=1e-15)


def test_function_names_follow_from_the_measure():
    """Functions with formulas are called x, mean_of_x and variance_of_x; only that of ERR has the word "expected"."""
    for name, functions in reference.MEASURES.items():
        of_ranking = functions[0].__name__
        if "<locals>" in functions[2].__qualname__:
            continue
        assert [f.__name__ for f in functions] == [of_ranking, f"mean_of_{of_ranking}", f"variance_of_{of_ranking}"]
        assert ("expected" in of_ranking) == (name == "ERR")
    assert reference.MEASURES["RR"][0].__name__ == "reciprocal_rank"


def test_large_groups():
    """The reference evaluates groups of thousands of documents, and None marks an unjudged document."""
    labels = [1, *[None] * 4999]
    scores = [0.5] * 5000
    expected = math.fsum(1 / j for j in range(1, 5001)) / 5000
    assert reference.evaluate("RR", scores, labels) == pytest.approx(expected, rel=1e-12)
    assert reference.evaluate("AP", scores, labels) == pytest.approx(expected, rel=1e-12)


def test_tie_rules_order_documents():
    """run_order keeps tied documents in input order; trec_eval sorts them by the bytes of their ids, descending."""
    scores, labels = [0.0, -0.0, 0.0, math.inf], [0, 1, 2, 3]
    assert reference.rank(scores, labels, "run_order") == [3, 0, 1, 2]
    assert reference.rank(scores, labels, "trec_eval", ["a", "\xe9", "z", ""]) == [3, 1, 2, 0]
    assert reference.rank(scores, labels, "trec_eval", [b"d10", b"d9", b"D9", b""]) == [3, 1, 0, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("RR", [1.0], [1, 0]), "labels: must be as many as the scores, 1; there are 2"),
        (("RR", [1.0, math.nan], [1, 0]), r"scores\[1\]: expected a number, found NaN"),
        (("RR", [1.0], [1], None, "random"), "ties: expected one of average, run_order, .*, found 'random'"),
        (("RR", [1.0], [1], None, "trec_eval"), "docids: must be given for the tie rule 'trec_eval'"),
        (("RR", [1.0], [1], None, "trec_eval", ["a", "b"]), "docids: must be as many as the scores, 1; there are 2"),
        (("RRR", [1.0], [1]), "RRR"),
        (("NumRet", [1.0], [1], None, "random"), "ties: .*'random'"),
    ],
)
def test_errors(arguments, message):
    """The error names the invalid argument."""
    with pytest.raises(InputError, match=message):
        reference.evaluate(*arguments)
