"""Grouping of rows by query in a temporary file, for runs in which the rows of a query are not contiguous."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arrays import Integers, stable_order
from tieaware.errors import InputError, printable
from tieaware.inputs.files.paths import reason
from tieaware.inputs.runs.reading_options import Ignored
from tieaware.inputs.tables.frames import joined
from tieaware.kernels._identifiers import hashes
from tieaware.lists.identifiers import Identifiers, Kind
from tieaware.lists.query_lists import Lists, grouped

# The number of rows that callers pass to `ExternalGrouping.add` at a time.
BATCH_ROWS = 1 << 18
# The largest number of bytes of all rows that stay in memory: more rows are written to a file. It is also the largest
# number of bytes that are grouped at a time, unless a single query has more.
HELD = 1 << 26
# Eight bits of the hash of a query select one of 256 buckets; another power of two takes another number of bits.
# Neighbouring small buckets are read together, as long as their total size is at most SMALL bytes.
BUCKETS = 256
SMALL = 1 << 21
Made = TypeVar("Made")
_KINDS: tuple[Kind, ...] = ("text", "integer", "any")


class ExternalGrouping:
    """A temporary file to which batches of rows are written, and from which whole queries are read.

    The hash of its query assigns each row to one of `BUCKETS` buckets, and the file is read bucket by bucket. The rows
    of a bucket of more than `HELD` bytes are distributed again by eight further bits of the hash, unless the bucket
    contains only one query. Memory is therefore bounded by `BATCH_ROWS`, `HELD` and the query with most rows, for any
    number of rows. The file has no name, so the operating system removes it even if the process is killed.

    Use the object in a with statement, which closes the file.

    The level selects the bits of the hash that select the bucket: with eight bits, bits 8 level to 8 level + 7.
    Different hashes are in different buckets at some level, because the levels use all bits of the hash.
    """

    def __init__(self, level: int = 0) -> None:
        self._level = level
        # tempfile is imported here because most evaluations need no temporary file.
        import tempfile

        self._file: Any = tempfile.SpooledTemporaryFile(max_size=HELD)  # noqa: SIM115 (closed by __exit__)
        self._end = 0
        # For each batch, the offsets of its buckets in the file. For each bucket, the smallest and the largest hash of
        # its queries, which are equal if the bucket contains only one query.
        self._edges: list[Integers] = []
        self._least = np.full(BUCKETS, np.iinfo(np.uint64).max, np.uint64)
        self._most = np.zeros(BUCKETS, np.uint64)

    def __enter__(self) -> ExternalGrouping:
        return self

    def __exit__(self, *_: object) -> None:
        # Closing tries again to write buffered rows. If an earlier write failed, this write fails too, and the earlier
        # error must not be replaced.
        with suppress(OSError):
            self._file.close()

    def add(self, lists: Lists, rows: Integers) -> None:
        """Write a batch of lists to the file. `rows` are the numbers that the rows of the batch have in the input."""
        found = hashes(lists.queries.data, lists.queries.offsets)
        shift = self._level * (BUCKETS.bit_length() - 1)
        buckets = (found >> np.uint64(shift) & np.uint64(BUCKETS - 1)).astype(np.int64)
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
        with _file_errors():
            for bucket in np.flatnonzero(np.diff(firsts)).tolist():
                data = _packed(sorted_lists, int(firsts[bucket]), int(firsts[bucket + 1]))
                self._file.write(data)
                ends[bucket + 1 :] += len(data)
        self._end = int(ends[-1])
        self._edges.append(ends)

    def made(self, make: Callable[[Lists], tuple[Made, Ignored]], name: str) -> Iterator[Made]:
        """Yield what `make` makes of each chunk of whole queries. At the end, warn about duplicates that it ignored.

        If `make` raises InputError because several queries have duplicates, it is raised for the query that comes first
        in the input, because the order of the buckets must not affect the message.
        """
        found = []
        chunks = self.lists()
        for lists in chunks:
            try:
                run, ignored = make(lists)
            except InputError:
                for others in chunks:
                    if len(others.duplicates(first_only=True)) and _first_duplicate(others) < _first_duplicate(lists):
                        lists = others
                make(lists)
                raise
            if ignored.n:
                found.append((_first_duplicate(lists), ignored))
            yield run
        sum((each for _, each in sorted(found, key=lambda pair: pair[0])), Ignored()).warn(name)

    def lists(self) -> Iterator[Lists]:
        """Yield chunks of whole queries. The `sources` of a chunk are the numbers that its rows have in the input."""
        edges = np.stack(self._edges) if self._edges else np.zeros((0, BUCKETS + 1), np.int64)
        sizes = np.diff(edges).sum(axis=0)
        first = 0
        while first < BUCKETS:
            if sizes[first] > HELD and self._least[first] < self._most[first]:
                with ExternalGrouping(self._level + 1) as finer:
                    for batch in self._batches(edges, first, first + 1):
                        assert batch.sources is not None
                        finer.add(batch, batch.sources)
                    yield from finer.lists()
                first += 1
                continue
            last = first + 1
            while last < BUCKETS and sizes[first : last + 1].sum() <= SMALL:
                last += 1
            if sizes[first:last].any():
                yield merged(list(self._batches(edges, first, last)))
            first = last

    def _batches(self, edges: Integers, first: int, last: int) -> Iterator[Lists]:
        """Yield the rows in the buckets `first` … `last` - 1, batch by batch in the order in which these were added."""
        for start, stop in zip(edges[:, first].tolist(), edges[:, last].tolist(), strict=True):
            if stop > start:
                with _file_errors():
                    self._file.seek(start)
                    data = self._file.read(stop - start)
                at = 0
                while at < len(data):
                    lists, at = _unpacked(data, at)
                    yield lists


@contextmanager
def _file_errors() -> Iterator[None]:
    """Turn an OSError into an InputError that names the folder of temporary files."""
    try:
        yield
    except OSError as error:
        try:
            import tempfile

            folder = tempfile.gettempdir()
        except OSError:
            folder = "temporary files"
        problem = "the rows of a run are not grouped by query, and the temporary file to group them cannot be written"
        remedy = "set the environment variable TMPDIR to another folder"
        raise InputError(printable(folder), f"{problem} here ({reason(error)}): {remedy}") from None


def _packed(lists: Lists, start: int, stop: int) -> bytes:
    """Return the queries `start` … `stop` - 1 as bytes, which `_unpacked` reads: a header, and then the columns.

    The header contains the sizes and types of the columns. Every column is padded to a multiple of eight bytes.
    """
    begin, end = int(lists.offsets[start]), int(lists.offsets[stop])
    queries, documents = lists.queries, lists.documents
    names = queries.data[queries.offsets[start] : queries.offsets[stop]]
    text = documents.data[documents.offsets[begin] : documents.offsets[end]]
    lengths = np.diff(documents.offsets[begin : end + 1]).astype(_length_type(len(text)))
    assert lists.sources is not None
    columns: Sequence[NDArray[Any]] = (
        np.array([
            stop - start, end - begin, len(names), len(text), lists.values.itemsize,
            _KINDS.index(queries.kind), _KINDS.index(documents.kind),
        ], np.int64),
        queries.offsets[start : stop + 1] - queries.offsets[start], names, lists.offsets[start : stop + 1] - begin,
        lengths, text, lists.values[begin:end], lists.sources[begin:end],
    )  # fmt: skip
    return b"".join(data for column in columns for data in (column.data, b"\0" * (-column.nbytes % 8)))


def _unpacked(data: bytes, at: int) -> tuple[Lists, int]:
    """Return the lists that `_packed` wrote at offset `at` of the data, and the offset at which these lists end."""

    def column(dtype: Any, n: int) -> NDArray[Any]:
        nonlocal at
        found = np.frombuffer(data, dtype, n, at)
        at += found.nbytes + -found.nbytes % 8
        return found

    n_queries, n, n_names, n_text, itemsize, of_queries, of_documents = column(np.int64, 7).tolist()
    ends = column(np.int64, n_queries + 1)
    queries = Identifiers.of(column(np.uint8, n_names), ends, _KINDS[of_queries])
    offsets = column(np.int64, n_queries + 1)
    document_offsets = np.zeros(n + 1, np.int64)
    np.cumsum(column(_length_type(n_text), n), out=document_offsets[1:])
    documents = Identifiers.of(column(np.uint8, n_text), document_offsets, _KINDS[of_documents])
    values = column(np.float32 if itemsize == 4 else np.float64, n)
    return Lists(queries, offsets, documents, values, column(np.int64, n)), at


def _length_type(n_bytes: int) -> type[np.unsignedinteger[Any]]:
    """Return a type for the lengths of identifiers that have `n_bytes` in total."""
    return np.uint32 if n_bytes < 1 << 32 else np.uint64


def merged(batches: Sequence[Lists]) -> Lists:
    """Merge the lists of each query in all batches into one list, whose rows are in the order of the batches."""
    starts, n = [], 0
    for batch in batches:
        starts.append(batch.offsets[:-1] + n)
        n += len(batch.documents)
    sources = np.concatenate([batch.sources for batch in batches if batch.sources is not None])
    lists = grouped(
        joined([batch.queries for batch in batches]), np.concatenate([*starts, np.array([n])]),
        joined([batch.documents for batch in batches]), np.concatenate([batch.values for batch in batches]),
    )  # fmt: skip
    lists.sources = sources if lists.sources is None else sources[lists.sources]
    return lists


def _first_duplicate(lists: Lists) -> int:
    """Return the number in the input of the first row of the query that contains the first duplicate."""
    row = int(lists.duplicates(first_only=True)[0, 0])
    return lists.source(int(lists.offsets[np.searchsorted(lists.offsets, row, side="right") - 1]))
