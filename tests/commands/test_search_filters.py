"""The option --filters of ``tieaware search``: phrases, and AND, OR and NOT."""

import pytest

from tieaware.cli import main
from tieaware.retrieval import Exact, Index, parse_query

DOCUMENTS = "d1\thot springs\nd2\tsprings are hot\nd3\thot summers\n"


@pytest.fixture
def index(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.tsv").write_text(DOCUMENTS)
    (tmp_path / "t.tsv").write_text('t1\t"hot springs"\nt2\thot AND NOT springs\nt3\tsprings\n')
    assert main(["index", "d.tsv", "--out", "index"]) == 0
    capsys.readouterr()
    return Index.load("index")


@pytest.mark.parametrize("method", ["Exact()", "Champions(r=10)", "WAND()"])
def test_run_is_that_of_python(index, capsys, method):
    assert main(["search", "index", "t.tsv", "--filters", "--weighting", "bnn.bnn", "--method", method]) == 0
    lines = [line.split()[:5] for line in capsys.readouterr().out.splitlines()]
    texts = {"t1": '"hot springs"', "t2": "hot AND NOT springs", "t3": "springs"}
    run = Exact(weighting="bnn.bnn").search(index, {name: parse_query(index, text) for name, text in texts.items()})
    assert [line[2] for line in lines] == run.documents.to_list() == ["d1", "d3", "d1", "d2"]
    assert [float(line[4]) for line in lines] == pytest.approx(run.scores.tolist())


def test_without_the_option_operators_are_words(index, capsys):
    assert main(["search", "index", "--query", "hot AND NOT springs", "--weighting", "bnn.bnn"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--query", "hot", "--query", '"hot'], 'query 2, character 1: this " begins a phrase that has no second "'),
        (["--query", "hot AND"], "query 1, character 8: expected a word, a phrase, NOT or (, found the end"),
    ],
)
def test_malformed_queries_are_one_line(index, capsys, options, message):
    assert main(["search", "index", *options, "--filters"]) == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith(message)


def test_phrases_need_positions(index, capsys):
    assert main(["index", "d.tsv", "--no-positions", "--out", "short"]) == 0
    assert main(["search", "short", "t.tsv", "--filters"]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("short: has no positions")
