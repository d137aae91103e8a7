"""Bayesian comparison of two systems, with a region of practical equivalence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number, shown, unexpected
from tieaware.checks.arrays import Values
from tieaware.checks.rounding import are_equal, without_rounding
from tieaware.runtime.extras import load
from tieaware.statistics.paired_tests import differences_of


class BayesianComparison(NamedTuple):
    """The posterior of mean differences; every field has the shape of the samples without the axis of the pairs.

    Attributes
    ----------
    difference : float64[...]
        The mean of a − b, which is the mode of the posterior.
    better, equivalent, worse : float64[...]
        The probabilities that the true mean difference is above `rope`, from -`rope` to `rope`, and below -`rope`. They
        sum to 1.
    low, high : float64[...]
        The credible interval: the true mean difference is between them with the probability `confidence`.
    """

    difference: Values
    better: Values
    equivalent: Values
    worse: Values
    low: Values
    high: Values


def bayesian_comparison(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    rope: float = 0.0,
    *,
    axis: int = -1,
    confidence: float = 0.95,
    correlation: float = 0.0,
) -> BayesianComparison:
    """Return the probabilities that system a is better than b, practically equivalent, or worse.

    This is the Bayesian t-test. It assumes that the differences on the topics are independent and normally distributed,
    with nothing known beforehand about their mean and variance (the prior is proportional to 1/σ²). The posterior of
    the true mean difference is then Student's t distribution with n - 1 degrees of freedom, around the mean difference.

    Parameters
    ----------
    a, b : float[..., n_pairs]
        The values of two systems on the same topics, at least two, broadcast against each other.
    rope : float
        The region of practical equivalence: differences of the means from -`rope` to `rope` do not matter. It is at
        least 0, in the unit of the values. With 0, no difference counts as equivalent.
    axis : int
        The axis of the arrays along which the pairs lie.
    confidence : float
        The probability of the credible interval, between 0 and 1.
    correlation : float
        The correlation between the differences, at least 0 and less than 1. Topics are independent: 0. For the k
        folds of a cross-validation, which share their training data, Nadeau and Bengio take the share of the test data,
        1/k.

    Returns
    -------
    BayesianComparison
        If all differences are equal, the true mean difference is taken to be this number, so one of the probabilities
        is 1; except that with a `rope` of 0, better and worse share a difference of 0.

    Raises
    ------
    InputError
        If a value is not finite, a difference exceeds 1e150, there are fewer than two pairs, or an argument is out of
        range.

    References
    ----------
    Corani, G. and Benavoli, A. (2015). A Bayesian approach for comparing cross-validated algorithms on multiple data
    sets. Machine Learning 100. Benavoli, A., Corani, G., Demšar, J. and Zaffalon, M. (2017). Time for a change: a
    tutorial for comparing multiple classifiers through Bayesian analysis. Journal of Machine Learning Research 18.
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52.

    Examples
    --------
    >>> found = bayesian_comparison([0.5, 0.75, 0.25, 1.0], [0.5, 0.5, 0.0, 0.5], rope=0.05)
    >>> print(f"better {found.better:.3f}, equivalent {found.equivalent:.3f}, worse {found.worse:.3f}")
    better 0.928, equivalent 0.042, worse 0.030
    """
    rope = number("rope", rope, 0, 1e150)
    confidence = number("confidence", confidence, 0, 1, ends=False)
    if number("correlation", correlation, 0, 1) == 1:
        raise unexpected("correlation", "a number less than 1", shown(correlation))
    differences, rounding = differences_of(a, b, axis)
    student, n = load("scipy.stats", "analysis").t, differences.shape[-1]
    constant = are_equal(differences, rounding)
    mean = without_rounding(np.where(constant, differences[..., 0], differences.mean(axis=-1)), rounding)
    variance = np.where(constant, 0.0, differences.var(axis=-1, ddof=1))
    scale = np.sqrt(variance * (1.0 / n + correlation / (1.0 - correlation)))
    above, below = (without_rounding(each, rounding) for each in (mean - rope, mean + rope))
    with np.errstate(divide="ignore", invalid="ignore"):
        better = np.where(scale > 0.0, student.cdf(above / scale, n - 1), above > 0.0)
        worse = np.where(scale > 0.0, student.cdf(-below / scale, n - 1), below < 0.0)
    undecided = (scale == 0.0) & (mean == 0.0) & (rope == 0.0)
    better, worse = np.where(undecided, 0.5, better), np.where(undecided, 0.5, worse)
    equivalent = np.maximum(1.0 - better - worse, 0.0) if rope > 0.0 else np.zeros(mean.shape)
    reach = student.ppf((1.0 + confidence) / 2.0, n - 1) * scale
    return BayesianComparison(mean, better, np.asarray(equivalent), worse, mean - reach, mean + reach)
