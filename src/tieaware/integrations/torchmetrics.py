"""A metric for torchmetrics, and so for Lightning, that computes any measure under any tie rule.

`RankingMetric` is a ``torchmetrics.Metric``. It is created on first use, because its creation imports torchmetrics.
`TieAwareMetric` has its methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tieaware.checks.arrays import Values, as_flat, as_numpy, as_scores, stable_order
from tieaware.engine.means import means
from tieaware.errors import InputError
from tieaware.evaluator import Evaluator
from tieaware.measures import Measure, parse_measures
from tieaware.precision import Coarsening
from tieaware.runtime.extras import load
from tieaware.ties import TieRuleName

_INPUTS = ("preds", "target", "indexes")


class TieAwareMetric:
    """The methods of `RankingMetric`: the mean of measures over queries, whose documents come with updates.

    Parameters
    ----------
    measures : str, Measure, or sequence of str or Measure
        The measures to compute.
    ties : str
        The tie rule, one of `tieaware.ties.RULES` that does not order by document identifier.
    precision : str or Coarsening, optional
        The precision to which scores are reduced before the evaluation; see `tieaware.precision`.
    undefined : float
        The value of a query without a relevant document. NaN leaves such queries out. torchmetrics says
        ``empty_target_action``: "neg" is 0, "pos" is 1, "skip" is NaN.
    threads : int or None
        The largest number of threads that an evaluation uses; None means one per core.
    **options
        The options of ``torchmetrics.Metric``, such as `dist_sync_on_step`.

    Raises
    ------
    InputError
        If a measure or an option is unknown.

    Examples
    --------
    The first two documents tie, and the second one is relevant: its rank is 1 or 2.

    >>> import torch                                                                            # doctest: +SKIP
    >>> from tieaware.integrations.torchmetrics import RankingMetric                            # doctest: +SKIP
    >>> metric = RankingMetric("RR")                                                            # doctest: +SKIP
    >>> metric.update(torch.tensor([0.5, 0.5, 0.1]), torch.tensor([0, 1, 0]), torch.tensor([7, 7, 7]))  # doctest: +SKIP
    >>> metric.compute()                                                                        # doctest: +SKIP
    tensor(0.7500, dtype=torch.float64)
    """

    is_differentiable = False
    full_state_update = False

    # The states. Each is a list of tensors, or one tensor after those of several processes were gathered.
    preds: Any
    target: Any
    indexes: Any
    values: Any

    def __init__(
        self,
        measures: str | Measure | Sequence[str | Measure],
        *,
        ties: TieRuleName = "average",
        precision: str | Coarsening | None = None,
        undefined: float = 0.0,
        threads: int | None = 1,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.measures: tuple[Measure, ...] = parse_measures(measures)
        self._is_single = len(self.measures) == 1 and isinstance(measures, str | Measure)
        self._view: dict[str, Any] = {"ties": ties, "precision": precision, "undefined": undefined, "threads": threads}
        # Check the options when the metric is made, not when it is first updated.
        Evaluator([], self.measures, **self._view)
        for name in (*_INPUTS, "values"):
            self.add_state(name, default=[], dist_reduce_fx="cat")  # type: ignore[attr-defined]

    @property
    def higher_is_better(self) -> bool | None:
        """True if higher values are better; None if that differs between the measures."""
        better = {not measure.definition.less_is_better for measure in self.measures}
        return better.pop() if len(better) == 1 else None

    def update(self, preds: Any, target: Any, indexes: Any = None) -> None:
        """Add documents.

        Parameters
        ----------
        preds : Tensor of real numbers
            The scores of the documents. Types of 16 bits are read exactly, with all their ties. Tensors that require
            gradients are detached.
        target : Tensor of whole or real numbers, the same shape
            Their labels. Negative labels are unjudged documents.
        indexes : Tensor of integers, the same shape, optional
            The query of each document. The documents of a query may come in several updates, and from several
            processes. Without `indexes`, `preds` must be two-dimensional: each row is a whole query, which is evaluated
            at once, so only its values are kept.

        Raises
        ------
        InputError
            If shapes differ, or a score is NaN.
        """
        shapes = {name: tuple(each.shape) for name, each in zip(_INPUTS, (preds, target, indexes), strict=True)
                  if each is not None}  # fmt: skip
        if len(set(shapes.values())) != 1:
            found = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            raise InputError("preds", f"must have the shape of target and indexes; found {found}")
        if indexes is not None:
            for name, each in zip(_INPUTS, (preds, target, indexes), strict=True):
                getattr(self, name).append(each.detach().reshape(-1))
            return
        if preds.ndim != 2:
            raise InputError("indexes", "is needed, unless each row of two-dimensional preds is a query")
        evaluator = Evaluator(target.detach(), self.measures, **self._view)
        self.values.append(_tensor(evaluator(preds.detach()), preds.device))

    def compute(self) -> Any:
        """Return the mean over all queries.

        Returns
        -------
        Tensor or dict of str to Tensor
            float64, for one measure; {measure: tensor} if several measures or a list of measures were given.

        Raises
        ------
        InputError
            If there is no query, a score is NaN, or the labels cannot be used.
        """
        values = [as_numpy(each, "values") for each in _parts(self.values)]
        inputs = [_parts(getattr(self, name)) for name in _INPUTS]
        if inputs[0]:
            values.append(self._evaluate(*map(_joined, inputs)))
        if not values:
            raise InputError("compute", "nothing was evaluated: call update first")
        device = self.device  # type: ignore[attr-defined]
        mean = _tensor(means(np.concatenate(values), self.measures), device)
        return mean[0] if self._is_single else dict(zip(map(str, self.measures), mean, strict=True))

    def _evaluate(self, preds: Any, target: Any, indexes: Any) -> Values:
        """Evaluate the documents of queries, in any order."""
        query = as_flat(indexes, "indexes")
        if (query[1:] < query[:-1]).any():
            # The documents of a query may be in several places.
            order = stable_order(np.unique(query, return_inverse=True)[1])
            target, preds = as_numpy(target, "target")[order], as_scores(preds, "preds")[order]
            query = query[order]
        return Evaluator(target, self.measures, qid=query, **self._view)(preds)


def _parts(state: Any) -> list[Any]:
    """Return the tensors of a state that are not empty.

    After those of several processes were gathered, a state is one tensor, which is empty if it was an empty list.
    """
    return [each for each in (state if isinstance(state, list) else [state]) if each.numel()]


def _joined(tensors: list[Any]) -> Any:
    return tensors[0] if len(tensors) == 1 else load("torch", "torch").cat(tensors)


def _tensor(values: Values, device: Any) -> Any:
    """Return values as a tensor on a device: float64, or float32 on Apple's GPUs, which have no float64."""
    torch = load("torch", "torch")
    return torch.as_tensor(values, dtype=torch.float32 if device.type == "mps" else torch.float64).to(device)


def __getattr__(name: str) -> Any:
    """Create the class `RankingMetric` on first use."""
    if name != "RankingMetric":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    class RankingMetric(TieAwareMetric, load("torchmetrics", "torchmetrics").Metric):  # type: ignore[misc]
        __doc__ = TieAwareMetric.__doc__

    RankingMetric.__qualname__ = name
    return globals().setdefault(name, RankingMetric)
