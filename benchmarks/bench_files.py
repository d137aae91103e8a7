"""Processes that read a run file and print the values, timed from start to exit."""

import ctypes
import gzip
import locale
import shutil
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

import tieaware
from benchmarks.compiling import library, needs_compiler
from benchmarks.processes import run
from benchmarks.ratios import Ratio
from benchmarks.workloads import distinct_scores, labels
from tieaware.inputs.files import compression

SECTION = "File to result: whole processes"
THREADS = "One file, two threads"
ALONE = "One file, one thread"
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


@pytest.fixture(scope="module")
def compressed(files):
    """The run of `files`, compressed."""
    path = files[1].with_suffix(".gz")
    with open(files[1], "rb") as source, gzip.open(path, "wb", compresslevel=1) as target:
        shutil.copyfileobj(source, target)
    return path


@pytest.mark.parametrize("suffix", ["", ", gzip"])
def test_two_threads(compare, files, compressed, suffix):
    """Measure evaluation in this process, with judgments read beforehand. A single thread decompresses a file."""
    evaluated = evaluation(files, compressed if suffix else files[1])

    def check() -> None:
        one, two = evaluated(1), evaluated(2)
        np.testing.assert_array_equal(two.values, one.values)
        np.testing.assert_allclose(two.mean()[0], files[3], rtol=0, atol=1e-11)

    compare(
        THREADS, workload(files) + suffix, check=check, contender=lambda: evaluated(2), of="2 threads",
        baseline=lambda: evaluated(1), to="1 thread", at_most=None if suffix else 0.6, budget=12,
    )  # fmt: skip


@needs_compiler
def test_cycles_per_byte(compare, files, tmp_path):
    """A figure that other machines can be compared with: processors of one kind differ in their clocks."""
    clock = ctypes.CDLL(library("clock.c", tmp_path)).cycles
    clock.argtypes, clock.restype = (ctypes.c_uint64, ctypes.c_uint64), ctypes.c_uint64
    evaluated = evaluation(files, files[1])
    size = files[1].stat().st_size

    def check() -> None:
        assert clock(size, 3) == 3 * (size + 1)
        np.testing.assert_allclose(evaluated(1).mean()[0], files[3], rtol=0, atol=1e-11)

    compare(
        ALONE, f"{workload(files)}, text", check=check, contender=lambda: evaluated(1),
        baseline=lambda: clock(size, 3), to="one cycle per byte", at_most=1 / 0.42, budget=12,
    )  # fmt: skip


@pytest.mark.parametrize("module", ["zlib", "isal.isal_zlib"])
def test_inflating(compare, files, compressed, module, monkeypatch):
    inflater = pytest.importorskip(module)
    monkeypatch.setattr(compression, "gzip_module", lambda: inflater)
    evaluated = evaluation(files, compressed)

    def inflated() -> int:
        left, size = inflater.decompressobj(wbits=31), 0
        with open(compressed, "rb") as file:
            while piece := file.read(1 << 18):
                size += len(left.decompress(piece))
        return size

    def check() -> None:
        assert inflated() == files[1].stat().st_size
        np.testing.assert_allclose(evaluated(1).mean()[0], files[3], rtol=0, atol=1e-11)

    compare(
        ALONE, f"{workload(files)}, gzip", check=check, contender=lambda: evaluated(1), baseline=inflated,
        to=f"decompression by {module.rpartition('.')[2]}", at_most=1.2 if inflater is zlib else None, budget=12,
    )  # fmt: skip


def evaluation(files, path):
    """Return a function that evaluates a file with a number of threads. The judgments have been read before."""
    judgments = tieaware.read_qrels(files[0])
    return lambda threads: tieaware.evaluate(judgments, path, MEASURES, threads=threads)
