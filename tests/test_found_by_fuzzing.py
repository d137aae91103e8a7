"""Defects that fuzzing found (see fuzz/): a table of calls that must be refused in one line, and a few small tests."""

from __future__ import annotations

import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas
import pytest
from support.errors import message_of

from tieaware import Evaluator, InputError, Qrels, Results, Run, evaluate, exposure, fairness, statistics
from tieaware.inputs import Identifiers
from tieaware.inputs.runs import streamed
from tieaware.inputs.tables.delimited import read_matrix
from tieaware.integrations import link_prediction
from tieaware.statistics import paired_test, rbo, tau_ap

QRELS, RUN = {"q1": {"d1": 1, "d2": 0}}, {"q1": {"d1": 1.0, "d2": 1.0}}
RESULTS = evaluate(QRELS, RUN, "AP")
# Where long double is float64, these are infinite.
HUGE = np.array(["1e4000", "1"], np.longdouble)
MOST = np.finfo(np.longdouble).max


class Empty:
    """An object that fails to become an array."""

    def __array__(self, dtype=None, copy=None):
        raise IndexError("cannot do a non-empty take from an empty axes.")

    def __dlpack__(self):
        raise BufferError


HALF_OF_DLPACK = type("Half", (), {"__dlpack__": lambda self: None})()
RANGE = "expected a number from -2147483648 to 2147483647, found "
NOT_READ = "cannot be read as an array of numbers: "

REFUSED = [
    *((lambda value=value: evaluate(QRELS, RUN, "AP", spread=value), "spread: expected True or False, found ")
      for value in (np.array([]), np.array([1, 2]), 1, "yes")),
    *((lambda values=values: paired_test(values, [1.0, 2.0]), "a: must be numbers: ")
      for values in ([10**400, 1], [1j, 2], np.array([1j, 2]))),
    (lambda: tau_ap(HUGE, [1.0, 2.0]), "a: expected finite numbers, found inf"),
    *((lambda data=data: Identifiers(data, [0, 1]), "data")
      for data in ([-1], [256], [2**70], [1j], [0.5], np.array([1e300]))),
    # A dict whose values are arrays once raised NumPy's ValueError.
    (lambda: rbo({"a": [[1.0]]}, {"a": 1.0}), "a: must have one score for each item"),
    # Reading the attribute `data` of an array of dates raises an exception.
    (lambda: Evaluator.from_sparse(np.zeros(2, "m8[s]"), "AP"), "relevance: expected a sparse matrix in CSR form"),
    (lambda: Evaluator.from_sparse(SimpleNamespace(indptr=[0]), "AP"), "relevance: expected a sparse matrix in CSR"),
    (lambda: RESULTS.bias("AP"), "expectation: expected Results, found 'AP'"),
    (lambda: link_prediction.evaluate([1.0], [[1.0, [2.0]], [1.0]]),
     "negatives: lists of different lengths must be concatenated"),
    (lambda: Evaluator(HALF_OF_DLPACK, "AP"), f"labels: a Half {NOT_READ}"),
    # An array given as a flag, and -1 given as the number of digits, once raised ValueError.
    *((lambda name=name, value=value: RESULTS.to_trec_eval(**{name: value}), f"{name}: expected ")
      for name, value in (("header", np.array([1, 2])), ("per_query", "no"), ("digits", -1), ("digits", 99),
                          ("digits", "4"))),
    (lambda: Evaluator(Empty(), "AP"), f"labels: a Empty {NOT_READ}"),
    (lambda: paired_test(Empty(), [1.0, 2.0]), f"a: a Empty {NOT_READ}"),
    # For a NumPy complex number in a dict, the real part was once used, with a warning.
    *((lambda kind=kind, others=others: evaluate(QRELS, {"q1": {"d1": kind(2j), **others}}, "RR"),
       "run['q1']['d1']: expected a number, found ")
      for kind in (complex, np.complex64, np.complex128, np.clongdouble) for others in ({}, {"d2": 0.5})),
    # A long double beyond float64 is out of range, and its conversion does not warn of an overflow.
    (lambda: Evaluator([0.5, np.longdouble("1e4000")], "AP"), f"labels[1]: {RANGE}"),
    (lambda: Evaluator(np.array([0.5, np.longdouble("1e4000")], object), "AP"), f"labels[1]: {RANGE}"),
    *((lambda labels=labels: Evaluator(labels, ["AP"], missing="unjudged"), "labels")
      for labels in (b"text", None, Decimal("0.5"), 7)),
    *((lambda groups=groups: fairness.group_exposure([1.0, 0.5, 0.5], groups), "groups: must be text or integers")
      for groups in (["x", ["y"], "z"], [[], 1, 2])),
    (lambda: statistics.with_uncertain_labels([1.0, 1.0], np.full((2, 2), MOST), ["AP"]), "probabilities"),
    (lambda: evaluate({"q": {"d": 1}}, {"run": "runs/*\0/a"}, "AP"), "runs/*"),
    (lambda: exposure(score for score in (1.0, 2**60 + 1)), "scores[1]: expected a number that float64 represents"),
    *((lambda values=values: statistics.groups([[False, True], [True, False]], values), "means: must be numbers")
      for values in ([1j, 2.0], np.array([np.complex64(1), 0.5], object), [[1.0], [2.0, 3.0]])),
    *((lambda separated=separated: statistics.groups(separated, [0.5, 0.25]), "separated")
      for separated in ([[True], [False, True]], [[1, 2], [3]])),
    *((lambda method=method: statistics.ratio_interval([1.0, 2.0], [1.0, 1.0], method), "method")
      for method in (np.array(["t", "bca"]), ["t"], None)),
]  # fmt: skip


@pytest.mark.parametrize(("call", "beginning"), REFUSED)
def test_what_is_no_valid_argument_is_refused(call, beginning):
    found = message_of(call)
    assert found.startswith(beginning)
    assert found.isprintable()


@pytest.mark.parametrize("name", ["results.npz", "results.parquet", "results.csv"])
@pytest.mark.parametrize("call", [Results.load, RESULTS.save, RESULTS.means().to_csv, read_matrix])
def test_errors_for_paths_of_bytes_have_a_message(call, name, tmp_path):
    """For a path of type bytes, str() of the error once raised a TypeError."""
    path = tmp_path / "missing" / name
    assert message_of(call, os.fsencode(path)).startswith(str(path))


class Losing(dict):
    """A dict that loses an item whenever its items or values are read."""

    def items(self):
        self.popitem()
        return super().items()

    def values(self):
        self.popitem()
        return super().values()


@pytest.mark.parametrize("kind", [Qrels, Run])
def test_a_mapping_that_changes_while_it_is_read_gives_whole_lists_or_an_error(kind):
    """A mapping that loses an item while it is read once gave a query with -1 documents."""
    columns = kind.from_dict(Losing({f"q{i}": {"d1": 1} for i in range(5)}))
    assert np.diff(columns.offsets).tolist() == [1] * len(columns)
    assert "does not have as many values as keys" in message_of(kind.from_dict, {"q1": Losing({"d1": 1, "d2": 1})})


@pytest.mark.parametrize("key", [np.array(["a", "b"]), ("run", [1])], ids=["array", "list"])
def test_a_key_of_results_must_be_hashable(key):
    with pytest.raises(TypeError, match=r"^a key is the name of a run, a measure or a query, not "):
        RESULTS[key]


def test_results_are_saved_to_a_path_of_bytes(tmp_path):
    path = os.fsencode(tmp_path / "results.npz")
    RESULTS.save(path)
    assert np.array_equal(Results.load(path).values, RESULTS.values)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("form", ["file", "frame"])
def test_an_error_about_a_part_of_a_list_whose_rows_are_scattered_is_none(form, threads, tmp_path, monkeypatch):
    """Levels refuse a list without finite scores; the finite score of q0 comes after the lists of other queries."""
    monkeypatch.setattr(streamed, "CHUNK_ROWS", 2)
    rows = [("q0", "d1", np.inf), *((f"q{i}", "d1", 1.0) for i in range(1, 20)), ("q0", "d2", 1.0)]

    def given(rows, path: Path):
        if form == "frame":
            return pandas.DataFrame(rows, columns=["query_id", "doc_id", "score"])
        path.write_text("".join(f"{query} Q0 {document} 1 {score} t\n" for query, document, score in rows))
        return path

    qrels, options = {f"q{i}": {"d1": 1} for i in range(20)}, {"precision": "levels:2", "threads": threads}
    assert evaluate(qrels, given(rows, tmp_path / "run"), "RR", **options).mean() == 1.0
    with pytest.raises(InputError, match="one score, which is infinite"):
        evaluate(qrels, given(rows[:-1], tmp_path / "refused"), "RR", **options)


def test_large_scores_of_an_iterator_are_those_of_a_list():
    found = exposure((score for score in (1.0, 2.0**60)), weights="RR")
    assert found.tolist() == exposure([1.0, 2.0**60], weights="RR").tolist()


FOOTERS = """
import io, struct, sys
import pyarrow, pyarrow.parquet
from tieaware import InputError, read_run

table = pyarrow.table({"query": ["q1"] * 5, "doc": list("abcde"), "score": [5.0, 4.0, 3.0, 2.0, 1.0]})
sink = io.BytesIO()
pyarrow.parquet.write_table(table, sink, row_group_size=2)
content = sink.getvalue()
(size,) = struct.unpack("<I", content[-8:-4])
read = refused = 0
for at in range(len(content) - 8 - size, len(content) - 8):
    for change in (1, 3, 255):
        changed = bytearray(content)
        changed[at] = (changed[at] + change) % 256
        with open(sys.argv[1], "wb") as file:
            file.write(changed)
        try:
            read_run(sys.argv[1])
            read += 1
        except InputError as error:
            assert "\\n" not in str(error)
            refused += 1
print(read, refused)
"""


def test_no_byte_of_the_footer_of_a_parquet_file_ends_the_process(tmp_path):
    """The metadata of a single column in pyarrow once did, if the statistics of its sizes contradicted each other."""
    pytest.importorskip("pyarrow")
    command = [sys.executable, "-c", FOOTERS, str(tmp_path / "a.parquet")]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    read, refused = map(int, done.stdout.split())
    assert min(read, refused) > 100
