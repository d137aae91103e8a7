"""Tukey's honestly significant differences of paired samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number, unexpected
from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import are_equal, rounding_of, without_rounding
from tieaware.errors import InputError
from tieaware.statistics.paired_tests import PairedTest, paired_test
from tieaware.statistics.studentized_range import critical_value, survival
from tieaware.statistics.values import finite


class Residuals(NamedTuple):
    """The residuals of a two-way analysis of variance without replication, over systems and topics.

    Attributes
    ----------
    n_systems, n_topics : int
    squares : float
        The sum of the squared residuals; exactly 0 if all systems differ by constants only.
    """

    n_systems: int
    n_topics: int
    squares: float

    @property
    def degrees(self) -> int:
        """The degrees of freedom of the residuals."""
        return (self.n_systems - 1) * (self.n_topics - 1)

    def error(self, squares: float | None = None) -> float:
        """Return the standard error of a system's mean; a sum of squares may be given in place of the own."""
        return float(np.sqrt((self.squares if squares is None else squares) / self.degrees / self.n_topics))


def tukey_hsd(values: npt.ArrayLike, *, confidence: float = 0.95) -> PairedTest:
    """Test the differences between all pairs of systems by Tukey's HSD, which corrects for the number of systems.

    The values of a topic belong together, so the variance is that of the residuals after the effects of systems and
    topics (two-way analysis of variance without replication). The chance that the test finds any difference between
    equal systems is limited, as with `holm`. For two systems, the test is the paired t-test. It assumes that topics are
    independent, and that the residuals are normally distributed with the same variance for all systems;
    `randomised_tukey_hsd` does not.

    Parameters
    ----------
    values : float[n_systems, n_topics]
    confidence : float
        The probability, between 0 and 1, that all intervals together contain the differences of the true means.

    Returns
    -------
    PairedTest
        Every field is a float64[n_systems, n_systems]. `difference` is the mean of the row's system minus that of the
        column's. `statistic` is the studentized range of the two means, at least 0. `p` needs no correction. If the
        residuals are 0, as for constant differences, p is 0, and 1 between systems of equal means.

    Raises
    ------
    InputError
        If a value is not finite or exceeds 1e150, there are fewer than two systems or two topics, or confidence is out
        of range.

    References
    ----------
    Tukey, J. W. (1953). The problem of multiple comparisons. Carterette, B. (2012). Multiple testing in statistical
    analysis of systems-based information retrieval experiments. ACM Transactions on Information Systems 30(1). Sakai,
    T. (2018). Laboratory experiments in information retrieval. Springer.

    Examples
    --------
    >>> test = tukey_hsd([[0.5, 0.75, 0.25, 1.0], [0.5, 0.5, 0.0, 0.5], [0.25, 0.75, 0.0, 0.75]])
    >>> test.p.round(4)
    array([[1.    , 0.0948, 0.2137],
           [0.0948, 1.    , 0.8047],
           [0.2137, 0.8047, 1.    ]])
    >>> test.difference[0].round(4), test.low[0].round(4), test.high[0].round(4)
    (array([0.    , 0.25  , 0.1875]), array([ 0.    , -0.0498, -0.1123]), array([0.    , 0.5498, 0.4873]))
    """
    matrix = systems_by_topics(values)
    confidence = number("confidence", confidence, 0, 1, ends=False)
    return all_pairs_of(len(matrix), lambda first, second: tukey_pairs(matrix, first, second, confidence))


def systems_by_topics(values: npt.ArrayLike) -> Values:
    """Return the values as float64[n_systems, n_topics]; raise InputError if there are fewer than two of either."""
    matrix = finite(values, "values")
    if matrix.ndim != 2 or min(matrix.shape) < 2:
        problem = f"must have at least two systems and two topics; the shape is {matrix.shape}"
        raise InputError("values", problem)
    # The squares of larger numbers can overflow.
    if (np.abs(matrix) > 1e150).any():
        raise unexpected("values", "numbers of at most 1e150", f"{np.abs(matrix).max()}")
    return matrix


def all_pairs_of(n_systems: int, tested: Callable[[Integers, Integers], PairedTest]) -> PairedTest:
    """Return the tests of all pairs of systems as square matrices.

    Parameters
    ----------
    n_systems : int
    tested : callable
        The test of some pairs, for the first and the second system of each.
    """
    first, second = np.triu_indices(n_systems, 1)
    test = tested(first, second)
    fields: list[Values | None] = []
    for found, sign, same in zip(test, (-1.0, 1.0, 1.0, -1.0, -1.0), (0.0, 0.0, 1.0, 0.0, 0.0), strict=True):
        square = None
        if found is not None:
            square = np.full((n_systems, n_systems), same)
            square[first, second], square[second, first] = found, sign * found
        fields.append(square)
    low, high = fields[3:]
    if low is not None and high is not None:
        # The interval of b - a is that of a - b with its ends exchanged.
        lower = np.tril_indices(n_systems, -1)
        low[lower], high[lower] = high[lower], low[lower]
    return PairedTest._make(fields)


def tukey_pairs(values: Values, first: Integers, second: Integers, confidence: float = 0.95) -> PairedTest:
    """Test some pairs of systems by Tukey's HSD; the family is all pairs of the systems in `values`.

    Parameters
    ----------
    values : float64[n_systems, n_topics]
        At least two of each.
    first, second : int64[n_pairs]
        The systems of each pair, as rows of `values`.
    confidence : float
    """
    if len(values) == 2:
        test = paired_test(values[first], values[second], confidence=confidence)
        return test._replace(statistic=np.abs(test.statistic) * np.sqrt(2.0))
    residuals = residuals_of(values)
    means = values.mean(axis=1)
    difference = without_rounding(means[first] - means[second], rounding_of(values))
    error, sizes = residuals.error(), np.abs(difference)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(sizes == 0.0, 0.0, sizes / error)
    p = np.where(sizes == 0.0, 1.0, survival(statistic, residuals.n_systems, residuals.degrees))
    reach = critical_value(1.0 - confidence, residuals.n_systems, residuals.degrees) * error
    return PairedTest(difference, statistic, p, difference - reach, difference + reach)


def residuals_of(values: Values) -> Residuals:
    """Return the residuals of the analysis of variance of ``values``, float64[n_systems, n_topics]."""
    differences = values - values[0]
    if are_equal(differences, rounding_of(values)).all():
        # All differences are constant. Rounding would give residuals above 0.
        squares = 0.0
    else:
        centred = differences - differences.mean(axis=1, keepdims=True)
        squares = float(((centred - centred.mean(axis=0)) ** 2).sum())
    return Residuals(values.shape[0], values.shape[1], squares)
