"""Results: the cube runs × queries × measures, its means, and its exports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tieaware.arrays import Values
from tieaware.checks import unexpected
from tieaware.errors import InputError
from tieaware.extras import load
from tieaware.means import means
from tieaware.measures import Measure, parse_measure

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


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


class _Named:
    """Positions by name, with an error that shows what there is."""

    def __init__(self, kind: str, names: Sequence[Any]) -> None:
        self._kind = kind
        self._positions = {name: i for i, name in enumerate(names)}

    def __getitem__(self, name: Any) -> int:
        try:
            return self._positions[name]
        except (KeyError, TypeError):
            some = ", ".join(map(str, list(self._positions)[:5]))
            raise KeyError(f"no {self._kind} {str(name)!r}; there are {len(self._positions)}: {some} …") from None


@dataclass(frozen=True, eq=False)
class Results:
    """What `evaluate` returns: a value for each run, query and measure.

    Attributes
    ----------
    values : float64[n_runs, n_queries, n_measures]
        NaN where ``queries="both"`` was asked for and the run is silent on the query.
    runs : tuple of str
        The names along the first axis.
    queries : tuple of str or of int
        The names along the second axis, of the type that the judgments have them in.
    measures : tuple of Measure
        The measures along the third axis.
    std, min, max : float64[n_runs, n_queries, n_measures] or None
        With ``spread=True``: the standard deviation, the least and the largest value over the orders that the ties
        allow; NaN for infAP, of which they are not known.

    Examples
    --------
    >>> import tieaware
    >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"bm25": {"q1": {"d1": 2.0, "d2": 2.0}}}, ["RR", "P@1"])
    >>> result["bm25", "RR", "q1"], result.mean()
    (0.75, array([[0.75, 0.5 ]]))
    >>> print(result["bm25"]["P@1"])
    [0.5]
    """

    values: Values
    runs: tuple[str, ...]
    queries: tuple[str | int, ...]
    measures: tuple[Measure, ...]
    std: Values | None = None
    min: Values | None = None
    max: Values | None = None

    def mean(self) -> Values:
        """Average over the queries.

        The mean is arithmetic; of GMAP it is geometric, with values below 0.00001 raised to that, as in trec_eval. The
        sum is kept in twice the precision, and so does not depend on the order of the queries.

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
        deviations[:, [measure.definition.summary == "geometric" for measure in self.measures]] = np.nan
        return deviations

    def columns(self, names: Sequence[str] | None = None) -> list[Column]:
        """Return what exports show of each measure: its value, and with a spread its std, min and max, if known.

        Parameters
        ----------
        names : sequence of str, optional
            What the measures are called, one name for each; by default, what ``str()`` makes of them.

        Returns
        -------
        list of Column
            In the order of the measures; a measure's std, min and max follow its value, under its name with "_std",
            "_min" and "_max". Counts have the value only.

        Examples
        --------
        >>> import tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}, ["RR"], spread=True)
        >>> [(column.name, column.summary.item()) for column in result.columns()]
        [('RR', 0.75), ('RR_std', 0.25), ('RR_min', 0.5), ('RR_max', 1.0)]
        """
        called = [str(measure) for measure in self.measures] if names is None else names
        summary = self.summary()
        spread: dict[str, tuple[Values, Values]] = {}
        if self.std is not None and self.min is not None and self.max is not None:
            spread = {
                "std": (self.std, self.mean_std()),
                "min": (self.min, means(self.min, self.measures)),
                "max": (self.max, means(self.max, self.measures)),
            }
        columns = []
        for i, (name, measure) in enumerate(zip(called, self.measures, strict=True)):
            definition = measure.definition
            is_count, summary_only = definition.is_count, definition.summary_only
            columns.append(Column(name, self.values[..., i], summary[:, i], is_count, summary_only))
            for kind, (values, of_runs) in spread.items():
                known = definition.has_spread and (kind != "std" or definition.summary != "geometric")
                if known and not is_count:
                    columns.append(Column(f"{name}_{kind}", values[..., i], of_runs[:, i], False, summary_only))
        return columns

    def summary(self) -> Values:
        """Summarise the queries as trec_eval does: counts are added up, all else is averaged.

        Returns
        -------
        float64[n_runs, n_measures]

        Examples
        --------
        >>> import tieaware
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
        >>> run = {"q1": {"d1": 2.0, "d2": 2.0}, "q2": {"d1": 2.0, "d2": 1.0}}
        >>> tieaware.evaluate(qrels, run, ["RR", "NumRet"]).summary()
        array([[0.625, 4.   ]])
        """
        counts = [measure.definition.is_count for measure in self.measures]
        summary: Values = np.where(counts, np.nansum(self.values, axis=1), self.mean())
        return summary

    def __getitem__(self, key: str | tuple[Any, ...]) -> Any:
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

        Examples
        --------
        >>> import tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"bm25": {"q1": {"d1": 2.0, "d2": 2.0}}}, ["RR", "P@1"])
        >>> result["bm25"].runs, result["bm25", "RR"], result["bm25", "P_1", "q1"]
        (('bm25',), array([0.75]), 0.5)
        """
        if not isinstance(key, tuple):
            if len(self.runs) == 1 and key not in self.runs:
                return self.values[0, :, self._measure(key)]
            i = _Named("run", self.runs)[key]
            spread = (each if each is None else each[i : i + 1] for each in (self.std, self.min, self.max))
            return Results(self.values[i : i + 1], (self.runs[i],), self.queries, self.measures, *spread)
        if not 1 <= len(key) <= 3:
            raise KeyError(f"found {len(key)} keys, expected run, measure and query")
        selected: Any = self.values[_Named("run", self.runs)[key[0]]]
        if len(key) == 1:
            return self[key[0]]
        selected = selected[:, self._measure(key[1])]
        return selected if len(key) == 2 else float(selected[_Named("query", self.queries)[key[2]]])

    def _measure(self, measure: str | Measure) -> int:
        try:
            parsed = parse_measure(measure)
        except InputError as error:
            raise KeyError(str(error)) from None
        return _Named("measure", self.measures)[parsed]

    def to_dict(self) -> dict[str, dict[str | int, dict[str, float]]]:
        """Return the values as dicts.

        Returns
        -------
        dict
            ``{run: {query: {measure: value}}}``, without the queries on which a run is silent; with a spread, what
            `columns` returns stands beside each value.

        Examples
        --------
        >>> import tieaware
        >>> tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}, ["RR", "P@1"]).to_dict()
        {'run': {'q1': {'RR': 0.75, 'P@1': 0.5}}}
        """
        columns = self.columns()
        names = [column.name for column in columns]
        cube = np.stack([column.values for column in columns], axis=2)
        return {
            run: {
                query: dict(zip(names, row, strict=True))
                for query, row in zip(self.queries, table.tolist(), strict=True)
                if row and row[0] == row[0]
            }
            for run, table in zip(self.runs, cube, strict=True)
        }

    def _columns(self) -> dict[str, Any]:
        """Return one row for each run and query that it answers: run, query, and the columns of each measure."""
        kept = ~np.isnan(self.values).all(axis=2).reshape(-1)
        index = np.flatnonzero(kept)
        columns: dict[str, Any] = {
            "run": [self.runs[i] for i in index // max(len(self.queries), 1)],
            "query": [self.queries[i] for i in index % max(len(self.queries), 1)],
        }
        for column in self.columns():
            columns[column.name] = column.values.reshape(-1)[kept]
        return columns

    def to_arrow(self) -> pyarrow.Table:
        """Return a pyarrow.Table. Needs `tieaware[arrow]`.

        Returns
        -------
        pyarrow.Table
            A row for each run and query that it answers: the columns run and query, and those of `columns`.

        Raises
        ------
        MissingExtraError
            An ImportError, if pyarrow is not installed.

        Examples
        --------
        >>> import tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}, ["RR", "P@1"])
        >>> result.to_arrow().to_pydict()
        {'run': ['run'], 'query': ['q1'], 'RR': [0.75], 'P@1': [0.5]}
        """
        table: pyarrow.Table = load("pyarrow", "arrow").table(self._columns())
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas.DataFrame. Needs `tieaware[arrow]`.

        Returns
        -------
        pandas.DataFrame
            A row for each run and query that it answers: the columns run and query, and those of `columns`.

        Raises
        ------
        MissingExtraError
            An ImportError, if pandas is not installed.

        Examples
        --------
        >>> import tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}, ["RR", "P@1"])
        >>> result.to_pandas().to_dict("list")
        {'run': ['run'], 'query': ['q1'], 'RR': [0.75], 'P@1': [0.5]}
        """
        frame: pandas.DataFrame = load("pandas", "arrow").DataFrame(self._columns())
        return frame

    def to_polars(self) -> polars.DataFrame:
        """Return a polars.DataFrame. Needs `tieaware[arrow]`.

        Returns
        -------
        polars.DataFrame
            A row for each run and query that it answers: the columns run and query, and those of `columns`.

        Raises
        ------
        MissingExtraError
            An ImportError, if polars is not installed.

        Examples
        --------
        >>> import tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}, ["RR", "P@1"])
        >>> result.to_polars().to_dict(as_series=False)
        {'run': ['run'], 'query': ['q1'], 'RR': [0.75], 'P@1': [0.5]}
        """
        frame: polars.DataFrame = load("polars", "arrow").DataFrame(self._columns())
        return frame

    def to_trec_eval(
        self, *, per_query: bool = False, digits: int = 4, names: Sequence[str] | None = None, header: bool = False
    ) -> str:
        """Return trec_eval's lines, with tabs between their fields: measure, query or ``all``, value.

        Parameters
        ----------
        per_query : bool
            Put the lines of each query before those of ``all``.
        digits : int
            The decimals of a value, at least 0; counts are whole numbers.
        names : sequence of str, optional
            What the measures are called, one name for each; by default, what ``str()`` makes of them.
        header : bool
            Open with the lines ``runid`` and ``num_q``. With several runs ``runid`` always opens each.

        Returns
        -------
        str
            The lines, each with its end.

        Examples
        --------
        >>> import tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}, ["RR", "P@1"])
        >>> print(result.to_trec_eval(names=["recip_rank", "P_1"]).expandtabs(), end="")
        recip_rank              all     0.7500
        P_1                     all     0.5000
        """
        columns = self.columns(names)
        lines: list[tuple[str, str | int, str]] = []
        for r, run in enumerate(self.runs):
            answered = np.flatnonzero(~np.isnan(self.values[r]).all(axis=1))
            if header or len(self.runs) > 1:
                lines.append(("runid", "all", run))
            if header:
                lines.append(("num_q", "all", str(len(answered))))
            for i in answered if per_query else ():
                for column in columns:
                    if not column.summary_only:
                        lines.append((column.name, self.queries[i], column.shown(column.values[r, i], digits)))
            for column in columns:
                lines.append((column.name, "all", column.shown(column.summary[r], digits)))
        return "".join(f"{name:<22}\t{query}\t{value}\n" for name, query, value in lines)


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
