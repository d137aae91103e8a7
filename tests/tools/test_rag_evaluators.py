"""Metrics for llama_index and Haystack, compared with their own."""

import numpy as np
import pytest

from tieaware import InputError
from tieaware.integrations import haystack as for_haystack
from tieaware.integrations import llama_index as for_llama_index


@pytest.fixture
def lists():
    """Twenty lists of ten different names, and the relevant names of each, some of which the list lacks."""
    rng = np.random.default_rng(2028)
    return [
        ([f"d{i}" for i in rng.permutation(20)[:10]], [f"d{i}" for i in rng.permutation(20)[: 1 + row % 4]])
        for row in range(20)
    ]


@pytest.mark.parametrize(
    ("measure", "own"), [("RR", "MRR"), ("Success@10", "HitRate"), ("P@10", "Precision"), ("R@10", "Recall")]
)
def test_values_are_those_of_llama_index(measure, own, lists):
    metrics = pytest.importorskip("llama_index.core.evaluation.retrieval.metrics")
    theirs, ours = getattr(metrics, own)(), for_llama_index.metric(measure)
    assert ours.metric_name == measure
    for retrieved, relevant in lists:
        for extra in ({}, {"retrieved_scores": list(range(10, 0, -1))}):
            found = ours.compute("q", relevant, retrieved, None, None, **extra)
            assert found.score == pytest.approx(
                theirs.compute("q", relevant, retrieved, None, None).score, rel=1e-15
            )
            assert (found.metadata["std"], found.metadata["tied"]) == (0.0, 0)


def test_llama_index_evaluator_tells_the_scores():
    pytest.importorskip("llama_index.core")
    from llama_index.core.evaluation.retrieval.metrics import MRR
    from llama_index.core.postprocessor import SimilarityPostprocessor
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class Retriever(BaseRetriever):
        def _retrieve(self, query):
            scores = (0.9, 0.5, 0.5, 0.1) if query.query_str == "scored" else (None,) * 4
            return [NodeWithScore(node=TextNode(id_=name, text=f"text {name}"), score=score)
                    for name, score in zip("abcd", scores, strict=True)]  # fmt: skip

    def grader(query, texts):
        return [text == "text c" for text in texts]

    metrics = [MRR(), for_llama_index.metric("RR"), for_llama_index.metric("P@1", grader=grader)]
    evaluator = for_llama_index.RetrieverEvaluator(metrics=metrics, retriever=Retriever())
    assert evaluator.evaluate("scored", ["b"]).metric_vals_dict == {"mrr": 0.5, "RR": (1 / 2 + 1 / 3) / 2, "P@1": 0.0}
    assert evaluator.evaluate("not scored", ["b"]).metric_vals_dict == {"mrr": 0.5, "RR": 0.5, "P@1": 0.0}
    evaluator.node_postprocessors = [SimilarityPostprocessor(similarity_cutoff=0.6)]
    result = evaluator.evaluate("scored", ["b"])
    assert (result.retrieved_ids, result.retrieved_texts) == (["a"], ["text a"])
    assert result.metric_vals_dict["RR"] == 0.0


def test_metrics_that_llama_index_makes_from_names_are_ours():
    """`from_metric_names` made llama_index's own metrics, which ignore ties: MRR was 0.5 here."""
    pytest.importorskip("llama_index.core")
    from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class Retriever(BaseRetriever):
        def _retrieve(self, query):
            return [NodeWithScore(node=TextNode(id_=name, text=name), score=score)
                    for name, score in zip("abc", (5, 4, 4), strict=True)]  # fmt: skip

    names = sorted(METRIC_REGISTRY.keys() - {"cohere_rerank_relevancy"})
    evaluator = for_llama_index.RetrieverEvaluator.from_metric_names([*names, "RR"], retriever=Retriever())
    result = evaluator.evaluate("a question", expected_ids=["b"])
    mean = (1 / 2 + 1 / 3) / 2
    assert result.metric_vals_dict == pytest.approx(
        {"ap": mean, "hit_rate": 1.0, "mrr": mean, "ndcg": (1 / np.log2(3) + 1 / 2) / 2, "precision": 1 / 3,
         "recall": 1.0, "RR": mean}
    )  # fmt: skip
    assert result.metric_dict["mrr"].metadata["max"] == 0.5
    for wrong, message in ((["mmr"], "measure: unknown measure 'mmr'"), ("mrr", "metric_names: expected")):
        with pytest.raises(InputError, match=message):
            for_llama_index.RetrieverEvaluator.from_metric_names(wrong, retriever=Retriever())


def test_llama_index_metric_needs_its_arguments():
    pytest.importorskip("llama_index.core")
    with pytest.raises(InputError, match="expected_ids: is needed, and so is retrieved_ids"):
        for_llama_index.metric("RR").compute(query="q")
    with pytest.raises(InputError, match="retrieved_texts: is needed by the grader"):
        for_llama_index.metric("RR", grader=lambda query, texts: []).compute(query="q", retrieved_ids=["a"])
    for wrong in (lambda: for_llama_index.metric("XX"), lambda: for_llama_index.metric("RR", ties="mean")):
        with pytest.raises(InputError):
            wrong()


@pytest.mark.parametrize(
    ("measure", "own"),
    [("RR", "DocumentMRREvaluator"), ("AP", "DocumentMAPEvaluator"), ("R@10", "DocumentRecallEvaluator"),
     ("nDCG", "DocumentNDCGEvaluator")],
)  # fmt: skip
@pytest.mark.parametrize("scored", [False, True])
def test_values_are_those_of_haystack(measure, own, scored, lists):
    """Haystack divides AP by the relevant documents that were retrieved, so no relevant one is missing there."""
    evaluators = pytest.importorskip("haystack.components.evaluators")
    from haystack import Document

    if measure == "AP":
        lists = [(retrieved, [name for name in relevant if name in retrieved]) for retrieved, relevant in lists]
        lists = [each for each in lists if each[1]]
    retrieved = [[Document(content=name, score=10 - i if scored else None) for i, name in enumerate(names)]
                 for names, _ in lists]  # fmt: skip
    truth = [[Document(content=name) for name in relevant] for _, relevant in lists]
    options = {"mode": "multi_hit"} if own == "DocumentRecallEvaluator" else {}
    theirs = getattr(evaluators, own)(**options).run(ground_truth_documents=truth, retrieved_documents=retrieved)
    ours = for_haystack.RankingEvaluator(measure).run(ground_truth_documents=truth, retrieved_documents=retrieved)
    np.testing.assert_allclose(ours["individual_scores"], theirs["individual_scores"], rtol=1e-14)
    assert ours["score"] == pytest.approx(theirs["score"], rel=1e-14)


def test_haystack_labels_fields_and_pipelines():
    haystack = pytest.importorskip("haystack")
    Document = haystack.Document
    first = {"file": {"id": 1}}
    truth = [[Document(content="x", meta=first, score=2.0), Document(content="y", score=1.0)]]
    found = [[
        Document(content="p", meta={"file": {"id": 2}}, score=0.5), Document(content="q", meta=first, score=0.5),
        Document(content="r", score=0.1),
    ]]  # fmt: skip
    pipeline = haystack.Pipeline()
    pipeline.add_component("ndcg", for_haystack.RankingEvaluator("nDCG", "meta.file.id"))
    saved = haystack.Pipeline.loads(pipeline.dumps(), allowed_modules=[for_haystack.__name__])
    for each in (pipeline, saved):
        result = each.run({"ndcg": {"ground_truth_documents": truth, "retrieved_documents": found}})["ndcg"]
        assert result["individual_scores"][0] == pytest.approx((1 + 1 / np.log2(3)) / 2)
        assert result["individual_spreads"][0]["tied"] == 2
    by_id = for_haystack.RankingEvaluator("RR", "id", ties="pessimistic")
    assert by_id.run(found, found)["score"] == 1.0
    half = [[found[0][0], Document(content="z")]]
    for call in (lambda: by_id.run([], []), lambda: by_id.run(truth, []), lambda: by_id.run(truth, half),
                 lambda: for_haystack.RankingEvaluator("RR", "x")):  # fmt: skip
        with pytest.raises(InputError):
            call()
