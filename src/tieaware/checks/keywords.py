"""Hints for callers who write the keyword arguments of other tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import ParamSpec, TypeVar

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
        # The constructor of a class is shown as the class.
        shown = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

        @wraps(function)
        def called(*arguments: Parameters.args, **keywords: Parameters.kwargs) -> Result:
            for name in keywords:
                if name in remedies:
                    raise TypeError(f"{shown}() has no argument {name!r}: {remedies[name]}")
            return function(*arguments, **keywords)

        return called

    return decorate
