"""The class Results, which `evaluate` returns. It shows, exports, tests and saves the values of runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np

from tieaware.checks.arguments import flag, sequence, shown, unexpected, whole_number
from tieaware.checks.arrays import Values
from tieaware.checks.rounding import merged
from tieaware.errors import InputError, hints, missing, warn
from tieaware.inputs import QrelsLike
from tieaware.measures import Measure
from tieaware.output import tables
from tieaware.output.data_frames import ArrowProducer
from tieaware.output.tables import Table, counted
from tieaware.results import certainty, combining, exports, summaries
from tieaware.results._averages import FURTHER, Averages, export_of
from tieaware.results.combining import Joinable
from tieaware.results.lookup import Axes, position_of_measure, position_to_sort_by, shown_name
from tieaware.results.provenance import warning_of_unanswered

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Plot

    from tieaware.results.paper_table import Beside
    from tieaware.statistics.multiple_comparisons import Correction
    from tieaware.statistics.procedures import Test

# The most runs and measures that repr() shows, and the most names of other measures.
_SHOWN_RUNS, _SHOWN_MEASURES, _SHOWN_NAMES = 5, 6, 10
# The most runs that a notebook shows.
_SHOWN_ROWS = 60

# The values of the fields beside the values, in results without a spread and without chance.
_DEFAULTS: dict[str, Any] = dict.fromkeys(FURTHER)


@dataclass(frozen=True, eq=False, repr=False)
class Results(Averages, ArrowProducer):
    """A value for each run, query and measure, as `evaluate` returns.

    ``len(result)`` is the number of runs. Iteration yields the names of the runs. For results of one run and one
    measure, ``float(result)`` is the mean over the queries; for a count, it is the sum. A data frame has a row for each
    run and each query that the run answers, with the columns "run", "query", and those that `columns` returns.

    Attributes
    ----------
    values : float64[n_runs, n_queries, n_measures]
        With ``queries="both"``, NaN where the run does not answer the query; with ``undefined=nan``, where the measure
        is undefined.
    runs : tuple of str
        The names along the first axis.
    queries : tuple of str or of int
        The names along the second axis; their type is that of the query ids in the judgments.
    measures : tuple of Measure
        The measures along the third axis.
    std, min, max : float64[n_runs, n_queries, n_measures] or None
        With ``spread=True``, the standard deviation, the minimum and the maximum over the orders of tied documents;
        NaN for infAP, whose spread is not known.
    chance, chance_std, ideal : float64[n_runs, n_queries, n_measures] or None
        With ``chance=True``, the mean and the standard deviation of the value over all orders of the documents that the
        run has for the query, and the value of the best order; `adjusted` and `z` compare the values with them.
    names : tuple of str
        The names of the measures in exports, as they were requested, e.g. "map" or "AP".
    provenance : Provenance or None
        The options that the values were computed with; None for values that `evaluate` did not compute.
    unanswered : dict of str to int
        The runs that leave judged queries unanswered, and how many; these queries count as empty lists. With
        ``queries="both"``, which leaves them out, the dict is empty.

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
    >>> result.means()["bm25", "RR"], float(tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0}}, "RR"))
    (0.75, 1.0)
    """

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError; for the name of a measure, it says how to look up its values."""
            # While an object is unpickled, it has no fields yet.
            if name.startswith("_") or name in self.__dataclass_fields__ or name in hints("Results"):
                raise missing("Results", name, self)
            shown_as = shown_name(self.names, self.measures, name)
            key = repr(shown_as) if len(self.runs) == 1 else f"{self.runs[0]!r}, {shown_as!r}" if self.runs else ""
            raise missing("Results", name, self, f"result[{key}]" if key and shown_as in self.names else "")

    def _values_only(self, values: Values, names: tuple[str, ...], measures: tuple[Measure, ...] | None = None) -> Self:
        """Return results with other values of some measures, without a spread and without chance."""
        return replace(
            self, values=values, names=names, measures=self.measures if measures is None else measures, **_DEFAULTS
        )

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
        run, measure, query = Axes(self.runs, self.measures, self.names, self.queries).places(key, self.cubes())
        if measure is None:
            return self._run_range(run, run + 1)
        values = self.values[run, :, measure]
        return values if query is None else float(values[query])

    def _ipython_key_completions_(self) -> list[str]:
        """Return the keys that notebooks offer after ``result[``."""
        return [*self.runs, *(self.names if len(self.runs) == 1 else ())]

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

    def means(self, *, sort: str | Measure | None = None) -> Table:
        """Return the summary over the queries as a table, with a row for each run and the columns of `columns`.

        Parameters
        ----------
        sort : str or Measure, optional
            The measure that the rows are sorted by, the best run first. Runs stay in their order by default, and where
            values are equal.

        Returns
        -------
        Table
            The values of `summary`, so counts are summed.

        Raises
        ------
        InputError
            If `sort` is not among the measures.
        """
        export = export_of(self._sorted(sort))
        table = exports.table_of_means(export.title, export.runs, export.columns)
        return replace(
            table, other_name=partial(shown_name, self.names, self.measures), caption=exports.caption_of(export),
            label=exports.label_of(export, "means"),
        )  # fmt: skip

    def bias(self, expectation: Results) -> Self:
        """Return the bias of a tie rule: its values minus the averages over all orders of tied documents.

        Parameters
        ----------
        expectation : Results
            The results with ``ties="average"`` of the same runs, queries and measures.

        Returns
        -------
        Results
            The differences, under names that end in "_bias". Their `mean` is the bias of the mean. NaN for GMAP.

        Raises
        ------
        InputError
            If the expectation has other runs, queries or measures, or another tie rule than "average".
        """
        if not isinstance(expectation, Results):
            raise unexpected("expectation", "Results", shown(expectation))
        combining.check_expectation(self._joinable(), expectation._joinable())
        differences = self.values - expectation.values
        differences[..., summaries.geometric(self.measures)] = np.nan
        names = tuple(f"{name}_bias" for name in self.names)
        return self._values_only(differences, names)

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
            Runs and queries in the order of the first result, then those that only later results have; with `qrels`,
            the queries of the judgments. No value is recomputed. There is a spread if all results have one.

        Raises
        ------
        InputError
            If there are no results; two of them share a run and query; both runs and queries differ; the measures, tie
            rules, score precisions or choices of queries differ; or a query is not judged.

        Examples
        --------
        >>> import tieaware
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 1}}
        >>> run = {"q1": {"d1": 2.0, "d2": 2.0}, "q2": {"d1": 2.0, "d2": 1.0}}
        >>> shards = [tieaware.evaluate(qrels, {query: run[query]}, "RR", queries="shard") for query in run]
        >>> tieaware.Results.concat(shards)["RR"], tieaware.Results.concat(shards, qrels)["RR"]
        (array([0.75, 0.5 ]), array([0.75, 0.5 , 0.  ]))
        """
        given = sequence("results", results, "Results")
        for i, result in enumerate(given):
            if not isinstance(result, Results):
                raise unexpected(f"results[{i}]", "Results", shown(result), "results")
        joined = combining.joined([each._joinable() for each in given], qrels)._asdict()
        return cls(**joined.pop("arrays"), **joined)

    def _joinable(self) -> Joinable:
        fields = (self.runs, self.queries, self.measures, self.names)
        return Joinable(*fields, self.cubes(), self.provenance, self.unanswered)

    def __repr__(self) -> str:
        n_runs, n_queries, n_measures = self.values.shape
        sizes = [counted(n_runs, "run"), counted(n_queries, "query", "queries"), counted(n_measures, "measure")]
        first, n = self._run_range(0, _SHOWN_RUNS), _SHOWN_MEASURES
        few = first._values_only(first.values[..., :n], self.names[:n], self.measures[:n])
        lines = [f"Results of {', '.join(sizes)}", str(replace(few.means(), notes=()))]
        if n_runs > _SHOWN_RUNS:
            lines.append(f"and {counted(n_runs - _SHOWN_RUNS, 'more run')}")
        if n_measures > n:
            names, more = self.names[n:], n_measures - n - _SHOWN_NAMES
            others = ", ".join(names[:_SHOWN_NAMES]) + (", …" if more > 0 else "")
            lines.append(f"and {counted(len(names), 'more measure')}: {others}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        table = self._run_range(0, _SHOWN_ROWS).means()
        more = len(self) - _SHOWN_ROWS
        notes = (f"And {counted(more, 'more run')}.", *table.notes) if more > 0 else table.notes
        return replace(table, notes=notes)._repr_html_()

    def table(
        self, baseline: str | None = None, test: Test = "t", correction: Correction | None = None, alpha: float = 0.05,
        best: bool = True, digits: int = 3, spread: Beside | None = None, *, sort: str | Measure | None = None,
        groups: bool = False, keep: float | str | None = None, tolerance: float | None = None,
    ) -> Table:  # fmt: skip
        """Return a table for a paper: runs × measures, with marks for significant differences.

        Up to ten runs are compared with each other. Each run has a letter, raised after its name, and a mean is
        followed by the letters of the runs that are significantly worse. With a baseline, a dagger (†) after a mean
        says that the run is significantly better than the baseline, a double dagger (‡) that it is worse; two more
        columns have the difference from the baseline (Δ) and the corrected p value. More than ten runs are compared
        with the best run by the first measure. With several runs, the table needs `tieaware[analysis]`.

        Parameters
        ----------
        baseline : str, optional
            The only run with which the other runs are compared.
        test : str
            The two-sided paired test over the queries: "t", "wilcoxon", "sign" or "permutation", as in
            `tieaware.statistics.paired_test`; over all runs, "tukey" (`tieaware.statistics.tukey_hsd`) or
            "randomised-tukey" (`tieaware.statistics.randomised_tukey_hsd`); or "none".
        correction : str, optional
            The correction for all pairs of runs that are compared by one measure: "holm", the default; "bh"
            (Benjamini–Hochberg); "bonferroni"; or "none", the only choice with Tukey's HSD. If the table itself
            compares all runs with the best one, p values are still corrected for all pairs of runs.
        alpha : float
            The significance level, between 0 and 1.
        best : bool
            Whether the best mean of each measure is bold.
        digits : int
            The number of decimals of a mean, 0 … 17. Counts are summed, not tested, and shown as whole numbers.
        spread : str, optional
            What is beside each mean: with ``evaluate(..., spread=True)``, its spread over the orders of tied documents,
            "std" or "range"; or "interval", its confidence interval over the queries, as `intervals` has it.
        sort : str or Measure, optional
            As for `means`.
        groups : bool
            Whether the letters after a mean denote groups (a compact letter display): runs that share a letter are not
            significantly different. Then runs of any number are compared with each other, and the runs have no letters.
            If 26 letters are too few, the ranks that a run may have take their place, as in `ranks`.
        keep : float or str, optional
            With a baseline, the share of its mean that a run must keep, such as 0.99 or "99%": one more column says
            whether it does; see `tieaware.statistics.kept`.
        tolerance : float, optional
            The loss of the mean that does not matter, instead of `keep`.

        Returns
        -------
        Table
            Print the table, or call its ``to_latex()``, ``to_markdown()`` or ``to_html()``. A data frame or CSV file
            has the numbers without marks; the columns of differences and p values are "Δ AP" and "p AP".

        Raises
        ------
        InputError
            If an argument is not valid, or a test is requested but a run does not answer all queries, or there are
            fewer than two queries.
        MissingExtraError
            If a test is requested and SciPy is not installed.

        Examples
        --------
        >>> import tieaware
        >>> qrels = {f"q{i}": {"d": 1} for i in range(5)}
        >>> good = {query: {"d": 2.0, "x": 1.0} for query in qrels}
        >>> tied = {query: {"d": 1.0, "x": 1.0} for query in qrels}
        >>> print(tieaware.evaluate(qrels, {"good": good, "tied": tied}, ["RR", "P_1"]).table(test="none"))
        Means over 5 queries, ties: average
        <BLANKLINE>
        run   RR      P_1
        good  *1.000  *1.000
        tied   0.750   0.500
        <BLANKLINE>
        Star: the best mean of each measure.
        """
        # Import only here: the statistics take time to import, and no other method needs them.
        from tieaware.results.paper_table import Design, paper_table

        design = Design(baseline, test, correction, alpha, best, digits, spread, groups, keep, tolerance)
        return paper_table(export_of(self._sorted(sort)), design)

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
        >>> result.to_dict(), result.to_pandas().to_dict("list")
        ({'run': {'q1': {'map': 0.75, 'P_1': 0.5}}}, {'run': ['run'], 'query': ['q1'], 'map': [0.75], 'P_1': [0.5]})
        >>> print(result.to_trec_eval().expandtabs(), end="")
        map                     all     0.7500
        P_1                     all     0.5000
        """
        return exports.as_dict(export_of(self, every=True))

    def _columns(self) -> dict[str, Any]:
        return exports.as_columns(export_of(self, every=True))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a CSV file, with the rows and columns of a data frame; undefined values are "nan".

        To write one row for each run, use ``means().to_csv(path)``.

        Parameters
        ----------
        path : str or os.PathLike
            An existing file is replaced when the new one is complete.
        """
        columns = self._columns()
        tables.write_csv(columns, zip(*map(list, columns.values()), strict=True), path)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file for other programs, with the columns of a data frame; path and errors as for `to_csv`.

        `load` does not read this file: use `save` to restore the results. Needs `tieaware[arrow]`.
        """
        self._write_parquet(path)

    def plot(
        self, ax: Plot | None = None, *, measure: str | Measure | None = None, width: float | None = None
    ) -> Plot:
        """Draw the means of all runs; parameters as for `tieaware.results.Intervals.plot`.

        With a spread, a bar shows the least and the greatest mean over the orders of tied documents. A file is written
        by ``plot().figure.savefig("means.png")``. Needs `tieaware[analysis]`.
        """
        from tieaware.output.plots import check_axes

        if not self.measures:
            raise InputError("plot", "the results have no measure")
        check_axes(ax)
        place = 0 if measure is None else position_of_measure(self.measures, self.names, measure)
        return certainty.means_figure(export_of(self), place).of_width(width).plot(ax)

    def to_trec_eval(self, *, per_query: bool = False, digits: int = 4, header: bool = False) -> str:
        """Return the lines that trec_eval prints: measure, query or ``all``, and value, separated by tabs.

        Parameters
        ----------
        per_query : bool
            Whether the lines of each query precede those of ``all``.
        digits : int
            The number of decimals of a value, 0 … 17. Counts are whole numbers.
        header : bool
            Whether the lines ``runid`` and ``num_q`` come first. With several runs, each run begins with ``runid``.

        Returns
        -------
        str

        Raises
        ------
        InputError
            If an argument has a wrong type, or `digits` is out of range.
        """
        per_query, header = flag("per_query", per_query), flag("header", header)
        digits = whole_number("digits", digits, 0, 17)
        return exports.trec_eval(export_of(self), per_query=per_query, digits=digits, header=header)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the results to one file, whole or not at all; `load` reads back the same bits.

        Parameters
        ----------
        path : str or os.PathLike
            Must end in ".npz", or in ".parquet": then the file has a row for each run and query, and a column for each
            measure; it needs `tieaware[arrow]`. An existing file is replaced.

        Raises
        ------
        InputError
            If the path has another ending, the results have no measure, or the file cannot be written.
        """
        from tieaware.results import storage

        storage.write(vars(self), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file that `save` wrote, recognised by its content; parameters as for `save`.

        InputError if the file cannot be read, is damaged, was not written by `save`, or has a newer format.
        """
        from tieaware.results import storage

        return cls(**storage.read(path))


def unchecked(further: dict[str, Any], **fields: Any) -> Results:
    """Return Results whose fields are known to be valid, without checking them.

    All fields without a default must be given, in `further` or by name.
    """
    made = Results.__new__(Results)
    made.__dict__.update(_DEFAULTS, **fields)
    made.__dict__.update(further)
    return made
