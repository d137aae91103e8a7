"""Look-up of measures and runs of results, with errors that list those that exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tieaware.checks.arguments import did_you_mean, shown
from tieaware.checks.positions import unknown
from tieaware.errors import InputError
from tieaware.measures import Measure, parse_measure

# The name of a run that was passed without a name.
_UNNAMED = ("run",)


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
        error = unknown("run", runs, name)
        unnamed = tuple(runs) == _UNNAMED and isinstance(name, str)
        return KeyError(f"{error.args[0]}; pass {{{name!r}: run}} to name it") if unnamed else error
    try:
        measure = names[position_of_measure(measures, names, name)]
    except KeyError as error:
        return error
    if not runs:
        return KeyError(f"there are no runs, so {shown(name)} has no values")
    example = f"result[{runs[0]!r}, {measure!r}]"
    return KeyError(f"{shown(name)} is a measure, and there are {len(runs)} runs: choose one, as in {example}")


def _like_a_measure(names: Sequence[str], name: Any) -> bool:
    """Return whether a name parses as a measure, has a cut-off, or is spelled like one of the given measures."""
    if not isinstance(name, str):
        return isinstance(name, Measure)
    try:
        parse_measure(name)
    except InputError:
        return "@" in name or bool(did_you_mean(name, names))
    return True
