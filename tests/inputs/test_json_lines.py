"""Runs and judgments in JSON Lines files: the values of the same rows in columns, and errors that name the line."""

import gzip
import json
import re

import pytest

import tieaware
from tieaware.errors import InputError
from tieaware.inputs import read_qrels, read_run
from tieaware.inputs.tables import json_lines
from tieaware.kernels._trec import LONGEST_LINE

MEASURES = ["AP", "nDCG@10"]
RUN = {
    "query": [f"q{i // 40}" for i in range(400)],
    "doc": [f"d{i * 37 % 401}é" for i in range(400)],
    "score": [i * 7 % 11 / 4 for i in range(400)],
}
QRELS = {"query": RUN["query"], "doc": RUN["doc"], "label": [i % 5 // 3 for i in range(400)]}


def lines_of(table):
    rows = (dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True))
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


@pytest.fixture(params=[65536, 7])
def expected(request, monkeypatch):
    """Return the values from columns; files are read in large and in small batches."""
    monkeypatch.setattr(json_lines, "_BATCH_ROWS", request.param)
    monkeypatch.setattr("tieaware.inputs.runs.streamed.CHUNK_ROWS", 50)
    qrels, run = tieaware.Qrels.from_columns(*QRELS.values()), tieaware.Run.from_columns(*RUN.values())
    return tieaware.evaluate(qrels, run, MEASURES).values.tobytes()


@pytest.mark.parametrize(("suffix", "compress"), [("jsonl", bytes), ("ndjson", bytes), ("jsonl.gz", gzip.compress)])
def test_values_are_those_of_columns(suffix, compress, expected, tmp_path):
    qrels, run = tmp_path / f"qrels.{suffix}", tmp_path / f"bm25.{suffix}"
    qrels.write_bytes(compress(lines_of(QRELS)))
    run.write_bytes(compress(b"\xef\xbb\xbf" + lines_of(RUN).replace(b"\n", b"\r\n \n")))
    for threads in (1, 2):
        result = tieaware.evaluate(qrels, run, MEASURES, threads=threads)
        assert (result.runs, result.values.tobytes()) == (("bm25",), expected)
    assert tieaware.evaluate(read_qrels(qrels), read_run(run), MEASURES).values.tobytes() == expected


def test_rows_in_any_order_and_several_runs(expected, tmp_path):
    order = sorted(range(400), key=lambda i: i * 7 % 400)
    both = {name: [values[i] for i in order] * 2 for name, values in RUN.items()} | {"run": ["a"] * 400 + ["b"] * 400}
    (tmp_path / "runs.jsonl").write_bytes(lines_of(both))
    (tmp_path / "one.jsonl").write_bytes(lines_of({name: values[:400] for name, values in both.items()}))
    qrels = tieaware.Qrels.from_columns(*QRELS.values())
    for name, runs in (("runs", ("a", "b")), ("one", ("one",))):
        result = tieaware.evaluate(qrels, tmp_path / f"{name}.jsonl", MEASURES)
        assert (result.runs, result.values.tobytes()) == (runs, expected * len(runs))


def test_identifiers_may_be_integers(tmp_path):
    (tmp_path / "run.jsonl").write_text('{"qid": 1, "docno": 7, "score": 1}\n')
    assert tieaware.evaluate({1: {7: 1}}, tmp_path / "run.jsonl", "RR").mean().item() == 1
    assert read_run(tmp_path / "run.jsonl").queries.to_list() == [1]


GOOD = '{"query": "q", "doc": "d", "score": 1}\n\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + "q Q0 e 1 1 t\n", "a.jsonl:3: this is not JSON: Expecting value at column 1"),
        (GOOD + "[" * 100_000, "a.jsonl:3: the JSON is nested too deeply"),
        (GOOD + '["q", "e", 1]\n', "a.jsonl:3: the line must be a JSON object, not list"),
        (GOOD + '{"query": "q", "doc": "e"}\n', "a.jsonl:3: the object has no key 'score'"),
        (GOOD + '{"query": "q", "doc": "e", "score": "x"}', "a.jsonl:3: score: expected a number, found 'x'"),
        (GOOD + '{"query": "q", "doc": "e", "score": NaN}', "a.jsonl:3: score: expected a number, found NaN"),
        (GOOD + '{"query": "q", "doc": null, "score": 1}', "a.jsonl:3: doc: expected text, bytes or an integer, "),
        (GOOD + '{"query": ["q"], "doc": "e", "score": 1}', "a.jsonl:3: query: expected text, bytes or an integer, "),
        (GOOD * 2, "a.jsonl:3: doc: document 'd' of query 'q' appears twice, first at a.jsonl:1: doc; to keep only "
         "the first row, pass duplicates='first'"),
        (GOOD + " " * (LONGEST_LINE + 1), f"a.jsonl:3: the line is longer than {LONGEST_LINE:,} bytes"),
        ('{"query": "q", "score": 1}\n', "a.jsonl: there is no doc column among query, score: "),
        ("", "a.jsonl: the table is empty, or its columns have no names"),
    ],
)  # fmt: skip
def test_errors_name_the_line(text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_text(text)
    for read in (read_run, lambda path: tieaware.evaluate({"q": {"d": 1}}, path, "AP")):
        with pytest.raises(InputError, match=f"^{re.escape(message)}") as caught:
            read("a.jsonl")
        assert "\n" not in str(caught.value)
