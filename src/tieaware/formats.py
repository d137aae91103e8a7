"""Results as text: trec_eval's three columns, JSON, CSV and Markdown, each a function that returns a string."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tieaware.results import Results


def text(results: Results, names: Sequence[str], *, per_query: bool, digits: int, header: bool = False) -> str:
    """trec_eval's columns: the measure as it was named, the query or ``all``, the value; counts are whole numbers.

    With several runs a ``runid`` line opens each; `header` asks for it, and for ``num_q``, in any case.
    """
    lines = []
    for run, summary, table in zip(results.runs, results.summary(), results.values, strict=True):
        answered = ~np.isnan(table).any(axis=1)
        if header or len(results.runs) > 1:
            lines.append(f"{'runid':<22}\tall\t{run}")
        if header:
            lines.append(f"{'num_q':<22}\tall\t{int(answered.sum())}")
        rows = [(q, row) for q, row, a in zip(results.queries, table, answered, strict=True) if a and per_query]
        for query, row in [*rows, ("all", summary)]:
            for name, measure, value in zip(names, results.measures, row, strict=True):
                shown = f"{value:.0f}" if measure.definition.is_count else f"{value:.{digits}f}"
                lines.append(f"{name:<22}\t{query}\t{shown}")
    return "".join(f"{line}\n" for line in lines)


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
        shown = [
            f"{value:.0f}" if measure.definition.is_count else f"{value:.{digits}f}"
            for measure, value in zip(results.measures, row, strict=True)
        ]
        cells = [_cell(key) for key in ([run, query] if per_query else [run])]
        lines.append("| " + " | ".join([*cells, *shown]) + " |")
    return "".join(f"{line}\n" for line in lines)


def _cell(name: str) -> str:
    return name.replace("\\", "\\\\").replace("|", "\\|")


FORMATS: dict[str, Callable[..., str]] = {"text": text, "json": as_json, "csv": as_csv, "markdown": as_markdown}
