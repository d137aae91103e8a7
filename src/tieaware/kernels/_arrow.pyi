from collections.abc import Sequence

from tieaware.kernels._buffers import Column

class BadStream(Exception): ...  # noqa: N818 (a kernel says so, and its caller where)

class Stream:
    names: tuple[str, ...]
    def __init__(self, *capsules: object) -> None: ...
    def read(self, columns: Sequence[int]) -> list[Column] | None: ...
