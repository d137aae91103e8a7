"""Results as text: trec_eval's three columns, JSON, CSV and Markdown, each a function that returns a string."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tieaware.results import Results, shown_value


def text(results: Results, names: Sequence[str], *, per_query: bool, digits: int, header: bool = False) -> str:
    """trec_eval's three columns."""
    return results.to_trec_eval(per_query=per_query, digits=digits, names=names, header=header)


def _rows(results: Results, per_query: bool) -> Iterator[tuple[str, str, list[float]]]:
    for run, summary, table in zip(results.runs, results.summary(), results.values, strict=True):
        if per_query:
            for query, row in zip(results.queries, table, strict=True):
                if not np.isnan(row).any():
                    yield run, query, row.tolist()
        yield run, "all", summary.tolist()


def as_json(results: Results, names: Sequence[str], *, per_query: bool, digits: int) -> str:
    """One object a run and query: ``{run: {query or "all": {measure: value}}}``, in full precision."""
    nested: dict[str, dict[str, dict[str, float]]] = {}
    for run, query, row in _rows(results, per_query):
        nested.setdefault(run, {})[query] = dict(zip(names, row, strict=True))
    return json.dumps(nested, indent=2) + "\n"


def as_csv(results: Results, names: Sequence[str], *, per_query: bool, digits: int) -> str:
    """One row a run and query, one column a measure, in full precision."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["run", "query", *names])
    writer.writerows([run, query, *row] for run, query, row in _rows(results, per_query))
    return file.getvalue()


def as_markdown(results: Results, names: Sequence[str], *, per_query: bool, digits: int) -> str:
    """A table with one row a run and query."""
    keys = ["run", "query"] if per_query else ["run"]
    lines = [
        "| " + " | ".join([*keys, *names]) + " |",
        "|" + " --- |" * len(keys) + " ---: |" * len(names),
    ]
    for run, query, row in _rows(results, per_query):
        shown = [shown_value(measure, value, digits) for measure, value in zip(results.measures, row, strict=True)]
        cells = [_cell(key) for key in ([run, query] if per_query else [run])]
        lines.append("| " + " | ".join([*cells, *shown]) + " |")
    return "".join(f"{line}\n" for line in lines)


def _cell(name: str) -> str:
    return name.replace("\\", "\\\\").replace("|", "\\|")


FORMATS: dict[str, Callable[..., str]] = {"text": text, "json": as_json, "csv": as_csv, "markdown": as_markdown}
