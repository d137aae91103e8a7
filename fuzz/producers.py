"""Fuzzing of the Arrow C interface: producers with forged lengths, offsets, counts, types, pointers and callbacks.

Every buffer has exactly the size that the forged numbers imply, and ends at an inaccessible page; where they imply more
than a megabyte, or nothing, it is absent. A run or judgments, or an error of one line, is expected, and each structure
must be released at most once. Needs no compiler: .venv/bin/python fuzz/producers.py --seconds 60
"""

from __future__ import annotations

import ctypes
import gc
import random
import struct
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

from forked import outcome, search
from guarded import guarded

import tieaware

warnings.simplefilter("ignore", UserWarning)

POINTER = ctypes.c_void_p
# Larger buffers are absent: a producer that claims them has no memory for them either.
MOST = 1 << 20
NUMBERS = (0, 1, -1, 2, 3, 5, 7, 8, 9, 63, 64, 2**31 - 1, 2**31, 2**40, 2**48, 2**48 + 1, 2**62, 2**63 - 1, -(2**63))
WIDTHS = {
    b"c": 1, b"C": 1, b"s": 2, b"S": 2, b"i": 4, b"I": 4, b"l": 8, b"L": 8, b"e": 2, b"f": 4, b"g": 8, b"w:3": 3,
    b"w:0": 0, b"tdD": 4, b"d:38,0": 16,
}  # fmt: skip
TEXTS = (b"u", b"z", b"U", b"Z", b"vu", b"vz")
FORMS = (*TEXTS, *WIDTHS, b"n", b"b")
LARGEST_FORM = b"w:2147483647"
HOSTILE_FORMS = (
    b"", b"w:", b"w:-1", b"w:99999999999999999999", b"w:" + b"9" * 5000, b"\xff\xfe", b"+l", b"+s", b"+m", b"+ud:0,1",
    b"u\n", b"x" * 300, b"tss:UTC", LARGEST_FORM,
)  # fmt: skip
NAMES = (b"query_id", b"doc_id", b"score", b"relevance", b"query", b"doc", b"", b"\xff", b"a\nb")


class Schema(ctypes.Structure):
    _fields_ = (
        ("format", POINTER), ("name", POINTER), ("metadata", POINTER), ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64), ("children", POINTER), ("dictionary", POINTER), ("release", POINTER),
        ("private", POINTER),
    )  # fmt: skip


class Array(ctypes.Structure):
    _fields_ = (
        ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", POINTER), ("children", POINTER),
        ("dictionary", POINTER), ("release", POINTER), ("private", POINTER),
    )  # fmt: skip


class Stream(ctypes.Structure):
    _fields_ = tuple((name, POINTER) for name in ("get_schema", "get_next", "get_last_error", "release", "private"))


RELEASE = ctypes.CFUNCTYPE(None, POINTER)
GET = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, POINTER)
ERROR = ctypes.CFUNCTYPE(POINTER, POINTER)
capsule_of = ctypes.pythonapi.PyCapsule_New
capsule_of.restype, capsule_of.argtypes = ctypes.py_object, [POINTER, ctypes.c_char_p, POINTER]


def address_of(function: Any) -> int:
    found = ctypes.cast(function, POINTER).value
    assert found is not None
    return found


def pointers(draw: random.Random, addresses: list[int | None]) -> int | None:
    """Return the address of an array of pointers, which is absent in rare cases."""
    if draw.random() < 0.02:
        return None
    return guarded(struct.pack(f"{len(addresses)}P", *(each or 0 for each in addresses)))


class Column:
    """One column of a producer: its type, and arrays of any length, with forged numbers."""

    def __init__(self, draw: random.Random, name: bytes, nested: bool = False, usual: bool = False) -> None:
        self.draw, self.name = draw, name
        self.form: bytes | None = draw.choice(FORMS)
        if usual and draw.random() < 0.8:
            self.form = draw.choice((b"g", b"f", b"l", b"c", b"b") if name in NAMES[2:4] else (*TEXTS, b"l", b"w:3"))
        if draw.random() < 0.02:
            self.form = draw.choice((*HOSTILE_FORMS, None))
        self.values: Column | None = None
        if draw.random() < (0.02 if nested else 0.2):
            self.values = Column(draw, b"", nested=True)
            if draw.random() < 0.9:
                self.form = draw.choice((b"c", b"C", b"s", b"i", b"I", b"l", b"L"))

    def schema(self, release: int) -> Schema:
        form = None if self.form is None else guarded(self.form + b"\0")
        values = None if self.values is None else ctypes.addressof(kept(self.values.schema(release)))
        name = None if self.draw.random() < 0.01 else guarded(self.name + b"\0")
        return Schema(form, name, None, 2, 0, None, values, release if self.draw.random() < 0.98 else None, None)

    def forged(self, number: int) -> int:
        """Return the number, or another one in rare cases."""
        if self.draw.random() < 0.95:
            return number
        return self.draw.choice(NUMBERS) if self.draw.random() < 0.5 else number + self.draw.choice((-1, 1, 8))

    def buffer(self, content: Callable[[], bytes], size: int) -> int | None:
        """Return the address of a buffer of a size; None if this is too large or negative, or in rare cases."""
        if not 0 <= size <= MOST or self.draw.random() < 0.01:
            return None
        made = content()
        assert len(made) == size
        return guarded(made)

    def array(self, n: int, release: int) -> Array:
        draw = self.draw
        length, offset, nulls = self.forged(n), self.forged(draw.choice((0, 0, 0, 1, 7))), self.forged(0)
        end = length + offset
        bits = (max(end, 0) + 7) // 8
        valid = None
        if nulls != 0 or draw.random() < 0.2:
            valid = self.buffer(lambda: draw.choice((b"\xff" * bits, draw.randbytes(bits))), bits)
        buffers = [valid, *self.contents(end)]
        if self.form == b"n" and self.values is None:
            buffers = []
        n_buffers = len(buffers)
        if draw.random() < 0.03:
            # More buffers than the type has are absent; of fewer, none is read beyond the array of their addresses.
            n_buffers = draw.choice((-1, 0, 1, 2, 3, 4, 5))
            buffers = (buffers + 5 * [None])[: max(n_buffers, 0)]
        values = None
        if self.values is not None and draw.random() < 0.98:
            values = ctypes.addressof(kept(self.values.array(draw.choice((0, 1, 3, 40)), release)))
        return Array(
            length, nulls, offset, n_buffers, 0, pointers(draw, buffers), None, values,
            release if draw.random() < 0.99 else None, None,
        )  # fmt: skip

    def contents(self, end: int) -> list[int | None]:
        """Return the addresses of the buffers after the validity bitmap."""
        form = self.form
        if self.values is None and form in TEXTS:
            return self.views(end) if form in (b"vu", b"vz") else self.text(end, "i" if form in (b"u", b"z") else "q")
        # A type that tieaware does not read has values of any width.
        width = 2**31 - 1 if form == LARGEST_FORM else WIDTHS.get(form or b"", 8)
        size = (max(end, 0) + 7) // 8 if form == b"b" else end * width
        return [self.buffer(lambda: self.numbers(size, width), size)]

    def numbers(self, size: int, width: int) -> bytes:
        draw = self.draw
        if self.form == b"g" and size % 8 == 0 and draw.random() < 0.8:
            return struct.pack(f"={size // 8}d", *(draw.choice((0.5, 1.0, -0.0, 2.0)) for _ in range(size // 8)))
        if self.values is not None or draw.random() < 0.7:
            # Small numbers, such as indices of a dictionary.
            n = size // width if width else 0
            content = b"".join((draw.randrange(-1, 4) & 255).to_bytes(width, "little") for _ in range(n))
            return content + bytes(size - len(content))
        return draw.randbytes(size)

    def text(self, end: int, kind: str) -> list[int | None]:
        """Return offsets, some of which do not ascend, and data up to the last offset."""
        draw = self.draw
        if not 0 <= end < MOST // 8:
            return [None, None]
        sizes = [draw.choice((0, 1, 2, 12, 13)) for _ in range(end)]
        offsets = [0] * (end + 1)
        for i, size in enumerate(sizes):
            offsets[i + 1] = offsets[i] + size
        while draw.random() < 0.1:
            most = 2**31 if kind == "i" else 2**63
            offsets[draw.randrange(end + 1)] = (draw.choice(NUMBERS) + most) % (2 * most) - most
        last = offsets[-1]
        content = struct.pack(f"={end + 1}{kind}", *offsets)
        return [
            self.buffer(lambda: content, len(content)),
            self.buffer(lambda: bytes(65 + i % 5 for i in range(last)), last),
        ]

    def views(self, end: int) -> list[int | None]:
        """Return views, data buffers and their sizes, which the producer may not tell."""
        draw = self.draw
        if not 0 <= end <= MOST // 16:
            return [None, None]
        sizes = [draw.choice((0, 13, 40, 2**31 - 1, -1, 2**62)) for _ in range(draw.randrange(3))]
        data = [self.buffer(lambda size=size: bytes(size), size) for size in sizes]  # type: ignore[misc]
        # A buffer that is absent has no byte.
        sizes = [
            size if address is not None else draw.choice((0, size)) for size, address in zip(sizes, data, strict=True)
        ]
        content = b""
        for i in range(end):
            if draw.random() < 0.6:
                content += struct.pack("=i12s", draw.choice((0, 2, 12)), b"document%04d" % i)
            else:
                length, buffer = draw.choice((13, 40, 12, -1, 2**31 - 1)), draw.choice((0, 0, 1, 2, -1, 2**31 - 1))
                content += struct.pack("=i4sii", length, b"docu", buffer, draw.choice((0, 0, 1, 27, -1, 2**31 - 1)))
        told = struct.pack(f"={len(sizes)}q", *sizes)
        return [self.buffer(lambda: content, len(content)), *data, self.buffer(lambda: told, len(told))]


KEPT: list[Any] = []


def kept(structure: Any) -> Any:
    """Keep an object until the end of the case, and return it."""
    KEPT.append(structure)
    return structure


class Producer:
    """A producer of one table, as a stream of batches or as a single array."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.released: Counter[int] = Counter()
        names = draw.choice((NAMES[:3], (NAMES[0], NAMES[1], NAMES[3]), NAMES[:3], draw.choices(NAMES, k=3)))
        self.columns = [Column(draw, name, usual=True) for name in names[: draw.choice((3, 3, 3, 3, 2, 0))]]
        self.batches = draw.choice((1, 1, 2, 0))
        self.is_table = draw.random() < 0.97
        self.calls = (
            GET(self.get_schema), GET(self.get_next), ERROR(self.last_error), RELEASE(self.release_of(Stream)),
            RELEASE(self.release_of(Schema)), RELEASE(self.release_of(Array)),
        )  # fmt: skip
        kept((self, self.calls))

    def release_of(self, structure: Any) -> Callable[[int], None]:
        def release(address: int) -> None:
            found = ctypes.cast(address, ctypes.POINTER(structure)).contents
            assert found.release is not None
            self.released[structure.__name__] += 1
            found.release = None

        return release

    def last_error(self, _: int) -> int | None:
        return self.draw.choice((None, guarded(b"out of luck\0"), guarded(b"two\nlines \xff\0")))

    def schema(self) -> Schema:
        release = address_of(self.calls[4])
        if not self.is_table:
            return self.columns[0].schema(release) if self.columns else Schema()
        children = [ctypes.addressof(kept(column.schema(release))) for column in self.columns]
        table = pointers(self.draw, children) if self.draw.random() < 0.99 else None
        n = len(children) if self.draw.random() < 0.98 else self.draw.choice((-1, 0, 1))
        return Schema(guarded(b"+s\0"), guarded(b"\0"), None, 0, min(n, len(children)), table, None, release, None)

    def array(self) -> Array:
        draw, release = self.draw, address_of(self.calls[5])
        n = draw.choice((0, 1, 5, 40))
        if not self.is_table:
            return self.columns[0].array(n, release) if self.columns else Array()
        children = [ctypes.addressof(kept(column.array(n, release))) for column in self.columns]
        length, offset, nulls = (n if draw.random() < 0.97 else draw.choice(NUMBERS)), 0, 0
        if draw.random() < 0.05:
            offset = draw.choice(NUMBERS)
        if draw.random() < 0.05:
            nulls = draw.choice(NUMBERS)
        bits = (max(length + offset, 0) + 7) // 8
        valid = guarded(draw.randbytes(bits)) if bits <= MOST and draw.random() < 0.5 else None
        n_children = len(children) if draw.random() < 0.98 else draw.choice((-1, 0, 1, len(children) + 1))
        return Array(
            length, nulls, offset, 1, n_children, pointers(draw, [valid]),
            pointers(draw, [*children, None]), None, release if draw.random() < 0.99 else None, None,
        )  # fmt: skip

    def code(self) -> int:
        return self.draw.choice((5, -1, 2**31 - 1)) if self.draw.random() < 0.01 else 0

    def get_schema(self, _: int, address: int) -> int:
        code = self.code()
        if not code:
            ctypes.cast(address, ctypes.POINTER(Schema))[0] = self.schema()
        return code

    def get_next(self, _: int, address: int) -> int:
        code = self.code()
        made = Array()
        if self.batches:
            self.batches -= 1
            made = self.array()
        if not code:
            ctypes.cast(address, ctypes.POINTER(Array))[0] = made
        return code

    def stream(self) -> Stream:
        get_schema, get_next, last_error, release = (address_of(call) for call in self.calls[:4])
        given = last_error if self.draw.random() < 0.95 else None
        return Stream(get_schema, get_next, given, release if self.draw.random() < 0.99 else None, None)


class StreamProducer(Producer):
    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return capsule_of(ctypes.addressof(kept(self.stream())), b"arrow_array_stream", None)


class ArrayProducer(Producer):
    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        names = b"arrow_schema", b"arrow_array"
        return tuple(
            capsule_of(ctypes.addressof(kept(made)), name, None)
            for made, name in zip((self.schema(), self.array()), names, strict=True)
        )


def read(producer: Producer, way: int) -> None:
    """Read the table that a producer exports."""
    if way == 0:
        tieaware.Run.from_arrow(producer, duplicates="first")
    elif way == 1:
        tieaware.Qrels.from_arrow(producer)
    else:
        tieaware.evaluate({"q": {"A": 1}}, {"run": producer}, "AP")


def check(draw: random.Random, folder: str) -> Counter[str]:
    """Read one producer in one way; its structures must not be released twice."""
    KEPT.clear()
    raised: list[Any] = []
    sys.unraisablehook = lambda error: raised.append(error.exc_value)
    producer = draw.choice((StreamProducer, StreamProducer, ArrayProducer))(draw)
    found = outcome(lambda: read(producer, draw.randrange(3)))
    gc.collect(0)
    assert not raised, f"a callback raised {raised[0]!r}"
    return Counter([found])


if __name__ == "__main__":
    sys.exit(search("producers", check, __doc__.splitlines()[0]))
