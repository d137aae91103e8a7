"""Documents that are not ranked for a query: those with the id of the query, or those in a list."""

import random

import numpy as np
import pandas as pd
import pytest
from support.errors import message_of

import tieaware
from tieaware import cli
from tieaware.ties import RULES

MEASURES = ["RR", "AP@3", "nDCG", "P@2", "Judged@2"]


@pytest.fixture(scope="module")
def collection():
    """Return judgments, a run with ties and documents that are queries, and lists of other documents to leave out."""
    rng, names = random.Random(7), [f"d{i}" for i in range(12)]
    qrels, run, lists = {}, {}, {}
    for query in names[:8]:
        documents = rng.sample(names, 9)
        run[query] = {document: float(rng.randrange(3)) for document in {query: 0, **dict.fromkeys(documents)}}
        judged = rng.sample([name for name in names if name != query], 5)
        qrels[query] = {document: rng.randrange(3) for document in judged}
        lists[query] = [document for document in rng.sample(names, 6) if qrels[query].get(document, 0) == 0]
    return qrels, run, lists


def _without(run, lists):
    return {query: {d: s for d, s in run[query].items() if d not in lists[query]} for query in run}


@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("form", ["dict", "file", "frame", "columns"])
def test_the_values_are_those_of_runs_without_the_documents(collection, tmp_path, form, ties):
    qrels, run, lists = collection
    rows = [(query, document, score) for query in run for document, score in run[query].items()]
    path = tmp_path / "a.run"
    path.write_text("".join(f"{q} Q0 {d} 1 {s} tag\n" for q, d, s in rows))
    frame = pd.DataFrame(rows, columns=["query", "doc", "score"])
    given = {
        "dict": run, "file": path, "frame": frame,
        "columns": tieaware.Run.from_columns(*map(list, zip(*rows, strict=True))),
    }[form]  # fmt: skip
    options = {"ties": ties, "spread": ties == "average"}
    for exclude, left_out in (("same-id", {query: [query] for query in run}), (lists, lists)):
        found = tieaware.evaluate(qrels, given, MEASURES, exclude=exclude, **options)
        expected = tieaware.evaluate(qrels, _without(run, left_out), MEASURES, **options)
        for name, cube in expected.cubes().items():
            np.testing.assert_array_equal(found.cubes()[name], cube)
        assert (found.values != tieaware.evaluate(qrels, given, MEASURES, ties=ties).values).any()


def test_lists_in_other_forms(collection, tmp_path):
    """Two columns of a file, a data frame, sets, and judgments; queries without judgments or rows do not matter."""
    qrels, run, lists = collection
    expected = tieaware.evaluate(qrels, run, MEASURES, exclude=lists).values
    rows = [(query, document) for query in lists for document in lists[query]]
    path = tmp_path / "excluded.txt"
    path.write_text("".join(f"{query} {document}\n" for query, document in rows))
    columns = list(zip(*rows, strict=True))
    judgments = tieaware.Qrels.from_columns(*columns, [0] * len(rows))
    for exclude in (path, judgments, {q: set(d) for q, d in lists.items()}, {**lists, "another": ["d1"]}):
        assert tieaware.evaluate(qrels, run, MEASURES, exclude=exclude).values.tolist() == expected.tolist()


def test_ids_of_integers():
    qrels, run = {1: {2: 1}, 2: {1: 1}}, {1: {1: 9.0, 2: 8.0}, 2: {2: 9.0, 1: 8.0}}
    assert tieaware.evaluate(qrels, run, "RR", exclude="same-id").mean().item() == 1.0
    topk = ([[1, 2], [2, 1]], [[9.0, 8.0], [9.0, 8.0]])
    named = tieaware.Run.from_topk(*topk, queries=[1, 2])
    assert tieaware.evaluate(tieaware.Qrels.from_dict(qrels), named, "RR", exclude="same-id").mean().item() == 1.0


def test_the_order_of_the_file_is_that_without_the_documents():
    run = {"a": {"a": 0.0, "b": 1.0, "c": 2.0}}
    result = tieaware.evaluate({"a": {"b": 1}}, run, "RR", order="file", exclude="same-id")
    assert result.values.item() == 1.0


def test_messages(collection):
    qrels, run, _ = collection
    query, document = next((q, d) for q in qrels for d, label in qrels[q].items() if label)
    relevant = message_of(tieaware.evaluate, qrels, run, "RR", exclude={query: [document]})
    expected = f"document {document!r} of query {query!r} is relevant; take it out of the judgments"
    assert relevant == f"exclude: {expected}"
    assert message_of(tieaware.evaluate, qrels, run, "RR", exclude=3).startswith("exclude: must be judgments")
    assert message_of(tieaware.evaluate, qrels, run, "RR", exclude="no file") == "no file: there is no such file"


def test_checkpoints_know_them(tmp_path):
    (tmp_path / "a.run").write_text("a Q0 a 1 9 t\na Q0 b 2 8 t\n")
    given = {"a": {"b": 1}}, tmp_path / "a.run", "RR"
    out = tmp_path / "out"
    for _ in range(2):
        assert tieaware.evaluate(*given, out=out, exclude="same-id").values.item() == 1.0
    assert tieaware.evaluate(*given[:2], ["RR", "P@1"], out=out, exclude="same-id").values.ravel().tolist() == [1, 1]
    for exclude in (None, {"a": ["c"]}):
        assert "other excluded documents; choose" in message_of(tieaware.evaluate, *given, out=out, exclude=exclude)


def test_the_command(tmp_path, capsys):
    (tmp_path / "a.run").write_text("a Q0 a 1 9 t\na Q0 b 2 8 t\n")
    (tmp_path / "qrels").write_text("a 0 b 1\n")
    (tmp_path / "list").write_text("a a\n")
    for exclude, value in ((["--exclude", "same-id"], 1.0), (["--exclude", str(tmp_path / "list")], 1.0), ([], 0.5)):
        assert cli.main(["eval", str(tmp_path / "qrels"), str(tmp_path / "a.run"), "-m", "RR", *exclude]) == 0
        assert capsys.readouterr().out.split()[-1] == f"{value:.4f}"
