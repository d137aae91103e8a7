"""Tables as batches of columns: data frames of pandas and polars, and objects with the Arrow PyCapsule interface.

A column converts a range of its rows to identifiers or numbers, without one Python object per row where possible, and
raises `BadCell` at a row that it cannot convert. A frame yields the batches of the columns that it is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
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

# The number of rows that polars is asked for at a time.
_BATCH_ROWS = 1 << 20
# A polars frame whose chunks have fewer rows on average is read in larger batches instead.
_LEAST_ROWS = 1 << 12


class Column(Protocol):
    """A column of a batch. Its methods convert rows `start` to `stop`, and raise BadCell at the first invalid row."""

    @property
    def type(self) -> str:
        """The name of the column's type in messages."""

    @property
    def holds(self) -> str:
        """The kind of values: "text", "integer", "number" (not an identifier), "null", "object" or "other"."""

    def __len__(self) -> int:
        """Return the number of rows."""

    def sections(self, start: int, stop: int) -> Integers:
        """Return the first row of each section of consecutive rows with equal values.

        Two adjacent sections may have the same value.
        """

    def identifiers(self, start: int, stop: int) -> Identifiers:
        """Return the identifiers in a range of rows."""

    def identifiers_at(self, rows: Integers) -> Identifiers:
        """Return the identifiers in these rows."""

    def numbers(self, start: int, stop: int) -> NDArray[Any]:
        """Return a copy of the numbers in a range of rows, or raise TypeError if the column does not hold numbers."""


class Batch(NamedTuple):
    """Rows of a table that arrive together.

    Parameters
    ----------
    columns : sequence of Column
    start, stop : int
        The range of rows of the columns that belong to the batch.
    first : int
        The row of the table that is the first row of the columns.
    rows : int64[n_rows] or None
        The row of the table that each row of the columns is; None if they are consecutive from `first` on.
    """

    columns: Sequence[Column]
    start: int
    stop: int
    first: int = 0
    rows: Integers | None = None

    @classmethod
    def of(cls, columns: Sequence[Column], first: int = 0) -> Batch:
        """Make a batch of all rows of the columns."""
        return cls(columns, 0, len(columns[0]), first)

    def row(self, i: int) -> int:
        """Return the row of the table from which a row of the columns comes."""
        return self.first + i if self.rows is None else int(self.rows[i])


Batches: TypeAlias = Iterator[Batch]


class Frame:
    """A table. Each kind of table is a subclass.

    Attributes
    ----------
    names : tuple of str
        The names of the columns.
    rereadable : bool
        Whether the table can be read more than once.
    """

    names: tuple[str, ...]
    rereadable = True

    def batches(self, columns: Sequence[int]) -> Batches:
        """Yield the batches of the columns with these indices."""
        raise NotImplementedError

    def where(self, source_name: str, column: str, row: int | None = None) -> str:
        """Return the place of a column, or of a value in it, for a message about this table."""
        return f"{source_name}: {column}" if row is None else f"{source_name}: {column}[{row}]"


class _Buffers:
    """A column of numbers, text or categories, read by a kernel."""

    def __init__(self, column: _buffers.Column, kind: Kind | None = None) -> None:
        self.column = column
        self.type, self.holds = column.type, column.holds
        self._kind: Kind = kind or ("integer" if column.holds == "integer" else "text")
        self.sections = column.sections
        self.numbers = column.numbers

    def __len__(self) -> int:
        return len(self.column)

    def identifiers(self, start: int, stop: int) -> Identifiers:
        return Identifiers.of(*self.column.identifiers(start, stop), self._kind)

    def identifiers_at(self, rows: Integers) -> Identifiers:
        return Identifiers.of(*self.column.identifiers_at(rows), self._kind)


class Objects:
    """A column of Python objects."""

    type = holds = "object"

    def __init__(self, array: NDArray[np.object_]) -> None:
        self._array = np.ascontiguousarray(array, object)

    def __len__(self) -> int:
        return len(self._array)

    def sections(self, start: int, stop: int) -> Integers:
        """Compare values that are str or bytes. Any other value is a section of its own."""
        return _dicts.object_sections(self._array, start, stop)

    def identifiers(self, start: int, stop: int) -> Identifiers:
        """Convert str, bytes and integers."""
        found = _dicts.object_identifiers(self._array, start, stop)
        if found is not None:
            return Identifiers.of(*found, "text")
        # The kernel reads only bytes and text that has a UTF-8 form.
        values = self._array[start:stop].tolist()
        try:
            return Identifiers.from_sequence(values)
        except InputError:
            for row, value in enumerate(values, start):
                if not _identifies(value):
                    raise BadCell(row, shown(value)) from None
            raise

    def identifiers_at(self, rows: Integers) -> Identifiers:
        """Convert str, bytes and integers."""
        try:
            return type(self)(self._array[rows]).identifiers(0, len(rows))
        except BadCell as bad:
            raise BadCell(int(rows[bad.args[0]]), bad.args[1]) from None

    def numbers(self, start: int, stop: int) -> NDArray[Any]:
        """Return a copy of the objects: the checks of scores and labels convert them."""
        return self._array[start:stop].copy()


def _identifies(value: object) -> bool:
    try:
        encoded(value)
    except (TypeError, ValueError):
        return False
    return True


def of_identifiers(identifiers: Identifiers) -> Column:
    """Make a column from identifiers."""
    return _Buffers(_buffers.Column.of_identifiers(identifiers.data, identifiers.offsets), identifiers.kind)


def of_array(array: NDArray[Any]) -> Column:
    """Make a column from a one-dimensional array."""
    if array.dtype.kind == "b":
        # True counts as the label or score 1.
        array = array.astype(np.float16)
    if array.dtype.kind in "iu" or (array.dtype.kind == "f" and array.dtype.itemsize <= 8):
        return _Buffers(_buffers.Column.of_array(array))
    return Objects(array.astype(object))


# ---- frames --------------------------------------------------------------------------------------


class FrameInMemory(Frame):
    """A table whose batches are held in memory.

    Parameters
    ----------
    names : tuple of str
    held : sequence of Batch
    origin : Frame, optional
        The table from which the batches come, for the places of its rows in messages.
    """

    def __init__(self, names: tuple[str, ...], held: Sequence[Batch], origin: Frame | None = None) -> None:
        self.names = names
        self._held = held
        self._origin = origin

    def where(self, source_name: str, column: str, row: int | None = None) -> str:
        """Return the place in the table from which the batches come."""
        place = super().where if self._origin is None else self._origin.where
        return place(source_name, column, row)

    def batches(self, columns: Sequence[int]) -> Batches:
        """Yield the batches that are held."""
        for batch in self._held:
            yield batch._replace(columns=[batch.columns[i] for i in columns])


_one_result = Lock()


def _forget_lock() -> None:
    """Replace the lock after a fork: a thread of the parent may hold it, and does not exist in the child."""
    global _one_result
    _one_result = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)


class ArrowFrame(Frame):
    """An object with the Arrow PyCapsule interface: a stream of batches, or one array."""

    def __init__(self, data: Any, source_name: str) -> None:
        self._data = data
        self._source_name = source_name
        # An object that knows its number of rows can be read again; a stream can be read only once.
        self.rereadable = hasattr(data, "__len__") or hasattr(data, "num_rows") or hasattr(data, "__arrow_c_array__")
        self._stream: _arrow.Stream | None = None
        with self._alone():
            stream = self._opened()
            self.names = stream.names
            if self.rereadable:
                # The stream is closed because a lazy query must not hold a result open.
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
        return InputError(self._source_name, f"the table cannot be read: {reason(error)}")

    def batches(self, columns: Sequence[int]) -> Batches:
        """Read the stream, or the array as one batch."""
        with self._alone():
            stream, self._stream = self._opened() if self.rereadable else self._stream, None
            if stream is None:
                raise InputError(self._source_name, "this stream was already read: pass a table to read it again")
            first = 0
            while True:
                try:
                    batch = stream.read(columns)
                except BadStream as error:
                    raise self._unreadable(error) from error
                if batch is None:
                    # The stream is closed first, because the next consumer may run a query on the same connection.
                    del stream
                    return
                yield Batch.of([_Buffers(column) for column in batch], first)
                first += len(batch[0])

    def _alone(self) -> AbstractContextManager[Any]:
        """Return a lock for DuckDB, whose connections can hold only one result at a time; no lock for others."""
        return _one_result if _package(self._data) in ("duckdb", "_duckdb") else nullcontext()


class _PandasFrame(Frame):
    """A pandas frame. Each column is read by its storage type, with or without pyarrow."""

    def __init__(self, data: Any, source_name: str) -> None:
        self._data = data
        self._source_name = source_name
        self.names = tuple(map(str, data.columns))

    def batches(self, columns: Sequence[int]) -> Batches:
        yield Batch.of([self._column(self._data.iloc[:, i], self.names[i]) for i in columns])

    def _column(self, series: Any, name: str) -> Column:
        dtype = series.dtype
        if getattr(dtype, "storage", None) == "pyarrow" or type(dtype).__name__ == "ArrowDtype":
            array = series.array.__arrow_array__()
            # Each column may be divided into chunks of its own.
            array = array.combine_chunks() if hasattr(array, "combine_chunks") else array
            column = _arrow.Stream(*array.__arrow_c_array__()).read([0])
            assert column is not None
            return _Buffers(column[0])
        if type(dtype).__name__ == "CategoricalDtype":
            values = self._column(series.cat.categories.to_series(), name)
            try:
                known = values.identifiers(0, len(values))
            except BadCell as bad:
                where = f"{self._source_name}: {name}"
                raise unexpected(where, "categories of text or integers", bad.args[1]) from None
            categories = _buffers.Column.of_identifiers(known.data, known.offsets, values.holds)
            return _Buffers(_buffers.Column.of_codes(series.cat.codes.to_numpy(), categories))
        plain = getattr(dtype, "numpy_dtype", None)
        if plain is not None:
            missing = series.isna().to_numpy()
            if missing.any():
                raise InputError(f"{self._source_name}: {name}[{int(missing.argmax())}]", "the value is missing")
            return of_array(series.to_numpy(dtype=plain))
        return of_array(np.asarray(series, None if isinstance(dtype, np.dtype) else object))


class _PolarsFrame(Frame):
    """A polars frame, or a lazy one, of which only the needed columns are computed."""

    def __init__(self, data: Any, source_name: str) -> None:
        self._data = data
        self._source_name = source_name
        self.names = tuple(data.collect_schema().names())

    def batches(self, columns: Sequence[int]) -> Batches:
        first = 0
        for frame in self._frames([self.names[i] for i in columns]):
            for batch in ArrowFrame(frame, self._source_name).batches(range(len(columns))):
                yield batch._replace(first=first + batch.first)
            first += len(frame)

    def _frames(self, names: Sequence[str]) -> Iterable[Any]:
        data = self._data.select(names)
        if hasattr(data, "iter_slices"):
            # Polars exports a frame of several chunks as one array, which takes a copy. It exports one chunk without a
            # copy, and a range of rows with a small copy.
            edges = sorted({0}.union(*(accumulate(column.chunk_lengths()) for column in data.iter_columns())))
            if len(edges) * _LEAST_ROWS > len(data) + 2 * _LEAST_ROWS:
                return cast(Iterable[Any], data.iter_slices(_BATCH_ROWS))
            return (data.slice(start, stop - start) for start, stop in pairwise(edges))
        if hasattr(data, "collect_batches"):
            return cast(Iterable[Any], data.collect_batches(chunk_size=_BATCH_ROWS, maintain_order=True))
        return [data.collect(engine="streaming")]


def is_frame(data: Any) -> bool:
    """Return whether `frame_of` accepts an object."""
    return _is_pandas(data) or _is_polars(data) or _is_arrow(data)


def frame_of(data: Any, source_name: str) -> Frame:
    """Wrap a data frame of pandas or polars, or an object with the Arrow PyCapsule interface."""
    if _is_pandas(data):
        return _PandasFrame(data, source_name)
    if _is_polars(data):
        return _PolarsFrame(data, source_name)
    return arrow_of(data, source_name)


def arrow_of(data: Any, source_name: str) -> Frame:
    """Wrap an object with the Arrow PyCapsule interface."""
    if not _is_arrow(data):
        problem = "must be a table with the Arrow PyCapsule interface (__arrow_c_stream__)"
        raise InputError(source_name, f"{problem}, not {type(data).__name__}")
    return _PolarsFrame(data, source_name) if _is_polars(data) else ArrowFrame(data, source_name)


def _is_arrow(data: Any) -> bool:
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def _is_pandas(data: Any) -> bool:
    return _package(data) == "pandas" and hasattr(data, "iloc") and hasattr(data, "columns")


def _is_polars(data: Any) -> bool:
    return _package(data) == "polars" and hasattr(data, "collect_schema")


def _package(data: Any) -> str:
    """Return the package that defines an object's type, without importing the package."""
    return type(data).__module__.partition(".")[0]


def joined(columns: Iterable[Identifiers]) -> Identifiers:
    """Concatenate columns of identifiers."""
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
