"""Totals by which measures are normalised, over all judged documents of each query, retrieved or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.lists.judgments import Judgments
from tieaware.measures import Measure

# The cache of totals that each `Judgments` object holds has room for this many sequences of measures.
_CACHE_SIZE = 16


class Totals(NamedTuple):
    """Totals of several measures over the judged documents of each query, one measure per column.

    Parameters
    ----------
    totals : float64[n_queries, n_measures]
        The total of the measure for the query, such as the number of relevant documents or the ideal gain; 0 where the
        measure is undefined for the query.
    query_numbers : float64[n_queries, n_measures]
        A second number for each query, for the kernels that need one, such as that of bpref.
    lookups : list of (float64[n] or None)
        For each measure, a lookup array for its kernel, with the numbers of all queries one after another. None if the
        kernel needs none.
    lookup_starts : int64[n_queries, n_measures]
        The index at which the numbers of each query start in the lookup array of the measure.
    judged : float64[n_queries], optional
        The number of judged documents of each query; None if no measure needs it.
    """

    totals: Values
    query_numbers: Values
    lookups: list[Values | None]
    lookup_starts: Integers
    judged: Values | None = None

    @classmethod
    def of(cls, measures: tuple[Measure, ...], judgments: Judgments) -> Totals:
        """Return the totals of these judgments, if possible from the cache that the judgments hold."""
        cache: dict[tuple[Measure, ...], Totals] = judgments.totals
        totals = cache.get(measures)
        if totals is None:
            if len(cache) == _CACHE_SIZE:
                cache.clear()
            cache[measures] = totals = cls._computed(measures, judgments)
        return totals

    @classmethod
    def _computed(cls, measures: tuple[Measure, ...], judgments: Judgments) -> Totals:
        shape = judgments.n_queries, len(measures)
        totals, numbers, starts = np.empty(shape), np.zeros(shape), np.zeros(shape, dtype=np.int64)
        lookups: list[Values | None] = [None] * len(measures)
        of_all, has_subtopics, needs_judged = judgments, judgments.subtopics is not None, False
        for i, measure in enumerate(measures):
            definition = measure.definition
            needs_judged = needs_judged or definition.norm_of_known
            judgments = of_all.plain if has_subtopics and not definition.needs_subtopics else of_all
            totals[:, i] = definition.total(measure, judgments)
            if definition.query_number:
                numbers[:, i] = definition.query_number(measure, judgments)
            lookup = definition.of_queries or definition.query_lookup
            of_queries = lookup(measure, judgments) if lookup else None
            if of_queries is not None:
                lookups[i], starts[:, i] = of_queries
        return cls(totals, numbers, lookups, starts, judgments.count(0) if needs_judged else None)

    @property
    def has_no_lookup(self) -> bool:
        """True if no measure has a lookup array."""
        return not [lookup for lookup in self.lookups if lookup is not None]

    def rows(self, rows: Integers) -> Totals:
        """Return the totals of the queries with these row indices; -1 stands for a query whose totals are 0."""
        judged = rows >= 0
        shape = len(rows), len(self.lookups)
        some_judged = None if self.judged is None else np.zeros(len(rows))
        some = Totals(np.zeros(shape), np.zeros(shape), self.lookups, np.zeros(shape, dtype=np.int64), some_judged)
        some.totals[judged] = self.totals[rows[judged]]
        some.query_numbers[judged] = self.query_numbers[rows[judged]]
        some.lookup_starts[judged] = self.lookup_starts[rows[judged]]
        if some_judged is not None and self.judged is not None:
            some_judged[judged] = self.judged[rows[judged]]
        return some

    def columns(self, columns: Sequence[int]) -> Totals:
        """Return the totals of the measures with these column indices."""
        return Totals(
            np.ascontiguousarray(self.totals[:, columns]),
            np.ascontiguousarray(self.query_numbers[:, columns]),
            [self.lookups[i] for i in columns],
            np.ascontiguousarray(self.lookup_starts[:, columns]),
            self.judged,
        )
