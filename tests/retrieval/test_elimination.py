"""Index elimination: results against the reference, costs and parameters."""

import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import Search, searches

from tieaware import InputError
from tieaware.retrieval import AtLeast, Exact, HighIdf, Index

SHARES = st.sampled_from((0.0, 0.1, 0.3, 0.5, 0.9, 1.0))


@given(searches(), st.sampled_from((0.0, 0.05, 0.2, 0.5, 1.0)), SHARES)
@settings(max_examples=75, deadline=None)
def test_results_of_high_idf_equal_the_reference(search: Search, min_idf, share):
    method = HighIdf(weighting=search.weighting, min_idf=min_idf, share=share)
    assert search.found(method) == search.expected(reference.high_idf(search.collection(), min_idf, share))


@given(searches(), st.integers(1, 4), SHARES)
@settings(max_examples=75, deadline=None)
def test_results_of_at_least_equal_the_reference(search: Search, m, share):
    method = AtLeast(weighting=search.weighting, m=m, share=share)
    assert search.found(method) == search.expected(reference.at_least(search.collection(), m, share))


@given(searches())
@settings(max_examples=30, deadline=None)
def test_eliminating_nothing_equals_exact_search(search: Search):
    exact = search.found(Exact(weighting=search.weighting))
    assert search.found(HighIdf(weighting=search.weighting)) == exact
    assert search.found(AtLeast(weighting=search.weighting)) == exact


def test_postings_of_frequent_terms_are_not_read():
    index = Index.build([(i, "the tie" if i % 5 == 0 else "the") for i in range(20)], analyzer=str.split)
    run, costs = HighIdf(min_idf=0.5).counted(index, {"q": "the tie", "r": "the"}, k=3)
    assert run.documents.to_list() == [0, 5, 10]
    assert costs.postings.tolist() == [4, 0]
    assert str(HighIdf(min_idf=0.5)) == "HighIdf(min_idf=0.5)"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HighIdf(min_idf=-1), "min_idf: expected a number from 0 to inf, found -1"),
        (lambda: HighIdf(share=2), "share: expected a number from 0 to 1, found 2"),
        (lambda: AtLeast(m=0.5), "m: expected a whole number of at least 1, found 0.5"),
        (lambda: AtLeast(share="half"), "share: expected a number from 0 to 1, found 'half'"),
    ],
)
def test_parameters_are_checked(make, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        make()
