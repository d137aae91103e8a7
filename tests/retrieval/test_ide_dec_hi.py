"""Ide's feedback formula dec-hi against its definition."""

import math
from itertools import permutations

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import Search, searches

from tieaware import InputError
from tieaware.retrieval import Index, ide_dec_hi, parse_method, parse_query


@given(searches(), st.text("x012", min_size=12, max_size=12), st.sampled_from((0.0, 1.0, 2.0)))
@settings(max_examples=150, deadline=None)
def test_queries_equal_the_definition(search: Search, labels, gamma):
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


def test_nothing_is_subtracted_without_a_nonrelevant_document_in_the_ranking():
    index = Index.build([("d1", "tie"), ("d2", "rank")], analyzer=str.split)
    found = ide_dec_hi(index, {"q": "tie", "r": "rank"}, {"q": {"d1": 1, "d2": 0}}, weighting="nnn.nnn")
    assert found["q"].weights.tolist() == [2.0]
    assert found["r"].weights.tolist() == [1.0]


def test_parameters_are_checked():
    index = Index.build([("d1", "tie")], analyzer=str.split)
    with pytest.raises(InputError, match=r"^gamma: expected a number from 0 to "):
        ide_dec_hi(index, {"q": "tie"}, {"q": {"d1": 1}}, gamma=-1)
    with pytest.raises(InputError, match=r"^method: ide_dec_hi is not a method: it makes queries from judgments"):
        parse_method("ide_dec_hi")
