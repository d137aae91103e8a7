"""The distribution of the studentized range, by the trapezoidal rule.

The range of k independent standard normal variables is divided by an independent estimate of their standard deviation.
SciPy has the same distribution, but takes a hundred times as long for one value, which counts for thousands of pairs.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.runtime.extras import load

# The integrands are smooth and vanish at both ends, so the error of the trapezoidal rule falls exponentially with the
# number of points. These numbers of points and limits give about 12 correct digits.
_POINTS, _NORMAL_LIMIT, _NEGLIGIBLE = 200, 8.5, 45.0
_CHUNK = 32


def survival(q: Values, k: int, degrees: int) -> Values:
    """Return the probability that the studentized range is greater than q.

    Parameters
    ----------
    q : float64[n]
        At least 0; may be infinite.
    k : int
        The number of variables, at least 2.
    degrees : int
        The degrees of freedom of the estimate of the variance, at least 2.

    Returns
    -------
    float64[n]
    """
    # Integrate over the logarithm of s, the estimate of the standard deviation. The density of log s is proportional to
    # exp(degrees (log s - s²/2)).
    low, high = _limits(degrees)
    logarithms = np.linspace(low, high, _POINTS)
    density = np.exp(degrees * (logarithms - np.exp(2.0 * logarithms) / 2.0 + 0.5))
    weights, scales = density / density.sum(), np.exp(logarithms)
    found = np.empty(len(q))
    for start in range(0, len(q), _CHUNK):
        some = slice(start, start + _CHUNK)
        found[some] = _survival_of_range(q[some, None] * scales, k) @ weights
    return np.clip(found, 0.0, 1.0)


@lru_cache(maxsize=64)
def critical_value(alpha: float, k: int, degrees: int) -> float:
    """Return the value that the studentized range exceeds with probability alpha."""
    low, high = 0.0, 1.0
    while survival(np.array([high]), k, degrees)[0] > alpha:
        low, high = high, 2.0 * high
    # Each step looks at 15 points between the limits at once, and keeps one of the 16 intervals.
    while high - low > 1e-12 * high:
        points = np.linspace(low, high, 17)
        below = int((survival(points[1:-1], k, degrees) > alpha).sum())
        if (points[below], points[below + 1]) == (low, high):
            break
        low, high = float(points[below]), float(points[below + 1])
    return (low + high) / 2.0


def _limits(degrees: int) -> tuple[float, float]:
    """Return the logarithms of s between which its density is not negligible."""
    # The exponent, less its maximum, is degrees (x - e^(2x)/2 + 1/2).
    deficit = _NEGLIGIBLE / degrees
    low = -(deficit + 0.5) if deficit > 1.0 else -math.sqrt(deficit) - deficit
    high = math.sqrt(deficit) if deficit < 1.0 else math.log(2.0 * deficit + 4.0) / 2.0 + 0.5
    return low, high


def _survival_of_range(r: Values, k: int) -> Values:
    """Return the probability that the range of k standard normal variables is greater than r."""
    # The greatest variable is z, and the others lie between z - r and z, or at least one of them does not:
    # k ∫ φ(z) (Φ(z)^(k-1) - (Φ(z) - Φ(z - r))^(k-1)) dz. This form is accurate for small probabilities, too.
    normal = load("scipy.special", "analysis").ndtr
    n_points = math.ceil(2.0 * _NORMAL_LIMIT / min(0.25, 0.7 / math.sqrt(k)))
    z, step = np.linspace(-_NORMAL_LIMIT, _NORMAL_LIMIT, n_points, retstep=True)
    below = normal(z)
    weights = k * step * np.exp(-(z**2) / 2.0) / math.sqrt(2.0 * math.pi) * below ** (k - 1)
    total = np.zeros(r.shape)
    for point, share, weight in zip(z.tolist(), below.tolist(), weights.tolist(), strict=True):
        # For r = 0, the quotient is 1 and its logarithm is infinite.
        with np.errstate(divide="ignore"):
            total -= weight * np.expm1((k - 1) * np.log1p(-normal(point - r) / share))
    return total
