"""Invalid and unusual arguments: numbers, texts, arrays, collections and objects, selected by the bytes of an input."""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
import polars
import pyarrow

T = TypeVar("T")


class Own(Exception):  # noqa: N818 (the exception of a hostile object, which a call may let through)
    """The exception that hostile objects raise."""


class Draw:
    """A source of decisions. Each takes one byte of an input; when the bytes are used up, every decision is 0."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._next = 0

    def below(self, n: int) -> int:
        """Return a number from 0 to n - 1; n is at most 256."""
        self._next += 1
        return self._content[self._next - 1] % n if self._next <= len(self._content) else 0

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def text(self) -> str:
        """Return a text made of the next bytes of the input, at most 63."""
        n = self.below(64)
        taken = self._content[self._next : self._next + n]
        self._next += n
        return taken.decode(self.pick(("utf-8", "latin-1")), "surrogateescape")

    def good_or_hostile(self, good: Any) -> Any:
        """Return a hostile argument in one of four cases; otherwise `good`, or `good()` if it is callable."""
        if self.below(4) == 3:
            return anything(self)
        return good() if callable(good) else good

    def some(self, **options: Any) -> dict[str, Any]:
        """Select some of the keyword arguments. In one of four cases, the value of an argument is hostile."""
        return {name: self.good_or_hostile(good) for name, good in options.items() if self.below(3) == 2}


# ---- Objects -------------------------------------------------------------------------------------


def _raise(*_: object, **__: object) -> Any:
    raise Own("raised by a hostile object")


_METHODS = (
    "__len__", "__iter__", "__getitem__", "__float__", "__index__", "__int__", "__repr__", "__str__", "__eq__",
    "__hash__", "__lt__", "__array__", "__bool__", "__contains__", "__fspath__", "__next__", "__arrow_c_stream__",
    "__dlpack__",
)  # fmt: skip


def raising(*names: str) -> Any:
    """Return an object whose methods of the given names raise an exception."""
    return type("Raising", (), dict.fromkeys(names, _raise))()


class Lies:
    """A sequence that reports a wrong length."""

    def __init__(self, said: int, elements: Sequence[Any]) -> None:
        self.said, self.elements = said, elements

    def __len__(self) -> int:
        return self.said

    def __getitem__(self, i: int) -> Any:
        return self.elements[i]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.elements)


class Shifting(dict[Any, Any]):
    """A dict that loses an item whenever its items or keys are read."""

    def items(self) -> Any:
        if self:
            self.popitem()
        return super().items()

    def keys(self) -> Any:
        if self:
            self.popitem()
        return super().keys()


class Emptying(str):
    """A string that is a key of a dict, and empties this dict when it is compared."""

    target: dict[Any, Any]

    def __eq__(self, other: object) -> bool:
        self.target.clear()
        return str.__eq__(self, other)

    __hash__ = str.__hash__


class AsArray:
    """An object whose method __array__ returns the given object."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array


class AnyMapping(Mapping[Any, Any]):
    """A mapping that is not a dict."""

    def __init__(self, inner: dict[Any, Any]) -> None:
        self.inner = inner

    def __getitem__(self, key: Any) -> Any:
        return self.inner[key]

    def __len__(self) -> int:
        return len(self.inner)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.inner)


def objects(draw: Draw) -> Any:
    """Return an object whose methods raise or return wrong values, or an object of an unsuitable type."""
    itself: list[Any] = [1]
    itself.append(itself)
    emptying = {Emptying("d1"): 1, "d2": 2}
    next(iter(emptying)).target = emptying
    kind = draw.below(14)
    if kind < 4:
        return raising(*{draw.pick(_METHODS) for _ in range(1 + draw.below(4))})
    return (
        lambda: Lies(draw.pick((0, 1, 5, 1000, 2**62)), [number(draw) for _ in range(draw.below(4))]),
        lambda: Shifting({"q1": Shifting({"d1": 1, "d2": 2}), "q2": {"d1": 1}}),
        lambda: {"q1": emptying, "q2": {"d1": 1}},
        lambda: itself,
        lambda: AsArray(draw.pick((array(draw), None, 3, [1, 2]))),
        lambda: AnyMapping({"q1": AnyMapping({"d1": number(draw)})}),
        lambda: (number(draw) for _ in range(draw.below(4))),
        lambda: draw.pick((object(), object, len, ..., NotImplemented, Draw, np, datetime.date(2020, 1, 1))),
        lambda: io.BytesIO(draw.text().encode("utf-8", "surrogateescape")),
        lambda: SimpleNamespace(
            indptr=array(draw),
            indices=array(draw),
            data=array(draw),
            shape=draw.pick(((1, 3), (2**62, 2**62), (-1, 3), 3, None)),
        ),
    )[kind - 4]()


# ---- Numbers, texts and arrays -------------------------------------------------------------------

NUMBERS = (
    0, 1, -1, 2, 3, 10, 2**31 - 1, 2**31, -(2**31) - 1, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30,
    10**400, 10**5000, 0.5, 0.1, 1.0, 1.5, -0.0, 5e-324, 1e308, float("inf"), float("-inf"), float("nan"), True, False,
    None, 1j, Fraction(1, 3), Fraction(10**400, 7), Decimal("1e99"), Decimal("NaN"), Decimal("sNaN"),
    Decimal("1e999999"), np.int8(-1), np.uint64(2**64 - 1), np.float16(1), np.float32(2**31), np.longdouble("1e-4000"),
    np.longdouble("1e4000"), np.bool_(True), np.str_("AP"), np.bytes_(b"AP"), np.datetime64("NaT"), np.complex64(1j),
    np.array(3), np.array([3]),
)  # fmt: skip
TEXTS = (
    "", "AP", "nDCG@10", "P@0", "P@-1", "AP@", "@", "nDCG(dcg='exp-log2')@5", "IPrec@x", "IPrec@2", "RBP(p=1)",
    "RBP(p=nan)", "ERR(max_rel=99)", "AP(rel=99999999999999999999)", "P@1000000000000000000", "P@" + "9" * 5000, "(",
    "AP(rel=", "AP)" * 50, "infAP", "map_cut.10", "ndcg_cut_5", "all_trec", "a" * 10_000, "\0", "\ud800", "\x1b[31m",
    "\u202e", "q\n1", "é", "average", "trec_eval", "optimistic", "bands:1.5", "bands:0", "bands:1e400", "decimals:-1",
    "decimals:400", "levels:0", "levels:9e9", "float16", "significant:0", "AUC(judged_only=True)", "Q(beta=-1)", "both",
    "judged", "d1", "q1", "std", "t", "holm", "none", "-", "/", ".", "../x", "a\0b", "x" * 5000 + "/y", "*", "[", "1.5",
    "1/0", "1e99999",
)  # fmt: skip
DTYPES = (
    "f8", "f4", "f2", "g", "i8", "i4", "i1", "u1", "u8", "?", "O", "U3", "S3", "c16", ">f8", ">i4", "M8[s]", "m8[D]",
    "V4",
)  # fmt: skip
COLUMNS: tuple[list[Any], ...] = (
    ["q1", "q1", "q2"], ["d1", "d2", "d1"], [1, 0, 2], [0.5, 0.25, float("nan")], [None, None, None],
    ["q1", None, "q2"], [2**63, 1, 2], [b"a", b"\xff", b""], [True, False, None], [Decimal("1.5"), None, Decimal(2)],
    [[1], [], [2]], [datetime.date(2020, 1, 1)] * 3, ["", "\0", "\x1b"],
)  # fmt: skip
SHAPES = ((3,), (0,), (1,), (2,), (4,), (), (1, 3), (2, 3), (3, 1), (0, 3), (3, 0), (1, 1, 3))


def number(draw: Draw) -> Any:
    return draw.pick(NUMBERS)


def text(draw: Draw) -> Any:
    value = draw.text() if draw.below(3) == 2 else draw.pick(TEXTS)
    return value.encode("utf-8", "surrogatepass") if draw.below(6) == 5 else value


def array(draw: Draw) -> Any:
    """Return an array of any type, shape and layout."""
    shape = draw.pick(SHAPES)
    size = int(np.prod(shape))
    plain = draw.below(2) == 0
    values = [draw.below(5) - 1 if plain else draw.pick(NUMBERS[:30]) for _ in range(size)]
    dtype = draw.pick(DTYPES)
    with np.errstate(all="ignore"):
        try:
            made = np.array(values, dtype).reshape(shape)
        except (ValueError, TypeError, OverflowError):
            made = np.array([*values, None], object)[:-1].reshape(shape)
    layout = draw.below(10)
    if layout == 1 and made.ndim:
        made = made[..., ::-1]
    elif layout == 2:
        made = np.asfortranarray(made)
    elif layout == 3:
        made.setflags(write=False)
    elif layout == 4 and made.dtype.kind in "fiub":
        unaligned = np.empty(made.nbytes + 1, np.uint8)[1:].view(made.dtype)
        unaligned[:] = made.reshape(-1)
        made = unaligned.reshape(shape)
    elif layout == 5:
        made = np.ma.masked_array(made, mask=np.arange(size).reshape(shape) % 2 == 0)
    elif layout == 6:
        made = np.repeat(made, 2, axis=-1)[..., ::2] if made.ndim else made
    return made


def frame(draw: Draw) -> Any:
    """Return a data frame or an Arrow table, whose columns may have wrong names or types."""
    names = draw.pick(
        (("query_id", "doc_id", "score"), ("query_id", "doc_id", "relevance"), ("a", "b", "doc", "c"), ())
    )
    columns = {name: draw.pick(COLUMNS) for name in names}
    try:
        made = pyarrow.table(columns)
        if draw.below(3) == 2:
            made = made.slice(draw.below(3), draw.below(4))
        if draw.below(3) == 2:
            made = pyarrow.table({name: made[name].combine_chunks().dictionary_encode() for name in made.column_names})
        if draw.below(3) == 2:
            made = pyarrow.concat_tables([made, made])
        return (made, made.to_pandas(), polars.from_arrow(made))[draw.below(3)] if draw.below(2) else made
    except (pyarrow.ArrowException, polars.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        return columns


def collection(draw: Draw) -> Any:
    """Return a list, tuple, set, dict or bytearray, which may be nested."""
    n = draw.below(5)
    kind = draw.below(7)
    inner: Callable[[Draw], Any] = draw.pick((number, text, anything, array))
    if kind == 0:
        return [inner(draw) for _ in range(n)]
    if kind == 1:
        return tuple(inner(draw) for _ in range(n))
    if kind == 2:
        return [[number(draw) for _ in range(draw.below(4))] for _ in range(n)]
    if kind == 3:
        return {"q1": {text(draw): number(draw) for _ in range(n)}}
    if kind == 4:
        return {text(draw): inner(draw) for _ in range(n)}
    if kind == 5:
        return {text(draw) for _ in range(n)}
    return bytearray(n)


def anything(draw: Draw) -> Any:
    return draw.pick((number, text, array, collection, objects, frame, number, text))(draw)
