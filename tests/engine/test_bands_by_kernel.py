"""Bands by the kernel give the bits of evaluating the coarse scores of the bands, for every tie rule and the spread."""

from unittest import mock

import numpy as np
import pytest
from support.queries import MEASURES

from tieaware import Evaluator
from tieaware.engine.engine_choice import EngineChoice
from tieaware.engine.views import Pass, View, passes
from tieaware.precision import Bands
from tieaware.ties import RULES

# Bands coarsen scores of unjudged documents too, so measures that remove these are refused. infAP and interpolated
# precision have a mean only.
WHOLE = tuple(each for each in MEASURES if "judged_only" not in each)
AVERAGED = ("infAP", "IPrec", "IAP")
ORDERED = tuple(each for each in WHOLE if not each.startswith(AVERAGED))
ENGINES = {
    "counting": EngineChoice(10**9, False),
    "locating": EngineChoice(0, False),
    "mixed": EngineChoice(3, False),
    "sorting": EngineChoice(sorting=True),
    "chosen": EngineChoice(),
}
ENGINE = pytest.mark.parametrize("engine", ENGINES)
RHO = pytest.mark.parametrize("rho", ["1", "1.1", "1.5", "2", "1000"])
DTYPE = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def draw(seed, sizes=(0, 1, 2, 5, 17, 40, 150, 400), scale=1.0):
    """Draw lists, some with many ties and others with none."""
    rng = np.random.default_rng(seed)
    sizes = np.array(sizes)
    n = sizes.sum()
    scores = np.where(rng.random(n) < 0.5, rng.integers(0, 4, n), rng.normal(size=n)) * scale
    return rng.integers(-1, 4, n) * (rng.random(n) < 0.4), scores, np.concatenate(([0], np.cumsum(sizes)))


@ENGINE
@RHO
@DTYPE
@pytest.mark.parametrize("ties", [name for name, rule in RULES.items() if rule.by_score_alone])
def test_tie_rules_and_spread(engine, rho, dtype, ties):
    labels, scores, offsets = draw(1)
    scores = scores.astype(dtype)
    measures = WHOLE if ties == "average" else ORDERED
    with mock.patch("tieaware.engine.engine_choice.CHOICE", ENGINES[engine]):
        banded = Evaluator(labels, measures, offsets=offsets, ties=ties, precision=Bands(rho))
        coarse = Evaluator(labels, measures, offsets=offsets, ties=ties)
        of_bands = Bands(rho).coarsen(scores, offsets)
        assert banded(scores).tobytes() == coarse(of_bands).tobytes()
        if RULES[ties].averages:
            for output, expected in zip(banded.spread(scores), coarse.spread(of_bands), strict=True):
                assert output.tobytes() == expected.tobytes()


@pytest.mark.parametrize("ties", ["average", "optimistic", "pessimistic"])
def test_long_lists_with_cutoffs_and_threads(ties):
    """The documents below every cut-off count, because a cut-off may divide a band."""
    labels, scores, offsets = draw(3, sizes=(5000, 0, 3000, 70_000))
    measures = ["AP@10", "nDCG@20", "P@7", "ERR@5"]
    options = {"offsets": offsets, "ties": ties, "threads": 2}
    banded = Evaluator(labels, measures, precision="bands:1.5", **options)
    coarse, by_bands = Evaluator(labels, measures, **options), Bands("1.5").coarsen(scores, offsets)
    assert banded(scores).tobytes() == coarse(by_bands).tobytes()
    assert banded.many(np.stack([scores, scores])).tobytes() == coarse.many(np.stack([by_bands, by_bands])).tobytes()
    if ties == "average":
        for output, expected in zip(banded.spread(scores), coarse.spread(by_bands), strict=True):
            assert output.tobytes() == expected.tobytes()


def test_rows_and_several_divisions():
    """Views with the same rule share a pass, and their outputs stay apart."""
    labels, scores, offsets = draw(4)
    evaluator = Evaluator(labels, ORDERED, offsets=offsets, ties="optimistic", precision="bands:2")
    other = Evaluator(labels, ORDERED, offsets=offsets, ties="optimistic", precision="bands:1.5")
    values = np.empty((2, evaluator.n_queries, len(ORDERED)))
    evaluator._prepare(Pass(RULES["optimistic"], bands=(Bands(2), Bands("1.5")))).evaluate(scores, values)
    assert values.tobytes() == evaluator(scores).tobytes() + other(scores).tobytes()
    assert evaluator.rows(3, 7)(scores[offsets[3] : offsets[7]]).tobytes() == evaluator(scores)[3:7].tobytes()
    views = [View("average", "bands:2"), View("average", "bands:1.5", spread=True), View("optimistic", "bands:2")]
    views += [View("average", "bands:3", spread=True), View("run_order", "bands:2"), View("optimistic", "bands:4")]
    found = {(each.rule.name, each.spread): each.outputs for each in passes(views)}
    assert found[("average", False)] == (0,)
    assert found[("average", True)] == (1, 2, 3, 4, 6, 7, 8, 9)
    assert found[("optimistic", False)] == (5, 11)
    assert found[("run_order", False)] == (10,)
