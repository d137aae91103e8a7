"""Defects that fuzzing found (see fuzz/), one small test for each."""

from __future__ import annotations

import os
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas
import pytest

import tieaware
from tieaware import Evaluator, InputError, Qrels, Results, Run, evaluate, exposure, fairness, statistics
from tieaware.inputs import Identifiers
from tieaware.inputs.runs import streamed
from tieaware.inputs.tables.delimited import read_matrix
from tieaware.integrations import link_prediction
from tieaware.statistics import paired_test, rbo, tau_ap

QRELS, RUN = {"q1": {"d1": 1, "d2": 0}}, {"q1": {"d1": 1.0, "d2": 1.0}}


def message_of(call, *args, **options):
    with pytest.raises(InputError) as caught:
        call(*args, **options)
    message = str(caught.value)
    assert message.isprintable()
    return message


def test_spread_must_be_true_or_false():
    for value in (np.array([]), np.array([1, 2]), 1, "yes"):
        message = message_of(tieaware.evaluate, QRELS, RUN, "AP", spread=value)
        assert message.startswith("spread: expected True or False, found ")


def test_statistics_refuse_numbers_that_float64_cannot_represent():
    for values in ([10**400, 1], [1j, 2], np.array([1j, 2])):
        assert message_of(paired_test, values, [1.0, 2.0]).startswith("a: must be numbers: ")
    huge = np.array(["1e4000", "1"], np.longdouble)
    assert message_of(tau_ap, huge, [1.0, 2.0]).endswith("expected finite numbers, found inf")


def test_the_data_of_identifiers_must_be_bytes():
    assert Identifiers([97, 98], [0, 1, 2]).to_list() == ["a", "b"]
    for data in ([-1], [256], [2**70], [1j], [0.5], np.array([1e300])):
        assert message_of(Identifiers, data, [0, 1]).startswith("data")


def test_rbo_takes_one_score_for_each_item():
    """A dict whose values are arrays once raised NumPy's ValueError instead of InputError."""
    assert message_of(rbo, {"a": [[1.0]]}, {"a": 1.0}) == "a: must have one score for each item"


class Losing(dict):
    """A dict that loses an item whenever its items or values are read."""

    def items(self):
        self.popitem()
        return super().items()

    def values(self):
        self.popitem()
        return super().values()


def test_a_mapping_that_changes_while_it_is_read_gives_whole_lists_or_an_error():
    """A mapping that loses an item while it is read once gave a query with -1 documents."""
    for kind in (Qrels, Run):
        columns = kind.from_dict(Losing({f"q{i}": {"d1": 1} for i in range(5)}))
        assert np.diff(columns.offsets).tolist() == [1] * len(columns)
        with pytest.raises(InputError, match="does not have as many values as keys"):
            kind.from_dict({"q1": Losing({"d1": 1, "d2": 1})})


def test_an_array_of_dates_is_not_a_sparse_matrix():
    """Reading the attribute `data` of such an array raises an exception."""
    message = message_of(Evaluator.from_sparse, np.zeros(2, "m8[s]"), "AP")
    assert message.startswith("relevance: expected a sparse matrix in CSR form")
    assert message_of(Evaluator.from_sparse, SimpleNamespace(indptr=[0]), "AP").endswith("without indices")


def test_bias_takes_results_only():
    results = tieaware.evaluate(QRELS, RUN, "AP")
    assert message_of(results.bias, "AP") == "expectation: expected Results, found 'AP'"


def test_nested_lists_of_negatives_are_refused():
    message = message_of(link_prediction.evaluate, [1.0], [[1.0, [2.0]], [1.0]])
    assert message.startswith("negatives: lists of different lengths must be concatenated")


def test_an_object_with_half_of_the_dlpack_interface_is_refused():
    half = type("Half", (), {"__dlpack__": lambda self: None})()
    assert message_of(Evaluator, half, "AP").startswith("labels: a Half cannot be read as an array of numbers: ")


def test_the_options_of_to_trec_eval_are_validated():
    """An array given as a flag, and -1 given as the number of digits, once raised ValueError instead of InputError."""
    results = tieaware.evaluate(QRELS, RUN, "AP")
    for options in ({"header": np.array([1, 2])}, {"per_query": "no"}, {"digits": -1}, {"digits": 99}, {"digits": "4"}):
        assert message_of(results.to_trec_eval, **options).startswith(f"{next(iter(options))}: expected ")


def test_a_key_of_results_must_be_hashable():
    results = tieaware.evaluate(QRELS, RUN, "AP")
    for key in (np.array(["a", "b"]), ("run", [1])):
        with pytest.raises(TypeError, match=r"^a key is the name of a run, a measure or a query, not "):
            results[key]


def test_an_object_that_fails_to_become_an_array_is_refused():
    class Empty:
        def __array__(self, dtype=None, copy=None):
            raise IndexError("cannot do a non-empty take from an empty axes.")

        def __dlpack__(self):
            raise BufferError

    assert message_of(Evaluator, Empty(), "AP").startswith("labels: a Empty cannot be read as an array of numbers: ")
    assert message_of(paired_test, Empty(), [1.0, 2.0]).startswith("a: a Empty cannot be read as an array of numbers: ")


@pytest.mark.parametrize("kind", [complex, np.complex64, np.complex128, np.clongdouble])
def test_a_complex_score_is_refused(kind):
    """For a NumPy complex number in a dict, the real part was once used, with a warning."""
    for run in ({"q1": {"d1": kind(1j)}}, {"q1": {"d1": kind(2), "d2": 0.5}}):
        message = message_of(tieaware.evaluate, QRELS, run, "RR")
        assert message.startswith("run['q1']['d1']: expected a number, found ")


def test_errors_for_paths_of_bytes_have_a_message(tmp_path):
    """For a path of type bytes, str() of the error once raised a TypeError."""
    results = tieaware.evaluate(QRELS, RUN, "AP")
    folder = os.fsencode(tmp_path / "missing")
    for suffix in (b"npz", b"parquet", b"csv"):
        path = folder + b"/results." + suffix
        for call in (Results.load, results.save):
            assert message_of(call, path).startswith(os.fsdecode(path))
    path = folder + b"/table.csv"
    assert message_of(results.means().to_csv, path).endswith("missing/table.csv: No such file or directory")
    assert message_of(read_matrix, path).endswith("missing/table.csv: there is no such file")


def test_results_are_saved_to_a_path_of_bytes(tmp_path):
    path = os.fsencode(tmp_path / "results.npz")
    results = tieaware.evaluate(QRELS, RUN, "AP")
    results.save(path)
    assert np.array_equal(Results.load(path).values, results.values)


@pytest.mark.parametrize("form", ["file", "frame"])
def test_an_error_about_a_part_of_a_list_whose_rows_are_scattered_is_none(form, tmp_path, monkeypatch):
    """Levels refuse a list without finite scores; the finite score of q0 comes after the lists of other queries."""
    monkeypatch.setattr(streamed, "CHUNK_ROWS", 2)
    monkeypatch.setattr(streamed, "CHUNK_ROWS", 2)
    rows = [("q0", "d1", np.inf), *((f"q{i}", "d1", 1.0) for i in range(1, 20)), ("q0", "d2", 1.0)]
    run = pandas.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    qrels = {f"q{i}": {"d1": 1} for i in range(20)}
    refused = run.iloc[:-1]
    if form == "file":
        for name, some in (("run", run), ("refused", refused)):
            lines = (f"{row.query_id} Q0 {row.doc_id} 1 {row.score} t\n" for row in some.itertuples())
            (tmp_path / name).write_text("".join(lines))
        run, refused = tmp_path / "run", tmp_path / "refused"
    for threads in (1, 3):
        options = {"precision": "levels:2", "threads": threads}
        assert tieaware.evaluate(qrels, run, "RR", **options).mean() == 1.0
        assert "one score, which is infinite" in message_of(tieaware.evaluate, qrels, refused, "RR", **options)


def test_labels_among_objects_that_float64_cannot_represent():
    """A long double beyond float64 is out of range, and its conversion does not warn of an overflow."""
    message = message_of(Evaluator, [0.5, np.longdouble("1e4000")], "AP")
    assert message.startswith("labels[1]: expected a number from -2147483648 to 2147483647, found ")
    objects = np.array([0.5, np.longdouble("1e4000")], object)
    assert message_of(Evaluator, objects, "AP").startswith("labels[1]: expected a number from -2147483648")


@pytest.mark.parametrize("labels", [b"text", None, Decimal("0.5"), 7])
def test_a_single_label_is_refused_also_if_labels_may_be_missing(labels):
    with pytest.raises(InputError, match=r"^labels"):
        Evaluator(labels, ["AP"], missing="unjudged")


@pytest.mark.parametrize("groups", [["x", ["y"], "z"], [[], 1, 2]])
def test_nested_groups_of_documents_are_refused(groups):
    assert message_of(fairness.group_exposure, [1.0, 0.5, 0.5], groups).startswith("groups: must be text or integers")


def test_probabilities_that_float64_cannot_represent_are_refused():
    if np.finfo(np.longdouble).max == np.finfo(np.float64).max:
        pytest.skip("long double is float64")
    huge = np.full((2, 2), np.finfo(np.longdouble).max)
    assert message_of(statistics.with_uncertain_labels, [1.0, 1.0], huge, ["AP"]).startswith("probabilities")


def test_a_path_with_a_null_byte_and_a_pattern_is_refused():
    assert "\n" not in message_of(evaluate, {"q": {"d": 1}}, {"run": "runs/*\0/a"}, "AP")


def test_large_scores_of_an_iterator_are_compared_with_what_float64_represents():
    found = exposure((score for score in (1.0, 2.0**60)), weights="RR")
    assert found.tolist() == exposure([1.0, 2.0**60], weights="RR").tolist()
    message = message_of(exposure, (score for score in (1.0, 2**60 + 1)))
    assert message == message_of(exposure, [1.0, 2**60 + 1])


@pytest.mark.parametrize("values", [[1j, 2.0], np.array([np.complex64(1), 0.5], object), [[1.0], [2.0, 3.0]]])
def test_complex_numbers_and_lists_of_several_lengths_are_no_means(values):
    assert message_of(statistics.groups, [[False, True], [True, False]], values).startswith("means: must be numbers")


@pytest.mark.parametrize("separated", [[[True], [False, True]], [[1, 2], [3]]])
def test_rows_of_several_lengths_are_no_matrix_of_separated_systems(separated):
    assert message_of(statistics.groups, separated, [0.5, 0.25]).startswith("separated")


@pytest.mark.parametrize("method", [np.array(["t", "bca"]), ["t"], None])
def test_the_method_of_an_interval_is_a_name(method):
    assert message_of(statistics.ratio_interval, [1.0, 2.0], [1.0, 1.0], method).startswith("method")
