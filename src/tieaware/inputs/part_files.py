"""Part files: several files that contain one run, or the judgments, such as those that Spark, DuckDB and dask write."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tieaware.errors import InputError
from tieaware.inputs.files import run_name, source_name, state_of, stored_size
from tieaware.inputs.folders import SKIPPED, entries_of, is_file, is_marker, pattern_below

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
    """The parts of one run, or of the judgments.

    Parameters
    ----------
    files : tuple of str
        The paths of the parts, in the order in which they are read.
    source_name : str
        The name of all parts together in messages: the folder or the pattern, or the first part.
    """

    files: tuple[str, ...]
    source_name: str

    @property
    def run_name(self) -> str:
        """The name of a run in these parts: the name of the folder that contains the first part."""
        folder = os.path.basename(os.path.dirname(os.path.abspath(self.files[0])))
        return run_name(source_name(folder)) or "run"

    @property
    def size(self) -> int:
        """The stored size of all parts in bytes."""
        return sum(map(stored_size, self.files))

    @property
    def state(self) -> tuple[int, str] | None:
        """The number of parts, and a digest of their names, sizes and modification times; None without regular files.

        The folder of the parts is not part of the digest, so the parts may be moved.
        """
        import hashlib  # Here, because it loads OpenSSL, which takes as long as many modules of this package.

        digest = hashlib.blake2b(digest_size=16)
        for path in self.files:
            state = state_of(path)
            if state is None:
                return None
            digest.update(repr((os.path.basename(path), *state)).encode("utf-8", "backslashreplace"))
        return len(self.files), digest.hexdigest()


def parts_at(value: Any, where: str) -> Any:
    """Return the files in a folder, in a list of paths, or that match a pattern, as Parts.

    A single file is returned as its path. Any other value, such as the path of a file or a list without paths, is
    returned unchanged.

    Parameters
    ----------
    value : object
    where : str
        The name of the value in messages.

    Raises
    ------
    InputError
        A list is empty, or contains paths and other values; a folder contains no part; or the file of a table is empty.
    """
    is_list = isinstance(value, list | tuple) and any(isinstance(each, str | os.PathLike) for each in value or [""])
    if is_list:
        files = list(_listed(value, where))
    elif isinstance(value, str | os.PathLike):
        files = _files_at(os.fsdecode(value))
        if not files:
            return value
    else:
        return value
    if len(files) == 1:
        return files[0]
    _check_tables(files)
    if is_list:
        return Parts(tuple(files), f"{source_name(files[0])} and {len(files) - 1} more")
    return Parts(tuple(files), source_name(value))


def _check_tables(files: Sequence[str]) -> None:
    """Raise InputError if a file of a table is empty: even a table without rows has a header."""
    for path in files:
        if path.lower().endswith(_TABLES) and os.path.isfile(path) and os.path.getsize(path) == 0:
            raise InputError(source_name(path), "this part is empty: it was not written to its end")


def _listed(values: Sequence[Any], where: str) -> Iterator[str]:
    """Yield the files of each path in a list. A path may name a folder, or be a pattern."""
    if not values:
        raise InputError(where, "the list of files is empty")
    for i, value in enumerate(values):
        if not isinstance(value, str | os.PathLike):
            raise InputError(f"{where}[{i}]", f"must be a path like the other parts, not {type(value).__name__}")
        path = os.fsdecode(value)
        yield from _files_at(path) or ([] if is_marker(path) else [path])


def _files_at(path: str) -> list[str]:
    """Return the parts in a folder, or those that match a pattern; [] if the path is neither, or nothing matches."""
    if os.path.isdir(path):
        return _in_folder(path)
    if not glob.has_magic(path) or os.path.exists(path):
        return []
    # A pattern such as "_*.run" asks for files that are otherwise skipped.
    skipped = () if os.path.basename(path).startswith(SKIPPED) else SKIPPED
    found = (each for each in glob.glob(path, recursive=True) if os.path.isfile(each))
    return sorted((each for each in found if not os.path.basename(each).startswith(skipped)), key=_natural)


def _in_folder(path: str) -> list[str]:
    where = source_name(path)
    entries = entries_of(path)
    names = [entry.name for entry in entries]
    if "_delta_log" in names:
        problem = "this is a Delta table, whose folder may hold rows that were deleted"
        raise InputError(where, f"{problem}: pass deltalake.DeltaTable({path!r}).to_pyarrow_dataset()")
    files = [entry.path for entry in entries if not entry.name.startswith(SKIPPED) and is_file(entry)]
    if files:
        return sorted(files, key=_natural)
    if any(map(_PARTITION.fullmatch, names)):
        dataset = f"pyarrow.dataset.dataset({path!r}, partitioning='hive'), which has the columns of their names too"
        remedy = f"name their files by the pattern {pattern_below(path)!r}, or in Python pass {dataset}"
        raise InputError(where, f"there are no files in this folder, but folders of a partitioned data set: {remedy}")
    raise InputError(where, "there are no part files in this folder")


def folders_of_parts(paths: Sequence[str]) -> dict[str, str]:
    """Return {name: folder} if files named like parts are in several folders, each of which may be a run; else {}.

    Parameters
    ----------
    paths : sequence of str
        The paths of all files.

    Returns
    -------
    dict
        {} if two folders have the same name, or are named like partitions, such as ``query=1``, which may be one run.
    """
    folders = list(dict.fromkeys(os.path.dirname(path) for path in paths if _PART_NAME.fullmatch(run_name(path))))
    names = [os.path.basename(folder) for folder in folders]
    distinct = len(set(names)) == len(names) > 1 and all(names) and not any("=" in name for name in names)
    return dict(zip(names, folders, strict=True)) if distinct else {}


def are_partitions(paths: Sequence[str]) -> bool:
    """Return whether each file is alone in a folder named like a partition, such as ``model=bm25``."""
    folders = [os.path.dirname(path) for path in paths]
    partitions = all(_PARTITION.fullmatch(os.path.basename(folder)) for folder in folders)
    return partitions and len(set(folders)) == len(folders)


def _natural(path: str) -> list[tuple[int, str]]:
    """Return a key that sorts numbers in paths by their values: part.2 before part.10."""
    return [(int(text), text) if text.isdecimal() else (-1, text) for text in _DIGITS.split(path)]


def look_like_parts(names: Iterable[str]) -> list[str]:
    """Return the names that look like names of parts of one run, such as part-00000; [] if there is only one."""
    found = [name for name in names if _PART_NAME.fullmatch(name)]
    return found if len(found) > 1 else []
