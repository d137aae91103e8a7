"""Values of systems on topics, as the smoothing experiment takes them, and their means."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import shown, unexpected
from tieaware.checks.arrays import Values
from tieaware.errors import InputError
from tieaware.measures import Measure, parse_measure
from tieaware.results import Results
from tieaware.statistics.values import finite


def systems_by_topics(values: Results | npt.ArrayLike, measure: str | Measure | None) -> Values:
    """Return the values of systems on topics; raise InputError if they are not finite or not two-dimensional."""
    if isinstance(values, Results):
        values = values.values[:, :, place_of(values, measure)]
    elif measure is not None:
        raise InputError("measure", f"must not be given with an array, found {shown(measure)}")
    array = finite(values, "values")
    if array.ndim != 2:
        raise unexpected("values", "two dimensions, systems × topics", f"{array.ndim}")
    return array


def place_of(results: Results, measure: str | Measure | None) -> int:
    """Return the position of a measure among those of the results; without a measure, there must be only one."""
    known = ", ".join(map(str, results.measures))
    if measure is None:
        if len(results.measures) != 1:
            raise InputError("values", f"the results have several measures ({known}): choose one with `measure`")
        return 0
    wanted = parse_measure(measure)
    if wanted not in results.measures:
        raise unexpected("measure", f"one of the results' measures, {known}", f"{wanted}")
    return results.measures.index(wanted)


def mean_of_known(values: Values) -> Values:
    """Return the mean over the last axis without NaN. If all values are NaN, it is 0.5, the middle of their range."""
    known = ~np.isnan(values)
    count = known.sum(axis=-1)
    total = values.sum(axis=-1, where=known)
    means: Values = np.divide(total, count, out=np.full(total.shape, 0.5), where=count > 0)
    return means
