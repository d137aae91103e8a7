"""Bands of ranks where the order of equal scores is given beside them, as Spark gives it for rows that it shuffled."""

import numpy as np
import pytest

from tieaware import Evaluator
from tieaware._evaluate import over_passes
from tieaware.engine.totals import Totals
from tieaware.engine.views import View, passes
from tieaware.lists.judgments import JudgedLists, Judgments
from tieaware.measures import parse_measures

MEASURES = parse_measures(["AP", "RR", "nDCG@10", "AUC@5"])
N_LISTS, DEPTH = 30, 40


@pytest.mark.parametrize(
    ("ties", "spread"), [("average", False), ("average", True), ("optimistic", False), ("pessimistic", False)]
)
def test_shuffled_rows_have_the_values_of_the_original_order(ties, spread):
    random = np.random.default_rng(5)
    labels = random.integers(0, 2, (N_LISTS, DEPTH)).astype(np.int32)
    scores = random.integers(0, 6, (N_LISTS, DEPTH)).astype(float)
    evaluator = Evaluator(labels, MEASURES, precision="bands:1.5", ties=ties)
    expected = evaluator.spread(scores) if spread else (evaluator(scores),)

    places = random.permuted(np.tile(np.arange(DEPTH), (N_LISTS, 1)), axis=1)
    offsets = np.arange(N_LISTS + 1) * DEPTH
    shuffled = np.take_along_axis(labels, places, axis=1).ravel()
    lists = JudgedLists(offsets, offsets, np.tile(np.arange(DEPTH), N_LISTS), shuffled)
    totals = Totals.of(MEASURES, Judgments(labels.ravel(), offsets))
    rows = np.take_along_axis(scores, places, axis=1).ravel()

    def order(rule):
        return np.argsort(places, axis=1).ravel() if rule.by_position else None

    wanted = passes([View(ties, "bands:1.5", spread)])
    found = dict(over_passes(MEASURES, lists, rows, totals, wanted, order))
    for i, values in enumerate(expected):
        np.testing.assert_array_equal(found[i], values)
    wrong = dict(over_passes(MEASURES, lists, rows, totals, wanted, lambda rule: None))
    assert (wrong[0] != expected[0]).any()
