"""The checker of docstrings accepts complete ones and references to others, and finds what is missing or wrong."""

from __future__ import annotations

import inspect

import pytest
from support import docstrings


def scaled(number: int, *factors: int) -> int:
    """Scale a number.

    Parameters
    ----------
    number : int
        The number.
    *factors : int
        The factors.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If the number is 0.

    Examples
    --------
    >>> scaled(3, 2)
    6
    """
    _check(number)
    return number * sum(factors)


def _check(number: int) -> None:
    if number == 0:
        raise ValueError(number)


class Scaler:
    """A scaler.

    Parameters
    ----------
    factor : int
        The factor.

    Raises
    ------
    ValueError
        If the factor is 0.

    Examples
    --------
    >>> Scaler(2).scale(3)
    6
    """

    def __init__(self, factor: int) -> None:
        _check(factor)
        self.factor = factor

    @property
    def square(self) -> int:
        """The square of the factor."""
        return self.factor**2

    def scale(self, number: int) -> int:
        """Scale a number.

        Parameters
        ----------
        number : int
            The number.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            If the number is 0.
        """
        return self._scaled(number)

    def _scaled(self, number: int) -> int:
        if number == 0:
            raise ValueError(number)
        return self.factor * number

    def scale_twice(self, number: int) -> int:
        """Scale a number twice.

        Parameters as for `scale`.
        """
        return self.scale(self.scale(number))


class Doubler(Scaler):
    """A scaler whose factor is 2; parameters as for `Scaler`. It inherits `scale_twice`."""

    def scale(self, number: int) -> int:
        """Double a number."""
        return self._scaled(number)


def doubled(number: int, offset: int) -> int:
    """Double a number, which is a parameter as for `Scaler.scale`.

    Parameters
    ----------
    offset : int
        What is added.

    Examples
    --------
    >>> doubled(3, 1)
    7
    """
    return 2 * number + offset


WHOLE = {"scaled": scaled, "doubled": doubled, "Scaler": Scaler, "Doubler": Doubler}


@pytest.mark.parametrize("name", WHOLE)
def test_complete_docstrings_lack_nothing(name):
    """An overriding method, and a docstring with "as for `name`", need not repeat Parameters, Returns and Raises."""
    assert docstrings.lacks(WHOLE[name]) == []


@pytest.mark.parametrize(
    ("where", "old", "new", "problem"),
    [
        (scaled, "Scale a number.", "", "scaled: no summary line"),
        (scaled, "*factors : int", "", "scaled: Parameters: expected number, *factors, found number"),
        (scaled, "Parameters\n----------", "", "scaled: Parameters: expected number, *factors, found none"),
        (scaled, "Returns\n-------", "", "scaled: no Returns"),
        (scaled, "Raises\n------", "", "scaled: no Raises"),
        (scaled, "Examples\n--------", "", "scaled: no Examples"),
        (scaled, "--------\n>>>", "", "scaled: no Examples"),
        (Scaler, "factor : int", "", "Scaler: Parameters or Attributes: expected factor"),
        (Scaler, "Raises\n------", "", "Scaler: no Raises"),
        (Scaler, "Examples\n--------", "", "Scaler: no Examples"),
        (Scaler.square, "The square of the factor.", "", "Scaler.square: no summary line"),
        (Scaler.scale, "Returns\n-------", "", "Scaler.scale: no Returns"),
        (Scaler.scale, "Raises\n------", "", "Scaler.scale: no Raises"),
        (doubled, "`Scaler.scale`", "`Scaler.grow`", "doubled: as for `Scaler.grow`, which does not exist"),
        (doubled, "`Scaler.scale`", "`Doubler`", "doubled: Parameters: expected number, offset, found offset"),
        (doubled, "offset :", "speed :", "doubled: Parameters: expected number, offset, found speed"),
    ],
)
def test_what_a_docstring_lacks_is_found(where, old, new, problem, monkeypatch):
    """If one part of a docstring is removed or wrong, the checker names the problem."""
    docstring = inspect.cleandoc(where.__doc__)
    assert old in docstring
    monkeypatch.setattr(where, "__doc__", docstring.replace(old, new))
    assert problem in docstrings.lacks(WHOLE[problem.partition(":")[0].partition(".")[0]])
