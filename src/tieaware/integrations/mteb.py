"""mteb's retrieval metrics, tie-aware: functions with the names and the forms of those in its ``retrieval_metrics``.

After ``install()``, `mteb.evaluate` takes them; what else it does stays as it is, rounding and nAUC included.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from tieaware._evaluate import evaluate
from tieaware.runtime.extras import load
from tieaware.ties import tie_rule

Qrels = Mapping[str, Mapping[str, int]]
Results = Mapping[str, Mapping[str, float]]

_METRICS = "mteb._evaluators.retrieval_metrics"


def install(ties: str = "average") -> None:
    """Let mteb's retrieval and reranking tasks take the functions of this module in place of its own.

    It lasts as long as the process, or until `uninstall`. Installing again changes the rule. Every module of mteb gets
    them: tasks with metrics of their own take the functions by name, as LMEB's do with capped recall.

    Parameters
    ----------
    ties : str
        The tie rule, one of `tieaware.ties.RULES`; "trec_eval" is what mteb itself does.

    Raises
    ------
    InputError
        If there is no such rule.
    MissingExtraError
        If mteb is not installed.

    Examples
    --------
    >>> from tieaware.integrations import mteb as tie_aware
    >>> tie_aware.install()  # doctest: +SKIP
    >>> mteb.evaluate(model, tasks)  # doctest: +SKIP
    """
    tie_rule(ties)
    metrics = load(_METRICS, "tools")
    uninstall()
    for function in (calculate_retrieval_scores, mrr, recall_cap, hole, top_k_accuracy):
        _installed.append((getattr(metrics, function.__name__), partial(function, ties=ties)))
    _exchange({id(own): installed for own, installed in _installed})


def uninstall() -> None:
    """Give mteb its own functions back.

    Examples
    --------
    >>> uninstall()
    """
    _exchange({id(installed): own for own, installed in _installed})
    _installed.clear()


# mteb's functions, and what stands in their places.
_installed: list[tuple[Callable[..., Any], Callable[..., Any]]] = []


def _exchange(functions: Mapping[int, Callable[..., Any]]) -> None:
    """Put others in the place of functions, which are given by their id, wherever a module of mteb has them."""
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
    ties: str = "average",
) -> Any:
    """Compute all that mteb reports of a retrieval task.

    Parameters
    ----------
    results : dict as {query: {document: score}}
        What was retrieved.
    qrels : dict as {query: {document: label}}
        The judgments.
    k_values : sequence of int
        The cut-offs.
    skip_first_result : bool
        Whether the first document of each query is left out, usually the query itself. As in mteb it is the first of
        the dict among those that tie for the highest score, whatever the rule.
    ties : str
        The tie rule.

    Returns
    -------
    mteb.types.RetrievalEvaluationResult
        As mteb's function of this name.

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
    metrics, types = load(_METRICS, "tools"), load("mteb.types", "tools")
    if skip_first_result:
        results = {
            query: dict(sorted(documents.items(), key=lambda each: each[1], reverse=True)[1:])
            for query, documents in results.items()
        }
    names = [f"{name}_{k}" for k in k_values for name in ("ndcg_cut", "map_cut", "recall", "P", "success")]
    values = _by_query(qrels, results, names, ties)
    scores = {query: dict(zip(names, row, strict=True)) for query, row in values.items()}
    ndcg, average, recall, precision, *by_query, hit_rate = metrics.parse_metrics_from_scores(scores, k_values)
    reciprocal = mrr(qrels, results, k_values, ties=ties)
    return types.RetrievalEvaluationResult(
        all_scores=scores,
        ndcg=ndcg,
        map=average,
        recall=recall,
        precision=precision,
        naucs=metrics.evaluate_abstention(results, {name: row for each in by_query for name, row in each.items()}),
        mrr={name: sum(row) / len(row) for name, row in reciprocal.items()},
        naucs_mrr=metrics.evaluate_abstention(results, reciprocal),
        hit_rate=hit_rate,
    )


def mrr(qrels: Qrels, results: Results, k_values: Sequence[int], *, ties: str = "average") -> dict[str, list[float]]:
    """Compute the reciprocal rank of the first relevant document.

    Parameters
    ----------
    qrels, results, k_values, ties
        As in `calculate_retrieval_scores`.

    Returns
    -------
    dict of str to list of float
        "MRR@k": a value for each query, in the order of the results.

    Raises
    ------
    InputError
        If a score is NaN, or no query is judged.

    Examples
    --------
    >>> mrr({"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0}}, [1, 10])
    {'MRR@1': [0.5], 'MRR@10': [0.75]}
    """
    return _columns("MRR@{}", "RR@{}", qrels, results, k_values, ties)


def top_k_accuracy(
    qrels: Qrels, results: Results, k_values: Sequence[int], *, ties: str = "average"
) -> dict[str, list[float]]:
    """Compute whether there is a relevant document among the first k.

    Parameters
    ----------
    qrels, results, k_values, ties
        As in `calculate_retrieval_scores`.

    Returns
    -------
    dict of str to list of float
        "Accuracy@k": a value for each query, in the order of the results. mteb's list leaves the queries out on which
        there is none, so that its mean is always 1.

    Raises
    ------
    InputError
        If a score is NaN, or no query is judged.

    Examples
    --------
    >>> top_k_accuracy({"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0}}, [1, 2])
    {'Accuracy@1': [0.5], 'Accuracy@2': [1.0]}
    """
    return _columns("Accuracy@{}", "Success@{}", qrels, results, k_values, ties)


def recall_cap(
    qrels: Qrels, results: Results, k_values: Sequence[int], *, ties: str = "average"
) -> dict[str, list[float | None]]:
    """Compute recall of at most k documents: the hits among the first k, by the number of relevant ones or k.

    Parameters
    ----------
    qrels, results, k_values, ties
        As in `calculate_retrieval_scores`.

    Returns
    -------
    dict of str to list of float or None
        "R_cap_at_k": a value for each query, in the order of the results; None where nothing is relevant.

    Raises
    ------
    InputError
        If a score is NaN, or no query is judged.

    Examples
    --------
    >>> recall_cap({"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0, "c": 1.0}}, [1, 2])
    {'R_cap_at_1': [0.5], 'R_cap_at_2': [0.5]}
    """
    relevant = [sum(label > 0 for label in qrels[query].values()) for query in results]
    recall = _columns("{}", "R@{}", qrels, results, k_values, ties)
    precision = _columns("{}", "P@{}", qrels, results, k_values, ties)
    return {
        f"R_cap_at_{k}": [
            (r if n <= k else p) if n else None
            for n, r, p in zip(relevant, recall[str(k)], precision[str(k)], strict=True)
        ]
        for k in k_values
    }


def hole(qrels: Qrels, results: Results, k_values: Sequence[int], *, ties: str = "average") -> dict[str, list[float]]:
    """Compute the share of the first k documents that are judged for no query.

    Parameters
    ----------
    qrels, results, k_values, ties
        As in `calculate_retrieval_scores`.

    Returns
    -------
    dict of str to list of float
        "Hole_at_k": a value for each query, in the order of the results.

    Raises
    ------
    InputError
        If a score is NaN.

    Examples
    --------
    >>> hole({"q": {"a": 0}}, {"q": {"a": 1.0, "b": 1.0}}, [1, 4])
    {'Hole_at_1': [0.5], 'Hole_at_4': [0.25]}
    """
    annotated = {document for labels in qrels.values() for document in labels}
    # What is looked for takes the part of the relevant documents; a judged document besides, lest a query has none.
    holes = {
        query: {"": 0, **{document: 1 for document in documents if document not in annotated}}
        for query, documents in results.items()
    }
    return _columns("Hole_at_{}", "P@{}", holes, results, k_values, ties)


def _columns(
    title: str, measure: str, qrels: Qrels, results: Results, k_values: Sequence[int], ties: str
) -> dict[str, list[float]]:
    """The values of a measure at each cut-off, under a title, in the order of the results."""
    values = _by_query(qrels, results, [measure.format(k) for k in k_values], ties)
    return {title.format(k): [row[i] for row in values.values()] for i, k in enumerate(k_values)}


def _by_query(qrels: Qrels, results: Results, measures: Sequence[str], ties: str) -> dict[str, list[float]]:
    """The values of each query that is judged, in the order of the results."""
    outcome = evaluate(qrels, {"mteb": results}, list(measures), ties=ties, queries="both", threads=1)
    rows = dict(zip(outcome.queries, outcome.values[0].tolist(), strict=True))
    return {query: rows[query] for query in results if query in rows}
