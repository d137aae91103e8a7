"""evaluate(): judgments and runs in, Results out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from tieaware._join import in_order
from tieaware._version import __version__
from tieaware.arrays import Integers, Scores, Values
from tieaware.checks import flag, one_of, unexpected
from tieaware.cube import Provenance
from tieaware.errors import printable
from tieaware.inputs import (
    Matched,
    Qrels,
    QrelsLike,
    Run,
    RunDict,
    RunLike,
    RunSource,
    as_qrels,
    as_sources,
    differing,
    match,
    over_parts,
)
from tieaware.judgments import POOLED, JudgedLists
from tieaware.measures import Measure, asked_measures
from tieaware.precision import Coarsening
from tieaware.preparation import prepare, weigh_besides
from tieaware.results import Results
from tieaware.threads import checked_threads, over_chunks
from tieaware.ties import TieRule
from tieaware.totals import Totals
from tieaware.views import Pass, View, passes


def evaluate(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    measures: str | Measure | Sequence[str | Measure],
    *,
    ties: str = "average",
    precision: str | Coarsening | None = None,
    spread: bool = False,
    queries: str = "judged",
    threads: int | None = None,
) -> Results:
    """Evaluate runs against judgments.

    Files, and streams and lazy frames, are read in a stream: memory does not grow with a run whose rows are grouped by
    query.

    Parameters
    ----------
    qrels : Qrels, path, binary file, {query: {document: label}}, data frame, or Arrow table or stream
        For the columns of tables, see `Qrels.from_frame`.
    runs : Run, path, binary file, {query: {document: score}}, data frame, Arrow table or stream; a list; {name: run}
        A run in a file is named after the file, without folder and the usual extensions; the path may be a folder's, or
        a pattern such as "runs/*.run". A table with a column run, system or tag is as many runs as that names; see
        `Run.from_frame`.
    measures : sequence of str or Measure
        For example ``["AP", "nDCG@10"]``.
    ties : str
        The tie rule, one of `tieaware.ties.RULES`: "average" is the expectation over all orderings of tied documents.
    precision : str or Coarsening, optional
        What the scores are coarsened to first, e.g. "decimals:2" or "bfloat16"; see `tieaware.precision`.
    spread : bool
        Whether to tell how far the order of tied documents can move each value: the results then have ``std``,
        ``min`` and ``max``. For ties="average".
    queries : str
        "judged": every judged query; one on which the run is silent has an empty list (trec_eval -c).
        "both": only the queries that a run answers (trec_eval's default); the others are NaN, and in no mean.
    threads : int or None
        How many threads to use, None for one per core. The values are the same bits for any number.

    Returns
    -------
    Results
        The queries in the order of the judgments; integers, if those of the judgments are an integer column.

    Raises
    ------
    InputError
        A ValueError whose one line says where, what was expected, and what was found.

    Warns
    -----
    UserWarning
        If a run has queries in common with the judgments, and not one document: their identifiers may differ in form.

    Examples
    --------
    >>> import tieaware
    >>> qrels = {"q1": {"d1": 1, "d3": 1}}
    >>> run = {"q1": {"d1": 0.5, "d2": 0.5, "d3": 0.1}}
    >>> tieaware.evaluate(qrels, run, ["AP", "RR"]).mean().round(4)
    array([[0.7083, 0.75  ]])
    """
    view = View(ties, precision, flag("spread", spread))
    return evaluate_views(qrels, runs, measures, [view], queries=queries, threads=threads)[0]


def evaluate_views(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    measures: str | Measure | Sequence[str | Measure],
    views: Sequence[View],
    *,
    queries: str = "judged",
    threads: int | None = None,
) -> list[Results]:
    """Evaluate runs under several views, reading and joining each run but once: Results by view.

    See `evaluate` for the parameters.
    """
    parsed, asked = asked_measures(measures)
    one_of("queries", queries, ("judged", "both"))
    workers = checked_threads(threads)
    judged, sources = as_qrels(qrels), as_sources(runs)
    evaluation = _Evaluation(judged, parsed, views, workers if len(sources) == 1 else 1)
    values = np.empty((len(sources), evaluation.n_tables, len(judged), len(parsed)))
    values.fill(np.nan)
    answered = np.zeros((len(sources), len(judged)), dtype=np.bool_)
    named = list(sources.items())
    doubts: list[str | None] = [None] * len(named)

    def run(i: int, _: int = 0) -> None:
        doubts[i] = evaluation.run(*named[i], values[i], answered[i])

    if len(named) == 1:
        run(0)
    else:
        over_chunks(run, np.arange(len(named) + 1), min(workers, len(named)))
    for doubt in filter(None, doubts):
        warnings.warn(printable(doubt), UserWarning, stacklevel=3)
    names = judged.queries
    if np.count_nonzero(answered) < answered.size:
        if queries == "judged":
            np.copyto(values, evaluation.silent(), where=~answered[:, None, :, None])
        else:
            by_some = np.flatnonzero(answered.any(axis=0))
            values = values[:, :, by_some]
            names = names.take(by_some)
    labels = tuple(sources), tuple(names.to_list()), parsed
    by_table = values.swapaxes(0, 1)
    edges = [0, *accumulate(view.n_tables for view in views)]
    results = []
    for view, (start, end) in zip(views, pairwise(edges), strict=True):
        std, least, greatest = by_table[start + 1 : end] if view.spread else (None, None, None)
        precision = None if view.precision is None else str(view.precision)
        made = Provenance(view.rule.name, precision, queries, __version__)
        results.append(Results(by_table[start], *labels, std, least, greatest, asked, made))
    return results


class _Evaluation:
    """Judgments, measures and views, prepared for any number of runs."""

    def __init__(self, qrels: Qrels, measures: tuple[Measure, ...], views: Sequence[View], threads: int) -> None:
        self._qrels = qrels
        self._measures = measures
        self._threads = threads
        self._passes = passes(views)
        self._by_document = any(each.rule.by_document for each in self._passes)
        self.n_tables = sum(view.n_tables for view in views)
        self._totals = Totals.of(measures, qrels.judgments)

    def silent(self) -> Values:
        """Return the values of queries for which nothing is retrieved, by view."""
        n = len(self._qrels)
        nothing, none = np.zeros(n + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
        lists = JudgedLists(nothing, nothing, none, none.astype(np.int32))
        values = np.empty((self.n_tables, n, len(self._measures)))
        self._part(Matched(np.arange(n), np.zeros(0), lists), None, values)
        return values

    def run(self, name: str, source: RunSource, values: Values, answered: npt.NDArray[np.bool_]) -> str | None:
        """Write the rows of the queries that a run answers, by view, and which these are; return what to warn of."""
        found, example = False, ""

        def work(part: Run | RunDict) -> None:
            nonlocal found, example
            run = part.whole() if self._by_document else part
            matched = match(self._qrels, run)
            if len(matched.lists.positions):
                found = True
            elif not (found or example):
                example = differing(self._qrels, run, matched)
            answered[self._part(matched, run if isinstance(run, Run) else None, values)] = True

        over_parts(source, work, self._threads)
        if np.count_nonzero(answered) == 0:
            raise unexpected(name, f"a query in common with {self._qrels.name}", "none that is judged")
        if found or not example:
            return None
        return f"{name}: expected a document in common with {self._qrels.name}, found none; {example}"

    def _part(self, matched: Matched, run: Run | None, values: Values) -> Integers | slice:
        """Write the rows of one part, with its documents where ties go by them; return which they are."""
        judged: npt.NDArray[np.bool_] | slice = slice(None)
        rows: Integers | slice = slice(None)
        totals = self._totals
        if not in_order(matched.rows, len(self._qrels)):
            judged = matched.rows >= 0
            rows = matched.rows[judged]
            totals = totals.rows(matched.rows)

        def order(rule: TieRule) -> Integers | None:
            return rule.order(run.documents, run.offsets) if rule.by_document and run is not None else None

        tables = over_passes(
            self._measures, matched.lists, matched.scores, totals, self._passes, order, threads=self._threads
        )
        for table, of_table in tables:
            values[table, rows] = of_table[judged]
        return rows


def over_passes(
    measures: tuple[Measure, ...],
    lists: JudgedLists,
    scores: Scores,
    totals: Totals,
    wanted: Sequence[Pass],
    order: Callable[[TieRule], Integers | None],
    threads: int = 1,
) -> Iterator[tuple[int, Values]]:
    """Evaluate lists in several passes; yield which table of values it is, and its float64[n_lists, n_measures].

    Parameters
    ----------
    measures : tuple of Measure
    lists : JudgedLists
    scores : float64[n_documents] or float32[n_documents]
    totals : Totals
        Of the query of each list.
    wanted : sequence of Pass
    order : callable
        Takes a tie rule; returns the positions of each list in its order, None where they are as they lie.
    threads : int
    """
    lists = _with_pool(lists) if weigh_besides(measures)["pool"] else lists
    for each in wanted:
        prepared = prepare(measures, lists, totals, each, order=order(each.rule), threads=threads)
        part = np.empty((len(each.tables), *totals.totals.shape))
        prepared.evaluate(scores, part)
        yield from zip(each.tables, part, strict=True)


def _with_pool(lists: JudgedLists) -> JudgedLists:
    """Take every document that judgments name for one of the pool, as a negative label there means unjudged."""
    labels = np.where(lists.labels < 0, np.int32(POOLED), lists.labels)
    return JudgedLists(lists.offsets, lists.judged_offsets, lists.positions, labels)
