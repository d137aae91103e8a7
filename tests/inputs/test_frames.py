"""Judgments and runs in data frames and Arrow tables: the values of files, and error messages."""

import sys

import duckdb
import nanoarrow
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.errors import message_of

import tieaware
from tieaware.inputs import Qrels, Run, read_qrels, read_run

MEASURES = ["AP", "nDCG@10", "RR", "Bpref"]
QUERY = [f"q{i // 50}" for i in range(1000)]
DOC = [f"doc{i * 7919 % 1009}" for i in range(1000)]
SCORE = [(i * 31 % 17) / 8 for i in range(1000)]
LABEL = [i * 7 % 5 // 3 for i in range(1000)]
TEXT = {"query_id": QUERY, "doc_id": DOC}


def in_chunks(table):
    """Cut a table into chunks of other lengths for each column."""
    return pa.table(
        {
            name: pa.chunked_array([table[name].slice(i, step).combine_chunks() for i in range(0, len(table), step)])
            for name, step in zip(table.column_names, (33, 7, 100, 55), strict=False)
        }
    )


def pandas_as(*kinds):
    return lambda rows: pd.DataFrame(rows).astype(dict(zip(("query_id", "doc_id"), kinds, strict=True)))


DOORS = {
    "pyarrow": pa.table,
    "record batch": lambda rows: pa.table(rows).to_batches()[0],
    "reader": lambda rows: pa.table(rows).to_reader(max_chunksize=77),
    "chunks": lambda rows: in_chunks(pa.table(rows)),
    "slice": lambda rows: pa.table({name: [values[0], *values] for name, values in rows.items()}).slice(1),
    "dictionaries": lambda rows: pa.table({**rows, **{k: pa.array(rows[k]).dictionary_encode() for k in TEXT}}),
    "views": lambda rows: pa.table({**rows, **{name: pa.array(rows[name], pa.string_view()) for name in TEXT}}),
    "nanoarrow": lambda rows: nanoarrow.ArrayStream(pa.table(rows)),
    "duckdb": lambda rows: duckdb.from_arrow(pa.table(rows)),
    "polars": pl.DataFrame,
    "polars in chunks": lambda rows: pl.concat([pl.DataFrame(rows)[:300], pl.DataFrame(rows)[300:]], rechunk=False),
    "polars lazy": lambda rows: pl.DataFrame(rows).lazy(),
    "polars categorical": lambda rows: pl.DataFrame(rows).with_columns(pl.col(*TEXT).cast(pl.Categorical)),
    "polars enum": lambda rows: pl.DataFrame(rows).with_columns(pl.col("query_id").cast(pl.Enum(sorted(set(QUERY))))),
    "pandas": pd.DataFrame,
    "pandas object": pandas_as(object, object),
    "pandas string[python]": pandas_as("string[python]", "string[python]"),
    "pandas string[pyarrow]": pandas_as("string[pyarrow]", "string[pyarrow]"),
    "pandas categorical": pandas_as("category", "category"),
    "pandas ArrowDtype": pandas_as(pd.ArrowDtype(pa.string()), pd.ArrowDtype(pa.large_string())),
    "pandas strided": lambda rows: pd.DataFrame({k: np.repeat(v, 2) for k, v in rows.items()}).iloc[::2],
}  # fmt: skip


@pytest.fixture(scope="module")
def expected():
    return tieaware.evaluate(
        Qrels.from_columns(QUERY, DOC, LABEL), Run.from_columns(QUERY, DOC, SCORE), MEASURES
    ).values  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_every_kind_of_table(door, expected, monkeypatch):
    """One chunk with one thread, and chunks of a few queries with two threads, give the same bits."""
    made = DOORS[door]
    judged, run = {**TEXT, "relevance": LABEL}, {**TEXT, "score": SCORE}
    for threads, part in ((1, 1 << 16), (2, 120)):
        monkeypatch.setattr("tieaware.inputs.runs.streamed.CHUNK_ROWS", part)
        result = tieaware.evaluate(made(judged), made(run), MEASURES, threads=threads)
        assert result.values.tobytes() == expected.tobytes()
        assert (result.runs, result.queries[:2]) == (("run",), ("q0", "q1"))
    assert read_qrels(made(judged)).labels.tolist() == LABEL
    assert read_run(made(run), "float32").scores.tolist() == SCORE
    whole = Run.from_frame(made(run), name="mine")
    assert (whole.name, whole.documents.to_list(), whole.scores.tolist()) == ("mine", DOC, SCORE)


def test_a_stream_with_a_query_that_reappears(monkeypatch):
    """A stream can be read only once, so this is an error that names the row, unless the stream fits in one chunk."""
    table = pa.table({"qid": ["a", "a", "b", "b", "a"], "docno": list("vwxyz"), "score": [1.0] * 5})
    qrels = {"a": {"z": 1}}
    assert tieaware.evaluate(qrels, table.to_reader(), "P@3").mean().item() == pytest.approx(1 / 3)
    for size in (1, 2, 3):
        monkeypatch.setattr("tieaware.inputs.runs.streamed.CHUNK_ROWS", 2)
        for threads in (1, 2):
            assert message_of(tieaware.evaluate, qrels, table.to_reader(max_chunksize=size), "AP", threads=threads) == (
                "run: qid[4]: query 'a' reappears after another query in a stream that can be read only once: sort it "
                "by query, or pass a table"
            )
        assert tieaware.evaluate(qrels, table, "P@3").mean().item() == pytest.approx(1 / 3)
    reader = table.slice(0, 4).to_reader()
    tieaware.evaluate({"a": {"v": 1}}, reader, "AP")
    assert message_of(tieaware.evaluate, qrels, reader, "AP").startswith("run: ")


def with_integers(*kinds):
    return lambda rows: pd.DataFrame(rows).astype(dict(zip(("user_id", "item_id"), kinds, strict=True)))


INTEGERS = {
    **{kind: with_integers(kind, kind) for kind in ("i8", "u8", "i4", "Int64", "category")},
    "objects": with_integers(object, object), "pyarrow": pa.table, "polars": pl.DataFrame,
}  # fmt: skip


@pytest.mark.parametrize("kind", INTEGERS)
def test_integer_identifiers(kind):
    """Integer identifiers match integers but not text, and are integers in the results."""
    rows = {"user_id": [10, 10, 7], "item_id": [1, 2, 1]}
    qrels, run = INTEGERS[kind]({**rows, "rel": [1, 0, 1]}), INTEGERS[kind]({**rows, "prediction": [0.5, 0.5, 0.1]})
    result = tieaware.evaluate(qrels, run, "RR")
    assert (result.queries, result.values.tolist()) == ((10, 7), [[[0.75], [1.0]]])
    text = pl.DataFrame({"qid": ["10"], "docno": ["1"], "score": [1.0]})
    problem = "has text such as '10', but qrels has integers such as 10: make both text"
    assert problem in message_of(tieaware.evaluate, qrels, text, "RR")
    names = pl.DataFrame({"qid": [10], "docno": ["i1"], "rel": [1]})
    assert message_of(tieaware.evaluate, names, run, "RR") == (
        "run.doc: has integers such as 1, but qrels has text such as 'i1': make both text, or both integers; "
        "Run.from_topk(ids, scores, documents=...) names the documents of top-k lists"
    )


@pytest.mark.parametrize("door", ["pyarrow", "reader", "polars", "pandas", "pandas object", "duckdb"])
@pytest.mark.parametrize("shuffled", [False, True])
def test_several_runs(door, shuffled, expected):
    """The run column distinguishes the runs, whether their rows are contiguous or not."""
    rows = {**TEXT, "score": SCORE, "system": ["b"] * 1000}
    other = {**rows, "score": [-score for score in SCORE], "system": ["a"] * 1000}
    both = {name: rows[name] + other[name] for name in rows}
    if shuffled:
        order = np.random.default_rng(5).permutation(2000).tolist()
        both = {name: [values[i] for i in order] for name, values in both.items()}
    qrels = Qrels.from_columns(QUERY, DOC, LABEL)
    result = tieaware.evaluate(qrels, DOORS[door](both), MEASURES)
    assert result["b"].values.tobytes() == expected.tobytes()
    reverse = tieaware.evaluate(qrels, Run.from_columns(QUERY, DOC, other["score"]), MEASURES)
    assert result["a"].values.tobytes() == reverse.values.tobytes()
    one = DOORS[door](rows)
    assert tieaware.evaluate(qrels, [one], MEASURES).runs == ("b",)
    assert tieaware.evaluate(qrels, {"mine": DOORS[door](rows)}, MEASURES).runs == ("mine",)
    assert Run.from_frame(DOORS[door](rows)).name == "b"
    names = {"a, b", "b, a"}
    one_only = "run: contains 2 runs, but only one can be read here: "
    assert message_of(Run.from_frame, DOORS[door](both)) in {one_only + each for each in names}
    of_x = "runs['x']: must be one run, not 2: "
    assert message_of(tieaware.evaluate, qrels, {"x": DOORS[door](both)}, MEASURES) in {of_x + each for each in names}


def table_of(**changed):
    rows = {"qid": ["a", "a", "b"], "docno": ["x", "y", "x"], "score": [3.0, 2.0, 1.0], **changed}
    return {name: values for name, values in rows.items() if values is not None}


NONE = "text, bytes or an integer, found"
WRONG = [
    ({"qid": ["a", None, "b"]}, {}, f"run: qid[1]: expected {NONE} a missing value"),
    ({"docno": ["x", "y", None]}, {}, f"run: docno[2]: expected {NONE} a missing value"),
    ({"score": [1.0, None, 2.0]}, {}, "run: score[1]: expected a number, found a missing value"),
    ({"score": [1.0, float("nan"), 2.0]}, {}, "run: score[1]: expected a number, found NaN"),
    ({"score": ["1", "2", "3"]}, {}, "run: score: expected a column of numbers, found "),
    ({"docno": [1.5, 2.5, 3.5]}, {}, "run: docno: expected a column of text, bytes or integers, found "),
    ({"docno": ["x", "x", "x"]}, {}, "run: docno[1]: document 'x' of query 'a' appears twice, first at "
     "run: docno[0]; to keep only the first row, pass Run.from_frame(frame, duplicates='first')"),
    ({"score": [1, 2**53 + 1, 3]}, {}, "run: score[1]: expected a number that float64 represents exactly, "
     "found 9007199254740993"),
    ({"qid": None}, {}, "run: there is no query column among docno, score: name it query_id, qid, query, user_id, "
     "user, topic_id or topic, or pass Run.from_frame(frame, query=...)"),
    ({"sim": [1.0] * 3}, {}, "run: score and sim may be the score column: pass Run.from_frame(frame, score='score'), "
     "or the other name"),
    ({}, {"doc": "document"}, "run: there is no column 'document' for doc among qid, docno, score"),
    ({"run": ["a", None, "b"]}, {}, "run: run[1]: expected the name of a run, found a missing value"),
]  # fmt: skip


@pytest.mark.parametrize("door", ["pyarrow", "reader", "polars", "pandas string[pyarrow]"])
@pytest.mark.parametrize(("changed", "options", "message"), WRONG)
def test_refusals(door, changed, options, message):
    """The error is one line that names the column and the row, for every kind of table."""
    made = pd.DataFrame if door.startswith("pandas") else DOORS[door]
    rows = table_of(**changed)
    if door.startswith("pandas"):
        rows = {name: pd.array(v, dtype="string[pyarrow]") if isinstance(v[0], str) else v for name, v in rows.items()}
        if rows.get("score") == [1.0, None, 2.0]:
            # A missing float of pandas is NaN.
            message = message.replace("a missing value", "NaN")
    found = message_of(Run.from_frame, made(rows), **options)
    assert found == message or (message.endswith("found ") and found.startswith(message))


CELLS = (["a", None, "b"], "None"), (["a", 1.5, "b"], "1.5"), (["a", pd.NA, "b"], "<NA>")


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        *((column, pd.Series(values, dtype=object), f"run: {column}[1]: expected {NONE} {found}")
          for column in ("qid", "docno") for values, found in CELLS),
        ("docno", pd.array([1, None, 2], "Int64"), "run: docno[1]: the value is missing"),
        ("score", pd.array([1, None, 2], "Float64"), "run: score[1]: the value is missing"),
        ("qid", pd.Categorical(["a", None, "b"]), f"run: qid[1]: expected {NONE} a missing value"),
    ],
)  # fmt: skip
def test_refusals_of_pandas(column, values, message):
    """Missing values in columns of objects, nullable numbers or categories are refused, and so are invalid values."""
    assert message_of(Run.from_frame, pd.DataFrame(table_of(**{column: values}))) == message


@pytest.mark.parametrize("door", ["pyarrow", "reader", "chunks", "polars in chunks", "duckdb", "pandas object"])
def test_errors_name_the_row_of_the_table(door, monkeypatch):
    """The row in a message counts from the start of the table, for any batches and chunks, and for several runs."""
    monkeypatch.setattr("tieaware.inputs.runs.streamed.CHUNK_ROWS", 40)
    rows = {**TEXT, "score": [*SCORE[:700], float("nan"), *SCORE[701:]]}
    several = {**rows, "run": [str(i % 3) for i in range(1000)]}
    for table, threads in ((rows, 1), (rows, 2), (several, None)):
        found = message_of(tieaware.evaluate, {"q1": {"doc1": 1}}, DOORS[door](table), "AP", threads=threads)
        assert found == "run: score[700]: expected a number, found NaN"


def test_types_of_values():
    """float32 scores stay float32; float16, bools and small integers become float32. Whole floats are valid labels."""
    for dtype, wanted in (("f4", "f4"), ("f8", "f8"), ("f2", "f4"), ("i2", "f4"), ("i8", "f8"), ("?", "f4")):
        for made in (pa.table, pl.DataFrame, pd.DataFrame):
            if made is pl.DataFrame and dtype == "f2":
                continue
            run = Run.from_frame(made(table_of(score=np.array([1, 0, 1], dtype))))
            assert (run.scores.dtype, run.scores.tolist()) == (np.dtype(wanted), [1, 0, 1])
            assert Qrels.from_frame(made(table_of(score=np.array([1, 0, 1], dtype)))).labels.tolist() == [1, 0, 1]


def test_a_run_does_not_share_memory_with_its_input():
    """A later change of the frame does not change the run."""
    frame = pd.DataFrame(table_of())
    run = Run.from_frame(frame)
    frame.loc[0, "score"] = 7.0
    assert run.scores.tolist() == [3.0, 2.0, 1.0]


def test_duplicates_are_dropped_and_counted():
    rows = table_of(docno=["x", "x", "x"])
    with pytest.warns(UserWarning, match=r"^run: 1 duplicate row is ignored; run: docno\[1\]: document 'x' of query"):
        assert len(Run.from_frame(pa.table(rows), duplicates="first").scores) == 2


def test_tables_without_rows():
    """A table without rows is a run without queries, for any types of its columns."""
    for made in (pa.table, pl.DataFrame, pd.DataFrame):
        assert len(Run.from_frame(made(table_of(qid=[], docno=[], score=[])))) == 0
        assert "no query of this run is judged" in message_of(
            tieaware.evaluate, {"q": {"d": 1}}, made(table_of(qid=[], docno=[], score=[])), "AP"
        )


def test_pandas_without_pyarrow(monkeypatch, expected):
    """Columns of objects and Python strings need no other package."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    judged, run = {**TEXT, "relevance": LABEL}, {**TEXT, "score": SCORE}
    for door in ("pandas object", "pandas string[python]"):
        result = tieaware.evaluate(DOORS[door](judged), DOORS[door](run), MEASURES)
        assert result.values.tobytes() == expected.tobytes()


def test_a_collection(collection):
    """Frames with the rows of a collection give the same bits as its files."""
    sample = collection.runs[:3]
    files = tieaware.evaluate(collection.qrels, sample, MEASURES)

    def rows_of(made, values):
        sizes = np.diff(made.offsets)
        return {
            "query_id": np.repeat(made.queries.to_list(), sizes).tolist(),
            "doc_id": made.documents.to_list(), values: getattr(made, values + "s"),
        }  # fmt: skip

    qrels = rows_of(read_qrels(collection.qrels), "label")
    runs = [(name, rows_of(read_run(path), "score")) for name, path in zip(files.runs, sample, strict=True)]
    for made in (pl.DataFrame, pd.DataFrame, pa.table, lambda rows: duckdb.from_arrow(pa.table(rows))):
        result = tieaware.evaluate(made(qrels), {name: made(rows) for name, rows in runs}, MEASURES)
        assert result.values.tobytes() == files.values.tobytes()
        assert result.queries == files.queries
    together = pl.concat([pl.DataFrame(rows).with_columns(run=pl.lit(name)) for name, rows in runs])
    assert tieaware.evaluate(pl.DataFrame(qrels), together, MEASURES).values.tobytes() == files.values.tobytes()


@pytest.mark.parametrize("batch", [1, 2, 5, 999])
@pytest.mark.parametrize("rows", [1, 3, 17, 999])
def test_the_sizes_of_batches_and_chunks_change_no_value(batch, rows, monkeypatch):
    """No query is in two chunks, and no row is lost."""
    monkeypatch.setattr("tieaware.inputs.runs.streamed.CHUNK_ROWS", rows)
    queries = np.repeat(np.arange(40), np.random.default_rng(3).integers(1, 9, 40)).tolist()
    documents = list(range(len(queries)))
    table = pa.table({"qid": queries, "docno": documents, "score": [1.0 / (i + 1) for i in documents]})
    # The last document of each query is relevant, so a row that is lost or counted twice changes its rank.
    qrels = {query: {document: 1} for query, document in zip(queries, documents, strict=True)}
    found = tieaware.evaluate(qrels, table.to_reader(batch), "RR", threads=1)["RR"]
    np.testing.assert_array_equal(found, 1.0 / np.bincount(queries))
