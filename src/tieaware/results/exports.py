"""The values of each query, handed on: as dicts, and as columns for the frames of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tieaware.results._results import Results



def as_dict(results: Results) -> dict[str, dict[str | int, dict[str, float]]]:
    """Return ``{run: {query: {column: value}}}``, without the queries on which a run is silent."""
    columns = results.columns()
    names = [column.name for column in columns]
    tables = np.stack([column.values for column in columns], axis=2)
    return {
        run: {
            query: dict(zip(names, row, strict=True))
            for query, row, is_there in zip(results.queries, table.tolist(), answered.tolist(), strict=True)
            if is_there
        }
        for run, table, answered in zip(results.runs, tables, results.answered, strict=True)
    }


def as_columns(results: Results) -> dict[str, Any]:
    """Return one row for each run and query that it answers: run, query, and the columns of each measure."""
    runs, queries = np.nonzero(results.answered)
    columns: dict[str, Any] = {
        "run": [results.runs[i] for i in runs.tolist()],
        "query": [results.queries[i] for i in queries.tolist()],
    }
    return columns | {column.name: column.values[runs, queries] for column in results.columns()}
