"""Tie-aware metrics and objectives for XGBoost: ``custom_metric`` and ``obj`` of ``xgboost.train``."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from tieaware.checks.arguments import number, unexpected, whole_number
from tieaware.errors import InputError
from tieaware.integrations.boosting import BoostingMetric, BoostingObjective
from tieaware.measures import Measure, parse_measure
from tieaware.runtime.extras import load


class Metric(BoostingMetric):
    """Measures that XGBoost computes after every round.

    Pass an instance as ``custom_metric`` to ``xgboost.train`` or ``xgboost.cv``. For early stopping, pass the result of
    its method `early_stopping` among the ``callbacks``. XGBoost's own ``early_stopping_rounds`` is an error without
    ``maximize=True``, because XGBoost minimises metrics that it does not know by name, and would keep the worst round.

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
            scores are invalid; or if ``early_stopping_rounds`` would keep the worst round.
        """
        rows = _Rows.of(data, "metric")
        self._check_early_stopping()
        means = self.means(data, rows.labels, rows.sizes, scores, rows.weights)
        return [(str(measure), mean) for measure, mean in zip(self.measures, means, strict=True)]

    def _check_early_stopping(self) -> None:
        """Raise InputError if a callback of the training would keep the worst round of a measure, and not the best.

        XGBoost minimises a metric unless ``maximize`` is given or its name begins with auc, map, ndcg or pre, and it
        passes a metric only scores and data. So the callbacks are looked for in the frames of the callers.
        """
        frame = sys._getframe(1)
        # The locals of other frames are not read: that would keep their objects alive.
        while frame.f_globals.get("__name__") != "xgboost.callback":
            if frame.f_back is None:
                return
            frame = frame.f_back
        to_maximise = [str(measure) for measure in self.measures if not measure.definition.less_is_better]
        for each in getattr(frame.f_locals.get("self"), "callbacks", ()):
            if isinstance(each, frame.f_globals["EarlyStopping"]) and each.maximize is None:
                watched = each.metric_name or str(self.measures[-1])
                if watched in to_maximise:
                    problem = f"would keep the round with the lowest {watched}, because XGBoost minimises this name"
                    remedy = f"pass callbacks=[metric.early_stopping({each.rounds})] instead, or maximize=True"
                    raise InputError("early_stopping_rounds", f"{problem}; {remedy}")

    def early_stopping(
        self,
        rounds: int,
        *,
        measure: str | Measure | None = None,
        data_name: str | None = None,
        save_best: bool = False,
        min_delta: float = 0.0,
    ) -> Any:
        """Make a callback that stops the training early by a measure, and knows whether higher is better.

        XGBoost decides this by the metric's name, and minimises what it does not know.

        Parameters
        ----------
        rounds : int
            The training stops when the measure has not improved for this many rounds.
        measure : str or Measure, optional
            One of the measures of this metric; by default the last, as in XGBoost.
        data_name : str, optional
            The name of the data set; by default the last one in ``evals``.
        save_best : bool
            Whether the model keeps only the trees up to the best round. Otherwise ``model.predict`` uses all trees,
            unless ``iteration_range=(0, model.best_iteration + 1)`` is passed to it.
        min_delta : float
            The smallest change that counts as an improvement, at least 0.

        Returns
        -------
        xgboost.callback.EarlyStopping
            A callback for one training.

        Raises
        ------
        InputError
            If `rounds` is not at least 1, `min_delta` is negative, or the metric does not have the measure.

        Examples
        --------
        >>> ndcg = metric("nDCG@10")
        >>> callback = ndcg.early_stopping(10)
        >>> callback.metric_name, callback.maximize
        ('nDCG@10', True)
        >>> # xgboost.train(params, train, 500, evals=[(valid, "valid")], custom_metric=ndcg, callbacks=[callback])
        """
        watched = self.measures[-1] if measure is None else parse_measure(measure)
        if watched not in self.measures:
            expected = f"one of {', '.join(map(str, self.measures))}"
            raise unexpected("measure", f"{expected}, which this metric computes", str(watched))
        return load("xgboost.callback", self.package).EarlyStopping(
            rounds=whole_number("rounds", rounds, 1),
            metric_name=str(watched),
            data_name=data_name,
            maximize=not watched.definition.less_is_better,
            save_best=save_best,
            min_delta=number("min_delta", min_delta, 0, np.inf),
        )


class Objective(BoostingObjective):
    """The objective that trains a model for a measure: LambdaMART's gradients, averaged over the orders of ties.

    Pass an instance as ``obj`` to ``xgboost.train`` or ``xgboost.cv``. In contrast to XGBoost's ``rank:ndcg``, the
    gradients do not depend on the order of the rows, and the measure may be another than nDCG and AP. XGBoost ignores
    its own parameters ``lambdarank_*``.

    The parameters are as for `BoostingObjective`.

    Examples
    --------
    >>> import numpy as np, xgboost
    >>> rng = np.random.default_rng(1)
    >>> labels = rng.integers(0, 3, 1000)
    >>> features = labels[:, None] + rng.normal(size=(1000, 3))
    >>> rows = xgboost.DMatrix(features, labels, qid=np.repeat(np.arange(50), 20))
    >>> model = xgboost.train({"max_depth": 3}, rows, 20, obj=objective("RR"))
    >>> round(metric("RR")(model.predict(rows), rows)[0][1], 2)
    1.0
    """

    tool = "xgboost"
    package = "xgboost (or xgboost-cpu, which is smaller)"

    def __call__(self, scores: Any, data: Any) -> tuple[Any, Any]:
        """Compute the gradients and hessians of a data set; parameters and errors as for `Metric.__call__`.

        The weights of queries multiply the gradients of their documents. A score must not be infinite.

        Returns
        -------
        float32[n_docs], float32[n_docs]
        """
        rows = _Rows.of(data, "objective")
        weights = None if rows.weights is None else np.repeat(rows.weights, rows.sizes)
        return self.gradients(data, rows.labels, rows.sizes, scores, weights)


class _Rows(NamedTuple):
    """The part of a DMatrix that a metric or an objective reads; the weights are those of the queries."""

    labels: Any
    sizes: Any
    weights: Any

    @classmethod
    def of(cls, data: Any, name: str) -> _Rows:
        """Read a DMatrix; `name` is that of the function, for messages."""
        if not isinstance(data, load(Metric.tool, Metric.package).DMatrix):
            found = type(data).__name__
            remedy = "use xgboost.train instead of XGBRanker"
            if type(data).__module__.partition(".")[0] == "lightgbm":
                remedy = f"this {name} is XGBoost's; LightGBM needs tieaware.integrations.lightgbm.{name}"
            raise InputError("data", f"must be a DMatrix, not {found}; {remedy}")
        edges = data.get_uint_info("group_ptr")
        if len(edges) == 0:
            raise InputError("data", "the DMatrix has no queries; give it qid= or group=")
        weights = data.get_weight()
        return cls(data.get_label(), np.diff(edges.astype(np.int64)), weights if len(weights) else None)


metric = Metric
objective = Objective
