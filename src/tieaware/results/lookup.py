"""Look-up of measures and runs of results, with errors that list those that exist."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from tieaware.checks.arguments import did_you_mean, shown
from tieaware.checks.positions import unknown
from tieaware.engine.views import CHANCE, SPREAD
from tieaware.errors import InputError
from tieaware.measures import Measure, parse_measure

# The name of a run that was passed without a name.
_UNNAMED = ("run",)
# The endings of the columns beside the values, the longest first, and the option that gives each.
_OPTIONS = {
    **dict.fromkeys(sorted(CHANCE, key=len, reverse=True), "chance"), **dict.fromkeys(SPREAD, "spread"),
}  # fmt: skip


def position_of_measure(measures: Sequence[Measure], names: Sequence[str], measure: Any) -> int:
    """Return the position of a measure, given as a Measure, by its name in `names`, or by any other spelling.

    Raises
    ------
    KeyError
        If it is not among the measures. The message lists some of them.
    """
    if measure in names:
        return names.index(measure)
    try:
        return measures.index(parse_measure(measure))
    except (InputError, ValueError):
        raise unknown("measure", names, measure) from None


def position_to_sort_by(measures: Sequence[Measure], names: Sequence[str], sort: Any) -> int:
    """Return the position of the measure to sort by; raise InputError if it is not among the measures."""
    try:
        return position_of_measure(measures, names, sort)
    except KeyError as error:
        raise InputError("sort", error.args[0]) from None


def shown_name(names: Sequence[str], measures: Sequence[Measure], measure: Any) -> Any:
    """Return the name in `names` of a measure, given by any of its spellings; return other values unchanged."""
    try:
        return names[position_of_measure(measures, names, measure)]
    except KeyError:
        return measure


def unknown_run(runs: Sequence[str], measures: Sequence[Measure], names: Sequence[str], name: Any) -> KeyError:
    """Return the error for a single key that is not a run, nor a measure of a single run.

    If the key looks like a measure, the error is about measures, otherwise about runs.
    """
    if not _like_a_measure(names, name):
        return _no_run(runs, name)
    try:
        measure = names[position_of_measure(measures, names, name)]
    except KeyError as error:
        return error
    if not runs:
        return KeyError(f"there are no runs, so {shown(name)} has no values")
    example = f"result[{runs[0]!r}, {measure!r}]"
    return KeyError(f"{shown(name)} is a measure, and there are {len(runs)} runs: choose one, as in {example}")


def position_of_run(runs: Sequence[str], name: Any) -> int:
    """Return the position of a run; raise KeyError if it does not exist."""
    if name not in runs:
        raise _no_run(runs, name)
    return runs.index(name)


def _no_run(runs: Sequence[str], name: Any) -> KeyError:
    """Return the error for a run that does not exist; for results without names, it says how to give one."""
    error = unknown("run", runs, name)
    unnamed = tuple(runs) == _UNNAMED and isinstance(name, str)
    return KeyError(f"{error.args[0]}; pass {{{name!r}: run}} to name it") if unnamed else error


def column_of_table(
    runs: Sequence[str], measures: Sequence[Measure], names: Sequence[str], key: tuple[Any, ...], known: Collection[str]
) -> KeyError | None:  # fmt: skip
    """Return the error for a key such as AP_std, which is a column of tables only; None if the key has none.

    `known` has the names of the arrays of the results, such as "std".
    """
    for each in key:
        suffix = next((one for one in _OPTIONS if isinstance(each, str) and each.endswith(f"_{one}")), "")
        measure = each[: -len(suffix) - 1] if suffix else ""
        if suffix and runs and _is_measure(names, measures, measure):
            run = next((one for one in key if one in runs), runs[0])
            column = f"{shown_name(names, measures, measure)}_{suffix}"
            means = f"write result.means()[{run!r}, {column!r}], or result.{suffix} for all queries"
            remedy = means if suffix in known else f"evaluate with {_OPTIONS[suffix]}=True"
            return KeyError(f"{each!r} is a column of tables; {remedy}")
    return None


def _like_a_measure(names: Sequence[str], name: Any) -> bool:
    """Return whether a name parses as a measure, has a cut-off, or is spelled like one of the given measures."""
    if not isinstance(name, str):
        return isinstance(name, Measure)
    try:
        parse_measure(name)
    except InputError:
        return "@" in name or bool(did_you_mean(name, names))
    return True


def check_key(key: Any) -> None:
    """Raise TypeError for a key, or an element of a key, that is not a name, such as a slice or a list."""
    for each in key if isinstance(key, tuple) else (key,):
        try:
            # Python 3.12 made slices hashable.
            is_name = not isinstance(each, slice) and each is not Ellipsis and hash(each) is not None
        except TypeError:
            is_name = False
        if not is_name:
            every = "result.values has all values, and result.to_pandas() a row for each query"
            raise TypeError(f"a key is the name of a run, a measure or a query, not {shown(each)}; {every}")


def in_another_order(
    runs: Sequence[str], measures: Sequence[Measure], names: Sequence[str], queries: Sequence[str | int],
    key: tuple[Any, ...],
) -> KeyError | None:  # fmt: skip
    """Return the error for a key of known names in another order, or without its run or its measure; otherwise None.

    Parameters
    ----------
    runs, measures, names, queries : sequence
        The axes of the results, and the names of the measures.
    key : tuple
        The names in the key.
    """
    run = next((each for each in key if each in runs), None)
    rest = [each for each in key if run is None or each != run]
    measure = next((shown_name(names, measures, each) for each in rest if _is_measure(names, measures, each)), None)
    query = next((each for each in rest if each in queries and not _is_measure(names, measures, each)), None)
    if sum(each is not None for each in (run, measure, query)) != len(key) or not (runs and names):
        return None
    if not key or (len(key) == 1 and query is None):
        # `unknown_run` has the error for a single run or measure.
        return None
    example = [runs[0] if run is None else run, names[0] if measure is None else measure]
    right = f"result[{', '.join(map(repr, example if query is None else [*example, query]))}]"
    missing = [
        kind
        for kind, given, known in (("run", run, runs), ("measure", measure, names))
        if given is None and len(known) > 1
    ]
    if missing:
        return KeyError(f"the key lacks a {' and a '.join(missing)}; write for example {right}")
    return KeyError(f"the order is run, measure, query; write {right}")


def _is_measure(names: Sequence[str], measures: Sequence[Measure], name: Any) -> bool:
    return shown_name(names, measures, name) in names
