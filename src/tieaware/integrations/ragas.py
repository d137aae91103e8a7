"""Retrieval metrics for ragas: any measure, with its spread over the orders of contexts with equal scores.

They call no language model, so their values are the same in every run. `metric` makes them in the form of ragas' own
class-based metrics, with the names of ragas' columns, and one more column: the scores of the retrieved contexts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tieaware.errors import InputError
from tieaware.integrations.retrieved_contexts import Grader, evaluate, graded
from tieaware.measures import Measure, parse_measures
from tieaware.runtime.extras import load
from tieaware.ties import TieRuleName, tie_rule

_PACKAGE = "ragas"


def metric(measure: str | Measure, *, ties: TieRuleName = "average", grader: Grader | None = None) -> Any:
    """Make a metric with the methods `score`, `ascore`, `batch_score` and `abatch_score`.

    Parameters
    ----------
    measure : str or Measure
        The measure; it is also the name of the metric.
    ties : str
        The tie rule, one of `tieaware.ties.RULES` that does not order by document identifier.
    grader : callable, optional
        Called with `user_input` and `retrieved_contexts`; returns the label of each context. By default, the contexts
        of the reference are relevant.

    Returns
    -------
    ragas.metrics.collections.base.BaseMetric
        Its methods take, by keyword, `retrieved_context_ids` and `reference_context_ids`, or `retrieved_contexts` and
        `reference_contexts`, and `retrieved_scores`, one for each retrieved context: without them, contexts rank in
        their order. A mapping as the reference has labels. Identifiers are compared as text, as ragas does.
        The results have the value, a `reason` of one line, and in ``traces["output"]`` "std", "min", "max" and "tied":
        over all orders of contexts with equal scores.

    Raises
    ------
    InputError
        If the measure or the tie rule is unknown.
    MissingExtraError
        If ragas is not installed.

    Examples
    --------
    >>> contexts = {"retrieved_context_ids": ["a", "b"], "reference_context_ids": ["b"]}
    >>> metric("RR").score(**contexts, retrieved_scores=[0.5, 0.5])                         # doctest: +SKIP
    MetricResult(value=0.75, reason='2 contexts tie: from 0.5000 to 1.0000')
    """
    base = load("ragas.metrics.collections.base", _PACKAGE).BaseMetric
    result = load("ragas.metrics.result", _PACKAGE).MetricResult
    tie_rule(ties)
    (parsed,) = parse_measures([measure])

    class RankingMetric(base):  # type: ignore[misc, valid-type]
        """A metric without a language model. It may be called where an event loop is running, as in notebooks."""

        def __init__(self) -> None:
            super().__init__(name=str(parsed), allowed_values=(-math.inf, math.inf))

        def score(
            self,
            *,
            user_input: str | None = None,
            retrieved_context_ids: Sequence[str | int] | None = None,
            reference_context_ids: Sequence[str | int] | Mapping[str | int, float] | None = None,
            retrieved_contexts: Sequence[str] | None = None,
            reference_contexts: Sequence[str] | Mapping[str, float] | None = None,
            retrieved_scores: Sequence[float] | None = None,
        ) -> Any:
            """Evaluate the contexts that were retrieved for one question."""
            retrieved: Sequence[Any]
            relevant: Any
            if grader is not None:
                if retrieved_contexts is None:
                    raise InputError("retrieved_contexts", "is needed by the grader")
                retrieved, relevant = retrieved_contexts, graded(grader, user_input or "", retrieved_contexts)
            elif retrieved_context_ids is not None and reference_context_ids is not None:
                retrieved, relevant = list(map(str, retrieved_context_ids)), _as_text(reference_context_ids)
            elif retrieved_contexts is not None and reference_contexts is not None:
                retrieved, relevant = retrieved_contexts, reference_contexts
            else:
                problem = "is needed with reference_context_ids, or retrieved_contexts with reference_contexts"
                raise InputError("retrieved_context_ids", problem)
            found = evaluate(relevant, retrieved, retrieved_scores, parsed, ties=ties)
            return result(value=found.value, reason=found.reason(), traces={"output": found.spread()})

        async def ascore(self, **columns: Any) -> Any:
            """Evaluate the contexts that were retrieved for one question, with the parameters of `score`."""
            return self.score(**columns)

    return RankingMetric()


def _as_text(identifiers: Sequence[str | int] | Mapping[str | int, float]) -> Any:
    """Return identifiers, or identifiers with labels, as text."""
    if isinstance(identifiers, Mapping):
        return {str(each): label for each, label in identifiers.items()}
    return list(map(str, identifiers))
