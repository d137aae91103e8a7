"""The two sides of a gate: runs that are evaluated now, or values that were stored."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tieaware.checks.arguments import path_text
from tieaware.checks.arrays import Values
from tieaware.engine.views import CHANCE, SPREAD, View
from tieaware.errors import InputError
from tieaware.experiments.evaluating import evaluate_with_progress
from tieaware.inputs import Qrels, Run, match
from tieaware.measures import Measure
from tieaware.results import Results, storage
from tieaware.results.checkpoints import check_judgments

# The version of what a gate stores beside the values.
_VERSION = 1
# The prefix of the run names of the first base, which the file of a later base also holds.
_FIRST = "first base: "

Name: TypeAlias = str | int
Ranks: TypeAlias = dict[Name, dict[Name, float]]


class Side(NamedTuple):
    """The values of one or more runs, their unanswered queries and the ranks of relevant documents.

    Attributes
    ----------
    results : Results
        With a spread over the orders of ties, unless it was not stored.
    unanswered, silent : tuple of str or of int
        The queries for which a run has no documents, and those for which no run has any.
    ranks : {query: {document: rank}} or None
        The ranks of the relevant documents in the first run, the mean rank of documents that tie; None if unknown.
    first : Results or None
        The values of the first of a chain of saved bases; None if there is no chain.
    """

    results: Results
    unanswered: tuple[Name, ...] = ()
    silent: tuple[Name, ...] = ()
    ranks: Ranks | None = None
    first: Results | None = None

    def values(self, measures: Sequence[Measure], name: str = "values") -> Values:
        """Return the values, or one output of the spread, of these measures: float64[n_runs, n_queries, n_measures].

        A spread that was not stored is NaN.
        """
        return values_of(self.results, measures, name)


def values_of(results: Results, measures: Sequence[Measure], name: str = "values") -> Values:
    """Return one array of results for these measures; NaN if there is no such array."""
    cubes = results.cubes()
    if name not in cubes:
        return np.full((*results.values.shape[:2], len(measures)), np.nan)
    return cubes[name][:, :, [results.measures.index(measure) for measure in measures]]


def evaluated(qrels: Qrels, runs: Any, measures: Sequence[Measure], threads: int | None) -> Side:
    """Evaluate the runs of one side."""
    answered: dict[str, set[Name]] = {}
    ranks: dict[str, Ranks] = {}

    def observe(name: str, chunk: Run) -> None:
        answered.setdefault(name, set()).update(chunk.queries.to_list())
        ranks.setdefault(name, {}).update(_ranks(qrels, chunk))

    results = evaluate_with_progress(qrels, runs, measures, [View(spread=True)], threads, observe=observe)[0]
    of_runs = [answered.get(run, set()) for run in results.runs]
    by_all, by_any = set.intersection(*of_runs), set.union(*of_runs)
    unanswered, silent = (tuple(q for q in results.queries if q not in some) for some in (by_all, by_any))
    return Side(results, unanswered, silent, ranks.get(results.runs[0], {}))


def _ranks(qrels: Qrels, run: Run) -> Ranks:
    """Return the ranks of the relevant documents of each query, starting at 1; the mean rank of those that tie."""
    if qrels.judgments.subtopics is not None:
        return {}
    lists = match(qrels, run).lists
    relevant = lists.judgments.values > 0
    scores, found = np.asarray(run.scores), {}
    for i, query in enumerate(run.queries.to_list()):
        start, end = lists.judged_offsets[i : i + 2]
        positions = lists.positions[start:end][relevant[start:end]]
        if len(positions):
            first, last = run.offsets[i : i + 2]
            ascending = np.sort(scores[first:last])
            ends = [np.searchsorted(ascending, scores[first + positions], side) for side in ("left", "right")]
            documents = run.documents.take(first + positions).to_list()
            found[query] = dict(zip(documents, (len(ascending) + 0.5 - (ends[0] + ends[1]) / 2).tolist(), strict=True))
    return found


class Stored(NamedTuple):
    """The content of a file of values: its name, the results, and what the writer stored beside them."""

    name: str
    results: Results
    key: dict[str, Any] | None


def is_stored(runs: Any) -> bool:
    """Return whether the runs of a side are the path of a file of values."""
    return isinstance(runs, str | os.PathLike) and os.fspath(runs).endswith(".npz")


def stored(path: str | os.PathLike[str]) -> Stored:
    """Read what `save` wrote, or what `evaluate` or `Results.save` stored."""
    fields, key = storage.read_with_key(path)
    return Stored(path_text("path", path), Results(**fields), key)


def side_of(file: Stored, qrels: Qrels) -> Side:
    """Return the side in a file; raise InputError if it cannot be compared with runs that are evaluated now.

    The judgments must be the same, as far as the file knows, and the values averages over ties of whole scores.
    """
    name, results, key = file
    if key is not None and "gate" in key:
        return _saved(file, key, qrels)
    check_judgments(name, key, qrels)
    made = results.provenance
    options = {"undefined": "0.0", "order": "score"}
    is_average = made is None or (made.ties == "average" and made.precision is None and made.queries == "judged")
    if not is_average or any((key or {}).get(option, usual) != usual for option, usual in options.items()):
        raise InputError(name, "the values were not averages over ties of all judged queries by score; give the run")
    if results.unanswered:
        raise InputError(name, "does not say which queries are unanswered; give the run")
    return Side(results)


def _saved(file: Stored, key: dict[str, Any], qrels: Qrels) -> Side:
    """Return the side in a file that `save` wrote."""
    name, results, _ = file
    if key["gate"] != _VERSION:
        raise InputError(name, "another version of tieaware saved this base; give the base's run")
    if key.get("judgments") != digest_of(qrels):
        raise InputError(name, f"was saved with other judgments than {qrels.name}; give the base's run")
    try:
        ranks = {query: {document: float(rank) for document, rank in each} for query, each in key["ranks"]}
        unanswered, silent = tuple(key["unanswered"]), tuple(key["silent"])
        n = len(results.runs) - key["first"]
        if not 0 < n <= len(results.runs) or not {*unanswered, *silent, *ranks} <= set(results.queries):
            raise ValueError("numbers of runs, or queries")
    except (KeyError, TypeError, ValueError):
        raise InputError(name, "the file is damaged: what the gate stored has another form") from None
    first = results._run_range(n, len(results.runs)) if n < len(results.runs) else None
    return Side(results._run_range(0, n), unanswered, silent, ranks, first)


def in_order(results: Results, queries: tuple[Name, ...]) -> Results:
    """Return results with the queries in this order; raise InputError if they have others."""
    if results.queries == queries:
        return results
    at = {query: i for i, query in enumerate(results.queries)}
    if set(queries) != at.keys():
        raise InputError(" ".join(results.runs), "has values of other queries than the other side")
    rows = [at[query] for query in queries]
    cubes: dict[str, Any] = {name: cube[:, rows] for name, cube in results.cubes().items()}
    return replace(results, **cubes, queries=queries)


def save(side: Side, path: str | os.PathLike[str], qrels: Qrels) -> None:
    """Write a base for later gates: the values, those of the first base beside, and the hash of the judgments."""
    results = side.results
    first = None if side.first is None else in_order(side.first, results.queries)
    both = [results] if first is None else [results, first]
    cubes = {
        name: np.concatenate([values_of(each, results.measures, name) for each in both]) for name in ("values", *SPREAD)
    }
    names = results.runs
    if first is not None:
        names += tuple(run if run.startswith(_FIRST) else f"{_FIRST}{run}" for run in first.runs)
    key = {
        "gate": _VERSION, "judgments": digest_of(qrels), "unanswered": list(side.unanswered),
        "silent": list(side.silent), "first": 0 if first is None else len(first.runs),
        "ranks": [[query, list(each.items())] for query, each in (side.ranks or {}).items()],
    }  # fmt: skip
    fields = {**vars(results), **dict.fromkeys(CHANCE), **cubes, "runs": names, "unanswered": {}}
    storage.write(fields, path, key)


def digest_of(qrels: Qrels) -> str:
    """Return a hash of the judgments that does not depend on the order of queries and documents."""
    return hashlib.sha256(json.dumps(qrels.to_dict(), sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()
