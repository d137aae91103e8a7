"""Evaluation of runs in data frames of Spark, of any size and on any number of machines.

The evaluation has four steps:

1. Join: Spark joins the labels of the judgments to the rows of the runs.
2. Pack: the workers pack the rows of each partition into chunks of a few bytes per document (`packing`).
3. Shuffle: Spark brings all chunks of a query into one partition.
4. Evaluate: the workers evaluate the lists of each partition, many lists in one call (`partitions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args
from weakref import WeakKeyDictionary

from tieaware.checks.arguments import flag, one_of
from tieaware.engine.views import View, passes
from tieaware.errors import InputError
from tieaware.integrations.spark.broadcasting import broadcast_judgments
from tieaware.integrations.spark.checked_rows import (
    CheckedRows,
    check_identifier_types,
    check_labels,
    distinct_judgments,
    judgments_in,
    literal,
    raising,
    range_of_labels,
    runs_in,
)
from tieaware.integrations.spark.installation import F, check_frames
from tieaware.integrations.spark.installation import check_java as check_java  # for users, and for make test-spark
from tieaware.integrations.spark.packing import ANNOUNCED, Packing, key_of_part, number_of_parts
from tieaware.integrations.spark.partitions import Evaluation
from tieaware.integrations.spark.sums import merged_means, partial_sums, partial_sums_of_lists, value_columns
from tieaware.lists.grades import Missing, check_missing
from tieaware.measures import Measure, named_measures
from tieaware.precision import Coarsening
from tieaware.ties import TieRuleName

__all__ = ["evaluate", "means"]


class _Evaluated(NamedTuple):
    """How a frame of values was made: from the rows of `_ordered`, by an evaluation of measures with these names."""

    ordered: Any
    evaluation: Evaluation
    names: tuple[str, ...]


# The frames that `evaluate` returned and that still exist, so that `means` can evaluate and sum in one pass.
_EVALUATED: WeakKeyDictionary[Any, _Evaluated] = WeakKeyDictionary()

# Shards are for Results.concat; data frames of Spark have no use for them.
SparkQueryChoice: TypeAlias = Literal["judged", "both"]
# The rows of a run that must not repeat a document: those of judged documents, or all.
SparkDuplicates: TypeAlias = Literal["judged", "all"]


def evaluate(
    qrels_df: Any,
    runs_df: Any,
    measures: str | Measure | Sequence[str | Measure],
    *,
    ties: TieRuleName = "average",
    precision: str | Coarsening | None = None,
    spread: bool = False,
    queries: SparkQueryChoice = "judged",
    duplicates: SparkDuplicates = "judged",
    broadcast: bool | None = None,
    missing: Missing | None = None,
    chance: bool = False,
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
        The tie rule, one of `tieaware.ties.RULES`. Under rules that order by document id, Spark must shuffle
        the names of all documents. "run_order" keeps the order in which ``collect`` would return the rows.
    precision : str or Coarsening, optional
        The precision to which scores are reduced before the evaluation; see `tieaware.precision`.
    spread : bool
        Whether to add the columns std, min and max. Requires the tie rule "average".
    queries : str
        "judged": every run has a value for every judged query. "both": every run has values only for the judged queries
        that it answers.
    duplicates : str
        Which documents to check for duplicates within a query: "judged" documents only, or "all". For "all", Spark must
        shuffle the names of all documents.
    broadcast : bool, optional
        Whether to collect the judgments and copy them to every executor. Otherwise Spark joins judgments and runs by
        sorting both. By default up to a million judgments are copied.
    missing : "unjudged", optional
        Whether null and NaN among the labels mean that a document is unjudged. By default, they are errors.
    chance : bool
        Whether to add the columns chance, chance_std and ideal: what a random order earns; see `tieaware.evaluate`.

    Returns
    -------
    pyspark.sql.DataFrame
        One row for each value, with the columns run, query_id, measure, value, and those of a spread and of chance; in
        no particular order. The frame is lazy: every action on it, such as ``show``, computes the values again.

    Raises
    ------
    InputError
        If columns, types or options are wrong, or judgments that are collected have a bad value. Other bad values raise
        pyspark.errors.SparkRuntimeException, with the same message, when the values are computed.
    MissingExtraError
        If pyspark or Java is missing or too old. It is a subclass of ImportError.

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
    for measure in parsed:
        if measure.definition.needs_subtopics:
            raise InputError("measures", f"{measure} needs judgments of subtopics, which are not read with Spark")
    view = View(ties, precision, flag("spread", spread), flag("chance", chance))
    check_missing(missing)
    one_of("queries", queries, get_args(SparkQueryChoice))
    one_of("duplicates", duplicates, get_args(SparkDuplicates))
    broadcast = broadcast if broadcast is None else flag("broadcast", broadcast)
    judgments, runs = judgments_in(qrels_df, "qrels_df", missing), runs_in(runs_df, "runs_df")
    check_identifier_types(runs, judgments)

    by_position = any(each.by_position for each in passes([view]))
    rows = runs.frame.selectExpr("*", "monotonically_increasing_id() as place") if by_position else runs.frame
    copied = broadcast_judgments(judgments, broadcast)
    all_names = duplicates == "all" or bool(view.rule.by_document)
    if copied is not None:
        if judgments.dtype == "float64":
            check_labels(parsed, copied.highest, copied.are_whole)
        queries_df, rows, label_dtype = copied.queries, _checked(rows, runs), copied.judgments.qrels.labels.dtype.name
    else:
        judged = distinct_judgments(judgments)
        if judgments.dtype == "float64":
            check_labels(parsed, *range_of_labels(judged, judgments))
        queries_df, label_dtype = _judged_queries(judged), judgments.dtype
        joined = rows.join(judged.hint("merge"), ["query", "document"], "left")
        rows = _checked(joined, runs, "true" if all_names else "label is not null")
    n_parts = number_of_parts(qrels_df.sparkSession)
    packing = Packing(None if copied is None else copied.judgments, all_names, by_position, n_parts, runs.name)
    names = (runs.name, judgments.name, "run" in runs.columns)
    evaluation = Evaluation(parsed, view, queries == "judged", runs.dtype, label_dtype, *names)
    ordered = _ordered(_packed(rows, packing, judgments), queries_df, packing)
    values = _one_row_per_value(_evaluated(ordered, evaluation, judgments), evaluation, asked)
    _EVALUATED[values] = _Evaluated(ordered, evaluation, asked)
    return values


def means(values_df: Any) -> Any:
    """Average the values that `evaluate` returned over the queries.

    Parameters
    ----------
    values_df : pyspark.sql.DataFrame
        A frame that `evaluate` returned; such a frame after it was written to files and read again; or a union of such
        frames with different queries.

    Returns
    -------
    pyspark.sql.DataFrame
        The columns run, measure, value, and those of a spread and of chance, sorted by run and measure. The numbers
        have the same bits as in `Results.means`: counts such as NumRet are summed, and have no spread; std is the
        standard deviation of the mean, as in `Results.mean_std`. So is chance_std; counts and GMAP have no means of
        chance, and no measure has a mean ideal if it is unknown for a query.

    Raises
    ------
    InputError, MissingExtraError
        If the frame lacks a column, or pyspark is missing.

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
    schema = f"run string, measure string, {sums}"
    evaluated = _EVALUATED.get(values_df)
    if evaluated is None or _is_stored(values_df):
        partial = _map(values_df.select("run", "measure", *columns), partial_sums, schema)
    else:
        partial = _evaluated_sums(evaluated, f"{schema}, error string")
    numbers = ", ".join(f"{name} double" for name in columns)
    return _map(partial.repartition(1), merged_means, f"run string, measure string, {numbers}")


# ---- steps of the evaluation ---------------------------------------------------------------------


def _checked(rows: Any, runs: CheckedRows, is_named: str = "true") -> Any:
    """Return the columns of runs that packing needs.

    In a bad row, the score is null, and an error message replaces the name of the document. In other rows, the name is
    null where the SQL condition `is_named` is false.
    """
    bad = runs.is_bad()
    name = f"case when {bad} then {runs.error()} when {is_named} then cast(document as string) end as document"
    score = f"case when not {bad} then cast(score as {runs.types['score']}) end as score"
    others = [each for each in ("run", "label", "place") if each in rows.columns]
    return rows.selectExpr(*others, "query", score, name)


def _judged_queries(judged: Any) -> Any:
    """Return a frame with a row for each query of `distinct_judgments`: its name, twice, and its labels."""
    queries = judged.groupBy("query").agg(F.collect_list("label").alias("judged"))
    return queries.selectExpr("query", "query as query_id", "judged")


def _packed(rows: Any, packing: Packing, judgments: CheckedRows) -> Any:
    """Pack the rows of each partition into chunks, followed by its announcements."""
    query_type = judgments.types["query"] if packing.judgments is None else "bigint"
    columns = {"run": "string", "query": query_type, **dict.fromkeys(packing.columns(), "binary"), **ANNOUNCED}
    return _map(rows, packing.of_partition, ", ".join(f"{name} {kind}" for name, kind in columns.items()))


def _ordered(packed: Any, queries: Any, packing: Packing) -> Any:
    """Shuffle packed rows to the judgments of their queries, and sort each partition by query and run.

    Null precedes all queries and runs. So announcements come first in their partition, and judgments in their query.
    """
    together = queries.unionByName(packed, allowMissingColumns=True)
    key = key_of_part(packing.n_parts)
    if packing.judgments is not None:
        shuffled = together.repartition(F.expr(key))
    else:
        shuffled = together.drop("answering").selectExpr("*", f"{key} as key").repartition("key")
        # Only an announcement has no query.
        shuffled = shuffled.join(F.broadcast(_answering(shuffled)), F.isnull("query"), "left")
    return shuffled.sortWithinPartitions("query", "run")


def _answering(shuffled: Any) -> Any:
    """Return a frame with one row: in the column answering, the names of the runs that answer a judged query.

    Tasks that pack rows announce these runs if they have the judgments.
    """
    # The hash makes this query use all columns, so that Spark reuses the rows that it shuffles for the evaluation. With
    # fewer columns, it would shuffle a second time.
    judged = f"max(case when judged is not null then hash({', '.join(shuffled.columns)}) end) as judged"
    by_query = shuffled.groupBy("key", "query").agg(*map(F.expr, ("collect_set(run) as runs", judged)))
    by_list = by_query.filter("judged is not null").selectExpr("explode(runs) as run")
    return by_list.agg(F.expr("collect_set(run) as answering"))


def _evaluated(ordered: Any, evaluation: Evaluation, judgments: CheckedRows) -> Any:
    """Evaluate the rows of `_ordered`; return a frame with a row for each list."""
    numbers = ", ".join(f"{name} double" for name in evaluation.columns())
    schema = f"run string, query_id {judgments.types['query']}, {numbers}, error string"
    return _map(ordered, evaluation.of_partition, schema)


def _evaluated_sums(evaluated: _Evaluated, schema: str) -> Any:
    """Evaluate and sum in one pass. With a pass for each, every task would need two workers, and wait for both."""
    ordered, evaluation, names = evaluated

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        return partial_sums_of_lists(evaluation.of_partition(batches), names, evaluation.kinds)

    return raising(_map(ordered, work, schema)).drop("error")


def _is_stored(frame: Any) -> bool:
    """Return whether Spark was told to cache the frame."""
    level = frame.storageLevel
    return bool(level.useMemory or level.useDisk)


def _one_row_per_value(values: Any, evaluation: Evaluation, names: tuple[str, ...]) -> Any:
    """Split each row, which holds all values of a list, into one row per value; raise errors that workers reported."""
    numbers = [", ".join(f"{kind}_{i} as {kind}" for kind in evaluation.kinds) for i in range(len(names))]
    rows = ", ".join(f"struct({literal(name)} as measure, {each})" for name, each in zip(names, numbers, strict=True))
    return raising(values).selectExpr("run", "query_id", f"inline(array({rows}))")


def _map(frame: Any, work: Callable[[Iterable[Any]], Iterator[Any]], schema: str) -> Any:
    """Apply `work`, a function or a method, to the Arrow batches of each partition of a frame."""

    def over(batches: Iterable[Any]) -> Iterator[Any]:
        return work(batches)

    return frame.mapInArrow(over, schema)
