"""Values of unanswered queries: judged queries for which a run has no documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.engine.prepared import prepare
from tieaware.engine.totals import Totals
from tieaware.engine.views import View, passes
from tieaware.lists.judgments import JudgedLists, Judgments
from tieaware.measures import Measure


def unanswered(
    judgments: Judgments, measures: tuple[Measure, ...], views: Sequence[View], undefined: float = 0.0
) -> Values:
    """Return the value of every measure for every judged query, for a run that has no document for any query.

    `undefined` is the value of a measure for queries without a relevant judged document.

    Returns
    -------
    float64[n_outputs, n_queries, n_measures]
        The outputs of each view; see `View.outputs`.
    """
    n = judgments.n_queries
    offsets, nothing = np.zeros(n + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    lists = JudgedLists(offsets, offsets, nothing, nothing.astype(np.int32), grades=judgments.grades)
    totals = Totals.of(measures, judgments)
    values = np.empty((sum(view.n_outputs for view in views), n, len(measures)))
    for each in passes(views):
        outputs = np.empty((len(each.outputs), n, len(measures)))
        prepare(measures, lists, totals, each, undefined=undefined).evaluate(np.zeros(0), outputs)
        values[list(each.outputs)] = outputs
    return values
