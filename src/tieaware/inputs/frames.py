"""Tables of other libraries, as batches of columns: data frames, and whatever has the Arrow PyCapsule interface.

A column tells what it holds, and gives identifiers and numbers of its rows without an object for each; what it cannot
give is a `BadCell`. A frame gives the batches of those columns that are asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import accumulate, pairwise
from threading import Lock
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import shown, unexpected
from tieaware.checks.arrays import Integers
from tieaware.errors import InputError
from tieaware.inputs.files import reason
from tieaware.kernels import _arrow, _buffers, _dicts
from tieaware.kernels._arrow import BadStream
from tieaware.kernels._buffers import BadCell
from tieaware.lists.identifiers import Identifiers, Kind, encoded

__all__ = [
    "BadCell",
    "Batch",
    "Column",
    "Frame",
    "Held",
    "arrow_of",
    "frame_of",
    "is_frame",
    "joined",
    "of_array",
    "of_identifiers",
]


# How many rows of a frame in pieces are asked for at a time.
SLICE = 1 << 20
LEAST_CHUNK = 1 << 12


class Column(Protocol):
    """A column of a batch. Its methods take rows from `start` to `stop`, and raise BadCell at the first that is bad."""

    @property
    def type(self) -> str:
        """The name of its type, for a message."""

    @property
    def holds(self) -> str:
        """What its values are: "text", "integer", "number" (and no identifier), "null", "object" or "other"."""

    def __len__(self) -> int:
        """How many rows it has."""

    def segments(self, start: int, stop: int) -> Integers:
        """Return where sequences of rows of one value begin; two that follow one another may be of one value."""

    def identifiers(self, start: int, stop: int) -> Identifiers:
        """Return the identifiers of rows."""

    def identifiers_at(self, rows: Integers) -> Identifiers:
        """Return those of these rows."""

    def numbers(self, start: int, stop: int) -> NDArray[Any]:
        """Return a copy of the numbers of rows; TypeError if the column has none."""


class Batch(NamedTuple):
    """Rows `start` to `stop` of columns; the first row of the columns is one of the table, unless `rows` say which."""

    columns: Sequence[Column]
    start: int
    stop: int
    first: int = 0
    rows: Integers | None = None

    @classmethod
    def of(cls, columns: Sequence[Column], first: int = 0) -> Batch:
        """Make a batch of all rows of columns."""
        return cls(columns, 0, len(columns[0]), first)

    def row(self, i: int) -> int:
        """Return which row of the table a row of the columns was."""
        return self.first + i if self.rows is None else int(self.rows[i])


Batches: TypeAlias = Iterator[Batch]


class Frame(Protocol):
    """A table, whatever it was given as."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""

    @property
    def again(self) -> bool:
        """Whether it can be read a second time."""

    def batches(self, columns: Sequence[int]) -> Batches:
        """Read these columns, batch by batch."""


class Buffers:
    """A column of a kernel."""

    def __init__(self, column: _buffers.Column, kind: Kind | None = None) -> None:
        self.column = column
        self.type, self.holds = column.type, column.holds
        self._kind: Kind = kind or ("integer" if column.holds == "integer" else "text")
        self.segments = column.segments
        self.numbers = column.numbers

    def __len__(self) -> int:
        return len(self.column)

    def identifiers(self, start: int, stop: int) -> Identifiers:
        return Identifiers.of(*self.column.identifiers(start, stop), self._kind)

    def identifiers_at(self, rows: Integers) -> Identifiers:
        return Identifiers.of(*self.column.identifiers_at(rows), self._kind)


class Objects:
    """A column of Python's objects."""

    type = holds = "object"

    def __init__(self, array: NDArray[np.object_]) -> None:
        self._array = np.ascontiguousarray(array, object)

    def __len__(self) -> int:
        return len(self._array)

    def segments(self, start: int, stop: int) -> Integers:
        return _dicts.object_segments(self._array, start, stop)

    def identifiers(self, start: int, stop: int) -> Identifiers:
        found = _dicts.object_identifiers(self._array, start, stop)
        if found is not None:
            return Identifiers.of(*found, "text")
        # Integers, or what has no UTF-8.
        values = self._array[start:stop].tolist()
        try:
            return Identifiers.from_sequence(values)
        except InputError:
            for row, value in enumerate(values, start):
                if not _identifies(value):
                    raise BadCell(row, shown(value)) from None
            raise

    def identifiers_at(self, rows: Integers) -> Identifiers:
        try:
            return type(self)(self._array[rows]).identifiers(0, len(rows))
        except BadCell as bad:
            raise BadCell(int(rows[bad.args[0]]), bad.args[1]) from None

    def numbers(self, start: int, stop: int) -> NDArray[Any]:
        return self._array[start:stop].copy()


def _identifies(value: object) -> bool:
    try:
        encoded(value)
    except (TypeError, ValueError):
        return False
    return True


def of_identifiers(identifiers: Identifiers) -> Column:
    """Make a column of identifiers."""
    return Buffers(_buffers.Column.of_identifiers(identifiers.data, identifiers.offsets), identifiers.kind)


def of_array(array: NDArray[Any]) -> Column:
    """Make a column of a flat array."""
    if array.dtype.kind == "b":
        # True is the label, or the score, 1.
        array = array.astype(np.float16)
    if array.dtype.kind in "iu" or (array.dtype.kind == "f" and array.dtype.itemsize <= 8):
        return Buffers(_buffers.Column.of_array(array))
    return Objects(array.astype(object))


# ---- frames --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Held:
    """A table in memory."""

    names: tuple[str, ...]
    held: Sequence[Batch]
    again: bool = True

    def batches(self, columns: Sequence[int]) -> Batches:
        """Read these columns, batch by batch."""
        for batch in self.held:
            yield batch._replace(columns=[batch.columns[i] for i in columns])


_one_result = Lock()


def _forget_lock() -> None:
    """A forked child has none of its parent's threads, one of which may hold it."""
    global _one_result
    _one_result = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)


class ArrowFrame:
    """What has the Arrow PyCapsule interface: a stream of batches, or one array."""

    def __init__(self, data: Any, label: str) -> None:
        self._data = data
        self._label = label
        # What knows how many rows it has will have them again; a stream has them but once.
        self.again = hasattr(data, "__len__") or hasattr(data, "num_rows") or hasattr(data, "__arrow_c_array__")
        self._stream: _arrow.Stream | None = None
        with self._alone():
            stream = self._opened()
            self.names = stream.names
            if self.again:
                # Nothing is kept open: what is a query has no result yet.
                del stream
            else:
                self._stream = stream

    def _opened(self) -> _arrow.Stream:
        try:
            if hasattr(self._data, "__arrow_c_stream__"):
                return _arrow.Stream(self._data.__arrow_c_stream__())
            return _arrow.Stream(*self._data.__arrow_c_array__())
        except Exception as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> InputError:
        return InputError(self._label, f"the table cannot be read: {reason(error)}")

    def batches(self, columns: Sequence[int]) -> Batches:
        with self._alone():
            stream, self._stream = self._opened() if self.again else self._stream, None
            if stream is None:
                raise unexpected(self._label, "a table, to be read again", "a stream that was read already")
            first = 0
            while True:
                try:
                    batch = stream.read(columns)
                except BadStream as error:
                    raise self._unreadable(error) from error
                if batch is None:
                    # The end may wait for the one who asks next.
                    del stream
                    return
                yield Batch.of([Buffers(column) for column in batch], first)
                first += len(batch[0])

    def _alone(self) -> AbstractContextManager[Any]:
        """Keep other threads from the results of DuckDB, of which a connection has one at a time."""
        return _one_result if _package(self._data) in ("duckdb", "_duckdb") else nullcontext()


class PandasFrame:
    """A frame of pandas: its columns one by one, by what each is stored as, with or without pyarrow."""

    again = True

    def __init__(self, data: Any, label: str) -> None:
        self._data = data
        self._label = label
        self.names = tuple(map(str, data.columns))

    def batches(self, columns: Sequence[int]) -> Batches:
        yield Batch.of([self._column(self._data.iloc[:, i], self.names[i]) for i in columns])

    def _column(self, series: Any, name: str) -> Column:
        dtype = series.dtype
        if getattr(dtype, "storage", None) == "pyarrow" or type(dtype).__name__ == "ArrowDtype":
            array = series.array.__arrow_array__()
            # Columns may be in chunks of their own.
            array = array.combine_chunks() if hasattr(array, "combine_chunks") else array
            column = _arrow.Stream(*array.__arrow_c_array__()).read([0])
            assert column is not None
            return Buffers(column[0])
        if type(dtype).__name__ == "CategoricalDtype":
            values = self._column(series.cat.categories.to_series(), name)
            try:
                known = values.identifiers(0, len(values))
            except BadCell as bad:
                raise unexpected(f"{self._label}: {name}", "categories that identify", bad.args[1]) from None
            categories = _buffers.Column.of_identifiers(known.data, known.offsets, values.holds)
            return Buffers(_buffers.Column.of_codes(series.cat.codes.to_numpy(), categories))
        plain = getattr(dtype, "numpy_dtype", None)
        if plain is not None:
            missing = series.isna().to_numpy()
            if missing.any():
                raise unexpected(f"{self._label}: {name}[{int(missing.argmax())}]", "a value", "a missing value")
            return of_array(series.to_numpy(dtype=plain))
        return of_array(np.asarray(series, None if isinstance(dtype, np.dtype) else object))


class PolarsFrame:
    """A frame of polars, or a lazy one, of which only what is needed is computed."""

    again = True

    def __init__(self, data: Any, label: str) -> None:
        self._data = data
        self._label = label
        self.names = tuple(data.collect_schema().names())

    def batches(self, columns: Sequence[int]) -> Batches:
        first = 0
        for frame in self._frames([self.names[i] for i in columns]):
            for batch in ArrowFrame(frame, self._label).batches(range(len(columns))):
                yield batch._replace(first=first + batch.first)
            first += len(frame)

    def _frames(self, names: Sequence[str]) -> Iterable[Any]:
        data = self._data.select(names)
        if hasattr(data, "iter_slices"):
            # A frame in chunks is given out in one, which takes a copy: not of a chunk, and of a slice a small one.
            edges = sorted({0}.union(*(accumulate(column.chunk_lengths()) for column in data.iter_columns())))
            if len(edges) * LEAST_CHUNK > len(data) + 2 * LEAST_CHUNK:
                return cast(Iterable[Any], data.iter_slices(SLICE))
            return (data.slice(start, stop - start) for start, stop in pairwise(edges))
        if hasattr(data, "collect_batches"):
            return cast(Iterable[Any], data.collect_batches(chunk_size=SLICE, maintain_order=True))
        return [data.collect(engine="streaming")]


def is_frame(data: Any) -> bool:
    """Whether something is a table, as `frame_of` takes it."""
    return _is_pandas(data) or _is_polars(data) or _is_arrow(data)


def frame_of(data: Any, label: str) -> Frame:
    """Return the table that something is."""
    if _is_pandas(data):
        return PandasFrame(data, label)
    if _is_polars(data):
        return PolarsFrame(data, label)
    return arrow_of(data, label)


def arrow_of(data: Any, label: str) -> Frame:
    """Return the table that has the Arrow PyCapsule interface."""
    if not _is_arrow(data):
        raise unexpected(label, "a table with the Arrow PyCapsule interface, __arrow_c_stream__", shown(data))
    return PolarsFrame(data, label) if _is_polars(data) else ArrowFrame(data, label)


def _is_arrow(data: Any) -> bool:
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def _is_pandas(data: Any) -> bool:
    return _package(data) == "pandas" and hasattr(data, "iloc") and hasattr(data, "columns")


def _is_polars(data: Any) -> bool:
    return _package(data) == "polars" and hasattr(data, "collect_schema")


def _package(data: Any) -> str:
    """Return whose something is, without importing that."""
    return type(data).__module__.partition(".")[0]


def joined(columns: Iterable[Identifiers]) -> Identifiers:
    """Return columns one after another."""
    several = list(columns)
    if len(several) == 1:
        return several[0]
    kinds = {column.kind for column in several if len(column)}
    offsets = np.zeros(1 + sum(map(len, several)), np.int64)
    row = 0
    for column in several:
        offsets[row + 1 : row + 1 + len(column)] = column.offsets[1:] + offsets[row]
        row += len(column)
    data = np.concatenate([column.data for column in several]) if several else np.zeros(0, np.uint8)
    return Identifiers.of(data, offsets, kinds.pop() if len(kinds) == 1 else "any")
