"""Retrieval metrics for llama_index: any measure, with its spread over the orders of nodes with equal scores.

llama_index tells its metrics the order of the nodes only. The class `RetrieverEvaluator` of this module, which replaces
llama_index's own, tells them the scores, too. It is created on first use, because its creation imports llama_index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tieaware.checks.arguments import sequence
from tieaware.errors import InputError
from tieaware.integrations.retrieved_contexts import Grader, evaluate, graded
from tieaware.measures import Measure, parse_measures
from tieaware.runtime.extras import load
from tieaware.ties import TieRuleName, tie_rule

_PACKAGE = "llama-index-core"
_METRICS = "llama_index.core.evaluation.retrieval.metrics_base"


def metric(measure: str | Measure, *, ties: TieRuleName = "average", grader: Grader | None = None) -> Any:
    """Make a retrieval metric, for the `metrics` of an evaluator.

    Parameters
    ----------
    measure : str or Measure
        The measure; it is also the name of the metric.
    ties : str
        The tie rule, one of `tieaware.ties.RULES` that does not order by document identifier.
    grader : callable, optional
        Called with the query and the texts of the nodes; returns the label of each. By default, the nodes with the
        expected identifiers are relevant.

    Returns
    -------
    llama_index.core.evaluation.retrieval.metrics_base.BaseRetrievalMetric
        Its results have the value as `score`, and as `metadata` "std", "min", "max" and "tied": over all orders of
        nodes with equal scores.

    Raises
    ------
    InputError
        If the measure or the tie rule is unknown.
    MissingExtraError
        If llama_index is not installed.

    Examples
    --------
    >>> nodes = {"retrieved_ids": ["a", "b"], "retrieved_scores": [0.5, 0.5]}
    >>> metric("RR").compute(expected_ids=["b"], **nodes)                                   # doctest: +SKIP
    RetrievalMetricResult(score=0.75, metadata={'std': 0.25, 'min': 0.5, 'max': 1.0, 'tied': 2})
    """
    base = load(_METRICS, _PACKAGE)
    tie_rule(ties)
    (parsed,) = parse_measures([measure])

    def compute(
        self: Any,
        query: str | None = None,
        expected_ids: Sequence[str] | None = None,
        retrieved_ids: Sequence[str] | None = None,
        expected_texts: Sequence[str] | None = None,
        retrieved_texts: Sequence[str] | None = None,
        *,
        retrieved_scores: Sequence[float] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Evaluate the nodes that were retrieved for one query."""
        if grader is not None:
            if retrieved_texts is None:
                raise InputError("retrieved_texts", "is needed by the grader")
            relevant: Any = graded(grader, query or "", retrieved_texts)
            found = evaluate(relevant, retrieved_texts, retrieved_scores, parsed, ties=ties)
        else:
            if expected_ids is None or retrieved_ids is None:
                raise InputError("expected_ids", "is needed, and so is retrieved_ids")
            found = evaluate(set(expected_ids), retrieved_ids, retrieved_scores, parsed, ties=ties)
        return base.RetrievalMetricResult(score=found.value, metadata=found.spread())

    members = {"metric_name": str(parsed), "compute": compute, "__module__": __name__}
    return type("RankingMetric", (base.BaseRetrievalMetric,), members)()


def __getattr__(name: str) -> Any:
    """Create the class `RetrieverEvaluator` on first use."""
    if name != "RetrieverEvaluator":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    base = load("llama_index.core.evaluation", _PACKAGE)
    mode_of_text = load("llama_index.core.evaluation.retrieval.base", _PACKAGE).RetrievalEvalMode.TEXT

    class RetrieverEvaluator(base.RetrieverEvaluator):  # type: ignore[misc, name-defined]
        """A retriever evaluator that tells metrics the scores of the nodes."""

        @classmethod
        def from_metric_names(cls, metric_names: list[str], **kwargs: Any) -> Any:
            """Create an evaluator from names of measures, such as llama_index's "mrr"; results keep these names.

            llama_index's own metrics of these names, which ignore ties, are not used.
            """
            metrics = []
            for name in sequence("metric_names", metric_names, "names of measures"):
                made = metric(name)
                type(made).metric_name = str(name)
                metrics.append(made)
            return cls(metrics=metrics, **kwargs)

        async def aevaluate(
            self, query: str, expected_ids: list[str], expected_texts: list[str] | None = None,
            mode: Any = mode_of_text, **kwargs: Any,
        ) -> Any:  # fmt: skip
            """Retrieve the nodes of a query, and evaluate them by all metrics."""
            nodes = await self.retriever.aretrieve(query)
            for processor in self.node_postprocessors or ():
                nodes = processor.postprocess_nodes(nodes, query_str=query)
            ids, texts = [node.node.node_id for node in nodes], [node.text for node in nodes]
            scores = [node.score for node in nodes]
            known = {"retrieved_scores": scores} if None not in scores else {}
            results = {
                each.metric_name: each.compute(query, expected_ids, ids, expected_texts, texts, **known)
                for each in self.metrics
            }
            return base.RetrievalEvalResult(
                query=query, expected_ids=expected_ids, expected_texts=expected_texts, retrieved_ids=ids,
                retrieved_texts=texts, mode=mode, metric_dict=results,
            )  # fmt: skip

    RetrieverEvaluator.__qualname__ = name
    return globals().setdefault(name, RetrieverEvaluator)
