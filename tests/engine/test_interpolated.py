"""Interpolated precision, a maximum over later ranks: compared with enumeration, the reference and trec_eval."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from support.trec_files import read_qrels, read_scores

import tieaware
from tieaware import Evaluator


def test_a_deep_group_keeps_its_digits():
    """In a group at deep ranks, precision hardly varies. Its small variance is compared with exact fractions."""
    t, n = 100_000, 6
    scores, labels = np.concatenate((np.arange(t + 1, 1, -1.0), np.ones(n))), np.zeros(t + n, dtype=int)
    labels[t:-3] = 1
    values = [
        max(Fraction(h, t + x) for h, x in enumerate(places, 1)) for places in combinations(range(1, n + 1), n - 3)
    ]
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    spread = Evaluator(labels, ["IPrec@0.0"]).spread(scores)
    assert spread.mean[0, 0] == pytest.approx(float(mean), rel=1e-14)
    assert spread.std[0, 0] ** 2 == pytest.approx(float(variance), rel=1e-8, abs=0)


def test_trec_evals_order_has_trec_evals_values(collection):
    """Values equal those of trec_eval 9 where it requires the same number of relevant documents as trec_eval 10.

    Version 9 rounds recall · N down after adding 0.9, version 10 after adding 0.5. test_trec_eval_outputs.py compares
    with values of version 10.
    """
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels = read_qrels(collection.qrels)
    names = ["11pt_avg", *(f"iprec_at_recall_{i / 10:.2f}" for i in range(11))]
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"11pt_avg", "iprec_at_recall"})
    for path in collection.runs if len(collection.runs) < 10 else collection.runs[::5]:
        theirs = evaluator.evaluate(read_scores(path))
        run = tieaware.read_run(path, score_dtype="float32")
        result = tieaware.evaluate(qrels, run, names, ties="trec_eval", queries="both")
        relevant = np.array([sum(label > 0 for label in qrels[query].values()) for query in result.queries])
        reached = np.arange(11) / 10 * relevant[:, None]
        alike = (reached + 0.9).astype(int) == (reached + 0.5).astype(int)
        alike = np.column_stack([alike.all(axis=1), alike])
        expected = np.array([[theirs[query][name] for name in names] for query in result.queries])
        assert alike.sum() > 100
        assert alike[:, 0].any()
        np.testing.assert_allclose(result.values[0][alike], expected[alike], rtol=0, atol=1e-9, err_msg=path.name)
