"""Rows whose queries are not together, brought together by way of a temporary file, and not in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arrays import Integers, stable_order
from tieaware.errors import InputError, printable
from tieaware.inputs.files import reason
from tieaware.inputs.frames import joined
from tieaware.inputs.run import Dropped, Run
from tieaware.kernels._seen import hashes
from tieaware.lists.identifiers import Identifiers, Kind
from tieaware.lists.query_lists import Lists, grouped

__all__ = ["BLOCK", "Spilled"]

# How many rows are sorted by their queries at a time.
BLOCK = 1 << 18
# How many bytes are held before they go to a file, and how many are brought together at a time if no query has more.
HELD = 1 << 26
# So many buckets has the hash of a query, by eight of its bits; those that are small are read with their neighbours.
BUCKETS = 256
SMALL = 1 << 21
KINDS: tuple[Kind, ...] = ("text", "integer", "any")


class Spilled:
    """Lists of parts of queries, in a file without a name, which is gone with its process, however that ends.

    They are put into buckets by the hashes of their queries, and read bucket by bucket. One with too many bytes is put
    into buckets itself, by further bits, unless it is of one query; so memory is bounded by `BLOCK`, `HELD` and the
    longest query, whatever the number of rows. A context manager.

    Parameters
    ----------
    level : int
        Which eight bits of the hashes are gone by.
    """

    def __init__(self, level: int = 0) -> None:
        self._level = level
        self._file: Any = tempfile.SpooledTemporaryFile(max_size=HELD)  # noqa: SIM115 (closed by __exit__)
        self._end = 0
        # Where in the file each bucket of each block begins, and the last ends; and the hashes that are in a bucket.
        self._edges: list[Integers] = []
        self._least = np.full(BUCKETS, np.iinfo(np.uint64).max, np.uint64)
        self._most = np.zeros(BUCKETS, np.uint64)

    def __enter__(self) -> Spilled:
        return self

    def __exit__(self, *_: object) -> None:
        # What could not be written is tried once more.
        with suppress(OSError):
            self._file.close()

    def add(self, lists: Lists, rows: Integers) -> None:
        """Add a block, of which these are the rows in the input."""
        found = hashes(lists.queries.data, lists.queries.offsets)
        buckets = (found >> np.uint64(8 * self._level) & np.uint64(BUCKETS - 1)).astype(np.int64)
        np.minimum.at(self._least, buckets, found)
        np.maximum.at(self._most, buckets, found)
        order = stable_order(buckets)
        sizes = np.diff(lists.offsets)[order]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        of_rows = np.repeat(lists.offsets[:-1][order] - offsets[:-1], sizes) + np.arange(offsets[-1])
        sorted_lists = Lists(
            lists.queries.take(order), offsets, lists.documents.take(of_rows), lists.values[of_rows], rows[of_rows]
        )
        firsts = np.searchsorted(buckets[order], np.arange(BUCKETS + 1))
        ends = np.full(BUCKETS + 1, self._end, np.int64)
        with _temporary():
            for bucket in np.flatnonzero(np.diff(firsts)).tolist():
                chunk = _packed(sorted_lists, int(firsts[bucket]), int(firsts[bucket + 1]))
                self._file.write(chunk)
                ends[bucket + 1 :] += len(chunk)
        self._end = int(ends[-1])
        self._edges.append(ends)

    def runs(self, made: Callable[[Lists], tuple[Run, Dropped]], warn: Callable[[Dropped], None]) -> Iterator[Run]:
        """Yield the runs that are made of the lists; warn of what was dropped.

        Raises
        ------
        InputError
            Of the query with a duplicate that comes first in the input, as if it had been read in order.
        """
        dropped = []
        parts = self.lists()
        for lists in parts:
            try:
                run, of_run = made(lists)
            except InputError:
                for others in parts:
                    if len(others.duplicates(one=True)) and _first_repeat(others) < _first_repeat(lists):
                        lists = others
                made(lists)
                raise
            if of_run.n:
                dropped.append((_first_repeat(lists), of_run))
            yield run
        warn(sum((each for _, each in sorted(dropped, key=lambda pair: pair[0])), Dropped()))

    def lists(self) -> Iterator[Lists]:
        """Yield the lists of whole queries, each row with that of the input as its source."""
        edges = np.stack(self._edges) if self._edges else np.zeros((0, BUCKETS + 1), np.int64)
        sizes = np.diff(edges).sum(axis=0)
        first = 0
        while first < BUCKETS:
            if sizes[first] > HELD and self._least[first] < self._most[first]:
                with Spilled(self._level + 1) as finer:
                    for chunk in self._chunks(edges, first, first + 1):
                        assert chunk.sources is not None
                        finer.add(chunk, chunk.sources)
                    yield from finer.lists()
                first += 1
                continue
            last = first + 1
            while last < BUCKETS and sizes[first : last + 1].sum() <= SMALL:
                last += 1
            if sizes[first:last].any():
                yield _together(list(self._chunks(edges, first, last)))
            first = last

    def _chunks(self, edges: Integers, first: int, last: int) -> Iterator[Lists]:
        """Read some buckets, in the order of the blocks."""
        for start, stop in zip(edges[:, first].tolist(), edges[:, last].tolist(), strict=True):
            if stop > start:
                with _temporary():
                    self._file.seek(start)
                    data = self._file.read(stop - start)
                at = 0
                while at < len(data):
                    lists, at = _unpacked(data, at)
                    yield lists


@contextmanager
def _temporary() -> Iterator[None]:
    """Say where it was that something could not be written or read."""
    try:
        yield
    except OSError as error:
        try:
            folder = tempfile.gettempdir()
        except OSError:
            folder = "temporary files"
        what = "for a run whose queries are not together; the variable TMPDIR names another folder"
        raise InputError(printable(folder), f"expected room {what}, found: {reason(error)}") from None


def _packed(lists: Lists, start: int, stop: int) -> bytes:
    """Return some queries as bytes, which begin with the numbers of all that follows; each column is of whole words."""
    begin, end = int(lists.offsets[start]), int(lists.offsets[stop])
    queries, documents = lists.queries, lists.documents
    names = queries.data[queries.offsets[start] : queries.offsets[stop]]
    text = documents.data[documents.offsets[begin] : documents.offsets[end]]
    lengths = np.diff(documents.offsets[begin : end + 1]).astype(_length_type(len(text)))
    assert lists.sources is not None
    columns: Sequence[NDArray[Any]] = (
        np.array([
            stop - start, end - begin, len(names), len(text), lists.values.itemsize,
            KINDS.index(queries.kind), KINDS.index(documents.kind),
        ], np.int64),
        queries.offsets[start : stop + 1] - queries.offsets[start], names, lists.offsets[start : stop + 1] - begin,
        lengths, text, lists.values[begin:end], lists.sources[begin:end],
    )  # fmt: skip
    return b"".join(part for column in columns for part in (column.data, b"\0" * (-column.nbytes % 8)))


def _unpacked(data: bytes, at: int) -> tuple[Lists, int]:
    """Return what was packed at a place, and the place behind it."""

    def column(dtype: Any, n: int) -> NDArray[Any]:
        nonlocal at
        found = np.frombuffer(data, dtype, n, at)
        at += found.nbytes + -found.nbytes % 8
        return found

    n_queries, n, n_names, n_text, itemsize, of_queries, of_documents = column(np.int64, 7).tolist()
    ends = column(np.int64, n_queries + 1)
    queries = Identifiers.of(column(np.uint8, n_names), ends, KINDS[of_queries])
    offsets = column(np.int64, n_queries + 1)
    document_offsets = np.zeros(n + 1, np.int64)
    np.cumsum(column(_length_type(n_text), n), out=document_offsets[1:])
    documents = Identifiers.of(column(np.uint8, n_text), document_offsets, KINDS[of_documents])
    values = column(np.float32 if itemsize == 4 else np.float64, n)
    return Lists(queries, offsets, documents, values, column(np.int64, n)), at


def _length_type(n_bytes: int) -> type[np.unsignedinteger[Any]]:
    """Return the type for the lengths of documents of so many bytes together."""
    return np.uint32 if n_bytes < 1 << 32 else np.uint64


def _together(chunks: Sequence[Lists]) -> Lists:
    """Return the lists of the queries of all chunks, with their rows in order."""
    starts, n = [], 0
    for chunk in chunks:
        starts.append(chunk.offsets[:-1] + n)
        n += len(chunk.documents)
    sources = np.concatenate([chunk.sources for chunk in chunks if chunk.sources is not None])
    lists = grouped(
        joined([chunk.queries for chunk in chunks]), np.concatenate([*starts, np.array([n])]),
        joined([chunk.documents for chunk in chunks]), np.concatenate([chunk.values for chunk in chunks]),
    )  # fmt: skip
    lists.sources = sources if lists.sources is None else sources[lists.sources]
    return lists


def _first_repeat(lists: Lists) -> int:
    """Return the first row of the input that is of the first query with a duplicate."""
    row = int(lists.duplicates(one=True)[0, 0])
    return lists.source(int(lists.offsets[np.searchsorted(lists.offsets, row, side="right") - 1]))
