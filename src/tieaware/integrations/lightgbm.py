"""tieaware among the metrics of LightGBM: as ``feval``, and as ``eval_metric`` of its scikit-learn face."""

from __future__ import annotations

from typing import Any

import numpy as np

from tieaware.checks.arguments import unexpected
from tieaware.integrations.boosting import BoostingMetric
from tieaware.runtime.extras import load

__all__ = ["Metric", "metric"]


class Metric(BoostingMetric):
    """Measures that LightGBM calls after every round.

    It serves as ``feval`` of ``lightgbm.train`` and ``lightgbm.cv``, and as ``eval_metric`` of ``LGBMRanker.fit``.

    Parameters
    ----------
    measures : str, Measure, or a sequence of them
        What to compute; early stopping looks at each, or with ``first_metric_only`` at the first.
    ties, precision, threads, undefined
        As in `BoostingMetric`.

    Raises
    ------
    MissingExtraError
        An ImportError, if LightGBM is not installed.
    InputError
        If there is no such measure or option.

    Examples
    --------
    A model without a tree scores all documents alike; LightGBM takes them in the order of the rows.

    >>> import lightgbm, numpy as np
    >>> rows = lightgbm.Dataset(np.eye(4), label=[1, 0, 0, 0], group=[4], params={"verbosity": -1})
    >>> metric(["nDCG@10", "RR"])(np.zeros(4), rows)
    [('nDCG@10', 0.6404015779112127, True), ('RR', 0.5208333333333333, True)]
    >>> metric("nDCG@10", ties="run_order")(np.zeros(4), rows)
    [('nDCG@10', 1.0, True)]
    """

    tool = "lightgbm"

    def __call__(self, first: Any, second: Any, weight: Any = None, group: Any = None) -> list[tuple[str, float, bool]]:
        """Evaluate a data set.

        Parameters
        ----------
        first, second : array, and Dataset or array
            Scores and the data set, as LightGBM calls ``feval``; or labels and scores, as it calls ``eval_metric``.
        weight : array, optional
            The weights of the rows, where they are not those of the data set. A query has the mean of its rows'.
        group : array, optional
            The sizes of the lists, where they are not those of the data set.

        Returns
        -------
        list of (str, float, bool)
            The name of each measure, its mean, and whether more is better.

        Raises
        ------
        InputError
            If the data set has no groups, or its labels or scores cannot be used.
        """
        if isinstance(second, load(self.tool, self.tool).Dataset):
            data, labels, scores = second.construct(), np.asarray(second.get_label()), first
            weight, group = data.get_weight(), data.get_group()
        else:
            data, labels, scores = first, first, second
        if group is None:
            raise unexpected("group", "the sizes of the lists, which LightGBM has of a ranking task", "none")
        sizes = np.asarray(group)
        weights = None if weight is None else _of_lists(np.asarray(weight), sizes)
        means = self.means(data, labels, sizes, scores, weights)
        return [
            (str(measure), mean, not measure.definition.less_is_better)
            for measure, mean in zip(self.measures, means, strict=True)
        ]


def _of_lists(weight: Any, sizes: Any) -> Any:
    """Return the mean weight of the rows of each list."""
    lists = np.repeat(np.arange(len(sizes)), sizes)
    return np.bincount(lists, weight, minlength=len(sizes)) / np.maximum(sizes, 1)


metric = Metric
