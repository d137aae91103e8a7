"""sentence-transformers' evaluators, tie-aware: change where they are imported from.

`CrossEncoderRerankingEvaluator`, `RerankingEvaluator` and `InformationRetrievalEvaluator` are subclasses of those of
the same names, made when they are asked for. The mixins serve other subclasses, such as those for sparse encoders:
each stands first among the bases.
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
from tieaware.ties import tie_rule

# The scores of a query's candidates, as they come, and where in the corpus they are.
Candidates = tuple[npt.NDArray[Any], Integers]
# The mean of each metric at each cut-off.
Metrics = dict[str, dict[int, float]]


class TieAwareReranking:
    """Mixed in before CrossEncoderRerankingEvaluator: reciprocal rank, nDCG and AP by one tie rule.

    sentence-transformers itself takes three: what np.argsort makes of the ties, their average, and whole groups.

    Attributes
    ----------
    ties : str
        The tie rule, "average" unless a subclass or an instance has another; none that goes by document identifiers,
        as the candidates have none.
    at_k : int
        The cut-off of reciprocal rank and nDCG.
    """

    ties = "average"
    at_k: int

    def compute_metrics(self, y_true: npt.ArrayLike, y_pred: npt.ArrayLike) -> tuple[float, float, float]:
        """Evaluate the candidates of one query.

        Parameters
        ----------
        y_true : shape (n_candidates,)
            1 for a relevant candidate, else 0.
        y_pred : shape (n_candidates,)
            Their scores.

        Returns
        -------
        tuple of float
            Reciprocal rank and nDCG at `at_k`, and average precision.

        Raises
        ------
        InputError
            If a score is NaN, or the tie rule is none.

        Examples
        --------
        >>> evaluator = TieAwareReranking()
        >>> evaluator.at_k = 10
        >>> evaluator.compute_metrics([1, 0], [0.5, 0.5])
        (0.75, 0.8154648767857287, 0.75)
        """
        evaluator = Evaluator(np.asarray(y_true), [f"RR@{self.at_k}", f"nDCG@{self.at_k}", "AP"], ties=self.ties)
        rr, ndcg, ap = evaluator(np.asarray(y_pred))[0].tolist()
        return rr, ndcg, ap


class TieAwareEmbeddingReranking:
    """Mixed in before RerankingEvaluator, that of encoders: the same three measures by one tie rule.

    Attributes
    ----------
    ties, at_k
        As in `TieAwareReranking`.
    """

    ties = "average"

    # Of RerankingEvaluator.
    at_k: int
    samples: list[dict[str, Any]]
    similarity_fct: Callable[[Any, Any], Any]

    def compute_metrics(self, model: Any) -> dict[str, float]:
        """Encode the samples and evaluate their candidates.

        Parameters
        ----------
        model : SentenceTransformer
            What encodes.

        Returns
        -------
        dict of str to float
            "map", "mrr" and "ndcg": the means over the samples.

        Raises
        ------
        InputError
            If a score is NaN, or the tie rule is none.
        """
        similarity, samples, values = self.similarity_fct, iter(self.samples), []
        of_sample = TieAwareReranking()
        of_sample.ties, of_sample.at_k = self.ties, self.at_k

        def kept(query: Any, documents: Any) -> Any:
            # It is called once for each sample, in their order, with the positives before the negatives.
            scores, sample = similarity(query, documents), next(samples)
            relevant = np.repeat([1, 0], [len(sample["positive"]), len(sample["negative"])])
            values.append(of_sample.compute_metrics(relevant, _as_array(scores).reshape(-1)))
            return scores

        self.similarity_fct = kept
        try:
            super().compute_metrics(model)  # type: ignore[misc]
        finally:
            self.similarity_fct = similarity
        rr, ndcg, ap = np.reshape(values, (-1, 3)).mean(axis=0).tolist()
        return {"map": ap, "mrr": rr, "ndcg": ndcg}


class TieAwareInformationRetrieval:
    """Mixed in before InformationRetrievalEvaluator: all its measures by one tie rule.

    The documents that tie with the last that is retrieved count as well, though sentence-transformers drops them: it
    keeps those with the lowest identifiers. Its predictions, where they are written, are as they were.

    Attributes
    ----------
    ties : str
        The tie rule, "average" unless a subclass or an instance has another.
    """

    ties = "average"

    # Of InformationRetrievalEvaluator.
    queries_ids: list[str]
    corpus_ids: list[str]
    relevant_docs: Mapping[str, set[str]]
    score_functions: dict[str, Callable[[Any, Any], Any]]
    accuracy_at_k: list[int]
    precision_recall_at_k: list[int]
    ndcg_at_k: list[int]
    mrr_at_k: list[int]
    map_at_k: list[int]

    _retrieved: deque[Retrieved] | None = None

    def compute_all_metrics(self, model: Any, *args: Any, **kwargs: Any) -> Any:
        """Encode, retrieve and evaluate.

        Parameters
        ----------
        model : SentenceTransformer
            What encodes.
        *args, **kwargs
            As InformationRetrievalEvaluator takes them.

        Returns
        -------
        dict of str to dict
            The metrics by score function.

        Raises
        ------
        InputError
            As `compute_metrics`.
        """
        functions = self.score_functions
        depth = max(map(max, self._cutoffs().values()))
        self.score_functions = {name: Retrieved(function, depth) for name, function in functions.items()}
        # sentence-transformers evaluates each score function once, in this order.
        self._retrieved = deque(self.score_functions.values())  # type: ignore[arg-type]
        try:
            return super().compute_all_metrics(model, *args, **kwargs)  # type: ignore[misc]
        finally:
            self.score_functions, self._retrieved = functions, None

    compute_metrices = compute_all_metrics

    def compute_metrics(self, queries_result_list: Sequence[Sequence[Mapping[str, Any]]]) -> Metrics:
        """Evaluate what was retrieved by one score function.

        Parameters
        ----------
        queries_result_list : sequence of sequences of {"corpus_id": str, "score": float}
            The documents of each query, in any order.

        Returns
        -------
        dict of str to dict of int to float
            "accuracy@k", "precision@k", "recall@k", "ndcg@k", "mrr@k" and "map@k": the mean over the queries for each
            cut-off k. AP at k is divided by k where more documents are relevant, as in sentence-transformers.

        Raises
        ------
        InputError
            If a score is NaN, or the tie rule is none.

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
            candidates = [
                (
                    np.array([hit["score"] for hit in hits], dtype=np.float64),
                    np.array([place[hit["corpus_id"]] for hit in hits], dtype=np.int64),
                )
                for hits in queries_result_list
            ]
        relevant = [
            np.array([place.get(document, -1) for document in self.relevant_docs[query]], dtype=np.int64)
            for query in self.queries_ids
        ]
        cutoffs = self._cutoffs()
        measures = [f"{_MEASURES[name]}@{k}" for name, ks in cutoffs.items() for k in ks]
        columns = iter(self._evaluate(candidates, relevant, measures).T)
        n_relevant = np.array([len(each) for each in relevant])
        metrics: Metrics = {}
        for name, ks in cutoffs.items():
            scale = {k: n_relevant / np.minimum(n_relevant, k) if name == "map@k" else 1.0 for k in ks}
            metrics[name] = {k: float((next(columns) * scale[k]).mean()) for k in ks}
        return metrics

    def _cutoffs(self) -> dict[str, list[int]]:
        """The cut-offs of each metric, in the order in which they are reported."""
        return {
            "accuracy@k": self.accuracy_at_k,
            "precision@k": self.precision_recall_at_k,
            "recall@k": self.precision_recall_at_k,
            "ndcg@k": self.ndcg_at_k,
            "mrr@k": self.mrr_at_k,
            "map@k": self.map_at_k,
        }

    def _evaluate(
        self, candidates: Sequence[Candidates], relevant: Sequence[Integers], measures: Sequence[str]
    ) -> npt.NDArray[np.float64]:
        """The values, float64[n_queries, n_measures]; relevant documents that were not retrieved count as such."""
        labels = [np.isin(each, of_query) for (_, each), of_query in zip(candidates, relevant, strict=True)]
        n_relevant = np.array([len(each) for each in relevant])
        by_document = tie_rule(self.ties).by_document is not None
        evaluator = Evaluator(
            np.where(np.concatenate(labels), np.int32(1), np.int32(-1)),
            measures,
            group=np.array([len(each) for each in labels]),
            judgments=(np.ones(n_relevant.sum(), dtype=np.int32), np.concatenate(([0], n_relevant.cumsum()))),
            ties=self.ties,
            docids=[str(self.corpus_ids[i]) for _, each in candidates for i in each] if by_document else None,
        )
        return evaluator(np.concatenate([scores for scores, _ in candidates]))


class Retrieved:
    """A score function that keeps, of each query, the highest scores that it gives, with all that tie with the last.

    Parameters
    ----------
    score : callable
        Embeddings of queries and of a chunk of the corpus in, a matrix of scores out.
    depth : int
        How many documents are wanted of each query.

    Examples
    --------
    >>> retrieved = Retrieved(lambda queries, chunk: queries @ chunk.T, depth=1)
    >>> for chunk in ([[1.0], [2.0]], [[2.0], [0.5]]):
    ...     scores = retrieved(np.array([[3.0]]), np.array(chunk))
    >>> retrieved.candidates
    [(array([6., 6.]), array([1, 2]))]
    """

    def __init__(self, score: Callable[[Any, Any], Any], depth: int) -> None:
        self._score = score
        self._depth = depth
        self._n_documents = 0
        self.candidates: list[Candidates] = []

    def __call__(self, queries: Any, documents: Any) -> Any:
        """Score the next chunk of the corpus.

        Parameters
        ----------
        queries, documents : tensors
            Their embeddings.

        Returns
        -------
        tensor
            The scores as they are.
        """
        scores = self._score(queries, documents)
        block = _as_array(scores)
        places = np.arange(self._n_documents, self._n_documents + block.shape[1])
        self._n_documents += block.shape[1]
        before = self.candidates or [(block[:0, 0], places[:0])] * len(block)
        self.candidates = [self._highest(*each, row, places) for each, row in zip(before, block, strict=True)]
        return scores

    def _highest(self, scores: npt.NDArray[Any], places: Integers, row: npt.NDArray[Any], more: Integers) -> Candidates:
        """Those of both that are not lower than the last that is wanted. NaN is kept, to be found when evaluated."""
        scores, places = np.concatenate((scores, row)), np.concatenate((places, more))
        if len(scores) > self._depth:
            kept = ~(scores < np.partition(scores, -self._depth)[-self._depth])
            scores, places = scores[kept], places[kept]
        return scores, places


def _as_array(scores: Any) -> npt.NDArray[Any]:
    """A matrix of scores as float32 or float64, which hold those of every narrower type."""
    if hasattr(scores, "detach"):
        scores = scores.detach().cpu()
        scores = (scores if scores.element_size() == 8 else scores.float()).numpy()
    return np.asarray(scores)


# What tieaware calls the metrics.
_MEASURES = {
    "accuracy@k": "Success", "precision@k": "P", "recall@k": "R", "ndcg@k": "nDCG", "mrr@k": "RR", "map@k": "AP",
}  # fmt: skip

# The evaluators that are served: what is mixed in, and where they come from.
_EVALUATORS = {
    "CrossEncoderRerankingEvaluator": (TieAwareReranking, "sentence_transformers.cross_encoder.evaluation"),
    "RerankingEvaluator": (TieAwareEmbeddingReranking, "sentence_transformers.sentence_transformer.evaluation"),
    "InformationRetrievalEvaluator": (
        TieAwareInformationRetrieval,
        "sentence_transformers.sentence_transformer.evaluation",
    ),
}


def __getattr__(name: str) -> Any:
    """Make a tie-aware subclass of an evaluator of sentence-transformers."""
    if name not in _EVALUATORS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    mixin, module = _EVALUATORS[name]
    evaluator = type(name, (mixin, getattr(load(module, "tools"), name)), {"__module__": __name__})
    return globals().setdefault(name, evaluator)
