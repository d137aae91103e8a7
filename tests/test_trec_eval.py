"""ties="trec_eval" against trec_eval itself, as pytrec_eval wraps it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

import tieaware

TOLERANCE = 1e-9
DEPTHS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
MEASURES = (
    "map", "recip_rank", "Rprec", "ndcg", "num_ret", "num_rel", "num_rel_ret",
    "bpref", "infAP", "set_P", "set_relative_P", "set_recall", "set_F", "set_map",
    *(f"{name}_{k}" for name in ("P", "recall", "ndcg_cut", "map_cut") for k in DEPTHS),
    *(f"success_{k}" for k in (1, 5, 10)),
)  # fmt: skip
FAMILIES = {
    "map", "recip_rank", "Rprec", "ndcg", "num_ret", "num_rel", "num_rel_ret",
    "P", "recall", "ndcg_cut", "map_cut", "success",
    "bpref", "infAP", "set_P", "set_relative_P", "set_recall", "set_F", "set_map",
}  # fmt: skip

Qrels = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


def read(path: Path, value: int) -> dict[str, dict[str, str]]:
    """Read a TREC file without the library: the query, the document and one more column."""
    rows: dict[str, dict[str, str]] = {}
    for line in path.read_text().splitlines():
        columns = line.split()
        if columns:
            rows.setdefault(columns[0], {})[columns[2]] = columns[value]
    return rows


def read_qrels(path: Path) -> Qrels:
    return {query: {d: int(label) for d, label in docs.items()} for query, docs in read(path, 3).items()}


def read_scores(path: Path) -> Scores:
    return {query: {d: float(score) for d, score in docs.items()} for query, docs in read(path, 4).items()}


def trec_eval(qrels: Qrels, scores: Scores) -> dict[str, list[float]]:
    values = pytrec_eval.RelevanceEvaluator(qrels, FAMILIES).evaluate(scores)
    return {query: [values[query][measure] for measure in MEASURES] for query in values}


def test_trec_eval_reads_scores_as_float32():
    """The wrapped trec_eval stores scores in single precision, so that is how its ties are reproduced."""
    qrels, scores = {"1": {"a": 1, "b": 0}}, {"1": {"a": 1.0 + 2.0**-25, "b": 1.0}}
    (expected,) = trec_eval(qrels, scores).values()
    assert expected[MEASURES.index("recip_rank")] == 0.5
    evaluate = tieaware.Evaluator([1, 0], ["RR"], ties="trec_eval", docids=["a", "b"])
    assert evaluate(np.array([1.0 + 2.0**-25, 1.0], dtype=np.float32))[0, 0] == 0.5
    assert evaluate(np.array([1.0 + 2.0**-25, 1.0]))[0, 0] == 1.0


def test_submitted_runs(data):
    """On 42 submitted runs every topic has trec_eval's value."""
    folder = data / "trec_covid_r1"
    qrels = read_qrels(folder / "qrels-rnd1.txt")
    judgments = tieaware.read_qrels(folder / "qrels-rnd1.txt")
    paths = sorted((folder / "runs").iterdir())
    assert len(paths) == 42
    for path in paths:
        expected = trec_eval(qrels, read_scores(path))
        run = tieaware.read_run(path, score_dtype="float32")
        result = tieaware.evaluate(judgments, run, MEASURES, ties="trec_eval", queries="both")
        assert set(result.queries) == set(expected)
        np.testing.assert_allclose(
            result.values[0], [expected[q] for q in result.queries], rtol=0.0, atol=TOLERANCE, err_msg=path.name
        )


def test_trec_eval_own_runs(data):
    """The same for trec_eval's own tests: a run out of order, one with more columns, graded judgments."""
    folder = data / "trec_eval_tests"
    for qrels_name in ("qrels.test", "qrels.rel_level"):
        for run_name in ("results.test", "results.trunc"):
            qrels, scores = read_qrels(folder / qrels_name), read_scores(folder / run_name)
            expected = trec_eval(qrels, scores)
            run = tieaware.read_run(folder / run_name, score_dtype="float32")
            result = tieaware.evaluate(folder / qrels_name, run, MEASURES, ties="trec_eval", queries="both")
            assert set(result.queries) == set(expected)
            np.testing.assert_allclose(
                result.values[0], [expected[q] for q in result.queries], rtol=0.0, atol=TOLERANCE
            )


def test_silent_queries(data):
    """queries="judged" counts a judged query on which the run is silent as 0; "both" leaves it out."""
    folder = data / "trec_covid_r1"
    qrels = read_qrels(folder / "qrels-rnd1.txt")
    path = folder / "runs" / "BERT"
    every_other = {query: docs for i, (query, docs) in enumerate(read_scores(path).items()) if i % 2}
    expected = trec_eval(qrels, every_other)
    rounded = {q: {d: float(np.float32(s)) for d, s in docs.items()} for q, docs in every_other.items()}
    both = tieaware.evaluate(qrels, rounded, ["map", "ndcg_cut_10"], ties="trec_eval", queries="both")
    judged = tieaware.evaluate(qrels, rounded, ["map", "ndcg_cut_10"], ties="trec_eval", queries="judged")
    assert set(both.queries) == set(every_other) == set(expected)
    assert judged.queries == tuple(qrels)
    for column, measure in enumerate(("map", "ndcg_cut_10")):
        values = [expected[q][MEASURES.index(measure)] for q in every_other]
        assert both.mean()[0, column] == pytest.approx(math.fsum(values) / len(values), abs=TOLERANCE)
        assert judged.mean()[0, column] == pytest.approx(math.fsum(values) / len(qrels), abs=TOLERANCE)
        assert all(judged["run"][measure][judged.queries.index(q)] == 0.0 for q in set(qrels) - set(every_other))


def test_the_mean_lies_between_the_extremes_on_submitted_runs(data):
    """On real runs, trec_eval's order and the mean over orders lie between the worst and the best order."""
    folder = data / "trec_covid_r1"
    judgments = tieaware.read_qrels(folder / "qrels-rnd1.txt")
    paths = [folder / "runs" / name for name in ("BERT", "crowd1", "sab20.1.blind", "wistud_bing")]
    values = {
        ties: tieaware.evaluate(judgments, paths, MEASURES, ties=ties).values
        for ties in ("average", "trec_eval", "run_order", "optimistic", "pessimistic")
    }
    for ties in ("average", "trec_eval", "run_order"):
        assert (values["optimistic"] >= values[ties] - 1e-14).all()
        assert (values[ties] >= values["pessimistic"] - 1e-14).all()
    assert (values["optimistic"] > values["pessimistic"] + 1e-3).any()


def test_weights_of_set_f(data):
    """trec_eval's parameter multiplies precision itself, not its square."""
    folder = data / "trec_eval_tests"
    qrels, scores = read_qrels(folder / "qrels.test"), read_scores(folder / "results.test")
    for beta in (0.5, 3.0):
        theirs = pytrec_eval.RelevanceEvaluator(qrels, {f"set_F.{beta}"}).evaluate(scores)
        result = tieaware.evaluate(qrels, scores, [f"SetF(beta={beta})"], queries="both")
        expected = [next(iter(theirs[query].values())) for query in result.queries]
        np.testing.assert_allclose(result.values[0, :, 0], expected, rtol=0, atol=TOLERANCE)


def test_judged_only_is_trec_evals_J(data):
    """Unjudged documents are taken out of the list before anything else."""
    folder = data / "trec_covid_r1"
    qrels = read_qrels(folder / "qrels-rnd1.txt")
    names = ["map", "P_10", "ndcg", "recip_rank", "Rprec", "recall_100", "success_1", "set_P", "set_map"]
    names += ["bpref", "infAP"]
    families = {name.rstrip("0123456789").rstrip("_") for name in names}
    measures = [tieaware.parse_measure(name)(judged_only=True) for name in names]
    for path in sorted((folder / "runs").iterdir())[::6]:
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, families, judged_docs_only_flag=True)
        theirs = evaluator.evaluate(read_scores(path))
        run = tieaware.read_run(path, score_dtype="float32")
        result = tieaware.evaluate(qrels, run, measures, ties="trec_eval", queries="both")
        expected = [[theirs[query][name] for name in names] for query in result.queries]
        np.testing.assert_allclose(result.values[0], expected, rtol=0, atol=TOLERANCE, err_msg=path.name)
