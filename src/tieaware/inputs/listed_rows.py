"""Recognition of rows in lists, such as JSON records, which are no form of runs or judgments."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

from tieaware.checks.arguments import shown
from tieaware.errors import InputError
from tieaware.inputs.column_names import has_name_of, is_header

_Column: TypeAlias = Literal["score", "label"]
_LISTS = (list, tuple)
_MAPPINGS = (dict, Mapping)
# The function that converts columns, and the names of its arguments.
_READERS = {
    "score": "Run.from_columns(queries, documents, scores)",
    "label": "Qrels.from_columns(queries, documents, labels)",
}


def check_no_rows(value: Any, where: str, column: _Column) -> None:
    """Raise InputError if a value consists of rows, and say how to convert them.

    Only the first two items of a list, and the first item of a mapping, are inspected.

    Parameters
    ----------
    value : object
        The runs or the judgments, as the caller passed them.
    where : str
        The name of the value in messages.
    column : "score" or "label"
        The third column of the rows.
    """
    if isinstance(value, _MAPPINGS):
        listed = next(iter(value.values()), None)
        if isinstance(listed, dict):
            # The usual form. A test for Mapping, Real or another abstract class takes as long as all of the above.
            return
        if _is_single_row(value):
            raise InputError(where, f"a single row; pass pandas.DataFrame([row]), or {_READERS[column]}")
        if isinstance(listed, list | tuple):
            inner = f"{where}[{shown(next(iter(value)))}]"
            if listed and all(map(_is_row_of_a_query, listed[:2])):
                raise InputError(inner, f"a list of documents; pass {{query: {{document: {column}}}}}")
            check_no_rows(listed, inner, column)
    elif isinstance(value, _LISTS) and value and all(_is_row_dict(row) or _is_row_tuple(row) for row in value[:2]):
        raise InputError(where, f"a list of rows; pass pandas.DataFrame(rows), or {_READERS[column]}")


def _is_row_dict(value: Any) -> bool:
    """Return whether a value is a row {column: value}. A mapping of numbers alone may be {document: score}."""
    if not isinstance(value, Mapping) or len(value) < 2 or any(isinstance(each, Mapping) for each in value.values()):
        return False
    return is_header(_names(value)) or any(isinstance(each, str) for each in value.values())


def _is_row_tuple(value: Any) -> bool:
    """Return whether a value is (query, document, number)."""
    return isinstance(value, tuple | list) and len(value) == 3 and _is_identifier(value[1]) and _ends_in_number(value)


def _is_row_of_a_query(value: Any) -> bool:
    """Return whether a value is a document and its number, as a pair or as a dict without a query column."""
    if isinstance(value, tuple | list):
        return len(value) == 2 and _ends_in_number(value)
    return _is_row_dict(value) and has_name_of("doc", _names(value)) and not is_header(_names(value))


def _is_single_row(value: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is a row itself: it has the usual columns, and a value that is a number."""
    # The first value rules out nearly all other mappings without a search through their keys.
    if not isinstance(next(iter(value.values()), None), str | Real):
        return False
    return is_header(_names(value)) and any(isinstance(each, Real) for each in value.values())


def _ends_in_number(row: tuple[Any, ...] | list[Any]) -> bool:
    return _is_identifier(row[0]) and isinstance(row[-1], Real)


def _is_identifier(value: Any) -> bool:
    return isinstance(value, str | Integral)


def _names(row: Mapping[Any, Any]) -> list[str]:
    return [name for name in row if isinstance(name, str)]
