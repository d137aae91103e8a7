"""The class Results, which `evaluate` returns. It shows, exports, tests and saves the values of runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import flag, sequence, shown, unexpected, whole_number
from tieaware.checks.arrays import Values
from tieaware.engine.means import means
from tieaware.errors import InputError
from tieaware.inputs import QrelsLike
from tieaware.measures import Measure, parse_measure
from tieaware.output import data_frames
from tieaware.output.tables import Table
from tieaware.results import exports, formats, summaries
from tieaware.results.exports import Column, Export
from tieaware.results.positions import position
from tieaware.results.provenance import Provenance, title_of
from tieaware.ties import tie_rule

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

# The most runs and measures that repr() shows, and the most runs that a notebook shows.
_SHOWN_RUNS, _SHOWN_MEASURES, _SHOWN_ROWS = 5, 6, 60


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """A value for each run, query and measure, as `evaluate` returns.

    ``len(result)`` is the number of runs. Iteration yields the names of the runs.

    Attributes
    ----------
    values : float64[n_runs, n_queries, n_measures]
        With ``queries="both"``, NaN where the run does not answer the query.
    runs : tuple of str
        The names along the first axis.
    queries : tuple of str or of int
        The names along the second axis; their type is that of the query ids in the judgments.
    measures : tuple of Measure
        The measures along the third axis.
    std, min, max : float64[n_runs, n_queries, n_measures] or None
        With ``spread=True``, the standard deviation, the minimum and the maximum over the orders of tied documents;
        NaN for infAP, whose spread is not known.
    names : tuple of str
        The names of the measures in exports, as they were requested, e.g. "map" or "AP".
    provenance : Provenance or None
        The options that the values were computed with; None for values that `evaluate` did not compute.

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
                raise unexpected("measures of results", "a Measure", shown(measure))
        if len(self.names) != len(self.measures):
            n_names, n = len(self.names), len(self.measures)
            raise InputError("names of results", f"the number of names is {n_names}, the number of measures {n}")
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
        """Whether each run answers each query, bool[n_runs, n_queries]: whether some measure has a value there."""
        return np.asarray(~np.isnan(self.values).all(axis=2))

    def mean(self) -> Values:
        """Average the values of each run and measure over the queries.

        The mean is arithmetic, except for GMAP: its mean is geometric, with values below 0.00001 replaced by 0.00001,
        as in trec_eval. Sums are computed in twice the precision of a float, so the order of the queries does not
        matter. This method also averages counts such as NumRet, whereas `summary` sums them.

        Returns
        -------
        float64[n_runs, n_measures]
            NaN values are left out: unanswered queries, and queries for which the measure is undefined. The mean is
            NaN if no value is left.

        Examples
        --------
        >>> import tieaware
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
        >>> run = {"q1": {"d1": 2.0, "d2": 2.0}, "q2": {"d1": 2.0, "d2": 1.0}}
        >>> result = tieaware.evaluate(qrels, run, ["RR", "NumRet"], spread=True)
        >>> result.mean(), result.summary(), result.mean_std()
        (array([[0.625, 2.   ]]), array([[0.625, 4.   ]]), array([[0.125, 0.   ]]))
        """
        return means(self.values, self.measures)

    def mean_std(self) -> Values:
        """Return the standard deviation of the means over the orders of tied documents. Needs ``spread=True``.

        The orders of different queries are independent, so their variances add up. The example is as for `mean`.

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
        return summaries.std_of_means(self.std, self.values, self.measures)

    def summary(self) -> Values:
        """Summarise the queries as trec_eval does: sum counts, average all other measures. Example as for `mean`.

        Returns
        -------
        float64[n_runs, n_measures]
        """
        return summaries.sums_or_means(self.values, self.measures)

    def columns(self) -> list[Column]:
        """Return the columns of exports: the value of each measure, and with a spread its std, min and max, if known.

        Returns
        -------
        list of Column
            In the order of the measures, under the names that were requested. The std, min and max of a measure follow
            its value, with "_std", "_min" and "_max" appended to the name. Counts have a value only.

        Examples
        --------
        >>> import tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}, ["RR"], spread=True)
        >>> [(column.name, column.summary.item()) for column in result.columns()]
        [('RR', 0.75), ('RR_std', 0.25), ('RR_min', 0.5), ('RR_max', 1.0)]
        """
        return exports.columns_of(self.measures, self.names, self.cubes())

    def means(self) -> Table:
        """Return the summary over the queries as a table, with a row for each run and the columns of `columns`.

        Returns
        -------
        Table
            The values of `summary`, so counts are summed.

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
        return exports.table_of_means(self.title, self.runs, self.columns())

    @property
    def title(self) -> str:
        """One line that states the number of queries that the means are over, and the options of the evaluation."""
        return title_of(len(self.queries), self.provenance)

    def bias(self, expectation: Results) -> Self:
        """Return the bias of a tie rule: its values minus the averages over all orders of tied documents.

        Parameters
        ----------
        expectation : Results
            The results with ``ties="average"`` of the same runs, queries and measures.

        Returns
        -------
        Results
            The differences, under names that end in "_bias". Their `mean` is the bias of the mean. NaN for GMAP, whose
            mean is geometric.

        Raises
        ------
        InputError
            If the expectation has other runs, queries or measures, or another tie rule than "average".

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
                raise InputError("expectation", f"must have the same {axis} as the results")
        made = expectation.provenance
        if made is not None and not tie_rule(made.ties).averages:
            raise InputError("expectation", f"must be computed with the tie rule average, not {made.ties}")
        differences = self.values - expectation.values
        differences[..., summaries.geometric(self.measures)] = np.nan
        names = tuple(f"{name}_bias" for name in self.names)
        return replace(self, values=differences, std=None, min=None, max=None, names=names)

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
        # Raise TypeError for a key that is not hashable, as a dict does.
        hash(key)
        if not isinstance(key, tuple):
            if len(self.runs) == 1 and key not in self.runs:
                return self.values[0, :, self._measure(key)]
            i = position("run", self.runs, key)
            return self._run_range(i, i + 1)
        if not 1 <= len(key) <= 3:
            raise KeyError(f"found {len(key)} keys, expected run, measure and query")
        selected: Any = self.values[position("run", self.runs, key[0])]
        if len(key) == 1:
            return self[key[0]]
        selected = selected[:, self._measure(key[1])]
        return selected if len(key) == 2 else float(selected[position("query", self.queries, key[2])])

    def _measure(self, measure: str | Measure) -> int:
        """Return the position of a measure."""
        if measure in self.names:
            return self.names.index(str(measure))
        try:
            return position("measure", self.measures, parse_measure(measure))
        except InputError as error:
            raise KeyError(str(error)) from None

    def _run_range(self, start: int, end: int) -> Self:
        """Return the results of a range of runs."""
        cubes: dict[str, Any] = {name: cube[start:end] for name, cube in self.cubes().items()}
        return replace(self, runs=self.runs[start:end], **cubes)

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
        """Join results: of the same runs on other queries, or of other runs on the same queries.

        Parameters
        ----------
        results : sequence of Results
            All with the same measures in the same order; their runs and queries may be in any order. If all results
            were evaluated with queries="both" or "shard", they may differ in both runs and queries.
        qrels : Qrels, path, … as for `evaluate`, optional
            The judgments of all results. If given, unanswered queries are added, as with queries="judged".

        Returns
        -------
        Results
            Runs and queries are in the order of the first result, followed by those that only later results have. No
            value is recomputed or rounded. The joined results have a spread if all of the given results have one. If
            `qrels` is given, the queries are those of the judgments, in their order.

        Raises
        ------
        InputError
            If there are no results; two results to be joined along the queries (or runs) share a query (or run); both
            runs and queries differ; the measures, tie rules, score precisions or choices of queries differ; or a query
            is not judged.

        Examples
        --------
        >>> import tieaware
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 1}}
        >>> run = {"q1": {"d1": 2.0, "d2": 2.0}, "q2": {"d1": 2.0, "d2": 1.0}}
        >>> shards = [tieaware.evaluate(qrels, {query: run[query]}, "RR", queries="shard") for query in run]
        >>> whole = tieaware.Results.concat(shards)
        >>> whole.queries, whole.mean()
        (('q1', 'q2'), array([[0.625]]))
        >>> whole = tieaware.Results.concat(shards, qrels)
        >>> whole.queries, whole["RR"]
        (('q1', 'q2', 'q3'), array([0.75, 0.5 , 0.  ]))
        """
        from tieaware.results import combining

        given = sequence("results", results, "Results")
        for i, result in enumerate(given):
            if not isinstance(result, Results):
                raise unexpected(f"results[{i}]", "Results", shown(result), "results")
        joinable = [
            combining.Joinable(each.runs, each.queries, each.measures, each.names, each.cubes(), each.provenance)
            for each in given
        ]
        joined = combining.joined(joinable, qrels)._asdict()
        return cls(**joined.pop("arrays"), **joined)

    def __repr__(self) -> str:
        shape = zip(self.values.shape, (("run", "runs"), ("query", "queries"), ("measure", "measures")), strict=True)
        lines = [f"Results of {', '.join(f'{n} {names[n != 1]}' for n, names in shape)}"]
        first = self._run_range(0, _SHOWN_RUNS)
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
        table = self._run_range(0, _SHOWN_ROWS).means()
        more = len(self) - _SHOWN_ROWS
        return replace(table, notes=(f"And {more} more runs.", *table.notes) if more > 0 else table.notes)._repr_html_()

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
        """Return a table for a paper: runs × measures, with letters for the runs that a run beats significantly.

        Each run has a letter, raised after its name. A mean is followed by the letters of the runs whose means are
        worse, where the test finds the difference significant in this direction. With several runs, the table needs
        `tieaware[analysis]`.

        Parameters
        ----------
        baseline : str, optional
            The only run with which the other runs are compared; by default, all runs are compared with each other.
        test : str
            The two-sided paired test over the queries: "t", "wilcoxon", "sign" or "permutation", as in
            `tieaware.statistics.paired_test`; or "none".
        correction : str
            The correction for multiple comparisons: "holm", over all pairs of runs that are compared by one measure; or
            "none".
        alpha : float
            The significance level, between 0 and 1.
        best : bool
            Whether the best mean of each measure is bold.
        digits : int
            The number of decimals of a mean, 0 … 17. Counts are summed, not tested, and shown as whole numbers.
        spread : str, optional
            The spread of each mean over the orders of tied documents, shown beside it: "std", the standard deviation,
            or "range", the minimum and the maximum. Needs ``evaluate(..., spread=True)``.

        Returns
        -------
        Table
            Print the table, or call its ``to_latex()``, ``to_markdown()`` or ``to_html()``. If it is exported to a data
            frame, only the means are kept.

        Raises
        ------
        InputError
            If an argument is not valid, or a test is requested but a run does not answer all queries, or there are
            fewer than two queries.
        MissingExtraError
            If a test is requested and SciPy is not installed. This is a subclass of ImportError.

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
        Raised letters after a mean: the runs that are significantly worse (paired t-test, two-sided, p < 0.05, Holm-corrected for 1 pair).
        Bold (in plain text, a star): the best mean of each measure.
        """  # noqa: E501
        # Import only here: the statistics take time to import, and no other method needs them.
        from tieaware.results.paper_table import Design, paper_table

        return paper_table(export_of(self), Design(baseline, test, correction, alpha, best, digits, spread))

    def to_dict(self) -> dict[str, dict[str | int, dict[str, float]]]:
        """Return the values as nested dicts.

        Returns
        -------
        dict
            ``{run: {query: {column: value}}}``, with the columns of `columns`, without unanswered queries.

        Examples
        --------
        >>> import tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}, ["map", "P_1"])
        >>> result.to_dict()
        {'run': {'q1': {'map': 0.75, 'P_1': 0.5}}}
        >>> result.to_pandas().to_dict("list")
        {'run': ['run'], 'query': ['q1'], 'map': [0.75], 'P_1': [0.5]}
        >>> print(result.to_trec_eval().expandtabs(), end="")
        map                     all     0.7500
        P_1                     all     0.5000
        """
        return exports.as_dict(export_of(self))

    def to_arrow(self) -> pyarrow.Table:
        """Return a pyarrow.Table with a row for each run and each query that the run answers.

        The columns are "run", "query", and those that `columns` returns. All data frames need `tieaware[arrow]`.

        Returns
        -------
        pyarrow.Table
        """
        return data_frames.as_arrow(exports.as_columns(export_of(self)))

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas.DataFrame; rows and columns as for `to_arrow`."""
        return data_frames.as_pandas(exports.as_columns(export_of(self)))

    def to_polars(self) -> polars.DataFrame:
        """Return a polars.DataFrame; rows and columns as for `to_arrow`."""
        return data_frames.as_polars(exports.as_columns(export_of(self)))

    def to_trec_eval(self, *, per_query: bool = False, digits: int = 4, header: bool = False) -> str:
        """Return the lines that trec_eval prints: measure, query or ``all``, and value, separated by tabs.

        Parameters
        ----------
        per_query : bool
            Whether the lines of each query precede those of ``all``.
        digits : int
            The number of decimals of a value, 0 … 17. Counts are whole numbers.
        header : bool
            Whether the lines ``runid`` and ``num_q`` come first. With several runs, the lines of each run always begin
            with ``runid``.

        Returns
        -------
        str
            The lines, each with a line feed at its end.

        Raises
        ------
        InputError
            If an argument has a wrong type, or `digits` is out of range.
        """
        per_query, header = flag("per_query", per_query), flag("header", header)
        digits = whole_number("digits", digits, 0, 17)
        return formats.trec_eval(export_of(self), per_query=per_query, digits=digits, header=header)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the results to one file. The file is written whole or not at all; `load` reads back the same bits.

        Parameters
        ----------
        path : str or os.PathLike
            Must end in ".npz" or ".parquet". A Parquet file has a row for each pair of run and query, and a column for
            each measure, under its name; writing it needs `tieaware[arrow]`. An existing file is replaced.

        Raises
        ------
        InputError
            If the path has another ending, the results have no measure, or the file cannot be written.

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

        storage.write(vars(self), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file that `save` wrote.

        Parameters
        ----------
        path : str or os.PathLike
            An npz or Parquet file. The format is recognised by the content, not by the name.

        Returns
        -------
        Results

        Raises
        ------
        InputError
            If the file cannot be read, is damaged, was not written by `save`, or has a newer format.
        """
        from tieaware.results import storage

        return cls(**storage.read(path))


def export_of(results: Results) -> Export:
    """Return the content of results that exports show."""
    has_spread = results.std is not None
    return Export(results.title, results.runs, results.queries, results.answered, results.columns(), has_spread)
