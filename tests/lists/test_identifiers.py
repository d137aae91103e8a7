"""Columns of identifiers: their values, kinds, numbers and order."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.columns import identifier
from support.errors import message_of

import tieaware
from tieaware.inputs import Identifiers, Qrels, Run, match
from tieaware.kernels import _identifiers
from tieaware.kernels._identifiers import Seen, hashes

LARGE = 2**70


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        (["a", "", "bc"], [b"a", b"", b"bc"]),
        (["é", "\udcff"], ["é".encode(), b"\xff"]),
        ([b"\xff\0", "a", 7, -1, np.int64(3)], [b"\xff\0", b"a", b"7", b"-1", b"3"]),
        (np.array([3, 20], np.uint8), [b"3", b"20"]),
        (np.array(["x", "yz"]), [b"x", b"yz"]),
        (np.array([b"x", b"yz"]), [b"x", b"yz"]),
        (np.array(["x", 3], object), [b"x", b"3"]),
        (("a" for _ in range(2)), [b"a", b"a"]),
        ([2**70], [str(2**70).encode()]),
    ],
)
def test_identifiers(values, expected):
    identifiers = Identifiers.from_sequence(values)
    assert list(identifiers) == [identifiers[i] for i in range(len(identifiers))] == expected
    assert identifiers.matching_any().to_list() == [value.decode("utf-8", "surrogateescape") for value in expected]
    assert identifiers == Identifiers(identifiers.data, identifiers.offsets)
    assert identifiers == pickle.loads(pickle.dumps(identifiers))
    assert identifiers != Identifiers.from_sequence([*expected, "more"])


def test_any_sizes_are_taken_whole():
    rng = np.random.default_rng(3)
    expected = [bytes(rng.integers(65, 90, size, dtype=np.uint8)) for size in [*range(40), *range(20, -1, -1)]]
    identifiers = Identifiers.from_sequence(expected)
    for rows in (np.arange(61), np.arange(61)[::-1], rng.integers(0, 61, 500), np.array([60, 0, 59]), np.array([0])):
        assert list(identifiers.take(rows)) == [expected[row] for row in rows]


def test_identifiers_index_as_lists_do():
    identifiers = Identifiers.from_sequence(["a", "b", "c"])
    assert identifiers[-1] == b"c"
    assert identifiers[np.int64(1)] == b"b"
    for index in (3, -4):
        with pytest.raises(IndexError):
            identifiers[index]
    assert list(identifiers.take(np.array([2, 0, 2]))) == [b"c", b"a", b"c"]
    with pytest.raises(IndexError):
        identifiers.take(np.array([3]))
    assert repr(Identifiers.from_sequence(range(5))) == "Identifiers([b'0', b'1', b'2', …], n=5)"


def test_identifiers_are_immutable():
    identifiers = Identifiers.from_sequence(["a"])
    with pytest.raises(AttributeError):
        identifiers.data = np.zeros(1, np.uint8)
    with pytest.raises(ValueError, match="read-only"):
        identifiers.data[0] = 1


ENDS = "offsets: must start at 0 and end at 3, the number of bytes of data; found "


def with_offsets(*offsets):
    return Identifiers(np.zeros(3, np.uint8), np.array(offsets, np.int64))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Identifiers.from_sequence(["a", 1.5], "ids"), "ids[1]: expected text, bytes or an integer, found 1.5"),
        (lambda: Identifiers.from_sequence([None], "ids"), "ids[0]: expected text, bytes or an integer, found None"),
        (lambda: Identifiers.from_sequence([True], "ids"), "ids[0]: expected text, bytes or an integer, found True"),
        (lambda: Identifiers.from_sequence(np.array([1.0]), "ids"),
         "ids[0]: expected text, bytes or an integer, found 1.0"),
        (lambda: Identifiers.from_sequence(["a", "\ud800"], "ids"),
         "ids[1]: the text '\\ud800' cannot be encoded as UTF-8"),
        (lambda: Identifiers.from_sequence("abc", "ids"), "ids: expected a sequence of identifiers, found 'abc'"),
        (lambda: Identifiers.from_sequence(5, "ids"), "ids: expected a sequence of identifiers, found 5"),
        (lambda: Identifiers.from_sequence(np.zeros((2, 2), int), "ids"),
         "ids: expected a one-dimensional array, found shape (2, 2)"),
        (lambda: with_offsets(0, 2), f"{ENDS}0 … 2"),
        (lambda: with_offsets(1, 3), f"{ENDS}1 … 3"),
        (lambda: with_offsets(), f"{ENDS}no offsets"),
        (lambda: with_offsets(0, 2, 1, 3), "offsets[2]: must be at least 2, the offset before it; found 1"),
    ],
)  # fmt: skip
def test_values_that_are_not_identifiers_are_refused(call, message):
    assert message_of(call) == message


@settings(deadline=None)
@given(st.lists(identifier, max_size=60))
def test_equal_identifiers_have_the_number_of_their_first_occurrence(values):
    identifiers = Identifiers.from_sequence(values)
    numbers, firsts = _identifiers.number(identifiers.data, identifiers.offsets)
    distinct = list(dict.fromkeys(values))
    assert numbers.tolist() == [distinct.index(value) for value in values]
    assert firsts.tolist() == [values.index(value) for value in distinct]


def check_order(lists):
    documents = Identifiers.from_sequence([document for listed in lists for document in listed])
    offsets = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    for descending in (True, False):
        order = _identifiers.order(documents.data, documents.offsets, offsets, descending).tolist()
        for q, listed in enumerate(lists):
            # Python's sort keeps the order of equal items also with reverse=True.
            expected = sorted(range(len(listed)), key=listed.__getitem__, reverse=descending)
            assert order[offsets[q] : offsets[q + 1]] == expected


@settings(deadline=None)
@given(st.lists(st.lists(st.one_of(identifier, st.binary(max_size=20)), max_size=80), max_size=4))
def test_order(lists):
    check_order(lists)


def test_order_of_prefixes_and_of_many_identifiers():
    check_order([[b"a", b"a\0", b"", b"a\0\0", b"aa", b"\xff", b"a" * 9, b"a" * 8, b"a" * 8 + b"\0"]])
    numbers = np.random.default_rng(2).permutation(5000)
    check_order([[b"clueweb09-en0000-%d" % i for i in numbers], [b"%d" % i for i in range(1000)]])


# ---- hashes ---------------------------------------------------------------------------------------


def test_identifiers_that_shared_a_hash_take_as_long_as_others():
    """If the keys of the hash were known, text that contains a key would make a factor 0, and all hashes equal."""
    random = np.random.default_rng(3)
    others = [random.bytes(16) for _ in range(16_000)]

    def taken(identifiers):
        column = Identifiers.from_sequence(identifiers)
        start = time.process_time()
        assert len(_identifiers.number(column.data, column.offsets)[1]) == len(column)
        assert len(_identifiers.duplicates(column.data, column.offsets, np.array([0, len(column)]))) == 0
        assert Seen().add(column.data, column.offsets)
        assert Qrels.from_columns(["q"] * len(column), column, [1] * len(column)).index.n_queries == 1
        return time.process_time() - start

    expected = min(taken(others) for _ in range(3))
    # Constants that were once the keys of the two factors.
    for word in (0xB7E151628AED2A6B, 0x243F6A8885A308D3):
        assert taken([word.to_bytes(8, "little") + other[8:] for other in others]) < 20 * expected
        assert taken([other[:8] + word.to_bytes(8, "little") for other in others]) < 20 * expected


def test_the_seed_is_secret_and_changes_no_result(tmp_path):
    """PYTHONHASHSEED determines the seed. The identifiers are short and long, and some are repeated."""
    lines = [f"q{i % 3} Q0 {'d' * (i % 40)}{i % 97} 1 {i % 5} t\n" for i in range(290)]
    (tmp_path / "run").write_text("".join(dict.fromkeys(lines)))
    (tmp_path / "qrels").write_text("".join(f"q{i % 3} 0 {'d' * (i % 40)}{i % 97} {i % 2}\n" for i in range(0, 290, 2)))
    program = """if True:
        import sys, tieaware, warnings
        from tieaware.kernels._identifiers import hashes
        warnings.simplefilter("ignore")
        run = tieaware.read_run("run", duplicates="first")
        hashed = hashes(run.documents.data, run.documents.offsets)[0]
        print(hashed, run.documents.to_list(), tieaware.evaluate("qrels", run, ["AP", "nDCG"]).values.tolist())
        """
    printed = []
    for seed in ("random", "0", "0"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        child = subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, check=True, text=True
        )
        printed.append(child.stdout.partition(" "))
    hashes, _, results = zip(*printed, strict=True)
    assert len(set(results)) == 1
    assert hashes[0] != hashes[1] == hashes[2]


def test_hashes_of_all_lengths_differ():
    identifiers = [b"\0" * n for n in range(100)] + [b"\0" * n + b"d" for n in range(100)]
    given = Identifiers.from_sequence(identifiers)
    assert len(set(hashes(given.data, given.offsets).tolist())) == 200
    column = Identifiers.from_sequence(["", ""])
    assert not Seen().add(column.data, column.offsets)


# ---- integers and text ----------------------------------------------------------------------------


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
def test_the_kind_of_a_column(values, kind, listed):
    identifiers = Identifiers.from_sequence(values)
    for column in (identifiers, pickle.loads(pickle.dumps(identifiers)), identifiers.take(np.arange(len(listed)))):
        assert (column.kind, column.to_list()) == (kind, listed)
        assert list(map(type, column.to_list())) == list(map(type, listed))
    assert identifiers.matching_any().kind == Identifiers(identifiers.data, identifiers.offsets).kind == "any"


def test_integers_match_integers_and_come_back():
    pytest.importorskip("pyarrow")
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
        (INTEGERS, Run.from_columns(["7"], [12], [1.0]),
         "run.query: has text such as '7', but qrels has integers such as 7"),
        (INTEGERS, Run.from_columns([7], [b"d12"], [1.0], name="bm25"),
         "bm25.doc: has text such as 'd12', but qrels has integers such as 12"),
        (TEXT, Run.from_columns([7], ["12"], [1.0]),
         f"run.query: has integers such as 7, but {TEXT.name} has text such as '7'"),
        (INTEGERS, io.BytesIO(b"7 Q0 12 1 0.5 x\n"),
         "run.query: has text such as '7', but qrels has integers such as 7"),
    ],
)  # fmt: skip
def test_integers_do_not_match_text(qrels, run, message):
    assert message_of(tieaware.evaluate, qrels, run, ["RR"]) == f"{message}: make both text, or both integers"


def test_chunks_of_a_file_do_not_match_integers(tmp_path):
    path = tmp_path / "big.run"
    path.write_bytes(b"".join(b"%d Q0 d%d 1 %d x\n" % (q, d, d) for q in range(100) for d in range(500)))
    found = message_of(tieaware.evaluate, INTEGERS, path, ["RR"], threads=2)
    assert found.startswith("big.query: has text such as '0', but qrels has integers such as 7: make")


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
