"""Judgments and runs as columns: from dicts and columns, joined and ordered."""

from __future__ import annotations

import pickle
import threading
from collections import OrderedDict, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tieaware import _dicts, _join, _order
from tieaware.errors import InputError
from tieaware.inputs import Identifiers, Qrels, Run, RunDict, match


def match_of_dict(qrels, run):
    return match(qrels, RunDict(run))


def message_of(call, *args, **options):
    with pytest.raises(InputError) as caught:
        call(*args, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


def as_dict(columns, values):
    queries, documents = list(columns.queries), list(columns.documents)
    return {
        queries[q]: {
            documents[row]: values[row].item() for row in range(columns.offsets[q], columns.offsets[q + 1])
        }
        for q in range(len(columns))
    }


nan = float("nan")
LABEL = "a whole number from -2147483648 to 2147483647"


# ---- identifiers ----------------------------------------------------------------------------------


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
    assert identifiers.undecided().to_list() == [value.decode("utf-8", "surrogateescape") for value in expected]
    assert identifiers == Identifiers(identifiers.data, identifiers.offsets)
    assert identifiers == pickle.loads(pickle.dumps(identifiers))
    assert identifiers != Identifiers.from_sequence([*expected, "more"])


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


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a", 1.5], "ids[1]: expected text, bytes or an integer, found 1.5"),
        ([None], "ids[0]: expected text, bytes or an integer, found None"),
        ([True], "ids[0]: expected text, bytes or an integer, found True"),
        (np.array([1.0]), "ids[0]: expected text, bytes or an integer, found 1.0"),
        (["a", "\ud800"], "ids[1]: expected text that UTF-8 can encode, found '\\ud800'"),
        ("abc", "ids: expected a sequence of identifiers, found 'abc'"),
        (5, "ids: expected a sequence of identifiers, found 5"),
        (np.zeros((2, 2), int), "ids: expected one dimension, found shape (2, 2)"),
    ],
)
def test_what_is_no_identifier(values, message):
    assert message_of(Identifiers.from_sequence, values, "ids") == message


def test_offsets_of_identifiers_are_checked():
    data = np.zeros(3, np.uint8)
    for offsets, message in [
        ([0, 2], "offsets: expected 0 … 3, the number of bytes of data, found 0 … 2"),
        ([1, 3], "offsets: expected 0 … 3, the number of bytes of data, found 1 … 3"),
        ([], "offsets: expected 0 … 3, the number of bytes of data, found none"),
        ([0, 2, 1, 3], "offsets[2]: expected at least 2, as before it, found 1"),
    ]:
        assert message_of(Identifiers, data, np.array(offsets, np.int64)) == message


# ---- runs -----------------------------------------------------------------------------------------


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
    """Rows of a query need not be together; queries and rows keep their order."""
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


def test_a_run_owns_what_it_must():
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
            f"run['q']['d']: expected a number that float64 has room for, found 1{'0' * 37}...{'0' * 39}",
        ),
        ({"q": {1.5: 1}}, "documents of run[0]: expected text, bytes or an integer, found 1.5"),
        ({None: {"d": 1}}, "keys of run[0]: expected text, bytes or an integer, found None"),
        (
            {"q": {"\ud800": 1}},
            "documents of run[0]: expected text that UTF-8 can encode, found '\\ud800'",
        ),
        ({"q": [("d", 1)]}, "run['q']: expected a dict {document: value}, found [('d', 1)]"),
        ([], "run: expected a dict {query: {document: value}}, found []"),
        (
            {"q": {1: 1, "1": 2}},
            "run['q']['1']: expected document '1' of query 'q' once, "
            "or duplicates=\"first\", found it again, first at run['q'][1]",
        ),
    ],
)
def test_bad_dicts(run, message):
    assert message_of(Run.from_dict, run) == message
    qrels = Qrels.from_dict({"other": {"d": 1}})
    assert message_of(match_of_dict, qrels, run) == message


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((["q"], ["d", "e"], [1]), "doc: expected as many values as query has, 1, found 2"),
        ((["q"], ["d"], [1, 2]), "score: expected as many values as query has, 1, found 2"),
        ((["q"], ["d"], 1), "score: expected a sequence, found 1"),
        ((["q"], ["d"], np.array(1)), "score: expected a sequence, found array(1)"),
        ((["q"], ["d"], np.ones((1, 1))), "score: expected one dimension, found shape (1, 1)"),
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
            "doc[2]: expected document 'd' of query 'q' once, "
            'or duplicates="first", found it again, first at doc[0]',
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
        "mine: 1 duplicate row is ignored; doc[2]: document 'd' of query 'q' again, first at doc[0]"
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
            "offsets: expected 0 … 1, the number of documents, found 0 … 2",
        ),
        ((ids(["q"]), [0], ids(["d"]), [1]), "offsets: expected 0 … 1, the number of documents, found 0 … 0"),
        ((ids(["q", "r"]), [0, 1], ids(["d"]), [1]), "offsets: expected one more than queries, 3, found 2"),
        (
            (ids(["q", "r", "s"]), [0, 1, 0, 1], ids(["d"]), [1]),
            "offsets[2]: expected at least 1, as before it, found 0",
        ),
        (
            (ids(["q"]), [0, 1], ids(["d"]), [1, 2]),
            f"{values}: expected as many values as documents, 1, found 2",
        ),
        (
            (ids(["q", "q"]), [0, 1, 1], ids(["d"]), [1]),
            "queries: expected each query once (from_columns takes them in any order), found one twice",
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


# ---- judgments ------------------------------------------------------------------------------------


def test_judgments_of_a_dict():
    qrels = Qrels.from_dict({"q2": {"b": 1, "a": -2, b"c": np.int8(3)}, 1: {7: True}, "empty": {}})
    assert as_dict(qrels, qrels.labels) == {
        b"q2": {b"b": 1, b"a": -2, b"c": 3},
        b"1": {b"7": 1},
        b"empty": {},
    }
    assert qrels.labels.dtype == np.int32
    assert (qrels.name, len(qrels)) == ("qrels", 3)
    assert repr(qrels) == "Qrels('qrels', 3 queries, 4 judgments)"
    again = pickle.loads(pickle.dumps(qrels))
    assert as_dict(again, again.labels) == as_dict(qrels, qrels.labels)


def test_judgments_of_columns():
    """The same judgment twice counts once."""
    qrels = Qrels.from_columns([2, 1, 2, 2], ["b", "b", "a", "b"], np.array([1, 2, 3, 1], np.uint64))
    assert as_dict(qrels, qrels.labels) == {b"2": {b"b": 1, b"a": 3}, b"1": {b"b": 2}}


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ([1, 1.5], f"label[1]: expected {LABEL}, found 1.5"),
        ([1, nan], f"label[1]: expected {LABEL}, found nan"),
        ([1, "1"], f"label[1]: expected {LABEL}, found '1'"),
        ([1, None], f"label[1]: expected {LABEL}, found None"),
        (np.array([1.0, np.inf]), f"label[1]: expected {LABEL}, found inf"),
        ([1, 2**31], f"label[1]: expected {LABEL}, found 2147483648"),
        (np.array([1, 2**31], "f4"), f"label[1]: expected {LABEL}, found 2147483648.0"),
        ([2**64, 1], f"label[0]: expected {LABEL}, found 18446744073709551616"),
        ([1, [2, 3]], f"label[1]: expected {LABEL}, found [2, 3]"),
        ([[1], [2]], f"label[0]: expected {LABEL}, found [1]"),
        ([1, 2, 3], "label: expected as many values as query has, 2, found 3"),
        (5, "label: expected a sequence, found 5"),
        (np.ones((2, 1), int), "label: expected one dimension, found shape (2, 1)"),
    ],
)
def test_bad_labels(label, message):
    assert message_of(Qrels.from_columns, ["q", "q"], ["d", "e"], label) == message


def test_judgments_that_contradict_each_other():
    assert message_of(Qrels.from_columns, ["q", "r", "q"], ["d", "d", "d"], [1, 2, 3]) == (
        "doc[2]: expected label 1 for document 'd' of query 'q', as at doc[0], found 3"
    )
    assert message_of(Qrels.from_dict, {"q": {b"d": 1, "d": 2}}) == (
        "qrels['q']['d']: expected label 1 for document 'd' of query 'q', as at qrels['q'][b'd'], found 2"
    )
    for label, found in ((0.5, "0.5"), (nan, "nan"), ([1], "[1]"), ("1", "'1'")):
        assert message_of(Qrels.from_dict, {"q": {"c": 1, "d": label}}) == (
            f"qrels['q']['d']: expected {LABEL}, found {found}"
        )


def test_whole_floats_are_labels():
    """As pandas makes of whole numbers, where a row is missing."""
    for label in ([1.0, 2.0], np.array([1, 2], "f2"), np.array([1.0, 2], object)):
        assert Qrels.from_columns(["q", "q"], ["d", "e"], label).labels.tolist() == [1, 2]
    assert Qrels.from_dict({"q": {"d": 1.0, "e": np.float32(2)}}).labels.tolist() == [1, 2]
    least, most = -(2.0**31), 2.0**31 - 1
    plain = {"q": {"d": 1.0, "e": -0.0, "f": least, "g": most, "h": True, "i": False}}
    assert _dicts.columns_of(plain) is not None
    assert Qrels.from_dict(plain).labels.tolist() == [1, 0, -(2**31), 2**31 - 1, 1, 0]


@pytest.mark.parametrize(
    "form",
    [set, frozenset, list, tuple, lambda named: dict.fromkeys(named, 1.0), lambda named: dict.fromkeys(named).keys()],
)
def test_relevant_documents_without_labels(form):
    """As beir and mteb have them, also beside queries with labels."""
    named = ["d1", "d2", 3]
    qrels = Qrels.from_dict({"q1": form(named), "q2": {"d1": 0}, "q3": form([])})
    assert {q: dict(sorted(listed.items())) for q, listed in as_dict(qrels, qrels.labels).items()} == {
        b"q1": {b"3": 1, b"d1": 1, b"d2": 1}, b"q2": {b"d1": 0}, b"q3": {},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        (["d", "e", "d"], "qrels['q'][2]: expected each document once, found 'd' again, first at 0"),
        ((7, 8, 8), "qrels['q'][2]: expected each document once, found 8 again, first at 1"),
        (["d", ["e"]], "qrels['q'][1]: expected text, bytes or an integer, found ['e']"),
        ({"d", 1.5}, "documents of qrels[{0}]: expected text, bytes or an integer, found 1.5"),
        ("d1", "qrels['q']: expected a dict {document: value}, found 'd1'"),
    ],
)
def test_bad_documents_without_labels(listed, message):
    place = list(listed).index(1.5) if isinstance(listed, set) else 0
    assert message_of(Qrels.from_dict, {"q": listed}) == message.replace("{0}", str(place))


def test_the_index_is_built_once():
    qrels = Qrels.from_dict({"q": {f"d{i}": 1 for i in range(1000)}})
    found = []
    threads = [threading.Thread(target=lambda: found.append(qrels.index)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(index) for index in found}) == 1
    assert qrels.index.n_queries == 1


# ---- the join -------------------------------------------------------------------------------------


def plain_match(qrels, run):
    """rows, judged_offsets, judged_positions and judged_labels, in plain Python, from dicts of bytes."""
    queries = list(qrels)
    rows = [queries.index(query) if query in qrels else -1 for query in run]
    offsets, positions, labels = [0], [], []
    for query, documents in run.items():
        for position, document in enumerate(documents):
            if document in qrels.get(query, {}):
                positions.append(position)
                labels.append(qrels[query][document])
        offsets.append(len(positions))
    return rows, offsets, positions, labels


def check_match(matched, qrels, run):
    assert [
        matched.rows.tolist(),
        matched.lists.judged_offsets.tolist(),
        matched.lists.positions.tolist(),
        matched.lists.labels.tolist(),
    ] == list(plain_match(qrels, run))
    assert matched.scores.tolist() == [score for documents in run.values() for score in documents.values()]
    assert np.diff(matched.lists.offsets).tolist() == [len(documents) for documents in run.values()]
    assert [matched.rows.dtype, matched.lists.offsets.dtype, matched.lists.judged_offsets.dtype] == [np.int64] * 3
    assert [matched.lists.positions.dtype, matched.lists.labels.dtype] == [np.int64, np.int32]


# From few characters, so that there are duplicates and prefixes; and of every length class of the hash.
short = st.binary(max_size=3).map(lambda data: bytes(b"\0a\xff"[byte % 3] for byte in data))
long = st.builds(lambda length, end: b"x" * length + end, st.integers(0, 40), short)
identifier = st.one_of(short, long)
qrels_dicts = st.dictionaries(
    identifier, st.dictionaries(identifier, st.integers(-2, 3), max_size=12), max_size=6
)
run_dicts = st.dictionaries(
    identifier, st.dictionaries(identifier, st.floats(allow_nan=False), max_size=20), max_size=6
)


@settings(deadline=None)
@given(qrels_dicts, run_dicts)
def test_match(judgments, ranking):
    qrels = Qrels.from_dict(judgments)
    check_match(match(qrels, Run.from_dict(ranking)), judgments, ranking)
    check_match(match_of_dict(qrels, ranking), judgments, ranking)
    text = {
        query.decode("latin-1"): {document.decode("latin-1"): score for document, score in documents.items()}
        for query, documents in ranking.items()
    }
    judged_text = {
        query.decode("latin-1"): {document.decode("latin-1"): label for document, label in documents.items()}
        for query, documents in judgments.items()
    }
    check_match(match_of_dict(Qrels.from_dict(judged_text), text), judged_text, text)


PLAIN_JUDGMENTS = {
    "q1": {"d1": 1, "d2": 0, "": -3},
    "größe": {"日本": 2**31 - 1, "d1": -(2**31), "x" * 300: 4},
    "empty": {},
    "": {f"d{i}": i for i in range(1000)},
}


@pytest.mark.parametrize("judgments", [PLAIN_JUDGMENTS, {}, {"q": {}}, {"q": {"d": 1}}])
def test_plain_judgments_are_taken_apart_as_others_are(judgments):
    """A dict of str and int by the kernel; other mappings, and other keys and labels, one object after another."""
    assert _dicts.columns_of(judgments) is not None
    walked = Qrels.from_dict(judgments)
    others = [
        OrderedDict(judgments),
        {q: OrderedDict(listed) for q, listed in judgments.items()},
        {q.encode(): {d.encode(): np.int32(label) for d, label in listed.items()} for q, listed in judgments.items()},
    ]
    for other in others:
        given = Qrels.from_dict(other)
        assert (given.queries, given.documents) == (walked.queries, walked.documents)
        assert given.offsets.tolist() == walked.offsets.tolist()
        assert given.labels.tolist() == walked.labels.tolist()
        assert given.labels.dtype == walked.labels.dtype == np.int32


class Text(str):
    """Equal to nothing but itself."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other):
        return self is other


@pytest.mark.parametrize(
    "judgments",
    [
        {"q": {"d": 2**31}}, {"q": {"d": -(2**31) - 1}}, {"q": {"d": 2**70}}, {"q": {"d": np.bool_(1)}},
        {"q": {"d": 1.5}}, {"q": {"d": nan}}, {"q": {"d": 2.0**31}}, {"q": {"d": -(2.0**31) - 1}}, {"q": {"d": np.inf}},
        {"q": {1: 1}}, {1: {"d": 1}}, {"q": [1]}, {"q": {"\ud800": 1}}, {"\ud800": {}}, {Text("q"): {}, Text("q"): {}},
        {"q": {Text("d"): 1, Text("d"): 2}},
    ],
)  # fmt: skip
def test_judgments_that_are_not_plain_are_left_to_others(judgments):
    assert _dicts.columns_of(judgments) is None


def test_rows_are_in_order():
    assert _join.in_order(np.arange(3), 3)
    assert _join.in_order(np.arange(0), 0)
    for rows in ([0, 1], [0, 1, 2, 3], [0, 2, 1], [0, -1, 2]):
        assert not _join.in_order(np.array(rows), 3)


def test_a_dict_is_matched_as_it_is_and_takes_what_from_dict_takes():
    judgments = {"q": {"d": 1, "e": 2, "é": 3, "7": 4, "\udcff": 5}}
    qrels = Qrels.from_dict(judgments)
    for ranking in [
        {"q": {"x": 1.0, "é": 2, "d": np.float32(3), "e": np.int64(4)}},
        {"q": {"\udcff": 1.0, "d": 2.0}},
        {"q": OrderedDict(d=1.0, x=2.0)},
        OrderedDict(q={"d": 1.0}),
        {"q": defaultdict(float, d=1.0)},
        {"p": {}, "q": {"d": True}},
        {},
    ]:
        check_match(match_of_dict(qrels, ranking), judgments, ranking)
    moved = OrderedDict(d=1.0, e=2.0)
    moved.move_to_end("d")
    check_match(match_of_dict(qrels, {"q": moved}), judgments, {"q": moved})
    numbers = match_of_dict(qrels, {"q": {7: 1.0, "d": 2.0}})
    assert numbers.lists.labels.tolist() == [4, 1]
    keys = match_of_dict(qrels, {np.str_("q"): {np.str_("d"): np.float64(1.5)}})
    assert keys.lists.labels.tolist() == [1]


@pytest.mark.parametrize("change", ["clear", "grow", "delete other", "replace", "replace all"])
def test_scores_that_change_the_dict_while_it_is_read(change):
    """Whatever happens is an error or a good result: never a crash."""

    class Score:
        def __float__(self):
            if change == "clear":
                ranking["q"].clear()
            elif change == "grow":
                ranking["q"].update((f"new {i}", 1.0) for i in range(1000))
            elif change == "delete other":
                ranking.pop("r", None)
                ranking["s"] = {f"d{i}": 1.0 for i in range(100)}
            elif change == "replace":
                ranking["q"].pop("d3", None)
                ranking["q"][f"d{len(ranking['q'])} more"] = 2.0
            else:
                ranking.clear()
            return 1.0

    ranking = {"q": {f"d{i}": Score() for i in range(20)}, "r": {f"d{i}": 1.0 for i in range(50)}}
    qrels = Qrels.from_dict({q: {f"d{i}": 1 for i in range(30)} for q in "qrs"})
    try:
        matched = match_of_dict(qrels, ranking)
    except RuntimeError as error:
        assert "changed size during iteration" in str(error)  # noqa: PT017
    else:
        assert len(matched.scores) == matched.lists.offsets[-1]


def test_many_queries_and_documents():
    random = np.random.default_rng(5)
    judgments = {f"q{q}": {f"doc-{d}": int(d % 3) for d in random.integers(0, 3000, 50)} for q in range(300)}
    ranking = {
        f"q{q}": {f"doc-{d}": float(d) for d in random.permutation(3000)[:200]} for q in range(100, 400)
    }
    qrels = Qrels.from_dict(judgments)
    check_match(match_of_dict(qrels, ranking), judgments, ranking)
    check_match(match(qrels, Run.from_dict(ranking)), judgments, ranking)


def test_match_refuses_documents_that_appear_twice():
    qrels = Qrels.from_dict({"q": {"d": 1}})
    ids = Identifiers.from_sequence
    queries, documents = ids(["q"]), ids(["d", "d", "d"])
    with pytest.raises(ValueError, match="twice"):
        _join.match(
            qrels.index, queries.data, queries.offsets, np.array([0, 3]), documents.data, documents.offsets
        )


@settings(deadline=None)
@given(st.lists(st.lists(identifier, max_size=30), max_size=5))
def test_duplicates(lists):
    documents = Identifiers.from_sequence([document for listed in lists for document in listed])
    offsets = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    expected = []
    for start, listed in zip(offsets.tolist(), lists, strict=False):
        for i, document in enumerate(listed):
            if listed.index(document) < i:
                expected.append([start + i, start + listed.index(document)])
    assert _join.duplicates(documents.data, documents.offsets, offsets).tolist() == expected
    assert _join.duplicates(documents.data, documents.offsets, offsets, True).tolist() == expected[:1]


@pytest.mark.parametrize("size", [10, 999, 1023, 1024, 1025, 5000])
@pytest.mark.parametrize("repeats", [0, 1, 2, 40])
def test_duplicates_in_long_lists(size, repeats):
    """Of which some have parts of their hashes in common, whatever the repeats."""
    random = np.random.default_rng(size)
    lists, expected = [], []
    for start in range(0, 3 * size, size):
        listed = [b"document %d" % d for d in random.permutation(3 * size)[:size]]
        rows = random.permutation(size)[: min(2 * repeats, size)].reshape(-1, 2)
        for row, first in np.sort(rows[:, ::-1], axis=1)[:, ::-1].tolist():
            listed[row] = listed[first]
            expected.append([start + row, start + first])
        lists += listed
    documents = Identifiers.from_sequence(lists)
    offsets = np.arange(0, 4 * size, size)
    expected.sort()
    assert _join.duplicates(documents.data, documents.offsets, offsets).tolist() == expected
    assert _join.duplicates(documents.data, documents.offsets, offsets, True).tolist() == expected[:1]


@settings(deadline=None)
@given(st.lists(identifier, max_size=60))
def test_numbers_of_identifiers(values):
    identifiers = Identifiers.from_sequence(values)
    numbers, firsts = _join.number(identifiers.data, identifiers.offsets)
    distinct = list(dict.fromkeys(values))
    assert numbers.tolist() == [distinct.index(value) for value in values]
    assert firsts.tolist() == [values.index(value) for value in distinct]


# ---- descending order -----------------------------------------------------------------------------


def check_order(lists):
    documents = Identifiers.from_sequence([document for listed in lists for document in listed])
    offsets = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    for descending in (True, False):
        order = _order.order(documents.data, documents.offsets, offsets, descending).tolist()
        for q, listed in enumerate(lists):
            # Python's sort is stable in reverse too.
            expected = sorted(range(len(listed)), key=listed.__getitem__, reverse=descending)
            assert order[offsets[q] : offsets[q + 1]] == expected


@settings(deadline=None)
@given(st.lists(st.lists(st.one_of(identifier, st.binary(max_size=20)), max_size=80), max_size=4))
def test_order(lists):
    check_order(lists)


def test_order_of_prefixes_and_of_many():
    check_order([[b"a", b"a\0", b"", b"a\0\0", b"aa", b"\xff", b"a" * 9, b"a" * 8, b"a" * 8 + b"\0"]])
    random = np.random.default_rng(2)
    common = b"clueweb09-en0000-"
    check_order([[common + b"%d" % i for i in random.permutation(5000)], [b"%d" % i for i in range(1000)]])
