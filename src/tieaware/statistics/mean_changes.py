"""Changes of means by more than a tolerance: the test, the interval, and the verdict; with repeated runs, too."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import checked_share, number, unexpected
from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import ROUNDING, rounding_of, without_rounding
from tieaware.errors import InputError
from tieaware.runtime.extras import load
from tieaware.statistics.intervals import mean_interval, ratio_interval
from tieaware.statistics.paired_tests import paired_test
from tieaware.statistics.planning import topics_needed
from tieaware.statistics.values import finite

# The level of the test whether whole runs differ.
_LEVEL = 0.05

Decision: TypeAlias = Literal["worse", "better", "kept", "cannot tell"]


class MeanChange(NamedTuple):
    """The change of a mean over topics.

    Attributes
    ----------
    before, after : float
        The two means.
    difference : float
        `after` minus `before`; 0 if it is only rounding.
    low, high : float
        The confidence interval of the true difference.
    p : float
        The p value of the two-sided test that nothing changed.
    variance : float
        The number of topics times the squared standard error: the variance over topics with which `topics_needed` and
        `detectable_difference` plan.
    n_topics : int
    runs_differ : bool
        Whether whole runs differ by more than their topics explain, so that more topics alone do not decide.
    """

    before: float
    after: float
    difference: float
    low: float
    high: float
    p: float
    variance: float
    n_topics: int
    runs_differ: bool = False

    def decision(self, tolerance: float, alpha: float = 0.05, *, p: float | None = None) -> Decision:
        """Return the verdict on the change. The first of these that holds is returned.

        "worse": the mean fell by more than the tolerance, and the test rejects that nothing changed. "better": it rose
        by more than the tolerance, and the test rejects. "kept": the interval excludes a loss of more than the
        tolerance. "cannot tell": none of these.

        Parameters
        ----------
        tolerance : float
            The loss that does not matter, at least 0, in the unit of the values.
        alpha : float
            The level of the test, between 0 and 1. The interval should have the level 1 - `alpha`.
        p : float, optional
            The p value to use, such as one after a correction for several measures; by default the change's own.

        Returns
        -------
        str

        Raises
        ------
        InputError
            If an argument is out of range.

        Examples
        --------
        >>> change = mean_change([0.5, 0.75, 0.5, 1.0, 0.25], [0.5, 0.75, 0.5, 1.0, 0.26])
        >>> change.decision(0.01), change.decision(0.0)
        ('kept', 'cannot tell')
        """
        tolerance = number("tolerance", tolerance, 0, 1e150)
        is_sure = (self.p if p is None else p) <= number("alpha", alpha, 0, 1, ends=False)
        # A loss that equals the tolerance in exact arithmetic does not exceed it.
        allowed = tolerance + ROUNDING * max(abs(self.before), abs(self.after))
        if is_sure and abs(self.difference) > allowed:
            return "worse" if self.difference < 0.0 else "better"
        return "kept" if self.low >= -allowed else "cannot tell"


def mean_change(before: npt.ArrayLike, after: npt.ArrayLike, *, confidence: float = 0.95) -> MeanChange:
    """Return the change of a mean over the same topics, with its paired t-test and its confidence interval.

    Each side may have several runs, such as repeated calls of a grader that does not always answer alike. The means of
    the runs are compared then. If whole runs differ by more than their topics explain (an F test at level 0.05), this
    variance is added to the squared standard error; it is taken to be the same on both sides. Degrees of freedom are
    Satterthwaite's. With two repetitions, such a variance is hardly known, and the interval is long.

    Parameters
    ----------
    before, after : float[n_topics] or float[n_runs, n_topics]
        The values; at least two topics, and at least one run on each side.
    confidence : float
        The confidence level of the interval, between 0 and 1.

    Returns
    -------
    MeanChange
        With one run on each side, the p value and the interval are those of `paired_test`. If all differences are
        equal, the interval is one point, and p is 0, or 1 if nothing changed.

    Raises
    ------
    InputError
        If a value is not finite or exceeds 1e150, the topics are not the same, or there are fewer than two.

    References
    ----------
    Student (1908). The probable error of a mean. Biometrika 6. Satterthwaite, F. E. (1946). An approximate distribution
    of estimates of variance components. Biometrics Bulletin 2. Brennan, R. L. (2001). Generalizability theory.
    Springer.

    Examples
    --------
    >>> change = mean_change([0.5, 0.75, 0.25, 1.0], [0.5, 0.5, 0.0, 0.5])
    >>> print(f"{change.difference} ({change.low:.3f} to {change.high:.3f}), p = {change.p:.3f}")
    -0.25 (-0.575 to 0.075), p = 0.092
    """
    confidence = number("confidence", confidence, 0, 1, ends=False)
    sides = [_runs_of("before", before), _runs_of("after", after)]
    n = sides[0].shape[1]
    if n != sides[1].shape[1]:
        raise InputError("after", f"must have the topics of before, {n}; there are {sides[1].shape[1]}")
    if n < 2:
        raise InputError("before", f"must have at least two topics; there {'is one' if n else 'are none'}")
    rounding = float(rounding_of(*sides))
    means = [side.mean(axis=0) for side in sides]
    differences = means[1] - means[0]
    difference = float(without_rounding(differences.mean(), rounding))
    deviation = float(without_rounding(differences.std(ddof=1), rounding))
    # The terms of the squared standard error, each with its degrees of freedom.
    terms = [(deviation**2 / n, n - 1), *_between_runs(sides, rounding)]
    squared = math.fsum(term for term, _ in terms)
    degrees = _degrees(terms, squared) if squared else n - 1
    student, error = load("scipy.stats", "analysis").t, math.sqrt(squared)
    reach = float(student.ppf((1.0 + confidence) / 2.0, degrees)) * error
    # With a standard error of 0, any difference is certain.
    p = 2.0 * float(student.sf(abs(difference) / error, degrees)) if error else float(difference == 0.0)
    before_mean, after_mean = (float(each.mean()) for each in means)
    low, high = difference - reach, difference + reach
    return MeanChange(before_mean, after_mean, difference, low, high, p, squared * n, n, len(terms) > 1)


_DECISIONS: dict[int, Literal["keeps", "loses", "open"]] = {1: "keeps", -1: "loses", 0: "open"}


class Kept(NamedTuple):
    """The decision on whether a run keeps the mean of a base, up to a margin.

    Attributes
    ----------
    decision : str
        "keeps": the interval excludes that more is lost than the margin allows. "loses": it excludes that no more is
        lost. "open": it excludes neither.
    estimate, low, high : float
        The share of the mean that is kept, with its confidence interval; or with a tolerance, the difference.
    needed : int or None
        If it is open, the number of topics that would decide with probability 0.8, if the true loss is the observed
        one; None if there is no such number, because the observed loss is on the margin.
    """

    decision: Literal["keeps", "loses", "open"]
    estimate: float
    low: float
    high: float
    needed: int | None


def kept(
    base: npt.ArrayLike,
    run: npt.ArrayLike,
    share: float | str = 0.99,
    *,
    tolerance: float | None = None,
    confidence: float = 0.95,
) -> Kept:
    """Decide whether a run keeps a share of the mean of a base, or all of it up to a tolerance.

    A test of the difference answers another question: with few topics it finds no loss, however large the loss may be,
    and with many it finds one that does not matter.

    Parameters
    ----------
    base, run : float[n_topics]
        The values on the same topics, at least two. With float[n_runs, n_topics], the means of the runs count. If less
        is better, pass the two the other way round.
    share : float or str
        The share of the mean of the base that must be kept, above 0 and at most 1, such as 0.99 or "99%".
    tolerance : float, optional
        The loss that does not matter, at least 0, in the unit of the values; instead of `share`.
    confidence : float
        The confidence level of the interval, between 0 and 1.

    Returns
    -------
    Kept
        The interval is Fieller's for a share, and Student's t for a tolerance. If the mean of the base is 0, the run
        keeps it, and the share is infinite. A run without a changed value keeps everything.

    Raises
    ------
    InputError
        If an argument is out of range, or a share is asked for of a mean below 0.

    References
    ----------
    Fieller, E. C. (1954). Some problems in interval estimation. Journal of the Royal Statistical Society B 16.

    Examples
    --------
    >>> base = [0.5, 0.25, 0.75, 1.0, 0.5, 0.25]
    >>> kept(base, [0.5, 0.25, 0.75, 1.0, 0.5, 0.25]).decision
    'keeps'
    >>> found = kept(base, [0.5, 0.25, 0.5, 1.0, 0.5, 0.25])
    >>> found.decision, round(found.estimate, 3), found.needed
    ('open', 0.923, 63)
    """
    before, after = (_runs_of(name, values).mean(axis=0) for name, values in (("base", base), ("run", run)))
    if tolerance is None:
        share = checked_share("share", share)
        if before.mean() < -rounding_of(before):
            raise InputError("base", "must not have a mean below 0 if share is given; pass a tolerance")
        if before.mean() <= rounding_of(before):
            return Kept("keeps", math.inf, math.inf, math.inf, None)
        interval = ratio_interval(after, before, level=confidence)
        least = share * before
    else:
        least = before - number("tolerance", tolerance, 0, 1e150)
        interval = mean_interval(after - before, level=confidence)
    decision = _DECISIONS[int(keeping(before, after, least, confidence))]
    needed = None
    if decision == "open":
        # Fewer than there are cannot be the answer: these did not decide.
        change = mean_change(least, after, confidence=confidence)
        more = topics_to_show(abs(change.difference), change.variance, 1.0 - confidence)
        needed = None if more is None else max(more, change.n_topics + 1)
    return Kept(decision, float(interval.estimate), float(interval.low), float(interval.high), needed)


def keeping(base: Values, run: Values, least: Values, confidence: float) -> Integers:
    """Return 1 where a run keeps what it must of the mean of a base, -1 where it loses more, 0 where that is open.

    This is the rule of `kept`. The topics are in the last axis; `least` are the values whose mean the run must reach.
    """
    test = paired_test(run, least, confidence=confidence)
    allowed = ROUNDING * np.maximum(np.abs(run.mean(axis=-1)), np.abs(least.mean(axis=-1)))
    unchanged = (np.abs(run - base) <= rounding_of(run, base, axis=-1)[..., None]).all(axis=-1)
    is_kept, is_lost = unchanged | (test.low >= -allowed), test.high < -allowed
    return np.where(is_kept, 1, np.where(is_lost, -1, 0))


class Margin(NamedTuple):
    """The part of a baseline's mean that each run must keep: a share of it, or all of it up to a tolerance."""

    share: float | None
    tolerance: float | None

    def __str__(self) -> str:
        return f"{100.0 * self.share:g}%" if self.share is not None else f"all but {self.tolerance:g}"

    def kept(self, base: Values, run: Values, *, less_is_better: bool, confidence: float = 0.95) -> Kept:
        """Decide whether a run keeps it, as `kept` does; differences have the sign of the values."""
        sides = (run, base) if less_is_better else (base, run)
        if self.tolerance is None:
            return kept(*sides, self.share or 0.0, confidence=confidence)
        found = kept(*sides, tolerance=self.tolerance, confidence=confidence)
        if less_is_better:
            found = found._replace(estimate=-found.estimate, low=-found.high, high=-found.low)
        return found

    def allows(self, estimate: float, *, less_is_better: bool) -> bool:
        """Return whether an estimate of what is kept, as in `Kept`, is on the side of the runs that keep it."""
        if self.tolerance is None:
            return estimate >= (self.share or 0.0)
        return (-estimate if less_is_better else estimate) >= -self.tolerance


def margin_of(keep: float | str | None, tolerance: float | None, baseline: str | None) -> Margin | None:
    """Return the margin, or None without one; raise InputError if the arguments are not valid."""
    if keep is None and tolerance is None:
        return None
    name = "keep" if tolerance is None else "tolerance"
    if keep is not None and tolerance is not None:
        raise InputError("tolerance", "keep and tolerance are two ways to say the same; pass one of them")
    if baseline is None:
        raise InputError(name, "needs a baseline whose mean the runs keep")
    kept_share = None if keep is None else checked_share("keep", keep)
    return Margin(kept_share, None if tolerance is None else number("tolerance", tolerance, 0, 1e150))


def topics_to_show(loss: float, variance: float, alpha: float) -> int | None:
    """Return the number of topics that show a loss with probability 0.8; None if no number does."""
    if loss <= 0.0 or not variance:
        return None
    try:
        return topics_needed(loss, variance, alpha=alpha)
    except InputError:  # more than any collection has
        return None


def _runs_of(name: str, values: npt.ArrayLike) -> Values:
    """Return the values of one side as rows for its runs; raise InputError if they are not valid."""
    array = finite(values, name)
    if array.ndim not in (1, 2) or not array.shape[0]:
        raise InputError(name, f"must have the shape (n_topics,) or (n_runs, n_topics); it is {array.shape}")
    if array.size and np.abs(array).max() > 1e150:
        raise unexpected(name, "numbers of at most 1e150", f"{np.abs(array).max()}")
    return array.reshape(-1, array.shape[-1])


def _between_runs(sides: list[Values], rounding: float) -> list[tuple[float, int]]:
    """Return the terms of the squared standard error for differences between whole runs; none without repeated runs.

    With the mean squares of runs and of residuals, pooled over the sides, the variance of runs is (runs - residuals) /
    n. The term of the residuals is negative, because the variance over topics contains them already. There are
    no terms if an F test does not find that the runs differ.
    """
    n = sides[0].shape[1]
    of_runs = of_residuals = 0.0
    degrees = 0
    for side in sides:
        run_means = side.mean(axis=1)
        of_runs += n * float((without_rounding(run_means - run_means.mean(), rounding) ** 2).sum())
        rest = side - run_means[:, None] - side.mean(axis=0) + side.mean()
        of_residuals += float((without_rounding(rest, rounding) ** 2).sum())
        degrees += len(side) - 1
    if not degrees:
        return []
    limit = float(load("scipy.stats", "analysis").f.isf(_LEVEL, degrees, degrees * (n - 1)))
    if of_runs / degrees <= limit * of_residuals / (degrees * (n - 1)):
        return []
    share = math.fsum(1.0 / len(side) for side in sides) / n
    return [(share * of_runs / degrees, degrees), (-share * of_residuals / (degrees * (n - 1)), degrees * (n - 1))]


def _degrees(terms: list[tuple[float, int]], squared: float) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of mean squares; exact if there is one."""
    if len(terms) == 1:
        return terms[0][1]
    found = 1.0 / math.fsum((term / squared) ** 2 / degrees for term, degrees in terms)
    return max(found, min(degrees for term, degrees in terms if term > 0.0))
