"""Measures that trec_eval lacks, compared with the evaluators that define them on runs without ties."""

from __future__ import annotations

import ir_measures
import numpy as np
import pytest
from support.trec_files import PUBLIC_IS_SLOW, read_qrels, read_scores

import tieaware

# Names of the runs without ties, in the generated and in the public collection.
UNTIED = ("continuous", "untied", "BRPHJ_NLP3", "CincyMedIR-run1", "OHSU_RUN2", "KU_run1", "Tetralogie1Fr")


@pytest.fixture(scope="module")
def untied(collection):
    """Return judgments and runs without ties as dicts."""
    qrels = {
        query: {document: label for document, label in labels.items() if label >= 0}
        for query, labels in read_qrels(collection.qrels).items()
    }
    paths = [path for path in collection.runs if path.stem in UNTIED]
    runs = {path.stem: read_scores(path) for path in paths}
    assert all(len(set(scores.values())) == len(scores) for run in runs.values() for scores in run.values())
    return qrels, {name: runs[name] for name in UNTIED if name in runs}


@PUBLIC_IS_SLOW
def test_rbp_and_its_residual_agree_with_cwl_eval(untied):
    """The residual is the increase of RBP if all unjudged documents were relevant.

    cwl_eval's residual also includes ranks below the end of the list. In lists of 150 documents, they weigh less than
    the tolerance.
    """
    qrels, runs = untied
    measure = ir_measures.RBP(p=0.8, rel=1)
    ours = ["RBP(p=0.8)", "RBPResidual(p=0.8)"]
    result = tieaware.evaluate(qrels, runs, ours, queries="both")
    compared = 0
    for name, run in runs.items():
        hopeful = {query: {**dict.fromkeys(run.get(query, ()), 1), **judged} for query, judged in qrels.items()}
        low, high = (
            {metric.query_id: metric.value for metric in ir_measures.providers.registry["cwl_eval"].iter_calc(
                [measure], judgments, run)}
            for judgments in (qrels, hopeful)
        )  # fmt: skip
        for query in result.queries:
            if len(run.get(query, ())) < 150:
                continue
            assert result[name, ours[0], query] == pytest.approx(low[query], rel=1e-12, abs=1e-14)
            assert result[name, ours[1], query] == pytest.approx(high[query] - low[query], rel=1e-9, abs=1e-13)
            compared += 1
    assert compared >= 80


def test_judged_with_the_pool_agrees_with_ir_measures():
    qrels = {"q1": {"a": 1, "b": 0, "c": -1, "d": -2}}
    run = {"q1": {name: float(-i) for i, name in enumerate("cxaydbz")}}
    for k in range(1, 9):
        (theirs,) = ir_measures.iter_calc([ir_measures.Judged @ k], qrels, run)
        ours = tieaware.evaluate(qrels, run, [f"Judged(pool=True)@{k}", f"Judged@{k}"]).mean()[0]
        assert ours[0] == pytest.approx(theirs.value, abs=1e-15)
        assert ours[1] < ours[0]


def test_q_of_runs_agrees_with_ntcireval(untied):
    """The means over the topics are recorded from pyNTCIREVAL 0.0.3."""
    qrels, runs = untied
    known = {
        "continuous": (0.4232391273901106, 0.39018796165130243),
        "untied": (0.3661441624459091, 0.3388813024334385),
        "BRPHJ_NLP3": (0.0035223861315518733, 0.0039981354219580075),
        "CincyMedIR-run1": (0.017432758975326756, 0.012511859411713988),
        "OHSU_RUN2": (0.3006037355225697, 0.2831774531121662),
        "KU_run1": (0.23626837542000936, 0.22343125682506512),
        "Tetralogie1Fr": (0.01935075585737894, 0.02035730863758379),
    }
    means = tieaware.evaluate(qrels, runs, ["Q", "Q(beta=0.25)"], queries="both").mean()
    np.testing.assert_allclose(means, [known[name] for name in runs], rtol=1e-13)
