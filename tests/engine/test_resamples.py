"""The kernels of bootstrap intervals, against NumPy's sort and count."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware.kernels import _resamples


def _neighbours(samples, below):
    found, kept = np.empty((len(samples), 4)), samples.copy()
    _resamples.neighbours(samples, np.array(below, dtype=np.int64), np.empty(2 * samples.shape[1]), found)
    np.testing.assert_array_equal(samples, kept)
    return found


def _expected(samples, below):
    last = samples.shape[1] - 1
    rows = zip(np.sort(samples, axis=1), below, strict=True)
    return [[row[place] for k in places for place in (k, min(k + 1, last))] for row, places in rows]


@given(st.integers(1, 700), st.integers(1, 40), st.integers(0, 2**32 - 1), st.data())
def test_places_are_those_of_a_sort(n, n_values, seed, data):
    """Samples with many equal numbers and infinities, long enough that a part of them gives a bound."""
    rng = np.random.default_rng(seed)
    samples = rng.integers(-n_values, n_values + 1, (3, n)) / 4
    samples[rng.random((3, n)) < 0.05] = data.draw(st.sampled_from([-np.inf, np.inf, 0.0]))
    lower, upper = st.integers(0, (n - 1) // 8), st.integers(n - 1 - (n - 1) // 8, n - 1)
    anywhere = st.integers(0, n - 1)
    below = [data.draw(st.tuples(lower, upper) | st.tuples(anywhere, anywhere)) for _ in range(3)]
    np.testing.assert_array_equal(_neighbours(samples, below), _expected(samples, below))


@pytest.mark.parametrize("places", [(0, 999), (1, 998), (24, 975), (250, 749), (500, 500), (975, 24), (499, 500)])
@pytest.mark.parametrize("kind", ["ascending", "descending", "equal", "the part is high", "the part is low"])
def test_samples_in_order(kind, places):
    """Also where the bounds of a sixteenth of the sample do not reach the places."""
    samples = {
        "ascending": np.arange(1000.0), "descending": -np.arange(1000.0), "equal": np.full(1000, 0.5),
        "the part is high": np.where(np.arange(1000) % 16 == 0, 1e6 + np.arange(1000), 1.0),
        "the part is low": np.where(np.arange(1000) % 16 == 0, np.arange(1000) - 1e6, 1.0),
    }[kind][None]  # fmt: skip
    np.testing.assert_array_equal(_neighbours(samples, [places]), _expected(samples, [places]))


@given(st.integers(1, 20), st.integers(0, 50), st.integers(0, 2**32 - 1))
def test_draws_are_counted(n, drawn, seed):
    topics = np.random.default_rng(seed).integers(0, n, (4, drawn))
    counts = np.zeros((4, n))
    _resamples.count_draws(topics, counts)
    np.testing.assert_array_equal(counts, [np.bincount(row, minlength=n) for row in topics])
