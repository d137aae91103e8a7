"""Methods by their names, as they print themselves: ``Champions(r=100)``."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from tieaware.checks import did_you_mean, unexpected
from tieaware.errors import InputError
from tieaware.retrieval.method import Method


def parse_method(text: str, known: Mapping[str, type[Method]], **usual: Any) -> Method:
    """Return the method of a name; parameters that it does not give are the usual ones."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        call = None
    if isinstance(call, ast.Name):
        call = ast.Call(call, [], [])
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        raise unexpected("method", "a name such as Champions(r=100)", repr(text))
    if call.func.id not in known:
        hint = did_you_mean(call.func.id, known)
        raise unexpected("method", f"one of {', '.join(known)}", f"{call.func.id!r}{hint}")
    try:
        given = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except ValueError:
        raise unexpected("method", "numbers and text in quotes as parameters", repr(text)) from None
    try:
        return known[call.func.id](**usual | given)
    except TypeError:
        raise unexpected("method", f"parameters of {call.func.id}", repr(text)) from None
    except InputError as error:
        raise InputError(f"{text}: {error}") from None
