"""What all mixtures of two assessors do to means: for each query, the labels of either one may be taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Values
from tieaware.checks.rounding import rounding_of
from tieaware.measures import Measure
from tieaware.output.tables import Cell, Table


class Swaps(NamedTuple):
    """The means of runs over all 2^n_queries mixtures of two assessors, computed exactly, not by sampling.

    For each query, the labels of one or of the other assessor are taken, independently and with equal probability.

    Attributes
    ----------
    mean, std, min, max : float64[n_runs, n_measures]
        The mean, the standard deviation, the least and the greatest mean of each run over all mixtures.
    kept : bool[n_pairs, n_measures]
        Whether a pair of runs has the same order in all mixtures, and never the same mean; pairs as those of
        ``np.triu_indices(n_runs, 1)``.
    """

    mean: Values
    std: Values
    min: Values
    max: Values
    kept: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, values: Values) -> Swaps:
        """Compute the means over all mixtures.

        The queries are independent: the variance of the mean of values that are a or b with equal probability is
        Σ (a - b)² / 4 / n². The least difference of two runs is the mean of the lesser differences of each query.

        Parameters
        ----------
        values : float64[2, n_runs, n_queries, n_measures]
            The values by either assessor.

        Returns
        -------
        Swaps
        """
        n_queries = values.shape[2]
        variance = ((values[0] - values[1]) ** 2).sum(axis=1) / 4.0
        first, second = np.triu_indices(values.shape[1], 1)
        kept, rounding = np.empty((len(first), values.shape[3]), np.bool_), rounding_of(*values.max(axis=1), axis=0)
        for i, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            differences = values[:, a] - values[:, b]
            least, greatest = differences.min(axis=0).mean(axis=0), differences.max(axis=0).mean(axis=0)
            kept[i] = (least > rounding) | (greatest < -rounding)
        return cls(
            values.mean(axis=0).mean(axis=1), np.sqrt(variance) / n_queries,
            values.min(axis=0).mean(axis=1), values.max(axis=0).mean(axis=1), kept,
        )  # fmt: skip

    def table(self, runs: Sequence[str], measures: Sequence[Measure]) -> Table:
        """Return a table with a row for each measure and run.

        Parameters
        ----------
        runs : sequence of str
            The names of the runs.
        measures : sequence of Measure

        Returns
        -------
        Table
        """
        rows: list[tuple[Cell, ...]] = [
            (str(measure), run, *(float(each[r, m]) for each in self[:4]))
            for m, measure in enumerate(measures)
            for r, run in enumerate(runs)
        ]
        kept = ", ".join(f"{n:,} by {measure}" for n, measure in zip(self.kept.sum(axis=0), measures, strict=True))
        notes = [
            "Each query is judged by either assessor, independently and with equal probability. All mixtures count."
        ]
        if len(runs) > 1:
            notes.append(f"Pairs of runs with the same order in all mixtures, of {len(self.kept):,}: {kept}.")
        columns = ("measure", "run", "mean", "std", "least", "greatest")
        return Table("The mean of each run over all mixtures of the assessors", columns, rows, tuple(notes))
