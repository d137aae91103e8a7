"""Evaluation of runs against judgments: `evaluate`; and `evaluate_views` for several tie rules or score precisions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tieaware._version import __version__
from tieaware.checks.arguments import flag, one_of
from tieaware.checks.arrays import Integers, Scores, Values
from tieaware.engine.list_arguments import checked_undefined
from tieaware.engine.prepared import prepare, unanswered
from tieaware.engine.totals import Totals
from tieaware.engine.views import Pass, Plan, View, plan_of
from tieaware.engine.weights import also_weighted
from tieaware.errors import InputError, warn
from tieaware.inputs import (
    ORDERS,
    Changed,
    Matched,
    Order,
    Qrels,
    QrelsLike,
    Run,
    RunLike,
    RunSource,
    as_qrels,
    as_sources,
    asking_for_run,
    by_position,
    check_numbers,
    consistent,
    differing,
    excluded_documents,
    first_query,
    match,
    never_fall,
    no_query_judged,
    order_in_ranks,
    seem_to_count_from_one,
    without,
)
from tieaware.kernels._join import in_order
from tieaware.lists.grades import Missing
from tieaware.lists.judgments import POOLED, JudgedLists
from tieaware.lists.swapped import look_like_labels, look_like_scores
from tieaware.measures import Measure
from tieaware.precision import Coarsening
from tieaware.results import Provenance, Results
from tieaware.results._results import unchecked
from tieaware.runtime.progress import in_notebook, stage
from tieaware.runtime.threads import checked_threads, over_items
from tieaware.ties import TieRule, TieRuleName

# The values of the argument `queries`.
QueryChoice: TypeAlias = Literal["judged", "both", "shard"]
QUERIES: tuple[QueryChoice, ...] = get_args(QueryChoice)


# mypy takes the values of {"a": frame, "b": "b.run"} for objects, so the types of named runs include objects.
def evaluate(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike] | Mapping[str, object],
    measures: str | Measure | Sequence[str | Measure],
    *,
    ties: TieRuleName = "average",
    precision: str | Coarsening | None = None,
    spread: bool = False,
    queries: QueryChoice = "judged",
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    undefined: float = 0.0,
    order: Order = "score",
    consistent_only: bool = False,
    chance: bool = False,
    missing: Missing | None = None,
    exclude: Literal["same-id"] | QrelsLike | None = None,
) -> Results:
    """Evaluate runs against judgments.

    Files, streams and lazy frames are read in chunks, so that memory use does not grow with the size of a run. If the
    rows of a query are not contiguous, they are grouped in a temporary file. In a source that can be read only once,
    the rows of each query must be contiguous.

    Parameters
    ----------
    qrels : Qrels, path, binary file, {query: {document: label}}, data frame, Arrow table or stream, or sparse matrix
        The judgments. `Qrels.from_frame` lists the column names of tables; `Qrels.from_sparse` describes the matrix.
        A folder, a pattern or a list of paths names part files.
    runs : Run, path, file, {query: {document: score}}, data frame, Arrow table, (ids, scores); a list; {name: run}
        The runs. A run in a file is named after the file, without its folder and the usual extensions. A path may name
        a folder, or be a pattern such as "runs/*.run". Under a name, a folder, a pattern or a list of paths names the
        part files of one run, as in ``{"bm25": "parts/"}``. A table with a column run, system or tag holds one run for
        each name in that column; see `Run.from_frame`. In a pair (ids, scores), both are arrays with a row for each
        query; see `Run.from_topk`.
    measures : sequence of str or Measure, or one string
        For example ``["AP", "nDCG@10"]`` or ``"AP nDCG@10"``.
    ties : str
        The tie rule, one of `tieaware.ties.RULES`. "average" is the expectation over all orders of tied documents.
    precision : str or Coarsening, optional
        The precision to which scores are reduced before the evaluation, e.g. "decimals:2" or "bfloat16"; see
        `tieaware.precision`.
    spread : bool
        Whether to compute the standard deviation, minimum and maximum of each value over the orders of tied documents:
        ``std``, ``min`` and ``max`` of the results. Requires the tie rule "average".
    queries : str
        "judged": every judged query counts; an unanswered query has an empty list (trec_eval -c).
        "both": only the judged queries that a run answers count (trec_eval's default). For other queries, the values of
        the run are NaN, and its means leave them out.
        "shard": as "both", but for shards of runs: each shard holds all rows of some queries. If none of its queries is
        judged, or no document is relevant, that is not an error. `Results.concat` joins the results of shards.
    threads : int or None
        The number of threads; None for one per core. The values have the same bits for any number.
    out : str or os.PathLike, optional
        A folder for checkpoints: one file of `Results` for each run, under the name of the run. If the folder has a
        checkpoint of a run, and the run's file has not changed since, the results are loaded instead of computed. So an
        interrupted evaluation can be resumed, and measures that a checkpoint lacks are added to it. On a terminal, a
        progress line shows how many runs are finished. In notebooks, a bar shows it also without `out`.
    undefined : float
        The value for a query without a relevant judged document. The default is 0, as in trec_eval. With NaN,
        means, tests and tables leave such queries out.
    order : str
        "score": documents are ordered by score. "file": they keep the order of the file, dict or table; scores are
        ignored, so no documents tie.
    consistent_only : bool
        Whether to leave out runs whose rank column or file order puts a lower score before a higher one.
    chance : bool
        Whether to compute what a random order of a run's documents earns, too: its mean, its standard deviation and the
        value of the best order, ``chance``, ``chance_std`` and ``ideal`` of the results.
    missing : "unjudged", optional
        Whether a missing label (NaN, None or null) means that a document is unjudged. By default, it is an error.
    exclude : "same-id", or {query: documents} in any form of `qrels`, optional
        The documents that are not ranked for a query: "same-id" is the document with the id of the query, as in
        ArguAna and Quora. Labels of excluded documents are ignored, but they must not be relevant in `qrels`.

    Returns
    -------
    Results
        The queries are in the order of the judgments. Their names are integers if they are integers in the judgments.

    Raises
    ------
    InputError
        If the input is wrong. The message is one line that says where the input is wrong, and how. If a checkpoint was
        made with other judgments, measures or options, the error is raised before anything is evaluated.

    Warns
    -----
    UserWarning
        If a run shares queries with the judgments, but no document: the document identifiers may be written in
        different forms. If judgments and runs seem to be swapped, because the labels look like scores and the scores
        like labels. If all scores of every query of a run are equal, while the ranks in its file are not. With
        queries="shard" there are no such warnings, because they may be false for a small shard. If several files have
        names like parts of one run, such as part-0, but are evaluated as separate runs. If runs are left out by
        `consistent_only`.

    Examples
    --------
    >>> import tieaware
    >>> qrels = {"q1": {"d1": 1, "d3": 1}}
    >>> run = {"q1": {"d1": 0.5, "d2": 0.5, "d3": 0.1}}
    >>> tieaware.evaluate(qrels, run, ["AP", "RR"]).mean().round(4)
    array([[0.7083, 0.75  ]])
    """
    view = View.of(ties, precision, spread, chance)
    return evaluate_views(
        qrels, runs, measures, (view,), queries=queries, threads=threads, out=out, undefined=undefined, order=order,
        consistent_only=consistent_only, missing=missing, exclude=exclude,
    )[0]  # fmt: skip


def evaluate_views(
    qrels: QrelsLike,
    runs: RunLike | Sequence[RunLike] | Mapping[str, RunLike] | Mapping[str, object],
    measures: str | Measure | Sequence[str | Measure],
    views: Sequence[View],
    *,
    queries: QueryChoice = "judged",
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    undefined: float = 0.0,
    order: Order = "score",
    consistent_only: bool = False,
    missing: Missing | None = None,
    exclude: Literal["same-id"] | QrelsLike | None = None,
    observe: Callable[[str, Run], None] | None = None,
) -> list[Results]:
    """Evaluate runs under several views, and return the Results of each view. A view is a tie rule with its options.

    Each run is read, and matched with the judgments, only once for all views. The other parameters are as for
    `evaluate`. Checkpoints (`out`) require that there is only one view. `observe` is called with the name of a run and
    each of its chunks, from several threads; a query that reappears is in several chunks, complete in the last one.
    """
    plan = plan_of(measures, views)
    one_of("queries", queries, QUERIES)
    workers, undefined = checked_threads(threads), checked_undefined(undefined)
    is_shard = queries == "shard"
    one_of("order", order, ORDERS)
    judged = as_qrels(qrels, missing, subtopics=plan.needs_subtopics)
    if isinstance(qrels, str | os.PathLike) and len(judged.labels) and judged.labels.max() <= 0:
        # The wrong column of the file may have been read.
        warn(f"{judged.name}: no document is relevant: every label is 0 or less")
    sources = as_sources(runs, least=0 if is_shard else 1)
    if flag("consistent_only", consistent_only):
        sources = consistent(sources)
    excluded = None
    if exclude is not None:
        ids_as_text = any(source.reading.ids_as_text for source in sources.values())
        excluded = excluded_documents(exclude, judged, as_qrels, ids_as_text)
        sources = {name: Changed(source, partial(without, excluded)) for name, source in sources.items()}
    if order == "file":
        sources = {name: Changed(source, by_position) for name, source in sources.items()}
    names = tuple(sources)
    threads_of_run = workers if len(names) == 1 else 1
    evaluation = _Evaluation(judged, plan, queries, names, threads_of_run, undefined)
    checkpoints = None
    if out is not None:
        # Import only here: these modules would take a tenth of the time to import the package.
        from tieaware.results.checkpoints import Checkpoints

        checkpoints = Checkpoints(out, sources, judged, views[0], queries, undefined, order, excluded)

    def is_restored(i: int) -> bool:
        """Take the values of run i from its checkpoint, and evaluate only the measures that it lacks."""
        name, stored = names[i], None if checkpoints is None else checkpoints.results(names[i])
        if checkpoints is None or stored is None:
            return False
        pairs = zip(plan.names, plan.measures, strict=True)
        lacking = [asked for asked, measure in pairs if measure not in stored.measures]
        if lacking:
            more = evaluate_views(
                judged, {name: sources[name]}, lacking, views, queries=queries, threads=threads, undefined=undefined
            )[0]  # fmt: skip
            if more.queries != stored.queries:
                return False
            stored = checkpoints.extend(name, stored, more)
        evaluation.restore(i, stored)
        return True

    waiting = [i for i in range(len(names)) if not is_restored(i)]

    def evaluate_run(i: int) -> str | None:
        warning = evaluation.evaluate_run(i, sources[names[i]], observe)
        if checkpoints is not None:
            checkpoints.add(names[i], evaluation.results(i)[0])
        advance(1)
        return warning

    done = len(names) - len(waiting)
    # On a terminal, a line would mix with the output of the program, so only `out` asks for it.
    is_shown = checkpoints is not None or in_notebook()
    with stage("runs", len(names), done, shown=is_shown) as advance:
        found = over_items(evaluate_run, waiting, min(workers, len(waiting) or 1))
    # Do not warn about shards: a small shard may share no document with the judgments, although the whole run does.
    for warning in filter(None, [] if is_shard else found):
        warn(warning)
    return evaluation.results()


@lru_cache(maxsize=256)
def _provenance(ties: str, precision: str | None, over: str) -> Provenance:
    return Provenance(ties, precision, over, __version__)


# The rows of all queries.
_EVERY = slice(None)


class _Evaluation:
    """The judgments and the plan of one evaluation, and the values of its runs."""

    def __init__(
        self, qrels: Qrels, plan: Plan, queries: str, runs: tuple[str, ...], threads: int, undefined: float
    ) -> None:
        self._qrels = qrels
        self._plan = plan
        self._queries = queries
        self._runs = runs
        self._threads = threads
        self._undefined = undefined
        self._judgments = qrels.judgments.as_part if queries == "shard" else qrels.judgments
        try:
            self._totals = Totals.of(plan.measures, self._judgments)
        except InputError as error:
            raise asking_for_run(error, qrels) from None
        n_queries = len(qrels)
        self._values = np.empty((plan.n_outputs, len(runs), n_queries, len(plan.measures)))
        self._values.fill(np.nan)
        self._answered = np.zeros((len(runs), n_queries), dtype=np.bool_)
        # The runs that answer every query.
        self._complete: set[int] = set()
        # The numbers of unanswered queries of the runs that are loaded from checkpoints, by run.
        self._loaded: dict[str, int] = {}

    @cached_property
    def _unanswered(self) -> Values:
        return unanswered(self._judgments, self._plan.measures, self._plan.views, self._undefined)

    @cached_property
    def _look_like_scores(self) -> bool:
        return look_like_scores(self._qrels.labels, self._qrels.offsets)

    @cached_property
    def _rows(self) -> dict[str | int, int]:
        """{query: row}: the position of each judged query in the arrays of values."""
        return {query: row for row, query in enumerate(self._qrels.queries.to_list())}

    def results(self, run: int | None = None) -> list[Results]:
        """Return the Results of each view, for all runs or for one run."""
        values, answered, names, runs = self._values, self._answered, self._qrels.queries, self._runs
        are_complete = len(self._complete) == len(runs) > 0
        if run is not None:
            chosen = slice(run, run + 1)
            values, answered, runs = values[:, chosen], answered[chosen], runs[chosen]
            are_complete = run in self._complete
        over = "judged" if self._queries == "judged" else "both"
        are_answered = are_complete or np.count_nonzero(answered) == answered.size
        if over == "both" and not are_complete:
            by_any = np.flatnonzero(answered.any(axis=0))
            if len(by_any) < len(names):
                values, answered, names = values[:, :, by_any], answered[:, by_any], names.take(by_any)
        elif not are_answered:
            np.copyto(values, self._unanswered[:, None], where=~answered[:, :, None])
        queries, plan = tuple(names.to_list()), self._plan
        unanswered: dict[str, int] = {}
        if over == "judged" and (self._loaded or not are_answered):
            unanswered = self._n_unanswered(answered[:, ~np.isnan(values[0]).all(axis=(0, 2))], runs)
        results, outputs = [], iter(values)
        for view in plan.views:
            precision = None if view.precision is None else str(view.precision)
            made = _provenance(view.rule.name, precision, over)
            results.append(unchecked(
                dict(zip(view.outputs, outputs, strict=False)), runs=runs, queries=queries,
                measures=plan.measures, names=plan.names, unanswered=unanswered, provenance=made,
            ))  # fmt: skip
        return results

    def _n_unanswered(self, answered: npt.NDArray[np.bool_], runs: Sequence[str]) -> dict[str, int]:
        """Return {run: number of its unanswered queries}, without the runs that answer all queries."""
        counts = dict(zip(runs, np.count_nonzero(~answered, axis=1).tolist(), strict=True))
        counts |= {run: n for run, n in self._loaded.items() if run in counts}
        return {run: n for run, n in counts.items() if n}

    def restore(self, i: int, results: Results) -> None:
        """Take the values of run i from the results of its checkpoint, which may have further measures."""
        rows = [self._rows[query] for query in results.queries]
        at = [results.measures.index(measure) for measure in self._plan.measures]
        for output, cube in zip(self._values[:, i], results.cubes().values(), strict=True):
            output[rows] = cube[0][:, at]
        self._answered[i, rows] = True
        self._loaded[self._runs[i]] = results.unanswered.get(self._runs[i], 0)

    def evaluate_run(self, i: int, source: RunSource, observe: Callable[[str, Run], None] | None = None) -> str | None:
        """Evaluate all judged queries that run i answers; return the text of a warning, or None."""
        check_numbers(self._qrels, source, self._runs[i])
        values, answered = self._values[:, i], self._answered[i]
        found, from_one, example, query = False, False, "", ""
        n_documents: list[int] = []
        # Real labels are sorted only if the scores of the run look like labels, because that takes longer.
        has_reals = self._qrels.grades is not None
        swapped = self._queries != "shard" and (has_reals or self._look_like_scores)
        falls = False

        def evaluate_chunk(chunk: RunSource) -> None:
            nonlocal found, from_one, example, query, swapped, falls
            run = chunk.whole() if self._plan.by_document or observe is not None else None
            if run is not None and observe is not None:
                observe(self._runs[i], run)
            matched = match(self._qrels, chunk if run is None else run)
            if len(matched.lists.positions):
                found = True
            elif not (found or example):
                example = differing(self._qrels, chunk, matched)
                query = query or first_query(chunk)
            if not n_documents:
                from_one = seem_to_count_from_one(self._qrels, chunk)
            n_documents.append(len(matched.scores))
            # Threads only ever set these to one value, so that none undoes what another has found.
            if swapped and not look_like_labels(matched.scores):
                swapped = False
            if not falls and not never_fall(matched.scores, matched.lists.offsets):
                falls = True
            rows = self._evaluate_chunk(matched, run, values)
            answered[rows] = True
            if rows is _EVERY and len(answered):
                self._complete.add(i)

        source.over_chunks(evaluate_chunk, self._threads)
        name = self._runs[i]
        if self._queries != "shard" and i not in self._complete and not np.count_nonzero(answered):
            raise InputError(name, no_query_judged(self._qrels, source, query))
        # A run has as many documents as there are real labels, or more; judgments in its place have fewer.
        if has_reals:
            swapped = swapped and sum(n_documents) < len(self._qrels.labels) and self._look_like_scores
        if swapped and found:
            signs = f"the labels in {self._qrels.name} look like scores, and the scores of this run like labels"
            return f"{name}: {signs}: are judgments and runs swapped?"
        is_by_position = all(view.rule.by_position for view in self._plan.views)
        if not falls and (problem := order_in_ranks(source, is_by_position=is_by_position)):
            return f"{name}: {problem}"
        if from_one:
            return f"{name}: ids seem to count from 1: with ids - 1, many more documents are relevant"
        if found or not example:
            return None
        return f"{name}: no document of this run is judged in {self._qrels.name}; {example}"

    def _evaluate_chunk(self, matched: Matched, run: Run | None, values: Values) -> Integers | slice:
        """Evaluate one chunk of a run, and write its values into `values`; return the rows that they were written to.

        `run` is the chunk with its document ids; it may be None if no tie rule orders by document.
        """
        judged: npt.NDArray[np.bool_] | slice = _EVERY
        rows: Integers | slice = _EVERY
        totals = self._totals
        if not in_order(matched.rows, self._answered.shape[1]):
            judged = matched.rows >= 0
            rows = matched.rows[judged]
            totals = totals.rows(matched.rows)

        def order(rule: TieRule) -> Integers | None:
            return rule.order(run.documents, run.offsets) if rule.by_document and run is not None else None

        plan = self._plan
        outputs = over_passes(
            plan.measures, matched.lists, matched.scores, totals, plan.passes, order, threads=self._threads,
            undefined=self._undefined, needs_pool=plan.needs_pool,
            # A pass that fills all outputs of all queries writes them where they belong.
            into=values if rows is _EVERY and plan.is_single_pass and values.flags.c_contiguous else None,
        )  # fmt: skip
        for output, of_output in outputs:
            values[output, rows] = of_output[judged]
        return rows


def over_passes(
    measures: tuple[Measure, ...],
    lists: JudgedLists,
    scores: Scores,
    totals: Totals,
    wanted: Sequence[Pass],
    order: Callable[[TieRule], Integers | None],
    threads: int = 1,
    undefined: float = 0.0,
    *,
    needs_pool: bool | None = None,
    into: Values | None = None,
) -> Iterator[tuple[int, Values]]:
    """Evaluate lists in several passes; yield the number of each output and its values, float64[n_lists, n_measures].

    Parameters
    ----------
    measures : tuple of Measure
    lists : JudgedLists
    scores : float64[n_documents] or float32[n_documents]
    totals : Totals
        For each list, the totals of its query.
    wanted : sequence of Pass
    order : callable
        Takes a tie rule; returns the positions of the documents of each list in the order that the rule gives them, or
        None if the rule keeps the order of the run.
    threads : int
    undefined : float
        The value of a measure for queries whose total is 0.
    needs_pool : bool, optional
        Whether a measure needs the documents that are in the pool but not judged, if the caller knows.
    into : float64[n_outputs, n_lists, n_measures], optional
        An array for the values, if there is one pass. Nothing is yielded then.
    """
    if needs_pool is None:
        needs_pool = also_weighted(measures)["pool"]
    lists = _with_pool(lists) if needs_pool else lists
    for each in wanted:
        by_rule = order(each.ordering)
        prepared = prepare(measures, lists, totals, each, order=by_rule, undefined=undefined, threads=threads)
        values = np.empty((len(each.outputs), *totals.totals.shape)) if into is None else into
        prepared.evaluate(scores, values)
        if into is None:
            yield from zip(each.outputs, values, strict=True)


def _with_pool(lists: JudgedLists) -> JudgedLists:
    """Give judged documents with negative labels the label POOLED; otherwise they would count as unjudged."""
    labels = np.where(lists.labels < 0, np.int32(POOLED), lists.labels)
    return lists._replace(labels=labels)
