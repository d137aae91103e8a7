"""Packing of the rows of a partition into chunks, and unpacking of these chunks.

A chunk holds documents of one list. It is one row of a data frame, in which each column holds an array as bytes. A list
whose rows are far apart is packed into several chunks. Spark shuffles the chunks instead of the original rows, because
the chunks are fewer and smaller. They arrive in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Offsets, stable_order
from tieaware.inputs.frames import Column, arrow_of
from tieaware.integrations.spark.installation import EXTRA
from tieaware.lists.identifiers import Identifiers
from tieaware.runtime.extras import load

# About this many rows are packed in one call. Among them, the rows of a list need not be contiguous.
ROWS_AT_ONCE = 1 << 18

# The largest number of documents in a chunk. Spark passes ten thousand chunks at a time to Python, so chunks must be
# small enough for the memory of a worker.
LONGEST_CHUNK = 1 << 12

# The columns of a chunk besides its run and query. Only tie rules that keep the order of the run need `places`.
CHUNK_COLUMNS = ("scores", "positions", "labels", "lengths", "names", "places")


def packed(batches: Iterable[Any]) -> Iterator[Any]:
    """Pack the rows of a partition into chunks.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        The columns run (if there are several runs), query (null if the query is not judged), score, label (null if the
        document is not judged), document (null if its name is not needed) and place (if the order of the rows is
        needed). A bad row has no score (null), and an error message in place of the document's name.

    Yields
    ------
    pyarrow.RecordBatch
        One row for each chunk: run, query, the scores of the documents, the positions and labels of the judged
        documents, the length and the bytes of each name that is needed, and the places. If a run has unjudged queries,
        all of them together become one row that holds only the run. Bad rows become one row without a query, with the
        error message as the name.
    """
    for table in _joined_batches(batches):
        good, bad = _split(table, "score")
        if bad.num_rows:
            yield _almost_empty(bad, names=bad.column("document").slice(0, 1).cast("binary"))
        judged, unjudged = _split(good, "query")
        if unjudged.num_rows:
            runs = {"run": unjudged.column("run").unique()} if "run" in unjudged.schema.names else {}
            yield _almost_empty(unjudged, **runs)
        if judged.num_rows:
            yield _packed(judged)


def _joined_batches(batches: Iterable[Any]) -> Iterator[Any]:
    """Join or divide batches into tables of about ROWS_AT_ONCE rows."""
    pa = load("pyarrow", EXTRA)
    held: list[Any] = []
    n = 0
    for whole in batches:
        for start in range(0, whole.num_rows, ROWS_AT_ONCE):
            batch = whole.slice(start, ROWS_AT_ONCE)
            held.append(batch)
            n += batch.num_rows
            if n >= ROWS_AT_ONCE:
                yield pa.Table.from_batches(held)
                held, n = [], 0
    if n:
        yield pa.Table.from_batches(held)


def _split(table: Any, column: str) -> tuple[Any, Any]:
    """Return the rows in which a column is not null, and the rows in which it is null."""
    values = table.column(column)
    if not values.null_count:
        return table, table.slice(0, 0)
    return table.filter(values.is_valid()), table.filter(values.is_null())


def _almost_empty(table: Any, **columns: Any) -> Any:
    """Return rows that have these columns, and null in all other columns of a chunk."""
    pa = load("pyarrow", EXTRA)
    n = max(map(len, columns.values()), default=1)
    types = {name: table.schema.field(name).type for name in ("run", "query") if name in table.schema.names}
    types |= dict.fromkeys(CHUNK_COLUMNS if "place" in table.schema.names else CHUNK_COLUMNS[:-1], pa.binary())
    arrays = {name: columns[name] if name in columns else pa.nulls(n, kind) for name, kind in types.items()}
    return pa.table(arrays).combine_chunks().to_batches()[0]


def _packed(table: Any) -> Any:
    """Pack rows of judged queries into chunks."""
    pa = load("pyarrow", EXTRA)
    (batch,) = table.combine_chunks().to_batches()
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    names_of_list = [name for name in ("run", "query") if name in columns]
    firsts, order, list_offsets = _grouped([columns[name] for name in names_of_list], batch.num_rows)
    lists, offsets = _divided(list_offsets)
    first_rows = pa.array(firsts[lists])

    def by_list(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return values if order is None else values[order]

    judged = np.flatnonzero(by_list(columns["label"].is_valid().to_numpy(zero_copy_only=False)))
    judged_offsets = np.searchsorted(judged, offsets)
    positions = (judged - np.repeat(offsets[:-1], np.diff(judged_offsets))).astype(np.int32)
    labels = by_list(columns["label"].fill_null(0).to_numpy())[judged]
    has_name = by_list(columns["document"].is_valid().to_numpy(zero_copy_only=False))
    named = np.flatnonzero(has_name)
    named_offsets = np.searchsorted(named, offsets)
    names = identifier_column(columns["document"]).identifiers_at(named if order is None else order[named])
    chunks = {
        **{name: columns[name].take(first_rows) for name in names_of_list},
        "scores": _as_bytes(by_list(columns["score"].to_numpy()), offsets),
        "positions": _as_bytes(positions, judged_offsets),
        "labels": _as_bytes(labels, judged_offsets),
        "lengths": _as_bytes(np.diff(names.offsets).astype(np.int32), named_offsets),
        "names": _as_bytes(names.data, names.offsets[named_offsets]),
    }
    if "place" in columns:
        chunks["places"] = _as_bytes(by_list(columns["place"].to_numpy()), offsets)
    return pa.RecordBatch.from_pydict(chunks)


def identifier_column(array: Any) -> Column:
    """Convert an Arrow array of identifiers to a `Column` of the library."""
    pa = load("pyarrow", EXTRA)
    frame = arrow_of(pa.RecordBatch.from_arrays([array], ["identifiers"]), "identifiers")
    for batch in frame.batches([0]):
        return batch.columns[0]
    raise AssertionError("a record batch must be read as one batch")


def numbered(arrays: Sequence[Any], n: int) -> tuple[Integers, Integers]:
    """Number rows by their identifiers.

    Parameters
    ----------
    arrays : sequence of pyarrow.Array
        Columns of identifiers without nulls.
    n : int
        The number of rows.

    Returns
    -------
    starts : int64[n_stretches]
        The first row of each stretch. A stretch is a series of successive rows with the same identifiers.
    numbers : int64[n_stretches]
        The number of each stretch. Stretches with the same identifiers have the same number.
    """
    is_start = np.zeros(n, np.bool_)
    for array in arrays:
        is_start[identifier_column(array).sections(0, n)] = True
    starts = np.flatnonzero(is_start)
    numbers = np.zeros(len(starts), np.int64)
    for array in arrays:
        encoded = array.take(starts).dictionary_encode()
        numbers = numbers * len(encoded.dictionary) + encoded.indices.to_numpy()
    return starts, numbers


def _grouped(arrays: Sequence[Any], n: int) -> tuple[Integers, Integers | None, Offsets]:
    """Group the rows of a table by list.

    Parameters
    ----------
    arrays : sequence of pyarrow.Array
        The columns whose values identify the list of a row.
    n : int

    Returns
    -------
    firsts : int64[n_lists]
        The first row of each list.
    order : int64[n] or None
        The rows, list by list; None if the rows of each list are contiguous.
    offsets : int64[n_lists + 1]
    """
    starts, numbers = numbered(arrays, n)
    by_number = stable_order(numbers)
    ordered = numbers[by_number]
    heads = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    if len(heads) == len(numbers):
        return starts, None, np.append(starts, n)
    sizes = np.diff(np.append(starts, n))[by_number]
    ends = np.cumsum(sizes)
    order = np.arange(n) + np.repeat(starts[by_number] - ends + sizes, sizes)
    return starts[by_number[heads]], order, np.append((ends - sizes)[heads], n)


def _divided(list_offsets: Offsets) -> tuple[Integers, Offsets]:
    """Divide lists into chunks of at most LONGEST_CHUNK documents; return the list of each chunk, and the offsets."""
    n_chunks = -(-np.diff(list_offsets) // LONGEST_CHUNK)
    lists = np.repeat(np.arange(len(n_chunks)), n_chunks)
    number_in_list = np.arange(len(lists)) - np.repeat(np.cumsum(n_chunks) - n_chunks, n_chunks)
    return lists, np.append(list_offsets[lists] + number_in_list * LONGEST_CHUNK, list_offsets[-1])


def _as_bytes(values: npt.NDArray[Any], offsets: Offsets) -> Any:
    """Return an Arrow array of byte strings: string i has the bytes of values[offsets[i] : offsets[i + 1]]."""
    pa = load("pyarrow", EXTRA)
    bounds = (offsets * values.itemsize).astype(np.int32)
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers)


# ---- unpacking -----------------------------------------------------------------------------------


class Unpacked(NamedTuple):
    """A column whose rows are arrays: the values of all rows, one row after another, and the number in each row."""

    values: npt.NDArray[Any]
    sizes: Integers

    @property
    def offsets(self) -> Offsets:
        """The start of each row in `values`, followed by the end of the last row."""
        offsets = np.zeros(len(self.sizes) + 1, np.int64)
        np.cumsum(self.sizes, out=offsets[1:])
        return offsets


def unpacked(column: Any, dtype: npt.DTypeLike) -> Unpacked:
    """Read a column of byte strings, or of lists of numbers, as arrays of a dtype. A null is read as an empty array.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        The column. Its chunks are read one by one: Arrow cannot join chunks of more than 2 GB, because their offsets
        have 32 bits.
    dtype : NumPy dtype
    """
    found = [_unpacked(chunk, np.dtype(dtype)) for chunk in column.chunks]
    if len(found) == 1:
        return found[0]
    values = [each.values for each in found] or [np.zeros(0, dtype)]
    return Unpacked(np.concatenate(values), np.concatenate([each.sizes for each in found] or [np.zeros(0, np.int64)]))


def _unpacked(chunk: Any, dtype: np.dtype[Any]) -> Unpacked:
    """Read one Arrow array as `unpacked` does."""
    buffers = chunk.buffers()
    has_large_offsets = str(chunk.type).startswith("large")
    if len(chunk) == 0 or buffers[1] is None:
        return Unpacked(np.zeros(0, dtype), np.zeros(len(chunk), np.int64))
    bounds = np.frombuffer(buffers[1], np.int64 if has_large_offsets else np.int32)
    bounds = bounds[chunk.offset : chunk.offset + len(chunk) + 1]
    # An array of byte strings has three buffers, and offsets in bytes. An array of lists has more buffers, and offsets
    # in values.
    are_bytes = len(buffers) == 3
    data = np.zeros(0, np.uint8) if buffers[-1] is None else np.frombuffer(buffers[-1], np.uint8)
    start, stop = (int(bounds[i]) * (1 if are_bytes else dtype.itemsize) for i in (0, -1))
    values = np.require(data[start:stop].view(dtype), requirements=["C", "A"])
    return Unpacked(values, np.diff(bounds).astype(np.int64) // (dtype.itemsize if are_bytes else 1))


def unpacked_names(lengths: Any, names: Any) -> tuple[Identifiers, Integers]:
    """Return all names that the columns `lengths` and `names` of chunks hold, and the number of names in each chunk.

    Parameters
    ----------
    lengths, names : pyarrow.ChunkedArray
    """
    sizes = unpacked(lengths, np.int32)
    return Identifiers.of(unpacked(names, np.uint8).values, Unpacked(sizes.values, sizes.values).offsets), sizes.sizes
