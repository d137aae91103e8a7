"""Weights: what a term is worth in a document, and in a query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tieaware.arrays import Values
from tieaware.checks import unexpected
from tieaware.retrieval.index import Index, Query

Weights: TypeAlias = NDArray[np.float32]


class Weighting(ABC):
    """A score is the sum, over the terms of the query, of the query's weight times the document's."""

    name: str

    @abstractmethod
    def of_postings(self, index: Index) -> Weights:
        """Return the weight of every posting of the index."""

    @abstractmethod
    def of_query(self, index: Index, query: Query) -> Values:
        """Return the weight of every term of a query."""


class TfIdf(Weighting):
    """SMART's letters: term frequency, document frequency and normalisation, of documents and of queries."""

    def __init__(self, name: str) -> None:
        self.name = name
        of_documents, _, of_queries = name.partition(".")
        self._documents, self._queries = of_documents, of_queries

    def of_postings(self, index: Index) -> Weights:
        """Return the weight of every posting of the index."""
        postings = index.postings
        tf = _term_frequency(self._documents[0], postings.frequencies.astype(np.float64))
        tf *= np.repeat(_idf(self._documents[1], index), postings.document_frequencies)
        if self._documents[2] == "c":
            squares = np.bincount(postings.documents, tf * tf, minlength=len(index))
            tf /= np.sqrt(squares)[postings.documents]
        return tf.astype(np.float32)

    def of_query(self, index: Index, query: Query) -> Values:
        """Return the weight of every term of a query."""
        weights = _term_frequency(self._queries[0], query.frequencies.astype(np.float64))
        weights *= _idf(self._queries[1], index)[query.terms]
        norm = np.sqrt((weights * weights).sum()) if self._queries[2] == "c" else 1.0
        return weights / norm if norm else weights


class BM25(Weighting):
    """BM25 as Lucene has it: no factor k1 + 1, and an idf that is never negative."""

    name = "bm25"

    def __init__(self, k1: float = 1.5, b: float = 0.75) -> None:
        self.k1, self.b = k1, b

    def of_postings(self, index: Index) -> Weights:
        """Return the weight of every posting of the index."""
        postings = index.postings
        n, df = len(index), postings.document_frequencies
        idf = np.log1p((n - df + 0.5) / (df + 0.5))
        lengths = postings.lengths / postings.lengths.mean()
        tf = postings.frequencies.astype(np.float64)
        tf /= tf + (self.k1 * (1 - self.b + self.b * lengths))[postings.documents]
        return (tf * np.repeat(idf, df)).astype(np.float32)

    def of_query(self, index: Index, query: Query) -> Values:
        """Return the weight of every term of a query."""
        return query.frequencies.astype(np.float64)


def _term_frequency(letter: str, frequencies: Values) -> Values:
    return {"n": lambda: frequencies, "l": lambda: 1 + np.log10(frequencies)}[letter]()


def _idf(letter: str, index: Index) -> Values:
    df = index.postings.document_frequencies
    return np.ones(len(df)) if letter == "n" else np.log10(len(index) / df)


def weighting_of(name: str) -> Weighting:
    """Return the weighting of a name: "lnc.ltc" and the other letters of SMART, "bm25", "impact:8"."""
    if name == "bm25":
        return BM25()
    if len(name) == 7 and name[3] == ".":
        return TfIdf(name)
    raise unexpected("weighting", "letters such as lnc.ltc, bm25 or impact:8", repr(name))
