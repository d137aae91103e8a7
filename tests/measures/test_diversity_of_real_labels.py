"""Measures of diversity with labels that are not whole numbers: only whether a label reaches `rel` matters."""

import numpy as np
import pandas as pd
import pytest
from support.errors import message_of

import tieaware
from tieaware import Evaluator, Qrels

FAMILIES = ["alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "P_IA", "AP_IA", "StRecall"]
MEASURES = [f"{name}(rel=0.5)" + "@3" * (name in ("P_IA", "StRecall", "alpha_nDCG")) for name in FAMILIES]
RNG = np.random.default_rng(17)
# Labels of 5 queries, 3 subtopics and 6 documents, and the same labels as 0 or 1.
REAL = RNG.choice([0.0, 0.2, 0.49, 0.5, 0.7, 1.0], (5, 6, 3))
REAL[0, 0] = 0.7
WHOLE = (REAL >= 0.5).astype(int)
SCORES = RNG.integers(0, 3, (5, 6)).astype(float)
RUN = {f"q{q}": {f"d{d}": float(score) for d, score in enumerate(row)} for q, row in enumerate(SCORES)}


def nested(labels):
    return {
        f"q{q}": {f"s{s}": {f"d{d}": row[s].item() for d, row in enumerate(rows)} for s in range(3)}
        for q, rows in enumerate(labels)
    }


def rows(labels):
    return [
        (query, subtopic, document, label) for query, listed in nested(labels).items()
        for subtopic, judged in listed.items() for document, label in judged.items()
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["dict", "frame", "file"])
def test_judgments_with_real_labels_are_those_at_the_threshold(form, tmp_path):
    judged = nested(REAL)
    if form == "frame":
        judged = pd.DataFrame(rows(REAL), columns=["query", "subtopic", "document", "label"])
    if form == "file":
        judged = tmp_path / "qrels.txt"
        judged.write_text("".join(f"{' '.join(map(str, row))}\n" for row in rows(REAL)))
    found = tieaware.evaluate(judged, RUN, MEASURES, spread=True)
    expected = tieaware.evaluate(nested(WHOLE), RUN, MEASURES, spread=True)
    for name in ("values", "min", "max"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-13)
    np.testing.assert_allclose(found.std, expected.std, rtol=1e-9, atol=1e-9)
    assert (expected.std > 0.01).any()


def test_arrays_with_real_labels():
    found = Evaluator(REAL, MEASURES, subtopics=True)(SCORES)
    np.testing.assert_allclose(found, Evaluator(WHOLE, MEASURES, subtopics=True)(SCORES), rtol=1e-13)
    more = np.concatenate((REAL, np.full((5, 1, 3), 0.6)), axis=1)
    ends = np.arange(6) * 7
    judgments = [(each.reshape(-1, 3), ends) for each in (more, (more >= 0.5).astype(int))]
    found, expected = (
        Evaluator(labels, MEASURES, subtopics=True, judgments=each)(SCORES)
        for labels, each in zip((REAL, WHOLE), judgments, strict=True)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    # Whole labels of the lists, and real labels of further documents.
    mixed = np.concatenate((WHOLE, np.full((5, 1, 3), 0.6)), axis=1).reshape(-1, 3), ends
    np.testing.assert_allclose(
        Evaluator(WHOLE, MEASURES, subtopics=True, judgments=mixed)(SCORES), expected, rtol=1e-13
    )


def test_whole_labels_in_floating_point_are_whole_labels():
    given = Qrels.from_dict(nested(WHOLE.astype(float)))
    assert given.labels.dtype == np.int32
    for name in ("values", "std", "min", "max"):
        found, expected = (
            getattr(tieaware.evaluate(judged, RUN, MEASURES, spread=True), name) for judged in (given, nested(WHOLE))
        )
        np.testing.assert_array_equal(found, expected)
    assert Qrels.from_dict(nested(WHOLE)).to_dict() == nested(WHOLE)


def test_real_labels_keep_their_values():
    judged = Qrels.from_dict(nested(REAL))
    assert judged.to_dict() == nested(REAL)
    assert judged.labels.dtype == np.float64


@pytest.mark.parametrize("measure", ["nDCG", "AP(rel=0.5)", "ERR", "INST", "Compat", "NumRel", "BPM", "RR(rel=0.5)"])
def test_other_measures_refuse_them(measure):
    problem = "labels: are not whole numbers for all subtopics, which only measures of diversity take; pass judgments"
    for measures in (measure, [*MEASURES, measure]):
        found = message_of(tieaware.evaluate, nested(REAL), RUN, measures)
        assert f"{problem} without subtopics for other measures" in found
        assert message_of(tieaware.evaluate, nested(REAL), RUN, measures, spread=True, chance=True) == found
        assert problem in message_of(lambda given=measures: Evaluator(REAL, given, subtopics=True)(SCORES))


@pytest.mark.parametrize("measure", FAMILIES)
def test_whole_labels_may_all_be_below_the_threshold(measure):
    measure = tieaware.parse_measure(f"{measure}(rel=2)@3" if measure in ("P_IA", "StRecall") else f"{measure}(rel=2)")
    assert tieaware.evaluate({"q": {"a": {"d1": 1}}}, {"q": {"d1": 1.0}}, measure).values.item() == 0


def test_negative_and_missing_labels_are_unjudged():
    given = {"q": {"a": {"d1": 0.7, "d2": -0.5, "d3": float("nan")}, "b": {"d1": -0.2, "d2": 0.9}}}
    judged = Qrels.from_dict(given, missing="unjudged")
    assert judged.to_dict() == {"q": {"a": {"d1": 0.7}, "b": {"d2": 0.9}}}
    run = {"q": {"d1": 1.0, "d2": 1.0, "d3": 1.0}}
    assert tieaware.evaluate(judged, run, "StRecall(rel=0.5)@1").values.item() == pytest.approx(1 / 3)
