"""The lines of trec_eval for a run: a number for each query, and for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tieaware._evaluate import evaluate
from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Values
from tieaware.inputs import Matched, Qrels, Run, match
from tieaware.kernels import _means
from tieaware.lists.identifiers import quoted
from tieaware.lists.query_lists import Lists
from tieaware.measures import Measure
from tieaware.ties import TieRule, tie_rule
from tieaware.trec_eval.lines import Line
from tieaware.trec_eval.rankings import OUTSIDE, POOLED, Ranking

# What trec_eval raises smaller values to, before it takes a geometric mean.
SMALLEST = 0.00001


@dataclass(frozen=True)
class Evaluated:
    """The lines of a run.

    Parameters
    ----------
    queries : list of str
        Those that count, in the order of the judgments.
    lines : tuple of Line
    values : float64[n_queries, n_lines]
    texts : dict of int to list of str
        What is text, for each query, by the number of the line.
    """

    queries: list[str]
    lines: tuple[Line, ...]
    values: Values
    texts: dict[int, list[str]]

    def summary(self) -> Values:
        """Summarise the queries: counts are added up, all else is averaged.

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
    ties: str = "trec_eval",
    level: int = 1,
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
    level : int
        The smallest relevant label.
    complete : bool
        Whether all judged queries count; otherwise those which the run answers as well.
    judged_only : bool
        Whether documents without judgment are taken out first.
    deepest : int, optional
        How many documents of each query count; the others are taken out before anything else.
    recalls_up : bool
        How recall · relevant documents becomes a number of documents: as in trec_eval 9, which adds 0.9 and cuts off,
        or as in 10, which rounds.

    Returns
    -------
    Evaluated

    Raises
    ------
    InputError
        If the run answers no judged query, or a tie is open that decides which documents count.
    """
    rule = tie_rule(ties)
    matched = match(qrels, run)
    if not (matched.rows >= 0).any():
        raise unexpected(run.name, f"a query in common with {qrels.name}", "none that is judged")
    if deepest is not None:
        run = _without(run, _below(run, matched, rule, deepest))
        matched = match(qrels, run)
    if judged_only:
        run = _without(run, _labels(matched) < 0)
        matched = match(qrels, run)
    measures = list(dict.fromkeys(measure for line in lines for measure in line.measures))
    columns = measured(qrels, run, measures, ties, recalls_up=recalls_up)
    rows = np.arange(len(qrels)) if complete else np.unique(matched.rows[matched.rows >= 0])
    rankings = list(_rankings(qrels, run, matched, rule, level, rows)) if _walked(lines) else []
    values = np.zeros((len(rows), len(lines)))
    texts = {}
    for i, line in enumerate(lines):
        if line.measures:
            values[:, i] = line.combine(*(columns[measure][rows] for measure in line.measures))
        elif line.walk is not None:
            values[:, i] = [line.walk(ranking) for ranking in rankings]
        elif line.text is not None:
            texts[i] = [line.text(ranking) for ranking in rankings]
        elif line.family == "num_q":
            values[:, i] = 1.0
    names = qrels.queries.to_list()
    return Evaluated([names[row] for row in rows], tuple(lines), values, texts)


def _walked(lines: Sequence[Line]) -> bool:
    return any(line.walk is not None or line.text is not None for line in lines)


def _without(run: Run, gone: NDArray[np.bool_]) -> Run:
    """Return the run without these documents; queries that have none left are still answered."""
    lists = Lists(run.queries, run.offsets, run.documents, run.scores).without(np.flatnonzero(gone))
    return Run.of(replace(lists, sources=None), run.name, run.tag)


def _labels(matched: Matched) -> Integers:
    """Return the label of each document of a run, or that it has none."""
    lists = matched.lists
    labels = np.full(lists.offsets[-1], OUTSIDE, dtype=np.int64)
    starts = np.repeat(lists.offsets[:-1], np.diff(lists.judged_offsets))
    labels[starts + lists.positions] = np.where(lists.labels < 0, POOLED, lists.labels)
    return labels


def _ordered(run: Run, matched: Matched, rule: TieRule) -> Integers:
    """Return the documents of a run, query by query, by score and within ties as the rule has them: int64[n_rows]."""
    n = len(run.scores)
    query = np.repeat(np.arange(len(run.queries)), np.diff(run.offsets))
    place = np.arange(n)
    if rule.by_document:
        starts = np.repeat(run.offsets[:-1], np.diff(run.offsets))
        place[starts + rule.order(run.documents, run.offsets)] = np.arange(n)
    elif rule.extreme:
        place = np.maximum(_labels(matched), OUTSIDE) * (-1 if rule.extreme == "max" else 1)
    return np.lexsort((place, -run.scores, query))


def _below(run: Run, matched: Matched, rule: TieRule, deepest: int) -> NDArray[np.bool_]:
    """Tell which documents are below a rank, or raise InputError if that is left open."""
    order = _ordered(run, matched, rule)
    rank = np.arange(len(order)) - np.repeat(run.offsets[:-1], np.diff(run.offsets))
    if rule.averages or rule.extreme:
        scores = run.scores[order]
        first = np.flatnonzero(rank == deepest)
        divided = first[scores[first] == scores[first - 1]] if deepest > 0 else first[:0]
        if len(divided):
            query = quoted(run.queries[int(np.searchsorted(run.offsets, divided[0], side="right")) - 1])
            where = f"rank {deepest} of query {query}"
            raise unexpected(where, "no tie there, or a rule that orders it", f"one, and {rule.name}")
    gone = np.zeros(len(order), dtype=np.bool_)
    gone[order] = rank >= deepest
    return gone


def _rankings(
    qrels: Qrels, run: Run, matched: Matched, rule: TieRule, level: int, rows: Integers
) -> Iterator[Ranking]:
    """Yield the rankings of these queries of the judgments."""
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
        yield Ranking(labels[start:end], edges, judged[judged >= 0].astype(np.int64), level)


def measured(
    qrels: Qrels, run: Run, measures: Sequence[Measure], ties: str, *, recalls_up: bool = False
) -> dict[Measure, Values]:
    """Return the values of measures for each judged query, in their order.

    Parameters
    ----------
    qrels : Qrels
    run : Run
        It answers some judged query.
    measures : sequence of Measure
    ties : str
        The tie rule.
    recalls_up : bool
        As in `evaluate_lines`.

    Returns
    -------
    dict of Measure to float64[n_queries]
    """
    by_recall = [measure for measure in measures if recalls_up and measure.definition.at_recall]
    plain = [measure for measure in measures if measure not in by_recall]
    values = {measure: np.zeros(len(qrels)) for measure in by_recall}
    if plain:
        table = evaluate(qrels, run, plain, ties=ties).values[0]
        values |= {measure: table[:, i] for i, measure in enumerate(plain)}
    if by_recall:
        _interpolated(qrels, run, values, by_recall, ties)
    return values


def _interpolated(
    qrels: Qrels, run: Run, values: dict[Measure, Values], measures: Sequence[Measure], ties: str
) -> None:
    """Write interpolated precisions as of trec_eval 9: at the recalls that rounding takes to the same documents."""
    judged = Lists(qrels.queries, qrels.offsets, qrels.documents, qrels.labels)
    retrieved = Lists(run.queries, run.offsets, run.documents, run.scores)
    matched = match(qrels, run)
    # Where nothing judged was retrieved, they are 0.
    answers = np.where(np.diff(matched.lists.judged_offsets) > 0, matched.rows, -1)
    answered = np.unique(answers[answers >= 0])
    query = np.repeat(np.arange(len(qrels)), np.diff(qrels.offsets))
    for level in dict.fromkeys(int(measure["rel"]) for measure in measures):
        those = [measure for measure in measures if measure["rel"] == level]
        relevant = np.bincount(query[qrels.labels >= level], minlength=len(qrels))[answered]
        for n in np.unique(relevant[relevant > 0]).tolist():
            rows = answered[relevant == n]
            some = Qrels.of(_taken(judged, rows), qrels.name)
            lists = Run.of(_taken(retrieved, np.flatnonzero(np.isin(answers, rows))), run.name)
            as_in_9 = {measure: measure(recall=int(float(measure["recall"]) * n + 0.9) / n) for measure in those}
            wanted = list(dict.fromkeys(as_in_9.values()))
            table = evaluate(some, lists, wanted, ties=ties).values[0]
            for measure, other in as_in_9.items():
                values[measure][rows] = table[:, wanted.index(other)]


def _taken(lists: Lists, queries: Integers) -> Lists:
    """Return the lists of these queries."""
    sizes = np.diff(lists.offsets)[queries]
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    kept = np.repeat(lists.offsets[queries] - offsets[:-1], sizes) + np.arange(offsets[-1])
    return Lists(lists.queries.take(queries), offsets, lists.documents.take(kept), lists.values[kept])
