"""Validation of the least and the greatest values over the orders of tied documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from tieaware.checks.arguments import shown, unexpected
from tieaware.errors import InputError
from tieaware.measures import Measure


def check_bounds(least: Any, greatest: Any, shape: tuple[int, ...]) -> None:
    """Raise InputError unless both bounds are arrays of numbers in the shape of the values.

    If measures were passed instead, the message says where they belong.
    """
    names = [*_measures(least), *_measures(greatest)]
    if names:
        raise InputError("compare", f"takes no measures: the results have them; evaluate with {names}")
    for name, bound, other in (("least", least, "greatest"), ("greatest", greatest, "least")):
        if bound is None:
            raise InputError(name, f"{other} is given without {name}; pass both or neither")
        is_array = isinstance(bound, np.ndarray) and bound.dtype.kind in "iuf"
        if not is_array or bound.shape != shape:
            found = f"an array of shape {bound.shape}" if is_array else shown(bound)
            raise unexpected(name, f"an array of shape {shape}, as the values of the results", found)


def _measures(bound: Any) -> list[str]:
    """Return the names of measures that were passed as a bound; none if it is anything else."""
    each = bound if isinstance(bound, list | tuple) else [bound]
    return [str(one) for one in each] if all(isinstance(one, str | Measure) for one in each) else []
