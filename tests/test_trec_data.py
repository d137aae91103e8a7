"""Real runs and judgments, read as plain Python reads them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tieaware.inputs import read_qrels, read_run
from tieaware.inputs.trec import stream_run

DATA = Path(os.environ.get("TIEAWARE_DATA", Path(__file__).parents[2] / "shared" / "data"))
RUNS = sorted(DATA.glob("trec_covid_r1/runs/*")) + sorted(DATA.glob("clef_tar2017/runs/*"))
RUNS += sorted(DATA.glob("trec_eval_tests/results*")) + sorted(DATA.glob("cacm/*.run"))
QRELS = sorted(DATA.glob("*/qrel*")) + sorted(DATA.glob("*/*.qrels")) + sorted(DATA.glob("qrels/*"))
# The judgments of several assessors in one file contradict each other.
QRELS = [path for path in QRELS if path.is_file() and not path.name.endswith(".123")]

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"there is no test data at {DATA}")


def lines_of(path):
    lists = {}
    with open(path, "rb") as file:
        for line in file:
            fields = line.split()
            if fields and not fields[0].startswith(b"#"):
                lists.setdefault(fields[0], []).append(fields)
    return lists


def test_the_data_are_there():
    assert len(RUNS) > 46
    assert len(QRELS) > 10


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name)
def test_runs(path):
    expected = lines_of(path)
    rows = [fields for listed in expected.values() for fields in listed]
    run = read_run(path)
    assert list(run.queries) == list(expected)
    assert list(run.documents) == [fields[2] for fields in rows]
    assert run.scores.tolist() == [float(fields[4]) for fields in rows]
    assert run.offsets[1:].tolist() == [
        sum(map(len, list(expected.values())[: q + 1])) for q in range(len(run))
    ]
    parts = list(stream_run(path))
    assert [document for part in parts for document in part.documents] == list(run.documents)


@pytest.mark.parametrize("path", QRELS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_judgments(path):
    expected = lines_of(path)
    qrels = read_qrels(path)
    assert list(qrels.queries) == list(expected)
    rows = list(
        dict.fromkeys((*fields[:3:2], int(fields[3])) for listed in expected.values() for fields in listed)
    )
    assert list(qrels.documents) == [row[1] for row in rows]
    assert qrels.labels.tolist() == [row[2] for row in rows]
