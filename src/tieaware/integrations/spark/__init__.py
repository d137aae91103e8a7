"""Evaluation of runs in data frames of Spark, of any size and on any number of machines.

1. Join: Spark joins the labels to the rows of the runs.
2. Pack: each partition's rows are packed into chunks, a few bytes per document (`packing`).
3. Shuffle: Spark brings the chunks of a query together.
4. Evaluate: the lists of a partition are evaluated, many in one call (`partitions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tieaware.checks.arguments import flag, one_of
from tieaware.engine.views import View, passes
from tieaware.errors import InputError
from tieaware.integrations.spark.broadcasting import broadcast_judgments
from tieaware.integrations.spark.checked_rows import (
    CheckedRows,
    check_identifier_types,
    distinct_judgments,
    judgments_in,
    runs_in,
)
from tieaware.integrations.spark.installation import EXTRA, check_frames
from tieaware.integrations.spark.installation import check_java as check_java  # for users, and for make test-spark
from tieaware.integrations.spark.packing import CHUNK_COLUMNS, packed
from tieaware.integrations.spark.partitions import Evaluation
from tieaware.integrations.spark.sql import literal, raising
from tieaware.integrations.spark.sums import merged_means, partial_sums, value_columns
from tieaware.measures import Measure, named_measures
from tieaware.precision import Coarsening
from tieaware.runtime.extras import load

__all__ = ["evaluate", "means"]


def evaluate(
    qrels_df: Any,
    runs_df: Any,
    measures: str | Measure | Sequence[str | Measure],
    *,
    ties: str = "average",
    precision: str | Coarsening | None = None,
    spread: bool = False,
    queries: str = "judged",
    duplicates: str = "judged",
    broadcast: bool | None = None,
) -> Any:
    """Evaluate runs against judgments, both in data frames of Spark.

    The values have the same bits as those of `tieaware.evaluate`.

    Parameters
    ----------
    qrels_df : pyspark.sql.DataFrame
        The judgments, one in each row: query, document and label. `tieaware.Qrels.from_frame` lists the column names.
    runs_df : pyspark.sql.DataFrame
        The retrieved documents, one in each row: query, document and score, and for several runs also a column run,
        system or tag. `tieaware.Run.from_frame` lists the column names. Rows may come in any order; evaluation is
        faster if the rows of a list are close to each other.
    measures : sequence of str or Measure
        For example ``["AP", "nDCG@10"]``.
    ties : str
        The tie rule, one of `tieaware.ties.RULES`. Rules that order by document shuffle the names of all documents.
        "run_order" orders rows as ``collect`` returns them.
    precision : str or Coarsening, optional
        The precision to which scores are reduced first; see `tieaware.precision`.
    spread : bool
        Whether to add the columns std, min and max. Requires the tie rule "average".
    queries : str
        "judged": every run gets a row for every judged query. "both": only for the queries that it answers.
    duplicates : str
        Which documents to check for duplicates within a query: only "judged" ones, or "all", which shuffles the names
        of all documents.
    broadcast : bool, optional
        Whether to collect the judgments and copy them to every executor. Otherwise Spark joins judgments and runs by
        sorting both. By default up to a million judgments are copied.

    Returns
    -------
    pyspark.sql.DataFrame
        run, query_id, measure, value and, with a spread, std, min and max: one row for each value, in no particular
        order. The frame is lazy: values are computed when an action asks for them, and again for each action.

    Raises
    ------
    InputError
        A ValueError, if columns, types or options are wrong, or collected judgments have a bad value. Other bad values
        raise pyspark.errors.SparkRuntimeException with the same message when values are computed.
    MissingExtraError
        An ImportError, if pyspark or Java is missing or too old.

    Examples
    --------
    >>> from pyspark.sql import SparkSession                                                      # doctest: +SKIP
    >>> spark = SparkSession.builder.getOrCreate()                                                # doctest: +SKIP
    >>> qrels = spark.createDataFrame([("q1", "d1", 1)], ["query_id", "doc_id", "relevance"])     # doctest: +SKIP
    >>> runs = spark.createDataFrame([("q1", "d1", 2.0), ("q1", "d2", 2.0)], ["query_id", "doc_id", "score"])
    ... # doctest: +SKIP
    >>> evaluate(qrels, runs, ["RR", "P@1"]).show()                                               # doctest: +SKIP
    +---+--------+-------+-----+
    |run|query_id|measure|value|
    +---+--------+-------+-----+
    |run|      q1|     RR| 0.75|
    |run|      q1|    P@1|  0.5|
    +---+--------+-------+-----+
    """
    check_frames(qrels_df=qrels_df, runs_df=runs_df)
    parsed, asked = named_measures(measures)
    view = View(ties, precision, flag("spread", spread))
    one_of("queries", queries, ("judged", "both"))
    one_of("duplicates", duplicates, ("judged", "all"))
    broadcast = broadcast if broadcast is None else flag("broadcast", broadcast)
    judgments, runs = judgments_in(qrels_df, "qrels_df"), runs_in(runs_df, "runs_df")
    check_identifier_types(runs, judgments)

    by_position = any(each.rule.by_position for each in passes([view]))
    rows = runs.frame.selectExpr("*", "monotonically_increasing_id() as place") if by_position else runs.frame
    copied = broadcast_judgments(judgments, broadcast)
    if copied is not None:
        queries_df = copied.queries.drop("bits")
        joined = copied.joined(rows)
    else:
        F = load("pyspark.sql.functions", EXTRA)
        judged = distinct_judgments(judgments)
        queries_df = judged.groupBy("query").agg(F.collect_list("label").alias("judged"))
        queries_df = queries_df.selectExpr("*", "query as query_id")
        joined = rows.join(judged.hint("merge"), ["query", "document"], "left").selectExpr("*", "query as answered")

    all_names = duplicates == "all" or bool(view.rule.by_document)
    chunks = _chunks(joined, runs, all_names, by_position)
    evaluation = Evaluation(parsed, view, queries == "judged", runs.dtype, runs.name)
    values = _evaluated(chunks, queries_df, evaluation, runs, judgments)
    return _one_row_per_value(values, evaluation, asked)


def means(values_df: Any) -> Any:
    """Average the values of `evaluate` over the queries.

    Parameters
    ----------
    values_df : pyspark.sql.DataFrame
        The frame that `evaluate` returned; the same frame written and read again; or a union of frames with different
        queries.

    Returns
    -------
    pyspark.sql.DataFrame
        run, measure, value and, with a spread, std, min and max, sorted by run and measure: the numbers of
        `Results.means`, in the same bits. Counts such as NumRet are added up, and have no spread. The std is the
        standard deviation of the mean, as in `Results.mean_std`.

    Raises
    ------
    InputError
        A ValueError, if the frame lacks a column.
    MissingExtraError
        An ImportError, if pyspark is missing.

    Examples
    --------
    >>> values = evaluate(qrels, runs, ["RR", "P@1"])                                             # doctest: +SKIP
    >>> means(values).show()                                                                      # doctest: +SKIP
    +---+-------+-----+
    |run|measure|value|
    +---+-------+-----+
    |run|    P@1|  0.5|
    |run|     RR| 0.75|
    +---+-------+-----+
    """
    check_frames(values_df=values_df)
    missing = [name for name in ("run", "measure", "value") if name not in values_df.columns]
    if missing:
        raise InputError("values_df", f"the column {missing[0]} is missing; give a frame that evaluate returned")
    columns = value_columns(values_df.columns)
    sums = ", ".join(f"{name}_high double, {name}_low double, {name}_n bigint" for name in columns)
    partial = _map(values_df.select("run", "measure", *columns), partial_sums, f"run string, measure string, {sums}")
    numbers = ", ".join(f"{name} double" for name in columns)
    return _map(partial.repartition(1), merged_means, f"run string, measure string, {numbers}")


# ---- steps of the evaluation ---------------------------------------------------------------------


def _chunks(joined: Any, runs: CheckedRows, all_names: bool, places: bool) -> Any:
    """Pack rows that are joined with labels into chunks.

    Parameters
    ----------
    joined : pyspark.sql.DataFrame
        The rows of the runs, with the columns label and answered, which identifies the query; both are null where
        nothing is judged.
    runs : CheckedRows
    all_names : bool
        Whether to keep the names of all documents, instead of the judged ones only.
    places : bool
        Whether to keep the order of the rows.
    """
    bad, needed = runs.is_bad(), "true" if all_names else "label is not null"
    # The error of a bad row travels as the document's name, and is raised later, once for all rows.
    name = f"case when {bad} then {runs.error()} when {needed} then cast(document as string) end as document"
    score = f"case when not {bad} then cast(score as {runs.types['score']}) end as score"
    run = ["run"] if "run" in runs.columns else []
    rows = joined.selectExpr(*run, "answered as query", score, "label", name, *(["place"] if places else []))
    arrays = [f"{column} binary" for column in (CHUNK_COLUMNS if places else CHUNK_COLUMNS[:-1])]
    schema = ", ".join([*(["run string"] if run else []), f"query {dict(rows.dtypes)['query']}", *arrays])
    chunks = _map(rows, packed, schema)
    return chunks if run else chunks.selectExpr("*", "'run' as run")


def _evaluated(chunks: Any, queries: Any, evaluation: Evaluation, runs: CheckedRows, judgments: CheckedRows) -> Any:
    """Shuffle chunks to the judgments of their queries, and evaluate them: one row for each list."""
    F = load("pyspark.sql.functions", EXTRA)
    together = queries.unionByName(chunks, allowMissingColumns=True).repartition("query")
    # Rows of judgments have no run, so they get the names of all runs, and come before the chunks of their query.
    with_runs = together.join(F.broadcast(_run_names(together, runs, judgments)), F.isnull("run"), "left")
    ordered = with_runs.sortWithinPartitions("query", F.col("run").asc_nulls_first())
    numbers = ", ".join(f"{name} double" for name in evaluation.columns())
    schema = f"run string, query_id {judgments.types['query']}, {numbers}, error string"
    return _map(ordered, evaluation.of_partition, schema)


def _run_names(together: Any, runs: CheckedRows, judgments: CheckedRows) -> Any:
    """Return a frame of one row with the names of all runs.

    It raises an error if a row is bad, there are no runs, or a run answers no judged query.
    """
    F = load("pyspark.sql.functions", EXTRA)
    # hash() uses all columns. Otherwise Spark would shuffle a second time, with fewer columns, instead of reading again
    # the rows that it shuffles for the evaluation.
    judged = f"max(case when judged is not null then hash({', '.join(together.columns)}) end) as judged"
    error = "min(case when query is null then cast(names as string) end) as error"
    by_query = together.groupBy("query").agg(*map(F.expr, ("collect_set(run) as runs", judged, error)))
    by_list = by_query.selectExpr("explode_outer(runs) as run", "judged", "error")
    answering = "collect_set(case when judged is not null then run end) as answering"
    overall = by_list.agg(*map(F.expr, ("sort_array(collect_set(run)) as runs", answering, "min(error) as error")))
    problem = f": no query of this run is judged in {judgments.name}"
    no_runs = literal(f"{runs.name}{problem}")
    not_answering = f"concat(unmatched[0], {literal(problem)})" if "run" in runs.columns else no_runs
    return overall.selectExpr("*", "array_except(runs, answering) as unmatched").selectExpr(
        f"case when error is not null then raise_error(error) when size(runs) = 0 then raise_error({no_runs}) "
        f"when size(unmatched) > 0 then raise_error({not_answering}) else runs end as runs"
    )


def _one_row_per_value(values: Any, evaluation: Evaluation, names: tuple[str, ...]) -> Any:
    """Turn one row for each list into one row for each value; raise the errors of workers."""
    numbers = [", ".join(f"{kind}_{i} as {kind}" for kind in evaluation.kinds) for i in range(len(names))]
    rows = ", ".join(f"struct({literal(name)} as measure, {each})" for name, each in zip(names, numbers, strict=True))
    return raising(values).selectExpr("run", "query_id", f"inline(array({rows}))")


def _map(frame: Any, work: Callable[[Iterable[Any]], Iterator[Any]], schema: str) -> Any:
    """Map the Arrow batches of each partition with `work`, which may be a function or a method."""

    def over(batches: Iterable[Any]) -> Iterator[Any]:
        return work(batches)

    return frame.mapInArrow(over, schema)
