"""Inputs that people bring, in a folder beside the public collections: each is read with its value, or refused."""

from __future__ import annotations

import pytest
from support.errors import message_of

from tieaware import Evaluator, evaluate, read_qrels, read_run
from tieaware.integrations import search_engines

Q, R = "common/qrels.txt", "common/ok.run"


@pytest.fixture
def cases(data, monkeypatch):
    if not (data / "public_cases").is_dir():
        pytest.skip(f"{data} has no folder public_cases")
    monkeypatch.chdir(data / "public_cases")


@pytest.mark.usefixtures("cases")
@pytest.mark.parametrize(
    ("qrels", "run", "value"),
    [
        (Q, R, 0.75),
        (Q, "short_run_lines/query_document_rank_score.tsv", 0.75),
        (Q, "short_run_lines/query_document_rank.tsv", 0.75),
        (Q, "json/run.json", 0.75),
        (Q, "json/candidates.jsonl", 0.75),
        ("short_judgments/three.txt", R, 0.75),
        ("short_judgments/two.txt", R, 0.75),
        ("short_judgments/letters.txt", R, 0.75),
        ("excluded_documents/qrels.txt", "excluded_documents/self.run", 0.5),
    ],
)
def test_read(qrels, run, value):
    assert evaluate(qrels, run, "RR").mean()[0, 0] == value


@pytest.mark.usefixtures("cases")
def test_a_run_without_tag():
    assert evaluate(Q, "short_run_lines/no_tag.run", "RR").mean()[0, 0] == 0.5
    assert read_run("short_run_lines/no_tag.run").tag == "run"


@pytest.mark.usefixtures("cases")
@pytest.mark.parametrize(
    ("qrels", "run", "problem"),
    [
        ("document_with_spaces/qrels.txt", "document_with_spaces/a.run", "a.run:1: .*does the document id contain a"),
        ("other_four_columns/leave_one_out.txt", "other_four_columns/items.run", "user item rating time"),
        ("other_four_columns/smart.txt", "other_four_columns/smart.run", "query document 0 0"),
        ("names_and_separators/header.txt", R, "names columns: call the file .tsv"),
        ("names_and_separators/semicolon.txt", R, "separated by semicolons"),
        (Q, "names_and_separators/semicolon.csv", "separated by semicolons.* decimal points"),
        (Q, "utf16/le.run", "UTF-16"),
        (Q, "not_text/ok.zip", "zip archive"),
        ("not_text/page.txt", R, "web page"),
        ("not_text/pointer.txt", R, "Git LFS"),
        ("learning_to_rank/letor.txt", R, "LETOR.*qid"),
        (Q, "learning_to_rank/ranklib.score", "query position score"),
        ("sampled_judgments/prels.txt", R, "prels.*fields 1, 2 and 3"),
        ("subtopics/qrels.txt", R, "subtopics=True"),
        ("atomic_columns/ml.inter", R, "RecBole"),
    ],
)
def test_refused(qrels, run, problem):
    with pytest.raises(ValueError, match=problem):
        evaluate(qrels, run, "RR")


@pytest.mark.usefixtures("cases")
def test_judgments_without_a_relevant_document():
    with pytest.warns(UserWarning, match=r"nothing_relevant/qrels.txt: no document is relevant"):
        assert evaluate("nothing_relevant/qrels.txt", R, "RR").mean()[0, 0] == 0.0


@pytest.mark.usefixtures("cases")
def test_responses_of_search_engines():
    read = search_engines.read_results
    assert "responses[1].timed_out" in message_of(read, "partial_responses/msearch.json", ["a", "b"])
    assert read("partial_responses/msearch.json", ["a", "b"], partial="keep").to_dict()["a"] == {"d1": 2.0}
    assert "root.coverage.full" in message_of(read, "partial_responses/vespa.json", "a")
    assert read("ratings_of_engines/solr.json", "tv").to_dict() == {"tv": {"d1": 2.0, "d2": 2.0}}
    assert "duplicates='highest'" in message_of(read, "chunks/search.json", "tv", document="_source.doc")
    for duplicates, score in (("first", 3.0), ("last", 2.0), ("highest", 3.0)):
        kept = read("chunks/search.json", "tv", document="_source.doc", duplicates=duplicates)
        assert kept.to_dict() == {"tv": {"A": score, "B": 1.0}}
    assert search_engines.read_judgments("ratings_of_engines/gain_objects.json").to_dict() == {"tv": {"d1": 3, "d2": 1}}


@pytest.mark.usefixtures("cases")
def test_order_only_in_the_ranks():
    path = "order_in_the_ranks/constant.run"
    with pytest.warns(UserWarning, match="constant: all scores of a query are equal, but not the ranks"):
        assert evaluate(Q, path, "RR").mean().item() == pytest.approx(0.6806, abs=1e-4)
    assert evaluate(Q, path, "RR", ties="run_order").mean().item() == 0.75


@pytest.mark.usefixtures("cases")
def test_excluded_documents():
    assert evaluate("excluded_documents/qrels.txt", "excluded_documents/self.run", "RR", exclude="same-id").mean() == 1


def test_negative_labels_that_are_not_whole():
    with pytest.warns(UserWarning, match=r"labels: -0.5 is negative, and means unjudged"):
        Evaluator([[-0.5, 0.5, 1.5]], "nDCG")


def test_average_precision_of_kaggle():
    """Ten documents are relevant, and the seven retrieved ones are."""
    judgments, run = {"q": dict.fromkeys("abcdefghij", 1)}, {"q": {d: -i for i, d in enumerate("abcdefg")}}
    result = evaluate(judgments, run, ["mapk@7", "AP@7"])
    assert list(map(str, result.measures)) == ["AP_cap@7", "AP@7"]
    assert result.mean()[0].tolist() == [1.0, 0.7]


@pytest.mark.usefixtures("cases")
def test_values_of_the_public_layouts():
    assert read_qrels("short_judgments/letters.txt").to_dict() == {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}


@pytest.mark.usefixtures("cases")
@pytest.mark.parametrize(("duplicates", "label"), [("first", 0), ("last", 1), ("highest", 1)])
def test_conflicting_judgments(duplicates, label):
    path = "conflicting_judgments/qrels.txt"
    assert "duplicates='highest'" in message_of(read_qrels, path)
    assert read_qrels(path, duplicates=duplicates).to_dict() == {"q1": {"d1": label}, "q2": {"d3": 1}}
