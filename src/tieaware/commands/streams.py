"""Writing to standard output and standard error, and handling of write errors such as a closed pipe."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from typing import TextIO

from tieaware.errors import InputError, printable
from tieaware.inputs.files.paths import reason
from tieaware.runtime.progress import paused

# The exit statuses that a shell reports for SIGPIPE and SIGINT: 128 plus the number of the signal.
PIPE_CLOSED, INTERRUPTED = 141, 130


def width() -> int | None:
    """Return the width of the terminal on standard output in columns; None if standard output is a file or a pipe."""
    return shutil.get_terminal_size().columns if _is_terminal(sys.stdout) else None


def write(output: str) -> int:
    """Write text to standard output in UTF-8, and return the exit status of the command.

    If standard output is a file or a pipe, identifiers keep their bytes. If it is a terminal, which would obey escape
    sequences in identifiers, non-printable characters are escaped.

    Raises
    ------
    InputError
        If standard output is closed or full, or cannot be written for another reason.
    """
    if sys.stdout is None:
        raise InputError("standard output", "cannot be written: it is closed")
    if _is_terminal(sys.stdout):
        output = printable(output, keep="\n\t")
    try:
        sys.stdout.flush()
        rest = memoryview(output.encode("utf-8", "surrogateescape"))
        while rest:
            # Standard output may be unbuffered (`python -u`): one write to an almost full disk may write only a part.
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
    except OSError as error:
        _discard(sys.stdout)
        if isinstance(error, BrokenPipeError) or (sys.platform == "win32" and error.errno == errno.EINVAL):
            # The reader has closed the pipe, as in `tieaware eval … | head`; Windows reports an invalid argument.
            return PIPE_CLOSED
        raise InputError("standard output", f"cannot be written: {reason(error)}") from None
    return 0


def say(line: str) -> None:
    """Write a line to standard error, if it is open."""
    if sys.stderr is None:
        return
    try:
        with paused():
            sys.stderr.write(f"{printable(line)}\n")
            sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _discard(stream: TextIO) -> None:
    """Redirect a stream to the null device; otherwise Python would flush it at exit, and report the error again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
