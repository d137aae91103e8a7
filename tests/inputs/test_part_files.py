"""Part files: folders, lists and patterns of files that are one run, or the judgments."""

import bz2
import gzip
import os
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest
from support.errors import message_of
from support.table_files import write_columns

import tieaware
from tieaware.inputs import read_qrels, read_run, tables
from tieaware.inputs.files.paths import look_like_parts, parts_at
from tieaware.inputs.runs import streamed
from tieaware.inputs.trec import reader as trec

COLUMNS = ["query_id", "doc_id", "score"]
MEASURES = ["AP", "nDCG@10", "RR"]
QRELS = {f"q{i}": {f"d{j}": j * (i + 1) % 3 for j in range(0, 30, 2)} for i in range(45)}
ROWS = [(f"q{i}", f"d{j}", (i * 7 + j * 5) % 8 / 4) for i in range(40) for j in range(30)]
JUDGED = [(query, doc, label) for query, judged in QRELS.items() for doc, label in judged.items()]
SHUFFLED = random.Random(1).sample(ROWS, len(ROWS))
N_PARTS = 12


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """Make a new folder the working directory."""
    monkeypatch.chdir(tmp_path)


def text(rows):
    return "".join(f"{query} Q0 {doc} 0 {score} tag\n" for query, doc, score in rows)


def columns_of(rows):
    return dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))


def table(rows):
    return pa.table(columns_of(rows))


def write(rows, path):
    write_columns(columns_of(rows), path)


FORMATS = {
    "": lambda rows, path: Path(path).write_text(text(rows)),
    # Without the end of the last line, and with a byte order mark.
    ".txt": lambda rows, path: Path(path).write_bytes(b"\xef\xbb\xbf" + text(rows).encode().rstrip()),
    ".gz": lambda rows, path: Path(path).write_bytes(gzip.compress(text(rows).encode())),
    ".bz2": lambda rows, path: Path(path).write_bytes(bz2.compress(text(rows).encode())),
    ".csv": write,
    ".csv.gz": write,
    ".jsonl": write,
    ".snappy.parquet": write,
}


def divided(rows, folder, suffix):
    """Write rows to part files as Spark does, with files beside them that are not parts; return the paths."""
    os.makedirs(folder)
    for i in range(N_PARTS):
        FORMATS[suffix](rows[i * len(rows) // N_PARTS : (i + 1) * len(rows) // N_PARTS], f"{folder}/part-{i}{suffix}")
    for name in ("_SUCCESS", "_metadata", ".part-0.crc", ".hidden"):
        Path(folder, name).write_bytes(b"not a part")
    return [f"{folder}/part-{i}{suffix}" for i in range(N_PARTS)]


def values(run, **options):
    results = tieaware.evaluate(QRELS, {"bm25": run}, MEASURES, **options)
    assert results.runs == ("bm25",)
    return results.values.tobytes()


RUN = tieaware.Run.from_columns(*zip(*ROWS, strict=True))
EXPECTED = values(RUN)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("rows", [ROWS, SHUFFLED], ids=["contiguous", "shuffled"])
@pytest.mark.parametrize("suffix", FORMATS)
def test_parts_under_one_name_are_one_run(suffix, rows, threads, tmp_path, monkeypatch):
    """Most parts end within a query. With small limits, chunks span parts, and rows are grouped outside memory."""
    for module, limit in ((streamed, "SMALLEST"), (streamed, "CHUNK"), (trec, "BUFFER")):
        monkeypatch.setattr(module, limit, 1000)
    monkeypatch.setattr(streamed, "CHUNK_ROWS", 50)
    monkeypatch.setattr(streamed, "BATCH_ROWS", 100)
    files = divided(rows, tmp_path / "parts", suffix)
    for form in (f"{tmp_path}/parts", f"{tmp_path}/parts/", tmp_path / "parts", f"{tmp_path}/parts/p*", files):
        assert values(form, threads=threads) == EXPECTED
    assert values(read_run(tmp_path / "parts")) == values(read_run(files)) == EXPECTED


@pytest.mark.parametrize("suffix", ["", ".gz", ".csv", ".snappy.parquet"])
def test_the_order_of_rows_is_that_of_the_parts(suffix, tmp_path):
    """Numbers in names are compared as numbers: part-10 follows part-9. A list keeps its own order."""
    files = divided(SHUFFLED, tmp_path / "parts", suffix)
    expected = values(tieaware.Run.from_columns(*zip(*SHUFFLED, strict=True)), ties="run_order")
    assert values(tmp_path / "parts", ties="run_order") == values(f"{tmp_path}/*/p*", ties="run_order") == expected
    assert values(files[::-1], ties="run_order") != expected


@pytest.mark.parametrize("suffix", ["", ".csv", ".snappy.parquet"])
def test_judgments_in_parts(suffix, tmp_path):
    os.mkdir(tmp_path / "qrels")
    for i, some in enumerate((JUDGED[:100], JUDGED[100:101], JUDGED[101:])):
        path = f"{tmp_path}/qrels/part-{i}{suffix}"
        if suffix:
            FORMATS[suffix](some, path)
        else:
            Path(path).write_text("".join(f"{query} 0 {doc} {label}\n" for query, doc, label in some))
    for form in (f"{tmp_path}/qrels", f"{tmp_path}/qrels/*", [f"{tmp_path}/qrels/part-{i}{suffix}" for i in range(3)]):
        assert tieaware.evaluate(form, {"bm25": RUN}, MEASURES).values.tobytes() == EXPECTED
        assert len(read_qrels(form).labels) == len(JUDGED)


def test_parts_may_be_empty_and_order_their_columns_differently(tmp_path):
    schema = pa.schema([("query_id", pa.string()), ("doc_id", pa.string()), ("score", pa.float64())])
    pyarrow.parquet.write_table(schema.empty_table(), tmp_path / "0.parquet")
    pyarrow.parquet.write_table(table(ROWS[:500]), tmp_path / "1.parquet")
    pyarrow.parquet.write_table(table(ROWS[500:]).select(["score", "doc_id", "query_id"]), tmp_path / "2.parquet")
    assert values(tmp_path) == EXPECTED
    os.mkdir(tmp_path / "json")
    (tmp_path / "json" / "0.jsonl").write_bytes(b"")
    gzip.open(tmp_path / "json" / "1.jsonl.gz", "wb").close()
    write(ROWS, tmp_path / "json" / "2.jsonl")
    assert values(tmp_path / "json") == EXPECTED


def test_a_folder_of_one_part_is_that_file(tmp_path):
    FORMATS[".snappy.parquet"](ROWS, tmp_path / "part-0.parquet")
    assert values(tmp_path) == values([tmp_path / "part-0.parquet"]) == values(f"{tmp_path}/*.parquet") == EXPECTED


def test_several_runs_in_the_run_column_of_parts_are_not_one_run(tmp_path):
    for i, name in enumerate(("a", "b")):
        frame = table(ROWS[600 * i : 600 * (i + 1)])
        pyarrow.parquet.write_table(frame.append_column("run", [[name] * 600]), tmp_path / f"{i}.parquet")
    assert message_of(values, tmp_path) == "runs['bm25']: must be one run, not 2: a, b"


def test_checkpoints_know_the_state_of_all_parts():
    files = divided(ROWS, "parts", "")
    assert values("parts", out="done") == EXPECTED
    saved = os.stat("done/bm25.npz").st_mtime_ns
    assert values("parts/", out="done") == EXPECTED
    assert os.stat("done/bm25.npz").st_mtime_ns == saved
    Path(files[-1]).write_text("q0 Q0 other 1 9 t\n")
    changed = values("parts", out="done")
    assert changed == values("parts") != EXPECTED
    os.remove(files[0])
    assert values("parts", out="done") == values("parts") not in (changed, EXPECTED)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("part", "message"),
    [
        (text(ROWS[700:800]) + "q1 Q0 d1 0 high tag\n",
         "parts/part-7:101: the score, field 5, must be a number, not 'high'"),
        (text([ROWS[700], ROWS[3]]), "parts/part-7:2: document 'd3' of query 'q0' appears twice, first at "
         "parts/part-0:4; to keep only the first row, pass duplicates='first'"),
        (gzip.compress(b"q50 Q0 d1 0 NaN tag\n", mtime=0),
         "parts/part-7:1: the score, field 5, must be a number, not NaN"),
    ],
)  # fmt: skip
def test_errors_name_the_part_and_the_line(part, message, threads, monkeypatch):
    monkeypatch.setattr(streamed, "SMALLEST", 100)
    files = divided(ROWS, "parts", "")
    Path(files[7]).write_bytes(part.encode() if isinstance(part, str) else part)
    # An empty part is no error.
    Path(files[6]).write_bytes(b"")
    assert message_of(values, "parts", threads=threads) == message


def test_the_warning_about_duplicates_names_the_part_and_the_line():
    Path(divided(ROWS, "parts", "")[7]).write_text(text([ROWS[700], ROWS[3]]))
    with pytest.warns(UserWarning, match="1 duplicate row is ignored; parts/part-7:2: document 'd3' of query 'q0'"):
        read_run("parts", duplicates="first")


def test_errors_in_tables_name_the_part_and_its_row():
    for suffix, where in ((".csv", "7.csv/part-7.csv: score[2]"), (".jsonl", "7.jsonl/part-7.jsonl:3: score")):
        files = divided(ROWS, f"7{suffix}", suffix)
        write([*ROWS[700:702], ("q99", "d1", "high")], files[7])
        assert message_of(values, f"7{suffix}") == f"{where}: expected a number, found 'high'"
        write([*ROWS[700:702], ROWS[5]], files[7])
        found = message_of(values, f"7{suffix}")
        assert found.startswith(f"{where.replace('score', 'doc_id')}: document 'd5' of query 'q0' appears twice, first")
        assert f"7{suffix}/part-0{suffix}" in found


HALVES = columns_of(ROWS[:600]), columns_of(ROWS[600:])
RENAMED = dict(zip(("query_id", "docno", "score"), HALVES[1].values(), strict=True))
SAME = "the parts of a run must have the same format"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"0.parquet": HALVES[0], "1.run": HALVES[1]},
         f"parts/1.run: this part is not a table, but parts/0.parquet is: {SAME}"),
        ({"0.run": HALVES[0], "1.parquet": HALVES[1]},
         f"parts/1.parquet: this part is a table, but parts/0.run is not: {SAME}"),
        ({"0.parquet": HALVES[0], "1.parquet": RENAMED},
         "parts/1.parquet: this part has no column doc_id, but parts/0.parquet has"),
        ({"0.parquet": HALVES[0], "1.parquet": {**HALVES[1], "doc_id": range(600)}},
         "parts/1.parquet: doc_id: this part has numbers in this column, but parts/0.parquet has text"),
    ],
)  # fmt: skip
def test_parts_must_have_the_same_format(parts, message):
    os.mkdir("parts")
    for name, columns in parts.items():
        write_columns(columns, f"parts/{name}")
    assert message_of(values, "parts") == message


def test_folders_of_data_sets_are_no_parts():
    os.makedirs("data/run=bm25")
    os.makedirs("delta/_delta_log")
    Path("delta/part-0").write_text("q1 Q0 d1 1 1 t\n")
    assert message_of(values, "data") == (
        "data: there are no files in this folder, but folders of a partitioned data set: name their files by the "
        "pattern 'data/*/*', or in Python pass pyarrow.dataset.dataset('data', partitioning='hive'), which has the "
        "columns of their names too"
    )
    assert message_of(values, "delta") == (
        "delta: this is a Delta table, whose folder may hold rows that were deleted: "
        "pass deltalake.DeltaTable('delta').to_pyarrow_dataset()"
    )


@pytest.mark.parametrize(
    ("names", "n"),
    [
        (["part-00000", "part-00001"], 2),
        (["part-r-00000", "part-00001-4c-8b.c000.snappy", "bm25"], 2),
        (["part.0", "part.10"], 2),
        (["data_0", "data_1"], 2),
        (["000000_0", "000001_0", "0001_part_00"], 3),
        (["part-00000", "bm25"], 0),
        (["run_0", "run_1", "part", "part-time", "party-1", "data", "data_set", "bm25-0", "2024_1"], 0),
        (["run1", "run2", "part1", "fold-1", "0", "1"], 0),
    ],
)
def test_names_that_look_like_parts(names, n):
    assert len(look_like_parts(names)) == n


def test_a_warning_about_runs_that_may_be_parts():
    files = divided(ROWS, "parts", ".snappy.parquet")
    problem = r"runs: part-0.* … part-.* look like parts of one run, but are evaluated as 12 runs: pass \{'name'"
    for runs in ("parts", "parts/*.parquet", files):
        with pytest.warns(UserWarning, match=problem):
            assert len(tieaware.evaluate(QRELS, runs, "AP")) == N_PARTS
    # No warning, which would be an error.
    tieaware.evaluate(QRELS, {"bm25": "parts"}, "AP")
    tieaware.evaluate(QRELS, {f"{i}": path for i, path in enumerate(files)}, "AP")


def test_the_pattern_for_a_partitioned_data_set():
    for i in range(2):
        os.makedirs(f"data/year=1/shard={i}")
        FORMATS[".snappy.parquet"](ROWS[600 * i : 600 * (i + 1)], f"data/year=1/shard={i}/0.parquet")
    Path("data/year=1/_SUCCESS").touch()
    found = message_of(values, "data")
    assert "name their files by the pattern 'data/*/*/*.parquet', or" in found
    assert values("data/*/*/*.parquet") == EXPECTED


def test_folders_without_files_but_with_a_folder_for_each_run():
    for name in ("modelA", "modelB"):
        os.makedirs(f"hive/model={name}/_temporary")
        FORMATS[".snappy.parquet"](ROWS, f"hive/model={name}/data_0.parquet")
    assert message_of(tieaware.evaluate, QRELS, "hive", "AP") == (
        "hive: there are no run files in this folder, but folders: pass {name: folder} if each is a run, or "
        "{'name': 'hive/*/*.parquet'} if all are one"
    )
    for runs in ({"modelA": "hive/model=modelA", "modelB": "hive/model=modelB"}, "hive/*/*.parquet"):
        result = tieaware.evaluate(QRELS, runs, MEASURES)
        assert [result[name].values.tobytes() for name in result.runs] == [EXPECTED] * 2
    # Two files in one folder of a partition may be parts of one run.
    FORMATS[".snappy.parquet"](ROWS, "hive/model=modelA/data_1.parquet")
    with pytest.warns(UserWarning, match="look like parts of one run"):
        tieaware.evaluate(QRELS, "hive/*/*.parquet", "AP")


def test_many_parts_are_not_open_at_the_same_time(tmp_path, monkeypatch):
    opened = []

    class Counted(tables.ByteStream):
        def __init__(self, path):
            super().__init__(path)
            opened.append(self)
            assert sum(not each.closed for each in opened) == 1

    monkeypatch.setattr(tables, "ByteStream", Counted)
    divided(SHUFFLED, tmp_path / "parts", ".csv")
    assert values(tmp_path / "parts") == EXPECTED
    assert len(opened) == N_PARTS + 1


def test_data_sets_of_pyarrow(tmp_path):
    divided(SHUFFLED, tmp_path / "parts", ".snappy.parquet")
    data = pyarrow.dataset.dataset(f"{tmp_path}/parts")
    columns = ["score", "doc_id", "query_id"]
    everything = pyarrow.dataset.field("score") >= 0
    for form in (data, data.scanner(columns=columns), data.filter(everything)):
        assert values(form) == EXPECTED
        assert values(tieaware.Run.from_frame(form)) == values(tieaware.Run.from_arrow(form)) == EXPECTED
    judged = pyarrow.dataset.dataset(table(JUDGED).rename_columns(["query_id", "doc_id", "label"]))
    assert tieaware.evaluate(judged, {"bm25": RUN}, MEASURES).values.tobytes() == EXPECTED


def test_a_data_set_that_cannot_be_read(tmp_path):
    FORMATS[".snappy.parquet"](ROWS, tmp_path / "a.parquet")
    data = pyarrow.dataset.dataset(f"{tmp_path}")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no longer")
    assert message_of(values, data).startswith("bm25: the data set cannot be read: ")


def test_other_values_are_not_taken_for_parts():
    for value in ("none", b"none", 1, None, {}, [1, 2], ([1],), {"q": {"d": 1}}):
        assert parts_at(value, "runs") is value


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_lines_of_parts_end_in_any_way(end, tmp_path):
    """The parts are read alike, and the line of an error is counted within its part."""
    (tmp_path / "part-0").write_bytes(f"# first{end}q1 Q0 d1 1 2 t{end}{end}q1 Q0 d2 1 1 t".encode())
    (tmp_path / "part-1").write_bytes(f"{end}q2 Q0 d1 1 2 t{end}q2 Q0 d2 1 1 t{end}".encode())
    (tmp_path / "part-2").write_bytes(f"{end}{end}q3 Q0 d1 1 2 t{end}".encode())
    parts = [tmp_path / f"part-{i}" for i in range(3)]
    assert read_run(parts).to_dict() == {"q1": {"d1": 2, "d2": 1}, "q2": {"d1": 2, "d2": 1}, "q3": {"d1": 2}}
    parts[2].write_bytes(f"{end}{end}q3 Q0 d1 1 2 t{end}q3 Q0 d2{end}".encode())
    assert "part-2:4: a line of a run has 6 fields" in message_of(read_run, parts)
