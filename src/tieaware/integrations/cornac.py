"""Tie-aware metrics for Cornac's experiments.

Cornac passes the scores to its metrics, and a ranking in which ties have the order that a sort leaves. The metrics of
this module use the scores alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.evaluator import Evaluator
from tieaware.measures import Measure, parse_measure
from tieaware.precision import Coarsening
from tieaware.runtime.extras import load
from tieaware.ties import TieRuleName


def metric(
    measure: str | Measure,
    *,
    ties: TieRuleName = "average",
    precision: str | Coarsening | None = None,
) -> Any:
    """Make a ranking metric for the ``metrics`` of ``cornac.Experiment``.

    Parameters
    ----------
    measure : str or Measure
        The measure. Cornac marks items as relevant if their rating is at least the ``rating_threshold`` of its
        evaluation method, so labels are 0 or 1. It leaves out users without a relevant item.
    ties : str
        The tie rule, one of `tieaware.ties.RULES` that does not order by document identifier.
    precision : str or Coarsening, optional
        The precision to which scores are reduced before the evaluation; see `tieaware.precision`.

    Returns
    -------
    cornac.metrics.RankingMetric
        Its name is that of the measure, with the tie rule and the precision if they are given. A cut-off belongs to the
        measure, so Cornac's ``k`` is -1: the whole list.

    Raises
    ------
    MissingExtraError
        If Cornac is not installed. It is a subclass of ImportError.
    InputError
        If the measure or an option is unknown.

    Examples
    --------
    >>> experiment = cornac.Experiment(method, models, metrics=[metric("nDCG@10"), metric("RR")])   # doctest: +SKIP
    """
    base = load("cornac.metrics", "cornac").RankingMetric
    parsed = parse_measure(measure)
    # Cornac's results hold one value for each name.
    options = [each for each in (ties if ties != "average" else "", precision and str(precision)) if each]
    name = f"{measure} ({', '.join(options)})" if options else str(measure)
    # Report an unknown option now, and not in the middle of an experiment.
    Evaluator([[1]], [parsed], ties=ties, precision=precision)

    class Metric(base):  # type: ignore[misc, valid-type]
        """A tie-aware metric, evaluated for one user at a time."""

        def __init__(self) -> None:
            super().__init__(name=name, k=-1, higher_better=not parsed.definition.less_is_better)

        def compute(
            self, gt_pos: npt.ArrayLike, pd_scores: npt.ArrayLike, item_indices: npt.ArrayLike, **_: Any
        ) -> float:
            """Return the value of one user, from the relevant items, and the scores of the ranked items."""
            labels = np.isin(item_indices, gt_pos).astype(np.int64)
            evaluator = Evaluator(labels, [parsed], group=[len(labels)], ties=ties, precision=precision)
            return float(evaluator(np.asarray(pd_scores))[0, 0])

    return Metric()
