"""Values, spreads and the readable reference against enumeration: all orders of the tied documents, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import oracle
from support.queries import MEASURES, Query, evaluator, queries, scores_of

from tieaware import reference
from tieaware.measures import parse_measure

pytestmark = pytest.mark.slow

TOLERANCE = 1e-12
EXTREMES = ("average", "optimistic", "pessimistic")


@pytest.fixture(scope="module")
def exact(sweep: list[Query]) -> np.ndarray:
    """Give the measures over all orders of the sweep's queries, as `oracle.over_queries` does: seconds of work."""
    return oracle.over_queries(MEASURES, sweep)


def by_rule(exact: np.ndarray) -> dict[str, np.ndarray]:
    """Give the values under each tie rule that has an exact one, of `oracle.over_queries`."""
    mean, _, minimum, maximum = exact
    less = [parse_measure(measure).definition.less_is_better for measure in MEASURES]
    best, worst = np.where(less, minimum, maximum), np.where(less, maximum, minimum)
    return dict(zip(EXTREMES, (mean, best, worst), strict=True))


def assert_close(values: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(values, expected, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.longdouble])
@pytest.mark.parametrize("ties", EXTREMES)
def test_values_are_exact(sweep, exact, ties, dtype):
    """Mean, maximum and minimum over all orders equal enumeration, in one call for many queries."""
    values = evaluator(sweep, ties=ties)(scores_of(sweep, dtype))
    assert_close(values, by_rule(exact)[ties])


@given(some=st.lists(queries(), min_size=1, max_size=2))
@settings(deadline=None, max_examples=40)
def test_values_are_exact_for_any_query(some):
    """The same for queries that hypothesis looks for."""
    for ties, expected in by_rule(oracle.over_queries(MEASURES, some)).items():
        assert_close(evaluator(some, ties=ties)(scores_of(some)), expected)


def test_undefined(sweep, exact):
    """A query without relevant judged documents has the value that was asked for, and others keep theirs."""
    measures = [parse_measure(measure) for measure in MEASURES]
    values = evaluator(sweep, undefined=np.nan)(scores_of(sweep))
    for i, query in enumerate(sweep):
        for j, measure in enumerate(measures):
            relevant = any(x >= 0 and x >= measure.parameters.get("rel", 1) for x in query.judged)
            if measure.definition.is_count or measure.name in ("Judged", "RBPResidual") or relevant:
                assert values[i, j] == pytest.approx(exact[0, i, j], abs=TOLERANCE)
            else:
                assert np.isnan(values[i, j]), (query, measure)


def assert_exact(some: list[Query], expected: np.ndarray) -> None:
    """Hold the spread against `oracle.over_queries`."""
    spread = evaluator(some).spread(scores_of(some))
    np.testing.assert_allclose(spread.std**2, expected[1], rtol=1e-9, atol=1e-15)
    # Where nothing varies, nothing does: no rounding, which a square root would magnify.
    assert not spread.std[expected[1] == 0.0].any()
    for kind, values in zip(("mean", "min", "max"), expected[[0, 2, 3]], strict=True):
        np.testing.assert_allclose(getattr(spread, kind), values, rtol=1e-12, atol=1e-12)


def test_the_spread_is_exact(sweep, exact):
    """For many small queries, every measure."""
    assert_exact(sweep, exact)


@given(some=st.lists(queries(), min_size=1, max_size=2))
@settings(deadline=None, max_examples=40)
def test_the_spread_is_exact_for_any_query(some):
    assert_exact(some, oracle.over_queries(MEASURES, some))


def agree(query: Query, exact: np.ndarray) -> None:
    """Hold the reference against `oracle.over_queries`."""
    for measure, (mean, variance, minimum, maximum) in zip(MEASURES, exact.T, strict=True):
        best, worst = maximum, minimum
        if parse_measure(measure).definition.less_is_better:
            best, worst = worst, best
        for ties, expected in (("average", mean), ("optimistic", best), ("pessimistic", worst)):
            value = reference.evaluate(measure, query.scores, query.labels, query.judged, ties)
            assert value == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE), (measure, ties)
        found = reference.variance(measure, query.scores, query.labels, query.judged)
        assert found == pytest.approx(variance, rel=1e-9, abs=1e-13), measure


@given(queries())
@settings(deadline=None, max_examples=50)
def test_reference_is_exact(query):
    """Mean, maximum and minimum over all orders equal enumeration for every measure."""
    agree(query, oracle.over_queries(MEASURES, [query])[:, 0])


def test_reference_is_exact_in_a_sweep(sweep, exact):
    """The same for a fixed sequence of queries."""
    for i, query in enumerate(sweep[:70]):
        agree(query, exact[:, i])
