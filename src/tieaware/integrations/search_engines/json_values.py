"""Values of a JSON file with their places, such as ``ratings.json: requests[0].ratings[2].rating``."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tieaware.checks.arguments import is_integer, shown, unexpected
from tieaware.errors import InputError
from tieaware.inputs.files import ByteStream, Path, RawFile, source_name

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
        try:
            if isinstance(self.value, bool):
                raise ValueError
            number = float(self.value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise unexpected(self.place, "a number", shown(self.value))
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
    name = source_name(source)
    try:
        text = read_text(source)
        return Value(json.loads(text), name)
    except json.JSONDecodeError as error:
        raise InputError(f"{name}:{error.lineno}", f"this is not JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise InputError(name, "the JSON is nested too deeply") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        # Python refuses to read integers of thousands of digits.
        raise InputError(name, f"this is not usable JSON: {' '.join(str(error).split())}") from None


def read_text(source: Path) -> str:
    """Return the contents of a file, plain or compressed, which must be UTF-8; a byte order mark is skipped."""
    with ByteStream(source) as stream:
        contents = io.BufferedReader(RawFile(stream)).read()
    try:
        return contents.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = contents.count(b"\n", 0, error.start) + 1
        raise InputError(f"{source_name(source)}:{line}", "the text is not UTF-8") from None


