"""Writer of runs as TREC files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any

import numpy as np

from tieaware.errors import InputError
from tieaware.lists.identifiers import Identifiers, quoted
from tieaware.lists.query_lists import Lists
from tieaware.runtime.atomic_files import whole_file

# Endings of files of other formats, and of compressed files that cannot be written.
_OTHER_FORMATS = (
    ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".arrow", ".arrows", ".feather", ".ipc", ".pq", ".npz", ".npy",
    ".pkl", ".pickle", ".xlsx", ".zip", ".lz4",
)  # fmt: skip
# The number of rows whose text is in memory at a time when a file is written.
_ROWS = 1 << 16


def check_ending(path: str) -> None:
    """Raise InputError if a file of this name would be expected to have another format than TREC."""
    if path.endswith(".zst"):
        raise InputError(path, "cannot be compressed with zstd; write a .gz, .bz2 or .xz file")
    name = path.lower().removesuffix(".gz").removesuffix(".bz2").removesuffix(".xz")
    ending = os.path.splitext(name)[1]
    if ending in _OTHER_FORMATS:
        remedy = "use .run, .txt or .trec for a TREC file, or .parquet"
        raise InputError(path, f"a run cannot be written as a {ending} file; {remedy}")


def write_run(lists: Lists, name: str, path: str) -> None:
    """Write the lists of a run, whose name is the last field, to a TREC file: whole or not at all."""
    check_ending(path)
    chunks = trec_text(lists, name)
    with whole_file(path) as raw, _compressed(raw, path) as file:
        for lines in chunks:
            file.write(lines)


def trec_text(lists: Lists, name: str) -> Iterator[bytes]:
    """Return the lines of a TREC file, some thousands at a time; raise InputError if an identifier is no field.

    The documents of a query are sorted by score; tied documents keep their order.
    """
    _check_words(lists.queries, "query")
    for query in lists.queries:
        if query.startswith(b"#"):
            raise _unwritable("query", query, "where a line that begins with it is a comment")
    _check_words(lists.documents, "document")
    return _chunks(lists, "_".join(name.split()).encode("utf-8", "surrogateescape") or b"run")


def _chunks(lists: Lists, tag: bytes) -> Iterator[bytes]:
    sizes = np.diff(lists.offsets)
    query_of = np.repeat(np.arange(len(lists.queries)), sizes)
    order = np.lexsort((np.negative(lists.values), query_of))
    ranks = np.arange(1, len(order) + 1) - np.repeat(lists.offsets[:-1], sizes)
    for start in range(0, len(order), _ROWS):
        rows = order[start : start + _ROWS]
        fields = (
            lists.queries.take(query_of[start : start + _ROWS]),
            lists.documents.take(rows),
            ranks[start : start + _ROWS].tolist(),
            lists.values[rows].astype(np.float64).tolist(),
        )
        yield b"".join(b"%b Q0 %b %d %r %b\n" % (*each, tag) for each in zip(*fields, strict=True))


def _compressed(file: IO[bytes], path: str) -> AbstractContextManager[Any]:
    """Return a file that compresses what is written to it, as the ending of the path asks for."""
    ending = os.path.splitext(path)[1]
    if ending == ".gz":
        import gzip

        # Without a time, equal runs give equal files.
        return gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0)
    if ending == ".bz2":
        import bz2

        return bz2.BZ2File(file, "wb")
    if ending == ".xz":
        import lzma

        return lzma.LZMAFile(file, "wb")
    return nullcontext(file)


def _check_words(identifiers: Identifiers, what: str) -> None:
    """Raise InputError if an identifier cannot be a field of a TREC file."""
    spaces = np.isin(identifiers.data, np.frombuffer(b" \t\n\v\f\r", np.uint8))
    wrong = np.flatnonzero(np.diff(identifiers.offsets) == 0)
    if spaces.any():
        wrong = np.searchsorted(identifiers.offsets, np.flatnonzero(spaces), side="right") - 1
    if len(wrong):
        raise _unwritable(what, identifiers[int(wrong[0])], "which separates fields by white space")


def _unwritable(what: str, identifier: bytes, why: str) -> InputError:
    problem = f"{what} {quoted(identifier)} cannot be written to a TREC file, {why}"
    return InputError("run", f"{problem}: write a .parquet file instead")
