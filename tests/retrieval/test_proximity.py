"""Proximity: the smallest windows, the ranking by them, and the learned weight."""

from itertools import pairwise

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import Search, searches

from tieaware import InputError
from tieaware.kernels import _windows
from tieaware.retrieval import Index, learn_alpha, smallest_windows


@given(searches(), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_windows_equal_the_reference(search: Search, random):
    documents = random.choices(range(len(search.index)), k=12)
    expected = [reference.smallest_window(search.needed, search.collection().texts[d]) for d in documents]
    assert smallest_windows(search.index, search.words, documents).tolist() == expected
    assert smallest_windows(search.index, search.query, np.array(documents)).tolist() == expected


def test_the_textbook_example():
    texts = ["the quality of mercy is not strained", "strained mercy", "mercy mercy", ""]
    index = Index.build(enumerate(texts), analyzer=str.split)
    assert smallest_windows(index, "strained mercy", range(4)).tolist() == [4, 2, 0, 0]
    assert smallest_windows(index, "mercy mercy", range(4)).tolist() == [0, 0, 2, 0]
    for unknown in ("unknown", "mercy unknown", "unknown strained mercy", index.query("strained unknown")):
        assert smallest_windows(index, unknown, range(4)).tolist() == [0, 0, 0, 0]
    assert smallest_windows(index, "mercy", []).dtype == np.int32


def test_windows_of_long_documents():
    """Windows equal the best of all combinations of positions, for two terms, and for three with one needed twice."""
    rng = np.random.default_rng(3)
    words = rng.choice(list("abcdefghij"), 3000, p=[0.005, 0.005, 0.01, *[0.14] * 7])
    index = Index.build([("d", " ".join(words))], analyzer=str.split)
    a, b = (np.flatnonzero(words == word) for word in "ab")
    assert smallest_windows(index, "a b", [0]) == np.abs(a[:, None] - b).min() + 1
    c = np.flatnonzero(words == "c")
    windows = [np.array([x, y, *pair]) for x in a for y in b for pair in pairwise(c)]
    assert smallest_windows(index, "c a b c", [0]) == min(np.ptp(window) for window in windows) + 1


def test_the_learned_weight_is_that_of_least_squares():
    rng = np.random.default_rng(4)
    scores, windows = rng.random(50), rng.integers(0, 5, 50)
    near = np.where(windows > 0, 1 / np.maximum(windows, 1), 0)
    relevant = 2 * scores + near + rng.random(50) > 1.8
    fitted = np.linalg.lstsq(np.column_stack([np.ones(50), scores, near]), relevant.astype(float))[0]
    assert learn_alpha(scores, windows, relevant) == pytest.approx(fitted[2] / fitted[1], rel=1e-9)
    assert learn_alpha([1, 2, 1, 2], [0, 0, 1, 1], [False, True, False, False]) == 0
    for unusable in (np.ones(50), near, -scores):
        with pytest.raises(InputError, match=r"^scores: scores and windows must vary independently"):
            learn_alpha(unusable, windows, relevant)
    with pytest.raises(InputError, match=r"^scores, windows and relevant: must be one-dimensional and equally long"):
        learn_alpha(scores, windows[1:], relevant)


def test_the_kernel_stays_inside_its_arrays_for_any_content():
    """A malicious file or a racing thread may pass any numbers to the kernel; only the result's shape must be right."""
    rng = np.random.default_rng(5)
    for _ in range(300):
        n_terms, n_postings, n_tokens = rng.integers(0, 4), rng.integers(0, 6), rng.integers(0, 8)
        offsets = [-(2**62), -1, 0, 1, 2, 5, 9, 2**62]
        starts, stops = rng.choice(offsets, (2, n_terms))
        widths = _windows.smallest_windows(
            starts, stops, rng.choice([-5, 0, 1, 2, 2**31 - 1], n_terms).astype(np.int32),
            rng.integers(-1, 3, n_postings).astype(np.int32), rng.choice(offsets, n_postings + 1),
            rng.choice([-(2**31), 0, 1, 2**31 - 1], n_tokens).astype(np.int32), np.arange(-1, 3, dtype=np.int32),
        )  # fmt: skip
        assert widths.shape == (4,)
        assert (widths >= 0).all()
    empty = np.empty(0, np.int64)
    with pytest.raises(ValueError, match="lengths"):
        _windows.smallest_windows(
            empty, empty, *(np.ones(1, np.int32),) * 2, np.zeros(2, np.int64), *(np.ones(1, np.int32),) * 2
        )


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([0, 2], r"documents\[1\]: expected a number from 0 to 1, found 2"),
        ([-1], r"documents\[0\]: expected a number from 0 to 1, found -1"),
        ([0.5], "documents: expected whole numbers in one dimension, found float64 of shape .*"),
        ([[0]], "documents: expected whole numbers in one dimension, found int64 of shape .*"),
    ],
)
def test_documents_are_checked(documents, message):
    index = Index.build([("d", "a"), ("e", "b")], analyzer=str.split)
    with pytest.raises(InputError, match=f"^{message}$"):
        smallest_windows(index, "a", documents)
