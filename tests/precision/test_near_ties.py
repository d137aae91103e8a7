"""Gap ties scores that differ by no more than a tolerance."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tieaware.precision import Gap, parse_precision

SCORES = (-math.inf, -1e308, -4.0, -3.5, -3.0, -0.0, 0.0, 5e-324, 0.25, 0.5, 1.0, 1.5, 3.0, 1e308, math.inf)
TOLERANCES = (0.0, 5e-324, 0.25, 0.5, 1.0, 1e308)


def highest_of_groups(scores, atol, rtol):
    """Return the highest score of each score's group, in one list, from the definition."""
    ranked = sorted(scores, reverse=True)
    highest = {}
    for i, score in enumerate(ranked):
        above = ranked[i - 1] if i else math.nan
        tolerance = atol + rtol * max(abs(above), abs(score))
        near = math.isfinite(above - score) and above - score <= tolerance
        if score not in highest:
            highest[score] = highest[above] if near else score
    return [highest[score] for score in scores]


@given(
    st.lists(st.lists(st.sampled_from(SCORES), max_size=8), max_size=4),
    st.sampled_from(TOLERANCES),
    st.sampled_from(TOLERANCES),
)
@example([], 0.5, 0.0)
@example([[0.0, -0.0], [], [1.0, 0.5, 0.25]], 0.25, 0.5)
# Groups chain and do not cross lists.
@example([[1.0, 0.5, 1.5, -0.5], [1.25], [0.75]], 0.5, 0.0)
# The relative tolerance is that of the larger absolute value.
@example([[4.0, 3.0, 2.0], [-2.0, -3.0, -4.0]], 0.0, 0.25)
# Infinities tie only with themselves.
@example([[math.inf, 1e308, math.inf, -1e308, -math.inf, -math.inf]], 1e308, 1.0)
def test_coarse_scores_equal_those_of_the_definition(lists, atol, rtol):
    scores = np.array([score for each in lists for score in each], dtype=np.float64)
    offsets = np.cumsum([0, *map(len, lists)])
    given_scores = scores.copy()
    coarse = Gap(atol, rtol).coarsen(scores, offsets)
    assert coarse.dtype == np.float64
    assert coarse.tolist() == [score for each in lists for score in highest_of_groups(each, atol, rtol)]
    np.testing.assert_array_equal(scores, given_scores)


def test_scores_in_single_precision_are_compared_in_double_precision():
    scores = np.array([1.0, 1.0 + 2.0**-23], dtype=np.float32)
    for atol, expected in ((2.0**-23, [1.0 + 2.0**-23] * 2), (2.0**-24, scores.tolist())):
        coarse = Gap(atol).coarsen(scores, np.array([0, 2]))
        assert (coarse.dtype, coarse.tolist()) == (np.float64, expected)


@pytest.mark.parametrize(
    ("notation", "gap"),
    [("gap:1e-6", Gap(1e-6)), ("gap:1e-6,1e-4", Gap(1e-6, 1e-4)), ("gap:0,1e-4", Gap(0, 1e-4)), ("gap:1", Gap(1.0))],
)
def test_the_notation_has_one_tolerance_or_two(notation, gap):
    assert parse_precision(notation) == gap
    assert parse_precision(str(gap)) == gap


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_widest_group_is_that_of_the_definition(dtype):
    """Groups of several lists with infinities, denormals and equal scores."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        sizes = rng.integers(0, 9, 6)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        scores = rng.choice([0.0, 0.1, 0.25, 0.31, 0.5, 5e-324, 1.0, np.inf, -np.inf], offsets[-1]).astype(dtype)
        gap = Gap(float(rng.choice([0.0, 0.1, 0.2])), float(rng.choice([0.0, 0.3])))
        widths = [0.0] * len(sizes)
        for i in range(len(sizes)):
            finite = [float(score) for score in scores[offsets[i] : offsets[i + 1]] if np.isfinite(score)]
            highest = highest_of_groups(finite, gap.atol, gap.rtol)
            widths[i] = max((top - score for top, score in zip(highest, finite, strict=True)), default=0.0)
        width, place = gap.widest(scores, offsets)
        assert width == max(widths)
        if width:
            assert place == widths.index(width)


@pytest.mark.parametrize(
    ("gap", "scores", "width"), [(Gap(0.1), [], 0.0), (Gap(1e308), [1e308, 0.0, -1e308], math.inf)]
)
def test_no_scores_have_no_width_and_one_that_overflows_is_infinite(gap, scores, width):
    assert gap.widest(np.array(scores), np.array([0, len(scores)])) == (width, 0)
