"""Relevance feedback from judgments, and blind feedback."""

from itertools import permutations

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import Search, searches

from tieaware import InputError, Qrels
from tieaware.retrieval import AtLeast, BlindFeedback, Champions, Exact, Index, Proximity, rocchio

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


@given(searches(), st.sampled_from((1, 2, 3, 20)), st.sampled_from((0.0, 1.0)), st.sampled_from((0.0, 0.75)), LIMITS)
@settings(max_examples=100, deadline=None)
def test_results_of_blind_feedback_equal_the_reference(search: Search, depth, alpha, beta, n_terms):
    method = BlindFeedback(weighting=search.weighting, depth=depth, alpha=alpha, beta=beta, n_terms=n_terms)
    assert search.found(method) == search.expected(
        reference.blind_feedback(search.collection(), depth, alpha, beta, n_terms)
    )
    if alpha == 1 and beta == 0:
        assert search.found(method) == search.found(Exact(weighting=search.weighting))


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


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"depth": 0}, "depth: expected a whole number of at least 1, found 0"),
        ({"alpha": -1}, r"alpha: expected a number from 0 to 1\.79769e\+308, found -1"),
        ({"beta": float("inf")}, r"beta: expected a number from 0 to 1\.79769e\+308, found inf"),
        ({"n_terms": -1}, "n_terms: expected a whole number of at least 0, found -1"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        BlindFeedback(**parameters)
    if "depth" not in parameters:
        index = Index.build([("d", "a")], analyzer=str.split)
        with pytest.raises(InputError, match=f"^{message}$"):
            rocchio(index, {"q": "a"}, {"q": {"d": 1}}, **parameters)
