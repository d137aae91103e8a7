"""Weightings: the weights of terms in documents and in queries."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from tieaware.checks.arguments import number, shown, unexpected, whole_number
from tieaware.checks.arrays import Integers, Values
from tieaware.errors import InputError
from tieaware.kernels import _slots
from tieaware.retrieval.index import QueryTerms
from tieaware.retrieval.postings import DocumentWeights, Numbers, Postings

_ONE = np.ones(1)
_LOG_OF_2 = 0.6931471805599453
_LOG10_OF_2 = 0.3010299956639812
_SMART = re.compile(r"[nlabLd][ntps][ncub]\.[nlabLd][ntps][ncub]")
_NUMBER = re.compile(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[-+]?[0-9]+)?")

EXPECTED = (
    "letters such as lnc.ltc or Lnu.ltu:slope=0.25, bm25, bm25:k1=0.9,b=0.4, lm-dirichlet:2000, lm-jm:0.1, inl2:c=1, "
    "impact:8 or impact:8:lnc.ltc"
)


class TermWeighting(ABC):
    """The base class of weightings.

    The score of a document is the sum, over the terms of the query, of the term's weight in the query times its weight
    in the document. If the weighting has document parts, the sum of all weights of the query, times the document's
    part, is added.
    """

    name: str
    # True if `of_documents` returns an array.
    has_document_parts: bool = False
    # True if a score is the logarithm of P(query | document), except for a number that is the same for all documents.
    is_log_likelihood: bool = False

    @abstractmethod
    def of_postings(self, postings: Postings) -> DocumentWeights:
        """Return the weight of every posting."""

    @abstractmethod
    def for_queries(self, postings: Postings) -> Callable[[QueryTerms], Values]:
        """Return a function that returns the weight of every term of some queries.

        Values that do not depend on the queries are computed once, by this method.
        """

    @abstractmethod
    def of_terms(self, postings: Postings) -> Values:
        """Return the weight of each term of the index in a query that consists of this term alone."""

    def of_documents(self, postings: Postings) -> Values | None:
        """Return the part of the score that depends on the document alone, or None if there is none."""
        return None


class TfIdf(TermWeighting):
    """Weightings in SMART notation, such as "lnc.ltc": three letters for documents, then three for queries.

    The letters mean term frequency, inverse document frequency and normalisation:

    ===  ==============================  ===  =====================  ===  ===============
    n    tf                              n    1                      n    1
    l    1 + log tf                      t    log N/df               c    1/√Σw²: cosine
    a    0.5 + 0.5 tf / max tf           p    max(0, log (N-df)/df)  u    pivoted unique
    b    1                               s    ln (N+1)/(df+1) + 1    b    pivoted bytes
    L    (1 + log tf)/(1 + log mean tf)
    d    1 + log(1 + log tf)
    ===  ==============================  ===  =====================  ===  ===============

    tf is the term's frequency in the document; its maximum and mean are over the terms of the document. df is the
    number of documents that contain the term, N the number of all documents, and w a weight before normalisation.
    Logarithms are to the base 10, as in figure 6.15 of Introduction to Information Retrieval. The letter s, which uses
    a natural logarithm, is not part of SMART; with it, "nsc.nsc" computes the same weights as scikit-learn's
    TfidfVectorizer.

    The pivoted normalisations are 1/((1 - slope) pivot + slope · size). For the letter u, the size of a text is the
    number of its distinct terms. For the letter b, it is the number of its bytes: the UTF-8 bytes of all its terms as
    the index has them, and a space after each. The pivot is the mean size of the documents, unless it is given, as in
    "Lnu.ltu:slope=0.25,pivot=80"; the slope is 0.2 by default. Documents and queries have the same slope and pivot. See
    Singhal, Buckley and Mitra, Pivoted document length normalization, SIGIR 1996, and section 6.4.4 of the book.
    """

    def __init__(self, letters: str, slope: float = 0.2, pivot: float | None = None) -> None:
        self.slope: float = number("weighting: slope", slope, 0, 1)
        self.pivot: float | None = None if pivot is None else number("weighting: pivot", pivot, 1e-6, 1e12)
        given = [f"slope={self.slope!r}"] if self.slope != 0.2 else []
        given += [] if self.pivot is None else [f"pivot={self.pivot!r}"]
        self.name: str = letters + (f":{','.join(given)}" if given else "")
        self._documents, self._queries = letters[:3], letters[4:]

    def of_postings(self, postings: Postings) -> DocumentWeights:
        """Return tf times idf times the normalisation for every posting."""
        tf, idf, normalisation = tuple(self._documents)
        n = len(postings.lengths)
        # A copy below n: bincount would allocate an array for the largest number, and a caller can change the postings.
        documents = np.minimum(postings.documents, n - 1)
        frequencies = postings.frequencies.astype(np.float64)
        largest = log_mean = _ONE
        if tf == "a":
            largest = np.ones(n)
            np.maximum.at(largest, documents, frequencies)
            largest = largest[documents]
        if tf == "L":
            mean = postings.lengths / np.maximum(np.bincount(documents, minlength=n), 1)
            log_mean = _one_plus_log(mean)[documents]
        weights = _term_frequency(tf, frequencies, largest, log_mean)
        df = postings.document_frequencies
        weights *= np.repeat(_idf(idf, df, n), df)
        if normalisation == "c":
            norms = np.sqrt(np.bincount(documents, weights * weights, minlength=n))
            # If all weights of a document are 0, divide by 1 instead of 0, so that the weights stay 0.
            norms[norms == 0] = 1
            weights /= norms[documents]
        elif normalisation in "ub":
            sizes = _sizes(normalisation, postings, documents)
            weights /= self._pivoted(sizes, self._pivot(sizes))[documents]
        return weights.astype(np.float32)

    def _pivot(self, of_documents: Values) -> float:
        """Return the pivot, given the sizes of the documents."""
        return float(of_documents.sum() / max(len(of_documents), 1)) if self.pivot is None else self.pivot

    def _pivoted(self, sizes: Values | Integers, pivot: float) -> Values:
        """Return the pivoted norms of texts of these sizes."""
        norms: Values = (1 - self.slope) * pivot + self.slope * sizes.astype(np.float64)
        norms[norms == 0] = 1
        return norms

    def for_queries(self, postings: Postings) -> Callable[[QueryTerms], Values]:
        """Return a function that returns tf times idf times the normalisation for every term of some queries."""
        tf, _, normalisation = tuple(self._queries)
        idf = self.of_terms(postings)
        n_bytes = _bytes_of(postings) if normalisation == "b" else None
        pivot = 0.0
        if normalisation in "ub":
            documents = np.minimum(postings.documents, len(postings.lengths) - 1)
            pivot = self._pivot(_sizes(normalisation, postings, documents))

        def weights_of(queries: QueryTerms) -> Values:
            if not len(queries.terms):
                return np.empty(0)
            weights = _term_frequency(tf, queries.frequencies.astype(np.float64), *_peaks(tf, queries))
            weights *= idf[queries.terms]
            if normalisation == "c":
                norms = np.sqrt(queries.sums(weights * weights))
                norms[norms == 0] = 1
                weights /= np.repeat(norms, queries.sizes)
            elif normalisation in "ub":
                sizes = queries.sizes
                texts = sizes if n_bytes is None else queries.sums(queries.frequencies * n_bytes[queries.terms])
                weights /= np.repeat(self._pivoted(texts, pivot), sizes)
            return weights

        return weights_of

    def of_terms(self, postings: Postings) -> Values:
        """Return the weight of each term in a query that consists of this term alone, without normalisation."""
        return _idf(self._queries[1], postings.document_frequencies, len(postings.lengths))


def _peaks(letter: str, queries: QueryTerms) -> tuple[Values, Values]:
    """Return, for each term, the largest frequency in its query for the letter a, and 1 + log mean tf for the letter L.

    For other letters, both are 1.
    """
    largest = log_mean = _ONE
    if letter not in "aL":
        return largest, log_mean
    sizes = queries.sizes
    if letter == "a":
        largest = np.zeros(len(sizes))
        largest[sizes > 0] = np.maximum.reduceat(queries.frequencies, queries.offsets[:-1][sizes > 0])
        largest = np.repeat(largest, sizes)
    if letter == "L":
        log_mean = np.repeat(_one_plus_log(queries.sums(queries.frequencies) / np.maximum(sizes, 1)), sizes)
    return largest, log_mean


def _term_frequency(letter: str, tf: Values, largest: Values, log_mean: Values) -> Values:
    """Return the first factor of the weights. `log_mean` is 1 + log mean tf for the letter L, otherwise 1."""
    if letter == "n" or (letter in "ld" and (tf == 1).all()):
        return tf
    if letter == "b":
        return np.ones(len(tf))
    if letter == "a":
        return 0.5 + 0.5 * tf / largest
    if letter == "d":
        return _of_counts(lambda counts: _one_plus_log(_one_plus_log(counts)), tf)
    return _of_counts(_one_plus_log, tf) if letter == "l" else _of_counts(_one_plus_log, tf) / log_mean


def _of_counts(function: Callable[[Values], Values], counts: Values) -> Values:
    """Return the values of a function for counts from 1; each different count is computed once."""
    most = int(counts.max(initial=1))
    if most > len(counts):
        return function(counts)
    return function(np.arange(1.0, most + 1))[np.maximum(counts, 1).astype(np.intp) - 1]


# The logarithms of NumPy and of the C library differ in the last bit between processors. These do not.


def _log2(numbers: Values) -> Values:
    return _slots.binary_logarithms(np.ascontiguousarray(numbers, np.float64))


def log10(numbers: Values) -> Values:
    """Return the logarithms of an array to the base 10."""
    return _log2(numbers) * _LOG10_OF_2


def _one_plus_log(numbers: Values) -> Values:
    return 1 + log10(numbers)


def _log1p(numbers: Values) -> Values:
    return _slots.logarithms_of_one_more(np.ascontiguousarray(numbers, np.float64))


def _sizes(letter: str, postings: Postings, documents: Numbers) -> Values:
    """Return the size of each document: its number of distinct terms for the letter u, of bytes for the letter b."""
    n_bytes = None
    if letter == "b":
        n_bytes = postings.frequencies * np.repeat(_bytes_of(postings), postings.document_frequencies)
    return np.bincount(documents, n_bytes, len(postings.lengths)).astype(np.float64)


def _bytes_of(postings: Postings) -> Integers:
    """Return the number of UTF-8 bytes of each term, and 1 more for a space."""
    sizes = (len(term.encode("utf-8", "surrogatepass")) + 1 for term in postings.terms)
    return np.fromiter(sizes, np.int64, len(postings.terms))


def _idf(letter: str, df: Integers, n: int) -> Values:
    # Avoid division by 0: a term of the index may have no postings.
    df = np.maximum(df, 1)
    if letter == "n":
        return np.ones(len(df))
    if letter == "s":
        idf: Values = _log2((1 + n) / (1 + df)) * _LOG_OF_2 + 1
    else:
        # Letter p is max(0, log((n - df) / df)); taking the maximum first avoids log(0) for a term of all documents.
        idf = log10(n / df) if letter == "t" else log10(np.maximum(n - df, df) / df)
    return idf


class _CountsOfQuery(TermWeighting):
    """The base class of weightings in which the weight of a term in a query is its frequency in the query."""

    def for_queries(self, postings: Postings) -> Callable[[QueryTerms], Values]:
        """Return a function that returns the frequency of each term in its query."""
        return lambda queries: queries.frequencies.astype(np.float64)

    def of_terms(self, postings: Postings) -> Values:
        """Return 1 for every term: its frequency in a query of this term alone."""
        return np.ones(postings.n_terms)


class BM25(_CountsOfQuery):
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

    def of_postings(self, postings: Postings) -> DocumentWeights:
        """Return the BM25 weight of every posting."""
        n, df = len(postings.lengths), postings.document_frequencies
        idf = _log1p((n - df + 0.5) / (df + 0.5))
        lengths = postings.lengths / max(postings.lengths.sum() / max(n, 1), 1e-300)
        tf = postings.frequencies.astype(np.float64)
        tf /= tf + (self.k1 * (1 - self.b + self.b * lengths))[postings.documents]
        weights: DocumentWeights = (tf * np.repeat(idf, df)).astype(np.float32)
        return weights


class Dirichlet(_CountsOfQuery):
    """The language model with Dirichlet smoothing: P(t | d) = (tf + mu P(t | C)) / (length + mu).

    tf is the frequency of the term in the document, and P(t | C) the term's share of all tokens of the collection. The
    score of a document is log P(q | d) - log P(q | C), where P(q | d) is the product of P(t | d) over the tokens of the
    query, so it has two parts:

        Σ log(1 + tf / (mu P(t | C)))  +  (tokens of the query) · log(mu / (length + mu))

    The second part is the same for all documents of one length, whichever terms of the query they contain, and never
    positive. Scores may be negative: a document is found if it contains a term of the query, as for other weightings.
    """

    has_document_parts = True
    is_log_likelihood = True

    def __init__(self, mu: float = 2000.0) -> None:
        self.mu: float = number("weighting: mu", mu, 1e-6, 1e12)
        self.name: str = "lm-dirichlet" + ("" if self.mu == 2000 else f":{self.mu!r}")

    def of_postings(self, postings: Postings) -> DocumentWeights:
        """Return log(1 + tf / (mu P(t | C))) for every posting."""
        expected = np.repeat(self.mu * _shares_of_tokens(postings), postings.document_frequencies)
        return _log1p(postings.frequencies / expected).astype(np.float32)

    def of_documents(self, postings: Postings) -> Values:
        """Return log(mu / (length + mu)) for every document."""
        return -_log1p(postings.lengths / self.mu)


class JelinekMercer(_CountsOfQuery):
    """The language model with Jelinek–Mercer smoothing: P(t | d) = (1 - λ) tf / length + λ P(t | C).

    The score of a document is the sum of log(P(t | d) / (λ P(t | C))) over the tokens of the query. It is positive if
    the document contains a term of the query.
    """

    is_log_likelihood = True

    def __init__(self, smoothing: float = 0.1) -> None:
        self.smoothing: float = number("weighting: lambda", smoothing, 1e-6, 1 - 1e-6)
        self.name: str = "lm-jm" + ("" if self.smoothing == 0.1 else f":{self.smoothing!r}")

    def of_postings(self, postings: Postings) -> DocumentWeights:
        """Return log(1 + (1 - λ) tf / (λ length P(t | C))) for every posting."""
        shares = np.repeat(_shares_of_tokens(postings), postings.document_frequencies)
        ratios = postings.frequencies / np.maximum(postings.lengths, 1)[postings.documents] / shares
        return _log1p((1 - self.smoothing) / self.smoothing * ratios).astype(np.float32)


class InL2(_CountsOfQuery):
    """InL2, divergence from randomness: log2((N + 1) / (df + 0.5)) · f / (f + 1).

    f is tf · log2(1 + c · mean length / length); the other symbols are those of `BM25`. The model is that of inverse
    document frequency, with Laplace's aftereffect and normalisation 2. See Amati and van Rijsbergen, Probabilistic
    models of information retrieval based on measuring the divergence from randomness, ACM Transactions on Information
    Systems 20(4), 2002.
    """

    def __init__(self, c: float = 1.0) -> None:
        self.c: float = number("weighting: c", c, 1e-6, 1e6)
        self.name: str = "inl2" + ("" if self.c == 1 else f":c={self.c!r}")

    def of_postings(self, postings: Postings) -> DocumentWeights:
        """Return the InL2 weight of every posting."""
        n, df = len(postings.lengths), postings.document_frequencies
        mean = postings.lengths.sum() / max(n, 1)
        factors = _log2(1 + self.c * mean / np.maximum(postings.lengths, 1))
        tf = postings.frequencies * factors[postings.documents]
        weights: DocumentWeights = (np.repeat(_log2((n + 1) / (df + 0.5)), df) * tf / (tf + 1)).astype(np.float32)
        return weights


def _shares_of_tokens(postings: Postings) -> Values:
    """Return each term's share of all tokens of the collection."""
    sums = np.concatenate(([0], np.cumsum(postings.frequencies, dtype=np.int64)))
    shares: Values = np.diff(sums[postings.starts]) / max(int(sums[-1]), 1)
    return shares


class Impacts(_CountsOfQuery):
    """Impacts: the weights of another weighting, quantised to integers from 1 to 2^bits - 1.

    The formula is that of PISA's linear quantiser: round(w (2^bits - 2) / max) + 1 in float32, where w is the weight of
    a posting, max is the largest weight of all postings, and halves are rounded upwards. The weight w includes the
    weight that the term has in a query of this term alone, without normalisation. The weight of a term in a query is
    then only its frequency in the query, so scores are integers.
    """

    def __init__(self, bits: int, of: TermWeighting) -> None:
        self.bits = bits
        self.of = of
        self.name: str = f"impact:{bits}" + ("" if of.name == "bm25" else f":{of.name}")

    def of_postings(self, postings: Postings) -> DocumentWeights:
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


@lru_cache(maxsize=64)
def weighting_of(name: str) -> TermWeighting:
    """Return the weighting with a name such as "lnc.ltc" (SMART notation), "bm25:k1=0.9", "lm-jm:0.1" or "impact:8".

    An unknown weighting, or a parameter out of its range, raises InputError.
    """
    kind, _, rest = name.partition(":") if isinstance(name, str) else ("", "", "")
    if kind == "impact":
        bits, _, of = rest.partition(":")
        if bits.isascii() and bits.isdecimal() and len(bits) < 10 and not of.startswith("impact"):
            return _impacts(int(bits), weighting_of(of or "bm25"))
    is_smart = _SMART.fullmatch(kind) is not None
    if is_smart or kind in _FAMILIES:
        make, names = _FAMILIES.get(kind, (partial(TfIdf, kind), ("slope", "pivot")))
        given = _parameters(rest, names)
        if given is not None and (not given or not is_smart or {kind[2], kind[6]} & {"u", "b"}):
            return make(**given)
    raise unexpected("weighting", EXPECTED, shown(name))


# The weightings with parameters, and the names of their parameters, as in "bm25:k1=0.9,b=0.4". The name may be left out
# if there is only one parameter.
_FAMILIES: dict[str, tuple[Callable[..., TermWeighting], tuple[str, ...]]] = {
    "bm25": (BM25, ("k1", "b")),
    "lm-dirichlet": (Dirichlet, ("mu",)),
    "lm-jm": (lambda **given: JelinekMercer(*given.values()), ("lambda",)),
    "inl2": (InL2, ("c",)),
}


def _parameters(text: str, names: tuple[str, ...]) -> dict[str, float] | None:
    """Return parameters such as "k1=0.9,b=0.4" by name; None if a name is unknown or a value is not a number."""
    if len(names) == 1 and _is_number(text):
        return {names[0]: float(text)}
    given = dict(each.partition("=")[::2] for each in text.split(",")) if text else {}
    if given.keys() <= set(names) and all(map(_is_number, given.values())):
        return {parameter: float(value) for parameter, value in given.items()}
    return None


def _impacts(bits: int, of: TermWeighting) -> Impacts:
    if of.has_document_parts:
        problem = f"{of.name} has no impacts: a part of its scores belongs to documents, not to postings"
        raise InputError("weighting", problem)
    return Impacts(whole_number("weighting: bits", bits, 1, 16), of)


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None
