"""Results of named scores: what `Evaluator.results` returns, its exports, and its errors."""

import numpy as np
import pytest
from support.errors import message_of
from support.matrices import sparse

import tieaware
from tieaware import Evaluator, InputError, Results, evaluate
from tieaware.experiments import compare, smoothing

LABELS = np.array([[0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 2, 0]])
A = np.array([[4.0, 3, 3, 2], [1, 1, 0, 0], [5, 6, 7, 8]])
B = np.array([[1, 1, 1, 1], [2, 1, 0, 0], [5, 6, 7, 7]], dtype=np.int8)
SCORES = {"fp32": A, "int8": B}


@pytest.fixture
def evaluator():
    return Evaluator(LABELS, ["map", "RR", "P_1"])


@pytest.fixture
def result(evaluator):
    return evaluator.results(SCORES, queries=["q1", "q2", "q3"])


def by_document(scores):
    return {f"q{i + 1}": {f"d{j}": float(score) for j, score in enumerate(row)} for i, row in enumerate(scores)}


def test_results_equal_those_of_evaluate(evaluator):
    """The same lists as dicts give the same values, names, title and provenance, with a spread and without."""
    qrels = {query: {doc: int(label) for doc, label in row.items()} for query, row in by_document(LABELS).items()}
    runs = {name: by_document(scores) for name, scores in SCORES.items()}
    for spread in (False, True):
        found = evaluator.results(SCORES, ["q1", "q2", "q3"], spread=spread)
        expected = evaluate(qrels, runs, ["map", "RR", "P_1"], spread=spread)
        assert found.cubes().keys() == expected.cubes().keys()
        for name, cube in expected.cubes().items():
            np.testing.assert_array_equal(found.cubes()[name], cube)
        for attribute in ("runs", "queries", "measures", "names", "title"):
            assert getattr(found, attribute) == getattr(expected, attribute)
        assert found.provenance == expected.provenance._replace(complete_lists=True)
        assert found.to_dict() == expected.to_dict()


def test_the_rule_and_the_precision_are_recorded():
    evaluator = Evaluator(LABELS, "RR", ties="optimistic", precision="decimals:1")
    made = evaluator.results(SCORES).provenance
    assert made == ("optimistic", "decimals:1", "judged", tieaware.__version__, True)
    np.testing.assert_array_equal(evaluator.results(SCORES).values[1], evaluator(B))


def test_queries_are_numbers_unless_they_have_names(evaluator, result):
    assert evaluator.results(SCORES).queries == (0, 1, 2)
    assert result.queries == ("q1", "q2", "q3")
    for names in (range(7, 10), np.array([7, 8, 9]), [np.int32(7), 8, 9], np.array(["a", "b", "c"]), iter("abc")):
        found = evaluator.results(SCORES, names).queries
        assert found in ((7, 8, 9), ("a", "b", "c"))
        assert all(type(name) in (int, str) for name in found)


@pytest.mark.parametrize("from_sparse", [False, True])
@pytest.mark.parametrize("spread", [False, True])
def test_blocks_of_rows_are_joined(from_sparse, spread):
    """Rows of rows are numbered as in the first evaluator, so results of blocks join to the results of all rows."""
    make = Evaluator.from_sparse if from_sparse else Evaluator
    evaluator = make(sparse(LABELS > 0, LABELS) if from_sparse else LABELS, ["AP", "RR"])
    blocks = [
        evaluator.rows(first, last).results({"a": A[first:last], "b": B[first:last]}, spread=spread)
        for first, last in ((0, 2), (2, 3))
    ]
    inner = evaluator.rows(1, 3).rows(1, 2).results({"a": A[2:], "b": B[2:]})
    assert blocks[1].queries == inner.queries == (2,)
    whole, expected = Results.concat(blocks), evaluator.results({"a": A, "b": B}, spread=spread)
    assert whole.queries == expected.queries == (0, 1, 2)
    for name, cube in expected.cubes().items():
        np.testing.assert_array_equal(whole.cubes()[name], cube)


@pytest.fixture
def with_undefined():
    """Results of two runs with undefined=nan, in whose queries b and e nothing is relevant; and those of the others."""
    rng = np.random.default_rng(7)
    labels, scores = rng.integers(0, 2, (6, 4)), {name: rng.integers(0, 3, (6, 4)) * 1.0 for name in ("x", "y", "z")}
    labels[:, 0], labels[[1, 4]] = 1, 0
    some = np.array([0, 2, 3, 5])
    options = {"spread": True, "chance": True}
    found = Evaluator(labels, ["AP", "RR"], undefined=np.nan).results(scores, list("abcdef"), **options)
    others = {name: each[some] for name, each in scores.items()}
    return found, Evaluator(labels[some], ["AP", "RR"]).results(others, list("acdf"), **options)


def test_queries_without_a_value_keep_their_rows(with_undefined):
    """Arrays and frames have a row for each query, so that they can be joined with others by query."""
    found, others = with_undefined
    assert found.queries == tuple("abcdef")
    np.testing.assert_array_equal(found.answered, [[True, False, True, True, False, True]] * 3)
    frame, expected = found.to_pandas(), others.to_pandas()
    assert frame["query"].tolist() == list("abcdef") * 3
    joined = frame.merge(expected, on=["run", "query"], how="outer", suffixes=("", " of others"))
    np.testing.assert_array_equal(joined["AP"], joined["AP of others"])
    assert np.isnan(found.to_dict()["x"]["b"]["RR_chance"])
    np.testing.assert_array_equal(found.to_polars()["RR"].to_list(), frame["RR"])


@pytest.mark.parametrize(
    "method",
    [
        lambda results: results.table(), lambda results: results.table("x", spread="std", keep=0.9).to_latex(),
        lambda results: results.table(spread="interval", groups=True), lambda results: results.means(),
        lambda results: results.intervals(baseline="y"), lambda results: results.ranks(resamples=100),
        lambda results: results.groups("RR"), lambda results: results.topics_needed(0.01),
        lambda results: results.to_trec_eval(per_query=True, header=True), lambda results: results.title,
        lambda results: [results.mean().tolist(), results.mean_std().tolist(), results.mean_z().tolist()],
        lambda results: results.adjusted_mean().tolist(), lambda results: compare(results).verdict(),
        lambda results: compare(results).tables(),
        lambda results: smoothing(results, measure="AP", priors=results).table(),
    ],
)  # fmt: skip
def test_summaries_are_over_the_queries_with_a_value(with_undefined, method):
    """They have the same bits as without the queries for which the measures are undefined."""
    found, others = map(method, with_undefined)
    assert str(found) == str(others)


def test_no_query_has_a_value():
    nobody = Evaluator(np.zeros((2, 4), int), ["AP"], undefined=np.nan).results({"a": np.zeros((2, 4))})
    assert (nobody.values.shape, nobody.title) == ((1, 2, 1), "Means over 0 queries, ties: average")
    assert np.isnan(nobody.summary()).all()
    assert "a" in str(nobody)


def test_runs_join_only_over_the_same_values(with_undefined):
    """A mean over all queries must not stand beside one over those with a value."""
    found, _ = with_undefined
    assert Results.concat([found["x"], found["y"]]).queries == found.queries
    zeros = Evaluator(np.zeros((6, 4), int), ["AP", "RR"]).results({"w": np.zeros((6, 4))}, list("abcdef"))
    message = "results[1]: has values for 6 queries instead of 4: evaluate all with the same `undefined`"
    assert message_of(Results.concat, [found, zeros]) == message


def test_a_query_with_a_value_for_one_measure_stays():
    evaluator = Evaluator([[1, 0], [0, 0]], ["NumRet", "AP"], undefined=np.nan)
    np.testing.assert_array_equal(evaluator.results({"a": np.zeros((2, 2))}).values, [[[2, 0.75], [2, np.nan]]])


@pytest.mark.parametrize(
    ("scores", "queries", "message"),
    [
        (A, None, r"scores: must be a dict {name: scores}, not ndarray: pass {'run': scores}"),
        (A.tolist(), None, r"scores: must be a dict {name: scores}, not list: pass {'run': scores}"),
        ([A, A], None, r"scores: must be a dict {name: scores}, not list: give each matrix a name"),
        ({}, None, r"scores: there is no run: pass {name: scores}"),
        ({1: A}, None, r"scores: expected names that are strings, found 1"),
        (
            {"a": A, "b": A[:2]},
            None,
            r"scores['b']: expected shape (12,) or (3, 4), found shape (2, 4)",
        ),
        ({"a": A, "b": A * np.nan}, None, r"scores['b']: expected numbers, found NaN for document 0 of query 0"),
        ({"a": [["x"] * 4] * 3}, None, r"scores['a'][0, 0]: expected a number, found 'x'"),
        (SCORES, ["q1", "q2"], "queries: must have one name for each of the 3 queries; found 2"),
        (SCORES, ["q1", "q2", "q1"], "queries[2]: 'q1' appears twice, first at queries[0]"),
        (SCORES, [3, 3, 1], "queries[1]: 3 appears twice, first at queries[0]"),
        (SCORES, [1.5, 2, 3], "queries[0]: expected text, bytes or an integer, found 1.5"),
        (SCORES, "abc", "queries: expected a sequence of identifiers, found 'abc'"),
        (SCORES, 3, "queries: expected a sequence of identifiers, found 3"),
    ],
)
def test_unusable_arguments_are_refused(evaluator, scores, queries, message):
    assert message_of(evaluator.results, scores, queries=queries) == message


def test_a_spread_needs_the_rule_average():
    with pytest.raises(InputError, match=r"^ties: 'optimistic' gives tied documents one order"):
        Evaluator(LABELS, "AP", ties="optimistic").results(SCORES, spread=True)


def test_measures_of_one_name_are_refused_only_in_results():
    evaluator = Evaluator(LABELS, ["AP", "AP"])
    np.testing.assert_array_equal(*evaluator.mean(A))
    assert "AP is given twice" in message_of(evaluator.results, SCORES)


def test_a_list_of_measures_may_change_later():
    measures = ["map", "RR"]
    evaluator = Evaluator(LABELS, measures)
    measures.append("P@1")
    assert evaluator.results(SCORES).names == ("map", "RR")
