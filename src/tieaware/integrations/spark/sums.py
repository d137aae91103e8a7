"""Means of the values in a Spark data frame: each partition is summed, and the partial sums are merged.

A partial sum has a high and a low part, which together have twice the precision of float64. So the means do not depend
on how the rows are partitioned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Values
from tieaware.engine.views import CHANCE, SPREAD
from tieaware.integrations.spark.installation import pa
from tieaware.integrations.spark.packing import joined_batches, numbered
from tieaware.kernels import _means
from tieaware.measures import Measure, parse_measure

# The columns of values in a frame. Only frames with a spread or with chance have the columns after the first.
VALUE_COLUMNS = ("value", *SPREAD, *CHANCE)
# The columns of standard deviations, whose variances are summed.
_DEVIATIONS = ("std", "chance_std")

# The least number of values that are summed in one call.
ROWS_AT_ONCE = 1 << 20


def partial_sums(batches: Iterable[Any]) -> Iterator[Any]:
    """Sum the values of a partition by run and measure.

    The batches have the columns run, measure, value, and those of a spread and of chance, if there are any. The sums
    have run and measure, and for each column of values the two parts of the sum, and the number of values.
    """
    for table in joined_batches(batches, ROWS_AT_ONCE):
        groups, firsts = _groups(table, ("run", "measure"))
        found = {name: table.column(name).take(firsts).combine_chunks() for name in ("run", "measure")}
        columns = {kind: table.column(kind).to_numpy() for kind in value_columns(table.schema.names)}
        yield _summed(found, columns, groups)


def partial_sums_of_lists(batches: Iterable[Any], names: Sequence[str], kinds: Sequence[str]) -> Iterator[Any]:
    """Sum the values of the lists of a partition by run and measure, in the pass that evaluates them.

    The batches are those of `Evaluation.of_partition`: one row for each list, in which a column such as value_2 holds
    the values of one kind for the measure names[2]. The sums are those of `partial_sums`, with the column error, which
    is null. After an error, a single row holds the message there, and null in all other columns.
    """
    failures: list[Any] = []
    n_lists = max(ROWS_AT_ONCE // (len(names) * len(kinds)), 1)
    for table in joined_batches(_until_failure(batches, failures), n_lists):
        run_of_list, firsts = _groups(table, ("run",))
        groups = (run_of_list[:, None] * len(names) + np.arange(len(names))).ravel()
        runs = table.column("run").take(np.repeat(firsts, len(names))).combine_chunks()
        found = {"run": runs, "measure": pa.array(list(names) * len(firsts))}
        columns = {}
        for kind in kinds:
            by_measure = [table.column(f"{kind}_{i}").to_numpy() for i in range(len(names))]
            columns[kind] = np.stack(by_measure, axis=1).ravel()
        summed = _summed(found, columns, groups)
        yield summed.append_column("error", pa.nulls(summed.num_rows, pa.string()))
    if failures:
        empty = {"run": pa.nulls(1, pa.string()), "measure": pa.nulls(1, pa.string())}
        for kind in kinds:
            empty |= {f"{kind}_high": pa.nulls(1, pa.float64()), f"{kind}_low": pa.nulls(1, pa.float64())}
            empty[f"{kind}_n"] = pa.nulls(1, pa.int64())
        yield pa.RecordBatch.from_pydict({**empty, "error": failures[0].column("error")})


def _until_failure(batches: Iterable[Any], failures: list[Any]) -> Iterator[Any]:
    """Yield the batches without an error; append a batch that holds an error to `failures`, and stop."""
    for batch in batches:
        if batch.column("error").null_count < batch.num_rows:
            failures.append(batch)
            return
        yield batch


def _summed(found: dict[str, Any], columns: dict[str, npt.NDArray[Any]], groups: Integers) -> Any:
    """Sum columns of values by group; return a batch with `found`, the run and measure of each group, and the sums."""
    geometric = _are_geometric([parse_measure(name) for name in found["measure"].to_pylist()])
    for kind, column in columns.items():
        values = column.astype(np.float64)
        # Sum variances: the variance of a sum of independent values is the sum of their variances.
        terms = values**2 if kind in _DEVIATIONS else values
        arithmetic = kind in (*_DEVIATIONS, *CHANCE)
        sums, counts = _means.sums(terms, groups, np.zeros_like(geometric) if arithmetic else geometric)
        found.update({f"{kind}_high": sums[:, 0].copy(), f"{kind}_low": sums[:, 1].copy(), f"{kind}_n": counts})
    return pa.RecordBatch.from_pydict(found)


def merged_means(batches: Iterable[Any]) -> Iterator[Any]:
    """Merge the partial sums of all partitions, and yield the means by run and measure, in the order of their names."""
    held = [batch for batch in batches if batch.num_rows]
    if not held:
        return
    table = pa.Table.from_batches(held)
    groups, firsts = _groups(table, ("run", "measure"))
    measures = [parse_measure(name) for name in table.column("measure").take(firsts).to_pylist()]
    found = {name: table.column(name).take(firsts).combine_chunks() for name in ("run", "measure")}
    for kind in (name.removesuffix("_n") for name in table.schema.names if name.endswith("_n")):
        partial = np.stack([table.column(f"{kind}_{half}").to_numpy() for half in ("high", "low")], axis=1)
        sums, counts = _means.merged(partial, table.column(f"{kind}_n").to_numpy().copy(), groups, len(measures))
        found[kind] = _summary(kind, measures, sums, counts)
        if kind == "value":
            n_values = counts
        elif kind in CHANCE:
            # A sum leaves out NaN. Without some of the queries, the mean cannot be compared with that of the values.
            found[kind][counts < n_values] = np.nan
    yield pa.Table.from_pydict(found).sort_by([("run", "ascending"), ("measure", "ascending")]).to_batches()[0]


def value_columns(names: Iterable[str]) -> list[str]:
    """Return those of the given column names that are columns of values, in the order of VALUE_COLUMNS."""
    present = set(names)
    return [name for name in VALUE_COLUMNS if name in present]


def _summary(kind: str, measures: list[Measure], sums: Values, counts: Integers) -> Values:
    """Return the summary of a column for each run and measure: the sum of a count, the mean of any other measure.

    The result is NaN for the spread and the chance of a count, and for the standard deviation and the chance of a
    geometric mean.
    """
    geometric = _are_geometric(measures)
    is_count = np.array([measure.definition.is_count for measure in measures])
    total = sums.sum(axis=1)
    if kind in _DEVIATIONS:
        with np.errstate(invalid="ignore", divide="ignore"):
            deviations: Values = np.sqrt(total) / counts
        deviations[geometric | is_count] = np.nan
        return deviations
    if kind in CHANCE:
        means = _means.of_sums(sums, counts, np.zeros_like(geometric))
        return np.where(is_count | geometric, np.nan, means)
    means = _means.of_sums(sums, counts, geometric)
    return np.where(is_count, total if kind == "value" else np.nan, means)


def _groups(table: Any, names: Sequence[str]) -> tuple[Integers, Integers]:
    """Number the rows by the columns `names`; return the number of each row, and the first row with each number."""
    n = table.num_rows
    starts, numbers = numbered([table.column(name).combine_chunks() for name in names], n)
    _, firsts, groups = np.unique(numbers, return_index=True, return_inverse=True)
    return np.repeat(groups, np.diff(np.append(starts, n))), starts[firsts]


def _are_geometric(measures: list[Measure]) -> npt.NDArray[np.bool_]:
    return np.array([measure.definition.is_geometric for measure in measures], np.bool_)
