from collections.abc import Sequence

from tieaware.kernels._buffers import Column

class BadStream(Exception): ...  # noqa: N818 (its callers turn it into an InputError)

class Stream:
    names: tuple[str, ...]
    def __init__(self, *capsules: object) -> None: ...
    def read(self, columns: Sequence[int]) -> list[Column] | None: ...
