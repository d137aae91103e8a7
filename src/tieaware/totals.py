"""What all judged documents of each query are worth to each measure, whether they were retrieved or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
    query_number : float64[n_queries]
        Another number that the kernel takes of each query; 0 where it takes none.
    table : float64[n] or None
        What the kernel takes of all queries together.
    table_start : int64[n_queries]
        Where in the table each query's part starts.
    """

    total: Values
    query_number: Values
    table: Values | None
    table_start: Integers

    @classmethod
    def of(cls, measure: Measure, judgments: Judgments) -> Total:
        """Ask the measure's definition."""
        definition, n = measure.definition, judgments.n_queries
        number = definition.query_number(measure, judgments) if definition.query_number else np.zeros(n)
        table, start = None, np.zeros(n, dtype=np.int64)
        if definition.query_table:
            table, start = definition.query_table(measure, judgments)
        return cls(definition.total(measure, judgments), number, table, start)


@dataclass(frozen=True, eq=False)
class Totals:
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
        return cls(
            np.stack([column.total for column in columns], axis=1),
            np.stack([column.query_number for column in columns], axis=1),
            [column.table for column in columns],
            np.stack([column.table_start for column in columns], axis=1),
        )

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
            self.totals[:, columns],
            self.query_numbers[:, columns],
            [self.tables[i] for i in columns],
            self.table_starts[:, columns],
        )
