"""Judgments as columns: from dicts, with and without the kernel, from columns, and invalid input."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.columns import as_dict
from support.errors import message_of

from tieaware.inputs import Qrels
from tieaware.kernels import _dicts

nan = float("nan")
LABEL = "a number from -2147483648 to 2147483647"
IS_NAN = "is NaN; pass missing='unjudged' if NaN means that a document is not judged"


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
    """A judgment that is given twice counts once."""
    qrels = Qrels.from_columns([2, 1, 2, 2], ["b", "b", "a", "b"], np.array([1, 2, 3, 1], np.uint64))
    assert as_dict(qrels, qrels.labels) == {b"2": {b"b": 1, b"a": 3}, b"1": {b"b": 2}}
    assert message_of(Qrels.from_columns, ["q", "r", "q"], ["d", "d", "d"], [1, 2, 3]) == (
        "doc[2]: document 'd' of query 'q' has label 3 here, but label 1 at doc[0]"
    )


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ([1, 2.0**31 + 0.5], f"label[1]: expected {LABEL}, found 2147483648.5"),
        ([1, nan], f"label[1]: {IS_NAN}"),
        ([1, "1"], f"label[1]: expected {LABEL}, found '1'"),
        ([1, None], f"label[1]: expected {LABEL}, found None"),
        (np.array([1.0, np.inf]), f"label[1]: expected {LABEL}, found inf"),
        ([1, 2**31], f"label[1]: expected {LABEL}, found 2147483648"),
        (np.array([1, 2**31], "f4"), f"label[1]: expected {LABEL}, found 2147483648.0"),
        ([2**64, 1], f"label[0]: expected {LABEL}, found 18446744073709551616"),
        ([np.float16(1.0), -(2**70)], f"label[1]: expected {LABEL}, found -{2**70}"),
        ([np.float16(0.5), 10**400], f"label[1]: expected {LABEL}, found 1{'0' * 37}...{'0' * 39}"),
        ([1, [2, 3]], f"label[1]: expected {LABEL}, found [2, 3]"),
        ([[1], [2]], f"label[0]: expected {LABEL}, found [1]"),
        ([1, 2, 3], "label: must have as many values as query: 2, not 3"),
        (5, "label: expected a sequence, found 5"),
        (np.ones((2, 1), int), "label: expected a one-dimensional array, found shape (2, 1)"),
    ],
)
def test_bad_labels(label, message):
    assert message_of(Qrels.from_columns, ["q", "q"], ["d", "e"], label) == message


@pytest.mark.parametrize(
    ("judged", "message"),
    [
        ({b"d": 1, "d": 2},
         "qrels['q']['d']: document 'd' of query 'q' has label 2 here, but label 1 at qrels['q'][b'd']"),
        ({b"d": 0.5, "d": 1},
         "qrels['q']['d']: document 'd' of query 'q' has label 1.0 here, but label 0.5 at qrels['q'][b'd']"),
        ({"c": 1, "d": nan}, f"qrels['q']['d']: {IS_NAN}"),
        ({"c": 1, "d": [1]}, f"qrels['q']['d']: expected {LABEL}, found [1]"),
        ({"c": 1, "d": "1"}, f"qrels['q']['d']: expected {LABEL}, found '1'"),
        ({"c": 1, "d": np.inf}, f"qrels['q']['d']: expected {LABEL}, found inf"),
        (["d", "e", "d"], "qrels['q'][2]: document 'd' appears twice, first at 0"),
        ((7, 8, 8), "qrels['q'][2]: document 8 appears twice, first at 1"),
        (["d", ["e"]], "qrels['q'][1]: expected text, bytes or an integer, found ['e']"),
        ({1.5}, "documents of qrels[0]: expected text, bytes or an integer, found 1.5"),
        ("d1", "qrels['q']: must be a dict {document: value}, not str"),
    ],
)  # fmt: skip
def test_bad_judgments_of_a_query(judged, message):
    assert message_of(Qrels.from_dict, {"q": judged}) == message


def test_whole_floats_are_labels():
    """A column of integers becomes one of floats in pandas if a value is missing, so whole floats must be accepted."""
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
    """Each query may have a collection of relevant documents, as in beir and mteb; other queries may have labels."""
    named = ["d1", "d2", 3]
    qrels = Qrels.from_dict({"q1": form(named), "q2": {"d1": 0}, "q3": form([])})
    assert {q: dict(sorted(listed.items())) for q, listed in as_dict(qrels, qrels.labels).items()} == {
        b"q1": {b"3": 1, b"d1": 1, b"d2": 1}, b"q2": {b"d1": 0}, b"q3": {},
    }  # fmt: skip


def test_the_index_is_built_once():
    qrels = Qrels.from_dict({"q": {f"d{i}": 1 for i in range(1000)}})
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: qrels.index, range(8)))
    assert len({id(index) for index in found}) == 1
    assert qrels.index.n_queries == 1


PLAIN_JUDGMENTS = {
    "q1": {"d1": 1, "d2": 0, "": -3},
    "größe": {"日本": 2**31 - 1, "d1": -(2**31), "x" * 300: 4},
    "empty": {},
    "": {f"d{i}": i for i in range(1000)},
}


@pytest.mark.parametrize("judgments", [PLAIN_JUDGMENTS, {}, {"q": {}}, {"q": {"d": 1}}])
def test_the_kernel_converts_plain_dicts_like_other_mappings(judgments):
    """The kernel converts dicts of str and int; Python code converts all others, with the same result."""
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
    """Text that equals only itself, so that a dict can have two keys with the same characters."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other):
        return self is other


@pytest.mark.parametrize(
    "judgments",
    [
        {"q": {"d": 2**31}}, {"q": {"d": -(2**31) - 1}}, {"q": {"d": 2**70}}, {"q": {"d": np.bool_(1)}},
        {"q": {"c": 0.5, "d": 2**31}}, {"q": {"c": 0.5, "d": nan}},
        {"q": {"d": nan}}, {"q": {"d": 2.0**31}}, {"q": {"d": -(2.0**31) - 1}}, {"q": {"d": np.inf}},
        {"q": {1: 1}}, {1: {"d": 1}}, {"q": [1]}, {"q": {"\ud800": 1}}, {"\ud800": {}}, {Text("q"): {}, Text("q"): {}},
        {"q": {Text("d"): 1, Text("d"): 2}},
    ],
)  # fmt: skip
def test_the_kernel_declines_judgments_that_are_not_plain(judgments):
    assert _dicts.columns_of(judgments) is None


def test_judgments_are_exported_as_a_dict():
    judged = {"q2": {"d1": 1, "d0": -2}, "q1": {"d1": 0}}
    assert Qrels.from_dict(judged).to_dict() == judged
    assert list(Qrels.from_dict(judged).to_dict()) == ["q2", "q1"]
    assert Qrels.from_columns([1, 1], [7, 5], [1, 2]).to_dict() == {1: {7: 1, 5: 2}}
    assert Qrels.from_dict({"q1": {}}).to_dict() == {"q1": {}}
