"""Tables in files, and folders of files: recognised by content and name, with the same values as TREC files."""

import io
import os
import re
import struct
import sys
import zipfile
from functools import partial

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from support.errors import message_of
from support.table_files import write_columns, write_text

import tieaware
from tieaware.errors import InputError
from tieaware.inputs import read_qrels, read_run
from tieaware.inputs.files.byte_streams import ByteStream
from tieaware.inputs.tables import arrow, delimited, json_lines, table_at, table_in
from tieaware.kernels._trec import LONGEST_LINE
from tieaware.runtime.extras import MissingExtraError

MEASURES = ["AP", "nDCG@10"]
RUN = {
    # Text of digits stays text, also in CSV.
    "query_id": [f"{i // 40:03}" for i in range(400)],
    # Identifiers with characters that mean something in some formats.
    "doc_id": [f"d,{i * 37 % 401}é" for i in range(400)],
    "score": [i * 7 % 11 / 4 for i in range(400)],
}
QRELS = {"query-id": RUN["query_id"], "corpus-id": RUN["doc_id"], "score": [i % 5 // 3 for i in range(400)]}


FORMATS = ["parquet", "feather", "arrow", "arrows", "csv", "tsv", "csv.gz", "jsonl", "jsonl.gz", "ndjson"]


@pytest.fixture(scope="module")
def expected():
    qrels = tieaware.Qrels.from_columns(*QRELS.values())
    return tieaware.evaluate(qrels, tieaware.Run.from_columns(*RUN.values()), MEASURES).values.tobytes()


@pytest.mark.parametrize("suffix", [*FORMATS, "bin"])
def test_tables_in_files(suffix, expected, tmp_path, monkeypatch, printed):
    """Every format gives the same bits, and the run is named after the file. Parquet is recognised by its content."""
    monkeypatch.chdir(tmp_path)
    paths = [f"{name}.{suffix}" for name in ("qrels", "mine", "other")]
    for columns, path in zip((QRELS, RUN, {**RUN, "note": ["…"] * 400}), paths, strict=True):
        written = write_columns(columns, path.replace(".bin", ".parquet"))
        os.rename(written, path)
    result = tieaware.evaluate(paths[0], paths[1:], MEASURES)
    assert result.values.tobytes() == 2 * expected
    assert result.runs == (("mine", "other") if suffix != "bin" else ("mine.bin", "other.bin"))
    monkeypatch.setattr(json_lines, "_BATCH_ROWS", 7)
    monkeypatch.setattr("tieaware.inputs.runs.streamed.CHUNK_ROWS", 50)
    assert tieaware.evaluate(paths[0], paths[1], MEASURES, threads=2).values.tobytes() == expected
    assert read_qrels(paths[0]).labels.tolist() == QRELS["score"]
    run = read_run(paths[1], "float32")
    assert (run.name, run.scores.dtype.name, run.scores.tolist()) == (result.runs[0], "float32", RUN["score"])
    assert f"{result.mean()[0, 0]:.4f}" in printed("eval", *paths[:2], "-m", "AP")


@pytest.mark.parametrize("suffix", FORMATS)
def test_several_runs_in_a_file(suffix, expected, tmp_path):
    """Runs are named by the run column; the only run of a file is named after the file. Rows are in any order."""
    order = sorted(range(400), key=lambda i: i * 7 % 400)
    shuffled = {name: [values[i] for i in order] for name, values in RUN.items()}
    both = {name: values * 2 for name, values in shuffled.items()} | {"tag": ["a"] * 400 + ["b"] * 400}
    paths = [
        write_columns(columns, tmp_path / f"{name}.{suffix}")
        for name, columns in (("runs", both), ("one", {**shuffled, "tag": ["a"] * 400}))
    ]
    result = tieaware.evaluate(tieaware.Qrels.from_columns(*QRELS.values()), paths, MEASURES)
    assert result.runs == ("a", "b", "one")
    assert result.values.tobytes() == 3 * expected


def unusual(change):
    """Return the columns of RUN after a change, whose result may depend on the number of threads by mistake."""
    columns = {name: list(values) for name, values in RUN.items()}
    change(columns)
    return columns


@pytest.mark.parametrize("row_group", [1, 7, 40, 100, 400])
@pytest.mark.parametrize("text", [pa.string(), pa.large_string(), pa.string_view(), pa.binary()])
@pytest.mark.parametrize("options", [{}, {"use_dictionary": False}, {"data_page_version": "2.0"}])
def test_pieces_of_parquet_give_the_same_values(row_group, text, options, expected, tmp_path, monkeypatch):
    """A query may continue over any number of row groups. Repeated text is read as indices of a dictionary."""
    monkeypatch.setattr(arrow, "PIECE_ROWS", 1)
    monkeypatch.setattr("tieaware.inputs.runs.streamed.CHUNK_ROWS", 30)
    table = pa.table(RUN).set_column(0, "query_id", pa.array(RUN["query_id"], pa.string()).cast(text))
    pa.parquet.write_table(table, tmp_path / "run.parquet", row_group_size=row_group, **options)
    qrels = tieaware.Qrels.from_columns(*QRELS.values())
    pieces = table_at(tmp_path / "run.parquet").pieces()
    assert len(pieces) == -(-400 // row_group)
    rows = [(batch.first, batch.stop - batch.start) for piece in pieces for batch in piece.batches([0])]
    assert rows == [(i, min(row_group, 400 - i)) for i in range(0, 400, row_group)]
    for threads in (1, 2, 3):
        result = tieaware.evaluate(qrels, tmp_path / "run.parquet", MEASURES, threads=threads)
        assert result.values.tobytes() == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows["score"].__setitem__(250, None), "run.parquet: score[250]: expected a number"),
        (lambda rows: rows["score"].__setitem__(390, float("nan")), "run.parquet: score[390]"),
        (lambda rows: rows["query_id"].__setitem__(120, None), "run.parquet: query_id[120]"),
        (lambda rows: rows["doc_id"].__setitem__(399, rows["doc_id"][398]), "run.parquet: doc_id[399]"),
    ],
)
def test_errors_name_the_row_for_any_number_of_threads(change, message, tmp_path, monkeypatch):
    """The message does not depend on which thread meets the bad row."""
    monkeypatch.setattr(arrow, "PIECE_ROWS", 50)
    monkeypatch.chdir(tmp_path)
    pa.parquet.write_table(pa.table(unusual(change)), "run.parquet", row_group_size=50)
    qrels = tieaware.Qrels.from_columns(*QRELS.values())
    texts = {message_of(lambda n=n: tieaware.evaluate(qrels, "run.parquet", MEASURES, threads=n)) for n in (1, 2, 4)}
    assert len(texts) == 1
    assert texts.pop().startswith(message)


def test_rows_of_a_query_in_several_pieces(expected, tmp_path, monkeypatch):
    """Rows that are sorted by document are grouped; a query that fills many pieces is read in order."""
    monkeypatch.setattr(arrow, "PIECE_ROWS", 50)
    order = sorted(range(400), key=lambda i: i * 7 % 400)
    shuffled = pa.table({name: [values[i] for i in order] for name, values in RUN.items()})
    pa.parquet.write_table(shuffled, tmp_path / "run.parquet", row_group_size=50)
    qrels = tieaware.Qrels.from_columns(*QRELS.values())
    result = tieaware.evaluate(qrels, tmp_path / "run.parquet", MEASURES, threads=2)
    assert result.values.tobytes() == expected
    monkeypatch.setattr("tieaware.inputs.runs.streamed.CHUNK_ROWS", 10)
    one = {**RUN, "query_id": ["q"] * 400, "doc_id": [f"d{i}" for i in range(400)]}
    pa.parquet.write_table(pa.table(one), tmp_path / "one.parquet", row_group_size=50)
    values = [tieaware.evaluate({"q": {"d7": 1}}, tmp_path / "one.parquet", "AP", threads=n).values for n in (1, 2)]
    assert values[0].tobytes() == values[1].tobytes()


@pytest.mark.parametrize("order", ["one after another", "by query", "by row"])
def test_two_runs_of_a_file_are_not_held_in_memory(order, expected, tmp_path, monkeypatch):
    """A Parquet file with two runs is read again for each; an error names the row of the file."""
    monkeypatch.setattr(arrow, "PIECE_ROWS", 50)
    monkeypatch.setattr("tieaware.inputs.tables.rows.FrameInMemory", None)
    key = {"one after another": lambda i: 0, "by query": lambda i: i % 400 // 40, "by row": lambda i: i % 400}[order]
    rows = sorted(range(800), key=key)
    both = {name: [values[i % 400] for i in rows] for name, values in RUN.items()}
    both["run"] = ["ab"[i // 400] for i in rows]

    def write():
        pa.parquet.write_table(pa.table(both), tmp_path / "runs.parquet", row_group_size=50)
        return tmp_path / "runs.parquet"

    qrels = tieaware.Qrels.from_columns(*QRELS.values())
    for threads in (1, 2):
        result = tieaware.evaluate(qrels, write(), MEASURES, threads=threads)
        assert result.runs == ("a", "b")
        assert result.values.tobytes() == 2 * expected
    bad = rows.index(777)
    both["score"][bad] = float("nan")
    assert f"score[{bad}]" in message_of(lambda: tieaware.evaluate(qrels, write(), MEASURES, threads=2))


def test_several_runs_that_take_turns_in_csv(tmp_path):
    """Rows of two runs alternate. Text such as 007 stays unchanged while the rows are grouped by run."""
    rows = [(f"{q:03}", d, d + q, run) for d in range(5) for run in "ab" for q in (7, 8)]
    text = "".join(f"{q},{d},{s},{run}\n" for q, d, s, run in rows)
    (tmp_path / "runs.csv").write_text("qid,docno,score,run\n" + text)
    result = tieaware.evaluate({"007": {"1": 1}, "008": {"4": 1}}, tmp_path / "runs.csv", "RR")
    assert (result.runs, result.values.tolist()) == (("a", "b"), [[[0.25], [1.0]]] * 2)


def test_integers_of_parquet_match_integers_and_the_text_of_csv(tmp_path):
    """Columns of Parquet and values of JSON have types. The text of a CSV file matches both text and integers."""
    rows = {"qid": [1, 1], "docno": [10, 11], "score": [0.5, 0.5]}
    (tmp_path / "run.csv").write_text("qid,docno,score\n1,10,0.5\n\n1,11,.5\n")
    write_columns(rows, tmp_path / "run.parquet")
    write_columns(rows, tmp_path / "run.jsonl")
    write_columns({**rows, "score": [1, 0]}, tmp_path / "qrels.parquet")
    for run in ("run.csv", "run.jsonl", "run.parquet"):
        result = tieaware.evaluate(tmp_path / "qrels.parquet", tmp_path / run, "RR")
        assert (result.queries, result.mean().item()) == ((1,), 0.75)


def test_folders_and_patterns(expected, tmp_path, monkeypatch):
    """Files are sorted by name, and hidden files are left out."""
    monkeypatch.chdir(tmp_path)
    os.makedirs("runs/deeper")
    for name in ("b.parquet", "a.csv", "c.run", ".hidden.run", "deeper/b.parquet"):
        write_columns(RUN, f"runs/{name}")
    qrels = tieaware.Qrels.from_columns(*QRELS.values())
    for given, names in (("runs", "abc"), ("runs/", "abc"), ("runs/[bc].*", "bc"), (["runs/*.run", "runs/b*"], "cb")):
        result = tieaware.evaluate(qrels, given, MEASURES)
        assert result.runs == tuple(names)
        assert result.values.tobytes() == len(names) * expected
    # Files with the same name in two folders are named by their paths.
    same = ("runs/b.parquet", "runs/deeper/b.parquet")
    assert tieaware.evaluate(qrels, list(same), MEASURES).runs == same


GOOD = '{"query": "q", "doc": "d", "score": 1}\n\n'


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "qid,docno,score\nq,d,1\nq,e\n", "a.csv: row 1: has 2 fields, but the header has 3"),
        ("a.csv", "qid,docno,score\nq,d,1\nq,e,x\n", "a.csv: score[1]: expected a number, found 'x'"),
        ("a.csv", "qid,docno,score\nq,d,1\nq,e,\n", "a.csv: score[1]: expected a number, found an empty field"),
        ("a.csv", f"qid,docno,score\nq,d,{2**53}\nq,e,{2**53 + 1}\n", "a.csv: score[1]: expected a number, found "
         f"{2**53 + 1}, which float64 cannot represent"),
        ("a.csv", "qid,docno,score\nq,d,1\nq,e,1_0\n", "a.csv: score[1]: expected a number, found '1_0'"),
        ("a.csv", "qid,docno,score\nq,d,1e400\nq,e,1e401\n", "a.csv: score[0]: expected a number, found 1e400, which "
         "float64 cannot represent"),
        ("a.csv", "qid,docno,score\nq,d,-inf\nq,e,9007199254740993.0\n", "a.csv: score[1]: expected a number, found "
         "9007199254740993.0, which float64 cannot represent"),
        ("a.csv", "qid,docno,score\nq,d,1\nq,e,nan\n", "a.csv: score[1]: expected a number, found NaN"),
        ("a.csv", "qid,docno,score\nq,d,1\nq,,1\n", "a.csv: docno[1]: expected text, bytes or an integer, found an "
         "empty field"),
        ("a.csv", "qid,docno,score\n,d,1\n", "a.csv: qid[0]: expected text, bytes or an integer, found an empty field"),
        ("a.csv", "qid,score\n", "a.csv: there is no doc column among qid, score in the first line: name it "
         "doc_id, docno, did, doc, corpus-id, item_id, item, document_id, document, passage_id, pid or movie_id"),
        ("a.csv", "", "a.csv: the table is empty, or its columns have no names"),
        ("a.jsonl", GOOD + "q Q0 e 1 1 t\n", "a.jsonl:3: this is not JSON: Expecting value at column 1"),
        ("a.jsonl", GOOD + "[" * 100_000, "a.jsonl:3: the JSON is nested too deeply"),
        ("a.jsonl", GOOD + '["q", "e", 1]\n', "a.jsonl:3: the line must be a JSON object, not list"),
        ("a.jsonl", GOOD + '{"query": "q", "doc": "e"}\n', "a.jsonl:3: the object has no key 'score'"),
        ("a.jsonl", GOOD + '{"query": "q", "doc": "e", "score": "x"}',
         "a.jsonl:3: score: expected a number, found 'x'"),
        ("a.jsonl", GOOD + '{"query": "q", "doc": "e", "score": NaN}',
         "a.jsonl:3: score: expected a number, found NaN"),
        ("a.jsonl", GOOD + '{"query": "q", "doc": null, "score": 1}',
         "a.jsonl:3: doc: expected text, bytes or an integer, "),
        ("a.jsonl", GOOD + '{"query": ["q"], "doc": "e", "score": 1}',
         "a.jsonl:3: query: expected text, bytes or an integer, "),
        ("a.jsonl", GOOD * 2,
         "a.jsonl:3: doc: document 'd' of query 'q' appears twice, first at a.jsonl:1: doc; to keep only "
         "the first row, pass duplicates='first'"),
        ("a.jsonl", GOOD + " " * (LONGEST_LINE + 1), f"a.jsonl:3: the line is longer than {LONGEST_LINE:,} bytes"),
        ("a.jsonl", '{"query": "q", "score": 1}\n', "a.jsonl: there is no doc column among query, score: "),
        ("a.jsonl", "", "a.jsonl: the table is empty, or its columns have no names"),
        ("a.parquet", "PAR1 and no more", "a.parquet: the file cannot be read: "),
        ("a.feather", "ARROW1\0\0 and no more", "a.feather: the file cannot be read: "),
    ],
)  # fmt: skip
def test_refusals(name, text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text)
    for read in (read_run, lambda path: tieaware.evaluate({"q": {"d": 1}}, path, "AP")):
        found = message_of(read, name)
        assert found == message or (message.endswith(" ") and found.startswith(message))


def test_tab_separated_judgments_without_a_header_are_in_trec_format(tmp_path):
    """MS MARCO publishes judgments in this form. BEIR's have a header, and are read as a table."""
    (tmp_path / "trec.tsv").write_text("7\t0\t12\t1\n7\t0\t13\t0\n")
    (tmp_path / "beir.tsv").write_text("query-id\tcorpus-id\tscore\n7\t12\t1\n7\t13\t0\n")
    for name in ("trec.tsv", "beir.tsv"):
        qrels = read_qrels(tmp_path / name)
        assert (qrels.documents.to_list(), qrels.labels.tolist()) == (["12", "13"], [1, 0])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("rows", [[], ["q,d,1,,,", 'q,"e{end}f",2,,,']])
def test_too_long_lines_and_rows_are_refused(rows, end, tmp_path, monkeypatch):
    """Lines may have any kind of ending, and the quoted fields of a row may contain line endings."""
    monkeypatch.chdir(tmp_path)
    before = end.join(["qid,docno,score,a,b,c", *rows, ""]).format(end=end)
    many = ("x" * 130_000 + ",") * 8
    for more, message in (
        (0, f"a.csv: row {len(rows)}: has 9 fields, but the header has 6"),
        (1, f"a.csv:{2 + before.count(end) - 1}: the line is longer than 1,048,576 bytes"),
    ):
        (tmp_path / "a.csv").write_bytes((before + many + "x" * (LONGEST_LINE + more - len(many)) + end).encode())
        assert message_of(read_run, "a.csv") == message


def test_long_rows_are_read_a_few_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "LONGEST_BATCH", 100_000)
    monkeypatch.setattr(delimited, "FEW_ROWS", 8)
    path = tmp_path / "a.csv"
    path.write_text("qid,docno,score\n" + "".join(f"q,{i:01000},1\n" for i in range(1000)))
    with ByteStream(path) as stream:
        sizes = [len(batch.columns[0]) for batch in table_in(stream).batches([0, 1])]
    assert (sum(sizes), max(sizes) < 150) == (1000, True)
    assert len(read_run(path).scores) == 1000
    path.write_text("qid,docno,score\n" + '"\n",' * 100_000)
    assert "the row is longer than" in message_of(read_run, path)


def test_without_pyarrow(tmp_path, monkeypatch):
    """CSV does not need pyarrow; the error about Parquet names the extra to install."""
    pl.DataFrame(RUN).write_parquet(tmp_path / "run.parquet")
    write_columns(RUN, tmp_path / "run.csv")
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    assert len(read_run(tmp_path / "run.csv")) == 10
    with pytest.raises(MissingExtraError, match=r"^pyarrow is not installed: pip install 'tieaware\[arrow\]'$"):
        read_run(tmp_path / "run.parquet")


def ipc_bytes(table, writer=pa.ipc.new_stream, batches=1):
    """Return a stream or a file of Arrow, which repeats a table."""
    sink = io.BytesIO()
    with writer(sink, table.schema) as file:
        for _ in range(batches):
            file.write_table(table)
    return sink.getvalue()


LYING_OFFSETS = ((0, 2, 5, 1 << 30), (0, 1 << 30, 5, 9), (0, -5, 5, 9), (0, 7, 5, 9))


@pytest.mark.parametrize("offsets", LYING_OFFSETS)
@pytest.mark.parametrize("writer", [pa.ipc.new_file, pa.ipc.new_stream])
def test_offsets_that_point_outside_the_text_are_refused(writer, offsets, tmp_path):
    """Such offsets would make the kernels read outside the file, and crash or return foreign bytes as a document id."""
    path = tmp_path / "run.arrow"
    table = pa.table({"query": ["q1", "q1", "q2"], "doc": ["d1", "d22", "d333"], "score": [1.0, 2.0, 3.0]})
    good, data = struct.pack("<4i", 0, 2, 5, 9), ipc_bytes(table, writer)
    assert data.count(good) == 1
    path.write_bytes(data)
    assert tieaware.evaluate({"q1": {"d1": 1}}, path, "RR").mean().item() == 0.5
    path.write_bytes(data.replace(good, struct.pack("<4i", *offsets)))
    with pytest.raises(InputError, match=r"run.arrow: the file cannot be read: .*[Oo]ffset"):
        tieaware.evaluate({"q1": {"d1": 1}}, path, "RR")


@pytest.mark.parametrize("writer", [pa.ipc.new_file, pa.ipc.new_stream])
def test_a_damaged_arrow_file_is_read_or_refused(writer, tmp_path):
    """Each byte of a small file is changed in turn. The result is a run or a one-line error, never a crash."""
    path = tmp_path / "run.arrow"
    table = pa.table({"query": ["q1", "q1"], "doc": ["d1", "d22"], "score": [1.0, 2.0]})
    table = table.set_column(1, "doc", table["doc"].dictionary_encode())
    data, problems = ipc_bytes(table, writer), []
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        try:
            read_run(path)
        except (InputError, MemoryError) as error:
            # A changed length may ask for terabytes, which raises MemoryError.
            problems.append(str(error))
    assert len(problems) > 20
    assert not [problem for problem in problems if "\n" in problem]





ROWS = 331
COLUMNS = {
    "query": pa.array(["q1"] * ROWS), "doc": pa.array([f"{i:05}" for i in range(ROWS)]),
    "score": pa.array([float(i) for i in range(ROWS)]),
}  # fmt: skip
# How a stream of these columns changes: the replaced column, and its bytes before and after. The size of a buffer is in
# the header of the batch.
LYING_BUFFERS = {
    "offsets": ({}, struct.pack("<2i", 5 * ROWS - 5, 5 * ROWS), struct.pack("<2i", 5 * ROWS - 5, 1 << 30)),
    "numbers": ({}, struct.pack("<q", 8 * ROWS), struct.pack("<q", 8)),
    "bits": (
        {"score": pa.array([None, *range(ROWS - 1)], pa.float64())},
        struct.pack("<q", (ROWS + 7) // 8), struct.pack("<q", 1),
    ),
    "views": ({"doc": COLUMNS["doc"].cast(pa.string_view())}, struct.pack("<q", 16 * ROWS), struct.pack("<q", 16)),
    "large offsets": (
        {"doc": COLUMNS["doc"].cast(pa.large_string())},
        struct.pack("<2q", 5 * ROWS - 5, 5 * ROWS), struct.pack("<2q", 5 * ROWS - 5, 1 << 60),
    ),
    "categories": (
        {"query": COLUMNS["doc"].dictionary_encode()},
        struct.pack("<2i", 5 * ROWS - 5, 5 * ROWS), struct.pack("<2i", 5 * ROWS - 5, 1 << 30),
    ),
}  # fmt: skip
FORMS = {
    "stream": pa.ipc.open_stream,
    "table": lambda data: pa.ipc.open_stream(data).read_all(),
    "batch": lambda data: pa.ipc.open_stream(data).read_next_batch(),
    "pandas": lambda data: pa.ipc.open_stream(data).read_pandas(types_mapper=pd.ArrowDtype),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wrong", LYING_BUFFERS)
def test_tables_that_pyarrow_read_from_a_damaged_file_are_refused(form, wrong):
    """The kernels are not told the sizes of buffers, and pyarrow does not check them when it reads them."""
    columns, good, bad = LYING_BUFFERS[wrong]
    data = ipc_bytes(pa.table({**COLUMNS, **columns}))
    assert good in data
    table = FORMS[form](data.replace(good, bad, 1))
    found = message_of(tieaware.evaluate, {"q1": {"00001": 1}}, {"run": table}, "RR")
    assert re.match(r"run: .*cannot be read: .", found)


@pytest.mark.parametrize("writer", [pa.ipc.new_file, pa.ipc.new_stream])
def test_an_arrow_file_that_is_cut_while_it_is_read_is_refused(writer, tmp_path):
    """A memory-mapped file would end the process with SIGBUS."""
    path = tmp_path / "run.arrow"
    path.write_bytes(ipc_bytes(pa.table(COLUMNS), writer, 100))
    kind = arrow.ArrowFile if writer is pa.ipc.new_file else arrow.ArrowStreamFile
    batches = kind(str(path), "run.arrow").batches([0, 1, 2])
    next(batches)
    os.truncate(path, 20000)
    assert message_of(list, batches).startswith("run.arrow: the file cannot be read: ")


@pytest.mark.parametrize("write", [pyarrow.parquet.write_table, pyarrow.feather.write_feather])
def test_a_table_that_cannot_be_opened_again_is_refused(write, tmp_path):
    """These formats are read from the end of the file. Their bytes must not be taken for lines of a TREC file."""
    write(pa.table(RUN), f"{tmp_path / 'run'}")
    data = (tmp_path / "run").read_bytes()
    stated = r"[^ ]*: Parquet and Arrow files are read by their path only: pass the path of a file, or in Python (.*)"

    def refused(call):
        return re.fullmatch(stated, message_of(call))[1]

    for read in (read_run, read_qrels, lambda file: tieaware.evaluate({"q1": {"d1": 1}}, {"a": file}, "AP")):
        with open(tmp_path / "run", "rb") as file:
            expression = refused(partial(read, file))
        assert refused(partial(read, io.BytesIO(data))) == expression
        reader, writer = os.pipe()
        os.write(writer, data[:4096])
        os.close(writer)
        with os.fdopen(reader, "rb") as file:
            assert refused(partial(read, file)) == expression
    with open(tmp_path / "run", "rb") as file:
        assert eval(expression, {"pyarrow": pa, "file": file}).equals(pa.table(RUN))


@pytest.mark.parametrize("kind", [pyarrow.parquet.ParquetFile, pyarrow.parquet.ParquetDataset])
def test_readers_of_tables_are_no_files(kind, tmp_path):
    """They have a method `read`, which does not return bytes."""
    made = kind(write_columns(RUN, tmp_path / "run.parquet"))
    rest = f", not {kind.__name__}; pass the path, or pyarrow.dataset.dataset(path)"
    found = message_of(tieaware.evaluate, {"q1": {"d1": 1}}, {"a": made}, "AP")
    assert (found.startswith("runs['a']: must be a run "), found.endswith(rest)) == (True, True)
    assert message_of(tieaware.evaluate, made, {"a": {"q1": {"d1": 1.0}}}, "AP").endswith(rest)
    assert "<file>: expected a path or a file opened in binary mode, found" in message_of(read_run, made)


def test_other_objects_with_a_method_to_read(tmp_path):
    write_text("q1 Q0 d1 1 2 t\n", tmp_path / "bm25.run")
    with pa.OSFile(f"{tmp_path / 'bm25.run'}", "rb") as file:
        assert tieaware.evaluate({"q1": {"d1": 1}}, {"a": file}, "AP").mean() == 1
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as archive:
        found = message_of(tieaware.evaluate, {"q1": {"d1": 1}}, {"a": archive}, "AP")
    assert found == "<file>: expected a file that reads bytes, found an object of type ZipFile"


@pytest.mark.parametrize("bits", [128, 256])
def test_decimals_are_named_with_the_type_to_cast_to(bits):
    """DuckDB's sum of integers is a decimal."""
    digits = {128: 38, 256: 50}[bits]
    decimals = pa.array([1, 2], getattr(pa, f"decimal{bits}")(digits, 0))
    table = pa.table(RUN).slice(0, 2)
    for column, expected, usable in (
        ("score", "a column of numbers", "double"),
        ("doc_id", "a column of text, bytes or integers", "bigint or varchar"),
    ):
        changed = table.set_column(table.column_names.index(column), column, decimals)
        found = f"run: {column}: expected {expected}, found decimal({digits},0): cast it to {usable}"
        assert message_of(tieaware.evaluate, {"q1": {"d1": 1}}, changed, "AP") == found
