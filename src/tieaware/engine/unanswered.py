"""The values of unanswered queries: judged queries for which a run has nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.engine.prepared import prepare
from tieaware.engine.totals import Totals
from tieaware.engine.views import View, passes
from tieaware.lists.judgments import JudgedLists, Judgments
from tieaware.measures import Measure


def unanswered(judgments: Judgments, measures: tuple[Measure, ...], views: Sequence[View]) -> Values:
    """Evaluate an empty list for every judged query.

    Returns
    -------
    float64[n_tables, n_queries, n_measures]
        For each view its values, and with a spread its std, min and max.
    """
    n = judgments.n_queries
    offsets, nothing = np.zeros(n + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    lists = JudgedLists(offsets, offsets, nothing, nothing.astype(np.int32))
    totals = Totals.of(measures, judgments)
    values = np.empty((sum(view.n_tables for view in views), n, len(measures)))
    for each in passes(views):
        of_pass = np.empty((len(each.tables), n, len(measures)))
        prepare(measures, lists, totals, each).evaluate(np.zeros(0), of_pass)
        values[list(each.tables)] = of_pass
    return values
