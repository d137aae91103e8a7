"""Chunks of whole queries of a TREC run file, for several threads."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import NamedTuple

from tieaware.inputs.files import ByteStream
from tieaware.inputs.run import Run, rounded
from tieaware.kernels import _trec
from tieaware.kernels._seen import Seen
from tieaware.lists.identifiers import Identifiers
from tieaware.lists.query_lists import grouped


class NotParallel(Exception):  # noqa: N818 (not an error: the file can be read in order)
    """The file must be read in order: a document appears twice, or the lines of a query are not contiguous."""


class Malformed(Exception):  # noqa: N818 (reading in order raises the error that names the line)
    """A line is malformed. Its number is unknown, because chunks do not count the lines before them."""


class FileChunk(NamedTuple):
    """Lines of whole queries in the buffer of a parser, not parsed yet.

    Parameters
    ----------
    parser : _trec.Parser
    size : int
        The number of bytes in the buffer.
    """

    parser: _trec.Parser
    size: int


class FileChunks:
    """The chunks of a run file. One thread at a time can take the next chunk, and any thread can parse a chunk.

    Taking a chunk reads its text, so one thread decompresses the file while others parse and evaluate their chunks.

    Parameters
    ----------
    stream : ByteStream
        The file, opened at its beginning.
    size : int
        The number of bytes of a chunk, unless its first query needs more.
    score_dtype : "float64" or "float32"
        The type to which scores are rounded.
    """

    def __init__(self, stream: ByteStream, size: int, score_dtype: str) -> None:
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
                # This is the end of the file.
                yield FileChunk(parser, filled)
                return
            cut = _trec.last_query(buffer)
            if cut < 0:
                raise Malformed
            if cut:
                yield FileChunk(parser, cut)
                continued = True
                size = self._size
            else:
                # One query fills the whole buffer: the next buffer is twice as large.
                size = len(buffer)
            rest = buffer[cut:].tobytes()

    def _filled(self, buffer: memoryview, filled: int) -> int:
        """Read until the buffer is full or the file ends; return the number of bytes in the buffer."""
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
            A line is malformed, or there is none.
        NotParallel
            The file must be read in order.
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
