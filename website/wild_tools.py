"""Evaluation tools, each behind the same function: the value of a measure for one list.

`ties_in_the_wild` runs them. Each function imports its tool only then, and calls it as the tool's documentation says.
Labels of at least 1 are relevant.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

MEASURES = ("RR", "AP", "nDCG@3")
K = 3


@dataclass(frozen=True)
class Given:
    """A list: the labels of judged documents, and the scores of retrieved ones in their order."""

    judged: dict[str, int]
    scores: dict[str, float]

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        """Return the judgments by query."""
        return {"q": dict(self.judged)}

    @property
    def run(self) -> dict[str, dict[str, float]]:
        """Return the run by query."""
        return {"q": dict(self.scores)}

    @cached_property
    def relevant(self) -> set[str]:
        """Return the relevant documents, retrieved or not."""
        return {document for document, label in self.judged.items() if label >= 1}

    @property
    def arrays(self) -> tuple[Any, Any]:
        """Return the labels and scores of the retrieved documents; unjudged ones have the label 0."""
        import numpy as np

        labels = [self.judged.get(document, 0) for document in self.scores]
        return np.array(labels), np.array(list(self.scores.values()), dtype=float)


class NotApplicable(ValueError):  # noqa: N818
    """The tool is not made for a list."""


def _needs_relevant(given: Given) -> None:
    """Leave out a query without relevant documents, as the tool itself does before it calls its measures."""
    if not given.relevant:
        raise NotApplicable("the tool leaves out queries without relevant documents")


def _needs_all_scored(given: Given) -> None:
    """Leave out a list that lacks relevant documents, because the tool scores all items."""
    if not given.relevant <= given.scores.keys():
        raise NotApplicable("the tool scores all items")


def _needs_binary(given: Given, measure: str) -> None:
    """Leave out graded labels, because the tool's nDCG is of binary labels."""
    if measure.startswith("nDCG") and max(given.judged.values()) > 1:
        raise NotApplicable("the tool has binary labels")


class Tool(NamedTuple):
    """A tool: its name, its package, its measures, and the function that evaluates a list."""

    name: str
    package: str
    measures: tuple[str, ...]
    evaluate: Callable[[Given, str], float]


TOOLS: list[Tool] = []


def _tool(name: str, package: str, *measures: str) -> Callable[[Callable[[Given, str], float]], None]:
    def register(function: Callable[[Given, str], float]) -> None:
        TOOLS.append(Tool(name, package, measures or MEASURES, function))

    return register


@_tool("pytrec_eval", "pytrec-eval-terrier")
def _pytrec_eval(given: Given, measure: str) -> float:
    import pytrec_eval

    name = {"RR": "recip_rank", "AP": "map", "nDCG@3": "ndcg_cut_3"}[measure]
    return pytrec_eval.RelevanceEvaluator(given.qrels, {name.replace("_3", ".3")}).evaluate(given.run)["q"][name]


@_tool("ir_measures", "ir-measures")
def _ir_measures(given: Given, measure: str) -> float:
    import ir_measures

    parsed = {"RR": ir_measures.RR, "AP": ir_measures.AP, "nDCG@3": ir_measures.nDCG @ K}[measure]
    return ir_measures.calc_aggregate([parsed], given.qrels, given.run)[parsed]


@_tool("ir_measures, RR@10", "ir-measures", "RR")
def _ir_measures_at_10(given: Given, measure: str) -> float:
    import ir_measures

    return ir_measures.calc_aggregate([ir_measures.RR @ 10], given.qrels, given.run)[ir_measures.RR @ 10]


@_tool("PyTerrier", "pyterrier")
def _pyterrier(given: Given, measure: str) -> float:
    import ir_measures
    import pandas as pd
    import pyterrier

    named = {"RR": ir_measures.RR, "RR@10": ir_measures.RR @ 10, "AP": ir_measures.AP, "nDCG@3": ir_measures.nDCG @ K}
    parsed = named[measure]
    run = pd.DataFrame([("q", *row) for row in given.scores.items()], columns=["qid", "docno", "score"])
    judged = pd.DataFrame([("q", *row) for row in given.judged.items()], columns=["qid", "docno", "label"])
    topics = pd.DataFrame({"qid": ["q"], "query": ["q"]})
    return pyterrier.Experiment([run], topics, judged, [parsed], names=["run"])[str(parsed)].item()


@_tool("ranx", "ranx")
def _ranx(given: Given, measure: str) -> float:
    import ranx

    name = {"RR": "mrr", "AP": "map", "nDCG@3": "ndcg@3"}[measure]
    return ranx.evaluate(ranx.Qrels(given.qrels), ranx.Run(given.run), name, threads=1)


@_tool("rank_eval", "rank-eval")
def _rank_eval(given: Given, measure: str) -> float:
    import rank_eval

    name = {"RR": "mrr", "AP": "map", "nDCG@3": "ndcg@3"}[measure]
    qrels, run = rank_eval.Qrels(), rank_eval.Run()
    qrels.add_multi(["q"], [list(given.judged)], [list(given.judged.values())])
    run.add_multi(["q"], [list(given.scores)], [[float(score) for score in given.scores.values()]])
    return rank_eval.evaluate(qrels, run, name, threads=1)


@_tool("trectools", "trectools")
def _trectools(given: Given, measure: str) -> float:
    from trectools import TrecEval, TrecQrel, TrecRun

    with tempfile.TemporaryDirectory() as folder:
        run, qrels = Path(folder, "run"), Path(folder, "qrels")
        rows = enumerate(given.scores.items(), 1)
        run.write_text("".join(f"q Q0 {document} {i} {score!r} run\n" for i, (document, score) in rows))
        qrels.write_text("".join(f"q 0 {document} {label}\n" for document, label in given.judged.items()))
        evaluation = TrecEval(TrecRun(str(run)), TrecQrel(str(qrels)))
        found = {"RR": evaluation.get_reciprocal_rank, "AP": evaluation.get_map, "nDCG@3": evaluation.get_ndcg}[measure]
        return found(depth=K) if measure == "nDCG@3" else found()


@_tool("repro_eval", "repro_eval", "RR", "AP")
def _repro_eval(given: Given, measure: str) -> float:
    import ir_measures
    from repro_eval.util import break_ties
    from repro_eval.util import evaluate_run as evaluate

    parsed = {"RR": ir_measures.RR, "AP": ir_measures.AP}[measure]
    return evaluate([parsed], given.qrels, break_ties(given.run))["q"][measure]


@_tool("cwl-eval", "cwl-eval", "RR", "AP")
def _cwl_eval(given: Given, measure: str) -> float:
    from cwl.ruler.measures.cwl_ap import APCWLMetric
    from cwl.ruler.measures.cwl_rr import RRCWLMetric
    from cwl.ruler.ranking import RankingMaker
    from cwl.seeker.trec_qrel_handler import TrecQrelHandler

    handler = TrecQrelHandler()
    for document, label in given.judged.items():
        handler.put_value("q", document, min(label, 1))
    ranking = RankingMaker("q", handler)
    # cwl_eval reads no scores: the order is that of the file, which is sorted by score.
    for document in sorted(given.scores, key=given.scores.__getitem__, reverse=True):
        ranking.add(document, "-")
    return {"RR": RRCWLMetric, "AP": APCWLMetric}[measure]().measure(ranking.get_ranking())


@_tool("mteb", "mteb")
def _mteb(given: Given, measure: str) -> float:
    from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores

    found = calculate_retrieval_scores(given.run, given.qrels, [K, 10])
    return {"RR": found.mrr.get("MRR@10"), "AP": found.map["MAP@10"], "nDCG@3": found.ndcg["NDCG@3"]}[measure]


@_tool("beir", "beir")
def _beir(given: Given, measure: str) -> float:
    from beir.retrieval.evaluation import EvaluateRetrieval

    if measure == "RR":
        return EvaluateRetrieval.evaluate_custom(given.qrels, given.run, [10], "mrr")["MRR@10"]
    ndcg, average, _, _ = EvaluateRetrieval.evaluate(given.qrels, given.run, [K, 10])
    return ndcg["NDCG@3"] if measure == "nDCG@3" else average["MAP@10"]


@_tool("sentence-transformers, retrieval", "sentence-transformers")
def _information_retrieval(given: Given, measure: str) -> float:
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    _needs_relevant(given)
    _needs_binary(given, measure)
    evaluator = InformationRetrievalEvaluator(
        {"q": "q"}, dict.fromkeys([*given.scores, *given.judged], ""), {"q": given.relevant},
        mrr_at_k=[10], ndcg_at_k=[K], map_at_k=[10],
    )  # fmt: skip
    hits = [[{"corpus_id": document, "score": score} for document, score in given.scores.items()]]
    found = evaluator.compute_metrics(hits)
    return {"RR": found["mrr@k"][10], "AP": found["map@k"][10], "nDCG@3": found["ndcg@k"][K]}[measure]


@_tool("sentence-transformers, reranking", "sentence-transformers")
def _reranking(given: Given, measure: str) -> float:
    from sentence_transformers.cross_encoder.evaluation import CrossEncoderRerankingEvaluator

    _needs_relevant(given)
    _needs_binary(given, measure)
    labels, scores = given.arrays
    at = K if measure == "nDCG@3" else 10
    found = CrossEncoderRerankingEvaluator([], at_k=at).compute_metrics((labels >= 1).astype(int), scores)
    return float(found[("RR", "nDCG@3", "AP").index(measure)])


@_tool("scikit-learn", "scikit-learn", "AP", "nDCG@3")
def _scikit_learn(given: Given, measure: str) -> float:
    from sklearn.metrics import average_precision_score, ndcg_score

    labels, scores = given.arrays
    if measure == "AP":
        return average_precision_score(labels >= 1, scores)
    return ndcg_score([labels], [scores], k=K)


@_tool("torchmetrics", "torchmetrics")
def _torchmetrics(given: Given, measure: str) -> float:
    import torch
    from torchmetrics.functional import retrieval

    labels, scores = (torch.tensor(each) for each in given.arrays)
    if measure == "nDCG@3":
        return retrieval.retrieval_normalized_dcg(scores, labels, top_k=K).item()
    name = {"RR": "reciprocal_rank", "AP": "average_precision"}[measure]
    return getattr(retrieval, f"retrieval_{name}")(scores, labels >= 1).item()


@_tool("tie-aware-retrieval-metrics", "tie-aware-retrieval-metrics")
def _tie_aware_retrieval_metrics(given: Given, measure: str) -> float:
    import trm

    _needs_binary(given, measure)
    labels, scores = given.arrays
    name, k = {"RR": ("mrr", 10), "AP": ("map", 10), "nDCG@3": ("ndcg", K)}[measure]
    values = trm.evaluate([scores.tolist()], [(labels >= 1).tolist()], [name], [k]).metrics
    return values[name][k].expected


@_tool("LightGBM", "lightgbm", "AP", "nDCG@3")
def _lightgbm(given: Given, measure: str) -> float:
    import lightgbm
    import numpy as np

    labels, scores = given.arrays
    labels = (labels >= 1).astype(int) if measure == "AP" else labels
    name = {"AP": "map", "nDCG@3": "ndcg"}[measure]
    quiet = {"verbose": -1}
    data = lightgbm.Dataset(np.zeros((len(labels), 1)), labels, group=[len(labels)], init_score=scores, params=quiet)
    # The default gains are 2^label - 1.
    options = {"objective": "lambdarank", "metric": name, "eval_at": [10 if name == "map" else K], "num_threads": 1}
    options["label_gain"] = list(range(5))
    return lightgbm.Booster({**options, **quiet}, data).eval_train()[0][2]


@_tool("XGBoost", "xgboost-cpu", "AP", "nDCG@3")
def _xgboost(given: Given, measure: str) -> float:
    import numpy as np
    import xgboost

    labels, scores = given.arrays
    labels = (labels >= 1).astype(int) if measure == "AP" else labels
    name = {"AP": "map@10", "nDCG@3": "ndcg@3"}[measure]
    data = xgboost.DMatrix(np.zeros((len(labels), 1)), labels, base_margin=scores, group=[len(labels)])
    options = {"objective": "rank:ndcg", "eval_metric": [name], "nthread": 1, "ndcg_exp_gain": False}
    return float(xgboost.Booster(options, [data]).eval(data).rpartition(":")[2])


@_tool("CatBoost", "catboost", *MEASURES)
def _catboost(given: Given, measure: str) -> float:
    from catboost.utils import eval_metric

    labels, scores = given.arrays
    labels = labels if measure == "nDCG@3" else (labels >= 1).astype(int)
    name = {"RR": "MRR", "AP": "MAP", "nDCG@3": "NDCG:top=3;type=Base"}[measure]
    return float(eval_metric(labels, scores, name, group_id=[0] * len(labels), thread_count=1)[0])


@_tool("LensKit", "lenskit")
def _lenskit(given: Given, measure: str) -> float:
    from lenskit.data import ItemList
    from lenskit.metrics import ranking

    _needs_relevant(given)
    listed = ItemList(item_ids=list(given.scores), scores=list(given.scores.values())).top_n()
    relevant = sorted(given.relevant)
    test = ItemList(item_ids=relevant, rating=[float(given.judged[document]) for document in relevant])
    metric = {
        "RR": ranking.RecipRank(),
        "AP": ranking.AveragePrecision(),
        # The offset makes the first two ranks differ, as in the nDCG of the other tools.
        "nDCG@3": ranking.NDCG(K, gain="rating", weight=ranking.LogRankWeight(offset=1)),
    }[measure]
    return float(metric.measure_list(listed, test))


@_tool("Recommenders", "recommenders", "AP", "nDCG@3")
def _recommenders(given: Given, measure: str) -> float:
    import pandas as pd
    from recommenders.evaluation import python_evaluation

    _needs_relevant(given)
    relevant = sorted(given.relevant)
    true = pd.DataFrame({
        "userID": pd.Series(["q"] * len(relevant), dtype=object),
        "itemID": pd.Series(relevant, dtype=object),
        "rating": [given.judged[document] for document in relevant],
    })  # fmt: skip
    found = pd.DataFrame({
        "userID": pd.Series(["q"] * len(given.scores), dtype=object),
        "itemID": pd.Series(list(given.scores), dtype=object),
        "prediction": list(given.scores.values()),
    })  # fmt: skip
    if measure == "AP":
        return python_evaluation.map(true, found, k=10)
    return python_evaluation.ndcg_at_k(true, found, k=K, score_type="raw")


@_tool("RecBole", "recbole")
def _recbole(given: Given, measure: str) -> float:
    import numpy as np
    import torch

    _needs_relevant(given)
    _needs_all_scored(given)
    _needs_binary(given, measure)
    # RecBole 1.2.1 uses the name np.float, which NumPy removed in 1.24.
    np.float = float
    from recbole.evaluator.collector import Collector
    from recbole.evaluator.metrics import MAP, MRR, NDCG

    metric = {"RR": MRR, "AP": MAP, "nDCG@3": NDCG}[measure]
    name = metric.__name__.lower()
    k = K if measure == "nDCG@3" else len(given.scores)
    config = {"metrics": [name], "topk": [k], "device": "cpu", "eval_args": {"mode": "full"}, "metric_decimal_place": 6}
    labels, scores = given.arrays
    collector = Collector(config)
    positive = torch.tensor((labels >= 1).nonzero()[0])
    collector.eval_batch_collect(torch.tensor(scores)[None], None, torch.zeros_like(positive), positive)
    return metric(config).calculate_metric(collector.get_data_struct())[f"{name}@{k}"]


@_tool("Cornac", "cornac")
def _cornac(given: Given, measure: str) -> float:
    import numpy as np
    from cornac.metrics import MAP, MRR, NDCG
    from cornac.models import Recommender

    _needs_relevant(given)
    _needs_all_scored(given)
    _needs_binary(given, measure)
    labels, scores = given.arrays

    class Constant(Recommender):
        num_items = total_items = len(scores)

        def score(self, user_idx: int, item_idx: int | None = None) -> Any:
            return scores

    items = np.arange(len(scores))
    ranked, by_item = Constant("constant").rank(0, items)
    metric = {"RR": MRR(), "AP": MAP(), "nDCG@3": NDCG(K)}[measure]
    positive = np.flatnonzero(labels >= 1)
    return float(metric.compute(gt_pos=positive, pd_rank=ranked, pd_scores=by_item, item_indices=items))


def _link(given: Given) -> tuple[Any, Any]:
    """Return the score of the only relevant document, and those of the others."""
    labels, scores = given.arrays
    if len(given.relevant) != 1 or (labels >= 1).sum() != 1:
        raise NotApplicable("one relevant document among the candidates is required")
    return scores[labels >= 1], scores[labels < 1]


@_tool("PyKEEN, realistic", "pykeen", "RR")
def _pykeen(given: Given, measure: str) -> float:
    import numpy as np
    import torch
    from pykeen.evaluation.ranks import Ranks
    from pykeen.metrics.ranking import InverseHarmonicMeanRank

    positive, others = _link(given)
    scores = torch.tensor(np.concatenate([positive, others]))[None]
    ranks = Ranks.from_scores(torch.tensor(positive)[None], scores).realistic
    return float(InverseHarmonicMeanRank()(ranks.numpy()))


@_tool("OGB", "ogb", "RR")
def _ogb(given: Given, measure: str) -> float:
    import torch
    from ogb.linkproppred import Evaluator

    positive, others = _link(given)
    given_scores = {"y_pred_pos": torch.tensor(positive), "y_pred_neg": torch.tensor(others)[None]}
    return Evaluator(name="ogbl-citation2").eval(given_scores)["mrr_list"].item()
