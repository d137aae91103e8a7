"""Link prediction, where each positive is ranked among its own negatives: compared with OGB's formula in NumPy."""

from functools import partial

import numpy as np
import pytest

from benchmarks.workloads import Floats
from tieaware.integrations import link_prediction

SECTION = "Link prediction, one thread: RR + Hits@10"


def reciprocal_mean_ranks(positive: Floats, negatives: Floats) -> Floats:
    """Return RR and Hits@10 of each positive, computed from the mean of its optimistic and its pessimistic rank.

    float64[n, 2]. OGB and PyKEEN compute ranks in the same way.
    """
    column = positive[:, None]
    ranks = 1 + 0.5 * ((negatives > column).sum(axis=1) + (negatives >= column).sum(axis=1))
    return np.stack((1 / ranks, ranks <= 10), axis=1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_positive_among_many(compare, small, dtype):
    n, m = (100, 50) if small else (10_000, 500)
    rng = np.random.default_rng(2020)
    negatives = rng.permuted(np.tile(np.arange(m, dtype=dtype), (n, 1)), axis=1)
    # Most positives are near the top, as with a trained model. No positive ties, so both must give the same values.
    positive = ((m * rng.random(n) ** 0.02).astype(np.int64) - 0.5).astype(dtype)
    expected = reciprocal_mean_ranks(positive, negatives)
    compare(
        SECTION, f"{n:,} positives, {m} negatives of each, {np.dtype(dtype)}",
        check=lambda: np.testing.assert_array_equal(link_prediction.evaluate(positive, negatives), expected),
        contender=partial(link_prediction.evaluate, positive, negatives),
        baseline=partial(reciprocal_mean_ranks, positive, negatives), to="OGB's formula in NumPy", at_most=0.5,
    )  # fmt: skip
