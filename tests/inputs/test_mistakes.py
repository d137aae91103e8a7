"""Mistakes of users: what is passed, and the one-line message that says what to do."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.errors import message_of
from support.matrices import sparse

import tieaware

nan = float("nan")
QRELS = {"q1": {"d1": 1, "d2": 0}}
RUN = {"q1": {"d1": 0.5, "d2": 0.25}}
FILES = {
    "qrels.txt": "q1 0 d1 1\nq1 0 d2 0\n",
    "bm25.run": "q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1.5 t\n",
    "half.qrels": "q1 0 d1 0.5\n",
    "empty.run": "",
    "words.run": "q1 Q0 d1 1 high t\n",
    "nan.run": "q1 Q0 d1 1 nan t\n",
    "twice.run": "q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n",
    "three.run": "q1 d1 0.5\n",
    "commas.run": "q1,d1,0.5\n",
    "run.json.txt": json.dumps(RUN),
    "rows.json": json.dumps([["q1", "d1", 1]]),
    "list.jsonl": '["q1", "d1", 1]\n',
    "dict.jsonl": json.dumps(RUN) + "\n",
    "header.csv": "q1,d1,0.5\nq1,d2,0.25\n",
    "semicolons.csv": "qid;docno;score\nq1;d1;1\n",
    "labels.csv": "query_id,doc_id,relevance\nq1,d1,1\n",
    "short.csv": "qid,docno,score\nq1,d1\n",
    "decimal.csv": 'qid,docno,score\nq1,d1,"0,5"\n',
    "empty.csv": "",
    "fake.parquet": "PAR1 and no more",
    "folder/.hidden": "",
    "parts/part-0": "q1 Q0 d1 1 2.5 t\n",
    "parts/part-1": "q1 Q0 d2 1 2.5\n",
}
FORMS = "{query: {document: value}}, a Run, (ids, scores), a table, a path, a binary file"
JUDGED = "{query: {document: value}}, Qrels, a sparse matrix, a table, a path, a binary file"
ROWS = "must not be a list of rows; pass pandas.DataFrame(rows)"
QUERIES = "name it query_id, qid, query, user_id, user, topic_id or topic"
FIRST = "to keep only the first row, pass"
LABEL = "a number from -2147483648 to 2147483647"
BELOW = "are all below rel=1, so no document is relevant (the highest is 0.5)"
IS_JSON = "this line is JSON: call a file of {query: {document: number}} .json, and one of JSON Lines .jsonl"
RUN_LINE, JUDGED_LINE = '"query Q0 document rank score tag"', '"query iteration document label"'


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    Path("nothing.gz").write_bytes(gzip.compress(b""))
    Path("cut.gz").write_bytes(gzip.compress(FILES["bm25.run"].encode())[:-9])
    os.mkdir("void")
    os.makedirs("hive/date=1")
    os.makedirs("unfinished/_temporary")


def frame(**changed):
    return pd.DataFrame({"qid": ["q1", "q1"], "docno": ["d1", "d2"], "score": [1.0, 2.0]} | changed)


def run_column(*names):
    return pl.DataFrame({"qid": ["q1"] * 2, "docno": ["d1"] * 2, "score": [1.0, 2.0], "run": list(names)})


# The run, and the message.
RUNS = [
    # Values of dicts.
    ({"q1": {"d1": nan}}, "run['q1']['d1']: expected a number, found NaN"),
    ({"q1": {"d1": None}}, "run['q1']['d1']: expected a number, found None"),
    ({"q1": {"d1": "0.5"}}, "run['q1']['d1']: expected a number, found '0.5'"),
    ({"q1": {"d1": 1j}}, "run['q1']['d1']: expected a number, found 1j"),
    ({"q1": {1: 1.0, "1": 2.0}}, "run['q1']['1']: document '1' of query 'q1' appears twice, first at run['q1'][1]; "
     f"{FIRST} Run.from_dict(run, duplicates='first')"),
    ({"q1": {1.5: 1.0}}, "documents of run[0]: expected text, bytes or an integer, found 1.5"),
    ({None: {"d1": 1.0}}, "queries of run[0]: expected text, bytes or an integer, found None"),
    # Wrong shapes.
    ({"q1": ["d1", "d2"]}, "d1: there is no such file"),
    ({"q1": [("d1", 0.5)]}, f"runs['q1']: must be a run ({FORMS}), not list"),
    ([{"qid": "q1", "docno": "d1", "score": 0.5}] * 2, f"runs: {ROWS}"),
    ({"bm25": ([1, 2, 3], [0.5, 0.25, 0.125])}, f"runs['bm25']: must be a run ({FORMS}), not tuple"),
    ({"q1": {"d1"}}, f"runs['q1']: must be a run ({FORMS}), not set"),
    ({"d1": 0.5}, f"runs['d1']: must be a run ({FORMS}), not float"),
    ([{"d1": 0.5}], "run['d1']: must be a dict {document: value}, not float"),
    ([("q1", "d1", 0.5)], f"runs: must be runs ({FORMS}), not tuple"),
    (None, f"runs: must be runs ({FORMS}), not NoneType"),
    (b"bm25.run", f"runs: must be runs ({FORMS}), not bytes"),
    (np.array([1.0, 2.0]), f"runs: must be runs ({FORMS}), not ndarray"),
    ([], "runs: there is no run"),
    ({1: "bm25.run"}, "runs: expected names that are strings, found 1"),
    (["bm25.run", "bm25.run"], "runs: two runs are named 'bm25.run'; name them with {name: run}"),
    # Identifiers that do not match.
    ({}, "run: no query of this run is judged in qrels: the run is empty"),
    ({"Q1": {"d1": 1.0}}, "run: no query of this run is judged in qrels: the run has 'Q1', the judgments 'q1'"),
    ({"bm25": {"Q1": {"d1": 1.0}}}, "bm25: no query of this run is judged in qrels: the run has 'Q1', the judgments "
     "'q1'"),
    (frame(qid=[1, 1]), "run: no query of this run is judged in qrels: the run has 1, the judgments 'q1'"),
    # Paths.
    ("none.run", "none.run: there is no such file"),
    ("", "the path is empty"),
    ("runs/*.run", "runs/*.run: no file matches this pattern"),
    ("void", "void: there are no run files in this folder"),
    ("folder/", "folder/: there are no run files in this folder"),
    ({"bm25": "void"}, "void: there are no part files in this folder"),
    ({"bm25": "unfinished"}, "unfinished: there are no part files in this folder"),
    ({"bm25": []}, "runs['bm25']: the list of files is empty"),
    ({"bm25": ["bm25.run", None]}, "runs['bm25'][1]: must be a path like the other parts, not NoneType"),
    ({"bm25": ["bm25.run", "none.run"]}, "none.run: there is no such file"),
    ({"bm25": ["none.run", "bm25.run"]}, "none.run: there is no such file"),
    ({"bm25": "none*.run"}, "none*.run: no file matches this pattern"),
    ({"bm25": ["bm25.run", {"q1": {"d1": 1.0}}]}, "runs['bm25'][1]: must be a path like the other parts, not dict"),
    ({"bm25": [frame(), frame()]}, f"runs['bm25']: must be a run ({FORMS}), not list"),
    ({"bm25": iter([frame()])}, f"runs['bm25']: must be a run ({FORMS}), not list_iterator"),
    ("hive", "hive: there are no run files in this folder, but folders: pass {name: folder} if each is a "
     "run, or {'name': 'hive/*/*'} if all are one"),
    ({"bm25": "parts"}, f"parts/part-1:1: a line of a run has 6 fields, {RUN_LINE}, but this line has 5"),
    ("s3://b/bm25.parquet", "s3://b/bm25.parquet: only local files can be read: download the file, or pass a data "
     "frame"),
    # Text files.
    ("qrels.txt", f"qrels.txt:1: this is a line of judgments, {JUDGED_LINE}, not of a run, {RUN_LINE}"),
    ("empty.run", f"empty.run: the file has no lines of the form {RUN_LINE}"),
    ("nothing.gz", f"nothing.gz: the file has no lines of the form {RUN_LINE}"),
    ("cut.gz", "cut.gz: truncated gzip data: the file ends before its end marker"),
    ("words.run", "words.run:1: the score, field 5, must be a number, not 'high'"),
    ("nan.run", "nan.run:1: the score, field 5, must be a number, not NaN"),
    ("twice.run", f"twice.run:2: document 'd1' of query 'q1' appears twice, first at twice.run:1; {FIRST} "
     "duplicates='first'"),
    ("three.run", f"three.run:1: a line of a run has 6 fields, {RUN_LINE}, but this line has 3"),
    ("commas.run", "commas.run:1: this line is separated by commas: call a file of comma-separated values .csv, and "
     "name its columns"),
    # Files of tables.
    ("run.json.txt", f"run.json.txt:1: {IS_JSON}"),
    ("rows.json", "rows.json: a .json file must contain an object {query: {document: number}}"),
    ("list.jsonl", "list.jsonl:1: the line must be a JSON object, not list"),
    ("dict.jsonl", f"dict.jsonl: there is no query column among q1: {QUERIES}"),
    ("header.csv", f"header.csv: there is no query column among q1, d1, 0.5 in the first line: {QUERIES}"),
    ("semicolons.csv", "semicolons.csv: the columns are separated by semicolons: separate the columns by "
     "commas, and write decimal points"),
    ("labels.csv", "labels.csv: there is no score column among query_id, doc_id, relevance in the first line, but "
     "relevance is a column of labels: are judgments and runs swapped? If not, name it score, rating, prediction or "
     "sim"),
    ("short.csv", "short.csv: row 0: has 2 fields, but the header has 3"),
    ("decimal.csv", "decimal.csv: score[0]: expected a number, found '0,5'"),
    ("empty.csv", "empty.csv: the table is empty, or its columns have no names"),
    # Data frames.
    (frame().rename(columns={"docno": "page"}), "run: there is no doc column among qid, page, score: name it doc_id, "
     "docno, did, doc, corpus-id, item_id, item, document_id, document, passage_id, pid or movie_id, or pass "
     "Run.from_frame(frame, doc=...)"),
    (frame(query=["a", "b"]), "run: qid and query may be the query column: pass Run.from_frame(frame, query='qid'), or "
     "the other name"),
    (frame(score=[1.0, nan]), "run: score[1]: expected a number, found NaN"),
    (frame(score=["1", "2"]), "run: score: expected a column of numbers, found text"),
    (frame(docno=["d1", "d1"]), f"run: docno[1]: document 'd1' of query 'q1' appears twice, first at run: docno[0]; "
     f"{FIRST} Run.from_frame(frame, duplicates='first')"),
    (frame(docno=["d1", "d1"], model=["a", "b"], rank=[1, 2]), "run: docno[1]: document 'd1' of query 'q1' appears "
     f"twice, first at run: docno[0]; {FIRST} Run.from_frame(frame, duplicates='first'); column model is not read: if "
     "it tells runs apart, name it run"),
    (frame(docno=["d1", "d1"], model=["a", "b"], fold=[1, 2]), "run: docno[1]: document 'd1' of query 'q1' appears "
     f"twice, first at run: docno[0]; {FIRST} Run.from_frame(frame, duplicates='first'); columns model, fold are not "
     "read: if one tells runs apart, name it run"),
    (frame(docno=["d1", "d1"], run=["a", "a"], model=["a", "b"]), "run: docno[1]: document 'd1' of query 'q1' appears "
     f"twice, first at run: docno[0]; {FIRST} Run.from_frame(frame, duplicates='first')"),
    (frame(docno=[1.0, 2.0]), "run: docno: expected a column of text, bytes or integers, found float64"),
    (pd.DataFrame(), "run: the table is empty, or its columns have no names"),
    (frame()["score"], "run: the table is empty, or its columns have no names"),
    ({"bm25": run_column("a", "b")}, "runs['bm25']: must be one run, not 2: a, b"),
]  # fmt: skip
# The judgments, and the message.
JUDGMENTS = [
    ({"q1": {"d1": 0.5}}, f"AP: labels: {BELOW}; write for example AP(rel=0.5)"),
    ({"q1": {f"d{i}": 0.5 - 0.01 * i for i in range(12)}},
     f"AP: labels: {BELOW}; write for example AP(rel=0.5); or are judgments and run swapped?"),
    ({"q1": {"d1": -1.5}},
     "AP: labels: are all below rel=1, so no document is relevant (the highest is 0)"),
    ({"q1": {"d1": float("nan")}},
     "qrels['q1']['d1']: is NaN; pass missing='unjudged' if NaN means that a document is not judged"),
    ({"q1": {"d1": "1"}}, f"qrels['q1']['d1']: expected {LABEL}, found '1'"),
    ({"q1": {"d1": None}}, f"qrels['q1']['d1']: expected {LABEL}, found None"),
    ({"q1": {"d1": np.inf}}, f"qrels['q1']['d1']: expected {LABEL}, found inf"),
    ({"q1": {"d1": 2.0**31, "d2": 0.5}}, f"qrels['q1']['d1']: expected {LABEL}, found 2147483648.0"),
    ({"q1": {"d1": 0.5, "d2": -(2.0**31) - 1}}, f"qrels['q1']['d2']: expected {LABEL}, found -2147483649.0"),
    ({"q1": {"d1": 2**40}}, f"qrels['q1']['d1']: expected {LABEL}, found 1099511627776"),
    ({"q1": ["d1", "d1"]}, "qrels['q1'][1]: document 'd1' appears twice, first at 0"),
    ({"q1": 1}, "qrels['q1']: must be a dict {document: value}, not int"),
    ({}, "run: no query of this run is judged in qrels: there are no judgments"),
    ({"301": {"d1": 1}}, "run: no query of this run is judged in qrels: the run has 'q1', the judgments '301'"),
    (None, f"qrels: must be judgments ({JUDGED}), not NoneType"),
    ([1, 0], f"qrels: must be judgments ({JUDGED}), not list"),
    ([{"query": "q1", "doc": "d1", "label": 1}], f"qrels: {ROWS}"),
    ([("q1", "d1", 1)], f"qrels: must be judgments ({JUDGED}), not list"),
    ("none.txt", "none.txt: there is no such file"),
    ("void", "void: there are no part files in this folder"),
    ([], "qrels: the list of files is empty"),
    ("half.qrels", f"AP: labels: {BELOW}; write for example AP(rel=0.5)"),
    ("bm25.run", f"bm25.run:1: this is a line of a run, {RUN_LINE}, not of judgments, {JUDGED_LINE}"),
    ("run.json.txt", f"run.json.txt:1: {IS_JSON}"),
    (frame(), None),
    (frame(score=[0.5, 1.0]), None),
    (frame(score=[0.5, np.nan]),
     "qrels: score[1]: is NaN; pass missing='unjudged' if NaN means that a document is not judged"),
]  # fmt: skip
UNJUDGED_OR = "missing: expected one of unjudged, found 'zero'"
ARROW = "must be a table with the Arrow PyCapsule interface (__arrow_c_stream__)"
MATRIX = sparse(np.eye(2) > 0, np.eye(2))
# Calls, and their messages.
CALLS = [
    (lambda: tieaware.Run.from_frame(frame(), query="topic"),
     "run: there is no column 'topic' for query among qid, docno, score"),
    (lambda: tieaware.Run.from_columns(["q1"], ["d1", "d2"], [1.0]),
     "doc: must have as many values as query: 1, not 2"),
    (lambda: tieaware.Run.from_columns("q1", ["d1"], [1.0]), "query: expected a sequence of identifiers, found 'q1'"),
    (lambda: tieaware.Run.from_columns(["q1"], ["d1"], [[1.0]]), "score[0]: expected a number, found [1.0]"),
    (lambda: tieaware.evaluate(pd.DataFrame({"qid": [1], "docno": ["d1"], "label": [1]}), frame(qid=["1"] * 2), "AP"),
     "run.query: has text such as '1', but qrels has integers such as 1: make both text, or both integers"),
    (lambda: tieaware.read_run(["void", "bm25.run"]), "void: there are no part files in this folder"),
    (lambda: tieaware.read_run("parts"),
     f"parts/part-1:1: a line of a run has 6 fields, {RUN_LINE}, but this line has 5"),
    (lambda: tieaware.evaluate(QRELS, tieaware.Qrels.from_dict(QRELS), "AP"), f"runs: must be runs ({FORMS}), not "
     "Qrels"),
    (lambda: tieaware.evaluate(tieaware.Run.from_dict(RUN), RUN, "AP"), f"qrels: must be judgments ({JUDGED}), not "
     "Run"),
    (lambda: tieaware.evaluate(QRELS, [RUN, RUN], "AP"), "runs: two runs are named 'run'; name them with {name: run}"),
    # Options.
    (lambda: tieaware.evaluate(QRELS, RUN, "AP", ties="averge"), "ties: expected one of average, run_order, trec_eval, "
     "docid_ascending, optimistic, pessimistic, found 'averge'; did you mean average?"),
    (lambda: tieaware.evaluate(QRELS, RUN, "AP", queries="all"),
     "queries: expected one of judged, both, shard, found 'all'"),
    (lambda: tieaware.evaluate(QRELS, RUN, "AP", queries=["q1"]),
     "queries: expected one of judged, both, shard, found ['q1']"),
    (lambda: tieaware.evaluate(QRELS, RUN, "AP", threads=0),
     "threads: expected a whole number from 1 to 1,024, found 0; None means one per core"),
    (lambda: tieaware.evaluate(QRELS, RUN, []), "measures: must include at least one measure, such as 'nDCG@10'"),
    (lambda: tieaware.evaluate(QRELS, RUN, "AP", missing="zero"), UNJUDGED_OR),
    (lambda: tieaware.Qrels.from_arrow(pl.from_pandas(frame()), missing="zero"), UNJUDGED_OR),
    (lambda: tieaware.read_qrels("qrels.txt", missing="zero"), UNJUDGED_OR),
    (lambda: tieaware.evaluate(QRELS, RUN, "RR", order="rank"), "order: expected one of score, file, found 'rank'"),
    (lambda: tieaware.read_run("bm25.run", score_dtype="half"),
     "score_dtype: expected one of float64, float32, found 'half'"),
    (lambda: tieaware.read_run("bm25.run", duplicates="last"),
     "duplicates: expected one of error, first, found 'last'"),
    # Arguments of another type.
    (lambda: tieaware.Run.from_arrow(5), f"run: {ARROW}, not int"),
    (lambda: tieaware.Run.from_arrow({"q": {"d": 1}}), f"run: {ARROW}, not dict"),
    (lambda: tieaware.Run.from_topk([["a"]], [[1.0]], documents=["a"]),
     "ids: must be the numbers of the documents, because documents gives their names"),
    (lambda: tieaware.Run.from_topk([[7]], [[1.0]], documents=["a", "b"]),
     "ids[0, 0]: 7 is not one of the 2 documents; ids are document numbers from 0; documents= must have a name for "
     "each of them"),
    (lambda: tieaware.Qrels.from_sparse(MATRIX, queries=["a"]),
     "queries: must have one name for each of the 2 rows of relevance; found 1"),
    (lambda: tieaware.Qrels.from_sparse(MATRIX, documents="ab"), "documents: expected a sequence of identifiers, found "
     "'ab'"),
    (lambda: tieaware.Qrels.from_sparse(MATRIX, documents=["d", "d"]),
     "documents[1]: 'd' appears twice, first at documents[0]"),
    # Columns of tables.
    (lambda: tieaware.Qrels.from_frame(frame(qid=pd.array([1, None], "Int64")), missing="unjudged"),
     "qrels: qid[1]: the value is missing"),
    (lambda: tieaware.Qrels.from_frame(frame(docno=["d1", "d1"])),
     "qrels: docno[1]: document 'd1' of query 'q1' has label 2 here, but label 1 at qrels: docno[0]"),
    (lambda: tieaware.Run.from_frame(frame().rename(columns={"qid": "Query_ID"}), query="query_id"),
     "run: there is no column 'query_id' for query among Query_ID, docno, score"),
    (lambda: tieaware.evaluate(QRELS, pl.from_pandas(frame(sim=1.0)).lazy(), "AP"),
     "run: score and sim may be the score column: rename or drop one of them"),
    (lambda: tieaware.evaluate(QRELS, pl.from_pandas(frame(other=1.0)).drop("score").lazy(), "AP"),
     "run: there is no score column among qid, docno, other: name it score, rating, prediction or sim, or pass "
     "frame.rename({'other': 'score'})"),
    (lambda: tieaware.evaluate(QRELS, pl.from_pandas(frame(other=1, x=1.0)).drop("score").lazy(), "AP"),
     "run: there is no score column among qid, docno, other, x: name it score, rating, prediction or sim, or pass "
     "frame.rename({'...': 'score'})"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:labels. .* is negative")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        *((lambda run=run: tieaware.evaluate(QRELS, run, "AP"), message) for run, message in RUNS),
        *((lambda qrels=qrels: tieaware.evaluate(qrels, RUN, "AP"), message) for qrels, message in JUDGMENTS),
        *CALLS,
    ],
)
def test_mistakes(call, message, files):
    """Without a message, the call gives no error, and no warning either."""
    if message is None:
        call()
    else:
        assert message_of(call) == message


def test_a_stream_that_was_read_before():
    stream = pl.from_pandas(frame()).to_arrow().to_reader()
    tieaware.evaluate(QRELS, stream, "AP")
    assert message_of(tieaware.evaluate, QRELS, stream, "AP") == (
        "run: no query of this run is judged in qrels: the run is empty, or was read before"
    )
