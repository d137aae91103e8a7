"""Confidence intervals of the means of results, of their differences from a baseline, and of their ratios to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tieaware.checks.arguments import did_you_mean, shown, whole_number
from tieaware.checks.arrays import Values
from tieaware.checks.rounding import merged, rounding_of, without_rounding
from tieaware.errors import Hinted, InputError
from tieaware.measures import Measure, parse_measures
from tieaware.output.plots import COLOURS, Drawing, check_axes, display_name
from tieaware.output.tables import Cell, Marked, Table
from tieaware.results.lookup import position_of_measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The methods in sentences.
_METHODS = {
    "t": "Student's t", "percentile": "percentile bootstrap", "bca": "BCa bootstrap", "bootstrap-t": "bootstrap-t",
}  # fmt: skip
# The height of a row of the figure in inches, and of everything else.
_ROW, _REST = 0.27, 1.3


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(Hinted):
    """Confidence intervals over the queries, as `tieaware.Results.intervals` returns them.

    Attributes
    ----------
    estimate : float64[n_runs, n_measures]
        The means; or with a baseline, their differences from its means, or their ratios to them.
    low, high : float64[n_runs, n_measures]
        The ends of the intervals.
    std_error : float64[n_runs, n_measures]
        The standard error of the estimate, over the queries.
    std_of_ties : float64[n_runs, n_measures] or None
        The exact standard deviation of the mean, or of the difference, if one order of the tied documents is drawn for
        each query; None for ratios, and if the results have no spread.
    runs : tuple of str
    measures : tuple of str
        The names of the measures in the results.
    level : float
        The confidence level of each interval.
    method : str
        "t", "percentile", "bca" or "bootstrap-t".
    baseline : str or None
    ratio : bool
        Whether the estimates are ratios to the baseline.
    title : str
        Which queries the means are over, and the options of the evaluation.
    """

    estimate: Values
    low: Values
    high: Values
    std_error: Values
    std_of_ties: Values | None
    runs: tuple[str, ...]
    measures: tuple[str, ...]
    level: float
    method: str
    baseline: str | None = None
    ratio: bool = False
    title: str = ""

    @property
    def share_of_ties(self) -> Values | None:
        """The share of the variance that is due to ties, 0 … 1, if one order is drawn for each query.

        The estimates here are averages over all orders, so this part is not in their intervals. An evaluator that
        breaks ties by document or at random adds it. It is None where `std_of_ties` is.
        """
        if self.std_of_ties is None:
            return None
        of_ties, of_queries = self.std_of_ties**2, self.std_error**2
        with np.errstate(invalid="ignore"):
            share: Values = np.where(of_ties == 0.0, 0.0, of_ties / (of_ties + of_queries))
        return np.where(np.isnan(of_ties), np.nan, share)

    def __getitem__(self, key: tuple[str, str]) -> tuple[float, float]:
        """Return the ends of the interval of a run and a measure.

        Parameters
        ----------
        key : (str, str)
            The names of the run and the measure: ``intervals["bm25", "AP"]``.

        Returns
        -------
        (float, float)

        Raises
        ------
        KeyError
            If there is no such run or measure.
        TypeError
            If the key is not a pair.
        """
        if not isinstance(key, tuple) or len(key) != 2:
            raise TypeError(f"write intervals[run, measure] for the ends of an interval, not intervals[{key!r}]")
        run, measure = (_place(*each) for each in zip(key, (self.runs, self.measures), ("run", "measure"), strict=True))
        return float(self.low[run, measure]), float(self.high[run, measure])

    def table(self, digits: int = 3) -> Table:
        """Return a table with a row for each run: estimates, and in brackets their intervals.

        Parameters
        ----------
        digits : int
            The number of decimals, 0 … 17.

        Returns
        -------
        Table
            With a spread, a column "ties AP" has the share of the variance that is due to ties. Data frames and files
            have the estimates and shares only; use `low` and `high` for the numbers in brackets.

        Raises
        ------
        InputError
            If `digits` is out of range.
        """
        digits = whole_number("digits", digits, 0, 17)
        names, columns = ["run"], [list[Cell](self.runs)]
        share = self.share_of_ties
        for at, name in enumerate(self.measures):
            names.append(name if self.baseline is None else f"{name} {'÷' if self.ratio else 'Δ'}")
            numbers = zip(*(each[:, at].tolist() for each in (self.estimate, self.low, self.high)), strict=True)
            columns.append([_cell(value, low, high, digits, self._sign) for value, low, high in numbers])
            if share is not None and not np.isnan(share[:, at]).all():
                names.append(f"ties {name}")
                columns.append([None if np.isnan(x) else Marked(x, f"{x:.1%}") for x in share[:, at].tolist()])
        return Table(self.title, tuple(names), list(zip(*columns, strict=True)), self._notes())

    @property
    def _sign(self) -> str:
        return "+" if self.baseline is not None and not self.ratio else ""

    def _notes(self) -> tuple[str, ...]:
        what = "the mean" if self.baseline is None else (
            f"the ratio to the mean of {self.baseline}" if self.ratio else f"the difference from {self.baseline}"
        )  # fmt: skip
        notes = [f"In brackets: the interval of {what} over queries ({_METHODS[self.method]}, level {self.level:g})."]
        if self.share_of_ties is not None:
            notes.append(
                "Ties: their share of the variance if one order of the tied documents is drawn for each query."
            )
        return tuple(notes)

    def __str__(self) -> str:
        return str(self.table())

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def plot(self, ax: Axes | None = None, *, measure: str | Measure | None = None) -> Axes:
        """Draw the estimates of all runs with their intervals, the highest at the top. Needs `tieaware[analysis]`.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; by default a new pyplot figure.
        measure : str or Measure, optional
            One of the measures; by default the first.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InputError
            If `ax` is a measure instead of axes.
        KeyError
            If there is no such measure.
        """
        check_axes(ax)
        parsed = parse_measures(self.measures)
        place = 0 if measure is None else position_of_measure(parsed, self.measures, measure)
        return interval_figure(self, place).plot(ax)


def interval_figure(intervals: Intervals, place: int) -> Drawing:
    """Return the figure of the intervals of the measure at a position, with the highest estimate at the top."""
    name = display_name(intervals.measures[place])
    baseline = "" if intervals.baseline is None else display_name(intervals.baseline)
    label = f"{name} {'÷' if intervals.ratio else 'minus'} that of {baseline}" if baseline else name

    def draw(ax: Axes) -> None:
        order = np.argsort(-merged(intervals.estimate[:, place]), kind="stable")
        rows = np.arange(len(order))
        ends = intervals.low[order, place], intervals.high[order, place]
        ax.hlines(rows, *ends, color=COLOURS[0], linewidth=1.5)
        ax.plot(intervals.estimate[order, place], rows, "o", color=COLOURS[0])
        if baseline:
            ax.axvline(float(intervals.ratio), color=COLOURS[-1], linewidth=0.8)
        ax.set_yticks(rows, [display_name(intervals.runs[i]) for i in order])
        ax.set_ylim(len(order) - 0.5, -0.5)
        ax.grid(axis="y", visible=False)
        ax.set_xlabel(f"{label}\nlines: the interval over queries, level {intervals.level:g}")
        ax.set_title(intervals.title, loc="left", fontsize=10.0)

    caption = f"The mean {name} of each run, with its interval over queries (level {intervals.level:g})"
    return Drawing(caption, draw, (6.2, _ROW * len(intervals.runs) + _REST), f"Intervals of {name}")


def _place(name: Any, names: Sequence[str], kind: str) -> int:
    if name not in names:
        raise KeyError(f"there is no {kind} {shown(name)}{did_you_mean(name, names) if isinstance(name, str) else ''}")
    return names.index(name)


def _cell(value: float, low: float, high: float, digits: int, sign: str) -> Cell:
    if np.isnan(value):
        return None
    return Marked(value, f"{value:{sign}.{digits}f}", beside=f"[{low:{sign}.{digits}f}, {high:{sign}.{digits}f}]")


def intervals_of(empty: Intervals, values: Values, tested: Sequence[bool], resamples: int, seed: int) -> Intervals:
    """Return the intervals with their numbers.

    Parameters
    ----------
    empty : Intervals
        With all names and choices, and the standard deviations of the means over orders of ties, if they are known; its
        other arrays are NaN.
    values : float64[n_runs, n_queries, n_measures]
    tested : sequence of bool
        Which measures have an interval.
    resamples, seed : int
    """
    from tieaware.statistics.intervals import mean_interval, ratio_interval

    arrays = [np.full(empty.estimate.shape, np.nan) for _ in range(4)]
    choices: dict[str, Any] = {
        "method": empty.method, "level": empty.level, "axis": 1, "resamples": resamples, "seed": seed,
    }  # fmt: skip
    some = np.array(tested, dtype=np.bool_)
    base = None if empty.baseline is None else _place_of_baseline(empty)
    of_ties = empty.std_of_ties
    if empty.ratio:
        if base is None:
            raise InputError("ratio", "needs a baseline; write intervals(baseline='name of a run', ratio=True)")
        some &= np.abs(values[base].mean(axis=0)) > rounding_of(values[base], axis=0)
        below = np.broadcast_to(values[base][None, :, some], values[:, :, some].shape)
        found = ratio_interval(values[:, :, some], below, **choices)
        of_ties = None
    else:
        samples = values[:, :, some]
        if base is not None:
            samples = without_rounding(samples - samples[base], rounding_of(samples, axis=1)[:, None])
        found = mean_interval(samples, **choices)
        if base is not None and of_ties is not None:
            of_ties = np.sqrt(of_ties**2 + of_ties[base] ** 2)
            of_ties[base] = 0.0
    for array, field in zip(arrays, found, strict=True):
        array[:, some] = field
    if of_ties is not None:
        of_ties = np.where(some, of_ties, np.nan)
    estimate, low, high, std_error = arrays
    return replace(empty, estimate=estimate, low=low, high=high, std_error=std_error, std_of_ties=of_ties)


def _place_of_baseline(empty: Intervals) -> int:
    from tieaware.statistics.procedures import pairs_of

    # This raises the error about an unknown baseline.
    pairs_of(empty.runs, empty.baseline)
    assert empty.baseline is not None
    return empty.runs.index(empty.baseline)
