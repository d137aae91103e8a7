"""Tie-aware evaluators, compared with those of sentence-transformers, with a model in memory."""

import math
import pickle

import numpy as np
import pytest
from stand_ins import Scorer

import tieaware

CORPUS = {f"d{i:02}": f"{i}" for i in range(20)}
RELEVANT = {"q1": {"d00", "d19"}, "q2": {"d05", "missing", "d06"}}
QUERIES = {"q1": "a", "q2": "b", "unjudged": "c"}


def retrieval(ties="average", **options):
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    from tieaware.integrations import sentence_transformers as tie_aware

    cls = InformationRetrievalEvaluator if ties is None else tie_aware.InformationRetrievalEvaluator
    options = {"map_at_k": [2, 10], "mrr_at_k": [1, 10], "corpus_chunk_size": 7, **options}
    evaluator = cls(QUERIES, CORPUS, RELEVANT, **options)
    if ties is not None:
        evaluator.ties = ties
    return evaluator


def reranking(samples, tie_aware=True):
    from sentence_transformers.cross_encoder import evaluation

    from tieaware.integrations import sentence_transformers as ours

    source = ours if tie_aware else evaluation
    return source.CrossEncoderRerankingEvaluator(samples, at_k=10)(Scorer())


def test_a_reranker_with_equal_scores():
    """sentence-transformers ranks the relevant one of ten tied candidates last for RR and AP, but averages nDCG."""
    samples = [{"query": "q", "positive": ["p"], "negative": list("abcdefghi")}]
    own, found = reranking(samples, tie_aware=False), reranking(samples)
    assert own["mrr@10"] == own["map"] == pytest.approx(0.1)
    assert [found["mrr@10"], found["map"]] == pytest.approx([math.fsum(1 / j for j in range(1, 11)) / 10] * 2)
    assert found["ndcg@10"] == pytest.approx(own["ndcg@10"])


def test_a_reranker_without_ties_has_the_original_values():
    from sentence_transformers.cross_encoder.evaluation import CrossEncoderRerankingEvaluator as Own

    from tieaware.integrations.sentence_transformers import CrossEncoderRerankingEvaluator

    samples = [
        {"query": "a", "positive": ["3", "8"], "documents": ["1", "8", "2", "9"]},
        {"query": "b", "positive": ["7"], "documents": ["1", "2"]},
    ]
    for options in ({}, {"always_rerank_positives": False}, {"at_k": 1}):
        own, found = (cls(samples, **options)(Scorer(float)) for cls in (Own, CrossEncoderRerankingEvaluator))
        assert found == pytest.approx(own, abs=1e-12)


@pytest.mark.parametrize("batched", [True, False])
def test_an_encoder_that_reranks(batched):
    """Values equal those of sentence-transformers without ties, and for nDCG also with ties."""
    from sentence_transformers.sentence_transformer.evaluation import RerankingEvaluator as Own
    from sentence_transformers.util import dot_score

    from tieaware.integrations.sentence_transformers import RerankingEvaluator

    samples = [
        {"query": "a", "positive": ["3", "8"], "negative": ["1", "2", "9"]},
        {"query": "b", "positive": "7", "negative": ["1", "12"]},
        {"query": "c", "positive": [], "negative": ["4"]},
    ]
    options = {"samples": samples, "similarity_fct": dot_score, "use_batched_encoding": batched}
    for at_k in (1, 10):
        own, found = (cls(**options, at_k=at_k, name="n")(Scorer(float)) for cls in (Own, RerankingEvaluator))
        assert found == pytest.approx(own, abs=1e-12)
    own, evaluator = Own(**options)(Scorer()), RerankingEvaluator(**options)
    found = evaluator(Scorer())
    assert evaluator.similarity_fct is dot_score
    assert found["ndcg@10"] == pytest.approx(own["ndcg@10"], abs=1e-12)
    # First sample: one of three documents is relevant. Second sample: two of five, the first of which is at rank j with
    # probability (5 - j)/10.
    assert found["mrr@10"] == pytest.approx(((1 + 1 / 2 + 1 / 3) / 3 + 0.4 + 0.3 / 2 + 0.2 / 3 + 0.1 / 4) / 2)
    assert own["map"] == pytest.approx((1 / 3 + 2 / 5) / 2)
    run = {"a": dict.fromkeys("38129", 0.5), "b": dict.fromkeys(["7", "1", "12"], 0.5)}
    expected = tieaware.evaluate({"a": {"3": 1, "8": 1}, "b": {"7": 1}}, run, "AP").mean().item()
    assert found["map"] == pytest.approx(expected, abs=1e-15)
    evaluator.ties = "optimistic"
    assert set(evaluator(Scorer()).values()) == {1.0}
    with pytest.raises(tieaware.InputError, match="found NaN"):
        evaluator(Scorer(lambda text: float("nan")))


def test_an_encoder_with_equal_scores():
    """Among tied documents, sentence-transformers keeps those with the lowest identifiers, relevant or not."""
    own, found = retrieval(None)(Scorer()), retrieval()(Scorer())
    assert found.keys() == own.keys()
    assert own["dot_mrr@1"] == 0.5
    assert found["dot_mrr@1"] == found["dot_accuracy@1"] == pytest.approx(2 / 20)
    run = {query: dict.fromkeys(CORPUS, 0.5) for query in RELEVANT}
    expected = tieaware.evaluate(as_qrels(), run, ["RR@10", "nDCG@10", "R@5", "P@3", "Success@10"]).mean()[0]
    names = ["dot_mrr@10", "dot_ndcg@10", "dot_recall@5", "dot_precision@3", "dot_accuracy@10"]
    assert [found[name] for name in names] == pytest.approx(expected.tolist())
    # The value is the same for every size of the batches in which the corpus is searched.
    assert retrieval(corpus_chunk_size=3)(Scorer()) == pytest.approx(found, abs=1e-15)


def as_qrels():
    return {query: dict.fromkeys(documents, 1) for query, documents in RELEVANT.items()}


@pytest.mark.parametrize(("ties", "levels"), [("docid_ascending", 3), ("docid_ascending", 1), ("average", 100)])
def test_an_encoder_has_the_original_values_under_the_original_tie_rule_or_without_ties(ties, levels):
    model = Scorer(lambda text: float(int(text) * 7 % 20 % levels))
    assert retrieval(ties)(model) == pytest.approx(retrieval(None)(model), abs=1e-12)


def test_each_score_function_has_its_own_ties():
    functions = {
        "flat": lambda q, d: q @ d.T * 0,
        "dot": lambda q, d: q @ d.T,
        "rough": lambda q, d: (q @ d.T).bfloat16(),
    }
    model = Scorer(lambda text: 1 + float(int(text)) / 1000)
    evaluator = retrieval(score_functions=functions)
    found, own = evaluator(model), retrieval(None, score_functions=functions)(model)
    assert evaluator.score_functions is functions
    dot = {name: value for name, value in own.items() if name.startswith("dot")}
    assert {name: found[name] for name in dot} == pytest.approx(dot, abs=1e-12)
    assert found["flat_mrr@1"] == pytest.approx(2 / 20)
    scores = np.array([model.score(text) for text in CORPUS.values()], dtype=np.float32)
    run = {query: dict(zip(CORPUS, scores.tolist(), strict=True)) for query in RELEVANT}
    expected = tieaware.evaluate(as_qrels(), run, "RR@10", precision="bfloat16").mean().item()
    assert found["rough_mrr@10"] == pytest.approx(expected)


def test_files_with_predictions_do_not_change(tmp_path):
    for name, ties in (("own", None), ("found", "docid_ascending")):
        retrieval(ties, write_predictions=True)(Scorer(float), output_path=str(tmp_path / name))
    own, found = ({path.name: path.read_bytes() for path in (tmp_path / each).iterdir()} for each in ("own", "found"))
    assert own.keys() == found.keys()
    name = next(name for name in own if name.endswith("jsonl"))
    assert own[name] == found[name]


def test_nan_is_an_error():
    with pytest.raises(tieaware.InputError, match="found NaN"):
        retrieval()(Scorer(lambda text: float("nan") if text == "3" else 1.0))


def test_the_classes_are_made_once_and_can_be_pickled():
    from tieaware.integrations import sentence_transformers as tie_aware

    assert tie_aware.InformationRetrievalEvaluator is tie_aware.InformationRetrievalEvaluator
    assert (
        pickle.loads(pickle.dumps(tie_aware.CrossEncoderRerankingEvaluator)) is tie_aware.CrossEncoderRerankingEvaluator
    )
    with pytest.raises(AttributeError, match="no attribute 'TripletEvaluator'"):
        tie_aware.TripletEvaluator  # noqa: B018
