"""Feedback by relevance models: expanding queries by the language model of the top documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tieaware.checks.arguments import number, whole_number
from tieaware.checks.arrays import Values
from tieaware.kernels import _slots
from tieaware.retrieval.accumulators import Found
from tieaware.retrieval.feedback import Feedback, Vectors
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import query_weights
from tieaware.retrieval.weighting import weighting_of


@dataclass(frozen=True, kw_only=True)
class RM3(Feedback):
    """Search, estimate a language model of relevance from the top documents, and search for its terms and the query's.

    The relevance model is the mean of the top documents' language models tf/length, each weighted by the probability
    P(q | d) of the query. It is cut to the terms of highest probability, scaled to a sum of 1, and interpolated with
    the query, whose weights also have the sum 1. The new query has these weights.

    If the top ends inside a tie group, each document of the group counts by the probability that it is in the top if
    tied documents are in random order, as for `BlindFeedback`. All orders have the same sum of P(q | d), so the
    relevance model, before it is cut, is the expected model over all orders.

    See Lavrenko and Croft, Relevance-based language models, SIGIR 2001, for the relevance model; Abdul-Jaleel and
    others, UMass at TREC 2004, for the interpolation; and Introduction to Information Retrieval, section 12.4. With a
    weighting that is no language model, such as "bm25", the score of a document stands for P(q | d). The costs are
    those of both searches; the terms of the top documents count as postings read.

    Parameters
    ----------
    weighting : str, default: "lm-dirichlet"
        As for `Method`. The weights of terms in a query should be their frequencies, as for language models and "bm25".
    depth : int, default: 10
        The number of top documents.
    n_terms : int, default: 10
        The number of terms of the relevance model, among which terms of the query may be; if probabilities tie, the
        terms with the lowest numbers.
    original : float, default: 0.5
        The weight of the query, from 0 to 1; the weight of the relevance model is 1 - original.

    Examples
    --------
    >>> documents = [("d1", "tie rank"), ("d2", "tie list"), ("d3", "rank"), ("d4", "list")]
    >>> index = Index.build(documents, analyzer=str.split)
    >>> run = RM3(depth=1, n_terms=3, weighting="lm-jm:0.5").search(index, {"q": "tie"})
    >>> run.documents.to_list(), run.scores.round(3).tolist()
    (['d1', 'd2', 'd3', 'd4'], [0.802, 0.802, 0.173, 0.173])
    """

    weighting: str = "lm-dirichlet"
    n_terms: int = 10
    original: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("n_terms", self.n_terms, 1)
        number("original", self.original, 0, 1)

    def _expansion(self, index: Index) -> tuple[Vectors, Callable[[Query, Found, Values], Query]]:
        """Return the term frequencies of the documents, and the function that expands a query."""
        vectors, lengths = Vectors.of(index, "nnn.nnn"), index.postings.lengths
        is_logarithm = weighting_of(self.weighting).is_log_likelihood

        def expand(query: Query, top: Found, shares: Values) -> Query:
            shares = shares * (_likelihoods(top.scores) if is_logarithm else top.scores)
            shares /= shares.sum() or 1.0
            terms, model = vectors.summed(top.documents, shares / np.maximum(lengths[top.documents], 1))
            kept = np.sort(np.argsort(-model, kind="stable")[: self.n_terms])
            terms, model = terms[kept], model[kept] / (model[kept].sum() or 1.0)
            own = query_weights(index, self.weighting, query)
            return self._interpolated(query, own / (own.sum() or 1.0), terms.astype(np.int64), model)

        return vectors, expand

    def _interpolated(self, query: Query, own: Values, terms: Values, model: Values) -> Query:
        """Return the query with the weights original · q + (1 - original) · model, without terms of weight 0."""
        all_terms = np.union1d(query.terms, terms).astype(np.int64)
        weights, frequencies = np.zeros(len(all_terms)), np.zeros(len(all_terms), np.int64)
        places = np.searchsorted(all_terms, query.terms)
        weights[places], frequencies[places] = self.original * own, query.frequencies
        weights[np.searchsorted(all_terms, terms)] += (1 - self.original) * model
        kept = weights > 0
        return Query(all_terms[kept], frequencies[kept], weights[kept], query.documents)


def _likelihoods(scores: Values) -> Values:
    """Return exp(scores), divided by the largest, so that nothing overflows."""
    largest = scores.max(initial=-np.inf)
    return _slots.exponentials(scores - largest)
