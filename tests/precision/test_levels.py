"""Levels divide the range of each list into equal steps."""

import math

import numpy as np
import pytest
from support.scores import coarsen_list

from tieaware import Evaluator, InputError, Run, evaluate
from tieaware.precision import Levels


def test_levels_divide_the_range_of_each_list():
    scores = np.array([0.0, 0.49, 0.5, 1.0, 7.0, 7.0, -math.inf, 2.0, 4.0, math.inf])
    coarse = Levels(2).coarsen(scores, np.array([0, 4, 6, 6, 10]))
    assert coarse.tolist() == [0, 0, 1, 1, 0, 0, -math.inf, 0, 1, math.inf]
    assert coarsen_list(Levels(4), [-1.7e308, 0.0, 1.7e308]).tolist() == [0, 2, 3]


INFINITE = [math.inf, -math.inf, math.inf]
REFUSED = (
    r"^precision=levels:11: divides the range of the finite scores of each list, but a list has "
    r"(3 scores, which are all infinite|one score, which is infinite)$"
)


@pytest.mark.parametrize("scores", [INFINITE, [-math.inf], [math.inf] * 3], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_list_of_infinities_is_refused(scores, dtype):
    """Every way to coarsen refuses it, also if other lists have finite scores."""
    together = np.array([1.0, 2.0, *scores], dtype=dtype)
    offsets = np.array([0, 2, len(together)])
    evaluator = Evaluator([0, 1, *[1] * len(scores)], ["RR", "AP"], offsets=offsets, precision="levels:11", threads=2)
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": dict(zip("abc", scores, strict=False))}
    calls = [
        lambda: evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, run, "RR", precision="levels:11"),
        lambda: Run.from_dict(run).coarsen("levels:11"),
        lambda: Levels(11).coarsen(together, offsets),
        lambda: evaluator(together),
        lambda: evaluator.mean(together),
        lambda: evaluator.spread(together),
        lambda: evaluator.many(np.stack([together, together])),
        lambda: evaluator.columns(np.stack([together, together], axis=1)),
    ]
    for call in calls:
        with pytest.raises(InputError, match=REFUSED):
            call()
    finite = np.arange(len(together), dtype=dtype)
    unchanged = Evaluator([0, 1, *[1] * len(scores)], ["RR", "AP"], offsets=offsets, precision="levels:11")
    np.testing.assert_array_equal(evaluator(finite), unchanged(finite))


def test_nan_beside_infinities_stays_nan():
    assert str(coarsen_list(Levels(11), [math.inf, math.nan]).tolist()) == "[inf, nan]"


def test_an_empty_list_is_no_list_of_infinities():
    assert Levels(2).coarsen(np.array([]), np.array([0, 0])).tolist() == []
    assert Evaluator([0, 1], ["RR"], offsets=[0, 0, 2], precision="levels:2")([1.0, 2.0]).tolist() == [[0.0], [1.0]]
