"""Smoothing and standardising of the values of systems on topics."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number
from tieaware.checks.arrays import Values
from tieaware.checks.rounding import are_equal, rounding_of
from tieaware.errors import InputError
from tieaware.runtime.extras import load
from tieaware.statistics.values import finite


def smooth(values: npt.ArrayLike, prior: npt.ArrayLike, alpha: float) -> Values:
    """Mix the values of systems on topics with prior values of the systems: α value + (1-α) prior.

    Parameters
    ----------
    values : float[..., n_systems, n_topics]
        The values of a measure, for example average precision.
    prior : float[..., n_systems]
        The mean of each system over the topics of an earlier experiment.
    alpha : float
        The weight of the values, 0 … 1.

    Returns
    -------
    float64[..., n_systems, n_topics]
        The smoothed values, in the unit of `values`.

    Raises
    ------
    InputError
        If alpha is out of range, a value is not finite, or the shapes do not fit.

    References
    ----------
    Ravana, S. D., Park, L. A. F. and Moffat, A. (2009). System scoring using partial prior information. SIGIR 2009.

    Examples
    --------
    >>> smooth([[0.25, 0.75], [0.5, 0.5]], [0.25, 0.75], alpha=0.5)
    array([[0.25 , 0.5  ],
           [0.625, 0.625]])
    """
    alpha = number("alpha", alpha, 0, 1)
    array, means = finite(values, "values"), finite(prior, "prior")
    if array.ndim < 2 or means.shape[-1:] != array.shape[-2:-1]:
        raise InputError(
            "prior", f"must have one value for each system; its shape is {means.shape}, that of values {array.shape}"
        )
    return alpha * array + (1.0 - alpha) * means[..., None]


def standardize(values: npt.ArrayLike) -> Values:
    """Standardise each topic: Φ((value - μ) / σ), with the mean μ and standard deviation σ over the systems.

    Parameters
    ----------
    values : float[..., n_systems, n_topics]
        The values of at least two systems.

    Returns
    -------
    float64[..., n_systems, n_topics]
        The standardised values, 0 … 1. σ has the divisor n_systems - 1. A topic on which all systems have the same
        value gives NaN.

    Raises
    ------
    InputError
        If a value is not finite, or there are fewer than two systems.

    References
    ----------
    Webber, W., Moffat, A. and Zobel, J. (2008). Score standardization for inter-collection comparison of retrieval
    systems. SIGIR 2008.

    Examples
    --------
    >>> standardize([[0.0, 0.5], [0.5, 0.5], [1.0, 0.5]]).round(4)
    array([[0.1587,    nan],
           [0.5   ,    nan],
           [0.8413,    nan]])
    """
    array = finite(values, "values")
    if array.ndim < 2 or array.shape[-2] < 2:
        raise InputError(
            "values", f"must have at least two systems, in the last axis but one; found shape {array.shape}"
        )
    equal = are_equal(np.moveaxis(array, -2, -1), rounding_of(array, axis=-2))[..., None, :]
    deviation = np.where(equal, np.nan, array.std(axis=-2, ddof=1, keepdims=True))
    standardized: Values = load("scipy.special", "analysis").ndtr(
        (array - array.mean(axis=-2, keepdims=True)) / deviation
    )
    return standardized
