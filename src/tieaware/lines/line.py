"""A line of scores: the means of the measures along it, the best t, and how sure the choice is."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import checked_seed, number, whole_number
from tieaware.checks.arrays import Values
from tieaware.checks.rounding import rounding_of
from tieaware.errors import InputError
from tieaware.lines.choice import (
    Best,
    Break,
    CrossValidated,
    OwnBest,
    Plateau,
    agrees,
    attained,
    attempts,
    choose,
    exceeds,
    points,
)
from tieaware.lines.crossings import Pencil, Runs, Steps, runs
from tieaware.measures import Measure, parse_measure
from tieaware.output.plots import COLOURS, Axes, Drawing, check_axes, display_name
from tieaware.output.tables import counted
from tieaware.runtime.extras import load

# The means of longer lines are computed when they are first asked for; `best` does without them.
_SHORT = 2**22
# The greatest number of documents times that of intervals, or of ties, that are evaluated one by one.
_MOST_EVALUATED = 2**26


class Line:
    """The means of an evaluator's measures at the scores a + t d, as exact functions of t.

    `Evaluator.along` and `Evaluator.between` return lines. Between two breaks, no documents of different worth cross,
    so all means are constant. At a break, documents tie; `at` evaluates it. If more than four million pairs of
    documents may cross, `breaks` and `values` are computed when they are first read, and `best` does without them in
    less memory.

    Parameters
    ----------
    pencil : Pencil
        The lines of all documents, and their prepared evaluation.

    Attributes
    ----------
    measures : tuple of Measure
    bounds : tuple of float
        The ends of the line; they may be infinite.
    breaks : float64[n]
        Where the value of a query changes, ascending.
    values : float64[n + 1, n_measures]
        The means over the queries before the first break, between the breaks, and after the last.

    Examples
    --------
    The relevant document is on top if the second system has more than half of the weight.

    >>> import tieaware
    >>> evaluator = tieaware.Evaluator([1, 0, 0], ["RR"])
    >>> line = evaluator.between([0.5, 0.9, 0.1], [0.8, 0.4, 0.2])
    >>> line.breaks.round(4), line.values.ravel(), line.at(0.2)
    (array([0.5]), array([0.5, 1. ]), array([0.5]))
    >>> best = line.best("RR")
    >>> best.t, best.value
    (0.7, 1.0)
    """

    def __init__(self, pencil: Pencil) -> None:
        self.measures: tuple[Measure, ...] = pencil.prepared.measures
        self.bounds: tuple[float, float] = (pencil.low, pencil.high)
        self._pencil = pencil
        self._steps: Steps | None = pencil.steps() if pencil.n_pairs <= _SHORT else None

    @property
    def steps(self) -> Steps:
        """The breaks and the means in exact arithmetic, computed once."""
        if self._steps is None:
            self._steps = self._pencil.steps()
        return self._steps

    @cached_property
    def _attained(self) -> tuple[Steps, npt.NDArray[np.intp]]:
        """The steps whose values a t has, and the positions of their intervals among `steps`."""
        steps = self.steps
        if steps.n_blurred and len(steps.means) * len(self._pencil.a) > _MOST_EVALUATED:
            pairs = counted(steps.n_blurred, "pair")
            warnings.warn(
                f"scores of {pairs} of documents differ by little more than rounding, so an evaluator may rank them in "
                "another order than the line does", UserWarning, stacklevel=3,
            )  # fmt: skip
            steps = steps._replace(n_blurred=0)
        return attained(steps, self.bounds, self._all_means_at)

    @property
    def breaks(self) -> Values:
        """Where the value of a query changes, ascending: float64[n]."""
        return self._attained[0].breaks

    @property
    def values(self) -> Values:
        """The means before the first break, between the breaks and after the last: float64[n + 1, n_measures]."""
        return self._attained[0].means

    def __repr__(self) -> str:
        names = " ".join(map(str, self.measures))
        low, high = self.bounds
        return f"Line({len(self.breaks):,} breaks, t: {low:g} … {high:g}, measures: {names})"

    def at(self, t: float) -> Values:
        """Evaluate the scores at one t, which may be a break.

        Parameters
        ----------
        t : float
            A finite number.

        Returns
        -------
        float64[n_measures]
            The means, as the evaluator computes them for the scores a + t d, or (1 - t) a + t b.

        Raises
        ------
        InputError
            If t is not a finite number.

        Examples
        --------
        >>> import tieaware
        >>> line = tieaware.Evaluator([1, 0], ["RR"]).between([0.0, 1.0], [1.0, 0.0])
        >>> line.at(0.25), line.at(0.5), line.at(0.75)
        (array([0.5]), array([0.75]), array([1.]))
        """
        return self._mean(self._pencil.scores(number("t", t, -1e300, 1e300)))

    @cached_property
    def _ties(self) -> Values:
        """Where more than two documents of a query tie, or documents of several queries: float64[n]."""
        meetings = self._pencil.meetings()
        # Crossings of decimals are meant to be decimals, and differ from them by rounding.
        decimals = np.array([float(f"{t:.12g}") for t in meetings.tolist()])
        low, high = self.bounds
        t = np.unique(np.concatenate((meetings, decimals)))
        return t[(t > low) & (t < high)]

    @cached_property
    def _at_ties(self) -> Values:
        """The means at `_ties`; NaN where the last digits of the scores decide whether documents tie."""
        found = np.full((len(self._ties), len(self.measures)), np.nan)
        for i, t in enumerate(self._ties.tolist()):
            means = self._all_means_at(t)
            found[i] = np.where(agrees(means, means[0]), means[0], np.nan)
        return found

    def varies(self, measure: str | Measure | None = None) -> bool:
        """Return whether any t has another value than the others, even if only because documents tie there.

        Parameters as for `best`.

        Returns
        -------
        bool
            Also True if the value may differ only where documents tie, but these t are too many to be evaluated.

        Raises
        ------
        InputError
            As for `best`.

        Examples
        --------
        The relevant document is never the first, but at t = 1 it ties with both others.

        >>> import tieaware
        >>> line = tieaware.Evaluator([1, 0, 0], ["P@1"]).along([0.0, 1.0, -1.0], [0.0, -1.0, 1.0])
        >>> line.values.ravel(), line.varies()
        (array([0.]), True)
        """
        column = column_of(self.measures, measure)
        values = self._runs(column)[2]
        if len(values) > 1 or len(self._ties) * len(self._pencil.a) > _MOST_EVALUATED:
            return True
        ends = [self.at(end)[column] for end in self.bounds if np.isfinite(end)]
        others = np.concatenate((ends, self._at_ties[:, column]))
        return bool((np.abs(others - values[0]) > rounding_of(values)).any())

    def best(self, measure: str | Measure | None = None) -> Best:
        """Find the best t for a measure.

        Parameters
        ----------
        measure : str or Measure, optional
            One of the evaluator's measures. By default its only one.

        Returns
        -------
        Best
            For a measure whose small values are good, such as ESL, the value is the least one.

        Raises
        ------
        InputError
            If the evaluator does not have the measure, or has several and none is named.

        Warns
        -----
        UserWarning
            If the measure has the same value for every t, for example because no query has a relevant document.

        Examples
        --------
        >>> import tieaware
        >>> line = tieaware.Evaluator([1, 0], ["RR"]).between([0.0, 1.0], [1.0, 0.0])
        >>> line.best()
        Best(t=0.7, value=1.0, interval=(0.5, 1.0))

        The relevant document is the second, or later. At t = 1, it ties with two others, and may be the first:

        >>> line = tieaware.Evaluator([1, 0, 0, 0], ["RR"]).along([0, 1, -1, -3], [0, -1, 1, 1])
        >>> line.best(), round(line.best().at_break.value, 4)
        (Best(t=0.0, value=0.5, interval=(-inf, 3.0)), 0.6111)
        """
        column = column_of(self.measures, measure)
        return self._choose(column, self._changing_runs(column), partial(self._means_at, column))

    def by_query(self, measure: str | Measure | None = None) -> OwnBest:
        """Find the best t of each query on its own: what a method that chooses t query by query has to predict.

        Parameters as for `best`.

        Returns
        -------
        OwnBest
            A query that has the same value for every t has the interval of the whole line.

        Examples
        --------
        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([[1, 0], [0, 1]], ["RR"])
        >>> own = evaluator.between([[0.0, 1.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]).by_query()
        >>> own.t, own.value
        (array([0.7, 0.2]), array([1., 1.]))
        """
        column = column_of(self.measures, measure)
        sizes = np.diff(self._pencil.prepared.offsets)
        found = [runs(self._pencil.query(query).steps(), column, *self.bounds) for query in range(len(sizes))]
        return choose(
            found, self._sign(column), lambda t: self._values_at(column, np.repeat(t, sizes)), self.bounds
        )

    def cross_validated(self, measure: str | Measure | None = None, folds: int = 10, seed: int = 0) -> CrossValidated:
        """Choose t on all folds of the queries but one, and evaluate it on that one, for each fold.

        The best t of all queries earns more on these queries than it will on others. The mean of this function has no
        such bias.

        Parameters
        ----------
        measure : str or Measure, optional
            As for `best`.
        folds : int
            The number of folds, from 2 to the number of queries.
        seed : int
            The seed of the generator that assigns queries to folds.

        Returns
        -------
        CrossValidated

        Raises
        ------
        InputError
            As for `best`; also if there are fewer queries than folds.

        Warns
        -----
        UserWarning
            As for `best`.

        Examples
        --------
        >>> import numpy as np, tieaware
        >>> rng = np.random.default_rng(0)
        >>> labels = rng.integers(0, 2, (40, 10))
        >>> good, noise = labels + rng.random((40, 10)), rng.random((40, 10))
        >>> line = tieaware.Evaluator(labels, ["AP"]).between(noise, good)
        >>> result = line.cross_validated(folds=5)
        >>> result.mean <= line.best().value, len(result.t)
        (True, 5)
        """
        column = column_of(self.measures, measure)
        n_queries = len(self._pencil.prepared.offsets) - 1
        folds, seed = whole_number("folds", folds, 2, 2**31), checked_seed(seed)
        if n_queries < folds:
            raise InputError("folds", f"must be at most the number of queries, {n_queries}; found {folds}")
        self._changing_runs(column)
        fold = np.random.default_rng(seed).permutation(n_queries) % folds
        chosen, values = np.empty(folds), np.empty(n_queries)
        for i in range(folds):
            others = fold != i
            found = self._pencil.best_runs(column, self._sign(column), others)
            chosen[i] = self._choose(column, found, partial(self._means_at, column, included=others)).t
            values[fold == i] = self._values_at(column, chosen[i])[0, fold == i]
        known = values[~np.isnan(values)]
        mean = float(known.mean()) if len(known) else float("nan")
        return CrossValidated(chosen, values, mean, _standard_error(known))

    def standard_errors(self) -> Values:
        """Return the standard error of each value, over the queries.

        Returns
        -------
        float64[n + 1, n_measures]
            Shaped as `values`. NaN with fewer than two queries.

        Examples
        --------
        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([[1, 0], [0, 1]], ["RR"])
        >>> evaluator.between([[0.0, 1.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]).standard_errors()
        array([[0.25],
               [0.25]])
        """
        n_queries = len(self._pencil.prepared.offsets) - 1
        start = self._pencil.prepared.values(self._pencil.scores(next(points(*self.bounds))))
        defined = ~np.isnan(start)
        centre = np.broadcast_to(start.mean(axis=0, where=defined), start.shape) if n_queries else start
        errors, _ = self._errors(self._pencil.steps(centre=centre), defined.sum(axis=0))
        return errors[self._attained[1]]

    def plateau(self, measure: str | Measure | None = None, level: float = 0.95) -> Plateau:
        """Find the interval of t around the best one in which no paired t-test separates t from the best.

        Parameters
        ----------
        measure : str or Measure, optional
            As for `best`.
        level : float
            The confidence level, between 0 and 1. The tests are not corrected for their number.

        Returns
        -------
        Plateau

        Raises
        ------
        InputError
            As for `best`; also if there are fewer than two queries, or `level` is out of range.

        Examples
        --------
        >>> import numpy as np, tieaware
        >>> rng = np.random.default_rng(0)
        >>> labels = rng.integers(0, 2, (40, 10))
        >>> good, noise = labels + rng.random((40, 10)), rng.random((40, 10))
        >>> line = tieaware.Evaluator(labels, ["AP"]).between(noise, good)
        >>> plateau = line.plateau()
        >>> plateau.low < line.best().t < plateau.high
        True
        """
        column = column_of(self.measures, measure)
        level = number("level", level, 0.0, 1.0, ends=False)
        found = runs(self.steps, column, *self.bounds)
        best = self._choose(column, found, partial(self._means_at, column))
        centre = self._pencil.prepared.values(self._pencil.scores(best.t))
        n = int((~np.isnan(centre[:, column])).sum())
        if n < 2:
            raise InputError("plateau", f"needs at least two queries with relevant documents; there are {n}")
        steps = self._pencil.steps(centre=centre)
        errors, means = self._errors(steps, np.full(len(self.measures), n))
        critical = float(load("scipy.stats", "analysis").t.ppf((1.0 + level) / 2.0, n - 1))
        apart = np.zeros(len(means), bool)
        attained = self._attained[1]
        apart[attained] = np.abs(means[attained, column]) > critical * errors[attained, column]
        at = int(np.searchsorted(steps.breaks, best.t))
        below, above = np.flatnonzero(apart[:at]), np.flatnonzero(apart[at:])
        low = self.bounds[0] if not len(below) else float(steps.breaks[below[-1]])
        high = self.bounds[1] if not len(above) else float(steps.breaks[at + above[0] - 1])
        return Plateau(low, high, level)

    def plot(self, ax: Axes | None = None, *, measure: str | Measure | None = None) -> Axes:
        """Draw a measure along the line, with a band of its standard error, the best t and the plateau.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; by default a new pyplot figure.
        measure : str or Measure, optional
            As for `best`.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InputError
            As for `plateau`; also if `ax` is a measure instead of axes, or matplotlib or SciPy is not installed.

        Examples
        --------
        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([[1, 0], [1, 0]], ["RR"])
        >>> line = evaluator.between([[0.0, 1.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.5]])
        >>> import matplotlib; matplotlib.use("agg")
        >>> line.plot(measure="RR").get_xlabel()
        't'
        """
        check_axes(ax)
        column = column_of(self.measures, measure)
        name = display_name(str(self.measures[column]))
        best, plateau = self.best(measure), self.plateau(measure)
        errors = self.standard_errors()[:, column]

        def draw(ax: Axes) -> None:
            low, high = self._shown_bounds()
            edges = np.concatenate(([low], np.clip(self.breaks, low, high), [high]))
            values = self.values[:, column]
            ax.axvspan(max(plateau.low, low), min(plateau.high, high), color=COLOURS[1], alpha=0.15, linewidth=0,
                       label="not separated from the best")  # fmt: skip
            ax.stairs(values + errors, edges, baseline=values - errors, fill=True, color=COLOURS[0], alpha=0.25,
                      label="one standard error")  # fmt: skip
            ax.stairs(values, edges, baseline=None, color=COLOURS[0], linewidth=1.2)
            ax.plot([best.t], [best.value], "o", color=COLOURS[1], label=f"best: {best.value:.4f} at t = {best.t:.4g}")
            ax.set_xlim(low, high)
            ax.set_xlabel("t")
            ax.set_ylabel(name)
            ax.legend(loc="best", fontsize=8.0)

        return Drawing(f"{name} along a line of scores", draw).plot(ax)

    def _choose(self, column: int, found: Runs, evaluated: Callable[[float], Values]) -> Best:
        """Choose t for a mean; `evaluated` returns the mean at a t, for each form of the scores."""
        own = choose([found], self._sign(column), lambda t: evaluated(t.item())[:, None], self.bounds)
        best = Best(own.t.item(), own.value.item(), (own.low.item(), own.high.item()))
        best._find = partial(self._best_break, column)
        return best

    def _best_break(self, column: int, best: Best) -> Break | None:
        """Return the best t at which more than two documents tie, if it is better than the best interval."""
        sign = self._sign(column)
        means = np.nan_to_num(sign * self._at_ties[:, column], nan=-np.inf)
        if not len(means) or not exceeds(means.max(), sign * best.value):
            return None
        i = int(np.argmax(means))
        return Break(float(self._ties[i]), float(sign * means[i]))

    def _mean(self, scores: Values) -> Values:
        averages: Values = self._pencil.prepared.means(scores[None])[0]
        return averages

    def _values_at(self, column: int, t: float | Values) -> Values:
        """Return the values of all queries at t, or at one t for each document: float64[n_forms, n_queries]."""
        return np.array([self._pencil.prepared.values(scores)[:, column] for scores in self._pencil.forms(t)])

    def _all_means_at(self, t: float) -> Values:
        """Return the means of all measures at t: float64[n_forms, n_measures]."""
        return np.array([self._mean(scores) for scores in self._pencil.forms(t)])

    def _means_at(self, column: int, t: float, included: npt.NDArray[np.bool_] | None = None) -> Values:
        """Return the means at t, over all queries or some: float64[n_forms]."""
        if included is None:
            return self._all_means_at(t)[:, column]
        values = self._values_at(column, t)[:, included]
        defined = ~np.isnan(values[0])
        return values[:, defined].mean(axis=1) if defined.any() else values[:, 0]

    def attempts(self, column: int) -> Iterator[tuple[float, float]]:
        """Iterate over numbers t inside intervals, the best intervals first.

        Parameters
        ----------
        column : int
            The index of the measure.

        Returns
        -------
        iterator of (float, float)
            The value of an interval, and a t inside it, which may lack the value: scores are rounded.

        Examples
        --------
        >>> import tieaware
        >>> line = tieaware.Evaluator([1, 0], ["RR"]).between([0.0, 1.0], [1.0, 0.0])
        >>> next(line.attempts(0))
        (1.0, 0.7)
        """
        found = self._runs(column)
        for i, t in attempts(found, self._sign(column)):
            yield float(found[2][i]), t

    def _runs(self, column: int) -> Runs:
        """Return the intervals on which a measure does not change; if the line is long, only the best of them."""
        if self._steps is None:
            return self._pencil.best_runs(column, self._sign(column))
        return runs(self._steps, column, *self.bounds)

    def _changing_runs(self, column: int) -> Runs:
        """Return `_runs`; warn the caller's caller if there is only one."""
        found = self._runs(column)
        if len(found[0]) == 1:
            low, high = self.bounds
            ties = ", except perhaps where documents tie" if self.varies(self.measures[column]) else ""
            same = f"{self.measures[column]} is the same for every t from {low:g} to {high:g}{ties}"
            warnings.warn(same, UserWarning, stacklevel=3)
        return found

    def _sign(self, column: int) -> float:
        return -1.0 if self.measures[column].definition.less_is_better else 1.0

    def _errors(self, steps: Steps, n: Values) -> tuple[Values, Values]:
        """Return the standard errors of the differences from a centre, and their means; n is the number of queries."""
        assert steps.sums is not None
        with np.errstate(divide="ignore", invalid="ignore"):
            means = steps.sums[..., 0] / n
            variances = np.maximum(steps.sums[..., 1] - n * means**2, 0.0) / (n - 1)
            return np.where(n > 1, np.sqrt(variances / n), np.nan), means

    def _shown_bounds(self) -> tuple[float, float]:
        """Return finite bounds for a figure: those of the line, or a little more than the breaks."""
        low, high = self.bounds
        inner = self.breaks if len(self.breaks) else np.zeros(1)
        margin = 0.05 * float(inner[-1] - inner[0]) or 1.0
        return (
            float(inner[0]) - margin if np.isinf(low) else low,
            float(inner[-1]) + margin if np.isinf(high) else high,
        )


def column_of(measures: tuple[Measure, ...], measure: str | Measure | None) -> int:
    """Return the column of a measure among an evaluator's; without a measure, that of its only one."""
    names = ", ".join(map(str, measures))
    if measure is None:
        if len(measures) != 1:
            raise InputError("measure", f"name one of {names}")
        return 0
    wanted = parse_measure(measure)
    if wanted not in measures:
        raise InputError("measure", f"{wanted} is not among the evaluator's: {names}")
    return measures.index(wanted)


def _standard_error(values: Values) -> float:
    """Return the standard error of the mean; NaN for fewer than two values."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
