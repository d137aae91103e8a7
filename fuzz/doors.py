"""Comparisons of small batches: catalogues with excluded items, coarse scores, and the interfaces of other tools."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import ir_measures
import numpy as np
from batches import Batch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tieaware import Evaluator, evaluate, parse_measure
from tieaware.integrations import ir_measures as own_provider
from tieaware.integrations import pytrec_eval
from tieaware.precision import parse_precision
from tieaware.ties import RULES

# trec_eval's names of measures, and tieaware's. Precision at a level of recall is missing, because pytrec_eval rounds
# the number of documents in another way.
OF_TREC_EVAL = {
    "map": "AP", "P_5": "P@5", "recip_rank": "RR", "ndcg": "nDCG", "ndcg_cut_3": "nDCG@3", "bpref": "Bpref",
    "recall_5": "R@5", "Rprec": "Rprec", "success_5": "Success@5", "infAP": "infAP", "map_cut_3": "AP@3",
    "num_ret": "NumRet", "num_rel_ret": "NumRelRet",
}  # fmt: skip
OF_IR_MEASURES = (
    "AP", "P@5", "RR", "nDCG", "nDCG@3", "Bpref", "R@5", "Rprec", "Success@5", "infAP", "AP(rel=2)@3", "ERR@3",
    "RBP(rel=1,p=0.8)", "NumRet", "SetP", "SetF", "Compat(p=0.8)", "INSQ(max_rel=4)@3", "P(judged_only=True)@5",
)  # fmt: skip
# Precisions as other libraries round to them.
PLAINLY: dict[str, Callable[[NDArray[np.float64]], NDArray[Any]]] = {
    "float32": lambda scores: scores.astype(np.float32),
    "float16": lambda scores: scores.astype(np.float16).astype(np.float32),
    "decimals:2": lambda scores: np.array([round(score, 2) for score in scores.tolist()]),
    "significant:3": lambda scores: np.array([float(f"{score:.2e}") for score in scores.tolist()]),
}


def differences(batch: Batch, name: str, found: NDArray[np.float64], expected: NDArray[np.float64]) -> None:
    """Raise AssertionError, which describes the first list whose values differ in any bit."""
    if found.tobytes() != expected.tobytes():
        output, query, measure = np.argwhere(found.view(np.int64) != expected.view(np.int64))[0].tolist()
        raise AssertionError(
            f"{name} gives {found[output, query, measure]!r} instead of {expected[output, query, measure]!r}, "
            f"output {output}, {batch.description(query, measure)}"
        )


def check_catalogue(batch: Batch, rng: random.Random) -> None:
    """Compare an evaluator from sparse matrices with a dense one, with and without excluded items."""
    if rng.random() < 0.5:
        # Only if every measure has a cut-off do the kernels skip what is below it.
        with_cutoff = [measure for measure in batch.measures if parse_measure(measure).cutoff is not None]
        batch = batch._replace(measures=with_cutoff or ["nDCG@3"])
    lists = batch.lists
    n = len(lists.offsets) - 1
    labels, scores = lists.labels.reshape(n, -1), lists.scores.reshape(n, -1)
    width = labels.shape[1]
    share = rng.random()
    if rng.random() < 0.5:
        # Exclude nearly all items that are not relevant, so that others rise by many ranks.
        labels, share = np.where(labels <= 0, -1, labels), 0.98
    by_document = RULES[batch.ties].by_document
    options: dict[str, Any] = {"ties": batch.ties, "precision": batch.precision}
    items = lists.documents[:width] if by_document else None
    relevance = csr_array(np.where(labels == -1, 0, 1))
    relevance.data = labels[labels != -1]
    hidden = (labels == -1) & (np.random.default_rng(rng.randrange(2**32)).random((n, width)) < share)
    if rng.random() < 0.3:
        # Exclude a few items only.
        hidden.flat[np.flatnonzero(hidden)[rng.randrange(1, 4) :]] = False
    if (batch.precision or "").startswith("levels"):
        # Levels refuse a list whose scores are all infinite, also if the finite ones are excluded.
        hidden &= np.isinf(scores)
    for excluded in (np.zeros_like(hidden), hidden):
        left = ~excluded
        flat = Evaluator(
            labels[left], batch.measures, group=left.sum(axis=1), **options,
            docids=np.broadcast_to(items, (n, width))[left].tolist() if by_document else None,
        )  # fmt: skip
        exclude = csr_array(excluded.astype(np.int8)) if excluded.any() else None
        dense = Evaluator.from_sparse(relevance, batch.measures, exclude=exclude, docids=items, threads=2, **options)
        expected, found = batch.outputs(flat, scores[left]), batch.outputs(dense, scores)
        differences(batch, f"a catalogue, excluded {np.argwhere(excluded)[:50].tolist()},", found, expected)


def check_coarse(batch: Batch, rng: random.Random) -> None:
    """Compare values for a precision with the values for scores that were coarsened before."""
    lists, precision = batch.lists, parse_precision(batch.precision)
    if str(precision).startswith("bands"):
        # Unjudged documents are removed before the ranks of the others are divided into bands.
        of_all = [measure for measure in batch.measures if "judged_only" not in measure]
        batch = batch._replace(measures=of_all or ["AP"])
    coarse = precision.coarsen(lists.scores.astype(np.float64), lists.offsets)
    precise = batch._replace(precision=None)
    expected = precise.outputs(precise.evaluator(), coarse)
    for threads in (1, rng.choice((2, 3, 5))):
        found = batch.outputs(batch.evaluator(threads), lists.scores)
        differences(batch, f"precision={precision}, threads={threads}", found, expected)
    plain = PLAINLY.get(str(precision))
    if plain is not None:
        with np.errstate(over="ignore", under="ignore"):
            rounded = plain(lists.scores.astype(np.float64))
        found = precise.outputs(precise.evaluator(), rounded)
        differences(precise, f"the precision {precision} and plain rounding: the latter", found, expected)


def as_dicts(batch: Batch) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, float]]]:
    """Return the judgments and the run as dicts; unjudged documents outside the pool are left out."""
    lists = batch.lists
    judged: dict[str, dict[str, Any]] = {f"q{q}": {} for q in range(len(lists.offsets) - 1)}
    run: dict[str, dict[str, float]] = {}
    rows = [
        (lists.query_of_others, lists.other_documents, lists.others), (lists.query, lists.documents, lists.labels),
    ]  # fmt: skip
    for queries, documents, labels in rows:
        for query, document, label in zip(queries.tolist(), documents, labels.tolist(), strict=True):
            if label != -1:
                judged[f"q{query}"][document] = max(label, -1)
    for query, document, score in zip(lists.query.tolist(), lists.documents, lists.scores.tolist(), strict=True):
        run.setdefault(f"q{query}", {})[document] = score
    return judged, run


def check_faces(batch: Batch, rng: random.Random) -> None:
    """Compare the interfaces of pytrec_eval and of ir_measures with `evaluate`."""
    judged, run = as_dicts(batch)
    if not run:
        return
    given = run
    if batch.ties == "trec_eval":
        # Like pytrec_eval, its interface then rounds the scores to single precision.
        with np.errstate(over="ignore", under="ignore"):
            given = {query: {d: float(np.float32(s)) for d, s in scores.items()} for query, scores in run.items()}
    names = rng.sample(list(OF_TREC_EVAL), 6)
    found = pytrec_eval.RelevanceEvaluator(judged, set(names), ties=batch.ties).evaluate(run)
    expected = values_of(judged, given, [OF_TREC_EVAL[name] for name in names], batch.ties)
    for query in run:
        for name, other in zip(names, expected[query], strict=True):
            one = found[query][name]
            assert one == other, (
                f"pytrec_eval's interface gives {one!r}, not {other!r}: {name}, {judged[query]}, {run[query]}"
            )
    if all(isinstance(label, int) for labels in judged.values() for label in labels.values()):
        measures = [ir_measures.parse_measure(name) for name in rng.sample(OF_IR_MEASURES, 6)]
        expected = values_of(judged, run, [str(own_provider.as_measure(measure)) for measure in measures], batch.ties)
        for query, measure, one in own_provider.provider(batch.ties).iter_calc(measures, judged, run):
            if query in run:
                other = expected[query][measures.index(measure)]
                assert one == other, (
                    f"ir_measures gives {one!r}, not {other!r}: {measure}, {judged[query]}, {run[query]}"
                )


def values_of(judged: Any, run: Any, measures: list[str], ties: Any) -> dict[str, list[float]]:
    """Return the values of the measures for each query."""
    results = evaluate(judged, run, measures, ties=ties)
    return dict(zip(results.queries, results.values[0].tolist(), strict=True))
