"""Champion lists: results against the reference, ties, costs and parameters."""

import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import Search, searches

from tieaware import InputError
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
