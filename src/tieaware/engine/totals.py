"""What all judged documents of each query are worth to each measure, whether they were retrieved or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.lists.judgments import Judgments
from tieaware.measures import Measure

# Of so many sequences of measures, judgments keep what they are worth.
_MOST_KEPT = 16


class Totals(NamedTuple):
    """The worth of all judged documents to several measures, side by side.

    Parameters
    ----------
    totals : float64[n_queries, n_measures]
        0 where the measure says nothing about the query.
    query_numbers : float64[n_queries, n_measures]
        Other numbers that the kernels take of each query.
    tables : list of (float64[n] or None)
        What the kernels take of all queries together.
    table_starts : int64[n_queries, n_measures]
        Where in the table of a measure each query's part starts.
    """

    totals: Values
    query_numbers: Values
    tables: list[Values | None]
    table_starts: Integers

    @classmethod
    def of(cls, measures: tuple[Measure, ...], judgments: Judgments) -> Totals:
        """Ask the definitions of the measures, once."""
        kept: dict[tuple[Measure, ...], Totals] = judgments.totals
        totals = kept.get(measures)
        if totals is None:
            if len(kept) == _MOST_KEPT:
                kept.clear()
            kept[measures] = totals = cls._asked(measures, judgments)
        return totals

    @classmethod
    def _asked(cls, measures: tuple[Measure, ...], judgments: Judgments) -> Totals:
        shape = judgments.n_queries, len(measures)
        totals, numbers, starts = np.empty(shape), np.zeros(shape), np.zeros(shape, dtype=np.int64)
        tables: list[Values | None] = [None] * len(measures)
        for i, measure in enumerate(measures):
            definition = measure.definition
            totals[:, i] = definition.total(measure, judgments)
            if definition.query_number:
                numbers[:, i] = definition.query_number(measure, judgments)
            if definition.query_lookup:
                tables[i], starts[:, i] = definition.query_lookup(measure, judgments)
        return cls(totals, numbers, tables, starts)

    @property
    def has_no_table(self) -> bool:
        """Whether no kernel takes a table of all queries."""
        return all(table is None for table in self.tables)

    def rows(self, rows: Integers) -> Totals:
        """Return the totals of some queries; -1 is a query without judgments, of which every total is 0."""
        judged = rows >= 0
        shape = len(rows), len(self.tables)
        some = Totals(np.zeros(shape), np.zeros(shape), self.tables, np.zeros(shape, dtype=np.int64))
        some.totals[judged] = self.totals[rows[judged]]
        some.query_numbers[judged] = self.query_numbers[rows[judged]]
        some.table_starts[judged] = self.table_starts[rows[judged]]
        return some

    def columns(self, columns: Sequence[int]) -> Totals:
        """Return the totals of some measures."""
        return Totals(
            np.ascontiguousarray(self.totals[:, columns]),
            np.ascontiguousarray(self.query_numbers[:, columns]),
            [self.tables[i] for i in columns],
            np.ascontiguousarray(self.table_starts[:, columns]),
        )
