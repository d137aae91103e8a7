"""Expansion of queries: by judgments, by blind feedback, by a relevance model, and by a thesaurus."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import Search, find, searches

from tieaware import InputError, Qrels
from tieaware.kernels import _slots
from tieaware.retrieval import (
    RM3,
    AtLeast,
    BlindFeedback,
    Champions,
    Exact,
    Index,
    Proximity,
    Query,
    Thesaurus,
    ide_dec_hi,
    parse_method,
    parse_query,
    rocchio,
)
from tieaware.retrieval.feedback import _likelihoods
from tieaware.retrieval.method import WeightedQuery, query_weights

LIMITS = st.sampled_from((None, 0, 1, 2))


@given(
    searches(), st.text("x012", min_size=12, max_size=12), st.sampled_from((0.0, 0.5, 1.0)),
    st.sampled_from((0.0, 0.75)), st.sampled_from((0.0, 0.15, 2.0)), LIMITS, st.sampled_from((1, 2)),
)  # fmt: skip
@settings(max_examples=100, deadline=None)
def test_expanded_queries_equal_the_reference(search: Search, labels, alpha, beta, gamma, n_terms, rel):
    c = search.collection()
    # Judge the documents d0 to d11, some of which may not be in the index. The label x becomes -1, which means
    # unjudged.
    judged = {d: -1 if label == "x" else int(label) for d, label in enumerate(labels)}
    qrels = {"q": {f"d{d}": label for d, label in judged.items()}, "another": {"d0": 1}}
    expanded = rocchio(
        search.index, {"q": search.words, "unjudged": search.words}, qrels, weighting=search.weighting, alpha=alpha,
        beta=beta, gamma=gamma, n_terms=n_terms, rel=rel,
    )  # fmt: skip
    relevant = {d: 1.0 for d in c.documents if judged[d] >= rel}
    others = {d: 1.0 for d in c.documents if 0 <= judged[d] < rel}
    expected = reference.rocchio(c, relevant, others, alpha, beta, gamma, n_terms)
    query = expanded["q"]
    assert query.terms.tolist() == sorted(expected)
    assert dict(zip(query.terms.tolist(), query.weights.tolist(), strict=True)) == expected
    assert query.frequencies.tolist() == [search.needed[t] for t in query.terms.tolist()]
    assert expanded["unjudged"].weights.tolist() == [alpha * w for w in c.query.values() if alpha * w > 0]


def test_blind_feedback_gives_the_mean_score_over_all_orders_of_ties():
    """Scores are linear in the query, so the expected centroid must give the mean of the scores over all tie orders."""
    texts = ["tie tie a", "tie b b", "tie c", "tie a c", "b", "c c", "a"]
    index = Index.build(enumerate(texts), analyzer=str.split)
    exact = Exact(weighting="nnn.nnn")
    # Document 0 is first, and documents 1 to 3 tie for ranks 2 to 4. The top three contains two of the tied documents.
    orders = [(0, *order)[:3] for order in permutations((1, 2, 3))]
    scores = np.zeros(len(texts))
    for order in orders:
        expanded = rocchio(index, {"q": "tie"}, {"q": dict.fromkeys(map(str, order), 1)}, weighting="nnn.nnn", gamma=0)
        run = exact.search(index, expanded)
        for document, score in zip(run.documents.to_list(), run.scores, strict=True):
            scores[document] += score / len(orders)
    run = BlindFeedback(weighting="nnn.nnn", depth=3).search(index, {"q": "tie"})
    assert len(run.scores) == len(texts)
    np.testing.assert_allclose(run.scores, scores[run.documents.to_list()], rtol=1e-12)


def test_any_method_searches_expanded_queries():
    index = Index.build([(1, "tie rank"), (2, "tie"), (3, "rank rank"), (4, "list")], analyzer=str.split)
    expanded = rocchio(index, {7: "tie"}, Qrels.from_dict({7: {1: 1}}), weighting="nnn.nnn")
    for method, expected in (
        (Exact, {1: 2.5, 2: 1.75, 3: 1.5}),
        (Champions, {1: 2.5, 2: 1.75, 3: 1.5}),
        # Windows contain only the original terms of the query.
        (Proximity, {1: 3.5, 2: 2.75, 3: 1.5}),
    ):
        run = method(weighting="nnn.nnn").search(index, expanded)
        assert run.queries.to_list() == [7]
        assert dict(zip(run.documents.to_list(), run.scores.tolist(), strict=True)) == expected
    assert AtLeast(m=2).search(index, expanded).documents.to_list() == [1]


def test_first_tied_terms_are_added():
    index = Index.build([(1, "tie " + " ".join(f"t{i}" for i in range(40))), (2, "other")], analyzer=str.split)
    expanded = rocchio(index, {"q": "tie"}, {"q": {"1": 1}}, weighting="nnn.nnn", n_terms=20)
    assert expanded["q"].terms.tolist() == list(range(21))


def test_costs_of_blind_feedback():
    index = Index.build([(1, "tie rank"), (2, "tie rank list"), (3, "rank")], analyzer=str.split)
    costs = BlindFeedback(depth=1, weighting="nnn.nnn").counted(index, {"q": "tie", "r": "no"})[1]
    # The first search reads two postings, the two documents that tie for the top rank have five terms, and the second
    # search reads six postings.
    assert costs.postings.tolist() == [2 + 5 + 6, 0]
    assert costs.documents.tolist() == [2 + 3, 0]


@given(searches(), st.text("x012", min_size=12, max_size=12), st.sampled_from((0.0, 1.0, 2.0)))
@settings(max_examples=150, deadline=None)
def test_queries_of_ide_equal_the_definition(search: Search, labels, gamma):
    c = search.collection()
    judged = {d: -1 if label == "x" else int(label) for d, label in enumerate(labels)}
    qrels = {"q": {f"d{d}": label for d, label in judged.items()}}
    query = ide_dec_hi(search.index, {"q": search.words}, qrels, weighting=search.weighting, gamma=gamma)["q"]

    relevant = [d for d in c.documents if judged[d] >= 1]
    scores = reference.exact(c, [d for d in c.documents if judged[d] == 0])
    highest = [d for d in scores if scores[d] == max(scores.values())]
    expected = {}
    for t, w in c.weights.items():
        total = c.query.get(t, 0.0) + math.fsum(w.get(d, 0.0) for d in relevant)
        expected[t] = total - gamma * math.fsum(w.get(d, 0.0) for d in highest) / max(1, len(highest))
    found = dict(zip(query.terms.tolist(), query.weights.tolist(), strict=True))
    for t, w in expected.items():
        assert found.get(t, 0.0) == pytest.approx(max(w, 0.0), abs=1e-12)


def test_a_tie_for_the_best_nonrelevant_document_gives_the_mean_over_its_orders():
    texts = ["tie tie tie good good", "tie good", "tie good bad", "tie bad list"]
    index = Index.build(enumerate(texts), analyzer=str.split)
    weights = np.zeros(len(index.terms))
    tied = (1, 2, 3)
    for first, *_ in permutations(tied):
        # Only the first document of the order is judged, so it is the best nonrelevant document without a tie.
        judged = {"q": {"0": 1, str(first): 0}}
        query = ide_dec_hi(index, {"q": "tie"}, judged, weighting="nnn.nnn", alpha=9, beta=9)["q"]
        weights[query.terms] += query.weights / 6
    judged = {"q": {"0": 1} | {str(d): 0 for d in tied}}
    query = ide_dec_hi(index, {"q": "tie"}, judged, weighting="nnn.nnn", alpha=9, beta=9)["q"]
    positive = {"tie", "good"}
    assert {index.terms[t] for t in query.terms} == positive
    assert query.weights.tolist() == pytest.approx([weights[index.terms.index(t)] for t in ("tie", "good")])
    assert query.weights.tolist() == pytest.approx([9 + 27 - 1, 18 - 2 / 3])


def test_filtered_documents_are_not_subtracted():
    index = Index.build([("d1", "tie a"), ("d2", "tie tie b"), ("d3", "tie c")], analyzer=str.split)
    query = parse_query(index, "tie NOT b")
    found = ide_dec_hi(index, {"q": query}, {"q": {"d1": 1, "d2": 0, "d3": 0}}, weighting="nnn.nnn")["q"]
    # d3 is subtracted instead of d2, which the filter leaves out.
    assert (found.terms.tolist(), found.weights.tolist()) == ([0, 1], [1.0, 1.0])
    assert found.documents.tolist() == query.documents.tolist()


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


def expanded_by(method: RM3, index: Index, query: Query) -> dict[str, float]:
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
def test_queries_of_rm3_equal_the_formula(search: Search, depth, n_terms, original):
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
    assert expanded_by(method, index, search.query) == {word: pytest.approx(float(w)) for word, w in expected.items()}


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
    found = expanded_by(RM3(depth=20, n_terms=20, weighting="lm-dirichlet:3"), search.index, search.query)
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


def test_first_of_tied_terms_are_kept():
    index = Index.build([(1, "tie " + " ".join(f"t{i}" for i in range(40))), (2, "other")], analyzer=str.split)
    method = RM3(depth=1, n_terms=20, original=0, weighting="nnn.nnn")
    assert expanded_by(method, index, index.query("tie")) == dict.fromkeys(index.terms[:20], pytest.approx(1 / 20))


def test_filters_and_costs_of_rm3():
    index = Index.build([(1, "tie rank"), (2, "tie rank list"), (3, "rank"), (4, "list")], analyzer=str.split)
    method = RM3(depth=1, weighting="nnn.nnn")
    costs = method.counted(index, {"q": "tie", "r": "no"})[1]
    # The first search reads two postings, the two documents that tie for the top rank have five terms, and the second
    # search reads seven postings.
    assert costs.postings.tolist() == [2 + 5 + 7, 0]
    run = method.search(index, {"q": parse_query(index, "tie NOT list")})
    assert run.documents.to_list() == [1, 3]


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


def test_expanded_queries_find_documents_without_the_words():
    index = Index.build([("d1", "car engine"), ("d2", "auto engine"), ("d3", "tree")], analyzer=str.split)
    query = parse_query(index, "car NOT tree")
    expanded = Thesaurus(index).expand({"q": query}, weighting="nnn.nnn", beta=0.5)["q"]
    run = Exact(weighting="nnn.nnn").search(index, {"q": expanded})
    assert run.documents.to_list() == ["d1", "d2"]
    assert expanded.documents.tolist() == [0, 1]


ONE = Index.build([("d1", "tie")], analyzer=str.split)
THESAURUS = Thesaurus(ONE)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: THESAURUS.related("no"), "term: the index has no term 'no'$"),
        (lambda: THESAURUS.related("tie", 0), "n: expected a whole number of at least 1, found 0$"),
        (lambda: THESAURUS.expand({"q": "tie"}, beta=-1), "beta: expected a number from 0 to "),
        (lambda: parse_method("Thesaurus"), "method: Thesaurus is not a method: it expands queries"),
        (lambda: ide_dec_hi(ONE, {"q": "tie"}, {"q": {"d1": 1}}, gamma=-1), "gamma: expected a number from 0 to "),
        (lambda: parse_method("ide_dec_hi"), "method: ide_dec_hi is not a method: it makes queries from judgments"),
        (lambda: rocchio(ONE, {"q": "tie"}, {"q": {"d1": 1}}, alpha=-1), "alpha: expected a number from 0 to "),
        (lambda: rocchio(ONE, {"q": "tie"}, {"q": {"d1": 1}}, beta=math.inf), "beta: expected a number from 0 to "),
        (lambda: rocchio(ONE, {"q": "tie"}, {"q": {"d1": 1}}, n_terms=-1), "n_terms: expected a whole number of at"),
    ],
)
def test_unusable_arguments_are_refused(call, message):
    with pytest.raises(InputError, match=f"^{message}"):
        call()


def test_a_thesaurus_names_its_index():
    assert repr(THESAURUS) == "Thesaurus(Index(1 document, 1 term, 1 posting), weighting='nnn.nnn')"
