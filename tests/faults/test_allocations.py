"""Each allocation fails in turn: a call raises MemoryError or returns the right value, and the next call works.

First only allocations of the kernels fail, and then the only error allowed is MemoryError; then those of NumPy too, and
then those of all code. PYTHONMALLOC=malloc makes Python allocate every object with malloc.
"""

from __future__ import annotations

import gc
import os
import random
import sys
import threading
from collections import Counter

import numpy as np
import pyarrow
import pytest
from injected import ALLOCATIONS
from scipy import sparse
from support import c_functions, queries

import tieaware

# One measure of each kernel and of each way to prepare lists, including condensed lists (judged_only).
MEASURES = (
    "P@3", "AP", "RR", "nDCG@10", "RBP", "Success@3", "AUC", "ESL", "Bpref", "Q", "ERR@4", "Judged@3", "RBPResidual",
    "SetP", "GMAP", "IPrec@0.1", "IAP11", "AP(judged_only=True)", "NumRet",
)  # fmt: skip
SOME = [queries.random_query(random.Random(8), 7) for _ in range(6)]
SCORES = queries.scores_of(SOME)
STRIDED = np.repeat(SCORES, 2)[::2]
EVALUATOR = queries.evaluator(SOME, MEASURES)
LARGE = queries.evaluator(SOME * 500, MEASURES[:3], threads=2)
# Built before any allocation fails: SciPy's constructor crashes without memory.
RELEVANCE = sparse.csr_array(([1, 2, 1], ([0, 0, 1], [3, 5, 2])), shape=(2, 9))
SEEN = sparse.csr_array(([1, 1], ([0, 1], [4, 0])), shape=(2, 9))
QRELS = {f"q{i}": {f"d{j}": j % 3 for j in range(12)} for i in range(4)}
RUNS = {name: {f"q{i}": {f"d{j}": float(j // 3 * i) for j in range(9)} for i in range(4)} for name in "ab"}
COLUMNS = (
    {"query": [q for q in QRELS for _ in QRELS[q]], "doc": [d for q in QRELS for d in QRELS[q]],
     "label": [label for q in QRELS for label in QRELS[q].values()]},
    {"query": [q for q in RUNS["b"] for _ in RUNS["b"][q]], "doc": [d for q in RUNS["b"] for d in RUNS["b"][q]],
     "score": [score for q in RUNS["b"] for score in RUNS["b"][q].values()]},
)  # fmt: skip
TABLES = tuple(map(pyarrow.table, COLUMNS))
RESULTS = tieaware.evaluate(QRELS, RUNS["a"], ["AP"], threads=1)


def constructed(**options):
    return queries.evaluator(SOME, MEASURES, **options)(SCORES).tobytes()


def of_sparse():
    evaluator = tieaware.Evaluator.from_sparse(RELEVANCE, MEASURES[:5], exclude=SEEN)
    return evaluator(np.arange(18.0).reshape(2, 9) // 4).tobytes()


def of_results(results):
    return results.values.tobytes(), results.runs, results.queries


def in_c():
    """Prepare an evaluator for C, call it and release it."""
    results = []
    handle = c_functions.FUNCTIONS.prepare(EVALUATOR, c_functions.WITH_SPREAD)
    for name, n_rows in (("evaluate", EVALUATOR.n_queries), ("mean", 1), ("spread", 4 * EVALUATOR.n_queries)):
        # Scores that are not adjacent are copied.
        code, values = c_functions.called(name, handle, STRIDED, (n_rows, len(EVALUATOR.measures)))
        results.append((code, values.tobytes()))
    assert c_functions.FUNCTIONS.release(handle) == c_functions.OK
    if any(code == c_functions.NO_MEMORY for code, _ in results):
        raise MemoryError
    return results


def of_columns():
    judgments, run = tieaware.Qrels.from_columns(**COLUMNS[0]), tieaware.Run.from_columns(**COLUMNS[1])
    return of_results(tieaware.evaluate(judgments, run, MEASURES, threads=1))


def from_files(folder, ties):
    runs = [f"{folder}/a", f"{folder}/b"]
    return of_results(tieaware.evaluate(f"{folder}/qrels", runs, MEASURES, ties=ties, threads=1))


def saved(folder):
    RESULTS.save(f"{folder}/saved.npz")
    return of_results(tieaware.Results.load(f"{folder}/saved.npz"))


def loaded(folder):
    return of_results(tieaware.Results.load(f"{folder}/results.npz"))


@pytest.fixture
def folder(in_memory):
    """Give a folder with judgments, two runs and saved results."""
    RESULTS.save(in_memory / "results.npz")
    judgments = (f"{q} 0 {d} {label}\n" for q, labels in QRELS.items() for d, label in labels.items())
    (in_memory / "qrels").write_text("".join(judgments))
    for name, run in RUNS.items():
        lines = (f"{q} Q0 {d} 0 {score} {name}\n" for q, scores in run.items() for d, score in scores.items())
        (in_memory / name).write_text("".join(lines))
    return in_memory


CALLS = {
    "one call": lambda _: EVALUATOR(SCORES).tobytes(),
    "one call with float32": lambda _: EVALUATOR(SCORES.astype(np.float32)).tobytes(),
    "spread": lambda _: np.stack(EVALUATOR.spread(SCORES)).tobytes(),
    "many": lambda _: EVALUATOR.many([SCORES, -SCORES]).tobytes(),
    "columns of features": lambda _: EVALUATOR.columns(np.stack([SCORES, -SCORES], 1)).tobytes(),
    "precision": lambda _: constructed(precision="bands:2"),
    "average": lambda _: constructed(),
    "optimistic": lambda _: constructed(ties="optimistic"),
    "trec_eval": lambda _: constructed(ties="trec_eval", docids=[f"d{i}" for i in range(len(SCORES))]),
    "C interface": lambda _: in_c(),
    "sparse arrays": lambda _: of_sparse(),
    "dicts": lambda _: of_results(tieaware.evaluate(QRELS, RUNS, MEASURES, threads=1)),
    "columns": lambda _: of_columns(),
    "Arrow": lambda _: of_results(tieaware.evaluate(TABLES[0], TABLES[1], MEASURES, threads=1)),
    "files": lambda folder: from_files(folder, "average"),
    "files as trec_eval": lambda folder: from_files(folder, "trec_eval"),
    "results written": saved,
    "results read": loaded,
    "the worst case": lambda _: tieaware.worst_case("AP", 2, depth=20).value,
    "threads": lambda _: LARGE(np.tile(SCORES, 500)).tobytes(),
}


@pytest.fixture(params=CALLS)
def call(request, folder):
    """Give a call of the public interface, with a result that can be compared."""
    return lambda: CALLS[request.param](folder)


def is_lack_of_memory(error):
    """Return whether an error reports a lack of memory.

    Some functions of NumPy return an error without setting an exception, which Python reports as a SystemError. A lock
    of Python raises a RuntimeError.
    """
    if isinstance(error, SystemError):
        text = str(error)
        return "without" in text and "exception" in text and "tieaware" not in text
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "can't allocate" in str(error))


@pytest.mark.parametrize("all_later", [False, True], ids=["one", "all later"])
@pytest.mark.parametrize(
    "code", [("/tieaware/kernels/_",), ("/tieaware/kernels/_", "/numpy/")], ids=["kernels", "NumPy too"]
)
def test_allocations_of_kernels_that_fail(faults, call, code, all_later):
    right = call()
    assert faults.count_code(*code) > 10
    try:
        for n, outcome in faults.each(call, ALLOCATIONS, all_later=all_later):
            if outcome.error is None:
                assert outcome.value == right, n
            else:
                assert is_lack_of_memory(outcome.error), (n, repr(outcome.error))
                assert isinstance(outcome.error, MemoryError) or len(code) > 1, (n, repr(outcome.error))
            assert call() == right, n
    finally:
        faults.count_code()


# Left out: without memory, zipfile, in which results are saved, raises errors of many types, as does ctypes, with which
# the C interface is called, and pyarrow aborts.
LEFT_OUT = ("results written", "results read", "C interface", "Arrow")


@pytest.mark.parametrize("call", [name for name in CALLS if name not in LEFT_OUT], indirect=True)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_allocations_of_all_code_that_fail(faults, call, monkeypatch):
    """One allocation fails at a time: if all later ones failed too, Python could not even raise an error."""
    # Destructors that run during an error may also lack memory; Python reports that on stderr and continues.
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    assert os.environ.get("PYTHONMALLOC") == "malloc"
    right = call()
    outcomes = Counter()
    for n, outcome in faults.each(call, ALLOCATIONS):
        if outcome.error is None:
            assert outcome.value == right, n
        else:
            assert is_lack_of_memory(outcome.error), (n, repr(outcome.error))
        outcomes[type(outcome.error).__name__] += 1
        assert call() == right, n
    assert outcomes["MemoryError"]
    # If opening a file failed half-way, the garbage collector closes the file with a ResourceWarning.
    gc.collect()
