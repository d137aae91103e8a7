"""Each tool orders ties as the table of tieaware.experiments.ties_by_tool says, tested on a run with many ties."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import tieaware
from tieaware.experiments.ties_by_tool import TOOLS, table, tools_by_rule
from tieaware.ties import RULES

# Importing the tools gives warnings.
pytestmark = pytest.mark.filterwarnings("ignore")

ROOT = Path(__file__).parents[2]
N = 64

# Three queries whose documents have one of three scores. The lists are sorted neither by score nor by name.
_rng = np.random.default_rng(11)
RUN = {f"q{q}": {f"d{document:02}": float(_rng.integers(3)) for document in _rng.permutation(N)} for q in range(3)}
QRELS = {query: {document: int(_rng.random() < 0.15) for document in documents} for query, documents in RUN.items()}
LABELS = [np.array([QRELS[query][document] for document in documents]) for query, documents in RUN.items()]
SCORES = [np.array(list(documents.values())) for documents in RUN.values()]


def mean_of(function):
    return float(np.mean([function(*each) for each in zip(LABELS, SCORES, strict=True)]))


def pytrec_eval():
    import pytrec_eval

    values = pytrec_eval.RelevanceEvaluator(QRELS, {"recip_rank", "map", "ndcg"}).evaluate(RUN).values()
    names = {"RR": "recip_rank", "AP": "map", "nDCG": "ndcg"}
    return {measure: np.mean([each[name] for each in values]) for measure, name in names.items()}


def ir_measures(*measures):
    import ir_measures

    # The parser of ir_measures uses a part of ast that Python 3.14 no longer has.
    parsed = [eval(each, {**vars(ir_measures)}) for each in measures]
    return {str(measure): value for measure, value in ir_measures.calc_aggregate(parsed, QRELS, RUN).items()}


def pyterrier(*measures):
    import ir_measures
    import pandas as pd
    import pyterrier

    rows = [(q, d, s) for q, documents in RUN.items() for d, s in documents.items()]
    judged = [(q, d, label) for q, documents in QRELS.items() for d, label in documents.items()]
    outcome = pyterrier.Experiment(
        [pd.DataFrame(rows, columns=["qid", "docno", "score"])],
        pd.DataFrame({"qid": list(RUN), "query": list(RUN)}),
        pd.DataFrame(judged, columns=["qid", "docno", "label"]),
        [eval(each, {**vars(ir_measures)}) for each in measures],
        names=["run"],
    )
    return {measure: outcome[measure].item() for measure in measures}


def ranx():
    import ranx

    values = ranx.evaluate(ranx.Qrels(QRELS), ranx.Run(RUN), ["mrr", "map"], threads=1)
    return {"RR": values["mrr"], "AP": values["map"]}


def mteb():
    from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores

    result = calculate_retrieval_scores(RUN, QRELS, [1, N])
    return {"RR": result.mrr[f"MRR@{N}"], "AP": result.map[f"MAP@{N}"], "P@1": result.precision["P@1"]}


def beir():
    from beir.retrieval.evaluation import EvaluateRetrieval

    ndcg, average, _, _ = EvaluateRetrieval.evaluate(QRELS, RUN, [N])
    return {"nDCG": ndcg[f"NDCG@{N}"], "AP": average[f"MAP@{N}"]}


def beir_custom():
    from beir.retrieval.evaluation import EvaluateRetrieval

    return {
        "RR": EvaluateRetrieval.evaluate_custom(QRELS, RUN, [N], "mrr")[f"MRR@{N}"],
        "Success@1": EvaluateRetrieval.evaluate_custom(QRELS, RUN, [1], "top_k_acc")["Accuracy@1"],
    }


def information_retrieval():
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    relevant = {query: {d for d, label in labels.items() if label} for query, labels in QRELS.items()}
    evaluator = InformationRetrievalEvaluator(
        {query: query for query in RUN}, {f"d{i:02}": "" for i in range(N)}, relevant, mrr_at_k=[N], ndcg_at_k=[N]
    )
    hits = [[{"corpus_id": d, "score": s} for d, s in documents.items()] for documents in RUN.values()]
    values = evaluator.compute_metrics(hits)
    return {"RR": values["mrr@k"][N], "nDCG": values["ndcg@k"][N]}


def reranking(measure):
    from sentence_transformers.cross_encoder.evaluation import CrossEncoderRerankingEvaluator

    column = ("RR", "nDCG", "AP").index(measure)
    evaluator = CrossEncoderRerankingEvaluator([], at_k=N)
    return {measure: mean_of(lambda labels, scores: evaluator.compute_metrics(labels, scores)[column])}


def scikit_learn(name):
    import sklearn.metrics

    if name == "ndcg_score":
        return {"nDCG": mean_of(lambda labels, scores: sklearn.metrics.ndcg_score([labels], [scores]))}
    return {"AP": mean_of(sklearn.metrics.average_precision_score)}


def tie_aware_retrieval_metrics():
    import trm

    relevant = [labels.astype(bool).tolist() for labels in LABELS]
    scores = [each.tolist() for each in SCORES]
    values = trm.evaluate(scores, relevant, ["mrr", "map", "ndcg", "precision", "recall"], [5, N]).metrics
    names = {"RR": "mrr", "AP": "map", "nDCG": "ndcg"}
    whole = {measure: values[name][N].expected for measure, name in names.items()}
    return {**whole, "P@5": values["precision"][5].expected, "R@5": values["recall"][5].expected}


def lightgbm():
    import lightgbm

    # A model without trees returns its initial scores.
    group, labels, scores = [N] * len(RUN), np.concatenate(LABELS), np.concatenate(SCORES)
    data = lightgbm.Dataset(np.zeros((len(labels), 1)), labels, group=group, init_score=scores, params={"verbose": -1})
    parameters = {"objective": "lambdarank", "metric": "ndcg,map", "eval_at": [N], "verbose": -1, "num_threads": 1}
    values = {name: value for _, name, value, _ in lightgbm.Booster(parameters, data).eval_train()}
    return {"nDCG": values[f"ndcg@{N}"], "AP": values[f"map@{N}"]}


def xgboost():
    import xgboost

    labels, scores = np.concatenate(LABELS), np.concatenate(SCORES)
    data = xgboost.DMatrix(np.zeros((len(labels), 1)), labels, base_margin=scores, group=[N] * len(RUN))
    # The default cut-off of both metrics is 32.
    params = {"objective": "rank:ndcg", "eval_metric": [f"ndcg@{N}", f"map@{N}"], "nthread": 1}
    model = xgboost.Booster(params, [data])
    ndcg, average = (float(each.partition(":")[2]) for each in model.eval(data).split()[1:])
    return {"nDCG": ndcg, "AP": average}


def torchmetrics(*names):
    import torch
    import torchmetrics.functional.retrieval as functions

    def value(name):
        function = getattr(functions, f"retrieval_{name}")
        return mean_of(lambda labels, scores: function(torch.tensor(scores), torch.tensor(labels)))

    measures = {"normalized_dcg": "nDCG", "reciprocal_rank": "RR", "average_precision": "AP"}
    return {measures[name]: value(name) for name in names}


# For each entry of TOOLS, in that order: a module that must be installed, and a function that returns the values.
RUNS = [
    ("pytrec_eval", pytrec_eval),
    ("ir_measures", lambda: ir_measures("AP", "nDCG", "P@5", "RR")),
    ("ir_measures", lambda: ir_measures("RR@10")),
    ("pyterrier", lambda: pyterrier("AP", "nDCG", "P@5", "RR")),
    ("pyterrier", lambda: pyterrier("RR@10")),
    ("torch", ranx),  # ranx itself needs no torch, but compiles for a minute, so only `make test-tools` runs it.
    ("mteb", mteb),
    ("beir", beir),
    ("beir", beir_custom),
    ("sentence_transformers", information_retrieval),
    ("sentence_transformers", lambda: reranking("RR")),
    ("sentence_transformers", lambda: reranking("nDCG")),
    ("sentence_transformers", lambda: reranking("AP")),
    ("sklearn", lambda: scikit_learn("ndcg_score")),
    ("sklearn", lambda: scikit_learn("average_precision_score")),
    ("trm", tie_aware_retrieval_metrics),
    ("lightgbm", lightgbm),
    ("xgboost", xgboost),
    ("torchmetrics", lambda: torchmetrics("normalized_dcg")),
    ("torchmetrics", lambda: torchmetrics("reciprocal_rank", "average_precision")),
]


@pytest.mark.parametrize(
    ("tool", "module", "values"),
    [(tool, *run) for tool, run in zip(TOOLS, RUNS, strict=True)],
    ids=[f"{tool.package}: {tool.computes}" for tool in TOOLS],
)
def test_a_tool_follows_its_tie_rule_and_no_other(tool, module, values):
    """If the table gives no tie rule for a tool, no rule reproduces the tool's values."""
    if find_spec(module) is None:
        pytest.skip(f"{tool.package} is not installed: `make test-tools` tries it")
    found = values()
    expected = {rule: tieaware.evaluate(QRELS, RUN, list(found), ties=rule).mean()[0] for rule in RULES}
    # The tolerance allows for beir and mteb, which round to five decimals, and for float32, which has seven digits.
    followed = {rule for rule, each in expected.items() if np.allclose(list(found.values()), each, rtol=0, atol=6e-6)}
    assert followed == ({tool.rule} if tool.rule else set())


def test_the_documentation_and_the_command_have_the_same_table():
    assert table() in (ROOT / "docs" / "tie_rules.md").read_text(encoding="utf-8")
    line = next(line for line in tools_by_rule() if line.startswith("docid_ascending: "))
    assert "sentence-transformers" in line
    assert "lightgbm" not in line
    assert {rule for rule in RULES if not any(tool.rule == rule for tool in TOOLS)} == {"optimistic", "pessimistic"}
