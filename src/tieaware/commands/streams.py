"""Standard output and standard error: what is written there, for whom, and what may go wrong."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from typing import TextIO

from tieaware.errors import InputError, printable
from tieaware.inputs.files import reason
from tieaware.runtime.progress import paused

# As a shell says that SIGPIPE and SIGINT ended a program: 128 and the number of the signal.
PIPE_CLOSED, INTERRUPTED = 141, 130


def width() -> int | None:
    """Return how many columns a terminal on standard output has; None where there is none, but a file or a pipe."""
    return shutil.get_terminal_size().columns if _is_terminal(sys.stdout) else None


def write(output: str) -> int:
    """Write all of the output, in UTF-8, and return the exit status.

    A file or a pipe gets the identifiers with the bytes that they have; a terminal, which would obey the escape
    sequences in them, gets these as text.

    Raises
    ------
    InputError
        If standard output is closed or full, or fails else.
    """
    if sys.stdout is None:
        raise InputError("standard output", "cannot be written: it is closed")
    if _is_terminal(sys.stdout):
        output = printable(output, keep="\n\t")
    try:
        sys.stdout.flush()
        rest = memoryview(output.encode("utf-8", "surrogateescape"))
        while rest:
            # Without a buffer, as under `python -u`, a disk that is nearly full takes a part, and the next write fails.
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
    except OSError as error:
        _discard(sys.stdout)
        if _is_closed_pipe(error):
            # The reader has seen enough, as in `tieaware eval … | head`.
            return PIPE_CLOSED
        raise InputError("standard output", f"cannot be written: {reason(error)}") from None
    return 0


def say(line: str) -> None:
    """Write a line to standard error, where there is one."""
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


def _is_closed_pipe(error: OSError) -> bool:
    """Whether nobody reads any more; Windows has no error of its own for that."""
    return isinstance(error, BrokenPipeError) or (sys.platform == "win32" and error.errno == errno.EINVAL)


def _discard(stream: TextIO) -> None:
    """Let go of what could not be written: Python tries again when it ends, and would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
