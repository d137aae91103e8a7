"""Types of evaluators, measures, judgments and runs, and of closed choices. `typ` is the text of the revealed type."""

from typing import reveal_type

import numpy as np
import polars

import tieaware
from tieaware import AP, Evaluator, Qrels, Run, nDCG, precision, statistics
from tieaware.ties import TieRuleName

evaluator = Evaluator([[0, 1], [1, 0]], ["AP", nDCG @ 10], ties="average", precision="bfloat16")
scores = np.zeros((2, 2), np.float32)


def check_evaluator() -> None:
    reveal_type(evaluator(scores))  # assert "float64" in typ
    reveal_type(evaluator([[1.0, 2.0], [3.0, 3.0]]))  # assert "float64" in typ
    reveal_type(evaluator.mean(scores))  # assert "float64" in typ
    reveal_type(evaluator.score(scores))  # assert typ == "float"
    reveal_type(evaluator.many([scores, scores]))  # assert "float64" in typ
    reveal_type(evaluator.spread(scores))  # assert "Spread" in typ
    reveal_type(evaluator.spread(scores).max)  # assert "float64" in typ
    reveal_type(evaluator.bounds(scores, 0.1))  # assert "Bounds" in typ
    reveal_type(evaluator.bounds(scores, scores).exact)  # assert "bool" in typ
    reveal_type(evaluator.results({"fp32": scores}))  # assert "Results" in typ
    reveal_type(evaluator.rows(0, 1))  # assert "Evaluator" in typ
    reveal_type(evaluator.measures)  # assert "tuple" in typ and "Measure" in typ
    reveal_type(evaluator.n_queries)  # assert typ == "int"


def check_measures() -> None:
    reveal_type(AP(rel=2) @ 100)  # assert "Measure" in typ
    reveal_type(tieaware.parse_measure("ndcg@10"))  # assert "Measure" in typ
    reveal_type((AP @ 10).cutoff)  # assert "int" in typ and "None" in typ


def check_inputs() -> None:
    reveal_type(tieaware.read_qrels("qrels.txt"))  # assert "Qrels" in typ
    reveal_type(tieaware.read_run("a.run", score_dtype="float32", duplicates="first"))  # assert "Run" in typ
    reveal_type(Qrels.from_dict({"q": {"d": 1}}))  # assert "Qrels" in typ
    reveal_type(Run.from_dict({"q": {"d": 1.0}}))  # assert "Run" in typ
    reveal_type(Run.from_dict({1: {"d": 1.0}}).scores)  # assert "float64" in typ or "float32" in typ
    tieaware.evaluate("qrels.txt", ["a.run", "b.run"], AP)
    tieaware.evaluate(Qrels.from_dict({}), {"a": "a.run", "b": "b.run"}, "AP P@5", queries="both")
    tieaware.evaluate("qrels.txt", {"a": {"q": {"d": 0.5}}, "b": "b.run"}, AP)
    tieaware.evaluate({1: {"d": 1}}, {1: {"d": 0.5}}, AP)
    tieaware.evaluate({"q": ["d1", "d2"]}, {"a": {"q": {"d": 0.5}}, "b": {"q": {"d": 1.0}}}, AP)
    tieaware.evaluate(polars.scan_csv("qrels.csv"), {"a": polars.scan_parquet("a.parquet")}, AP)
    tieaware.evaluate(polars.read_csv("qrels.csv"), polars.read_parquet("a.parquet"), AP)


def check_packages() -> None:
    reveal_type(precision.Bands(1.5))  # assert "Bands" in typ
    reveal_type(statistics.paired_test([1.0, 2.0], [1.0, 3.0], method="t", alternative="less"))  # assert "Test" in typ
    reveal_type(statistics.kendall_tau([1, 2], [2, 1], variant="a"))  # assert typ == "float"
    reveal_type(tieaware.retrieval.Index.build([("d1", "text")]))  # assert "Index" in typ
    reveal_type(tieaware.worst_case("AP", "1.5"))  # assert "WorstCase" in typ
    reveal_type(tieaware.worst_case("AP", "1.5").value)  # assert typ == "float"


def check_tie_rules(rule: TieRuleName, text: str) -> None:
    Evaluator([1], "AP", ties=rule)
    for each in ("average", "run_order", "trec_eval"):
        Evaluator([1], "AP", ties=each, docids=["d"])
    Evaluator([1], "AP", ties=text)  # wrong


def check_wrong_calls() -> None:
    Evaluator([1], "AP", ties="avrage")  # wrong
    Evaluator([1], ["AP", 5])  # wrong
    Evaluator([1], "AP", "average")  # wrong
    tieaware.evaluate("qrels.txt", "a.run", "AP", queries="all")  # wrong
    tieaware.evaluate("qrels.txt", "a.run", "AP", spread="std")  # wrong
    tieaware.evalute("qrels.txt", "a.run", "AP")  # wrong
    tieaware.read_run("a.run", score_dtype="float16")  # wrong
    Run.from_dict({"q": {"d": 1.0}}, duplicates="last")  # wrong
    statistics.paired_test([1.0], [2.0], alternative="smaller")  # wrong
    statistics.kappa([1], [2], marginals="both")  # wrong
    AP @ "10"  # wrong
    tieaware.retrieval.Tiers(by="df")  # wrong
