"""The curves experiment: expected precision–recall and ROC curves under ties."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias

import numpy as np

from tieaware.checks.arguments import one_of, whole_number
from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import merged
from tieaware.engine.views import View
from tieaware.errors import InputError
from tieaware.experiments._points_and_areas import (
    NamedPoints,
    RetrievedCounts,
    average_of,
    from_corner_to_corner,
    named_points,
    roc_areas,
    roc_points,
)
from tieaware.experiments.evaluating import evaluate_with_progress, repeatable_runs
from tieaware.experiments.experiment import Experiment
from tieaware.inputs import QrelsLike
from tieaware.lists.grades import Missing
from tieaware.measures import Measure
from tieaware.measures.definitions import AUC, IPrec, NumRel, NumRelRet, NumRet, P, R
from tieaware.output.plots import (
    COLOURS,
    DASHES,
    Axes,
    Drawing,
    display_name,
    file_name,
    label_points,
    legend_above,
    style,
)
from tieaware.output.tables import Cell, Table, counted, percent, significant, table_by
from tieaware.ties import TieRuleName


def interpolated(recall: Values, precision: Values) -> tuple[Values, Values]:
    """Return the interpolated curve: at each recall, the greatest precision of a raw curve from there on.

    The raw curve is straight between its points, so the interpolated one follows it wherever it falls below all that
    came before it, and is horizontal elsewhere.
    """
    # The greatest precision from each point on.
    greatest = np.maximum.accumulate(precision[::-1])[::-1]
    x, y = [float(recall[0])], [float(greatest[0])]
    for i in range(len(recall) - 1):
        end = float(greatest[i + 1])
        if precision[i] > end:
            # The raw curve falls to this value before its next point, or at this point.
            share = (precision[i] - end) / (precision[i] - precision[i + 1])
            x.append(float(recall[i] + share * (recall[i + 1] - recall[i])))
            y.append(end)
        x.append(float(recall[i + 1]))
        y.append(end)
    return np.array(x), np.array(y)


# If there are more runs than this, only some of their curves are in colour, and the others are grey.
_COLOURED = 7
# If there are more lines than this, they are rasterised, so that vector files stay small.
_MANY = 100
# The most runs in the figure of raw and interpolated curves.
_FEW = 3
# Up to this number, float64 holds the products of two counts of documents exactly.
_MOST_DOCUMENTS = 2**53

CurveKind: TypeAlias = Literal["precision-recall", "interpolated", "roc"]
# The names of the x axis and the y axis of each kind.
KINDS: dict[CurveKind, tuple[str, str]] = {
    "precision-recall": ("recall", "precision"),
    "interpolated": ("recall", "interpolated precision"),
    "roc": ("share of the retrieved nonrelevant documents", "share of the retrieved relevant documents"),
}
# The names of the axes of ROC curves if the size of the collection is known.
_ROC_OF_COLLECTION = ("share of all nonrelevant documents", "recall")

_TITLES: dict[CurveKind, str] = {
    "precision-recall": "Precision–recall", "interpolated": "Interpolated precision–recall", "roc": "ROC"
}  # fmt: skip


def curves(
    qrels: QrelsLike,
    runs: Any,
    kind: CurveKind = "precision-recall",
    *,
    ties: TieRuleName = "average",
    rel: float = 1,
    threads: int | None = None,
    collection_size: int | None = None,
    consistent_only: bool = False,
    missing: Missing | None = None,
) -> Curves:
    """Trace the expected precision–recall, interpolated or ROC curve of each run and query.

    Parameters
    ----------
    qrels, runs, ties, threads, consistent_only, missing
        As for `tieaware.evaluate`.
    kind : str
        "precision-recall": recall and precision within the first k ranks, for every k up to 20 and some greater k.
        "interpolated": at each of the recalls 0, 0.1 … 1, the greatest precision at that recall or a higher one.
        "roc": the share of the nonrelevant documents that are within the first k ranks, and that of the relevant ones.
        Across a tie, the expected ROC curve is a straight line.
    rel : float
        The smallest relevant label, at least 0.
    collection_size : int, optional
        The number of documents in the collection, for "roc". The shares are then of all documents, and documents that
        a run does not retrieve follow the others, tied. By default, the shares are of the documents that it retrieves.

    Raises
    ------
    InputError
        As `tieaware.evaluate`; or if the kind is unknown, "interpolated" would take too long to average over ties, or
        the size of the collection is too small or given for another kind than "roc".

    References
    ----------
    Manning, C. D., Raghavan, P. and Schütze, H. (2008). Introduction to Information Retrieval, section 8.4.
    Fawcett, T. (2006). An introduction to ROC analysis. Pattern Recognition Letters 27. For the average of ROC curves.

    Examples
    --------
    >>> outcome = curves({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0, "d3": 1.0}})
    >>> outcome.y[0, 0].tolist(), outcome.x[0, 0].tolist()
    ([0.5, 0.5, 0.3333333333333333], [0.5, 1.0, 1.0])
    """
    one_of("kind", kind, KINDS)
    view = View(ties)
    if collection_size is not None:
        collection_size = whole_number("collection_size", collection_size, 1, _MOST_DOCUMENTS)
        if kind != "roc":
            raise InputError("collection_size", f"is only for the kind 'roc', not for {kind!r}")
    runs = repeatable_runs(runs, consistent_only)
    if kind == "interpolated":
        recalls = [i / 10 for i in range(11)]
        (result,) = evaluate_with_progress(
            qrels, runs, [IPrec(rel=rel) @ recall for recall in recalls], [view], threads, missing=missing
        )
        x = np.broadcast_to(np.array(recalls), result.values.shape)
        return Curves(kind, result.runs, result.queries, x, result.values, np.arange(11))
    of_lists = [NumRet, *(measure(rel=rel) for measure in (NumRelRet, NumRel, AUC))]
    (sizes,) = evaluate_with_progress(qrels, runs, of_lists, [view], threads, missing=missing)
    *counted_documents, auc = np.moveaxis(sizes.values, 2, 0)
    counts = RetrievedCounts(*counted_documents)
    if collection_size is not None:
        counts.check(collection_size, sizes.runs, sizes.queries)
    ranks = _ranks(int(counts.retrieved.max(initial=1)))

    def at_ranks(some: Integers) -> tuple[Values, Values]:
        measures: list[Measure] = [measure(rel=rel) @ int(k) for measure in (P, R) for k in some]
        with warnings.catch_warnings():
            # The first evaluation has issued the warnings.
            warnings.simplefilter("ignore")
            (result,) = evaluate_with_progress(qrels, runs, measures, [view], threads, missing=missing)
        precision, recall = np.split(result.values, 2, axis=2)
        return precision, recall

    precision, recall = at_ranks(ranks)
    if kind == "precision-recall":
        named = tuple(named_points(at_ranks, ranks, (precision, recall)))
        return Curves(kind, sizes.runs, sizes.queries, recall, precision, ranks, named)
    x, y = roc_points(counts, ranks, precision, recall, collection_size)
    areas = roc_areas(counts, auc, collection_size)
    return Curves(kind, sizes.runs, sizes.queries, x, y, ranks, (), areas, collection_size)


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
    named : tuple of NamedPoints
        For "precision-recall", the break-even point and the greatest F1 of each run's average curve, over all ranks;
        otherwise empty.
    query_areas : float64[n_runs, n_queries] or None
        For "roc", the area under the curve of each query, over all ranks. Without `collection_size`, it is the measure
        AUC. For other kinds, None.
    collection_size : int or None
        The number of documents in the collection, if it was given.
    """

    kind: CurveKind
    runs: tuple[str, ...]
    queries: tuple[str | int, ...]
    x: Values
    y: Values
    ranks: Integers
    named: tuple[NamedPoints, ...] = ()
    query_areas: Values | None = None
    collection_size: int | None = None

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

    @property
    def axes(self) -> tuple[str, str]:
        """The names of the x axis and the y axis."""
        return _ROC_OF_COLLECTION if self.collection_size is not None else KINDS[self.kind]

    @cached_property
    def areas(self) -> Values:
        """The area under each run's average curve, float64[n_runs].

        For "roc", it is the mean of `query_areas`: without `collection_size`, the mean of the measure AUC. For other
        kinds, the curve starts at recall 0 with the precision of the first point, and is straight between its points,
        so its area is not the measure AP.
        """
        if self.query_areas is not None:
            return np.asarray(self.query_areas.mean(axis=1))
        return np.array([np.trapezoid(y, x) for x, y in map(self.average, range(len(self.runs)))])

    def average(self, r: int) -> tuple[Values, Values]:
        """Return the average curve of a run.

        Parameters
        ----------
        r : int
            The run, as a position in `runs`.

        Returns
        -------
        x, y : float64[n_points + 1]
            For "roc", a curve from (0, 0) to (1, 1), with any number of points: at each x, the mean of the curves of
            the queries. For other kinds, the mean of the points of the queries at each rank or recall, after the
            starting point, at recall 0 with the precision of the first point.

        Examples
        --------
        >>> x, y = curves({"q1": {"d1": 1}}, {"q1": {"d1": 1.0, "d2": 2.0}}, "roc").average(0)
        >>> x.tolist(), y.tolist()
        ([0.0, 1.0, 1.0], [0.0, 0.0, 1.0])
        """
        if self.query_areas is not None:
            return average_of([self.curve(r, q) for q in range(len(self.queries))])
        return _from_recall_0(self.x[r].mean(axis=0), self.y[r].mean(axis=0))

    def curve(self, r: int, q: int) -> tuple[Values, Values]:
        """Return the curve of a run for one query, with the ends that belong to no rank.

        Parameters
        ----------
        r, q : int
            The run and the query, as positions in `runs` and `queries`.

        Returns
        -------
        x, y : float64
            For "roc", the curve from (0, 0) to (1, 1). For other kinds, the starting point, at recall 0 with the
            precision of the first point, and the points of the curve.

        Examples
        --------
        >>> qrels, run = {"q1": {"d1": 1, "d9": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}
        >>> x, y = curves(qrels, run, "roc", collection_size=12).curve(0, 0)
        >>> x.tolist(), y.tolist()                    # ten nonrelevant documents, of which the run retrieves one
        ([0.0, 0.05, 0.1, 1.0], [0.0, 0.25, 0.5, 1.0])
        """
        if self.query_areas is not None:
            return from_corner_to_corner(self.x[r, q], self.y[r, q], float(self.query_areas[r, q]))
        return _from_recall_0(self.x[r, q], self.y[r, q])

    def verdict(self) -> str:
        r"""Return the run with the largest area under its average curve, and some points of this curve.

        Examples
        --------
        >>> run = {"q1": {"d1": 2.0, "d2": 1.0, "d3": 0.5}}
        >>> print(curves({"q1": {"d1": 1, "d3": 1}}, run).verdict().replace(". Its", ".\nIts"))
        The area under the curve of run is 0.792. Within the first 3 ranks its precision is 0.667 and its recall 1.
        Its break-even point is 0.500, and its greatest F1 0.800, at rank 3.
        """
        order, areas, n = self._by_area(), merged(self.areas), len(self.runs)
        best, n_best = order[0], int((areas == areas[order[0]]).sum())
        name, area = self.runs[best], significant(areas[best])
        if n == 1:
            first = f"The area under the curve of {name} is {area}."
        elif n_best > 1:
            first = f"{n_best} of {n} runs share the largest area under the curve, {area}."
        else:
            others = " to ".join(significant(areas[i]) for i in dict.fromkeys((order[-1], order[1])))
            have = "the others have" if n > 2 else "the other has"
            first = f"Among {n} runs, {name} has the largest area under its curve, {area}; {have} {others}."
        whose, has = ("its", "it has") if n_best == 1 else (f"{name}'s", f"{name} has")
        x, y = self.x[best].mean(axis=0), self.y[best].mean(axis=0)
        if self.kind == "interpolated":
            return f"{first} At recall 0.1 {whose} precision is {significant(y[1])}, and at 0.5 {significant(y[5])}."
        at = int(np.searchsorted(self.ranks, 10, side="right")) - 1
        within = f"Within the first {counted(int(self.ranks[at]), 'rank') if self.ranks[at] > 1 else 'rank'}"
        if self.kind == "precision-recall":
            named = self.named[best]
            return (
                f"{first} {within} {whose} precision is {significant(y[at])} and its recall {significant(x[at])}. Its "
                f"break-even point is {significant(named.break_even)}, and its greatest F1 {significant(named.f1)}, at "
                f"rank {named.rank:,}."
            )
        if self.collection_size is not None:
            nonrelevant = f"{percent(x[at])} of all nonrelevant documents"
            return f"{first} {within} {whose} recall is {percent(y[at])}, with {nonrelevant}."
        return (
            f"{first} {within} {has} {percent(y[at])} of its relevant and {percent(x[at])} of its nonrelevant "
            "documents."
        )

    def _by_area(self) -> Integers:
        """Return the runs by position, ordered by the area under their average curves, the largest first."""
        return np.argsort(-merged(self.areas), kind="stable")

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
        """Return the tables: the average curves, the curves of each query, and the coordinates at a few ranks.

        Their names: "curves", "queries" and "points"; "named-points" for precision–recall curves, "areas" of the
        queries for ROC curves.
        """
        columns = self.axes
        average: list[tuple[Cell, ...]] = [
            (run, *point)
            for r, run in enumerate(self.runs)
            for point in zip(*(each.tolist() for each in self._averaged(r)), strict=True)
        ]
        each: list[tuple[Cell, ...]] = [
            (run, query, *point)
            for r, run in enumerate(self.runs)
            for q, query in enumerate(self.queries)
            for point in zip(self.x[r, q].tolist(), self.y[r, q].tolist(), strict=True)
        ]
        expected = "Expected over all orders of tied documents; averaged over queries at each"
        notes = (f"{expected} {'share of nonrelevant documents' if self.kind == 'roc' else 'rank or recall'}.",)
        tables = {
            "curves": Table("The average curves", ("run", *columns), average, notes),
            "queries": Table(f"{_TITLES[self.kind]} curves of each query", ("run", "query", *columns), each),
            "points": self._points((f"{expected} rank or recall.",)),
        }
        if self.named:
            tables["named-points"] = self._named_points()
        if self.query_areas is not None:
            tables["areas"] = self._areas_of_queries(self.query_areas)
        return tables

    def _averaged(self, r: int) -> tuple[Values, Values]:
        """Return the points of the average curve that are measured, without a starting point before the first rank."""
        return self.average(r) if self.kind == "roc" else (self.x[r].mean(axis=0), self.y[r].mean(axis=0))

    def _named_points(self) -> Table:
        columns = ("run", "break-even", "greatest F1", "rank", "precision", "recall")
        notes = (
            "break-even: the value at which the precision and the recall of the average curve are equal. greatest F1: "
            "the greatest harmonic mean of its precision and recall, and the rank, precision and recall there.",
        )
        rows: list[tuple[Cell, ...]] = [(run, *named) for run, named in zip(self.runs, self.named, strict=True)]
        return Table("Break-even points and greatest F1", columns, rows, notes)

    def _areas_of_queries(self, areas: Values) -> Table:
        names = {"run": self.runs, "query": self.queries}
        return table_by("The area under the ROC curve of each query", names, {"area": areas}, (self._area,))

    @property
    def _area(self) -> str:
        """What the area is, in a sentence for captions and notes."""
        if self.kind != "roc":
            return "area: the area under the drawn curve."
        if self.collection_size is None:
            return "area: the measure AUC, which counts retrieved documents only."
        size = f"{self.collection_size:,}"
        return f"area: that of a ranking of all {size} documents, where those that are not retrieved tie at the end."

    def _points(self, notes: tuple[str, ...]) -> Table:
        """Return a table with a row for each run: the precision at each recall, or both coordinates at a few ranks."""
        x, y = self.x.mean(axis=1), self.y.mean(axis=1)
        if self.kind == "interpolated":
            columns = {f"{recall / 10}": y[:, i] for i, recall in enumerate(self.ranks.tolist())}
            notes = (f"area: the area under the curve. Other columns: interpolated precision by recall. {notes[0]}",)
            return table_by(self.title, {"run": self.runs}, {"area": self.areas, **columns}, notes)
        chosen = np.unique(np.searchsorted(self.ranks, (1, 10, 100, self.ranks[-1]), side="right") - 1)
        horizontal, vertical = self.axes
        if self.kind == "roc":
            horizontal, vertical = "nonrelevant", "relevant" if self.collection_size is None else "recall"
        sides = (horizontal, x), (vertical, y)
        columns = {f"{name} {self.ranks[i]}": values[:, i] for i in chosen.tolist() for name, values in sides}
        counts = (
            f"{self._area} Other columns: the coordinates at a few ranks; the curves have "
            f"{counted(len(self.ranks), 'rank')}. {notes[0]}"
        )
        return table_by(self.title, {"run": self.runs}, {"area": self.areas, **columns}, (counts,))

    def drawings(self) -> dict[str, Drawing]:
        """Return a figure of the average curves, and for each run a figure of the curves of its queries.

        Their names: "curves"; for precision–recall curves "interpolated", the interpolated over the raw curves; and for
        each run "queries-…" with its number and name.
        """
        caption = f"{self.title}; expected over the orders of tied documents. {self._area}"
        if self.kind == "roc":
            caption += " Dotted: a random order."
        if len(self.runs) > _COLOURED:
            caption += " In colour: the runs with the three largest areas, the median and the last."
        figures = {"curves": Drawing(caption, self._draw, (6.2, 4.8), "The average curves")}
        if self.kind == "precision-recall":
            figures["interpolated"] = self._interpolated()
        # The number distinguishes runs whose names give the same file name.
        names = [f"queries-{r + 1}-{file_name(run)}" for r, run in enumerate(self.runs)]
        for r in dict.fromkeys((*self._chosen(), *range(len(self.runs)))):
            run = display_name(self.runs[r]).replace(r"\$", "$")
            figures[names[r]] = Drawing(
                f"{_TITLES[self.kind]} curves of {run}: each of {self._n_queries}, and their average.",
                partial(self._draw_queries, r), (6.2, 4.8), f"The queries of {run}",
            )  # fmt: skip
        return figures

    def _interpolated(self) -> Drawing:
        """Return the figure of the runs with the largest areas: raw and interpolated curves, and their named points."""
        runs = self._chosen()[:_FEW]
        caption = (
            "Interpolated over raw precision–recall curves"
            f"{f' of the {_FEW} runs with the largest areas' if len(self.runs) > _FEW else ''}. Interpolated precision "
            "is the greatest precision at that recall or a higher one. At the break-even point, on the dotted line, "
            "precision equals recall; F1 is their harmonic mean."
        )
        draw = partial(self._draw_interpolated, runs)
        return Drawing(caption, draw, (6.2, 5.2), "Interpolated over raw precision–recall")

    def _draw_interpolated(self, runs: Sequence[int], ax: Axes) -> None:
        """Draw the raw and the interpolated curve of each run, its break-even point and its greatest F1."""
        ax.plot([0.0, 1.0], [0.0, 1.0], color="#666666", linestyle=":", linewidth=1.0, label="precision = recall")
        names, points, lines = [], [], []
        for i, r in enumerate(runs):
            raw, named = self.average(r), self.named[r]
            wide, name = interpolated(*raw), f"{display_name(self.runs[r])}, raw"
            ax.plot(*raw, color=COLOURS[i], linestyle=DASHES[i], linewidth=1.3, label=name)
            ax.plot(*wide, color=COLOURS[i], linewidth=5.0, alpha=0.3, solid_capstyle="butt", zorder=1.9)
            marks = {
                f"break-even {significant(named.break_even)}": ("o", (named.break_even,) * 2),
                f"F1 {significant(named.f1)}": ("D", (named.recall, named.precision)),
            }
            for shown, (marker, point) in marks.items():
                ax.plot(*point, marker, color=COLOURS[i], markeredgecolor="#ffffff", markersize=7.0, zorder=3.5)
                names.append(shown)
                points.append(point)
            lines += [np.column_stack(raw), np.column_stack(wide)]
        ax.plot([], [], color="#888888", linewidth=5.0, alpha=0.5, label="interpolated")
        ax.set(xlabel="recall", ylabel="precision", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        legend_above(ax)
        label_points(ax, names, points, [(x, y, y) for x, y in points], lines)

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
                *self.curve(r, q),
                label="each query" if q == 0 else "_", color="#999999", linewidth=0.7, alpha=0.6,
                rasterized=len(self.queries) > _MANY,
            )  # fmt: skip
        name = f"average, area {significant(self.areas[r])}"
        ax.plot(*self.average(r), label=name, color=COLOURS[0], linewidth=2.0)
        self._finish(ax)

    def _finish(self, ax: Axes) -> None:
        horizontal, vertical = self.axes
        if self.kind == "roc":
            ax.plot([0.0, 1.0], [0.0, 1.0], color="#666666", linestyle=":", linewidth=1.2, label="diagonal")
        ax.set(xlabel=horizontal, ylabel=vertical, xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        legend_above(ax)


def _from_recall_0(x: Values, y: Values) -> tuple[Values, Values]:
    """Prepend the starting point of a precision–recall curve, with the precision of the first point."""
    return np.append(0.0, x), np.append(y[0], y)
