"""Judgments of subtopics are read from dicts, TREC files and tables, and written as dicts."""

from __future__ import annotations

import io
import pickle

import numpy as np
import polars
import pytest
from support.errors import message_of

import tieaware
from tieaware import InputError, Qrels, read_qrels

NESTED = {"q2": {"b": {"d1": 1, "d3": 0}, "a": {"d1": 2}}, "q1": {"x": {"d9": 1}}}
LINES = b"q2 b d1 1\nq2 b d3 0\nq2 a d1 2\n\n# a comment\nq1 x d9 1\n"
RUN = {"q2": {"d1": 1.0, "d3": 1.0}, "q1": {"d8": 1.0, "d9": 1.0}}


def frame(column="subtopic"):
    rows = [(q, s, d, label) for q, subtopics in NESTED.items() for s, j in subtopics.items() for d, label in j.items()]
    return polars.DataFrame(rows, schema=["qid", column, "docno", "label"], orient="row")


@pytest.mark.parametrize(
    "qrels",
    [
        Qrels.from_dict(NESTED),
        read_qrels(io.BytesIO(LINES), subtopics=True),
        read_qrels(io.BytesIO(b"\xef\xbb\xbf" + LINES.replace(b"\n", b"\r\n")), subtopics=True),
        Qrels.from_frame(frame()),
        Qrels.from_frame(frame("aspect"), subtopic="aspect"),
        Qrels.from_arrow(frame().to_arrow()),
        read_qrels(frame("iteration"), subtopics=True),
    ],
)
def test_all_forms_are_the_same_judgments(qrels):
    assert qrels.to_dict() == NESTED
    assert (qrels.queries.to_list(), qrels.documents.to_list()) == (["q2", "q1"], ["d1", "d3", "d9"])
    # The label of a document is the highest of its labels.
    assert qrels.labels.tolist() == [2, 0, 1]
    copy = pickle.loads(pickle.dumps(qrels))
    assert copy.to_dict() == NESTED
    for judged in (qrels, copy):
        assert tieaware.evaluate(judged, RUN, "StRecall@1").values.tolist() == [[[0.5], [0.5]]]


def test_files_are_read_with_subtopics_if_a_measure_needs_them(tmp_path):
    """The same path is read without subtopics for other measures, where two labels of a document are an error."""
    path = tmp_path / "qrels.txt"
    path.write_bytes(LINES)
    assert tieaware.evaluate(path, RUN, ["StRecall@1", "P@1"]).values[0].tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert "document 'd1' of query 'q2' has label 2 here, but label 1" in message_of(
        tieaware.evaluate, path, RUN, "P@1"
    )
    table = tmp_path / "qrels.parquet"
    frame().write_parquet(table)
    assert tieaware.evaluate(table, RUN, "StRecall@1").values[0].tolist() == [[0.5], [0.5]]


def read_lines(lines, **options):
    return read_qrels(io.BytesIO(lines), subtopics=True, **options)


with_intents = Qrels.from_dict(NESTED).with_intents


@pytest.mark.parametrize(
    ("read", "given", "message"),
    [
        (read_lines, b"", 'the file has no lines of the form "query subtopic document label"'),
        (read_lines, b"q a d 1\nq a d\n", "2: a line of judgments has 4 fields"),
        (read_lines, b"q a d 1_0\n",
         "1: the label, field 4, must be a number from -2147483648 to 2147483647, not '1_0'"),
        (read_lines, b"q a d 5000000000\n", "1: the label, field 4, must be a number"),
        (read_lines, b"q Q0 d 1 2.5 bm25\n", "1: this is a line of a run"),
        (read_lines, b"q a d 1\nq b d 1\nq a d 0\n", "document 'd' of query 'q', subtopic 'a', has label 0 here, but"),
        (read_lines, b"".join(b"q s%d d 1\n" % i for i in range(65)),
         "query 'q' has 65 subtopics, but at most 64 are possible"),
        (Qrels.from_dict, {"q": {"a": {"d": 1}, "b": 1}}, "qrels['q']['b']: must be a dict {document: label}, not int"),
        (Qrels.from_dict, {"q": {"a": {"d": 1}}, "p": [1]},
         "qrels['p']: must be a dict {subtopic: {document: label}}, not list"),
        (Qrels.from_dict, {"q": {"a": {"d": 5e9}}}, "qrels['q']['a']['d']: expected"),
        (Qrels.from_dict, {"q": {"a": {"d": "x"}}}, "qrels['q']['a']['d']: expected"),
        (with_intents, {"q2": {"a": 1, "b": 1}}, "intents: has no weights for query 'q1'"),
        (with_intents, {"q2": {"a": 1}, "q1": {"x": 1}}, "intents['q2']['b']: is missing; give a weight, or 0"),
        (with_intents, {"q2": {"a": 1, "b": -1}, "q1": {"x": 1}},
         "intents['q2']['b']: must be a finite number of at least 0"),
        (with_intents, {"q2": {"a": 1, "b": "x"}, "q1": {"x": 1}}, "intents['q2']['b']: must be a number, not 'x'"),
        (with_intents, [1], "intents: must be a dict {query: {subtopic: weight}}, not list"),
        (Qrels.from_dict({"q": {"d": 1}}).with_intents, {}, "qrels: have no subtopics, so these have no weights"),
    ],
)  # fmt: skip
def test_unusable_subtopics_are_refused(read, given, message):
    assert message in message_of(read, given)


def test_missing_labels():
    """With missing="unjudged", a missing label is that of an unjudged document; otherwise it is an error."""
    lines = b"q a d1 1\nq a d2 nan\nq b d2 1\n"
    nested = {"q": {"a": {"d1": 1, "d2": float("nan")}, "b": {"d2": 1}}}
    for read, given in ((read_lines, lines), (Qrels.from_dict, nested)):
        assert read(given, missing="unjudged").to_dict() == {"q": {"a": {"d1": 1}, "b": {"d2": 1}}}
        with pytest.raises(InputError, match=r"nan|NaN"):
            read(given)


def test_sixty_four_subtopics():
    """The subtopics of a query may be as many as the kernels hold in one number."""
    qrels = {"q": {f"s{i}": {f"d{i}": 1, "all": 1} for i in range(64)}}
    run = {"q": {"d63": 3.0, "d7": 3.0, "other": 3.0, "all": 1.0}}
    result = tieaware.evaluate(qrels, run, ["StRecall@2", "StRecall@4", "P_IA@2"], spread=True)
    np.testing.assert_allclose(result.values[0, 0], [4 / 3 / 64, 1.0, 2 / 3 / 64], rtol=1e-14)
    assert result.max[0, 0].tolist() == [2 / 64, 1.0, 1 / 64]
