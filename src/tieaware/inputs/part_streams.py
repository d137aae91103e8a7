"""Reading of part files in TREC's formats as one stream of bytes."""

from __future__ import annotations

from bisect import bisect_left
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tieaware.errors import InputError
from tieaware.inputs.arrow_files import check_by_path
from tieaware.inputs.files import ByteStream, Path
from tieaware.inputs.part_files import Parts
from tieaware.inputs.table_files import table_in
from tieaware.inputs.text import BYTE_ORDER_MARK

_NEWLINE, _RETURN = 10, 13


class PartsStream:
    """The decompressed bytes of part files, one file after another, as a context manager.

    It has the attributes and methods of `ByteStream` that readers of TREC files need. A part whose last line has no end
    gets one, and byte order marks are left out.

    Parameters
    ----------
    parts : Parts

    Attributes
    ----------
    path : Parts
    source_name, run_name : str
        As for `ByteStream`, for all parts together.
    reopenable : bool
        Whether all parts are regular files, which can be read again.
    """

    def __init__(self, parts: Parts) -> None:
        self.path = parts
        self.source_name: str = parts.source_name
        self.run_name: str = parts.run_name
        self.reopenable: bool = parts.state is not None
        self._waiting = iter(parts.files)
        self._part: ByteStream | None = None
        self._ends_line = True
        # Whether the last byte was a carriage return, so that a newline now does not end another line.
        self._returned = False
        # The names of the parts opened so far, and the number of lines before each of them.
        self._names: list[str] = []
        self._lines_before: list[int] = []
        self._lines = 0

    def read_into(self, buffer: memoryview) -> int:
        """Write the next bytes to the beginning of `buffer`; return their number, which is 0 after the last part.

        Raises
        ------
        InputError
            A part cannot be read, or is a table.
        """
        while self._part is not None or self._open_next():
            assert self._part is not None
            size = self._part.read_into(buffer)
            if size == 0:
                self._close_part()
                if self._ends_line:
                    continue
                buffer[0], size = _NEWLINE, 1
            text = np.frombuffer(buffer[:size], np.uint8)
            self._lines += self._lines_in(text)
            self._ends_line = bool(text[-1] == _NEWLINE)
            self._returned = bool(text[-1] == _RETURN)
            return size
        return 0

    def _lines_in(self, text: NDArray[np.uint8]) -> int:
        """Return how many lines end in a text, each with a newline, a carriage return, or both."""
        newlines = text == _NEWLINE
        n = int(np.count_nonzero(newlines)) - int(self._returned and newlines[0])
        returns = np.flatnonzero(text[:-1] == _RETURN)
        return n + len(returns) + int(text[-1] == _RETURN) - int(np.count_nonzero(newlines[returns + 1]))

    def _open_next(self) -> bool:
        """Open the next part that is not empty; return False if there is none."""
        for path in self._waiting:
            part = _opened_file(path)
            try:
                if part.start:
                    self._check_format(part)
                    if part.peek_line().startswith(BYTE_ORDER_MARK):
                        part.read_into(memoryview(bytearray(len(BYTE_ORDER_MARK))))
                    self._part = part
                    self._names.append(part.source_name)
                    self._lines_before.append(self._lines)
                    return True
            finally:
                if self._part is not part:
                    part.close()
        return False

    def _check_format(self, part: ByteStream) -> None:
        if self._names and part.reopenable and table_in(part) is not None:
            problem = f"this part is a table, but {self._names[0]} is not"
            raise InputError(part.source_name, f"{problem}: the parts of a run must have the same format")

    def place(self, line: int) -> str:
        """Return "part:n" for a line number, counted from the beginning of the first part."""
        i = max(bisect_left(self._lines_before, line) - 1, 0)
        return f"{self._names[i]}:{line - self._lines_before[i]}" if self._names else self.source_name

    def first_place(self, line: int) -> str:
        """Return the same as `place`: the earlier of two lines may be in another part."""
        return self.place(line)

    def check_rest(self) -> None:
        """Raise InputError if the rest of the current part is compressed and corrupt or truncated."""
        if self._part is not None:
            self._part.check_rest()

    def _close_part(self) -> None:
        part, self._part = self._part, None
        if part is not None:
            part.close()

    def __enter__(self) -> PartsStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._close_part()


TextStream: TypeAlias = ByteStream | PartsStream


def opened(path: Path | Parts) -> TextStream:
    """Open a file, or part files, for reading from the beginning.

    Raises
    ------
    InputError
        The file cannot be read, or is a Parquet or Arrow file that was not passed by its path.
    """
    return PartsStream(path) if isinstance(path, Parts) else _opened_file(path)


def _opened_file(path: Path) -> ByteStream:
    stream = ByteStream(path)
    try:
        check_by_path(stream)
    except InputError:
        stream.close()
        raise
    return stream
