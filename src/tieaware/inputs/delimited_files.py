"""Tables in CSV and TSV files whose first line names the columns."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import shown
from tieaware.checks.arrays import Integers
from tieaware.errors import InputError
from tieaware.inputs.column_names import is_header
from tieaware.inputs.files import ByteStream, RawFile, reason, suffix_of
from tieaware.inputs.frames import Batch, Batches, Frame, Objects
from tieaware.kernels._buffers import BadCell
from tieaware.kernels._trec import LONGEST_LINE
from tieaware.lists.identifiers import Identifiers

# The largest number of rows in a batch.
_BATCH_ROWS = 1 << 17
# A batch is filled with FEW_ROWS rows at a time, until it has _BATCH_ROWS rows or their text has LONGEST_BATCH bytes.
FEW_ROWS = 64
LONGEST_BATCH = FEW_ROWS * LONGEST_LINE
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_LINE_END = re.compile(rb"[\r\n]")


class DelimitedFile(Frame):
    """A CSV or TSV file with a header, plain or compressed.

    Parameters
    ----------
    stream : ByteStream
        The file, opened at its beginning. The header is read at once. The first call of `batches` reads on from there
        if the stream is still open; every other call opens the file again.
    delimiter : str
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
        self._source_name = stream.source_name
        self._delimiter = delimiter
        self._records: _Records | None = _Records(stream, delimiter)
        self.names: tuple[str, ...] = self._records.header

    def renaming(self, old: str, new: str) -> str:
        """Return "": its header can be edited."""
        return ""

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
                    where = f"{self._source_name}: row {first + i}"
                    raise InputError(where, f"has {len(row)} fields, but the header has {n}")
            cells = [[row[i] for row in rows] for i in columns]
            yield Batch.of([_Cells(np.array(column, object)) for column in cells], first)
            first += len(rows)


def _has_header(stream: ByteStream) -> bool:
    """Return whether the first line of a TSV file names a query column and a document column.

    A file without such a header may be a TREC file whose fields are separated by tabs.
    """
    line = _LINE_END.split(stream.peek_line(), maxsplit=1)[0].decode("utf-8-sig", "surrogateescape")
    return is_header([name.strip() for row in csv.reader([line], delimiter="\t") for name in row])


class _Cells(Objects):
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
        cells = super().numbers(start, stop)
        if nulls_as_nan:
            cells[cells == ""] = "nan"
        texts = cells.tolist()
        # Python's float() takes underscores between digits, which no other reader of numbers does.
        row = next((row for row, cell in enumerate(texts) if "_" in cell), None) if "_" in "".join(texts) else None
        try:
            numbers = cells[:row].astype(np.float64)
        except ValueError:
            for at, cell in enumerate(texts, start):
                try:
                    float(cell)
                except ValueError:
                    raise BadCell(at, shown(cell) if cell else "an empty field") from None
            raise
        if row is not None:
            raise BadCell(start + row, shown(texts[row]))
        # Two different integers from 2^53 on could be rounded to the same float64, and two different numbers beyond its
        # range to infinity, which would create a tie.
        for i in np.flatnonzero(np.abs(numbers) >= 2.0**53):
            if _is_rounded(texts[i], float(numbers[i])):
                raise BadCell(start + int(i), f"{texts[i]}, which float64 cannot represent")
        return numbers


def _is_rounded(text: str, number: float) -> bool:
    """Return whether a text is an integer that differs from its float64, or a finite number beyond its range."""
    if math.isinf(number):
        return any(character.isdecimal() for character in text)
    whole, _, decimals = text.strip().partition(".")
    return whole.lstrip("+-").isdecimal() and not decimals.strip("0") and int(whole) != int(number)


class _Records:
    """The rows of a CSV file, read from a stream.

    Parameters
    ----------
    stream : ByteStream
        The file, opened at its beginning.
    delimiter : str

    Attributes
    ----------
    stream : ByteStream
    header : tuple of str
        The fields of the first row.
    """

    def __init__(self, stream: ByteStream, delimiter: str) -> None:
        self.stream = stream
        self._raw = _LimitedLines(stream)
        text = io.TextIOWrapper(io.BufferedReader(self._raw), "utf-8-sig", "surrogateescape", newline="")
        self._reader = csv.reader(text, delimiter=delimiter)
        self.header = tuple(name.strip() for row in self.read(1) for name in row)

    def read(self, n_rows: int) -> list[list[str]]:
        """Return at most `n_rows` of the next rows. If the rows are long, fewer are returned to bound the memory.

        Raises
        ------
        InputError
            A row is not valid CSV, a line is too long, or the file cannot be read.
        """
        try:
            return self._some_rows(n_rows)
        except csv.Error as error:
            raise InputError(f"{self.stream.source_name}:{self._reader.line_num}", reason(error)) from None
        except _LongLineError:
            where = f"{self.stream.source_name}:{self._reader.line_num + 1}"
            raise InputError(where, f"the line is longer than {LONGEST_LINE:,} bytes") from None

    def _some_rows(self, n_rows: int) -> list[list[str]]:
        rows: list[list[str]] = []
        longest = self._raw.n_read + LONGEST_BATCH
        while len(rows) < n_rows and self._raw.n_read < longest:
            # A row may consist of many lines, because a quoted field may contain line ends. So `last` limits the number
            # of bytes of these rows, in addition to the limit on the length of a line.
            self._raw.last = self._raw.n_read + 2 * LONGEST_BATCH
            few = list(islice(self._reader, min(FEW_ROWS, n_rows - len(rows))))
            if not few:
                break
            rows += few
        return rows


class _LongLineError(Exception):
    """A line or a row is longer than the limit. The CSV reader, not this error, knows the number of the line."""


class _LimitedLines(RawFile):
    """A byte stream as a raw file of the standard library, with a limit on the length of a line.

    Attributes
    ----------
    n_read : int
        The number of bytes read so far.
    last : int
        The largest allowed value of `n_read`. Reading more bytes raises _LongLineError.
    """

    def __init__(self, stream: ByteStream) -> None:
        super().__init__(stream)
        # The number of bytes read so far of the line whose end has not been read.
        self._length = 0
        self.n_read = 0
        self.last = 2 * LONGEST_BATCH

    def readinto(self, buffer: Any) -> int:
        n = super().readinto(buffer)
        text = bytes(memoryview(buffer).cast("B")[:n])
        end = _LINE_END.search(text)
        self.n_read += n
        if self._length + (end.start() if end else n) > LONGEST_LINE or self.n_read > self.last:
            raise _LongLineError
        self._length = n - 1 - max(text.rfind(b"\n"), text.rfind(b"\r")) if end else self._length + n
        return n
