"""Values and spreads compared with the enumeration of all orders, and with the reference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from support import oracle
from support.queries import Query, evaluator, scores_of

from tieaware import reference


def assert_spread_is_exact(some: Sequence[Query], measures: Sequence[str]) -> None:
    """Compare mean, variance, minimum and maximum of queries small enough to enumerate the orders of their ties."""
    mean, variance, minimum, maximum = oracle.over_queries(measures, some)
    spread = evaluator(some, measures).spread(scores_of(some))
    means = [[reference.evaluate(measure, *query) for measure in measures] for query in some]
    variances = [[reference.variance(measure, *query) for measure in measures] for query in some]
    for found, exact in ((spread.mean, mean), (spread.min, minimum), (spread.max, maximum), (means, mean)):
        np.testing.assert_allclose(found, exact, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(spread.std**2, variance, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(variances, variance, rtol=1e-9, atol=1e-13)
    # Where the exact variance is 0, the computed one must be 0 too: a square root would magnify a rounding error.
    assert not spread.std[variance == 0.0].any()
