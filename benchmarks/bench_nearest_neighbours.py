"""Recall at k of nearest-neighbour search, compared with a loop over queries, as in big-ann-benchmarks."""

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.workloads import Floats
from tieaware.integrations import nearest_neighbours

SECTION = "Nearest neighbours, one thread: recall@k"


def recall_by_loop(ids: npt.NDArray[Any], distances: npt.NDArray[Any], answers: npt.NDArray[Any], k: int) -> Floats:
    """Return the recall of each query: float64[n].

    The ids of the first k neighbours and of all that tie with the k-th, to 1e-6, are intersected with the answers as
    sets, query by query. That is the rule of big-ann-benchmarks and its way to compute it.
    """
    found = np.zeros(len(ids))
    for i in range(len(ids)):
        last = k
        while last < ids.shape[1] and abs(distances[i, last] - distances[i, k - 1]) < 1e-6:
            last += 1
        found[i] = len(set(ids[i, :last]) & set(answers[i]))
    return found / k


@pytest.mark.parametrize("k", [10, 100])
def test_recall(compare, small, k):
    n = 100 if small else 5000
    rng = np.random.default_rng(59)
    ids = np.argsort(rng.random((n, 1000)), axis=1)[:, :100].astype(np.int32)
    distances = np.sort(rng.random((n, 100)).round(3), axis=1).astype(np.float32)
    # A tenth of the answers is wrong.
    answers = rng.permuted(np.where(rng.random((n, k)) < 0.1, 1000 + np.arange(k), ids[:, :k]).astype(np.int32), axis=1)
    recall = partial(nearest_neighbours.recall, (ids, distances), answers, k, atol=1e-6)
    compare(
        SECTION, f"{n:,} queries, k = {k}, truth of 100",
        check=lambda: np.testing.assert_array_equal(recall(), recall_by_loop(ids, distances, answers, k)),
        contender=recall, baseline=partial(recall_by_loop, ids, distances, answers, k),
        to="a loop over sets, as in big-ann-benchmarks", at_most=0.1,
    )  # fmt: skip
