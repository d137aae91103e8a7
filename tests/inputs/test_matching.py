"""The join of judgments and runs, compared with one in plain Python; and documents that appear twice."""

from __future__ import annotations

from collections import OrderedDict, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.columns import identifier
from support.errors import message_of

from tieaware.inputs import Identifiers, Qrels, Run, RunDict, match
from tieaware.kernels import _identifiers, _join

qrels_dicts = st.dictionaries(identifier, st.dictionaries(identifier, st.integers(-2, 3), max_size=12), max_size=6)
run_dicts = st.dictionaries(
    identifier, st.dictionaries(identifier, st.floats(allow_nan=False), max_size=20), max_size=6
)


def match_of_dict(qrels, run):
    return match(qrels, RunDict(run))


def plain_match(qrels, run):
    """Join in plain Python, from dicts of bytes: rows, judged_offsets, judged_positions and judged_labels."""
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


def decoded(lists):
    return {
        query.decode("latin-1"): {document.decode("latin-1"): value for document, value in listed.items()}
        for query, listed in lists.items()
    }


@settings(deadline=None)
@given(qrels_dicts, run_dicts)
def test_match(judgments, ranking):
    qrels = Qrels.from_dict(judgments)
    check_match(match(qrels, Run.from_dict(ranking)), judgments, ranking)
    check_match(match_of_dict(qrels, ranking), judgments, ranking)
    judged_text, text = decoded(judgments), decoded(ranking)
    check_match(match_of_dict(Qrels.from_dict(judged_text), text), judged_text, text)


@pytest.mark.parametrize(
    "ranking",
    [
        {"q": {"x": 1.0, "é": 2, "d": np.float32(3), "e": np.int64(4)}},
        {"q": {"\udcff": 1.0, "d": 2.0}},
        {"q": OrderedDict(d=1.0, x=2.0)},
        {"q": OrderedDict(e=2.0, d=1.0)},
        OrderedDict(q={"d": 1.0}),
        {"q": defaultdict(float, d=1.0)},
        {"p": {}, "q": {"d": True}},
        {np.str_("q"): {np.str_("d"): np.float64(1.5)}},
        {},
    ],
)
def test_a_dict_is_matched_directly_and_accepts_the_values_of_from_dict(ranking):
    judgments = {"q": {"d": 1, "e": 2, "é": 3, "7": 4, "\udcff": 5}}
    check_match(match_of_dict(Qrels.from_dict(judgments), ranking), judgments, ranking)


def test_an_ordered_dict_is_read_in_its_own_order():
    """Its order may differ from that of the dict that it is."""
    ranking = {"q": OrderedDict(d=1.0, e=2.0)}
    ranking["q"].move_to_end("d")
    check_match(match_of_dict(Qrels.from_dict({"q": {"d": 1, "e": 2}}), ranking), {"q": {"d": 1, "e": 2}}, ranking)


def test_integers_find_judgments_of_text():
    matched = match_of_dict(Qrels.from_dict({"q": {"d": 1, "7": 4}}), {"q": {7: 1.0, "d": 2.0}})
    assert matched.lists.labels.tolist() == [4, 1]


def exchange_queries(ranking):
    ranking.pop("r", None)
    ranking["s"] = {f"d{i}": 1.0 for i in range(100)}


def exchange_documents(ranking):
    ranking["q"].pop("d3", None)
    ranking["q"][f"d{len(ranking['q'])} more"] = 2.0


CHANGES = [
    lambda ranking: ranking["q"].clear(),
    lambda ranking: ranking["q"].update((f"new {i}", 1.0) for i in range(1000)),
    exchange_queries,
    exchange_documents,
    lambda ranking: ranking.clear(),
]


@pytest.mark.parametrize("change", CHANGES)
def test_scores_that_change_the_dict_while_it_is_read(change):
    """Each change leads to an error or to consistent arrays, never to a crash."""

    class Score:
        def __float__(self):
            change(ranking)
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
    ranking = {f"q{q}": {f"doc-{d}": float(d) for d in random.permutation(3000)[:200]} for q in range(100, 400)}
    qrels = Qrels.from_dict(judgments)
    check_match(match_of_dict(qrels, ranking), judgments, ranking)
    check_match(match(qrels, Run.from_dict(ranking)), judgments, ranking)


@pytest.mark.parametrize("text", ["d", "é", "日本", "\U0001f600", "a longer identifier of a document", "", "\0"])
def test_keys_of_any_kind_find_judgments_of_str(text):
    """Python's hash of a key tells that a document is not judged only if the key is a plain str."""

    class Key(str):
        __slots__ = ()

        def __hash__(self):
            return 7

    judged = {"q": {text: 2, f"{text} too": 1, "é, not found": 1}, "r": {text: 3}}
    for key in (text, "".join(list(text)), Key(text), text.encode()):
        for query in ("q", Key("q")):
            run = {query: {"x": 3.0, key: 2.0, "日": 1.0, f"{text} too": 0.5}, "s": {text: 1.0}}
            matched = match_of_dict(Qrels.from_dict(judged), run)
            assert matched.rows.tolist() == [0, -1]
            assert (matched.lists.positions.tolist(), matched.lists.labels.tolist()) == ([1, 3], [2, 1])


@pytest.mark.parametrize("query", ["q", "not judged"])
def test_a_str_without_utf_8_form_is_refused_whether_its_query_is_judged_or_not(query):
    found = message_of(match_of_dict, Qrels.from_dict({"q": {"d": 1}}), {query: {"d": 1.0, "\ud800": 0.5}})
    assert found.endswith("cannot be encoded as UTF-8")


def test_too_many_documents_for_an_index_are_refused():
    """The offsets claim 2^31 - 1 rows for a query; the error comes before any row is read."""
    documents, offsets, beyond = np.zeros(1, np.uint8), np.array([0, 1]), np.array([0, 2**31 - 1])
    for call, *more in (
        (_identifiers.duplicates, np.zeros(2, np.int64), beyond),
        (_join.Index, offsets, beyond, documents, offsets, np.zeros(1, np.int32)),
    ):
        found = message_of(call, documents, *more)
        assert found == "documents: a query has 2147483647 documents, but the limit is 2147483646"


def test_match_refuses_documents_that_appear_twice():
    qrels = Qrels.from_dict({"q": {"d": 1}})
    ids = Identifiers.from_sequence
    queries, documents = ids(["q"]), ids(["d", "d", "d"])
    with pytest.raises(ValueError, match="twice"):
        _join.match(qrels.index, queries.data, queries.offsets, np.array([0, 3]), documents.data, documents.offsets)


def test_an_index_refuses_columns_of_other_types():
    """The index reads the memory of its columns, so another type or layout would be misread."""
    columns = np.array([113, 114], np.uint8), np.array([0, 1, 2])
    good = (*columns, np.array([0, 1, 2]), *columns, np.array([1, 0], np.int32), np.zeros(2, np.uint64))
    assert _join.Index(*good).n_queries == _join.Index(*good[:6]).n_queries == 2
    for i, column in enumerate(good):
        other = {"u1": np.int8, "i4": np.int64, "i8": np.uint64, "u8": np.int64}[column.dtype.str[1:]]
        for wrong in (column.astype(other), column.repeat(2)[::2], column[None]):
            with pytest.raises(ValueError, match="type"):
                _join.Index(*good[:i], wrong, *good[i + 1 :])
    with pytest.raises(ValueError, match="length"):
        _join.Index(*good[:6], np.zeros(3, np.uint64))


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
    assert _identifiers.duplicates(documents.data, documents.offsets, offsets).tolist() == expected
    assert _identifiers.duplicates(documents.data, documents.offsets, offsets, True).tolist() == expected[:1]


@pytest.mark.parametrize("size", [10, 999, 1023, 1024, 1025, 5000])
@pytest.mark.parametrize("repeats", [0, 1, 2, 40])
def test_duplicates_in_long_lists(size, repeats):
    """Some documents share bits of their hashes, and any document may be repeated."""
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
    assert _identifiers.duplicates(documents.data, documents.offsets, offsets).tolist() == expected
    assert _identifiers.duplicates(documents.data, documents.offsets, offsets, True).tolist() == expected[:1]
