"""Combining results: shards of queries, and more runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tieaware.checks.arguments import sequence, shown, unexpected
from tieaware.engine.unanswered import unanswered
from tieaware.engine.views import View
from tieaware.inputs import QrelsLike, as_qrels
from tieaware.results._results import Results
from tieaware.results.provenance import Provenance

_AXES = ("runs", "queries")


def concatenated(results: Sequence[Results], qrels: QrelsLike | None = None) -> Results:
    """Combine results: the same runs on other queries, or other runs on the same queries; see `Results.concat`."""
    parts: list[Results] = [*sequence("results", results, "Results")]
    if not parts:
        raise unexpected("results", "at least one", "none")
    for i, part in enumerate(parts):
        _check_alike(i, part, parts[0])
    whole = _united(parts) if _of_answered(parts) else _side_by_side(parts)
    return whole if qrels is None else _with_unanswered(whole, qrels)


def _side_by_side(parts: list[Results]) -> Results:
    """Put parts together that have the same runs, or the same queries."""
    along, across = ("queries", "runs") if _along_queries(parts) else ("runs", "queries")
    labels = {along: tuple(name for part in parts for name in getattr(part, along))}
    aligned = [_in_order(part, across, getattr(parts[0], across)).cubes() for part in parts]
    cubes = {
        name: np.concatenate([cubes[name] for cubes in aligned], axis=_AXES.index(along))
        for name in set.intersection(*map(set, aligned))
    }
    made = _joined([part.provenance for part in parts])
    return parts[0].with_changes(**{"std": None, "min": None, "max": None, **labels, **cubes, "provenance": made})


def _united(parts: list[Results]) -> Results:
    """Put parts together that have values for some runs on some queries, and NaN for the others."""
    labels = {axis: tuple(dict.fromkeys(name for part in parts for name in getattr(part, axis))) for axis in _AXES}
    places = {axis: {name: i for i, name in enumerate(names)} for axis, names in labels.items()}
    shape = *map(len, labels.values()), len(parts[0].measures)
    cubes = {name: np.full(shape, np.nan) for name in set.intersection(*(set(part.cubes()) for part in parts))}
    taken = np.zeros(shape[:2], np.bool_)
    for i, part in enumerate(parts):
        own = part.answered
        rows, columns = np.nonzero(own)
        at = tuple(
            np.array([places[axis][name] for name in getattr(part, axis)], np.int64)[where]
            for axis, where in zip(_AXES, (rows, columns), strict=True)
        )
        if taken[at].any():
            first = int(taken[at].argmax())
            which = f"run {part.runs[rows[first]]!r} on query {part.queries[columns[first]]!r}"
            raise unexpected(f"results[{i}]", "what no result before it has", f"{which} again")
        taken[at] = True
        for name, cube in cubes.items():
            cube[at] = part.cubes()[name][own]
    made = _joined([part.provenance for part in parts])
    return parts[0].with_changes(**{"std": None, "min": None, "max": None, **labels, **cubes, "provenance": made})


def _with_unanswered(results: Results, judgments: QrelsLike) -> Results:
    """The same over all judged queries, in their order, and of those on which a run is silent what that is worth.

    No tie rule, and no precision, has anything to say of an empty list.
    """
    qrels = as_qrels(judgments)
    names = tuple(qrels.queries.to_list())
    places = {name: i for i, name in enumerate(names)}
    unknown = next((name for name in results.queries if name not in places), None)
    if unknown is not None:
        raise unexpected("results", f"queries that {qrels.name} has", f"{unknown!r}")
    at = [places[name] for name in results.queries]
    answered = results.answered[..., None]
    tables = unanswered(qrels.judgments, results.measures, [View("average", None, results.std is not None)])
    cubes = {}
    for (name, own), of_unanswered in zip(results.cubes().items(), tables, strict=True):
        cubes[name] = cube = np.repeat(of_unanswered[None], len(results.runs), axis=0)
        cube[:, at] = np.where(answered, own, cube[:, at])
    made = None if results.provenance is None else results.provenance._replace(queries="judged")
    return results.with_changes(queries=names, provenance=made, **cubes)


def _in_order(results: Results, axis: str, names: tuple[Any, ...]) -> Results:
    """The same with the names along an axis in another order."""
    own = getattr(results, axis)
    if own == names:
        return results
    positions = {name: i for i, name in enumerate(own)}
    order = [positions[name] for name in names]
    cubes = {name: cube.take(order, axis=_AXES.index(axis)) for name, cube in results.cubes().items()}
    return results.with_changes(**{axis: names}, **cubes)


def _check_alike(i: int, part: Any, first: Results) -> None:
    """Raise InputError unless a part has the measures of the first, and was made in the same way."""
    where = f"results[{i}]"
    if not isinstance(part, Results):
        raise unexpected(where, "Results", shown(part))
    if part.measures != first.measures:
        raise unexpected(where, f"the measures of results[0], {', '.join(first.names)}", ", ".join(part.names))
    if part.provenance is None or first.provenance is None:
        return
    for name, value, wanted in zip(Provenance._fields[:3], part.provenance, first.provenance, strict=False):
        if value != wanted:
            raise unexpected(where, f"{name}={wanted!r}, as of results[0]", f"{value!r}")


def _of_answered(parts: Sequence[Results]) -> bool:
    """Whether the parts are known to have values for queries that were answered, and for no others."""
    return all(part.provenance is not None and part.provenance.queries == "both" for part in parts)


def _along_queries(parts: Sequence[Results]) -> bool:
    """Whether the parts are of other queries, and not of other runs; an error unless they are of either."""
    first = parts[0]
    same = {axis: [set(getattr(part, axis)) == set(getattr(first, axis)) for part in parts] for axis in _AXES}
    along = "queries" if all(same["runs"]) else "runs"
    if along == "runs" and not all(same["queries"]):
        i = next(i for i, pair in enumerate(zip(*same.values(), strict=True)) if pair != (True, True))
        both = [set(getattr(parts[i], axis)) & set(getattr(first, axis)) for axis in _AXES]
        found = [f"{axis} such as {min(map(str, names))!r}" for axis, names in zip(_AXES, both, strict=True) if names]
        raise unexpected(
            f"results[{i}]", "the runs of results[0] on other queries, or its queries of other runs",
            f"others of both, with {' and '.join(found) or 'nothing'} in common",
        )  # fmt: skip
    holders: dict[Any, int] = {}
    for i, part in enumerate(parts):
        for name in getattr(part, along):
            holder = holders.setdefault(name, i)
            if holder != i:
                raise unexpected(f"results[{i}]", f"{along} that results[{holder}] does not have", f"{name!r} in both")
    return along == "queries"


def _joined(made: Sequence[Provenance | None]) -> Provenance | None:
    """What made parts, as that of all of them: known if it is of each."""
    known = [each for each in made if each is not None]
    if len(known) < len(made):
        return None
    return known[0]._replace(version=", ".join(dict.fromkeys(each.version for each in known)))
