"""Weightings: the weights of terms in documents and in queries."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import number, shown, unexpected, whole_number
from tieaware.checks.arrays import Integers, Values
from tieaware.retrieval.index import Query
from tieaware.retrieval.postings import Postings

Weights: TypeAlias = NDArray[np.float32 | np.uint8 | np.uint16]

EXPECTED = "letters such as lnc.ltc, bm25, bm25:k1=0.9,b=0.4, impact:8 or impact:8:lnc.ltc"


class Weighting(ABC):
    """The base class of weightings.

    The score of a document is the sum, over the terms of the query, of the term's weight in the query times its weight
    in the document.
    """

    name: str

    @abstractmethod
    def of_postings(self, postings: Postings) -> Weights:
        """Return the weight of every posting."""

    @abstractmethod
    def of_query(self, postings: Postings, query: Query) -> Values:
        """Return the weight of every term of a query."""

    @abstractmethod
    def of_terms(self, postings: Postings) -> Values:
        """Return the weight of each term of the index in a query that consists of this term alone."""


class TfIdf(Weighting):
    """Weightings in SMART notation, such as "lnc.ltc": three letters for documents, then three for queries.

    The letters mean term frequency, inverse document frequency and normalisation:

    ===  ==============================  ===  =====================  ===  ===============
    n    tf                              n    1                      n    1
    l    1 + log tf                      t    log N/df               c    1/√Σw²: cosine
    a    0.5 + 0.5 tf / max tf           p    max(0, log (N-df)/df)
    b    1                               s    ln (N+1)/(df+1) + 1
    L    (1 + log tf)/(1 + log mean tf)
    d    1 + log(1 + log tf)
    ===  ==============================  ===  =====================  ===  ===============

    tf is the term's frequency in the document; its maximum and mean are over the terms of the document. df is the
    number of documents that contain the term, N the number of all documents, and w a weight before normalisation.
    Logarithms are to the base 10, as in figure 6.15 of Introduction to Information Retrieval. The letter s, which uses
    a natural logarithm, is not part of SMART; with it, "nsc.nsc" computes the same weights as scikit-learn's
    TfidfVectorizer. The normalisations u (by unique terms) and b (by bytes) of the book are not supported.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._documents, self._queries = name[:3], name[4:]

    def of_postings(self, postings: Postings) -> Weights:
        """Return tf times idf times the normalisation for every posting."""
        tf, idf, normalisation = tuple(self._documents)
        n = len(postings.lengths)
        # A copy below n: bincount would allocate an array for the largest number, and a caller can change the postings.
        documents = np.minimum(postings.documents, n - 1)
        frequencies = postings.frequencies.astype(np.float64)
        largest = mean = np.ones(1)
        if tf == "a":
            largest = np.ones(n)
            np.maximum.at(largest, documents, frequencies)
            largest = largest[documents]
        if tf == "L":
            mean = (postings.lengths / np.maximum(np.bincount(documents, minlength=n), 1))[documents]
        weights = _term_frequency(tf, frequencies, largest, mean)
        df = postings.document_frequencies
        weights *= np.repeat(_idf(idf, df, n), df)
        if normalisation == "c":
            norms = np.sqrt(np.bincount(documents, weights * weights, minlength=n))
            # If all weights of a document are 0, divide by 1 instead of 0, so that the weights stay 0.
            norms[norms == 0] = 1
            weights /= norms[documents]
        return weights.astype(np.float32)

    def of_query(self, postings: Postings, query: Query) -> Values:
        """Return tf times idf times the normalisation for every term of a query."""
        tf, idf, normalisation = tuple(self._queries)
        if not len(query.terms):
            return np.empty(0)
        frequencies = query.frequencies.astype(np.float64)
        df = postings.starts[query.terms + 1] - postings.starts[query.terms]
        weights = _term_frequency(tf, frequencies, frequencies.max(), frequencies.mean())
        weights *= _idf(idf, df, len(postings.lengths))
        norm = float(np.sqrt((weights * weights).sum())) if normalisation == "c" else 1.0
        # If all weights are 0, divide by 1 instead of 0, so that the weights stay 0.
        weights /= norm or 1.0
        return weights

    def of_terms(self, postings: Postings) -> Values:
        """Return the weight of each term in a query that consists of this term alone, without normalisation."""
        return _idf(self._queries[1], postings.document_frequencies, len(postings.lengths))


def _term_frequency(letter: str, tf: Values, largest: Values | np.float64, mean: Values | np.float64) -> Values:
    if letter == "n":
        return tf
    if letter == "b":
        return np.ones(len(tf))
    if letter == "a":
        return 0.5 + 0.5 * tf / largest
    log: Values = 1 + np.log10(tf)
    if letter == "L":
        log /= 1 + np.log10(mean)
    return 1 + np.log10(log) if letter == "d" else log


def _idf(letter: str, df: Integers, n: int) -> Values:
    # Avoid division by 0: a term of the index may have no postings.
    df = np.maximum(df, 1)
    if letter == "n":
        return np.ones(len(df))
    if letter == "s":
        idf: Values = np.log((1 + n) / (1 + df)) + 1
    else:
        # Letter p is max(0, log((n - df) / df)); taking the maximum first avoids log(0) for a term of all documents.
        idf = np.log10(n / df) if letter == "t" else np.log10(np.maximum(n - df, df) / df)
    return idf


class BM25(Weighting):
    """BM25 in Lucene's variant: ln(1 + (N - df + 0.5)/(df + 0.5)) · tf / (tf + k1 (1 - b + b · length / mean length)).

    N is the number of documents, df the number of documents that contain the term, and tf its frequency in the
    document. The weight of a term in a query is its frequency in the query.
    """

    def __init__(self, k1: float = 1.5, b: float = 0.75) -> None:
        self.k1: float = number("weighting: k1", k1, 0, 1e6)
        self.b: float = number("weighting: b", b, 0, 1)
        parameters = (("k1", self.k1, 1.5), ("b", self.b, 0.75))
        given = [f"{name}={value!r}" for name, value, default in parameters if value != default]
        self.name: str = "bm25" + (f":{','.join(given)}" if given else "")

    def of_postings(self, postings: Postings) -> Weights:
        """Return the BM25 weight of every posting."""
        n, df = len(postings.lengths), postings.document_frequencies
        idf = np.log1p((n - df + 0.5) / (df + 0.5))
        lengths = postings.lengths / max(postings.lengths.sum() / max(n, 1), 1e-300)
        tf = postings.frequencies.astype(np.float64)
        tf /= tf + (self.k1 * (1 - self.b + self.b * lengths))[postings.documents]
        weights: Weights = (tf * np.repeat(idf, df)).astype(np.float32)
        return weights

    def of_query(self, postings: Postings, query: Query) -> Values:
        """Return the frequency of each term in the query."""
        return query.frequencies.astype(np.float64)

    def of_terms(self, postings: Postings) -> Values:
        """Return 1 for every term: its frequency in a query of this term alone."""
        return np.ones(postings.n_terms)


class Impacts(Weighting):
    """Impacts: the weights of another weighting, quantised to integers from 1 to 2^bits - 1.

    The formula is that of PISA's linear quantiser: round(w (2^bits - 2) / max) + 1 in float32, where w is the weight of
    a posting, max is the largest weight of all postings, and halves are rounded upwards. The weight w includes the
    weight that the term has in a query of this term alone, without normalisation. The weight of a term in a query is
    then only its frequency in the query, so scores are integers.
    """

    def __init__(self, bits: int, of: Weighting) -> None:
        self.bits = bits
        self.of = of
        self.name: str = f"impact:{bits}" + ("" if of.name == "bm25" else f":{of.name}")

    def of_postings(self, postings: Postings) -> Weights:
        """Return the impact of every posting."""
        term_weights = np.repeat(self.of.of_terms(postings), postings.document_frequencies)
        weights = (self.of.of_postings(postings) * term_weights).astype(np.float32)
        largest = weights.max(initial=0)
        dtype = np.uint8 if self.bits <= 8 else np.uint16
        if not largest > 0:
            return np.zeros(len(weights), dtype)
        weights *= np.float32(2**self.bits - 2) / largest
        # Add 0.5 in float64, because the sum could be rounded in float32.
        return (np.floor(weights.astype(np.float64) + 0.5) + 1).astype(dtype)

    def of_query(self, postings: Postings, query: Query) -> Values:
        """Return each term's frequency in the query."""
        return query.frequencies.astype(np.float64)

    def of_terms(self, postings: Postings) -> Values:
        """Return 1 for all terms, as for BM25."""
        return np.ones(postings.n_terms)


@lru_cache(maxsize=64)
def weighting_of(name: str) -> Weighting:
    """Return the weighting with a name such as "lnc.ltc" (SMART notation), "bm25:k1=0.9" or "impact:8".

    An unknown weighting, or a parameter out of its range, raises InputError.
    """
    kind, _, rest = name.partition(":") if isinstance(name, str) else ("", "", "")
    if kind == "bm25":
        given = dict(each.partition("=")[::2] for each in rest.split(",")) if rest else {}
        if given.keys() <= {"k1", "b"} and all(map(_is_number, given.values())):
            return BM25(**{parameter: float(value) for parameter, value in given.items()})
    if kind == "impact":
        bits, _, of = rest.partition(":")
        if bits.isdecimal() and not of.startswith("impact"):
            return Impacts(whole_number("weighting: bits", int(bits), 1, 16), weighting_of(of or "bm25"))
    if isinstance(name, str) and re.fullmatch(r"[nlabLd][ntps][nc]\.[nlabLd][ntps][nc]", name):
        return TfIdf(name)
    raise unexpected("weighting", EXPECTED, shown(name))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?", text) is not None
