"""tieaware among the metrics of XGBoost: as ``custom_metric`` of ``xgboost.train``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tieaware.checks.arguments import unexpected
from tieaware.integrations.boosting import BoostingMetric
from tieaware.runtime.extras import load

__all__ = ["Metric", "metric"]


class Metric(BoostingMetric):
    """Measures that XGBoost calls after every round.

    It serves as ``custom_metric`` of ``xgboost.train`` and ``xgboost.cv``. Early stopping must be told
    ``maximize=True``: XGBoost minimises what it has no name for.

    Parameters
    ----------
    measures : str, Measure, or a sequence of them
        What to compute; early stopping looks at the last of them.
    ties, precision, threads, undefined
        As in `BoostingMetric`.

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

    tool = "xgboost"

    def __call__(self, scores: Any, data: Any) -> list[tuple[str, float]]:
        """Evaluate a data set.

        Parameters
        ----------
        scores : array
            What the booster predicts.
        data : DMatrix
            The data set, with its queries, and their weights if it has any.

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
        if not isinstance(data, load(self.tool, self.tool).DMatrix):
            raise unexpected("data", "a DMatrix, as xgboost.train gives to custom_metric", type(data).__name__)
        edges = data.get_uint_info("group_ptr")
        if len(edges) == 0:
            raise unexpected("data", "a DMatrix with qid or group", "neither")
        weights = data.get_weight()
        sizes = np.diff(edges.astype(np.int64))
        means = self.means(data, data.get_label(), sizes, scores, weights if len(weights) else None)
        return [(str(measure), mean) for measure, mean in zip(self.measures, means, strict=True)]


metric = Metric
