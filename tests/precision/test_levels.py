"""Levels divide the range of each list into equal steps."""

import math

import numpy as np
from support.scores import coarsen_list

from tieaware.precision import Levels


def test_levels_divide_the_range_of_each_list():
    scores = np.array([0.0, 0.49, 0.5, 1.0, 7.0, 7.0, -math.inf, 2.0, 4.0, math.inf])
    coarse = Levels(2).coarsen(scores, np.array([0, 4, 6, 6, 10]))
    assert coarse.tolist() == [0, 0, 1, 1, 0, 0, -math.inf, 0, 1, math.inf]
    assert coarsen_list(Levels(4), [-1.7e308, 0.0, 1.7e308]).tolist() == [0, 2, 3]
