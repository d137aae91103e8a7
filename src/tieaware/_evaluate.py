"""evaluate(): judgments and runs in, Results out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tieaware._version import __version__
from tieaware.checks.arguments import one_of, unexpected
from tieaware.checks.arrays import Integers, Scores, Values
from tieaware.engine.prepared import prepare
from tieaware.engine.totals import Totals
from tieaware.engine.unanswered import unanswered
from tieaware.engine.views import Pass, View, passes
from tieaware.engine.weights import also_weighted
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
from tieaware.kernels._join import in_order
from tieaware.lists.judgments import POOLED, JudgedLists
from tieaware.measures import Measure, asked_measures
from tieaware.precision import Coarsening
from tieaware.results import Provenance, Results
from tieaware.results.checkpoints import Checkpoints
from tieaware.runtime.progress import stage
from tieaware.runtime.threads import checked_threads, over_items
from tieaware.ties import TieRule

# Which queries of a run count.
QUERIES = ("judged", "both", "shard")


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
    out: str | os.PathLike[str] | None = None,
) -> Results:
    """Evaluate runs against judgments.

    Files, and streams and lazy frames, are read in a stream: memory does not grow with a run. Where the rows of a query
    are not together, they are brought together in a temporary file; a stream that is read but once must have them so.

    Parameters
    ----------
    qrels : Qrels, path, binary file, {query: {document: label}}, data frame, or Arrow table or stream
        For the columns of tables, see `Qrels.from_frame`.
    runs : Run, path, binary file, {query: {document: score}}, data frame, Arrow table or stream; a list; {name: run}
        A run in a file is named after the file, without folder and the usual extensions; the path may be a folder's, or
        a pattern such as "runs/*.run". A table with a column run, system or tag is as many runs as that names; see
        `Run.from_frame`.
    measures : sequence of str or Measure, or a string of several
        For example ``["AP", "nDCG@10"]``, or ``"AP nDCG@10"``.
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
        "shard": the same of a part of the rows, all those of some queries, of which none needs to be judged;
        `Results.concat` puts such parts together.
    threads : int or None
        How many threads to use, None for one per core. The values are the same bits for any number.
    out : str or os.PathLike, optional
        A folder for what each run comes to, in a file of `Results` under its name. A run in a file that was finished is
        taken from there, so that what was stopped can be taken up again; one whose file has changed since is evaluated
        anew. On a terminal, how many runs are finished is shown.

    Returns
    -------
    Results
        The queries in the order of the judgments; integers, if those of the judgments are an integer column.

    Raises
    ------
    InputError
        A ValueError whose one line says where, what was expected, and what was found. Before anything is evaluated, of
        a file in the folder that is of other judgments, measures or options.

    Warns
    -----
    UserWarning
        If a run has queries in common with the judgments, and not one document: their identifiers may differ in form.
        Not of a shard, which may be small.

    Examples
    --------
    >>> import tieaware
    >>> qrels = {"q1": {"d1": 1, "d3": 1}}
    >>> run = {"q1": {"d1": 0.5, "d2": 0.5, "d3": 0.1}}
    >>> tieaware.evaluate(qrels, run, ["AP", "RR"]).mean().round(4)
    array([[0.7083, 0.75  ]])
    """
    view = View(ties, precision, spread)
    return evaluate_views(qrels, runs, measures, [view], queries=queries, threads=threads, out=out)[0]


def evaluate_views(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike],
    measures: str | Measure | Sequence[str | Measure],
    views: Sequence[View],
    *,
    queries: str = "judged",
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
) -> list[Results]:
    """Evaluate runs under several views, reading and joining each run but once: Results by view.

    See `evaluate` for the parameters; a folder is for one view.
    """
    parsed, asked = asked_measures(measures)
    one_of("queries", queries, QUERIES)
    workers = checked_threads(threads)
    is_shard = queries == "shard"
    judged, sources = as_qrels(qrels), as_sources(runs, least=0 if is_shard else 1)
    names = tuple(sources)
    evaluation = _Evaluation(judged, parsed, asked, views, queries, names, workers if len(names) == 1 else 1)
    finished = None if out is None else Checkpoints(out, sources, judged, asked, views[0], queries)
    waiting = list(range(len(names)))
    if finished is not None:
        waiting = [i for i in waiting if not evaluation.take(i, finished.results(names[i]))]

    def run(i: int) -> str | None:
        doubt = evaluation.run(i, sources[names[i]])
        if finished is not None:
            finished.add(names[i], evaluation.results(slice(i, i + 1))[0])
        advance(1)
        return doubt

    done = len(names) - len(waiting)
    with stage("runs", len(names), done, shown=finished is not None) as advance:
        doubts = over_items(run, waiting, min(workers, len(waiting) or 1))
    # A shard may well be so small that it has none.
    for doubt in filter(None, [] if is_shard else doubts):
        warnings.warn(printable(doubt), UserWarning, stacklevel=3)
    return evaluation.results()


class _Evaluation:
    """Judgments, measures and views, prepared for some runs; and what these come to."""

    def __init__(
        self, qrels: Qrels, measures: tuple[Measure, ...], asked: tuple[str, ...], views: Sequence[View], queries: str,
        runs: tuple[str, ...], threads: int,
    ) -> None:  # fmt: skip
        self._qrels = qrels
        self._measures = measures
        self._asked = asked
        self._views = views
        self._queries = queries
        self._runs = runs
        self._threads = threads
        self._passes = passes(views)
        self._totals = Totals.of(measures, qrels.judgments)
        self._values = np.empty((sum(view.n_outputs for view in views), len(runs), len(qrels), len(measures)))
        self._values.fill(np.nan)
        self._answered = np.zeros((len(runs), len(qrels)), dtype=np.bool_)

    @cached_property
    def _unanswered(self) -> Values:
        return unanswered(self._qrels.judgments, self._measures, self._views)

    @cached_property
    def _rows(self) -> dict[str | int, int]:
        return {query: row for row, query in enumerate(self._qrels.queries.to_list())}

    def results(self, some: slice = slice(None)) -> list[Results]:
        """Return Results by view, of all runs or some."""
        values, answered, names = self._values[:, some], self._answered[some], self._qrels.queries
        over = "judged" if self._queries == "judged" else "both"
        if over == "both":
            by_some = np.flatnonzero(answered.any(axis=0))
            if len(by_some) < len(names):
                values = values[:, :, by_some]
                names = names.take(by_some)
        elif np.count_nonzero(answered) < answered.size:
            np.copyto(values, self._unanswered[:, None], where=~answered[:, :, None])
        labels = self._runs[some], tuple(names.to_list()), self._measures
        results, table = [], 0
        for view in self._views:
            std, least, greatest = values[table + 1 : table + 4] if view.spread else (None, None, None)
            precision = None if view.precision is None else str(view.precision)
            made = Provenance(view.rule.name, precision, over, __version__)
            results.append(Results(values[table], *labels, std, least, greatest, self._asked, made))
            table += view.n_outputs
        return results

    def take(self, i: int, results: Results | None) -> bool:
        """Take what a run came to, of one view, as if it were evaluated; return whether there is anything."""
        if results is None:
            return False
        rows = [self._rows[query] for query in results.queries]
        for table, cube in zip(self._values[:, i], results.cubes().values(), strict=True):
            table[rows] = cube[0]
        self._answered[i, rows] = True
        return True

    def run(self, i: int, source: RunSource) -> str | None:
        """Evaluate a run, all queries that it answers; return what to warn of."""
        by_document = any(each.rule.by_document for each in self._passes)
        values, answered = self._values[:, i], self._answered[i]
        found, example = False, ""

        def work(part: Run | RunDict) -> None:
            nonlocal found, example
            run = part.whole() if by_document else part
            matched = match(self._qrels, run)
            if len(matched.lists.positions):
                found = True
            elif not (found or example):
                example = differing(self._qrels, run, matched)
            answered[self._part(matched, run if isinstance(run, Run) else None, values)] = True

        over_parts(source, work, self._threads)
        if self._queries != "shard" and not np.count_nonzero(answered):
            raise unexpected(self._runs[i], f"a query in common with {self._qrels.name}", "none that is judged")
        if found or not example:
            return None
        return f"{self._runs[i]}: expected a document in common with {self._qrels.name}, found none; {example}"

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
    lists = _with_pool(lists) if also_weighted(measures)["pool"] else lists
    for each in wanted:
        prepared = prepare(measures, lists, totals, each, order=order(each.rule), threads=threads)
        part = np.empty((len(each.outputs), *totals.totals.shape))
        prepared.evaluate(scores, part)
        yield from zip(each.outputs, part, strict=True)


def _with_pool(lists: JudgedLists) -> JudgedLists:
    """Take every document that judgments name for one of the pool, as a negative label there means unjudged."""
    labels = np.where(lists.labels < 0, np.int32(POOLED), lists.labels)
    return JudgedLists(lists.offsets, lists.judged_offsets, lists.positions, labels)
