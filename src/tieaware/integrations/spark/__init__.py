"""Evaluation where Spark has the judgments and the runs: in frames of any size, on any number of machines.

Spark joins the judged documents to the rows of the runs; where these lie, the rows of each list are packed into a few
bytes a document; Spark brings the packed lists of a query together, and there they are evaluated, many in a call.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tieaware.checks.arguments import flag, one_of, shown, unexpected
from tieaware.engine.views import View, passes
from tieaware.integrations.spark.checked_rows import (
    Rows,
    check_alike,
    judgments_in,
    message,
    once,
    raising,
    runs_in,
    strangers,
    text,
)
from tieaware.integrations.spark.packing import CONTENT, EXTRA, content, packed
from tieaware.integrations.spark.partitions import Evaluation
from tieaware.integrations.spark.sums import partial_sums, sums_merged
from tieaware.lists.identifiers import quoted
from tieaware.measures import Measure, asked_measures
from tieaware.precision import Coarsening
from tieaware.runtime.extras import MissingExtraError, load

__all__ = ["evaluate", "means"]

# So many judgments are collected, and copied to every executor, where the rows of the runs are: some hundred megabytes.
SMALL = 1_000_000

# What Spark joins by.
_HASHES = {"query_key": "xxhash64(query)", "key": "xxhash64(query, document)", "bit": "xxhash64(document)"}

# Tables of fewer bytes become a part of a plan. It is the session's setting, changed by one thread at a time.
_LARGEST_IN_PLAN = "spark.sql.execution.arrow.localRelationThreshold"
_SETTING = threading.Lock()

_LEAST_JAVA = 17


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
    """Evaluate runs against judgments, both frames of Spark.

    The values are those of `tieaware.evaluate`, in the same bits.

    Parameters
    ----------
    qrels_df : pyspark.sql.DataFrame
        A judgment in each row: query, document and label, in columns named as `tieaware.Qrels.from_frame` knows them.
    runs_df : pyspark.sql.DataFrame
        A retrieved document in each row: query, document and score, named as `tieaware.Run.from_frame` knows them; and
        if there are several runs, a column run, system or tag. Rows may come in any order; it takes less time if those
        of a list lie near one another.
    measures : sequence of str or Measure
        For example ``["AP", "nDCG@10"]``.
    ties : str
        The tie rule, one of `tieaware.ties.RULES`. The names of documents are shuffled for those that go by them; and
        the places of rows for "run_order", whose order is that in which ``collect`` returns them.
    precision : str or Coarsening, optional
        What the scores are coarsened to first.
    spread : bool
        Whether there are columns std, min and max as well.
    queries : str
        "judged": every run has a row for every judged query. "both": only for those that it answers.
    duplicates : str
        Which documents must not come twice for a query: the "judged" ones, or "all", for which the names of all are
        shuffled.
    broadcast : bool, optional
        Whether the judgments are collected, and copied to every executor, so that the rows of the runs are joined where
        they are; else Spark sorts both. By default where there are up to a million.

    Returns
    -------
    pyspark.sql.DataFrame
        run, query_id, measure, value and, with a spread, std, min and max; a value in each row, in no order. Nothing is
        evaluated before it is asked for.

    Raises
    ------
    InputError
        A ValueError, if columns, types or options do not fit, or judgments that are collected have a bad value. What is
        wrong with values that are read later raises where they are asked for: pyspark.errors.SparkRuntimeException,
        with the same line.
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
    F = _functions(qrels_df=qrels_df, runs_df=runs_df)
    parsed, asked = asked_measures(measures)
    view = View(ties, precision, flag("spread", spread))
    one_of("queries", queries, ("judged", "both"))
    one_of("duplicates", duplicates, ("judged", "all"))
    judgments, runs = judgments_in(qrels_df, "qrels_df"), runs_in(runs_df, "runs_df")
    check_alike(runs, judgments)
    copied = _copied(_few(judgments, broadcast if broadcast is None else flag("broadcast", broadcast)), qrels_df)
    if copied:
        judged, of_queries = copied
    else:
        judged = once(judgments)
        of_queries = judged.groupBy("query").agg(F.collect_list("label").alias("judged"))
        of_queries = of_queries.selectExpr("*", "query as query_id")
    named = "all" if duplicates == "all" or view.rule.by_document else "judged"
    evaluation = Evaluation(parsed, view, queries == "judged", _numpy(runs.types["score"]), named, "runs_df")
    parts = _packed(runs, judged, of_queries if copied else None, named, _needs_places(view))
    together = of_queries.drop("bits").unionByName(parts, allowMissingColumns=True).repartition("query")
    # The names of the runs go with the judgments, which have no run; all lists of a query follow its judgments.
    records = together.join(F.broadcast(_names(together, runs, "qrels_df")), F.isnull("run"), "left")
    grouped = records.sortWithinPartitions("query", F.col("run").asc_nulls_first())
    return _long(_map(grouped, evaluation.of_partition, _schema(evaluation, judgments)), evaluation, asked)


def means(values_df: Any) -> Any:
    """Average values over the queries, by run and measure.

    Parameters
    ----------
    values_df : pyspark.sql.DataFrame
        What `evaluate` returned; also written and read again, or several such frames of other queries, in a union.

    Returns
    -------
    pyspark.sql.DataFrame
        run, measure, value and, if there is a spread, std, min and max, in the order of the names: what `Results.means`
        shows of them. Means have the bits of `Results.mean`; counts are added up, and have no spread. The std is that
        of the mean, as of `Results.mean_std`.

    Raises
    ------
    InputError
        A ValueError, if it is no such frame.
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
    _functions(values_df=values_df)
    missing = [name for name in ("run", "measure", "value") if name not in values_df.columns]
    if missing:
        found = ", ".join(values_df.columns)
        raise unexpected("values_df", "the columns run, measure and value, as evaluate returns them", found)
    kinds = [name for name in ("value", "std", "min", "max") if name in values_df.columns]
    sums = ", ".join(f"{kind}_high double, {kind}_low double, {kind}_n bigint" for kind in kinds)
    of_parts = _map(values_df.select("run", "measure", *kinds), partial_sums, f"run string, measure string, {sums}")
    numbers = ", ".join(f"{kind} double" for kind in kinds)
    return _map(of_parts.repartition(1), sums_merged, f"run string, measure string, {numbers}")


# ---- what Spark is asked to do -------------------------------------------------------------------


def _packed(runs: Rows, judged: Any, of_queries: Any, named: str, places: bool) -> Any:
    """Return the parts of all lists: run, query and what a part consists of; of queries not judged few, or none."""
    rows = runs.frame.selectExpr("*", "monotonically_increasing_id() as place") if places else runs.frame
    if of_queries is None:
        joined = rows.join(judged.hint("merge"), ["query", "document"], "left").selectExpr("*", "query as answered")
    else:
        joined = _joined(rows, judged, of_queries)
    # What is wrong with a row takes the place of the document's name. It raises later, where that is done once.
    bad, needed = runs.bad(), "true" if named == "all" else "label is not null"
    name = f"case when {bad} then {runs.error()} when {needed} then cast(document as string) end as document"
    score = f"case when not {bad} then cast(score as {runs.types['score']}) end as score"
    several = ["run"] if "run" in rows.columns else []
    chosen = joined.selectExpr(*several, "answered as query", score, "label", name, *(["place"] if places else []))
    run = "run string, " if several else ""
    content = ", ".join(f"{name} binary" for name in (CONTENT if places else CONTENT[:-1]))
    parts = _map(chosen, packed, f"{run}query {dict(chosen.dtypes)['query']}, {content}")
    return parts if several else parts.selectExpr("*", "'run' as run")


def _joined(rows: Any, judged: Any, of_queries: Any) -> Any:
    """Join labels to rows, and the number of the query as the column answered; both null for what is not judged.

    Spark finds whole numbers sooner than text: here hashes of names, which are compared where these are found. A
    document is looked for only where its query's bits say that it may be judged: those of a query are in the
    processor's cache while the rows are of its list, and the labels of all queries are not.
    """
    F = load("pyspark.sql.functions", EXTRA)
    queries = of_queries.selectExpr("query as query_key", "query_id as judged_query", "bits")
    columns = rows.columns
    rows = rows.selectExpr("*", f"{_HASHES['query_key']} as query_key")
    joined = rows.join(F.broadcast(queries), "query_key", "left")
    bit = f"({_HASHES['bit']} & (64 * size(bits) - 1))"
    maybe = f"getbit(get(bits, cast(shiftright({bit}, 6) as int)), cast({bit} & 63 as int)) = 1"
    key = f"case when judged_query = query and {maybe} then {_HASHES['key']} end as key"
    joined = joined.selectExpr("*", key).join(F.broadcast(judged), "key", "left")
    same = "judged_query = query and of_query = query_key and judged_document = document"
    return joined.selectExpr(
        *columns,
        f"case when {same} then label end as label",
        "case when judged_query = query then query_key end as answered",
    )


def _names(together: Any, runs: Rows, label: str) -> Any:
    """Return the names of all runs, in one row; an error, if a row is bad, or a run answers no judged query."""
    F = load("pyspark.sql.functions", EXTRA)
    # All columns are asked for, so that Spark reads again what it has shuffled, and does not shuffle fewer of them.
    judged = f"max(case when judged is not null then hash({', '.join(together.columns)}) end) as judged"
    error = "min(case when query is null then cast(names as string) end) as error"
    of_queries = together.groupBy("query").agg(*map(F.expr, ("collect_set(run) as runs", judged, error)))
    of_lists = of_queries.selectExpr("explode_outer(runs) as run", "judged", "error")
    answering = "collect_set(case when judged is not null then run end) as answering"
    of_all = of_lists.agg(*map(F.expr, ("sort_array(collect_set(run)) as runs", answering, "min(error) as error")))
    none = text(strangers(runs.label, label))
    alone = f"concat(silent[0], {text(strangers('', label))})" if "run" in runs.frame.columns else none
    return of_all.selectExpr("*", "array_except(runs, answering) as silent").selectExpr(
        f"case when error is not null then raise_error(error) when size(runs) = 0 then raise_error({none}) "
        f"when size(silent) > 0 then raise_error({alone}) else runs end as runs"
    )


def _long(values: Any, evaluation: Evaluation, names: tuple[str, ...]) -> Any:
    """Return a row for each value, of a row for each list."""
    numbers = [", ".join(f"{kind}_{i} as {kind}" for kind in evaluation.kinds) for i in range(len(names))]
    rows = ", ".join(f"struct({text(name)} as measure, {each})" for name, each in zip(names, numbers, strict=True))
    return raising(values).selectExpr("run", "query_id", f"inline(array({rows}))")


def _schema(evaluation: Evaluation, judgments: Rows) -> str:
    numbers = ", ".join(f"{name} double" for name in evaluation.columns())
    return f"run string, query_id {judgments.types['query']}, {numbers}, error string"


def _map(frame: Any, work: Any, schema: str) -> Any:
    """Map the Arrow batches of each partition."""

    def over(batches: Iterable[Any]) -> Iterator[Any]:
        return work(batches)  # type: ignore[no-any-return]

    return frame.mapInArrow(over, schema)


def _needs_places(view: View) -> bool:
    """Whether the order of the rows matters."""
    return any(each.rule.by_position for each in passes([view]))


def _numpy(of: str) -> str:
    """Return NumPy's name of a type of scores."""
    return {"float": "float32", "double": "float64"}[of]


def _few(judgments: Rows, broadcast: bool | None) -> Any:
    """Collect the judgments with hashes of their names, or None where they are too many, or shall not be collected."""
    errors = load("pyspark.errors", EXTRA)
    if broadcast is False:
        return None
    hashes = [f"{expression} as {name}" for name, expression in _HASHES.items()]
    rows = judgments.frame.selectExpr("query", "document", f"{judgments.checked('label')} as label", *hashes)
    try:
        table = (rows if broadcast else rows.limit(SMALL + 1)).toArrow()
    except errors.PySparkException as error:
        ours = message(error)
        raise error if ours is None else ours from None
    return table if broadcast or table.num_rows <= SMALL else None


def _copied(table: Any, qrels_df: Any) -> Any:
    """Return collected judgments as a frame in which each is once, and another of the labels of each query.

    What identifies a query there is the hash of its name: a number takes less time on its way to Python. None, if there
    are no judgments here, or if two hashes are the same, which happens once in ten million times where most are copied.
    """
    compute = load("pyarrow.compute", EXTRA)
    if table is None:
        return None
    if table.num_rows == 0:
        raise unexpected("qrels_df", "at least one judgment", "none")
    keys = ["query_key", "query", "key", "document", "bit"]
    judged = table.group_by(keys).aggregate([("label", "min"), ("label", "max")])
    differ = judged.filter(compute.not_equal(judged["label_min"], judged["label_max"]))
    for row in differ.slice(0, 1).to_pylist():
        where = f"for document {quoted(str(row['document']).encode())} of query {quoted(str(row['query']).encode())}"
        raise unexpected("qrels_df", "one label", f"{row['label_min']} and {row['label_max']} {where}")
    of_queries = judged.group_by(["query_key", "query"]).aggregate([("label_min", "list"), ("bit", "list")])
    if any(len(each[key].unique()) < each.num_rows for each, key in ((judged, "key"), (of_queries, "query_key"))):
        return None
    judged = judged.select(["query_key", "key", "document", "label_min"])
    judged = judged.rename_columns(["of_query", "key", "judged_document", "label"])
    bits = _bits(of_queries["bit_list"])
    of_queries = of_queries.drop_columns(["bit_list"]).rename_columns(["query", "query_id", "judged"])
    frames = judged, of_queries.append_column("bits", bits)
    return [_held(each, qrels_df.sparkSession) for each in frames]


def _held(table: Any, spark: Any) -> Any:
    """Return a table as a frame that holds it, beside its plan.

    Of what is a part of the plan, Spark looks at every row again at each step that is put on top.
    """
    with _SETTING:
        largest = spark.conf.get(_LARGEST_IN_PLAN)
        spark.conf.set(_LARGEST_IN_PLAN, "0")
        try:
            return spark.createDataFrame(table)
        finally:
            spark.conf.set(_LARGEST_IN_PLAN, largest)


def _bits(lists: Any) -> Any:
    """Return of each list of hashes the bits of which they name one each, as whole numbers of 64.

    There are 32 bits to 64 for each hash, so that one in thirty others, or fewer, names a bit that is set.
    """
    pa = load("pyarrow", EXTRA)
    hashes = content(lists, np.uint64)
    n_words = 1 << np.ceil(np.log2(np.maximum(hashes.sizes, 2) / 2)).astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(n_words)))
    bits = hashes.values & np.repeat(64 * n_words - 1, hashes.sizes).astype(np.uint64)
    words = np.zeros(offsets[-1], np.uint64)
    of_hashes = np.repeat(offsets[:-1], hashes.sizes) + (bits >> np.uint64(6)).astype(np.int64)
    np.bitwise_or.at(words, of_hashes, np.uint64(1) << (bits & np.uint64(63)))
    return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(words.view(np.int64)))


# ---- what Spark needs ----------------------------------------------------------------------------


def _functions(**frames: Any) -> Any:
    """Return pyspark.sql.functions, or say what is missing, or which argument is no frame of Spark."""
    spark = load("pyspark", EXTRA)
    if int(spark.__version__.partition(".")[0]) < 4:
        raise MissingExtraError(f"pyspark {spark.__version__} is too old: pip install 'tieaware[{EXTRA}]'")
    kind = load("pyspark.sql", EXTRA).DataFrame
    for name, frame in frames.items():
        if not isinstance(frame, kind):
            check_java()
            raise unexpected(name, "a DataFrame of pyspark", shown(frame))
    return load("pyspark.sql.functions", EXTRA)


def check_java() -> None:
    """Raise MissingExtraError unless there is a Java that Spark runs on.

    Raises
    ------
    MissingExtraError
        An ImportError whose line says what is found, and what Spark needs.
    """
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=os.path.join(home, "bin")) if home else shutil.which("java")
    needed = f"Spark needs Java {_LEAST_JAVA} or later, in JAVA_HOME or on the PATH"
    if java is None:
        raise MissingExtraError(f"Java is not installed: {needed}")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    if found is None or int(found[1]) < _LEAST_JAVA:
        raise MissingExtraError(f"Java {found[1] if found else 'of an unknown version'} is too old: {needed}")
