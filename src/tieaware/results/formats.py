"""Results as text: trec_eval's three columns, JSON, CSV and Markdown, each a function that returns a string."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from tieaware.output import tables
from tieaware.results.provenance import Column

if TYPE_CHECKING:
    from tieaware.results._results import Results


def trec_eval(results: Results, *, per_query: bool, digits: int, header: bool = False) -> str:
    """trec_eval's three columns."""
    columns = results.columns()
    lines: list[tuple[str, str | int, str]] = []
    for r, (run, answered) in enumerate(zip(results.runs, results.answered, strict=True)):
        if header or len(results.runs) > 1:
            lines.append(("runid", "all", run))
        if header:
            lines.append(("num_q", "all", str(answered.sum())))
        for i in answered.nonzero()[0] if per_query else ():
            for column in columns:
                if not column.summary_only:
                    lines.append((column.name, results.queries[i], column.shown(column.values[r, i], digits)))
        for column in columns:
            lines.append((column.name, "all", column.shown(column.summary[r], digits)))
    return "".join(f"{name:<22}\t{query}\t{value}\n" for name, query, value in lines)


def as_json(results: Results, *, per_query: bool, digits: int) -> str:
    """One object a run and query: ``{run: {query or "all": {measure: value}}}``, in full precision."""
    columns = results.columns()
    nested: dict[str, dict[str, dict[str, float]]] = {}
    for run, query, values in _rows(results, columns, per_query):
        nested.setdefault(run, {})[query] = {c.name: value for c, value in zip(columns, values, strict=True)}
    return tables.as_json(nested)


def as_csv(results: Results, *, per_query: bool, digits: int) -> str:
    """One row a run and query, one column a measure, in full precision."""
    columns = results.columns()
    rows = ((run, query, *values) for run, query, values in _rows(results, columns, per_query))
    return tables.as_csv(["run", "query", *(column.name for column in columns)], rows)


def as_markdown(results: Results, *, per_query: bool, digits: int) -> str:
    """A table with one row a run and query; without the queries, one a run."""
    columns = results.columns()
    keys = ["run", "query"] if per_query else ["run"]
    rows = [
        [*(run, query)[: len(keys)], *(c.shown(value, digits) for c, value in zip(columns, values, strict=True))]
        for run, query, values in _rows(results, columns, per_query)
    ]
    is_text = [True] * len(keys) + [False] * len(columns)
    return tables.as_markdown([*keys, *(column.name for column in columns)], rows, is_text)


def _rows(results: Results, columns: Sequence[Column], per_query: bool) -> Iterator[tuple[str, str, list[float]]]:
    """The values of each run, query by query, and their summary."""
    for r, (run, answered) in enumerate(zip(results.runs, results.answered, strict=True)):
        for i in answered.nonzero()[0] if per_query else ():
            yield run, str(results.queries[i]), [float(column.values[r, i]) for column in columns]
        yield run, "all", [float(column.summary[r]) for column in columns]


FORMATS: dict[str, Callable[..., str]] = {"text": trec_eval, "json": as_json, "csv": as_csv, "markdown": as_markdown}
