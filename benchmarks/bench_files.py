"""Processes that read a run file and print the values, timed from start to exit."""

import gzip
import locale
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import tieaware
from benchmarks.processes import run
from benchmarks.ratios import Ratio
from benchmarks.workloads import distinct_scores, labels

SECTION = "File to result: whole processes"
THREADS = "One file, two threads"
MEASURES = ("AP", "RR", "nDCG@10", "R@1000")
MOST_MEMORY = 200e6

PYTREC_EVAL = """
import math
import sys
import pytrec_eval

with open(sys.argv[1]) as file:
    qrels = pytrec_eval.parse_qrel(file)
with open(sys.argv[2]) as file:
    run = pytrec_eval.parse_run(file)
measures = {"map", "recip_rank", "ndcg_cut.10", "recall.1000"}
values = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run).values()
for name in ("map", "recip_rank", "ndcg_cut_10", "recall_1000"):
    print(name, "all", math.fsum(value[name] for value in values) / len(values))
"""


@pytest.fixture(scope="module")
def files(small, tmp_path_factory):
    """Write judgments and a run of 338 MB; yield them with the number of lines and the means, computed from arrays."""
    n_queries = 70 if small else 6_980
    scores = np.round(distinct_scores(n_queries, 1_000) * 20, 13)
    judged = labels(n_queries, 1_000, 1.1)
    folder = tmp_path_factory.mktemp("files")
    order = np.argsort(-scores, axis=1)
    numbers = np.random.default_rng(2008).integers(1_000_000, 8_000_000, size=scores.shape)
    # Add the position, so that the document numbers of a query are distinct. They still have seven digits.
    numbers = np.sort(numbers, axis=1) + np.arange(1_000)
    with open(folder / "run.trec", "w") as run_file, open(folder / "qrels.txt", "w") as qrels_file:
        for i in range(n_queries):
            query = 1_000_000 + 13 * i
            documents, listed = numbers[i].tolist(), scores[i].tolist()
            run_file.writelines(
                f"{query} Q0 {documents[j]} {rank} {listed[j]:.13f} bm25-rm3\n"
                for rank, j in enumerate(order[i].tolist(), start=1)
            )
            qrels_file.writelines(f"{query} 0 {documents[j]} 1\n" for j in np.flatnonzero(judged[i]).tolist())
    means = tieaware.Evaluator(judged, MEASURES).mean(scores)
    yield folder / "qrels.txt", folder / "run.trec", scores.size, means
    for path in folder.glob("run.*"):
        path.unlink()


def workload(files) -> str:
    _, run_file, lines, _ = files
    size = run_file.stat().st_size
    return f"{lines / 1e6:.2f} million lines, {size / 1e6:.0f} MB, AP + RR + nDCG@10 + R@1000"


def test_file_to_result(compare, report, files):
    qrels, run_file, lines, means = files
    command = [Path(sys.executable).with_name("tieaware"), "eval", qrels, run_file, "--digits", "12"]
    for measure in MEASURES:
        command += ["-m", measure]
    one = [*command, "--threads", "1"]
    peaks, other = [], []

    def contender():
        process = run(*one)
        peaks.append(process.peak)
        return process

    def peer():
        process = run(sys.executable, "-c", PYTREC_EVAL, qrels, run_file)
        other.append(process)
        return process

    def check() -> None:
        assert run("wc", run_file).output.split()[0] == str(lines)
        several = run(*command)
        peaks.append(several.peak)
        for process, digits in ((run(*one), 1e-11), (several, 1e-11), (peer(), 1e-6)):
            found = [float(line.split()[2]) for line in process.output.splitlines()]
            np.testing.assert_allclose(found, means, rtol=0, atol=digits)

    charset = locale.setlocale(locale.LC_CTYPE)
    ratio = compare(
        SECTION, f"{workload(files)}, 1 thread", check=check, contender=contender,
        baseline=lambda: run("wc", run_file), to=f"wc ({charset})", at_most=0.5, budget=12,
    )  # fmt: skip
    peak = max(peaks)
    limit = None if ratio.at_most is None else 1.0
    memory = peak / MOST_MEMORY
    report(Ratio(SECTION, "the same, or one per core: peak memory", "tieaware", "200 MB", memory, memory, limit))
    memory = other[0].peak / peak
    report(Ratio(SECTION, "the same: peak memory", "pytrec_eval", "tieaware", memory, memory))
    time = other[0].seconds / ratio.seconds[0]
    report(Ratio(SECTION, "the same: time, once", "pytrec_eval", "tieaware", time, time))


@pytest.mark.parametrize("compressed", [False, True])
def test_two_threads(compare, files, compressed):
    """Measure evaluation in this process, with judgments read beforehand. A single thread decompresses a file."""
    qrels, run_file, _, means = files
    judgments = tieaware.read_qrels(qrels)
    name = workload(files)
    if compressed:
        plain, run_file = run_file, run_file.with_suffix(".gz")
        with open(plain, "rb") as source, gzip.open(run_file, "wb", compresslevel=1) as target:
            shutil.copyfileobj(source, target)
        name += ", gzip"

    def evaluated(threads: int):
        return tieaware.evaluate(judgments, run_file, MEASURES, threads=threads)

    def check() -> None:
        one, two = evaluated(1), evaluated(2)
        np.testing.assert_array_equal(two.values, one.values)
        np.testing.assert_allclose(two.mean()[0], means, rtol=0, atol=1e-11)

    compare(
        THREADS, name, check=check, contender=lambda: evaluated(2), of="2 threads",
        baseline=lambda: evaluated(1), to="1 thread", at_most=None if compressed else 0.6, budget=12,
    )  # fmt: skip
