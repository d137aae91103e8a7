"""evaluate(): judgments and runs in, Results out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, BinaryIO, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from tieaware import ties as tie_rules
from tieaware.errors import InputError
from tieaware.inputs import Matched, Qrels, Run, RunFile, match, match_dict, read_qrels, read_run
from tieaware.measures import POOLED, Measure, Values
from tieaware.precision import Bands, Coarsening, parse_precision
from tieaware.preparation import Integers, Judgments, Precision, Totals, parse_measures, prepare
from tieaware.results import Results
from tieaware.threads import checked_threads, even_chunks, over_chunks

RunLike: TypeAlias = Run | RunFile | str | os.PathLike[str] | BinaryIO | Mapping[str, Mapping[str, float]]
QrelsLike: TypeAlias = Qrels | str | os.PathLike[str] | BinaryIO | Mapping[str, Mapping[str, int]]


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

    Files are read in a stream: memory does not grow with a run whose lines are grouped by query.

    Parameters
    ----------
    qrels : Qrels, path, binary file, or {query: {document: label}}
    runs : Run, path, binary file, or {query: {document: score}}; a list of these; or {name: run}
        A run in a file is named after the file, without folder and the usual extensions.
    measures : sequence of str or Measure
        For example ``["AP", "nDCG@10"]``.
    ties : str
        The tie rule: "average", "run_order", "trec_eval", "optimistic" or "pessimistic".
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
        The queries in the order of the judgments.

    Raises
    ------
    InputError
        A ValueError whose one line says what was found, where, and what was expected.

    Examples
    --------
    >>> import tieaware
    >>> qrels = {"q1": {"d1": 1, "d3": 1}}
    >>> run = {"q1": {"d1": 0.5, "d2": 0.5, "d3": 0.1}}
    >>> tieaware.evaluate(qrels, run, ["AP", "RR"]).mean().round(4)
    array([[0.7083, 0.75  ]])
    """
    return evaluate_views(qrels, runs, measures, [View(ties, precision, spread)], queries=queries, threads=threads)[0]


@dataclass(frozen=True)
class View:
    """How a run's scores are taken: with which tie rule and precision, and whether the spread is wanted."""

    ties: str = "average"
    precision: str | Coarsening | None = None
    spread: bool = False

    @property
    def n_tables(self) -> int:
        """How many tables of values it fills: the value, and with the spread the std, min and max."""
        return 4 if self.spread else 1


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
    parsed = parse_measures(measures)
    if queries not in ("judged", "both"):
        raise InputError(f"queries={queries!r}: expected 'judged' or 'both'")
    workers = checked_threads(threads)
    judged = as_qrels(qrels)
    named = named_runs(runs)
    evaluation = _Evaluation(judged, parsed, tuple(views), workers if len(named) == 1 else 1)
    tables = np.cumsum([0, *(view.n_tables for view in views)])
    values = np.empty((len(named), tables[-1], len(judged), len(parsed)))
    values[:] = np.nan if queries == "both" else evaluation.silent()
    one_each = np.arange(len(named) + 1)
    over_chunks(lambda i, _: evaluation.run(*named[i], values[i]), one_each, min(workers, len(named)))
    names = judged.queries.to_list()
    if queries == "both":
        answered = np.flatnonzero(~np.isnan(values).all(axis=(0, 1, 3)))
        values = values[:, :, answered]
        names = [names[i] for i in answered]
    labels = tuple(name for name, _ in named), tuple(names), parsed
    by_table = values.swapaxes(0, 1)
    return [Results(by_table[start], *labels, *by_table[start + 1 : end]) for start, end in pairwise(tables)]


# What all judged documents are worth to a measure: computed once for each judgment set, and kept as long as that is.
_totals: WeakKeyDictionary[Qrels, dict[Measure, tuple[Values, Values | None]]] = WeakKeyDictionary()


@dataclass
class _Evaluation:
    """Judgments, measures and views, prepared for any number of runs."""

    qrels: Qrels
    measures: tuple[Measure, ...]
    views: tuple[View, ...]
    threads: int

    def __post_init__(self) -> None:
        known = _totals.setdefault(self.qrels, {})
        missing = [measure for measure in self.measures if measure not in known]
        if missing:
            judgments = Judgments(self.qrels.labels, self.qrels.offsets)
            known.update({measure: judgments.total(measure) for measure in missing})
        self.totals = Totals.of([known[measure] for measure in self.measures])
        self._by_document = any(view.ties == "trec_eval" for view in self.views)
        self._passes = _passes(self.views)

    def silent(self) -> Values:
        """The values of queries for which nothing is retrieved, by view."""
        n = len(self.qrels)
        nothing = np.zeros(n + 1, dtype=np.int64)
        empty = np.zeros(0, dtype=np.int64)
        matched = Matched(np.arange(n), nothing, np.zeros(0), nothing, empty, empty.astype(np.int32))
        values = np.empty((sum(view.n_tables for view in self.views), n, len(self.measures)))
        self._part(matched, empty if self._by_document else None, values)
        return values

    def run(self, name: str, source: RunLike, values: Values) -> None:
        """Write the rows of the queries that a run answers, by view."""
        answered = 0
        for matched, order in self._matched(source):
            answered += self._part(matched, order, values)
        if not answered:
            raise InputError(f"{name}: none of its queries is judged in {self.qrels.name}, expected one in common")

    def _matched(self, source: RunLike) -> Iterator[tuple[Matched, Integers | None]]:
        """Join a run with the judgments, part by part; with the order of the documents where ties go by it."""
        if isinstance(source, Mapping):
            if not self._by_document:
                yield match_dict(self.qrels, source), None
                return
            source = Run.from_dict(source)
        for part in [source] if isinstance(source, Run) else as_run_file(source).parts():
            order = part.documents.descending_order(part.offsets) if self._by_document else None
            yield match(self.qrels, part), order

    def _part(self, matched: Matched, order: Integers | None, values: Values) -> int:
        judged = matched.rows >= 0
        totals = self.totals.rows(matched.rows)
        # A document with a negative label was in the pool, though not judged.
        labels = np.where(matched.judged_labels < 0, np.int32(POOLED), matched.judged_labels)
        for rule, precision, spread, tables in self._passes:
            prepared = prepare(
                self.measures,
                rule,
                matched.offsets,
                matched.judged_offsets,
                matched.judged_positions,
                labels,
                totals,
                order=order if rule == "trec_eval" else None,
                precision=precision,
                spread=spread,
            )
            part = np.empty((len(tables), *totals.numbers.shape[:2]))
            evaluate = partial(
                prepared.spread if spread else prepared.evaluate, prepared.coarsen(matched.scores), part
            )
            over_chunks(evaluate, even_chunks(matched.offsets, self.threads), self.threads)
            for table, rows in zip(tables, part, strict=True):
                values[table, matched.rows[judged]] = rows[judged]
        return int(judged.sum())


class _Pass(NamedTuple):
    """One preparation, and the tables that it fills."""

    ties: str
    precision: Precision
    spread: bool
    tables: list[int]


def _passes(views: Sequence[View]) -> list[_Pass]:
    """Return the preparations that the views need: all averages over bands are one."""
    passes: list[_Pass] = []
    bands: list[Bands] = []
    banded: list[int] = []
    table = 0
    for view in views:
        tie_rules.placement(view.ties)
        coarsening = None if view.precision is None else parse_precision(view.precision)
        if view.spread and view.ties != "average":
            raise InputError(f"spread: ties={view.ties!r} leaves one order alone, expected ties='average'")
        if isinstance(coarsening, Bands) and view.ties == "average" and not view.spread:
            bands.append(coarsening)
            banded.append(table)
        else:
            passes.append(_Pass(view.ties, coarsening, view.spread, list(range(table, table + view.n_tables))))
        table += view.n_tables
    if bands:
        passes.append(_Pass("average", bands, False, banded))
    return passes


def as_qrels(qrels: QrelsLike) -> Qrels:
    """Return judgments, whatever they were given as."""
    if isinstance(qrels, Qrels):
        return qrels
    if isinstance(qrels, Mapping):
        return Qrels.from_dict(qrels)
    if isinstance(qrels, Run):
        raise InputError("qrels: found a Run, expected judgments")
    return read_qrels(qrels)


def as_run_file(source: Any) -> RunFile:
    """Return a run that is still to be read."""
    if isinstance(source, Qrels):
        raise InputError("runs: found Qrels, expected a run")
    return source if isinstance(source, RunFile) else RunFile(source)


def as_run(source: RunLike) -> Run:
    """Return a run, read whole."""
    if isinstance(source, Run):
        return source
    if isinstance(source, Mapping):
        return Run.from_dict(source)
    file = as_run_file(source)
    return read_run(file.path, file.score_dtype, duplicates=file.duplicates)


def named_runs(runs: Any) -> list[tuple[str, Any]]:
    """Return (name, run) for each run."""
    if isinstance(runs, Mapping) and not _is_run(runs):
        named = list(runs.items())
        for name, _ in named:
            if not isinstance(name, str):
                raise InputError(f"runs: name {name!r}, expected a string")
        return _checked(named)
    several = runs if isinstance(runs, Sequence) and not isinstance(runs, str | bytes) else [runs]
    names = [_name(run) for run in several]
    if len(set(names)) < len(names):
        # The same file name in several folders: the paths tell them apart.
        names = [_name(run) if isinstance(run, Mapping | Run) else str(getattr(run, "path", run)) for run in several]
    return _checked(list(zip(names, several, strict=True)))


def _checked(named: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    if not named:
        raise InputError("runs: found none, expected at least one")
    seen: set[str] = set()
    for name, _ in named:
        if name in seen:
            raise InputError(f"runs: two are named {name!r}; pass {{name: run}} with different names")
        seen.add(name)
    return named


def _is_run(mapping: Mapping[Any, Any]) -> bool:
    """Tell {query: {document: score}} from {name: run}."""
    for value in mapping.values():
        if not isinstance(value, Mapping):
            return False
        for inner in value.values():
            return not isinstance(inner, Mapping)
    return True


def _name(run: Any) -> str:
    if isinstance(run, Mapping):
        return "run"
    named: Run | RunFile = run if isinstance(run, Run) else as_run_file(run)
    return named.name
