"""Lines in other layouts than TREC's: those with a certain meaning are read, and the others are named in an error."""

from __future__ import annotations

import gzip
import io

import pandas
import pytest
from support.errors import message_of

from tieaware import evaluate
from tieaware.inputs import read_qrels, read_run
from tieaware.inputs.runs import streamed
from tieaware.inputs.runs.streamed import RunFile

LABELS = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}
SCORES = {"q1": {"d1": 2.5, "d2": 1.5}, "q2": {"d3": 0.5}}
RANKS = {"q1": {"d1": -1.0, "d2": -2.0}, "q2": {"d3": -1.0}}


def rewritten(text):
    """Return several texts with the same rows: also with comments, other separators and ends of lines."""
    lines = text.splitlines()
    return [text, "\r\n".join(lines), "# comment\n\n" + text, "\ufeff" + text.replace(" ", "\t") + "\n", text + "\r"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("q1 d1 2\nq1 d2 0\nq2 d3 1", LABELS),
        ("q1 d1 L2\nq1 d2 L0\nq2 d3 L1", LABELS),
        ("q1 d1\nq2 d3", {"q1": {"d1": 1}, "q2": {"d3": 1}}),
        # Ratings from 1 to 3 that happen to count each user's items are read only if there are too few to tell.
        ("q1 d1 1\nq2 d3 1", {"q1": {"d1": 1}, "q2": {"d3": 1}}),
        ("q1 d1 0.5\nq1 d2 0\nq2 d3 1e0", {"q1": {"d1": 0.5, "d2": 0.0}, "q2": {"d3": 1.0}}),
    ],
)
def test_judgments_of_two_and_three_columns(text, expected):
    for form in rewritten(text):
        assert read_qrels(io.BytesIO(form.encode())).to_dict() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("q1 d1 1\nq1 d2 2\nq2 d3 1", RANKS),
        ("q1 d1 0\nq1 d2 1\nq2 d3 0", {"q1": {"d1": 0.0, "d2": -1.0}, "q2": {"d3": 0.0}}),
        ("q1 d1 1 2.5\nq1 d2 2 1.5\nq2 d3 1 0.5", SCORES),
        ("q1 Q0 d1 1 2.5\nq1 Q0 d2 2 1.5\nq2 Q0 d3 1 0.5", SCORES),
        ("q1 d1 1 2.5 tag\nq1 d2 2 1.5 tag\nq2 d3 1 0.5 tag", SCORES),
    ],
)
def test_runs_of_three_to_five_columns(text, expected, tmp_path):
    path = tmp_path / "a.run"
    for form in rewritten(text):
        path.write_text(form, newline="")
        assert read_run(path).to_dict() == RunFile(path).whole().to_dict() == expected
        assert [chunk.to_dict() for chunk in RunFile(path).contiguous_chunks()] == [expected]


def test_a_long_run_of_ranks_has_the_same_values_for_any_number_of_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(streamed, "SMALLEST", 1)
    monkeypatch.setattr(streamed, "CHUNK", 1 << 12)
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"q{q}\td{(7 * q * r) % 101}_{r}\t{r}\n" for q in range(200) for r in range(1, 21)))
    qrels = {f"q{q}": {f"d{(7 * q * 3) % 101}_3": 1} for q in range(200)}
    one, two = (evaluate(qrels, path, "RR", threads=threads) for threads in (1, 2))
    assert one.values.tobytes() == two.values.tobytes()
    assert set(one.values.ravel().tolist()) == {1 / 3}


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("q1 d1 1\nq1 d2 2\nq1 d3 3", 1, "the lines look like a run"),
        ("1 0 184 \n1 0 29", 1, "a line of judgments has 4 fields"),
        ("q1 d1 1\nq1 d2 2 3\nq1 d5 1", 1, "a line of judgments has 4 fields"),
        ("q1 d1 5\n" + "".join(f"q2 d{i} 0\n" for i in range(2000)) + "q2 d 1 1\n", 2002, "3 fields"),
        ("7 3 5 874965758\n8 5 4 874965759", 1, "user item rating time"),
        ("01 14 0 0\n01 15 0 0\n02 20 0 0\n02 31 0 0", 1, "the second field varies more than the third"),
        ("1 a 0 0 1\n1 b 1 1 0.5", 1, "prels"),
        ("2 qid:1 1:0.5 2:0.1 # a\n0 qid:1 1:0.2", 1, "SVMlight"),
        ("user_id:token item_id:token rating:float\n1 3 5", 1, "RecBole"),
        ("q1;0;d1;1\nq2;0;d3;1", 1, "semicolons"),
        ("query-id corpus-id score\nq1 d1 1\nq2 d3 1", 1, "names columns"),
    ],
)
def test_other_lines_in_place_of_judgments(text, line, problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_text(text)
    message = message_of(read_qrels, "a")
    assert message.startswith(f"a:{line}: ")
    assert problem in message


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("1 0 -1.25\n1 1 0.75\n2 0 0.5", 1, "RankLib"),
        ("q1 d1 9.5\nq1 d2 8.5", 1, "a line of a run has 6 fields"),
        ("q Q0 my doc 1 9.5 r\nq Q0 your doc 2 8.5 r", 1, "does the document id contain a space?"),
        ("q Q0 doc 1 1 9.5 r\nq Q0 doc 2 2 8.5 r", 1, "does the document id contain a space?"),
        ("q Q0 a 1 9.5 r\nq Q0 doc 2 2 8.5 r", 2, "does the document id contain a space?"),
        ("q Q0 a 1 9.5 r\nmy q Q0 d 2 8.5 r", 2, "the rank, field 4, is 'd'"),
        ("q 0 a 1\nq 0 b 0", 1, "this is a line of judgments"),
        ("q1 d1 1\n" + "".join(f"q2 d{i} {i}\n" for i in range(1, 2000)) + "q2 d 1 1\n", 2001, "3 fields"),
    ],
)
def test_other_lines_in_place_of_a_run(text, line, problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_text(text)
    message = message_of(read_run, "a")
    assert message.startswith(f"a:{line}: ")
    assert problem in message


def test_shifted_fields_in_a_later_chunk(tmp_path, monkeypatch):
    """The line of the error is the same for any number of threads."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(streamed, "SMALLEST", 1)
    monkeypatch.setattr(streamed, "CHUNK", 1 << 10)
    lines = [f"q{i // 10} Q0 d{i} {i % 10 + 1} {9 - i % 10} t" for i in range(500)]
    lines[400:] = [line.replace(" d", " d ") for line in lines[400:]]
    (tmp_path / "a").write_text("\n".join(lines))
    for threads in (1, 2):
        message = message_of(evaluate, {"q1": {"d10": 1}}, "a", "RR", threads=threads)
        assert message.startswith("a:401: field 5, the score, looks like a rank, and field 6 like a score")


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"PK\x03\x04 and more bytes", "a zip archive"),
        (b"\x80\x05\x95 and more bytes", "a pickle"),
        ("q1 0 d1 1\n".encode("utf-16"), "text in UTF-16"),
        (b"<!DOCTYPE html>\n<html></html>", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1\nsize 1\n", "a pointer of Git LFS"),
    ],
)
def test_files_that_are_no_text(start, what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_bytes(start)
    for read in (read_qrels, read_run):
        assert message_of(read, "a").startswith(f"a: the file is {what}")


def test_one_json_object_has_labels_or_scores(tmp_path):
    (tmp_path / "qrels.json").write_text('\ufeff{"q1": {"d1": 1, "d2": 0}}')
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b'{"q1": {"d1": 2.5, "d2": 2.5}}'))
    assert read_qrels(tmp_path / "qrels.json").to_dict() == {"q1": {"d1": 1, "d2": 0}}
    result = evaluate(tmp_path / "qrels.json", tmp_path / "a.json.gz", "RR")
    assert (result.runs, result.values.tolist()) == (("a",), [[[0.75]]])
    (tmp_path / "b.json").write_text('{"7": {"1": 2.5, "2": 1.5}}')
    numbered = pandas.DataFrame({"qid": [7], "docno": [2], "label": [1]})
    assert evaluate(numbered, tmp_path / "b.json", "RR").mean().item() == 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "a.json: a .json file must contain an object {query: {document: number}}"),
        ('[{"q": 1}]', "a.json: a .json file must contain an object {query: {document: number}}"),
        ('{"q": 1}', "a.json: a .json file must contain an object {query: {document: number}}"),
        ('{"q": {"d": 1}', "a.json:1: this is not JSON: Expecting ',' delimiter at column 15"),
    ],
)
def test_other_json_files(text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.json").write_text(text)
    assert message_of(read_run, "a.json") == message_of(read_qrels, "a.json") == message


def test_candidates_of_a_reranker(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"query": {"qid": "q1", "text": "t"}, "candidates": [{"docid": "d1", "score": 2}]}\n')
    assert read_run(path).to_dict() == {"q1": {"d1": 2.0}}
    path.write_text('{"query": "q1", "candidates": [{"docid": "d1", "score": 2}]}\n')
    assert "candidates must have the form" in message_of(read_run, path)
