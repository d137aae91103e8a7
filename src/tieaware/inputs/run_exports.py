"""Exports of a run: with coarser scores, as a dict, as data frames, and as a TREC or Parquet file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np

from tieaware.checks.arguments import path_text
from tieaware.checks.arrays import Integers, Offsets, Scores
from tieaware.errors import Hinted, InputError
from tieaware.lists.identifiers import Identifiers, quoted
from tieaware.lists.query_lists import Lists, by_query
from tieaware.output import data_frames
from tieaware.precision.coarsening import Coarsening, coarsened, parse_precision
from tieaware.runtime.atomic_files import whole_file

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

# Endings of files of other formats, and of compressed files that cannot be written.
_OTHER_FORMATS = (
    ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".arrow", ".arrows", ".feather", ".ipc", ".pq", ".npz", ".npy",
    ".pkl", ".pickle", ".xlsx", ".zip", ".lz4",
)  # fmt: skip
# The number of rows whose text is in memory at a time when a file is written.
_ROWS = 1 << 16


class RunExports(Hinted):
    """The exports of a run, which has the attributes of `tieaware.Run`."""

    __slots__ = ()

    queries: Identifiers
    offsets: Offsets
    documents: Identifiers
    scores: Scores
    name: str
    tag: str | None

    if TYPE_CHECKING:

        @classmethod
        def of(cls, lists: Lists, name: str, tag: str | None = None) -> Self:
            """Make a run from valid lists; see `Run.of`."""

    def coarsen(self, precision: str | Coarsening) -> Self:
        """Return the run with coarser scores, as it would be evaluated with ``precision=``.

        Parameters
        ----------
        precision : str or Coarsening
            A precision such as "decimals:2", "bfloat16" or "bands:1.5", or an object that coarsens scores.

        Returns
        -------
        Run
            The documents keep their order, and the run keeps its name.

        Raises
        ------
        InputError
            The precision is unknown; or for levels, the scores of a list are all infinite.

        Examples
        --------
        >>> import tieaware
        >>> run = tieaware.Run.from_dict({"q1": {"d1": 0.31, "d2": 0.27, "d3": 0.12}})
        >>> run.coarsen("decimals:1").to_dict()
        {'q1': {'d1': 0.3, 'd2': 0.3, 'd3': 0.1}}
        """
        scores = coarsened(parse_precision(precision), self.scores, np.asarray(self.offsets))
        lists = Lists(self.queries, np.asarray(self.offsets), self.documents, scores)
        return self.of(lists, self.name, self.tag)

    def to_dict(self) -> dict[str | int, dict[str | int, float]]:
        """Return the run as ``{query: {document: score}}``, in the order of the run.

        Returns
        -------
        dict
            Identifiers are int if they were made from integers, otherwise str.

        Examples
        --------
        >>> import tieaware
        >>> tieaware.Run.from_columns(["q1", "q1"], ["d1", "d2"], [2.0, 2.0]).to_dict()
        {'q1': {'d1': 2.0, 'd2': 2.0}}
        """
        return by_query(self.queries, self.offsets, self.documents, self.scores)

    def to_arrow(self) -> pyarrow.Table:
        """Return the rows as a pyarrow.Table with the columns query, doc and score. Needs `tieaware[arrow]`.

        Returns
        -------
        pyarrow.Table
        """
        return data_frames.as_arrow(self._columns())

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a pandas.DataFrame; columns as for `to_arrow`."""
        return data_frames.as_pandas(self._columns())

    def to_polars(self) -> polars.DataFrame:
        """Return the rows as a polars.DataFrame; columns as for `to_arrow`."""
        return data_frames.as_polars(self._columns())

    def _columns(self) -> dict[str, Any]:
        queries, sizes = self.queries.to_list(), np.diff(self.offsets).tolist()
        repeated = [query for query, size in zip(queries, sizes, strict=True) for _ in range(size)]
        return {"query": repeated, "doc": self.documents.to_list(), "score": np.asarray(self.scores)}

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the run to a file, whole or not at all; an existing file is replaced.

        Parameters
        ----------
        path : str or os.PathLike
            A name that ends in ".parquet" gives a Parquet file with the columns of `to_arrow`, which needs
            `tieaware[arrow]`. Other names, such as "bm25.run", give a TREC file, compressed if the name ends in ".gz",
            ".bz2" or ".xz". In a TREC file, the last field is the name of the run, and the documents of a query are
            sorted by score; tied documents keep the order of the run. Scores are written so that the same numbers are
            read back.

        Raises
        ------
        InputError
            The file cannot be written, or its name ends as those of another format, such as ".json"; or, for a TREC
            file, an identifier is empty or contains white space, or a query begins with "#", which marks a comment.

        Examples
        --------
        >>> import pathlib, tempfile, tieaware
        >>> run = tieaware.Run.from_dict({"q1": {"d1": 1.5, "d2": 2.5, "d3": 1.5}}, name="bm25")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run.write(f"{folder}/bm25.run")
        ...     print(pathlib.Path(folder, "bm25.run").read_text(), end="")
        q1 Q0 d2 1 2.5 bm25
        q1 Q0 d1 2 1.5 bm25
        q1 Q0 d3 3 1.5 bm25
        """
        name = path_text("path", path)
        if name.endswith(".parquet"):
            data_frames.write_parquet(self._columns(), name)
            return
        check_ending(name)
        self._check_trec()
        with whole_file(name) as raw, _compressed(raw, name) as file:
            for lines in self._trec_chunks():
                file.write(lines)

    def to_trec(self) -> str:
        """Return the text of the TREC file that `write` writes; errors as for `write`.

        Returns
        -------
        str
            Bytes of identifiers that are not UTF-8 are escaped by "surrogateescape".
        """
        self._check_trec()
        return b"".join(self._trec_chunks()).decode("utf-8", "surrogateescape")

    def _check_trec(self) -> None:
        """Raise InputError if an identifier cannot be written to a TREC file."""
        _check_words(self.queries, "query")
        for query in self.queries:
            if query.startswith(b"#"):
                raise _unwritable("query", query, "where a line that begins with it is a comment")
        _check_words(self.documents, "document")

    def _trec_chunks(self) -> Iterator[bytes]:
        """Yield the lines of a TREC file, some thousands at a time."""
        tag = "_".join(self.name.split()).encode("utf-8", "surrogateescape") or b"run"
        order = self._by_score()
        ranks = np.arange(1, len(order) + 1) - np.repeat(self.offsets[:-1], np.diff(self.offsets))
        query_of = np.repeat(np.arange(len(self.queries)), np.diff(self.offsets))
        for start in range(0, len(order), _ROWS):
            rows = order[start : start + _ROWS]
            fields = (
                self.queries.take(query_of[start : start + _ROWS]),
                self.documents.take(rows),
                ranks[start : start + _ROWS].tolist(),
                self.scores[rows].astype(np.float64).tolist(),
            )
            yield b"".join(b"%b Q0 %b %d %r %b\n" % (*each, tag) for each in zip(*fields, strict=True))

    def _by_score(self) -> Integers:
        """Return the rows, list after list, by descending score; tied rows keep their order."""
        lists = np.repeat(np.arange(len(self.queries)), np.diff(self.offsets))
        return np.lexsort((np.negative(self.scores), lists))


def check_ending(path: str) -> None:
    """Raise InputError if a file of this name would be expected to have another format than TREC."""
    if path.endswith(".zst"):
        raise InputError(path, "cannot be compressed with zstd; write a .gz, .bz2 or .xz file")
    name = path.lower().removesuffix(".gz").removesuffix(".bz2").removesuffix(".xz")
    ending = os.path.splitext(name)[1]
    if ending in _OTHER_FORMATS:
        remedy = "use .run, .txt or .trec for a TREC file, or .parquet"
        raise InputError(path, f"a run cannot be written as a {ending} file; {remedy}")


@contextmanager
def _compressed(file: IO[bytes], path: str) -> Iterator[Any]:
    """Return a file that compresses what is written to it, as the ending of the path asks for."""
    ending = os.path.splitext(path)[1]
    if ending == ".gz":
        import gzip

        # Without a time, equal runs give equal files.
        with gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
            yield packed
    elif ending == ".bz2":
        import bz2

        with bz2.BZ2File(file, "wb") as packed:
            yield packed
    elif ending == ".xz":
        import lzma

        with lzma.LZMAFile(file, "wb") as packed:
            yield packed
    else:
        yield file


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
