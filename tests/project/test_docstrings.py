"""The docstring checker accepts references to sections of other docstrings, and finds wrong references."""

from __future__ import annotations

import pytest
from support import docstrings


class Scaler:
    """A scaler.

    Parameters
    ----------
    factor : int
        The factor.

    Examples
    --------
    >>> Scaler(2).scale(3)
    6
    """

    def __init__(self, factor: int) -> None:
        self.factor = factor

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
        if number == 0:
            raise ValueError(number)
        return 2 * number


def scaled(number: int, factor: int) -> int:
    """Scale a number, which is a parameter as for `Scaler.scale`.

    Parameters
    ----------
    factor : int
        The factor.

    Examples
    --------
    >>> scaled(3, 2)
    6
    """
    return factor * number


@pytest.mark.parametrize("complete", [Scaler, Doubler, scaled])
def test_a_docstring_may_refer_to_shared_sections(complete):
    """An overriding method, and a docstring with "as for `name`", need not repeat Parameters, Returns and Raises."""
    assert docstrings.lacks(complete) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("`Scaler.scale`", "`Scaler.grow`", "scaled: as for `Scaler.grow`, which does not exist"),
        ("`Scaler.scale`", "`Doubler`", "scaled: Parameters: expected number, factor, found factor"),
        ("factor :", "speed :", "scaled: Parameters: expected number, factor, found speed"),
    ],
)
def test_a_wrong_reference_is_found(old, new, problem, monkeypatch):
    monkeypatch.setattr(scaled, "__doc__", scaled.__doc__.replace(old, new))
    assert problem in docstrings.lacks(scaled)
