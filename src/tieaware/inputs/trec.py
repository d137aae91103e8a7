"""The functions `read_run` and `read_qrels`, which read runs and judgments from TREC files and tables.

In a TREC file, a line of a run is ``query Q0 document rank score tag``, and a line of judgments is
``query iteration document label``. Fields are separated by whitespace. Lines end with a newline, a carriage return, or
both. Empty lines and lines that begin with ``#`` are ignored. As in trec_eval, fields after the tag of a run are
ignored, and fields after the label of a judgment are an error. A second row on a line of a run is an error, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isnan

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import flag
from tieaware.checks.arrays import Integers, Place
from tieaware.errors import InputError
from tieaware.inputs.duplicate_rows import (
    FROM_FILE,
    Duplicates,
    Ignored,
    check_duplicates,
    warn_of,
    without_duplicates,
)
from tieaware.inputs.external_grouping import BATCH_ROWS, ExternalGrouping
from tieaware.inputs.files import ByteStream, Path
from tieaware.inputs.frames import frame_of, is_frame
from tieaware.inputs.part_files import Parts, parts_at
from tieaware.inputs.part_frames import PartsFrame
from tieaware.inputs.part_streams import TextStream, opened
from tieaware.inputs.qrels import Qrels, judgments_of, without_repetitions
from tieaware.inputs.run import Run, run_in
from tieaware.inputs.score_types import ScoreDtype, check_dtype, rounded
from tieaware.inputs.table_files import table_in
from tieaware.inputs.text import number_in
from tieaware.inputs.trec_subtopics import diversity_judgments
from tieaware.kernels import _trec
from tieaware.kernels._identifiers import Seen
from tieaware.lists.grades import Missing, check_missing, whole_or_real
from tieaware.lists.identifiers import Identifiers, quoted
from tieaware.lists.query_lists import Lists, NotContiguous, grouped

# The number of bytes that are read at a time. These bytes and the columns made from them fit in a second-level cache.
BUFFER = 1 << 18
# `stream_run` yields a chunk as soon as the parser has at least this number of rows and more than one query.
CHUNK_ROWS = 1 << 16

_RUN_LINE = "query Q0 document rank score tag"
_JUDGMENT_LINE = "query iteration document label"
_INTEGER = re.compile(rb"[+-]?[0-9]+")
_NAN = re.compile(rb"[+-]?nan(?:\(.*\))?", re.IGNORECASE)


def read_qrels(
    path: Path | Sequence[str | os.PathLike[str]], *, missing: Missing | None = None, subtopics: bool = False
) -> Qrels:
    r"""Read judgments from a file, part files or a table.

    Parameters
    ----------
    path : str, os.PathLike, binary file object, list of paths, or table
        "-" is standard input. Files compressed with gzip, bzip2, xz or zstd, Parquet files and Arrow (Feather) files
        are recognised by their content. CSV, TSV and JSON Lines files are recognised by their suffix. For the columns
        of tables, see `Qrels.from_frame`. A folder, a pattern such as "parts/*.parquet" or a list names part files,
        which are read as if they were one file.
    missing : "unjudged", optional
        Whether a missing label ("nan", or an empty cell of a table) means that a document is unjudged; its label is
        then -1. By default, it is an error.
    subtopics : bool
        Whether the second field of TREC's lines is a subtopic, as in the judgments of the web tracks' diversity tasks,
        so that a document has a label for each subtopic; a table must then have a column subtopic. Measures of
        diversity need subtopics. `evaluate` reads them if it is asked for such a measure.

    Returns
    -------
    Qrels
        Queries in the order of first appearance. A judgment that repeats an earlier one counts once.

    Raises
    ------
    InputError
        The file cannot be read, is empty or contains a run; a line has fewer or more than four fields, more than 1 MB
        or a label that is not a number of at most 2^31 - 1; or a document has two different labels for the same query.

    Examples
    --------
    >>> import io
    >>> qrels = read_qrels(io.BytesIO(b"301 0 d1 1\n301 0 d2 0\n"))
    >>> qrels.queries.to_list(), qrels.documents.to_list(), qrels.labels.tolist()
    (['301'], ['d1', 'd2'], [1, 0])
    """
    check_missing(missing)
    flag("subtopics", subtopics)
    if is_frame(path):
        return judgments_of(frame_of(path, "qrels"), "qrels", missing=missing, needs_subtopics=subtopics)
    given = parts_at(path, "qrels")
    frame = PartsFrame.recognise(given) if isinstance(given, Parts) else None
    if frame is not None:
        return judgments_of(frame, given.source_name, missing=missing, needs_subtopics=subtopics)
    with opened(given) as stream:
        table = table_in(stream) if isinstance(stream, ByteStream) else None
        if table is not None:
            return judgments_of(table, stream.source_name, missing=missing, needs_subtopics=subtopics)
        if subtopics:
            judged = diversity_judgments(stream, lambda line, first: _problem(line, True, first), missing)
            return Qrels.of_subtopics(judged, stream.source_name)
        reader = _Reader(stream, judgments=True, missing=missing)
        for _ in reader.batches():
            pass
        lists = reader.lists(reader.parser.n_sections)
        whole = not reader.parser.has_reals
        values = lists.values.astype(np.int32) if whole else whole_or_real(lists.values, "label", reader.place, missing)
        labels = replace(lists, values=values)
        return Qrels.of(without_repetitions(labels, reader.place, reader.first_place), stream.source_name)


def read_run(
    path: Path | Sequence[str | os.PathLike[str]],
    score_dtype: ScoreDtype = "float64",
    *,
    duplicates: Duplicates = "error",
) -> Run:
    r"""Read a run from a file, part files or a table.

    Parameters
    ----------
    path : str, os.PathLike, binary file object, list of paths, or table
        The file, as for `read_qrels`. For the columns of tables, see `Run.from_frame`.
    score_dtype : "float64" or "float32"
        The type to which scores are rounded: float64 as in trec_eval 10, or float32 as in earlier versions of it.
    duplicates : "error" or "first"
        The treatment of a document that appears twice for a query. "error" raises InputError; "first" keeps the first
        row and warns.

    Returns
    -------
    Run
        Queries in the order of first appearance, and the documents of each query in the order of the file.

    Raises
    ------
    InputError
        The file cannot be read, is empty or contains judgments; a line has fewer than six fields, two rows, more than
        1 MB or a score that is not a number or is NaN; or a document appears twice for a query.

    Examples
    --------
    Both documents have the same score, so they are tied, although their ranks differ.

    >>> import io
    >>> run = read_run(io.BytesIO(b"301 Q0 d1 1 2.5 bm25\n301 Q0 d2 2 2.5 bm25\n"))
    >>> run.documents.to_list(), run.scores.tolist(), run.tag
    (['d1', 'd2'], [2.5, 2.5], 'bm25')
    """
    return _read_run(path, score_dtype, duplicates, lenient=False)


def read_run_of_trec_eval(path: Path, score_dtype: ScoreDtype, duplicates: Duplicates) -> Run:
    """Read a run as `read_run` does, but ignore all fields after the sixth of a line, as trec_eval does."""
    return _read_run(path, score_dtype, duplicates, lenient=True)


def _read_run(
    path: Path | Sequence[str | os.PathLike[str]], score_dtype: ScoreDtype, duplicates: Duplicates, lenient: bool
) -> Run:
    check_duplicates(duplicates)
    check_dtype(score_dtype)
    if is_frame(path):
        return run_in(frame_of(path, "run"), "run", None, duplicates, score_dtype)
    given = parts_at(path, "run")
    frame = PartsFrame.recognise(given) if isinstance(given, Parts) else None
    if frame is not None:
        return run_in(frame, given.source_name, given.run_name, duplicates, score_dtype)
    with opened(given) as stream:
        table = table_in(stream) if isinstance(stream, ByteStream) else None
        if table is not None:
            return run_in(table, stream.source_name, stream.run_name, duplicates, score_dtype)
        run, ignored = _whole_run(stream, score_dtype, duplicates, lenient)
    warn_of(ignored, stream.source_name)
    return run


def stream_run(
    path: Path | Parts, score_dtype: ScoreDtype = "float64", duplicates: Duplicates = "error"
) -> Iterator[Run]:
    """Read a TREC file in chunks of whole queries, without holding all of it in memory.

    Parameters and errors as for `read_run`. An error is raised when the iterator reaches the invalid line. A file that
    can be read only once (standard input, a pipe, a file object) is read as a single chunk.

    Raises
    ------
    NotContiguous
        A query of an earlier chunk reappears. The caller can read the file with `grouped_run` instead.
    """
    check_duplicates(duplicates)
    check_dtype(score_dtype)
    return _stream_run(path, score_dtype, duplicates)


def _stream_run(path: Path | Parts, score_dtype: ScoreDtype, duplicates: Duplicates) -> Iterator[Run]:
    total = Ignored()
    with opened(path) as stream:
        if not stream.reopenable:
            run, total = _whole_run(stream, score_dtype, duplicates)
            yield run
        else:
            reader = _Reader(stream, judgments=False)
            seen = Seen()
            for final in reader.batches():
                # The last section is kept back unless the file has ended, because the next lines may have its query.
                n_sections = reader.parser.n_sections - (not final)
                if n_sections < 1 or not (final or reader.parser.n_rows >= CHUNK_ROWS):
                    continue
                lists = reader.lists(n_sections)
                if not seen.add(lists.queries.data, lists.queries.offsets):
                    raise NotContiguous
                run, ignored = _made_run(lists, reader, score_dtype, duplicates, reader.place, reader.first_place)
                total += ignored
                yield run
    warn_of(total, stream.source_name)


def grouped_run(path: Path | Parts, score_dtype: ScoreDtype, duplicates: Duplicates) -> Iterator[Run]:
    """Read a TREC file whose lines are in any order. Group them by query in a temporary file; yield whole queries."""
    with opened(path) as stream, ExternalGrouping() as grouping:
        reader = _Reader(stream, judgments=False)
        for final in reader.batches():
            n_sections = reader.parser.n_sections - (not final)
            if n_sections > 0 and (final or reader.parser.n_rows >= BATCH_ROWS):
                lists = reader.lists(n_sections)
                rows = np.arange(len(lists.documents)) if lists.sources is None else lists.sources
                grouping.add(lists, reader.lines_of(rows))

        def make(lists: Lists) -> tuple[Run, Ignored]:
            return _made_run(lists, reader, score_dtype, duplicates, stream.place, stream.first_place)

        yield from grouping.runs(make, lambda ignored: warn_of(ignored, stream.source_name))


def _whole_run(
    stream: TextStream, score_dtype: ScoreDtype, duplicates: Duplicates, lenient: bool = False
) -> tuple[Run, Ignored]:
    reader = _Reader(stream, judgments=False, lenient=lenient)
    for _ in reader.batches():
        pass
    lists = reader.lists(reader.parser.n_sections)
    return _made_run(lists, reader, score_dtype, duplicates, reader.place, reader.first_place)


def _made_run(
    lists: Lists, reader: _Reader, score_dtype: ScoreDtype, duplicates: Duplicates, place: Place, first_place: Place
) -> tuple[Run, Ignored]:
    """Make a run from lists: remove duplicates and round the scores. Return the run and the ignored duplicates."""
    lists, ignored = without_duplicates(lists, place, duplicates, FROM_FILE, first_place)
    lists = replace(lists, values=rounded(lists.values, score_dtype))
    tag = reader.parser.tag
    text = None if tag is None else tag.decode("utf-8", "surrogateescape")
    return Run.of(lists, reader.stream.run_name, text), ignored


class _Reader:
    """A parser of a TREC file, which reads a byte stream and raises InputError for the first malformed line."""

    def __init__(
        self, stream: TextStream, judgments: bool, missing: Missing | None = None, lenient: bool = False
    ) -> None:
        self.stream = stream
        self.judgments = judgments
        self.parser = _trec.Parser(judgments, missing=missing is not None, surplus=lenient)
        self._jump_rows: NDArray[np.int64] = np.zeros(0, np.int64)
        self._jump_lines: NDArray[np.int64] = np.zeros(0, np.int64)

    def batches(self) -> Iterator[bool]:
        """Parse the file in batches of lines. After each batch, yield whether it was the last batch of the file.

        Raises
        ------
        InputError
            A line is malformed, or the file has no row.
        """
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
            line = _JUDGMENT_LINE if self.judgments else _RUN_LINE
            raise InputError(self.stream.source_name, f'the file has no lines of the form "{line}"')
        yield True

    def lists(self, n_sections: int) -> Lists:
        """Take the first `n_sections` sections from the parser; return their rows, grouped by query."""
        queries, query_ends, starts, documents, ends, values, *jumps = self.parser.take(n_sections)
        self._jump_rows, self._jump_lines = jumps
        identifiers = Identifiers.of(documents, ends, "text")
        return grouped(Identifiers.of(queries, query_ends, "text"), starts, identifiers, values)

    def first_place(self, row: int) -> str:
        """Describe the line of a row of the result of the last call of `lists` as the earlier of two lines."""
        return self.stream.first_place(int(self.lines_of(np.array([row]))[0]))

    def lines_of(self, rows: Integers) -> Integers:
        """Return the line numbers of rows of the result of the last call of `lists`."""
        jumps = np.searchsorted(self._jump_rows, rows, side="right") - 1
        return self._jump_lines[jumps] + rows - self._jump_rows[jumps]

    def place(self, row: int) -> str:
        """Return "file:n" for a row of the result of the last call of `lists`, where n is its line number."""
        return self.stream.place(int(self.lines_of(np.array([row]))[0]))


def _problem(line: bytes, judgments: bool, first: bool) -> str:
    """Describe why a line is malformed.

    Parameters
    ----------
    line : bytes
    judgments : bool
        Whether the file should contain judgments.
    first : bool
        Whether no row precedes this line. If so, the file may contain judgments although a run was expected.
    """
    if len(line) > _trec.LONGEST_LINE:
        return f"the line is longer than {_trec.LONGEST_LINE:,} bytes"
    # Twelve fields are two rows of a run, and a line may be very long.
    fields = line.split(None, 12)
    n = len(fields)
    if first and line.lstrip()[:1] in (b"{", b"["):
        return "this line is JSON: pass json.load(file) instead of the path, or call a file of JSON Lines .jsonl"
    if first and n == 1 and b"," in line:
        return "this line is separated by commas: call a file of comma-separated values .csv, and name its columns"
    if judgments:
        if n >= 6 and _INTEGER.fullmatch(fields[3]) and _is_number(fields[4]):
            return f'this is a line of a run, "{_RUN_LINE}", not of judgments, "{_JUDGMENT_LINE}"'
        if n < 4:
            return f'a line of judgments has 4 fields, "{_JUDGMENT_LINE}", but this line has {n}'
        if _NAN.fullmatch(fields[3]):
            return "the label, field 4, is NaN; read_qrels(path, missing='unjudged') reads it as unjudged"
        if n > 4 and _is_number(fields[3]) and -(2.0**31) <= number_in(fields[3]) < 2.0**31:
            return f'a line of judgments has 4 fields, "{_JUDGMENT_LINE}", but this line has more'
        return f"the label, field 4, must be a number from -2147483648 to 2147483647, not {quoted(fields[3])}"
    if n < 6:
        if first and n in (4, 5) and _is_number(fields[3]):
            return f'this is a line of judgments, "{_JUDGMENT_LINE}", not of a run, "{_RUN_LINE}"'
        return f'a line of a run has 6 fields, "{_RUN_LINE}", but this line has {n}'
    try:
        if not isnan(number_in(fields[4])):
            return f'a line of a run has 6 fields, "{_RUN_LINE}", but this line has two rows'
        found = "NaN"
    except ValueError as error:
        found = "NaN" if _NAN.fullmatch(fields[4]) else f"{error}"
    return f"the score, field 5, must be a number, not {found}"


def _is_number(text: bytes) -> bool:
    try:
        return not isnan(number_in(text))
    except ValueError:
        return False
