"""Retrieval metrics for deepeval: any measure, with its spread over the orders of contexts with equal scores.

They call no language model, so their values are the same in every run.
"""

from __future__ import annotations

from typing import Any

from tieaware.integrations.retrieved_contexts import Grader, evaluate, graded
from tieaware.measures import Measure, parse_measures
from tieaware.runtime.extras import load
from tieaware.ties import TieRuleName, tie_rule

_PACKAGE = "deepeval"


def metric(
    measure: str | Measure,
    threshold: float | None = 0.5,
    *,
    ties: TieRuleName = "average",
    grader: Grader | None = None,
) -> Any:
    """Make a metric for `deepeval.evaluate` and `deepeval.assert_test`.

    Parameters
    ----------
    measure : str or Measure
        The measure; it is also the name of the metric.
    threshold : float, optional
        A test case passes if the value is at least this; for measures of which less is better, such as MeanRank, if it
        is at most this. None to pass no judgment.
    ties : str
        The tie rule, one of `tieaware.ties.RULES` that does not order by document identifier.
    grader : callable, optional
        Called with `input` and the texts of `retrieval_context`; returns the label of each. By default, the texts of
        `context` are relevant.

    Returns
    -------
    deepeval.metrics.BaseMetric
        It evaluates `retrieval_context`, which ranks by ``metadata["retrieval_scores"]`` of the test case, one score
        for each context; without them, in its order. The metric then has `score`, `success`, a `reason` of one line,
        and as `score_breakdown` "std", "min", "max" and "tied": over all orders of contexts with equal scores.

    Raises
    ------
    InputError
        If the measure or the tie rule is unknown.
    MissingExtraError
        If deepeval is not installed.

    Examples
    --------
    >>> from deepeval.test_case import LLMTestCase                                          # doctest: +SKIP
    >>> case = LLMTestCase(input="?", context=["b"], retrieval_context=["a", "b"],
    ...                    metadata={"retrieval_scores": [0.5, 0.5]})                       # doctest: +SKIP
    >>> metric("RR").measure(case)                                                          # doctest: +SKIP
    0.75
    """
    base = load("deepeval.metrics", _PACKAGE).BaseMetric
    columns = load("deepeval.test_case", _PACKAGE).SingleTurnParams
    missing = load("deepeval.errors", _PACKAGE).MissingTestCaseParamsError
    tie_rule(ties)
    (parsed,) = parse_measures([measure])
    needed = [columns.INPUT, columns.RETRIEVAL_CONTEXT, *([] if grader is not None else [columns.CONTEXT])]

    class RankingMetric(base):  # type: ignore[misc, valid-type]
        """A metric without a language model. deepeval copies it by its class and the attribute `threshold`."""

        _required_params = needed

        def __init__(self, threshold: float | None = threshold) -> None:
            self.threshold = threshold

        def measure(self, test_case: Any, *_: Any, **__: Any) -> float:
            """Evaluate the contexts of a test case."""
            self.error = None
            absent = [each.value for each in needed if getattr(test_case, each.value) is None]
            if absent:
                self.error = f"{', '.join(absent)}: needed by the metric {parsed}"
                raise missing(self.error)
            retrieved = [getattr(each, "context", each) for each in test_case.retrieval_context]
            relevant = test_case.context if grader is None else graded(grader, test_case.input, retrieved)
            scores = (test_case.metadata or {}).get("retrieval_scores")
            found = evaluate(relevant, retrieved, scores, parsed, ties=ties)
            self.score, self.score_breakdown, self.reason = found.value, found.spread(), found.reason()
            self.is_successful()
            return found.value

        async def a_measure(self, test_case: Any, *_: Any, **__: Any) -> float:
            """Evaluate the contexts of a test case."""
            return self.measure(test_case)

        def is_successful(self) -> bool | None:
            """Return whether the test case passes; None without a threshold."""
            decided: bool | None = super().is_successful()
            if self.error is not None or self.score is None or self.threshold is None:
                return decided
            if parsed.definition.less_is_better:
                decided = self.success = self.score <= self.threshold
            return decided

        @property
        def __name__(self) -> str:
            return str(parsed)

    return RankingMetric()
