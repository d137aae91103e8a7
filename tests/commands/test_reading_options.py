"""The options that say how runs are read: --ids, and those that name the columns of tables."""

from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

IDS, LABELS, SCORES = {"query_id": [1, 1, 2], "doc_id": [10, 11, 10]}, [1, 0, 2], [0.3, 0.4, 0.5]


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """Judgments and a run as text and as Parquet tables of integers, and runs with unusual columns."""
    monkeypatch.chdir(tmp_path)
    rows = list(zip(IDS["query_id"], IDS["doc_id"], LABELS, SCORES, strict=True))
    Path("qrels.txt").write_text("".join(f"{query} 0 {doc} {label}\n" for query, doc, label, _ in rows))
    Path("text.run").write_text("".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, _, score in rows))
    Path("own.csv").write_text("".join(["topicno,passage,sim,cosine\n", *(f"{q},{d},7,{s}\n" for q, d, _, s in rows)]))
    for name, column, values in (("qrels", "label", LABELS), ("table", "score", SCORES), ("own", "cosine", SCORES)):
        pyarrow.parquet.write_table(pyarrow.table({**IDS, column: values}), f"{name}.parquet")


MIXED = [
    ("eval qrels.parquet text.run -m RR", "text.query: has text such as '1', but qrels.parquet has integers such as 1"),
    ("eval qrels.txt table.parquet -m RR", "table.query: has integers such as 1, but qrels.txt has text such as '1'"),
    ("eval qrels.parquet table.parquet -m RR --exclude exclude.txt",
     "exclude.query: has text such as '1', but qrels.parquet has integers such as 1"),
    ("fuse qrels.txt text.run table.parquet --method rrf", "table.query: has integers such as 1, but text has text "
     "such as '1'"),
    ("compare qrels.parquet text.run table.parquet -m RR", "text.query: has text such as '1', but qrels.parquet has "
     "integers such as 1"),
    ("ties text.run --qrels qrels.parquet", "text.query: has text such as '1', but qrels.parquet has integers such as "
     "1"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "message"), MIXED)
def test_ids_of_two_types(line, message, command, refused):
    """The error names the option, with which the command succeeds."""
    Path("exclude.txt").write_text("1 0 11 1\n")
    remedy = "make both text, or both integers; or compare them as text, with --ids text"
    assert refused(*line.split()) == f"{message}: {remedy}\n"
    status, out, err = command(*line.split(), "--ids", "text")
    assert (status, err) == (0, "")
    assert out


@pytest.mark.parametrize("qrels", ["qrels.txt", "qrels.parquet"])
@pytest.mark.parametrize("run", ["text.run", "table.parquet", "name=text.run", "text.run --name name"])
def test_ids_as_text_give_the_same_values(qrels, run, printed):
    """In every combination of files, and in parts, the values are those of two text files."""
    lines = printed("eval", qrels, *run.split(), "-q", "-m", "RR", "--ids", "text").splitlines()
    assert [line.split() for line in lines] == [["RR", "1", "0.5000"], ["RR", "2", "1.0000"], ["RR", "all", "0.7500"]]


def test_names_are_not_numbers(refused):
    """Names that no number can match call for other remedies than numbers that are written as text."""
    Path("qrels.txt").write_text("1 0 d10 1\n")
    pyarrow.parquet.write_table(pyarrow.table({"qid": ["1"], "docno": [10], "score": [1.0]}), "table.parquet")
    assert "Run.from_topk(ids, scores, documents=...) names" in refused("eval", "qrels.txt", "table.parquet")


def test_trec_eval_reads_all_ids_as_text(printed):
    assert printed("trec_eval", "qrels.txt", "table.parquet", "-m", "map") == "map                   \tall\t0.7500\n"


@pytest.mark.parametrize(
    ("line", "message", "options"),
    [
        ("eval qrels.parquet own.parquet -m RR", "own.parquet: there is no score column among query_id, doc_id, "
         "cosine: name it score, rating, prediction or sim, or in Python pass polars.scan_parquet('own.parquet')"
         ".rename({'cosine': 'score'}); or give its name, with --score-column", "--score-column cosine"),
        ("eval qrels.txt own.csv -m RR", "own.csv: there is no query column among topicno, passage, sim, cosine in the "
         "first line: name it query_id, qid, query, user_id, user, topic_id or topic; or give its name, with "
         "--query-column", "--query-column topicno --doc-column passage --score-column cosine"),
        ("eval qrels.txt two.csv -m RR", "two.csv: score and sim may be the score column: rename or drop one of them; "
         "or give its name, with --score-column", "--score-column score"),
    ],
)  # fmt: skip
def test_names_of_columns(line, message, options, printed, refused):
    """The error names the option, with which the right column is read: with the column sim, RR would be 1."""
    Path("two.csv").write_text("qid,docno,score,sim\n1,10,1,9\n1,11,2,8\n2,10,1,9\n")
    assert refused(*line.split()) == f"{message}\n"
    assert printed(*line.split(), *options.split()) == "RR                    \tall\t0.7500\n"


def test_columns_that_are_not_there(refused):
    message = "own.csv: there is no column 'Cosine' for score among topicno, passage, sim, cosine in the first line"
    options = "--query-column topicno --doc-column passage --score-column Cosine"
    assert refused("eval", "qrels.txt", "own.csv", *options.split()) == f"{message}\n"
    # Judgments have no scores, so the options cannot help.
    assert "-column" not in refused("eval", "own.csv", "text.run")


def test_gate_reads_both_sides_alike(printed, refused):
    ids = [f"{i}" for i in range(3)]
    Path("qrels.txt").write_text("".join(f"{i} 0 10 1\n" for i in ids))
    rows = {"qid": [0, 1, 2], "docno": [10] * 3, "cosine": [1.0] * 3}
    for name in ("a.parquet", "b.parquet"):
        pyarrow.parquet.write_table(pyarrow.table(rows), name)
    line = ["gate", "qrels.txt", "a.parquet", "--against", "b.parquet", "-m", "RR", "--score-column", "cosine"]
    assert refused(*line).endswith("with --ids text\n")
    assert "RR" in printed(*line, "--ids", "text")
    for name in ("a.npz", "b.npz"):
        Path(name).touch()
    message = refused("gate", "qrels.txt", "a.npz", "--against", "b.npz", "--ids", "text")
    assert message.startswith("--ids cannot change values that are stored")


def test_checkpoints_know_the_columns(printed, refused):
    """A second evaluation by another column does not get the values of the first."""
    line = ["eval", "qrels.txt", "own.csv", "-m", "RR", "--query-column", "topicno", "--doc-column", "passage", "--out"]
    printed(*line, "done", "--score-column", "cosine")
    assert printed(*line, "done", "--score-column", "cosine") == "RR                    \tall\t0.7500\n"
    assert "made with other columns of the run" in refused(*line, "done", "--score-column", "sim")
