"""Readers of test collections: documents, topics and judgments, in the formats in which people hand them around.

=============  =========================================================================================================
``trec``       ``<DOC>`` with ``<DOCNO>``; topics as ``<top>`` with ``<num>`` and ``<title>``, or like documents
``jsonl``      on each line an object, with ``id`` (or ``_id``, ``docid``, ``qid``) and ``contents`` (or ``text``)
``tsv``        on each line an id, a tab and text
``smart``      ``.I``, ``.T``, ``.W``, as MEDLINE has them; judgments are lines of query and document
``cranfield``  the same, but topics are numbered as they come, and labels go from 1, the best, to 4; -1 is not relevant
``npl``        a line with a number, then text, up to a line that is ``/``; judgments a line of documents after each
``cacm``       a tar file of pages, whose names are the ids; judgments of TREC's form, without zeros that fill these
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
from typing import Any, BinaryIO, TypeAlias

from tieaware.checks.arguments import one_of, shown, unexpected
from tieaware.errors import InputError
from tieaware.inputs.files import COMPRESSED_BUFFER, ByteStream, reason
from tieaware.inputs.qrels import Qrels
from tieaware.inputs.trec import read_qrels

__all__ = ["FORMATS", "read_documents", "read_judgments", "read_topics"]

Path: TypeAlias = str | os.PathLike[str] | BinaryIO
Document: TypeAlias = tuple[str, str | dict[str, str]]

FORMATS = ("trec", "jsonl", "tsv", "smart", "cranfield", "npl", "cacm")

# A document is a line, in some formats; a hostile file has lines without an end.
_LONGEST = 1 << 26
# What Cranfield's judges called a complete answer, and so on, as labels of which more is better.
_CRANFIELD = {"1": 4, "2": 3, "3": 2, "4": 1, "5": 0, "-1": 0}
_IDS = ("id", "_id", "docid", "doc_id", "docno", "qid", "query_id")
_TEXTS = ("contents", "text", "body", "query", "title")

_TAG = re.compile(r"<[^<>]*>")
_SMART_FIELD = re.compile(r"\.([A-Z])\s*(.*)")


def read_documents(path: Path, format: str | None = None) -> Iterator[Document]:
    r"""Read the documents of a collection, one after another.

    Parameters
    ----------
    path : str, os.PathLike or binary file object
        Compression by gzip, bzip2, xz or zstd is recognised by content.
    format : str, optional
        "trec", "jsonl", "tsv", "smart", "cranfield", "npl" or "cacm"; by default what the name and the first line tell.

    Yields
    ------
    (str, str) or (str, {"title": str, "body": str})
        What `Index.build` takes. Documents have zones in formats with titles: "smart", "cranfield", "cacm", and "jsonl"
        where the first object has a title.

    Raises
    ------
    InputError
        The file cannot be read, or is not of that format; the message has the line.

    Examples
    --------
    >>> import io
    >>> list(read_documents(io.BytesIO(b"d1\tboundary layers\nd2\tlayers tie\n"), "tsv"))
    [('d1', 'boundary layers'), ('d2', 'layers tie')]
    """
    with _Text(path) as text:
        yield from _DOCUMENTS[_format(text, format)](text)


def read_topics(path: Path, format: str | None = None) -> dict[str, str]:
    r"""Read topics, as queries.

    Parameters
    ----------
    path : str, os.PathLike or binary file object
        As for `read_documents`.
    format : str, optional
        As for `read_documents`. Of TREC's topics, the title is the query.

    Returns
    -------
    dict of str to str
        The text of each query by its id, in the order of the file.

    Raises
    ------
    InputError
        The file cannot be read, is not of that format, or has an id twice.

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
                raise unexpected(text.here(), "each topic once", repr(name))
            topics[name] = query if isinstance(query, str) else " ".join(filter(None, query.values()))
    return topics


def read_judgments(path: Path, format: str = "trec") -> Qrels:
    r"""Read judgments that come with a collection.

    Parameters
    ----------
    path : str, os.PathLike or binary file object
        As for `read_documents`.
    format : str
        "trec", "jsonl" and "tsv" are what `tieaware.read_qrels` reads; "smart" is lines of query,
        document and perhaps label, of which the first two count and all are relevant; "cranfield" the same, but labels
        from 1, the best, to 4 become 4 to 1, and -1 becomes 0; "npl" a line with a query, then lines of documents, up
        to one that is ``/``; "cacm" TREC's lines, in which CACM-756 is the document CACM-0756.

    Returns
    -------
    Qrels

    Raises
    ------
    InputError
        The file cannot be read, or a line is not of that format.

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
            raise unexpected(text.label, "judgments", "none")
    queries, documents = zip(*rows, strict=True)
    return Qrels.from_columns(queries, documents, list(rows.values()))


class _Raw(io.RawIOBase):
    """A stream of bytes, decompressed, as Python's own buffered reader wants it."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        # As much as there is room for, so that the beginning of a file tells what it is.
        view, n = memoryview(room), 0
        while n < len(view) and (more := self._stream.read_into(view[n:])):
            n += more
        return n


class _Text:
    """A file of text, line by line, that knows where it is. A context manager."""

    def __init__(self, path: Path) -> None:
        self._stream = ByteStream(path)
        self.file = io.BufferedReader(_Raw(self._stream), COMPRESSED_BUFFER)
        self.label, self.number = self._stream.source_name, 0

    def __enter__(self) -> _Text:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def here(self) -> str:
        """Say which line was read last."""
        return f"{self.label}:{self.number}"

    def unexpected(self, expected: str, found: str) -> InputError:
        """Return the error that the last line is not what it should be."""
        return unexpected(self.here(), expected, found)

    def __iter__(self) -> Iterator[str]:
        """Yield the lines, without what ends them."""
        while line := self.file.readline(_LONGEST + 1):
            self.number += 1
            if len(line) > _LONGEST:
                raise self.unexpected(f"a line of at most {_LONGEST >> 20} MB", "a longer one")
            yield _decoded(line).rstrip("\r\n")


def _decoded(text: bytes) -> str:
    """Return text in UTF-8, or else in Latin-1, as the oldest collections are."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")


def _format(text: _Text, named: str | None) -> str:
    """Return the format of a file that is named, or that its name and beginning tell."""
    if named is not None:
        return one_of("format", named, FORMATS)
    start = text.file.peek()[:COMPRESSED_BUFFER]
    if start[257:262] == b"ustar":
        return "cacm"
    first = start.lstrip()[:5]
    for beginning, format in ((b"<", "trec"), (b"{", "jsonl"), (b".I", "smart")):
        if first.startswith(beginning):
            return format
    if b"\t" in start.partition(b"\n")[0]:
        return "tsv"
    raise unexpected(text.label, f"a format to be named, one of {', '.join(FORMATS)}", "none that its beginning tells")


def _elements(text: _Text, names: str) -> Iterator[str]:
    """Yield what stands between the tags of an element, in a file of such elements."""
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
            raise text.unexpected(f"a document of at most {_LONGEST >> 20} MB", "a longer one")
        if found := stop.search(line):
            yield "\n".join([*inside, line[: found.start()]])
            inside = None
        else:
            inside.append(line)
    if inside is not None:
        raise text.unexpected("the end of the last document", "the end of the file")


def _without_tags(markup: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", markup)).split())


def _trec_documents(text: _Text) -> Iterator[Document]:
    name = re.compile(r"<DOCNO>\s*([^<]*?)\s*</DOCNO>", re.IGNORECASE)
    for element in _elements(text, "DOC"):
        found = name.search(element)
        if found is None or not found[1]:
            raise text.unexpected("<DOCNO> in the document that ends here", "none")
        yield found[1], _without_tags(element[: found.start()] + " " + element[found.end() :])


def _trec_topics(text: _Text) -> Iterator[Document]:
    """Topics of TREC, whose tags need not be closed; or like documents."""
    if re.search(rb"<DOCNO>", text.file.peek(), re.IGNORECASE):
        yield from _trec_documents(text)
        return
    for element in _elements(text, "top"):
        number = _field(element, "num").removeprefix("Number:").strip()
        title = _field(element, "title").removeprefix("Topic:").strip()
        if not number:
            raise text.unexpected("<num> in the topic that ends here", "none")
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
            raise text.unexpected("an object of JSON", shown(line))
        name = next((record[key] for key in _IDS if key in record), None)
        body = next((record[key] for key in _TEXTS if key in record), None)
        if not isinstance(name, str | int) or not isinstance(body, str):
            raise text.unexpected("an id, and text as contents or text", shown(line))
        titled = "title" in record if titled is None else titled
        title = record.get("title")
        yield str(name), {"title": title if isinstance(title, str) else "", "body": body} if titled else body


def _tsv(text: _Text) -> Iterator[Document]:
    for line in text:
        name, tab, body = line.partition("\t")
        if tab:
            yield name, body.replace("\t", " ")
        elif line.strip():
            raise text.unexpected("an id, a tab and text", shown(line))


def _smart_documents(text: _Text) -> Iterator[Document]:
    """Records of fields, each of which begins with a line of a dot and a letter."""
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
    """Return title and text, which some collections begin with the title once more."""
    title, body = (" ".join(" ".join(fields.get(letter, ())).split()) for letter in "TW")
    return {"title": title, "body": body.removeprefix(title).strip() if title else body}


def _cranfield_topics(text: _Text) -> Iterator[Document]:
    """Topics whose numbers in the file are not those that the judgments have."""
    for number, (_, topic) in enumerate(_smart_documents(text), 1):
        yield str(number), topic


def _npl(text: _Text) -> Iterator[Document]:
    for name, lines in _npl_blocks(text):
        yield name, " ".join(lines)


def _npl_blocks(text: _Text) -> Iterator[tuple[str, list[str]]]:
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
            raise text.unexpected("a number, which begins what follows", shown(line))


def _pages(text: _Text) -> Iterator[Document]:
    """Pages of a tar file: the first line of text is the title."""
    try:
        with tarfile.open(fileobj=text.file, mode="r|") as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isfile() else None
                if file is None or not member.name.endswith((".html", ".htm")):
                    continue
                if member.size > _LONGEST:
                    raise unexpected(text.label, f"pages of at most {_LONGEST >> 20} MB", shown(member.name))
                page = html.unescape(_TAG.sub(" ", _decoded(file.read())))
                title, _, body = page.strip().partition("\n\n")
                name = os.path.splitext(os.path.basename(member.name))[0]
                yield name, {"title": " ".join(title.split()), "body": " ".join(body.split())}
    except (tarfile.TarError, EOFError) as error:
        raise InputError(text.label, f"no whole tar file: {reason(error)}") from None


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
    """Judgments of documents that are called CACM-0756 elsewhere, and CACM-756 here."""
    for columns in _columns(text):
        name = re.fullmatch(r"CACM-(\d+)", columns[2]) if len(columns) > 3 else None
        if name is None or not columns[3].isdecimal():
            raise text.unexpected("query iteration CACM-number label", shown(" ".join(columns)))
        yield columns[0], f"CACM-{int(name[1]):04}", int(columns[3])


def _npl_judgments(text: _Text) -> Iterator[tuple[str, str, int]]:
    for query, lines in _npl_blocks(text):
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
