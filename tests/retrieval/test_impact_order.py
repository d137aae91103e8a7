"""Impact ordering."""

import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import Search, searches

from tieaware import InputError
from tieaware.retrieval import Exact, ImpactOrdered, Index
from tieaware.retrieval.method import posting_weights, query_weights

WEIGHTINGS = ("nnn.nnn", "lnc.ltc", "bm25", "impact:1", "impact:3", "impact:16:lnc.ltc")


def expected(search, postings, floor, order):
    """Postings one by one, in their order, and then the scores of what was read."""
    collection = search.collection()
    kept = [(q * w, len(collection.weights[t]), t, d)
            for t, q in collection.query.items() for d, w in collection.weights[t].items()]  # fmt: skip
    largest = max((impact for impact, *_ in kept), default=0)
    kept.sort(key=lambda p: (-p[0], *p[1:]) if order == "impact" else (p[1], -p[0], *p[2:]))
    limit = len(kept)
    if postings is not None:
        limit = postings if isinstance(postings, int) else reference.rounded_up(postings, len(kept))
    read = [p for p in kept if p[0] >= floor * largest][:limit]
    weights = {t: {} for t in collection.query}
    for _, _, t, d in read:
        weights[t][d] = collection.weights[t][d]
    part = reference.Collection(weights, collection.query, collection.texts)
    return search.expected(reference.exact(part)), len(read)


@given(
    searches(), st.one_of(st.none(), st.integers(0, 12), st.sampled_from((0.0, 0.1, 0.5, 1.0))),
    st.sampled_from((0.0, 0.4, 1.0)), st.sampled_from(("impact", "idf")), st.sampled_from(WEIGHTINGS),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_what_is_read_first_is_that_of_plain_python(search: Search, postings, floor, order, weighting):
    search = search._replace(weighting=weighting)
    method = ImpactOrdered(postings=postings, floor=floor, order=order, weighting=weighting)
    found, n_read = expected(search, postings, floor, order)
    assert search.found(method) == found
    assert method.searcher(search.index, search.k, False)(search.query).n_postings == n_read


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("order", ["impact", "idf"])
def test_without_limit_it_is_exact_search(weighting, order):
    texts = [" ".join("abcdefgh"[(i * j) % 8] for j in range(1 + i % 7)) for i in range(3000)]
    index = Index.build(enumerate(texts), analyzer=str.split)
    queries = {"q": "a b c d", "r": "h h a", "s": "e", "t": "unknown", "u": ""}
    exact = Exact(weighting=weighting).search(index, queries, 100, whole_ties=True)
    for method in (ImpactOrdered(order=order, weighting=weighting),
                   ImpactOrdered(order=order, weighting=weighting, postings=1.0)):  # fmt: skip
        for threads in (1, 2):
            run = method.search(index, queries, 100, whole_ties=True, threads=threads)
            assert run.documents == exact.documents
            assert run.scores.tobytes() == exact.scores.tobytes()


def test_impacts_are_whole_and_scores_tie():
    index = Index.build([("d1", "a a b c"), ("d2", "a b"), ("d3", "a c")], analyzer=str.split)
    weights = posting_weights(index, "impact:4")
    assert weights.dtype == "uint8"
    assert weights.max() == 15
    assert weights.min() >= 1
    query = index.query("a a b")
    assert query_weights(index, "impact:4", query).tolist() == [2.0, 1.0]
    scores = ImpactOrdered(weighting="impact:4").search(index, {"q": "a a b"}).scores
    assert (scores == scores.round()).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"postings": -1}, "postings: expected a whole number of at least 0, found -1"),
        ({"postings": 1.5}, "postings: expected a number from 0 to 1, found 1.5"),
        ({"floor": 2}, "floor: expected a number from 0 to 1, found 2"),
        ({"order": "df"}, "order: expected one of impact, idf, found 'df'.*"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        ImpactOrdered(**parameters)
