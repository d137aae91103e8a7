"""Bands of ranks: where they begin, and averages over the documents in a band."""

import math
import pickle
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from tieaware import Evaluator, InputError, reference
from tieaware.kernels._coarsening import KernelCoarsening
from tieaware.precision import Bands, bands

MEASURES = ["AP", "AP@5", "RR", "P@10", "R@7", "nDCG@10", "nDCG", "RBP", "Success@3", "Rprec", "F1@4", "NumRelRet"]


@pytest.mark.parametrize("rho", ["1.1", "1.002", "1.01", "1.05", "1.5", "1.62", "2", "3.7", "10"])
def test_bands_follow_the_recurrence_exactly(rho):
    """The first ranks b_g of the bands satisfy b_{g+1} = ⌈rho b_g⌉, computed in exact integers."""
    growth, starts = Fraction(rho), [1]
    while math.ceil(growth * starts[-1]) <= 5000:
        starts.append(math.ceil(growth * starts[-1]))
    assert bands(rho, 5000).tolist() == starts
    assert bands(growth, 5000).tolist() == starts
    assert bands(float(rho), 5000).tolist() == starts


def test_rho_1_gives_each_rank_its_own_band():
    assert bands(1, 5).tolist() == [1, 2, 3, 4, 5]
    assert bands("1.5", 0).tolist() == []
    assert len(bands("1.000001", 10**7)) > 10**6


@pytest.mark.parametrize("rho", ["1", "1.1", "1.5", "2", "5", "1000"])
def test_the_kernel_averages_over_bands_as_the_reference_does(lists, rho):
    """The kernel and the reference agree, also if a cut-off lies inside a band."""
    sizes, labels, scores = lists
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    for measures in (MEASURES, ["P@10"], ["AP@5", "nDCG@10"]):
        values = Evaluator(labels, measures, offsets=offsets, precision=Bands(rho))(scores)
        by_scores = Evaluator(labels, measures, offsets=offsets)(Bands(rho).coarsen(scores, offsets))
        np.testing.assert_array_equal(values, by_scores)
        for q, (start, end) in enumerate(pairwise(offsets)):
            ranked = reference.rank(scores[start:end].tolist(), labels[start:end].tolist(), "run_order")
            band = np.searchsorted(bands(rho, max(len(ranked), 1)), np.arange(1, len(ranked) + 1), side="right")
            judged = [label for label in labels[start:end].tolist() if label >= 0]
            expected = [reference.evaluate(m, (-band).tolist(), ranked, judged) for m in measures]
            np.testing.assert_allclose(values[q], expected, atol=1e-12)


def test_the_first_rank_after_the_safe_depth_shares_its_band():
    rhos = ["1", "1.002", "1.01", "1.1", "1.3", "1.5", "1.99", "2", "2.01", "5", "1e18"]
    for rho in (*rhos, *(Fraction(n, 500) for n in range(501, 1800))):
        shared = Bands(rho)
        starts = shared.starts(2000).tolist()
        first = next((i for i, (here, following) in enumerate(pairwise([*starts, 2001])) if following - here > 1), None)
        assert shared.safe_depth == first, rho


@pytest.mark.parametrize("rho", ["1.1", "1.26", "1.5", "2"])
def test_no_measure_changes_within_the_safe_depth(rho):
    depth = Bands(rho).safe_depth
    measures = [f"{name}@{depth}" for name in ("P", "RR", "AP", "nDCG", "ERR", "Q", "RBP", "F1")]
    random = np.random.default_rng(3)
    labels, scores = random.integers(0, 3, (20, 40)), random.permuted(np.tile(np.arange(40.0), (20, 1)), axis=1)
    plain = Evaluator(labels, measures)(scores)
    np.testing.assert_array_equal(Evaluator(labels, measures, precision=Bands(rho))(scores), plain)
    deeper = Evaluator(labels, [f"P@{depth + 1}"])(scores)
    assert (Evaluator(labels, [f"P@{depth + 1}"], precision=Bands(rho))(scores) != deeper).any()


LISTS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "tied": lambda rng, n: rng.integers(0, 5, n).astype(float),
    "equal": lambda rng, n: np.zeros(n),
    "close": lambda rng, n: 1.0 + rng.integers(0, 50, n) * 2.0**-52,
    "special": lambda rng, n: rng.choice([0.0, -0.0, np.inf, -np.inf, 5e-324, -5e-324, 1.0], n),
    "one infinite": lambda rng, n: np.append(rng.normal(size=n - 1), np.inf) if n else np.zeros(0),
    "skewed": lambda rng, n: np.exp(8.0 * rng.normal(size=n)),
    "subnormal": lambda rng, n: rng.integers(-90, 90, n) * 5e-324,
    "range overflows": lambda rng, n: rng.uniform(-1.0, 1.0, n) * 1.7e308,
    "ascending": lambda rng, n: np.arange(float(n)),
}


def by_a_stable_sort(rho, scores):
    """Return the coarse scores of one list: the readable twin of the kernel."""
    coarse, ranks = np.empty(len(scores)), np.arange(1, len(scores) + 1)
    coarse[np.argsort(-scores, kind="stable")] = 1.0 / np.searchsorted(bands(rho, len(scores)), ranks, side="right")
    return coarse


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", LISTS)
@pytest.mark.parametrize("rho", ["1", "1.01", "1.5", "30"])
def test_coarse_scores_follow_a_stable_sort(dtype, kind, rho):
    """Equal scores, and both zeros, keep the order of the array; neighbouring doubles do not."""
    rng = np.random.default_rng(5)
    offsets = np.cumsum([0, 0, 1, 255, 256, 257, 0, 1700, 70_000])
    with np.errstate(over="ignore"):
        each = [LISTS[kind](rng, n).astype(dtype) for n in np.diff(offsets)]
    coarse = Bands(rho).coarsen(np.concatenate(each), offsets)
    assert coarse.dtype == np.float64
    np.testing.assert_array_equal(coarse, np.concatenate([by_a_stable_sort(rho, scores) for scores in each]))


@pytest.mark.parametrize("kind", LISTS)
@pytest.mark.parametrize("rule", ["run_order", "docid_ascending"])
def test_rules_that_order_documents_see_bands_by_a_stable_sort(kind, rule):
    """The engine, which compares keys, gives the same bits as for the coarse scores of the twin."""
    rng = np.random.default_rng(6)
    offsets, labels = np.cumsum([0, 1, 0, 100, 256, 1700]), rng.random(2057) < 0.03
    docids = [f"d{i:04}" for i in rng.permutation(2057)] if rule != "run_order" else None
    each = [LISTS[kind](rng, n) for n in np.diff(offsets)]
    options = {"offsets": offsets, "ties": rule, "docids": docids}
    coarse = Evaluator(labels, ["AP", "RR", "P@5"], precision="bands:1.5", **options)(np.concatenate(each))
    twin = np.concatenate([by_a_stable_sort("1.5", scores) for scores in each])
    assert coarse.tobytes() == Evaluator(labels, ["AP", "RR", "P@5"], **options)(twin).tobytes()


def test_a_list_with_nan_has_no_bands():
    coarse = Bands(2).coarsen(np.array([1.0, np.nan, 3.0, 2.0]), np.array([0, 2, 4]))
    np.testing.assert_array_equal(coarse, [np.nan, np.nan, 1.0, 0.5])
    with pytest.raises(InputError, match="NaN"):
        Evaluator([1, 0], ["RR"], ties="run_order", precision="bands:2")([np.nan, 1.0])


def test_the_kernel_of_bands_is_pickled_with_its_bands():
    scores, offsets = np.array([3.0, 1.0, 2.0]), np.array([0, 3])
    kernel = pickle.loads(pickle.dumps(KernelCoarsening("bands", 3, bands(2, 3))))
    assert kernel.coarsen(scores, offsets).tolist() == Bands(2).coarsen(scores, offsets).tolist() == [1.0, 0.5, 0.5]
