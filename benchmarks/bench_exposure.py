"""Exposure and chance: compared with nDCG of the same lists."""

from functools import partial

import numpy as np
import pytest

from benchmarks.workloads import labels
from tieaware import Evaluator, exposure, reference

SECTION = "Exposure and chance, one thread: scores of one decimal"


@pytest.mark.parametrize("relevant", [10, 20, 100])
def test_exposure(compare, small, relevant):
    n, m = (20, 50) if small else (1000, 1000)
    scores = np.random.default_rng(2018).random((n, m)).round(1)
    evaluator = Evaluator(labels(n, m, min(relevant, m - 1)), "nDCG")

    def check():
        weights = [1 / np.log2(1 + rank) for rank in range(1, m + 1)]
        np.testing.assert_allclose(exposure(scores)[0], reference.exposures(scores[0].tolist(), weights), rtol=1e-12)

    compare(
        SECTION, f"{n:,} lists of {m:,} documents, {relevant} relevant: exposure", check=check,
        contender=partial(exposure, scores), baseline=partial(evaluator, scores), to="nDCG", at_most=1.5,
    )  # fmt: skip


@pytest.mark.parametrize("relevant", [10, 20, 100])
@pytest.mark.parametrize("measure", ["nDCG", "AP", "RR"])
def test_chance(compare, small, measure, relevant):
    n, m = (20, 50) if small else (1000, 1000)
    scores = np.random.default_rng(2018).random((n, m)).round(1)
    relevance = labels(n, m, min(relevant, m - 1))
    evaluator, of_measure = Evaluator(relevance, "nDCG"), Evaluator(relevance, measure)

    def check():
        np.testing.assert_array_equal(of_measure.chance().mean, of_measure(np.zeros((n, m))))

    compare(
        SECTION, f"{n:,} lists of {m:,} documents, {relevant} relevant: chance of {measure}", check=check,
        contender=of_measure.chance, baseline=partial(evaluator, scores), to="nDCG", at_most=1.5,
    )  # fmt: skip
