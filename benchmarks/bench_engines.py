"""The engines that find tie groups (counting, locating, sorting), by the number of distinct scores to be found.

`engine/engine_choice.py` chooses one engine. The benchmarks compare its choice with the fastest engine, and with
NumPy's sort of the scores alone, without permutation or labels: no method that sorts can be faster.
"""

from functools import partial
from unittest import mock

import numpy as np
import pytest

from benchmarks.ratios import seconds
from benchmarks.workloads import assert_reference, distinct_scores, labels
from tieaware.checks.arrays import Labels
from tieaware.engine import engine_choice
from tieaware.engine.engine_choice import EngineChoice
from tieaware.engine.prepared import prepare
from tieaware.engine.totals import Totals
from tieaware.engine.views import View, passes
from tieaware.kernels._engine import Engine
from tieaware.lists.judgments import JudgedLists
from tieaware.measures import parse_measures

MEASURES = parse_measures(["AP", "RR@10", "nDCG@10", "R@1000"])
N_DOCS = 200_000
RELEVANT = (1, 4, 8, 12, 16, 24, 32, 48, 64, 96)
SECTION = "Engines, by the number of distinct scores of relevant documents"

ENGINES = {
    "counting": EngineChoice(N_DOCS, False), "locating": EngineChoice(0, False), "sorting": EngineChoice(sorting=True),
}  # fmt: skip
COST_MODEL = EngineChoice()


def engine(judged: Labels, choice: EngineChoice = COST_MODEL) -> Engine:
    """Prepare the engine for lists of equal length in which every document is judged."""
    n_lists, length = judged.shape
    offsets = np.arange(n_lists + 1) * length
    lists = JudgedLists(offsets, offsets, np.tile(np.arange(length), n_lists), judged.ravel())
    totals = Totals.of(MEASURES, lists.judgments)
    with mock.patch.object(engine_choice, "CHOICE", choice):
        return prepare(MEASURES, lists, totals, *passes([View()])).engine


@pytest.mark.parametrize("relevant", RELEVANT)
@pytest.mark.parametrize("length", [100, 1_000])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["counting", "sorting", "tieaware"])
def test_crossover(compare, small, name, dtype, length, relevant):
    n_lists = (N_DOCS // 10 if small else N_DOCS) // length
    judged = labels(n_lists, length, relevant)
    scores = distinct_scores(n_lists, length).astype(dtype).ravel()
    outs = {each: np.empty((n_lists, len(MEASURES))) for each in (*ENGINES, "tieaware")}
    calls = {
        each: partial(engine(judged, ENGINES.get(each, COST_MODEL)).evaluate, scores, out, 0, n_lists)
        for each, out in outs.items()
    }

    def check() -> None:
        assert all(call() == -1 for call in calls.values())
        assert len({out.tobytes() for out in outs.values()}) == 1

    to, at_most = "locating", None
    if name == "tieaware":
        to, at_most = min(ENGINES, key=lambda each: min(seconds(calls[each]) for _ in range(10))), 1.1
    compare(
        SECTION, f"{dtype}, lists of {length:,}", column=str(relevant), check=check, contender=calls[name], of=name,
        baseline=calls[to], to="the best of them" if at_most else to, at_most=at_most, budget=0.2,
    )  # fmt: skip


@pytest.mark.parametrize("relevant", RELEVANT)
@pytest.mark.parametrize("length", [100, 1_000])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sort(compare, small, dtype, length, relevant):
    n_lists = (N_DOCS // 10 if small else N_DOCS) // length
    judged = labels(n_lists, length, relevant)
    matrix = distinct_scores(n_lists, length).astype(dtype)
    scores = matrix.ravel()
    evaluator = engine(judged)
    out = np.empty((n_lists, len(MEASURES)))
    names = [str(measure) for measure in MEASURES]

    def check() -> None:
        assert evaluator.evaluate(scores, out, 0, n_lists) == -1
        assert_reference(out, matrix, judged, names, lists=range(0, n_lists, n_lists // 10))

    compare(
        SECTION, f"{dtype}, lists of {length:,}", column=str(relevant), check=check,
        contender=partial(evaluator.evaluate, scores, out, 0, n_lists),
        baseline=partial(np.sort, matrix, axis=1), to="np.sort", budget=0.3,
    )  # fmt: skip
