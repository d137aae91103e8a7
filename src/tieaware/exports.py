"""The values of each query, handed on: as dicts, and as columns for the frames of other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

from tieaware.cube import Cube


def as_dict(cube: Cube) -> dict[str, dict[str | int, dict[str, float]]]:
    """Return ``{run: {query: {column: value}}}``, without the queries on which a run is silent."""
    columns = cube.columns()
    names = [column.name for column in columns]
    tables = np.stack([column.values for column in columns], axis=2)
    return {
        run: {
            query: dict(zip(names, row, strict=True))
            for query, row, is_there in zip(cube.queries, table.tolist(), answered.tolist(), strict=True)
            if is_there
        }
        for run, table, answered in zip(cube.runs, tables, cube.answered, strict=True)
    }


def as_columns(cube: Cube) -> dict[str, Any]:
    """Return one row for each run and query that it answers: run, query, and the columns of each measure."""
    runs, queries = np.nonzero(cube.answered)
    columns: dict[str, Any] = {
        "run": [cube.runs[i] for i in runs.tolist()],
        "query": [cube.queries[i] for i in queries.tolist()],
    }
    return columns | {column.name: column.values[runs, queries] for column in cube.columns()}
