"""Columns of query and document identifiers, stored as bytes."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import shown, unexpected
from tieaware.checks.arrays import Integers, Offsets, as_flat, as_integers, as_offsets
from tieaware.errors import InputError
from tieaware.kernels import _buffers, _dicts, _identifiers

_LONGEST_SHOWN = 80

Array = TypeVar("Array", bound=NDArray[Any])

# The type of the values from which a column was made. A column of text does not match a column of integers. A column of
# kind "any", which was made from the keys of a dict or from values of several types, matches both.
Kind: TypeAlias = Literal["text", "integer", "any"]
_CLASSES: dict[Kind, tuple[type, ...]] = {"text": (str, bytes), "integer": (int, np.integer)}


def quoted(identifier: bytes) -> str:
    """Return an identifier in quotes for an error message, on one line, printable and shortened if it is long."""
    text = identifier[:_LONGEST_SHOWN].decode("utf-8", "backslashreplace")
    return repr(text) + ("…" if len(identifier) > _LONGEST_SHOWN else "")


def _kind_of(types: set[type]) -> Kind:
    """Return the kind of a column whose values have these types; an empty column matches both text and integers."""
    for kind, classes in _CLASSES.items():
        if types and all(issubclass(each, classes) for each in types):
            return kind
    return "any"


def frozen(array: Array) -> Array:
    """Make this array read-only, in place, and return it."""
    array.setflags(write=False)
    return array


def encoded(value: object) -> bytes:
    """Return the bytes of an identifier that is given as text, bytes or an integer.

    Raises
    ------
    TypeError, ValueError
        The value is not text, bytes or an integer, or is an integer of thousands of digits.
    UnicodeEncodeError
        The value is text with a surrogate that does not come from decoding invalid bytes with ``surrogateescape``.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    if isinstance(value, bytes):
        return value
    if isinstance(value, bool | np.bool_):
        raise TypeError
    return b"%d" % operator.index(value)  # type: ignore[arg-type]


class Identifiers(_identifiers.IdentifierArrays):
    """An immutable column of identifiers. An identifier is any sequence of bytes.

    Two columns are equal if their identifiers are equal, even if one was made from text and the other from integers.

    Parameters
    ----------
    data : uint8[n_bytes]
        The bytes of all identifiers, one after the other.
    offsets : int64[n + 1]
        Identifier ``i`` is ``data[offsets[i]:offsets[i + 1]]``.

    Attributes
    ----------
    kind : "text", "integer" or "any"
        The type of the values from which the column was made: "any" stands for several types or an unknown type.

    Raises
    ------
    InputError
        The offsets decrease, or do not cover the data.

    Examples
    --------
    >>> identifiers = Identifiers.from_sequence(["d1", b"d2", 3])
    >>> len(identifiers), identifiers[1], identifiers.to_list()
    (3, b'd2', ['d1', 'd2', '3'])
    """

    __slots__ = ()

    def __init__(self, data: NDArray[np.uint8], offsets: Offsets) -> None:
        # Copy the arrays, because the caller may change them later.
        given = as_flat(data, "data")
        if given.dtype != np.uint8:
            given = as_integers(given, "data")
            if ((given < 0) | (given > 255)).any():
                raise unexpected("data", "bytes, from 0 to 255", shown(given))
        data = np.array(given, np.uint8, order="C")
        self._set(data, as_offsets(offsets, len(data), "offsets", "bytes of data").copy(), "any")

    @classmethod
    def from_sequence(cls, values: Iterable[object], argument: str = "values") -> Identifiers:
        """Make a column from text, bytes or integers. A column made from both text and integers matches any column.

        Parameters
        ----------
        values : iterable of str, bytes or int, or array
            Text is encoded as UTF-8. (The error handler is ``surrogateescape``, which restores invalid bytes that were
            decoded with it.) Integers become decimal digits, and bytes do not change.
        argument : str
            The name of the values in error messages.

        Raises
        ------
        InputError
            A value has another type; the message contains its index.
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
        if types == {int}:
            found = _buffers.digits(listed)
            if found is not None:
                return cls.of(*found, kind)
        try:
            encodings = [encoded(value) for value in listed]
        except (TypeError, ValueError):
            raise _unusable(listed, argument) from None
        offsets = np.cumsum([0, *map(len, encodings)], dtype=np.int64)
        return cls.of(np.frombuffer(b"".join(encodings), np.uint8), offsets, kind)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Identifiers are immutable: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Identifiers are immutable: {name} cannot be deleted")

    def __getitem__(self, index: int) -> bytes:
        index = operator.index(index)
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(f"index {index} is out of range for {len(self)} identifiers")
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        data, offsets = self.data.tobytes(), self.offsets.tolist()
        return (data[start:stop] for start, stop in pairwise(offsets))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Identifiers):
            return NotImplemented
        return np.array_equal(self.offsets, other.offsets) and np.array_equal(self.data, other.data)

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        few = [repr(self[i]) for i in range(min(len(self), 3))]
        return f"Identifiers([{', '.join(few)}{', …' if len(self) > 3 else ''}], n={len(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # A function of this module, because cloudpickle does not find a classmethod that is inherited from a kernel.
        return _unpickled, (np.asarray(self.data), np.asarray(self.offsets), self.kind)

    def to_list(self) -> list[str | int]:
        """Return the identifiers as a list: int if the column was made from integers, otherwise str.

        The bytes are decoded as UTF-8, with ``surrogateescape`` for invalid bytes.
        """
        if self.kind == "integer":
            return list(map(int, self))
        return _dicts.texts(self.data, self.offsets)

    def order(self, offsets: Offsets, *, descending: bool) -> Integers:
        """Sort each list ``offsets[i]:offsets[i + 1]`` by the bytes of its identifiers, without changing the column.

        Returns the positions of the identifiers in their list, from 0, in sorted order.
        """
        return _identifiers.order(self.data, self.offsets, offsets, descending)

    def take(self, rows: Integers | NDArray[np.int32]) -> Identifiers:
        """Return a column of the identifiers with these indices, in the order of the indices."""
        data, offsets = _identifiers.gather(self.data, self.offsets, np.ascontiguousarray(rows, np.int64))
        return Identifiers.of(data, offsets, self.kind)

    def matching_any(self) -> Identifiers:
        """Return the same identifiers as a column that matches both text and integers."""
        return Identifiers.of(self.data, self.offsets)

    def check_kind(
        self, others: Identifiers, argument: str, others_name: str,
        remedy: str = "make both text, or both integers",
    ) -> None:  # fmt: skip
        """Raise InputError if one column is text and the other integers, so that their identifiers cannot match.

        `remedy` ends the message.
        """
        if self.kind == others.kind or "any" in (self.kind, others.kind) or not (len(self) and len(others)):
            return
        kind, example, other, their = (
            ("text", quoted(self[0]), "integers", others[0].decode()) if self.kind == "text"
            else ("integers", self[0].decode(), "text", quoted(others[0]))
        )  # fmt: skip
        has = f"has {kind} such as {example}, but {others_name} has {other} such as {their}"
        raise InputError(argument, f"{has}: {remedy}", argument="ids")


def _unpickled(data: NDArray[np.uint8], offsets: Offsets, kind: Kind) -> Identifiers:
    return Identifiers.of(data, offsets, kind)


def _unusable(values: list[object], argument: str) -> InputError:
    """Return the error about the first value that is not an identifier."""
    for index, value in enumerate(values):
        try:
            encoded(value)
        except UnicodeEncodeError:
            return InputError(f"{argument}[{index}]", f"the text {shown(value)} cannot be encoded as UTF-8")
        except (TypeError, ValueError):
            return unexpected(f"{argument}[{index}]", "text, bytes or an integer", shown(value))
    raise AssertionError("every value is an identifier")


def number_names(numbers: Integers) -> Identifiers:
    """Return whole numbers as identifiers."""
    return Identifiers.of(*_buffers.Column.of_array(numbers).identifiers(0, len(numbers)), "integer")


def axis_names(names: Iterable[object], n: int, argument: str, of: str) -> Identifiers:
    """Check that the names of n rows or columns differ from each other, and return them as identifiers.

    `argument` is the name of the names in messages; `of` is the word for what has a name, such as "rows".
    """
    found = Identifiers.from_sequence(names, argument)
    if len(found) != n:
        raise InputError(argument, f"must have one name for each of the {n} {of}; found {len(found)}")
    numbers, firsts = _identifiers.number(found.data, found.offsets)
    if len(firsts) < n:
        again = int(np.flatnonzero(firsts[numbers] != np.arange(n))[0])
        name = shown(found.take(np.array([again])).to_list()[0])
        problem = f"{name} appears twice, first at {argument}[{firsts[numbers[again]]}]"
        raise InputError(f"{argument}[{again}]", problem)
    return found
