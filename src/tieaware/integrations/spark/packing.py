"""Packing of the rows of a partition into chunks, and unpacking of these chunks.

A chunk holds documents of one list. It is one row of a data frame, in which each column holds an array as bytes. A list
whose rows are far apart is packed into several chunks. Spark shuffles the chunks instead of the original rows, because
the chunks are fewer and smaller. They arrive in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Offsets, stable_order
from tieaware.errors import InputError
from tieaware.inputs.tables.frames import Cells, arrow_of
from tieaware.integrations.spark.broadcasting import CopiedJudgments
from tieaware.integrations.spark.installation import pa
from tieaware.lists.identifiers import Identifiers, quoted

# About this many rows are packed in one call. Among them, the rows of a list need not be contiguous.
ROWS_AT_ONCE = 1 << 18

# The largest number of documents in a chunk. Spark passes ten thousand chunks at a time to Python, so chunks must be
# small enough for the memory of a worker.
LONGEST_CHUNK = 1 << 12

# The columns of a chunk besides its run and query. Only tie rules that keep the order of the run need `places`.
CHUNK_COLUMNS = ("scores", "positions", "labels", "lengths", "names", "places")

# The name of the run if the data frame has no column of runs.
ONLY_RUN = "run"


class _Lists(NamedTuple):
    """The lists of judged queries in a batch, and their judged documents. Rows are counted list by list."""

    # Rows of the batch whose runs are all runs of the batch, also those that answer no judged query.
    seen: Integers
    # A row of the batch for each list, and its query, a pyarrow.Array.
    firsts: Integers
    queries: Any
    # The row of the batch of each row; None if they are the same.
    order: Integers | None
    offsets: Offsets
    # The rows of judged documents, and their labels: int32 or float64.
    judged: Integers
    labels: npt.NDArray[Any]
    # The rows of the documents whose names are kept, and these names.
    named: Integers
    names: Identifiers


@dataclass(frozen=True)
class Packing:
    """How the rows of runs are packed."""

    # The judgments, in which the labels of documents are looked up; None if Spark has joined the labels to the rows.
    judgments: CopiedJudgments | None
    # True if the names of all documents are kept, not only those of judged documents.
    all_names: bool
    # True if the order of the rows is kept.
    places: bool
    # The number of parts to which a task announces what it has seen.
    n_parts: int
    # The name of the data frame of the runs, for messages.
    runs_name: str

    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns of a chunk besides its run and query."""
        return CHUNK_COLUMNS if self.places else CHUNK_COLUMNS[:-1]

    def of_partition(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Pack the Arrow batches of a partition into chunks.

        The columns are run (if there are several runs), query, score, document, and place if the order of the rows is
        kept. A bad row has no score (null), and an error message in place of the document's name. If Spark has joined
        the labels, there is also a column label, which is null if the document is not judged; and the document is null
        if its name is not kept.

        Each row of the result is a chunk: run, query (its number, if the labels are looked up), the scores of the
        documents, the positions and labels of the judged documents, the length and the bytes of each name that is kept,
        and the places. At the end comes a row for each part, with the columns of ANNOUNCED. Only if labels are looked
        up, lists of unjudged queries are left out, and runs that answer judged queries announced.
        """
        announcement = Announcement()
        query_type = None
        for table in joined_batches(_of_limited_size(batches), ROWS_AT_ONCE):
            looked_up = self.judgments is not None
            query_type = pa.int64() if looked_up else table.schema.field("query").type
            good, bad = _split(table, "score")
            if bad.num_rows:
                announcement.add((), (), bad.column("document").slice(0, 1).to_pylist())
            for batch in good.combine_chunks().to_batches():
                try:
                    chunks = self._packed(batch, announcement)
                except InputError as error:
                    announcement.add((), (), [str(error)])
                else:
                    yield self._rows(query_type, chunks)
        if query_type is not None:
            yield self._rows(query_type, announcement.rows(self.n_parts))

    def _rows(self, query_type: Any, columns: dict[str, Any]) -> Any:
        """Return rows that have these columns, and null in all others."""
        names = pa.list_(pa.string())
        types = {"run": pa.string(), "query": query_type, **dict.fromkeys(self.columns(), pa.binary())}
        types |= {"part": pa.int32(), "runs": names, "answering": names, "error": pa.string()}
        n = len(next(iter(columns.values())))
        arrays = {name: columns[name] if name in columns else pa.nulls(n, kind) for name, kind in types.items()}
        return pa.RecordBatch.from_pydict(arrays)

    def _packed(self, batch: Any, announcement: Announcement) -> dict[str, Any]:
        """Pack good rows into chunks, and return their columns. Announce the runs."""
        runs = batch.column("run") if "run" in batch.schema.names else pa.repeat(pa.scalar(ONLY_RUN), batch.num_rows)
        lists = self._joined(batch) if self.judgments is None else self._looked_up(batch, self.judgments)
        runs_of_lists = runs.take(pa.array(lists.firsts))
        seen = runs_of_lists if lists.seen is lists.firsts else runs.take(pa.array(lists.seen))
        answering = () if self.judgments is None else runs_of_lists.unique().to_pylist()
        announcement.add(seen.unique().to_pylist(), answering, ())
        list_of_chunk, offsets = _divided(lists.offsets)

        def by_list(name: str) -> npt.NDArray[Any]:
            values: npt.NDArray[Any] = batch.column(name).to_numpy()
            return values if lists.order is None else values[lists.order]

        judged_offsets, named_offsets = (np.searchsorted(rows, offsets) for rows in (lists.judged, lists.named))
        positions = (lists.judged - np.repeat(offsets[:-1], np.diff(judged_offsets))).astype(np.int32)
        chunks = {
            "run": runs_of_lists.take(pa.array(list_of_chunk)),
            "query": lists.queries.take(pa.array(list_of_chunk)),
            "scores": _as_bytes(by_list("score"), offsets),
            "positions": _as_bytes(positions, judged_offsets),
            "labels": _as_bytes(lists.labels, judged_offsets),
            "lengths": _as_bytes(np.diff(lists.names.offsets).astype(np.int32), named_offsets),
            "names": _as_bytes(lists.names.data, lists.names.offsets[named_offsets]),
        }
        if self.places:
            chunks["places"] = _as_bytes(by_list("place"), offsets)
        return chunks

    def _joined(self, batch: Any) -> _Lists:
        """Group rows whose labels Spark has joined by list."""
        firsts, order, offsets = _grouped(batch)

        def rows_of(name: str) -> Integers:
            is_valid = batch.column(name).is_valid().to_numpy(zero_copy_only=False)
            return np.flatnonzero(is_valid if order is None else is_valid[order])

        judged, named = rows_of("label"), rows_of("document")
        labels = batch.column("label").fill_null(0).to_numpy()[judged if order is None else order[judged]]
        names = identifier_column(batch.column("document")).identifiers_at(named if order is None else order[named])
        queries = batch.column("query").take(pa.array(firsts))
        return _Lists(firsts, firsts, queries, order, offsets, judged, labels, named, names)

    def _looked_up(self, batch: Any, judgments: CopiedJudgments) -> _Lists:
        """Group rows by list, without those of unjudged queries, and look up the labels of their documents."""
        seen, order, offsets = _grouped(batch)
        queries = identifier_column(batch.column("query")).identifiers_at(seen)
        column = identifier_column(batch.column("document"))
        documents = column.identifiers(0, len(column)) if order is None else column.identifiers_at(order)
        found = judgments.match(queries, offsets, documents)
        if isinstance(found, int):
            raise self._repeated(batch, found if order is None else int(order[found]))
        firsts, numbers, judged, named = seen, found.numbers, found.judged, found.judged
        answering = numbers >= 0
        if not answering.all():
            kept = np.flatnonzero(np.repeat(answering, np.diff(offsets)))
            order, documents = kept if order is None else order[kept], documents.take(kept)
            offsets = np.concatenate(([0], np.cumsum(np.diff(offsets)[answering])))
            firsts, numbers = seen[answering], numbers[answering]
            judged = named = np.searchsorted(kept, judged)
        if self.all_names:
            named = np.arange(len(documents))
        names = documents if self.all_names else documents.take(named)
        return _Lists(seen, firsts, pa.array(numbers), order, offsets, judged, found.labels, named, names)

    def _repeated(self, batch: Any, row: int) -> InputError:
        """Return the error about the document in a row of a batch, which is in the list twice."""
        names = {name: batch.column(name)[row].as_py() for name in batch.schema.names}
        document, run = quoted(str(names["document"]).encode()), names.get("run", ONLY_RUN)
        return repeated(self.runs_name, document, names["query"], run)


def repeated(where: str, document: str, query: str | int, run: str) -> InputError:
    """Return the error about a document, already in quotes, that is in a list twice."""
    return InputError(where, f"document {document} occurs twice for query {query!r} of run {run!r}")


def _of_limited_size(batches: Iterable[Any]) -> Iterator[Any]:
    """Divide batches that have more than ROWS_AT_ONCE rows."""
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS_AT_ONCE):
            yield batch.slice(start, ROWS_AT_ONCE)


def joined_batches(batches: Iterable[Any], n_rows: int) -> Iterator[Any]:
    """Join batches into tables of at least n_rows rows, and one smaller table for the rest."""
    held: list[Any] = []
    n = 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            n += batch.num_rows
        if n >= n_rows:
            yield pa.Table.from_batches(held)
            held, n = [], 0
    if held:
        yield pa.Table.from_batches(held)


def _split(table: Any, column: str) -> tuple[Any, Any]:
    """Return the rows in which a column is not null, and the rows in which it is null."""
    values = table.column(column)
    if not values.null_count:
        return table, table.slice(0, 0)
    return table.filter(values.is_valid()), table.filter(values.is_null())


def identifier_column(array: Any) -> Cells:
    """Convert an Arrow array of identifiers to `Cells` of the library."""
    frame = arrow_of(pa.RecordBatch.from_arrays([array], ["identifiers"]), "identifiers")
    for batch in frame.batches([0]):
        return batch.columns[0]
    raise AssertionError("a record batch must be read as one batch")


def numbered(arrays: Sequence[Any], n: int) -> tuple[Integers, Integers]:
    """Number n rows by their identifiers, which are in columns without nulls.

    Return the first row of each stretch, a series of successive rows with the same identifiers; and the number of each
    stretch, which is the same for stretches with the same identifiers.
    """
    is_start = np.zeros(n, np.bool_)
    for array in arrays:
        is_start[identifier_column(array).sections(0, n)] = True
    starts = np.flatnonzero(is_start)
    numbers = np.zeros(len(starts), np.int64)
    for array in arrays:
        encoded = array.take(starts).dictionary_encode()
        numbers = numbers * len(encoded.dictionary) + encoded.indices.to_numpy()
    return starts, numbers


def _grouped(batch: Any) -> tuple[Integers, Integers | None, Offsets]:
    """Group the rows of a batch by list: by the columns query and run, if there are several runs.

    Return the first row of each list; the rows, list by list, or None if the rows of each list are contiguous; and the
    offsets of the lists.
    """
    n = batch.num_rows
    starts, numbers = numbered([batch.column(name) for name in ("run", "query") if name in batch.schema.names], n)
    by_number = stable_order(numbers)
    ordered = numbers[by_number]
    heads = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    if len(heads) == len(numbers):
        return starts, None, np.append(starts, n)
    sizes = np.diff(np.append(starts, n))[by_number]
    ends = np.cumsum(sizes)
    order = np.arange(n) + np.repeat(starts[by_number] - ends + sizes, sizes)
    return starts[by_number[heads]], order, np.append((ends - sizes)[heads], n)


def _divided(list_offsets: Offsets) -> tuple[Integers, Offsets]:
    """Divide lists into chunks of at most LONGEST_CHUNK documents; return the list of each chunk, and the offsets."""
    n_chunks = -(-np.diff(list_offsets) // LONGEST_CHUNK)
    lists = np.repeat(np.arange(len(n_chunks)), n_chunks)
    number_in_list = np.arange(len(lists)) - np.repeat(np.cumsum(n_chunks) - n_chunks, n_chunks)
    return lists, np.append(list_offsets[lists] + number_in_list * LONGEST_CHUNK, list_offsets[-1])


def _as_bytes(values: npt.NDArray[Any], offsets: Offsets) -> Any:
    """Return an Arrow array of byte strings: string i has the bytes of values[offsets[i] : offsets[i + 1]]."""
    bounds = (offsets * values.itemsize).astype(np.int32)
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(np.ascontiguousarray(values))]
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers)


# ---- unpacking -----------------------------------------------------------------------------------


class Unpacked(NamedTuple):
    """A column whose rows are arrays: the values of all rows, one row after another, and the number in each row."""

    values: npt.NDArray[Any]
    sizes: Integers

    @property
    def offsets(self) -> Offsets:
        """The start of each row in `values`, followed by the end of the last row."""
        offsets = np.zeros(len(self.sizes) + 1, np.int64)
        np.cumsum(self.sizes, out=offsets[1:])
        return offsets


def unpacked(column: Any, dtype: npt.DTypeLike) -> Unpacked:
    """Read a column of byte strings, or of lists of numbers, as arrays of a dtype. A null is read as an empty array.

    Its chunks are read one by one: Arrow cannot join chunks of more than 2 GB, because their offsets have 32 bits.
    """
    found = [_unpacked(chunk, np.dtype(dtype)) for chunk in column.chunks]
    if len(found) == 1:
        return found[0]
    values = [each.values for each in found] or [np.zeros(0, dtype)]
    return Unpacked(np.concatenate(values), np.concatenate([each.sizes for each in found] or [np.zeros(0, np.int64)]))


def _unpacked(chunk: Any, dtype: np.dtype[Any]) -> Unpacked:
    """Read one Arrow array as `unpacked` does."""
    buffers = chunk.buffers()
    has_large_offsets = str(chunk.type).startswith("large")
    if len(chunk) == 0 or buffers[1] is None:
        return Unpacked(np.zeros(0, dtype), np.zeros(len(chunk), np.int64))
    bounds = np.frombuffer(buffers[1], np.int64 if has_large_offsets else np.int32)
    bounds = bounds[chunk.offset : chunk.offset + len(chunk) + 1]
    # An array of byte strings has three buffers, and offsets in bytes. An array of lists has more buffers, and offsets
    # in values.
    are_bytes = len(buffers) == 3
    data = np.zeros(0, np.uint8) if buffers[-1] is None else np.frombuffer(buffers[-1], np.uint8)
    start, stop = (int(bounds[i]) * (1 if are_bytes else dtype.itemsize) for i in (0, -1))
    values = np.require(data[start:stop].view(dtype), requirements=["C", "A"])
    return Unpacked(values, np.diff(bounds).astype(np.int64) // (dtype.itemsize if are_bytes else 1))


def unpacked_names(lengths: Any, names: Any) -> tuple[Identifiers, Integers]:
    """Return all names that the columns `lengths` and `names` of chunks hold, and the number of names in each chunk."""
    sizes = unpacked(lengths, np.int32)
    return Identifiers.of(unpacked(names, np.uint8).values, Unpacked(sizes.values, sizes.values).offsets), sizes.sizes


# ---- parts ---------------------------------------------------------------------------------------

# The values of a query depend on all tasks that pack rows: a query has a row for each run that does not answer it, and
# a bad row anywhere is an error. If Spark gathered the names of the runs before the evaluation, it would run two more
# jobs. Instead, each task sends one row with what it has seen to every part of the queries, before the part's lists.

# Each task sends a row to each part, so there are at most this many parts.
MOST_PARTS = 1024

# The columns of an announcement, with their types in Spark. They are null in all other rows.
ANNOUNCED = {"part": "int", "runs": "array<string>", "answering": "array<string>", "error": "string"}


def number_of_parts(spark: Any) -> int:
    """Return the number of parts for a session: the number of partitions of its shuffles, if that is not too many."""
    return min(int(spark.conf.get("spark.sql.shuffle.partitions")), MOST_PARTS)


def key_of_part(n_parts: int) -> str:
    """Return an SQL expression for the key of a row's part. All rows with the same key come to the same partition.

    The row has a column `part`, which is null unless it is an announcement, and a column `query`.
    """
    keys = ", ".join(map(str, keys_of_partitions(n_parts).tolist()))
    return f"element_at(array({keys}), 1 + cast(coalesce(part, pmod(xxhash64(query), {n_parts})) as int))"


@lru_cache(maxsize=8)
def keys_of_partitions(n: int) -> Integers:
    """Return n integers: if Spark divides rows among n partitions by such integers, partition i gets the i-th of them.

    With other integers, the result would be the same, but some partitions would get several parts, and others none.
    """
    keys = np.full(n, -1, np.int64)
    first = 0
    while (keys < 0).any():
        candidates = np.arange(first, first + 16 * n, dtype=np.int32)
        partitions, places = np.unique(_hash(candidates).astype(np.int64) % n, return_index=True)
        keys[partitions] = np.where(keys[partitions] < 0, candidates[places], keys[partitions])
        first += len(candidates)
    return keys


def _hash(values: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return Spark's hash of integers of 32 bits: MurmurHash3 with the seed 42."""

    def rotated(x: npt.NDArray[np.uint32], bits: int) -> npt.NDArray[np.uint32]:
        return (x << np.uint32(bits)) | (x >> np.uint32(32 - bits))

    k = rotated(values.view(np.uint32) * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    h = rotated(k ^ np.uint32(42), 13) * np.uint32(5) + np.uint32(0xE6546B64)
    h ^= np.uint32(4)  # the number of bytes
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = (h ^ (h >> np.uint32(shift))) * np.uint32(factor)
    return (h ^ (h >> np.uint32(16))).view(np.int32)


class Announcement:
    """Names of runs, and the message about a bad row, that tasks that pack rows have seen.

    Of several messages, the first in alphabetical order is kept.
    """

    def __init__(self) -> None:
        self.runs: set[str] = set()
        self.answering: set[str] = set()
        self.error: str | None = None

    def add(self, runs: Iterable[str], answering: Iterable[str], errors: Iterable[str]) -> None:
        """Add names of runs and error messages."""
        self.runs.update(runs)
        self.answering.update(answering)
        self.error = min(filter(None, (self.error, *errors)), default=None)

    def add_rows(self, rows: Any) -> None:
        """Add the announcements in the rows of a batch, which `rows` made."""
        runs, answering = (rows.column(name).flatten().unique().to_pylist() for name in ("runs", "answering"))
        self.add(runs, answering, rows.column("error").drop_null().unique().to_pylist())

    def rows(self, n_parts: int) -> dict[str, Any]:
        """Return the columns of ANNOUNCED with a row for each part."""
        names = pa.list_(pa.string())
        return {
            "part": pa.array(np.arange(n_parts, dtype=np.int32)),
            "runs": pa.array([sorted(self.runs)] * n_parts, names),
            "answering": pa.array([sorted(self.answering)] * n_parts, names),
            "error": pa.array([self.error] * n_parts, pa.string()),
        }

    def check(self, runs_name: str, judgments_name: str, are_named: bool) -> None:
        """Raise InputError if a row is bad, there are no runs, or a run answers no judged query.

        `are_named` is whether the runs have names in the data frame; otherwise, it is one run.
        """
        if self.error is not None:
            raise InputError(runs_name, self.error.removeprefix(f"{runs_name}: "))
        unmatched = sorted(self.runs - self.answering)
        if unmatched or not self.runs:
            name = unmatched[0] if unmatched and are_named else runs_name
            raise InputError(name, f"no query of this run is judged in {judgments_name}")
