"""A run in a file, cut between its queries into pieces that several threads read."""

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

__all__ = ["Pieces", "Unusual"]


class Unusual(Exception):  # noqa: N818 (no error yet: who reads the file in order finds out what it is)
    """A line cannot be used, a document appears twice, or the lines of a query are not together."""


class Piece(NamedTuple):
    """Lines of whole queries, in the room of a parser that has not parsed them yet."""

    parser: _trec.Parser
    size: int


class Pieces:
    """The pieces of a file, in order, to be taken by one thread at a time and read by any.

    To take one is to have its text, and so one thread decompresses it while others parse and evaluate theirs.

    Parameters
    ----------
    stream : ByteStream
        From the beginning of the file.
    size : int
        The bytes of a piece, if no query takes more.
    score_dtype : "float64" or "float32"
        What scores are rounded to.
    """

    def __init__(self, stream: ByteStream, size: int, score_dtype: str) -> None:
        self._stream = stream
        self._size = size
        self._score_dtype = score_dtype
        self._seen = Seen()
        self._lock = Lock()

    def __iter__(self) -> Iterator[Piece]:
        rest = b""
        continued = False
        size = self._size
        while True:
            parser = _trec.Parser(False, continued)
            try:
                room = parser.room(len(rest) + size)
            except OverflowError:
                raise Unusual from None
            room[: len(rest)] = rest
            filled = self._filled(room, len(rest))
            if filled < len(room):
                # The end of the file.
                yield Piece(parser, filled)
                return
            cut = _trec.last_query(room)
            if cut < 0:
                raise Unusual
            if cut:
                yield Piece(parser, cut)
                continued = True
                size = self._size
            else:
                # One query takes all of it.
                size = len(room)
            rest = room[cut:].tobytes()

    def _filled(self, room: memoryview, filled: int) -> int:
        """Read until the room is full or the file ends; return how full it is."""
        while filled < len(room):
            size = self._stream.read_into(room[filled:])
            if size == 0:
                break
            filled += size
        return filled

    def read(self, piece: Piece) -> Run:
        """Parse a piece.

        Raises
        ------
        Unusual
            The file has to be read in order.
        """
        parser, size = piece
        if not parser.parse(size, final=True) or parser.n_rows == 0:
            raise Unusual
        queries, query_ends, starts, documents, ends, values, *_ = parser.take(parser.n_segments)
        scores = rounded(values, self._score_dtype)
        identifiers = Identifiers.of(documents, ends, "text")
        lists = grouped(Identifiers.of(queries, query_ends, "text"), starts, identifiers, scores)
        with self._lock:
            new = self._seen.add(lists.queries.data, lists.queries.offsets)
        if not new or len(lists.duplicates(one=True)):
            raise Unusual
        return Run.of(lists, self._stream.name)
