"""Division of a TREC run file into chunks of whole queries, which several threads can parse."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import NamedTuple

from tieaware.inputs.part_streams import TextStream
from tieaware.inputs.run import Run
from tieaware.inputs.score_types import ScoreDtype, rounded
from tieaware.kernels import _line_ends, _trec
from tieaware.kernels._identifiers import Seen
from tieaware.lists.identifiers import Identifiers
from tieaware.lists.query_lists import grouped


class NotParallel(Exception):  # noqa: N818 (not an error: the file can be read in order)
    """The file cannot be read in parallel chunks: a query has a document twice, or its lines are not contiguous."""


class Malformed(Exception):  # noqa: N818 (reading in order raises the error that names the line)
    """A line is malformed. Its line number is unknown, because the lines before a chunk are not counted."""


class FileChunk(NamedTuple):
    """The text of whole queries in the buffer of a parser, which has not parsed it yet.

    Parameters
    ----------
    parser : _trec.Parser
    size : int
        The number of bytes of text in the buffer.
    """

    parser: _trec.Parser
    size: int


class FileChunks:
    """An iterable of the chunks of a run file. Only one thread at a time may take the next chunk.

    Several threads may call `parse` at the same time. Taking a chunk reads its text, so one thread decompresses the
    file while other threads parse and evaluate their chunks.

    Parameters
    ----------
    stream : ByteStream or PartsStream
        The file, opened at its beginning.
    size : int
        The number of bytes that are read for a chunk, unless a single query has more.
    score_dtype : "float64" or "float32"
        The type to which scores are rounded.
    """

    def __init__(self, stream: TextStream, size: int, score_dtype: ScoreDtype) -> None:
        self._stream = stream
        self._size = size
        self._score_dtype = score_dtype
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
        """Append text to the first `filled` bytes of the buffer until it is full or the file ends.

        Return the number of bytes in the buffer.
        """
        while filled < len(buffer):
            size = self._stream.read_into(buffer[filled:])
            if size == 0:
                break
            filled += size
        return filled

    def parse(self, chunk: FileChunk) -> Run:
        """Parse a chunk.

        Raises
        ------
        Malformed
            A line is malformed, or the chunk contains no row.
        NotParallel
            A query of the chunk has a document twice, or is also in another chunk.
        """
        parser, size = chunk
        if not parser.parse(size, final=True) or parser.n_rows == 0:
            raise Malformed
        queries, query_ends, starts, documents, ends, values, *_ = parser.take(parser.n_sections)
        scores = rounded(values, self._score_dtype)
        identifiers = Identifiers.of(documents, ends, "text")
        lists = grouped(Identifiers.of(queries, query_ends, "text"), starts, identifiers, scores)
        with self._lock:
            new = self._seen.add(lists.queries.data, lists.queries.offsets)
        if not new or len(lists.duplicates(first_only=True)):
            raise NotParallel
        return Run.of(lists, self._stream.run_name)
