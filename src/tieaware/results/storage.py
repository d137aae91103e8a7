"""Results in one file, npz or Parquet: the cube, its axes, and in a header of JSON what made it.

A file is whole or absent, and read back to the same bits. Its digest is over all that it says, so that no damage goes
unnoticed, whatever holds it.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware._version import __version__
from tieaware.checks.arguments import is_whole, shown, unexpected
from tieaware.checks.arrays import Values
from tieaware.errors import InputError
from tieaware.measures import parse_measure
from tieaware.results.provenance import Provenance
from tieaware.runtime.atomic_files import whole_file
from tieaware.runtime.extras import MissingExtraError, load

if TYPE_CHECKING:
    from tieaware.results._results import Results

# Of what is written here. A reader refuses what is newer than it.
_VERSION = 1
_CUBES = ("values", "std", "min", "max")
_DAMAGED = "a whole file of Results, as Results.save writes"


class Stored(NamedTuple):
    """What a file holds: the header, the names along two axes, and the cubes by name, float64[n_runs, n_queries, n]."""

    header: dict[str, Any]
    runs: Sequence[Any]
    queries: Sequence[Any]
    cubes: dict[str, Values]

    def digest(self) -> int:
        """Return the checksum of all of it but itself."""
        header = {name: value for name, value in self.header.items() if name != "digest"}
        digest = zlib.crc32(json.dumps(header, sort_keys=True).encode())
        for names in (self.runs, self.queries):
            digest = zlib.crc32(repr(names).encode("utf-8", "backslashreplace"), digest)
        for name in _CUBES:
            if name in self.cubes:
                digest = zlib.crc32(np.ascontiguousarray(self.cubes[name]).data, digest)
        return digest


def write(results: Results, path: str | os.PathLike[str], key: dict[str, Any] | None = None) -> None:
    """Write a file, of the format that its name ends in; see `tieaware.Results.save`.

    A key, of what JSON knows, is kept with it, for `read_with_key`.
    """
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix not in _WRITERS:
        raise unexpected(os.fspath(path), f"a name that ends in {' or '.join(_WRITERS)}", shown(suffix))
    if not results.measures:
        raise unexpected(os.fspath(path), "results with a measure", f"{results.values.shape}")
    header = {
        "format": _VERSION,
        "tieaware": __version__,
        "shape": list(results.values.shape),
        "measures": [str(measure) for measure in results.measures],
        "names": list(results.names),
        "provenance": None if results.provenance is None else results.provenance._asdict(),
        **({} if key is None else {"key": key}),
    }
    stored = Stored(header, list(results.runs), list(results.queries), results.cubes())
    header["digest"] = stored.digest()
    _WRITERS[suffix](stored, path)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a file that `write` wrote: what Results are made of, by field."""
    return read_with_key(path)[0]


def read_with_key(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Do what `read` does, and return the key as well, if one was given."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            magic = file.read(4)
            if magic not in _READERS:
                raise unexpected(name, "npz or Parquet that Results.save wrote", f"a file that begins with {magic!r}")
            file.seek(0)
            stored = _READERS[magic](file)
        _check(name, stored)
        return _fields(stored), stored.header.get("key")
    except (InputError, MissingExtraError, MemoryError, SystemError):
        # The last is how some functions of NumPy say that there is no memory.
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.strerror:
            raise InputError(name, error.strerror or str(error)) from None
        # Damage can come up anywhere in readers of others.
        raise unexpected(name, _DAMAGED, _line(error)) from None


def _line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _check(name: str, stored: Stored) -> None:
    """Raise InputError unless it is all of what was written, by a version that this one knows."""
    header = stored.header
    if header["format"] > _VERSION:
        newer = f"format {header['format']}, of tieaware {header['tieaware']}"
        raise unexpected(name, f"format {_VERSION} of Results, all that tieaware {__version__} reads", newer)
    if header["digest"] != stored.digest():
        raise unexpected(name, _DAMAGED, "a checksum that is not that of its content")


def _fields(stored: Stored) -> dict[str, Any]:
    header, made = stored.header, stored.header["provenance"]
    return {
        "runs": tuple(stored.runs),
        "queries": tuple(stored.queries),
        "measures": tuple(map(parse_measure, header["measures"])),
        "names": tuple(header["names"]),
        "provenance": None if made is None else Provenance(**made),
        **stored.cubes,
    }


def _write_npz(stored: Stored, path: str | os.PathLike[str]) -> None:
    arrays = {"header": np.frombuffer(json.dumps(stored.header).encode(), dtype=np.uint8), **stored.cubes}
    for axis, names in (("runs", stored.runs), ("queries", stored.queries)):
        column = _as_column(names)
        if isinstance(column, np.ndarray):
            arrays[axis] = column
        else:
            arrays[axis] = np.frombuffer(b"".join(column), dtype=np.uint8)
            arrays[f"{axis}_ends"] = np.cumsum([len(name) for name in column], dtype=np.int64)
    with whole_file(path) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def _read_npz(file: IO[bytes]) -> Stored:
    with np.load(file, allow_pickle=False) as arrays:
        names = {axis: _names_of(arrays, axis) for axis in ("runs", "queries")}
        cubes = {name: arrays[name] for name in _CUBES if name in arrays}
        return Stored(json.loads(arrays["header"].tobytes()), cubes=cubes, **names)


def _names_of(arrays: Mapping[str, npt.NDArray[Any]], axis: str) -> list[Any]:
    names, ends = arrays[axis], f"{axis}_ends"
    if ends not in arrays:
        return list(names.tolist())
    text = names.tobytes()
    return [_as_name(text[start:end]) for start, end in pairwise([0, *arrays[ends].tolist()])]


def _write_parquet(stored: Stored, path: str | os.PathLike[str]) -> None:
    pyarrow, parquet = load("pyarrow", "arrow"), load("pyarrow.parquet", "arrow")
    n_runs, n_queries, _ = stored.header["shape"]
    places = {"run": np.repeat(np.arange(n_runs), n_queries), "query": np.tile(np.arange(n_queries), n_runs)}
    columns = [
        pyarrow.array(_as_text(names)).take(pyarrow.array(places[name]))
        for name, names in (("run", stored.runs), ("query", stored.queries))
    ]
    columns += [pyarrow.array(cube[:, :, m].ravel()) for cube in stored.cubes.values() for m in range(cube.shape[2])]
    suffixes = ["" if kind == "values" else f"_{kind}" for kind in stored.cubes]
    called = ["run", "query", *(f"{name}{suffix}" for suffix in suffixes for name in stored.header["names"])]
    # Rows name the runs and queries, if there are any.
    axes = {} if n_runs and n_queries else {"runs": stored.runs, "queries": stored.queries}
    header = {"tieaware": json.dumps({**stored.header, "cubes": list(stored.cubes), **axes})}
    table = pyarrow.table(columns, names=called, metadata=header)
    with whole_file(path) as file:
        # Dictionaries of numbers do not keep every bit of a NaN.
        parquet.write_table(table, file, use_dictionary=["run", "query"], write_page_checksum=True)


def _read_parquet(file: IO[bytes]) -> Stored:
    parquet = load("pyarrow.parquet", "arrow")
    table = parquet.ParquetFile(file, page_checksum_verification=True).read()
    header = json.loads((table.schema.metadata or {})[b"tieaware"])
    kinds = header.pop("cubes")
    axes = header.pop("runs", None), header.pop("queries", None)
    n_runs, n_queries, n_measures = header["shape"]
    columns = [column.to_numpy() for column in table.columns[2:]]
    cubes = {
        kind: np.stack(columns[i * n_measures : (i + 1) * n_measures], axis=1).reshape(n_runs, n_queries, n_measures)
        for i, kind in enumerate(kinds)
    }
    if axes != (None, None):
        return Stored(header, axes[0], axes[1], cubes)
    runs, queries = table.column(0).take(np.arange(n_runs) * n_queries), table.column(1)[:n_queries]
    return Stored(header, list(map(_as_name, runs.to_pylist())), list(map(_as_name, queries.to_pylist())), cubes)


def _as_column(names: Sequence[Any]) -> npt.NDArray[Any] | list[bytes]:
    """Names as whole numbers, or as bytes, which hold any text: also such as no encoding has."""
    if all(isinstance(name, str) for name in names):
        return [name.encode("utf-8", "surrogatepass") for name in names]
    if all(map(is_whole, names)):
        for dtype in (np.int64, np.uint64):
            with suppress(OverflowError):
                return np.array(names, dtype=dtype)
    raise unexpected("names", "all texts, or all whole numbers of 64 bits", shown(names))


def _as_text(names: Sequence[Any]) -> Any:
    """As `_as_column`, but as text where it is some, which other readers can show."""
    column = _as_column(names)
    try:
        return column if isinstance(column, np.ndarray) else [name.decode() for name in column]
    except UnicodeDecodeError:
        return column


def _as_name(name: Any) -> Any:
    return name.decode("utf-8", "surrogatepass") if isinstance(name, bytes) else name


_WRITERS: dict[str, Callable[[Stored, str | os.PathLike[str]], None]] = {
    ".npz": _write_npz, ".parquet": _write_parquet,
}  # fmt: skip
_READERS: dict[bytes, Callable[[IO[bytes]], Stored]] = {b"PK\x03\x04": _read_npz, b"PAR1": _read_parquet}
