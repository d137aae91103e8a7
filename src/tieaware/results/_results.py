"""Results: the values that `evaluate` returns, and every way to show, export, test and keep them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import flag, shown, unexpected, whole_number
from tieaware.checks.arrays import Values
from tieaware.engine.means import means
from tieaware.errors import InputError
from tieaware.inputs import QrelsLike
from tieaware.measures import Measure, parse_measure
from tieaware.output import data_frames
from tieaware.output.tables import Cell, Table
from tieaware.results import exports, formats
from tieaware.results.provenance import Column, Provenance

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

# Limits of what repr() shows.
_SHOWN_RUNS, _SHOWN_MEASURES, _SHOWN_ROWS = 5, 6, 60


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
class Results:
    """What `evaluate` returns: a value for each run, query and measure.

    Its length is the number of runs, over whose names it iterates.

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
    names : tuple of str
        What the measures were called when they were asked for, as "map" or "AP"; so they are called in every export.
    provenance : Provenance or None
        The tie rule and options that made the values; None where they come from elsewhere.

    Examples
    --------
    >>> import tieaware
    >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"bm25": {"q1": {"d1": 2.0, "d2": 2.0}}}, ["RR", "P@1"])
    >>> result
    Results of 1 run, 1 query, 2 measures
    Means over 1 query, ties: average
    <BLANKLINE>
    run       RR     P@1
    bm25  0.7500  0.5000
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

    def bias(self, expectation: Results) -> Self:
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
        if not isinstance(expectation, Results):
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
        return self.with_changes(values=differences, std=None, min=None, max=None, names=names)

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
        some = {name: cube[start:end] for name, cube in self.cubes().items()}
        return self.with_changes(runs=self.runs[start:end], **some)

    def with_changes(self, **changed: Any) -> Self:
        """Return a copy with other attributes.

        Parameters
        ----------
        **changed
            New values of attributes, by name.

        Returns
        -------
        Results

        Raises
        ------
        InputError
            If the shapes do not fit each other.

        Examples
        --------
        >>> import tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0}}, "RR")
        >>> result.with_changes(runs=("bm25",)).runs
        ('bm25',)
        """
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
        from tieaware.results import combining

        combined: Self = combining.concatenated(results, qrels)  # type: ignore[assignment]
        return combined

    def __repr__(self) -> str:
        shape = zip(self.values.shape, (("run", "runs"), ("query", "queries"), ("measure", "measures")), strict=True)
        lines = [f"Results of {', '.join(f'{n} {names[n != 1]}' for n, names in shape)}"]
        first = self._some_runs(0, _SHOWN_RUNS)
        n = _SHOWN_MEASURES
        few = replace(
            first, values=first.values[..., :n], measures=self.measures[:n], names=self.names[:n],
            std=None, min=None, max=None,
        )  # fmt: skip
        lines.append(str(replace(few.means(), notes=())))
        if len(self) > _SHOWN_RUNS:
            lines.append(f"and {len(self) - _SHOWN_RUNS} more runs")
        if len(self.measures) > n:
            lines.append(f"and {len(self.measures) - n} more measures: {', '.join(self.names[n:])}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        shown = self._some_runs(0, _SHOWN_ROWS).means()
        more = len(self) - _SHOWN_ROWS
        return replace(shown, notes=(f"And {more} more runs.", *shown.notes) if more > 0 else shown.notes)._repr_html_()

    def table(
        self,
        baseline: str | None = None,
        test: str = "t",
        correction: str = "holm",
        alpha: float = 0.05,
        best: bool = True,
        digits: int = 3,
        spread: str | None = None,
    ) -> Table:
        """Return the table of a paper: runs × measures, with letters for the runs that a run beats significantly.

        Each run has a letter, raised behind its name, which stands behind the means of the runs that beat it: whose
        mean is better, by a test that is significant in that direction. With several runs, needs `tieaware[analysis]`.

        Parameters
        ----------
        baseline : str, optional
            The one run with which the others are compared; by default, all are compared with each other.
        test : str
            The paired test over the queries, two-sided: "t", "wilcoxon", "sign" or "permutation", as in
            `tieaware.statistics.paired_test`; or "none".
        correction : str
            "holm", over the pairs of runs that are compared by a measure; or "none".
        alpha : float
            The level of the test, between 0 and 1.
        best : bool
            Whether the best mean of each measure is in bold.
        digits : int
            The decimals of a mean, 0 … 17; counts, which are added up and not tested, are whole numbers.
        spread : str, optional
            What ties leave open of each mean, beside it: "std", the standard deviation, or "range", the least and the
            largest. Needs ``evaluate(..., spread=True)``.

        Returns
        -------
        Table
            Print it, or take its ``to_latex()``, ``to_markdown()`` or ``to_html()``; its frames have the means alone.

        Raises
        ------
        InputError
            If an argument has no meaning; or runs are to be tested that are silent on queries, or on less than two.
        MissingExtraError
            An ImportError, if runs are to be tested and SciPy is not installed.

        Examples
        --------
        >>> import tieaware
        >>> qrels = {f"q{i}": {"d": 1} for i in range(5)}
        >>> good = {query: {"d": 2.0, "x": 1.0} for query in qrels}
        >>> tied = {query: {"d": 1.0, "x": 1.0} for query in qrels}
        >>> table = tieaware.evaluate(qrels, {"good": good, "tied": tied}, ["RR", "P_1"]).table()
        >>> print(table)
        Means over 5 queries, ties: average
        <BLANKLINE>
        run     RR        P_1
        good a  *1.000 b  *1.000 b
        tied b   0.750     0.500
        <BLANKLINE>
        Raised letters: the runs that a run beats significantly (paired t-test, two-sided, p < 0.05, Holm-corrected for 1 pair).
        Bold, in plain text a star: the best of a measure.
        """  # noqa: E501
        from tieaware.results.paper_table import Design, paper_table

        return paper_table(self, Design(baseline, test, correction, alpha, best, digits, spread))

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
        >>> tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}, ["RR", "P_1"]).to_dict()
        {'run': {'q1': {'RR': 0.75, 'P_1': 0.5}}}
        """
        return exports.as_dict(self)

    def to_arrow(self) -> pyarrow.Table:
        """Return a pyarrow.Table. Needs `tieaware[arrow]`, as the other frames do.

        Returns
        -------
        pyarrow.Table
            A row for each run and query that it answers: the columns run and query, and those of `columns`.

        Examples
        --------
        >>> import tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}, ["RR", "P@1"])
        >>> result.to_arrow().to_pydict()
        {'run': ['run'], 'query': ['q1'], 'RR': [0.75], 'P@1': [0.5]}
        """
        return data_frames.as_arrow(exports.as_columns(self))

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas.DataFrame, of the same rows and columns as `to_arrow`.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}, ["RR", "P@1"])
        >>> result.to_pandas().to_dict("list")
        {'run': ['run'], 'query': ['q1'], 'RR': [0.75], 'P@1': [0.5]}
        """
        return data_frames.as_pandas(exports.as_columns(self))

    def to_polars(self) -> polars.DataFrame:
        """Return a polars.DataFrame, of the same rows and columns as `to_arrow`.

        Returns
        -------
        polars.DataFrame

        Examples
        --------
        >>> import tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}, ["RR", "P@1"])
        >>> result.to_polars().to_dict(as_series=False)
        {'run': ['run'], 'query': ['q1'], 'RR': [0.75], 'P@1': [0.5]}
        """
        return data_frames.as_polars(exports.as_columns(self))

    def to_trec_eval(self, *, per_query: bool = False, digits: int = 4, header: bool = False) -> str:
        """Return trec_eval's lines, with tabs between their fields: measure, query or ``all``, value.

        Parameters
        ----------
        per_query : bool
            Put the lines of each query before those of ``all``.
        digits : int
            The decimals of a value, 0 … 17; counts are whole numbers.
        header : bool
            Open with the lines ``runid`` and ``num_q``. With several runs ``runid`` always opens each.

        Returns
        -------
        str
            The lines, each with its end.

        Raises
        ------
        InputError
            If an argument is something else.

        Examples
        --------
        >>> import tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}, ["recip_rank", "P_1"])
        >>> print(result.to_trec_eval().expandtabs(), end="")
        recip_rank              all     0.7500
        P_1                     all     0.5000
        """
        per_query, header = flag("per_query", per_query), flag("header", header)
        digits = whole_number("digits", digits, 0, 17)
        return formats.trec_eval(self, per_query=per_query, digits=digits, header=header)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to one file, which is there whole or not at all; `load` reads the same bits.

        Parameters
        ----------
        path : str or os.PathLike
            Ends in ".npz"; or in ".parquet", which needs `tieaware[arrow]` and has a row for each run and query, and
            columns under the names of the measures. A file there is replaced.

        Raises
        ------
        InputError
            If the name ends otherwise, there is no measure, or the file cannot be written.

        Examples
        --------
        >>> import tempfile, tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}, "map", ties="optimistic")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.save(f"{folder}/results.npz")
        ...     again = tieaware.Results.load(f"{folder}/results.npz")
        >>> again["map"], again.provenance.ties
        (array([1.]), 'optimistic')
        """
        from tieaware.results import storage

        storage.write(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote.

        Parameters
        ----------
        path : str or os.PathLike
            The file; whether it is npz or Parquet is seen by its content.

        Returns
        -------
        Results

        Raises
        ------
        InputError
            If it cannot be read, is none of ours, damaged, or of a newer version.
        """
        from tieaware.results import storage

        return cls(**storage.read(path))
