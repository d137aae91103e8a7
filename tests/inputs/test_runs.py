"""Runs as columns: from dicts, from columns, and invalid input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from support.columns import as_dict
from support.errors import message_of

from tieaware.inputs import Identifiers, Qrels, Run, RunDict, match

nan = float("nan")


def test_a_run_of_a_dict():
    run = Run.from_dict(
        {"q2": {"b": 1, "a": 2.5, b"c": np.float32(0.5)}, 1: {7: True}, "empty": {}}, name="mine"
    )
    assert as_dict(run, run.scores) == {
        b"q2": {b"b": 1.0, b"a": 2.5, b"c": 0.5},
        b"1": {b"7": 1.0},
        b"empty": {},
    }
    assert run.scores.dtype == np.float64
    assert (run.name, run.tag, len(run)) == ("mine", None, 3)
    assert repr(run) == "Run('mine', 3 queries, 4 documents)"


def test_a_run_of_columns():
    """The rows of a query need not be contiguous. Queries keep the order of their first rows."""
    run = Run.from_columns(np.array([2, 1, 2, 1]), ["b", "b", "a", "c"], np.array([1, 2, 3, 4]), name="mine")
    assert list(as_dict(run, run.scores).items()) == [
        (b"2", {b"b": 1.0, b"a": 3.0}),
        (b"1", {b"b": 2.0, b"c": 4.0}),
    ]
    assert len(Run.from_columns([], [], [])) == 0


@pytest.mark.parametrize("dtype", ["f4", "f8", ">f4", ">f8", "f2", "i8", "u1", "?"])
def test_dtypes_of_scores(dtype):
    scores = np.array([1, 0, 1], dtype)
    run = Run.from_columns(["q"] * 3, ["a", "b", "c"], scores)
    assert run.scores.dtype == (np.float32 if dtype.endswith("f4") else np.float64)
    assert run.scores.dtype.isnative
    assert run.scores.tolist() == [1, 0, 1]
    strided = Run.from_columns(["q"] * 2, ["a", "c"], scores[::2])
    assert strided.scores.tolist() == [1, 1]


def test_a_run_does_not_share_memory_with_its_input():
    scores = np.array([1.0, 2.0])
    run = Run.from_columns(["q", "q"], ["a", "b"], scores)
    assert scores.flags.writeable
    scores[0] = nan
    assert run.scores.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        run.scores[0] = 5
    with pytest.raises(AttributeError):
        run.name = "other"
    again = pickle.loads(pickle.dumps(run))
    assert as_dict(again, again.scores) == as_dict(run, run.scores)
    assert not again.scores.flags.writeable


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"q": {"c": 1, "d": nan}}, "run['q']['d']: expected a number, found NaN"),
        ({"q": {"c": 1, "d": np.float32(nan)}}, "run['q']['d']: expected a number, found NaN"),
        ({"q": {"d": "1.5"}}, "run['q']['d']: expected a number, found '1.5'"),
        ({"q": {"d": np.str_("1.5")}}, "run['q']['d']: expected a number, found np.str_('1.5')"),
        ({"q": {"d": np.bytes_(b"1")}}, "run['q']['d']: expected a number, found np.bytes_(b'1')"),
        (
            {"q": {"d": np.complex128(1)}},
            "run['q']['d']: expected a number, found (1+0j)",
        ),
        ({"q": {"d": None}}, "run['q']['d']: expected a number, found None"),
        ({"q": {"d": 1j}}, "run['q']['d']: expected a number, found 1j"),
        ({"q": {"d": [1.0]}}, "run['q']['d']: expected a number, found [1.0]"),
        (
            {"q": {"d": 10**400}},
            f"run['q']['d']: expected a number in the range of float64, found 1{'0' * 37}...{'0' * 39}",
        ),
        ({"q": {1.5: 1}}, "documents of run[0]: expected text, bytes or an integer, found 1.5"),
        ({None: {"d": 1}}, "queries of run[0]: expected text, bytes or an integer, found None"),
        (
            {"q": {"\ud800": 1}},
            "documents of run[0]: the text '\\ud800' cannot be encoded as UTF-8",
        ),
        ({"q": [("d", 1)]}, "run['q']: must be a dict {document: value}, not list"),
        ([], "run: must be a dict {query: {document: value}}, not list"),
        (
            {"q": {1: 1, "1": 2}},
            "run['q']['1']: document '1' of query 'q' appears twice, first at run['q'][1]; to keep only the first "
            "row, pass Run.from_dict(run, duplicates='first')",
        ),
    ],
)
def test_bad_dicts(run, message):
    assert message_of(Run.from_dict, run) == message
    qrels = Qrels.from_dict({"other": {"d": 1}})
    assert message_of(match, qrels, RunDict(run)) == message


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((["q"], ["d", "e"], [1]), "doc: must have as many values as query: 1, not 2"),
        ((["q"], ["d"], [1, 2]), "score: must have as many values as query: 1, not 2"),
        ((["q"], ["d"], 1), "score: expected a sequence, found 1"),
        ((["q"], ["d"], np.array(1)), "score: expected a sequence, found array(1)"),
        ((["q"], ["d"], np.ones((1, 1))), "score: expected a one-dimensional array, found shape (1, 1)"),
        ((["q", "q"], ["d", "e"], [1, nan]), "score[1]: expected a number, found NaN"),
        ((["q", "q"], ["d", "e"], np.array([1, nan], "f4")), "score[1]: expected a number, found NaN"),
        ((["q", "q"], ["d", "e"], [1, "2"]), "score[1]: expected a number, found '2'"),
        ((["q"], ["d"], np.array(["2"])), "score[0]: expected a number, found '2'"),
        (
            (["q"], ["d"], np.array([1j])),
            "score[0]: expected a number, found 1j",
        ),
        ((["q", 1.0], ["d", "e"], [1, 2]), "query[1]: expected text, bytes or an integer, found 1.0"),
        (
            (["q", "r", "q"], ["d", "d", "d"], [1, 2, 3]),
            "doc[2]: document 'd' of query 'q' appears twice, first at doc[0]; to keep only the first row, "
            "pass Run.from_columns(query, doc, score, duplicates='first')",
        ),
    ],
)
def test_bad_columns(columns, message):
    assert message_of(Run.from_columns, *columns) == message


def test_duplicates_in_columns():
    columns = ["q", "r", "q", "q"], ["d", "d", "d", "e"], [1, 2, 3, 4]
    with pytest.warns(UserWarning, match="duplicate") as caught:
        run = Run.from_columns(*columns, duplicates="first", name="mine")
    assert [str(warning.message) for warning in caught] == [
        "mine: 1 duplicate row is ignored; doc[2]: document 'd' of query 'q' appears again, first at doc[0]"
    ]
    assert as_dict(run, run.scores) == {b"q": {b"d": 1, b"e": 4}, b"r": {b"d": 2}}
    assert message_of(Run.from_columns, *columns, duplicates="all") == (
        "duplicates: expected one of error, first, found 'all'"
    )


@pytest.mark.parametrize("kind", [Run, Qrels])
def test_columns_that_do_not_fit_together(kind):
    ids = Identifiers.from_sequence
    values = "scores" if kind is Run else "labels"
    for columns, message in [
        (
            (ids(["q"]), [0, 2], ids(["d"]), [1]),
            "offsets: must start at 0 and end at 1, the number of documents; found 0 … 2",
        ),
        (
            (ids(["q"]), [0], ids(["d"]), [1]),
            "offsets: must start at 0 and end at 1, the number of documents; found 0 … 0",
        ),
        ((ids(["q", "r"]), [0, 1], ids(["d"]), [1]), "offsets: must have one element more than queries: 3, not 2"),
        (
            (ids(["q", "r", "s"]), [0, 1, 0, 1], ids(["d"]), [1]),
            "offsets[2]: must be at least 1, the offset before it; found 0",
        ),
        (
            (ids(["q"]), [0, 1], ids(["d"]), [1, 2]),
            f"{values}: must have as many values as documents: 1, not 2",
        ),
        (
            (ids(["q", "q"]), [0, 1, 1], ids(["d"]), [1]),
            "queries: a query appears twice (from_columns accepts the rows of a query in any order)",
        ),
        (
            (["q"], [0, 1], ids(["d"]), [1]),
            "queries: expected Identifiers (from_columns takes other sequences), found list",
        ),
    ]:
        queries, offsets, documents, numbers = columns
        assert message_of(kind, queries, np.array(offsets), documents, np.array(numbers)) == message
    good = kind(ids(["q", "r"]), np.array([0, 0, 2]), ids(["d", "e"]), np.array([1, 2]))
    assert as_dict(good, getattr(good, values)) == {b"q": {}, b"r": {b"d": 1, b"e": 2}}
