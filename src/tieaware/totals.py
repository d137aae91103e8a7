"""What all judged documents of each query are worth to each measure, whether they were retrieved or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tieaware.arrays import Integers, Values
from tieaware.judgments import Judgments
from tieaware.measures import Measure


class Total(NamedTuple):
    """The worth of all judged documents to one measure.

    Parameters
    ----------
    total : float64[n_queries]
        0 where the measure says nothing about the query.
    query_number : float64[n_queries] or None
        Another number that the kernel takes of each query.
    table : float64[n] or None
        What the kernel takes of all queries together.
    table_start : int64[n_queries] or None
        Where in the table each query's part starts.
    """

    total: Values
    query_number: Values | None
    table: Values | None
    table_start: Integers | None

    @classmethod
    def of(cls, measure: Measure, judgments: Judgments) -> Total:
        """Ask the definition of the measure."""
        definition = measure.definition
        number = definition.query_number(measure, judgments) if definition.query_number else None
        table, start = definition.query_table(measure, judgments) if definition.query_table else (None, None)
        return cls(definition.total(measure, judgments), number, table, start)


class Totals(NamedTuple):
    """The worth of all judged documents to several measures, side by side.

    Parameters
    ----------
    totals, query_numbers : float64[n_queries, n_measures]
    tables : sequence of (float64[n] or None)
    table_starts : int64[n_queries, n_measures]
    """

    totals: Values
    query_numbers: Values
    tables: Sequence[Values | None]
    table_starts: Integers

    @classmethod
    def of(cls, measures: Sequence[Measure], judgments: Judgments) -> Totals:
        """Ask the definitions of the measures."""
        return cls.joined([Total.of(measure, judgments) for measure in measures])

    @classmethod
    def joined(cls, columns: Sequence[Total]) -> Totals:
        """Put the totals of measures side by side."""
        shape = len(columns[0].total), len(columns)
        several = cls(
            np.empty(shape), np.zeros(shape), [column.table for column in columns], np.zeros(shape, dtype=np.int64)
        )
        for i, column in enumerate(columns):
            several.totals[:, i] = column.total
            if column.query_number is not None:
                several.query_numbers[:, i] = column.query_number
            if column.table_start is not None:
                several.table_starts[:, i] = column.table_start
        return several

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
