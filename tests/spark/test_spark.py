"""Evaluation by Spark gives the same bits as on one machine, also if workers fail. Errors are one line."""

import doctest
import os
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.errors import message_of
from tests.spark.data import judgments, rankings

import tieaware
from tieaware import InputError
from tieaware.integrations import spark as integration
from tieaware.integrations.spark import check_java, evaluate, means
from tieaware.integrations.spark.packing import keys_of_partitions
from tieaware.results import summaries
from tieaware.runtime.extras import MissingExtraError

MEASURES = ["AP", "nDCG@5", "P_5", "GMAP", "NumRet", "infAP", "Bpref"]
LABEL = "a number from -2147483648 to 2147483647"


@pytest.fixture(scope="module")
def frames(spark):
    """Return frames of judgments and runs in several partitions. Some are empty, and one has a single row."""
    runs = rankings()
    first, others = (spark.createDataFrame(rows) for rows in (runs.iloc[:1], runs.iloc[1:]))
    return spark.createDataFrame(judgments()), first.unionAll(others)


def assert_as_on_one_machine(values_df, expected):
    """Assert that the frame has exactly the expected values, and that its means are the expected means.

    `means` sums the values of a checkpoint as it finds them. Those of a frame of `evaluate` it sums as it evaluates.
    """
    summed_in_one_pass = means(values_df).toPandas()
    values_df = values_df.localCheckpoint()
    found = values_df.toPandas().set_index(["run", "query_id", "measure"])
    assert found.index.is_unique
    assert len(found) == np.count_nonzero(expected.answered) * len(expected.names)
    averages = means(values_df).toPandas()
    pd.testing.assert_frame_equal(averages, summed_in_one_pass, check_exact=True)
    assert averages[["run", "measure"]].values.tolist() == sorted(
        [run, name] for run in expected.runs for name in expected.names
    )
    averages = averages.set_index(["run", "measure"])
    axes = expected.runs, expected.queries, expected.measures
    summary, deviations = expected.summary(), expected.mean_std() if expected.std is not None else None
    for i, run in enumerate(expected.runs):
        for k, name in enumerate(expected.names):
            keys = [(run, query, name) for query in np.array(expected.queries)[expected.answered[i]]]
            for kind, cube in expected.cubes().items():
                column = found[kind.removesuffix("s")].loc[keys]
                np.testing.assert_array_equal(column, cube[i, expected.answered[i], k], f"{run} {name} {kind}")
            assert averages.value[run, name] == summary[i, k]
            if expected.chance is not None:
                assert_means_of_chance(averages.loc[(run, name)], expected, i, k)
            if deviations is not None and not expected.measures[k].definition.is_count:
                np.testing.assert_allclose(averages["std"][run, name], deviations[i, k], rtol=1e-15)
                for kind in ("min", "max"):
                    wanted = tieaware.Results(getattr(expected, kind), *axes).mean()[i, k]
                    np.testing.assert_array_equal(averages[kind][run, name], wanted)


def assert_means_of_chance(found, expected, i, k):
    """Assert that a row of the means has those with which `Results` compares run i and measure k; a count has none."""
    found = found[["chance", "chance_std", "ideal"]].to_numpy(float)
    if expected.measures[k].definition.is_count:
        assert np.isnan(found).all()
        return
    cubes = expected.chance, expected.ideal
    chance, ideal = (summaries._means_beside(expected.values, cube, expected.measures)[i, k] for cube in cubes)
    np.testing.assert_array_equal(found[[0, 2]], [chance, ideal])
    std = summaries.std_of_means(expected.chance_std, expected.values, expected.measures)[i, k]
    np.testing.assert_allclose(found[1], std, rtol=1e-15)


@pytest.mark.parametrize(
    ("options", "broadcast"),
    [
        ({"spread": True}, None),
        ({"spread": True, "chance": True}, None),
        ({"chance": True, "ties": "trec_eval", "precision": "bands:1.5", "queries": "both"}, False),
        ({"ties": "trec_eval", "queries": "both"}, False),
        ({"ties": "run_order"}, True),
        ({"ties": "run_order"}, False),
        ({"precision": "bands:1.5"}, False),
        ({"precision": "bands:1.5", "ties": "run_order"}, False),
        ({"precision": "bands:1.5", "ties": "trec_eval"}, False),
        ({"precision": "bands:2", "ties": "run_order"}, True),
        ({"ties": "pessimistic", "precision": "decimals:0"}, True),
    ],
    ids=str,
)
def test_values_and_means_equal_those_on_one_machine(options, broadcast, frames):
    qrels_df, runs_df = frames
    # Compare with the rows in the order in which Spark returns them, because the values of run_order depend on it.
    expected = tieaware.evaluate(judgments(), runs_df.toPandas(), MEASURES, **options)
    assert_as_on_one_machine(evaluate(qrels_df, runs_df, MEASURES, broadcast=broadcast, **options), expected)


def test_broadcast_judgments_are_not_part_of_the_plan(spark):
    """If the plan contained the judgments, Spark would read them at each step. A setting is changed only meanwhile."""
    setting = "spark.sql.execution.arrow.localRelationThreshold"
    before = spark.conf.get(setting)
    runs_df = spark.range(40).selectExpr("'q1' as query_id", "concat('d', id) as doc_id", "id % 3 as score")
    values = evaluate(spark.createDataFrame(judgments()), runs_df, ["AP"], broadcast=True)
    assert "LocalRelation" not in values._jdf.queryExecution().analyzed().toString()
    assert spark.conf.get(setting) == before


def test_spark_divides_the_keys_of_parts_evenly(spark):
    """Each partition gets the key that was chosen for it."""
    from pyspark.sql import functions as F  # noqa: N812

    for n in (1, 3, 32, 200):
        keys = keys_of_partitions(n).tolist()
        rows = spark.createDataFrame([(key,) for key in keys], "key int").repartition(n, "key")
        found = dict(tuple(row) for row in rows.select("key", F.spark_partition_id()).collect())
        assert [found[key] for key in keys] == list(range(n))


@pytest.mark.parametrize("broadcast", [True, False])
def test_the_number_of_partitions_may_change_before_the_evaluation(broadcast, frames, spark, monkeypatch):
    """The parts are fixed by `evaluate`. Then a partition may get several parts, or none."""
    monkeypatch.setattr(integration, "number_of_parts", lambda spark: 5)
    expected = tieaware.evaluate(judgments(), frames[1].toPandas(), MEASURES)
    setting = "spark.sql.shuffle.partitions"
    before = spark.conf.get(setting)
    try:
        for n in (1, 8):
            values = evaluate(*frames, MEASURES, broadcast=broadcast)
            spark.conf.set(setting, n)
            assert_as_on_one_machine(values, expected)
    finally:
        spark.conf.set(setting, before)


def test_the_examples_of_the_page_run(spark):
    page = Path(__file__).parents[2] / "docs" / "tools" / "spark.md"
    # Ignore the empty line that Spark prints after a table.
    options = {"optionflags": doctest.NORMALIZE_WHITESPACE, "encoding": "utf-8"}
    results = doctest.testfile(str(page), module_relative=False, globs={"spark": spark}, **options)
    assert results.failed == 0 < results.attempted


@pytest.mark.parametrize("broadcast", [True, False])
@pytest.mark.parametrize("dtype", ["int", "boolean", "double", "float"])
def test_missing_labels(broadcast, dtype, frames, spark):
    """With missing="unjudged", null and NaN are labels of documents that are not judged; otherwise they are errors."""
    qrels = judgments()
    missing = np.arange(len(qrels)) % 5 == 0
    labels = np.where(missing, np.nan, qrels["relevance"])
    rows = spark.createDataFrame(qrels.assign(relevance=labels))
    isnan = "isnan(relevance)"
    label = {
        "int": f"cast(case when {isnan} then null else relevance end as int)",
        "boolean": f"case when {isnan} then null else relevance > 0 end",
        "double": f"case when {isnan} and doc_id < 'd3' then null else relevance * if(relevance < 0, 1D, 0.7D) end",
        "float": "cast(relevance as float)",
    }[dtype]
    change = {"boolean": lambda x: x > 0, "double": lambda x: x * np.where(x < 0, 1, 0.7)}.get(dtype, lambda x: x)
    known = change(qrels["relevance"])
    judged = qrels.assign(relevance=np.where(missing, np.nan, known))
    measures = ["AP(rel=0.7)", "nDCG@5", "P_5", "infAP(rel=0.7)"]
    expected = tieaware.evaluate(judged, frames[1].toPandas(), measures, missing="unjudged")
    qrels_df = rows.selectExpr("query_id", "doc_id", f"{label} as relevance")
    found = evaluate(qrels_df, frames[1], measures, broadcast=broadcast, missing="unjudged")
    assert_as_on_one_machine(found, expected)
    from pyspark.errors import SparkRuntimeException

    with pytest.raises((InputError, SparkRuntimeException), match=r"relevance: expected .* found (null|NaN) for"):
        evaluate(qrels_df, frames[1], measures, broadcast=broadcast).collect()


def test_options_that_no_evaluation_has(frames):
    """Unknown values of options, and measures that need subtopics, give one line."""
    for options, message in (
        ({"missing": "zero"}, "^missing: expected one of unjudged, found 'zero'$"),
        ({"chance": 1}, "^chance: expected True or False, found 1$"),
        ({"measures": ["AP", "alpha_nDCG@10"]}, "^measures: alpha_nDCG@10 needs judgments of subtopics, which are not"),
    ):
        with pytest.raises(InputError, match=message):
            evaluate(*frames, **{"measures": MEASURES, **options})


@pytest.mark.parametrize("broadcast", [True, False])
def test_labels_that_are_real_numbers(broadcast, frames, spark):
    """The values have the bits of `tieaware.evaluate`, although each partition has only some of the labels."""
    qrels, runs = judgments(), frames[1].toPandas()
    qrels["relevance"] = np.where(qrels["relevance"] > 0, qrels["relevance"] * 0.7, qrels["relevance"])
    measures = ["nDCG@5", "DCG", "AP(rel=1.4)", "ERR", "Q(rel=0.5)", "RBP(gains='label')", "infAP(rel=0.5)"]
    expected = tieaware.evaluate(qrels, runs, measures)
    found = evaluate(spark.createDataFrame(qrels), frames[1], measures, broadcast=broadcast)
    assert_as_on_one_machine(found, expected)
    for wrong, message in (
        ("AP(rel=2.5)", r"^AP\(rel=2\.5\): labels: are all below rel=2\.5, .*the highest is 2\.1"),
        ("BPM", "^BPM: labels: must be whole numbers"),
    ):
        with pytest.raises(InputError, match=message):
            evaluate(spark.createDataFrame(qrels), frames[1], ["nDCG", wrong], broadcast=broadcast)


def test_a_query_may_have_half_of_all_rows_in_several_batches(spark):
    """The identifiers are integers, the scores have single precision, and there is no column of runs."""
    rng = np.random.default_rng(3)
    n = 20_000
    query = np.where(np.arange(2 * n) % 2, 7, rng.integers(8, 400, 2 * n))
    runs = pd.DataFrame({"qid": query, "docno": np.arange(2 * n), "score": rng.integers(0, 50, 2 * n, np.int16)})
    qrels = runs.sample(300, random_state=1)[["qid", "docno"]].assign(label=1.0)
    expected = tieaware.evaluate(qrels, runs, ["AP", "nDCG@10", "NumRet"])
    batch = "spark.sql.execution.arrow.maxRecordsPerBatch"
    spark.conf.set(batch, "700")
    try:
        found = evaluate(spark.createDataFrame(qrels), spark.createDataFrame(runs).repartition(5), expected.names)
        assert dict(found.dtypes)["query_id"] == "bigint"
        assert_as_on_one_machine(found, expected)
    finally:
        spark.conf.unset(batch)


@pytest.mark.parametrize("broadcast", [True, False])
def test_rows_are_packed_once(broadcast, frames, spark):
    """Copied judgments need one shuffle. Otherwise, the runs that answer a query are found in the rows of the last."""
    adaptive = "spark.sql.adaptive.enabled"
    spark.conf.set(adaptive, "false")
    try:
        plan = evaluate(*frames, "AP", broadcast=broadcast)._jdf.queryExecution().executedPlan().toString()
    finally:
        spark.conf.unset(adaptive)
    assert plan.count("MapInArrow") == 2
    if broadcast:
        assert plan.count("Exchange") == 1
    else:
        assert plan.count("ReusedExchange") >= 1


def test_means_evaluate_and_sum_in_one_pass(frames, spark):
    """Only a cached frame is read and summed by a pass of its own. Otherwise, each task would need two workers."""
    adaptive = "spark.sql.adaptive.enabled"
    spark.conf.set(adaptive, "false")
    values = evaluate(*frames, ["AP", "RR"])
    try:
        in_one = means(values)._jdf.queryExecution().executedPlan().toString()
        values.cache()
        cached = means(values)
        by_cache = cached._jdf.queryExecution().executedPlan().toString()
        assert cached.collect() == means(values.select("*")).collect()
    finally:
        spark.conf.unset(adaptive)
        values.unpersist()
    # The passes: packing, evaluation, and merging of the sums.
    assert in_one.count("MapInArrow") == 3
    assert "InMemoryTableScan" not in in_one
    assert "InMemoryTableScan" in by_cache


def test_a_call_sends_few_messages_to_java(frames, spark, monkeypatch):
    """Checks of rows are written in SQL, which is one message each. pyspark's functions would send dozens."""
    from py4j.protocol import MEMORY_COMMAND_NAME

    client = spark.sparkContext._gateway._gateway_client
    sent, send = [], client.send_command

    def recorded(command, *args, **options):
        sent.append(command)
        return send(command, *args, **options)

    monkeypatch.setattr(client, "send_command", recorded)
    evaluate(*frames, "AP")
    # Messages about Python's garbage collection do not count: they may come from other tests.
    assert 0 < sum(not command.startswith(MEMORY_COMMAND_NAME) for command in sent) < 700


def test_a_worker_that_is_killed_is_replaced(frames, tmp_path, monkeypatch):
    """The workers that pack, evaluate, sum and merge are each killed once, after their first batch.

    So are those that evaluate and sum in one pass, and merge these sums.
    """
    original = integration._map
    marks = [str(tmp_path / str(i)) for i in range(6)]
    unused = iter(marks)

    def mortal(frame, work, schema):
        mark = next(unused)

        def killed_once(batches):
            for batch in work(batches):
                try:
                    os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    yield batch
                else:
                    yield batch
                    os.kill(os.getpid(), signal.SIGKILL)

        return original(frame, killed_once, schema)

    monkeypatch.setattr(integration, "_map", mortal)
    qrels_df, runs_df = frames
    expected = tieaware.evaluate(judgments(), rankings(), MEASURES)
    found = evaluate(qrels_df, runs_df, MEASURES)
    assert_as_on_one_machine(found, expected)
    assert all(map(os.path.exists, marks))


ROWS = [("q1", "d1", 2.0), ("q1", "d2", 2.0), ("q2", "d3", 1.0)]


@pytest.mark.parametrize(
    ("rows", "options", "line"),
    [
        ([("q1", "d9", None)], {}, "runs_df: score: expected a number, found null for document 'd9' of query 'q1'"),
        # This query is not judged.
        ([("q2", "d9", None)], {}, "runs_df: score: expected a number, found null for document 'd9' of query 'q2'"),
        (
            [("q1", "d\x1b[31m\n", float("nan"))],
            {"queries": "both"},
            "runs_df: score: expected a number, found NaN for document 'd?[31m?' of query 'q1'",
        ),
        (
            [(None, "d9", 1.0)],
            {"broadcast": False},
            "runs_df: query: expected text or an integer, found null for document 'd9' of query null",
        ),
        (
            [("q1", "d1", 7.0)],
            {},
            "runs_df: document 'd1' occurs twice for query 'q1' of run 'run'",
        ),
        (
            [("q1", "d2", 7.0)],
            {"duplicates": "all"},
            "runs_df: document 'd2' occurs twice for query 'q1' of run 'run'",
        ),
    ],
)
def test_a_bad_row_raises_when_values_are_computed(rows, options, line, spark):
    """The message is one line, without the traceback of the worker that found the row."""
    from pyspark.errors import SparkRuntimeException

    runs_df = spark.createDataFrame(ROWS + rows, "query string, doc string, score double").coalesce(2)
    qrels_df = spark.createDataFrame([("q1", "d1", 1)], "query string, doc string, label int")
    values = evaluate(qrels_df, runs_df, "AP", **options)
    for frame in (values, means(values)):
        with pytest.raises(SparkRuntimeException) as caught:
            frame.collect()
        assert str(caught.value).splitlines()[0] == f"[USER_RAISED_EXCEPTION] {line} SQLSTATE: P0001"


def test_a_run_that_answers_no_judged_query_is_named(spark):
    """A frame without rows raises the same error, under the name of the argument."""
    from pyspark.errors import SparkRuntimeException

    qrels_df = spark.createDataFrame([("q1", "d1", 1)], "query string, doc string, label int")
    rows = [(*row, "a") for row in ROWS] + [("q2", "d1", 1.0, "b")]
    several = spark.createDataFrame(rows, "query string, doc string, score double, run string")
    for runs_df, name in (
        (several, "b"), (several.filter("false"), "runs_df"), (several.drop("run").filter("query = 'q2'"), "runs_df"),
    ):  # fmt: skip
        with pytest.raises(SparkRuntimeException, match=f"{name}: no query of this run is judged in qrels_df"):
            evaluate(qrels_df, runs_df, "AP").collect()


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ([], "qrels_df: there are no judgments"),
        (
            [("q1", "d1", 0.5)],
            "AP: labels: are all below rel=1, so no document is relevant (the highest is 0.5); write for example "
            "AP(rel=0.5)",
        ),
        (
            [("q1", "d1", float("nan"))],
            f"qrels_df: label: expected {LABEL}, found NaN for document 'd1' of query 'q1'",
        ),
        (
            [("q1", "d1", 1e10)],
            f"qrels_df: label: expected {LABEL}, found 1.0E10 for document 'd1' of query 'q1'",
        ),
        ([("q1", "d1", None)], "qrels_df: label: expected a label, found null for document 'd1' of query 'q1'"),
        (
            [("q1", "d1", 1.0), ("q1", "d1", 1.0), ("q1", "d1", 2.0)],
            "qrels_df: document 'd1' of query 'q1' has different labels, 1.0 and 2.0",
        ),
    ],
)
def test_bad_judgments_that_are_broadcast_raise_at_once(rows, line, spark):
    qrels_df = spark.createDataFrame(rows, "query string, doc string, label double")
    runs_df = spark.createDataFrame(ROWS, "query string, doc string, score double")
    assert message_of(evaluate, qrels_df, runs_df, "AP") == line


@pytest.mark.parametrize(
    ("judged", "ranked", "line"),
    [
        (
            "query_id int, doc_id string, label int",
            "qid string, docno string, score float",
            "runs_df: qid: the column holds text, but query_id in qrels_df holds integers; "
            "make both text, or both integers",
        ),
        (
            "query_id int, doc_id string, label int",
            "qid bigint, docno bigint, score float",
            "runs_df: docno: the column holds integers, but doc_id in qrels_df holds text; "
            "make both text, or both integers",
        ),
        (
            "query_id int, doc_id string, label int",
            "qid int, docno string, score string",
            "runs_df: score: expected a column of numbers, found a column of type string",
        ),
        (
            "query_id int, doc_id string, label string",
            "qid int, docno string, score double",
            "qrels_df: label: expected a column of numbers, found a column of type string",
        ),
        (
            "query_id double, doc_id string, label int",
            "qid int, docno string, score double",
            "qrels_df: query_id: expected a column of text or integers, found a column of type double",
        ),
        (
            "query_id int, doc_id string, label int",
            "qid int, docno string, score double, run double",
            "runs_df: run: expected a column of text or integers, found a column of type double",
        ),
        (
            "query_id int, doc_id string, label int",
            "qid int, docno string, points double",
            "runs_df: there is no score column among qid, docno, points: name it score, rating, prediction or sim, or "
            "pass Run.from_frame(frame, score=...)",
        ),
    ],
)
def test_wrong_columns_raise_at_once(judged, ranked, line, spark):
    assert message_of(evaluate, spark.createDataFrame([], judged), spark.createDataFrame([], ranked), "AP") == line


def test_integers_that_float64_does_not_hold_are_bad_scores(spark):
    from pyspark.errors import SparkRuntimeException

    qrels_df = spark.createDataFrame([("q1", "d1", True)], "query string, doc string, label boolean")
    runs = [spark.createDataFrame([("q1", "d1", 2**53 + i)], "query string, doc string, score bigint") for i in (0, 1)]
    assert [row.value for row in evaluate(qrels_df, runs[0], "AP").collect()] == [1.0]
    with pytest.raises(SparkRuntimeException, match="expected a number that float64 holds, found 9007199254740993 for"):
        evaluate(qrels_df, runs[1], "AP").collect()


def test_arguments_are_checked(frames):
    qrels_df, runs_df = frames
    for options, where in (
        ({"ties": "averge"}, "ties"), ({"queries": "some"}, "queries"), ({"duplicates": "first"}, "duplicates"),
        ({"broadcast": 1}, "broadcast"), ({"spread": "yes"}, "spread"), ({"ties": "trec_eval", "spread": True}, "ties"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=f"^{where}: "):
            evaluate(qrels_df, runs_df, "AP", **options)
    with pytest.raises(InputError, match=r"^runs_df: expected a pyspark DataFrame, found"):
        evaluate(qrels_df, {"q1": {"d1": 1.0}}, "AP")
    assert message_of(means, runs_df).startswith("values_df: the column run is missing")


@pytest.mark.parametrize(
    ("printed", "line"),
    [
        (None, "Java is not installed: Spark needs Java 17 or later, in JAVA_HOME or on the PATH"),
        ('openjdk version "1.8.0_392"', "Java 8 is too old: Spark needs Java 17 or later, in JAVA_HOME or on the PATH"),
        ('openjdk version "17.0.15" 2025-04-15', None),
    ],
)
def test_a_missing_or_old_java_is_named(printed, line, tmp_path, monkeypatch):
    """The test replaces the Java executable, so the installed Java does not matter."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    if printed is not None:
        java = tmp_path / "java"
        java.write_text(f"#!/bin/sh\nprintf '%s\\n' '{printed}' >&2\n")
        java.chmod(0o755)
    if line is None:
        check_java()
    else:
        with pytest.raises(MissingExtraError) as caught:
            check_java()
        assert str(caught.value) == line
