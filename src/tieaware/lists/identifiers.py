"""Identifiers of queries and documents, as one column of bytes."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import shown, unexpected
from tieaware.checks.arrays import Integers, Offsets, as_flat, as_integers, as_offsets
from tieaware.errors import InputError
from tieaware.kernels import _dicts, _join, _order

__all__ = ["Identifiers"]

_LONGEST_SHOWN = 80

Array = TypeVar("Array", bound=NDArray[Any])

# What a column was made of. Text and integers do not match one another; "any", of a dict or a mixture, matches both.
Kind: TypeAlias = Literal["text", "integer", "any"]
_CLASSES: dict[Kind, tuple[type, ...]] = {"text": (str, bytes), "integer": (int, np.integer)}


def quoted(identifier: bytes) -> str:
    """Quote an identifier for an error message: printable, on one line, and not too long."""
    text = identifier[:_LONGEST_SHOWN].decode("utf-8", "backslashreplace")
    return repr(text) + ("…" if len(identifier) > _LONGEST_SHOWN else "")


def _kind_of(types: set[type]) -> Kind:
    """Tell what a column is made of: text if all of it is that, integers if all are; no value tells nothing."""
    for kind, classes in _CLASSES.items():
        if types and all(issubclass(each, classes) for each in types):
            return kind
    return "any"


def _offsets_of(identifiers: list[str] | list[bytes]) -> Offsets:
    """Return the offsets of identifiers that follow one another."""
    offsets = np.zeros(len(identifiers) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, identifiers), np.int64, len(identifiers)), out=offsets[1:])
    return offsets


def frozen(array: Array) -> Array:
    """Return the array, which nothing can be written to from here on."""
    array.setflags(write=False)
    return array


def encoded(value: object) -> bytes:
    """Return the bytes of one identifier.

    Raises
    ------
    TypeError, ValueError
        It is neither text, bytes nor an integer, or one of thousands of digits.
    UnicodeEncodeError
        It is text with a surrogate that stands for no byte.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    if isinstance(value, bytes):
        return value
    if isinstance(value, bool | np.bool_):
        raise TypeError
    return b"%d" % operator.index(value)  # type: ignore[arg-type]


class Identifiers:
    """An immutable column of identifiers, each of which is any sequence of bytes.

    Two columns are equal if their bytes are, whatever they were made of.

    Parameters
    ----------
    data : uint8[n_bytes]
        The bytes of all identifiers, one after the other.
    offsets : int64[n + 1]
        Identifier ``i`` is ``data[offsets[i]:offsets[i + 1]]``.

    Attributes
    ----------
    kind : "text", "integer" or "any"
        What the column was made of: text, integers, or both or unknown.

    Raises
    ------
    InputError
        The offsets decrease, or do not span the data.

    Examples
    --------
    >>> identifiers = Identifiers.from_sequence(["d1", b"d2", 3])
    >>> len(identifiers), identifiers[1], identifiers.to_list()
    (3, b'd2', ['d1', 'd2', '3'])
    """

    __slots__ = ("data", "kind", "offsets")

    data: NDArray[np.uint8]
    offsets: Offsets
    kind: Kind

    def __init__(self, data: NDArray[np.uint8], offsets: Offsets) -> None:
        # Copies, for the caller may change what the arrays hold.
        given = as_flat(data, "data")
        if given.dtype != np.uint8:
            given = as_integers(given, "data")
            if ((given < 0) | (given > 255)).any():
                raise unexpected("data", "bytes, from 0 to 255", shown(given))
        data = np.array(given, np.uint8, order="C")
        self._set(data, as_offsets(offsets, len(data), "offsets", "bytes of data").copy(), "any")

    def _set(self, data: NDArray[np.uint8], offsets: Offsets, kind: Kind) -> None:
        object.__setattr__(self, "data", frozen(data.view()))
        object.__setattr__(self, "offsets", frozen(offsets.view()))
        object.__setattr__(self, "kind", kind)

    @classmethod
    def of(cls, data: NDArray[np.uint8], offsets: Offsets, kind: Kind = "any") -> Identifiers:
        """Wrap arrays that are known to be good; of integers, each is the decimal digits of one."""
        self = cls.__new__(cls)
        self._set(data, offsets, kind)
        return self

    @classmethod
    def from_sequence(cls, values: Iterable[object], argument: str = "values") -> Identifiers:
        """Make a column of text and bytes, or of integers; of both, it matches either.

        Parameters
        ----------
        values : iterable of str, bytes or int, or array
            Text becomes UTF-8 (with ``surrogateescape``, so bytes that were decoded that way come back),
            integers become decimal digits, bytes stay.
        argument : str
            What an error message calls them.

        Raises
        ------
        InputError
            A value is none of these; the message has its index.
        """
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise unexpected(argument, "a sequence of identifiers", shown(values))
        if isinstance(values, np.ndarray):
            values = as_flat(values, argument).tolist()
        listed: list[Any] = list(values)
        types = set(map(type, listed))
        kind = _kind_of(types)
        if types <= {str, bytes}:
            found = _dicts.object_identifiers(np.fromiter(listed, object, len(listed)), 0, len(listed))
            if found is not None:
                return cls.of(*found, kind)
        try:
            if types == {int}:
                texts = list(map(str, listed))
                return cls.of(np.frombuffer("".join(texts).encode(), np.uint8), _offsets_of(texts), kind)
            encodings = [encoded(value) for value in listed]
        except (TypeError, ValueError):
            raise unusable(listed, argument) from None
        return cls.of(np.frombuffer(b"".join(encodings), np.uint8), _offsets_of(encodings), kind)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Identifiers are immutable: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Identifiers are immutable: {name} cannot be deleted")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> bytes:
        index = operator.index(index)
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"identifier {index} of {len(self)}")
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        data, offsets = self.data.tobytes(), self.offsets.tolist()
        return (data[start:stop] for start, stop in pairwise(offsets))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Identifiers):
            return NotImplemented
        return np.array_equal(self.offsets, other.offsets) and np.array_equal(self.data, other.data)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        few = [repr(self[i]) for i in range(min(len(self), 3))]
        return f"Identifiers([{', '.join(few)}{', …' if len(self) > 3 else ''}], n={len(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Identifiers.of, (np.asarray(self.data), np.asarray(self.offsets), self.kind)

    def to_list(self) -> list[str | int]:
        """Return them as integers if they are, else as text: UTF-8, with ``surrogateescape`` for bytes that are not."""
        if self.kind == "integer":
            return list(map(int, self))
        return _dicts.texts(self.data, self.offsets)

    def order(self, offsets: Offsets, *, descending: bool) -> Integers:
        """Return the positions of each list ``offsets[i]:offsets[i + 1]`` by identifier, compared as bytes."""
        return _order.order(self.data, self.offsets, offsets, descending)

    def take(self, rows: NDArray[np.int64]) -> Identifiers:
        """Return the identifiers at these rows, in that order."""
        return Identifiers.of(*_join.gather(self.data, self.offsets, np.ascontiguousarray(rows, np.int64)), self.kind)

    def undecided(self) -> Identifiers:
        """Return them as a column that matches text and integers alike, as the keys of a dict do."""
        return Identifiers.of(self.data, self.offsets)

    def check_kind(self, others: Identifiers, argument: str, of: str) -> None:
        """Raise InputError if these are to match others, and one column is text, the other integers."""
        if self.kind == others.kind or "any" in (self.kind, others.kind) or not (len(self) and len(others)):
            return
        wanted, kind, example = (
            ("integers", "text", quoted(self[0])) if self.kind == "text" else ("text", "integers", self[0].decode())
        )
        remedy = "make both text, or both integers"
        raise unexpected(argument, f"{wanted}, as {of} has", f"{kind} such as {example}; {remedy}")


def unusable(values: list[object], argument: str) -> InputError:
    """Return the error that names the first value that is no identifier."""
    for index, value in enumerate(values):
        try:
            encoded(value)
        except UnicodeEncodeError:
            return unexpected(f"{argument}[{index}]", "text that UTF-8 can encode", shown(value))
        except (TypeError, ValueError):
            return unexpected(f"{argument}[{index}]", "text, bytes or an integer", shown(value))
    raise AssertionError("every value is an identifier")
