"""What boosters ask for after every round: the means of measures, by evaluators that are kept as long as the data."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Values
from tieaware.engine.means import means
from tieaware.evaluator import Evaluator
from tieaware.measures import Measure
from tieaware.precision import Coarsening
from tieaware.runtime.extras import load


class _Kept(NamedTuple):
    """What was prepared for a data set, and what it was prepared from."""

    of: weakref.ref[Any]
    labels: npt.NDArray[Any]
    sizes: npt.NDArray[Any]
    evaluator: Evaluator


class BoostingMetric:
    """Measures of the scores of data sets, whose labels are prepared once.

    An evaluator is kept for each data set while that is alive, and made anew when its labels or lists have changed. It
    is not copied with the metric, to other processes neither.

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
        The value of a query without a relevant document; 1 in LightGBM and XGBoost. With NaN such a query is left out.

    Raises
    ------
    MissingExtraError
        An ImportError, if the booster is not installed.
    InputError
        If there is no such measure or option.

    Examples
    --------
    >>> import numpy as np
    >>> metric = BoostingMetric("nDCG@10", ties="pessimistic")
    >>> labels = np.array([0, 1, 1, 0])
    >>> metric.means(labels, labels, np.array([2, 2]), np.array([1.0, 1.0, 2.0, 1.0]))
    [0.8154648767857287]
    """

    # The booster's package, which has the name of the extra that brings it.
    tool: ClassVar[str] = ""

    def __init__(
        self,
        measures: str | Measure | Sequence[str | Measure],
        *,
        ties: str = "average",
        precision: str | Coarsening | None = None,
        threads: int | None = 1,
        undefined: float = 0.0,
    ) -> None:
        if self.tool:
            load(self.tool, self.tool)
        self._options: dict[str, Any] = {
            "ties": ties, "precision": precision, "threads": threads, "undefined": undefined,
        }  # fmt: skip
        self.measures: tuple[Measure, ...] = Evaluator([], measures, **self._options).measures
        self._kept: dict[int, _Kept] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self.measures, self._options)

    def means(
        self,
        data: Any,
        labels: npt.NDArray[Any],
        sizes: npt.NDArray[Any],
        scores: npt.NDArray[Any],
        weights: npt.NDArray[Any] | None = None,
    ) -> list[float]:
        """Average over the lists.

        Parameters
        ----------
        data : object
            The data set, to which weak references can be made.
        labels : shape (n_docs,)
            Its labels.
        sizes : shape (n_queries,)
            The sizes of its lists.
        scores : shape (n_docs,)
            What the booster says of its documents.
        weights : shape (n_queries,), optional
            How much each list counts; all of them the same, if there are none.

        Returns
        -------
        list of float
            The mean of each measure.

        Raises
        ------
        InputError
            If the labels or scores cannot be used, or there are weights for a geometric mean.
        """
        evaluator = self._evaluator(data, labels, sizes)
        averages = evaluator.mean(scores) if weights is None else self._weighted(evaluator(scores), weights)
        return [float(each) for each in averages]

    def _weighted(self, values: Values, weights: npt.NDArray[Any]) -> Values:
        """Average with weights, as the sum of weighted values by that of the weights, where there are values."""
        geometric = [str(measure) for measure in self.measures if measure.definition.is_geometric]
        if geometric:
            raise unexpected("weight", f"none, for {geometric[0]} has a geometric mean", "some")
        counted = np.where(np.isnan(values), np.nan, np.asarray(weights, np.float64)[:, None])
        return means(values * counted, self.measures) / means(counted, self.measures)

    def _evaluator(self, data: Any, labels: npt.NDArray[Any], sizes: npt.NDArray[Any]) -> Evaluator:
        kept = self._kept.get(id(data))
        if kept is None or not (np.array_equal(kept.labels, labels) and np.array_equal(kept.sizes, sizes)):
            kept = self._kept[id(data)] = self._prepared(data, labels, sizes)
        return kept.evaluator

    def _prepared(self, data: Any, labels: npt.NDArray[Any], sizes: npt.NDArray[Any]) -> _Kept:
        """Prepare a data set; with it goes what was prepared, before another can have its id."""
        number, everything = id(data), self._kept
        of = weakref.ref(data, lambda _: everything.pop(number, None))
        evaluator = Evaluator(labels, self.measures, group=sizes, **self._options)
        return _Kept(of, labels.copy(), sizes.copy(), evaluator)


def _remade(kind: type[BoostingMetric], measures: tuple[Measure, ...], options: dict[str, Any]) -> BoostingMetric:
    return kind(measures, **options)
