"""The class Results, which `evaluate` returns. It shows, exports, tests and saves the values of runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np

from tieaware.checks.arguments import flag, sequence, shown, unexpected, whole_number
from tieaware.errors import InputError
from tieaware.inputs import QrelsLike
from tieaware.measures import Measure
from tieaware.output import data_frames, tables
from tieaware.output.tables import Table, counted
from tieaware.results import captions, exports, formats, summaries
from tieaware.results.certainty import Certainty
from tieaware.results.exports import Column, Export
from tieaware.results.lookup import position_of_measure, shown_name
from tieaware.ties import tie_rule

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from matplotlib.axes import Axes

    from tieaware.results.paper_table import Beside
    from tieaware.statistics.multiple_comparisons import Correction
    from tieaware.statistics.procedures import Test

# The most runs and measures that repr() shows, and the most names of other measures.
_SHOWN_RUNS, _SHOWN_MEASURES, _SHOWN_NAMES = 5, 6, 10
# The most runs that a notebook shows.
_SHOWN_ROWS = 60


@dataclass(frozen=True, eq=False, repr=False)
class Results(Certainty):
    """A value for each run, query and measure, as `evaluate` returns.

    ``len(result)`` is the number of runs. Iteration yields the names of the runs. For results of one run and one
    measure, ``float(result)`` is the mean over the queries; for a count, it is the sum.

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

    def columns(self) -> list[Column]:
        """Return the columns of exports: the value of each measure, and what else is known of it.

        Returns
        -------
        list of Column
            In the order of the measures, under the names that were requested. With a spread, the std, min and max of a
            measure follow its value, with "_std", "_min" and "_max" appended to the name; with chance, "_chance",
            "_chance_std" and "_ideal". Counts have a value only.

        Examples
        --------
        >>> import tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}, ["RR"], spread=True)
        >>> [(column.name, column.summary.item()) for column in result.columns()]
        [('RR', 0.75), ('RR_std', 0.25), ('RR_min', 0.5), ('RR_max', 1.0)]
        """
        return exports.columns_of(self.measures, self.names, self.cubes())

    def means(self, *, sort: str | Measure | None = None) -> Table:
        """Return the summary over the queries as a table, with a row for each run and the columns of `columns`.

        Parameters
        ----------
        sort : str or Measure, optional
            The measure that the rows are sorted by, the best run first; runs with equal values stay in the order of
            the runs, which is the default.

        Returns
        -------
        Table
            The values of `summary`, so counts are summed.

        Raises
        ------
        InputError
            If `sort` is not among the measures.

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
        export = export_of(self._sorted(sort))
        table = exports.table_of_means(export.title, export.runs, export.columns)
        return replace(
            table, other_name=partial(shown_name, self.names, self.measures), caption=captions.caption_of(export),
            label=captions.label_of(export, "means"),
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
            combining.Joinable(
                each.runs, each.queries, each.measures, each.names, each.cubes(), each.provenance, each.unanswered
            )
            for each in given
        ]
        joined = combining.joined(joinable, qrels)._asdict()
        return cls(**joined.pop("arrays"), **joined)

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
        self,
        baseline: str | None = None,
        test: Test = "t",
        correction: Correction | None = None,
        alpha: float = 0.05,
        best: bool = True,
        digits: int = 3,
        spread: Beside | None = None,
        *,
        sort: str | Measure | None = None,
        groups: bool = False,
    ) -> Table:
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
            `tieaware.statistics.paired_test`; "tukey", Tukey's HSD over all runs, as in `tieaware.statistics.tukey_hsd`;
            "randomised-tukey", the same by random permutations, as in `tieaware.statistics.randomised_tukey_hsd`; or
            "none".
        correction : str, optional
            The correction for all pairs of runs that are compared by one measure: "holm", the default; "bh"
            (Benjamini–Hochberg); "bonferroni"; or "none", the only choice with Tukey's HSD, which needs no other. If
            the table itself compares all runs with the best one, p values are still corrected for all pairs of runs.
        alpha : float
            The significance level, between 0 and 1.
        best : bool
            Whether the best mean of each measure is bold.
        digits : int
            The number of decimals of a mean, 0 … 17. Counts are summed, not tested, and shown as whole numbers.
        spread : str, optional
            What is beside each mean. The spread over the orders of tied documents, which needs
            ``evaluate(..., spread=True)``: "std", the standard deviation, or "range", the minimum and the maximum. Or
            "interval", the confidence interval of the mean over the queries, as `intervals` has it.
        sort : str or Measure, optional
            As for `means`.
        groups : bool
            Whether the letters after a mean denote groups (a compact letter display): runs that share a letter are not
            significantly different. Then runs of any number are compared with each other, and the runs have no letters.

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
        Raised letters after a mean: the runs that are significantly worse (paired t-test, two-sided, p ≤ 0.05, Holm-corrected for 1 pair).
        Star: the best mean of each measure.
        """  # noqa: E501
        # Import only here: the statistics take time to import, and no other method needs them.
        from tieaware.results.paper_table import Design, paper_table

        design = Design(baseline, test, correction, alpha, best, digits, spread, groups)
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

        The columns are "run", "query", and those that `columns` returns. Needs `tieaware[arrow]`.

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

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a CSV file, with a row for each run and each query that the run answers.

        The columns are as for `to_arrow`. Numbers have full precision, and undefined values are "nan". To write one row
        for each run, use ``means().to_csv(path)``.

        Parameters
        ----------
        path : str or os.PathLike
            An existing file is replaced when the new one is complete.

        Raises
        ------
        InputError
            If the file cannot be written.

        Examples
        --------
        >>> import pathlib, tempfile, tieaware
        >>> result = tieaware.evaluate({"q1": {"d1": 1}}, {"bm25": {"q1": {"d1": 2.0, "d2": 2.0}}}, ["RR", "P@1"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "values.csv")
        ...     result.to_csv(path)
        ...     print(path.read_text(), end="")
        run,query,RR,P@1
        bm25,q1,0.75,0.5
        """
        columns = exports.as_columns(export_of(self))
        tables.write_csv(columns, zip(*map(list, columns.values()), strict=True), path)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file for other programs; columns as for `to_arrow`, path and errors as for `to_csv`.

        `load` does not read this file: use `save` to restore the results. Needs `tieaware[arrow]`.
        """
        data_frames.write_parquet(exports.as_columns(export_of(self)), path)

    def plot(self, ax: Axes | None = None, *, measure: str | Measure | None = None) -> Axes:
        """Draw the means of all runs with matplotlib, the highest at the top. Needs `tieaware[analysis]`.

        With a spread, a bar shows the least and the greatest mean over the orders of tied documents.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; by default a new pyplot figure.
        measure : str or Measure, optional
            One of the measures; by default the first.

        Returns
        -------
        matplotlib.axes.Axes
            ``plot().figure.savefig("means.png")`` writes a file.

        Raises
        ------
        InputError
            If the results have no measure, or `ax` is a measure instead of axes.
        KeyError
            If the measure is not among those of the results.

        Examples
        --------
        >>> import tieaware
        >>> qrels, run = {"q1": {"d1": 1}}, {"bm25": {"q1": {"d1": 2.0, "d2": 2.0}}}
        >>> ax = tieaware.evaluate(qrels, run, ["RR", "P@1"]).plot(measure="P@1")
        >>> ax.get_xlabel(), [tick.get_text() for tick in ax.get_yticklabels()]
        ('P@1', ['bm25'])
        """
        from tieaware.output.plots import check_axes
        from tieaware.results.means_figure import means_figure

        if not self.measures:
            raise InputError("plot", "the results have no measure")
        check_axes(ax)
        place = 0 if measure is None else position_of_measure(self.measures, self.names, measure)
        return means_figure(export_of(self), place).plot(ax)

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


def export_of(results: Results, weights: str | Measure | None = None) -> Export:
    """Return the content of results that exports show; with means that are weighted as by `Results.mean`."""
    by_query = None if weights is None else results._weights(weights)
    columns = exports.columns_of(results.measures, results.names, results.cubes(), by_query)
    has_spread = results.std is not None
    return Export(
        results.title, results.runs, results.queries, results.answered, columns, has_spread, results.provenance
    )
