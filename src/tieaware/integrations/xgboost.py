"""tieaware among the metrics of XGBoost: as ``custom_metric`` of ``xgboost.train``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tieaware.checks import unexpected
from tieaware.extras import load
from tieaware.integrations.boosting import BoostingMetric
from tieaware.measures import Measure
from tieaware.precision import Coarsening

__all__ = ["Metric", "metric"]

_NAME = "xgboost"


class Metric(BoostingMetric):
    """Measures that XGBoost calls after every round; made by `metric`.

    Parameters
    ----------
    measures, **options
        As in `Evaluator`.

    Raises
    ------
    InputError
        If there is no such measure or option.

    Examples
    --------
    >>> import numpy as np, xgboost
    >>> Metric(["RR"], ties="optimistic")(np.zeros(3), xgboost.DMatrix(np.eye(3), label=[1, 0, 0], group=[3]))
    [('RR', 1.0)]
    """

    def __call__(self, scores: Any, data: Any) -> list[tuple[str, float]]:
        """Evaluate a data set.

        Parameters
        ----------
        scores : array
            What the booster predicts.
        data : DMatrix
            The data set, with its queries.

        Returns
        -------
        list of (str, float)
            The name of each measure, and its mean.

        Raises
        ------
        InputError
            If the data set is none, as where ``XGBRanker`` calls with the arrays of one query; if it has no queries; or
            if its labels or scores cannot be used.
        """
        if not isinstance(data, load(_NAME, _NAME).DMatrix):
            raise unexpected("data", "a DMatrix, as xgboost.train gives to custom_metric", type(data).__name__)
        edges = data.get_uint_info("group_ptr")
        if len(edges) == 0:
            raise unexpected("data", "a DMatrix with qid or group", "neither")
        means = self.means(data, data.get_label(), np.diff(edges.astype(np.int64)), scores)
        return [(str(measure), mean) for measure, mean in zip(self.measures, means, strict=True)]


def metric(
    measures: str | Measure | Sequence[str | Measure],
    *,
    ties: str = "average",
    precision: str | Coarsening | None = None,
    threads: int | None = 1,
    undefined: float = 0.0,
) -> Metric:
    """Return measures for XGBoost to call after every round.

    Early stopping looks at the last of them, and must be told ``maximize=True``: XGBoost minimises what it has no name
    for.

    Parameters
    ----------
    measures : str, Measure, or a sequence of them
        What to compute.
    ties : str
        The tie rule, one of `tieaware.ties.RULES` that does not go by document identifiers.
    precision : str or Coarsening, optional
        What the scores are coarsened to first.
    threads : int or None
        How many threads a call may use; None for one per core.
    undefined : float
        The value of a query without a relevant document; 1 in XGBoost. With NaN such a query is left out.

    Returns
    -------
    Metric
        For ``custom_metric`` of ``xgboost.train`` and ``xgboost.cv``.

    Raises
    ------
    MissingExtraError
        An ImportError, if XGBoost is not installed.
    InputError
        If there is no such measure or option.

    Examples
    --------
    A model without a tree scores all documents alike; XGBoost takes them in the order of the rows.

    >>> import numpy as np, xgboost
    >>> rows = xgboost.DMatrix(np.zeros((4, 1)), label=[1, 0, 0, 0], qid=[7, 7, 7, 7])
    >>> metric(["nDCG@10", "RR"])(np.zeros(4), rows)
    [('nDCG@10', 0.6404015779112127), ('RR', 0.5208333333333333)]
    >>> metric("nDCG@10", ties="run_order")(np.zeros(4), rows)
    [('nDCG@10', 1.0)]
    """
    load(_NAME, _NAME)
    return Metric(measures, ties=ties, precision=precision, threads=threads, undefined=undefined)
