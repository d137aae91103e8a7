"""Counting against locating: the two engines that group a list, by the distinct scores of its relevant documents.

The kernel chooses between them by `preparation.COUNTING_LIMIT`. The engine so chosen is compared with what sorting
alone would take: NumPy's sort of the bare scores, without permutation or labels.
"""

from functools import partial

import numpy as np
import pytest

from benchmarks.workloads import assert_reference, distinct_scores, labels
from tieaware._engine import Engine
from tieaware.arrays import Labels
from tieaware.judgments import JudgedLists
from tieaware.measures import parse_measures
from tieaware.preparation import COUNTING_LIMIT, prepare
from tieaware.totals import Totals
from tieaware.views import View, passes

MEASURES = parse_measures(["AP", "RR@10", "nDCG@10", "R@1000"])
N_DOCS = 200_000
RELEVANT = (1, 4, 8, 12, 16, 24, 32, 48, 64, 96)
SECTION = "Engines, by the number of distinct scores of relevant documents"


def engine(judged: Labels, *, counting_limit: int) -> Engine:
    """Prepare lists of equal length, all of whose documents are judged."""
    n_lists, length = judged.shape
    offsets = np.arange(n_lists + 1) * length
    lists = JudgedLists(offsets, offsets, np.tile(np.arange(length), n_lists), judged.ravel())
    totals = Totals.of(MEASURES, lists.judgments)
    return prepare(MEASURES, lists, totals, *passes([View()]), counting_limit=counting_limit).engine


@pytest.mark.parametrize("relevant", RELEVANT)
@pytest.mark.parametrize("length", [100, 1_000])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_crossover(compare, small, dtype, length, relevant):
    n_lists = (N_DOCS // 10 if small else N_DOCS) // length
    judged = labels(n_lists, length, relevant)
    table = distinct_scores(n_lists, length).astype(dtype)
    scores = table.ravel()
    counting = engine(judged, counting_limit=length)
    locating = engine(judged, counting_limit=0)
    outs = [np.empty((n_lists, len(MEASURES))) for _ in range(2)]

    def check() -> None:
        for one, out in zip((counting, locating), outs, strict=True):
            assert one.evaluate(scores, out, 0, n_lists) == -1
        assert outs[0].tobytes() == outs[1].tobytes()

    compare(
        SECTION, f"{dtype}, lists of {length:,}", column=str(relevant), check=check,
        contender=partial(counting.evaluate, scores, outs[0], 0, n_lists), of="counting",
        baseline=partial(locating.evaluate, scores, outs[1], 0, n_lists), to="locating", budget=0.3,
    )  # fmt: skip


@pytest.mark.parametrize("relevant", RELEVANT)
@pytest.mark.parametrize("length", [100, 1_000])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sort(compare, small, dtype, length, relevant):
    n_lists = (N_DOCS // 10 if small else N_DOCS) // length
    judged = labels(n_lists, length, relevant)
    table = distinct_scores(n_lists, length).astype(dtype)
    scores = table.ravel()
    evaluator = engine(judged, counting_limit=COUNTING_LIMIT)
    out = np.empty((n_lists, len(MEASURES)))
    names = [str(measure) for measure in MEASURES]

    def check() -> None:
        assert evaluator.evaluate(scores, out, 0, n_lists) == -1
        assert_reference(out, table, judged, names, lists=range(0, n_lists, n_lists // 10))

    compare(
        SECTION, f"{dtype}, lists of {length:,}", column=str(relevant), check=check,
        contender=partial(evaluator.evaluate, scores, out, 0, n_lists),
        baseline=partial(np.sort, table, axis=1), to="np.sort", budget=0.3,
    )  # fmt: skip
