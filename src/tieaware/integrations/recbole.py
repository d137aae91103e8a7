"""Tie-aware evaluation of models of RecBole.

RecBole's metrics see which of the top k items of a user are positive, in the order that torch's selection leaves.
`evaluate` sees the scores of all items, while RecBole's trainer evaluates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tieaware.checks.arrays import Integers, as_numpy
from tieaware.errors import InputError
from tieaware.evaluator import Evaluator
from tieaware.measures import Measure
from tieaware.precision import Coarsening
from tieaware.results import Results
from tieaware.ties import TieRuleName


def evaluate(
    trainer: Any,
    eval_data: Any,
    measures: str | Measure | Sequence[str | Measure],
    *,
    name: str | None = None,
    spread: bool = False,
    ties: TieRuleName = "average",
    precision: str | Coarsening | None = None,
    **options: Any,
) -> Results:
    """Evaluate the model of a trainer, as ``trainer.evaluate(eval_data)`` does, with the values of every user.

    Parameters
    ----------
    trainer : recbole.trainer.Trainer
        The trainer of the model. RecBole's own metrics are computed, too, but not returned. It must run in one process.
    eval_data : recbole.data.dataloader.AbstractDataLoader
        The validation or test data. Items in a user's history are not in the ranking, as in RecBole; with sampled
        negatives, only these and the positive items are.
    measures : str, Measure, or sequence of str and Measure
        The measures, with their cut-offs, which need not be those of RecBole's configuration. Labels are 0 or 1.
    name : str, optional
        The name of the run. By default, that of the model's class.
    spread : bool
        Compute the standard deviation, minimum and maximum over the orders of items with equal scores, too.
    ties : str
        The tie rule, one of `tieaware.ties.RULES` that does not order by document identifier.
    precision : str or Coarsening, optional
        The precision to which scores are reduced before the evaluation; see `tieaware.precision`.
    **options
        Options of ``trainer.evaluate``, such as ``load_best_model=False`` and ``show_progress=True``.

    Returns
    -------
    Results
        One run. The queries are the users, under the names of the data set's files.

    Raises
    ------
    InputError
        If a measure or an option is unknown, a score is NaN, there are no data, or RecBole is configured to evaluate
        predicted ratings instead of rankings.

    Examples
    --------
    >>> from tieaware.integrations.recbole import evaluate                                  # doctest: +SKIP
    >>> evaluate(trainer, test_data, ["nDCG@10", "RR"], spread=True).table(spread="range")  # doctest: +SKIP
    """
    view: dict[str, Any] = {"ties": ties, "precision": precision}
    # Report an unknown option now, and not after the first batch.
    Evaluator([[1]], measures, **view)
    dataset, users = eval_data.dataset, trainer.config["USER_ID_FIELD"]
    found = []

    def add(scores: Any, interaction: Any, positive_users: Any, positive_items: Any) -> None:
        """Evaluate a batch of users: a row of scores for each, which is -inf for the items that are not ranked."""
        if scores.ndim != 2:
            raise InputError("trainer", "RecBole's eval_type must be RANKING: this trainer evaluates single ratings")
        shape = (int(scores.shape[0]), int(scores.shape[1]))
        rows, columns = as_numpy(positive_users, "positive_u"), as_numpy(positive_items, "positive_i")
        excluded = np.array(as_numpy(scores == -math.inf, "scores"))
        excluded[rows, columns] = False
        without_rank = np.nonzero(excluded)
        relevance = _Matrix.of(rows, columns, shape)
        exclude = _Matrix.of(without_rank[0], without_rank[1], shape)
        evaluator = Evaluator.from_sparse(relevance, measures, exclude=exclude, **view)
        # With sampled negatives, a user has several rows in the interaction, which follow each other.
        numbers = list(dict.fromkeys(interaction[users].tolist()))
        names = [str(each) for each in dataset.id2token(users, numbers)]
        found.append(evaluator.results({name or type(trainer.model).__name__: scores}, names, spread=spread))

    own = trainer.eval_collector
    trainer.eval_collector = _Collector(own, add)
    try:
        trainer.evaluate(eval_data, **options)
    finally:
        trainer.eval_collector = own
    if not found:
        raise InputError("eval_data", "has no users")
    return Results.concat(found)


class _Collector:
    """A collector of RecBole that passes each batch to a function, and everything to RecBole's own collector."""

    def __init__(self, own: Any, add: Callable[..., None]) -> None:
        self._own, self._add = own, add

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def eval_batch_collect(self, scores: Any, interaction: Any, positive_users: Any, positive_items: Any) -> None:
        """Receive a batch from the trainer."""
        self._add(scores, interaction, positive_users, positive_items)
        self._own.eval_batch_collect(scores, interaction, positive_users, positive_items)


class _Matrix(NamedTuple):
    """A sparse matrix of ones in CSR form."""

    indptr: Integers
    indices: Integers
    data: Integers
    shape: tuple[int, int]

    @classmethod
    def of(cls, rows: Integers, columns: Integers, shape: tuple[int, int]) -> _Matrix:
        """Make a matrix from the rows and columns of its entries, in any order, some of which may be repeated."""
        places = np.unique(rows.astype(np.int64) * shape[1] + columns)
        starts = np.searchsorted(places, np.arange(shape[0] + 1) * shape[1])
        return cls(starts, places % shape[1], np.ones(len(places), np.int64), shape)
