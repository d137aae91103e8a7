"""What boosters ask for after every round: the means of measures, by evaluators that are kept as long as the data."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.evaluator import Evaluator
from tieaware.measures import Measure


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
    measures, **options
        As in `Evaluator`.

    Raises
    ------
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

    def __init__(self, measures: Any, **options: Any) -> None:
        self._options = options
        self.measures: tuple[Measure, ...] = Evaluator([], measures, **options).measures
        self._kept: dict[int, _Kept] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (type(self), self.measures, self._options)

    def means(
        self, data: Any, labels: npt.NDArray[Any], sizes: npt.NDArray[Any], scores: npt.NDArray[Any]
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

        Returns
        -------
        list of float
            The mean of each measure.

        Raises
        ------
        InputError
            If the labels or scores cannot be used.
        """
        averages: list[float] = self._evaluator(data, labels, sizes).mean(scores).tolist()
        return averages

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
