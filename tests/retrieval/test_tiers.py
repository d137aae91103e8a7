"""Tiered indexes: results against the reference, costs and parameters."""

import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from searches import Search, searches

from tieaware import InputError
from tieaware.retrieval import Exact, Index, Tiers

# Binary fractions, which float32 represents exactly.
DESCENDING = st.sets(st.sampled_from((0.0, 0.125, 0.25, 0.5, 0.75, 1.0))).map(lambda s: tuple(sorted(s, reverse=True)))


@given(searches(), DESCENDING, st.sampled_from(("thresholds", "quantiles")), st.sampled_from(("weight", "tf")))
@settings(max_examples=75, deadline=None)
def test_results_equal_the_reference(search: Search, values, name, by):
    given = {"thresholds": (), "quantiles": (), name: values}
    found = search.found(Tiers(weighting=search.weighting, by=by, **given))
    assert found == search.expected(reference.tiers(search.collection(), search.k, **given, by=by))


@given(searches())
@settings(max_examples=30, deadline=None)
def test_one_tier_equals_exact_search(search: Search):
    exact = search.found(Exact(weighting=search.weighting))
    for method in (Tiers(), Tiers(quantiles=(0,)), Tiers(thresholds=(99, 98))):
        assert search.found(type(method)(**{**vars(method), "weighting": search.weighting})) == exact


def test_costs_include_all_tiers_read():
    index = Index.build([(i, "tie " * (1 + i)) for i in range(6)], analyzer=str.split)
    tiers = Tiers(weighting="nnn.nnn", thresholds=[5, 3], by="tf")
    assert str(tiers) == "Tiers(thresholds=(5.0, 3.0), by='tf', weighting='nnn.nnn')"
    assert hash(tiers) == hash(Tiers(weighting="nnn.nnn", thresholds=(5, 3), by="tf"))
    costs = [tiers.counted(index, {"q": "tie"}, k)[1].postings.tolist() for k in (2, 3, 4, 5, 7)]
    assert costs == [[2], [2 + 4], [2 + 4], [2 + 4 + 6], [2 + 4 + 6]]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"thresholds": (1, 2)}, r"thresholds: expected numbers in descending order, found \(1.0, 2.0\)"),
        ({"quantiles": (0.5, 0.5)}, r"quantiles: expected numbers in descending order, found \(0.5, 0.5\)"),
        ({"quantiles": (0.5, 2)}, r"quantiles\[1\]: expected a number from 0 to 1, found 2"),
        ({"thresholds": 3}, "thresholds: expected a sequence of numbers, found 3"),
        ({"thresholds": (3,), "quantiles": (0.5,)}, "thresholds: must not be given with quantiles: .*"),
        ({"by": "idf"}, "by: expected one of weight, tf, found 'idf'.*"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        Tiers(**parameters)
