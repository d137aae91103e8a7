"""The thesaurus by co-occurrence against the product of matrices that defines it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import Search, searches

from tieaware import InputError
from tieaware.retrieval import Exact, Index, Thesaurus, parse_method, parse_query
from tieaware.retrieval.method import query_weights


def similarities(search: Search) -> np.ndarray:
    """Return A·Aᵀ, where A has a row of length 1 for each term."""
    a = np.zeros((len(search.index.terms), len(search.texts)))
    for t, weights in search.collection().weights.items():
        for d, weight in weights.items():
            a[t, d] = weight
    norms = np.sqrt((a * a).sum(axis=1, keepdims=True))
    a /= np.where(norms > 0, norms, 1)
    return a @ a.T


@given(searches(), st.sampled_from((1, 2, 20)))
@settings(max_examples=100, deadline=None)
def test_related_terms_are_those_of_the_matrix(search: Search, n):
    terms, matrix = search.index.terms, similarities(search)
    thesaurus = Thesaurus(search.index, weighting=search.weighting)
    for t, term in enumerate(terms):
        found = thesaurus.related(term, n)
        assert term not in dict(found)
        expected = sorted(np.delete(matrix[t], t)[np.delete(matrix[t], t) > 0], reverse=True)[:n]
        assert [s for _, s in found] == pytest.approx(expected)
        assert [s for _, s in found] == pytest.approx([matrix[t, terms.index(other)] for other, _ in found])


@given(searches(), st.sampled_from((1, 2)), st.sampled_from((0.0, 0.5)))
@settings(max_examples=100, deadline=None)
def test_expanded_queries_are_those_of_the_definition(search: Search, n, beta):
    index, thesaurus = search.index, Thesaurus(search.index)
    own = dict(zip(search.query.terms.tolist(), query_weights(index, "lnc.ltc", search.query).tolist(), strict=True))
    expected = dict(own)
    for t, weight in own.items():
        for other, similarity in thesaurus.related(index.terms[t], n):
            number = index.terms.index(other)
            if number not in own:
                expected[number] = expected.get(number, 0.0) + beta * weight * similarity
    query = thesaurus.expand({"q": search.words}, n=n, beta=beta)["q"]
    found = dict(zip(query.terms.tolist(), query.weights.tolist(), strict=True))
    assert found == {t: pytest.approx(w) for t, w in expected.items() if w or t in own}
    assert query.frequencies.tolist() == [search.needed[t] for t in query.terms.tolist()]


def test_similarities_by_hand():
    """The rows are (1, 1, 1, 0), (1, 1, 0, 0) and (0, 0, 1, 1), so the cosines are 2/√6, 1/√6 and 0."""
    texts = [("d1", "tie rank"), ("d2", "tie rank"), ("d3", "tie list"), ("d4", "list")]
    thesaurus = Thesaurus(Index.build(texts, analyzer=str.split))
    assert thesaurus.related("tie") == [("rank", pytest.approx(2 / 6**0.5)), ("list", pytest.approx(1 / 6**0.5))]
    assert thesaurus.related("rank") == [("tie", pytest.approx(2 / 6**0.5))]


def test_expanded_queries_find_documents_without_the_words():
    index = Index.build([("d1", "car engine"), ("d2", "auto engine"), ("d3", "tree")], analyzer=str.split)
    query = parse_query(index, "car NOT tree")
    expanded = Thesaurus(index).expand({"q": query}, weighting="nnn.nnn", beta=0.5)["q"]
    run = Exact(weighting="nnn.nnn").search(index, {"q": expanded})
    assert run.documents.to_list() == ["d1", "d2"]
    assert expanded.documents.tolist() == [0, 1]


def test_unusable_arguments_are_refused():
    thesaurus = Thesaurus(Index.build([("d1", "tie")], analyzer=str.split))
    assert repr(thesaurus) == "Thesaurus(Index(1 document, 1 term, 1 posting), weighting='nnn.nnn')"
    for call, message in (
        (lambda: thesaurus.related("no"), "^term: the index has no term 'no'$"),
        (lambda: thesaurus.related("tie", 0), "^n: expected a whole number of at least 1, found 0$"),
        (lambda: thesaurus.expand({"q": "tie"}, beta=-1), "^beta: expected a number from 0 to "),
        (lambda: parse_method("Thesaurus"), "^method: Thesaurus is not a method: it expands queries"),
    ):
        with pytest.raises(InputError, match=message):
            call()
