"""Values, spreads and the readable reference, compared with enumeration of all orders of tied documents."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import oracle
from support.queries import MEASURES, Query, evaluator, queries, random_query, scores_of

from tieaware import reference
from tieaware.measures import parse_measure
from tieaware.measures.parameters import Lookup

TOLERANCE = 1e-12
EXTREMES = ("average", "optimistic", "pessimistic")


@pytest.fixture(
    scope="module",
    params=[slice(48), pytest.param(slice(48, None), marks=pytest.mark.slow)],
    ids=["48 queries", "further queries"],
)
def some_of_sweep(sweep: list[Query], request: pytest.FixtureRequest) -> list[Query]:
    """Return the first queries of the sweep, and in a slow case the others: enumerating all orders takes seconds."""
    return sweep[request.param]


@pytest.fixture(scope="module")
def exact(some_of_sweep: list[Query]) -> np.ndarray:
    """Evaluate the measures over all orders of the queries, as `oracle.over_queries` does."""
    return oracle.over_queries(MEASURES, some_of_sweep)


def by_rule(exact: np.ndarray, measures: Sequence[str] = MEASURES) -> dict[str, np.ndarray]:
    """Return the average, optimistic and pessimistic values, from the result of `oracle.over_queries`."""
    mean, _, minimum, maximum = exact
    less = [parse_measure(measure).definition.less_is_better for measure in measures]
    best, worst = np.where(less, minimum, maximum), np.where(less, maximum, minimum)
    return dict(zip(EXTREMES, (mean, best, worst), strict=True))


def assert_close(values: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(values, expected, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.longdouble])
@pytest.mark.parametrize("ties", EXTREMES)
def test_values_are_exact(some_of_sweep, exact, ties, dtype):
    """Mean, maximum and minimum over all orders equal enumeration, in one call for many queries."""
    values = evaluator(some_of_sweep, ties=ties)(scores_of(some_of_sweep, dtype))
    assert_close(values, by_rule(exact)[ties])


def levels(scores: Sequence[float]) -> list[float]:
    """Coarsen scores in plain Python: divide their range into three equal steps."""
    low, high = min(scores), max(scores)
    return [min(floor(3 * (score - low) / (high - low)), 2) if high > low else 0.0 for score in scores]


def bands(scores: Sequence[float]) -> list[float]:
    """Coarsen scores in plain Python: merge tie groups whose ranks lie in the same of the bands 1, 2-3 and 4-7."""
    best_first = sorted(scores, reverse=True)
    return [-float((best_first.index(score) + 1).bit_length()) for score in scores]


# For each precision: the width of an interval above 1 in which random scores become equal by chance, and the same
# coarsening in plain Python.
COARSE: dict[str, tuple[float, Callable[[Sequence[float]], list[float]]]] = {
    "float32": (2.0**-21, lambda scores: [float(np.float32(score)) for score in scores]),
    "float16": (2.0**-8, lambda scores: [float(np.float16(score)) for score in scores]),
    "bfloat16": (2.0**-5, lambda scores: [round(score * 128) / 128 for score in scores]),
    "decimals:1": (0.3, lambda scores: [round(score, 1) for score in scores]),
    "significant:2": (0.3, lambda scores: [float(f"{score:.1e}") for score in scores]),
    "levels:3": (0.3, levels),
    "bands:2": (0.3, bands),
}


@pytest.mark.parametrize("precision", COARSE)
def test_values_are_exact_at_every_precision(precision):
    """Scores that a precision makes equal are tied, for all rules that enumeration covers and for the spread."""
    width, coarsen = COARSE[precision]
    rng = random.Random(precision)
    drawn = [random_query(rng, 6) for _ in range(60)]
    fine = [q._replace(scores=tuple(1.0 + width * rng.random() for _ in q.scores)) for q in drawn]
    coarse = [q._replace(scores=tuple(coarsen(q.scores)) if q.scores else ()) for q in fine]
    assert all(len(set(q.scores)) == len(q.scores) for q in fine)
    assert any(1 < len(set(q.scores)) < len(q.scores) for q in coarse)
    # Levels and bands depend on the whole list, so they refuse measures with judged_only, which shortens it.
    whole = precision.startswith(("levels", "bands"))
    measures = [m for m in MEASURES if not (whole and parse_measure(m).parameters.get("judged_only"))]
    expected = oracle.over_queries(measures, coarse)
    for ties, values in by_rule(expected, measures).items():
        assert_close(evaluator(fine, measures, ties=ties, precision=precision)(scores_of(fine)), values)
    assert_exact(fine, expected, measures, precision=precision)


@given(some=st.lists(queries(), min_size=1, max_size=2))
@settings(deadline=None, max_examples=40)
def test_values_and_spreads_are_exact_for_any_query(some):
    """Mean, maximum, minimum and spread equal enumeration for queries that hypothesis draws."""
    exact = oracle.over_queries(MEASURES, some)
    for ties, expected in by_rule(exact).items():
        assert_close(evaluator(some, ties=ties)(scores_of(some)), expected)
    assert_exact(some, exact)


def min_with_gain(measure):
    """Return the smallest label that a measure counts."""
    table = measure.parameters.get("gains")
    if isinstance(table, Lookup) and table and measure.name != "Q":
        return min(label for label, gain in table.gains.items() if gain)
    return measure.parameters.get("rel", int(measure.parameters.get("min_rel", 0)) + 1)


def test_undefined(some_of_sweep, exact):
    """Only queries without a relevant judged document get the value of the option `undefined`."""
    measures = [parse_measure(measure) for measure in MEASURES]
    values = evaluator(some_of_sweep, undefined=np.nan)(scores_of(some_of_sweep))
    for i, query in enumerate(some_of_sweep):
        for j, measure in enumerate(measures):
            least = min_with_gain(measure)
            relevant = any(x >= 0 and x >= least for x in query.judged)
            if measure.definition.is_count or measure.name in ("Hole", "Judged", "RBPResidual") or relevant:
                assert values[i, j] == pytest.approx(exact[0, i, j], abs=TOLERANCE)
            else:
                assert np.isnan(values[i, j]), (query, measure)


def assert_exact(
    some: list[Query], expected: np.ndarray, measures: Sequence[str] = MEASURES, precision: str | None = None
) -> None:
    """Compare the spread with the result of `oracle.over_queries`."""
    spread = evaluator(some, measures, precision=precision).spread(scores_of(some))
    np.testing.assert_allclose(spread.std**2, expected[1], rtol=1e-9, atol=1e-15)
    # Where the exact variance is 0, the computed one must be 0 too: a square root would magnify a rounding error.
    assert not spread.std[expected[1] == 0.0].any()
    for kind, values in zip(("mean", "min", "max"), expected[[0, 2, 3]], strict=True):
        np.testing.assert_allclose(getattr(spread, kind), values, rtol=1e-12, atol=1e-12)


def test_the_spread_is_exact(some_of_sweep, exact):
    """The spread of every measure equals enumeration for many small queries."""
    assert_exact(some_of_sweep, exact)


def agree(query: Query, exact: np.ndarray) -> None:
    """Compare the reference with the result of `oracle.over_queries`."""
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


def test_reference_is_exact_in_a_sweep(some_of_sweep, exact):
    """The reference equals enumeration for a fixed sequence of queries."""
    for i, query in enumerate(some_of_sweep[:70]):
        agree(query, exact[:, i])
