"""Readers of lines in TREC's formats: judgments, judgments of subtopics, runs, and the rank column of runs.

A line of a run is ``query Q0 document rank score tag``, and a line of judgments is ``query iteration document label``.
Fields are separated by whitespace. Lines end with a newline, a carriage return, or both. Empty lines and lines that
begin with ``#`` are ignored. As in trec_eval, fields after the tag of a run are ignored, and fields after the label of
a judgment are an error. Unlike in trec_eval, a second row on a line of a run is an error, and so are shifted fields: if
an identifier contains a space, the rank would be read as the score.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import isnan
from threading import Lock
from typing import NamedTuple, TypeAlias

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.errors import InputError
from tieaware.inputs.files.byte_streams import TextStream
from tieaware.inputs.files.text import Lines, number_in
from tieaware.inputs.trec.layouts import JUDGMENT_LINE, RUN_LINE, Rewritten, is_number, trec_lines
from tieaware.kernels import _line_ends, _trec
from tieaware.kernels._identifiers import Seen
from tieaware.lists.grades import Missing, whole_or_real
from tieaware.lists.identifiers import Identifiers, quoted
from tieaware.lists.query_lists import Lists, NotContiguous, grouped

# The number of bytes that are read at a time. These bytes and the columns made from them fit in a second-level cache.
BUFFER = 1 << 18

_SUBTOPIC_LINE = "query subtopic document label"
_LABEL = "the label, field 4, must be a number from -2147483648 to 2147483647, not"
_LEAST_LABEL, _LARGEST_LABEL = -(2**31), 2**31 - 1
_INTEGER = re.compile(rb"[+-]?[0-9]+")
# The parser looks at the first byte of a rank only.
_BEGIN_NUMBERS = b"+,-./0123456789"
_NAN = re.compile(rb"[+-]?nan(?:\(.*\))?", re.IGNORECASE)


# Returns the line numbers of rows.
_LinesOf: TypeAlias = Callable[[Integers], Integers]


class Reader:
    """A parser of a TREC file, which reads a stream of bytes and raises InputError for the first malformed line.

    `missing` says what the label "nan" means. If `lenient`, all fields after the sixth of a line are ignored, as by
    trec_eval.
    """

    def __init__(
        self, stream: TextStream, judgments: bool = False, missing: Missing | None = None, lenient: bool = False
    ) -> None:
        self.stream: TextStream | Rewritten = stream if lenient else trec_lines(stream, judgments)
        self.judgments = judgments
        self.parser: _trec.Parser = _trec.Parser(judgments, missing=missing is not None, surplus=lenient)

    def whole(self) -> Lists:
        """Read all rows, grouped by query."""
        for _ in self._batches():
            pass
        return self._lists(self.parser.n_sections)[0]

    def chunks(self, least: int) -> Iterator[Lists]:
        """Yield chunks of whole queries, each of at least `least` rows. Raise NotContiguous if a query reappears."""
        seen = Seen()
        for lists, _ in self._sections(least):
            if not seen.add(lists.queries.data, lists.queries.offsets):
                raise NotContiguous
            yield lists

    def numbered_chunks(self, least: int) -> Iterator[tuple[Lists, Integers]]:
        """Yield chunks of at least `least` rows, whose queries may reappear, with the line number of each row."""
        for lists, lines in self._sections(least):
            yield lists, lines(np.arange(len(lists.documents)) if lists.sources is None else lists.sources)

    def _sections(self, least: int) -> Iterator[tuple[Lists, _LinesOf]]:
        for final in self._batches():
            # The last section is kept back unless the file has ended, because the next lines may have its query.
            n_sections = self.parser.n_sections - (not final)
            if n_sections > 0 and (final or self.parser.n_rows >= least):
                yield self._lists(n_sections)

    def _batches(self) -> Iterator[bool]:
        """Parse the file in batches of lines. After each batch, yield whether it was the last batch of the file."""
        empty = True
        while True:
            size = self.stream.read_into(self.parser.room(BUFFER))
            good = self.parser.parse(size, final=size == 0)
            if not good:
                assert self.parser.bad_line is not None
                # A malformed line may be a result of corrupt compressed data. In this case that error is raised, which
                # may show only at the end of the file.
                self.stream.check_rest()
                problem = _problem(self.parser.bad_line, self.judgments, empty and self.parser.n_rows == 0)
                raise InputError(self.stream.place(self.parser.line), problem)
            empty = empty and self.parser.n_rows == 0
            if size == 0:
                break
            yield False
        if empty:
            line = JUDGMENT_LINE if self.judgments else RUN_LINE
            raise InputError(self.stream.source_name, f'the file has no lines of the form "{line}"')
        yield True

    def _lists(self, n_sections: int) -> tuple[Lists, _LinesOf]:
        """Take the first `n_sections` sections from the parser; return the rows, grouped by query, and their lines."""
        queries, query_ends, starts, documents, ends, values, jump_rows, jump_lines = self.parser.take(n_sections)

        def lines(rows: Integers) -> Integers:
            jumps = np.searchsorted(jump_rows, rows, side="right") - 1
            return jump_lines[jumps] + rows - jump_rows[jumps]

        def place(row: int) -> str:
            return self.stream.place(int(lines(np.array([row]))[0]))

        identifiers = Identifiers.of(documents, ends, "text")
        return grouped(Identifiers.of(queries, query_ends, "text"), starts, identifiers, values, place), lines


def _problem(line: bytes, judgments: bool, first: bool) -> str:
    """Describe why a line is malformed. If no row precedes it (`first`), the file may have another format."""
    if len(line) > _trec.LONGEST_LINE:
        return f"the line is longer than {_trec.LONGEST_LINE:,} bytes"
    # Twelve fields are two rows of a run, and a line may be very long.
    fields = line.split(None, 12)
    n = len(fields)
    if first and line.lstrip()[:1] in (b"{", b"["):
        return "this line is JSON: call a file of {query: {document: number}} .json, and one of JSON Lines .jsonl"
    if first and n == 1 and b"," in line:
        return "this line is separated by commas: call a file of comma-separated values .csv, and name its columns"
    if judgments:
        if n >= 6 and _INTEGER.fullmatch(fields[3]) and is_number(fields[4]):
            return f'this is a line of a run, "{RUN_LINE}", not of judgments, "{JUDGMENT_LINE}"'
        if n < 4:
            return f'a line of judgments has 4 fields, "{JUDGMENT_LINE}", but this line has {n}'
        if _NAN.fullmatch(fields[3]):
            return "the label, field 4, is NaN; read_qrels(path, missing='unjudged') reads it as unjudged"
        if n > 4 and is_number(fields[3]) and _LEAST_LABEL <= number_in(fields[3]) <= _LARGEST_LABEL:
            return f'a line of judgments has 4 fields, "{JUDGMENT_LINE}", but this line has more'
        return f"{_LABEL} {quoted(fields[3])}"
    if n < 6:
        if first and n in (4, 5) and is_number(fields[3]):
            return f'this is a line of judgments, "{JUDGMENT_LINE}", not of a run, "{RUN_LINE}"'
        return f'a line of a run has 6 fields, "{RUN_LINE}", but this line has {n}'
    try:
        if not isnan(number_in(fields[4])):
            return _shifted(line)
        found = "NaN"
    except ValueError as error:
        found = "NaN" if _NAN.fullmatch(fields[4]) else f"{error}"
    return f"the score, field 5, must be a number, not {found}"


def _shifted(line: bytes) -> str:
    """Say why a line of a run with a score is malformed: its fields are shifted, or it has two rows."""
    fields = line.split(None, 7)
    if fields[3][0] not in _BEGIN_NUMBERS:
        return f"the rank, field 4, is {quoted(fields[3])}, not a number: does the document id contain a space?"
    if fields[4].isdigit() and is_number(fields[5]):
        return "field 5, the score, looks like a rank, and field 6 like a score: does the document id contain a space?"
    return f'a line of a run has 6 fields, "{RUN_LINE}", but this line has two rows'


class NotParallel(Exception):  # noqa: N818 (not an error: the file can be read in order)
    """The file cannot be read in parallel chunks: a query has a document twice, or its lines are not contiguous."""


class Malformed(Exception):  # noqa: N818 (reading in order raises the error that names the line)
    """A line is malformed. Its line number is unknown, because the lines before a chunk are not counted."""


class FileChunk(NamedTuple):
    """The text of whole queries in the buffer of a parser, which has not parsed it yet, and its number of bytes."""

    parser: _trec.Parser
    size: int


class FileChunks:
    """An iterable of the chunks of a run file. Only one thread at a time may take the next chunk.

    Several threads may call `parse` at the same time. Taking a chunk reads its text, so one thread decompresses the
    file while other threads parse and evaluate their chunks.

    `size` is the number of bytes that are read for a chunk, unless a single query has more.
    """

    def __init__(self, stream: TextStream, size: int) -> None:
        self._stream = trec_lines(stream, judgments=False)
        self._size = size
        self._seen = Seen()
        self._lock = Lock()

    def __iter__(self) -> Iterator[FileChunk]:
        rest = b""
        continued = False
        size = self._size
        while True:
            parser = _trec.Parser(False, continued)
            try:
                buffer = parser.room(len(rest) + size)
            except OverflowError:
                raise NotParallel from None
            buffer[: len(rest)] = rest
            filled = self._filled(buffer, len(rest))
            if filled < len(buffer):
                # The buffer is not full because the file has ended.
                yield FileChunk(parser, filled)
                return
            cut = _line_ends.last_query(buffer)
            if cut < 0:
                raise Malformed
            if cut:
                yield FileChunk(parser, cut)
                continued = True
                size = self._size
            else:
                # One query fills the whole buffer. The next buffer has room for this text and as much again.
                size = len(buffer)
            rest = buffer[cut:].tobytes()

    def _filled(self, buffer: memoryview, filled: int) -> int:
        """Append text to the first `filled` bytes of the buffer; return their number, less than its size at the end."""
        while filled < len(buffer):
            size = self._stream.read_into(buffer[filled:])
            if size == 0:
                break
            filled += size
        return filled

    def parse(self, chunk: FileChunk) -> Lists:
        """Parse a chunk; raise Malformed if it has no row, and NotParallel if a query is also in another chunk."""
        parser, size = chunk
        if not parser.parse(size, final=True) or parser.n_rows == 0:
            raise Malformed
        queries, query_ends, starts, documents, ends, values, *_ = parser.take(parser.n_sections)
        identifiers = Identifiers.of(documents, ends, "text")
        lists = grouped(Identifiers.of(queries, query_ends, "text"), starts, identifiers, values)
        with self._lock:
            new = self._seen.add(lists.queries.data, lists.queries.offsets)
        if not new or len(lists.duplicates(first_only=True)):
            raise NotParallel
        return lists


def subtopic_lines(stream: TextStream, missing: Missing | None = None) -> tuple[Lists, Identifiers]:
    """Read judgments whose second field is the subtopic, as of the web tracks; return the rows and their subtopics."""
    rows: list[tuple[bytes, bytes, bytes, float, int]] = []
    text = Lines(stream)
    for line in text:
        fields = line.split(None, 6)
        if not fields or fields[0].startswith(b"#"):
            continue
        label = -1 if missing and len(fields) == 4 and fields[3].lower() == b"nan" else _label(fields)
        if label is None:
            stream.check_rest()
            problem = f"{_LABEL} {quoted(fields[3])}" if len(fields) == 4 else _problem(line, True, not rows)
            raise InputError(text.here(), problem)
        rows.append((fields[0], fields[1], fields[2], label, text.number))
    if not rows:
        raise InputError(stream.source_name, f'the file has no lines of the form "{_SUBTOPIC_LINE}"')
    queries, subtopics, documents, labels, lines = zip(*rows, strict=True)
    lists = grouped(
        Identifiers.from_sequence(queries),
        np.arange(len(rows) + 1),
        Identifiers.from_sequence(documents),
        whole_or_real(np.array(labels, np.float64), "label"),
        lambda row: stream.place(lines[row]),
    )
    return lists, Identifiers.from_sequence(subtopics)


def _label(fields: list[bytes]) -> float | None:
    """Return the label of a line of judgments; None if the line is malformed."""
    try:
        label = number_in(fields[3]) if len(fields) == 4 else np.nan
    except ValueError:
        return None
    return label if _LEAST_LABEL <= label <= _LARGEST_LABEL else None


class RankColumn(NamedTuple):
    """The query, rank and score on each line of a run file, in the order of the file.

    Queries are numbered in the order of first appearance. A rank that is not a number is NaN.
    """

    queries: Integers
    ranks: Values
    scores: Values


def rank_lines(stream: TextStream) -> RankColumn:
    """Read the rank column, which `Reader` leaves out, of a run that is known to be valid."""
    numbers: dict[bytes, int] = {}
    queries, ranks, scores = list[int](), list[float](), list[float]()
    for line in Lines(trec_lines(stream, judgments=False)):
        field = line.split(None, 5)
        if field and field[0][:1] != b"#":
            queries.append(numbers.setdefault(field[0], len(numbers)))
            ranks.append(number_in(field[3]) if is_number(field[3]) else np.nan)
            scores.append(number_in(field[4]))
    return RankColumn(np.array(queries, np.int64), np.array(ranks, np.float64), np.array(scores, np.float64))
