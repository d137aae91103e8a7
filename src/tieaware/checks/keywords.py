"""Hints for callers who write the arguments of other tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def keywords_elsewhere(
    remedies: Mapping[str, str],
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Decorate a function: an unknown keyword that other tools use gives an error that says what to write here.

    Parameters
    ----------
    remedies : {str: str}
        For each keyword, what to write instead.

    Returns
    -------
    callable
        The decorator. It keeps the signature. The decorated function raises TypeError, as for any unknown keyword.

    Examples
    --------
    >>> @keywords_elsewhere({"norm": "write scale="})
    ... def adapted(scores, scale=1.0):
    ...     return scale
    >>> adapted([2.0, 2.0], norm=0.5)
    Traceback (most recent call last):
        ...
    TypeError: adapted() has no argument 'norm': write scale=
    """

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        shown = _name_of(function)

        @wraps(function)
        def called(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
            for name in keywords:
                if name in remedies:
                    raise TypeError(f"{shown}() has no argument {name!r}: {remedies[name]}")
            return function(*arguments, **keywords)

        return called

    return decorate


def calls_elsewhere(
    remedy: Callable[..., str],
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Decorate a function: a call that does not fit its parameters gives an error that says what to write.

    Parameters
    ----------
    remedy : callable
        Takes the positional arguments of the wrong call; returns what to write, or "" for Python's own error.

    Returns
    -------
    callable
        The decorator. It keeps the signature. The decorated function raises TypeError, as for any wrong call.

    Examples
    --------
    >>> @calls_elsewhere(lambda *given: "write mean()")
    ... def mean(*, weights=None):
    ...     return 0.5
    >>> mean("AP")
    Traceback (most recent call last):
        ...
    TypeError: mean(): wrong arguments; write mean()
    """

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @wraps(function)
        def called(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
            try:
                return function(*arguments, **keywords)
            except TypeError:
                instead = "" if _fits(function, arguments, keywords) else remedy(*arguments)
                if not instead:
                    raise
            raise TypeError(f"{_name_of(function)}(): wrong arguments; {instead}")

        return called

    return decorate


def _name_of(function: Callable[..., Any]) -> str:
    """Return the name of a function without its class; the methods that are called by it have the name of the class."""
    return function.__qualname__.removesuffix(".__init__").removesuffix(".__call__").rpartition(".")[2]


def _fits(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> bool:
    """Return whether a function takes such arguments; if so, a TypeError came from inside the function."""
    try:
        signature(function).bind(*arguments, **keywords)
    except TypeError:
        return False
    return True
