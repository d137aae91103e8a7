"""Tie-aware metrics for XGBoost: pass a `metric` as ``custom_metric`` to ``xgboost.train``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tieaware.errors import InputError
from tieaware.integrations.boosting import BoostingMetric
from tieaware.runtime.extras import load


class Metric(BoostingMetric):
    """Measures that XGBoost computes after every round.

    Pass an instance as ``custom_metric`` to ``xgboost.train`` or ``xgboost.cv``. Also pass ``maximize=True``, because
    XGBoost minimises metrics that it does not know by name. Early stopping uses the last measure.

    The parameters are as for `BoostingMetric`.

    Examples
    --------
    A model without trees gives all documents the same score. XGBoost keeps tied documents in the order of the rows.

    >>> import numpy as np, xgboost
    >>> rows = xgboost.DMatrix(np.zeros((4, 1)), label=[1, 0, 0, 0], qid=[7, 7, 7, 7])
    >>> metric(["nDCG@10", "RR"])(np.zeros(4), rows)
    [('nDCG@10', 0.6404015779112127), ('RR', 0.5208333333333333)]
    >>> metric("nDCG@10", ties="run_order")(np.zeros(4), rows)
    [('nDCG@10', 1.0)]
    """

    tool = "xgboost"
    package = "xgboost (or xgboost-cpu, which is smaller)"

    def __call__(self, scores: Any, data: Any) -> list[tuple[str, float]]:
        """Evaluate a data set.

        Parameters
        ----------
        scores : array
            The scores that the booster predicts.
        data : DMatrix
            The data set. It must have queries, and may have weights of the queries.

        Returns
        -------
        list of (str, float)
            The name and the mean of each measure.

        Raises
        ------
        InputError
            If `data` is not a DMatrix (``XGBRanker`` passes the arrays of one query), it has no queries, or labels or
            scores are invalid.
        """
        if not isinstance(data, load(self.tool, self.package).DMatrix):
            found = type(data).__name__
            remedy = "use xgboost.train instead of XGBRanker"
            if type(data).__module__.partition(".")[0] == "lightgbm":
                remedy = "this metric is XGBoost's; LightGBM needs tieaware.integrations.lightgbm.metric"
            raise InputError("data", f"must be a DMatrix, not {found}; {remedy}")
        edges = data.get_uint_info("group_ptr")
        if len(edges) == 0:
            raise InputError("data", "the DMatrix has no queries; give it qid= or group=")
        weights = data.get_weight()
        sizes = np.diff(edges.astype(np.int64))
        means = self.means(data, data.get_label(), sizes, scores, weights if len(weights) else None)
        return [(str(measure), mean) for measure, mean in zip(self.measures, means, strict=True)]


metric = Metric
