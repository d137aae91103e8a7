"""Recommendation from whole catalogues: all items are ranked for every user, except those seen in training."""

from functools import partial

import numpy as np
import pytest

import tieaware
from benchmarks.workloads import assert_reference

MEASURES = ("nDCG@10", "RR@10", "R@100")
SECTION = "Whole catalogues, one thread: 10 of 100,000 items relevant, 100 excluded, float32, nDCG@10 + RR@10 + R@100"


class Catalogue:
    """Relevant and excluded items of users, and a matrix of scores. A higher `lift` ranks relevant items higher."""

    def __init__(self, n_users: int, n_items: int, lift: float) -> None:
        rng = np.random.default_rng(2008)
        chosen = np.array([rng.choice(n_items, 110, replace=False) for _ in range(n_users)])
        users = np.repeat(np.arange(n_users), 110).reshape(chosen.shape)
        self.relevant, self.excluded = chosen[:, :10], chosen[:, 10:]
        shape, sp = (n_users, n_items), pytest.importorskip("scipy.sparse")
        self.relevance, self.seen = (
            sp.csr_array((np.ones(items.size, np.int8), (users[:, : items.shape[1]].ravel(), items.ravel())), shape)
            for items in (self.relevant, self.excluded)
        )
        self.scores = rng.random(shape, dtype=np.float32)
        relevant = rng.random((n_users, 10), dtype=np.float32) ** np.float32(1 / lift)
        np.put_along_axis(self.scores, self.relevant, relevant, 1)
        # Models give high scores to the items that they have seen in training.
        np.put_along_axis(self.scores, self.excluded, 1 - rng.random((n_users, 100), dtype=np.float32) / 1000, 1)

    def check(self, values: np.ndarray) -> None:
        """Assert that the values of some users equal those of the reference for lists without the excluded items."""
        some = range(0, len(values), max(1, len(values) // 5))
        labels = np.zeros(self.scores.shape, np.int8)
        np.put_along_axis(labels, self.relevant, 1, 1)
        left = np.ones(self.scores.shape, bool)
        np.put_along_axis(left, self.excluded, False, 1)
        lists = {user: self.scores[user][left[user]] for user in some}
        assert_reference(values, lists, {user: labels[user][left[user]] for user in some}, MEASURES, lists=some)


@pytest.mark.parametrize(("lift", "where"), [(1, "anywhere"), (100, "in the first hundredth, mostly")])
@pytest.mark.parametrize("to", ["np.max", "np.argpartition"])
def test_from_sparse(compare, small, to, lift, where):
    n_users, n_items = (20, 2_000) if small else (200, 100_000)
    some = Catalogue(n_users, n_items, lift)
    evaluator = tieaware.Evaluator.from_sparse(some.relevance, MEASURES, exclude=some.seen)
    out = np.empty((n_users, len(MEASURES)))
    if to == "np.max":
        baseline, at_most = partial(np.max, some.scores), 3.0
    else:
        baseline, at_most = lambda: np.argpartition(-some.scores, 100, axis=1), 0.15
    compare(
        SECTION, f"{n_users:,} × {n_items:,}, the relevant {where}",
        check=lambda: some.check(evaluator(some.scores, out=out)),
        contender=partial(evaluator, some.scores, out),
        baseline=baseline, to=to, at_most=at_most,
    )  # fmt: skip
