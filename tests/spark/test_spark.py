"""Evaluation by Spark: the values of one machine, in the same bits; what fails on the way; and what errors say."""

import doctest
import os
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.spark.data import judgments, rankings

import tieaware
from tieaware import InputError
from tieaware.integrations import spark as door
from tieaware.runtime.extras import MissingExtraError

MEASURES = ["AP", "nDCG@5", "P_5", "GMAP", "NumRet", "infAP", "Bpref"]


@pytest.fixture(scope="module")
def frames(spark):
    """Judgments and runs, in several partitions, of which some are empty and one has a single row."""
    runs = rankings()
    parts = [spark.createDataFrame(part) for part in (runs.iloc[:1], runs.iloc[1:])]
    return spark.createDataFrame(judgments()), parts[0].unionAll(parts[1])


def assert_as_on_one_machine(values_df, expected):
    """All values, and no others; and all means, which follow from the frame that is asked for."""
    values_df = values_df.localCheckpoint()
    found = values_df.toPandas().set_index(["run", "query_id", "measure"])
    assert found.index.is_unique
    assert len(found) == np.count_nonzero(expected.answered) * len(expected.names)
    means = door.means(values_df).toPandas()
    assert means[["run", "measure"]].values.tolist() == sorted(
        [run, name] for run in expected.runs for name in expected.names
    )
    means = means.set_index(["run", "measure"])
    summary, deviations = expected.summary(), expected.mean_std() if expected.std is not None else None
    for i, run in enumerate(expected.runs):
        for k, name in enumerate(expected.names):
            of_measure = [(run, query, name) for query in np.array(expected.queries)[expected.answered[i]]]
            for kind, cube in expected.cubes().items():
                column = found[kind.removesuffix("s")].loc[of_measure]
                np.testing.assert_array_equal(column, cube[i, expected.answered[i], k], f"{run} {name} {kind}")
            assert means.value[run, name] == summary[i, k]
            if deviations is not None and not expected.measures[k].definition.is_count:
                np.testing.assert_allclose(means["std"][run, name], deviations[i, k], rtol=1e-15)
                for kind in ("min", "max"):
                    wanted = tieaware.Results(getattr(expected, kind), *expected_labels(expected)).mean()[i, k]
                    np.testing.assert_array_equal(means[kind][run, name], wanted)


def expected_labels(results):
    return results.runs, results.queries, results.measures


@pytest.mark.parametrize(
    ("options", "broadcast"),
    [
        ({"spread": True}, None),
        ({"ties": "trec_eval", "queries": "both"}, False),
        ({"ties": "run_order"}, True),
        ({"precision": "bands:1.5"}, False),
        ({"ties": "pessimistic", "precision": "decimals:0"}, True),
    ],
    ids=str,
)
def test_values_and_means_are_those_of_one_machine(options, broadcast, frames):
    qrels_df, runs_df = frames
    # In the order in which Spark has the rows, which run_order takes.
    expected = tieaware.evaluate(judgments(), runs_df.toPandas(), MEASURES, **options)
    assert_as_on_one_machine(door.evaluate(qrels_df, runs_df, MEASURES, broadcast=broadcast, **options), expected)


def test_copied_judgments_are_no_part_of_the_plan(spark):
    """Of which Spark looks at every row again at each step. For that a setting is changed, and changed back."""
    setting = "spark.sql.execution.arrow.localRelationThreshold"
    before = spark.conf.get(setting)
    runs_df = spark.range(40).selectExpr("'q1' as query_id", "concat('d', id) as doc_id", "id % 3 as score")
    values = door.evaluate(spark.createDataFrame(judgments()), runs_df, ["AP"], broadcast=True)
    assert "LocalRelation" not in values._jdf.queryExecution().analyzed().toString()
    assert spark.conf.get(setting) == before


def test_names_are_compared_though_their_hashes_are_the_same(frames, monkeypatch):
    """Those of judged ones and of others; if two judged ones have the same, judgments are not copied."""
    qrels_df, runs_df = frames
    expected = tieaware.evaluate(judgments(), runs_df.toPandas(), MEASURES)
    copied, found = door._copied, []
    monkeypatch.setattr(door, "_copied", lambda *args: found.append(copied(*args)) or found[-1])
    # The numbers in the names: of more queries than are judged, or of fewer, and of these with their documents.
    number, rest = (f"cast(substring({column}, 2) as bigint)" for column in ("query", "document"))
    for several, modulus in ((False, 12), (True, 5)):
        of_query = f"pmod({number}, {modulus})"
        of_both = f"pmod({of_query} * 60 + {rest}, {12 * 60})"
        hashes = {"query_key": of_query, "key": of_both, "bit": f"pmod({rest}, 7)"}
        monkeypatch.setattr(door, "_HASHES", hashes)
        assert_as_on_one_machine(door.evaluate(qrels_df, runs_df, MEASURES), expected)
        assert (found[-1] is None) == several


def test_the_examples_of_its_page_run(spark):
    page = Path(__file__).parents[2] / "docs" / "integrations" / "spark.md"
    # Spark ends its tables with an empty line.
    options = {"optionflags": doctest.NORMALIZE_WHITESPACE, "encoding": "utf-8"}
    results = doctest.testfile(str(page), module_relative=False, globs={"spark": spark}, **options)
    assert results.failed == 0 < results.attempted


def test_half_of_all_rows_may_be_of_one_query_and_batches_cut_its_list(spark):
    """Here in integers, single precision, and without a column of runs."""
    rng = np.random.default_rng(3)
    n = 20_000
    query = np.where(np.arange(2 * n) % 2, 7, rng.integers(8, 400, 2 * n))
    runs = pd.DataFrame({"qid": query, "docno": np.arange(2 * n), "score": rng.integers(0, 50, 2 * n, np.int16)})
    qrels = runs.sample(300, random_state=1)[["qid", "docno"]].assign(label=1.0)
    expected = tieaware.evaluate(qrels, runs, ["AP", "nDCG@10", "NumRet"])
    batch = "spark.sql.execution.arrow.maxRecordsPerBatch"
    spark.conf.set(batch, "700")
    try:
        found = door.evaluate(spark.createDataFrame(qrels), spark.createDataFrame(runs).repartition(5), expected.names)
        assert dict(found.dtypes)["query_id"] == "bigint"
        assert_as_on_one_machine(found, expected)
    finally:
        spark.conf.unset(batch)


@pytest.mark.parametrize("broadcast", [True, False])
def test_rows_are_packed_once(broadcast, frames, spark):
    """Though what is shuffled is read twice: for the names of the runs, and to be evaluated."""
    adaptive = "spark.sql.adaptive.enabled"
    spark.conf.set(adaptive, "false")
    try:
        plan = door.evaluate(*frames, "AP", broadcast=broadcast)._jdf.queryExecution().executedPlan().toString()
    finally:
        spark.conf.unset(adaptive)
    assert plan.count("MapInArrow") == 2
    assert plan.count("ReusedExchange") >= 1


def test_a_call_sends_few_messages_to_java(frames, spark, monkeypatch):
    """What is asked of a row goes as SQL: an expression of pyspark's functions is dozens of messages."""
    from py4j.protocol import MEMORY_COMMAND_NAME

    client = spark.sparkContext._gateway._gateway_client
    sent, send = [], client.send_command

    def noted(command, *args, **options):
        sent.append(command)
        return send(command, *args, **options)

    monkeypatch.setattr(client, "send_command", noted)
    door.evaluate(*frames, "AP")
    # Java is also told of each object that Python has done with, whenever its garbage is collected: of other tests too.
    assert 0 < sum(not command.startswith(MEMORY_COMMAND_NAME) for command in sent) < 700


def test_a_worker_that_is_killed_is_replaced(frames, tmp_path, monkeypatch):
    """One that packs, one that evaluates, and one that adds up, in the middle of their work."""
    mapped = door._map
    marks = [str(tmp_path / str(i)) for i in range(4)]
    left = iter(marks)

    def mortal(frame, work, schema):
        mark = next(left)

        def killed_once(batches):
            for batch in work(batches):
                try:
                    os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    yield batch
                else:
                    yield batch
                    os.kill(os.getpid(), signal.SIGKILL)

        return mapped(frame, killed_once, schema)

    monkeypatch.setattr(door, "_map", mortal)
    qrels_df, runs_df = frames
    expected = tieaware.evaluate(judgments(), rankings(), MEASURES)
    found = door.evaluate(qrels_df, runs_df, MEASURES)
    assert_as_on_one_machine(found, expected)
    assert all(map(os.path.exists, marks))


ROWS = [("q1", "d1", 2.0), ("q1", "d2", 2.0), ("q2", "d3", 1.0)]


@pytest.mark.parametrize(
    ("rows", "options", "line"),
    [
        ([("q1", "d9", None)], {}, "runs_df: score: expected a number, found null for document 'd9' of query 'q1'"),
        # Of a query that is not judged.
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
            "runs_df: expected each document once for a query, found 'd1' twice for query 'q1' of run 'run'",
        ),
        (
            [("q1", "d2", 7.0)],
            {"duplicates": "all"},
            "runs_df: expected each document once for a query, found 'd2' twice for query 'q1' of run 'run'",
        ),
    ],
)
def test_a_bad_row_is_found_where_values_are_asked_for(rows, options, line, spark):
    """In one line, without the traceback of a worker."""
    from pyspark.errors import SparkRuntimeException

    runs_df = spark.createDataFrame(ROWS + rows, "query string, doc string, score double").coalesce(2)
    qrels_df = spark.createDataFrame([("q1", "d1", 1)], "query string, doc string, label int")
    values = door.evaluate(qrels_df, runs_df, "AP", **options)
    with pytest.raises(SparkRuntimeException) as caught:
        values.collect()
    assert str(caught.value).splitlines()[0] == f"[USER_RAISED_EXCEPTION] {line} SQLSTATE: P0001"


def test_a_run_that_answers_no_judged_query_is_named(spark):
    """As on one machine; and so is a frame without rows."""
    from pyspark.errors import SparkRuntimeException

    qrels_df = spark.createDataFrame([("q1", "d1", 1)], "query string, doc string, label int")
    rows = [(*row, "a") for row in ROWS] + [("q2", "d1", 1.0, "b")]
    several = spark.createDataFrame(rows, "query string, doc string, score double, run string")
    for runs_df, name in (
        (several, "b"), (several.filter("false"), "runs_df"), (several.drop("run").filter("query = 'q2'"), "runs_df"),
    ):  # fmt: skip
        with pytest.raises(SparkRuntimeException, match=f"{name}: expected a query in common with qrels_df, found"):
            door.evaluate(qrels_df, runs_df, "AP").collect()


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ([], "qrels_df: expected at least one judgment, found none"),
        (
            [("q1", "d1", 0.5)],
            "qrels_df: label: expected a whole number of 32 bits, found 0.5 for document 'd1' of query 'q1'",
        ),
        (
            [("q1", "d1", 1e10)],
            "qrels_df: label: expected a whole number of 32 bits, found 1.0E10 for document 'd1' of query 'q1'",
        ),
        ([("q1", "d1", None)], "qrels_df: label: expected a label, found null for document 'd1' of query 'q1'"),
        (
            [("q1", "d1", 1.0), ("q1", "d1", 1.0), ("q1", "d1", 2.0)],
            "qrels_df: expected one label, found 1 and 2 for document 'd1' of query 'q1'",
        ),
    ],
)
def test_bad_judgments_raise_at_once_where_they_are_few(rows, line, spark):
    qrels_df = spark.createDataFrame(rows, "query string, doc string, label double")
    runs_df = spark.createDataFrame(ROWS, "query string, doc string, score double")
    with pytest.raises(InputError) as caught:
        door.evaluate(qrels_df, runs_df, "AP")
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("judged", "ranked", "line"),
    [
        (
            "query_id int, doc_id string, label int",
            "qid string, docno string, score float",
            "runs_df: qid: expected integers, as qrels_df has in query_id, found text; "
            "make both text, or both integers",
        ),
        (
            "query_id int, doc_id string, label int",
            "qid bigint, docno bigint, score float",
            "runs_df: docno: expected text, as qrels_df has in doc_id, found integers; "
            "make both text, or both integers",
        ),
        (
            "query_id int, doc_id string, label int",
            "qid int, docno string, score string",
            "runs_df: score: expected a column of numbers, found one of string",
        ),
        (
            "query_id int, doc_id string, label string",
            "qid int, docno string, score double",
            "qrels_df: label: expected a column of whole numbers, found one of string",
        ),
        (
            "query_id double, doc_id string, label int",
            "qid int, docno string, score double",
            "qrels_df: query_id: expected a column of text or integers, found one of double",
        ),
        (
            "query_id int, doc_id string, label int",
            "qid int, docno string, score double, run double",
            "runs_df: run: expected a column of text or integers, found one of double",
        ),
        (
            "query_id int, doc_id string, label int",
            "qid int, docno string, points double",
            "runs_df: expected a column for score= (score, rating, prediction, sim, or one named by it), "
            "found the columns qid, docno, points",
        ),
    ],
)
def test_columns_that_do_not_fit_raise_at_once(judged, ranked, line, spark):
    with pytest.raises(InputError) as caught:
        door.evaluate(spark.createDataFrame([], judged), spark.createDataFrame([], ranked), "AP")
    assert str(caught.value) == line


def test_whole_numbers_that_float64_lacks_are_no_scores(spark):
    from pyspark.errors import SparkRuntimeException

    qrels_df = spark.createDataFrame([("q1", "d1", True)], "query string, doc string, label boolean")
    runs = [spark.createDataFrame([("q1", "d1", 2**53 + i)], "query string, doc string, score bigint") for i in (0, 1)]
    assert [row.value for row in door.evaluate(qrels_df, runs[0], "AP").collect()] == [1.0]
    with pytest.raises(SparkRuntimeException, match="expected numbers that float64 holds, found 9007199254740993 for"):
        door.evaluate(qrels_df, runs[1], "AP").collect()


def test_arguments_are_checked(frames):
    qrels_df, runs_df = frames
    for options, where in (
        ({"ties": "averge"}, "ties"), ({"queries": "some"}, "queries"), ({"duplicates": "first"}, "duplicates"),
        ({"broadcast": 1}, "broadcast"), ({"spread": "yes"}, "spread"), ({"ties": "trec_eval", "spread": True}, "ties"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=f"^{where}: expected"):
            door.evaluate(qrels_df, runs_df, "AP", **options)
    with pytest.raises(InputError, match=r"^runs_df: expected a DataFrame of pyspark, found"):
        door.evaluate(qrels_df, {"q1": {"d1": 1.0}}, "AP")
    with pytest.raises(InputError, match=r"^values_df: expected the columns run, measure and value"):
        door.means(runs_df)


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (None, "Java is not installed: Spark needs Java 17 or later, in JAVA_HOME or on the PATH"),
        ('openjdk version "1.8.0_392"', "Java 8 is too old: Spark needs Java 17 or later, in JAVA_HOME or on the PATH"),
        ('openjdk version "17.0.15" 2025-04-15', None),
    ],
)
def test_java_that_is_missing_or_too_old_is_named(said, line, tmp_path, monkeypatch):
    """Whatever Java there is: the test brings its own."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    if said is not None:
        java = tmp_path / "java"
        java.write_text(f"#!/bin/sh\nprintf '%s\\n' '{said}' >&2\n")
        java.chmod(0o755)
    if line is None:
        door.check_java()
    else:
        with pytest.raises(MissingExtraError) as caught:
            door.check_java()
        assert str(caught.value) == line


