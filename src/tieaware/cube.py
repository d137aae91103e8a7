"""The cube of values, runs × queries × measures: its means, its parts, and several of them together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from tieaware.arrays import Values
from tieaware.checks import sequence, shown, unexpected
from tieaware.errors import InputError
from tieaware.inputs import QrelsLike, as_qrels
from tieaware.means import means
from tieaware.measures import Measure, parse_measure
from tieaware.silent import silent
from tieaware.tables import Cell, Table
from tieaware.views import View


class Spread(NamedTuple):
    """How far values vary over the orders that ties allow, equally likely; each float64[n_queries, n_measures].

    Attributes
    ----------
    mean : float64[n_queries, n_measures]
        The average, as the evaluator returns it.
    std : float64[n_queries, n_measures]
        The standard deviation, in the unit of the measure; 0 where no order changes the value.
    min, max : float64[n_queries, n_measures]
        The least and the largest value; both occur. std, min and max are NaN for infAP, of which they are not known.

    Examples
    --------
    >>> import tieaware
    >>> spread = tieaware.Evaluator([1, 0], ["RR"]).spread([2.0, 2.0])
    >>> spread.mean.item(), spread.std.item(), spread.min.item(), spread.max.item()
    (0.75, 0.25, 0.5, 1.0)
    """

    mean: Values
    std: Values
    min: Values
    max: Values


class Provenance(NamedTuple):
    """What values were made by.

    Attributes
    ----------
    ties : str
        The tie rule.
    precision : str or None
        What the scores were coarsened to first, in the notation of `tieaware.precision`.
    queries : str
        Which queries count: "judged" or "both".
    version : str
        That of tieaware; several, with commas, where parts were put together.
    """

    ties: str
    precision: str | None
    queries: str
    version: str


class Column(NamedTuple):
    """One number for each run and query, and its summary for each run."""

    name: str
    values: Values  # [n_runs, n_queries]
    summary: Values  # [n_runs]
    is_count: bool
    summary_only: bool

    def shown(self, value: float, digits: int) -> str:
        """Return a value as text: a count as a whole number."""
        return f"{value:.0f}" if self.is_count else f"{value:.{digits}f}"


class _Named:
    """Positions by name, with an error that shows what there is."""

    def __init__(self, kind: str, names: Sequence[Any]) -> None:
        self._kind = kind
        self._positions = {name: i for i, name in enumerate(names)}

    def __getitem__(self, name: Any) -> int:
        try:
            return self._positions[name]
        except (KeyError, TypeError):
            some = ", ".join(map(str, islice(self._positions, 5)))
            raise KeyError(f"no {self._kind} {shown(name)}; there are {len(self._positions)}: {some} …") from None


@dataclass(frozen=True, eq=False, repr=False)
class Cube:
    """A value for each run, query and measure; `tieaware.Results` documents what all of it means."""

    values: Values
    runs: tuple[str, ...]
    queries: tuple[str | int, ...]
    measures: tuple[Measure, ...]
    std: Values | None = None
    min: Values | None = None
    max: Values | None = None
    names: tuple[str, ...] = ()
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        if not self.names:
            object.__setattr__(self, "names", tuple(map(str, self.measures)))
        for measure in self.measures:
            if not isinstance(measure, Measure):
                raise unexpected("measures of results", "each a Measure, as of parse_measure", shown(measure))
        if len(self.names) != len(self.measures):
            raise unexpected("names of results", f"one for each of {len(self.measures)} measures", f"{len(self.names)}")
        shape = (len(self.runs), len(self.queries), len(self.measures))
        for name, cube in self.cubes().items():
            if not (isinstance(cube, np.ndarray) and cube.dtype == np.float64 and cube.shape == shape):
                found = f"{cube.dtype} of shape {cube.shape}" if isinstance(cube, np.ndarray) else shown(cube)
                raise unexpected(f"{name} of results", f"an array of float64 of shape {shape}", found)

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[str]:
        return iter(self.runs)

    @property
    def answered(self) -> npt.NDArray[np.bool_]:
        """Which queries each run answers, bool[n_runs, n_queries]: those of which some measure has a value."""
        return np.asarray(~np.isnan(self.values).all(axis=2))

    def mean(self) -> Values:
        """Average over the queries.

        The mean is arithmetic; of GMAP it is geometric, with values below 0.00001 raised to that, as in trec_eval. The
        sum is kept in twice the precision, and so does not depend on the order of the queries. Counts such as NumRet
        are averaged like all else; `summary` adds them up.

        Returns
        -------
        float64[n_runs, n_measures]
            A query whose value is NaN is left out: one on which the run is silent, or of which the measure says
            nothing. NaN if none is left.

        Examples
        --------
        >>> import tieaware
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
        >>> run = {"q1": {"d1": 2.0, "d2": 2.0}, "q2": {"d1": 2.0, "d2": 1.0}}
        >>> tieaware.evaluate(qrels, run, ["RR", "P@1"]).mean()
        array([[0.625, 0.25 ]])
        """
        return means(self.values, self.measures)

    def mean_std(self) -> Values:
        """Give the standard deviation of the means over the orders that ties allow.

        The orders of different queries are independent, so their variances add up. Needs ``spread=True``.

        Returns
        -------
        float64[n_runs, n_measures]
            In the unit of the measure, at least 0. NaN for GMAP, whose mean is geometric, and infAP.

        Raises
        ------
        InputError
            If the results have no spread.

        Examples
        --------
        >>> import tieaware
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
        >>> run = {"q1": {"d1": 2.0, "d2": 2.0}, "q2": {"d1": 2.0, "d2": 1.0}}
        >>> tieaware.evaluate(qrels, run, ["RR", "P@1"], spread=True).mean_std()
        array([[0.125, 0.25 ]])
        """
        if self.std is None:
            raise unexpected("mean_std", "results of evaluate(..., spread=True)", "none of a spread")
        answered = ~np.isnan(self.values)
        variances = (self.std**2).sum(axis=1, where=answered)
        deviations: Values = np.sqrt(variances) / answered.sum(axis=1)
        deviations[:, self._geometric()] = np.nan
        return deviations

    def _geometric(self) -> list[bool]:
        return [measure.definition.summary == "geometric" for measure in self.measures]

    def summary(self) -> Values:
        """Summarise the queries as trec_eval does: counts are added up, all else is averaged.

        Of counts alone it is another number than `mean`, which averages them too.

        Returns
        -------
        float64[n_runs, n_measures]

        Examples
        --------
        >>> import tieaware
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
        >>> run = {"q1": {"d1": 2.0, "d2": 2.0}, "q2": {"d1": 2.0, "d2": 1.0}}
        >>> result = tieaware.evaluate(qrels, run, ["RR", "NumRet"])
        >>> result.summary(), result.mean()
        (array([[0.625, 4.   ]]), array([[0.625, 2.   ]]))
        """
        counts = [measure.definition.is_count for measure in self.measures]
        summary: Values = np.where(counts, np.nansum(self.values, axis=1), self.mean())
        return summary

    def columns(self) -> list[Column]:
        """Return what exports show of each measure: its value, and with a spread its std, min and max, if known.

        Returns
        -------
        list of Column
            In the order of the measures, under the names that were asked for; a measure's std, min and max follow its
            value, with "_std", "_min" and "_max" behind the name. Counts have the value only.

        Examples
        --------
        >>> import tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}, ["RR"], spread=True)
        >>> [(column.name, column.summary.item()) for column in result.columns()]
        [('RR', 0.75), ('RR_std', 0.25), ('RR_min', 0.5), ('RR_max', 1.0)]
        """
        summary = self.summary()
        spread: dict[str, tuple[Values, Values]] = {}
        if self.std is not None and self.min is not None and self.max is not None:
            spread = {
                "std": (self.std, self.mean_std()),
                "min": (self.min, means(self.min, self.measures)),
                "max": (self.max, means(self.max, self.measures)),
            }
        columns = []
        for i, (name, measure) in enumerate(zip(self.names, self.measures, strict=True)):
            definition = measure.definition
            is_count, summary_only = definition.is_count, definition.summary_only
            columns.append(Column(name, self.values[..., i], summary[:, i], is_count, summary_only))
            for kind, (values, of_runs) in spread.items():
                known = definition.has_spread and (kind != "std" or definition.summary != "geometric")
                if known and not is_count:
                    columns.append(Column(f"{name}_{kind}", values[..., i], of_runs[:, i], False, summary_only))
        return columns

    def means(self) -> Table:
        """Return the summary of the queries as a table of runs × measures, which other libraries' frames are made of.

        Returns
        -------
        Table
            The column run, and those of `columns`: what `summary` returns, so that counts are added up.

        Examples
        --------
        >>> import tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"bm25": {"q1": {"d1": 2.0, "d2": 2.0}}}, ["RR", "P_1"])
        >>> print(result.means())
        Means over 1 query, ties: average
        <BLANKLINE>
        run       RR     P_1
        bm25  0.7500  0.5000
        >>> result.means().to_dict()
        {'run': ['bm25'], 'RR': [0.75], 'P_1': [0.5]}
        """
        columns = self.columns()
        cells = [
            [int(value) if column.is_count else value for value in column.summary.tolist()] for column in columns
        ]
        rows: list[tuple[Cell, ...]] = list(zip(self.runs, *cells, strict=True))
        counts = [column.name for column in columns if column.is_count]
        notes = [f"{', '.join(counts)}: added up over the queries."] if counts else []
        return Table(self.title, ("run", *(column.name for column in columns)), rows, tuple(notes))

    @property
    def title(self) -> str:
        """What the means are of, in a line: over how many queries, and what made the values."""
        n = f"{len(self.queries)} quer{'y' if len(self.queries) == 1 else 'ies'}"
        made = self.provenance
        if made is None:
            return f"Means over {n}"
        over = f"those of {n} that a run answers" if made.queries == "both" else n
        precision = "" if made.precision is None else f", precision: {made.precision}"
        return f"Means over {over}, ties: {made.ties}{precision}"

    def bias(self, expectation: Cube) -> Self:
        """Tell how far a tie rule moves the values: the values less those of the average over all orders.

        Parameters
        ----------
        expectation : Results
            Those of ``ties="average"``, of the same runs and queries, by the same measures.

        Returns
        -------
        Results
            The differences, in columns that end in "_bias"; their `mean` is the bias of the mean. NaN for GMAP, whose
            mean is no sum.

        Raises
        ------
        InputError
            If the expectation is of other runs, queries or measures, or of another tie rule.

        Examples
        --------
        >>> import tieaware
        >>> qrels, run = {"q1": {"d1": 1}}, {"bm25": {"q1": {"d1": 2.0, "d2": 2.0}}}
        >>> by_rule = {rule: tieaware.evaluate(qrels, run, "RR", ties=rule) for rule in ("average", "run_order")}
        >>> by_rule["run_order"].bias(by_rule["average"])["bm25", "RR_bias", "q1"]
        0.25
        """
        if not isinstance(expectation, Cube):
            raise unexpected("expectation", "Results", shown(expectation))
        for axis in ("runs", "queries", "measures"):
            if getattr(self, axis) != getattr(expectation, axis):
                raise unexpected("expectation", f"the {axis} of these results", "others")
        made = expectation.provenance
        if made is not None and made.ties != "average":
            raise unexpected("expectation", "results of ties='average'", f"those of ties={made.ties!r}")
        differences = self.values - expectation.values
        differences[..., self._geometric()] = np.nan
        names = tuple(f"{name}_bias" for name in self.names)
        return self._with(values=differences, std=None, min=None, max=None, names=names)

    def __getitem__(self, key: Any) -> Any:
        """Select by run; run and measure; or run, measure and query.

        ``result["bm25"]`` is the Results of one run, ``result["bm25"]["AP"]`` and ``result["bm25", "AP"]`` are its
        values for each query, ``result["bm25", "AP", "301"]`` is one value. Of one run alone, ``result["AP"]`` are the
        values too.

        Parameters
        ----------
        key : str, or tuple of str
            The run; run and measure; or run, measure and query. A measure may be a Measure or any name of it.

        Returns
        -------
        Results, float64[n_queries] or float

        Raises
        ------
        KeyError
            If there is no such run, measure or query; some of those that there are are named.
        TypeError
            If a key is no text, measure or number, but an array or the like.

        Examples
        --------
        >>> import tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"bm25": {"q1": {"d1": 2.0, "d2": 2.0}}}, ["RR", "P@1"])
        >>> result["bm25"].runs, result["bm25", "RR"], result["bm25", "P_1", "q1"]
        (('bm25',), array([0.75]), 0.5)
        """
        # As of a dict, a TypeError: an array is no key.
        hash(key)
        if not isinstance(key, tuple):
            if len(self.runs) == 1 and key not in self.runs:
                return self.values[0, :, self._measure(key)]
            i = _Named("run", self.runs)[key]
            return self._some_runs(i, i + 1)
        if not 1 <= len(key) <= 3:
            raise KeyError(f"found {len(key)} keys, expected run, measure and query")
        selected: Any = self.values[_Named("run", self.runs)[key[0]]]
        if len(key) == 1:
            return self[key[0]]
        selected = selected[:, self._measure(key[1])]
        return selected if len(key) == 2 else float(selected[_Named("query", self.queries)[key[2]]])

    def _measure(self, measure: str | Measure) -> int:
        if measure in self.names:
            return self.names.index(str(measure))
        try:
            parsed = parse_measure(measure)
        except InputError as error:
            raise KeyError(str(error)) from None
        return _Named("measure", self.measures)[parsed]

    def _some_runs(self, start: int, end: int) -> Self:
        """The runs of some positions."""
        return self._with(runs=self.runs[start:end], **{name: cube[start:end] for name, cube in self.cubes().items()})

    def _with(self, **changed: Any) -> Self:
        return replace(self, **changed)

    def cubes(self) -> dict[str, Values]:
        """Return the arrays by name: values, and with a spread std, min and max.

        Returns
        -------
        dict of str to float64[n_runs, n_queries, n_measures]
        """
        spread = ((name, getattr(self, name)) for name in ("std", "min", "max"))
        return {"values": self.values, **{name: cube for name, cube in spread if cube is not None}}

    @classmethod
    def concat(cls, results: Sequence[Self], qrels: QrelsLike | None = None) -> Self:
        """Put results together: of the same runs on other queries, or of other runs on the same queries.

        Parameters
        ----------
        results : sequence of Results
            By the same measures in the same order; runs and queries may come in any order. Those of queries="both" or
            "shard" may differ in both.
        qrels : Qrels, path, … as `evaluate` takes it, optional
            The judgments of all parts, to have the queries on which a run is silent as well, as queries="judged" does.

        Returns
        -------
        Results
            Runs and queries in the order of the first, then those of the others; the values of each are what they
            were. With a spread, if all have it. With judgments, the queries are theirs, in their order.

        Raises
        ------
        InputError
            If there are none, a query (or a run) is in two of them, or they differ in both, or were made by other
            measures, tie rules, precisions or choices of queries; or have a query that is not judged.

        Examples
        --------
        >>> import tieaware
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
        >>> run = {"q1": {"d1": 2.0, "d2": 2.0}, "q2": {"d1": 2.0, "d2": 1.0}}
        >>> parts = [tieaware.evaluate({query: qrels[query]}, run, "RR") for query in qrels]
        >>> whole = tieaware.Results.concat(parts)
        >>> whole.queries, whole.mean()
        (('q1', 'q2'), array([[0.625]]))

        Shards of a run, none of which has any of q3, against all judgments:

        >>> qrels["q3"] = {"d3": 1}
        >>> shards = [{"bm25": {query: run[query]}} for query in run] + [{"bm25": {"not judged": {"d1": 1.0}}}]
        >>> parts = [tieaware.evaluate(qrels, shard, "RR", queries="shard") for shard in shards]
        >>> whole = tieaware.Results.concat(parts, qrels)
        >>> whole.queries, whole["RR"]
        (('q1', 'q2', 'q3'), array([0.75, 0.5 , 0.  ]))
        """
        parts: list[Self] = [*sequence("results", results, "Results")]
        if not parts:
            raise unexpected("results", "at least one", "none")
        for i, part in enumerate(parts):
            _check_alike(i, part, parts[0])
        whole = cls._united(parts) if _of_answered(parts) else cls._side_by_side(parts)
        return whole if qrels is None else whole._with_silent(qrels)

    @classmethod
    def _side_by_side(cls, parts: list[Self]) -> Self:
        """Put parts together that have the same runs, or the same queries."""
        along, across = ("queries", "runs") if _along_queries(parts) else ("runs", "queries")
        labels = {along: tuple(name for part in parts for name in getattr(part, along))}
        aligned = [part._in_order(across, getattr(parts[0], across)).cubes() for part in parts]
        cubes = {
            name: np.concatenate([cubes[name] for cubes in aligned], axis=_AXES.index(along))
            for name in set.intersection(*map(set, aligned))
        }
        made = _joined([part.provenance for part in parts])
        return parts[0]._with(**{"std": None, "min": None, "max": None, **labels, **cubes, "provenance": made})

    @classmethod
    def _united(cls, parts: list[Self]) -> Self:
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
        return parts[0]._with(**{"std": None, "min": None, "max": None, **labels, **cubes, "provenance": made})

    def _with_silent(self, judgments: QrelsLike) -> Self:
        """The same over all judged queries, in their order, and of those on which a run is silent what that is worth.

        No tie rule, and no precision, has anything to say of an empty list.
        """
        qrels = as_qrels(judgments)
        names = tuple(qrels.queries.to_list())
        places = {name: i for i, name in enumerate(names)}
        unknown = next((name for name in self.queries if name not in places), None)
        if unknown is not None:
            raise unexpected("results", f"queries that {qrels.name} has", f"{unknown!r}")
        at = [places[name] for name in self.queries]
        answered = self.answered[..., None]
        tables = silent(qrels, self.measures, [View("average", None, self.std is not None)])
        cubes = {}
        for (name, own), of_silent in zip(self.cubes().items(), tables, strict=True):
            cubes[name] = cube = np.repeat(of_silent[None], len(self.runs), axis=0)
            cube[:, at] = np.where(answered, own, cube[:, at])
        made = None if self.provenance is None else self.provenance._replace(queries="judged")
        return self._with(queries=names, provenance=made, **cubes)

    def _in_order(self, axis: str, names: tuple[Any, ...]) -> Self:
        """The same with the names along an axis in another order."""
        own = getattr(self, axis)
        if own == names:
            return self
        positions = {name: i for i, name in enumerate(own)}
        order = [positions[name] for name in names]
        cubes = {name: cube.take(order, axis=_AXES.index(axis)) for name, cube in self.cubes().items()}
        return self._with(**{axis: names}, **cubes)


_AXES = ("runs", "queries")


def _check_alike(i: int, part: Any, first: Cube) -> None:
    """Raise InputError unless a part has the measures of the first, and was made in the same way."""
    where = f"results[{i}]"
    if not isinstance(part, Cube):
        raise unexpected(where, "Results", shown(part))
    if part.measures != first.measures:
        raise unexpected(where, f"the measures of results[0], {', '.join(first.names)}", ", ".join(part.names))
    if part.provenance is None or first.provenance is None:
        return
    for name, value, wanted in zip(Provenance._fields[:3], part.provenance, first.provenance, strict=False):
        if value != wanted:
            raise unexpected(where, f"{name}={wanted!r}, as of results[0]", f"{value!r}")


def _of_answered(parts: Sequence[Cube]) -> bool:
    """Whether the parts are known to have values for queries that were answered, and for no others."""
    return all(part.provenance is not None and part.provenance.queries == "both" for part in parts)


def _along_queries(parts: Sequence[Cube]) -> bool:
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
