"""Tie-aware metrics for mteb. The functions have the names and signatures of those in mteb's ``retrieval_metrics``.

After `install`, ``mteb.evaluate`` uses these functions. The rest of mteb does not change, including rounding and nAUC.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from tieaware._evaluate import evaluate
from tieaware.runtime.extras import load
from tieaware.ties import TieRuleName, tie_rule

Qrels = Mapping[str, Mapping[str, int]]
Results = Mapping[str, Mapping[str, float]]

_METRICS = "mteb._evaluators.retrieval_metrics"


def install(ties: TieRuleName = "average") -> None:
    """Replace the metrics of mteb's retrieval and reranking tasks by the functions of this module.

    The replacement lasts until `uninstall` or the end of the process. Installing again changes the tie rule. Functions
    are replaced in all modules of mteb, because some tasks import the functions by name; e.g. the tasks of LMEB import
    ``recall_cap``.

    Parameters
    ----------
    ties : str
        The tie rule, one of `tieaware.ties.RULES`. mteb itself orders ties as "trec_eval" does.

    Raises
    ------
    InputError
        If the tie rule is unknown.
    MissingExtraError
        If mteb is not installed.

    Examples
    --------
    >>> from tieaware.integrations import mteb as tie_aware
    >>> tie_aware.install()  # doctest: +SKIP
    >>> mteb.evaluate(model, tasks)  # doctest: +SKIP
    """
    tie_rule(ties)
    metrics = load(_METRICS, "mteb")
    # All functions of mteb are found before anything is replaced, so a failure leaves an earlier installation in place.
    originals = {id(installed): own for own, installed in _installed}
    found = []
    for function in (calculate_retrieval_scores, mrr, recall_cap, hole, top_k_accuracy):
        current = getattr(metrics, function.__name__)
        found.append((originals.get(id(current), current), partial(function, ties=ties)))
    uninstall()
    _installed.extend(found)
    _replace({id(own): installed for own, installed in _installed})


def uninstall() -> None:
    """Restore the original metrics of mteb.

    Examples
    --------
    >>> uninstall()
    """
    _replace({id(installed): own for own, installed in _installed})
    _installed.clear()


# Pairs of a function of mteb and the function that replaces it.
_installed: list[tuple[Callable[..., Any], Callable[..., Any]]] = []


def _replace(functions: Mapping[int, Callable[..., Any]]) -> None:
    """Replace functions in all modules of mteb; `functions` is {id(function): replacement}."""
    for module in [each for name, each in list(sys.modules.items()) if name.partition(".")[0] == "mteb"]:
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if id(value) in functions:
                setattr(module, name, functions[id(value)])


def calculate_retrieval_scores(
    results: Results,
    qrels: Qrels,
    k_values: Sequence[int],
    skip_first_result: bool = False,
    *,
    ties: TieRuleName = "average",
) -> Any:
    """Compute all metrics that mteb reports for a retrieval task.

    Parameters
    ----------
    results : dict as {query: {document: score}}
        The run.
    qrels : dict as {query: {document: label}}
        The judgments.
    k_values : sequence of int
        The cut-offs.
    skip_first_result : bool
        Whether to leave out the first document of each query, which is usually the query itself. As in mteb, if
        several documents tie for the highest score, the first of them in the dict is left out, under all tie rules.
    ties : str
        The tie rule, one of `tieaware.ties.RULES`.

    Returns
    -------
    mteb.types.RetrievalEvaluationResult
        The same fields as the function of mteb.

    Raises
    ------
    InputError
        If a score is NaN, or no query is judged.
    MissingExtraError
        If mteb is not installed.

    Examples
    --------
    >>> result = calculate_retrieval_scores({"q": {"a": 1.0, "b": 1.0}}, {"q": {"b": 1}}, [1])  # doctest: +SKIP
    >>> result.mrr  # doctest: +SKIP
    {'MRR@1': 0.5}
    """
    metrics, types = load(_METRICS, "mteb"), load("mteb.types", "mteb")
    if skip_first_result:
        results = {
            query: dict(sorted(documents.items(), key=lambda each: each[1], reverse=True)[1:])
            for query, documents in results.items()
        }
    names = [f"{name}_{k}" for k in k_values for name in ("ndcg_cut", "map_cut", "recall", "P", "success")]
    values = _by_query(qrels, results, names, ties)
    scores = {query: dict(zip(names, row, strict=True)) for query, row in values.items()}
    ndcg, mean_ap, recall, precision, *by_query, hit_rate = metrics.parse_metrics_from_scores(scores, k_values)
    reciprocal = mrr(qrels, results, k_values, ties=ties)
    return types.RetrievalEvaluationResult(
        all_scores=scores,
        ndcg=ndcg,
        map=mean_ap,
        recall=recall,
        precision=precision,
        naucs=metrics.evaluate_abstention(results, {name: row for each in by_query for name, row in each.items()}),
        mrr={name: math.fsum(row) / len(row) for name, row in reciprocal.items()},
        naucs_mrr=metrics.evaluate_abstention(results, reciprocal),
        hit_rate=hit_rate,
    )


def mrr(
    qrels: Qrels, results: Results, k_values: Sequence[int], *, ties: TieRuleName = "average"
) -> dict[str, list[float]]:
    """Compute the reciprocal rank of the first relevant document.

    Parameters and errors are as for `calculate_retrieval_scores`.

    Returns
    -------
    dict of str to list of float
        "MRR@k": one value for each query, in the order of the results.

    Examples
    --------
    >>> mrr({"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0}}, [1, 10])
    {'MRR@1': [0.5], 'MRR@10': [0.75]}
    """
    return _by_cutoff("MRR@{}", "RR@{}", qrels, results, k_values, ties)


def top_k_accuracy(
    qrels: Qrels, results: Results, k_values: Sequence[int], *, ties: TieRuleName = "average"
) -> dict[str, list[float]]:
    """Compute the probability that a relevant document is among the first k, over the orders of tied documents.

    Parameters and errors are as for `calculate_retrieval_scores`.

    Returns
    -------
    dict of str to list of float
        "Accuracy@k": one value for each query, in the order of the results. The function of mteb leaves out queries
        with the value 0, so the mean of the remaining values is always 1.

    Examples
    --------
    >>> top_k_accuracy({"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0}}, [1, 2])
    {'Accuracy@1': [0.5], 'Accuracy@2': [1.0]}
    """
    return _by_cutoff("Accuracy@{}", "Success@{}", qrels, results, k_values, ties)


def recall_cap(
    qrels: Qrels, results: Results, k_values: Sequence[int], *, ties: TieRuleName = "average"
) -> dict[str, list[float | None]]:
    """Compute capped recall: the hits among the first k documents, divided by min(k, number of relevant documents).

    Parameters and errors are as for `calculate_retrieval_scores`.

    Returns
    -------
    dict of str to list of float or None
        "R_cap_at_k": one value for each query, in the order of the results; None for queries without relevant
        documents.

    Examples
    --------
    >>> recall_cap({"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0, "c": 1.0}}, [1, 2])
    {'R_cap_at_1': [0.5], 'R_cap_at_2': [0.5]}
    """
    has_relevant = [any(label > 0 for label in qrels[query].values()) for query in results]
    values = _by_cutoff("R_cap_at_{}", "Recall_cap@{}", qrels, results, k_values, ties)
    return {
        name: [value if is_known else None for value, is_known in zip(row, has_relevant, strict=True)]
        for name, row in values.items()
    }


def hole(
    qrels: Qrels, results: Results, k_values: Sequence[int], *, ties: TieRuleName = "average"
) -> dict[str, list[float]]:
    """Compute the share of the first k documents that are not judged for any query.

    Parameters and errors are as for `calculate_retrieval_scores`.

    Returns
    -------
    dict of str to list of float
        "Hole_at_k": one value for each query, in the order of the results.

    Examples
    --------
    >>> hole({"q": {"a": 0}}, {"q": {"a": 1.0, "b": 1.0}}, [1, 4])
    {'Hole_at_1': [0.5], 'Hole_at_4': [0.25]}
    """
    annotated = {document for labels in qrels.values() for document in labels}
    # Compute the hole as precision, which counts relevant documents: documents without a judgment get the label 1. An
    # added judgment, of a document with an empty name, makes sure that every query is judged.
    holes = {
        query: {"": 0, **{document: 1 for document in documents if document not in annotated}}
        for query, documents in results.items()
    }
    return _by_cutoff("Hole_at_{}", "P@{}", holes, results, k_values, ties)


def _by_cutoff(
    key: str, measure: str, qrels: Qrels, results: Results, k_values: Sequence[int], ties: TieRuleName
) -> dict[str, list[float]]:
    """Return {key: values} of a measure at each cut-off k. In the texts `key` and `measure`, k replaces {}."""
    values = _by_query(qrels, results, [measure.format(k) for k in k_values], ties)
    return {key.format(k): [row[i] for row in values.values()] for i, k in enumerate(k_values)}


def _by_query(qrels: Qrels, results: Results, measures: Sequence[str], ties: TieRuleName) -> dict[str, list[float]]:
    """Return {measure: values of the judged queries}, with the queries in the order of `results`."""
    outcome = evaluate(qrels, {"mteb": results}, list(measures), ties=ties, queries="both", threads=1)
    rows = dict(zip(outcome.queries, outcome.values[0].tolist(), strict=True))
    return {query: rows[query] for query in results if query in rows}
