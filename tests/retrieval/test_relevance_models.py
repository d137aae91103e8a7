"""RM3 against its formula in exact fractions, and against the mean over all orders of ties."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import Search, find, searches

from tieaware import InputError
from tieaware.kernels import _slots
from tieaware.retrieval import RM3, Exact, Index, Query, parse_method, parse_query
from tieaware.retrieval.feedback import _likelihoods
from tieaware.retrieval.method import WeightedQuery, query_weights

EXACT = Exact(weighting="nnn.nnn")


def relevance_model(texts: list[list[str]], shares: dict[int, Fraction]) -> dict[str, Fraction]:
    """Return Σ share tf/length over documents, divided by the sum of the shares."""
    total = sum(shares.values()) or 1
    words = {word for d in shares for word in texts[d]}
    return {
        word: sum(share * Fraction(texts[d].count(word), len(texts[d])) for d, share in shares.items()) / total
        for word in words
    }


def rm3(
    query: dict[str, Fraction], model: dict[str, Fraction], n_terms: int, original: Fraction, order: list[str]
) -> dict[str, Fraction]:
    """Cut the model, scale it to a sum of 1, and interpolate it with the query."""
    kept = sorted(model, key=lambda word: (-model[word], order.index(word)))[:n_terms]
    total, tokens = sum(model[word] for word in kept) or 1, sum(query.values()) or 1
    mixed = {word: original * w / tokens for word, w in query.items()}
    for word in kept:
        mixed[word] = mixed.get(word, Fraction(0)) + (1 - original) * model[word] / total
    return {word: w for word, w in mixed.items() if w}


def expanded(method: RM3, index: Index, query: Query) -> dict[str, float]:
    """Return the weights of the query that a method makes."""
    first = find(Exact(weighting=method.weighting), index, method.depth, True, query)
    order = np.argsort(first.documents)
    ranked = list(zip(first.documents.tolist(), first.scores.tolist(), strict=True))
    inclusion = reference.inclusion(ranked, method.depth)
    top = first._replace(documents=first.documents[order], scores=first.scores[order])
    shares = np.array([inclusion[d] for d in top.documents.tolist()], np.float64)
    weighted = WeightedQuery(query, query.terms, query_weights(index, method.weighting, query))
    new = method._expansion(index)[1](weighted, top, shares)
    return {index.terms[t]: w for t, w in zip(new.terms.tolist(), new.weights.tolist(), strict=True)}


@given(searches(), st.sampled_from((1, 2, 3, 20)), st.sampled_from((1, 2, 20)), st.sampled_from((0, 0.25, 0.5, 1)))
@settings(max_examples=150, deadline=None)
def test_expanded_queries_equal_the_formula(search: Search, depth, n_terms, original):
    """With scores that are whole numbers, the weights of the new query equal those in exact fractions."""
    index, order = search.index, search.index.terms
    scores = {d: sum(text.count(word) for word in search.words) for d, text in enumerate(search.texts)}
    ranked = sorted(((d, s) for d, s in scores.items() if s), key=lambda each: (-each[1], each[0]))
    above = {s: sum(other > s for _, other in ranked) for _, s in ranked}
    sizes = {s: sum(other == s for _, other in ranked) for _, s in ranked}
    shares = {d: s * min(Fraction(1), max(Fraction(0), Fraction(depth - above[s], sizes[s]))) for d, s in ranked}
    query = {word: Fraction(search.words.count(word)) for word in set(search.words) & set(order)}
    model = relevance_model(search.texts, {d: share for d, share in shares.items() if share})
    # Words whose probabilities are equal but computed in different ways may be cut in another order.
    if len({float(p) for p in model.values()}) < len(model):
        n_terms = 20
    expected = rm3(query, model, n_terms, Fraction(original), order)
    method = RM3(depth=depth, n_terms=n_terms, original=original, weighting="nnn.nnn")
    assert expanded(method, index, search.query) == {word: pytest.approx(float(w)) for word, w in expected.items()}


@given(searches())
@settings(max_examples=50, deadline=None)
def test_likelihoods_weight_the_documents(search: Search):
    """With a language model, documents weigh as much as the likelihood of the query."""
    everything = [word for text in search.texts for word in text]
    known = [word for word in search.words if word in everything]
    mu = Fraction(3)
    shares = {}
    for d, text in enumerate(search.texts):
        if set(text) & set(known):
            factors = (text.count(w) + mu * Fraction(everything.count(w), len(everything)) for w in known)
            shares[d] = math.prod(factor / (len(text) + mu) for factor in factors)
    query = {word: Fraction(known.count(word)) for word in known}
    expected = rm3(query, relevance_model(search.texts, shares), 20, Fraction(1, 2), search.index.terms)
    found = expanded(RM3(depth=20, n_terms=20, weighting="lm-dirichlet:3"), search.index, search.query)
    assert found == {word: pytest.approx(float(w), rel=1e-5) for word, w in expected.items()}


def test_relevance_model_is_the_mean_over_all_orders_of_ties():
    """Scores are linear in the query, so the expected model must give the mean of the scores over all tie orders."""
    texts = ["tie tie a", "tie b b", "tie c", "tie a c d", "b", "c c", "a d"]
    index = Index.build(enumerate(texts), analyzer=str.split)
    words = [text.split() for text in texts]
    # Document 0 has the score 2; documents 1 to 3 have the score 1, and two of them are in the top three.
    scores, orders = np.zeros(len(texts)), list(permutations((1, 2, 3)))
    for first, second, _ in orders:
        model = relevance_model(words, {0: Fraction(2), first: Fraction(1), second: Fraction(1)})
        mixed = rm3({"tie": Fraction(1)}, model, 20, Fraction(1, 2), index.terms)
        for d, text in enumerate(words):
            scores[d] += float(sum(w * text.count(word) for word, w in mixed.items())) / len(orders)
    run = RM3(depth=3, n_terms=20, weighting="nnn.nnn").search(index, {"q": "tie"})
    assert len(run.scores) == len(texts)
    np.testing.assert_allclose(run.scores, scores[run.documents.to_list()], rtol=1e-12)


@given(searches())
@settings(max_examples=50, deadline=None)
def test_first_documents_of_the_query_alone_are_those_of_exact_search(search: Search):
    found = search.found(RM3(original=1, weighting="nnn.nnn"))
    n = max(1, len([word for word in search.words if word in search.index.terms]))
    exact, every = (each.found(EXACT) for each in (search, search._replace(k=len(search.texts))))
    # Rounding may change the order of scores that are equal.
    assert [s for _, s in found] == [pytest.approx(s / n) for _, s in exact]
    assert all(s == pytest.approx(dict(every)[d] / n) for d, s in found)


def test_first_of_tied_terms_are_kept():
    index = Index.build([(1, "tie " + " ".join(f"t{i}" for i in range(40))), (2, "other")], analyzer=str.split)
    method = RM3(depth=1, n_terms=20, original=0, weighting="nnn.nnn")
    assert expanded(method, index, index.query("tie")) == dict.fromkeys(index.terms[:20], pytest.approx(1 / 20))


def test_filters_and_costs():
    index = Index.build([(1, "tie rank"), (2, "tie rank list"), (3, "rank"), (4, "list")], analyzer=str.split)
    method = RM3(depth=1, weighting="nnn.nnn")
    costs = method.counted(index, {"q": "tie", "r": "no"})[1]
    # The first search reads two postings, the two documents that tie for the top rank have five terms, and the second
    # search reads seven postings.
    assert costs.postings.tolist() == [2 + 5 + 7, 0]
    run = method.search(index, {"q": parse_query(index, "tie NOT list")})
    assert run.documents.to_list() == [1, 3]


def test_name():
    assert str(RM3()) == "RM3(depth=10)"
    method = RM3(n_terms=5, original=0.2, weighting="bm25")
    assert str(method) == "RM3(depth=10, n_terms=5, original=0.2, weighting='bm25')"
    assert parse_method(str(method)) == method


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"depth": 0}, "depth: expected a whole number of at least 1, found 0"),
        ({"n_terms": 0}, "n_terms: expected a whole number of at least 1, found 0"),
        ({"original": 1.5}, "original: expected a number from 0 to 1, found 1.5"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        RM3(**parameters)


def test_likelihoods_have_the_same_bits_on_every_platform():
    scores = np.array([0.0, -0.001, -0.5, -1.0, -10.25, -100.5, -700.0, -np.inf])
    likelihoods = _likelihoods(scores)
    assert [x.hex() for x in likelihoods.tolist()] == [
        "0x1.0000000000000p+0", "0x1.ff7cfe56f1a9ep-1", "0x1.368b2fc6f960ap-1", "0x1.78b56362cef38p-2",
        "0x1.2899a7a83544ap-15", "0x1.01a0e5643647cp-145", "0x1.14f2b0fb93115p-1010", "0x0.0p+0",
    ]  # fmt: skip
    np.testing.assert_allclose(likelihoods, [math.exp(x) for x in scores.tolist()], rtol=1e-13)
    assert len(_likelihoods(np.empty(0))) == 0
    assert np.isnan(_slots.exponentials(np.array([np.nan]))).all()
    with pytest.raises(ValueError, match="must not be above 0"):
        _slots.exponentials(np.array([0.1]))
