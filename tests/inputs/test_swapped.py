"""Judgments and runs in each other's place: when there is a warning, and that there is no false one."""

import warnings

import numpy as np
import pytest

import tieaware
from tieaware.errors import InputError
from tieaware.inputs import Qrels, read_qrels, read_run
from tieaware.lists.swapped import look_like_labels, look_like_scores

JUDGED = {f"q{i}": {f"d{j}": j % 3 for j in range(6)} for i in range(4)}
RANKED = {f"q{i}": {f"d{j}": 100 - 7 * j for j in range(10)} for i in range(4)}
PROBABILITIES = {f"q{i}": {f"d{j}": 0.9 - 0.07 * j for j in range(13)} for i in range(4)}
WARNING = (
    "the labels in qrels look like scores, and the scores of this run like labels: are judgments and runs swapped?"
)


def warnings_of(qrels, runs, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tieaware.evaluate(qrels, runs, "nDCG", **options)
    return [f"{each.message}" for each in caught]


@pytest.mark.parametrize(
    ("qrels", "runs", "name"),
    [
        (RANKED, JUDGED, "run"),
        (RANKED, {"a": JUDGED, "b": RANKED}, "a"),
        (Qrels.from_dict(RANKED), tieaware.Run.from_dict(JUDGED), "run"),
        ({"q1": {"d1": 9, "d2": 8, "d3": 7}}, {"q1": {"d1": 1, "d3": 0}}, "run"),
        # Many scores of 8 bits tie, but there are still many different ones.
        ({"q": {f"d{j}": (37 * j) % 101 for j in range(1000)}}, {"q": {f"d{j}": 1 for j in range(0, 1000, 9)}}, "run"),
        # Judgments with real labels are normal, but not together with a run of labels.
        (PROBABILITIES, JUDGED, "run"),
    ],
)
def test_swapped_judgments_and_runs_give_a_warning(qrels, runs, name):
    """Shards of runs give none."""
    assert warnings_of(qrels, runs, threads=2) == [f"{name}: {WARNING}"]
    assert warnings_of(qrels, runs, queries="shard") == []


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        (JUDGED, RANKED),
        # The grades of a language model, and constant scores, are normal scores.
        (JUDGED, {query: {f"d{j}": j % 11 for j in range(6)} for query in JUDGED}),
        (JUDGED, {query: {f"d{j}": 1 for j in range(6)} for query in JUDGED}),
        # Listening counts are normal labels, and 5 stars, and labels up to 100 for few documents.
        (RANKED, RANKED),
        (RANKED, {query: {f"d{j}": j / 8 for j in range(6)} for query in JUDGED}),
        (RANKED, {query: {f"d{j}": j for j in range(6)} for query in JUDGED}),
        ({"q": {"a": 5, "b": 4, "c": 3, "d": 1}}, {"q": {"a": 1, "b": 1, "c": 0}}),
        ({"q": {"a": 100, "b": 50}}, {"q": {"a": 1, "b": 1, "c": 0}}),
        ({f"q{i}": {f"d{j}": 25 * (j % 5) for j in range(20)} for i in range(3)}, {"q1": {"d1": 1, "d2": 0}}),
        # A language model that grades all documents whose click probabilities are known.
        (PROBABILITIES, {query: {f"d{j}": j % 4 for j in range(13)} for query in PROBABILITIES}),
        (PROBABILITIES, RANKED),
        (PROBABILITIES, {query: {f"d{j}": j / 8 for j in range(6)} for query in JUDGED}),
        ({"q": {"a": 0.9, "b": 0.7, "c": 0.2}}, {"q": {"a": 1, "b": 1, "c": 1}}),
        # The mean of three assessors has few different values.
        ({f"q{i}": {f"d{j}": j % 4 / 3 for j in range(10)} for i in range(4)}, JUDGED),
    ],
)
def test_normal_data_gives_no_warning(qrels, run):
    assert warnings_of(qrels, run) == []


def test_scores_that_look_like_labels():
    for scores, expected in (([1, 0, 2], True), ([-2, 4], True), ([0.5], False), ([5], False), ([-3], False)):
        assert look_like_labels(np.array(scores, np.float64)) is expected
        assert look_like_labels(np.array(scores, np.float32)) is expected
    assert look_like_labels(np.array([np.inf, 1])) is False


@pytest.mark.filterwarnings("ignore:labels. .* is negative")
def test_no_public_judgments_look_like_a_run(data):
    """All public files that can be read as judgments are tried."""
    n_judged = 0
    for path in sorted(path for path in data.rglob("*") if path.is_file()):
        try:
            qrels = read_qrels(path)
        except InputError:
            continue
        if path.name.startswith(("prefs.rank", "zscores")):
            # Runs without a query column, which can be read as judgments of the query Q0; and means and deviations.
            continue
        n_judged += 1
        assert not look_like_scores(qrels.labels, qrels.offsets), path
    assert n_judged > 10


def test_the_ranks_of_public_runs_look_like_a_run(data):
    for path in sorted(data.glob("trec_covid_r1/runs/*"))[:5]:
        run = read_run(path)
        ranks = np.concatenate([np.arange(n)[::-1] for n in np.diff(run.offsets)])
        queries = np.repeat(run.queries.to_list(), np.diff(run.offsets))
        qrels = Qrels.from_columns(queries.tolist(), run.documents.to_list(), ranks)
        assert look_like_scores(qrels.labels, qrels.offsets), path
