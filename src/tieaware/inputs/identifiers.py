"""Identifiers of queries and documents, as one column of bytes."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tieaware import _join
from tieaware.errors import InputError

__all__ = ["Identifiers"]

LONGEST_SHOWN = 80

Array = TypeVar("Array", bound=NDArray[Any])


def shown(identifier: bytes) -> str:
    """Quote an identifier for an error message: printable, on one line, and not too long."""
    text = identifier[:LONGEST_SHOWN].decode("utf-8", "backslashreplace")
    return repr(text) + ("…" if len(identifier) > LONGEST_SHOWN else "")


def shortened(value: object) -> str:
    """Show a value in an error message: on one line, and not too long."""
    try:
        text = repr(value)
    except Exception:
        # An object whose repr fails still has a type.
        text = object.__repr__(value)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"


def ends_of(identifiers: list[str] | list[bytes]) -> NDArray[np.int64]:
    """Return the offsets of identifiers that follow one another."""
    ends = np.zeros(len(identifiers) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, identifiers), np.int64, len(identifiers)), out=ends[1:])
    return ends


def frozen(array: Array) -> Array:
    """Return the array, which nothing can be written to from here on."""
    array.flags.writeable = False
    return array


def encoded(value: object) -> bytes:
    """Return the bytes of one identifier.

    Raises
    ------
    TypeError, UnicodeEncodeError
        It is neither text, bytes nor an integer; it is text with a surrogate that stands for no byte.
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

    Parameters
    ----------
    data : uint8[n_bytes]
        The bytes of all identifiers, one after the other.
    offsets : int64[n + 1]
        Identifier ``i`` is ``data[offsets[i]:offsets[i + 1]]``.

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

    __slots__ = ("data", "offsets")

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    def __init__(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        # Copies, for the caller may change what the arrays hold.
        data = np.array(data, np.uint8, order="C")
        offsets = np.array(offsets, np.int64, order="C")
        if data.ndim != 1 or offsets.ndim != 1:
            raise InputError("data and offsets: arrays of one dimension are expected")
        check_offsets(offsets, len(data), "data")
        self._set(data, offsets)

    def _set(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        object.__setattr__(self, "data", frozen(data.view()))
        object.__setattr__(self, "offsets", frozen(offsets.view()))

    @classmethod
    def of(cls, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Identifiers:
        """Wrap arrays that are known to be good."""
        self = cls.__new__(cls)
        self._set(data, offsets)
        return self

    @classmethod
    def from_sequence(cls, values: Iterable[object], argument: str = "values") -> Identifiers:
        """Make a column of text, bytes and integers.

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
            raise InputError(f"{argument}: a sequence of identifiers is expected, found {shortened(values)}")
        if isinstance(values, np.ndarray):
            if values.ndim != 1:
                raise InputError(f"{argument}: one dimension is expected, found the shape {values.shape}")
            values = values.tolist()
        listed: list[Any] = list(values)
        if all(type(value) is str for value in listed):
            text = "".join(listed)
            if text.isascii():
                return cls.of(np.frombuffer(text.encode(), np.uint8), ends_of(listed))
        try:
            encodings = [encoded(value) for value in listed]
        except (TypeError, UnicodeEncodeError):
            raise unusable(listed, argument) from None
        return cls.of(np.frombuffer(b"".join(encodings), np.uint8), ends_of(encodings))

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
        data, ends = self.data.tobytes(), self.offsets.tolist()
        return (data[start:stop] for start, stop in pairwise(ends))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Identifiers):
            return NotImplemented
        return np.array_equal(self.offsets, other.offsets) and np.array_equal(self.data, other.data)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        few = [repr(self[i]) for i in range(min(len(self), 3))]
        return f"Identifiers([{', '.join(few)}{', …' if len(self) > 3 else ''}], n={len(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Identifiers.of, (np.asarray(self.data), np.asarray(self.offsets))

    def to_list(self) -> list[str]:
        """Return them as text: UTF-8, with ``surrogateescape`` for bytes that are not."""
        return [identifier.decode("utf-8", "surrogateescape") for identifier in self]

    def descending_order(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions of each list ``rows[i]:rows[i + 1]`` by identifier, descending, compared as bytes."""
        return _join.descending_order(self.data, self.offsets, rows)

    def take(self, rows: NDArray[np.int64]) -> Identifiers:
        """Return the identifiers at these rows, in that order."""
        return Identifiers.of(*_join.gather(self.data, self.offsets, np.ascontiguousarray(rows, np.int64)))


def unusable(values: list[object], argument: str) -> InputError:
    """Return the error that names the first value that is no identifier."""
    for index, value in enumerate(values):
        try:
            encoded(value)
        except TypeError:
            return InputError(
                f"{argument}[{index}]: text, bytes or an integer is expected, found {shortened(value)}"
            )
        except UnicodeEncodeError:
            return InputError(
                f"{argument}[{index}]: text that UTF-8 can encode is expected, found {shortened(value)}"
            )
    raise AssertionError("every value is an identifier")


def check_offsets(offsets: NDArray[np.int64], n: int, of: str) -> None:
    """Raise InputError unless the offsets begin at 0, never decrease, and end at n."""
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != n:
        ends = f"{offsets[0]} to {offsets[-1]}" if len(offsets) else "nothing"
        raise InputError(f"offsets: 0 to {n}, the length of {of}, are expected to be spanned, found {ends}")
    decreasing = offsets[1:] < offsets[:-1]
    if decreasing.any():
        index = int(decreasing.argmax()) + 1
        raise InputError(f"offsets[{index}]: {offsets[index]} is less than {offsets[index - 1]} before it")
