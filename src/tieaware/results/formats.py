"""Results as text: trec_eval's three columns, JSON, CSV and Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tieaware.output import tables
from tieaware.results.exports import Export


def trec_eval(export: Export, *, per_query: bool, digits: int, header: bool = False) -> str:
    """Format results in trec_eval's three columns: measure, query, value."""
    lines: list[tuple[str, str | int, str]] = []
    for r, (run, answered) in enumerate(zip(export.runs, export.answered, strict=True)):
        if header or len(export.runs) > 1:
            lines.append(("runid", "all", run))
        if header:
            lines.append(("num_q", "all", str(answered.sum())))
        for i in answered.nonzero()[0] if per_query else ():
            for column in export.columns:
                if not column.summary_only:
                    lines.append((column.name, export.queries[i], column.shown(column.values[r, i], digits)))
        for column in export.columns:
            lines.append((column.name, "all", column.shown(column.summary[r], digits)))
    return "".join(f"{name:<22}\t{query}\t{value}\n" for name, query, value in lines)


def as_json(export: Export, *, per_query: bool, digits: int) -> str:
    """Format results as JSON, ``{run: {query or "all": {column: value}}}``, in full precision; `digits` is ignored."""
    nested: dict[str, dict[str, dict[str, float]]] = {}
    for run, query, values in _rows(export, per_query):
        nested.setdefault(run, {})[query] = {c.name: value for c, value in zip(export.columns, values, strict=True)}
    return tables.as_json(nested)


def as_csv(export: Export, *, per_query: bool, digits: int) -> str:
    """Format results as CSV, one row for each run and query, in full precision; `digits` is ignored."""
    rows = ((run, query, *values) for run, query, values in _rows(export, per_query))
    return tables.as_csv(["run", "query", *(column.name for column in export.columns)], rows)


def as_markdown(export: Export, *, per_query: bool, digits: int) -> str:
    """Format results as a Markdown table, one row for each run and query; without `per_query`, one row for each run."""
    axes = ["run", "query"] if per_query else ["run"]
    rows = [
        [*(run, query)[: len(axes)], *(c.shown(value, digits) for c, value in zip(export.columns, values, strict=True))]
        for run, query, values in _rows(export, per_query)
    ]
    is_text = [True] * len(axes) + [False] * len(export.columns)
    return tables.as_markdown([*axes, *(column.name for column in export.columns)], rows, is_text)


def _rows(export: Export, per_query: bool) -> Iterator[tuple[str, str, list[float]]]:
    """Yield run, query and values: if `per_query`, the queries that the run answers; then its summary as "all"."""
    for r, (run, answered) in enumerate(zip(export.runs, export.answered, strict=True)):
        for i in answered.nonzero()[0] if per_query else ():
            yield run, str(export.queries[i]), [float(column.values[r, i]) for column in export.columns]
        yield run, "all", [float(column.summary[r]) for column in export.columns]


FORMATS: dict[str, Callable[..., str]] = {"text": trec_eval, "json": as_json, "csv": as_csv, "markdown": as_markdown}
