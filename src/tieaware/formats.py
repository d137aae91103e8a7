"""Results as text: trec_eval's three columns, JSON, CSV and Markdown, each a function that returns a string."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Sequence

from tieaware.results import Column, Results


def text(results: Results, names: Sequence[str], *, per_query: bool, digits: int, header: bool = False) -> str:
    """trec_eval's three columns."""
    return results.to_trec_eval(per_query=per_query, digits=digits, names=names, header=header)


def _rows(results: Results, columns: Sequence[Column], per_query: bool) -> Iterator[tuple[str, str, list[float]]]:
    for r, run in enumerate(results.runs):
        for i, query in enumerate(results.queries if per_query else ()):
            row = [float(column.values[r, i]) for column in columns]
            if not any(map(math.isnan, row)):
                yield run, query, row
        yield run, "all", [float(column.summary[r]) for column in columns]


def as_json(results: Results, names: Sequence[str], *, per_query: bool, digits: int) -> str:
    """One object a run and query: ``{run: {query or "all": {measure: value}}}``, in full precision."""
    columns = results.columns(names)
    nested: dict[str, dict[str, dict[str, float]]] = {}
    for run, query, row in _rows(results, columns, per_query):
        nested.setdefault(run, {})[query] = {c.name: value for c, value in zip(columns, row, strict=True)}
    return json.dumps(nested, indent=2) + "\n"


def as_csv(results: Results, names: Sequence[str], *, per_query: bool, digits: int) -> str:
    """One row a run and query, one column a measure, in full precision."""
    columns = results.columns(names)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["run", "query", *(column.name for column in columns)])
    writer.writerows([run, query, *row] for run, query, row in _rows(results, columns, per_query))
    return file.getvalue()


def as_markdown(results: Results, names: Sequence[str], *, per_query: bool, digits: int) -> str:
    """A table with one row a run and query."""
    columns = results.columns(names)
    keys = ["run", "query"] if per_query else ["run"]
    lines = [
        "| " + " | ".join([*keys, *(column.name for column in columns)]) + " |",
        "|" + " --- |" * len(keys) + " ---: |" * len(columns),
    ]
    for run, query, row in _rows(results, columns, per_query):
        shown = [column.shown(value, digits) for column, value in zip(columns, row, strict=True)]
        cells = [_cell(key) for key in ([run, query] if per_query else [run])]
        lines.append("| " + " | ".join([*cells, *shown]) + " |")
    return "".join(f"{line}\n" for line in lines)


def _cell(name: str) -> str:
    return name.replace("\\", "\\\\").replace("|", "\\|")


FORMATS: dict[str, Callable[..., str]] = {"text": text, "json": as_json, "csv": as_csv, "markdown": as_markdown}
