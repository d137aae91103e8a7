"""Readers of the documents, topics and judgments of test collections, in the common file formats.

=============  =========================================================================================================
``trec``       ``<DOC>`` with ``<DOCNO>``; topics as ``<top>`` with ``<num>`` and ``<title>``, or in the documents' form
``jsonl``      an object on each line, with ``id`` (or ``_id``, ``docid``, ``qid``) and ``contents`` (or ``text``)
``tsv``        an id, a tab and text on each line
``smart``      records with the fields ``.I``, ``.T``, ``.W``, as in MEDLINE; judgments are lines of query and document
``cranfield``  like ``smart``, but topics are numbered by position; labels are 1 (the best) to 4, and -1 for nonrelevant
``npl``        a line with a number, then lines of text, then a line with ``/``; judgments: lines of document numbers
``cacm``       a tar file of pages, whose file names are the ids; judgments as in ``trec``, but CACM-0756 is CACM-756
=============  =========================================================================================================
"""

from __future__ import annotations

import html
import io
import json
import os
import re
import tarfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Literal, TypeAlias, get_args

from tieaware.checks.arguments import one_of, shown, unexpected
from tieaware.errors import InputError
from tieaware.inputs.files import COMPRESSED_BUFFER, ByteStream, reason
from tieaware.inputs.qrels import Qrels
from tieaware.inputs.trec import read_qrels

__all__ = ["FORMATS", "read_documents", "read_judgments", "read_topics"]

Path: TypeAlias = str | os.PathLike[str] | BinaryIO
Document: TypeAlias = tuple[str, str | dict[str, str]]

Format: TypeAlias = Literal["trec", "jsonl", "tsv", "smart", "cranfield", "npl", "cacm"]
FORMATS: tuple[Format, ...] = get_args(Format)
# The first characters of a file by which a format is detected.
_BEGINNINGS: dict[bytes, Format] = {b"<": "trec", b"{": "jsonl", b".I": "smart"}

# The largest size of a line or a document in bytes. A malicious file could have a line that never ends.
_LONGEST = 1 << 26
# Cranfield's labels, 1 for the best, converted to labels where higher is better.
_CRANFIELD = {"1": 4, "2": 3, "3": 2, "4": 1, "5": 0, "-1": 0}
_IDS = ("id", "_id", "docid", "doc_id", "docno", "qid", "query_id")
_TEXTS = ("contents", "text", "body", "query", "title")

_TAG = re.compile(r"<[^<>]*>")
_SMART_FIELD = re.compile(r"\.([A-Z])\s*(.*)")


def read_documents(path: Path, format: Format | None = None) -> Iterator[Document]:
    r"""Read the documents of a collection, one after another.

    Parameters
    ----------
    path : str, os.PathLike or binary file object
        The file. Compression by gzip, bzip2, xz or zstd is detected by content.
    format : str, optional
        "trec", "jsonl", "tsv", "smart", "cranfield", "npl" or "cacm". By default, the format is detected from the
        beginning of the file.

    Yields
    ------
    (str, str) or (str, {"title": str, "body": str})
        A document, as `Index.build` takes it. Documents have zones in formats with titles: "smart", "cranfield",
        "cacm", and "jsonl" if the first object has a title.

    Raises
    ------
    InputError
        The file cannot be read, or a line does not have the format; the message names the line.

    Examples
    --------
    >>> import io
    >>> list(read_documents(io.BytesIO(b"d1\tboundary layers\nd2\tlayers tie\n"), "tsv"))
    [('d1', 'boundary layers'), ('d2', 'layers tie')]
    """
    with _Text(path) as text:
        yield from _DOCUMENTS[_format(text, format)](text)


def read_topics(path: Path, format: Format | None = None) -> dict[str, str]:
    r"""Read topics as queries. The query of a TREC topic is its title.

    Parameters and errors as for `read_documents`; an id that appears twice is an error.

    Returns
    -------
    dict of str to str
        The text of each query by id, in the order of the file.

    Examples
    --------
    >>> import io
    >>> read_topics(io.BytesIO(b"<top>\n<num> Number: 301\n<title> tied scores\n</top>\n"))
    {'301': 'tied scores'}
    """
    topics: dict[str, str] = {}
    with _Text(path) as text:
        for name, query in _TOPICS[_format(text, format)](text):
            if name in topics:
                raise InputError(text.here(), f"the topic {name!r} appears twice")
            topics[name] = query if isinstance(query, str) else " ".join(filter(None, query.values()))
    return topics


def read_judgments(path: Path, format: Format = "trec") -> Qrels:
    r"""Read the judgments of a collection.

    Path and errors as for `read_documents`.

    Parameters
    ----------
    format : str
        The format of the collection. For "trec", "jsonl" and "tsv", `tieaware.read_qrels` reads the file. "smart": each
        line has a query and a relevant document; further columns are ignored. "cranfield": the third column is a label,
        where 1 (the best) to 4 become 4 to 1, and -1 becomes 0. "npl": a line with a query, then lines of relevant
        documents, then a line with ``/``. "cacm": TREC's lines, where CACM-756 means the document CACM-0756.

    Returns
    -------
    Qrels

    Examples
    --------
    >>> import io
    >>> read_judgments(io.BytesIO(b"1 184 2\n1 29 4\n1 31 -1\n"), "cranfield").labels.tolist()
    [3, 1, 0]
    """
    one_of("format", format, FORMATS)
    if format not in _JUDGMENTS:
        return read_qrels(path)
    rows: dict[tuple[str, str], int] = {}
    with _Text(path) as text:
        for query, document, label in _JUDGMENTS[format](text):
            rows[query, document] = max(label, rows.get((query, document), 0))
        if not rows:
            raise InputError(text.name, "the file has no judgments")
    queries, documents = zip(*rows, strict=True)
    return Qrels.from_columns(queries, documents, list(rows.values()))


class _Raw(io.RawIOBase):
    """An adapter from a `ByteStream` to the raw stream that io.BufferedReader needs."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        # Fill the buffer completely: the detection of the format looks at the first buffer only.
        view, n = memoryview(room), 0
        while n < len(view) and (more := self._stream.read_into(view[n:])):
            n += more
        return n


class _Text:
    """The lines of a text file, with the number of the line read last. A context manager."""

    def __init__(self, path: Path) -> None:
        self._stream = ByteStream(path)
        self.file = io.BufferedReader(_Raw(self._stream), COMPRESSED_BUFFER)
        self.name, self.number = self._stream.source_name, 0

    def __enter__(self) -> _Text:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def here(self) -> str:
        """Return the place ``path:line`` of the line read last."""
        return f"{self.name}:{self.number}"

    def unexpected(self, expected: str, found: str) -> InputError:
        """Return an "expected X, found Y" error at the line read last."""
        return unexpected(self.here(), expected, found)

    def error(self, problem: str) -> InputError:
        """Return an error at the line read last."""
        return InputError(self.here(), problem)

    def __iter__(self) -> Iterator[str]:
        """Yield the lines without their line ends."""
        while line := self.file.readline(_LONGEST + 1):
            self.number += 1
            if len(line) > _LONGEST:
                raise self.error(f"the line is longer than {_LONGEST >> 20} MB")
            yield _decoded(line).rstrip("\r\n")


def _decoded(text: bytes) -> str:
    """Decode text as UTF-8 or, if it is not valid UTF-8, as Latin-1, which the oldest collections use."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")


def _format(text: _Text, given: Format | None) -> Format:
    """Check the given format; if there is none, detect the format from the beginning of the file."""
    if given is not None:
        return one_of("format", given, FORMATS)
    start = text.file.peek()[:COMPRESSED_BUFFER]
    if start[257:262] == b"ustar":
        return "cacm"
    first = start.lstrip()[:5]
    for beginning, format in _BEGINNINGS.items():
        if first.startswith(beginning):
            return format
    if b"\t" in start.partition(b"\n")[0]:
        return "tsv"
    raise InputError(text.name, f"the format cannot be detected; it must be given as one of {', '.join(FORMATS)}")


def _elements(text: _Text, names: str) -> Iterator[str]:
    """Yield the text between the tags of each element; `names` is a regular expression for the element's name."""
    start, stop = re.compile(rf"<(?:{names})>", re.IGNORECASE), re.compile(rf"</(?:{names})>", re.IGNORECASE)
    inside: list[str] | None = None
    size = 0
    for line in text:
        if inside is None and (found := start.search(line)):
            inside, size, line = [], 0, line[found.end() :]
        if inside is None:
            continue
        size += len(line)
        if size > _LONGEST:
            raise text.error(f"the document is longer than {_LONGEST >> 20} MB")
        if found := stop.search(line):
            yield "\n".join([*inside, line[: found.start()]])
            inside = None
        else:
            inside.append(line)
    if inside is not None:
        raise text.error("the file ends inside a document: a closing tag is missing")


def _without_tags(markup: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", markup)).split())


def _trec_documents(text: _Text) -> Iterator[Document]:
    name = re.compile(r"<DOCNO>\s*([^<]*?)\s*</DOCNO>", re.IGNORECASE)
    for element in _elements(text, "DOC"):
        found = name.search(element)
        if found is None or not found[1]:
            raise text.error("the document that ends here has no <DOCNO>")
        yield found[1], _without_tags(element[: found.start()] + " " + element[found.end() :])


def _trec_topics(text: _Text) -> Iterator[Document]:
    """Yield TREC topics, whose inner tags need not be closed. Topics that have a <DOCNO> are read as documents."""
    if re.search(rb"<DOCNO>", text.file.peek(), re.IGNORECASE):
        yield from _trec_documents(text)
        return
    for element in _elements(text, "top"):
        number = _field(element, "num").removeprefix("Number:").strip()
        title = _field(element, "title").removeprefix("Topic:").strip()
        if not number:
            raise text.error("the topic that ends here has no <num>")
        yield number, title


def _field(element: str, name: str) -> str:
    found = re.search(rf"<{name}>([^<]*)", element, re.IGNORECASE)
    return "" if found is None else _without_tags(found[1])


def _jsonl(text: _Text) -> Iterator[Document]:
    titled: bool | None = None
    for line in text:
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise text.unexpected("a JSON object", shown(line))
        name = next((record[field] for field in _IDS if field in record), None)
        body = next((record[field] for field in _TEXTS if field in record), None)
        if not isinstance(name, str | int) or not isinstance(body, str):
            raise text.error(f"the object must have an id and a text, named id and contents; found {shown(line)}")
        titled = "title" in record if titled is None else titled
        title = record.get("title")
        yield str(name), {"title": title if isinstance(title, str) else "", "body": body} if titled else body


def _tsv(text: _Text) -> Iterator[Document]:
    for line in text:
        name, tab, body = line.partition("\t")
        if tab:
            yield name, body.replace("\t", " ")
        elif line.strip():
            raise text.unexpected("an id, a tab and a text", shown(line))


def _smart_documents(text: _Text) -> Iterator[Document]:
    """Yield the records. Each field of a record begins with a line of a dot and a letter: ".T" for the title."""
    name, fields, letter = "", dict[str, list[str]](), ""
    for line in text:
        found = _SMART_FIELD.fullmatch(line)
        if found is None:
            if not name and line.strip():
                raise text.unexpected("a line such as .I 1", shown(line))
            fields.setdefault(letter, []).append(line)
            continue
        letter = found[1]
        if letter != "I":
            continue
        if name:
            yield name, _zones(fields)
        name, fields = found[2].strip(), {}
        if not name:
            raise text.unexpected("an id, as in .I 1", shown(line))
    if name:
        yield name, _zones(fields)


def _zones(fields: dict[str, list[str]]) -> dict[str, str]:
    """Return the title and the text of a record. If the text begins with the title, the title is removed from it."""
    title, body = (" ".join(" ".join(fields.get(letter, ())).split()) for letter in "TW")
    return {"title": title, "body": body.removeprefix(title).strip() if title else body}


def _cranfield_topics(text: _Text) -> Iterator[Document]:
    """Yield Cranfield's topics by position, because the judgments do not use the numbers in the file."""
    for number, (_, topic) in enumerate(_smart_documents(text), 1):
        yield str(number), topic


def _npl(text: _Text) -> Iterator[Document]:
    for name, lines in _npl_records(text):
        yield name, " ".join(lines)


def _npl_records(text: _Text) -> Iterator[tuple[str, list[str]]]:
    """Yield the number and the lines of each record."""
    name, lines = "", list[str]()
    for line in map(str.strip, text):
        if line == "/":
            if name:
                yield name, lines
            name, lines = "", []
        elif name:
            lines.append(line)
        elif line.isdecimal():
            name = line
        elif line:
            raise text.unexpected("a line with a number, which begins a record", shown(line))


def _pages(text: _Text) -> Iterator[Document]:
    """Yield the HTML pages in a tar file; the text before the first empty line is the title."""
    try:
        with tarfile.open(fileobj=text.file, mode="r|") as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isfile() else None
                if file is None or not member.name.endswith((".html", ".htm")):
                    continue
                if member.size > _LONGEST:
                    raise InputError(text.name, f"the page {member.name!r} is longer than {_LONGEST >> 20} MB")
                page = html.unescape(_TAG.sub(" ", _decoded(file.read())))
                title, _, body = page.strip().partition("\n\n")
                name = os.path.splitext(os.path.basename(member.name))[0]
                yield name, {"title": " ".join(title.split()), "body": " ".join(body.split())}
    except (tarfile.TarError, EOFError) as error:
        raise InputError(text.name, f"not a complete tar file: {reason(error)}") from None


def _smart_judgments(text: _Text) -> Iterator[tuple[str, str, int]]:
    for query, document, *_ in _columns(text):
        yield query, document, 1


def _cranfield_judgments(text: _Text) -> Iterator[tuple[str, str, int]]:
    for query, document, *rest in _columns(text):
        if not rest or rest[0] not in _CRANFIELD:
            raise text.unexpected(f"a label, one of {', '.join(_CRANFIELD)}", shown(" ".join(rest)))
        yield query, document, _CRANFIELD[rest[0]]


def _columns(text: _Text) -> Iterator[list[str]]:
    for line in text:
        columns = line.split()
        if len(columns) >= 2:
            yield columns
        elif columns:
            raise text.unexpected("a query and a document", shown(line))


def _cacm_judgments(text: _Text) -> Iterator[tuple[str, str, int]]:
    """Yield CACM's judgments, which write CACM-756 for the document CACM-0756."""
    for columns in _columns(text):
        name = re.fullmatch(r"CACM-(\d+)", columns[2]) if len(columns) > 3 else None
        if name is None or not columns[3].isdecimal():
            raise text.unexpected("the columns query, iteration, CACM-number and label", shown(" ".join(columns)))
        yield columns[0], f"CACM-{int(name[1]):04}", int(columns[3])


def _npl_judgments(text: _Text) -> Iterator[tuple[str, str, int]]:
    for query, lines in _npl_records(text):
        for document in " ".join(lines).split():
            yield query, document, 1


_Reader: TypeAlias = Callable[[_Text], Iterator[Document]]
_DOCUMENTS: dict[str, _Reader] = {
    "trec": _trec_documents, "jsonl": _jsonl, "tsv": _tsv, "smart": _smart_documents, "cranfield": _smart_documents,
    "npl": _npl, "cacm": _pages,
}  # fmt: skip
_TOPICS: dict[str, _Reader] = _DOCUMENTS | {"trec": _trec_topics, "cacm": _trec_topics, "cranfield": _cranfield_topics}
_JUDGMENTS: dict[str, Callable[[_Text], Iterator[tuple[str, str, int]]]] = {
    "smart": _smart_judgments, "cranfield": _cranfield_judgments, "npl": _npl_judgments,
    "cacm": _cacm_judgments,
}  # fmt: skip
