"""Layouts of lines that resemble TREC's: some are read, and for the others an error says what the file seems to be.

The first lines of a file decide. A layout is read if its meaning is certain: its lines are then rewritten as TREC's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tieaware.errors import InputError
from tieaware.inputs.files.byte_streams import TextStream
from tieaware.inputs.files.text import BYTE_ORDER_MARK, Lines, number_in

# The number of bytes of a file that are examined.
SAMPLE = 1 << 13
RUN_LINE = "query Q0 document rank score tag"
JUDGMENT_LINE = "query iteration document label"

# The least number of a time in seconds since 1970, in March 1973. Labels are smaller.
_EARLIEST = 100_000_000
_GRADES = {b"L%d" % label: b"%d" % label for label in range(10)}

# Names of columns that the first line of a table may have.
_NAMES = {b"query_id", b"query-id", b"qid", b"doc_id", b"docid", b"docno", b"corpus-id", b"score", b"label", b"rank"}

_Row = list[bytes]


class _Layout(NamedTuple):
    """A layout that is read: its columns, the number of its fields, and the function that rewrites a row."""

    columns: str
    n_fields: int
    rewrite: Callable[[_Row], _Row]


_RANKED = _Layout("query document rank", 3, lambda row: [row[0], b"Q0", row[1], row[2], b"-" + row[2], b"run"])
_SCORED = _Layout("query document rank score", 4, lambda row: [row[0], b"Q0", *row[1:], b"run"])
_WITHOUT_TAG = _Layout("query Q0 document rank score", 5, lambda row: [*row, b"run"])
_WITHOUT_Q0 = _Layout("query document rank score tag", 5, lambda row: [row[0], b"Q0", *row[1:]])
_LISTED = _Layout("query document", 2, lambda row: [row[0], b"0", row[1], b"1"])
_LABELLED = _Layout("query document label", 3, lambda row: [row[0], b"0", *row[1:]])
_GRADED = _Layout("query document grade", 3, lambda row: [row[0], b"0", row[1], _GRADES.get(row[2], row[2])])


def trec_lines(stream: TextStream, judgments: bool) -> TextStream | Rewritten:
    """Return the stream if its lines are TREC's or unknown, or a stream of its lines rewritten as TREC's.

    InputError is raised if the lines are known not to be judgments or not to be a run.
    """
    rows = _rows(stream.peek(SAMPLE))
    if not rows:
        return stream
    problem = (_foreign_judgments if judgments else _foreign_run)(rows)
    if problem:
        stream.check_rest()
        raise InputError(stream.place(rows[0].line), problem)
    layout = (_layout_of_judgments if judgments else _layout_of_run)(rows)
    return stream if layout is None else Rewritten(stream, layout)


class Rewritten:
    """The lines of a stream, rewritten as TREC's. Each line keeps its number; empty lines and comments are kept.

    It has the attributes and methods of `ByteStream` that readers of lines need.
    """

    def __init__(self, stream: TextStream, layout: _Layout) -> None:
        self.source_name: str = stream.source_name
        self._stream = stream
        self._layout = layout
        self._chunks = self._rewritten()
        self._ahead = b""

    def read_into(self, buffer: memoryview) -> int:
        """Write the next bytes to the beginning of `buffer`; return their number, which is 0 at the end."""
        self._ahead = self._ahead or next(self._chunks, b"")
        data, self._ahead = self._ahead[: len(buffer)], self._ahead[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)

    def place(self, line: int) -> str:
        """Return "file:n" for the number of a line."""
        return self._stream.place(line)

    def check_rest(self) -> None:
        """Raise InputError if the rest of the stream is compressed and corrupt or truncated."""
        self._stream.check_rest()

    def _rewritten(self) -> Iterator[bytes]:
        """Yield the rewritten lines, some thousand at a time."""
        text, lines = list[bytes](), Lines(self._stream)
        for line in lines:
            row = line.split()
            if row and not row[0].startswith(b"#"):
                if len(row) != self._layout.n_fields:
                    form = f'the first lines have {self._layout.n_fields} fields, "{self._layout.columns}"'
                    raise InputError(lines.here(), f"{form}, but this line has {len(row)}")
                text.append(b" ".join(self._layout.rewrite(row)))
            text.append(b"\n")
            if len(text) >= SAMPLE:
                yield b"".join(text)
                text.clear()
        yield b"".join(text)


class _Sampled(NamedTuple):
    """A row among the first lines of a file: its fields, and the number of its line."""

    fields: _Row
    line: int


def _rows(sample: bytes) -> list[_Sampled]:
    """Return the rows of the complete lines of a sample, without empty lines and comments."""
    lines = sample.removeprefix(BYTE_ORDER_MARK).splitlines(keepends=True)
    if len(sample) >= SAMPLE and lines and not lines[-1].endswith((b"\n", b"\r")):
        lines.pop()
    rows = (_Sampled(line.split(), number) for number, line in enumerate(lines, 1))
    return [row for row in rows if row.fields and not row.fields[0].startswith(b"#")]


def _layout_of_run(rows: list[_Sampled]) -> _Layout | None:
    fields = [row.fields for row in rows]
    n = _width(fields)
    if n == 3 and _counts(fields, 2) and _differ(fields):
        return _RANKED
    if n == 4 and _counts(fields, 2) and _are_numbers(fields, 3) and _differ(fields):
        return _SCORED
    if n == 5 and _counts(fields, 3) and _are_numbers(fields, 4):
        return _WITHOUT_TAG
    if n == 5 and _counts(fields, 2) and _are_numbers(fields, 3) and _differ(fields):
        return _WITHOUT_Q0
    return None


def _layout_of_judgments(rows: list[_Sampled]) -> _Layout | None:
    fields = [row.fields for row in rows]
    n = _width(fields)
    if n == 2:
        return _LISTED
    if n == 3 and all(row[2] in _GRADES for row in fields):
        return _GRADED
    if n == 3 and _are_numbers(fields, 2) and _differ(fields):
        return _LABELLED
    return None


def _foreign_judgments(rows: list[_Sampled]) -> str:
    """Say what the lines are if they are known and are no judgments; "" if they are unknown, or judgments."""
    fields = [row.fields for row in rows]
    n, first = _width(fields), fields[0]
    if len(first) > 1 and first[1].startswith(b"qid:"):
        return (
            "the lines look like SVMlight's or LETOR's, \"label qid:query feature:value\": evaluate arrays instead, "
            "the labels and the qid that sklearn.datasets.load_svmlight_file(path, query_id=True) returns"
        )
    if first[0].endswith((b":token", b":float")):
        return (
            "the first line looks like a header of RecBole's: read the file as a data frame, and pass "
            "Qrels.from_frame(frame, query=..., doc=..., label=...)"
        )
    if n == 3 and len(rows) > 2 and _counts(fields, 2) and any(row[2] not in (b"0", b"1") for row in fields):
        return 'the lines look like a run, "query document rank", not like judgments'
    if n == 5 and all(_are_numbers(fields, i) for i in (2, 3, 4)) and all(0 < number_in(row[4]) <= 1 for row in fields):
        return (
            'the lines look like prels, "query document label algorithm probability": '
            f'write fields 1, 2 and 3 as "{JUDGMENT_LINE}"'
        )
    if n == 4 and _are_numbers(fields, 3) and _are_numbers(fields, 2):
        if all(number_in(row[3]) >= _EARLIEST for row in fields):
            return f'the lines look like "user item rating time": write user, item and rating as "{JUDGMENT_LINE}"'
        seconds, thirds = ({row[i] for row in fields} for i in (1, 2))
        if len(rows) > 3 and len(seconds) > len(thirds) and _differ(fields):
            return (
                f'the second field varies more than the third, so the lines do not look like "{JUDGMENT_LINE}", '
                'but like "query document 0 0" or "user item rating"'
            )
    return _of_any_kind(fields)


def _foreign_run(rows: list[_Sampled]) -> str:
    """Say what the lines are if they are known and are no run; "" if they are unknown, or a run."""
    fields = [row.fields for row in rows]
    n = _width(fields)
    if n == 3 and len(rows) > 1 and _counts(fields, 1) and _are_numbers(fields, 2):
        return (
            'the lines look like RankLib\'s scores, "query position score", which name no document: evaluate arrays '
            "instead, the scores in the order of the lines"
        )
    return _of_any_kind(fields)


def _of_any_kind(fields: Sequence[_Row]) -> str:
    """Say what lines are that are neither judgments nor a run in fields; "" if they are unknown."""
    first = fields[0]
    if len(first) == 1 and first[0].count(b";") > 1:
        return "the fields are separated by semicolons: separate them by spaces or tabs"
    names = {field.lower() for field in first} & _NAMES
    if names and 2 < len(first) < 6 and _width(fields) and not is_number(first[-1]) and len(fields) > 1:
        return "the first line names columns: call the file .tsv, and separate the columns by tabs"
    return ""


def _width(fields: Sequence[_Row]) -> int:
    """Return the number of fields of every row; 0 if they differ."""
    widths = set(map(len, fields))
    return widths.pop() if len(widths) == 1 else 0


def _differ(fields: Sequence[_Row]) -> bool:
    """Return whether no two rows have the same first and the same second field, as if these were query and document."""
    return len({(row[0], row[1]) for row in fields}) == len(fields)


def _counts(fields: Sequence[_Row], i: int) -> bool:
    """Return whether field i counts the rows of each query, from 0 or from 1."""
    query, expected = None, 0
    for row in fields:
        if not row[i].isdigit():
            return False
        number = int(row[i][:18])
        if row[0] != query:
            query, expected = row[0], number
            if number > 1:
                return False
        if number != expected:
            return False
        expected += 1
    return True


def _are_numbers(fields: Sequence[_Row], i: int) -> bool:
    return all(is_number(row[i]) for row in fields)


def is_number(text: bytes) -> bool:
    """Return whether a field is a number other than NaN."""
    try:
        number = number_in(text)
    except ValueError:
        return False
    return number == number
