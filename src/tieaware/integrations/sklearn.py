"""tieaware among the scorers of scikit-learn: of every query by itself, wherever scikit-learn routes metadata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import unexpected
from tieaware.evaluator import Evaluator
from tieaware.measures import Measure, parse_measure
from tieaware.precision import Coarsening
from tieaware.runtime.extras import load

__all__ = ["scorer"]

_EXTRA = "scikit-learn"


def scorer(
    measure: str | Measure,
    *,
    ties: str = "average",
    precision: str | Coarsening | None = None,
    undefined: float = 0.0,
    response_method: str | Sequence[str] = ("decision_function", "predict_proba", "predict"),
) -> Any:
    """Return a scorer that evaluates the documents of each query as a list.

    It needs the query of each document, and requests it as the metadata ``groups``, by which ``GroupKFold`` splits;
    ``set_score_request(qid=…)`` asks for it by another name. Without it the scorer raises: all documents together are
    no list. The rows of a query need not be adjacent.

    Parameters
    ----------
    measure : str or Measure
        What to compute. For several, give scikit-learn a dict of scorers.
    ties : str
        The tie rule, one of `tieaware.ties.RULES` that does not go by document identifiers.
    precision : str or Coarsening, optional
        What the scores are coarsened to first.
    undefined : float
        The value of a query without a relevant document. With NaN such a query is left out.
    response_method : str or sequence of str
        The method of the estimator that scores documents; of several, the first that it has.

    Returns
    -------
    callable
        For ``scoring`` of ``GridSearchCV``, ``cross_validate`` and whatever else takes scorers.

    Raises
    ------
    MissingExtraError
        An ImportError, if scikit-learn is not installed.
    InputError
        If there is no such measure or option, or metadata routing is not enabled.

    Examples
    --------
    >>> import numpy as np, sklearn
    >>> from sklearn.dummy import DummyRegressor
    >>> X, y, query = np.zeros((5, 1)), np.array([1, 0, 0, 0, 1]), np.array([7, 7, 7, 8, 8])
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     scorer("RR")(DummyRegressor().fit(X, y), X, y, qid=query)
    0.6805555555555556
    """
    tool, metrics = load("sklearn", _EXTRA), load("sklearn.metrics", _EXTRA)
    if not tool.get_config()["enable_metadata_routing"]:
        raise unexpected("scorer", "sklearn.set_config(enable_metadata_routing=True) before", "it disabled")
    score = _Score(measure, ties=ties, precision=precision, undefined=undefined)
    made = metrics.make_scorer(
        score, response_method=response_method, greater_is_better=not score.measure.definition.less_is_better
    )
    return made.set_score_request(qid="groups")


class _Score:
    """A measure of labels and scores, with the name that scikit-learn shows."""

    def __init__(self, measure: str | Measure, **options: Any) -> None:
        self.measure = parse_measure(measure)
        self.__name__ = str(self.measure)
        self._options = options
        Evaluator([], self.measure, **options)

    def __call__(self, y_true: npt.ArrayLike, y_pred: npt.ArrayLike, *, qid: npt.ArrayLike | None = None) -> float:
        labels, scores = np.asarray(y_true), np.asarray(y_pred)
        if qid is None:
            raise unexpected("qid", "the query of each document, as groups= of fit or by set_score_request", "none")
        of_query = np.unique(np.asarray(qid), return_inverse=True)[1]
        if of_query.shape != labels.shape:
            raise unexpected("qid", f"{len(labels)}, one for each document", f"shape {of_query.shape}")
        order = np.argsort(of_query, kind="stable")
        evaluator = Evaluator(labels[order], self.measure, qid=of_query[order], **self._options)
        return float(evaluator.mean(scores[order])[0])
