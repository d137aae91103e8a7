"""Gap ties scores that differ by no more than a tolerance."""

import math
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tieaware import Evaluator, InputError
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


LISTS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "equal": lambda rng, n: np.zeros(n),
    "close": lambda rng, n: 1.0 + rng.integers(0, 50, n) * 2.0**-52,
    "decimal": lambda rng, n: rng.integers(-n // 2, n, n) / 10.0,
    "special": lambda rng, n: rng.choice([0.0, -0.0, np.inf, -np.inf, 5e-324, -5e-324, 1.0, 1e308, -1e308], n),
    "skewed": lambda rng, n: np.exp(8.0 * rng.normal(size=n)),
    "descending": lambda rng, n: np.arange(n, 0.0, -1.0),
}
GAPS = (Gap(0.0), Gap(1e-3), Gap(0.1), Gap(2.0**-51), Gap(0.0, 0.01), Gap(1e308, 1.0), Gap(1.0))


def by_definition(gap, scores, offsets):
    each = [highest_of_groups(scores[a:b].tolist(), gap.atol, gap.rtol) for a, b in pairwise(offsets)]
    return np.concatenate(each)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", LISTS)
@pytest.mark.parametrize("gap", GAPS, ids=str)
def test_coarse_scores_of_long_lists_equal_those_of_the_definition(gap, kind, dtype):
    rng = np.random.default_rng(8)
    offsets = np.cumsum([0, 0, 1, 255, 256, 257, 0, 1700])
    with np.errstate(over="ignore"):
        scores = np.concatenate([LISTS[kind](rng, n).astype(dtype) for n in np.diff(offsets)])
    np.testing.assert_array_equal(gap.coarsen(scores, offsets), by_definition(gap, scores, offsets))


def test_coarse_scores_of_a_list_that_is_too_long_for_words_equal_those_of_the_definition():
    scores, gap = np.random.default_rng(9).normal(size=70_000), Gap(1e-5)
    offsets = np.array([0, len(scores)])
    np.testing.assert_array_equal(gap.coarsen(scores, offsets), by_definition(gap, scores, offsets))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", LISTS)
@pytest.mark.parametrize("rule", ["average", "run_order", "docid_ascending", "optimistic"])
def test_evaluators_see_the_groups_of_the_definition(rule, kind, dtype):
    """The engine, which compares keys, gives the same bits as for the coarse scores of the definition."""
    rng = np.random.default_rng(10)
    offsets, labels = np.cumsum([0, 1, 0, 100, 256, 1700]), rng.random(2057) < 0.03
    docids = [f"d{i:04}" for i in rng.permutation(2057)] if rule == "docid_ascending" else None
    options = {"offsets": offsets, "ties": rule, "docids": docids}
    with np.errstate(over="ignore"):
        scores = np.concatenate([LISTS[kind](rng, n).astype(dtype) for n in np.diff(offsets)])
    for gap in GAPS:
        coarse = Evaluator(labels, ["AP", "RR", "P@5"], precision=gap, **options)(scores)
        expected = Evaluator(labels, ["AP", "RR", "P@5"], **options)(by_definition(gap, scores, offsets))
        assert coarse.tobytes() == expected.tobytes()


def test_a_list_with_nan_has_no_groups():
    coarse = Gap(1.0).coarsen(np.array([1.0, np.nan, 3.0, 2.0]), np.array([0, 2, 4]))
    np.testing.assert_array_equal(coarse, [np.nan, np.nan, 3.0, 3.0])
    with pytest.raises(InputError, match="NaN"):
        Evaluator([1, 0], ["RR"], precision="gap:1")([np.nan, 1.0])


def test_the_kernel_is_pickled_with_its_tolerances():
    scores, offsets = np.array([10.0, 9.25, 8.0, 7.25]), np.array([0, 4])
    kernel = pickle.loads(pickle.dumps(Gap(0.25, 0.0625).kernel()))
    assert kernel.coarsen(scores, offsets).tolist() == [10.0, 10.0, 8.0, 8.0]
    assert Gap(0.25).coarsen(scores, offsets).tolist() == scores.tolist()


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
