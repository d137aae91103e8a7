"""Precision–recall and ROC curves, expected over the orders that ties allow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tieaware.arrays import Integers, Values
from tieaware.checks import one_of
from tieaware.experiments.experiment import Experiment
from tieaware.experiments.progress import evaluate_with_progress
from tieaware.inputs import QrelsLike
from tieaware.measures import Measure
from tieaware.measures.definitions import IPrec, NumRelRet, NumRet, P, R
from tieaware.plots import COLOURS, Drawing, file_name, label, style
from tieaware.tables import Cell, Table
from tieaware.views import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = {
    "precision-recall": ("recall", "precision"),
    "interpolated": ("recall", "interpolated precision"),
    "roc": ("share of the nonrelevant documents", "recall"),
}


def curves(
    qrels: QrelsLike,
    runs: Any,
    kind: str = "precision-recall",
    *,
    ties: str = "average",
    rel: int = 1,
    threads: int | None = None,
) -> Curves:
    """Trace how recall grows down the ranking, and at what cost.

    Parameters
    ----------
    qrels, runs, ties, threads
        As in `tieaware.evaluate`.
    kind : str
        "precision-recall": recall and precision within the first k ranks, for ranks 1, 2 … and ever further apart.
        "interpolated": the greatest precision from a recall on, at the recalls 0, 0.1 … 1.
        "roc": the share of the retrieved nonrelevant documents, and of the relevant ones in the judgments, within the
        first k ranks. Across a tie the expected curve is a straight line.
    rel : int
        The smallest relevant label, at least 0.

    Returns
    -------
    Curves
        Points of each run and query, of coordinates 0 … 1.

    Raises
    ------
    InputError
        As `tieaware.evaluate`; for another kind; or if "interpolated" takes too long under the average.

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
    """Ranks 1 … deepest: all up to 20, then each a twelfth deeper than the last."""
    ranks = list(range(1, min(deepest, 20) + 1))
    while ranks[-1] < deepest:
        ranks.append(min(ranks[-1] + max(ranks[-1] // 12, 1), deepest))
    return np.array(ranks, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Curves(Experiment):
    """A curve for each run and query.

    Attributes
    ----------
    kind : str
        "precision-recall", "interpolated" or "roc".
    runs : tuple of str
    queries : tuple of str or of int
        The names along the first and the second axis of the points.
    x, y : float64[n_runs, n_queries, n_points]
        The expected coordinates; in the order of the ranks, or of the recalls.
    ranks : int64[n_points]
        The rank of each point; of "interpolated", which has recalls instead, their tenths.
    """

    kind: str
    runs: tuple[str, ...]
    queries: tuple[str | int, ...]
    x: Values
    y: Values
    ranks: Integers

    @property
    def title(self) -> str:  # type: ignore[override]
        """What was traced, in a line."""
        return f"{self.kind} curves of {len(self.runs)} runs, averaged over {len(self.queries)} queries"

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the tables to read first: a few points of each curve."""
        return ("points",)

    def tables(self) -> dict[str, Table]:
        """Return the average curves, those of each query, and a few points of the average ones.

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
        notes = ("Expected over all orders that ties allow; averaged over queries rank by rank, or recall by recall.",)
        return {
            "curves": Table(self.title, ("run", *columns), average, notes),
            "queries": Table(f"{self.kind} curves of each query", ("run", "query", *columns), each),
            "points": self._points(notes),
        }

    def _points(self, notes: tuple[str, ...]) -> Table:
        """A row for each run: at every recall, or at a few ranks both coordinates."""
        x, y = self.x.mean(axis=1), self.y.mean(axis=1)
        if self.kind == "interpolated":
            names = [f"{recall / 10}" for recall in self.ranks.tolist()]
            notes = (f"Interpolated precision by recall. {notes[0]}",)
            return Table(self.title, ("run", *names), self._of_runs(y), notes)
        chosen = np.unique(np.searchsorted(self.ranks, (1, 10, 100, self.ranks[-1]), side="right") - 1)
        horizontal, vertical = ("nonrelevant", "recall") if self.kind == "roc" else KINDS[self.kind]
        names = [f"{name} {k}" for k in self.ranks[chosen].tolist() for name in (horizontal, vertical)]
        both = np.stack([x[:, chosen], y[:, chosen]], axis=2).reshape(len(x), -1)
        counts = f"Within the first ranks, of {len(self.ranks)} that the curves go through. {notes[0]}"
        return Table(self.title, ("run", *names), self._of_runs(both), (counts,))

    def _of_runs(self, values: Values) -> list[tuple[Cell, ...]]:
        return [(run, *row) for run, row in zip(self.runs, values.tolist(), strict=True)]

    def drawings(self) -> dict[str, Drawing]:
        """Return the figure of the average curves, and one of each run with the curves of its queries.

        Returns
        -------
        dict of str to Drawing
            "curves", and "queries-…" with the number and the name of each run.
        """
        caption = f"{self.title}; expected over the orders of tied documents."
        figures = {"curves": Drawing(caption, self._draw, (6.4, 4.8))}
        for r, run in enumerate(self.runs):
            # The number tells runs apart whose names are one as those of files.
            figures[f"queries-{r + 1}-{file_name(run)}"] = Drawing(
                f"{self.kind} curves of {label(run)}: each of {len(self.queries)} queries, and their average.",
                partial(self._draw_queries, r), (6.4, 4.8),
            )  # fmt: skip
        return figures

    def _draw(self, ax: Axes) -> None:
        for r, run in enumerate(self.runs):
            x, y = self._from_origin(self.x[r].mean(axis=0), self.y[r].mean(axis=0))
            ax.plot(x, y, label=label(run), markevery=max(len(x) // 12, 1), **style(r))
        self._finish(ax, with_legend=len(self.runs) <= 20)

    def _draw_queries(self, r: int, ax: Axes) -> None:
        for q in range(len(self.queries)):
            # One entry of the legend stands for all.
            ax.plot(
                *self._from_origin(self.x[r, q], self.y[r, q]),
                label="each query" if q == 0 else "_", color="#999999", linewidth=0.7, alpha=0.6,
            )  # fmt: skip
        ax.plot(
            *self._from_origin(self.x[r].mean(axis=0), self.y[r].mean(axis=0)),
            label="average", color=COLOURS[0], linewidth=2.0,
        )  # fmt: skip
        self._finish(ax, with_legend=True)

    def _from_origin(self, x: Values, y: Values) -> tuple[Values, Values]:
        """A ROC curve begins before the first document."""
        return (np.append(0.0, x), np.append(0.0, y)) if self.kind == "roc" else (x, y)

    def _finish(self, ax: Axes, *, with_legend: bool) -> None:
        horizontal, vertical = KINDS[self.kind]
        ax.set(xlabel=horizontal, ylabel=vertical, xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        if with_legend:
            ax.legend(loc="lower right" if self.kind == "roc" else "upper right")
