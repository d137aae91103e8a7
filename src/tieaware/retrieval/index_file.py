"""The file format of an index: a JSON header, then the arrays as they are in memory.

Files are written atomically. `read` copies a file into memory, and verifies a checksum and the range of all numbers.
The file may be damaged or malicious, and no number in it may lead a kernel to access memory outside the arrays. If it
were mapped into memory, a process that changes or cuts it could still do so after the checks.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tieaware._version import __version__
from tieaware.checks.arguments import path_text
from tieaware.checks.arrays import Values, as_offsets
from tieaware.errors import InputError
from tieaware.inputs.files.byte_streams import RegularFile, regular_file
from tieaware.inputs.files.paths import source_name
from tieaware.kernels import _postings
from tieaware.lists.identifiers import Identifiers
from tieaware.retrieval.analysis import Analysis, Analyzer
from tieaware.retrieval.collections import FORMATS, Format
from tieaware.retrieval.postings import Postings
from tieaware.runtime.atomic_files import whole_file

_MAGIC = b"tieaware index\n\0"
# The version of the format. A reader rejects later versions.
_VERSION = 1
# In the file, each array begins at a multiple of this number of bytes, the length of a cache line.
_ALIGNMENT = 64
_TYPES = ("uint8", "int32", "int64", "float64")


class Content(NamedTuple):
    """The content of an index file: the arguments of the constructor of `Index`."""

    documents: Identifiers
    terms: list[str]
    postings: Postings
    zones: dict[str, Postings]
    quality: Values | None
    analyzer: Analysis | None
    format: Format | None = None


def write(index: Content, path: str | os.PathLike[str]) -> None:
    """Write an index file; see `Index.save`."""
    arrays = _arrays(index)
    header = {
        "version": _VERSION,
        "tieaware": __version__,
        "kind": index.documents.kind,
        "zones": list(index.zones),
        "analyzer": _analyzer_as_json(index.analyzer),
        "format": index.format,
        "arrays": [[name, array.dtype.name, len(array)] for name, array in arrays.items()],
    }
    text = json.dumps(header | {"digest": _digest(header, arrays)}).encode()
    with whole_file(path) as file:
        file.write(_MAGIC + len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            file.write(bytes(-file.tell() % _ALIGNMENT))
            file.write(np.ascontiguousarray(array).data)


def is_index_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins like the files that `Index.save` writes; False for one that cannot be read.

    Path and errors as for `read_documents`, but not a folder or a file object.

    Examples
    --------
    >>> is_index_file("collection.trec")
    False
    """
    checked = path_text("path", path)
    try:
        with regular_file(checked) as file:
            return _start(file) == _MAGIC
    except InputError:
        return False


def read(path: str | os.PathLike[str]) -> Content:
    """Read a file that `write` wrote; see `Index.load`."""
    name = source_name(path)
    with regular_file(path) as file:
        # A large file of another kind is not read.
        content = file.read(file.size if _start(file) == _MAGIC else 0)
    content.flags.writeable = False
    try:
        header, start = _header(content)
        if header["version"] <= _VERSION:
            return _content(header, _split(content, header, start))
        written_by = f"tieaware {header['tieaware']} wrote it in version {header['version']} of the format"
    except (
        InputError, ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError
    ) as error:  # fmt: skip
        # A damaged or malicious file can have anything in its header, so parsing the header can raise any of the errors
        # listed above.
        problem = " ".join(f"{type(error).__name__}: {error}".split())[:80]
        raise InputError(name, f"not a complete and undamaged file of Index.save: {problem}") from None
    raise InputError(name, f"{written_by}; tieaware {__version__} reads version {_VERSION} or earlier")


def _arrays(index: Content) -> dict[str, NDArray[Any]]:
    """Return all arrays of an index by their names in the file."""
    terms = [term.encode("utf-8", "surrogatepass") for term in index.terms]
    ends = np.cumsum([0, *map(len, terms)], dtype=np.int64)
    arrays: dict[str, NDArray[Any]] = {
        "documents": index.documents.data, "document_ends": index.documents.offsets,
        "terms": np.frombuffer(b"".join(terms), np.uint8), "term_ends": ends,
    }  # fmt: skip
    if index.quality is not None:
        arrays["quality"] = index.quality
    for zone, postings in {"": index.postings, **index.zones}.items():
        for name in ("starts", "documents", "frequencies", "lengths", "positions"):
            array = getattr(postings, name)
            if array is not None:
                arrays[f"{zone}/{name}"] = array
    return arrays


def _digest(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> int:
    """Return the checksum of the arrays and of the header, where the entry for the checksum itself is left out."""
    digest = zlib.crc32(json.dumps({name: header[name] for name in header if name != "digest"}).encode())
    for array in arrays.values():
        digest = zlib.crc32(np.ascontiguousarray(array).data, digest)
    return digest


def _header(content: NDArray[np.uint8]) -> tuple[dict[str, Any], int]:
    """Return the header, and the offset at which it ends."""
    if not len(content):
        raise ValueError("it begins like a file of another kind")
    start = len(_MAGIC) + 8
    stop = start + int.from_bytes(content[len(_MAGIC) : start].tobytes(), "little")
    return json.loads(content[start:stop].tobytes()), stop


def _start(file: RegularFile) -> bytes:
    return file.read(min(file.size, len(_MAGIC))).tobytes()


def _split(content: NDArray[np.uint8], header: Mapping[str, Any], start: int) -> dict[str, NDArray[Any]]:
    """Return the arrays as views of the content of the file."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, dtype, n in header["arrays"]:
        if dtype not in _TYPES or not 0 <= n <= len(content):
            raise ValueError(f"{name}: an array cannot have length {n} and type {dtype}")
        start += -start % _ALIGNMENT
        stop = start + n * np.dtype(dtype).itemsize
        if stop > len(content):
            raise ValueError("the file is truncated")
        arrays[name] = content[start:stop].view(dtype)
        start = stop
    if header["digest"] != _digest(header, arrays):
        raise ValueError("the checksum does not match the content")
    return arrays


def _content(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Content:
    ends = as_offsets(arrays["document_ends"], len(arrays["documents"]), "document_ends", "bytes")
    documents = Identifiers.of(_typed(arrays, "documents", "uint8"), ends, header["kind"])
    text = _typed(arrays, "terms", "uint8").tobytes()
    bounds = as_offsets(arrays["term_ends"], len(text), "term_ends", "bytes").tolist()
    terms = [text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]
    if len(set(terms)) != len(terms) or header["kind"] not in ("text", "integer", "any"):
        raise ValueError("a term appears twice, or the kind of the ids is unknown")
    # Files of earlier versions do not have the format.
    format: Format | None = header.get("format")
    if format not in (None, *FORMATS):
        raise ValueError(f"the format {format} is unknown")
    return Content(
        documents, terms,
        _postings_of(arrays, "", len(documents), len(terms)),
        {zone: _postings_of(arrays, zone, len(documents), len(terms)) for zone in header["zones"]},
        _quality_of(arrays, len(documents)),
        None if header["analyzer"] is None else Analyzer(**header["analyzer"]),
        format,
    )  # fmt: skip


def _typed(arrays: Mapping[str, NDArray[Any]], name: str, dtype: str, n: int | None = None) -> NDArray[Any]:
    array = arrays[name]
    if array.dtype != dtype or (n is not None and len(array) != n):
        raise ValueError(f"{name}: wrong length {len(array)} or type {array.dtype}")
    return array


def _postings_of(arrays: Mapping[str, NDArray[Any]], zone: str, n_documents: int, n_terms: int) -> Postings:
    n_postings = len(arrays[f"{zone}/documents"])
    starts = as_offsets(_typed(arrays, f"{zone}/starts", "int64", n_terms + 1), n_postings, "starts", "postings")
    documents = _typed(arrays, f"{zone}/documents", "int32")
    frequencies = _typed(arrays, f"{zone}/frequencies", "int32", n_postings)
    lengths = _typed(arrays, f"{zone}/lengths", "int32", n_documents)
    wrong = _postings.first_disorder(starts, documents, frequencies, n_documents)
    if wrong >= 0 or lengths.min(initial=0) < 0:
        raise ValueError(f"posting {wrong} is out of order")
    positions = None
    if f"{zone}/positions" in arrays:
        positions = _typed(arrays, f"{zone}/positions", "int32", int(frequencies.sum(dtype=np.int64)))
    return Postings(starts, documents, frequencies, lengths, positions)


def _quality_of(arrays: Mapping[str, NDArray[Any]], n_documents: int) -> Values | None:
    if "quality" not in arrays:
        return None
    quality = _typed(arrays, "quality", "float64", n_documents)
    if not ((quality >= 0) & (quality < np.inf)).all():
        raise ValueError("a quality is negative or not finite")
    return quality


def _analyzer_as_json(analyzer: Analysis | None) -> dict[str, Any] | None:
    """Return the parameters of an `Analyzer`; None for another callable, which the caller must pass to `Index.load`."""
    return {"stemmer": analyzer.stemmer, "stop_words": analyzer.stop_words} if type(analyzer) is Analyzer else None
