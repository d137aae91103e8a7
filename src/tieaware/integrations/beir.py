"""beir's evaluation: ``from tieaware.integrations.beir import EvaluateRetrieval`` in place of beir's own.

beir's nDCG, MAP, recall and precision are pytrec_eval's, with ties by document id; its MRR, capped recall, hole and
accuracy are its own, with ties in the order of the dict. Here all of them are averages over the orders that the scores
allow. The functions need no beir; the class does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tieaware._evaluate import evaluate as _evaluate
from tieaware.checks.arguments import one_of, shown, unexpected, whole_number
from tieaware.checks.arrays import Values
from tieaware.inputs import Qrels, RunDict
from tieaware.measures import Measure
from tieaware.measures.definitions import AP, RR, P, R, Success, nDCG
from tieaware.runtime.extras import load

# And EvaluateRetrieval, which is made when it is first asked for, as beir is imported then.
__all__ = ["evaluate", "evaluate_custom"]

_Judged = Mapping[str, Mapping[str, int]]
_Scores = Mapping[str, Mapping[str, float]]

# beir's names of a metric, and what its results are called.
_CUSTOM = {
    "MRR": ("mrr", "mrr@k", "mrr_cut"),
    "R_cap": ("recall_cap", "r_cap", "r_cap@k"),
    "Hole": ("hole", "hole@k"),
    "Accuracy": ("acc", "top_k_acc", "accuracy", "accuracy@k", "top_k_accuracy"),
}
_BY_NAME = {name: title for title, names in _CUSTOM.items() for name in names}


def evaluate(
    qrels: _Judged,
    results: _Scores,
    k_values: Sequence[int],
    ignore_identical_ids: bool = True,
    *,
    ties: str = "average",
) -> tuple[dict[str, float], dict[str, float], dict[str, float], dict[str, float]]:
    """Give nDCG, MAP, recall and precision, as ``EvaluateRetrieval.evaluate`` does.

    Parameters
    ----------
    qrels : dict as {query: {document: label}}
    results : dict as {query: {document: score}}
        They are not changed; beir's function takes documents out of them.
    k_values : list of int
        The cut-offs.
    ignore_identical_ids : bool
        Whether a document under the name of the query is left out.
    ties : str
        The tie rule, one of `tieaware.ties.RULES`; beir's is "trec_eval", on scores in single precision.

    Returns
    -------
    tuple of four dicts
        ``NDCG@k``, ``MAP@k``, ``Recall@k`` and ``P@k``: means over the queries in both, to five decimals.

    Raises
    ------
    InputError
        If no query is in both, or an argument is of another form.

    Examples
    --------
    >>> ndcg, ap, recall, precision = evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.5}}, [1, 10])
    >>> ndcg, precision
    ({'NDCG@1': 0.5, 'NDCG@10': 0.81546}, {'P@1': 0.5, 'P@10': 0.1})
    """
    cutoffs = _cutoffs(k_values)
    judged = {query: labels for query, labels in qrels.items() if labels}
    scores = _without_identical(results) if ignore_identical_ids else results
    families = {"NDCG": nDCG, "MAP": AP, "Recall": R, "P": P}
    measures = [measure @ k for measure in families.values() for k in cutoffs]
    means = iter(_evaluate(judged, RunDict(scores), measures, ties=ties, queries="both").mean()[0].tolist())
    ndcg, ap, recall, precision = ({f"{name}@{k}": round(next(means), 5) for k in cutoffs} for name in families)
    return ndcg, ap, recall, precision


def evaluate_custom(
    qrels: _Judged, results: _Scores, k_values: Sequence[int], metric: str, *, ties: str = "average"
) -> dict[str, float]:
    """Give MRR, capped recall, hole or top-k accuracy, as ``EvaluateRetrieval.evaluate_custom`` does.

    Parameters
    ----------
    qrels : dict as {query: {document: label}}
    results : dict as {query: {document: score}}
        Of queries that are judged.
    k_values : list of int
        The cut-offs.
    metric : str
        "mrr", "recall_cap", "hole" or "accuracy", or another of beir's names for these.
    ties : str
        The tie rule, one of `tieaware.ties.RULES`; beir's is "run_order".

    Returns
    -------
    dict
        ``MRR@k``, ``R_cap@k``, ``Hole@k`` or ``Accuracy@k``: means over all judged queries, to five decimals. A query
        without a relevant document has the capped recall 0; beir divides by zero.

    Raises
    ------
    InputError
        If there is no such metric, or an argument is of another form.

    Examples
    --------
    A scorer that says the same of every document, and lists the relevant one first:

    >>> qrels, constant = {"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.5, "d3": 0.5}}
    >>> evaluate_custom(qrels, constant, [10], "mrr", ties="run_order"), evaluate_custom(qrels, constant, [10], "mrr")
    ({'MRR@10': 1.0}, {'MRR@10': 0.61111})
    """
    title = _BY_NAME[one_of("metric", metric.lower() if isinstance(metric, str) else metric, _BY_NAME)]
    cutoffs = _cutoffs(k_values)
    if title == "Hole":
        sums = _sums(_holes(qrels, results), results, [P @ k for k in cutoffs], ties)
    else:
        strange = next((query for query in results if query not in qrels), None)
        if strange is not None:
            raise unexpected("results", "queries that are judged", repr(strange))
        if title == "R_cap":
            # Hits / min(k, N): the greater of hits / k and hits / N, in every order.
            each = _per_query(qrels, results, [*(P @ k for k in cutoffs), *(R @ k for k in cutoffs)], ties)
            sums = np.maximum(each[:, : len(cutoffs)], each[:, len(cutoffs) :]).sum(axis=0)
        else:
            measure = {"MRR": RR, "Accuracy": Success}[title]
            sums = _sums(qrels, results, [measure @ k for k in cutoffs], ties)
    return {f"{title}@{k}": round(float(total) / len(qrels), 5) for k, total in zip(cutoffs, sums, strict=True)}


def _cutoffs(k_values: Sequence[int]) -> list[int]:
    try:
        cutoffs = list(dict.fromkeys(whole_number("k_values", k, 1) for k in k_values))
    except TypeError:
        raise unexpected("k_values", "a list of whole numbers", shown(k_values)) from None
    if not cutoffs:
        raise unexpected("k_values", "at least one", "none")
    return cutoffs


def _without_identical(results: _Scores) -> _Scores:
    """Return results without documents under the name of their query."""
    return {
        query: {document: score for document, score in scores.items() if document != query}
        if query in scores
        else scores
        for query, scores in results.items()
    }


def _holes(qrels: _Judged, results: _Scores) -> dict[str, dict[str, int]]:
    """Return judgments to which a document is relevant that is judged for no query."""
    known = {document for labels in qrels.values() for document in labels}
    return {query: {document: 1 for document in scores if document not in known} for query, scores in results.items()}


def _sums(qrels: _Judged, results: _Scores, measures: list[Measure], ties: str) -> Values:
    total: Values = _per_query(qrels, results, measures, ties).sum(axis=0)
    return total


def _per_query(qrels: _Judged, results: _Scores, measures: list[Measure], ties: str) -> Values:
    """Return the values of the queries with judgments and results: float64[n_queries, n_measures]."""
    judged = {query: labels for query, labels in qrels.items() if labels and query in results}
    if not judged:
        return np.zeros((0, len(measures)))
    values: Values = _evaluate(Qrels.from_dict(judged), RunDict(results), measures, ties=ties).values[0]
    return values


@lru_cache
def _class() -> Any:
    base = load("beir.retrieval.evaluation", "beir").EvaluateRetrieval

    class EvaluateRetrieval(base):  # type: ignore[misc, valid-type]
        """beir's EvaluateRetrieval, whose values are averages over the orders of tied documents."""

        evaluate = staticmethod(evaluate)
        evaluate_custom = staticmethod(evaluate_custom)

    return EvaluateRetrieval


def __getattr__(name: str) -> Any:
    """Make the class EvaluateRetrieval when it is asked for."""
    if name == "EvaluateRetrieval":
        return _class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
