"""Tables in CSV and TSV files whose first line names the columns."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import path_text, shown, unexpected
from tieaware.checks.arrays import Integers, Values
from tieaware.errors import InputError
from tieaware.inputs.files.byte_streams import ByteStream
from tieaware.inputs.files.paths import reason, suffix_of
from tieaware.inputs.files.text import BYTE_ORDER_MARK, Lines, number_in, numbers_in
from tieaware.inputs.tables.column_names import is_header
from tieaware.inputs.tables.frames import Batch, Batches, Frame, Objects
from tieaware.kernels._buffers import BadCell
from tieaware.kernels._trec import LONGEST_LINE
from tieaware.lists.identifiers import Identifiers

# The largest number of rows in a batch.
_BATCH_ROWS = 1 << 17
# A batch is filled with FEW_ROWS rows at a time, until it has _BATCH_ROWS rows or their text has LONGEST_BATCH bytes.
FEW_ROWS = 64
LONGEST_BATCH = FEW_ROWS * LONGEST_LINE
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


class DelimitedFile(Frame):
    """A CSV or TSV file with a header, plain or compressed.

    The header is read at once. The first call of `batches` reads on from there if the stream is still open; every other
    call opens the file again.
    """

    is_file = True
    heading = " in the first line"

    @classmethod
    def recognise(cls, stream: ByteStream) -> Frame | None:
        """Return the table in an open file; None if the suffix is not .csv or .tsv, or a .tsv file has no header."""
        delimiter = _DELIMITERS.get(suffix_of(stream.path))
        if delimiter is None or (delimiter == "\t" and not _has_header(stream)):
            return None
        return cls(stream, delimiter)

    def __init__(self, stream: ByteStream, delimiter: str) -> None:
        self.rereadable: bool = stream.reopenable
        self._path = stream.path
        self.source_name: str = stream.source_name
        self._delimiter = delimiter
        self._records: _Records | None = _Records(stream, delimiter)
        self.names: tuple[str, ...] = self._records.header

    def batches(self, columns: Sequence[int]) -> Batches:
        """Yield the batches of the file, which is opened again if it was read before or is closed."""
        records, self._records = self._records, None
        if records is not None and not records.stream.closed:
            yield from self._batches(records, columns)
            return
        with ByteStream(self._path) as stream:
            yield from self._batches(_Records(stream, self._delimiter), columns)

    def _batches(self, records: _Records, columns: Sequence[int]) -> Batches:
        first, n = 0, len(self.names)
        while rows := records.read(_BATCH_ROWS):
            # The csv module returns an empty line as an empty row.
            rows = [row for row in rows if row]
            for i, row in enumerate(rows):
                if len(row) != n:
                    where = f"{self.source_name}: row {first + i}"
                    raise InputError(where, f"has {len(row)} fields, but the header has {n}")
            cells = [[row[i] for row in rows] for i in columns]
            yield Batch.of([_TextCells(np.array(column, object)) for column in cells], first)
            first += len(rows)


def _has_header(stream: ByteStream) -> bool:
    """Return whether the first line of a TSV file names a query column and a document column.

    A file without such a header may be a TREC file whose fields are separated by tabs.
    """
    first = stream.peek_line().removeprefix(BYTE_ORDER_MARK).splitlines()[:1]
    rows = csv.reader([line.decode("utf-8", "surrogateescape") for line in first], delimiter="\t")
    return is_header([name.strip() for row in rows for name in row])


class _TextCells(Objects):
    """A column of a CSV or TSV file, whose cells are text.

    As identifiers, the cells match text and integers: the cell "7" matches both "7" and 7. As scores or labels, the
    cells are converted to numbers.
    """

    def identifiers(self, start: int, stop: int) -> Identifiers:
        found = super().identifiers(start, stop)
        empty = found.offsets[1:] == found.offsets[:-1]
        if empty.any():
            raise BadCell(start + int(empty.argmax()), "an empty field")
        return found.matching_any()

    def identifiers_at(self, rows: Integers) -> Identifiers:
        return super().identifiers_at(rows).matching_any()

    def numbers(self, start: int, stop: int, nulls_as_nan: bool = False) -> NDArray[Any]:
        return numbers_in(super().numbers(start, stop).tolist(), start, empty_as_nan=nulls_as_nan)


class _Records:
    """The rows of a CSV file, read from a stream that was opened at its beginning. `header` has the first row."""

    def __init__(self, stream: ByteStream, delimiter: str) -> None:
        self.stream = stream
        self._n_read, self._last = 0, 2 * LONGEST_BATCH
        self._reader = csv.reader(self._lines(), delimiter=delimiter)
        self.header = tuple(name.strip() for row in self.read(1) for name in row)

    def here(self) -> str:
        """Return "file:n" for the last line of the last row."""
        return f"{self.stream.source_name}:{max(self._reader.line_num, 1)}"

    def _lines(self) -> Iterator[str]:
        for line in Lines(self.stream).decoded("surrogateescape"):
            self._n_read += len(line)
            if self._n_read > self._last:
                where = f"{self.stream.source_name}:{self._reader.line_num + 1}"
                raise InputError(where, f"the row is longer than {LONGEST_BATCH:,} bytes")
            yield line

    def read(self, n_rows: int) -> list[list[str]]:
        """Return at most `n_rows` of the next rows. If the rows are long, fewer are returned to bound the memory.

        InputError, which names the line, is raised if a row is not valid CSV or a line is too long.
        """
        try:
            return self._some_rows(n_rows)
        except csv.Error as error:
            raise InputError(self.here(), reason(error)) from None

    def _some_rows(self, n_rows: int) -> list[list[str]]:
        rows: list[list[str]] = []
        longest = self._n_read + LONGEST_BATCH
        while len(rows) < n_rows and self._n_read < longest:
            # A row may consist of many lines, because a quoted field may contain line ends. So `last` limits the number
            # of bytes of these rows, in addition to the limit on the length of a line.
            self._last = self._n_read + 2 * LONGEST_BATCH
            few = list(islice(self._reader, min(FEW_ROWS, n_rows - len(rows))))
            if not few:
                break
            rows += few
        return rows


class Matrix(NamedTuple):
    """The values of one measure: `values` is float64[n_systems, n_topics]."""

    systems: tuple[str, ...]
    values: Values


def read_matrix(path: str | os.PathLike[str]) -> Matrix:
    """Read a CSV file whose first line names the systems. Each other line has the values of all systems on one topic.

    InputError, which names the file and the line, is raised if a line does not have exactly one finite number for each
    system, or if two systems have the same name.
    """
    with ByteStream(path_text("path", path)) as stream:
        records = _Records(stream, ",")
        systems = records.header
        if not systems:
            raise InputError(records.here(), "this line must name the systems, separated by commas, but is empty")
        twice = [system for i, system in enumerate(systems) if system in systems[:i]]
        if twice:
            raise InputError(records.here(), f"two systems are named {shown(twice[0])}")
        rows = []
        while found := records.read(1):
            rows += [_values(records.here(), cells, systems) for cells in found if cells]
        if not rows:
            problem = "there must be a line of values for each topic, but there is none"
            raise InputError(f"{stream.source_name}:2", problem)
    return Matrix(systems, np.ascontiguousarray(np.array(rows, dtype=np.float64).T))


def _values(place: str, cells: list[str], systems: tuple[str, ...]) -> list[float]:
    """Convert the cells of one line to the values of the systems. `place` is the file and line number for messages."""
    if len(cells) != len(systems):
        raise InputError(place, f"has {len(cells)} values for {len(systems)} systems")
    values = []
    for system, cell in zip(systems, cells, strict=True):
        try:
            value, found = number_in(cell), shown(cell)
        except ValueError as error:
            value, found = np.nan, f"{error}"
        if not np.isfinite(value):
            raise unexpected(place, f"a finite number under {system}", found)
        values.append(value)
    return values
