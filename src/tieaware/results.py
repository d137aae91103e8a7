"""Results: the values that `evaluate` returns, and every way to show, export, test and keep them."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from tieaware import exports, formats, frames
from tieaware.checks import flag, whole_number
from tieaware.cube import Cube
from tieaware.tables import Table

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

# As many as are shown where all are too many to look at.
_SHOWN_RUNS, _SHOWN_MEASURES, _SHOWN_ROWS = 5, 6, 60


@dataclass(frozen=True, eq=False, repr=False)
class Results(Cube):
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
        from tieaware.paper_table import Design, paper_table

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
        return frames.as_arrow(exports.as_columns(self))

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
        return frames.as_pandas(exports.as_columns(self))

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
        return frames.as_polars(exports.as_columns(self))

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
        from tieaware import storage

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
        from tieaware import storage

        return cls(**storage.read(path))
