"""The fields of Results, with their validation, their look-up by name, and their summaries over the queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import shown, unexpected
from tieaware.checks.arrays import Values
from tieaware.checks.positions import position
from tieaware.checks.rounding import merged
from tieaware.engine.views import CHANCE, SPREAD
from tieaware.errors import Hinted, InputError, hints, missing, warn
from tieaware.measures import Measure
from tieaware.output.tables import counted
from tieaware.results import summaries
from tieaware.results.lookup import (
    check_key,
    column_of_table,
    in_another_order,
    position_of_measure,
    position_of_run,
    position_to_sort_by,
    shown_name,
    unknown_run,
)
from tieaware.results.provenance import Provenance, title_of, warning_of_unanswered

_FLOAT64 = np.dtype(np.float64)
# The names of the arrays beside the values.
_FURTHER = (*SPREAD, *CHANCE)
_DEFAULTS: dict[str, Any] = dict.fromkeys(_FURTHER)


Named = TypeVar("Named", bound="NamedValues")


def unchecked(kind: type[Named], further: dict[str, Any], **fields: Any) -> Named:
    """Return an instance of `NamedValues` whose fields are known to be valid, without checking them.

    All fields without a default must be given, in `further` or by name.
    """
    made = kind.__new__(kind)
    made.__dict__.update(_DEFAULTS, **fields)
    made.__dict__.update(further)
    return made


@dataclass(frozen=True, eq=False, repr=False)
class NamedValues(Hinted):
    """A value for each run, query and measure, with the names of all three; the base class of `Results`.

    Fields are as for `tieaware.Results`.
    """

    values: Values
    runs: tuple[str, ...]
    queries: tuple[str | int, ...]
    measures: tuple[Measure, ...]
    std: Values | None = None
    min: Values | None = None
    max: Values | None = None
    names: tuple[str, ...] = ()
    provenance: Provenance | None = None
    unanswered: dict[str, int] = field(default_factory=dict)
    chance: Values | None = None
    chance_std: Values | None = None
    ideal: Values | None = None

    def __post_init__(self) -> None:
        if not self.names:
            object.__setattr__(self, "names", tuple(map(str, self.measures)))
        for measure in self.measures:
            if not isinstance(measure, Measure):
                raise unexpected("measures of results", "a Measure", shown(measure))
        if len(self.names) != len(self.measures):
            n_names, n = len(self.names), len(self.measures)
            raise InputError("names of results", f"the number of names is {n_names}, the number of measures {n}")
        shape = (len(self.runs), len(self.queries), len(self.measures))
        for name, cube in self.cubes().items():
            if not (isinstance(cube, np.ndarray) and cube.dtype == _FLOAT64 and cube.shape == shape):
                found = f"{cube.dtype} of shape {cube.shape}" if isinstance(cube, np.ndarray) else shown(cube)
                raise unexpected(f"{name} of results", f"an array of float64 of shape {shape}", found)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError; for the name of a measure, it says how to look up its values."""
            # While an object is unpickled, it has no fields yet.
            if name.startswith("_") or name in self.__dataclass_fields__ or name in hints("Results"):
                raise missing("Results", name, self)
            shown_as = shown_name(self.names, self.measures, name)
            key = repr(shown_as) if len(self.runs) == 1 else f"{self.runs[0]!r}, {shown_as!r}" if self.runs else ""
            raise missing("Results", name, self, f"result[{key}]" if key and shown_as in self.names else "")

    def cubes(self) -> dict[str, Values]:
        """Return the arrays by name: values; with a spread std, min and max; with chance chance, chance_std and ideal.

        Returns
        -------
        dict of str to float64[n_runs, n_queries, n_measures]
        """
        cubes = {"values": self.values}
        for name in _FURTHER:
            cube = getattr(self, name)
            if cube is not None:
                cubes[name] = cube
        return cubes

    def _values_only(self, values: Values, names: tuple[str, ...], measures: tuple[Measure, ...] | None = None) -> Self:
        """Return results with other values of some measures, without a spread and without chance."""
        nothing: dict[str, Any] = dict.fromkeys((*SPREAD, *CHANCE))
        return replace(
            self, values=values, names=names, measures=self.measures if measures is None else measures, **nothing
        )

    @property
    def title(self) -> str:
        """One line that states the number of queries that the means are over, and the options of the evaluation."""
        return title_of(len(self.queries), self.provenance, self.unanswered)

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[str]:
        return iter(self.runs)

    @overload
    def __getitem__(self, key: tuple[str, str | Measure, str | int]) -> float: ...

    @overload
    def __getitem__(self, key: tuple[str, str | Measure]) -> Values: ...

    @overload
    def __getitem__(self, key: Measure) -> Values: ...

    # A type checker cannot know whether text names a run or a measure. Users write result["bm25"]["AP"] and
    # result["AP"].mean(), so both must pass.
    @overload
    def __getitem__(self, key: str) -> Any: ...

    def __getitem__(self, key: Any) -> Any:
        """Select by run; by run and measure; or by run, measure and query.

        ``result["bm25"]`` is the Results of one run. ``result["bm25"]["AP"]`` and ``result["bm25", "AP"]`` are its
        values for all queries. ``result["bm25", "AP", "301"]`` is one value. If there is only one run,
        ``result["AP"]`` are the values of that run.

        Parameters
        ----------
        key : str, or tuple of str
            The run; run and measure; or run, measure and query. A measure may be a Measure or any of its names.

        Returns
        -------
        Results, float64[n_queries] or float

        Raises
        ------
        KeyError
            If the run, measure or query does not exist. The message lists some that do.
        TypeError
            If the key is not hashable, such as an array.
        """
        check_key(key)
        try:
            return self._selected(key)
        except KeyError as error:
            given = key if isinstance(key, tuple) else (key,)
            moved = in_another_order(self.runs, self.measures, self.names, self.queries, given)
            column = column_of_table(self.runs, self.measures, self.names, given, self.cubes())
            raise moved or column or error from None

    def _ipython_key_completions_(self) -> list[str]:
        """Return the keys that notebooks offer after ``result[``."""
        return [*self.runs, *(self.names if len(self.runs) == 1 else ())]

    def _selected(self, key: Any) -> Any:
        """Return what `__getitem__` selects by a hashable key."""
        if not isinstance(key, tuple):
            return self._run_or_measure(key)
        if not 1 <= len(key) <= 3:
            raise KeyError(f"found {len(key)} keys, expected run, measure and query")
        run = position_of_run(self.runs, key[0])
        if len(key) == 1:
            return self._run_range(run, run + 1)
        values = self.values[run, :, position_of_measure(self.measures, self.names, key[1])]
        return values if len(key) == 2 else float(values[position("query", self.queries, key[2])])

    def _run_or_measure(self, name: Any) -> Any:
        """Return the results of the run of this name; or if there is only one run, its values of the named measure."""
        if name in self.runs:
            run = self.runs.index(name)
            return self._run_range(run, run + 1)
        if len(self.runs) != 1:
            raise unknown_run(self.runs, self.measures, self.names, name)
        try:
            return self.values[0, :, position_of_measure(self.measures, self.names, name)]
        except KeyError:
            raise unknown_run(self.runs, self.measures, self.names, name) from None

    def _run_range(self, start: int, end: int) -> Self:
        """Return the results of a range of runs."""
        cubes: dict[str, Any] = {name: cube[start:end] for name, cube in self.cubes().items()}
        runs = self.runs[start:end]
        unanswered = {run: n for run, n in self.unanswered.items() if run in runs}
        return replace(self, runs=runs, unanswered=unanswered, **cubes)

    def _sorted(self, sort: str | Measure | None) -> Self:
        """Return the results with their runs in the order of a measure's summary, the best first; None keeps them."""
        if sort is None:
            return self
        place = position_to_sort_by(self.measures, self.names, sort)
        column = merged(self.summary()[:, place])
        # The sort is stable, so runs with equal means keep their order, and NaN comes last.
        order = np.argsort(column if self.measures[place].definition.less_is_better else -column, kind="stable")
        cubes: dict[str, Any] = {name: cube[order] for name, cube in self.cubes().items()}
        return replace(self, runs=tuple(self.runs[i] for i in order.tolist()), **cubes)

    def __format__(self, spec: str) -> str:
        """Format the only number of the results, as `float` has it; without a format, return ``str(result)``."""
        return format(float(self), spec) if spec else str(self)

    def __float__(self) -> float:
        """Return the only number of the results of one run and one measure, as `summary` has it.

        Raises
        ------
        InputError
            If there are several runs or measures, or none.

        Warns
        -----
        UserWarning
            If the run leaves judged queries unanswered, which count as empty lists.
        """
        if self.values.shape[::2] == (1, 1):
            if self.unanswered and self.provenance is not None and self.provenance.queries == "judged":
                warn(warning_of_unanswered(self.unanswered, len(self.queries), "queries='both'"))
            return float(self.summary().item())
        found = f"{counted(len(self.runs), 'run')} and {counted(len(self.measures), 'measure')}"
        remedy = "evaluate at least one of each"
        if self.runs and self.measures:
            remedy = f"choose one of each, as in result.means()[{self.runs[0]!r}, {self.names[0]!r}]"
        raise InputError("float", f"the results have {found}; {remedy}")

    @property
    def answered(self) -> npt.NDArray[np.bool_]:
        """Whether each run has a value for each query, bool[n_runs, n_queries].

        By default, unanswered queries have values too, those of an empty list. The attribute `unanswered` counts them.
        With ``queries="both"``, they have no values.

        Examples
        --------
        >>> import tieaware
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
        >>> result = tieaware.evaluate(qrels, {"bm25": {"q1": {"d1": 0.5}}}, "AP")
        >>> result.answered.tolist(), result.unanswered
        ([[True, True]], {'bm25': 1})
        """
        return np.asarray(~np.isnan(self.values).all(axis=2))

    def mean(self, *, weights: str | Measure | None = None) -> Values:
        """Average the values of each run and measure over the queries.

        The mean is arithmetic, except for GMAP: its mean is geometric, with values below 0.00001 replaced by 0.00001,
        as in trec_eval. Sums are computed in twice the precision of a float, so the order of the queries does not
        matter. This method also averages counts such as NumRet, whereas `summary` sums them.

        Parameters
        ----------
        weights : str or Measure, optional
            A count among the measures of the results, by which the queries are weighted. Weighted by NumRel, the mean
            of recall is its micro-average: relevant documents found for all queries, divided by relevant documents of
            all queries. Weighted by NumRet, the mean of P (without a cut-off) is the micro-average of precision. By
            default, all queries have the same weight.

        Returns
        -------
        float64[n_runs, n_measures]
            NaN values are left out: unanswered queries, and queries for which the measure is undefined. The mean is
            NaN if no value is left. A weighted mean is also NaN if the weights add up to 0, and for GMAP.

        Raises
        ------
        InputError
            If the weights are not a count.
        KeyError
            If they are not among the measures of the results.

        Examples
        --------
        >>> import tieaware
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
        >>> run = {"q1": {"d1": 2.0, "d2": 2.0}, "q2": {"d1": 2.0, "d2": 1.0}}
        >>> result = tieaware.evaluate(qrels, run, ["RR", "NumRet"], spread=True)
        >>> result.mean(), result.summary(), result.mean_std()
        (array([[0.625, 2.   ]]), array([[0.625, 4.   ]]), array([[0.125, 0.   ]]))

        The first query has one relevant document, which is found, and the second has three, of which none is:

        >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1, "d3": 1, "d4": 1}}
        >>> result = tieaware.evaluate(qrels, {"q1": {"d1": 2.0}, "q2": {"d1": 2.0}}, ["R@10", "NumRel"])
        >>> result.mean()[0, 0], result.mean(weights="NumRel")[0, 0]
        (np.float64(0.5), np.float64(0.25))
        """
        return summaries.averages(self.values, self.measures, None if weights is None else self._weights(weights))

    def _weights(self, measure: str | Measure) -> Values:
        """Return the values of a count, float64[n_runs, n_queries]; raise an error if it is none of the counts."""
        place = position_of_measure(self.measures, self.names, measure)
        if not self.measures[place].definition.is_count:
            raise InputError("weights", f"must be a count, such as NumRel or NumRet; {measure} is not")
        return self.values[..., place]

    def mean_std(self, *, weights: str | Measure | None = None) -> Values:
        """Return the standard deviation of the means over the orders of tied documents. Needs ``spread=True``.

        The orders of different queries are independent, so their variances add up. The example is as for `mean`.

        Parameters
        ----------
        weights : str or Measure, optional
            As for `mean`.

        Returns
        -------
        float64[n_runs, n_measures]
            In the unit of the measure, at least 0. NaN for GMAP, whose mean is geometric, and for infAP, whose spread
            is not known.

        Raises
        ------
        InputError
            If the results have no spread.
        """
        if self.std is None:
            raise InputError("mean_std", "the results have no spread; evaluate with spread=True")
        by_query = None if weights is None else self._weights(weights)
        return summaries.std_of_means(self.std, self.values, self.measures, by_query)

    def summary(self) -> Values:
        """Summarise the queries as trec_eval does: sum counts, average all other measures. Example as for `mean`.

        Returns
        -------
        float64[n_runs, n_measures]
        """
        return summaries.sums_or_means(self.values, self.measures)
