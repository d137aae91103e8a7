"""The functions and mixins for mteb and sentence-transformers, tested without these tools."""

import numpy as np
import pytest
from support.errors import message_of

from tieaware import evaluate
from tieaware.integrations import mteb
from tieaware.integrations import sentence_transformers as embedders

RUN = {"q1": {"a": 1.0, "b": 1.0, "c": 0.5}, "empty": {}, "q2": {"c": 2.0, "a": 1.0, "d": 1.0}}
QRELS = {"q1": {"b": 1, "z": 2}, "q2": {"a": 1, "c": 0}, "empty": {"a": 1}, "unanswered": {"a": 1}}


def test_values_are_in_the_order_of_the_results():
    assert mteb.mrr(QRELS, RUN, [1, 2]) == {"MRR@1": [0.5, 0, 0], "MRR@2": [0.75, 0, 0.25]}
    assert mteb.top_k_accuracy(QRELS, RUN, [2]) == {"Accuracy@2": [1, 0, 0.5]}
    assert mteb.recall_cap({**QRELS, "q2": {"c": 0}}, RUN, [1, 3]) == {
        "R_cap_at_1": [0.5, 0, None], "R_cap_at_3": [0.5, 0, None],
    }  # fmt: skip
    # Document d is not judged for any query. Document z is judged, but not retrieved.
    assert mteb.hole(QRELS, RUN, [2, 4]) == {"Hole_at_2": [0, 0, 0.25], "Hole_at_4": [0, 0, 0.25]}


@pytest.mark.parametrize(("ties", "expected"), [("optimistic", 1), ("pessimistic", 0.5), ("docid_ascending", 0.5)])
def test_all_tie_rules(ties, expected):
    assert mteb.mrr({"q": {"b": 1}}, {"q": {"b": 1.0, "a": 1.0}}, [2], ties=ties) == {"MRR@2": [expected]}


def test_reranking_under_two_tie_rules_and_with_nan():
    evaluator = embedders.TieAwareReranking()
    evaluator.at_k = 1
    assert evaluator.compute_metrics([0, 1], np.zeros(2, np.float32))[0] == 0.5
    evaluator.ties = "run_order"
    assert evaluator.compute_metrics([0, 1], np.zeros(2, np.float32))[0] == 0
    assert "found NaN for document 1" in message_of(evaluator.compute_metrics, [0, 1], [1.0, np.nan])


def test_documents_that_tie_with_the_last_place_are_kept():
    """The corpus is searched in batches. Documents that tie with the last place are kept for any batch size."""
    rng = np.random.default_rng(5)
    scores = rng.integers(6, size=(4, 50)).astype(np.float32)
    for depth, size in ((1, 50), (7, 3), (49, 20), (50, 11), (80, 50)):
        retrieved = embedders.Retrieved(lambda _, documents: scores[:, documents], depth)
        for start in range(0, 50, size):
            retrieved(None, np.arange(start, min(start + size, 50)))
        for (values, places), row in zip(retrieved.candidates, scores, strict=True):
            expected = np.flatnonzero(row >= np.sort(row)[-min(depth, 50)])
            np.testing.assert_array_equal(places, expected)
            np.testing.assert_array_equal(values, row[expected])


class Evaluators:
    """The parts of InformationRetrievalEvaluator and RerankingEvaluator that the mixins use."""

    def __init__(self, **attributes):
        vars(self).update(attributes)

    def compute_all_metrics(self, model):
        queries = np.ones((len(self.queries_ids), 1), np.float32)
        for function in self.score_functions.values():
            for start in range(0, len(self.corpus_ids), 3):
                batch = self.corpus_ids[start : start + 3]
                function(queries, np.array([[model(document)] for document in batch], np.float32))
        return {name: self.compute_metrics([]) for name in self.score_functions}

    def compute_metrics(self, model):
        for sample in self.samples:
            documents = [*sample["positive"], *sample["negative"]]
            self.similarity_fct(None, np.array([[model(document) for document in documents]]))


class Retrieval(embedders.TieAwareInformationRetrieval, Evaluators):
    pass


class Reranking(embedders.TieAwareEmbeddingReranking, Evaluators):
    pass


def test_retrieval_keeps_documents_that_tie_for_the_last_place():
    """Only the top documents are kept, but the values of each score function equal those of all documents."""
    relevant = {"q1": {"c", "h"}, "q2": set("abcdx")}
    cutoffs = {"accuracy_at_k": [1], "precision_recall_at_k": [2], "ndcg_at_k": [2], "mrr_at_k": [3], "map_at_k": [2]}
    functions = {"dot": lambda q, d: q @ d.T, "flat": lambda q, d: 0 * (q @ d.T)}
    evaluator = Retrieval(
        queries_ids=list(relevant), corpus_ids=list("abcdefgh"), relevant_docs=relevant, score_functions=functions,
        **cutoffs,
    )  # fmt: skip
    found = evaluator.compute_all_metrics(lambda document: ord(document) // 3)
    assert evaluator.score_functions is functions
    qrels = {query: dict.fromkeys(documents, 1) for query, documents in relevant.items()}
    for name, scores in (("dot", [ord(d) // 3 for d in "abcdefgh"]), ("flat", [0] * 8)):
        run = {query: dict(zip("abcdefgh", map(float, scores), strict=True)) for query in qrels}
        result = evaluate(qrels, run, ["Success@1", "P@2", "R@2", "nDCG@2", "RR@3", "AP@2"])
        expected = dict(zip(found[name], result.mean()[0], strict=True))
        # The second query has five relevant documents. sentence-transformers divides its AP@2 by 2 instead of 5.
        first, second = result["AP@2"]
        expected["map@k"] = (first + second * 5 / 2) / 2
        assert {key: value for key, by_k in found[name].items() for value in by_k.values()} == pytest.approx(expected)


def test_an_encoder_that_reranks():
    """All scores tie, so RR is the mean over random orders: one of three documents is relevant, then two of three."""
    samples = [{"positive": "a", "negative": "bc"}, {"positive": "ad", "negative": "e"}]
    evaluator = Reranking(at_k=10, samples=samples, similarity_fct=lambda query, documents: documents)
    means = evaluator.compute_metrics(lambda document: 0.5)
    assert means["mrr"] == pytest.approx(((1 + 1 / 2 + 1 / 3) / 3 + (2 / 3 + 1 / 3 / 2)) / 2)
    assert set(means) == {"map", "mrr", "ndcg"}
