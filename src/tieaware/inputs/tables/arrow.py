"""Tables in files that pyarrow reads: Parquet files, Arrow IPC files and Arrow IPC streams."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from typing import Any, ClassVar

from tieaware.errors import InputError
from tieaware.inputs.files.byte_streams import ByteStream
from tieaware.inputs.files.paths import reason
from tieaware.inputs.tables.frames import Batches, Frame, batch_of_pyarrow
from tieaware.runtime.extras import MissingExtraError, load

# The largest number of rows in a batch from a Parquet file. Its columns fit in a cache of the processor.
_BATCH_ROWS = 1 << 16
# The least number of rows in a piece of a Parquet file, except the last. The first and the last query of a piece are
# evaluated apart, which takes little time compared with this number of rows.
PIECE_ROWS = 1 << 18
# A text column repeats its values if each one fills REPEATS of the first PROBED rows on average.
_PROBED, _REPEATS = 1 << 12, 8


class _PyarrowFile(Frame):
    """A table file that pyarrow opens by its path, and from which it reads the schema and the batches."""

    is_file = True

    MAGIC: ClassVar[bytes]
    # The function of polars that reads such files lazily.
    SCAN: ClassVar[str]
    # The function of pyarrow that reads such a file from a file object.
    READ: ClassVar[str]
    # The row number in the file of the first row of the table.
    _first = 0

    @classmethod
    def recognise(cls, stream: ByteStream) -> Frame | None:
        """Return the table in an open file; None if the file has another format.

        pyarrow must open the file again, which it cannot if the file is a pipe or a file object.
        """
        if not stream.start.startswith(cls.MAGIC):
            return None
        if not (stream.reopenable and isinstance(stream.path, str | os.PathLike)):
            problem = "Parquet and Arrow files are read by their path only: pass the path of a file"
            raise InputError(stream.source_name, f"{problem}, or in Python {cls.READ}(file)")
        return cls(os.fsdecode(stream.path), stream.source_name)

    def __init__(self, path: Any, source_name: str) -> None:
        self._path = path
        self.source_name = source_name
        self.names: tuple[str, ...] = tuple(self._try(lambda: self._schema().names))

    @abstractmethod
    def _schema(self) -> Any:
        """Return the schema of the file as a pyarrow object."""

    @abstractmethod
    def _batches(self, names: list[str]) -> Iterable[Any]:
        """Yield the batches of the file as pyarrow objects, restricted to the columns with these names."""

    def renaming(self, old: str, new: str) -> str:
        """Return code that renames a column without reading the file; "" if no library is known to do this."""
        scan = f"polars.{self.SCAN}({self._path!r})"
        return f"in Python pass {scan}.rename({{{old!r}: {new!r}}})" if self.SCAN else ""

    def _try(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except (MissingExtraError, InputError, MemoryError):
            raise
        except Exception as error:
            raise InputError(self.source_name, f"the file cannot be read: {reason(error)}") from None

    def _validated(self, batch: Any) -> Any:
        """Return a batch unchanged. A subclass checks first that the buffers of the batch are consistent."""
        return batch

    def batches(self, columns: Sequence[int]) -> Batches:
        names = [self.names[i] for i in columns]
        batches = iter(self._try(lambda: self._batches(names)))
        first = self._first
        while (batch := self._try(lambda: self._validated(next(batches, None)))) is not None:
            yield batch_of_pyarrow(batch, names, first, self.source_name)
            first += len(batch)


class ParquetFile(_PyarrowFile):
    """A Parquet file, or a piece of it: some of its row groups. It is read in batches of a limited number of rows.

    Each reader decodes in the thread that calls it. Several threads read different pieces at the same time.
    """

    MAGIC: ClassVar[bytes] = b"PAR1"
    SCAN: ClassVar[str] = "scan_parquet"
    READ: ClassVar[str] = "pyarrow.parquet.read_table"

    # For a piece, its row groups, and the metadata of the file.
    _groups: Sequence[int] | None = None
    _metadata: Any = None

    def _schema(self) -> Any:
        with load("pyarrow.parquet", "arrow").ParquetFile(self._path) as file:
            return file.schema_arrow

    def _read_metadata(self) -> Any:
        return self._metadata or load("pyarrow.parquet", "arrow").read_metadata(self._path)

    def _batches(self, names: list[str]) -> Iterator[Any]:
        metadata = self._read_metadata()
        groups = range(metadata.num_row_groups) if self._groups is None else self._groups
        parquet = load("pyarrow.parquet", "arrow")
        with parquet.ParquetFile(self._path, metadata=metadata) as file:
            indexed = _repeating(file, groups, names)
        with parquet.ParquetFile(self._path, metadata=metadata, read_dictionary=indexed) as file:
            yield from file.iter_batches(_BATCH_ROWS, row_groups=groups, columns=names, use_threads=False)

    def pieces(self) -> list[Frame]:
        """Divide the row groups into pieces of at least PIECE_ROWS rows."""
        metadata = self._try(self._read_metadata)
        pieces: list[Frame] = []
        start = first = n = 0
        for i in range(metadata.num_row_groups):
            n += metadata.row_group(i).num_rows
            if n >= PIECE_ROWS or i + 1 == metadata.num_row_groups:
                piece = copy(self)
                piece._metadata, piece._groups, piece._first = metadata, range(start, i + 1), first
                pieces.append(piece)
                start, first, n = i + 1, first + n, 0
        return pieces


def _repeating(file: Any, groups: Sequence[int], names: list[str]) -> list[str]:
    """Return the names of the text columns that repeat their values: these are read as indices of dictionary values.

    Such indices are compared much faster than text. To make indices for other text would be slow. The first rows
    decide, because pyarrow's metadata of a single column can end the process if the file is corrupt.
    """
    types = load("pyarrow", "arrow").types
    kinds = types.is_string, types.is_large_string, types.is_string_view, types.is_binary, types.is_large_binary
    has_text = {field.name for field in file.schema_arrow if any(is_kind(field.type) for is_kind in kinds)}
    texts = [name for name in names if name in has_text]
    first = next(file.iter_batches(_PROBED, row_groups=groups[:1], columns=texts, use_threads=False), None)
    if first is None:
        return []
    columns = zip(first.schema.names, first.columns, strict=True)
    return [name for name, column in columns if _REPEATS * len(column.unique()) <= len(column)]


class ArrowFile(_PyarrowFile):
    """A file in Arrow's IPC file format, which is also the Feather format."""

    MAGIC: ClassVar[bytes] = b"ARROW1\0\0"
    SCAN: ClassVar[str] = "scan_ipc"
    READ: ClassVar[str] = "pyarrow.feather.read_table"

    def _opened(self) -> Any:
        # The file is not memory-mapped: if it were cut while it is read, the process would end with SIGBUS, and bytes
        # that change after they were validated could make the kernels read beyond the buffers.
        return load("pyarrow", "arrow").OSFile(self._path)

    def _reader(self, **options: Any) -> Any:
        ipc = load("pyarrow.ipc", "arrow")
        return ipc.open_file(self._opened(), options=ipc.IpcReadOptions(**options))

    def _schema(self) -> Any:
        return self._reader().schema

    def _validated(self, batch: Any) -> Any:
        # The kernels read the buffers without knowing their sizes. Invalid offsets in a corrupt file would make them
        # read beyond the buffers.
        if batch is not None:
            batch.validate(full=True)
        return batch

    def _batches(self, names: list[str]) -> Iterator[Any]:
        file = self._reader(included_fields=[self.names.index(name) for name in names])
        return (file.get_batch(i) for i in range(file.num_record_batches))


class ArrowStreamFile(ArrowFile):
    """A file in Arrow's IPC stream format."""

    MAGIC: ClassVar[bytes] = b"\xff\xff\xff\xff"
    SCAN: ClassVar[str] = ""
    READ: ClassVar[str] = "pyarrow.ipc.open_stream"

    def _reader(self, **options: Any) -> Any:
        ipc = load("pyarrow.ipc", "arrow")
        return ipc.open_stream(self._opened(), options=ipc.IpcReadOptions(**options))

    def _batches(self, names: list[str]) -> Iterator[Any]:
        return iter(self._reader(included_fields=[self.names.index(name) for name in names]))
