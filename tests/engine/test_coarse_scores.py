"""An engine that coarsens scores itself gives the same bits as one that is given the coarse scores."""

import numpy as np
import pytest

from tieaware import Evaluator, InputError
from tieaware.precision import Decimals, parse_precision
from tieaware.ties import RULES

PRECISIONS = ["float32", "float16", "bfloat16", "decimals:0", "decimals:2", "decimals:15", "decimals:30"]
PRECISIONS += [f"significant:{digits}" for digits in (1, 3, 5, 6, 13, 14, 16, 17)]
PRECISIONS += ["levels:11", f"levels:{2**53}"]
MEASURES = ["AP", "AP@5", "RR", "nDCG", "nDCG@10", "Rprec", "Bpref", "AUC"]
SIZES = np.array([0, 1, 3, 40, 700, 7, 300])
OFFSETS = np.concatenate(([0], np.cumsum(SIZES)))
DOCIDS = [f"d{i}" for size in SIZES for i in np.random.default_rng(0).permutation(size)]


def usual(rng, n):
    return rng.normal(size=n)


def with_decimals(rng, n):
    """Return scores with halves to round: 3.125 and 0.455."""
    return rng.normal(size=n).round(3)


def of_any_size(rng, n):
    """Return scores of which some need more digits than a double has, so that there are no keys."""
    scores = rng.normal(size=n) * 10.0 ** rng.integers(-40, 40, n)
    scores[::9] = rng.choice([0.0, -0.0, np.inf, -np.inf, 5e-324, 1e16, 2.0**52], len(scores[::9]))
    return scores


def halves_of_many_decades(rng, n):
    """Return scores that are halfway between two numbers of three digits, or nearly so."""
    scores = (rng.integers(100, 1000, n) + 0.5) * 10.0 ** rng.integers(-12, 2, n)
    return np.where(rng.random(n) < 0.5, scores, np.nextafter(scores, rng.choice([-np.inf, np.inf], n)))


SCORES = pytest.mark.parametrize("scores_of", [usual, with_decimals, of_any_size, halves_of_many_decades])
PRECISION = pytest.mark.parametrize("text", PRECISIONS)


def draw(scores_of, seed):
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 3, OFFSETS[-1]), scores_of(rng, OFFSETS[-1])


@PRECISION
@SCORES
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ties", RULES)
def test_values_and_means_are_those_of_coarse_scores(text, scores_of, dtype, ties):
    labels, scores = draw(scores_of, 1)
    with np.errstate(over="ignore"):
        scores = scores.astype(dtype)
    candidates = np.stack([scores, -scores, scores[::-1]])
    coarse, *others = (parse_precision(text).coarsen(np.ascontiguousarray(each), OFFSETS) for each in candidates)
    docids = DOCIDS if RULES[ties].by_document else None
    plain = Evaluator(labels, MEASURES, offsets=OFFSETS, ties=ties, docids=docids)
    rounding = Evaluator(labels, MEASURES, offsets=OFFSETS, ties=ties, docids=docids, precision=text)
    expected = plain(coarse)
    assert rounding(scores).tobytes() == expected.tobytes()
    means = np.array([plain.mean(each) for each in (coarse, *others)])
    assert np.array([rounding.mean(each) for each in candidates]).tobytes() == means.tobytes()
    assert rounding.many(candidates).tobytes() == means.tobytes()
    several = Evaluator(labels, MEASURES, offsets=OFFSETS, ties=ties, docids=docids, precision=text, threads=2)
    assert several(scores).tobytes() == expected.tobytes()
    if RULES[ties].averages:
        for output, of_plain in zip(rounding.spread(scores), plain.spread(coarse), strict=True):
            assert output.tobytes() == of_plain.tobytes()


def test_a_score_near_a_half_beside_a_score_of_a_lower_window():
    """The key of 0.525 is found after the pass over the highest decades, that of 0.088 in the pass over lower ones."""
    evaluator = Evaluator([1, 0, 0, 0, 1], ["AP"], precision="significant:2")
    coarse = [100.0, 5.4, 0.52, 0.52, 0.088]
    assert evaluator([100.0, 5.425, 0.525, 0.52, 0.088]) == Evaluator([1, 0, 0, 0, 1], ["AP"])(coarse)


@PRECISION
@pytest.mark.parametrize("measures", [["AP"], ["AP", "nDCG@10"]])
def test_nan_is_found(text, measures):
    labels, scores = draw(usual, 3)
    scores[100] = np.nan
    with pytest.raises(InputError, match="NaN"):
        Evaluator(labels, measures, offsets=OFFSETS, precision=text)(scores)


def test_a_class_that_overrides_coarsen_is_not_replaced_by_the_kernel():
    class Upwards(Decimals):
        names = ()

        def coarsen(self, scores, offsets):
            return np.ceil(scores)

    assert Decimals(1).kernel() is not None
    assert Upwards(1).kernel() is None
    assert Evaluator([0, 1], ["RR"], precision=Upwards(1))([0.9, 0.1]).item() == 0.75
