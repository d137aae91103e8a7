"""Runs and judgments of generated and of public collections, read as plain Python reads them."""

from __future__ import annotations

import itertools

import pytest

from tieaware.inputs import read_qrels, read_run
from tieaware.inputs.runs.streamed import RunFile


def generated_files(request):
    collection = request.getfixturevalue("generated")
    return [*collection.runs], [collection.qrels]


def public_files(request):
    data = request.getfixturevalue("data")
    runs = ("trec_covid_r1/runs/*", "clef_tar2017/runs/*", "trec_eval_tests/results*", "cacm/*.run")
    qrels = ("*/qrel*", "*/*.qrels", "qrels/*")
    runs, qrels = (sorted(path for each in patterns for path in data.glob(each)) for patterns in (runs, qrels))
    assert len(runs) > 46
    assert len(qrels) > 10
    # Use every second run of TREC-COVID only, because plain Python takes seconds to read them.
    runs = [path for i, path in enumerate(runs) if i % 2 or path.parent.parent.name != "trec_covid_r1"]
    # The judgments of several assessors in one file contradict each other.
    return runs, [path for path in qrels if path.is_file() and not path.name.endswith(".123")]


@pytest.fixture(scope="module", params=[generated_files, pytest.param(public_files, marks=pytest.mark.slow)])
def files(request):
    """Return the paths of all runs, and the paths of all judgments."""
    return request.param(request)


def lines_of(path):
    lists = {}
    with open(path, "rb") as file:
        for line in file:
            fields = line.split()
            if fields and not fields[0].startswith(b"#"):
                lists.setdefault(fields[0], []).append(fields)
    return lists


def test_runs(files):
    for path in files[0]:
        expected = lines_of(path)
        rows = [fields for listed in expected.values() for fields in listed]
        run = read_run(path)
        assert list(run.queries) == list(expected), path
        assert list(run.documents) == [fields[2] for fields in rows], path
        assert run.scores.tolist() == [float(fields[4]) for fields in rows], path
        assert run.offsets[1:].tolist() == list(itertools.accumulate(map(len, expected.values()))), path
        parts = list(RunFile(path).contiguous_chunks())
        assert [document for part in parts for document in part.documents] == list(run.documents), path


def test_judgments(files):
    for path in files[1]:
        expected = lines_of(path)
        qrels = read_qrels(path)
        assert list(qrels.queries) == list(expected), path
        lines = [fields for listed in expected.values() for fields in listed]
        rows = list(dict.fromkeys((*fields[:3:2], int(fields[3])) for fields in lines))
        assert list(qrels.documents) == [row[1] for row in rows], path
        assert qrels.labels.tolist() == [row[2] for row in rows], path
