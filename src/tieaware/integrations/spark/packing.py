"""Rows of a partition, packed into parts of lists: what is shuffled, and what comes of it.

A part is some of the documents of one list: a row of a few columns, whose values are arrays as bytes. One list may be
in several parts, which come in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Offsets, stable_order
from tieaware.inputs.frames import Column, arrow_of
from tieaware.lists.identifiers import Identifiers
from tieaware.runtime.extras import load

# So many rows are packed at a time, whose lists may take turns.
ROWS = 1 << 18

# So many documents a part has at most, for Spark hands ten thousand parts at once to Python.
LARGEST = 1 << 12

EXTRA = "spark"

# What a part consists of besides its run and its query, each an array as bytes; places only where they are needed.
CONTENT = ("scores", "positions", "labels", "lengths", "names", "places")


def packed(batches: Iterable[Any]) -> Iterator[Any]:
    """Pack the rows of Arrow batches.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        The columns run (if there are several), query (null, if it is not judged), score, label (null, if the document
        is not judged), document (null, if its name is not needed) and place (if the order of the rows is needed). The
        score of a bad row is null, and its document says what is wrong.

    Yields
    ------
    pyarrow.RecordBatch
        A part in each row: run, query, the scores of its documents; of those that are judged the positions among them
        and the labels; of those with a name its length and its bytes; the places. Of rows whose query is null, no more
        than which runs they are of; and of a bad one, what is wrong as the name, without a query.
    """
    for table in _blocks(batches):
        good, bad = _divided(table, "score")
        if bad.num_rows:
            yield _nothing(bad, names=bad.column("document").slice(0, 1).cast("binary"))
        judged, others = _divided(good, "query")
        if others.num_rows:
            yield _nothing(others, **({"run": others.column("run").unique()} if "run" in others.schema.names else {}))
        if judged.num_rows:
            yield _packed(judged)


def _blocks(batches: Iterable[Any]) -> Iterator[Any]:
    """Put so many rows together as are packed at a time."""
    pa = load("pyarrow", EXTRA)
    held: list[Any] = []
    n = 0
    for whole in batches:
        for start in range(0, whole.num_rows, ROWS):
            batch = whole.slice(start, ROWS)
            held.append(batch)
            n += batch.num_rows
            if n >= ROWS:
                yield pa.Table.from_batches(held)
                held, n = [], 0
    if n:
        yield pa.Table.from_batches(held)


def _divided(table: Any, column: str) -> tuple[Any, Any]:
    """Return the rows in which a column is not null, and those in which it is."""
    values = table.column(column)
    if not values.null_count:
        return table, table.slice(0, 0)
    return table.filter(values.is_valid()), table.filter(values.is_null())


def _nothing(table: Any, **columns: Any) -> Any:
    """Return parts of these columns, and nothing else."""
    pa = load("pyarrow", EXTRA)
    n = max(map(len, columns.values()), default=1)
    kinds = {name: table.schema.field(name).type for name in ("run", "query") if name in table.schema.names}
    kinds |= dict.fromkeys(CONTENT if "place" in table.schema.names else CONTENT[:-1], pa.binary())
    arrays = {name: columns[name] if name in columns else pa.nulls(n, kind) for name, kind in kinds.items()}
    return pa.table(arrays).combine_chunks().to_batches()[0]


def _packed(table: Any) -> Any:
    """Pack rows, all of them together."""
    pa = load("pyarrow", EXTRA)
    (batch,) = table.combine_chunks().to_batches()
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    keys = [name for name in ("run", "query") if name in columns]
    firsts, order, list_offsets = _lists([columns[name] for name in keys], batch.num_rows)
    lists, offsets = _cut(list_offsets)
    heads = pa.array(firsts[lists])

    def rows(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return values if order is None else values[order]

    judged = np.flatnonzero(rows(columns["label"].is_valid().to_numpy(zero_copy_only=False)))
    judged_offsets = np.searchsorted(judged, offsets)
    positions = (judged - np.repeat(offsets[:-1], np.diff(judged_offsets))).astype(np.int32)
    labels = rows(columns["label"].fill_null(0).to_numpy())[judged]
    has_name = rows(columns["document"].is_valid().to_numpy(zero_copy_only=False))
    named = np.flatnonzero(has_name)
    named_offsets = np.searchsorted(named, offsets)
    names = identified(columns["document"]).identifiers_at(named if order is None else order[named])
    packed = {
        **{name: columns[name].take(heads) for name in keys},
        "scores": _binary(rows(columns["score"].to_numpy()), offsets),
        "positions": _binary(positions, judged_offsets),
        "labels": _binary(labels, judged_offsets),
        "lengths": _binary(np.diff(names.offsets).astype(np.int32), named_offsets),
        "names": _binary(names.data, names.offsets[named_offsets]),
    }
    if "place" in columns:
        packed["places"] = _binary(rows(columns["place"].to_numpy()), offsets)
    return pa.RecordBatch.from_pydict(packed)


def identified(array: Any) -> Column:
    """Return a column of identifiers."""
    pa = load("pyarrow", EXTRA)
    frame = arrow_of(pa.RecordBatch.from_arrays([array], ["identifiers"]), "identifiers")
    for batch in frame.batches([0]):
        return batch.columns[0]
    raise AssertionError("a batch is a stream of one")


def numbered(arrays: Sequence[Any], n: int) -> tuple[Integers, Integers]:
    """Return where sequences of rows with the same identifiers begin, and a number for each, equal where these are.

    Parameters
    ----------
    arrays : sequence of pyarrow.Array
        Of identifiers, and without nulls.
    n : int
        How many rows there are.
    """
    begins = np.zeros(n, np.bool_)
    for array in arrays:
        begins[identified(array).segments(0, n)] = True
    starts = np.flatnonzero(begins)
    numbers = np.zeros(len(starts), np.int64)
    for array in arrays:
        found = array.take(starts).dictionary_encode()
        numbers = numbers * len(found.dictionary) + found.indices.to_numpy()
    return starts, numbers


def _lists(arrays: Sequence[Any], n: int) -> tuple[Integers, Integers | None, Offsets]:
    """Bring the rows of each list together.

    Parameters
    ----------
    arrays : sequence of pyarrow.Array
        Which list a row is of.

    Returns
    -------
    firsts : int64[n_lists]
        A row of each list.
    order : int64[n] or None
        The rows, list by list, in their order; None if they lie so.
    offsets : int64[n_lists + 1]
    """
    starts, numbers = numbered(arrays, n)
    by_list = stable_order(numbers)
    in_order = numbers[by_list]
    heads = np.flatnonzero(np.concatenate(([True], in_order[1:] != in_order[:-1])))
    if len(heads) == len(numbers):
        return starts, None, np.append(starts, n)
    sizes = np.diff(np.append(starts, n))[by_list]
    ends = np.cumsum(sizes)
    order = np.arange(n) + np.repeat(starts[by_list] - ends + sizes, sizes)
    return starts[by_list[heads]], order, np.append((ends - sizes)[heads], n)


def _cut(list_offsets: Offsets) -> tuple[Integers, Offsets]:
    """Cut lists that are too long: return the list of each part, and the offsets of the parts."""
    n_parts = -(-np.diff(list_offsets) // LARGEST)
    lists = np.repeat(np.arange(len(n_parts)), n_parts)
    part = np.arange(len(lists)) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
    return lists, np.append(list_offsets[lists] + part * LARGEST, list_offsets[-1])


def _binary(values: npt.NDArray[Any], offsets: Offsets) -> Any:
    """Return an Arrow array of the bytes of the values between offsets."""
    pa = load("pyarrow", EXTRA)
    bounds = (offsets * values.itemsize).astype(np.int32)
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers)


# ---- parts, put together -------------------------------------------------------------------------


class Content(NamedTuple):
    """What several rows of a column of bytes or of lists hold: the values, one after another, and how many of each."""

    values: npt.NDArray[Any]
    sizes: Integers

    @property
    def offsets(self) -> Offsets:
        """Where the values of each row begin, and the last end."""
        offsets = np.zeros(len(self.sizes) + 1, np.int64)
        np.cumsum(self.sizes, out=offsets[1:])
        return offsets


def content(column: Any, dtype: npt.DTypeLike) -> Content:
    """Read a column of bytes, or of lists of numbers, of this type; a null is empty.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        As large as it may be: its chunks are not joined by Arrow, whose offsets have 32 bits.
    """
    found = [_content(chunk, np.dtype(dtype)) for chunk in column.chunks]
    if len(found) == 1:
        return found[0]
    values = [each.values for each in found] or [np.zeros(0, dtype)]
    return Content(np.concatenate(values), np.concatenate([each.sizes for each in found] or [np.zeros(0, np.int64)]))


def _content(chunk: Any, dtype: np.dtype[Any]) -> Content:
    buffers = chunk.buffers()
    wide = str(chunk.type).startswith("large")
    if len(chunk) == 0 or buffers[1] is None:
        return Content(np.zeros(0, dtype), np.zeros(len(chunk), np.int64))
    bounds = np.frombuffer(buffers[1], np.int64 if wide else np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
    # Of lists the buffers of their values follow, of bytes the bytes.
    size = dtype.itemsize if len(buffers) == 3 else 1
    data = np.zeros(0, np.uint8) if buffers[-1] is None else np.frombuffer(buffers[-1], np.uint8)
    start, stop = (int(bounds[i]) * (1 if len(buffers) == 3 else dtype.itemsize) for i in (0, -1))
    values = np.require(data[start:stop].view(dtype), requirements=["C", "A"])
    return Content(values, np.diff(bounds).astype(np.int64) // size)


def names_of(lengths: Any, names: Any) -> tuple[Identifiers, Integers]:
    """Return the names that parts have, and how many each part has.

    Parameters
    ----------
    lengths, names : pyarrow.ChunkedArray
    """
    sizes = content(lengths, np.int32)
    return Identifiers.of(content(names, np.uint8).values, Content(sizes.values, sizes.values).offsets), sizes.sizes
