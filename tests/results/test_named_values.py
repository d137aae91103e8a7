"""Results by name: look-up of runs, measures, queries and single numbers, with errors that say what exists."""

import numpy as np
import pytest
from support.errors import message_of

import tieaware
from tieaware import Results

QRELS = {"q1": {"d1": 1}, "q2": {"d1": 1}}
TIED = {"q1": {"d1": 2.0, "d2": 2.0}, "q2": {"d1": 1.0}}


@pytest.fixture(scope="module")
def unnamed():
    return tieaware.evaluate(QRELS, TIED, ["RR", "nDCG@10"])


@pytest.fixture(scope="module")
def named():
    return tieaware.evaluate(QRELS, {"bm25": TIED, "dense": TIED}, ["RR", "nDCG@10"])


def test_one_run_and_one_measure_are_a_number():
    """The number is the mean; for a count, the sum, as in the table of means."""
    assert float(tieaware.evaluate(QRELS, TIED, "RR")) == 0.875
    counts = tieaware.evaluate(QRELS, {"a": TIED, "b": TIED}, "NumRet")
    assert float(counts["b"]) == counts.means()["b", "NumRet"] == 3
    undefined = Results(np.full((1, 1, 1), np.nan), ("a",), ("q",), (tieaware.AP,))
    assert np.isnan(float(undefined))


def test_a_number_over_unanswered_queries_warns_once():
    """The warning has the words of the command line, and points to the caller's line."""
    short = {"q1": TIED["q1"]}
    with pytest.warns(UserWarning, match="unanswered") as caught:
        assert float(tieaware.evaluate(QRELS, {"bm25": short}, "RR")) == 0.375
    assert [str(each.message) for each in caught] == [
        "bm25 leaves 1 of 2 judged queries unanswered; the means count each as an empty list; queries='both' leaves "
        "them out"
    ]
    assert caught[0].filename == __file__
    # No warning, which would be an error: queries are left out; all are answered; another run leaves some unanswered.
    assert float(tieaware.evaluate(QRELS, short, "RR", queries="both")) == 0.75
    assert float(tieaware.evaluate(QRELS, {"bm25": short, "full": TIED}, "RR")["full"]) == 0.875


def test_several_runs_or_measures_are_no_number(unnamed, named):
    for results, message in (
        (unnamed, "float: the results have 1 run and 2 measures; "
                  "choose one of each, as in result.means()['run', 'RR']"),
        (named, "float: the results have 2 runs and 2 measures; "
                "choose one of each, as in result.means()['bm25', 'RR']"),
        (Results(np.zeros((0, 1, 1)), (), ("q",), (tieaware.AP,)),
         "float: the results have 0 runs and 1 measure; evaluate at least one of each"),
    ):  # fmt: skip
        assert message_of(float, results) == message
    assert named.means()["bm25", "RR"] == 0.875


def test_keys_select_runs_measures_and_queries(named, unnamed):
    assert named["bm25"].runs == ("bm25",)
    assert named["bm25",].runs == ("bm25",)
    for measure in ("RR", "recip_rank", tieaware.RR):
        assert named["bm25", measure].tolist() == [0.75, 1.0]
        assert named["bm25", measure, "q1"] == 0.75
        assert unnamed[measure].tolist() == [0.75, 1.0]
    assert type(named["bm25", "RR", "q1"]) is float


def test_a_run_may_have_the_name_of_a_measure():
    results = tieaware.evaluate(QRELS, {"AP": TIED}, ["RR", "AP"])
    assert isinstance(results["AP"], Results)
    assert results["AP"]["RR"].tolist() == [0.75, 1.0]


ORDER = "the order is run, measure, query; write"
UNNAMED = [
    ("bm25", "no run 'bm25'; there is 1: run; pass {'bm25': run} to name it"),
    ("ndgc@10", "no measure 'ndgc@10'; did you mean nDCG@10? there are 2: RR, nDCG@10"),
    ("AP", "no measure 'AP'; there are 2: RR, nDCG@10"),
    (tieaware.P @ 3, "no measure P@3; there are 2: RR, nDCG@10"),
    (("bm25", "AP"), "no run 'bm25'; there is 1: run; pass {'bm25': run} to name it"),
    (("run", "AP"), "no measure 'AP'; there are 2: RR, nDCG@10"),
    (("run", "RR", "301"), "no query '301'; there are 2: q1, q2"),
    (("run", "RR", 1), "no query 1; there are 2: q1, q2"),
    (5, "no run 5; there is 1: run"),
    ((), "found 0 keys, expected run, measure and query"),
    (("RR", "q1"), f"{ORDER} result['run', 'RR', 'q1']"),
    (("q1", "mrr"), f"{ORDER} result['run', 'RR', 'q1']"),
    (("run", "q1", "ndcg@10"), f"{ORDER} result['run', 'nDCG@10', 'q1']"),
    ("q1", "the key lacks a measure; write for example result['run', 'RR', 'q1']"),
    (("run", "q1"), "the key lacks a measure; write for example result['run', 'RR', 'q1']"),
]
NAMED = [
    ("bm26", "no run 'bm26'; did you mean bm25? there are 2: bm25, dense"),
    ("RR", "'RR' is a measure, and there are 2 runs: choose one, as in result['bm25', 'RR']"),
    ("recip_rank", "'recip_rank' is a measure, and there are 2 runs: choose one, as in result['bm25', 'RR']"),
    ("AP", "no measure 'AP'; there are 2: RR, nDCG@10"),
    (("bm25", "ndgc@10"), "no measure 'ndgc@10'; did you mean nDCG@10? there are 2: RR, nDCG@10"),
    (("dense", "q1", "RR"), f"{ORDER} result['dense', 'RR', 'q1']"),
    (("RR", "dense"), f"{ORDER} result['dense', 'RR']"),
    (("q2", "dense", "RR"), f"{ORDER} result['dense', 'RR', 'q2']"),
    (("RR", "q1"), "the key lacks a run; write for example result['bm25', 'RR', 'q1']"),
    ("q1", "the key lacks a run and a measure; write for example result['bm25', 'RR', 'q1']"),
    (("dense", "RR", "q3"), "no query 'q3'; there are 2: q1, q2"),
]
# One run and one measure, with integer or with many queries.
INTEGERS = Results(np.zeros((1, 2, 1)), ("a",), (301, 302), (tieaware.AP,))
MANY = Results(np.zeros((1, 2000, 1)), ("a",), tuple(f"q{i}" for i in range(2000)), (tieaware.AP,))
OTHERS = [
    (INTEGERS, "bm25", "no run 'bm25'; there is 1: a"),
    (INTEGERS, ("a", "AP", "301"), "no query '301'; the query names are of type int, not str"),
    (MANY, ("a", "AP", "q2000"), "no query 'q2000'; there are 2000: q0, q1, q2, q3, q4, …"),
]


@pytest.mark.parametrize(
    ("results", "key", "message"),
    [*(("unnamed", *case) for case in UNNAMED), *(("named", *case) for case in NAMED), *OTHERS],
)
def test_a_wrong_key_is_an_error_with_the_keys_that_exist(request, results, key, message):
    with pytest.raises(KeyError) as error:
        (request.getfixturevalue(results) if isinstance(results, str) else results)[key]
    assert error.value.args == (message,)


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        (slice(None), "slice(None, None, None)"),
        (("bm25", slice(None)), "slice(None, None, None)"),
        (["bm25", "dense"], "['bm25', 'dense']"),
        (..., "Ellipsis"),
        (np.zeros(3), "array([0., 0., 0.])"),
    ],
)
def test_a_key_that_is_no_name_is_a_type_error(named, key, shown):
    with pytest.raises(TypeError) as error:
        named[key]
    names = f"a key is the name of a run, a measure or a query, not {shown}"
    assert str(error.value) == f"{names}; result.values has all values, and result.to_pandas() a row for each query"
