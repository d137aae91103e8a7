"""Readers of the documents and judgments of test collections, in the common file formats.

=============  =========================================================================================================
``trec``       ``<DOC>`` with ``<DOCNO>``; topics as in `tieaware.retrieval.topics`, or in the documents' form
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
import math
import os
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, Literal, TypeAlias, get_args

from tieaware.checks.arguments import one_of, shown, unexpected
from tieaware.errors import InputError
from tieaware.inputs.files.byte_streams import COMPRESSED_BUFFER, ByteStream, RawFile
from tieaware.inputs.files.paths import reason, source_name
from tieaware.inputs.files.text import BYTE_ORDER_MARK, Lines, json_in, number_in, whole_in
from tieaware.inputs.judgments.qrels import Qrels, read_qrels

Path: TypeAlias = str | os.PathLike[str] | BinaryIO

Format: TypeAlias = Literal["trec", "jsonl", "tsv", "smart", "cranfield", "npl", "cacm"]
FORMATS: tuple[Format, ...] = get_args(Format)
# The first characters of a file by which a format is detected.
_BEGINNINGS: dict[bytes, Format] = {b"<": "trec", b"{": "jsonl", b".I": "smart"}
# The first words of Cranfield's documents, whose form is that of other collections.
_CRANFIELD_BEGINS = b".I 1 .T experimental investigation of the aerodynamics of a".split()
# How topics look in formats that are not recognised by themselves, but if the documents have them.
_LOOKS: dict[Format, Format | None] = {"cranfield": "smart", "npl": None}

# The largest size of a line or a document in bytes. A malicious file could have a line that never ends.
LONGEST = 1 << 26
Document: TypeAlias = tuple[str, str | dict[str, str]]

# Cranfield's labels, 1 for the best, converted to labels where higher is better.
_CRANFIELD = {"1": 4, "2": 3, "3": 2, "4": 1, "5": 0, "-1": 0}
_IDS = ("id", "_id", "docid", "doc_id", "docno", "qid", "query_id")
_TEXTS = ("contents", "text", "body", "query", "title")

_TAG = re.compile(r"<[^<>]*>")
_DOCUMENT = re.compile(r"<DOC>", re.IGNORECASE)
_END_OF_DOCUMENT = re.compile(r"</DOC>", re.IGNORECASE)
_NAME = re.compile(r"<DOCNO>([^<]*)</DOCNO>", re.IGNORECASE)
_SMART_FIELD = re.compile(r"\.([A-Z])\s*+(.*)")
_CACM = re.compile(r"CACM-([0-9]{1,9})")
# Python converts no decimal number of thousands of digits, and the last character has seven.
_CHARACTER = re.compile(r"&#(?=[0-9])0*+([0-9]*+)")


class TextFile:
    """The lines of a text file, with the number of the line read last. A context manager."""

    def __init__(self, path: Path) -> None:
        self.stream: ByteStream = ByteStream(path)
        self.name: str = self.stream.source_name
        self._lines = Lines(self.stream, LONGEST)

    def __enter__(self) -> TextFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def here(self) -> str:
        """Return the place ``path:line`` of the line read last; without a line for a file that is not read by lines."""
        return self._lines.here() if self._lines.number else self.name

    def unexpected(self, expected: str, found: str) -> InputError:
        """Return an "expected X, found Y" error at the line read last."""
        return unexpected(self.here(), expected, found)

    def error(self, problem: str) -> InputError:
        """Return an error at the line read last."""
        return InputError(self.here(), problem)

    def json(self, line: str) -> Any:
        """Return the JSON value on the line read last."""
        return json_in(line.encode(), self.name, self._lines.number)

    def beginning(self) -> bytes:
        """Return the first bytes of the file; call this before reading lines."""
        return self.stream.peek(COMPRESSED_BUFFER)[:COMPRESSED_BUFFER]

    def __iter__(self) -> Iterator[str]:
        """Yield the lines without their line ends."""
        for line in self._lines:
            yield decoded(line).rstrip("\r\n")


def decoded(text: bytes) -> str:
    """Decode text as UTF-8 or, if it is not valid UTF-8, as Latin-1, which the oldest collections use."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")


def format_of(text: TextFile, given: Format | None, of_documents: Format | None = None) -> Format:
    """Check the given format; if there is none, detect the format from the beginning of the file.

    `of_documents`, the format of the documents, decides between formats that topics alone do not show.
    """
    if given is not None:
        return one_of("format", given, FORMATS)
    found = _detected(text.beginning().removeprefix(BYTE_ORDER_MARK))
    if of_documents in _LOOKS and _LOOKS[of_documents] == found:
        return of_documents
    if found is None:
        raise InputError(text.name, f"the format cannot be detected; it must be given as one of {', '.join(FORMATS)}")
    return found


def _detected(start: bytes) -> Format | None:
    """Return the format of a file that begins so; None if it is none of those that can be detected."""
    if start[257:262] == b"ustar":
        return "cacm"
    if start.split(maxsplit=len(_CRANFIELD_BEGINS))[: len(_CRANFIELD_BEGINS)] == _CRANFIELD_BEGINS:
        return "cranfield"
    first = start.lstrip()[:5]
    for beginning, format in _BEGINNINGS.items():
        if first.startswith(beginning):
            return format
    return "tsv" if b"\t" in (start.splitlines() or [b""])[0] else None


def read_documents(path: Path, format: Format | None = None) -> Iterator[Document]:
    r"""Read the documents of a collection, one after another.

    Parameters
    ----------
    path : str, os.PathLike or binary file object
        The file, or a folder: its files and those of its subfolders are read in the order of their paths, without those
        whose names begin with a dot. Compression by gzip, bzip2, xz or zstd is detected by content.
    format : str, optional
        "trec", "jsonl", "tsv", "smart", "cranfield", "npl" or "cacm". By default, the format is detected from the
        beginning of each file.

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
    for file in _files_of(path):
        with TextFile(file) as text:
            yield from READERS[format_of(text, format)](text)


def read_collection(
    paths: Iterable[Path], format: Format | None = None, *, zones: bool = True, found: set[Format] | None = None
) -> Iterator[Document]:
    """Read the documents of several files and folders as one collection.

    Paths, format and errors as for `read_documents`. Here it is also an error if a file has no documents, if an id
    appears twice, or if only some documents have zones; the message names file and line.

    Parameters
    ----------
    zones : bool
        Whether documents keep their zones; if not, the zones become one text.
    found : set, optional
        Gets the format of each file.
    """
    found = set() if found is None else found
    names = set[str]()
    is_zoned: bool | None = None
    for path in (file for each in paths for file in _files_of(each)):
        with TextFile(path) as text:
            before = len(names)
            found.add(of_file := format_of(text, format))
            for name, content in READERS[of_file](text):
                if name in names:
                    raise text.error(f"the document {name!r} appears twice")
                names.add(name)
                given: str | dict[str, str] = content if zones or isinstance(content, str) else joined(content)
                if is_zoned is None:
                    is_zoned = isinstance(given, dict)
                if is_zoned != isinstance(given, dict):
                    has = "no title, unlike the documents" if is_zoned else "a title, unlike the documents"
                    raise text.error(f"the document {name!r} has {has} before it; index them without zones")
                yield name, given
            if len(names) == before:
                raise InputError(text.name, "the file has no documents")


def _files_of(path: Path) -> list[Path]:
    """Return the files in a folder and its subfolders, in the order of their paths; or [path] if it is no folder."""
    if not isinstance(path, str | os.PathLike) or path == "-" or not os.path.isdir(path):
        return [path]

    def fail(error: OSError) -> None:
        raise InputError(source_name(os.fsdecode(error.filename)), reason(error)) from None

    files, visited = list[str](), {os.path.realpath(path)}
    for folder, folders, names in os.walk(os.fsdecode(path), onerror=fail, followlinks=True):
        # A link may lead to a folder above it, so no folder is visited twice.
        below, folders[:] = sorted(each for each in folders if not each.startswith(".")), []
        for each in below:
            target = os.path.realpath(os.path.join(folder, each))
            if target not in visited:
                visited.add(target)
                folders.append(each)
        files += [os.path.join(folder, each) for each in names if not each.startswith(".")]
    if not files:
        raise InputError(source_name(path), "there are no files in this folder")
    return [*sorted(files)]


def read_quality(path: Path) -> dict[str, float]:
    r"""Read the static quality of documents: an id, white space or a tab, and a number of at least 0 on each line.

    Returns the quality by id, as `Index.build` takes it. Path and errors as for `read_documents`, but the path must not
    be a folder; an id that appears twice is an error, too.

    Examples
    --------
    >>> import io
    >>> read_quality(io.BytesIO(b"d1 0.5\nd2 1\n"))
    {'d1': 0.5, 'd2': 1.0}
    """
    quality = dict[str, float]()
    with TextFile(path) as text:
        for line in text:
            if not line.strip():
                continue
            # Other white space, such as a no-break space, may be part of an id.
            line = line.strip(" \t")
            cut = max(line.rfind(" "), line.rfind("\t"))
            name, written = line[: max(cut, 0)].rstrip(" \t"), line[cut + 1 :]
            try:
                number, found = number_in(written) if name else math.nan, shown(line)
            except ValueError as error:
                number, found = math.nan, f"{error}"
            if not 0 <= number < math.inf:
                raise text.unexpected("an id and a number of at least 0", found)
            if name in quality:
                raise text.error(f"the document {name!r} appears twice")
            quality[name] = number
        if not quality:
            raise InputError(text.name, "the file has no qualities")
    return quality


def joined(zones: dict[str, str]) -> str:
    """Return the zones of a document as one text."""
    return " ".join(filter(None, zones.values()))


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
    with TextFile(path) as text:
        for query, document, label in _JUDGMENTS[format](text):
            rows[query, document] = max(label, rows.get((query, document), 0))
        if not rows:
            raise InputError(text.name, "the file has no judgments")
    queries, documents = zip(*rows, strict=True)
    return Qrels.from_columns(queries, documents, list(rows.values()))


def _elements(text: TextFile) -> Iterator[str]:
    """Yield the text between the tags of each document."""
    inside: list[str] | None = None
    size = 0
    for line in text:
        if inside is None and (found := _DOCUMENT.search(line)):
            inside, size, line = [], 0, line[found.end() :]
        if inside is None:
            continue
        size += len(line)
        if size > LONGEST:
            raise text.error(f"the document is longer than {LONGEST >> 20} MB")
        if found := _END_OF_DOCUMENT.search(line):
            yield "\n".join([*inside, line[: found.start()]])
            inside = None
        else:
            inside.append(line)
    if inside is not None:
        raise text.error("the file ends inside a document: a closing tag is missing")


def without_tags(markup: str) -> str:
    """Return the text of markup, with single spaces between its words."""
    return " ".join(unescaped(_TAG.sub(" ", markup)).split())


def unescaped(markup: str) -> str:
    """Replace character references such as &amp; and &#38; by their characters."""
    return html.unescape(_CHARACTER.sub(lambda found: f"&#{found[1][:8] or '0'}", markup))


def _trec_documents(text: TextFile) -> Iterator[Document]:
    for element in _elements(text):
        found = _NAME.search(element)
        if found is None or not found[1].strip():
            raise text.error("the document that ends here has no <DOCNO>")
        yield found[1].strip(), without_tags(element[: found.start()] + " " + element[found.end() :])


def json_objects(text: TextFile) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each line of a file, and the JSON object in it."""
    for line in text:
        if not line.strip():
            continue
        record = text.json(line)
        if not isinstance(record, dict):
            raise text.unexpected("a JSON object", shown(line))
        yield line, record


def id_of(record: dict[str, Any]) -> str | None:
    """Return the id of a document or topic, under one of its usual names; None if there is none."""
    name = next((record[field] for field in _IDS if field in record), None)
    return str(name) if isinstance(name, str | int) else None


def _jsonl(text: TextFile) -> Iterator[Document]:
    titled: bool | None = None
    for line, record in json_objects(text):
        name = id_of(record)
        body = next((record[field] for field in _TEXTS if field in record), None)
        if name is None or not isinstance(body, str):
            raise text.error(f"the object must have an id and a text, named id and contents; found {shown(line)}")
        titled = "title" in record if titled is None else titled
        title = record.get("title")
        yield name, {"title": title if isinstance(title, str) else "", "body": body} if titled else body


def _tsv(text: TextFile) -> Iterator[Document]:
    for line in text:
        name, tab, body = line.partition("\t")
        if tab:
            yield name, body.replace("\t", " ")
        elif line.strip():
            raise text.unexpected("an id, a tab and a text", shown(line))


def _smart_documents(text: TextFile) -> Iterator[Document]:
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


def _npl_records(text: TextFile) -> Iterator[tuple[str, list[str]]]:
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


def _pages(text: TextFile) -> Iterator[Document]:
    """Yield the HTML pages in a tar file; the text before the first empty line is the title."""
    try:
        with tarfile.open(fileobj=io.BufferedReader(RawFile(text.stream)), mode="r|") as archive:
            for member in archive:
                file = archive.extractfile(member) if member.isfile() else None
                if file is None or not member.name.endswith((".html", ".htm")):
                    continue
                if member.size > LONGEST:
                    raise InputError(text.name, f"the page {member.name!r} is longer than {LONGEST >> 20} MB")
                page = unescaped(_TAG.sub(" ", decoded(file.read())))
                title, _, body = page.strip().partition("\n\n")
                name = os.path.splitext(os.path.basename(member.name))[0]
                yield name, {"title": " ".join(title.split()), "body": " ".join(body.split())}
    except (tarfile.TarError, EOFError) as error:
        raise InputError(text.name, f"not a complete tar file: {reason(error)}") from None


def _cranfield_judgments(text: TextFile) -> Iterator[tuple[str, str, int]]:
    for query, document, *rest in _columns(text):
        if not rest or rest[0] not in _CRANFIELD:
            raise text.unexpected(f"a label, one of {', '.join(_CRANFIELD)}", shown(" ".join(rest)))
        yield query, document, _CRANFIELD[rest[0]]


def _columns(text: TextFile) -> Iterator[list[str]]:
    for line in text:
        columns = line.split()
        if len(columns) >= 2:
            yield columns
        elif columns:
            raise text.unexpected("a query and a document", shown(line))


def _cacm_judgments(text: TextFile) -> Iterator[tuple[str, str, int]]:
    """Yield CACM's judgments, which write CACM-756 for the document CACM-0756."""
    for columns in _columns(text):
        name = _CACM.fullmatch(columns[2]) if len(columns) > 3 else None
        try:
            label = whole_in(columns[3]) if name else -1
        except ValueError:
            label = -1
        if name is None or label < 0:
            raise text.unexpected("the columns query, iteration, CACM-number and label", shown(" ".join(columns)))
        yield columns[0], f"CACM-{int(name[1]):04}", label


_Reader: TypeAlias = Callable[[TextFile], Iterator[Document]]
READERS: dict[str, _Reader] = {
    "trec": _trec_documents, "jsonl": _jsonl, "tsv": _tsv, "smart": _smart_documents, "cranfield": _smart_documents,
    "npl": lambda text: ((name, " ".join(lines)) for name, lines in _npl_records(text)), "cacm": _pages,
}  # fmt: skip
_JUDGMENTS: dict[str, Callable[[TextFile], Iterator[tuple[str, str, int]]]] = {
    "smart": lambda text: ((query, document, 1) for query, document, *_ in _columns(text)),
    "cranfield": _cranfield_judgments,
    "npl": lambda text: (
        (query, document, 1) for query, lines in _npl_records(text) for document in " ".join(lines).split()
    ),
    "cacm": _cacm_judgments,
}
