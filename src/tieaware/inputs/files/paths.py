"""Paths of files, and of part files: several files that contain one run, or the judgments."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias

from tieaware.errors import InputError, printable

Path = str | os.PathLike[str] | BinaryIO

_COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
_SUFFIXES = (
    ".run", ".txt", ".trec", ".res", ".csv", ".tsv", ".parquet", ".feather", ".arrow", ".arrows", ".ipc",
    ".json", ".jsonl", ".ndjson",
)  # fmt: skip
# Files with these first characters describe the parts beside them, or are not complete. The tools that write folders of
# parts skip them too.
_SKIPPED = (".", "_")
# Files that Spark, dask and Databricks write beside the parts of a data set. They contain no rows.
_MARKER = re.compile(r"_SUCCESS|_metadata|_common_metadata|_(started|committed)_\d+")
# A folder of a partitioned data set, such as "run=bm25".
_PARTITION = re.compile(r"[^=]+=[^=]*")
# Tables whose files have a header even if the table has no rows.
_TABLES = (".parquet", ".arrow", ".feather", ".csv", ".tsv")
_DIGITS = re.compile(r"(\d+)")
# The names that tools give to parts, without the usual extensions: Spark and Hadoop (part-00000, part-r-00000-…), dask
# (part.0), DuckDB (data_0), Hive (000000_0), Redshift (0001_part_00).
_PART_NAME = re.compile(r"part[-._]([rm]-)?\d+([-._].*)?|data_\d+|\d{6}_\d+|\d{4,}_part_\d+", re.IGNORECASE)


@dataclass(frozen=True)
class Parts:
    """The paths of the parts of one run, or of the judgments, in the order in which they are read.

    `source_name` is the name of all parts together in messages: the folder or the pattern, or the first part.
    """

    files: tuple[str, ...]
    source_name: str


Source: TypeAlias = Path | Parts


def is_file_object(value: object) -> bool:
    """Return whether an object is a file object: it has a method `read`, and is not a reader of tables of pyarrow."""
    if not hasattr(value, "read"):
        return False
    # Files of pyarrow have `readable`. Its readers, such as pyarrow.parquet.ParquetFile, read tables instead of bytes.
    return hasattr(value, "readable") or type(value).__module__.partition(".")[0] != "pyarrow"


def reason(error: Exception) -> str:
    """Return the message of an exception as a single line."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())


def source_name(source: Source) -> str:
    """Return the name of a file for messages: its path, with control characters and invalid UTF-8 escaped."""
    if isinstance(source, str | os.PathLike):
        text = os.fsdecode(source)
        return "<stdin>" if text == "-" else printable(text)
    if isinstance(source, Parts):
        return source.source_name
    name = getattr(source, "name", None)
    return printable(name) if isinstance(name, str) else "<file>"


def run_name(source: Source) -> str:
    """Return the base name of a file without the suffixes of compression and of run formats; of parts, the folder's."""
    if isinstance(source, Parts):
        return run_name(os.path.basename(os.path.dirname(os.path.abspath(source.files[0])))) or "run"
    name = source_name(source)
    if name in ("<stdin>", "<file>"):
        return "stdin" if name == "<stdin>" else "run"
    name = os.path.basename(name)
    for suffixes in (_COMPRESSED_SUFFIXES, _SUFFIXES):
        for suffix in suffixes:
            if name.endswith(suffix) and name != suffix:
                name = name.removesuffix(suffix)
                break
    return name


def suffix_of(path: Path) -> str:
    """Return the suffix of a path in lower case, without a suffix of compression: ".csv" for "A.CSV.gz".

    Return "" for a file object.
    """
    if not isinstance(path, str | os.PathLike):
        return ""
    text = os.fsdecode(path)
    for suffix in _COMPRESSED_SUFFIXES:
        text = text.removesuffix(suffix)
    return os.path.splitext(text)[1].lower()


def state_of(source: object) -> tuple[int | str, ...] | None:
    """Return the size in bytes and the modification time in ns of a regular file, as stored; None for anything else.

    For parts, return their number, and a digest of their names, sizes and modification times. Their folder is not part
    of the digest, so the parts may be moved.
    """
    if isinstance(source, Parts):
        import hashlib  # Here, because it loads OpenSSL, which takes as long as many modules of this package.

        digest = hashlib.blake2b(digest_size=16)
        for path in source.files:
            state = state_of(path)
            if state is None:
                return None
            digest.update(repr((os.path.basename(path), *state)).encode("utf-8", "backslashreplace"))
        return len(source.files), digest.hexdigest()
    if not isinstance(source, str | os.PathLike) or os.fsdecode(source) == "-":
        return None
    try:
        status = os.stat(source)
    except (OSError, ValueError):
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def stored_size(source: Source) -> int:
    """Return the stored size of a regular file, or of all parts, in bytes; 0 for anything else."""
    if isinstance(source, Parts):
        return sum(map(stored_size, source.files))
    state = state_of(source)
    return 0 if state is None else int(state[0])


def parts_at(value: Any, where: str) -> Any:
    """Return the files in a folder, in a list of paths, or that match a pattern, as Parts.

    A single file is returned as its path. Any other value, such as the path of a file or a list without paths, is
    returned unchanged. `where` is the name of the value in messages.

    Raises
    ------
    InputError
        A list is empty, or contains paths and other values; a folder contains no part; or the file of a table is empty.
    """
    is_list = isinstance(value, list | tuple) and any(isinstance(each, str | os.PathLike) for each in value or [""])
    if is_list:
        files = list(_listed(value, where))
    elif isinstance(value, str | os.PathLike):
        files = _parts_in(os.fsdecode(value))
        if not files:
            return value
    else:
        return value
    if len(files) == 1:
        return files[0]
    for path in files:
        if path.lower().endswith(_TABLES) and os.path.isfile(path) and os.path.getsize(path) == 0:
            # Even a table without rows has a header.
            raise InputError(source_name(path), "this part is empty: it was not written to its end")
    name = f"{source_name(files[0])} and {len(files) - 1} more" if is_list else source_name(value)
    return Parts(tuple(files), name)


def _listed(values: Sequence[Any], where: str) -> Iterator[str]:
    """Yield the files of each path in a list. A path may name a folder, or be a pattern."""
    if not values:
        raise InputError(where, "the list of files is empty")
    for i, value in enumerate(values):
        if not isinstance(value, str | os.PathLike):
            raise InputError(f"{where}[{i}]", f"must be a path like the other parts, not {type(value).__name__}")
        path = os.fsdecode(value)
        yield from _parts_in(path) or ([] if _is_marker(path) else [path])


def _parts_in(path: str) -> list[str]:
    """Return the parts in a folder, or those that match a pattern; [] if the path is neither, or nothing matches."""
    if os.path.isdir(path):
        return _parts_in_folder(path)
    if not glob.has_magic(path) or os.path.exists(path):
        return []
    # A pattern such as "_*.run" asks for files that are otherwise skipped.
    skipped = () if os.path.basename(path).startswith(_SKIPPED) else _SKIPPED
    found = (each for each in glob.glob(path, recursive=True) if os.path.isfile(each))
    return sorted((each for each in found if not os.path.basename(each).startswith(skipped)), key=_natural)


def _parts_in_folder(path: str) -> list[str]:
    where = source_name(path)
    entries = _entries_of(path)
    names = [entry.name for entry in entries]
    if "_delta_log" in names:
        problem = "this is a Delta table, whose folder may hold rows that were deleted"
        raise InputError(where, f"{problem}: pass deltalake.DeltaTable({path!r}).to_pyarrow_dataset()")
    files = [entry.path for entry in entries if not entry.name.startswith(_SKIPPED) and _is_file(entry)]
    if files:
        return sorted(files, key=_natural)
    if any(map(_PARTITION.fullmatch, names)):
        dataset = f"pyarrow.dataset.dataset({path!r}, partitioning='hive'), which has the columns of their names too"
        remedy = f"name their files by the pattern {_pattern_below(path)!r}, or in Python pass {dataset}"
        raise InputError(where, f"there are no files in this folder, but folders of a partitioned data set: {remedy}")
    raise InputError(where, "there are no part files in this folder")


def files_at(path: str) -> list[str]:
    """Return the sorted paths of the files in a folder, or of the files that match a pattern such as "runs/*.run".

    Hidden files in a folder, and files that Spark writes beside its parts, are left out. If the path is not a folder
    and matches no file, return [path], so that opening it reports the error. InputError is raised if the folder
    contains no file, or cannot be read.
    """
    if not os.path.isdir(path):
        is_pattern = "\0" not in path and glob.has_magic(path) and not os.path.exists(path)
        matching = filter(os.path.isfile, glob.glob(path, recursive=True)) if is_pattern else ()
        return sorted(each for each in matching if not _is_marker(each)) or [path]
    entries = [each for each in _entries_of(path) if each.name[0] != "." and not _is_marker(each.path)]
    files = [each.path for each in entries if _is_file(each)]
    if not files:
        problem = "there are no run files in this folder"
        if any(each.is_dir() and not each.name.startswith(_SKIPPED) for each in entries):
            pattern = f"{{'name': {_pattern_below(path)!r}}}"
            problem = f"{problem}, but folders: pass {{name: folder}} if each is a run, or {pattern} if all are one"
        raise InputError(source_name(path), problem)
    return sorted(files)


def _pattern_below(path: str) -> str:
    """Return a pattern for the files of a partitioned data set: those as deep, and with the suffix, as the first."""
    for folder, folders, names in os.walk(path):
        folders.sort()
        files = sorted(name for name in names if not name.startswith(_SKIPPED))
        if files:
            depth = len(os.path.relpath(folder, path).split(os.sep))
            return os.path.join(path, *["*"] * depth, f"*{os.path.splitext(files[0])[1]}")
    return os.path.join(path, "*", "*")


def _entries_of(path: str) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(path))
    except OSError as error:
        raise InputError(source_name(path), reason(error)) from None


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry of a folder is a file or a broken link.

    A broken link counts, so that opening it raises an error: otherwise a run would silently be missing.
    """
    try:
        return entry.is_file() or not os.path.exists(entry.path)
    except OSError:
        # The entry may be a link to itself. It counts as a file, so that opening it reports the error.
        return True


def _is_marker(path: str) -> bool:
    return _MARKER.fullmatch(os.path.basename(path)) is not None


def _natural(path: str) -> list[tuple[int, str]]:
    """Return a key that sorts numbers in paths by their values: part.2 before part.10."""
    return [(int(text), text) if text.isdecimal() else (-1, text) for text in _DIGITS.split(path)]


def are_partitions(paths: Sequence[str]) -> bool:
    """Return whether each file is alone in a folder named like a partition, such as ``model=bm25``."""
    folders = [os.path.dirname(path) for path in paths]
    partitions = all(_PARTITION.fullmatch(os.path.basename(folder)) for folder in folders)
    return partitions and len(set(folders)) == len(folders)


def look_like_parts(names: Iterable[str]) -> list[str]:
    """Return the names that look like names of parts of one run, such as part-00000; [] if there is only one."""
    found = [name for name in names if _PART_NAME.fullmatch(name)]
    return found if len(found) > 1 else []
