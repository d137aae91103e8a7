"""Tie-aware evaluation as methods of polars frames: ``run.tieaware.evaluate(qrels, measures)``.

`install` registers the namespace ``tieaware`` for data frames and lazy frames. Their columns are read in place, without
pyarrow and without a Python object for each row; a lazy frame is read in batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tieaware._evaluate import evaluate
from tieaware.inputs import QrelsLike
from tieaware.measures import Measure
from tieaware.runtime.extras import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars

_NAME = "tieaware"


class FrameNamespace:
    """The methods that `install` adds to a frame of polars whose rows are the documents of runs.

    Parameters
    ----------
    frame : polars.DataFrame or polars.LazyFrame
        Columns of queries, documents and scores, under any of the names that `tieaware.evaluate` takes; a column run,
        system or tag holds several runs.

    Examples
    --------
    >>> import polars
    >>> run = polars.DataFrame({"qid": ["q1", "q1"], "docno": ["a", "b"], "score": [0.5, 0.5]})
    >>> FrameNamespace(run).evaluate({"q1": {"a": 1}}, "P@1")["P@1"].to_list()
    [0.5]
    """

    def __init__(self, frame: polars.DataFrame | polars.LazyFrame) -> None:
        self._frame = frame

    def evaluate(
        self, qrels: QrelsLike, measures: str | Measure | Sequence[str | Measure], **options: Any
    ) -> polars.DataFrame:
        """Evaluate each query, and return a row for each run and query.

        Parameters
        ----------
        qrels : data frame, path, dict or Qrels
            The judgments, as for `tieaware.evaluate`.
        measures : sequence of str or Measure, or one string
        **options
            Keyword arguments of `tieaware.evaluate`, such as ``ties``, ``precision`` and ``spread``.

        Returns
        -------
        polars.DataFrame
            The columns run and query, and a column of float64 for each measure; with ``spread=True``, also those of the
            standard deviation, minimum and maximum. Queries have the type that the judgments give them, so that the
            frame joins with others.

        Raises
        ------
        InputError
            As `tieaware.evaluate`.

        Examples
        --------
        >>> import polars
        >>> install()
        >>> qrels = polars.DataFrame({"qid": [1, 1], "docno": ["a", "b"], "label": [1, 0]})
        >>> run = polars.DataFrame({"qid": [1, 1], "docno": ["a", "b"], "score": [0.5, 0.5]})
        >>> run.tieaware.evaluate(qrels, "RR").row(0)           # the relevant document is first or second
        ('run', 1, 0.75)
        """
        return evaluate(qrels, self._frame, measures, **options).to_polars()

    def means(
        self, qrels: QrelsLike, measures: str | Measure | Sequence[str | Measure], **options: Any
    ) -> polars.DataFrame:
        """Evaluate the queries, and return the means over them: a row for each run.

        Parameters
        ----------
        qrels, measures, **options
            As for `evaluate`.

        Returns
        -------
        polars.DataFrame
            The column run, and a column of float64 for each measure, as in `tieaware.Results.means`.

        Raises
        ------
        InputError
            As `tieaware.evaluate`.

        Examples
        --------
        >>> import polars
        >>> install()
        >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
        >>> run = polars.DataFrame({"qid": ["q1", "q1", "q2"], "docno": ["a", "b", "b"], "score": [0.5, 0.5, 0.5]})
        >>> run.lazy().tieaware.means(qrels, ["RR", "P@1"]).row(0)
        ('run', 0.875, 0.75)
        """
        return evaluate(qrels, self._frame, measures, **options).means().to_polars()


def install() -> None:
    """Register the namespace ``tieaware`` of `polars.DataFrame` and `polars.LazyFrame`; a second call does nothing.

    Raises
    ------
    MissingExtraError
        If polars is not installed. It is a subclass of ImportError.

    Examples
    --------
    >>> import polars
    >>> install()
    >>> run = polars.DataFrame({"qid": ["q1"], "docno": ["a"], "score": [0.5]})
    >>> run.tieaware.evaluate({"q1": {"a": 1}}, "AP")["AP"].to_list()
    [1.0]
    """
    polars = load("polars", "polars")
    for kind, register in (
        (polars.DataFrame, polars.api.register_dataframe_namespace),
        (polars.LazyFrame, polars.api.register_lazyframe_namespace),
    ):
        if getattr(kind, _NAME, None) is not FrameNamespace:
            register(_NAME)(FrameNamespace)
