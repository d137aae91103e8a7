"""The overhead experiment: ratios of times, checks of the values, and the lists of a run."""

import numpy as np
import pytest

import tieaware
from tieaware import reference
from tieaware.experiments import overhead
from tieaware.samples.discrete import DENSE_SCORES, dense_lists

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")


def test_ratios_are_positive_and_plain_python_is_slower():
    outcome = overhead(["AP", "RR"], n_queries=50, rounds=3)
    assert outcome.ratios.shape == (2, 3)
    assert (outcome.ratios > 0.0).all()
    # Plain Python is so much slower that noise in the times cannot reverse the comparison.
    assert (outcome.ratios[:, 2] > 3.0).all()
    assert [row[0] for row in outcome.table().rows] == ["AP", "RR"]


def test_dense_lists_are_timed_with_all_measures_together():
    outcome = overhead(["AP", "RR"], n_queries=30, rounds=1)
    dense = outcome.tables()["dense"]
    assert dense.title == "Dense lists, 30 × 120, 60 labelled: all 2 together"
    assert [row[0] for row in dense.rows] == list(outcome.lists) == list(DENSE_SCORES)
    assert np.array_equal([row[1:] for row in dense.rows], outcome.together)
    assert set(outcome.drawings()) == {"overhead", "dense"}
    assert " in dense lists, " in outcome.verdict()


def test_half_of_a_dense_list_has_one_of_four_grades():
    scores, grades = dense_lists(500, 120, 60)
    assert ((grades > 0).sum(axis=1) == 60).all()
    assert np.unique(grades).tolist() == [0, 1, 2, 3, 4]
    groups = {kind: np.mean([len(np.unique(row)) for row in of(scores)]) for kind, of in DENSE_SCORES.items()}
    assert (groups["all distinct"], groups["all equal"]) == (120, 1)
    assert 38 < groups["one decimal"] < 42
    assert 5 < groups["whole numbers"] < 7


# Query q3 is not judged, q4 has no documents, and no run answers q5. Relevant documents of q1 and q2 are not retrieved.
RUN = {"q3": {"a": 1.0}, "q2": {"d": 0.5, "a": 0.5, "c": 0.25}, "q1": {"a": 2.0, "b": 2.0, "c": 2.0, "d": 1}, "q4": {}}
QRELS = {"q1": {"b": 2, "z": 1, "d": 1, "a": -1}, "q2": {"y": 1, "c": 3, "d": 0}, "q4": {"a": 1}, "q5": {"a": 1}}


@pytest.mark.parametrize("scale", [1, 0.5])
def test_the_values_of_the_judged_lists_of_a_run_are_timed(scale, monkeypatch):
    found = {}
    evaluate = reference.evaluate

    def recorded(measure, *lists, ties="average"):
        value = evaluate(measure, *lists, ties=ties)
        found.setdefault((str(measure), ties), []).append(value)
        return value

    monkeypatch.setattr(reference, "evaluate", recorded)
    qrels = {query: {document: n * (scale if n > 0 else 1) for document, n in labels.items()}
             for query, labels in QRELS.items()}  # fmt: skip
    qrels["q1"]["c"] = np.nan
    names = [f"AP(rel={scale})", "nDCG@3", f"Bpref(rel={scale})"]
    outcome = overhead(names, qrels=qrels, run={"bm25": RUN}, rounds=1, missing="unjudged")
    for ties in ("average", "run_order", "optimistic"):
        expected = tieaware.evaluate(qrels, RUN, names, queries="both", ties=ties, missing="unjudged")
        for j, measure in enumerate(outcome.measures):
            timed = dict(zip(("q2", "q1", "q4"), found[str(measure), ties], strict=False))
            values = dict(zip(expected.queries, expected.values[0, :, j].tolist(), strict=True))
            assert timed == pytest.approx(values, rel=1e-9)
    assert (outcome.n_queries, outcome.lists) == (3, ("bm25",))
    assert (outcome.ties.documents, outcome.ties.tied_documents) == (7, 5)


def test_the_outcome_of_a_run_begins_with_a_decision():
    outcome = overhead(["AP", "RR"], qrels=QRELS, run=RUN, rounds=2)
    assert outcome.ratios.shape == (2, 2)
    cost = outcome.tables()["overhead"]
    assert cost.title == "The cost of exactness under ties: 3 lists of run, 5 of 7 documents tied"
    assert [row[0] for row in cost.rows] == ["AP", "RR", "all 2 together"]
    together = f"{cost.rows[-1][1]:.3g}"
    text = f"{outcome}"
    assert text.startswith("Averaging over ties costs ")
    assert float(text.split()[4]) == pytest.approx(float(together), rel=0.01)
    assert text.split(" times ")[1].startswith("breaking them in run order on your lists. One measure alone: ")


def test_a_single_measure_of_a_run_has_one_row():
    outcome = overhead("AP", qrels=QRELS, run=RUN, rounds=1)
    assert np.array_equal(outcome.ratios, outcome.together)
    assert [row[0] for row in outcome.table().rows] == ["AP"]
    assert outcome.verdict().endswith(" on your lists.")


def test_a_run_without_judged_documents_causes_a_warning():
    with pytest.warns(UserWarning, match="run: no document is judged in qrels; for query 'q1', the run has "):
        overhead("AP", qrels={"q1": {"other": 1}}, run=RUN, rounds=1)


@pytest.mark.parametrize("lists", [{}, {"qrels": QRELS, "run": RUN}], ids=["generated", "of a run"])
def test_values_are_checked_before_they_are_timed(monkeypatch, lists):
    monkeypatch.setattr(reference, "evaluate", lambda *_, **__: 0.7)
    with pytest.raises(AssertionError):
        overhead(["AP"], n_queries=20, rounds=1, **lists)
