"""Weighted zones: scores against the reference, learned weights, costs and errors."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import find

from tieaware import InputError
from tieaware.retrieval import Index, WeightedZones, learn_zone_weight, zone_matches, zone_scores

ZONES = ("title", "body", "end")
# The textbook's judged documents: whether the title matches, whether the body matches, and whether it is relevant.
EXAMPLES = np.array([(1, 1, 1), (0, 1, 0), (0, 1, 1), (0, 0, 0), (1, 1, 1), (0, 1, 1), (1, 0, 0)]).T
WEIGHTS = ({"title": 0.3, "body": 0.5, "end": 0.2}, {"body": 0.1, "title": 0.9}, {"end": 1, "body": 0}, None)


@given(
    st.lists(st.text("abc|", max_size=8), min_size=1, max_size=8), st.text("abcz", max_size=4),
    st.sampled_from(WEIGHTS), st.sampled_from(("all", "any")), st.integers(1, 9), st.booleans(),
)  # fmt: skip
@settings(max_examples=100, deadline=None)
def test_results_equal_the_reference(texts, words, weights, match, k, whole_ties):
    documents = [dict(zip(ZONES, map(list, text.split("|")), strict=False)) for text in texts]
    index = Index.build(
        ((i, {zone: " ".join(words) for zone, words in each.items()}) for i, each in enumerate(documents)),
        analyzer=str.split, zones=ZONES,
    )  # fmt: skip
    query = set(words) & set().union(*(words for each in documents for words in each.values()))
    matches = [reference.zone_matches(query, {z: each.get(z, []) for z in ZONES}, match) for each in documents]
    found = zone_matches(index, list(words), range(len(texts)), match=match)
    assert found.tolist() == [list(each.values()) for each in matches]

    used_weights = dict.fromkeys(ZONES, 1 / 3) if weights is None else weights
    scores = {d: s for d, each in enumerate(matches) if (s := reference.zone_score(each, used_weights))}
    search = find(WeightedZones(weights=weights, match=match), index, k, whole_ties, index.query(list(words)))
    assert list(zip(search.documents.tolist(), search.scores.tolist(), strict=True)) == reference.top(
        scores, k, whole_ties
    )


def test_the_textbook_example_of_a_learned_weight():
    title, body, relevant = EXAMPLES
    assert learn_zone_weight(title, body, relevant) == (0.25, 0.75)
    g = np.linspace(0, 1, 21)
    errors = ((relevant[:, None] - zone_scores(EXAMPLES[:2].T, np.column_stack([g, 1 - g]))) ** 2).sum(axis=0)
    assert errors.argmin() == 5
    assert errors[5] == pytest.approx(0.75)
    assert learn_zone_weight([1, 0], [1, 0], [1, 0]) == (0.5, 0.0)
    assert learn_zone_weight([], [], []) == (0.5, 0.0)


def test_costs_count_the_postings_of_weighted_zones():
    documents = [("d1", {"title": "a", "body": "a b"}), ("d2", {"title": "b", "body": "a"})]
    index = Index.build(documents, analyzer=str.split)
    assert WeightedZones().counted(index, {"q": "a b"})[1].postings.tolist() == [5]
    assert WeightedZones(weights={"title": 1}).counted(index, {"q": "a b", "r": "c"})[1].postings.tolist() == [2, 0]
    assert hash(WeightedZones(weights={"title": 1})) == hash(WeightedZones(weights=[["title", 1.0]]))


PLAIN, ZONED = (Index.build([("d", text)], analyzer=str.split) for text in ("a", {"title": "a"}))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: WeightedZones(weights={"title": 0.5}), "weights: must name each zone once and add up to 1; found"),
        (lambda: WeightedZones(weights={"title": 2}), r"weights\['title'\]: expected a number from 0 to 1, found 2"),
        (lambda: WeightedZones(weights=["title"]), r"weights\[0\]: expected a pair of a zone's name and its weight"),
        (lambda: WeightedZones(weights=[("a", 0.5)] * 2), "weights: must name each zone once and add up to 1; found"),
        (lambda: WeightedZones(weights=1), "weights: expected a sequence of zones with weights, found 1"),
        (lambda: WeightedZones(match="none"), "match: expected one of all, any, found 'none'"),
        (lambda: WeightedZones().search(PLAIN, {"q": "a"}), "index: has no zones; build it from documents that have"),
        (lambda: WeightedZones(weights={"name": 1}).search(ZONED, {"q": "a"}),
         "weights: unknown zone 'name'; the zones of the index are title, body$"),
        (lambda: zone_matches(ZONED, "a", [1]), r"documents\[0\]: expected a number from 0 to 0, found 1$"),
        (lambda: zone_scores([[1, 0]], [[1, 0, 0]]), "matches and weights: must be two-dimensional, with a column for"),
        (lambda: learn_zone_weight([1], [1, 0], [1]), "first, second and relevant: must be one-dimensional and"),
    ],
)  # fmt: skip
def test_unusable_arguments_are_refused(call, message):
    with pytest.raises(InputError, match=f"^{message}"):
        call()
