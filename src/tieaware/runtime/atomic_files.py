"""Files that are there whole, or not at all."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from tieaware.errors import InputError

_UNFINISHED = ".unfinished-"
# On Windows: a file in the folder, open as long as its process is at work there.
_HELD = ".held"


@contextmanager
def unfinished_folder(folder: str | os.PathLike[str]) -> Iterator[str]:
    """Make a folder inside the folder, to write in it what is then renamed; in the end, whatever is left in it goes.

    What others have left that were killed at their work goes as well. A lock tells theirs from those of the living: it
    ends with its process, however that ends.
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
    # Windows has the files of a temporary folder for its owner alone, wherever they are moved.
    made = os.path.join(folder, f"{_UNFINISHED}{os.getpid()}-{os.urandom(8).hex()}")
    os.mkdir(made)
    return made


@contextmanager
def _held(folder: str) -> Iterator[bool]:
    """Lock a folder; False, if another has taken it for one that was left before it had its lock."""
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

            # Some file systems have no locks; what is left there stays.
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield os.path.isdir(folder)
    finally:
        os.close(lock)


def _clear(folder: str | os.PathLike[str]) -> None:
    """Remove unfinished folders that nobody holds."""
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
            # An error, as long as it is open.
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
    """Open a file that takes its name, and the place of the one before it, once all is written.

    It is written beside its place, so that to rename it is one step, and after an error nothing of it is left. What is
    no ordinary file, such as a pipe, is written to as it is.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    import shutil

    try:
        target = os.path.realpath(path)
    except ValueError as error:
        raise InputError(os.fspath(path), str(error)) from None
    try:
        if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
            with open(target, "wb") as file:
                yield file
            return
        folder, name = os.path.split(target)
        # Made without a temporary file's own permissions: those of any new file, or of the file that it replaces.
        with unfinished_folder(folder) as beside:
            unfinished = os.path.join(beside, name)
            with open(unfinished, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileNotFoundError):
                shutil.copymode(target, unfinished)
            os.replace(unfinished, target)
    except OSError as error:
        raise InputError(os.fspath(path), error.strerror or str(error)) from None
