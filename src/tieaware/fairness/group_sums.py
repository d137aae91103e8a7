"""The exposure of groups of documents, such as those of one provider, and its inequality."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import whole_number
from tieaware.checks.arrays import Integers, Values, as_array, as_scores, check_no_nan
from tieaware.checks.rounding import ratio
from tieaware.errors import InputError
from tieaware.fairness.exposures import lists_of


class GroupExposure(NamedTuple):
    """The exposure of each group of documents, for each list.

    Attributes
    ----------
    groups : tuple
        The names of the groups, sorted.
    values : float64[n_queries, n_groups]
        The exposures of the documents of each group, added up.
    sizes : int64[n_queries, n_groups]
        How many documents of the list each group has.

    Examples
    --------
    >>> from tieaware import exposure, fairness
    >>> found = fairness.group_exposure(exposure([[3, 2, 2], [1, 1, 1]], weights="RR"), [["a", "b", "b"], ["a", "a", "b"]])
    >>> found.groups, found.values.round(3)
    (('a', 'b'), array([[1.   , 0.833],
           [1.222, 0.611]]))
    >>> found.shares().round(3), found.amortised().round(3)
    (array([[0.545, 0.455],
           [0.667, 0.333]]), array([1.111, 0.722]))
    """  # noqa: E501

    groups: tuple[Any, ...]
    values: Values
    sizes: Integers

    def means(self) -> Values:
        """Return the mean exposure of a document of each group, float64[n_queries, n_groups]; NaN without documents."""
        return ratio(self.values, self.sizes.astype(np.float64))

    def shares(self) -> Values:
        """Return each group's share of the exposure of a list, float64[n_queries, n_groups]; NaN if there is none."""
        return ratio(self.values, np.broadcast_to(self.values.sum(axis=1, keepdims=True), self.values.shape))

    def amortised(self) -> Values:
        """Return the mean of each group's exposure over the queries, float64[n_groups]; NaN without queries."""
        n = len(self.values)
        return self.values.sum(axis=0) / n if n else np.full(len(self.groups), np.nan)


def group_exposure(
    exposures: npt.ArrayLike, groups: npt.ArrayLike, offsets: npt.ArrayLike | None = None
) -> GroupExposure:
    """Add up the exposures of the documents of each group, for each list.

    Parameters
    ----------
    exposures : real numbers, shape (n_docs,) or (n_queries, depth)
        What `tieaware.exposure` returns, or the values of another model of attention.
    groups : str or integers, the same shape
        The group of each document. With the identifiers of the documents or of their providers as groups, and without
        `offsets`, the result is the total exposure of each over all rankings.
    offsets : integers, shape (n_queries + 1,), optional
        As for `tieaware.exposure`. By default, one-dimensional exposures are one list.

    Returns
    -------
    GroupExposure
        The sums, the names of the groups, and their sizes.

    Raises
    ------
    InputError
        If a shape is wrong, an exposure is NaN, or the groups are not text or integers.

    Examples
    --------
    The second and the third document tie. Each group has two documents.

    >>> from tieaware import exposure, fairness
    >>> found = fairness.group_exposure(exposure([4.0, 2.0, 2.0, 1.0], weights="DCG"), ["a", "b", "a", "b"])
    >>> found.groups, found.values.round(4)
    (('a', 'b'), array([[1.5655, 0.9961]]))
    """
    values = as_scores(exposures, "exposures")
    bounds = lists_of(values, offsets, "exposures")
    check_no_nan(values, "exposures")
    names, codes = numbered(groups, values.shape)
    n_lists, n_groups = len(bounds) - 1, len(names)
    cells = np.repeat(np.arange(n_lists), np.diff(bounds)) * n_groups + codes
    sums: Values = np.bincount(cells, values.reshape(-1).astype(np.float64), n_lists * n_groups).astype(np.float64)
    sizes = np.bincount(cells, minlength=n_lists * n_groups)
    shape = n_lists, n_groups
    return GroupExposure(names, sums.reshape(shape), sizes.astype(np.int64).reshape(shape))


def numbered(groups: npt.ArrayLike, shape: tuple[int, ...]) -> tuple[tuple[Any, ...], Integers]:
    """Return the names of the groups, sorted, and the index of the name of each document's group, int64[n_docs]."""
    try:
        array = np.asarray(groups) if isinstance(groups, list | tuple) else as_array(groups, "groups")
    except ValueError:
        raise InputError("groups", "must be text or integers, not sequences of several lengths") from None
    if array.shape != shape:
        raise InputError("groups", f"must have the shape of the documents, {shape}, not {array.shape}")
    if array.dtype.kind == "O" and all(isinstance(each, str) for each in array.reshape(-1).tolist()):
        array = array.astype(str)
    if array.dtype.kind not in "biuSU" and array.size:
        raise InputError("groups", f"must be text or integers, not {array.dtype}")
    names, codes = np.unique(array.reshape(-1), return_inverse=True)
    return tuple(names.tolist()), codes.reshape(-1).astype(np.int64, copy=False)


def gini(values: npt.ArrayLike, n: int | None = None) -> float:
    """Compute the Gini coefficient, an inequality: 0 if all values are equal, near 1 if one of many has everything.

    LensKit's ExposureGini is this coefficient of the total exposure of each item over all rankings.

    Parameters
    ----------
    values : real numbers, shape (n_values,)
        At least 0, such as the exposures of items.
    n : int, optional
        The number of items in all, if those without exposure are not among the values. Default: the number of values.

    Returns
    -------
    float
        0 … 1 - 1 / n; NaN if all values are 0 or there are none.

    Raises
    ------
    InputError
        If a value is negative, infinite or NaN, or `n` is less than the number of values.

    Examples
    --------
    >>> from tieaware import fairness
    >>> fairness.gini([1.0, 1.0, 1.0, 1.0]), fairness.gini([0.0, 0.0, 0.0, 1.0]), fairness.gini([1.0], n=4)
    (0.0, 0.75, 0.75)
    """
    array = as_scores(values, "values", flat=True).astype(np.float64)
    wrong = ~((array >= 0.0) & (array < np.inf))
    if wrong.any():
        i = int(wrong.argmax())
        raise InputError(f"values[{i}]", f"must be at least 0 and finite, not {array[i]}")
    total = len(array) if n is None else whole_number("n", n, len(array))
    ascending = np.sort(array)
    mass = float(ascending.sum())
    if mass == 0.0:
        return float("nan")
    # The values that are left out are the lowest, so those given have the last ranks.
    ranks = np.arange(total - len(array) + 1, total + 1)
    return float((ascending * (2.0 * ranks - total - 1.0)).sum()) / (total * mass)
