"""Champion lists: results against the reference, ties, costs and parameters."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import Search, searches

from tieaware import InputError
from tieaware.kernels import _top
from tieaware.retrieval import Champions, Exact, Index


@given(searches(), st.integers(1, 5), st.sampled_from((0.0, 0.3, 0.5, 1.0)), st.booleans())
@settings(max_examples=75, deadline=None)
def test_results_equal_the_reference(search: Search, r, share, fallback):
    method = Champions(weighting=search.weighting, r=r, share=share, fallback=fallback)
    assert search.found(method) == search.expected(
        reference.champions(search.collection(), search.k, r, share, fallback)
    )


@given(searches())
@settings(max_examples=30, deadline=None)
def test_lists_of_all_documents_equal_exact_search(search: Search):
    exact = search.found(Exact(weighting=search.weighting))
    assert search.found(Champions(weighting=search.weighting, r=len(search.index))) == exact
    assert search.found(Champions(weighting=search.weighting, r=1, share=1.0)) == exact


def test_the_largest_values_equal_a_stable_sort():
    """Lists of any length, with few or many distinct values, and values that differ in their last bits only."""
    rng = np.random.default_rng(3)
    lengths = [0, 1, 2, 30, 300, 5000, 24, 25, 700, 700]
    starts = np.cumsum([0, *lengths])
    sizes = np.array([3, 0, 1, 7, 100, 2500, 12, 24, 699, 1])
    values = rng.integers(0, 200, starts[-1]).astype(np.float64)
    values[100:3000] = 1 + rng.integers(0, 50, 2900) * np.finfo(np.float64).eps
    values[3000:4000] = rng.choice([-np.inf, -1.5, -0.0, 0.0, 5e-324, np.inf], 1000)
    marked = _top.largest(starts, values, sizes)
    for a, b, size in zip(starts[:-1], starts[1:], sizes, strict=True):
        expected = np.argsort(-values[a:b], kind="stable")[:size]
        assert np.flatnonzero(marked[a:b]).tolist() == sorted(expected.tolist())
    for wrong in ((starts[1:], values, sizes), (starts, values[:9], sizes), (starts, values, -sizes)):
        with pytest.raises(ValueError, match="starts"):
            _top.largest(*wrong)


def test_first_tied_documents_are_champions_and_all_reads_count():
    index = Index.build([(i, "tie") for i in range(9)] + [(9, "tie tie rank")], analyzer=str.split)
    run, costs = Champions(weighting="nnn.nnn", r=3).counted(index, {"q": "tie rank", "r": "no"}, k=5)
    assert run.documents.to_list() == [9, 0, 1]
    # The two champion lists have four entries, and the three documents in them have four postings of the query's terms.
    assert costs.postings.tolist() == [8, 0]
    assert costs.documents.tolist() == [3, 0]
    # Three champions are enough for the top three, but too few for the top five.
    method = Champions(weighting="nnn.nnn", r=3, fallback=True)
    assert method.counted(index, {"q": "tie rank"}, k=3)[1].postings.tolist() == [8]
    run, costs = method.counted(index, {"q": "tie rank"}, k=5)
    assert run.documents.to_list() == [9, 0, 1, 2, 3]
    assert costs.postings.tolist() == [4 + 11]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"r": 0}, "r: expected a whole number of at least 1, found 0"),
        ({"share": 2}, "share: expected a number from 0 to 1, found 2"),
        ({"fallback": "no"}, "fallback: expected True or False, found 'no'"),
        ({"weighting": "xyz"}, "weighting: expected .*, found 'xyz'"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        Champions(**parameters)
