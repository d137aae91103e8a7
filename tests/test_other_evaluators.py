"""Measures that trec_eval does not have, against the evaluators that define them, on runs without ties."""

from __future__ import annotations

import numpy as np
import pytest

import tieaware


@pytest.fixture(scope="module")
def untied(data):
    """Give judgments and runs of TREC-COVID's first round that have no tie, as dicts; and that with many lists."""
    folder = data / "trec_covid_r1"

    def read(path, value, number):
        rows = {}
        for line in path.read_text().splitlines():
            fields = line.split()
            rows.setdefault(fields[0], {})[fields[2]] = number(fields[value])
        return rows

    names = ("BRPHJ_NLP3", "CincyMedIR-run1", "OHSU_RUN2", "KU_run1", "Tetralogie1Fr")
    return read(folder / "qrels-rnd1.txt", 3, int), {name: read(folder / "runs" / name, 4, float) for name in names}


def gdeval(labels, k, highest=4):
    """ERR as the published script of TREC's web track defines it, for labels in rank order."""
    value, decay = 0.0, 1.0
    for rank, label in enumerate(labels[:k], 1):
        stop = (2 ** max(label, 0) - 1) / 2**highest
        value += decay * stop / rank
        decay *= 1.0 - stop
    return value


@pytest.mark.parametrize("k", [5, 20, None])
def test_err_is_gdevals(untied, k):
    qrels, runs = untied
    measure = tieaware.ERR if k is None else tieaware.ERR @ k
    result = tieaware.evaluate(qrels, runs, [measure], queries="both")
    for r, run in enumerate(runs.values()):
        for q, query in enumerate(result.queries):
            ranked = sorted(run.get(query, ()), key=lambda document: -run[query][document])
            labels = [qrels[query].get(document, 0) for document in ranked]
            assert result.values[r, q, 0] == pytest.approx(gdeval(labels, k), rel=1e-12, abs=1e-15)


def test_judged_and_accuracy_are_those_of_ir_measures(untied):
    ir_measures = pytest.importorskip("ir_measures")
    qrels, runs = untied
    pairs = [
        ("Judged@10", "Judged@10"),
        ("Judged@100", "Judged@100"),
        ("AUC", "Accuracy"),
        ("AUC(rel=2)", "Accuracy(rel=2)"),
    ]
    theirs = [ir_measures.parse_measure(name) for _, name in pairs]
    result = tieaware.evaluate(qrels, runs, [name for name, _ in pairs], queries="both")
    compared = 0
    for name, run in runs.items():
        for metric in ir_measures.iter_calc(theirs, qrels, run):
            i = theirs.index(metric.measure)
            ours = result[name, result.measures[i], metric.query_id]
            assert ours == pytest.approx(metric.value, rel=1e-12, abs=1e-12)
            compared += 1
    assert compared > 300


def test_residual_is_what_rbp_lacks(untied):
    """RBP of the judged documents, were they all relevant, and the residual make 1."""
    qrels, runs = untied
    result = tieaware.evaluate(qrels, runs, ["RBP(p=0.7,rel=0)", "RBPResidual(p=0.7)"], queries="both")
    np.testing.assert_allclose(result.values.sum(axis=2), 1.0, rtol=1e-14)


# What a textbook works out: Manning, Raghavan and Schütze, Introduction to Information Retrieval, chapter 8.


def test_means_keep_their_order():
    """Harmonic ≤ geometric ≤ arithmetic mean of precision and recall."""
    values = tieaware.Evaluator([[1, 0, 1, 1, 0, 0, 0, 1, 0, 0]], ["P@5", "R@5", "F1@5"])(
        [[10, 9, 8, 7, 6, 5, 4, 3, 2, 1]]
    )
    precision, recall, harmonic = values[0]
    assert harmonic <= (precision * recall) ** 0.5 <= (precision + recall) / 2


def test_f1_of_returning_everything():
    """One relevant document among 10,000: precision 0.0001, recall 1."""
    labels = np.zeros(10_000, dtype=int)
    labels[77] = 1
    values = tieaware.Evaluator(labels, ["P", "R", "F1", "SetF"])(np.ones(10_000))
    np.testing.assert_allclose(values[0], [1e-4, 1.0, 0.00019998, 0.00019998], rtol=1e-4)


def test_eight_relevant_documents_bound_precision_at_20():
    labels = np.array([1] * 8 + [0] * 40)
    assert tieaware.Evaluator(labels, ["P@20"], ties="optimistic")(np.ones(48))[0, 0] == 0.4
