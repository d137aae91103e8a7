"""Values of a JSON file with their places, such as ``ratings.json: requests[0].ratings[2].rating``."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np

from tieaware.checks.arguments import is_integer, shown, unexpected
from tieaware.checks.arrays import as_scores
from tieaware.errors import InputError
from tieaware.inputs.files.byte_streams import ByteStream, RawFile
from tieaware.inputs.files.paths import Path, source_name
from tieaware.inputs.files.text import BYTE_ORDER_MARK, json_in, number_in

_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Value:
    """A JSON value, the name of its file, and its path inside the file."""

    value: Any
    source: str
    path: str = ""

    @property
    def place(self) -> str:
        """The file and the path, for messages."""
        return ": ".join(filter(None, (self.source, self.path)))

    def child(self, key: str) -> Value | None:
        """Return the value of a key; None if this is no object, or lacks the key."""
        if not isinstance(self.value, Mapping) or key not in self.value:
            return None
        part = key if _NAME.fullmatch(key) else f"[{shown(key)}]"
        return Value(self.value[key], self.source, f"{self.path}.{part}".lstrip(".").replace(".[", "["))

    def __getitem__(self, key: str) -> Value:
        """Return the value of a key, which the object must have."""
        found = self.child(key)
        if found is None:
            if not isinstance(self.value, Mapping):
                raise unexpected(self.place, f"an object with the key {key!r}", shown(self.value))
            raise InputError(self.place, f"the object has no key {key!r}")
        return found

    def elements(self) -> Iterator[Value]:
        """Yield the elements, which must be those of an array."""
        if not isinstance(self.value, list | tuple):
            raise unexpected(self.place, "an array", shown(self.value))
        for i, element in enumerate(self.value):
            yield Value(element, self.source, f"{self.path}[{i}]")

    def members(self) -> Iterator[tuple[str, Value]]:
        """Yield the keys and values, which must be those of an object."""
        if not isinstance(self.value, Mapping):
            raise unexpected(self.place, "an object", shown(self.value))
        for key in self.value:
            if not isinstance(key, str):
                raise unexpected(self.place, "keys of text", shown(key))
            yield key, self[key]

    def identifier(self) -> str | int:
        """Return the value as an identifier: text or an integer."""
        if not isinstance(self.value, str) and not is_integer(self.value):
            raise unexpected(self.place, "text or an integer", shown(self.value))
        identifier: str | int = self.value
        return identifier

    def number(self) -> float:
        """Return the value as a finite number, which may be written as text: "3.000"."""
        if isinstance(self.value, str):
            try:
                number, found = number_in(self.value), shown(self.value)
            except ValueError as error:
                number, found = math.nan, f"{error}"
        elif isinstance(self.value, Number) and not isinstance(self.value, bool):
            number = as_scores(np.array([self.value]), self.place, lambda _: self.place).item()
            found = shown(self.value)
        else:
            number, found = math.nan, shown(self.value)
        if not math.isfinite(number):
            raise unexpected(self.place, "a number", found)
        return number


def json_of(source: Path | Mapping[str, Any] | list[Any], argument: str) -> Value:
    """Return the JSON value that a file contains, or that the caller has parsed already.

    Raises
    ------
    InputError
        If the file cannot be read, or is not JSON in UTF-8.
    """
    if isinstance(source, Mapping | list):
        return Value(source, argument)
    return Value(json_in(_contents(source), source_name(source)), source_name(source))


def _contents(source: Path) -> bytes:
    """Return the contents of a file, plain or compressed, without a byte order mark."""
    with ByteStream(source) as stream:
        return io.BufferedReader(RawFile(stream)).read().removeprefix(BYTE_ORDER_MARK)
