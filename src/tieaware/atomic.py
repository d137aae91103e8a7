"""Files that are there whole, or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from tieaware.errors import InputError


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
    import tempfile

    target = os.path.realpath(path)
    try:
        if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
            with open(target, "wb") as file:
                yield file
            return
        folder, name = os.path.split(target)
        # Made without a temporary file's own permissions: those of any new file, or of the file that it replaces.
        with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=folder) as beside:
            unfinished = os.path.join(beside, name)
            with open(unfinished, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileNotFoundError):
                shutil.copymode(target, unfinished)
            os.replace(unfinished, target)
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: {error.strerror or error}") from None
