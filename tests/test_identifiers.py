"""Columns of identifiers: what they were made of, and what they match."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest

import tieaware
from tieaware.errors import InputError
from tieaware.inputs import Identifiers, Qrels, Run, match

LARGE = 2**70


@pytest.mark.parametrize(
    ("values", "kind", "listed"),
    [
        (["a", b"b"], "text", ["a", "b"]),
        (["1", "é"], "text", ["1", "é"]),
        (np.array(["x", "yz"]), "text", ["x", "yz"]),
        ([3, -1, LARGE], "integer", [3, -1, LARGE]),
        ([np.int64(3), np.uint8(4), 5], "integer", [3, 4, 5]),
        (np.array([3, 20], ">i2"), "integer", [3, 20]),
        (np.array([3, LARGE], object), "integer", [3, LARGE]),
        (range(3), "integer", [0, 1, 2]),
        (["x", 3], "any", ["x", "3"]),
        ([], "any", []),
    ],
)
def test_what_a_column_was_made_of(values, kind, listed):
    identifiers = Identifiers.from_sequence(values)
    for column in (identifiers, pickle.loads(pickle.dumps(identifiers)), identifiers.take(np.arange(len(listed)))):
        assert (column.kind, column.to_list()) == (kind, listed)
        assert list(map(type, column.to_list())) == list(map(type, listed))
    assert identifiers.undecided().kind == Identifiers(identifiers.data, identifiers.offsets).kind == "any"


def test_integers_match_integers_and_come_back():
    qrels = Qrels.from_columns(np.array([8, 7, 8]), np.array([3, LARGE, 2], object), [1, 1, 0])
    run = Run.from_columns([7, 8, 8, np.int64(9)], [LARGE, 2, 3, 4], [1.0, 2.0, 2.0, 1.0], name="mine")
    results = [tieaware.evaluate(qrels, each, ["RR"]) for each in (run, pickle.loads(pickle.dumps(run)))]
    for result in results:
        assert result.queries == (8, 7)
        assert [type(query) for query in result.queries] == [int, int]
        assert result.values.tolist() == [[[0.75], [1.0]]]
        assert result["mine", "RR", 8] == 0.75
        assert result.to_dict() == {"mine": {8: {"RR": 0.75}, 7: {"RR": 1.0}}}
        assert result.to_arrow().column("query").to_pylist() == [8, 7]
        assert result.to_trec_eval(per_query=True).split()[:3] == ["RR", "8", "0.7500"]
    both = tieaware.evaluate(qrels, Run.from_columns([8], [2], [1.0]), ["RR"], queries="both")
    assert both.queries == (8,)


INTEGERS = Qrels.from_columns([7], [12], [1])
TEXT = tieaware.read_qrels(io.BytesIO(b"7 0 12 1\n"))


@pytest.mark.parametrize(
    ("qrels", "run", "message"),
    [
        (
            INTEGERS, Run.from_columns(["7"], [12], [1.0]),
            "run.query: expected integers, as qrels has, found text such as '7'",
        ),
        (
            INTEGERS, Run.from_columns([7], [b"d12"], [1.0], name="bm25"),
            "bm25.doc: expected integers, as qrels has, found text such as 'd12'",
        ),
        (
            TEXT, Run.from_columns([7], ["12"], [1.0]),
            f"run.query: expected text, as {TEXT.name} has, found integers such as 7",
        ),
        (
            INTEGERS, io.BytesIO(b"7 Q0 12 1 0.5 x\n"),
            "run.query: expected integers, as qrels has, found text such as '7'",
        ),
    ],
)  # fmt: skip
def test_integers_do_not_match_text(qrels, run, message):
    with pytest.raises(InputError) as caught:
        tieaware.evaluate(qrels, run, ["RR"])
    assert str(caught.value) == f"{message}; make both text, or both integers"


def test_pieces_of_a_file_do_not_match_integers(tmp_path):
    path = tmp_path / "big.run"
    path.write_bytes(b"".join(b"%d Q0 d%d 1 %d x\n" % (q, d, d) for q in range(100) for d in range(500)))
    with pytest.raises(InputError, match=r"^big\.query: expected integers, as qrels has, found text such as '0'; make"):
        tieaware.evaluate(INTEGERS, path, ["RR"], threads=2)


def test_dicts_and_mixtures_match_both():
    mixture = Run.from_columns([7, "x"], [12, "y"], [1, 1])
    for qrels in (INTEGERS, TEXT, Qrels.from_dict({7: {12: 1}}), Qrels.from_dict({"7": {"12": 1}})):
        for run in ({7: {12: 1.0}}, {"7": {"12": 1.0}}, Run.from_dict({7: {"12": 1}}), mixture):
            result = tieaware.evaluate(qrels, run, ["RR"])
            assert result.values.item() == 1.0
            assert result.queries == ((7,) if qrels is INTEGERS else ("7",))


def test_a_column_without_rows_matches_both():
    nothing = Run.from_columns(np.zeros(0, int), np.zeros(0, int), [])
    assert match(TEXT, nothing).rows.tolist() == []
    silent = Identifiers.of(np.zeros(0, np.uint8), np.zeros(1, np.int64), "integer")
    run = Run(Identifiers.from_sequence(["7"]), np.array([0, 0]), silent, np.zeros(0))
    assert match(TEXT, run).rows.tolist() == [0]
