"""Evaluation of a run as trec_eval does it: the value of each printed line for each query, and for all queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tieaware._evaluate import evaluate
from tieaware.checks.arrays import Integers, Values
from tieaware.errors import InputError
from tieaware.inputs import Matched, Qrels, Run, match
from tieaware.kernels import _means
from tieaware.lists.identifiers import quoted
from tieaware.lists.judgments import POOLED
from tieaware.lists.query_lists import Lists
from tieaware.measures import Measure
from tieaware.ties import TieRule, TieRuleName, tie_rule
from tieaware.trec_eval.kernel_measures import documents_at
from tieaware.trec_eval.lines import Line
from tieaware.trec_eval.own_measures import OUTSIDE, Ranking


@dataclass(frozen=True)
class Evaluated:
    """The values of the printed lines for a run.

    Parameters
    ----------
    queries : list of str
        The evaluated queries, in the order of the judgments.
    lines : tuple of Line
    values : float64[n_queries, n_lines]
        The value of each line; 0 for a line of text.
    texts : dict of int to list of str
        For each line of text, by its index in `lines`: the text of each query.
    """

    queries: list[str]
    lines: tuple[Line, ...]
    values: Values
    texts: dict[int, list[str]]

    def summary(self) -> Values:
        """Summarise the queries: add up counts, and average all other lines.

        Returns
        -------
        float64[n_lines]
        """
        geometric = np.array([line.is_geometric for line in self.lines], dtype=np.bool_)
        counts = np.array([line.is_count for line in self.lines], dtype=np.bool_)
        averaged = _means.means(self.values[None], geometric)[0]
        summary: Values = np.where(counts, self.values.sum(axis=0), averaged)
        return summary


def evaluate_lines(
    qrels: Qrels,
    run: Run,
    lines: Sequence[Line],
    *,
    ties: TieRuleName = "trec_eval",
    level: float = 1,
    complete: bool = False,
    judged_only: bool = False,
    deepest: int | None = None,
    recalls_up: bool = False,
) -> Evaluated:
    """Evaluate a run as trec_eval does.

    Parameters
    ----------
    qrels : Qrels
    run : Run
    lines : sequence of Line
    ties : str
        The tie rule, one of `tieaware.ties.RULES`.
    level : float
        The smallest relevant label.
    complete : bool
        Whether to evaluate all judged queries; otherwise only the judged queries that the run answers.
    judged_only : bool
        Whether to remove unjudged documents from the run first.
    deepest : int, optional
        The number of documents to keep for each query. Deeper documents are removed before any other step.
    recalls_up : bool
        How to convert a recall to a number of documents: True adds 0.9 to recall · N and truncates the sum, as
        trec_eval 9 does; False rounds recall · N, as trec_eval 10 does.

    Returns
    -------
    Evaluated

    Raises
    ------
    InputError
        If there is no query to evaluate, or if `deepest` cuts through tied documents and the tie rule does not order
        tied documents.
    """
    rule = tie_rule(ties)
    run, matched = _shortened(qrels, run, rule, judged_only, deepest)
    rows = np.arange(len(qrels)) if complete else np.flatnonzero(np.bincount(matched.rows[matched.rows >= 0]))
    if not len(rows):
        raise InputError(run.name, f"has no query in common with {qrels.name}")
    if not (matched.rows >= 0).any():
        # With -c, each judged query then has an empty list. `evaluate` refuses a run without a judged query.
        nothing = _without(run, np.ones(len(run.scores), dtype=np.bool_))
        lists = Lists(qrels.queries, np.zeros(len(qrels) + 1, np.int64), nothing.documents, nothing.scores)
        run = Run.of(lists, run.name, run.tag)
        matched = match(qrels, run)
    measures = list(dict.fromkeys(measure for line in lines for measure in line.measures))
    by_measure = measured(qrels, run, measures, ties, recalls_up=recalls_up)
    own = any(line.walk is not None or line.text is not None for line in lines)
    rankings = list(_rankings(qrels, run, matched, rule, level, rows)) if own else []
    values = np.zeros((len(rows), len(lines)))
    texts = {}
    for i, line in enumerate(lines):
        if line.text is not None:
            texts[i] = [line.text(ranking) for ranking in rankings]
        elif line.walk is not None:
            values[:, i] = [line.walk(ranking) for ranking in rankings]
        elif line.measures:
            values[:, i] = line.value(*(by_measure[measure][rows] for measure in line.measures))
    names = [str(name) for name in qrels.queries.to_list()]
    return Evaluated([names[row] for row in rows], tuple(lines), values, texts)


def _shortened(qrels: Qrels, run: Run, rule: TieRule, judged_only: bool, deepest: int | None) -> tuple[Run, Matched]:
    """Return the run without the documents that trec_eval's options -M and -J remove, matched with the judgments."""
    matched = match(qrels, run)
    if deepest is not None:
        run = _without(run, _below(run, matched, rule, deepest))
        matched = match(qrels, run)
    if judged_only:
        run = _without(run, _labels(matched) < 0)
        matched = match(qrels, run)
    return run, matched


def _without(run: Run, removed: NDArray[np.bool_]) -> Run:
    """Return the run without some documents. A query that has no documents left stays in the run."""
    lists = Lists(run.queries, run.offsets, run.documents, run.scores).without(np.flatnonzero(removed))
    return Run.of(replace(lists, sources=None), run.name, run.tag)


def _labels(matched: Matched) -> NDArray[Any]:
    """Return each document's label: POOLED if the label is negative, OUTSIDE if the document has no label."""
    lists = matched.lists
    known = lists.judgments.values
    labels = np.full(lists.offsets[-1], OUTSIDE, dtype=np.int64 if lists.grades is None else np.float64)
    starts = np.repeat(lists.offsets[:-1], np.diff(lists.judged_offsets))
    labels[starts + lists.positions] = np.where(known < 0, POOLED, known)
    return labels


def _ordered(run: Run, matched: Matched, rule: TieRule) -> Integers:
    """Return the row numbers of a run, int64[n_rows], sorted by query, score, and the tie rule's order inside ties."""
    query = np.repeat(np.arange(len(run.queries)), np.diff(run.offsets))
    return np.lexsort((rule.places(run.documents, run.offsets, _labels(matched)), -run.scores, query))


def _below(run: Run, matched: Matched, rule: TieRule, deepest: int) -> NDArray[np.bool_]:
    """Return whether each document is below a rank; raise InputError if tied documents leave this open."""
    order = _ordered(run, matched, rule)
    rank = np.arange(len(order)) - np.repeat(run.offsets[:-1], np.diff(run.offsets))
    if rule.by_score_alone:
        scores = run.scores[order]
        first = np.flatnonzero(rank == deepest)
        divided = first[scores[first] == scores[first - 1]] if deepest > 0 else first[:0]
        if len(divided):
            query = quoted(run.queries[int(np.searchsorted(run.offsets, divided[0], side="right")) - 1])
            raise InputError(
                f"rank {deepest} of query {query}",
                f"a tie crosses this rank; use a tie rule that orders the documents of a tie, not {rule.name!r}",
            )
    removed = np.zeros(len(order), dtype=np.bool_)
    removed[order] = rank >= deepest
    return removed


def _rankings(
    qrels: Qrels, run: Run, matched: Matched, rule: TieRule, level: float, rows: Integers
) -> Iterator[Ranking]:
    """Yield the ranking of each query in `rows`, which are positions of queries in the judgments."""
    order = _ordered(run, matched, rule)
    labels, scores = _labels(matched)[order], run.scores[order]
    answers = dict(zip(matched.rows.tolist(), range(len(matched.rows)), strict=True))
    for row in rows.tolist():
        judged = qrels.labels[qrels.offsets[row] : qrels.offsets[row + 1]]
        i = answers.get(row)
        start, end = (int(run.offsets[i]), int(run.offsets[i + 1])) if i is not None else (0, 0)
        edges = np.arange(end - start + 1)
        if rule.averages and end > start:
            begins = np.append(True, scores[start + 1 : end] != scores[start : end - 1])
            edges = np.append(np.flatnonzero(begins), end - start)
        yield Ranking(labels[start:end], edges, judged[judged >= 0].astype(labels.dtype), level)


def measured(
    qrels: Qrels, run: Run, measures: Sequence[Measure], ties: TieRuleName, *, recalls_up: bool = False
) -> dict[Measure, Values]:
    """Return the values of measures for each judged query, in the order of the judgments.

    Parameters
    ----------
    qrels : Qrels
    run : Run
        A run that answers at least one judged query.
    measures : sequence of Measure
    ties : str
        The tie rule.
    recalls_up : bool
        As for `evaluate_lines`.

    Returns
    -------
    dict of Measure to float64[n_queries]
    """
    by_recall = [measure for measure in measures if recalls_up and measure.definition.at_recall]
    plain = [measure for measure in measures if measure not in by_recall]
    values = {measure: np.zeros(len(qrels)) for measure in by_recall}
    if plain:
        found = evaluate(qrels, run, plain, ties=ties).values[0]
        values |= {measure: found[:, i] for i, measure in enumerate(plain)}
    if by_recall:
        _interpolate_as_9(qrels, run, values, by_recall, ties)
    return values


def _interpolate_as_9(
    qrels: Qrels, run: Run, values: dict[Measure, Values], measures: Sequence[Measure], ties: TieRuleName
) -> None:
    """Compute interpolated precisions as trec_eval 9 defines them, and write them into `values`.

    The kernel rounds recall · N as trec_eval 10 does, so queries with the same N are evaluated together, at a recall
    for which this rounding gives the number of documents that trec_eval 9 would use.
    """
    judged = Lists(qrels.queries, qrels.offsets, qrels.documents, qrels.labels)
    retrieved = Lists(run.queries, run.offsets, run.documents, run.scores)
    matched = match(qrels, run)
    # A query whose judged documents are not retrieved keeps the value 0.
    answers = np.where(np.diff(matched.lists.judged_offsets) > 0, matched.rows, -1)
    answered = np.unique(answers[answers >= 0])
    query = np.repeat(np.arange(len(qrels)), np.diff(qrels.offsets))
    for level in dict.fromkeys(float(measure["rel"]) for measure in measures):
        at_level = [measure for measure in measures if measure["rel"] == level]
        relevant = np.bincount(query[qrels.labels >= level], minlength=len(qrels))[answered]
        for n in np.unique(relevant[relevant > 0]).tolist():
            rows = answered[relevant == n]
            some_qrels = Qrels.of(_taken(judged, rows), qrels.name)
            some_run = Run.of(_taken(retrieved, np.flatnonzero(np.isin(answers, rows))), run.name)
            as_in_9 = {measure: measure(recall=documents_at(float(measure["recall"]), n) / n) for measure in at_level}
            wanted = list(dict.fromkeys(as_in_9.values()))
            found = evaluate(some_qrels, some_run, wanted, ties=ties).values[0]
            for measure, equivalent in as_in_9.items():
                values[measure][rows] = found[:, wanted.index(equivalent)]


def _taken(lists: Lists, queries: Integers) -> Lists:
    """Return the lists of some queries."""
    sizes = np.diff(lists.offsets)[queries]
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    kept = np.repeat(lists.offsets[queries] - offsets[:-1], sizes) + np.arange(offsets[-1])
    return Lists(lists.queries.take(queries), offsets, lists.documents.take(kept), lists.values[kept])
