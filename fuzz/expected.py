"""A line-by-line reader of run and judgments files in plain Python, which shares no code with the parser."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
INFINITE = (b"inf", b"infinity")


class Refused(Exception):  # noqa: N818 (an expected outcome, not an error of the fuzzer)
    """The file is invalid, so tieaware must raise an InputError. It must name `line`, unless that is None."""

    def __init__(self, line: int | None = None) -> None:
        super().__init__(line)
        self.line = line


class Row(NamedTuple):
    """A line that is neither blank nor a comment: its number and its fields."""

    line: int
    query: bytes
    document: bytes
    value: float


# {query: {document: value}}. Queries and documents are in the order of their first appearance.
Lists = dict[bytes, dict[bytes, float]]


class Columns(NamedTuple):
    """Lists as columns of identifiers and values, which are quick to compare."""

    queries: bytes
    query_sizes: list[int]
    sizes: list[int]
    documents: bytes
    document_sizes: list[int]
    values: bytes

    @classmethod
    def of(cls, lists: Lists, dtype: str) -> Columns:
        documents = [document for listed in lists.values() for document in listed]
        values = [value for listed in lists.values() for value in listed.values()]
        with np.errstate(over="ignore", under="ignore"):
            bits = np.array(values, np.float64).astype(dtype).tobytes()
        sizes = [len(listed) for listed in lists.values()]
        return cls(b"".join(lists), [*map(len, lists)], sizes, b"".join(documents), [*map(len, documents)], bits)


def number(text: bytes) -> float | None:
    """Return the value of a score, correctly rounded by Python's own algorithm; None if the text is not a score."""
    if text[text[:1] in (b"+", b"-") :].lower() in INFINITE:
        return float(text)
    if not NUMBER.fullmatch(text):
        return None
    value = abs(float(text))
    digits = text.lower().partition(b"e")[0].strip(b"+-0.")
    if value == float("inf") or (value == 0 and digits):
        # float64 cannot represent this number.
        return None
    whole, _, decimals = text.lstrip(b"+-0").partition(b".")
    if value >= 2**53 and whole.isdigit() and not decimals.strip(b"0") and int(whole) != int(value):
        # float64 would round this whole number.
        return None
    return float(text)


def label(text: bytes) -> float | None:
    """Return the value of a label, a number from -2^31 to 2^31 - 1; None if the text is not a label."""
    value = number(text)
    return value if value is not None and -(2.0**31) <= value <= 2.0**31 - 1 else None


def has_second_row(fields: list[bytes]) -> bool:
    """Return whether a line of a run has a second row, which begins in its tag or after it."""
    rows = fields[5:], fields[6:]
    return any(len(row) > 5 and row[1] == fields[1] and number_or_rounded(row[4]) for row in rows)


def number_or_rounded(text: bytes) -> bool:
    """Return whether a text is a number, even one that float64 does not represent."""
    return NUMBER.fullmatch(text) is not None or number(text) is not None


def rows_of(content: bytes, judgments: bool) -> tuple[list[Row], bytes | None]:
    """Return all rows, and the tag of the first row; raise Refused if a line is malformed, or if there are no rows."""
    if content.startswith(b"\xef\xbb\xbf"):
        content = content[3:]
    rows = []
    tag = None
    for n, line in enumerate(content.splitlines(), 1):
        fields = line.split()
        if not fields or fields[0].startswith(b"#"):
            continue
        if judgments:
            value = label(fields[3]) if len(fields) == 4 else None
        else:
            value = number(fields[4]) if len(fields) >= 6 and not has_second_row(fields) else None
        if value is None:
            raise Refused(n)
        if not judgments:
            tag = fields[5] if tag is None else tag
        rows.append(Row(n, fields[0], fields[2], value))
    if not rows:
        raise Refused
    return rows, tag


def judgments(content: bytes) -> Lists:
    """Return the judgments of a file; raise Refused at a line that contradicts an earlier one."""
    by_query: dict[bytes, list[Row]] = {}
    for row in rows_of(content, judgments=True)[0]:
        by_query.setdefault(row.query, []).append(row)
    lists: Lists = {}
    for query, rows in by_query.items():
        labels = lists[query] = {}
        for row in rows:
            if labels.setdefault(row.document, row.value) != row.value:
                raise Refused(row.line)
    return lists


class Run(NamedTuple):
    """A run: its lists, its tag, a line that repeats a document, and whether the rows of some query are not contiguous.

    `repeated` belongs to the first query that has such a line, and is the first of its lines that repeat a document.
    """

    lists: Lists
    tag: bytes | None
    repeated: int | None
    scattered: bool


def run(content: bytes) -> Run:
    """Return the run in a file. A repeated document keeps its first score."""
    rows, tag = rows_of(content, judgments=False)
    lists: Lists = {}
    repeats: dict[bytes, int] = {}
    previous = None
    scattered = False
    for row in rows:
        scattered |= row.query != previous and row.query in lists
        previous = row.query
        scores = lists.setdefault(row.query, {})
        if row.document in scores:
            repeats.setdefault(row.query, row.line)
        scores.setdefault(row.document, row.value)
    first = next((repeats[query] for query in lists if query in repeats), None)
    return Run(lists, tag, first, scattered)


# The first bytes of gzip, xz and zstd files.
MAGIC = (b"\x1f\x8b\x08", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")


def is_compressed(content: bytes) -> bool:
    """Return whether a file begins like a compressed one.

    Text may also begin with BZh, so bzip2 is recognised by these and the following bytes.
    """
    if content.startswith(b"BZh"):
        return content[4:10] in (b"1AY&SY", b"\x17rE8P\x90")
    skippable = content[1:4] == b"\x2a\x4d\x18" and content[0] >> 4 == 5
    return skippable or content.startswith(MAGIC)
