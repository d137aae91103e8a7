"""tieaware among the metrics of LightGBM: as ``feval``, and as ``eval_metric`` of its scikit-learn face."""

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

_NAME = "lightgbm"


class Metric(BoostingMetric):
    """Measures that LightGBM calls after every round; made by `metric`.

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
    >>> import numpy as np
    >>> labels = np.array([1, 0, 0])
    >>> Metric(["RR"], ties="optimistic")(labels, np.zeros(3), group=np.array([3]))
    [('RR', 1.0, True)]
    """

    def __call__(self, first: Any, second: Any, weight: Any = None, group: Any = None) -> list[tuple[str, float, bool]]:
        """Evaluate a data set.

        Parameters
        ----------
        first, second : array, and Dataset or array
            Scores and the data set, as LightGBM calls ``feval``; or labels and scores, as it calls ``eval_metric``.
        weight : array, optional
            Not used: every query counts once.
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
        if isinstance(second, load(_NAME, _NAME).Dataset):
            data, labels, scores, group = second, np.asarray(second.get_label()), first, second.get_group()
        else:
            data, labels, scores = first, first, second
        if group is None:
            raise unexpected("group", "the sizes of the lists, which LightGBM has of a ranking task", "none")
        means = self.means(data, labels, np.asarray(group), scores)
        return [
            (str(measure), mean, not measure.definition.less_is_better)
            for measure, mean in zip(self.measures, means, strict=True)
        ]


def metric(
    measures: str | Measure | Sequence[str | Measure],
    *,
    ties: str = "average",
    precision: str | Coarsening | None = None,
    threads: int | None = 1,
    undefined: float = 0.0,
) -> Metric:
    """Return measures for LightGBM to call after every round.

    Parameters
    ----------
    measures : str, Measure, or a sequence of them
        What to compute; early stopping looks at each, or with ``first_metric_only`` at the first.
    ties : str
        The tie rule, one of `tieaware.ties.RULES` that does not go by document identifiers.
    precision : str or Coarsening, optional
        What the scores are coarsened to first.
    threads : int or None
        How many threads a call may use; None for one per core.
    undefined : float
        The value of a query without a relevant document; 1 in LightGBM. With NaN such a query is left out.

    Returns
    -------
    Metric
        For ``feval`` of ``lightgbm.train`` and ``lightgbm.cv``, and for ``eval_metric`` of ``LGBMRanker.fit``.

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
    load(_NAME, _NAME)
    return Metric(measures, ties=ties, precision=precision, threads=threads, undefined=undefined)
