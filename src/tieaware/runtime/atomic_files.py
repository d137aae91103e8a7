"""Atomic writing of files and folders: complete, or not at all."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from tieaware.checks.arguments import local_path
from tieaware.errors import InputError

_UNFINISHED = ".unfinished-"
# On Windows, a process that made a temporary folder keeps this file in it open while it uses the folder.
_HELD = ".held"


@contextmanager
def unfinished_folder(folder: str | os.PathLike[str]) -> Iterator[str]:
    """Make a temporary folder inside `folder`, and remove it and its content at the end.

    Write files there, and move them to their final places when they are complete. Temporary folders left by processes
    that were killed are removed, too. A lock marks folders in use; the system releases it when the process ends.
    """
    import shutil

    _clear(folder)
    while True:
        made = _new_folder(folder)
        try:
            with _held(made) as held:
                if held:
                    yield made
                    return
        finally:
            shutil.rmtree(made, ignore_errors=True)


def _new_folder(folder: str | os.PathLike[str]) -> str:
    import tempfile

    if sys.platform != "win32":
        return tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder)
    # Do not use mkdtemp: on Windows, files keep its private permissions when they are moved elsewhere.
    made = os.path.join(folder, f"{_UNFINISHED}{os.getpid()}-{os.urandom(8).hex()}")
    os.mkdir(made)
    return made


@contextmanager
def _held(folder: str) -> Iterator[bool]:
    """Lock a new folder; yield False if another process removed the folder as abandoned before it was locked."""
    try:
        if sys.platform == "win32":
            lock = os.open(os.path.join(folder, _HELD), os.O_CREAT | os.O_WRONLY)
        else:
            lock = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        yield False
        return
    try:
        if sys.platform != "win32":
            import fcntl

            # Some file systems have no locks. There, folders left by killed processes are never removed.
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield os.path.isdir(folder)
    finally:
        os.close(lock)


def _clear(folder: str | os.PathLike[str]) -> None:
    """Remove the temporary folders of processes that have ended."""
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            if entry.name.startswith(_UNFINISHED) and entry.is_dir(follow_symlinks=False):
                _clear_one(entry.path)


def _clear_one(path: str) -> None:
    import shutil

    with suppress(OSError):
        if sys.platform == "win32":
            if not os.path.exists(os.path.join(path, _HELD)):
                os.rmdir(path)
                return
            # Windows refuses to remove an open file. The error then ends this function: the folder is still in use.
            os.remove(os.path.join(path, _HELD))
            shutil.rmtree(path, ignore_errors=True)
            return
        import fcntl

        handle = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(handle)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing, so that it appears under its name only when it is complete.

    The content is written to a temporary file in the same folder, which is renamed at the end, or removed after an
    error. If the path exists and is not a regular file, such as a pipe, the content is written directly to it.

    Raises
    ------
    InputError
        If the file cannot be written, or the path is a URL.
    """
    import shutil

    text = local_path("path", path)
    target = os.path.realpath(text)
    try:
        if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
            with open(target, "wb") as file:
                yield file
            return
        folder, name = os.path.split(target)
        # Give the file the permissions of any new file, or of the file that it replaces, instead of those of mkstemp.
        with unfinished_folder(folder) as temporary:
            unfinished = os.path.join(temporary, name)
            with open(unfinished, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileNotFoundError):
                shutil.copymode(target, unfinished)
            os.replace(unfinished, target)
    except OSError as error:
        raise InputError(text, error.strerror or str(error)) from None
