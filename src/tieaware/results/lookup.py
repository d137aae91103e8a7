"""Look-up of measures and runs of results, with errors that list those that exist."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from tieaware.checks.arguments import did_you_mean, position, shown, unknown
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

    KeyError, which lists some measures, is raised if it is not among them.
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


class Axes(NamedTuple):
    """The axes of results: the names of runs, measures and queries, in which keys are looked up."""

    runs: Sequence[str]
    measures: Sequence[Measure]
    names: Sequence[str]
    queries: Sequence[str | int]

    def places(self, key: Any, known: Collection[str]) -> tuple[int, int | None, int | None]:
        """Return the positions of the run, the measure and the query of a key; None for what it does not name.

        `known` has the names of the arrays of the results, such as "std".

        Raises
        ------
        KeyError
            If the key names what does not exist, or names it in another order.
        TypeError
            If an element of the key is not a name, such as a slice or a list.
        """
        given = key if isinstance(key, tuple) else (key,)
        for each in given:
            _check_name(each)
        try:
            if not isinstance(key, tuple):
                return self._run_or_measure(key)
            if not 1 <= len(key) <= 3:
                raise KeyError(f"found {len(key)} keys, expected run, measure and query")
            if key[0] not in self.runs:
                raise self._no_run(key[0])
            measure = position_of_measure(self.measures, self.names, key[1]) if len(key) > 1 else None
            query = position("query", self.queries, key[2]) if len(key) > 2 else None
            return self.runs.index(key[0]), measure, query
        except KeyError as error:
            raise self._in_another_order(given) or self._column_of_table(given, known) or error from None

    def _run_or_measure(self, name: Any) -> tuple[int, int | None, None]:
        """Return the position of the run of this name; or if there is only one run, that of its measure."""
        if name in self.runs:
            return self.runs.index(name), None, None
        if len(self.runs) != 1:
            raise self._unknown(name)
        try:
            return 0, position_of_measure(self.measures, self.names, name), None
        except KeyError:
            raise self._unknown(name) from None

    def _unknown(self, name: Any) -> KeyError:
        """Return the error for a single key that is not a run, nor a measure of a single run.

        If the key looks like a measure, the error is about measures, otherwise about runs.
        """
        if not self._like_a_measure(name):
            return self._no_run(name)
        try:
            measure = self.names[position_of_measure(self.measures, self.names, name)]
        except KeyError as error:
            return error
        if not self.runs:
            return KeyError(f"there are no runs, so {shown(name)} has no values")
        example = f"result[{self.runs[0]!r}, {measure!r}]"
        return KeyError(f"{shown(name)} is a measure, and there are {len(self.runs)} runs: choose one, as in {example}")

    def _no_run(self, name: Any) -> KeyError:
        """Return the error for a run that does not exist; for results without names, it says how to give one."""
        error = unknown("run", self.runs, name)
        unnamed = tuple(self.runs) == _UNNAMED and isinstance(name, str)
        return KeyError(f"{error.args[0]}; pass {{{name!r}: run}} to name it") if unnamed else error

    def _column_of_table(self, key: tuple[Any, ...], known: Collection[str]) -> KeyError | None:
        """Return the error for a key such as AP_std, which is a column of tables only; None if the key has none."""
        for each in key:
            suffix = next((one for one in _OPTIONS if isinstance(each, str) and each.endswith(f"_{one}")), "")
            measure = each[: -len(suffix) - 1] if suffix else ""
            if suffix and self.runs and self._is_measure(measure):
                run = next((one for one in key if one in self.runs), self.runs[0])
                column = f"{shown_name(self.names, self.measures, measure)}_{suffix}"
                means = f"write result.means()[{run!r}, {column!r}], or result.{suffix} for all queries"
                remedy = means if suffix in known else f"evaluate with {_OPTIONS[suffix]}=True"
                return KeyError(f"{each!r} is a column of tables; {remedy}")
        return None

    def _in_another_order(self, key: tuple[Any, ...]) -> KeyError | None:
        """Return the error for a key of known names in another order, or without its run or measure; otherwise None."""
        run = next((each for each in key if each in self.runs), None)
        rest = [each for each in key if run is None or each != run]
        found = (shown_name(self.names, self.measures, each) for each in rest if self._is_measure(each))
        measure = next(found, None)
        query = next((each for each in rest if each in self.queries and not self._is_measure(each)), None)
        if sum(each is not None for each in (run, measure, query)) != len(key) or not (self.runs and self.names):
            return None
        if not key or (len(key) == 1 and query is None):
            # `_unknown` has the error for a single run or measure.
            return None
        example = [self.runs[0] if run is None else run, self.names[0] if measure is None else measure]
        right = f"result[{', '.join(map(repr, example if query is None else [*example, query]))}]"
        axes = (("run", run, self.runs), ("measure", measure, self.names))
        missing = [kind for kind, given, known in axes if given is None and len(known) > 1]
        if missing:
            return KeyError(f"the key lacks a {' and a '.join(missing)}; write for example {right}")
        return KeyError(f"the order is run, measure, query; write {right}")

    def _is_measure(self, name: Any) -> bool:
        return shown_name(self.names, self.measures, name) in self.names

    def _like_a_measure(self, name: Any) -> bool:
        """Return whether a name parses as a measure, has a cut-off, or is spelled like one of the given measures."""
        if not isinstance(name, str):
            return isinstance(name, Measure)
        try:
            parse_measure(name)
        except InputError:
            return "@" in name or bool(did_you_mean(name, self.names))
        return True


def _check_name(each: Any) -> None:
    """Raise TypeError for an element of a key that is not a name, such as a slice or a list."""
    try:
        # Python 3.12 made slices hashable.
        is_name = not isinstance(each, slice) and each is not Ellipsis and hash(each) is not None
    except TypeError:
        is_name = False
    if not is_name:
        every = "result.values has all values, and result.to_pandas() a row for each query"
        raise TypeError(f"a key is the name of a run, a measure or a query, not {shown(each)}; {every}")
