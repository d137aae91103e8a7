"""Joining of results: of the same runs on other queries, or of other runs on the same queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Values
from tieaware.engine.prepared import unanswered
from tieaware.engine.views import View
from tieaware.errors import InputError, warn
from tieaware.inputs import QrelsLike, as_qrels
from tieaware.measures import Measure
from tieaware.results.provenance import Provenance
from tieaware.ties import tie_rule

_AXES = ("runs", "queries")


class Joinable(NamedTuple):
    """The fields of `Results` that are needed to join results; `arrays` are those of `Results.cubes`."""

    runs: tuple[str, ...]
    queries: tuple[str | int, ...]
    measures: tuple[Measure, ...]
    names: tuple[str, ...]
    arrays: dict[str, Values]
    provenance: Provenance | None
    unanswered: dict[str, int]

    @property
    def answered(self) -> npt.NDArray[np.bool_]:
        """True if each run answers each query, bool[n_runs, n_queries]."""
        return np.asarray(~np.isnan(self.arrays["values"]).all(axis=2))


def joined(results: Sequence[Joinable], qrels: QrelsLike | None = None) -> Joinable:
    """Join results: the same runs on other queries, or other runs on the same queries; see `Results.concat`."""
    if not results:
        raise InputError("results", "must hold at least one result")
    for i, result in enumerate(results):
        _check_alike(i, result, results[0])
    whole = _overlaid(results) if _has_answered_only(results) else _side_by_side(results)
    return whole if qrels is None else _with_unanswered(whole, qrels)


def check_expectation(result: Joinable, expectation: Joinable) -> None:
    """Raise InputError unless the expectation has the same axes as the result, and averages over orders of ties."""
    for axis in ("runs", "queries", "measures"):
        if getattr(result, axis) != getattr(expectation, axis):
            raise InputError("expectation", f"must have the same {axis} as the results")
    made = expectation.provenance
    if made is not None and not tie_rule(made.ties).averages:
        raise InputError("expectation", f"must be computed with the tie rule average, not {made.ties}")


def _side_by_side(results: Sequence[Joinable]) -> Joinable:
    """Join results that have the same runs, or the same queries, along the other axis."""
    along, across = ("queries", "runs") if _along_queries(results) else ("runs", "queries")
    names = {along: tuple(name for result in results for name in getattr(result, along))}
    aligned = [_reordered(result, across, getattr(results[0], across)).arrays for result in results]
    arrays = {
        kind: np.concatenate([arrays[kind] for arrays in aligned], axis=_AXES.index(along))
        for kind in _shared_kinds(results)
    }
    counts: Counter[str] = Counter()
    for result in results:
        counts.update(result.unanswered)
    made = _joined_provenance(results)
    if along == "runs":
        _warn_of_depths(results)
        _check_undefined([each["values"] for each in aligned], made)
    return results[0]._replace(**names, arrays=arrays, provenance=made, unanswered=dict(counts))


def _check_undefined(values: Sequence[Values], made: Provenance | None) -> None:
    """Raise InputError if a query counts only in some of the results, whose queries are in the same order."""
    counting = [~np.isnan(each).all(axis=(0, 2)) for each in values]
    for i, own in enumerate(counting if made is not None and made.queries == "judged" else ()):
        if (own != counting[0]).any():
            numbers = f"{np.count_nonzero(own):,} queries instead of {np.count_nonzero(counting[0]):,}"
            raise _error(i, f"has values for {numbers}: evaluate all with the same `undefined`")


def _warn_of_depths(results: Sequence[Joinable]) -> None:
    """Warn if runs, which may have been cut, join complete lists, and a measure without a cut-off compares both."""
    kinds = {result.provenance.complete_lists for result in results if result.provenance is not None}
    unlimited = [each for each in results[0].measures if each.cutoff is None and each.definition.has_cutoff]
    if len(kinds) > 1 and unlimited:
        warn(
            f"runs: {unlimited[0]} has no cut-off, and compares runs with lists of all documents: if the runs were cut "
            f"at k documents, use {unlimited[0]}@k"
        )


def _overlaid(results: Sequence[Joinable]) -> Joinable:
    """Join results that each have values for some pairs of run and query, and NaN for the other pairs.

    Each pair takes its values from the one result that has them. If two results have a pair, InputError is raised.
    """
    names = {axis: tuple(dict.fromkeys(name for result in results for name in getattr(result, axis))) for axis in _AXES}
    positions = {axis: {name: i for i, name in enumerate(names[axis])} for axis in _AXES}
    shape = *(len(names[axis]) for axis in _AXES), len(results[0].measures)
    arrays = {kind: np.full(shape, np.nan) for kind in _shared_kinds(results)}
    taken = np.zeros(shape[:2], np.bool_)
    for i, result in enumerate(results):
        answered = result.answered
        own_places = np.nonzero(answered)
        places = tuple(
            np.array([positions[axis][name] for name in getattr(result, axis)], np.int64)[own]
            for axis, own in zip(_AXES, own_places, strict=True)
        )
        if taken[places].any():
            run, query = (int(own[taken[places].argmax()]) for own in own_places)
            again = f"run {result.runs[run]!r} on query {result.queries[query]!r}"
            raise _error(i, f"an earlier result already has {again}")
        taken[places] = True
        for kind, array in arrays.items():
            array[places] = result.arrays[kind][answered]
    return results[0]._replace(
        runs=names["runs"], queries=names["queries"], arrays=arrays, provenance=_joined_provenance(results)
    )


def _shared_kinds(results: Sequence[Joinable]) -> list[str]:
    """Return the names of the arrays that all results have, such as "values" and "std", in the order of the first."""
    return [kind for kind in results[0].arrays if all(kind in result.arrays for result in results)]


def _with_unanswered(result: Joinable, judgments: QrelsLike) -> Joinable:
    """Return the result for all judged queries, in the order of the judgments.

    Queries that a run does not answer get the values of an empty list of documents. For an empty list, the tie rule
    and the score precision do not matter.
    """
    subtopics = any(measure.definition.needs_subtopics for measure in result.measures)
    qrels = as_qrels(judgments, subtopics=subtopics)
    queries = tuple(qrels.queries.to_list())
    positions = {query: i for i, query in enumerate(queries)}
    unknown = next((query for query in result.queries if query not in positions), None)
    if unknown is not None:
        raise InputError("results", f"query {unknown!r} is not judged in {qrels.name}")
    places = [positions[query] for query in result.queries]
    answered = result.answered[..., None]
    view = View("average", None, "std" in result.arrays, "chance" in result.arrays)
    outputs = unanswered(qrels.judgments, result.measures, [view])
    arrays = {}
    for (kind, own), of_unanswered in zip(result.arrays.items(), outputs, strict=True):
        arrays[kind] = array = np.repeat(of_unanswered[None], len(result.runs), axis=0)
        array[:, places] = np.where(answered, own, array[:, places])
    made = None if result.provenance is None else result.provenance._replace(queries="judged")
    counts = len(queries) - result.answered.sum(axis=1)
    added = {run: result.unanswered.get(run, 0) + n for run, n in zip(result.runs, counts.tolist(), strict=True)}
    some = {run: n for run, n in added.items() if n}
    return result._replace(queries=queries, provenance=made, arrays=arrays, unanswered=some)


def _reordered(result: Joinable, axis: str, names: tuple[Any, ...]) -> Joinable:
    """Return the result with its runs, or its queries, in the order of `names`."""
    own = getattr(result, axis)
    if own == names:
        return result
    positions = {name: i for i, name in enumerate(own)}
    order = [positions[name] for name in names]
    arrays = {kind: array.take(order, axis=_AXES.index(axis)) for kind, array in result.arrays.items()}
    changed: dict[str, Any] = {axis: names}
    return result._replace(**changed, arrays=arrays)


def _check_alike(i: int, result: Joinable, first: Joinable) -> None:
    """Raise InputError unless a result has the same measures and the same options as the first result."""
    if result.measures != first.measures:
        own, others = ", ".join(result.names), ", ".join(first.names)
        raise _error(i, f"has other measures than results[0]: {own} instead of {others}")
    if result.provenance is None or first.provenance is None:
        return
    options = {"ties": "tie rule", "precision": "score precision", "queries": "choice of queries"}
    for field, title in options.items():
        own, other = getattr(result.provenance, field), getattr(first.provenance, field)
        if own != other:
            raise _error(i, f"has another {title} than results[0]: {own} instead of {other}")


def _has_answered_only(results: Sequence[Joinable]) -> bool:
    """Return whether the provenance of every result says that unanswered queries have no values."""
    return all(result.provenance is not None and result.provenance.queries == "both" for result in results)


def _along_queries(results: Sequence[Joinable]) -> bool:
    """Return whether to join the results along the queries: they have the same runs, but other queries.

    Raises
    ------
    InputError
        If neither the runs nor the queries are the same, or a name along the axis to join occurs in two results.
    """
    first = results[0]
    same = {axis: [set(getattr(result, axis)) == set(getattr(first, axis)) for result in results] for axis in _AXES}
    along = "queries" if all(same["runs"]) else "runs"
    if along == "runs" and not all(same["queries"]):
        # The first result at which neither way is left: the results before it have all runs or all queries in common.
        i = max(each.index(False) for each in same.values())
        shared = _in_common(results[i], first)
        raise _error(
            i,
            "all results must have the same runs, or all the same queries; "
            f"this one shares {shared} with results[0]",
        )
    holders: dict[Any, int] = {}
    for i, result in enumerate(results):
        for name in getattr(result, along):
            holder = holders.setdefault(name, i)
            if holder != i:
                kind = "query" if along == "queries" else "run"
                raise _error(i, f"results[{holder}] already has the {kind} {name!r}")
    return along == "queries"


def _in_common(result: Joinable, other: Joinable) -> str:
    """Describe the runs and queries that two results have in common."""
    both = {axis: set(getattr(result, axis)) & set(getattr(other, axis)) for axis in _AXES}
    examples = [f"{axis} such as {min(map(str, names))!r}" for axis, names in both.items() if names]
    return " and ".join(examples) or "no runs and no queries"


def _error(i: int, problem: str) -> InputError:
    """Return the error about results[i], one of the results to join."""
    return InputError(f"results[{i}]", problem, argument="results")


def _joined_provenance(results: Sequence[Joinable]) -> Provenance | None:
    """Return the common provenance, with the versions of all results; None if a result has no provenance."""
    known = [result.provenance for result in results if result.provenance is not None]
    if len(known) < len(results):
        return None
    versions = ", ".join(dict.fromkeys(made.version for made in known))
    return known[0]._replace(version=versions, complete_lists=all(made.complete_lists for made in known))
