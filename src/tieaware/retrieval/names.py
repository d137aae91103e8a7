"""Parsing of the names of retrieval methods, such as ``Champions(r=100)``."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from tieaware.checks.arguments import did_you_mean, shown, unexpected
from tieaware.errors import InputError
from tieaware.retrieval.method import Method

# Functions that users may take for methods, and what to do instead.
_FUNCTIONS = {
    "rocchio": "it makes queries from judgments, in Python, with which any method can search; "
    "BlindFeedback() needs no judgments",
    "ide_dec_hi": "it makes queries from judgments, in Python, with which any method can search; "
    "BlindFeedback() needs no judgments",
    "Thesaurus": "it expands queries, in Python, with which any method can search",
}


def parse_method(text: str, **usual: Any) -> Method:
    """Return the retrieval method with this name; ``str(method)`` gives the name of a method.

    Parameters
    ----------
    text : str
        The name, such as "Champions(r=100)". Parameters that are not in the name have their defaults, so "Champions" is
        a name, too.
    **usual
        Values to use instead of the defaults for parameters that are not in the name.

    Returns
    -------
    Method

    Raises
    ------
    InputError
        The method or a parameter is unknown, or a parameter is out of its range.

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
    is_call = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args
    if not is_call or any(each.arg is None for each in call.keywords):
        raise unexpected("method", "a name such as Champions(r=100)", shown(text))
    known = known_methods()
    if call.func.id in _FUNCTIONS:
        raise InputError("method", f"{call.func.id} is not a method: {_FUNCTIONS[call.func.id]}")
    if call.func.id not in known:
        hint = did_you_mean(call.func.id, known) or f"; the methods are {', '.join(sorted(known))}"
        raise InputError("method", f"unknown method {shown(call.func.id)}{hint}")
    method = known[call.func.id]
    try:
        given = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except ValueError:
        raise InputError("method", f"parameters must be numbers or text in quotes; found {shown(text)}") from None
    parameters = inspect.signature(method).parameters
    names = [str(each.arg) for each in call.keywords]
    for name in names:
        if names.count(name) > 1:
            raise InputError("method", f"{name} is given {names.count(name)} times in {shown(text.strip())}")
        if name not in parameters:
            problem = f"{method.__name__} has no parameter {shown(name)}; its parameters are {', '.join(parameters)}"
            raise InputError("method", problem)
    try:
        return method(**usual | given)
    except InputError as error:
        if error.where.partition("[")[0] not in given:
            raise
        raise error.at(f"{error.where} of {text.strip()}", "method") from None


def known_methods() -> dict[str, type[Method]]:
    """Return all methods by name: all concrete classes that are derived from `Method`."""
    return _derived(Method)  # type: ignore[type-abstract]


def _derived(base: type[Method]) -> dict[str, type[Method]]:
    found: dict[str, type[Method]] = {}
    for each in base.__subclasses__():
        found |= _derived(each)
        if not inspect.isabstract(each):
            found[each.__name__] = each
    return found
