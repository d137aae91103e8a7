"""Results as text: trec_eval's three columns, JSON, CSV and Markdown, each a function that returns a string."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from tieaware import tables
from tieaware.results import Column, Results


def text(results: Results, names: Sequence[str], *, per_query: bool, digits: int, header: bool = False) -> str:
    """trec_eval's three columns."""
    return results.to_trec_eval(per_query=per_query, digits=digits, names=names, header=header)


def as_json(results: Results, names: Sequence[str], *, per_query: bool, digits: int) -> str:
    """One object a run and query: ``{run: {query or "all": {measure: value}}}``, in full precision."""
    columns = results.columns(names)
    nested: dict[str, dict[str, dict[str, float]]] = {}
    for run, query, values in _rows(results, columns, per_query):
        nested.setdefault(run, {})[query] = {c.name: value for c, value in zip(columns, values, strict=True)}
    return tables.as_json(nested)


def as_csv(results: Results, names: Sequence[str], *, per_query: bool, digits: int) -> str:
    """One row a run and query, one column a measure, in full precision."""
    columns = results.columns(names)
    rows = ((run, query, *values) for run, query, values in _rows(results, columns, per_query))
    return tables.as_csv(["run", "query", *(column.name for column in columns)], rows)


def as_markdown(results: Results, names: Sequence[str], *, per_query: bool, digits: int) -> str:
    """A table with one row a run and query; without the queries, one a run."""
    columns = results.columns(names)
    keys = ["run", "query"] if per_query else ["run"]
    rows = [
        [*(run, query)[: len(keys)], *(c.shown(value, digits) for c, value in zip(columns, values, strict=True))]
        for run, query, values in _rows(results, columns, per_query)
    ]
    is_text = [True] * len(keys) + [False] * len(columns)
    return tables.as_markdown([*keys, *(column.name for column in columns)], rows, is_text)


def _rows(results: Results, columns: Sequence[Column], per_query: bool) -> Iterator[tuple[str, str, list[float]]]:
    """The values of each run, query by query, and their summary."""
    for r, run in enumerate(results.runs):
        for i, query in enumerate(results.queries if per_query else ()):
            row = [float(column.values[r, i]) for column in columns]
            if not any(map(math.isnan, row)):
                yield run, str(query), row
        yield run, "all", [float(column.summary[r]) for column in columns]


FORMATS: dict[str, Callable[..., str]] = {"text": text, "json": as_json, "csv": as_csv, "markdown": as_markdown}
