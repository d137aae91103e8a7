"""The files in folders, and the files that match patterns such as "runs/*.run"."""

from __future__ import annotations

import glob
import os
import re
import shlex

from tieaware.errors import InputError
from tieaware.inputs.files import reason, source_name

# Files with these first characters describe the parts beside them, or are not complete. The tools that write folders of
# parts skip them too.
SKIPPED = (".", "_")
# The number of folders in a message.
_SHOWN = 3
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
        is_pattern = "\0" not in path and glob.has_magic(path) and not os.path.exists(path)
        matching = filter(os.path.isfile, glob.glob(path, recursive=True)) if is_pattern else ()
        return sorted(each for each in matching if not is_marker(each)) or [path]
    files = [
        each.path for each in entries_of(path)
        if each.name[0] != "." and not is_marker(each.path) and is_file(each)
    ]  # fmt: skip
    if not files:
        raise InputError(source_name(path), f"there are no run files in this folder{_folders_in(path)}")
    return sorted(files)


def _folders_in(path: str) -> str:
    """Say how to evaluate the folders in a folder without files; return "" if they contain no files either."""
    folders = sorted(each.path for each in entries_of(path) if each.is_dir() and not each.name.startswith(SKIPPED))
    with_files = [each for each in folders if _has_files(each)]
    named = {os.path.basename(each).rpartition("=")[2]: each for each in with_files}
    each_one = ""
    if named and all(named) and len(named) == len(with_files):
        some, more = list(named.items())[:_SHOWN], len(named) > _SHOWN
        items = ", ".join(f"{name!r}: {folder!r}" for name, folder in some) + ", …" * more
        in_shell = shlex.join(f"{name}={folder}" for name, folder in some) + " …" * more
        each_one = f"if each folder is a run, pass {{{items}}}, or on the command line {in_shell}"
    if not any("=" in os.path.basename(each) for each in folders):
        return each_one and f", but folders: {each_one}"
    pattern = pattern_below(path)
    one = f"if it is one run, pass {{'name': {pattern!r}}}, or on the command line NAME={shlex.quote(pattern)}"
    return f", but folders of a partitioned data set: {one}" + (each_one and f"; {each_one}")


def _has_files(path: str) -> bool:
    """Return whether a folder contains files that are not skipped."""
    try:
        return any(not each.name.startswith(SKIPPED) and is_file(each) for each in list(os.scandir(path)))
    except OSError:
        return False


def pattern_below(path: str) -> str:
    """Return a pattern for the files of a partitioned data set: those as deep, and with the suffix, as the first."""
    for folder, folders, names in os.walk(path):
        folders.sort()
        files = sorted(name for name in names if not name.startswith(SKIPPED))
        if files:
            depth = len(os.path.relpath(folder, path).split(os.sep))
            return os.path.join(path, *["*"] * depth, f"*{os.path.splitext(files[0])[1]}")
    return os.path.join(path, "*", "*")


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
