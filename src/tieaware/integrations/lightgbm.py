"""Tie-aware metrics for LightGBM: pass a `metric` as ``feval`` or ``eval_metric``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tieaware.errors import InputError
from tieaware.integrations.boosting import BoostingMetric
from tieaware.runtime.extras import load


class Metric(BoostingMetric):
    """Measures that LightGBM computes after every round.

    Pass an instance as ``feval`` to ``lightgbm.train`` or ``lightgbm.cv``, or as ``eval_metric`` to
    ``LGBMRanker.fit``. Early stopping uses all measures, or only the first one with ``first_metric_only``.

    The parameters are as for `BoostingMetric`.

    Examples
    --------
    A model without trees gives all documents the same score. LightGBM keeps tied documents in the order of the rows.

    >>> import lightgbm, numpy as np
    >>> rows = lightgbm.Dataset(np.eye(4), label=[1, 0, 0, 0], group=[4], params={"verbosity": -1})
    >>> metric(["nDCG@10", "RR"])(np.zeros(4), rows)
    [('nDCG@10', 0.6404015779112127, True), ('RR', 0.5208333333333333, True)]
    >>> metric("nDCG@10", ties="run_order")(np.zeros(4), rows)
    [('nDCG@10', 1.0, True)]
    """

    tool = "lightgbm"
    package = "lightgbm"

    def __call__(self, first: Any, second: Any, weight: Any = None, group: Any = None) -> list[tuple[str, float, bool]]:
        """Evaluate a data set.

        Parameters
        ----------
        first, second : array, and Dataset or array
            The scores and the data set, as LightGBM calls ``feval``; or labels and scores, as it calls ``eval_metric``.
        weight : array, optional
            The weight of each row, if `second` is an array. The weight of a query is the mean weight of its rows.
        group : array, optional
            The number of documents of each query, if `second` is an array.

        Returns
        -------
        list of (str, float, bool)
            For each measure its name, its mean, and whether higher is better.

        Raises
        ------
        InputError
            If there are no groups, or labels or scores are invalid.
        """
        if isinstance(second, load(self.tool, self.package).Dataset):
            data, labels, scores = second.construct(), np.asarray(second.get_label()), first
            weight, group = data.get_weight(), data.get_group()
        elif type(second).__module__.partition(".")[0] == "xgboost":
            remedy = "this metric is LightGBM's; XGBoost needs tieaware.integrations.xgboost.metric"
            raise InputError("data", f"must be a Dataset, not {type(second).__name__}; {remedy}")
        else:
            data, labels, scores = first, first, second
        if group is None:
            raise InputError("group", "the data has no groups, so there are no queries; give group= with the data")
        sizes = np.asarray(group)
        weights = None if weight is None else _mean_weights(np.asarray(weight), sizes)
        means = self.means(data, labels, sizes, scores, weights)
        return [
            (str(measure), mean, not measure.definition.less_is_better)
            for measure, mean in zip(self.measures, means, strict=True)
        ]


def _mean_weights(weights: Any, sizes: Any) -> Any:
    """Return the weight of each query: the mean of the weights of its rows."""
    queries = np.repeat(np.arange(len(sizes)), sizes)
    return np.bincount(queries, weights, minlength=len(sizes)) / np.maximum(sizes, 1)


metric = Metric
