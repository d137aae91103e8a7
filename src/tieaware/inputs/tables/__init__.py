"""Tables: data frames, and files whose rows have named columns.

To support a new kind of table file, write a class in a file of its own, and list it in `TABLE_FILES`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tieaware.errors import InputError
from tieaware.inputs.files.byte_streams import ByteStream, PartsStream, TextStream
from tieaware.inputs.files.paths import Parts, Source, parts_at, run_name, source_name, state_of
from tieaware.inputs.tables.arrow import ArrowFile, ArrowStreamFile, ParquetFile
from tieaware.inputs.tables.delimited import DelimitedFile
from tieaware.inputs.tables.frames import Batch, Batches, Frame, frame_of, is_frame
from tieaware.inputs.tables.json_lines import JsonFile, JsonLinesFile

# The classes for the kinds of table files, in the order in which they are tried.
TABLE_FILES = (ParquetFile, ArrowFile, ArrowStreamFile, DelimitedFile, JsonLinesFile, JsonFile)


def table_in(stream: ByteStream) -> Frame | None:
    """Return the table in an open file. If the file does not contain a table, return None without consuming any bytes.

    InputError is raised if the table cannot be read, and MissingExtraError if that requires pyarrow.
    """
    return next(filter(None, (kind.recognise(stream) for kind in TABLE_FILES)), None)


def text_at(source: Source) -> TextStream:
    """Open a file, or part files, for reading lines from the beginning."""
    if isinstance(source, Parts):
        return PartsStream(source, lambda part: table_in(part) is not None)
    return ByteStream(source)


def table_at(source: Source) -> Frame | None:
    """Return the table in a regular file, or in part files; None if they contain no table, or are no regular files.

    Only a regular file can be read again later: the bytes that are read here from a pipe would be lost. The file is
    closed again, because a folder may contain more files than a process may have open.
    """
    if state_of(source) is None:
        return None
    if isinstance(source, Parts):
        return PartsFrame.recognise(source)
    with ByteStream(source) as stream:
        return table_in(stream)


@contextmanager
def opened(value: Any, where: str) -> Iterator[tuple[Frame | TextStream, str]]:
    """Open judgments or a run: as a table, or else as a stream of lines. `where` names the value in messages.

    Also return the name of a run in a file; "" for a data frame.
    """
    if is_frame(value):
        yield frame_of(value, where), ""
        return
    source = parts_at(value, where)
    name = run_name(source)
    table = table_at(source) if isinstance(source, Parts) else None
    if table is not None:
        yield table, name
        return
    with text_at(source) as stream:
        yield (table_in(stream) if isinstance(stream, ByteStream) else None) or stream, name


class PartsFrame(Frame):
    """One table made of part files that are tables. Only one part at a time is open.

    The columns are those of the first part. Columns are found by name, so their order may differ between parts.
    """

    is_file = True

    @classmethod
    def recognise(cls, parts: Parts) -> PartsFrame | None:
        """Return the table in the parts; None if the first part that is not empty is not a table."""
        for path in parts.files:
            with ByteStream(path) as stream:
                frame = table_in(stream)
                if frame is not None and frame.names:
                    return cls(parts, frame.names)
                if frame is None and stream.start:
                    return None
        return None

    def __init__(self, parts: Parts, names: tuple[str, ...]) -> None:
        self.names = names
        self.source_name: str = parts.source_name
        self._parts = parts
        # The paths of the parts read so far, and the number of rows before each of them.
        self._read: list[str] = []
        self._rows_before: list[int] = []

    def batches(self, columns: Sequence[int]) -> Batches:
        """Yield the batches of all parts, one part after another, restricted to the columns with these indices."""
        names = [self.names[i] for i in columns]
        self._read, self._rows_before = [], []
        kinds: dict[str, tuple[str, str]] = {}
        rows = 0
        for path in self._parts.files:
            frame = self._table(path)
            if frame is None:
                continue
            self._read.append(path)
            self._rows_before.append(before := rows)
            for batch in frame.batches(self._columns_of(frame, names, path)):
                if batch.stop > batch.start:
                    self._check_types(batch, names, path, kinds)
                yield batch._replace(first=before + batch.first)
                rows = max(rows, before + batch.first + batch.stop)

    def _table(self, path: str) -> Frame | None:
        """Return the table in a part; None if the part is empty."""
        with ByteStream(path) as stream:
            frame = table_in(stream)
            if frame is None and stream.start:
                problem = f"this part is not a table, but {source_name(self._parts.files[0])} is"
                raise InputError(stream.source_name, f"{problem}: the parts of a run must have the same format")
        return frame if frame is not None and frame.names else None

    def _columns_of(self, frame: Frame, names: Sequence[str], path: str) -> list[int]:
        for name in names:
            if name not in frame.names:
                problem = f"this part has no column {name}, but {source_name(self._parts.files[0])} has"
                raise InputError(source_name(path), problem)
        return [frame.names.index(name) for name in names]

    def _check_types(
        self, batch: Batch, names: Sequence[str], path: str, kinds: dict[str, tuple[str, str]]
    ) -> None:
        """Raise InputError if a column contains text in one part and numbers in another. `kinds` keeps the types."""
        for name, column in zip(names, batch.columns, strict=True):
            if column.holds in ("null", "object"):
                continue
            first, its_path = kinds.setdefault(name, (column.holds, path))
            if (first == "text") != (column.holds == "text"):
                here, there = ("text", "numbers") if first != "text" else ("numbers", "text")
                problem = f"this part has {here} in this column, but {source_name(its_path)} has {there}"
                raise InputError(f"{source_name(path)}: {name}", problem)

    def where(self, column: str, row: int | None = None) -> str:
        """Describe a column, or a value in a row of the column, for a message. The row is counted within its part."""
        if row is None or not self._read:
            return super().where(column, row)
        i = bisect_right(self._rows_before, row) - 1
        with ByteStream(self._read[i]) as stream:
            frame = table_in(stream)
        assert frame is not None
        return frame.where(column, row - self._rows_before[i])
