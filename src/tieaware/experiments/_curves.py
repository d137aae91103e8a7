"""The curves experiment: expected precision–recall and ROC curves under ties."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from tieaware.checks.arguments import one_of
from tieaware.checks.arrays import Integers, Values
from tieaware.engine.views import View
from tieaware.experiments.evaluating import evaluate_with_progress
from tieaware.experiments.experiment import Experiment
from tieaware.inputs import QrelsLike
from tieaware.measures import Measure
from tieaware.measures.definitions import IPrec, NumRelRet, NumRet, P, R
from tieaware.output.plots import COLOURS, Drawing, display_name, file_name, legend_above, style
from tieaware.output.tables import Cell, Table, counted, percent, significant
from tieaware.statistics.values import ROUNDING
from tieaware.ties import TieRuleName

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# If there are more runs than this, only some of their curves are in colour, and the others are grey.
_COLOURED = 7
# If there are more lines than this, they are rasterised, so that vector files stay small.
_MANY = 100

CurveKind: TypeAlias = Literal["precision-recall", "interpolated", "roc"]
# The names of the x axis and the y axis of each kind.
KINDS: dict[CurveKind, tuple[str, str]] = {
    "precision-recall": ("recall", "precision"),
    "interpolated": ("recall", "interpolated precision"),
    "roc": ("share of the retrieved nonrelevant documents", "recall"),
}

_TITLES: dict[CurveKind, str] = {
    "precision-recall": "Precision–recall", "interpolated": "Interpolated precision–recall", "roc": "ROC"
}  # fmt: skip


def curves(
    qrels: QrelsLike,
    runs: Any,
    kind: CurveKind = "precision-recall",
    *,
    ties: TieRuleName = "average",
    rel: int = 1,
    threads: int | None = None,
) -> Curves:
    """Trace the expected precision–recall, interpolated or ROC curve of each run and query.

    Parameters
    ----------
    qrels, runs, ties, threads
        As in `tieaware.evaluate`.
    kind : str
        "precision-recall": recall and precision within the first k ranks, for every k up to 20 and some greater k.
        "interpolated": at each of the recalls 0, 0.1 … 1, the greatest precision at that recall or a higher one.
        "roc": the share of the retrieved nonrelevant documents that are within the first k ranks, and the recall there.
        Across a tie, the expected ROC curve is a straight line.
    rel : int
        The smallest relevant label, at least 0.

    Returns
    -------
    Curves
        The points of the curve of each run and query, with coordinates from 0 to 1.

    Raises
    ------
    InputError
        As `tieaware.evaluate`; or if the kind is unknown, or "interpolated" would take too long to average over ties.

    Examples
    --------
    >>> outcome = curves({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0, "d3": 1.0}})
    >>> outcome.y[0, 0].tolist(), outcome.x[0, 0].tolist()
    ([0.5, 0.5, 0.3333333333333333], [0.5, 1.0, 1.0])
    """
    one_of("kind", kind, KINDS)
    view = View(ties)
    if kind == "interpolated":
        recalls = [i / 10 for i in range(11)]
        (result,) = evaluate_with_progress(
            qrels, runs, [IPrec(rel=rel) @ recall for recall in recalls], [view], threads
        )
        x = np.broadcast_to(np.array(recalls), result.values.shape)
        return Curves(kind, result.runs, result.queries, x, result.values, np.arange(11))
    (sizes,) = evaluate_with_progress(qrels, runs, [NumRet, NumRelRet(rel=rel)], [view], threads)
    retrieved, found = sizes.values[..., :1], sizes.values[..., 1:]
    ranks = _ranks(int(retrieved.max(initial=1)))
    measures: list[Measure] = [measure(rel=rel) @ int(k) for measure in (P, R) for k in ranks]
    (result,) = evaluate_with_progress(qrels, runs, measures, [view], threads)
    precision, recall = np.split(result.values, 2, axis=2)
    if kind == "precision-recall":
        return Curves(kind, result.runs, result.queries, recall, precision, ranks)
    nonrelevant = np.maximum(retrieved - found, 1.0)
    x = (np.minimum(ranks, retrieved) - precision * ranks) / nonrelevant
    return Curves(kind, result.runs, result.queries, x, recall, ranks)


def _ranks(deepest: int) -> Integers:
    """Return ranks from 1 to `deepest`: all ranks up to 20, then each about 1/12 deeper than the rank before it."""
    ranks = list(range(1, min(deepest, 20) + 1))
    while ranks[-1] < deepest:
        ranks.append(min(ranks[-1] + max(ranks[-1] // 12, 1), deepest))
    return np.array(ranks, dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Curves(Experiment):
    """The curves of runs: one for each run and query, and the average curve of each run.

    Attributes
    ----------
    kind : str
        "precision-recall", "interpolated" or "roc".
    runs : tuple of str
    queries : tuple of str or of int
        The names along the first and the second axis of x and y.
    x, y : float64[n_runs, n_queries, n_points]
        The expected coordinates of the points of each curve, in the order of the ranks or recalls.
    ranks : int64[n_points]
        The rank of each point; for "interpolated", ten times the recall.
    """

    kind: CurveKind
    runs: tuple[str, ...]
    queries: tuple[str | int, ...]
    x: Values
    y: Values
    ranks: Integers

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which states the kind of curve, and the number of runs and of queries."""
        return f"{_TITLES[self.kind]} curves of {counted(len(self.runs), 'run')}, averaged over {self._n_queries}"

    @property
    def _n_queries(self) -> str:
        return counted(len(self.queries), "query", "queries")

    @property
    def heading(self) -> str:
        """The heading of the report: the question that the experiment answers."""
        what = "rank relevant documents before others" if self.kind == "roc" else "keep precision as recall grows"
        return f"How well do the runs {what}?"

    @cached_property
    def areas(self) -> Values:
        """The area under each run's average curve, float64[n_runs].

        The curve starts at recall 0, with the precision of the first point. With several queries, the area is not the
        mean of the measure AUC.
        """
        return np.array([np.trapezoid(y, x) for x, y in map(self.average, range(len(self.runs)))])

    def average(self, r: int) -> tuple[Values, Values]:
        """Return the average curve of a run, starting at its left end.

        Parameters
        ----------
        r : int
            The run, as a position in `runs`.

        Returns
        -------
        x, y : float64[n_points + 1]
            The starting point, followed by the points of the curve. The curve starts at (0, 0) for "roc", otherwise at
            recall 0 with the precision of the first point.

        Examples
        --------
        >>> x, y = curves({"q1": {"d1": 1}}, {"q1": {"d1": 1.0, "d2": 2.0}}, "roc").average(0)
        >>> x.tolist(), y.tolist()
        ([0.0, 1.0, 1.0], [0.0, 0.0, 1.0])
        """
        return self._from_the_left(self.x[r].mean(axis=0), self.y[r].mean(axis=0))

    def verdict(self) -> str:
        """Return the run with the largest area under its average curve, and some coordinates of this curve.

        Examples
        --------
        >>> run = {"q1": {"d1": 2.0, "d2": 1.0, "d3": 0.5}}
        >>> curves({"q1": {"d1": 1, "d3": 1}}, run).verdict()
        'The area under the curve of run is 0.792. Within the first 3 ranks its precision is 0.667 and its recall 1.'
        """
        order = self._by_area()
        best, areas = order[0], self.areas
        name, n = self.runs[best], len(self.runs)
        n_best = int((np.abs(areas - areas[best]) < ROUNDING).sum())
        if n == 1:
            first = f"The area under the curve of {name} is {significant(areas[0])}."
        elif n_best > 1:
            first = f"{n_best} of {n} runs share the largest area under the curve, {significant(areas[best])}."
        else:
            others = " to ".join(significant(areas[i]) for i in dict.fromkeys((order[-1], order[1])))
            have = "the others have" if n > 2 else "the other has"
            largest = f"has the largest area under its curve, {significant(areas[best])}"
            first = f"Among {n} runs, {name} {largest}; {have} {others}."
        whose = "its" if n_best == 1 else f"{name}'s"
        x, y = self.x[best].mean(axis=0), self.y[best].mean(axis=0)
        if self.kind == "interpolated":
            return f"{first} At recall 0.1 {whose} precision is {significant(y[1])}, and at 0.5 {significant(y[5])}."
        at = int(np.searchsorted(self.ranks, 10, side="right")) - 1
        k = counted(int(self.ranks[at]), "rank") if self.ranks[at] > 1 else "rank"
        if self.kind == "roc":
            what = f"recall is {percent(y[at])}, with {percent(x[at])} of the retrieved nonrelevant documents"
        else:
            what = f"precision is {significant(y[at])} and its recall {significant(x[at])}"
        return f"{first} Within the first {k} {whose} {what}."

    def _by_area(self) -> Integers:
        """Return the runs by position, ordered by the area under their average curves, the largest first."""
        return np.argsort(-self.areas, kind="stable")

    def _chosen(self) -> list[int]:
        """Return the runs that are drawn in colour: all; or if there are many, the best 3, the median and the last."""
        order: list[int] = self._by_area().tolist()
        if len(order) <= _COLOURED:
            return order
        return [*order[:3], order[len(order) // 2], order[-1]]

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the tables that a command prints by default."""
        return ("points",)

    def tables(self) -> dict[str, Table]:
        """Return three tables: the average curves, the curves of each query, and a few points of the average curves.

        Returns
        -------
        dict of str to Table
            "curves", "queries" and "points".
        """
        columns = KINDS[self.kind]
        means = zip(self.runs, self.x.mean(axis=1), self.y.mean(axis=1), strict=True)
        average: list[tuple[Cell, ...]] = [
            (run, *point) for run, x, y in means for point in zip(x.tolist(), y.tolist(), strict=True)
        ]
        each: list[tuple[Cell, ...]] = [
            (run, query, *point)
            for r, run in enumerate(self.runs)
            for q, query in enumerate(self.queries)
            for point in zip(self.x[r, q].tolist(), self.y[r, q].tolist(), strict=True)
        ]
        notes = ("Expected over all orders of tied documents; averaged over queries at each rank or recall.",)
        return {
            "curves": Table("The average curves", ("run", *columns), average, notes),
            "queries": Table(f"{_TITLES[self.kind]} curves of each query", ("run", "query", *columns), each),
            "points": self._points(notes),
        }

    def _points(self, notes: tuple[str, ...]) -> Table:
        """Return a table with a row for each run: the precision at each recall, or both coordinates at a few ranks."""
        x, y = self.x.mean(axis=1), self.y.mean(axis=1)
        if self.kind == "interpolated":
            names = [f"{recall / 10}" for recall in self.ranks.tolist()]
            notes = (f"area: the area under the curve. Other columns: interpolated precision by recall. {notes[0]}",)
            return Table(self.title, ("run", "area", *names), self._of_runs(y), notes)
        chosen = np.unique(np.searchsorted(self.ranks, (1, 10, 100, self.ranks[-1]), side="right") - 1)
        horizontal, vertical = ("nonrelevant", "recall") if self.kind == "roc" else KINDS[self.kind]
        names = [f"{name} {k}" for k in self.ranks[chosen].tolist() for name in (horizontal, vertical)]
        both = np.stack([x[:, chosen], y[:, chosen]], axis=2).reshape(len(x), -1)
        counts = (
            "area: the area under the drawn curve. Other columns: the coordinates at a few ranks; the curves have "
            f"{counted(len(self.ranks), 'rank')}. {notes[0]}"
        )
        return Table(self.title, ("run", "area", *names), self._of_runs(both), (counts,))

    def _of_runs(self, values: Values) -> list[tuple[Cell, ...]]:
        return [(run, *row) for run, *row in zip(self.runs, self.areas.tolist(), *values.T.tolist(), strict=True)]

    def drawings(self) -> dict[str, Drawing]:
        """Return a figure of the average curves, and for each run a figure of the curves of its queries.

        Returns
        -------
        dict of str to Drawing
            "curves", and for each run "queries-…" with its number and name.
        """
        caption = f"{self.title}; expected over the orders of tied documents. area: the area under the drawn curve."
        if self.kind == "roc":
            caption += " Dotted: the curve of a random order if all relevant documents are retrieved."
        if len(self.runs) > _COLOURED:
            caption += " In colour: the runs with the three largest areas, the median and the last."
        figures = {"curves": Drawing(caption, self._draw, (6.2, 4.8), "The average curves")}
        # The number distinguishes runs whose names give the same file name.
        names = [f"queries-{r + 1}-{file_name(run)}" for r, run in enumerate(self.runs)]
        for r in dict.fromkeys((*self._chosen(), *range(len(self.runs)))):
            run = display_name(self.runs[r]).replace(r"\$", "$")
            figures[names[r]] = Drawing(
                f"{_TITLES[self.kind]} curves of {run}: each of {self._n_queries}, and their average.",
                partial(self._draw_queries, r), (6.2, 4.8), f"The queries of {run}",
            )  # fmt: skip
        return figures

    def _draw(self, ax: Axes) -> None:
        chosen = self._chosen()
        others = [r for r in range(len(self.runs)) if r not in chosen]
        for i, r in enumerate(others):
            name = counted(len(others), "other") if i == 0 else "_"
            ax.plot(*self.average(r), color="#b0b0b0", linewidth=0.7, label=name, rasterized=len(others) > _MANY)
        for i, r in enumerate(chosen):
            x, y = self.average(r)
            name = f"{display_name(self.runs[r])}, area {significant(self.areas[r])}"
            ax.plot(x, y, label=name, markevery=(i * 2, max(len(x) // 8, 1)), linewidth=1.6, zorder=3, **style(i))
        self._finish(ax)

    def _draw_queries(self, r: int, ax: Axes) -> None:
        for q in range(len(self.queries)):
            # Give only the first query a label, so that the legend has one entry for all queries.
            ax.plot(
                *self._from_the_left(self.x[r, q], self.y[r, q]),
                label="each query" if q == 0 else "_", color="#999999", linewidth=0.7, alpha=0.6,
                rasterized=len(self.queries) > _MANY,
            )  # fmt: skip
        name = f"average, area {significant(self.areas[r])}"
        ax.plot(*self.average(r), label=name, color=COLOURS[0], linewidth=2.0)
        self._finish(ax)

    def _from_the_left(self, x: Values, y: Values) -> tuple[Values, Values]:
        """Prepend the starting point of a curve: (0, 0) for ROC, else recall 0 with the first point's precision."""
        return np.append(0.0, x), np.append(0.0 if self.kind == "roc" else y[0], y)

    def _finish(self, ax: Axes) -> None:
        horizontal, vertical = KINDS[self.kind]
        if self.kind == "roc":
            ax.plot([0.0, 1.0], [0.0, 1.0], color="#666666", linestyle=":", linewidth=1.2, label="diagonal")
        ax.set(xlabel=horizontal, ylabel=vertical, xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        legend_above(ax)
