"""Totals by which measures are normalised, over all judged documents of each query, retrieved or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.kernels import _labels
from tieaware.lists.judgments import Judgments
from tieaware.measures import Measure

# The cache of totals that each `Judgments` object holds has room for this many sequences of measures.
_CACHE_SIZE = 16


class _Functions(NamedTuple):
    """The functions that compute the totals of a sequence of measures.

    Parameters
    ----------
    totals : list of callable
        For each measure, the function that computes its total.
    query_numbers, lookups : list of (int, callable)
        The columns of the measures that have a second number for each query, or a lookup array, and the functions.
    need_judged : bool
        Whether a measure needs the number of judged documents of each query.
    """

    totals: list[Callable[[Measure, Judgments], Values]]
    query_numbers: list[tuple[int, Callable[[Measure, Judgments], Values]]]
    lookups: list[tuple[int, Callable[[Measure, Judgments], tuple[Values, Integers] | None]]]
    need_judged: bool


@lru_cache(maxsize=256)
def _functions_of(measures: tuple[Measure, ...]) -> _Functions:
    definitions = [measure.definition for measure in measures]
    lookups = [(i, each.inputs.of_queries or each.inputs.query_lookup) for i, each in enumerate(definitions)]
    return _Functions(
        [each.total for each in definitions],
        [(i, each.inputs.query_number) for i, each in enumerate(definitions) if each.inputs.query_number],
        [(i, lookup) for i, lookup in lookups if lookup],
        any(each.norm_of_known for each in definitions),
    )


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
        cache: list[tuple[tuple[Measure, ...], Totals]] = judgments.totals
        for known, totals in cache:
            # Equal sequences mostly have the same elements, so comparing them is faster than hashing them.
            if known == measures:
                return totals
        totals = cls._computed(measures, judgments)
        if len(cache) >= _CACHE_SIZE:
            cache.clear()
        cache.append((measures, totals))
        return totals

    @classmethod
    def _computed(cls, measures: tuple[Measure, ...], judgments: Judgments) -> Totals:
        functions = _functions_of(measures)
        seen = [judgments] * len(measures)
        if judgments.subtopics is not None:
            # Measures that know nothing of subtopics see the highest label of each document.
            seen = [judgments if measure.definition.needs_subtopics else judgments.plain for measure in measures]
        columns = [total(measure, of) for total, measure, of in zip(functions.totals, measures, seen, strict=True)]
        totals, numbers, starts = _labels.beside(columns, judgments.n_queries)
        for i, number in functions.query_numbers:
            numbers[:, i] = number(measures[i], seen[i])
        lookups: list[Values | None] = [None] * len(measures)
        for i, lookup in functions.lookups:
            of_queries = lookup(measures[i], seen[i])
            if of_queries is not None:
                lookups[i], starts[:, i] = of_queries
        judged = seen[-1].count(0) if functions.need_judged else None
        return cls(totals, numbers, lookups, starts, judged)

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
