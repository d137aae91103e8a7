"""Reading of tables in batches: data frames of pandas and polars, and objects with the Arrow PyCapsule interface.

A `Frame` is a table. It yields batches, which contain only the columns that the caller requests. The `Cells` of a
column of a batch convert a range of rows to identifiers or numbers. Where possible, they create no Python object per
row. They raise `BadCell` for a row that they cannot convert.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import accumulate, pairwise
from threading import Lock
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import shown, unexpected
from tieaware.checks.arrays import Integers
from tieaware.errors import InputError
from tieaware.inputs.files.paths import reason
from tieaware.kernels import _arrow, _buffers, _dicts
from tieaware.kernels._arrow import BadStream
from tieaware.kernels._buffers import BadCell
from tieaware.lists.identifiers import Identifiers, Kind, encoded
from tieaware.runtime.extras import load

# The number of rows in a batch that is requested from polars.
_BATCH_ROWS = 1 << 20
# A polars frame is read chunk by chunk if its chunks have at least this number of rows on average, and otherwise in
# batches of _BATCH_ROWS rows.
_LEAST_ROWS = 1 << 12


class Batch(NamedTuple):
    """Rows of a table that arrive together.

    Parameters
    ----------
    columns : sequence of Cells
    start, stop : int
        The rows `start` … `stop` - 1 of the columns belong to the batch.
    first : int
        The row number in the table of row 0 of the columns.
    rows : int64[n_rows] or None
        The row number in the table of each row of the columns; None if these numbers are `first`, `first` + 1, ….
    """

    columns: Sequence[Cells]
    start: int
    stop: int
    first: int = 0
    rows: Integers | None = None

    @classmethod
    def of(cls, columns: Sequence[Cells], first: int = 0) -> Batch:
        """Make a batch that contains all rows of the columns."""
        return cls(columns, 0, len(columns[0]), first)

    def row(self, i: int) -> int:
        """Convert a row number of the columns to the row number in the table."""
        return self.first + i if self.rows is None else int(self.rows[i])


Batches: TypeAlias = Iterator[Batch]


class Frame(ABC):
    """A table: the base class of all kinds of tables, such as a pandas frame or a CSV file.

    Attributes
    ----------
    names : tuple of str
        The names of the columns.
    source_name : str
        The name of the table in messages.
    rereadable : bool
        Whether the table can be read more than once.
    is_file : bool
        Whether the table is a file, or several.
    heading : str
        Where the names of the columns stand, for messages; "" if that is obvious.
    """

    names: tuple[str, ...]
    source_name: str
    rereadable = True
    is_file = False
    heading = ""

    @abstractmethod
    def batches(self, columns: Sequence[int]) -> Batches:
        """Yield the rows of the table in batches, restricted to the columns with these indices."""

    def pieces(self) -> Sequence[Frame]:
        """Divide the table into consecutive pieces, which several threads can read at the same time."""
        return [self]

    def renaming(self, old: str, new: str) -> str | None:
        """Say how to rename a column of a table that is not in memory, without reading all of it.

        Return None if the table is in memory, and "" for a file: its header or its keys can be edited.
        """
        return "" if self.is_file else None

    def where(self, column: str, row: int | None = None) -> str:
        """Describe a column, or a value in a row of the column, for a message: "run: score" or "run: score[3]"."""
        return f"{self.source_name}: {column}" if row is None else f"{self.source_name}: {column}[{row}]"


class _Buffers:
    """A column of numbers, text or categories, whose memory a kernel reads without Python objects.

    Its methods are those of `Objects`.
    """

    def __init__(self, column: _buffers.Column, kind: Kind | None = None) -> None:
        self.column: _buffers.Column = column
        self.type: str = column.type
        self.holds: str = column.holds
        self._kind: Kind = kind or ("integer" if column.holds == "integer" else "text")
        self.sections: Callable[[int, int], Integers] = column.sections
        self.numbers: Callable[..., NDArray[Any]] = column.numbers

    def __len__(self) -> int:
        return len(self.column)

    def identifiers(self, start: int, stop: int) -> Identifiers:
        return Identifiers.of(*self.column.identifiers(start, stop), self._kind)

    def identifiers_at(self, rows: Integers) -> Identifiers:
        return Identifiers.of(*self.column.identifiers_at(rows), self._kind)


class Objects:
    """A column of Python objects.

    The methods convert the rows `start` … `stop` - 1, and raise BadCell for the first of these rows that is invalid.

    Attributes
    ----------
    type : str
        The name of the column's type, for messages.
    holds : str
        The kind of the column's values. "text" and "integer" can be identifiers, "integer" and "number" can be scores,
        "null" has only missing values, "object" must be tested value by value, and "other" cannot be read.
    """

    type: str = "object"
    holds: str = "object"

    def __init__(self, array: NDArray[np.object_]) -> None:
        self._array = np.ascontiguousarray(array, object)

    def __len__(self) -> int:
        return len(self._array)

    def sections(self, start: int, stop: int) -> Integers:
        """Return the first row of each section: of consecutive rows with equal values.

        Two adjacent sections may have the same value: objects of other types than str and bytes are not compared by
        value.
        """
        return _dicts.object_sections(self._array, start, stop)

    def identifiers(self, start: int, stop: int) -> Identifiers:
        """Convert the str, bytes and integers in a range of rows to identifiers."""
        found = _dicts.object_identifiers(self._array, start, stop)
        if found is not None:
            return Identifiers.of(*found, "text")
        # The kernel found a value other than bytes and text with a UTF-8 form: the value may be an integer or invalid.
        values = self._array[start:stop].tolist()
        try:
            return Identifiers.from_sequence(values)
        except InputError:
            for row, value in enumerate(values, start):
                try:
                    encoded(value)
                except (TypeError, ValueError):
                    raise BadCell(row, shown(value)) from None
            raise

    def identifiers_at(self, rows: Integers) -> Identifiers:
        """Convert the str, bytes and integers in the rows with these indices to identifiers."""
        try:
            return type(self)(self._array[rows]).identifiers(0, len(rows))
        except BadCell as bad:
            raise BadCell(int(rows[bad.args[0]]), bad.args[1]) from None

    def numbers(self, start: int, stop: int, nulls_as_nan: bool = False) -> NDArray[Any]:
        """Return a copy of the values, which the caller converts to scores or labels.

        TypeError is raised if these are not numbers. With `nulls_as_nan`, missing numbers are NaN, or None among
        objects; otherwise they are an error.
        """
        return self._array[start:stop].copy()


# A column of a batch.
Cells: TypeAlias = _Buffers | Objects


class _Nullable(Objects):
    """A column of a nullable type of pandas in which a value is missing: an error, unless numbers may be missing."""

    def __init__(self, array: NDArray[np.object_], error: InputError) -> None:
        super().__init__(array)
        self._error = error

    def sections(self, start: int, stop: int) -> Integers:
        raise self._error

    def identifiers(self, start: int, stop: int) -> Identifiers:
        raise self._error

    def identifiers_at(self, rows: Integers) -> Identifiers:
        raise self._error

    def numbers(self, start: int, stop: int, nulls_as_nan: bool = False) -> NDArray[Any]:
        if not nulls_as_nan:
            raise self._error
        return super().numbers(start, stop)


def of_identifiers(identifiers: Identifiers) -> Cells:
    """Make a column from identifiers."""
    return _Buffers(_buffers.Column.of_identifiers(identifiers.data, identifiers.offsets), identifiers.kind)


def of_array(array: NDArray[Any]) -> Cells:
    """Make a column from a one-dimensional NumPy array."""
    if array.dtype.kind == "b":
        # True is the label or score 1, and False is 0. float16 columns, unlike bool columns, are read by the kernel.
        array = array.astype(np.float16)
    if array.dtype.kind in "iu" or (array.dtype.kind == "f" and array.dtype.itemsize <= 8):
        return _Buffers(_buffers.Column.of_array(array))
    return Objects(array.astype(object))


class FrameInMemory(Frame):
    """A table whose batches are held in memory; they may have been read from another table, `origin`."""

    def __init__(
        self, names: tuple[str, ...], held: Sequence[Batch], source_name: str, origin: Frame | None = None
    ) -> None:
        self.names = names
        self.source_name = source_name
        self._held = held
        self._origin = origin

    def where(self, column: str, row: int | None = None) -> str:
        """Describe a column or a value for a message by its place in the table from which the batches were read."""
        return super().where(column, row) if self._origin is None else self._origin.where(column, row)

    def batches(self, columns: Sequence[int]) -> Batches:
        """Yield the batches in memory, restricted to the columns with these indices."""
        for batch in self._held:
            yield batch._replace(columns=[batch.columns[i] for i in columns])


_one_result = Lock()


def _forget_lock() -> None:
    """Replace the lock in a forked child, where a thread of the parent that holds the lock does not exist."""
    global _one_result
    _one_result = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)


class ArrowFrame(Frame):
    """A table that exports a stream of batches, or a single array, through the Arrow PyCapsule interface."""

    def __init__(self, data: Any, source_name: str) -> None:
        self._data = data
        self.source_name = source_name
        # An object that has a length or exports an array can be read again. Any other object is taken for a stream,
        # which can be read only once.
        self.rereadable: bool = (
            hasattr(data, "__len__") or hasattr(data, "num_rows") or hasattr(data, "__arrow_c_array__")
        )
        self._stream: _arrow.Stream | None = None
        with self._alone():
            stream = self._opened()
            self.names: tuple[str, ...] = stream.names
            if self.rereadable:
                # Only the names of the columns are needed now. The stream is closed because a lazy query must not keep
                # its result open until the table is read.
                del stream
            else:
                self._stream = stream

    def renaming(self, old: str, new: str) -> str | None:
        """Return code that renames a column of a DuckDB relation; None for any other table."""
        if not (self.rereadable and _is_of_duckdb(self._data) and hasattr(self._data, "select")):
            return None
        name = old if old.isidentifier() else f'"{old}"'
        return f"pass relation.select({f'*, {name} AS {new}'!r})"

    def _opened(self) -> _arrow.Stream:
        try:
            data = validated(self._data)
            if hasattr(data, "__arrow_c_stream__"):
                return _arrow.Stream(data.__arrow_c_stream__())
            return _arrow.Stream(*data.__arrow_c_array__())
        except MemoryError:
            raise
        except Exception as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> InputError:
        return InputError(self.source_name, f"the table cannot be read: {reason(error)}")

    def batches(self, columns: Sequence[int]) -> Batches:
        """Yield the batches of the stream, or the array as one batch, with only the columns that have these indices."""
        with self._alone():
            stream, self._stream = self._opened() if self.rereadable else self._stream, None
            if stream is None:
                raise InputError(self.source_name, "this stream was already read: pass a table to read it again")
            if stream.names != self.names:
                raise InputError(self.source_name, "the columns of the table have changed while it was read")
            first = 0
            while True:
                try:
                    batch = stream.read(columns)
                except BadStream as error:
                    raise self._unreadable(error) from error
                if batch is None:
                    # The stream is closed before the iterator ends, because the caller may then run another query on
                    # the same database connection.
                    del stream
                    return
                yield Batch.of([_Buffers(column) for column in batch], first)
                first += len(batch[0])

    def _alone(self) -> AbstractContextManager[Any]:
        """Return a lock if DuckDB made the table, since its connections can have only one open result; else no lock."""
        return _one_result if _is_of_duckdb(self._data) else nullcontext()


class _PandasFrame(Frame):
    """A pandas frame. A column that pandas stores in Arrow arrays is read through pyarrow, any other through NumPy."""

    def __init__(self, data: Any, source_name: str) -> None:
        self._data = data
        self.source_name = source_name
        self.names = tuple(map(str, data.columns))

    def batches(self, columns: Sequence[int]) -> Batches:
        yield Batch.of([self._column(self._data.iloc[:, i], self.names[i]) for i in columns])

    def _column(self, series: Any, name: str) -> Cells:
        dtype = series.dtype
        if getattr(dtype, "storage", None) == "pyarrow" or type(dtype).__name__ == "ArrowDtype":
            try:
                array = validated(series.array.__arrow_array__())
                # The chunks are combined because columns of one frame may be divided into chunks at different rows.
                array = array.combine_chunks() if hasattr(array, "combine_chunks") else array
                column = _arrow.Stream(*array.__arrow_c_array__()).read([0])
            except (ValueError, BadStream) as broken:
                raise InputError(f"{self.source_name}: {name}", f"cannot be read: {reason(broken)}") from broken
            assert column is not None
            return _Buffers(column[0])
        if type(dtype).__name__ == "CategoricalDtype":
            values = self._column(series.cat.categories.to_series(), name)
            try:
                known = values.identifiers(0, len(values))
            except BadCell as bad:
                where = f"{self.source_name}: {name}"
                raise unexpected(where, "categories of text or integers", bad.args[1]) from None
            categories = _buffers.Column.of_identifiers(known.data, known.offsets, values.holds)
            return _Buffers(_buffers.Column.of_codes(series.cat.codes.to_numpy(), categories))
        plain = getattr(dtype, "numpy_dtype", None)
        if plain is not None:
            missing = series.isna().to_numpy()
            if missing.any():
                error = InputError(f"{self.source_name}: {name}[{int(missing.argmax())}]", "the value is missing")
                return _Nullable(series.to_numpy(dtype=object), error)
            return of_array(series.to_numpy(dtype=plain))
        return of_array(np.asarray(series, None if isinstance(dtype, np.dtype) else object))


class _PolarsFrame(Frame):
    """A polars DataFrame or LazyFrame. Only the requested columns of a LazyFrame are computed."""

    def __init__(self, data: Any, source_name: str) -> None:
        self._data = data
        self.source_name = source_name
        self.names = tuple(data.collect_schema().names())

    def renaming(self, old: str, new: str) -> str | None:
        """Return an expression that renames a column of a LazyFrame; None for a DataFrame."""
        return None if hasattr(self._data, "iter_slices") else f"pass frame.rename({{{old!r}: {new!r}}})"

    def batches(self, columns: Sequence[int]) -> Batches:
        first = 0
        for frame in self._frames([self.names[i] for i in columns]):
            for batch in ArrowFrame(frame, self.source_name).batches(range(len(columns))):
                yield batch._replace(first=first + batch.first)
            first += len(frame)

    def _frames(self, names: Sequence[str]) -> Iterable[Any]:
        data = self._data.select(names)
        if hasattr(data, "iter_slices"):
            # Polars copies a frame of several chunks into one array when it exports the frame, but it exports a single
            # chunk without a copy. So the frame is sliced at the ends of its chunks, or, if the chunks are very short,
            # into batches, which Polars copies one by one.
            edges = sorted({0}.union(*(accumulate(column.chunk_lengths()) for column in data.iter_columns())))
            if len(edges) * _LEAST_ROWS > len(data) + 2 * _LEAST_ROWS:
                return cast(Iterable[Any], data.iter_slices(_BATCH_ROWS))
            return (data.slice(start, stop - start) for start, stop in pairwise(edges))
        if hasattr(data, "collect_batches"):
            return cast(Iterable[Any], data.collect_batches(chunk_size=_BATCH_ROWS, maintain_order=True))
        return [data.collect(engine="streaming")]


class _DatasetFrame(Frame):
    """A data set of pyarrow, such as a folder of Parquet files, or a scanner of one. Its batches are streamed."""

    def __init__(self, data: Any, source_name: str) -> None:
        self._data = data
        self.source_name = source_name
        # The columns of a scanner are fixed; those of a data set are chosen when it is read.
        self._is_scanner = hasattr(data, "projected_schema")
        self.names = tuple((data.projected_schema if self._is_scanner else data.schema).names)

    def renaming(self, old: str, new: str) -> str:
        """Return "": the columns of a data set are renamed where its rows are read, by a scanner or another library."""
        return ""

    def batches(self, columns: Sequence[int]) -> Batches:
        """Yield the batches of the data set; pyarrow reads few of them ahead."""
        names = [self.names[i] for i in columns]
        few = {} if self._is_scanner else {"columns": names, "batch_readahead": 4, "fragment_readahead": 2}
        first = 0
        try:
            for batch in self._data.to_batches(**few):
                # The kernels rely on the offsets in the buffers, which may be corrupt in an Arrow file.
                batch.validate(full=True)
                yield batch_of_pyarrow(batch, names, first, self.source_name)
                first += len(batch)
        except (InputError, MemoryError):
            raise
        except Exception as error:
            raise InputError(self.source_name, f"the data set cannot be read: {reason(error)}") from error


def batch_of_pyarrow(batch: Any, names: Sequence[str], first: int, source_name: str) -> Batch:
    """Return the columns with these names of a batch of pyarrow, whose first row has the row number `first`."""
    found = batch.schema.names
    try:
        columns = _arrow.Stream(*validated(batch).__arrow_c_array__()).read([found.index(name) for name in names])
    except MemoryError:
        raise
    except Exception as error:
        raise InputError(source_name, f"the table cannot be read: {reason(error)}") from error
    assert columns is not None
    return Batch.of([_Buffers(column) for column in columns], first)


def validated(data: Any) -> Any:
    """Return a table, an array or a stream of pyarrow whose buffers are as long as its rows require.

    pyarrow does not check the buffers that it reads from Arrow files, and the Arrow PyCapsule interface does not tell
    their sizes. The check takes a microsecond per batch. The batches of a stream are checked when they are read. An
    object of any other library is returned unchanged.

    If a buffer is too short, pyarrow.ArrowInvalid is raised, which is a ValueError.
    """
    if _package(data) != "pyarrow":
        return data
    if hasattr(data, "validate"):
        data.validate()
        return data
    if hasattr(data, "read_next_batch") and hasattr(data, "schema"):
        return load("pyarrow", "arrow").RecordBatchReader.from_batches(data.schema, map(validated, data))
    return data


def described(name: str, usable: str) -> str:
    """Describe the type of a column that cannot be read; for decimals, name a usable type to which it can be cast.

    The name of a decimal type is the format of Arrow's C interface: "d:38,0" or "d:38,0,256".
    """
    if not name.startswith("d:"):
        return name
    digits, decimals = name[2:].split(",")[:2]
    return f"decimal({digits},{decimals}): cast it to {usable}"


def is_frame(data: Any) -> bool:
    """Return whether an object is a table that `frame_of` can wrap."""
    return _is_pandas(data) or _is_polars(data) or _is_arrow(data)


def frame_of(data: Any, source_name: str) -> Frame:
    """Wrap a data frame of pandas or polars, or an object with the Arrow PyCapsule interface, as a Frame."""
    return _PandasFrame(data, source_name) if _is_pandas(data) else arrow_of(data, source_name)


def arrow_of(data: Any, source_name: str) -> Frame:
    """Wrap a data frame of polars, or an object with the Arrow PyCapsule interface, as a Frame."""
    if _is_polars(data):
        return _PolarsFrame(data, source_name)
    if not _is_arrow(data):
        problem = "must be a table with the Arrow PyCapsule interface (__arrow_c_stream__)"
        raise InputError(source_name, f"{problem}, not {type(data).__name__}")
    if _is_dataset(data):
        return _DatasetFrame(data, source_name)
    return ArrowFrame(data, source_name)


def _is_arrow(data: Any) -> bool:
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__") or _is_dataset(data)


def _is_dataset(data: Any) -> bool:
    return _package(data) == "pyarrow" and hasattr(data, "to_batches") and hasattr(data, "count_rows")


def _is_pandas(data: Any) -> bool:
    return _package(data) == "pandas" and hasattr(data, "iloc") and hasattr(data, "columns")


def _is_polars(data: Any) -> bool:
    return _package(data) == "polars" and hasattr(data, "collect_schema")


def _is_of_duckdb(data: Any) -> bool:
    return _package(data) in ("duckdb", "_duckdb")


def _package(data: Any) -> str:
    """Return the name of the package that defines an object's type. The package is not imported."""
    return type(data).__module__.partition(".")[0]


def joined(columns: Iterable[Identifiers]) -> Identifiers:
    """Concatenate several columns of identifiers into one."""
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
