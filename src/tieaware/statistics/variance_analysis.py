"""Two-way analysis of variance of systems and topics."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy.typing as npt

from tieaware.checks.arrays import Values
from tieaware.checks.rounding import are_equal, rounding_of
from tieaware.runtime.extras import load
from tieaware.statistics.tukey import Residuals, residuals_of, systems_by_topics


class Effect(NamedTuple):
    """The effect of the systems, or of the topics, in an analysis of variance.

    Attributes
    ----------
    squares : float
        The sum of the squared deviations of the means from the overall mean, over all values.
    degrees : int
        The degrees of freedom.
    statistic : float
        F, the mean square of the effect divided by that of the residuals; infinite if only the latter is 0.
    p : float
        The probability of an F at least as large if there were no effect; 0 … 1.
    """

    squares: float
    degrees: int
    statistic: float
    p: float

    @property
    def mean_square(self) -> float:
        """`squares` / `degrees`."""
        return self.squares / self.degrees


class Anova(NamedTuple):
    """A two-way analysis of variance without replication.

    Attributes
    ----------
    systems, topics : Effect
    residual_squares : float
        The sum of the squared residuals: what the means of the systems and of the topics leave unexplained.
    residual_degrees : int
        Their degrees of freedom, (n_systems - 1)(n_topics - 1).
    """

    systems: Effect
    topics: Effect
    residual_squares: float
    residual_degrees: int

    @property
    def residual_variance(self) -> float:
        """`residual_squares` / `residual_degrees`, the variance of a value given its system and its topic."""
        return self.residual_squares / self.residual_degrees


def anova(values: npt.ArrayLike) -> Anova:
    """Part the variance of values into the effects of systems, of topics, and residuals.

    The F test of the systems says whether there is any difference between them; `tukey_hsd` says between which. The
    analysis assumes that a value is the sum of an effect of its system, an effect of its topic and a residual, and that
    residuals are independent and normally distributed with one variance. Interactions of systems
    and topics are part of the residuals.

    Values and errors as for `tukey_hsd`.

    Returns
    -------
    Anova
        For two systems, F of the systems is the square of t of the paired t-test. An effect without any deviation has
        F = 0 and p = 1.

    References
    ----------
    Fisher, R. A. (1925). Statistical methods for research workers. Tague-Sutcliffe, J. and Blustein, J. (1994). A
    statistical analysis of the TREC-3 data. TREC-3. Sakai, T. (2018). Laboratory experiments in information retrieval.
    Springer.

    Examples
    --------
    >>> found = anova([[0.5, 0.75, 0.25, 1.0], [0.5, 0.5, 0.0, 0.5], [0.25, 0.75, 0.0, 0.75]])
    >>> print(f"{found.systems.squares:.4f} {found.topics.squares:.4f} {found.residual_squares:.4f}")
    0.1354 0.8073 0.1146
    >>> print(f"F={found.systems.statistic:.3f} p={found.systems.p:.4f}")
    F=3.545 p=0.0963
    """
    matrix = systems_by_topics(values)
    residuals = residuals_of(matrix)
    n_systems, n_topics = matrix.shape
    rounding = rounding_of(matrix)
    of_systems = n_topics * _squares((matrix - matrix[0]).mean(axis=1), rounding)
    of_topics = n_systems * _squares((matrix - matrix[:, :1]).mean(axis=0), rounding)
    systems = _effect(of_systems, n_systems - 1, residuals)
    return Anova(systems, _effect(of_topics, n_topics - 1, residuals), residuals.squares, residuals.degrees)


def _effect(squares: float, degrees: int, residuals: Residuals) -> Effect:
    statistic = 0.0
    if squares > 0.0:
        variance = residuals.squares / residuals.degrees
        statistic = squares / degrees / variance if variance > 0.0 else math.inf
    return Effect(
        squares, degrees, statistic, float(load("scipy.stats", "analysis").f.sf(statistic, degrees, residuals.degrees))
    )


def _squares(means: Values, rounding: Values) -> float:
    return 0.0 if are_equal(means, rounding) else float(((means - means.mean()) ** 2).sum())
