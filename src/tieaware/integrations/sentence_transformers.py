"""Tie-aware evaluators for sentence-transformers. Import the evaluators from this module.

`CrossEncoderRerankingEvaluator`, `RerankingEvaluator` and `InformationRetrievalEvaluator` are subclasses of the
evaluators of the same names in sentence-transformers. Each class is created on first use, because its creation imports
sentence-transformers. For other evaluators, such as those for sparse encoders, make a subclass with one of the mixins
below as its first base.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers
from tieaware.evaluator import Evaluator
from tieaware.runtime.extras import load
from tieaware.ties import TieRuleName, tie_rule

# The scores of the documents that are kept for a query, and the positions of these documents in the corpus.
Candidates = tuple[npt.NDArray[Any], Integers]
# The mean of each metric at each cut-off, as in {"mrr@k": {10: 0.5}}.
Metrics = dict[str, dict[int, float]]


class TieAwareReranking:
    """A mixin for CrossEncoderRerankingEvaluator: reciprocal rank, nDCG and AP under the same tie rule.

    sentence-transformers itself treats ties in three ways: reciprocal rank keeps the order of np.argsort, nDCG averages
    over the orders of tied documents, and AP ranks each document of a tie group as if it were the last of the group.

    Attributes
    ----------
    ties : str
        The tie rule, by default "average". Set it in a subclass or an instance. Rules that order by document identifier
        raise an error, because candidates have no identifiers.
    at_k : int
        The cut-off of reciprocal rank and nDCG.
    """

    ties: TieRuleName = "average"
    at_k: int

    def compute_metrics(self, y_true: npt.ArrayLike, y_pred: npt.ArrayLike) -> tuple[float, float, float]:
        """Evaluate the candidates of one query.

        Parameters
        ----------
        y_true : shape (n_candidates,)
            1 for relevant candidates, 0 for others.
        y_pred : shape (n_candidates,)
            The scores of the candidates.

        Returns
        -------
        tuple of float
            Reciprocal rank at `at_k`, nDCG at `at_k`, and average precision.

        Raises
        ------
        InputError
            If a score is NaN, or the tie rule is unknown.

        Examples
        --------
        >>> evaluator = TieAwareReranking()
        >>> evaluator.at_k = 10
        >>> evaluator.compute_metrics([1, 0], [0.5, 0.5])
        (0.75, 0.8154648767857287, 0.75)
        """
        evaluator = Evaluator(np.asarray(y_true)[None], [f"RR@{self.at_k}", f"nDCG@{self.at_k}", "AP"], ties=self.ties)
        rr, ndcg, ap = evaluator(np.asarray(y_pred))[0].tolist()
        return rr, ndcg, ap


class TieAwareEmbeddingReranking:
    """A mixin for RerankingEvaluator, which evaluates encoders. Its attributes are as for `TieAwareReranking`."""

    ties: TieRuleName = "average"

    # Attributes of RerankingEvaluator.
    at_k: int
    samples: list[dict[str, Any]]
    similarity_fct: Callable[[Any, Any], Any]

    def compute_metrics(self, model: Any) -> dict[str, float]:
        """Encode the samples and evaluate their candidates.

        Parameters
        ----------
        model : SentenceTransformer
            The model that encodes.

        Returns
        -------
        dict of str to float
            "map", "mrr" and "ndcg": the means over the samples.

        Raises
        ------
        InputError
            If a score is NaN, or the tie rule is unknown.
        """
        similarity, samples, values = self.similarity_fct, iter(self.samples), []
        reranking = TieAwareReranking()
        reranking.ties, reranking.at_k = self.ties, self.at_k

        def evaluated(query: Any, documents: Any) -> Any:
            # RerankingEvaluator calls this once per sample, in the order of the samples. In each sample, the positives
            # come before the negatives.
            scores, sample = similarity(query, documents), next(samples)
            relevant = np.repeat([1, 0], [len(sample["positive"]), len(sample["negative"])])
            values.append(reranking.compute_metrics(relevant, _as_array(scores).reshape(-1)))
            return scores

        self.similarity_fct = evaluated
        try:
            super().compute_metrics(model)  # type: ignore[misc]
        finally:
            self.similarity_fct = similarity
        rr, ndcg, ap = np.reshape(values, (-1, 3)).mean(axis=0).tolist()
        return {"map": ap, "mrr": rr, "ndcg": ndcg}


class TieAwareInformationRetrieval:
    """A mixin for InformationRetrievalEvaluator: all its metrics under the same tie rule.

    sentence-transformers retrieves a fixed number of documents. If several documents tie for the last place, it keeps
    those with the lowest identifiers; the mixin keeps all of them. The files of predictions that sentence-transformers
    writes do not change.

    Attributes
    ----------
    ties : str
        The tie rule, by default "average". Set it in a subclass or an instance.
    """

    ties: TieRuleName = "average"

    # Attributes of InformationRetrievalEvaluator.
    queries_ids: list[str]
    corpus_ids: list[str]
    relevant_docs: Mapping[str, set[str]]
    score_functions: dict[str, Callable[[Any, Any], Any]]
    accuracy_at_k: list[int]
    precision_recall_at_k: list[int]
    ndcg_at_k: list[int]
    mrr_at_k: list[int]
    map_at_k: list[int]

    # While compute_all_metrics runs: the documents retrieved by the score functions that have not been evaluated yet.
    _retrieved: deque[Retrieved] | None = None

    def compute_all_metrics(self, model: Any, *args: Any, **kwargs: Any) -> Any:
        """Encode queries and corpus, retrieve documents, and evaluate them.

        Parameters
        ----------
        model : SentenceTransformer
            The model that encodes.
        *args, **kwargs
            Other arguments of the method of InformationRetrievalEvaluator.

        Returns
        -------
        dict of str to dict
            The metrics of each score function.

        Raises
        ------
        InputError
            If a score is NaN, or the tie rule is unknown.
        """
        functions = self.score_functions
        depth = max(k for *_, k in self._requested())
        self.score_functions = {name: Retrieved(function, depth) for name, function in functions.items()}
        # sentence-transformers calls compute_metrics once for each score function, in this order.
        self._retrieved = deque(self.score_functions.values())  # type: ignore[arg-type]
        try:
            return super().compute_all_metrics(model, *args, **kwargs)  # type: ignore[misc]
        finally:
            self.score_functions, self._retrieved = functions, None

    # sentence-transformers also has the method under this misspelled name.
    compute_metrices = compute_all_metrics

    def compute_metrics(self, queries_result_list: Sequence[Sequence[Mapping[str, Any]]]) -> Metrics:
        """Evaluate the documents that one score function retrieved.

        Parameters
        ----------
        queries_result_list : sequence of sequences of {"corpus_id": str, "score": float}
            The documents of each query, in any order.

        Returns
        -------
        dict of str to dict of int to float
            "accuracy@k", "precision@k", "recall@k", "ndcg@k", "mrr@k" and "map@k": for each cut-off k, the mean over
            the queries. As in sentence-transformers, the divisor of AP at k is the number of relevant documents, but at
            most k.

        Raises
        ------
        InputError
            If a score is NaN, or the tie rule is unknown.

        Examples
        --------
        >>> evaluator = TieAwareInformationRetrieval()
        >>> evaluator.queries_ids, evaluator.corpus_ids, evaluator.relevant_docs = ["q"], ["a", "b"], {"q": {"b"}}
        >>> for each in ("accuracy", "precision_recall", "ndcg", "mrr", "map"):
        ...     setattr(evaluator, f"{each}_at_k", [1, 2])
        >>> evaluator.compute_metrics([[{"corpus_id": "a", "score": 0.5}, {"corpus_id": "b", "score": 0.5}]])["mrr@k"]
        {1: 0.5, 2: 0.75}
        """
        place = {document: i for i, document in enumerate(self.corpus_ids)}
        if self._retrieved:
            candidates = self._retrieved.popleft().candidates
        else:
            candidates = [_hits_as_arrays(hits, place) for hits in queries_result_list]
        relevant = [
            np.array([place.get(document, -1) for document in self.relevant_docs[query]], dtype=np.int64)
            for query in self.queries_ids
        ]
        requested = self._requested()
        values = self._evaluate(candidates, relevant, [f"{measure}@{k}" for _, measure, k in requested])
        metrics: Metrics = {name: {} for name in _METRICS}
        for (name, _, k), column in zip(requested, values.T, strict=True):
            metrics[name][k] = float(column.mean())
        return metrics

    def _requested(self) -> list[tuple[str, str, int]]:
        """Return the name, the measure and the cut-off of each value that the evaluator reports."""
        return [(name, measure, k) for name, (cutoffs, measure) in _METRICS.items() for k in getattr(self, cutoffs)]

    def _evaluate(
        self, candidates: Sequence[Candidates], relevant: Sequence[Integers], measures: Sequence[str]
    ) -> npt.NDArray[np.float64]:
        """Return the values, float64[n_queries, n_measures]. Relevant documents may be missing from the candidates."""
        labels = [np.isin(places, judged) for (_, places), judged in zip(candidates, relevant, strict=True)]
        n_relevant = np.array([len(each) for each in relevant])
        by_document = tie_rule(self.ties).by_document is not None
        evaluator = Evaluator(
            np.where(np.concatenate(labels), np.int32(1), np.int32(-1)),
            measures,
            group=np.array([len(each) for each in labels]),
            judgments=(np.ones(n_relevant.sum(), dtype=np.int32), np.concatenate(([0], n_relevant.cumsum()))),
            ties=self.ties,
            docids=[str(self.corpus_ids[i]) for _, places in candidates for i in places] if by_document else None,
        )
        return evaluator(np.concatenate([scores for scores, _ in candidates]))


class Retrieved:
    """A score function that also keeps the best documents of each query, and all documents that tie with the last.

    Parameters
    ----------
    score : callable
        Takes the embeddings of queries and of a batch of documents; returns a matrix of scores, queries × documents.
    depth : int
        The number of documents to keep for each query. Others that tie with the last of them are kept in addition.

    Attributes
    ----------
    candidates : list of (array, array)
        For each query, the scores of the kept documents, and their positions in the corpus.

    Examples
    --------
    >>> retrieved = Retrieved(lambda queries, documents: queries @ documents.T, depth=1)
    >>> for documents in ([[1.0], [2.0]], [[2.0], [0.5]]):
    ...     scores = retrieved(np.array([[3.0]]), np.array(documents))
    >>> retrieved.candidates
    [(array([6., 6.]), array([1, 2]))]
    """

    def __init__(self, score: Callable[[Any, Any], Any], depth: int) -> None:
        self._score = score
        self._depth = depth
        self._n_documents = 0
        self.candidates: list[Candidates] = []

    def __call__(self, queries: Any, documents: Any) -> Any:
        """Score the next batch of the corpus.

        Parameters
        ----------
        queries, documents : tensors
            The embeddings of the queries, and of the batch's documents.

        Returns
        -------
        tensor
            The scores, as `score` returned them.
        """
        scores = self._score(queries, documents)
        batch = _as_array(scores)
        places = np.arange(self._n_documents, self._n_documents + batch.shape[1])
        self._n_documents += batch.shape[1]
        before = self.candidates or [(batch[:0, 0], places[:0])] * len(batch)
        self.candidates = [self._highest(*each, row, places) for each, row in zip(before, batch, strict=True)]
        return scores

    def _highest(
        self, scores: npt.NDArray[Any], places: Integers, new_scores: npt.NDArray[Any], new_places: Integers
    ) -> Candidates:
        """Return those old and new candidates whose scores are at least the score at rank `depth`.

        NaN scores are kept, so that the evaluation raises an error.
        """
        scores, places = np.concatenate((scores, new_scores)), np.concatenate((places, new_places))
        if len(scores) > self._depth:
            kept = ~(scores < np.partition(scores, -self._depth)[-self._depth])
            scores, places = scores[kept], places[kept]
        return scores, places


def _hits_as_arrays(hits: Sequence[Mapping[str, Any]], place: Mapping[str, int]) -> Candidates:
    """Convert the retrieved documents of a query to arrays: their scores, and their positions in the corpus."""
    scores = np.array([hit["score"] for hit in hits], dtype=np.float64)
    return scores, np.array([place[hit["corpus_id"]] for hit in hits], dtype=np.int64)


def _as_array(scores: Any) -> npt.NDArray[Any]:
    """Convert a matrix of scores to float32 or float64, which represent all narrower types exactly."""
    if hasattr(scores, "detach"):
        scores = scores.detach().cpu()
        scores = (scores if scores.element_size() == 8 else scores.float()).numpy()
    return np.asarray(scores)


# The metrics of InformationRetrievalEvaluator by their names in the results: the attribute of the evaluator that holds
# the cut-offs, and the measure of tieaware.
_METRICS = {
    "accuracy@k": ("accuracy_at_k", "Success"),
    "precision@k": ("precision_recall_at_k", "P"),
    "recall@k": ("precision_recall_at_k", "R"),
    "ndcg@k": ("ndcg_at_k", "nDCG"),
    "mrr@k": ("mrr_at_k", "RR"),
    "map@k": ("map_at_k", "AP_cap"),
}

# The evaluators that this module creates: the mixin of each, and the module of sentence-transformers with its base.
_EVALUATORS = {
    "CrossEncoderRerankingEvaluator": (TieAwareReranking, "sentence_transformers.cross_encoder.evaluation"),
    "RerankingEvaluator": (TieAwareEmbeddingReranking, "sentence_transformers.sentence_transformer.evaluation"),
    "InformationRetrievalEvaluator": (
        TieAwareInformationRetrieval,
        "sentence_transformers.sentence_transformer.evaluation",
    ),
}


def __getattr__(name: str) -> Any:
    """Create the tie-aware subclass of an evaluator on first use."""
    if name not in _EVALUATORS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    mixin, module = _EVALUATORS[name]
    evaluator = type(name, (mixin, getattr(load(module, "sentence-transformers"), name)), {"__module__": __name__})
    return globals().setdefault(name, evaluator)
