"""Exposure: the mean slot weight of each document, compared with enumeration of all orders and with the reference."""

import random
from fractions import Fraction
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.errors import message_of
from support.queries import SCORES

import tieaware
from tieaware import InputError, exposure, reference
from tieaware.kernels._exposure import exposures
from tieaware.kernels._sorting import WIDE
from tieaware.measures import parse_measure

LONGEST_SORTED = 1 << 16
WEIGHTS = {
    "DCG": lambda j: 1 / np.log2(1 + j),
    "nDCG(dcg='exp-log2')@3": lambda j: 1 / np.log2(1 + j) if j <= 3 else 0.0,
    "RBP(p=0.5)": lambda j: 0.5 * 0.5 ** (j - 1),
    "RBP@2": lambda j: 0.2 * 0.8 ** (j - 1) if j <= 2 else 0.0,
    "DCG(discount='1/rank')@3": lambda j: 1 / j if j <= 3 else 0.0,
    "RR": lambda j: 1 / j,
    "INSQ(T=2.0)": lambda j: 1 / (j + 3) ** 2,
    "RR@4": lambda j: 1 / j if j <= 4 else 0.0,
    "P@3": lambda j: float(j <= 3),
    "recall_1": lambda j: float(j <= 1),
    "Hits@5": lambda j: float(j <= 5),
}


def by_enumeration(scores, weight):
    """Return the mean weight of each document over all orders of tied documents, by going through them."""
    groups = [[i for i, s in enumerate(scores) if s == score] for score in sorted(set(scores), reverse=True)]
    total, n = [Fraction(0)] * len(scores), 0
    for orders in product(*(permutations(group) for group in groups)):
        n += 1
        for rank, document in enumerate((document for order in orders for document in order), 1):
            total[document] += Fraction(weight(rank))
    return [float(each / n) for each in total]


@pytest.mark.parametrize("weights", WEIGHTS)
@given(scores=st.lists(st.sampled_from(SCORES), max_size=6), single=st.booleans())
def test_exposure_is_the_mean_over_all_orders(weights, scores, single):
    found = exposure(np.array(scores, np.float32 if single else np.float64), weights=weights)
    np.testing.assert_allclose(found, by_enumeration(scores, WEIGHTS[weights]), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_it_equals_the_reference(weights):
    rng = random.Random(5)
    for n in (1, 5, 30, 300):
        scores = [float(rng.randrange(1 + n // 4)) for _ in range(n)]
        expected = reference.exposures(scores, [WEIGHTS[weights](j) for j in range(1, n + 1)])
        np.testing.assert_allclose(exposure(scores, weights=weights), expected, rtol=1e-13)


def of_groups(scores, weights, ties="average"):
    """Return the exposures from the same slot weights, by sorting with NumPy."""
    from tieaware.fairness.exposures import SlotWeights

    sums, cutoff = SlotWeights.of(weights, len(scores))
    order = np.argsort(-scores, kind="stable")
    found = np.empty(len(scores))
    first = 0
    while first < len(scores):
        last = first + 1
        while ties == "average" and last < len(scores) and scores[order[last]] == scores[order[first]]:
            last += 1
        end, start = sums[min(last, cutoff)], sums[min(first, cutoff)]
        found[order[first:last]] = ((end[0] - start[0]) + (end[1] - start[1])) / (last - first)
        first = last
    return found


def lists():
    """Yield lists for every way of finding the groups: few and many scores, close scores, very long lists."""
    rng = np.random.default_rng(2)
    yield rng.integers(0, 3, 3000).astype(float)
    yield rng.integers(0, 256, 3000).astype(float)
    yield rng.integers(0, 257, 3000).astype(float)
    yield rng.integers(0, 800, 3000).astype(float)
    yield rng.permutation(2000).astype(float)
    # Scores that differ only in bits that sorting gives to the places.
    yield 1.0 + rng.integers(0, 900, 2000) * 2.0**-52
    yield rng.integers(0, 50_000, LONGEST_SORTED + 1).astype(float)
    yield rng.integers(0, 100, LONGEST_SORTED + 1).astype(float)
    yield np.where(rng.random(1000) < 0.5, -0.0, 0.0) + np.where(rng.random(1000) < 0.5, np.inf, -1.0)


@pytest.mark.parametrize("ties", ["average", "run_order"])
@pytest.mark.parametrize("weights", ["DCG", "RBP(p=0.9)", "P@20"])
def test_all_ways_of_finding_the_groups_are_right(ties, weights):
    for scores in lists():
        expected = of_groups(scores, weights, ties)
        np.testing.assert_allclose(exposure(scores, weights=weights, ties=ties), expected, rtol=1e-12, atol=1e-300)
        singles = scores.astype(np.float32)
        expected = of_groups(singles.astype(np.float64), weights, ties)
        np.testing.assert_allclose(exposure(singles, weights=weights, ties=ties), expected, rtol=1e-12, atol=1e-300)


def test_the_ways_give_the_same_bits():
    """A long list that is a short one with other documents below: the ways differ, the exposures above do not."""
    rng = np.random.default_rng(3)
    short = rng.integers(0, 40, 2000) + 1.0
    few = exposure(short)
    for below in (np.arange(0, -2000, -1.0), np.arange(0, -LONGEST_SORTED, -1.0)):
        np.testing.assert_array_equal(exposure(np.concatenate([short, below]))[:2000], few)
    assert WIDE in (True, False)


def test_lists_threads_and_shapes_change_no_bit():
    rng = np.random.default_rng(4)
    scores = rng.integers(0, 30, (300, 90)).astype(float)
    whole = exposure(scores)
    assert whole.shape == scores.shape
    flat = exposure(scores.reshape(-1), np.arange(0, 27_001, 90))
    np.testing.assert_array_equal(flat.reshape(300, 90), whole)
    np.testing.assert_array_equal(exposure(scores, threads=3), whole)
    np.testing.assert_array_equal(exposure(scores[:, ::-1])[:, ::-1], whole)
    np.testing.assert_array_equal(np.stack([exposure(row) for row in scores]), whole)
    order = rng.permutation(90)
    np.testing.assert_array_equal(exposure(scores[:, order]), whole[:, order])
    uneven = np.array([0, 0, 5, 5, 400, 27_000, 27_000])
    found = exposure(scores.reshape(-1), uneven)
    for first, last in pairwise(uneven):
        np.testing.assert_array_equal(found[first:last], exposure(scores.reshape(-1)[first:last]))


def test_exposures_add_up_to_the_weights():
    rng = np.random.default_rng(6)
    scores = rng.integers(0, 9, (20, 50)).astype(float)
    assert exposure(scores, weights="P@7").sum(axis=1) == pytest.approx([7.0] * 20)
    assert exposure(scores, weights="RBP(p=0.5)").sum(axis=1) == pytest.approx([1 - 0.5**50] * 20)


def test_a_measure_is_the_sum_of_gains_times_exposures():
    """DCG, RBP and hits are linear in the exposure of the documents."""
    rng = np.random.default_rng(7)
    scores, labels = rng.integers(0, 9, (20, 50)).astype(float), rng.integers(0, 2, (20, 50))
    measures = ["DCG@10", "RBP(p=0.7)", "P@5"]
    values = tieaware.Evaluator(labels, measures)(scores)
    for i, (weights, scale) in enumerate(zip(measures, (1, 1, 5), strict=True)):
        assert (exposure(scores, weights=weights) * labels).sum(axis=1) / scale == pytest.approx(values[:, i])


def test_other_rules_give_each_document_one_slot():
    scores, ids = [2.0, 2.0, 3.0, 2.0], ["b", "c", "a", "d"]
    for rule, expected in (
        ("run_order", [1 / 2, 1 / 3, 1, 1 / 4]), ("trec_eval", [1 / 4, 1 / 3, 1, 1 / 2]),
        ("docid_ascending", [1 / 2, 1 / 3, 1, 1 / 4]),
    ):  # fmt: skip
        needed = {} if rule == "run_order" else {"docids": ids}
        assert exposure(scores, weights="RR", ties=rule, **needed).tolist() == expected
        twice = exposure(scores * 2, [0, 4, 8], weights="RR", ties=rule, **({"docids": ids * 2} if needed else {}))
        assert twice.tolist() == expected * 2


def test_a_precision_ties_more_documents():
    scores = [0.91, 0.89, 0.5]
    assert exposure(scores, weights="RR", precision="decimals:1").tolist() == [0.75, 0.75, 1 / 3]
    assert exposure(scores, weights="RR", precision="bands:2").tolist() == [1.0, 5 / 12, 5 / 12]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": [1.0, np.nan]}, "scores[1]: must be a number, not NaN"),
        ({"scores": [[1.0, 2.0], [0.0, np.nan]]}, "scores[1, 1]: must be a number, not NaN"),
        ({"scores": [1.0, np.nan], "precision": "decimals:1"}, "scores[1]: must be a number, not NaN"),
        ({"scores": [1.0], "offsets": [0, 2]}, "offsets: must start at 0 and end at 1, the number of scores; found"),
        ({"scores": [[1.0]], "offsets": [0, 1]}, "offsets: must not be given with two-dimensional scores: each row is"),
        ({"scores": [[[1.0]]]}, "scores: must have one or two dimensions, not 3"),
        ({"scores": 1.0}, "scores: must have one or two dimensions, not 0"),
        ({"scores": [1.0], "weights": "AP"}, "weights: AP gives ranks no weights; write DCG, RBP(p=0.8), RR or P@10"),
        ({"scores": [1.0], "weights": "P"}, "weights: P gives every rank the same weight; write a cut-off, as in P@10"),
        ({"scores": [1.0], "weights": "DCG(judged_only=True)"}, "weights: DCG(judged_only=True) ranks judged"),
        ({"scores": [1.0], "weights": "Dcgg"}, "weights: "),
        ({"scores": [1.0], "ties": "optimistic"}, "ties: 'optimistic' orders tied documents by label, but"),
        ({"scores": [1.0], "ties": "trec_eval"}, "docids: is required by the tie rule 'trec_eval'"),
        ({"scores": [1.0], "threads": 0}, "threads: "),
    ],
    ids=str,
)  # fmt: skip
def test_bad_input_is_refused(arguments, message):
    assert message_of(exposure, **arguments).startswith(message)


def test_nan_is_found_in_every_way():
    for scores in lists():
        for array in (scores, scores.astype(np.float32)):
            array = array.copy()
            array[len(array) // 2] = np.nan
            for ties in ("average", "run_order"):
                with pytest.raises(InputError, match=rf"^scores\[{len(array) // 2}\]: must be a number, not NaN$"):
                    exposure(array, ties=ties)


def test_empty_lists_have_no_exposure():
    assert exposure([]).shape == (0,)
    assert exposure(np.empty((0, 3))).shape == (0, 3)
    assert exposure(np.empty((3, 0))).shape == (3, 0)
    assert exposure([1.0], [0, 0, 1, 1]).tolist() == [1.0]


def test_the_kernel_reports_the_first_list_with_nan():
    sums = np.zeros((4, 2))
    scores, offsets = np.array([1.0, 2.0, np.nan, 3.0]), np.array([0, 2, 4])
    assert exposures(scores, offsets, None, True, sums, 2, np.empty(4), 0, 1) == -1
    assert exposures(scores, offsets, None, True, sums, 2, np.empty(4), 0, 2) == 1
    assert parse_measure("DCG").definition.inputs.slots is not None
