"""Small models and data sets in memory, as instances of the classes that the tools require."""

from types import SimpleNamespace

import numpy as np


class Scorer:
    """A cross-encoder and an encoder with the methods that sentence-transformers calls.

    `score(document)` is the score of the document for every query, and also its one-dimensional embedding.
    The embedding of every query is 1.
    """

    similarity_fn_name = "dot"

    def __init__(self, score=lambda document: 0.5):
        self.score = score
        self.model_card_data = SimpleNamespace(set_evaluation_metrics=lambda *_: None)

    def predict(self, pairs, **_):
        return np.array([self.score(document) for _, document in pairs], dtype=np.float32)

    def encode_query(self, texts, **_):
        import torch

        return torch.ones(len(texts), 1)

    def encode_document(self, texts, **_):
        import torch

        return torch.tensor([[self.score(text)] for text in texts], dtype=torch.float32)

    def similarity(self, queries, documents):
        return queries @ documents.T


def reranking_task(candidates, relevant):
    """Make a reranking task of mteb. Candidates and relevant documents are given as {query: [document]}."""
    import datasets
    from mteb.abstasks.retrieval import AbsTaskRetrieval
    from mteb.abstasks.task_metadata import TaskMetadata

    unknown = ("date", "domains", "task_subtypes", "license", "annotations_creators", "dialect", "sample_creation")

    class Candidates(AbsTaskRetrieval):
        metadata = TaskMetadata(
            name="Candidates", description="In memory.", type="Reranking", category="t2t", modalities=["text"],
            main_score="mrr_at_10", eval_splits=["test"], eval_langs=["eng-Latn"], reference=None, bibtex_citation=None,
            dataset={"path": "none", "revision": "none"}, **dict.fromkeys(unknown),
        )  # fmt: skip

        def load_data(self, *_, **__):
            documents = sorted({document for each in candidates.values() for document in each})
            split = {
                "corpus": datasets.Dataset.from_list([{"id": d, "text": d, "title": ""} for d in documents]),
                "queries": datasets.Dataset.from_list([{"id": query, "text": query} for query in candidates]),
                "relevant_docs": {query: dict.fromkeys(each, 1) for query, each in relevant.items()},
                "top_ranked": candidates,
            }
            self.dataset = {"default": {"test": split}}
            self.data_loaded = True

    return Candidates()


def cross_encoder(score=lambda document: 0.5):
    """Make a cross-encoder with the methods that mteb calls. A document scores `score(document)` for every query."""
    from mteb.models.model_meta import ModelMeta

    class CrossEncoder:
        mteb_model_meta = ModelMeta.create_empty({"name": "none/stand-in", "revision": "1"})

        def predict(self, inputs1, inputs2, **_):
            return np.array([score(text) for batch in inputs2 for text in batch["text"]])

    return CrossEncoder()
