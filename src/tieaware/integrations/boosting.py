"""The base class of the metrics for LightGBM and XGBoost.

A booster computes its metrics after every round, on the same data sets. So an
evaluator is made from the labels of a data set once, and kept as long as the data set exists.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ClassVar, NamedTuple, ParamSpec

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Values
from tieaware.engine.means import means
from tieaware.errors import InputError
from tieaware.evaluator import Evaluator
from tieaware.measures import Measure
from tieaware.precision import Coarsening
from tieaware.runtime.extras import load
from tieaware.ties import TieRuleName

_Arguments = ParamSpec("_Arguments")


def _explained(create: Callable[_Arguments, None]) -> Callable[_Arguments, None]:
    """Explain the usual mistakes in a call of `create`: measures that are not one list, and ``feval=metric``."""

    @wraps(create)
    def explained(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> None:
        _, *given = arguments
        if len(given) > 1:
            if isinstance(given[0], str | Measure | list | tuple):
                problem = "must be one list: write metric(['nDCG@10', 'RR'])"
            else:
                problem = "are missing; pass metric('nDCG@10') to the booster instead of metric"
            raise InputError("measures", problem)
        create(*arguments, **options)

    return explained


class _Prepared(NamedTuple):
    """The evaluator of a data set, with the labels and list sizes that it was made from."""

    # A weak reference to the data set. When the data set is deleted, its callback deletes the evaluator.
    data: weakref.ref[Any]
    labels: npt.NDArray[Any]
    sizes: npt.NDArray[Any]
    evaluator: Evaluator


class BoostingMetric:
    """A metric for boosters: the means of measures over the queries of a data set.

    The metric keeps an evaluator for each data set, and makes a new evaluator if the labels or lists change. Copies and
    pickles of the metric start without evaluators.

    Parameters
    ----------
    measures : str, Measure, or a sequence of them
        The measures to compute.
    ties : str
        The tie rule, one of `tieaware.ties.RULES` that does not order by document identifier.
    precision : str or Coarsening, optional
        The precision to which scores are reduced before the evaluation; see `tieaware.precision`.
    threads : int or None
        The number of threads of a call; None for one per core.
    undefined : float
        The value of a query without a relevant document. LightGBM and XGBoost use 1. ``float("nan")`` leaves such
        queries out.

    Raises
    ------
    MissingExtraError
        If the booster's package is not installed. It is a subclass of ImportError.
    InputError
        If a measure or option is unknown, or several measures are not passed as one list.

    Examples
    --------
    >>> import numpy as np
    >>> metric = BoostingMetric("nDCG@10", ties="pessimistic")
    >>> labels = np.array([0, 1, 1, 0])
    >>> metric.means(labels, labels, np.array([2, 2]), np.array([1.0, 1.0, 2.0, 1.0]))
    [0.8154648767857287]
    """

    # The name of the booster's module, and what installs it.
    tool: ClassVar[str] = ""
    package: ClassVar[str] = ""

    @_explained
    def __init__(
        self,
        measures: str | Measure | Sequence[str | Measure],
        *,
        ties: TieRuleName = "average",
        precision: str | Coarsening | None = None,
        threads: int | None = 1,
        undefined: float = 0.0,
    ) -> None:
        if self.tool:
            load(self.tool, self.package)
        self._options: dict[str, Any] = {
            "ties": ties, "precision": precision, "threads": threads, "undefined": undefined,
        }  # fmt: skip
        self.measures: tuple[Measure, ...] = Evaluator([], measures, **self._options).measures
        # The evaluators, by the id of the data set.
        self._prepared: dict[int, _Prepared] = {}

    def __repr__(self) -> str:
        ties, precision = self._options["ties"], self._options["precision"]
        rest = "" if precision is None else f", precision: {precision}"
        return f"{type(self).__name__}({', '.join(map(str, self.measures))}, ties: {ties}{rest})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.measures, self._options)

    def means(
        self,
        data: Any,
        labels: npt.NDArray[Any],
        sizes: npt.NDArray[Any],
        scores: npt.NDArray[Any],
        weights: npt.NDArray[Any] | None = None,
    ) -> list[float]:
        """Compute the mean of each measure over the lists of a data set.

        Parameters
        ----------
        data : object
            The data set. It must support weak references.
        labels : shape (n_docs,)
            The labels of the documents.
        sizes : shape (n_queries,)
            The number of documents of each list.
        scores : shape (n_docs,)
            The scores that the booster predicts.
        weights : shape (n_queries,), optional
            The weight of each list. By default all lists count the same.

        Returns
        -------
        list of float
            The mean of each measure.

        Raises
        ------
        InputError
            If labels or scores are invalid, or weights are given for a measure with a geometric mean.
        """
        evaluator = self._evaluator(data, labels, sizes)
        averages = evaluator.mean(scores) if weights is None else self._weighted_means(evaluator(scores), weights)
        return [float(each) for each in averages]

    def _weighted_means(self, values: Values, weights: npt.NDArray[Any]) -> Values:
        """Average values over the queries with the weights of the queries, leaving out NaN values."""
        for measure in self.measures:
            if measure.definition.is_geometric:
                raise InputError("weight", f"has no meaning for {measure}, whose mean over queries is geometric")
        counted = np.where(np.isnan(values), np.nan, np.asarray(weights, np.float64)[:, None])
        return means(values * counted, self.measures) / means(counted, self.measures)

    def _evaluator(self, data: Any, labels: npt.NDArray[Any], sizes: npt.NDArray[Any]) -> Evaluator:
        prepared = self._prepared.get(id(data))
        if prepared is None or not (np.array_equal(prepared.labels, labels) and np.array_equal(prepared.sizes, sizes)):
            prepared = self._prepared[id(data)] = self._prepare(data, labels, sizes)
        return prepared.evaluator

    def _prepare(self, data: Any, labels: npt.NDArray[Any], sizes: npt.NDArray[Any]) -> _Prepared:
        """Make the evaluator of a data set. It is deleted with the data set, before a new object can get its id."""
        key, all_prepared = id(data), self._prepared
        reference = weakref.ref(data, lambda _: all_prepared.pop(key, None))
        evaluator = Evaluator(labels, self.measures, group=sizes, **self._options)
        return _Prepared(reference, labels.copy(), sizes.copy(), evaluator)


def _restored(cls: type[BoostingMetric], measures: tuple[Measure, ...], options: dict[str, Any]) -> BoostingMetric:
    """Create a metric from the measures and options in its pickle."""
    return cls(measures, **options)
