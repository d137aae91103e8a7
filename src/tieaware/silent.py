"""What measures say of a query for which nothing is retrieved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tieaware.arrays import Values
from tieaware.inputs import Qrels
from tieaware.judgments import JudgedLists
from tieaware.measures import Measure
from tieaware.preparation import prepare
from tieaware.totals import Totals
from tieaware.views import View, passes


def silent(qrels: Qrels, measures: tuple[Measure, ...], views: Sequence[View]) -> Values:
    """Evaluate an empty list for every judged query.

    Returns
    -------
    float64[n_tables, n_queries, n_measures]
        Of each view its values, and with a spread its std, min and max.
    """
    n = len(qrels)
    nothing, none = np.zeros(n + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    lists = JudgedLists(nothing, nothing, none, none.astype(np.int32))
    totals = Totals.of(measures, qrels.judgments)
    values = np.empty((sum(view.n_tables for view in views), n, len(measures)))
    for each in passes(views):
        of_pass = np.empty((len(each.tables), n, len(measures)))
        prepare(measures, lists, totals, each).evaluate(np.zeros(0), of_pass)
        values[list(each.tables)] = of_pass
    return values
