"""Tables in files: Parquet, Feather and Arrow's IPC formats, which pyarrow reads, and CSV and TSV with a header."""

from __future__ import annotations

import csv
import io
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import shown, unexpected
from tieaware.checks.arrays import Integers
from tieaware.errors import InputError
from tieaware.inputs.columns import DOCUMENTS, QUERIES
from tieaware.inputs.files import ByteStream, label_of, reason, without_compression
from tieaware.inputs.frames import ArrowFrame, BadCell, Batch, Batches, Frame, Objects
from tieaware.kernels._trec import LONGEST_LINE
from tieaware.lists.identifiers import Identifiers
from tieaware.runtime.extras import MissingExtraError, load

__all__ = ["table_file"]

# How many rows are read at a time.
ROWS = 1 << 17
# And of CSV and TSV so many at once, until these are a block, or their text is as long as this.
SOME_ROWS = 64
LONGEST_BLOCK = SOME_ROWS * LONGEST_LINE
DELIMITERS = {".csv": ",", ".tsv": "\t"}
LINE_END = re.compile(rb"[\r\n]")


def table_file(path: Any) -> Frame | None:
    """Return the table in a file; None for anything else, of which nothing was read.

    Raises
    ------
    InputError, MissingExtraError
        It is a table that cannot be read, or not without pyarrow.
    """
    if not isinstance(path, str | os.PathLike) or not os.path.isfile(path):
        return None
    label = label_of(path)
    try:
        with open(path, "rb") as file:
            start = file.read(8)
    except OSError:
        return None
    for magic, make in ((b"PAR1", ParquetFile), (b"ARROW1\0\0", ArrowFile), (b"\xff\xff\xff\xff", ArrowStreamFile)):
        if start.startswith(magic):
            return make(os.fspath(path), label)
    delimiter = DELIMITERS.get(os.path.splitext(without_compression(os.fspath(path)))[1].lower())
    if delimiter is None:
        return None
    frame = DelimitedFile(path, label, delimiter)
    # What has no header may be in TREC's format, with tabs between the fields.
    return frame if delimiter == "," or ({*QUERIES} & {*frame.names} and {*DOCUMENTS} & {*frame.names}) else None


class _OfPyarrow(ABC):
    """A file that pyarrow reads: a schema, and batches."""

    again = True

    def __init__(self, path: Any, label: str) -> None:
        self.path = path
        self.label = label
        self.names = tuple(self._try(lambda: self._schema().names))

    @abstractmethod
    def _schema(self) -> Any:
        """Return the schema, of pyarrow."""

    @abstractmethod
    def _batches(self, names: list[str]) -> Iterable[Any]:
        """Return the batches of these columns, of pyarrow."""

    def _try(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except (MissingExtraError, InputError, MemoryError):
            raise
        except Exception as error:
            raise InputError(self.label, f"the file cannot be read: {reason(error)}") from None

    def _checked(self, batch: Any) -> Any:
        """Return a batch whose buffers are consistent."""
        return batch

    def batches(self, columns: Sequence[int]) -> Batches:
        """Read these columns, batch by batch."""
        names = [self.names[i] for i in columns]
        batches = iter(self._try(lambda: self._batches(names)))
        first = 0
        while (batch := self._try(lambda: self._checked(next(batches, None)))) is not None:
            found = batch.schema.names
            for read in ArrowFrame(batch, self.label).batches([found.index(name) for name in names]):
                yield read._replace(first=first)
            first += len(batch)


class ParquetFile(_OfPyarrow):
    """Parquet: its columns are read in batches, whatever the groups of rows."""

    def _schema(self) -> Any:
        with load("pyarrow.parquet", "arrow").ParquetFile(self.path) as file:
            return file.schema_arrow

    def _batches(self, names: list[str]) -> Iterator[Any]:
        with load("pyarrow.parquet", "arrow").ParquetFile(self.path) as file:
            yield from file.iter_batches(batch_size=ROWS, columns=names)


class ArrowFile(_OfPyarrow):
    """Arrow's IPC file format, which is Feather's."""

    def _opened(self, **options: Any) -> Any:
        ipc = load("pyarrow.ipc", "arrow")
        return ipc.open_file(load("pyarrow", "arrow").memory_map(self.path), options=ipc.IpcReadOptions(**options))

    def _schema(self) -> Any:
        return self._opened().schema

    def _checked(self, batch: Any) -> Any:
        # The buffers are those of the file: offsets that point outside the text would be read by the kernels.
        if batch is not None:
            batch.validate(full=True)
        return batch

    def _batches(self, names: list[str]) -> Iterator[Any]:
        file = self._opened(included_fields=[self.names.index(name) for name in names])
        return (file.get_batch(i) for i in range(file.num_record_batches))


class ArrowStreamFile(ArrowFile):
    """Arrow's IPC stream format."""

    def _opened(self, **options: Any) -> Any:
        ipc = load("pyarrow.ipc", "arrow")
        return ipc.open_stream(load("pyarrow", "arrow").memory_map(self.path), options=ipc.IpcReadOptions(**options))

    def _batches(self, names: list[str]) -> Iterator[Any]:
        return iter(self._opened(included_fields=[self.names.index(name) for name in names]))


class Cells(Objects):
    """A column of text whose type nobody has said: identifiers that match text and integers, or numbers."""

    def identifiers(self, start: int, stop: int) -> Identifiers:
        found = super().identifiers(start, stop)
        empty = found.offsets[1:] == found.offsets[:-1]
        if empty.any():
            raise BadCell(start + int(empty.argmax()), "an empty field")
        return found.undecided()

    def identifiers_at(self, rows: Integers) -> Identifiers:
        return super().identifiers_at(rows).undecided()

    def numbers(self, start: int, stop: int) -> NDArray[Any]:
        cells = super().numbers(start, stop)
        try:
            numbers = cells.astype(np.float64)
        except ValueError:
            for row, cell in enumerate(cells.tolist(), start):
                try:
                    float(cell)
                except ValueError:
                    raise BadCell(row, shown(cell) if cell else "an empty field") from None
            raise
        # Two large integers would tie by rounding.
        for i in np.flatnonzero(np.abs(numbers) >= 2.0**53):
            if cells[i].strip().lstrip("+-").isdecimal() and int(cells[i]) != int(numbers[i]):
                raise BadCell(start + int(i), f"{cells[i]}, which float64 does not hold")
        return numbers


class DelimitedFile:
    """CSV or TSV whose first line names the columns, plain or compressed."""

    again = True

    def __init__(self, path: str | os.PathLike[str], label: str, delimiter: str) -> None:
        self.path = path
        self.label = label
        self.delimiter = delimiter
        header = next(self._blocks(1), [[]])[0]
        self.names = tuple(name.strip() for name in header)

    def _blocks(self, rows: int) -> Iterator[list[list[str]]]:
        """Yield the lines, so many at a time; fewer where they are long, for memory does not depend on the file."""
        with ByteStream(self.path) as stream:
            raw = _Raw(stream)
            text = io.TextIOWrapper(io.BufferedReader(raw), "utf-8-sig", "surrogateescape", newline="")
            records = csv.reader(text, delimiter=self.delimiter)
            try:
                while block := self._block(records, raw, rows):
                    yield block
            except csv.Error as error:
                raise InputError(f"{self.label}:{records.line_num}", reason(error)) from None
            except _LongLine:
                where, wanted = f"{self.label}:{records.line_num + 1}", f"a line of at most {LONGEST_LINE:,} bytes"
                raise unexpected(where, wanted, "a longer one") from None

    @staticmethod
    def _block(records: Iterator[list[str]], raw: _Raw, rows: int) -> list[list[str]]:
        block: list[list[str]] = []
        longest = raw.n_read + LONGEST_BLOCK
        while len(block) < rows and raw.n_read < longest:
            # In quotes, a record may have many lines.
            raw.last = raw.n_read + 2 * LONGEST_BLOCK
            some = list(islice(records, min(SOME_ROWS, rows - len(block))))
            if not some:
                break
            block += some
        return block

    def batches(self, columns: Sequence[int]) -> Batches:
        """Read these columns, batch by batch."""
        first, n, is_header = 0, len(self.names), True
        for records in self._blocks(ROWS):
            # What is empty but for its end is no row.
            block = [record for record in records[is_header:] if record]
            is_header = False
            for i, record in enumerate(block):
                if len(record) != n:
                    where = f"{self.label}: row {first + i}"
                    raise unexpected(where, f"{n} fields, as the header has", f"{len(record)}")
            of_all = [[record[i] for record in block] for i in columns]
            yield Batch.of([Cells(np.array(cells, object)) for cells in of_all], first)
            first += len(block)


class _LongLine(Exception):  # noqa: N818 (who knows its number says so)
    """A line is longer than what is held."""


class _Raw(io.RawIOBase):
    """A stream of bytes, as Python's text files want it, as long as its lines are not too long.

    `n_read` bytes were read, and no more will be than `last`.
    """

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        # Of the line that has not ended yet.
        self._length = 0
        self.n_read = 0
        self.last = 2 * LONGEST_BLOCK

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        view = memoryview(room).cast("B")
        n = self._stream.read_into(view)
        text = bytes(view[:n])
        end = LINE_END.search(text)
        self.n_read += n
        if self._length + (end.start() if end else n) > LONGEST_LINE or self.n_read > self.last:
            raise _LongLine
        self._length = n - 1 - max(text.rfind(b"\n"), text.rfind(b"\r")) if end else self._length + n
        return n
