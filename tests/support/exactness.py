"""Values and spreads compared with the enumeration of all orders, and with the reference."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from support import oracle
from support.queries import Query, evaluator, scores_of

from tieaware import reference


def assert_spread_is_exact(some: Sequence[Query], measures: Sequence[str]) -> None:
    """Compare mean, variance, minimum and maximum of queries small enough to enumerate the orders of their ties."""
    spread = evaluator(some, measures).spread(scores_of(some))
    for i, query in enumerate(some):
        orders = oracle.enumerate_orders(query.scores, query.labels)
        for j, name in enumerate(measures):
            exact = [float(x) for x in oracle.over_orders(name, orders, query.judged)]
            mean, std, minimum, maximum = (values[i, j] for values in spread)
            assert [mean, minimum, maximum] == pytest.approx([exact[0], *exact[2:]], abs=1e-13), (query, name)
            assert std**2 == pytest.approx(exact[1], rel=1e-9, abs=1e-15), (query, name)
            assert std == 0.0 or exact[1] > 0.0, (query, name)
            assert reference.evaluate(name, *query) == pytest.approx(exact[0], abs=1e-13), (query, name)
            assert reference.variance(name, *query) == pytest.approx(exact[1], rel=1e-9, abs=1e-13), (query, name)
