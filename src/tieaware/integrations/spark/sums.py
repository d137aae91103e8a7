"""Means of values in frames: sums of parts in twice the precision, put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.integrations.spark.packing import EXTRA, numbered
from tieaware.kernels import _means
from tieaware.measures import Measure, parse_measure
from tieaware.runtime.extras import load

# So many values are summed up at a time.
ROWS = 1 << 20


def partial_sums(batches: Iterable[Any]) -> Iterator[Any]:
    """Sum up values by run and measure.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        run, measure, value and, if there is a spread, std, min and max.

    Yields
    ------
    pyarrow.RecordBatch
        run, measure, and of each number its sum, as its high and its low part, and how many there are.
    """
    for table in _tables(batches):
        groups, firsts = _groups(table)
        geometric = _geometric(_measures(table, firsts))
        found = {name: table.column(name).take(firsts).combine_chunks() for name in ("run", "measure")}
        for kind in _kinds(table):
            values = table.column(kind).to_numpy().astype(np.float64)
            # Deviations of independent queries add up as their squares.
            added = values**2 if kind == "std" else values
            sums, counts = _means.sums(added, groups, geometric if kind != "std" else np.zeros_like(geometric))
            found.update({f"{kind}_high": sums[:, 0].copy(), f"{kind}_low": sums[:, 1].copy(), f"{kind}_n": counts})
        yield load("pyarrow", EXTRA).RecordBatch.from_pydict(found)


def sums_merged(batches: Iterable[Any]) -> Iterator[Any]:
    """Put all sums together, and return the means by run and measure, in the order of their names.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        What `partial_sums` yields, all that there is.

    Yields
    ------
    pyarrow.RecordBatch
        run, measure, value and, if there is a spread, std, min and max.
    """
    pa = load("pyarrow", EXTRA)
    held = [batch for batch in batches if batch.num_rows]
    if not held:
        return
    table = pa.Table.from_batches(held)
    groups, firsts = _groups(table)
    measures = _measures(table, firsts)
    found = {name: table.column(name).take(firsts).combine_chunks() for name in ("run", "measure")}
    for kind in (name.removesuffix("_n") for name in table.schema.names if name.endswith("_n")):
        parts = np.stack([table.column(f"{kind}_{part}").to_numpy() for part in ("high", "low")], axis=1)
        sums, counts = _means.merged(parts, table.column(f"{kind}_n").to_numpy().copy(), groups, len(measures))
        found[kind] = _summary(kind, measures, sums, counts)
    yield pa.Table.from_pydict(found).sort_by([("run", "ascending"), ("measure", "ascending")]).to_batches()[0]


def _summary(kind: str, measures: list[Measure], sums: Values, counts: Integers) -> Values:
    """Return of each run and measure what `Results.means` shows: counts are added up, and have no spread."""
    geometric = _geometric(measures)
    is_count = np.array([measure.definition.is_count for measure in measures])
    total = sums.sum(axis=1)
    if kind == "std":
        with np.errstate(invalid="ignore", divide="ignore"):
            deviations: Values = np.sqrt(total) / counts
        deviations[geometric | is_count] = np.nan
        return deviations
    means = _means.of_sums(sums, counts, geometric)
    return np.where(is_count, total if kind == "value" else np.nan, means)


def _tables(batches: Iterable[Any]) -> Iterator[Any]:
    """Put batches together to so many rows."""
    pa = load("pyarrow", EXTRA)
    held: list[Any] = []
    n = 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            n += batch.num_rows
        if n >= ROWS:
            yield pa.Table.from_batches(held)
            held, n = [], 0
    if held:
        yield pa.Table.from_batches(held)


def _groups(table: Any) -> tuple[Integers, Integers]:
    """Return the number of the run and measure of each row, and a row of each number."""
    n = table.num_rows
    starts, numbers = numbered([table.column(name).combine_chunks() for name in ("run", "measure")], n)
    _, firsts, groups = np.unique(numbers, return_index=True, return_inverse=True)
    return np.repeat(groups, np.diff(np.append(starts, n))), starts[firsts]


def _measures(table: Any, rows: Integers) -> list[Measure]:
    return [parse_measure(name) for name in table.column("measure").take(rows).to_pylist()]


def _geometric(measures: list[Measure]) -> Any:
    return np.array([measure.definition.is_geometric for measure in measures], np.bool_)


def _kinds(table: Any) -> list[str]:
    return [name for name in ("value", "std", "min", "max") if name in table.schema.names]
