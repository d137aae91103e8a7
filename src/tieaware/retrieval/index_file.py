"""An index in one file: a header of JSON, and behind it the arrays as they lie in memory, so that they can be mapped.

The file is whole or absent. What is read is checked before anything is made of it: a checksum tells damage, and that
every number is in its range keeps a hostile file from leading a kernel astray.
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
from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Values, as_offsets
from tieaware.errors import InputError
from tieaware.inputs.files import label_of
from tieaware.kernels import _postings
from tieaware.lists.identifiers import Identifiers
from tieaware.retrieval.analysis import Analysis, Analyzer
from tieaware.retrieval.postings import Postings
from tieaware.runtime.atomic_files import whole_file

_MAGIC = b"tieaware index\n\0"
# Of what is written here. A reader refuses what is newer.
_VERSION = 1
# Where arrays begin: at multiples of the length of a cache line.
_ALIGNMENT = 64
_DAMAGED = "a whole file of an index, as Index.save writes"
_TYPES = ("uint8", "int32", "int64", "float64")


class Parts(NamedTuple):
    """What an index is made of."""

    documents: Identifiers
    terms: list[str]
    postings: Postings
    zones: dict[str, Postings]
    quality: Values | None
    analyzer: Analysis | None


def write(index: Parts, path: str | os.PathLike[str]) -> None:
    """Write a file; see `Index.save`."""
    arrays = _arrays(index)
    header = {
        "version": _VERSION,
        "tieaware": __version__,
        "kind": index.documents.kind,
        "zones": list(index.zones),
        "analyzer": _analyzer_as_json(index.analyzer),
        "arrays": [[name, array.dtype.name, len(array)] for name, array in arrays.items()],
    }
    text = json.dumps(header | {"digest": _digest(header, arrays)}).encode()
    with whole_file(path) as file:
        file.write(_MAGIC + len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            file.write(bytes(-file.tell() % _ALIGNMENT))
            file.write(np.ascontiguousarray(array).data)


def is_index_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as one that `Index.save` wrote.

    Parameters
    ----------
    path : str or os.PathLike
        A file that cannot be read is none.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_index_file("collection.trec")
    False
    """
    try:
        with open(path, "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def read(path: str | os.PathLike[str]) -> Parts:
    """Open a file that `write` wrote; see `Index.load`."""
    label = label_of(path)
    try:
        content = np.memmap(path, np.uint8, "r")
        header, start = _header(content)
        if header["version"] <= _VERSION:
            return _parts(header, _mapped(content, header, start))
        newer = f"version {header['version']}, of tieaware {header['tieaware']}"
    except OSError as error:
        raise InputError(label, error.strerror or str(error)) from None
    except (
        InputError, ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError
    ) as error:  # fmt: skip
        # Whatever there may be in a header that is damaged, or hostile.
        raise unexpected(label, _DAMAGED, " ".join(f"{type(error).__name__}: {error}".split())[:80]) from None
    raise unexpected(label, f"version {_VERSION} of an index, all that tieaware {__version__} reads", newer)


def _arrays(index: Parts) -> dict[str, NDArray[Any]]:
    """Return all arrays by name."""
    terms = [term.encode("utf-8", "surrogatepass") for term in index.terms]
    ends = np.zeros(len(terms) + 1, np.int64)
    np.cumsum([len(term) for term in terms], out=ends[1:])
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
    """Return the checksum of all of it but itself."""
    digest = zlib.crc32(json.dumps({name: header[name] for name in header if name != "digest"}).encode())
    for array in arrays.values():
        digest = zlib.crc32(np.ascontiguousarray(array).data, digest)
    return digest


def _header(content: NDArray[np.uint8]) -> tuple[dict[str, Any], int]:
    """Return the header, and where it ends."""
    magic = content[: len(_MAGIC)].tobytes()
    if magic != _MAGIC:
        raise ValueError(f"one that begins with {magic[:8]!r}")
    start = len(_MAGIC) + 8
    stop = start + int.from_bytes(content[len(_MAGIC) : start].tobytes(), "little")
    return json.loads(content[start:stop].tobytes()), stop


def _mapped(content: NDArray[np.uint8], header: Mapping[str, Any], start: int) -> dict[str, NDArray[Any]]:
    """Return the arrays, where they lie in the file."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, dtype, n in header["arrays"]:
        if dtype not in _TYPES or not 0 <= n <= len(content):
            raise ValueError(f"{n} of {dtype}")
        start += -start % _ALIGNMENT
        stop = start + n * np.dtype(dtype).itemsize
        if stop > len(content):
            raise ValueError("the file is cut")
        arrays[name] = np.asarray(content[start:stop]).view(dtype)
        start = stop
    if header["digest"] != _digest(header, arrays):
        raise ValueError("a checksum that is not that of its content")
    return arrays


def _parts(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Parts:
    ends = as_offsets(arrays["document_ends"], len(arrays["documents"]), "document_ends", "bytes")
    documents = Identifiers.of(_typed(arrays, "documents", "uint8"), ends, header["kind"])
    text = _typed(arrays, "terms", "uint8").tobytes()
    bounds = as_offsets(arrays["term_ends"], len(text), "term_ends", "bytes").tolist()
    terms = [text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]
    if len(set(terms)) != len(terms) or header["kind"] not in ("text", "integer", "any"):
        raise ValueError("a term twice, or an unknown kind")
    return Parts(
        documents, terms,
        _postings_of(arrays, "", len(documents), len(terms)),
        {zone: _postings_of(arrays, zone, len(documents), len(terms)) for zone in header["zones"]},
        _quality_of(arrays, len(documents)),
        None if header["analyzer"] is None else Analyzer(**header["analyzer"]),
    )  # fmt: skip


def _typed(arrays: Mapping[str, NDArray[Any]], name: str, dtype: str, n: int | None = None) -> NDArray[Any]:
    array = arrays[name]
    if array.dtype != dtype or (n is not None and len(array) != n):
        raise ValueError(f"{name}: {len(array)} of {array.dtype}")
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
    if not ((quality >= 0) & (quality <= 1)).all():
        raise ValueError("a quality outside 0 to 1")
    return quality


def _analyzer_as_json(analyzer: Analysis | None) -> dict[str, Any] | None:
    """Return the parameters of an `Analyzer`; nothing of another callable, which has to be given again."""
    return {"stemmer": analyzer.stemmer, "stop_words": analyzer.stop_words} if type(analyzer) is Analyzer else None
