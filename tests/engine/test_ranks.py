"""Ranks of documents under a rule that orders tied documents, in lists long enough that four are ranked in one pass."""

import numpy as np
import pytest

from tieaware import Evaluator

HARD = [0.0, -0.0, np.inf, -np.inf, 5e-324, -5e-324, 1.0, -1.0, 1.7976931348623157e308, -1.7976931348623157e308]
HARD += [2.2250738585072014e-308, -2.2250738585072014e-308, 3.4028234663852886e38, 1e-45, -1e-45]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [255, 256, 300, 2048, 2100, 6000])
@pytest.mark.parametrize("some", [HARD, HARD[2:4] + HARD[6:], [1.0, 2.0, 3.0]], ids=["zeros", "others", "few"])
def test_each_of_a_few_documents_is_found_at_its_rank(dtype, n, some):
    """The order is that of a stable sort. Each relevant document has a label of its own, so nDCG tells them apart."""
    rng = np.random.default_rng(n)
    for n_relevant in (1, 4, 5, 8, 11):
        with np.errstate(over="ignore", under="ignore"):
            scores = rng.choice(some, n).astype(dtype)
        labels = np.zeros(n, dtype=np.int32)
        places = rng.choice(n, n_relevant, replace=False)
        labels[places] = np.arange(1, n_relevant + 1)
        values = Evaluator(labels, ["AP", "nDCG", "RR"], offsets=[0, n], ties="run_order")(scores)
        order = np.argsort(-scores.astype(np.float64), kind="stable")
        ranked = labels[order]
        ranks = 1 + np.flatnonzero(ranked)
        assert values[0, 0] == pytest.approx(np.mean(np.arange(1, n_relevant + 1) / ranks), rel=1e-14)
        ideal = np.sort(labels[places])[::-1] / np.log2(np.arange(n_relevant) + 2)
        assert values[0, 1] == pytest.approx((ranked / np.log2(np.arange(n) + 2)).sum() / ideal.sum(), rel=1e-13)
        assert values[0, 2] == 1.0 / ranks[0]
