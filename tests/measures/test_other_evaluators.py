"""Measures that trec_eval lacks, compared with the evaluators that define them on runs without ties."""

from __future__ import annotations

import shutil
from heapq import nlargest
from operator import itemgetter

import ir_measures
import numpy as np
import pytest
from support.trec_files import PUBLIC_IS_SLOW, read_qrels, read_scores

import tieaware

# Names of the runs without ties, in the generated and in the public collection.
UNTIED = ("continuous", "untied", "BRPHJ_NLP3", "CincyMedIR-run1", "OHSU_RUN2", "KU_run1", "Tetralogie1Fr")


@pytest.fixture(scope="module")
def untied(collection):
    """Return judgments and runs without ties as dicts. For gdeval, queries are numbers and labels at least 0."""
    qrels = {
        query.removeprefix("q"): {document: label for document, label in labels.items() if label >= 0}
        for query, labels in read_qrels(collection.qrels).items()
    }
    paths = [path for path in collection.runs if path.stem in UNTIED]
    runs = {path.stem: {q.removeprefix("q"): scores for q, scores in read_scores(path).items()} for path in paths}
    assert all(len(set(scores.values())) == len(scores) for run in runs.values() for scores in run.values())
    return qrels, {name: runs[name] for name in UNTIED if name in runs}


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl script, and perl is missing")
@pytest.mark.parametrize("k", [5, 20, 100])
def test_err_agrees_with_gdeval(untied, k):
    """ir_measures runs gdeval, the script of TREC's web track, which prints five digits.

    The script gets only the first k documents, because reading the others takes seconds.
    """
    qrels, runs = untied
    measure = ir_measures.ERR @ k
    result = tieaware.evaluate(qrels, runs, [f"ERR@{k}"], queries="both")
    compared = 0
    for name, run in runs.items():
        heads = {query: dict(nlargest(k, scores.items(), key=itemgetter(1))) for query, scores in run.items()}
        for metric in ir_measures.providers.registry["gdeval"].iter_calc([measure], qrels, heads):
            assert result[name, f"ERR@{k}", metric.query_id] == pytest.approx(metric.value, abs=5.1e-6)
            compared += 1
    assert compared >= 80


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


def test_judged_and_accuracy_agree_with_ir_measures(untied):
    qrels, runs = untied
    pairs = [
        ("Judged@10", ir_measures.Judged @ 10),
        ("Judged@100", ir_measures.Judged @ 100),
        ("AUC", ir_measures.Accuracy),
        ("AUC(rel=2)", ir_measures.Accuracy(rel=2)),
        ("AUC@50", ir_measures.Accuracy @ 50),
    ]
    # ir_measures.parse_measure is not used: it needs classes of ast that Python 3.14 removed.
    theirs = [measure for _, measure in pairs]
    result = tieaware.evaluate(qrels, runs, [name for name, _ in pairs], queries="both")
    compared = 0
    for name, run in runs.items():
        for metric in ir_measures.iter_calc(theirs, qrels, run):
            i = theirs.index(metric.measure)
            ours = result[name, result.measures[i], metric.query_id]
            assert ours == pytest.approx(metric.value, rel=1e-12, abs=1e-12)
            compared += 1
    assert compared >= 5 * 80


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
