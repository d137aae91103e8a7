"""A line of scores: the means of the measures along it, the best t, and how sure the choice is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tieaware.checks.arguments import number, whole_number
from tieaware.checks.arrays import Values
from tieaware.errors import InputError
from tieaware.lines.crossings import MOST_TRIES, Mask, Pencil, Runs, Steps, best_first, inside, runs
from tieaware.measures import Measure, parse_measure
from tieaware.output.plots import COLOURS, Drawing, display_name
from tieaware.runtime.extras import load

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The means of longer lines are computed when they are first asked for; `best` does without them.
_SHORT = 2**22


class Best(NamedTuple):
    """The best t of a line for a measure.

    Attributes
    ----------
    t : float
        The middle of the widest interval with the best value.
    value : float
        The mean of the measure at t. It has the same bits as the evaluator's mean of the scores at t.
    interval : tuple of float
        The ends of the interval, on which the value does not change. The ends do not belong to it.
    """

    t: float
    value: float
    interval: tuple[float, float]


class OwnBest(NamedTuple):
    """The best t of each query.

    Attributes
    ----------
    t : float64[n_queries]
        A t inside the widest interval with the query's best value.
    value : float64[n_queries]
        The query's best value.
    low, high : float64[n_queries]
        The ends of that interval.
    """

    t: Values
    value: Values
    low: Values
    high: Values


class CrossValidated(NamedTuple):
    """What a choice of t earns on queries that were not used for it.

    Attributes
    ----------
    t : float64[folds]
        The best t of all other folds, for each fold.
    values : float64[n_queries]
        The value of each query at the t that was chosen without it.
    mean : float
        The mean of `values`; undefined values (NaN) are left out.
    standard_error : float
        The standard error of the mean, over the queries.
    """

    t: Values
    values: Values
    mean: float
    standard_error: float


class Plateau(NamedTuple):
    """The values of t around the best one that a paired t-test does not separate from it.

    Attributes
    ----------
    low, high : float
        The ends of the interval around the best t.
    level : float
        The confidence level of the tests, which are not corrected for their number.
    """

    low: float
    high: float
    level: float


class Line:
    """The means of an evaluator's measures at the scores a + t d, as exact functions of t.

    `Evaluator.along` and `Evaluator.between` return lines. Between two breaks, no documents of different worth cross,
    so all means are constant. At a break, documents tie; `at` evaluates it. If more than four million pairs of
    documents may cross, `breaks` and `values` are computed when they are first read, and `best` does without them in
    less memory.

    Parameters
    ----------
    measures : tuple of Measure
        The evaluator's measures.
    pencil : Pencil
        The lines of all documents.
    evaluate : callable
        Takes scores and returns the values, float64[n_queries, n_measures].
    mean : callable
        Takes scores and returns the means, float64[n_measures].

    Attributes
    ----------
    measures : tuple of Measure
    bounds : tuple of float
        The ends of the line; they may be infinite.
    breaks : float64[n]
        Where the mean of a measure changes, ascending.
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
    (0.75, 1.0)
    """

    def __init__(
        self, measures: tuple[Measure, ...], pencil: Pencil, evaluate: Callable[[Values], Values],
        mean: Callable[[Values], Values],
    ) -> None:  # fmt: skip
        self.measures = measures
        self.bounds: tuple[float, float] = (pencil.low, pencil.high)
        self._pencil = pencil
        self._evaluate, self._mean = evaluate, mean
        self._steps: Steps | None = pencil.steps() if pencil.n_pairs <= _SHORT else None

    @property
    def steps(self) -> Steps:
        """The breaks and the means, computed once."""
        if self._steps is None:
            self._steps = self._pencil.steps()
        return self._steps

    @property
    def breaks(self) -> Values:
        """Where the mean of a measure changes, ascending: float64[n]."""
        return self.steps.breaks

    @property
    def values(self) -> Values:
        """The means before the first break, between the breaks and after the last: float64[n + 1, n_measures]."""
        return self.steps.means

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
            The means, as the evaluator computes them for the scores a + t d.

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

    def best(self, measure: str | Measure | None = None) -> Best:
        """Find the best t for a measure.

        Parameters
        ----------
        measure : str or Measure, optional
            One of the evaluator's measures. By default its only one.

        Returns
        -------
        Best
            For a measure of which less is better, such as ESL, the value is the least one.

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
        Best(t=0.75, value=1.0, interval=(0.5, 1.0))
        """
        column = column_of(self.measures, measure)
        low, high, values = self._changing_runs(column)
        return self._certified(column, low, high, values)

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
        (array([0.75, 0.25]), array([1., 1.]))
        """
        column = column_of(self.measures, measure)
        sign = self._sign(column)
        n_queries = len(self._pencil.prepared.offsets) - 1
        found = np.empty((4, n_queries))
        for query in range(n_queries):
            low, high, values = runs(self._pencil.query(query).steps(), column, *self.bounds)
            if np.isnan(values[0]):
                i = 0
            else:
                best = np.flatnonzero(sign * values == (sign * values).max())
                i = int(best[np.argmax(high[best] - low[best])])
            found[:, query] = inside(low[i], high[i]), values[i], low[i], high[i]
        return OwnBest(*found)

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
        folds, seed = whole_number("folds", folds, 2, 2**31), whole_number("seed", seed, 0)
        if n_queries < folds:
            raise InputError("folds", f"must be at most the number of queries, {n_queries}; found {folds}")
        self._changing_runs(column)
        fold = np.random.default_rng(seed).permutation(n_queries) % folds
        chosen, values = np.empty(folds), np.empty(n_queries)
        for i in range(folds):
            chosen[i] = self._best_of(column, fold != i)
            values[fold == i] = self._evaluate(self._pencil.scores(chosen[i]))[fold == i, column]
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
        start = self._evaluate(self._pencil.scores(inside(*self.bounds)))
        defined = ~np.isnan(start)
        centre = np.broadcast_to(start.mean(axis=0, where=defined), start.shape) if n_queries else start
        errors, _ = self._errors(self._pencil.steps(centre=centre), defined.sum(axis=0))
        return errors

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
        best = self._certified(column, *runs(self.steps, column, *self.bounds))
        centre = self._evaluate(self._pencil.scores(best.t))
        n = int((~np.isnan(centre[:, column])).sum())
        if n < 2:
            raise InputError("plateau", f"needs at least two queries with relevant documents; there are {n}")
        steps = self._pencil.steps(centre=centre)
        errors, means = self._errors(steps, np.full(len(self.measures), n))
        critical = float(load("scipy.stats", "analysis").t.ppf((1.0 + level) / 2.0, n - 1))
        apart = np.abs(means[:, column]) > critical * errors[:, column]
        at = int(np.searchsorted(steps.breaks, best.t))
        below, above = np.flatnonzero(apart[:at]), np.flatnonzero(apart[at:])
        low = self.bounds[0] if not len(below) else float(steps.breaks[below[-1]])
        high = self.bounds[1] if not len(above) else float(steps.breaks[at + above[0] - 1])
        return Plateau(low, high, level)

    def plot(self, measure: str | Measure | None = None, ax: Axes | None = None) -> Axes:
        """Draw a measure along the line, with a band of its standard error, the best t and the plateau.

        Parameters
        ----------
        measure : str or Measure, optional
            As for `best`.
        ax : matplotlib axes, optional
            The axes to draw into. By default, a new figure.

        Returns
        -------
        matplotlib axes

        Raises
        ------
        InputError
            As for `plateau`; also if matplotlib or SciPy is not installed.

        Examples
        --------
        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([[1, 0], [1, 0]], ["RR"])
        >>> line = evaluator.between([[0.0, 1.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.5]])
        >>> import matplotlib; matplotlib.use("agg")
        >>> line.plot("RR").get_xlabel()
        't'
        """
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

    def _certified(self, column: int, low: Values, high: Values, values: Values) -> Best:
        """Return the widest of the best intervals whose value the evaluator confirms at a t inside it.

        An interval may be so narrow that scores at all of its numbers are rounded into other ties.
        """
        sign = self._sign(column)
        for i in best_first((low, high, values), sign, MOST_TRIES).tolist():
            t = inside(float(low[i]), float(high[i]))
            value = float(self.at(t)[column])
            if low[i] < t < high[i] and abs(value - values[i]) <= 1e-12 * max(1.0, abs(value)):
                return Best(t, value, (float(low[i]), float(high[i])))
            if np.isnan(value):
                return Best(t, value, (float(low[i]), float(high[i])))
        raise InputError("line", "its best intervals are too narrow for scores in float64; scale the scores")

    def runs(self, column: int) -> Runs:
        """Return the intervals on which a measure does not change; if the line is long, only the best of them.

        Parameters
        ----------
        column : int
            The index of the measure.

        Returns
        -------
        tuple of float64[n]
            The lower ends, the upper ends and the values, in the order of the intervals.

        Examples
        --------
        >>> import tieaware
        >>> tieaware.Evaluator([1, 0], ["RR"]).between([0.0, 1.0], [1.0, 0.0]).runs(0)
        (array([0. , 0.5]), array([0.5, 1. ]), array([0.5, 1. ]))
        """
        if self._steps is None:
            return self._pencil.best_runs(column, self._sign(column))
        return runs(self._steps, column, *self.bounds)

    def _changing_runs(self, column: int) -> Runs:
        """Return `runs`; warn the caller's caller if there is only one."""
        found = self.runs(column)
        if len(found[0]) == 1:
            low, high = self.bounds
            warnings.warn(
                f"{self.measures[column]} is the same for every t from {low:g} to {high:g}", UserWarning, stacklevel=3
            )
        return found

    def _sign(self, column: int) -> float:
        return -1.0 if self.measures[column].definition.less_is_better else 1.0

    def _best_of(self, column: int, included: Mask) -> float:
        """Return the middle of the widest interval with the best mean over the included queries."""
        sign = self._sign(column)
        low, high, values = self._pencil.best_runs(column, sign, included)
        if np.isnan(values[0]):
            return inside(*self.bounds)
        best = np.flatnonzero(sign * values == (sign * values).max())
        i = int(best[np.argmax(high[best] - low[best])])
        return inside(float(low[i]), float(high[i]))

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
