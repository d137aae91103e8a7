"""Division of a table into the runs that it contains. A run column has the name of the run of each row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, stable_order
from tieaware.inputs.column_names import run_column
from tieaware.inputs.frames import Batch, FrameInMemory, joined
from tieaware.inputs.rows import Rows
from tieaware.kernels import _identifiers
from tieaware.kernels._buffers import BadCell
from tieaware.lists.identifiers import Identifiers


def runs_of(rows: Rows, run: str | None) -> dict[str, Rows]:
    """Divide a table into its runs; return {name of the run: rows of the run}, or {"": rows} without a run column.

    The result is empty if the table has a run column but no rows. A table with several runs is held in memory. A table
    that has a run column and can be read only once is held in memory too.

    Parameters
    ----------
    rows : Rows
    run : str or None
        The name of the run column. If it is None, the column is recognised by its usual names.

    Raises
    ------
    InputError
        The table cannot be read, or a value in the run column is not a name.
    """
    frame, source_name = rows.frame, rows.source_name
    column = run_column(frame, source_name, run)
    if column is None:
        return {"": rows}
    where = f"{source_name}: {frame.names[column]}"
    wanted = [column, *rows.columns]
    if not frame.rereadable:
        held = list(frame.batches(wanted))
        frame, column = FrameInMemory(tuple(frame.names[i] for i in wanted), held, frame), 0
        rows, wanted = Rows(frame, (1, 2, 3), source_name), [0, 1, 2, 3]
    sections = [_sections_of_runs(batch, where) for batch in frame.batches([column])]
    named = joined(names for _, names in sections)
    numbers, firsts = _identifiers.number(named.data, named.offsets)
    names = [str(name) for name in named.take(firsts).to_list()]
    if len(names) < 2:
        return dict.fromkeys(names, replace(rows, run_column=column))
    batches: list[list[Batch]] = [[] for _ in names]
    row = 0
    for batch, (starts, queries) in zip(frame.batches(wanted), sections, strict=True):
        for i, of_run in _by_run(rows, batch, starts, numbers[row : row + len(queries)]):
            batches[i].append(of_run)
        row += len(queries)
    columns = tuple(rows.frame.names[i] for i in rows.columns)
    return {
        name: Rows(FrameInMemory(columns, held, rows.frame), (0, 1, 2), source_name)
        for name, held in zip(names, batches, strict=True)
    }


def _sections_of_runs(batch: Batch, where: str) -> tuple[Integers, Identifiers]:
    """Divide a batch into sections of consecutive rows of one run; return the first row and the run of each section."""
    (column,) = batch.columns
    if column.holds not in ("text", "integer", "object", "null"):
        raise unexpected(where, "a column of text, bytes or integers", column.type)
    try:
        starts = column.sections(batch.start, batch.stop)
        return starts, column.identifiers_at(starts)
    except BadCell as bad:
        raise unexpected(f"{where}[{batch.row(bad.args[0])}]", "the name of a run", bad.args[1]) from None


def _by_run(rows: Rows, batch: Batch, starts: Integers, numbers: Integers) -> Iterator[tuple[int, Batch]]:
    """Yield, for each run in a batch, the number of the run and a batch of its rows.

    The rows are copied only if the numbers of the runs do not ascend.
    """
    batch = batch._replace(columns=batch.columns[1:])
    rows.check(batch)
    sizes = np.diff(np.append(starts, batch.stop))
    if (np.diff(numbers) <= 0).any():
        batch = rows.ordered(batch, stable_order(np.repeat(numbers, sizes)) + batch.start)
    start = batch.start
    for run in np.unique(numbers).tolist():
        stop = start + int(sizes[numbers == run].sum())
        yield run, batch._replace(start=start, stop=stop)
        start = stop
