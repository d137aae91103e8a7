"""Tie-aware evaluation with the interface of beir.

`EvaluateRetrieval` is a subclass of the class of the same name in beir: to use it, change the import. For nDCG, MAP,
recall and precision, beir uses pytrec_eval, which orders ties by document id. For MRR, capped recall, hole and
accuracy, beir keeps tied documents in the order of the dict. Here all values are averages over the orders of tied
documents. Only the class needs beir to be installed; the functions `evaluate` and `evaluate_custom` do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tieaware._evaluate import evaluate as _evaluate
from tieaware.checks.arguments import one_of, whole_numbers
from tieaware.errors import InputError
from tieaware.inputs import Qrels, RunDict
from tieaware.measures import Measure
from tieaware.measures.definitions import AP, RR, P, R, Recall_cap, Success, nDCG
from tieaware.runtime.extras import load
from tieaware.ties import TieRuleName

_Judged = Mapping[str, Mapping[str, int]]
_Scores = Mapping[str, Mapping[str, float]]


def evaluate(
    qrels: _Judged,
    results: _Scores,
    k_values: Sequence[int],
    ignore_identical_ids: bool = True,
    *,
    ties: TieRuleName = "average",
) -> tuple[dict[str, float], dict[str, float], dict[str, float], dict[str, float]]:
    """Compute nDCG, MAP, recall and precision, like ``EvaluateRetrieval.evaluate`` in beir.

    Parameters
    ----------
    qrels : dict as {query: {document: label}}
        The judgments.
    results : dict as {query: {document: score}}
        The run. It is not changed; the function in beir removes documents from it.
    k_values : list of int
        The cut-offs.
    ignore_identical_ids : bool
        Whether to leave out documents that have the name of their query.
    ties : str
        The tie rule, one of `tieaware.ties.RULES`. beir uses "trec_eval", on scores in single precision.

    Returns
    -------
    tuple of four dicts
        ``NDCG@k``, ``MAP@k``, ``Recall@k`` and ``P@k``: means over the judged queries in the run, to five decimals.

    Raises
    ------
    InputError
        If no query of the run is judged, or an argument has a wrong type.

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
    qrels: _Judged, results: _Scores, k_values: Sequence[int], metric: str, *, ties: TieRuleName = "average"
) -> dict[str, float]:
    """Compute MRR, capped recall, hole or top-k accuracy, like ``EvaluateRetrieval.evaluate_custom`` in beir.

    All parameters except `metric` are as for `evaluate`. beir uses the tie rule "run_order".

    Parameters
    ----------
    metric : str
        "mrr", "recall_cap", "hole" or "accuracy", or another name of beir for one of these metrics.

    Returns
    -------
    dict
        ``MRR@k``, ``R_cap@k``, ``Hole@k`` or ``Accuracy@k``: means over all judged queries, to five decimals. The
        capped recall of a query without a relevant document is 0; beir divides by zero.

    Raises
    ------
    InputError
        If the metric is unknown, an argument has a wrong type, or a query of the run is not judged (except for "hole").

    Examples
    --------
    All documents have the same score, and the relevant one is first in the dict:

    >>> qrels, constant = {"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.5, "d3": 0.5}}
    >>> evaluate_custom(qrels, constant, [10], "mrr", ties="run_order"), evaluate_custom(qrels, constant, [10], "mrr")
    ({'MRR@10': 1.0}, {'MRR@10': 0.61111})
    """
    title, measure = _CUSTOM[one_of("metric", metric.lower() if isinstance(metric, str) else metric, _CUSTOM)]
    measures = [measure @ k for k in _cutoffs(k_values)]
    if title == "Hole":
        # The hole is the share of the first k documents that are not judged for any query. It is computed as precision,
        # which counts relevant documents, so unjudged documents get the label 1.
        known = {document for labels in qrels.values() for document in labels}
        labelled: _Judged = {query: dict.fromkeys(scores.keys() - known, 1) for query, scores in results.items()}
    else:
        labelled = qrels
        for query in results:
            if query not in qrels:
                raise InputError("results", f"query {query!r} is not judged in qrels")
    judged = {query: labels for query, labels in labelled.items() if labels and query in results}
    sums = np.zeros(len(measures))
    if judged:
        sums = _evaluate(Qrels.from_dict(judged), RunDict(results), measures, ties=ties).values[0].sum(axis=0)
    return {
        f"{title}@{each.cutoff}": round(total / len(qrels), 5)
        for each, total in zip(measures, sums.tolist(), strict=True)
    }


def _cutoffs(k_values: Sequence[int]) -> list[int]:
    cutoffs = list(dict.fromkeys(whole_numbers("k_values", k_values, 1)))
    if not cutoffs:
        raise InputError("k_values", "must not be empty")
    return cutoffs


def _without_identical(results: _Scores) -> _Scores:
    """Return results without documents that have the name of their query."""
    return {
        query: {document: score for document, score in scores.items() if document != query}
        if query in scores
        else scores
        for query, scores in results.items()
    }


# The metrics of `evaluate_custom`: by each of their names in beir, the name in results, and the measure.
_CUSTOM: dict[str, tuple[str, Measure]] = {
    **dict.fromkeys(("mrr", "mrr@k", "mrr_cut"), ("MRR", RR)),
    **dict.fromkeys(("recall_cap", "r_cap", "r_cap@k"), ("R_cap", Recall_cap)),
    **dict.fromkeys(("hole", "hole@k"), ("Hole", P)),
    **dict.fromkeys(("acc", "top_k_acc", "accuracy", "accuracy@k", "top_k_accuracy"), ("Accuracy", Success)),
}


def __getattr__(name: str) -> Any:
    """Create the class EvaluateRetrieval on first use, because its creation imports beir."""
    if name != "EvaluateRetrieval":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    members = {
        "__module__": __name__,
        "__doc__": "EvaluateRetrieval of beir, with averages over the orders of tied documents.",
        "evaluate": staticmethod(evaluate),
        "evaluate_custom": staticmethod(evaluate_custom),
    }
    evaluator = type(name, (load("beir.retrieval.evaluation", "beir").EvaluateRetrieval,), members)
    return globals().setdefault(name, evaluator)
