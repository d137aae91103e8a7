"""evaluate(): inputs, options, errors and warnings."""

import io
import warnings

import numpy as np
import pytest

import tieaware
from tieaware import Qrels, Run

QRELS = {"q1": {"d1": 1, "d4": 2}, "q2": {"d1": 1}, "q3": {"d1": 0}}
RUN = {"q2": {"d1": 1.0, "d2": 1.0}, "q1": {"d1": 7.0, "d2": 7.0, "d3": 6.5}, "unjudged": {"d1": 1.0}}
MEASURES = ["RR", "AP", "NumRet", "NumRel"]
LINES = "".join(f"{q} Q0 {d} 0 {s} tag\n" for q, docs in RUN.items() for d, s in docs.items())


def test_queries_are_in_the_order_of_the_judgments():
    """An unanswered query keeps its number of relevant documents (NumRel), and has 0 for every other measure."""
    result = tieaware.evaluate(QRELS, {"q1": RUN["q1"]}, MEASURES)
    assert result.queries == ("q1", "q2", "q3")
    np.testing.assert_allclose(result.values[0], [[0.75, 0.375, 3, 2], [0, 0, 0, 1], [0, 0, 0, 0]])


def test_runs_may_answer_different_queries():
    """For a query that a run does not answer, it has the values of an empty list, in any order of its queries."""
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1, "d": 0}}
    lists = {"q3": {"d": 2.0, "c": 1.0}, "q2": {"b": 1.0, "x": 1.0}, "q1": {"a": 1.0}}
    measures = ["RR", "NumRet", "NumRel"]
    whole = tieaware.evaluate(qrels, lists, measures).values[0]
    nothing = tieaware.evaluate(qrels, {"q1": {}, "q2": {}, "q3": {}}, measures).values[0]
    np.testing.assert_array_equal(nothing, [[0, 0, 1]] * 3)
    runs = {query: {query: lists[query]} for query in lists}
    for threads in (1, 2):
        result = tieaware.evaluate(qrels, runs, measures, threads=threads)
        for r, query in enumerate(result.runs):
            expected = nothing.copy()
            expected[result.queries.index(query)] = whole[result.queries.index(query)]
            np.testing.assert_array_equal(result.values[r], expected)


def test_queries_both_leaves_out_unanswered_queries():
    """The mean of a run is over the queries that it answers."""
    result = tieaware.evaluate(QRELS, {"a": RUN, "b": {"q1": RUN["q1"]}}, ["RR"], queries="both")
    assert result.queries == ("q1", "q2")
    np.testing.assert_array_equal(result.values[:, :, 0], [[0.75, 0.75], [0.75, np.nan]])
    np.testing.assert_array_equal(result.mean(), [[0.75], [0.75]])
    assert result.to_dict()["b"] == {"q1": {"RR": 0.75}}


@pytest.mark.parametrize("queries", ["judged", "both"])
@pytest.mark.parametrize("undefined", [1.0, np.nan])
def test_undefined_is_the_value_of_a_query_without_relevant_documents(queries, undefined):
    """An evaluator has the same values. An unanswered query with relevant documents still has the value 0."""
    qrels = {"q1": {"d1": 1}, "none": {"d1": 0}, "silent": {"d1": 1}, "neither": {"d1": 0}}
    run = {"q1": {"d1": 1.0, "d2": 1.0}, "none": {"d1": 1.0}}
    result = tieaware.evaluate(qrels, run, ["RR", "AP"], queries=queries, undefined=undefined, spread=True)
    values = {"q1": 0.75, "none": undefined} | ({"silent": 0.0, "neither": undefined} if queries == "judged" else {})
    assert result.queries == tuple(values) if queries == "judged" else set(result.queries) == set(values)
    np.testing.assert_array_equal(result["RR"], list(values.values()))
    assert result.mean()[0, 0] == result.mean()[0, 1] == np.nanmean(list(values.values()))
    assert result.max[0, 0, 0] == 1
    evaluator = tieaware.Evaluator([1, 0, 0], ["RR", "AP"], offsets=[0, 2, 3], undefined=undefined)
    np.testing.assert_array_equal(result.values[0, :2], evaluator.results({"run": [1.0, 1.0, 1.0]}).values[0])


def test_a_query_with_some_undefined_values_keeps_its_row():
    result = tieaware.evaluate(QRELS, RUN, ["RR", "NumRel"], undefined=np.nan)
    np.testing.assert_array_equal(result.values[0], [[0.75, 2], [0.75, 1], [np.nan, 0]])
    np.testing.assert_array_equal(result.mean(), [[0.75, 1]])


def test_judgments_without_relevant_documents_have_no_value():
    result = tieaware.evaluate({"q": {"d": 0}}, {"q": {"d": 1.0}}, "AP", undefined=np.nan)
    assert (result.queries, result.title) == (("q",), "Means over 0 queries, ties: average")
    np.testing.assert_array_equal([*result.values.ravel(), result.mean()[0, 0]], [np.nan] * 2)


@pytest.mark.parametrize("ties", ["average", "run_order", "trec_eval", "optimistic", "pessimistic"])
def test_every_form_of_a_run_gives_the_same_values(tmp_path, ties):
    """A run may be a dict, a Run, columns, a file or a binary file object."""
    (tmp_path / "x.run").write_text(LINES)
    columns = [(q, d, s) for q, docs in RUN.items() for d, s in docs.items()]
    forms = [
        RUN,
        Run.from_dict(RUN),
        Run.from_columns(*zip(*columns, strict=True)),
        tmp_path / "x.run",
        str(tmp_path / "x.run"),
        io.BytesIO(LINES.encode()),
    ]
    for qrels in (QRELS, Qrels.from_dict(QRELS)):
        values = [tieaware.evaluate(qrels, [run], MEASURES, ties=ties).values for run in forms[:5]]
        for other in values[1:]:
            np.testing.assert_array_equal(other, values[0])
    np.testing.assert_array_equal(tieaware.evaluate(QRELS, forms[5], MEASURES, ties=ties).values, values[0])


@pytest.mark.parametrize("threads", [1, 2, 8, None])
def test_threads_change_no_bit(threads):
    rng = np.random.default_rng(5)
    qrels = {f"q{i}": {f"d{j}": int(rng.integers(0, 3)) for j in range(30)} for i in range(50)}
    runs = {
        name: {q: {f"d{j}": float(rng.integers(0, 9)) for j in rng.permutation(60)} for q in qrels} for name in "abc"
    }
    for given in (runs, runs["a"]):
        one = tieaware.evaluate(qrels, given, ["AP", "nDCG", "RR@5"], threads=1)
        several = tieaware.evaluate(qrels, given, ["AP", "nDCG", "RR@5"], threads=threads)
        assert one.values.tobytes() == several.values.tobytes()


def test_files_of_the_same_name_are_named_by_their_paths(tmp_path):
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.run").write_text(LINES)
    paths = [tmp_path / folder / "x.run" for folder in "ab"]
    assert tieaware.evaluate(QRELS, paths, "RR").runs == tuple(map(str, paths))
    assert tieaware.evaluate(QRELS, paths[:1], "RR").runs == ("x",)


def test_a_run_without_a_judged_document_gives_a_warning(tmp_path):
    """There is one warning for each such run. There is none if the run, or the judgments of its queries, are empty."""
    judgments = {"empty": {}, "q1": {"d1": 1}, "q2": {"d2": 1}}
    different = {"empty": {"D0": 1.0}, "q2": {"D2": 1.0, "D3": 1.0}, "q1": {"D1": 1.0}}
    path = tmp_path / "file.run"
    path.write_text("".join(f"{q} Q0 {d} 1 1.0 x\n" for q in different for d in different[q]))
    good = {"q1": {"D1": 1.0}, "q2": {"d2": 0.5}}
    with pytest.warns(UserWarning, match="no document of this run") as caught:
        results = tieaware.evaluate(judgments, {"a": different, "b": good, "c": path}, ["RR"], threads=2)
    assert [str(warning.message) for warning in caught] == [
        f"{run}: no document of this run is judged in qrels; "
        "for query 'q2', the run has document 'D2', and the judgments have 'd2'" for run in "ac"
    ]
    assert {warning.filename for warning in caught} == {__file__}
    assert results.mean()[:, 0].tolist() == [0, 1 / 3, 0]
    for run in ({"q1": {}}, {"empty": {"D0": 1.0}}):
        assert tieaware.evaluate(judgments, run, ["RR"]).values.tolist() == [[[0], [0], [0]]]


def test_a_large_file_without_a_judged_document_gives_a_warning(tmp_path):
    path = tmp_path / "big.run"
    path.write_bytes(b"".join(b"q%d Q0 d%d 1 %d x\n" % (q, d, d) for q in range(100) for d in range(500)))
    message = "big: no document of this run is judged in qrels; for query "
    for document, expected in (("other", [message]), ("d3", [])):
        qrels = {f"q{q}": {document: 1} for q in range(50, 60)}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tieaware.evaluate(qrels, path, ["RR"], threads=2)
        assert [str(warning.message)[: len(message)] for warning in caught] == expected
