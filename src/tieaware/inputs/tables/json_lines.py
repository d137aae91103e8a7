"""Tables in JSON files.

In JSON Lines files, every line is an object and a row, and the keys of the object are the columns. A .json file
contains one object, {query: {document: number}}.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from tieaware.errors import InputError
from tieaware.inputs.files.byte_streams import ByteStream, RawFile
from tieaware.inputs.files.paths import suffix_of
from tieaware.inputs.files.text import BYTE_ORDER_MARK, Lines, json_in
from tieaware.inputs.tables.frames import Batch, Batches, Cells, Frame, FrameInMemory, Objects, of_array, of_identifiers
from tieaware.lists.identifiers import Identifiers

# A batch ends when it has this number of rows, or when its lines have this number of bytes.
_BATCH_ROWS = 1 << 16
_BATCH_BYTES = 1 << 24
_SUFFIXES = (".jsonl", ".ndjson")


class _Row(NamedTuple):
    """The object on a line, with the number of the line and the number of bytes in the line."""

    values: dict[str, Any]
    line: int
    size: int


class JsonLinesFile(Frame):
    """A JSON Lines file, plain or compressed. The keys of its first object are the names of the columns.

    That object is read at once. The first call of `batches` reads on from there if the stream is still open; every
    other call opens the file again.
    """

    is_file = True

    @classmethod
    def recognise(cls, stream: ByteStream) -> Frame | None:
        """Return the table in an open file; None if the suffix of the file is not .jsonl or .ndjson."""
        return cls(stream) if suffix_of(stream.path) in _SUFFIXES else None

    def __init__(self, stream: ByteStream) -> None:
        self.rereadable: bool = stream.reopenable
        self.source_name: str = stream.source_name
        self._stream = stream
        rows = _rows_of(stream)
        first = list(islice(rows, 1))
        self._rows: Iterator[_Row] | None = chain(first, rows)
        self.names: tuple[str, ...] = tuple(first[0].values) if first else ()

    def batches(self, columns: Sequence[int]) -> Batches:
        """Yield the batches of the file, which is opened again if it was read before or is closed."""
        names = [self.names[i] for i in columns]
        rows, self._rows = self._rows, None
        if rows is not None and not self._stream.closed:
            yield from self._batches(rows, names)
            return
        with ByteStream(self._stream.path) as stream:
            yield from self._batches(_rows_of(stream), names)

    def _batches(self, rows: Iterable[_Row], names: Sequence[str]) -> Batches:
        values: list[list[Any]] = [[] for _ in names]
        first = n = size = 0
        for row in rows:
            for name, column in zip(names, values, strict=True):
                if name not in row.values:
                    raise InputError(f"{self.source_name}:{row.line}", f"the object has no key {name!r}")
                column.append(row.values[name])
            n, size = n + 1, size + row.size
            if n == _BATCH_ROWS or size >= _BATCH_BYTES:
                yield Batch.of([_cells(each) for each in values], first)
                values = [[] for _ in names]
                first, n, size = first + n, 0, 0
        if n:
            yield Batch.of([_cells(each) for each in values], first)

    def where(self, column: str, row: int | None = None) -> str:
        """Describe a value for a message by its file, line and key. The file is read again to find the line number."""
        if row is None or not self.rereadable:
            return super().where(column, row)
        with ByteStream(self._stream.path) as stream:
            line = next((each.line for each in islice(_rows_of(stream), row, None)), 0)
        return f"{self.source_name}:{line}: {column}"


def _cells(values: list[Any]) -> Cells:
    if set(map(type, values)) == {float}:
        return of_array(np.array(values, np.float64))
    return Objects(np.fromiter(values, object, len(values)))


def _rows_of(stream: ByteStream) -> Iterator[_Row]:
    """Yield the object on each line of a file. Blank lines are ignored."""
    lines = Lines(stream)
    for line in lines:
        if not line.strip():
            continue
        values = json_in(line, stream.source_name, lines.number)
        if not isinstance(values, dict):
            raise InputError(lines.here(), f"the line must be a JSON object, not {type(values).__name__}")
        if "candidates" in values:
            yield from _candidates(values, lines, len(line))
        else:
            yield _Row(values, lines.number, len(line))


def _candidates(values: dict[str, Any], lines: Lines, size: int) -> Iterator[_Row]:
    """Yield a row for each candidate of a query, as rerankers write them."""
    try:
        query = values["query"]["qid"]
        for candidate in values["candidates"]:
            row = {"query_id": query, "doc_id": candidate["docid"], "score": candidate["score"]}
            yield _Row(row, lines.number, size)
    except (KeyError, TypeError):
        form = '{"query": {"qid": …}, "candidates": [{"docid": …, "score": …}, …]}'
        raise InputError(lines.here(), f"candidates must have the form {form}") from None


class JsonFile(FrameInMemory):
    """A .json file, plain or compressed, with an object {query: {document: number}}, of labels or of scores."""

    is_file = True

    @classmethod
    def recognise(cls, stream: ByteStream) -> Frame | None:
        """Return the table in an open file; None if the suffix of the file is not .json."""
        if suffix_of(stream.path) != ".json":
            return None
        name = stream.source_name
        whole = json_in(RawFile(stream).readall().removeprefix(BYTE_ORDER_MARK), name)
        lists = whole.items() if isinstance(whole, dict) else ()
        if not lists or not all(isinstance(each, dict) for _, each in lists):
            raise InputError(name, "a .json file must contain an object {query: {document: number}}")
        rows = [(query, *each) for query, listed in lists for each in listed.items()]
        # All keys of JSON are text, so they match text and integers, like those of a dict.
        keys = (Identifiers.from_sequence([row[i] for row in rows], name) for i in range(2))
        columns = [of_identifiers(Identifiers(each.data, each.offsets)) for each in keys]
        return cls(("query_id", "doc_id", "score"), [Batch.of([*columns, _cells([row[2] for row in rows])])], name)
