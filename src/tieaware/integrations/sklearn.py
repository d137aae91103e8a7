"""Tie-aware scorers for scikit-learn, which evaluate the documents of each query as a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import unexpected
from tieaware.errors import InputError
from tieaware.evaluator import Evaluator
from tieaware.measures import Measure, parse_measure
from tieaware.precision import Coarsening
from tieaware.runtime.extras import load
from tieaware.ties import TieRuleName

_PACKAGE = "scikit-learn"


def scorer(
    measure: str | Measure,
    *,
    ties: TieRuleName = "average",
    precision: str | Coarsening | None = None,
    undefined: float = 0.0,
    response_method: str | Sequence[str] = ("decision_function", "predict_proba", "predict"),
) -> Any:
    """Make a scorer that evaluates the documents of each query as a list.

    The scorer needs the query of each document, and raises an error without it. It requests the queries as the metadata
    ``groups``, which ``GroupKFold`` also uses; ``set_score_request(qid=…)`` requests them under another name. The rows
    of a query need not be contiguous. Metadata routing must be enabled in scikit-learn.

    Parameters
    ----------
    measure : str or Measure
        The measure to compute. For several measures, pass a dict of scorers to scikit-learn.
    ties : str
        The tie rule, one of `tieaware.ties.RULES` that does not order by document identifier.
    precision : str or Coarsening, optional
        The precision to which scores are reduced before the evaluation; see `tieaware.precision`.
    undefined : float
        The value of a query without a relevant document. NaN leaves such queries out.
    response_method : str or sequence of str
        The method of the estimator that scores documents. With several names, the first one that the estimator has is
        used.

    Returns
    -------
    callable
        A scorer for ``scoring`` of ``GridSearchCV``, ``cross_validate`` and others.

    Raises
    ------
    MissingExtraError
        If scikit-learn is not installed. It is a subclass of ImportError.
    InputError
        If the measure or an option is unknown, or metadata routing is not enabled.

    Examples
    --------
    >>> import numpy as np, sklearn
    >>> from sklearn.dummy import DummyRegressor
    >>> X, y, query = np.zeros((5, 1)), np.array([1, 0, 0, 0, 1]), np.array([7, 7, 7, 8, 8])
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     scorer("RR")(DummyRegressor().fit(X, y), X, y, qid=query)
    0.6805555555555556
    """
    tool, metrics = load("sklearn", _PACKAGE), load("sklearn.metrics", _PACKAGE)
    if not tool.get_config()["enable_metadata_routing"]:
        raise InputError(
            "scorer", "needs metadata routing; call sklearn.set_config(enable_metadata_routing=True) first"
        )
    score = _Score(measure, ties=ties, precision=precision, undefined=undefined)
    made = metrics.make_scorer(
        score, response_method=response_method, greater_is_better=not score.measure.definition.less_is_better
    )
    return made.set_score_request(qid="groups")


class _Score:
    """A function of labels and scores that computes a measure. scikit-learn shows its __name__."""

    def __init__(self, measure: str | Measure, **options: Any) -> None:
        self.measure = parse_measure(measure)
        self.__name__ = str(self.measure)
        self._options = options
        # Check the options when the scorer is made, not when it is first called.
        Evaluator([], self.measure, **options)

    def __call__(self, y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, qid: npt.ArrayLike | None = None) -> float:
        labels, scores = np.asarray(y_true), np.asarray(y_pred)
        if qid is None:
            raise InputError(
                "qid", "the query of each document is missing; pass groups=, or use set_score_request(qid=…)"
            )
        queries = np.unique(np.asarray(qid), return_inverse=True)[1]
        if queries.shape != labels.shape:
            raise unexpected("qid", f"shape {labels.shape}, a query for each document", f"shape {queries.shape}")
        order = np.argsort(queries, kind="stable")
        evaluator = Evaluator(labels[order], self.measure, qid=queries[order], **self._options)
        return float(evaluator.mean(scores[order])[0])
