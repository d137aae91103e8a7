"""The times of evaluation by Spark, for the tables of docs/tools/spark.md.

``.venv-spark/bin/python -m benchmarks.spark``, after ``make test-spark``, takes three quarters of an hour on an idle
machine. Spark runs in local mode, which uses no network: it writes shuffled rows to disk and reads them again.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import tieaware
from tieaware.integrations.spark import evaluate, means
from tieaware.integrations.spark.packing import ANNOUNCED, CHUNK_COLUMNS, Packing

MEASURES = ["AP", "nDCG@10", "RR"]

# The number of documents per list, and of judged documents per query. There are two runs.
LENGTH, JUDGED = 1000, 20
DRIVER_MEMORY = "3g"

# All ways of evaluation use large Arrow batches, because each batch costs time. With this value of the limit on bytes,
# Spark does not compute the size of a batch after each row.
SETTINGS = {
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
}


def write_collection(folder: Path, n_rows: int, length: int = LENGTH, shuffled: bool = False) -> None:
    """Write judgments and two runs as Parquet, 250,000 rows per file. Scores have two decimals."""
    folder.mkdir()
    n_queries = max(n_rows // (2 * length), 1)
    rng = np.random.default_rng(7)

    def names(letter: str, numbers: Any) -> Any:
        return pc.binary_join_element_wise(letter, pc.cast(pa.array(numbers), pa.string()), "")

    judged = rng.integers(0, 20 * length, (n_queries, JUDGED))
    columns = {
        "query_id": names("q", np.repeat(np.arange(n_queries), JUDGED)), "doc_id": names("doc", judged.ravel()),
        "relevance": pa.array((judged.ravel() % 4).astype(np.int32)),
    }  # fmt: skip
    table = pa.table(columns).group_by(["query_id", "doc_id"]).aggregate([("relevance", "max")])
    pq.write_table(table.rename_columns(["query_id", "doc_id", "relevance"]), folder / "qrels.parquet")
    (folder / "runs").mkdir()
    per_file = max(250_000 // (2 * length), 1)
    for i, first in enumerate(range(0, n_queries, per_file)):
        queries = np.arange(first, min(first + per_file, n_queries))
        # The documents of a list are distinct, and drawn from a collection that is twenty times as large.
        starts = rng.integers(0, 20 * length, (2, len(queries), 1))
        documents = (starts + 19 * np.arange(length)) % (20 * length)
        order = rng.permutation(2 * documents[0].size) if shuffled else slice(None)
        scores = np.round(rng.gamma(2.0, 3.0, documents.shape), 2)
        query = np.broadcast_to(queries[None, :, None], documents.shape)
        run = np.broadcast_to(np.array([[[0]], [[1]]]), documents.shape)
        rows = {
            "run": pa.array(["bm25", "dense"]).take(pa.array(run.ravel()[order])),
            "query_id": names("q", query.ravel()[order]),
            "doc_id": names("doc", documents.ravel()[order]),
            "score": pa.array(scores.ravel()[order]),
        }
        pq.write_table(pa.table(rows), folder / "runs" / f"{i:05}.parquet")


@contextmanager
def session(threads: int) -> Iterator[Any]:
    """Start Spark in local mode with the given number of threads."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{threads}]").config("spark.driver.memory", DRIVER_MEMORY)
    settings = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "32",
        "spark.driver.host": "127.0.0.1", **SETTINGS,
    }  # fmt: skip
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()


class Timed:
    """An action, its least time so far, and the bytes that it shuffled when it last ran."""

    def __init__(self, spark: Any, work: Callable[[], Any]) -> None:
        self._spark, self._work = spark, work
        self.seconds = float("inf")
        self.shuffled = 0

    def _written(self) -> int:
        executors = self._spark.sparkContext._jsc.sc().statusStore().executorList(False)
        return sum(executors.apply(i).totalShuffleWrite() for i in range(executors.size()))

    def again(self) -> None:
        """Run and time the action once more."""
        before, start = self._written(), perf_counter()
        self._work()
        self.seconds = min(self.seconds, perf_counter() - start)
        self.shuffled = self._written() - before


def alternate(spark: Any, rounds: int, **works: Callable[[], Any]) -> dict[str, Timed]:
    """Time actions in turns, so that other load of the machine affects all of them."""
    timed = {name: Timed(spark, work) for name, work in works.items()}
    for _ in range(rounds):
        for each in timed.values():
            each.again()
    return timed


def compute(frame: Any) -> None:
    """Compute all rows of a frame, and discard them."""
    frame.write.format("noop").mode("overwrite").save()


# ---- other evaluators in Spark -------------------------------------------------------------------


def with_scikit_learn(qrels: Any, runs: Any) -> Any:
    """Evaluate nDCG@10 and AP by scikit-learn, with each list as a frame of pandas."""
    import pandas as pd

    def of_list(rows: pd.DataFrame) -> pd.DataFrame:
        from sklearn.metrics import average_precision_score, ndcg_score

        labels = rows.relevance.to_numpy()[None, :]
        scores = rows.score.to_numpy()[None, :]
        return pd.DataFrame(
            {
                "run": [rows.run.iloc[0]], "query_id": [rows.query_id.iloc[0]],
                "ndcg": [ndcg_score(labels, scores, k=10)],
                "ap": [average_precision_score(labels[0] > 0, scores[0]) if labels.any() else 0.0],
            }
        )  # fmt: skip

    joined = runs.join(qrels, ["query_id", "doc_id"], "left").fillna(0, ["relevance"])
    return joined.groupBy("run", "query_id").applyInPandas(
        of_list, "run string, query_id string, ndcg double, ap double"
    )


def with_pytrec_eval(qrels: Any, runs: Any) -> Any:
    """Evaluate the three measures by pytrec_eval, with each list as a frame of pandas and broadcast judgments."""
    import pandas as pd

    judged: dict[str, dict[str, int]] = {}
    for row in qrels.toPandas().itertuples():
        judged.setdefault(row.query_id, {})[row.doc_id] = int(row.relevance)
    shared = runs.sparkSession.sparkContext.broadcast(judged)

    def of_list(rows: pd.DataFrame) -> pd.DataFrame:
        import pytrec_eval

        query = rows.query_id.iloc[0]
        evaluator = pytrec_eval.RelevanceEvaluator(
            {query: shared.value.get(query, {})}, {"map", "ndcg_cut_10", "recip_rank"}
        )
        found = evaluator.evaluate({query: dict(zip(rows.doc_id, rows.score, strict=True))})
        return pd.DataFrame([{"run": rows.run.iloc[0], "query_id": query, **found.get(query, {})}])

    return runs.groupBy("run", "query_id").applyInPandas(
        of_list, "run string, query_id string, map double, ndcg_cut_10 double, recip_rank double"
    )


def with_ranking_evaluator(qrels: Any, runs: Any) -> float:
    """Evaluate nDCG@10 alone, over both runs, by pyspark.ml. It takes each list as an array of document numbers."""
    from pyspark.ml.evaluation import RankingEvaluator
    from pyspark.sql import functions as F  # noqa: N812

    number = F.substring("doc_id", 4, 20).cast("double")
    ranked = runs.groupBy("run", "query_id").agg(
        F.sort_array(F.collect_list(F.struct("score", number.alias("doc"))), asc=False).alias("list")
    ).select("query_id", F.transform("list", lambda each: each["doc"]).alias("prediction"))  # fmt: skip
    relevant = qrels.filter("relevance > 0").groupBy("query_id").agg(F.collect_list(number).alias("label"))
    return float(RankingEvaluator(metricName="ndcgAtK", k=10).evaluate(ranked.join(relevant, "query_id")))


# ---- other ways to group rows by list -------------------------------------------------------------


def joined_rows(qrels: Any, runs: Any) -> Any:
    """Join the rows of the runs with the judgments, and return the columns that packing needs."""
    from pyspark.sql import functions as F  # noqa: N812

    judged = qrels.toDF("query", "document", "label")
    rows = runs.select("run", F.col("query_id").alias("query"), F.col("doc_id").alias("document"), "score")
    joined = rows.join(F.broadcast(judged), ["query", "document"], "left")
    name = F.when(F.col("label").isNotNull(), F.col("document")).alias("document")
    return joined.select("run", "query", "score", "label", name)


packed = Packing(None, all_names=False, places=False, n_parts=32, runs_name="runs").of_partition
_COLUMNS = {"run": "string", "query": "string", **dict.fromkeys(CHUNK_COLUMNS[:-1], "binary"), **ANNOUNCED}
PACKED = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())


def rows_by_map(qrels: Any, runs: Any) -> Any:
    """Shuffle and sort single rows, and pack them into lists by mapInArrow, without evaluation."""
    rows = joined_rows(qrels, runs).repartition("query").sortWithinPartitions("query", "run")
    return rows.mapInArrow(lambda batches: packed(batches), PACKED)


def rows_by_list(qrels: Any, runs: Any) -> Any:
    """Pack each list by its own call of applyInArrow, without evaluation."""

    def of_list(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from packed(batches)

    return joined_rows(qrels, runs).groupBy("run", "query").applyInArrow(of_list, PACKED)


def nothing_evaluated(runs: Any) -> Any:
    """Send all rows to Python, shuffle one row per list with the bytes of its scores, and return one row per list.

    This is what Spark itself takes for two passes of mapInArrow with a shuffle between them. The lists of the files are
    contiguous.
    """

    def to_lists(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            firsts = pa.array(range(0, batch.num_rows, LENGTH))
            scores = [batch.column("score").slice(first.as_py(), LENGTH).to_numpy().tobytes() for first in firsts]
            columns = {name: batch.column(name).take(firsts) for name in ("run", "query_id")}
            yield pa.RecordBatch.from_pydict({**columns, "scores": pa.array(scores, pa.binary())})

    def to_values(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.drop_columns(["scores"]).append_column("value", pa.array(np.zeros(batch.num_rows)))

    lists = runs.select("run", "query_id", "doc_id", "score").mapInArrow(
        to_lists, "run string, query_id string, scores binary"
    )
    return lists.repartition("query_id").mapInArrow(to_values, "run string, query_id string, value double")


def rows_by_bucket(qrels: Any, runs: Any) -> Any:
    """Pack 32 buckets of queries, each by one call of applyInArrow, without evaluation."""
    from pyspark.sql import functions as F  # noqa: N812

    def of_bucket(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from packed(batch.drop_columns(["bucket"]) for batch in batches)

    rows = joined_rows(qrels, runs).withColumn("bucket", F.pmod(F.hash("query"), F.lit(32)))
    return rows.groupBy("bucket").applyInArrow(of_bucket, PACKED)


# ---- tables --------------------------------------------------------------------------------------


def check(qrels: Any, runs: Any, folder: Path) -> None:
    """Assert that the means equal those of tieaware without Spark."""
    found = {(row.run, row.measure): row.value for row in means(evaluate(qrels, runs, MEASURES)).collect()}
    expected = tieaware.evaluate(folder / "qrels.parquet", pq.read_table(folder / "runs"), MEASURES)
    wanted = {
        (run, name): expected.mean()[i, k]
        for i, run in enumerate(expected.runs) for k, name in enumerate(expected.names)
    }  # fmt: skip
    assert found == wanted


def against_others(spark: Any, folder: Path, n_rows: int, rounds: int, ways: bool) -> None:
    """Check the result, and print times and ratios for one collection. With `ways`, also time other groupings."""
    qrels, runs = (spark.read.parquet(str(folder / name)) for name in ("qrels.parquet", "runs"))
    check(qrels, runs, folder)
    works = {
        "evaluate": lambda: compute(evaluate(qrels, runs, MEASURES)),
        "means": lambda: means(evaluate(qrels, runs, MEASURES)).collect(),
        "ranking_evaluator": lambda: with_ranking_evaluator(qrels, runs),
        "scikit_learn": lambda: compute(with_scikit_learn(qrels, runs)),
        "pytrec_eval": lambda: compute(with_pytrec_eval(qrels, runs)),
    }
    others = {
        "scan": lambda: compute(runs),
        "nothing_evaluated": lambda: compute(nothing_evaluated(runs)),
        "sorted_join": lambda: compute(evaluate(qrels, runs, MEASURES, broadcast=False)),
        "rows_by_map": lambda: compute(rows_by_map(qrels, runs)),
        "rows_by_list": lambda: compute(rows_by_list(qrels, runs)),
        "rows_by_bucket": lambda: compute(rows_by_bucket(qrels, runs)),
    }
    timed = alternate(spark, rounds, **works, **(others if ways else {}))
    print(f"\n{folder.name}: {n_rows:,} rows, {spark.sparkContext.master}, load {os.getloadavg()[0]:.1f}")
    ours = timed["evaluate"].seconds
    for name, each in timed.items():
        print(
            f"  {name:18} {each.seconds * 1e6 / n_rows:8.2f} s per 10^6 rows, "
            f"{each.shuffled / n_rows:7.2f} bytes shuffled per row, evaluate ÷ it {ours / each.seconds:6.3f}",
            flush=True,
        )


def growth(folders: dict[int, Path], in_no_order: Path, threads: int, rounds: int) -> None:
    """Print the time per row for collections of growing size, and for a collection with rows in random order.

    The rows in random order are as many as those of the second collection. Java compiles its code during the first 10^7
    rows, so smaller collections have more rounds. The largest collection has one round, and leaves out scikit-learn,
    which would take too long.
    """
    print(f"\nGrowth, {threads} threads")
    first: dict[str, float] = {}
    largest = max(folders)
    collections = [(str(n_rows), n_rows, folder) for n_rows, folder in folders.items()]
    if len(collections) > 1:
        collections.insert(2, (in_no_order.name, collections[1][1], in_no_order))
    with session(threads) as spark:
        for name, n_rows, folder in collections:
            qrels, runs = (spark.read.parquet(str(folder / each)) for each in ("qrels.parquet", "runs"))
            works = {
                "evaluate": lambda qrels=qrels, runs=runs: compute(evaluate(qrels, runs, MEASURES)),
                "means": lambda qrels=qrels, runs=runs: means(evaluate(qrels, runs, MEASURES)).collect(),
                "pytrec_eval": lambda qrels=qrels, runs=runs: compute(with_pytrec_eval(qrels, runs)),
                "scikit_learn": lambda qrels=qrels, runs=runs: compute(with_scikit_learn(qrels, runs)),
            }
            if n_rows == largest:
                del works["scikit_learn"]
            timed = alternate(spark, 1 if n_rows == largest else 2 * rounds, **works)
            for way, each in timed.items():
                per_row = each.seconds / n_rows
                print(
                    f"  {name:12} rows: {way:12} {per_row * 1e6:6.2f} s per 10^6 rows, "
                    f"{per_row / first.setdefault(way, per_row):5.2f} of the first, "
                    f"{each.shuffled / n_rows:5.2f} bytes shuffled per row, "
                    f"evaluate ÷ it {timed['evaluate'].seconds / each.seconds:6.3f}, load {os.getloadavg()[0]:.1f}",
                    flush=True,
                )


def means_beside_values(folder: Path, n_rows: int, rounds: int) -> None:
    """Print the time of means of evaluated values, and of the values alone, after a round that is not timed."""
    with session(2) as spark:
        qrels, runs = (spark.read.parquet(str(folder / name)) for name in ("qrels.parquet", "runs"))
        works = {
            "evaluate": lambda: compute(evaluate(qrels, runs, MEASURES)),
            "means": lambda: means(evaluate(qrels, runs, MEASURES)).collect(),
        }
        few = runs.where(f"query_id in ({', '.join(repr(f'q{i}') for i in range(100))})")
        compute(evaluate(qrels, few, MEASURES))
        timed = alternate(spark, rounds, **works)
    print(f"\n{n_rows:,} rows, lists of {LENGTH}, load {os.getloadavg()[0]:.1f}")
    for name, each in timed.items():
        ratio = each.seconds / timed["evaluate"].seconds
        print(f"  {name:12} {each.seconds * 1e6 / n_rows:6.2f} s per 10^6 rows, it ÷ evaluate {ratio:.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the smallest collection")
    parser.add_argument("--most", type=int, default=100_000_000, help="rows of the largest collection")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each way of evaluation")
    parser.add_argument(
        "--only", choices=("others", "growth", "means"),
        help="measure other evaluators only, growth only, or means of the largest collection only",
    )  # fmt: skip
    parser.add_argument("--small", action="store_true", help="measure 40,000 rows once, to check that all runs")
    arguments = parser.parse_args()
    if arguments.small:
        arguments.rows = arguments.most = 40_000
        arguments.rounds = 1
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if arguments.only == "means":
            write_collection(folder / "means", arguments.most)
            means_beside_values(folder / "means", arguments.most, arguments.rounds)
            return
        if arguments.only != "growth":
            collections = {"lists of 1000": LENGTH, "lists of 100": 100, "lists of 20": 20, "in no order": LENGTH}
            if arguments.small:
                del collections["lists of 100"], collections["lists of 20"]
            for name, length in collections.items():
                write_collection(folder / name, arguments.rows, length, shuffled=name == "in no order")
            for threads in (2,) if arguments.small else (1, 2):
                with session(threads) as spark:
                    # Java is warm after the first collection, and the other evaluators are too slow for more rounds.
                    for name in collections if threads == 2 else ["lists of 1000"]:
                        first = name == "lists of 1000"
                        against_others(spark, folder / name, arguments.rows, arguments.rounds if first else 1, first)
        if arguments.only != "others":
            folders = {}
            n = arguments.rows
            while n <= arguments.most:
                write_collection(folder / str(n), n)
                folders[n] = folder / str(n)
                n *= 10
            in_no_order = folder / "no order"
            write_collection(in_no_order, 10 * arguments.rows, shuffled=True)
            growth(folders, in_no_order, 2, arguments.rounds)


if __name__ == "__main__":
    main()
