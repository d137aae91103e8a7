"""The kernels that coarsen scores give the same bits as their readable twins."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support import coarsenings as twins

from tieaware.kernels._coarsening import KernelCoarsening, least_double_of

KINDS = [
    *((name, 0) for name in ("float32", "float16", "bfloat16")),
    *(("decimals", digits) for digits in (0, 1, 2, 3, 8, 15, 16, 22, 23, 30, 300)),
    *(("significant", digits) for digits in (1, 2, 3, 6, 13, 14, 15, 16)),
    *(("levels", n) for n in (1, 2, 11, 256, 2**53)),
]
KIND = pytest.mark.parametrize(("name", "number"), KINDS)
# Longer than a tile of the kernels.
N = 2000


def check(name, number, scores):
    """Compare the bits of a kernel with those of its twin, for one list."""
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    offsets = np.array([0, len(scores)])
    twin = getattr(twins, name)
    expected = twin(scores) if "float" in name else twin(scores, number)
    coarse = KernelCoarsening(name, number).coarsen(scores, offsets)
    assert coarse.dtype == expected.dtype
    different = coarse.view(f"u{coarse.itemsize}") != expected.view(f"u{coarse.itemsize}")
    assert not different.any(), list(zip(scores[different], coarse[different], expected[different], strict=True))[:3]
    single = scores[np.abs(scores) < 3e38].astype(np.float32)
    offsets = np.array([0, len(single)])
    wide = KernelCoarsening(name, number).coarsen(single.astype(np.float64), offsets)
    np.testing.assert_array_equal(KernelCoarsening(name, number).coarsen(single, offsets), wide)


def near(numbers):
    """Return numbers and their neighbours, with both signs."""
    numbers = np.array(numbers, dtype=np.float64)
    each = np.concatenate((numbers, np.nextafter(numbers, np.inf), np.nextafter(numbers, -np.inf)))
    return np.concatenate((each, -each))


@KIND
@given(st.lists(st.floats(allow_nan=False), max_size=30))
@settings(deadline=None, max_examples=50)
def test_any_scores(name, number, values):
    assume(name != "levels" or not values or np.isfinite(values).any())
    check(name, number, values)


@KIND
def test_random_bits(name, number):
    scores = np.random.default_rng(0).integers(0, 2**64, N, dtype=np.uint64).view(np.float64)
    check(name, number, scores[~np.isnan(scores)])


@KIND
def test_usual_scores(name, number):
    """Also scores whose size changes from tile to tile."""
    rng = np.random.default_rng(1)
    sizes = np.repeat(10.0 ** np.array([0, 0, -6, -6, 3, 0, 12, -20, -20, -20, 0, 0, 300, 1]), 700)
    for scores in (
        rng.normal(size=N), rng.gamma(3.0, 5.0, N), rng.normal(size=N) * 10.0 ** rng.integers(-25, 30, N),
        rng.normal(size=len(sizes)) * sizes,
    ):  # fmt: skip
        with np.errstate(over="ignore"):
            check(name, number, scores)


@KIND
def test_some_scores_are_unlike_the_others(name, number):
    """Most scores of a tile are rounded together; those that are far smaller, far larger or near a half, one by one."""
    rng = np.random.default_rng(7)
    others = [0.0, -0.0, np.inf, -np.inf, 5e-324, 1e-30, 1e-7, -1.2345678e-5, 1e300, 0.0005, 0.125, 2.5, -0.5]
    for some in (others, [123456.789, -12345.6789, 1e15 + 0.5]):
        for share in (0.001, 0.02, 0.3):
            scores = np.where(rng.random(4 * N) < share, rng.choice(some, 4 * N), rng.normal(size=4 * N))
            # The first tile has none of them.
            scores[:N] = rng.normal(size=N)
            with np.errstate(over="ignore"):
                check(name, number, scores)


@pytest.mark.parametrize("number", [1, 2, 3, 7, 11, 100, 10**6, 2**39, 2**41])
@pytest.mark.parametrize(("low", "width"), [(0.0, 1.0), (-3.7, 11.3), (1e9, 1.0), (-1e-300, 3e-300), (-1e307, 1e308)])
def test_scores_at_the_edges_of_levels(number, low, width):
    """An edge belongs to the upper level, as far as the quotient of doubles says so."""
    rng = np.random.default_rng(9)
    steps = rng.integers(0, number + 1, N // 8) / number
    scores = np.concatenate([[low, low + width], near(low + width * steps)])
    scores = scores[(scores >= low) & (scores <= low + width)]
    check("levels", number, scores)
    check("levels", number, np.append(scores, [np.inf, -np.inf]))


@KIND
def test_zeros_infinities_denormals_and_limits(name, number):
    limits = [0.0, np.inf, 5e-324, 2.0**-1022, 2.0**-133, 2.0**-134, 2.0**-126, 2.0**-14, 2.0**-24, 2.0**-25]
    # The largest numbers of float16, bfloat16 and float32, and the limits from which numbers become infinite.
    limits += [65504.0, 65520.0, 65536.0, 2.0**128 - 2.0**119, 2.0**128, 2.0**128 - 2.0**103, 1.7e308]
    limits += [2.0**k for k in range(48, 60)]
    with np.errstate(over="ignore"):
        check(name, number, near(limits))


@KIND
def test_powers_of_ten(name, number):
    """At a power of ten, the number of digits before the point changes."""
    check(name, number, near([float(f"1e{k}") for k in range(-320, 309)]))


@KIND
def test_halves(name, number):
    """Exact halves go to the even number; decimal halves that binary cannot represent go where they are nearer."""
    rng = np.random.default_rng(2)
    whole = rng.integers(0, 10**4, N // 4)
    check(name, number, near((whole + 0.5) / 10.0**number if 0 < number <= 22 else whole + 0.5))
    check(name, number, near(rng.integers(0, 10**7, N // 4) / 10.0 ** rng.integers(0, 8, N // 4)))
    check(name, number, near(rng.integers(0, 10**7, N // 4) * 10.0 ** rng.integers(0, 15, N // 4)))
    check(name, number, near(rng.integers(0, 2**30, N // 4) / 2.0 ** rng.integers(0, 30, N // 4)))


@pytest.mark.parametrize(("name", "bits", "lowest"), [("float16", 11, -14), ("bfloat16", 8, -126)])
def test_halves_of_binary_formats(name, bits, lowest):
    rng = np.random.default_rng(3)
    exponents = rng.integers(lowest - 3, lowest + 32, N)
    check(name, 0, near(np.ldexp(rng.integers(0, 2 ** (bits + 1), N).astype(float), exponents - bits)))


@KIND
def test_nan_stays_nan(name, number):
    coarse = KernelCoarsening(name, number).coarsen(np.array([1.0, np.nan, 2.0]), np.array([0, 3]))
    assert np.isnan(coarse).tolist() == [False, True, False]


def test_each_list_has_its_own_levels():
    scores = np.random.default_rng(4).normal(size=N)
    offsets = np.array([0, 0, 1, 700, 700, N])
    coarse = KernelCoarsening("levels", 11).coarsen(scores, offsets)
    expected = [twins.levels(scores[a:b], 11) for a, b in pairwise(offsets)]
    np.testing.assert_array_equal(coarse, np.concatenate(expected))


def test_scores_need_not_be_contiguous():
    scores = np.random.default_rng(5).normal(size=(N, 2))[:, 0]
    coarse = KernelCoarsening("decimals", 2).coarsen(scores, np.array([0, N]))
    np.testing.assert_array_equal(coarse, twins.decimals(scores, 2))


@KIND
def test_kernels_can_be_pickled(name, number):
    scores, offsets = np.random.default_rng(6).normal(size=9), np.array([0, 9])
    kernel = KernelCoarsening(name, number)
    copied = pickle.loads(pickle.dumps(kernel))
    np.testing.assert_array_equal(copied.coarsen(scores, offsets), kernel.coarsen(scores, offsets))


@pytest.mark.parametrize("k", range(-330, 309, 7))
def test_the_least_double_of_a_power_of_ten(k):
    least = least_double_of(k)
    numerator, denominator = least.as_integer_ratio()
    below, above = np.nextafter(least, 0.0).item().as_integer_ratio(), (numerator, denominator)
    power = (10 ** max(k, 0), 10 ** max(-k, 0))
    assert below[0] * power[1] < power[0] * below[1]
    assert above[0] * power[1] >= power[0] * above[1]
