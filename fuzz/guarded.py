"""Memory that ends where an inaccessible page begins, so that reading one byte beyond it crashes."""

from __future__ import annotations

import ctypes
import mmap

_PAGE = mmap.PAGESIZE
_C = ctypes.CDLL(None, use_errno=True)
_C.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
# The maps live as long as the process, because C structures point to them.
_MAPS: list[mmap.mmap] = []


def guarded(content: bytes) -> int:
    """Return the address of a copy of some bytes, which ends where an inaccessible page begins."""
    size = -len(content) % _PAGE + len(content)
    made = mmap.mmap(-1, size + _PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    _MAPS.append(made)
    start = ctypes.addressof(ctypes.c_char.from_buffer(made))
    made[size - len(content) : size] = content
    assert _C.mprotect(start + size, _PAGE, 0) == 0, "the page cannot be protected"
    return start + size - len(content)
