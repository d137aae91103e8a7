"""The two sides of a gate: runs that are evaluated now, or values that an earlier gate saved."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tieaware.checks.arguments import path_text
from tieaware.checks.arrays import Values
from tieaware.engine.views import SPREAD, View
from tieaware.errors import InputError
from tieaware.experiments.evaluating import evaluate_with_progress
from tieaware.inputs import Qrels, Run, match
from tieaware.measures import Measure
from tieaware.results import Results, storage
from tieaware.results.checkpoints import stored_values

# The version of what a gate stores beside the values.
_VERSION = 1

Name: TypeAlias = str | int


class Side(NamedTuple):
    """The values of one or more runs, and what else a gate needs of them.

    Attributes
    ----------
    results : Results
        With a spread over the orders of ties.
    unanswered : tuple of str or of int
        The queries for which a run has no documents.
    ranks : {query: {document: rank}}
        The ranks of the relevant documents in the first run; the mean rank of documents that tie.
    first : Results or None
        The values of the first of a chain of saved bases; None if there is no chain.
    """

    results: Results
    unanswered: tuple[Name, ...]
    ranks: dict[Name, dict[Name, float]]
    first: Results | None = None

    def values(self, measures: Sequence[Measure], name: str = "values") -> Values:
        """Return the values, or one output of the spread, of these measures: float64[n_runs, n_queries, n_measures].

        A spread that was not stored is NaN.
        """
        cubes = self.results.cubes()
        if name not in cubes:
            return np.full((*self.results.values.shape[:2], len(measures)), np.nan)
        return cubes[name][:, :, [self.results.measures.index(measure) for measure in measures]]


def evaluated(qrels: Qrels, runs: Any, measures: Sequence[Measure], threads: int | None) -> Side:
    """Evaluate the runs of one side."""
    answered: dict[str, set[Name]] = {}
    ranks: dict[str, dict[Name, dict[Name, float]]] = {}

    def observe(name: str, chunk: Run) -> None:
        answered.setdefault(name, set()).update(chunk.queries.to_list())
        ranks.setdefault(name, {}).update(_ranks(qrels, chunk))

    results = evaluate_with_progress(qrels, runs, measures, [View(spread=True)], threads, observe=observe)[0]
    by_all = set.intersection(*(answered.get(run, set()) for run in results.runs))
    unanswered = tuple(query for query in results.queries if query not in by_all)
    return Side(results, unanswered, ranks.get(results.runs[0], {}))


def _ranks(qrels: Qrels, run: Run) -> dict[Name, dict[Name, float]]:
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


def is_saved(runs: Any) -> bool:
    """Return whether the runs of a side are the path of a file of values."""
    return isinstance(runs, str | os.PathLike) and os.fspath(runs).endswith(".npz")


def saved(path: str | os.PathLike[str], qrels: Qrels) -> Side:
    """Read what `save` wrote, or what `evaluate` or `Results.save` stored.

    Raises InputError if the judgments were others, as far as the file knows.
    """
    name = path_text("base", path)
    fields, key = storage.read_with_key(path)
    if key is None or "gate" not in key:
        results = stored_values(name, qrels)
        if results.unanswered:
            raise InputError(name, "does not say which queries are unanswered; give the run")
        return Side(results, (), {})
    if key["gate"] != _VERSION:
        raise InputError(name, "another version of tieaware saved this base; give the base's run")
    if key["judgments"] != digest_of(qrels):
        raise InputError(name, f"was saved with other judgments than {qrels.name}; give the base's run")
    results = Results(**fields)
    n = len(results.runs) - key["first"]
    ranks = {query: dict(each) for query, each in key["ranks"]}
    first = results._run_range(n, len(results.runs)) if key["first"] else None
    return Side(results._run_range(0, n), tuple(key["unanswered"]), ranks, first)


def save(side: Side, path: str | os.PathLike[str], qrels: Qrels) -> None:
    """Write a base for later gates: the values, those of the first base beside, and the hash of the judgments."""
    results, first = side.results, side.first
    runs, cubes = results.runs, {name: results.cubes()[name] for name in ("values", *SPREAD)}
    if first is not None:
        runs += tuple(f"first base: {run}" for run in first.runs)
        cubes = {name: np.concatenate([cube, first.cubes()[name]]) for name, cube in cubes.items()}
    key = {
        "gate": _VERSION, "judgments": digest_of(qrels), "unanswered": list(side.unanswered),
        "ranks": [[query, list(each.items())] for query, each in side.ranks.items()],
        "first": 0 if first is None else len(first.runs),
    }  # fmt: skip
    storage.write({**vars(results), **cubes, "runs": runs, "unanswered": {}}, path, key)


def digest_of(qrels: Qrels) -> str:
    """Return a hash of the judgments that does not depend on the order of queries and documents."""
    return hashlib.sha256(json.dumps(qrels.to_dict(), sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()
