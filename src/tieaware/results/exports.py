"""The content of results that exports show: runs, queries and columns.

The functions here export it as dicts and as columns of data frames; `tieaware.results.formats` exports it as text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Values
from tieaware.engine.views import CHANCE, SPREAD
from tieaware.measures import Measure
from tieaware.output.tables import Cell, Table
from tieaware.results import summaries
from tieaware.results.provenance import Provenance

# The kinds of columns that are standard deviations.
_DEVIATIONS = ("std", "chance_std")


class Column(NamedTuple):
    """One column of an export: a number for each run and query, and a summary for each run.

    Attributes
    ----------
    name : str
        The name of the column, e.g. "map" or "map_std".
    values : float64[n_runs, n_queries]
    summary : float64[n_runs]
        The sum of a count over the queries; the mean of anything else.
    measure : Measure
    kind : str
        "value" for the value of the measure; "std", "min" or "max" for its spread over the orders of tied documents;
        "chance", "chance_std" or "ideal" for the orders of all documents.
    """

    name: str
    values: Values
    summary: Values
    measure: Measure
    kind: str

    @property
    def is_count(self) -> bool:
        """Whether the values are whole numbers that are summed over the queries."""
        return self.measure.definition.is_count

    @property
    def summary_only(self) -> bool:
        """Whether trec_eval prints only the summary of the measure, and no value for single queries."""
        return self.measure.definition.summary_only

    def shown(self, value: float, digits: int) -> str:
        """Format a value: a count as a whole number, any other value with this number of decimals."""
        return f"{value:.0f}" if self.is_count else f"{value:.{digits}f}"


class Export(NamedTuple):
    """The content of results that exports show.

    Attributes
    ----------
    title : str
        One line that says over which queries the means are, and with which options they were computed.
    runs : tuple of str
    queries : tuple of str or of int
    answered : bool[n_runs, n_queries]
        Whether each run has a value for each query; see `tieaware.Results.answered`.
    columns : list of Column
        In the order of the measures; the spread of a measure, and its chance, follow its value.
    has_spread : bool
        Whether the results have the spread over the orders of tied documents.
    made : Provenance or None
        The options that the values were computed with; None if they are unknown.
    """

    title: str
    runs: tuple[str, ...]
    queries: tuple[str | int, ...]
    answered: npt.NDArray[np.bool_]
    columns: list[Column]
    has_spread: bool
    made: Provenance | None


def columns_of(
    measures: Sequence[Measure], names: Sequence[str], arrays: Mapping[str, Values], weights: Values | None = None
) -> list[Column]:
    """Return the columns of measures: for each measure its value, then its spread and its chance where they are known.

    A count has only the column of its value. A measure with a geometric mean has no column of a standard deviation.

    Parameters
    ----------
    measures : sequence of Measure
    names : sequence of str
        The name of each measure.
    arrays : dict of str to float64[n_runs, n_queries, n_measures]
        "values", with a spread "std", "min" and "max", and with chance "chance", "chance_std" and "ideal".
    weights : float64[n_runs, n_queries], optional
        The weights of the queries in means; counts are summed without them. By default, all have the same weight.
    """
    values = arrays["values"]
    kinds = {"value": (values, summaries.sums_or_means(values, measures, weights))}
    for kind in (kind for group in (SPREAD, CHANCE) if all(kind in arrays for kind in group) for kind in group):
        array = arrays[kind]
        if kind in _DEVIATIONS:
            kinds[kind] = array, summaries.std_of_means(array, values, measures, weights)
        else:
            kinds[kind] = array, summaries.averages(array, measures, weights)
    columns = []
    for i, (name, measure) in enumerate(zip(names, measures, strict=True)):
        for kind, (array, summary) in kinds.items():
            if kind == "value" or _is_known(measure, kind):
                full_name = name if kind == "value" else f"{name}_{kind}"
                columns.append(Column(full_name, array[..., i], summary[:, i], measure, kind))
    return columns


def _is_known(measure: Measure, kind: str) -> bool:
    """Return whether a kind of column other than "value" is known for a measure."""
    definition = measure.definition
    if definition.is_count or not (definition.has_spread or kind == "chance"):
        return False
    return kind not in _DEVIATIONS or definition.summary != "geometric"


def without_last_measure(export: Export) -> Export:
    """Return an export without its last measure, which must be a count, so that it has one column."""
    columns = export.columns[:-1]
    answered = ~np.all([np.isnan(column.values) for column in columns if column.kind == "value"], axis=0)
    return export._replace(columns=columns, answered=answered)


def as_dict(export: Export) -> dict[str, dict[str | int, dict[str, float]]]:
    """Return ``{run: {query: {column: value}}}``, without unanswered queries."""
    names = [column.name for column in export.columns]
    values = np.stack([column.values for column in export.columns], axis=2)
    return {
        run: {
            query: dict(zip(names, row, strict=True))
            for query, row, is_answered in zip(export.queries, of_run.tolist(), answered.tolist(), strict=True)
            if is_answered
        }
        for run, of_run, answered in zip(export.runs, values, export.answered, strict=True)
    }


def as_columns(export: Export) -> dict[str, Any]:
    """Return the columns of a data frame by name: run, query and the values. Each query that a run answers is a row."""
    runs, queries = np.nonzero(export.answered)
    columns: dict[str, Any] = {
        "run": [export.runs[i] for i in runs.tolist()],
        "query": [export.queries[i] for i in queries.tolist()],
    }
    return columns | {column.name: column.values[runs, queries] for column in export.columns}


def table_of_means(title: str, runs: Sequence[str], columns: Sequence[Column]) -> Table:
    """Return a table of the summaries of columns, with a row for each run."""
    cells = [[int(value) if column.is_count else value for value in column.summary.tolist()] for column in columns]
    rows: list[tuple[Cell, ...]] = list(zip(runs, *cells, strict=True))
    counts = [column.name for column in columns if column.is_count]
    notes = [f"{', '.join(counts)}: summed over the queries."] if counts else []
    return Table(title, ("run", *(column.name for column in columns)), rows, tuple(notes))
