"""Methods with static quality: results against the reference and each other, early stopping, errors."""

from itertools import product

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import Search, searches

from tieaware import InputError
from tieaware.retrieval import Champions, Exact, ExactNetScore, GlobalChampions, HighLow, Index, NetScore


@given(searches(), st.sampled_from((0.0, 0.2, 0.5, 1.0)))
@settings(max_examples=75, deadline=None)
def test_results_of_net_score_equal_the_reference(search: Search, share):
    method = NetScore(weighting=search.weighting, share=share)
    assert search.found(method) == search.expected(reference.net_score(search.collection(), share))
    if share == 1.0:
        assert search.found(ExactNetScore(weighting=search.weighting)) == search.found(method)


@given(searches(), st.sampled_from((0.0, 0.5, 2.0)), st.sampled_from((0.0, 0.1, 3.0)))
@settings(max_examples=75, deadline=None)
def test_exact_net_score_and_net_score_have_the_same_weights(search: Search, quality, score):
    weights = {"quality_weight": quality, "score_weight": score, "weighting": search.weighting}
    assert search.found(ExactNetScore(**weights)) == search.found(NetScore(**weights))


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
        everything = HighLow(r=20_000).search(index, queries, 10, whole_ties=whole_ties)
        np.testing.assert_array_equal(run.scores, everything.scores)
        assert run.documents == everything.documents
    _, all_costs = Exact().counted(index, queries, 10)
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
        (lambda: HighLow(m=0), "m: expected a whole number from 1 to 2,147,483,647, found 0"),
    ],
)
def test_parameters_are_checked(make, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        make()


@pytest.mark.parametrize("weighting", ["lnc.ltc", "bm25", "impact:8"])
def test_entries_that_are_left_out_do_not_change_the_result(weighting):
    """The union of champion lists is scored as all documents are, although few of its entries are read."""
    rng = np.random.default_rng(5)
    texts = [" ".join(map(str, rng.zipf(1.3, 20) % 200)) for _ in range(4000)]
    quality = np.round(rng.random(4000), 2)
    index = Index.build(((i, text) for i, text in enumerate(texts)), analyzer=str.split, quality=quality)
    queries = {i: rng.choice(index.terms[:150], rng.integers(1, 6), replace=False).tolist() for i in range(40)}
    fewer = 0
    for r, k, whole_ties in product((3, 30, 300), (1, 10, 100), (False, True)):
        for make, everything in (
            (Champions, Exact(weighting=weighting)), (GlobalChampions, NetScore(weighting=weighting)),
            (HighLow, NetScore(weighting=weighting)),
        ):  # fmt: skip
            method = make(r=r, weighting=weighting)
            run, costs = method.counted(index, queries, k, whole_ties=whole_ties)
            found, scores = run.to_dict(), everything.search(index, queries, 4000).to_dict()
            by_quality = make is GlobalChampions
            name_of_lists = ("global champions", weighting, r) if by_quality else ("champions", weighting, r, 0.0)
            lists = index.prepared(name_of_lists, lambda: None)
            for name, words in queries.items():
                terms = index.query(words).terms
                own = [lists.documents[lists.starts[t] : lists.starts[t + 1]].tolist() for t in terms]
                among = set().union(*own)
                if make is HighLow and len(among) < k:
                    continue
                ranking = [(d, scores[name][d]) for d in sorted(among) if d in scores[name]]
                ranking.sort(key=lambda each: -each[1])
                least = ranking[k - 1][1] if len(ranking) > k else -1.0
                expected = ranking[:k] + [each for each in ranking[k:] if whole_ties and each[1] == least]
                assert list(found.get(name, {}).items()) == expected
                fewer += int(costs.documents[list(queries).index(name)] < len(among))
    assert fewer > 300
