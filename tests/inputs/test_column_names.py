"""Recognition of columns by their usual names, in any spelling, and the lists of these names in the documentation."""

import inspect
import re
from pathlib import Path

import polars as pl
import pytest
from support.errors import message_of

import tieaware
from tieaware.inputs import Qrels, Run
from tieaware.inputs.tables.column_names import is_header, usual_names

PAGE = Path(__file__).parents[2] / "docs" / "data.md"
COLUMNS = {"query": "query", "doc": "document", "score": "score, in runs", "label": "label, in judgments"}


@pytest.mark.parametrize("query", ["qid", "Query_ID", "QUERY-ID", "q id", "userId", "Topic", "topic_id", "TopicID"])
@pytest.mark.parametrize("doc", ["docid", "DocNo", "document", "Document ID", "pid", "PassageId", "itemId", "movieId"])
def test_names_in_any_spelling(query, doc):
    rows = {query: ["q1", "q1"], doc: ["d1", "d2"]}
    run = Run.from_frame(pl.DataFrame({**rows, "Score": [2, 1], "System": ["bm25", "bm25"]}))
    assert (run.name, run.to_dict()) == ("bm25", {"q1": {"d1": 2, "d2": 1}})
    qrels = Qrels.from_frame(pl.DataFrame({**rows, "Relevance": [2, 1]}))
    assert (qrels.queries.to_list(), qrels.labels.tolist()) == (["q1"], [2, 1])


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        # PyTerrier's frames have an internal number beside the identifier.
        (("qid", "docid", "docno", "score"), "docno"),
        (("qid", "DOCNO", "docid", "score"), "DOCNO"),
        (("qid", "document", "docno", "score"), "docno"),
        (("qid", "Document", "DOCID", "docno", "score"), "docno"),
    ],
)
def test_docno_comes_before_docid_and_document(names, expected):
    frame = pl.DataFrame({name: [1.0] if name == "score" else [name] for name in names})
    assert Run.from_frame(frame).documents.to_list() == [expected]


@pytest.mark.parametrize(
    ("names", "several", "argument"),
    [
        (("query", "Query_ID", "docno", "score"), ("query", "Query_ID"), "query"),
        (("qid", "query", "docno", "score"), ("qid", "query"), "query"),
        (("qid", "doc", "docid", "score"), ("doc", "docid"), "doc"),
        (("qid", "pid", "Document", "score"), ("pid", "Document"), "doc"),
        (("qid", "DocId", "ITEM", "score"), ("DocId", "ITEM"), "doc"),
        (("qid", "docid", "SCORE", "Rating"), ("SCORE", "Rating"), "score"),
        # The same pairs in several spellings.
        (("qid", "docid", "item_id", "score"), ("docid", "item_id"), "doc"),
        (("qid", "doc_id", "item_id", "score"), ("doc_id", "item_id"), "doc"),
        (("userId", "query", "docno", "score"), ("userId", "query"), "query"),
        (("user_id", "query", "docno", "score"), ("user_id", "query"), "query"),
        (("query", "topic", "docno", "score"), ("query", "topic"), "query"),
        (("user_id", "topic", "docno", "score"), ("user_id", "topic"), "query"),
        (("topic", "query_id", "docno", "score"), ("topic", "query_id"), "query"),
        (("qid", "document", "doc_id", "score"), ("document", "doc_id"), "doc"),
        (("qid", "doc_id", "DocID", "score"), ("doc_id", "DocID"), "doc"),
        (("qid", "docno", "item_id", "score"), ("docno", "item_id"), "doc"),
        (("qid", "docno", "score", "Rating"), ("score", "Rating"), "score"),
    ],
)
def test_ambiguous_names(names, several, argument):
    frame = pl.DataFrame({name: ["1"] for name in names})
    remedy = f"pass Run.from_frame(frame, {argument}={several[0]!r}), or the other name"
    assert message_of(Run.from_frame, frame) == (
        f"run: {several[0]} and {several[1]} may be the {argument} column: {remedy}"
    )


def test_headers_of_files():
    assert is_header(["query-id", "corpus-id", "score"])
    assert is_header(["Topic", "DOCID", "Label"])
    assert not is_header(["q1", "0", "doc1", "1"])
    assert not is_header(["query", "Q0", "d1", "1", "2.5", "tag"])


@pytest.mark.parametrize("argument", ["query", "doc", "score", "label", "run"])
def test_the_documentation_lists_the_names(argument):
    title = COLUMNS.get(argument, "run, if a table holds several")
    (row,) = re.findall(rf"^\| {title} \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    names = usual_names(argument)
    assert row.replace("`", "").split() == names
    for reader in (Run.from_frame, Qrels.from_frame):
        if argument in inspect.signature(reader).parameters:
            docstring = " ".join(inspect.getdoc(reader).split())
            last = "and" if argument == "run" else "or"
            assert f"{', '.join(names[:-1])} {last} {names[-1]}" in docstring


LAZY = pl.DataFrame({"qid": ["q1"] * 2, "docno": ["d1", "d2"], "pred": [1.0, 1.0]})


def renamings(table):
    """Return what the error of a table without a score column says to pass."""
    message = message_of(tieaware.evaluate, {"q1": {"d1": 1}}, table, "AP")
    return message.partition("name it score, rating, prediction or sim")[2]


def test_a_lazy_table_is_renamed_without_reading_it(tmp_path, monkeypatch):
    """Run.from_frame would hold all rows in memory, so the errors of these tables do not advise it."""
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    LAZY.write_parquet("a.parquet")
    LAZY.write_ipc("a.arrow")
    expected = {
        "frame": (LAZY.lazy(), "pass frame.rename({'pred': 'score'})"),
        "relation": (duckdb.sql("FROM 'a.parquet'"), "pass relation.select('*, pred AS score')"),
        "parquet": ("a.parquet", "in Python pass polars.scan_parquet('a.parquet').rename({'pred': 'score'})"),
        "arrow": ("a.arrow", "in Python pass polars.scan_ipc('a.arrow').rename({'pred': 'score'})"),
    }
    for name, (table, remedy) in expected.items():
        assert renamings(table) == f", or {remedy}"
        run = eval(remedy.partition("pass ")[2], {"polars": pl, name: table})
        assert tieaware.evaluate({"q1": {"d1": 1}}, run, "AP").mean() == 0.75
    dataset = pytest.importorskip("pyarrow.dataset")
    assert renamings(dataset.dataset("a.parquet")) == ""
    assert renamings(LAZY) == ", or pass Run.from_frame(frame, score=...)"
