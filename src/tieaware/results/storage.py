"""Storage of results in one npz or Parquet file.

The file holds the arrays, the names of their runs and queries, and a JSON header with the measures and the provenance.
It is written whole or not at all. Reading it restores every value bit by bit. A checksum over all of the content
reveals any damage.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware._version import __version__
from tieaware.checks.arguments import is_integer, path_text, shown
from tieaware.checks.arrays import Values
from tieaware.engine.views import CHANCE, SPREAD
from tieaware.errors import InputError
from tieaware.measures import parse_measure
from tieaware.results.provenance import Provenance
from tieaware.runtime.atomic_files import whole_file
from tieaware.runtime.extras import MissingExtraError, load
from tieaware.ties import RULES

# The newest version of the file format. Files of a newer version are refused. Version 2 added the arrays of CHANCE; a
# file without them has version 1, which earlier versions of tieaware read.
_VERSION = 2
_ARRAYS = ("values", *SPREAD, *CHANCE)
_DAMAGED = "the file is damaged, or was not written by Results.save"


class Stored(NamedTuple):
    """The content of a file: a header, the names of runs and queries, and arrays [n_runs, n_queries, n_measures]."""

    header: dict[str, Any]
    runs: Sequence[Any]
    queries: Sequence[Any]
    arrays: dict[str, Values]

    def digest(self) -> int:
        """Return the checksum of the content, without the checksum that the header itself holds."""
        header = {name: value for name, value in self.header.items() if name != "digest"}
        digest = zlib.crc32(json.dumps(header, sort_keys=True).encode())
        for names in (self.runs, self.queries):
            digest = zlib.crc32(repr(names).encode("utf-8", "backslashreplace"), digest)
        for name in _ARRAYS:
            if name in self.arrays:
                digest = zlib.crc32(np.ascontiguousarray(self.arrays[name]).data, digest)
        return digest


def write(fields: Mapping[str, Any], path: str | os.PathLike[str], key: dict[str, Any] | None = None) -> None:
    """Write the fields of Results to a file, in the format that its name ends in; see `tieaware.Results.save`.

    `key` is an additional dict that the file stores and `read_with_key` returns. JSON must be able to represent it.
    """
    name = path_text("path", path)
    suffix = os.path.splitext(name)[1].lower()
    if suffix not in _WRITERS:
        hint = "; to_csv(path) writes a CSV file" if suffix == ".csv" else ""
        raise InputError(name, f"the name of the file must end in {' or '.join(_WRITERS)}{hint}")
    if not fields["measures"]:
        raise InputError(name, "results without a measure cannot be saved")
    made = fields["provenance"]
    header = {
        "format": 1 if all(fields.get(name) is None for name in CHANCE) else _VERSION,
        "tieaware": __version__,
        "shape": list(fields["values"].shape),
        "measures": [str(measure) for measure in fields["measures"]],
        "names": list(fields["names"]),
        "provenance": None if made is None else made._asdict(),
        **({"unanswered": fields["unanswered"]} if fields.get("unanswered") else {}),
        **({} if key is None else {"key": key}),
    }
    arrays = {name: fields[name] for name in _ARRAYS if fields.get(name) is not None}
    stored = Stored(header, list(fields["runs"]), list(fields["queries"]), arrays)
    header["digest"] = stored.digest()
    _WRITERS[suffix](stored, path)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a file that `write` wrote: the fields of Results by name."""
    return read_with_key(path)[0]


def read_with_key(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Read a file that `write` wrote: the fields of Results by name, and the key, or None if it has no key."""
    name = path_text("path", path)
    try:
        with open(path, "rb") as file:
            magic = file.read(4)
            if magic not in _READERS:
                raise InputError(name, f"not an npz or Parquet file that Results.save wrote: it begins with {magic!r}")
            file.seek(0)
            stored = _READERS[magic](file)
        _check(name, stored)
        return _fields(stored), stored.header.get("key")
    except (InputError, MissingExtraError, MemoryError, SystemError):
        # Some functions of NumPy raise SystemError when memory runs out.
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.strerror:
            raise InputError(name, error.strerror) from None
        # A damaged file can raise any exception in the libraries that read it.
        raise InputError(name, f"{_DAMAGED} ({_line(error)})") from None


def _line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _check(name: str, stored: Stored) -> None:
    """Raise InputError if a newer version wrote the file, or its content does not match its checksum."""
    header = stored.header
    if header["format"] > _VERSION:
        raise InputError(
            name,
            f"tieaware {header['tieaware']} wrote this file in format {header['format']}; "
            f"tieaware {__version__} reads formats up to {_VERSION}",
        )
    if header["digest"] != stored.digest():
        raise InputError(name, f"{_DAMAGED} (its checksum does not match)")


def _check_types(stored: Stored) -> None:
    """Raise ValueError if a field has another type or size than `write` gives it, although the checksum matches."""
    header, arrays = stored.header, stored.arrays
    shape = len(stored.runs), len(stored.queries), len(header["measures"])
    made, unanswered = header["provenance"], header.get("unanswered", {})
    sound = {
        "runs": _all_of(stored.runs, str),
        "queries": _all_of(stored.queries, str) or all(map(is_integer, stored.queries)),
        "measures": _all_of(header["measures"], str),
        "names": _all_of(header["names"], str) and len(header["names"]) == shape[2],
        "unanswered": isinstance(unanswered, dict) and all(map(is_integer, unanswered.values())),
        "provenance": made is None or _is_provenance(made),
        "key": isinstance(header.get("key", {}), dict),
        "arrays": all(array.dtype == np.float64 and array.shape == shape for array in arrays.values())
        and "values" in arrays
        and all(len(arrays.keys() & set(some)) in (0, len(some)) for some in (SPREAD, CHANCE)),
    }
    for name, good in sound.items():
        if not good:
            raise ValueError(f"{name} have another type or size")


def _all_of(values: Any, kind: type) -> bool:
    return isinstance(values, list | tuple) and all(isinstance(value, kind) for value in values)


def _is_provenance(made: Any) -> bool:
    kinds = {"ties": str, "precision": str | None, "queries": str, "version": str, "complete_lists": bool}
    typed = isinstance(made, dict) and all(name in kinds and isinstance(made[name], kinds[name]) for name in made)
    return typed and made.get("ties") in RULES and made.get("queries") in ("judged", "both")


def _fields(stored: Stored) -> dict[str, Any]:
    _check_types(stored)
    header, made = stored.header, stored.header["provenance"]
    return {
        "runs": tuple(stored.runs),
        "queries": tuple(stored.queries),
        "measures": tuple(map(parse_measure, header["measures"])),
        "names": tuple(header["names"]),
        "provenance": None if made is None else Provenance(**made),
        "unanswered": dict(header.get("unanswered", {})),
        **stored.arrays,
    }


def _write_npz(stored: Stored, path: str | os.PathLike[str]) -> None:
    arrays = {"header": np.frombuffer(json.dumps(stored.header).encode(), dtype=np.uint8), **stored.arrays}
    for axis, names in (("runs", stored.runs), ("queries", stored.queries)):
        encoded = _encoded(names)
        if isinstance(encoded, np.ndarray):
            arrays[axis] = encoded
        else:
            arrays[axis] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
            arrays[f"{axis}_ends"] = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    with whole_file(path) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def _check_sizes(file: IO[bytes]) -> None:
    """Raise ValueError if an array in an npz file claims to be larger than its bytes: it would take any memory."""
    import zipfile

    size = os.fstat(file.fileno()).st_size
    with zipfile.ZipFile(file) as archive:
        for each in archive.infolist():
            with archive.open(each) as member:
                version = np.lib.format.read_magic(member)
                shape, _, dtype = np.lib.format.read_array_header_1_0(member)
                is_whole = math.prod(shape) * dtype.itemsize == each.file_size - member.tell()
            if version != (1, 0) or not is_whole or each.file_size > size or dtype.kind not in "iuf":
                raise ValueError(f"{each.filename} is no array of numbers, or its size is wrong")
    file.seek(0)


def _read_npz(file: IO[bytes]) -> Stored:
    _check_sizes(file)
    with np.load(file, allow_pickle=False) as arrays:
        names = {axis: _npz_names(arrays, axis) for axis in ("runs", "queries")}
        values = {name: arrays[name] for name in _ARRAYS if name in arrays}
        return Stored(json.loads(arrays["header"].tobytes()), arrays=values, **names)


def _npz_names(arrays: Mapping[str, npt.NDArray[Any]], axis: str) -> list[Any]:
    names, ends = arrays[axis], f"{axis}_ends"
    if ends not in arrays:
        return list(names.tolist())
    text = names.tobytes()
    return [_decoded(text[start:end]) for start, end in pairwise([0, *arrays[ends].tolist()])]


def _write_parquet(stored: Stored, path: str | os.PathLike[str]) -> None:
    pyarrow, parquet = load("pyarrow", "arrow"), load("pyarrow.parquet", "arrow")
    n_runs, n_queries, _ = stored.header["shape"]
    places = {"run": np.repeat(np.arange(n_runs), n_queries), "query": np.tile(np.arange(n_queries), n_runs)}
    columns = [
        pyarrow.array(_encoded_as_text(names)).take(pyarrow.array(places[name]))
        for name, names in (("run", stored.runs), ("query", stored.queries))
    ]
    columns += [
        pyarrow.array(array[:, :, m].ravel()) for array in stored.arrays.values() for m in range(array.shape[2])
    ]
    suffixes = ["" if kind == "values" else f"_{kind}" for kind in stored.arrays]
    names = ["run", "query", *(f"{name}{suffix}" for suffix in suffixes for name in stored.header["names"])]
    # The rows hold the names of runs and queries. A table without rows keeps the names in its header.
    axes = {} if n_runs and n_queries else {"runs": stored.runs, "queries": stored.queries}
    header = {"tieaware": json.dumps({**stored.header, "cubes": list(stored.arrays), **axes})}
    table = pyarrow.table(columns, names=names, metadata=header)
    with whole_file(path) as file:
        # Encode only names with a dictionary: dictionary encoding of numbers would not keep the bits of every NaN.
        parquet.write_table(table, file, use_dictionary=["run", "query"], write_page_checksum=True)


def _read_parquet(file: IO[bytes]) -> Stored:
    pyarrow, parquet = load("pyarrow", "arrow"), load("pyarrow.parquet", "arrow")
    opened = parquet.ParquetFile(file, page_checksum_verification=True)
    metadata = opened.schema_arrow.metadata or {}
    if b"tieaware" not in metadata:
        raise InputError(str(file.name), "not a file that Results.save wrote")
    header = json.loads(metadata[b"tieaware"])
    # A column of nulls takes no bytes, so a forged file could claim any number of rows.
    if any(pyarrow.types.is_null(field.type) for field in opened.schema_arrow) and opened.metadata.num_rows:
        raise ValueError("a column has no values")
    table = opened.read()
    kinds = header.pop("cubes")
    axes = header.pop("runs", None), header.pop("queries", None)
    n_runs, n_queries, n_measures = header["shape"]
    columns = [column.to_numpy() for column in table.columns[2:]]
    arrays = {
        kind: np.stack(columns[i * n_measures : (i + 1) * n_measures], axis=1).reshape(n_runs, n_queries, n_measures)
        for i, kind in enumerate(kinds)
    }
    if axes != (None, None) or not table.num_rows:
        return Stored(header, axes[0], axes[1], arrays)
    runs, queries = table.column(0).take(np.arange(n_runs) * n_queries), table.column(1)[:n_queries]
    return Stored(header, list(map(_decoded, runs.to_pylist())), list(map(_decoded, queries.to_pylist())), arrays)


def _encoded(names: Sequence[Any]) -> npt.NDArray[Any] | list[bytes]:
    """Encode names as an array of integers, or each name as bytes, which can hold even text that is not valid UTF-8."""
    if all(isinstance(name, str) for name in names):
        return [name.encode("utf-8", "surrogatepass") for name in names]
    if all(map(is_integer, names)):
        for dtype in (np.int64, np.uint64):
            with suppress(OverflowError):
                return np.array(names, dtype=dtype)
    raise InputError("names", f"must be all text or all integers of 64 bits, found {shown(names)}")


def _encoded_as_text(names: Sequence[Any]) -> Any:
    """Encode names as integers, or as text if all names are valid UTF-8, so that other programs can show them."""
    encoded = _encoded(names)
    try:
        return encoded if isinstance(encoded, np.ndarray) else [name.decode() for name in encoded]
    except UnicodeDecodeError:
        return encoded


def _decoded(name: Any) -> Any:
    return name.decode("utf-8", "surrogatepass") if isinstance(name, bytes) else name


_WRITERS: dict[str, Callable[[Stored, str | os.PathLike[str]], None]] = {
    ".npz": _write_npz, ".parquet": _write_parquet,
}  # fmt: skip
_READERS: dict[bytes, Callable[[IO[bytes]], Stored]] = {b"PK\x03\x04": _read_npz, b"PAR1": _read_parquet}
