"""The kernels of bootstrap intervals, against NumPy's sort and count."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware.kernels import _resamples


def _neighbours(samples, below):
    found, kept = np.empty((len(samples), 2)), samples.copy()
    _resamples.neighbours(samples, np.asarray(below, dtype=np.int64), np.empty(samples.shape[1]), found)
    np.testing.assert_array_equal(samples, kept)
    return found


def _expected(samples, below):
    ordered, n = np.sort(samples, axis=1), samples.shape[1]
    return np.array([(row[k], row[min(k + 1, n - 1)]) for row, k in zip(ordered, below, strict=True)])


@given(st.integers(1, 700), st.integers(1, 40), st.integers(0, 2**32 - 1), st.data())
def test_places_are_those_of_a_sort(n, n_values, seed, data):
    """Samples with many equal numbers and infinities, long enough that a part of them gives a bound."""
    rng = np.random.default_rng(seed)
    samples = rng.integers(-n_values, n_values + 1, (3, n)) / 4
    samples[rng.random((3, n)) < 0.05] = data.draw(st.sampled_from([-np.inf, np.inf, 0.0]))
    below = [data.draw(st.integers(0, n - 1)) for _ in range(3)]
    np.testing.assert_array_equal(_neighbours(samples, below), _expected(samples, below))


@pytest.mark.parametrize("place", [0, 1, 24, 250, 500, 749, 975, 998, 999])
@pytest.mark.parametrize("kind", ["ascending", "descending", "equal", "the part is unlike the rest"])
def test_samples_in_order(kind, place):
    """Also where the bound of a sixteenth of the sample does not reach the place."""
    samples = {
        "ascending": np.arange(1000.0), "descending": -np.arange(1000.0), "equal": np.full(1000, 0.5),
        "the part is unlike the rest": np.where(np.arange(1000) % 16 == 0, (-1.0) ** (place < 500) * 1e6, 1.0),
    }[kind][None]  # fmt: skip
    np.testing.assert_array_equal(_neighbours(samples, [place]), _expected(samples, [place]))


@given(st.integers(1, 20), st.integers(0, 50), st.integers(0, 2**32 - 1))
def test_draws_are_counted(n, drawn, seed):
    topics = np.random.default_rng(seed).integers(0, n, (4, drawn))
    counts = np.zeros((4, n))
    _resamples.count_draws(topics, counts)
    np.testing.assert_array_equal(counts, [np.bincount(row, minlength=n) for row in topics])


def test_wrong_shapes_are_refused():
    samples, space, found = np.zeros((2, 3)), np.empty(3), np.empty((2, 2))
    with pytest.raises(ValueError, match="an entry for each sample"):
        _resamples.neighbours(samples, np.zeros(1, dtype=np.int64), space, found)
    with pytest.raises(ValueError, match="space must hold a sample"):
        _resamples.neighbours(samples, np.zeros(2, dtype=np.int64), space[:2], found)
    for place in (-1, 3):
        with pytest.raises(ValueError, match="a place is outside the sample"):
            _resamples.neighbours(samples, np.array([0, place]), space, found)
    with pytest.raises(ValueError, match="a row for each resample"):
        _resamples.count_draws(np.zeros((2, 3), dtype=np.int64), np.zeros((1, 3)))
    for topic in (-1, 3):
        with pytest.raises(ValueError, match="a draw is not a topic"):
            _resamples.count_draws(np.array([[0, topic]]), np.zeros((1, 3)))
