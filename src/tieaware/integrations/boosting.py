"""The base classes of the metrics and objectives for LightGBM and XGBoost.

A booster computes them in every round, on the same data sets. So an evaluator, or the gradients' preparation, is made
from the labels of a data set once, and kept as long as the data set exists.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Values
from tieaware.engine.means import means
from tieaware.errors import InputError
from tieaware.evaluator import Evaluator
from tieaware.measures import Measure
from tieaware.optimise import Lambdas
from tieaware.precision import Coarsening
from tieaware.runtime.extras import load
from tieaware.ties import TieRuleName

_Made = TypeVar("_Made")

# A sum of numbers is exact in double precision if all are multiples of a unit, and it is less than 2^53 units.
_EXACT_BITS = 52


class _Prepared(NamedTuple, Generic[_Made]):
    """An object made from a data set, with the labels and list sizes that it was made from."""

    # A weak reference to the data set. When the data set is deleted, its callback deletes what was made from it.
    data: weakref.ref[Any]
    labels: npt.NDArray[Any]
    sizes: npt.NDArray[Any]
    made: _Made


class _PerDataSet(ABC, Generic[_Made]):
    """An object for each data set that exists; it is made again if the labels or lists change."""

    # The name of the booster's module, and what installs it.
    tool: ClassVar[str] = ""
    package: ClassVar[str] = ""

    def __init__(self, **options: Any) -> None:
        if self.tool:
            load(self.tool, self.package)
        self._options = options
        # By the id of the data set.
        self._prepared: dict[int, _Prepared[_Made]] = {}

    @abstractmethod
    def _make(self, labels: npt.NDArray[Any], sizes: npt.NDArray[Any]) -> _Made:
        """Prepare the labels and list sizes of a data set."""

    def _prepared_for(self, data: Any, labels: npt.NDArray[Any], sizes: npt.NDArray[Any]) -> _Made:
        """Return what was made from this data set; make it if there is none, or it is out of date."""
        known = self._prepared.get(id(data))
        if known is None or not (np.array_equal(known.labels, labels) and np.array_equal(known.sizes, sizes)):
            key, prepared = id(data), self._prepared
            # The callback deletes it with the data set, before a new object can get its id.
            reference = weakref.ref(data, lambda _: prepared.pop(key, None))
            known = prepared[key] = _Prepared(reference, labels.copy(), sizes.copy(), self._make(labels, sizes))
        return known.made


class BoostingMetric(_PerDataSet[Evaluator]):
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
        If a measure or option is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> metric = BoostingMetric("nDCG@10", ties="pessimistic")
    >>> labels = np.array([0, 1, 1, 0])
    >>> metric.means(labels, labels, np.array([2, 2]), np.array([1.0, 1.0, 2.0, 1.0]))
    [0.8154648767857287]
    """

    def __init__(
        self,
        measures: str | Measure | Sequence[str | Measure],
        *,
        ties: TieRuleName = "average",
        precision: str | Coarsening | None = None,
        threads: int | None = 1,
        undefined: float = 0.0,
    ) -> None:
        super().__init__(ties=ties, precision=precision, threads=threads, undefined=undefined)
        self.measures: tuple[Measure, ...] = Evaluator([], measures, **self._options).measures

    def __repr__(self) -> str:
        ties, precision = self._options["ties"], self._options["precision"]
        rest = "" if precision is None else f", precision: {precision}"
        return f"{type(self).__name__}({', '.join(map(str, self.measures))}, ties: {ties}{rest})"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.measures, **self._options), ()

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
        labels, scores : shape (n_docs,)
            The labels of the documents, and the scores that the booster predicts.
        sizes : shape (n_queries,)
            The number of documents of each list.
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
        evaluator = self._prepared_for(data, labels, sizes)
        averages = evaluator.mean(scores) if weights is None else self._weighted_means(evaluator(scores), weights)
        return [float(each) for each in averages]

    def _weighted_means(self, values: Values, weights: npt.NDArray[Any]) -> Values:
        """Average values over the queries with the weights of the queries, leaving out NaN values."""
        for measure in self.measures:
            if measure.definition.is_geometric:
                raise InputError("weight", f"has no meaning for {measure}, whose mean over queries is geometric")
        counted = np.where(np.isnan(values), np.nan, np.asarray(weights, np.float64)[:, None])
        return means(values * counted, self.measures) / means(counted, self.measures)

    def _make(self, labels: npt.NDArray[Any], sizes: npt.NDArray[Any]) -> Evaluator:
        return Evaluator(labels, self.measures, group=sizes, **self._options)


class BoostingObjective(_PerDataSet[Lambdas]):
    """An objective for boosters: LambdaMART's gradients of a measure, averaged over the orders of tied documents.

    The gradients are those of `tieaware.optimise.Lambdas`, rounded to single precision, the boosters' own. Boosters add
    them up in double precision in the order of the rows; to make these sums exact, and so the same for every order, the
    gradients are also rounded to multiples of 2^-52 times a bound of their sum. Copies and pickles of the objective
    start without data sets.

    Parameters
    ----------
    measure : str or Measure
        The measure to train: nDCG or DCG with any gains, RBP, RR, AP, or P, R, F1 with a cut-off.
    truncation, sigma, normalise, threads
        As for `Lambdas`.

    Raises
    ------
    MissingExtraError
        If the booster's package is not installed. It is a subclass of ImportError.
    InputError
        If the measure cannot be trained, or a parameter is out of its range.

    Examples
    --------
    >>> import numpy as np
    >>> objective = BoostingObjective("RR", normalise=False)
    >>> labels = np.array([1, 0])
    >>> objective.gradients(labels, labels, np.array([2]), np.zeros(2))
    (array([-0.25,  0.25], dtype=float32), array([0.125, 0.125], dtype=float32))
    """

    def __init__(
        self,
        measure: str | Measure,
        *,
        truncation: int | None = None,
        sigma: float = 1.0,
        normalise: bool = True,
        threads: int | None = 1,
    ) -> None:
        super().__init__(truncation=truncation, sigma=sigma, normalise=normalise, threads=threads)
        self.measure: Measure = Lambdas([], measure, **self._options).measure

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.measure})"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self.measure, **self._options), ()

    def gradients(
        self,
        data: Any,
        labels: npt.NDArray[Any],
        sizes: npt.NDArray[Any],
        scores: npt.NDArray[Any],
        weights: npt.NDArray[Any] | None = None,
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Compute the gradients and hessians of a data set.

        Parameters
        ----------
        data, labels, sizes, scores
            As for `BoostingMetric.means`.
        weights : shape (n_docs,), optional
            The weight of each document, by which its gradient and hessian are multiplied.

        Returns
        -------
        float32[n_docs], float32[n_docs]

        Raises
        ------
        InputError
            If labels are invalid, or a score is NaN or infinite.
        """
        gradient, hessian = self._prepared_for(data, labels, sizes)(scores)
        if weights is not None:
            gradient *= weights
            hessian *= weights
        return _summable(gradient), _summable(hessian)

    def _make(self, labels: npt.NDArray[Any], sizes: npt.NDArray[Any]) -> Lambdas:
        return Lambdas(labels, self.measure, group=sizes, **self._options)


def _summable(values: Values) -> npt.NDArray[np.float32]:
    """Round numbers to single precision and to multiples of a unit, so that sums of them are exact in any order."""
    single = values.astype(np.float32)
    most = float(np.abs(single).max(initial=0.0)) * len(values)
    unit = np.ldexp(1.0, int(np.frexp(most)[1]) - _EXACT_BITS)
    return (np.rint(single / unit) * unit).astype(np.float32) if most else single
