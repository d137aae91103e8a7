"""Tie-aware metrics and objectives for LightGBM: a `metric` is a ``feval`` or ``eval_metric``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tieaware.errors import InputError
from tieaware.integrations.boosting import BoostingMetric, BoostingObjective
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
        rows = _Rows.of(first, second, weight, group, "metric")
        weights = None if rows.weights is None else _mean_weights(rows.weights, rows.sizes)
        means = self.means(rows.data, rows.labels, rows.sizes, rows.scores, weights)
        return [
            (str(measure), mean, not measure.definition.less_is_better)
            for measure, mean in zip(self.measures, means, strict=True)
        ]


class Objective(BoostingObjective):
    """The objective that trains a model for a measure: LambdaMART's gradients, averaged over the orders of ties.

    Pass an instance as ``params["objective"]`` to ``lightgbm.train`` or ``lightgbm.cv``, or as ``objective`` to
    ``LGBMRanker``. In contrast to LightGBM's ``lambdarank``, the model does not depend on the order of the rows, and
    the measure may be another than nDCG.

    The parameters are as for `BoostingObjective`. LightGBM ignores its own parameters of ``lambdarank``
    (``lambdarank_truncation_level``, ``lambdarank_norm``, ``sigmoid``, ``label_gain``): `truncation`, `normalise`,
    `sigma`, and the gains of the measure replace them.

    Examples
    --------
    >>> import lightgbm, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> labels = rng.integers(0, 3, 1000)
    >>> features = labels[:, None] + rng.normal(size=(1000, 3))
    >>> rows = lightgbm.Dataset(features, labels, group=[20] * 50)
    >>> params = {"objective": objective("AP"), "verbosity": -1, "num_leaves": 7}
    >>> model = lightgbm.train(params, rows, 20)
    >>> round(metric("AP")(model.predict(features), rows)[0][1], 2)
    0.98
    """

    tool = "lightgbm"
    package = "lightgbm"

    def __call__(self, first: Any, second: Any, weight: Any = None, group: Any = None) -> tuple[Any, Any]:
        """Compute the gradients and hessians of a data set; parameters and errors as for `Metric.__call__`.

        The weight of a row multiplies its gradient, as in LightGBM's ``lambdarank``. A score must not be infinite.

        Returns
        -------
        float32[n_docs], float32[n_docs]
        """
        rows = _Rows.of(first, second, weight, group, "objective")
        return self.gradients(rows.data, rows.labels, rows.sizes, rows.scores, rows.weights)


class _Rows(NamedTuple):
    """What LightGBM passes to a metric or an objective, in either of its two forms."""

    data: Any
    labels: Any
    scores: Any
    sizes: Any
    weights: Any

    @classmethod
    def of(cls, first: Any, second: Any, weight: Any, group: Any, name: str) -> _Rows:
        """Read scores and a data set, or labels and scores; `name` is that of the function, for messages."""
        if isinstance(second, load(Metric.tool, Metric.package).Dataset):
            data, labels, scores = second.construct(), np.asarray(second.get_label()), first
            weight, group = data.get_weight(), data.get_group()
        elif type(second).__module__.partition(".")[0] == "xgboost":
            remedy = f"this {name} is LightGBM's; XGBoost needs tieaware.integrations.xgboost.{name}"
            raise InputError("data", f"must be a Dataset, not {type(second).__name__}; {remedy}")
        else:
            data, labels, scores = first, first, second
        if group is None:
            raise InputError("group", "the data has no groups, so there are no queries; give group= with the data")
        return cls(data, labels, scores, np.asarray(group), None if weight is None else np.asarray(weight))


def _mean_weights(weights: Any, sizes: Any) -> Any:
    """Return the weight of each query: the mean of the weights of its rows."""
    queries = np.repeat(np.arange(len(sizes)), sizes)
    return np.bincount(queries, weights, minlength=len(sizes)) / np.maximum(sizes, 1)


metric = Metric
objective = Objective
