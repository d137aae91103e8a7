"""Methods with static quality: results against the reference and each other, early stopping, errors."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import Search, searches

from tieaware import InputError
from tieaware.retrieval import Exact, GlobalChampions, HighLow, Index, NetScore


@given(searches(), st.sampled_from((0.0, 0.2, 0.5, 1.0)))
@settings(max_examples=75, deadline=None)
def test_results_of_net_score_equal_the_reference(search: Search, share):
    method = NetScore(weighting=search.weighting, share=share)
    assert search.found(method) == search.expected(reference.net_score(search.collection(), share))


@given(searches(), st.integers(1, 5), st.booleans())
@settings(max_examples=75, deadline=None)
def test_results_of_global_champions_equal_the_reference(search: Search, r, fallback):
    method = GlobalChampions(weighting=search.weighting, r=r, fallback=fallback)
    assert search.found(method) == search.expected(
        reference.global_champions(search.collection(), search.k, r, fallback)
    )


@given(searches(), st.integers(1, 5), st.integers(1, 3))
@settings(max_examples=75, deadline=None)
def test_results_of_high_low_equal_the_reference(search: Search, r, m):
    method = HighLow(weighting=search.weighting, r=r, m=m)
    assert search.found(method) == search.expected(reference.high_low(search.collection(), search.k, r, m))


@given(searches())
@settings(max_examples=30, deadline=None)
def test_methods_agree_with_lists_of_all_documents(search: Search):
    """With lists of all documents, the three methods find the same; with quality 0, they also equal exact search."""
    n = len(search.index)
    for quality in (search.index.quality, np.zeros(n)):
        index = Index.build(
            ((i, " ".join(text)) for i, text in enumerate(search.texts)), analyzer=str.split, quality=quality
        )
        again = search._replace(index=index)
        net = again.found(NetScore(weighting=search.weighting))
        assert again.found(GlobalChampions(weighting=search.weighting, r=n)) == net
        assert again.found(HighLow(weighting=search.weighting, r=n)) == net
    positive = [each for each in net if each[1] > 0]
    assert positive == again.found(Exact(weighting=search.weighting))[: len(positive)]


def test_net_score_stops_early_with_the_same_result():
    """The quality of 20,000 documents falls so fast that the search can stop after the first chunks."""
    rng = np.random.default_rng(1)
    words = rng.choice(list("abcdefgh"), (20_000, 5))
    quality = np.round(rng.random(20_000) ** 8, 3)
    index = Index.build(((i, " ".join(row)) for i, row in enumerate(words)), analyzer=str.split, quality=quality)
    queries = {"one": "a", "two": "b c", "three": "d e f"}
    for whole_ties in (False, True):
        run, costs = NetScore().counted(index, queries, 10, whole_ties=whole_ties)
        everything, all_costs = HighLow(r=20_000).counted(index, queries, 10, whole_ties=whole_ties)
        np.testing.assert_array_equal(run.scores, everything.scores)
        assert run.documents == everything.documents
    assert (costs.postings < all_costs.postings / 4).all()
    assert (costs.documents < all_costs.documents / 2).all()


def test_whole_ties_are_found_in_all_chunks():
    index = Index.build([(i, "tie") for i in range(1000)], analyzer=str.split, quality=np.full(1000, 0.5))
    assert len(NetScore().search(index, {"q": "tie"}, 5, whole_ties=True).scores) == 1000
    assert NetScore().search(index, {"q": "tie"}, 5).documents.to_list() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("method", [NetScore(), GlobalChampions(), HighLow()], ids=str)
def test_an_index_without_quality_is_refused(method):
    message = "index: has no static quality; build it with a quality of at least 0 for each document"
    with pytest.raises(InputError, match=f"^{message}$"):
        method.search(Index.build([("d", "a")], analyzer=str.split), {"q": "a"})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NetScore(share=-0.1), "share: expected a number from 0 to 1, found -0.1"),
        (lambda: GlobalChampions(r=0), "r: expected a whole number of at least 1, found 0"),
        (lambda: GlobalChampions(fallback=1), "fallback: expected True or False, found 1"),
        (lambda: HighLow(r=0.5), "r: expected a whole number of at least 1, found 0.5"),
        (lambda: HighLow(m=0), "m: expected a whole number of at least 1, found 0"),
    ],
)
def test_parameters_are_checked(make, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        make()
