"""The content of results that exports show: runs, queries and columns.

The functions here export it as dicts, as columns of data frames and as text: trec_eval's three columns, JSON, CSV and
Markdown. They also give the default captions and labels of tables in LaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Values
from tieaware.engine.views import CHANCE, SPREAD
from tieaware.measures import Measure
from tieaware.output import tables
from tieaware.output.tables import Cell, Table, counted, joined
from tieaware.results import summaries
from tieaware.results.provenance import Provenance
from tieaware.ties import RULES

# The kinds of columns that are standard deviations.
_DEVIATIONS = ("std", "chance_std")
# A caption names no more measures than this; the columns name them all.
_NAMED = 4
_LETTERS = re.compile(r"[a-z0-9]+")


class ExportColumn(NamedTuple):
    """One column of an export: a number for each run and query, and a summary for each run.

    Attributes
    ----------
    name : str
        The name of the column, e.g. "map" or "map_std".
    values : float64[n_runs, n_queries]
    summary : float64[n_runs]
        The sum of a count over the queries; the mean of anything else.
    measure : Measure
    kind : str
        "value" for the value of the measure; "std", "min" or "max" for its spread over the orders of tied documents;
        "chance", "chance_std" or "ideal" for the orders of all documents.
    """

    name: str
    values: Values
    summary: Values
    measure: Measure
    kind: str

    @property
    def is_count(self) -> bool:
        """True if the values are whole numbers that are summed over the queries."""
        return self.measure.definition.is_count

    @property
    def is_tested(self) -> bool:
        """True if the summary is an arithmetic mean, which tests and intervals are about."""
        return self.measure.definition.summary == "mean"

    @property
    def larger_is_better(self) -> Values:
        """The values, or where less is better, the negative values."""
        return -self.values if self.measure.definition.less_is_better else self.values

    @property
    def summary_only(self) -> bool:
        """True if trec_eval prints only the summary of the measure, and no value for single queries."""
        return self.measure.definition.summary_only

    def shown(self, value: float, digits: int) -> str:
        """Format a value: a count as a whole number, any other value with this number of decimals."""
        return f"{value:.0f}" if self.is_count else f"{value:z.{digits}f}"


class Export(NamedTuple):
    """The content of results that exports show.

    Attributes
    ----------
    title : str
        One line that says over which queries the means are, and with which options they were computed.
    runs : tuple of str
    queries : tuple of str or of int
    answered : bool[n_runs, n_queries]
        Whether each run has a value for each query; see `tieaware.Results.answered`.
    columns : list of ExportColumn
        In the order of the measures; the spread of a measure, and its chance, follow its value.
    has_spread : bool
        Whether the results have the spread over the orders of tied documents.
    made : Provenance or None
        The options that the values were computed with; None if they are unknown.
    """

    title: str
    runs: tuple[str, ...]
    queries: tuple[str | int, ...]
    answered: npt.NDArray[np.bool_]
    columns: list[ExportColumn]
    has_spread: bool
    made: Provenance | None


def columns_of(
    measures: Sequence[Measure], names: Sequence[str], arrays: Mapping[str, Values], weights: Values | None = None
) -> list[ExportColumn]:
    """Return the columns of measures: for each measure its value, then its spread and its chance where they are known.

    A count has only the column of its value. A measure with a geometric mean has no column of a standard deviation.
    `arrays` are those that `tieaware.Results.cubes` returns. `weights` are those of the queries in means, by default
    all the same; counts are summed without them.
    """
    values = arrays["values"]
    kinds = {"value": (values, summaries.sums_or_means(values, measures, weights))}
    for kind in (kind for group in (SPREAD, CHANCE) if all(kind in arrays for kind in group) for kind in group):
        array = arrays[kind]
        if kind in _DEVIATIONS:
            kinds[kind] = array, summaries.std_of_means(array, values, measures, weights)
        else:
            kinds[kind] = array, summaries.averages(array, measures, weights)
    columns = []
    for i, (name, measure) in enumerate(zip(names, measures, strict=True)):
        for kind, (array, summary) in kinds.items():
            if kind == "value" or _is_known(measure, kind):
                full_name = name if kind == "value" else f"{name}_{kind}"
                columns.append(ExportColumn(full_name, array[..., i], summary[:, i], measure, kind))
    return columns


def _is_known(measure: Measure, kind: str) -> bool:
    """Return whether a kind of column other than "value" is known for a measure."""
    definition = measure.definition
    if definition.is_count or not (definition.has_spread or kind == "chance"):
        return False
    return kind not in _DEVIATIONS or definition.summary != "geometric"


def without_last_measure(export: Export) -> Export:
    """Return an export without its last measure, which must be a count, so that it has one column."""
    columns = export.columns[:-1]
    answered = ~np.all([np.isnan(column.values) for column in columns if column.kind == "value"], axis=0)
    return export._replace(columns=columns, answered=answered)


def as_dict(export: Export) -> dict[str, dict[str | int, dict[str, float]]]:
    """Return ``{run: {query: {column: value}}}``, without unanswered queries."""
    names = [column.name for column in export.columns]
    values = np.stack([column.values for column in export.columns], axis=2)
    return {
        run: {
            query: dict(zip(names, row, strict=True))
            for query, row, is_answered in zip(export.queries, of_run.tolist(), answered.tolist(), strict=True)
            if is_answered
        }
        for run, of_run, answered in zip(export.runs, values, export.answered, strict=True)
    }


def as_columns(export: Export) -> dict[str, Any]:
    """Return the columns of a data frame by name: run, query and the values. Each query that a run answers is a row."""
    runs, queries = np.nonzero(export.answered)
    columns: dict[str, Any] = {
        "run": [export.runs[i] for i in runs.tolist()],
        "query": [export.queries[i] for i in queries.tolist()],
    }
    return columns | {column.name: column.values[runs, queries] for column in export.columns}


def table_of_means(title: str, runs: Sequence[str], columns: Sequence[ExportColumn]) -> Table:
    """Return a table of the summaries of columns, with a row for each run."""
    cells = [[int(value) if column.is_count else value for value in column.summary.tolist()] for column in columns]
    rows: list[tuple[Cell, ...]] = list(zip(runs, *cells, strict=True))
    counts = [column.name for column in columns if column.is_count]
    notes = [f"{', '.join(counts)}: summed over the queries."] if counts else []
    return Table(title, ("run", *(column.name for column in columns)), rows, tuple(notes))


def trec_eval(export: Export, *, per_query: bool, digits: int, header: bool = False) -> str:
    """Format results in trec_eval's three columns: measure, query, value."""
    lines: list[tuple[str, str | int, str]] = []
    for r, (run, answered) in enumerate(zip(export.runs, export.answered, strict=True)):
        if header or len(export.runs) > 1:
            lines.append(("runid", "all", run))
        if header:
            lines.append(("num_q", "all", str(answered.sum())))
        for i in answered.nonzero()[0] if per_query else ():
            for column in export.columns:
                if not column.summary_only:
                    lines.append((column.name, export.queries[i], column.shown(column.values[r, i], digits)))
        for column in export.columns:
            lines.append((column.name, "all", column.shown(column.summary[r], digits)))
    return "".join(f"{name:<22}\t{query}\t{value}\n" for name, query, value in lines)


def as_json(export: Export, *, per_query: bool, digits: int) -> str:
    """Format results as JSON, ``{run: {query or "all": {column: value}}}``, in full precision; `digits` is ignored."""
    nested: dict[str, dict[str, dict[str, float]]] = {}
    for run, query, values in _rows(export, per_query):
        nested.setdefault(run, {})[query] = {c.name: value for c, value in zip(export.columns, values, strict=True)}
    return tables.as_json(nested)


def as_csv(export: Export, *, per_query: bool, digits: int) -> str:
    """Format results as CSV, one row for each run and query, in full precision; `digits` is ignored."""
    rows = ((run, query, *values) for run, query, values in _rows(export, per_query))
    return tables.as_csv(["run", "query", *(column.name for column in export.columns)], rows)


def as_markdown(export: Export, *, per_query: bool, digits: int) -> str:
    """Format results as a Markdown table, one row for each run and query; without `per_query`, one row for each run."""
    axes = ["run", "query"] if per_query else ["run"]
    rows = [
        [*(run, query)[: len(axes)], *(c.shown(value, digits) for c, value in zip(export.columns, values, strict=True))]
        for run, query, values in _rows(export, per_query)
    ]
    is_text = [True] * len(axes) + [False] * len(export.columns)
    return tables.as_markdown([*axes, *(column.name for column in export.columns)], rows, is_text)


def _rows(export: Export, per_query: bool) -> Iterator[tuple[str, str, list[float]]]:
    """Yield run, query and values: if `per_query`, the queries that the run answers; then its summary as "all"."""
    for r, (run, answered) in enumerate(zip(export.runs, export.answered, strict=True)):
        for i in answered.nonzero()[0] if per_query else ():
            yield run, str(export.queries[i]), [float(column.values[r, i]) for column in export.columns]
        yield run, "all", [float(column.summary[r]) for column in export.columns]


FORMATS: dict[str, Callable[..., str]] = {"text": trec_eval, "json": as_json, "csv": as_csv, "markdown": as_markdown}


def caption_of(export: Export) -> str:
    """Return a sentence with the measures, the numbers of runs and queries, the tie rule and the precision.

    Examples
    --------
    >>> from tieaware import evaluate
    >>> from tieaware.results import export_of
    >>> caption_of(export_of(evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0}}, ["map", "num_ret"], ties="optimistic")))
    'Mean map and the sum of num_ret of 1 run over 1 query, with tied documents in the best order.'
    """
    values = [column for column in export.columns if column.kind == "value"]
    n_queries = counted(len(export.queries), "query", "queries")
    made = export.made
    over = f"the queries that each run answers, {n_queries} in all" if made and made.queries == "both" else n_queries
    rest = "" if made is None else f", {_ties(made)}{_precision(made)}"
    return f"{_quantities(values)} of {counted(len(export.runs), 'run')} over {over}{rest}."


def _quantities(values: Sequence[ExportColumn]) -> str:
    if not values or len(values) > _NAMED:
        return f"{counted(len(values), 'measure').capitalize()}"
    means = [column.name for column in values if not column.is_count]
    sums = [column.name for column in values if column.is_count]
    parts = [f"mean {joined(means)}"] if means else []
    parts += [f"the {'sum' if len(sums) == 1 else 'sums'} of {joined(sums)}"] if sums else []
    text = " and ".join(parts) if len(means) < 2 else ", and ".join(parts)
    return text[0].upper() + text[1:]


def _ties(made: Provenance) -> str:
    rule = RULES[made.ties]  # type: ignore[index]
    if rule.averages:
        return "averaged over all orders of tied documents"
    return f"with tied documents {rule.title.partition(':')[0]}"


def _precision(made: Provenance) -> str:
    return "" if made.precision is None else f", from scores reduced to {made.precision}"


def label_of(export: Export, *more: str) -> str:
    """Return a label with the measures, the number of queries and everything that is not a default.

    Parameters
    ----------
    export : Export
    more : str
        Further texts that distinguish the table from others of the same results.

    Examples
    --------
    >>> from tieaware import evaluate
    >>> from tieaware.results import export_of
    >>> result = evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 2.0}}, ["nDCG@10", "AP"], ties="optimistic")
    >>> label_of(export_of(result), "vs a")
    'tab:ndcg-10-ap-over-1-query-optimistic-vs-a'
    """
    names = [column.name for column in export.columns if column.kind == "value"]
    made = export.made
    options = [] if made is None else [made.ties, made.precision or "", made.queries]
    distinct = [option for option in options if option not in ("average", "judged")]
    texts = [*names, f"over {counted(len(export.queries), 'query', 'queries')}", *distinct, *more]
    return f"tab:{'-'.join(_LETTERS.findall(' '.join(texts).lower()))}"
