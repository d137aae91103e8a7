"""Methods by their names, as they print themselves: ``Champions(r=100)``."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from tieaware.checks.arguments import did_you_mean, shown, unexpected
from tieaware.errors import InputError
from tieaware.retrieval.method import Method


def parse_method(text: str, **usual: Any) -> Method:
    """Return the method of a name, as ``str()`` gives it.

    Parameters
    ----------
    text : str
        Such as "Champions(r=100)"; "Champions" takes the default of every parameter.
    **usual
        Parameters that the method has if the name does not give them.

    Returns
    -------
    Method

    Raises
    ------
    InputError
        There is no such method or parameter, or its value is out of its range.

    Examples
    --------
    >>> method = parse_method("Champions(r=10)", weighting="bm25")
    >>> str(method)
    "Champions(r=10, weighting='bm25')"
    >>> parse_method(str(method)) == method
    True
    """
    try:
        call: Any = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        call = None
    if isinstance(call, ast.Name):
        call = ast.Call(call, [], [])
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        raise unexpected("method", "a name such as Champions(r=100)", shown(text))
    known = _known(Method)  # type: ignore[type-abstract]
    if call.func.id not in known:
        hint = did_you_mean(call.func.id, known)
        raise unexpected("method", f"one of {', '.join(sorted(known))}", f"{shown(call.func.id)}{hint}")
    method = known[call.func.id]
    try:
        given = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except ValueError:
        raise unexpected("method", "numbers and text in quotes as parameters", shown(text)) from None
    for name in given:
        if name not in inspect.signature(method).parameters:
            parameters = ", ".join(inspect.signature(method).parameters)
            raise unexpected("method", f"parameters of {method.__name__}: {parameters}", shown(text))
    try:
        return method(**usual | given)
    except InputError as error:
        if error.where not in given:
            raise
        raise error.at(f"{error.where} of {text.strip()}", "method") from None


def _known(base: type[Method]) -> dict[str, type[Method]]:
    """Return all methods that there are, by their names."""
    found: dict[str, type[Method]] = {}
    for each in base.__subclasses__():
        found |= _known(each)
        if not inspect.isabstract(each):
            found[each.__name__] = each
    return found
