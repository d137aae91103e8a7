"""How sure the means of results are: their intervals, the ranks of runs, runs that no test separates; figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tieaware.checks.arguments import did_you_mean, flag, number, shown, whole_number
from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import merged, rounding_of, without_rounding
from tieaware.errors import Hinted, InputError
from tieaware.measures import Measure, parse_measures
from tieaware.output.plots import COLOURS, Axes, Drawing, check_axes, display_name
from tieaware.output.tables import Cell, Marked, Table, significant
from tieaware.results.exports import Export, ExportColumn
from tieaware.results.lookup import position_of_measure

if TYPE_CHECKING:
    from tieaware.statistics.multiple_comparisons import Correction
    from tieaware.statistics.procedures import PairTest

# The methods in sentences.
_METHODS = {
    "t": "Student's t", "percentile": "percentile bootstrap", "bca": "BCa bootstrap", "bootstrap-t": "bootstrap-t",
}  # fmt: skip
# The height of a row in inches, and of everything else. Names of runs in lower rows than this would overlap, so figures
# of more runs have a fixed height and no names.
_ROW, _REST, _MOST_NAMED, _HEIGHT_WITHOUT_NAMES = 0.27, 1.3, 80, 6.0
# With more runs than _FEWEST, the axis leaves out one run that would make it _SQUEEZED times as long as for the others.
_FEWEST, _SQUEEZED = 4, 4.0


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

    def plot(
        self, ax: Axes | None = None, *, measure: str | Measure | None = None, width: float | None = None
    ) -> Axes:
        """Draw the estimates of all runs with their intervals, the highest at the top. Needs `tieaware[analysis]`.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; by default a new pyplot figure.
        measure : str or Measure, optional
            One of the measures; by default the first.
        width : float, optional
            The width of a new figure in inches, such as 3.3 for a column of a paper.

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
        return interval_figure(self, place).of_width(width).plot(ax)


def interval_figure(intervals: Intervals, place: int) -> Drawing:
    """Return the figure of the intervals of the measure at a position, with the highest estimate at the top."""
    name = display_name(intervals.measures[place])
    baseline = "" if intervals.baseline is None else display_name(intervals.baseline)
    label = f"{name} {'÷' if intervals.ratio else 'minus'} that of {baseline}" if baseline else name
    numbers = np.stack([each[:, place] for each in (intervals.estimate, intervals.low, intervals.high)])
    return figure_of_runs(
        intervals.runs, numbers, f"{label}\nlines: the interval over queries, level {intervals.level:g}",
        intervals.title, f"Intervals of {name}", float(intervals.ratio) if baseline else None,
        caption=f"The mean {name} of each run, with its interval over queries (level {intervals.level:g})",
    )  # fmt: skip


def figure_of_runs(
    runs: Sequence[str], numbers: Values, label: str, heading: str, title: str, reference: float | None = None, *,
    caption: str,
) -> Drawing:  # fmt: skip
    """Return a figure of an estimate and the ends of a line for each run, float64[3, n_runs], the highest at the top.

    A thin line marks the number `reference`, if it is given.
    """

    def draw(ax: Axes) -> None:
        _draw_rows(ax, runs, numbers[0], (numbers[1], numbers[2]), {"linewidth": 1.5})
        if reference is None:
            _leave_out_one(ax, *numbers)
        else:
            ax.axvline(reference, color=COLOURS[-1], linewidth=0.8)
        ax.set_xlabel(label)
        ax.set_title(heading, loc="left", fontsize=10.0)

    return Drawing(caption, draw, (6.2, _height(len(runs))), title)


def _height(n_runs: int) -> float:
    """Return the height of a figure with a row for each run, in inches."""
    return _ROW * n_runs + _REST if n_runs <= _MOST_NAMED else _HEIGHT_WITHOUT_NAMES


def _draw_rows(
    ax: Axes, runs: Sequence[str], values: Values, limits: tuple[Values, Values] | None, line: dict[str, Any]
) -> None:
    """Draw a point for each run, the highest at the top, and its limits, if there are any, as a line of this style."""
    # matplotlib draws no point for NaN.
    order = _order(values)
    rows = np.arange(len(order))
    if limits is not None:
        ax.hlines(rows, limits[0][order], limits[1][order], color=COLOURS[0], **line)
    ax.plot(values[order], rows, "o", color=COLOURS[0])
    ax.set_ylim(len(order) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    if len(order) <= _MOST_NAMED:
        ax.set_yticks(rows, [display_name(runs[i]) for i in order])
    else:
        ax.set_yticks([])
        ax.set_ylabel(f"{len(order):,} runs, the highest first")


def _order(values: Values) -> Integers:
    """Return the runs from the highest to the lowest. Those with equal values keep their order; NaN comes last."""
    return np.argsort(-merged(values), kind="stable")


def _leave_out_one(ax: Axes, values: Values, low: Values, high: Values) -> None:
    """If a single run would squeeze all others, let the axis end at the others, with an arrow and the run's value."""
    rows = np.argsort(_order(values))
    known = np.flatnonzero(np.isfinite(low + high))
    for sign, ends in ((-1.0, low), (1.0, high)) if len(known) > _FEWEST else ():
        far = known[np.argmax(sign * ends[known])]
        others = known[known != far]
        least, most = low[others].min(), high[others].max()
        if (span := most - least) > 0.0 and high[known].max() - low[known].min() > _SQUEEZED * span:
            ax.set_xlim(least - 0.08 * span, most + 0.08 * span)
            edge = ax.get_xlim()[int(sign > 0.0)]
            ax.plot([edge], [rows[far]], ">" if sign > 0.0 else "<", color=COLOURS[1], clip_on=False, zorder=3)
            ax.annotate(
                significant(values[far]), (edge, rows[far]), (-6.0 * sign, 0.0), textcoords="offset points",
                ha="right" if sign > 0.0 else "left", va="center", fontsize=8, color=COLOURS[1],
            )  # fmt: skip
            return


def _place(name: Any, names: Sequence[str], kind: str) -> int:
    if name not in names:
        raise KeyError(f"there is no {kind} {shown(name)}{did_you_mean(name, names) if isinstance(name, str) else ''}")
    return names.index(name)


def _cell(value: float, low: float, high: float, digits: int, sign: str) -> Cell:
    if np.isnan(value):
        return None
    form = f"{sign}z.{digits}f"
    return Marked(value, f"{value:{form}}", beside=f"[{low:{form}}, {high:{form}}]")


def intervals(
    export: Export, level: float, method: str, baseline: str | None, is_ratio: bool, resamples: int, seed: int
) -> Intervals:
    """Return the intervals of the means; see `tieaware.Results.intervals`."""
    from tieaware.statistics.intervals import mean_interval, ratio_interval
    from tieaware.statistics.procedures import pairs_of

    _check_testable(export, "intervals")
    columns = _values_of(export)
    values = np.empty((*export.answered.shape, len(columns)))
    for i, column in enumerate(columns):
        values[:, :, i] = column.values
    arrays = [np.full(values.shape[::2], np.nan) for _ in range(4)]
    choices: dict[str, Any] = {
        "method": method, "level": level, "axis": 1, "resamples": resamples, "seed": seed,
    }  # fmt: skip
    some = np.array([column.is_tested for column in columns], dtype=np.bool_)
    base = None
    if baseline is not None:
        # This raises the error about an unknown baseline.
        pairs_of(export.runs, baseline)
        base = export.runs.index(baseline)
    of_ties = _std_of_ties(export, columns) if export.has_spread and not is_ratio else None
    if flag("ratio", is_ratio):
        if base is None:
            raise InputError("ratio", "needs a baseline; write intervals(baseline='name of a run', ratio=True)")
        some &= np.abs(values[base].mean(axis=0)) > rounding_of(values[base], axis=0)
        below = np.broadcast_to(values[base][None, :, some], values[:, :, some].shape)
        found = ratio_interval(values[:, :, some], below, **choices)
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
    names = tuple(column.name for column in columns)
    estimate, low, high, std_error = arrays
    return Intervals(
        estimate, low, high, std_error, of_ties, export.runs, names, level, method, baseline, is_ratio, export.title
    )


def _std_of_ties(export: Export, columns: Sequence[ExportColumn]) -> Values:
    """Return the standard deviation of each mean over the orders of ties, float64[n_runs, n_measures]."""
    found = np.full((len(export.runs), len(columns)), np.nan)
    known = {column.measure: column.summary for column in export.columns if column.kind == "std"}
    for i, column in enumerate(columns):
        if column.measure in known:
            found[:, i] = known[column.measure]
    return found


def ranks(export: Export, level: float, resamples: int, seed: int) -> Table:
    """Return the ranks that each run may have; see `tieaware.Results.ranks`."""
    from tieaware.statistics.ranks_of_systems import rank_intervals

    _check_testable(export, "ranks")
    names, columns = ["run"], [list[Cell](export.runs)]
    for column in _values_of(export):
        names.append(column.name)
        if not column.is_tested:
            columns.append([None] * len(export.runs))
            continue
        found = rank_intervals(column.larger_is_better, level=level, resamples=resamples, seed=seed)
        pairs = zip(found.low.tolist(), found.high.tolist(), strict=True)
        columns.append([Marked(low, f"{low}–{high}") for low, high in pairs])
    title = f"Ranks of {export.title[0].lower()}{export.title[1:]}"
    note = f"With probability {level:g}, all intervals of a measure contain the true ranks."
    return Table(title, tuple(names), list(zip(*columns, strict=True)), (note,))


def groups(
    export: Export, place: int, test: PairTest, correction: Correction | None, alpha: float
) -> tuple[tuple[str, ...], ...]:
    """Return the groups of runs that no test separates by one measure; see `tieaware.Results.groups`."""
    from tieaware.statistics.letter_display import groups as largest_groups
    from tieaware.statistics.procedures import checked, pairs_of

    procedure = checked(test, correction)
    alpha = number("alpha", alpha, 0, 1, ends=False)
    columns = _values_of(export)
    if not columns:
        raise InputError("groups", "the results have no measure")
    _check_testable(export, "groups")
    if not columns[place].is_tested:
        problem = f"the summary of {columns[place].name} is not an arithmetic mean, so no test compares it"
        raise InputError("measure", problem)
    values = columns[place].larger_is_better
    separated = np.zeros((len(values), len(values)), dtype=np.bool_)
    if len(values) > 1:
        first, second = pairs_of(export.runs, None)
        separated[first, second] = procedure.verdicts(values, first, second, alpha).signs != 0.0
    return tuple(tuple(export.runs[i] for i in each) for each in largest_groups(separated, values.mean(axis=1)))


def topics_needed(export: Export, place: int, difference: float, baseline: str | None, alpha: float) -> int:
    """Return how many topics find a difference; see `tieaware.Results.topics_needed`."""
    from tieaware.statistics import planning
    from tieaware.statistics.procedures import pairs_of

    _check_testable(export, "topics_needed")
    if len(export.runs) < 2:
        raise InputError("topics_needed", "needs at least two runs, whose differences vary over topics")
    values = _values_of(export)[place].values
    first, second = pairs_of(export.runs, baseline)
    differences = without_rounding(values[first] - values[second], rounding_of(values))
    variance = float(differences.var(axis=1, ddof=1).mean())
    if not variance:
        raise InputError("topics_needed", "no two of these runs differ on any topic, so no number can be planned")
    return planning.topics_needed(difference, variance, alpha=alpha)


def _values_of(export: Export) -> list[ExportColumn]:
    return [column for column in export.columns if column.kind == "value"]


def _check_testable(export: Export, method: str) -> None:
    """Raise InputError if there are too few queries, or a run lacks values."""
    if len(export.queries) < 2:
        raise InputError(method, f"needs at least two queries; there are {len(export.queries)}")
    if any(np.isnan(column.values).any() for column in _values_of(export)):
        raise InputError(method, "needs a value of each run on each query; evaluate with queries='judged'")


def means_figure(export: Export, place: int) -> Drawing:
    """Return the figure of the means of one measure, with the highest mean at the top.

    `place` is the position of the measure's column of values among the columns of values.
    """
    starts = [i for i, column in enumerate(export.columns) if column.kind == "value"]
    value = export.columns[starts[place]]
    kinds = {column.kind: column for column in export.columns if column.measure is value.measure}
    limits = (kinds["min"].summary, kinds["max"].summary) if "min" in kinds else None

    def draw(ax: Axes) -> None:
        _draw_rows(ax, export.runs, value.summary, limits, {"alpha": 0.35, "linewidth": 5.0})
        _leave_out_one(ax, value.summary, *(limits or [value.summary] * 2))
        explanation = ", summed over the queries" if value.is_count else ""
        explanation += "" if limits is None else "\nbars: range over the orders of ties"
        ax.set_xlabel(f"{display_name(value.name)}{explanation}")
        ax.set_title(export.title, loc="left", fontsize=10.0)

    return Drawing(export.title, draw, (6.2, _height(len(export.runs))))
