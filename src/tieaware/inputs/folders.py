"""The files in folders, and the files that match patterns such as "runs/*.run"."""

from __future__ import annotations

import glob
import os
import re

from tieaware.errors import InputError
from tieaware.inputs.files import reason, source_name

# Files that Spark, dask and Databricks write beside the parts of a data set. They contain no rows.
_MARKER = re.compile(r"_SUCCESS|_metadata|_common_metadata|_(started|committed)_\d+")


def files_at(path: str) -> list[str]:
    """Return the sorted paths of the files in a folder, or of the files that match a pattern such as "runs/*.run".

    Hidden files in a folder, and files that Spark writes beside its parts, are left out. If the path is not a folder
    and matches no file, return [path], so that opening it reports the error.

    Raises
    ------
    InputError
        The folder contains no file, or cannot be read.
    """
    if not os.path.isdir(path):
        is_pattern = glob.has_magic(path) and not os.path.exists(path)
        matching = filter(os.path.isfile, glob.glob(path, recursive=True)) if is_pattern else ()
        return sorted(each for each in matching if not is_marker(each)) or [path]
    files = [
        each.path for each in entries_of(path)
        if each.name[0] != "." and not is_marker(each.path) and is_file(each)
    ]  # fmt: skip
    if not files:
        problem = "there are no run files in this folder"
        if any("=" in each.name for each in entries_of(path)):
            problem += ", but folders of a partitioned data set, which is one run: give it a name, as in "
            problem += f"{{'bm25': {path!r}}} or on the command line bm25={path}"
        raise InputError(source_name(path), problem)
    return sorted(files)


def entries_of(path: str) -> list[os.DirEntry[str]]:
    """Return the entries of a folder. Raise InputError if it cannot be read."""
    try:
        return list(os.scandir(path))
    except OSError as error:
        raise InputError(source_name(path), reason(error)) from None


def is_file(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry of a folder is a file or a broken link.

    A broken link counts, so that opening it raises an error: otherwise a run would silently be missing.
    """
    try:
        return entry.is_file() or not os.path.exists(entry.path)
    except OSError:
        # The entry may be a link to itself. It counts as a file, so that opening it reports the error.
        return True


def is_marker(path: str) -> bool:
    """Return whether a file has a name of those that tools write beside part files, such as _SUCCESS."""
    return _MARKER.fullmatch(os.path.basename(path)) is not None
