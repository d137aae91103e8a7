"""Runs and judgments in TREC's formats, read in blocks.

A line of a run is ``query Q0 document rank score tag``, one of judgments ``query iteration document label``.
Fields are separated by any blanks; further fields are ignored, and so are empty lines and those that begin
with ``#``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Place
from tieaware.errors import InputError
from tieaware.inputs.files import ByteStream, Path, label_of, name_of
from tieaware.inputs.frames import frame_of, is_frame
from tieaware.inputs.qrels import Qrels, judgments_of
from tieaware.inputs.qrels import without_repeats as without_repeated_judgments
from tieaware.inputs.run import (
    Dropped,
    Run,
    check_dtype,
    check_duplicates,
    rounded,
    run_in,
    warn_of,
    without_repeats,
)
from tieaware.inputs.spilled import BLOCK as SPILLED_ROWS
from tieaware.inputs.spilled import Spilled
from tieaware.inputs.table_files import table_file
from tieaware.kernels import _trec
from tieaware.kernels._seen import Seen
from tieaware.lists.identifiers import Identifiers, quoted
from tieaware.lists.query_lists import Lists, NotContiguous, grouped

__all__ = ["read_qrels", "read_run", "spilled_run", "stream_run"]

# What is read at a time: it and what comes of it fit in a second-level cache.
BLOCK = 1 << 18
# How many rows a streamed run has, if its last query does not take more.
STREAMED_ROWS = 1 << 16

RUN_LINE = "query Q0 document rank score tag"
JUDGMENT_LINE = "query iteration document label"
INTEGER = re.compile(rb"[+-]?[0-9]+")
NUMBER = re.compile(
    rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf|infinity)", re.IGNORECASE
)
NAN = re.compile(rb"[+-]?nan(?:\(.*\))?", re.IGNORECASE)


def read_qrels(path: Path) -> Qrels:
    r"""Read judgments.

    Parameters
    ----------
    path : str, os.PathLike, binary file object, or table
        "-" is standard input. Compression by gzip, bzip2, xz or zstd is recognised by content, and so are Parquet and
        Arrow files (Feather); CSV and TSV by name and header. Of tables, see `from_frame`.

    Returns
    -------
    Qrels
        Queries in the order of their first appearance. A judgment that repeats an earlier one counts once.

    Raises
    ------
    InputError
        The file cannot be read, is empty or is a run, a line has fewer than four fields, more than 1 MB or a label that
        is no integer of 32 bits, or a document has two different labels for a query.

    Examples
    --------
    >>> import io
    >>> qrels = read_qrels(io.BytesIO(b"301 0 d1 1\n301 0 d2 0\n"))
    >>> qrels.queries.to_list(), qrels.documents.to_list(), qrels.labels.tolist()
    (['301'], ['d1', 'd2'], [1, 0])
    """
    if is_frame(path):
        return Qrels.from_frame(path)
    table = table_file(path)
    if table is not None:
        return judgments_of(table, label_of(path))
    with ByteStream(path) as stream:
        reader = Reader(stream, judgments=True)
        for _ in reader.blocks():
            pass
        lists = reader.lists(reader.parser.n_segments)
        labels = replace(lists, values=lists.values.astype(np.int32))
        return Qrels.of(without_repeated_judgments(labels, reader.place, reader.line_of), stream.label)


def read_run(path: Path, score_dtype: str = "float64", *, duplicates: str = "error") -> Run:
    r"""Read a run.

    Parameters
    ----------
    path : str, os.PathLike, binary file object, or table
        "-" is standard input. Compression by gzip, bzip2, xz or zstd is recognised by content, and so are Parquet and
        Arrow files (Feather); CSV and TSV by name and header. Of tables, see `from_frame`.
    score_dtype : "float64" or "float32"
        What scores are rounded to: as trec_eval 10 does, or as its earlier versions did.
    duplicates : "error" or "first"
        What a document that appears twice for a query is: an error, or ignored but for a warning.

    Returns
    -------
    Run
        Queries in the order of their first appearance, and the documents of each in the order of the file.

    Raises
    ------
    InputError
        The file cannot be read, is empty or is judgments, a line has fewer than six fields, more than 1 MB or a
        score that is no number or is NaN, or a document appears twice for a query.

    Examples
    --------
    The scores tie, and so the documents do, whatever their ranks say.

    >>> import io
    >>> run = read_run(io.BytesIO(b"301 Q0 d1 1 2.5 bm25\n301 Q0 d2 2 2.5 bm25\n"))
    >>> run.documents.to_list(), run.scores.tolist(), run.tag
    (['d1', 'd2'], [2.5, 2.5], 'bm25')
    """
    check_duplicates(duplicates)
    check_dtype(score_dtype)
    if is_frame(path):
        return run_in(frame_of(path, "run"), "run", None, duplicates, score_dtype)
    table = table_file(path)
    if table is not None:
        return run_in(table, label_of(path), name_of(label_of(path)), duplicates, score_dtype)
    with ByteStream(path) as stream:
        run, dropped = whole_run(stream, score_dtype, duplicates)
    warn_of(dropped, stream.label)
    return run


def stream_run(path: Path, score_dtype: str = "float64", duplicates: str = "error") -> Iterator[Run]:
    """Read a run in parts, each of whole queries, without holding the file.

    The parameters and errors are those of `read_run`; errors arise where the iterator reaches them. What
    cannot be opened again (standard input, a pipe, a file object) comes as one part.

    Raises
    ------
    NotContiguous
        A query that was handed over appears again: read the file with `spilled_run` instead.
    """
    check_duplicates(duplicates)
    check_dtype(score_dtype)
    return streamed(path, score_dtype, duplicates)


def streamed(path: Path, score_dtype: str, duplicates: str) -> Iterator[Run]:
    """Yield the parts of `stream_run`."""
    total = Dropped()
    with ByteStream(path) as stream:
        if not stream.reopenable:
            run, total = whole_run(stream, score_dtype, duplicates)
            yield run
        else:
            reader = Reader(stream, judgments=False)
            seen = Seen()
            for final in reader.blocks():
                # Further lines may belong to the last query.
                n_segments = reader.parser.n_segments - (not final)
                if n_segments < 1 or not (final or reader.parser.n_rows >= STREAMED_ROWS):
                    continue
                lists = reader.lists(n_segments)
                if not seen.add(lists.queries.data, lists.queries.offsets):
                    raise NotContiguous
                run, dropped = finished(reader, lists, score_dtype, duplicates)
                total += dropped
                yield run
    warn_of(total, stream.label)


def spilled_run(path: Path, score_dtype: str, duplicates: str) -> Iterator[Run]:
    """Read a run whose queries are not together in parts, each of whole queries, by way of a temporary file."""
    with ByteStream(path) as stream, Spilled() as spilled:
        reader = Reader(stream, judgments=False)
        for final in reader.blocks():
            n_segments = reader.parser.n_segments - (not final)
            if n_segments > 0 and (final or reader.parser.n_rows >= SPILLED_ROWS):
                lists = reader.lists(n_segments)
                rows = np.arange(len(lists.documents)) if lists.sources is None else lists.sources
                spilled.add(lists, reader.lines_of(rows))

        def made(lists: Lists) -> tuple[Run, Dropped]:
            place, again = (lambda line: f"{stream.label}:{line}"), (lambda line: f"line {line}")
            return made_run(lists, reader, score_dtype, duplicates, place, again)

        yield from spilled.runs(made, lambda dropped: warn_of(dropped, stream.label))


def whole_run(stream: ByteStream, score_dtype: str, duplicates: str) -> tuple[Run, Dropped]:
    """Read all there is."""
    reader = Reader(stream, judgments=False)
    for _ in reader.blocks():
        pass
    return finished(reader, reader.lists(reader.parser.n_segments), score_dtype, duplicates)


def finished(reader: Reader, lists: Lists, score_dtype: str, duplicates: str) -> tuple[Run, Dropped]:
    """Make a run of what was read last."""
    return made_run(lists, reader, score_dtype, duplicates, reader.place, reader.line_of)


def made_run(
    lists: Lists, reader: Reader, score_dtype: str, duplicates: str, place: Place, again: Place
) -> tuple[Run, Dropped]:
    """Make a run of lists, without duplicates and with scores of the wanted precision."""
    lists, dropped = without_repeats(lists, place, duplicates, again)
    lists = replace(lists, values=rounded(lists.values, score_dtype))
    tag = reader.parser.tag
    text = None if tag is None else tag.decode("utf-8", "surrogateescape")
    return Run.of(lists, reader.stream.name, text), dropped


class Reader:
    """The parser, fed from a stream of bytes, with words for what is wrong."""

    def __init__(self, stream: ByteStream, judgments: bool) -> None:
        self.stream = stream
        self.judgments = judgments
        self.parser = _trec.Parser(judgments)
        self._jump_rows: NDArray[np.int64] = np.zeros(0, np.int64)
        self._jump_lines: NDArray[np.int64] = np.zeros(0, np.int64)

    def blocks(self) -> Iterator[bool]:
        """Read on; yield after each block whether it was the last.

        Raises
        ------
        InputError
            A line cannot be used, or there is none.
        """
        empty = True
        while True:
            size = self.stream.read_into(self.parser.room(BLOCK))
            good = self.parser.parse(size, final=size == 0)
            if not good:
                assert self.parser.bad_line is not None
                # What is wrong with the line may come of what is wrong with the file.
                self.stream.check_rest()
                wrong = complaint(self.parser.bad_line, self.judgments, empty and self.parser.n_rows == 0)
                raise InputError(f"{self.stream.label}:{self.parser.line}", wrong)
            empty = empty and self.parser.n_rows == 0
            if size == 0:
                break
            yield False
        if empty:
            line = JUDGMENT_LINE if self.judgments else RUN_LINE
            raise unexpected(self.stream.label, f'lines of "{line}"', "an empty file")
        yield True

    def lists(self, n_segments: int) -> Lists:
        """Take the first segments from the parser, each query's rows together."""
        queries, query_ends, starts, documents, ends, values, *jumps = self.parser.take(n_segments)
        self._jump_rows, self._jump_lines = jumps
        identifiers = Identifiers.of(documents, ends, "text")
        return grouped(Identifiers.of(queries, query_ends, "text"), starts, identifiers, values)

    def line_of(self, row: int) -> str:
        """Say on which line a row of the last lists was."""
        return f"line {self.lines_of(np.array([row]))[0]}"

    def lines_of(self, rows: Integers) -> Integers:
        """Return the numbers of the lines of rows of the last lists."""
        jumps = np.searchsorted(self._jump_rows, rows, side="right") - 1
        return self._jump_lines[jumps] + rows - self._jump_rows[jumps]

    def place(self, row: int) -> str:
        """Say in which file and line a row of the last lists was."""
        return f"{self.stream.label}:{self.line_of(row).removeprefix('line ')}"


def complaint(line: bytes, judgments: bool, first: bool) -> str:
    """Say what was expected of a line, and what was found.

    Parameters
    ----------
    first : bool
        Whether it is the first line with a field, so that the file may be of the other kind.
    """
    if len(line) > _trec.LONGEST_LINE:
        return f"expected a line of at most {_trec.LONGEST_LINE:,} bytes, found a longer one"
    # At most this many fields matter, and a line may be very long.
    fields = line.split(None, 6)
    n = len(fields)
    if judgments:
        if n >= 6 and INTEGER.fullmatch(fields[3]) and NUMBER.fullmatch(fields[4]):
            return f'expected a line of judgments, "{JUDGMENT_LINE}", found one of a run, "{RUN_LINE}"'
        if n < 4:
            return f'expected 4 fields, "{JUDGMENT_LINE}", found {n}'
        return f"expected an integer of 32 bits as the label, field 4, found {quoted(fields[3])}"
    if n < 6:
        if first and n in (4, 5) and INTEGER.fullmatch(fields[3]):
            return f'expected a line of a run, "{RUN_LINE}", found one of judgments, "{JUDGMENT_LINE}"'
        return f'expected 6 fields, "{RUN_LINE}", found {n}'
    found = "NaN" if NAN.fullmatch(fields[4]) else quoted(fields[4])
    if INTEGER.fullmatch(fields[4]):
        found += ", which float64 does not hold"
    return f"expected a number as the score, field 5, found {found}"
