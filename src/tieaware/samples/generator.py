"""A seeded generator of TREC-like topics, pooled judgments and runs whose scores tie.

Queries and documents are vectors, and a document's relevance to a query is the cosine of the two. Each scorer computes
the cosine of noisy copies of the vectors. The scorers differ in the *precision* of their scores, from float64 to a
constant, and therefore in their number of ties. Then the best documents of each run are pooled and judged.

The same seed gives the same bytes on every processor. Random numbers are drawn as bytes, and the vectors consist of
integers, so dot products are exact in any order of summation. All other operations are rounded correctly by IEEE 754:
logarithms, powers and sines are avoided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import PCG64, Generator

from tieaware.checks.arguments import checked_seed, whole_number
from tieaware.checks.arrays import Integers, Values
from tieaware.output.tables import counted
from tieaware.precision import BFloat16

#: The names of the runs of a generated collection, in the order of `Collection.runs`.
RUN_NAMES = ("continuous", "two-decimals", "bfloat16", "int8-dot", "grader-0-10", "constant")

# The most names of runs that the repr of a collection shows.
_SHOWN_RUNS = 6

_ASPECTS = ("Causes", "Costs", "Early signs", "Effects", "History", "Measurement", "Prevention", "Regulation")
_PLACES = ("alpine", "arctic", "coastal", "deep-sea", "inland", "rural", "tropical", "urban")
_SUBJECTS = ("erosion", "farming", "fishing", "flooding", "migration", "noise", "shipping", "tourism")


@dataclass(frozen=True)
class Collection:
    """A test collection as plain dictionaries.

    ``topics`` is ``{query: title}``, ``qrels`` is ``{query: {document: label}}`` and ``runs`` is
    ``{name: {query: {document: score}}}``, with documents in the order of the run. Labels range from 0 (not relevant)
    to 3 (highly relevant); -1 marks a document that was pooled but not judged.
    """

    topics: dict[str, str]
    qrels: dict[str, dict[str, int]]
    runs: dict[str, dict[str, dict[str, float]]]

    def __repr__(self) -> str:
        names = ", ".join(list(self.runs)[:_SHOWN_RUNS]) + (", …" if len(self.runs) > _SHOWN_RUNS else "")
        return f"Collection({counted(len(self.qrels), 'query', 'queries')}, {counted(len(self.runs), 'run')}: {names})"


def generate(
    seed: int = 2008,
    n_queries: int = 50,
    depth: int = 100,
    *,
    n_documents: int = 10_000,
    pool_depth: int = 20,
) -> Collection:
    """Generate a collection whose runs have scores of different precision.

    Each run scores the documents by a noisy estimate of the same relevance:

    - ``continuous``: a cosine in float64; documents practically never tie.
    - ``two-decimals``: a score in the range of BM25 scores, rounded to two decimals.
    - ``bfloat16``: a cosine rounded to bfloat16.
    - ``int8-dot``: the dot product of vectors quantised to int8, an integer.
    - ``grader-0-10``: a grade from 0 to 10, as a language model would give it, for each document that ``continuous``
      retrieved. Documents with equal grades stay in the order of ``continuous``.
    - ``constant``: 1 for every document. Documents that were judged relevant come first, as in data sets for
      re-ranking. An evaluator that breaks ties by input order therefore gives this scorer a perfect reciprocal rank of
      1.0 on every query, although its scores contain no information.

    The first four runs list tied documents by ascending identifier, as most archived runs do.

    Parameters
    ----------
    seed : int, default 2008
        The seed of NumPy's PCG64. The same arguments give the same collection on every processor.
    n_queries, n_documents : int, default 50 and 10,000
        The number of queries, and the number of documents in the collection.
    depth : int, default 100
        The number of documents that a run lists for each query.
    pool_depth : int, default 20
        The number of documents of each run that are judged, from the first rank on.

    Returns
    -------
    Collection
        The pool of judged documents comes from every run except ``constant``, and from a simulated manual search. Some
        judged documents, including relevant ones, are therefore retrieved by no run. Every query has a relevant
        document.

    Raises
    ------
    InputError
        If `seed` is negative, another argument is below 1, or `n_documents` is below `depth`.

    Examples
    --------
    >>> collection = generate(n_queries=1, depth=4, pool_depth=2)
    >>> collection.qrels["q101"]  # doctest: +NORMALIZE_WHITESPACE
    {'D-0001210': 0, 'D-0003818': 0, 'D-0004203': 2, 'D-0005792': 3, 'D-0005998': 3, 'D-0007389': 1,
     'D-0008965': 0}
    >>> collection.runs["grader-0-10"]["q101"]
    {'D-0004203': 8.0, 'D-0007389': 8.0, 'D-0002402': 6.0, 'D-0007845': 3.0}
    >>> list(collection.runs["constant"]["q101"])
    ['D-0004203', 'D-0005792', 'D-0005998', 'D-0007389']
    """
    checked_seed(seed)
    for name, number, least in (
        ("n_queries", n_queries, 1), ("depth", depth, 1), ("pool_depth", pool_depth, 1),
        ("n_documents", n_documents, depth),
    ):  # fmt: skip
        whole_number(name, number, least, 10**9)
    n_queries, depth, n_documents = int(n_queries), int(depth), int(n_documents)
    rng = Generator(PCG64(seed))
    words = _bytes(rng, 3, n_queries) % 8
    # Use the cube of a uniform number, so that many queries have few relevant documents, and few queries have many.
    n_relevant = 3 + 50 * _bytes(rng, n_queries) ** 3 // 255**3
    queries, documents = _bell(rng, n_queries), _bell(rng, n_documents)
    most_relevant = np.argsort(-_cosines(queries, documents), axis=1, kind="stable")
    retrieved = _retrieve(rng, queries, documents, depth)
    forgotten = _bytes(rng, n_queries, n_documents) < 4

    identifier = [f"D-{document:07d}" for document in range(n_documents)]
    topics, qrels = {}, {}
    runs: dict[str, dict[str, dict[str, float]]] = {name: {} for name in RUN_NAMES}
    for row in range(n_queries):
        query = f"q{101 + row}"
        aspect, place, subject = words[:, row]
        topics[query] = f"{_ASPECTS[aspect]} of {_PLACES[place]} {_SUBJECTS[subject]}"
        for name, (listed, scores) in retrieved.items():
            runs[name][query] = {
                identifier[document]: float(score)
                for document, score in zip(listed[row], scores[row], strict=True)
            }

        # The manual search finds every second of the most relevant documents, beginning with the first.
        pool = set(most_relevant[row, : 2 * pool_depth : 2].tolist())
        pool.update(*(listed[row, :pool_depth].tolist() for listed, _ in retrieved.values()))
        n = int(n_relevant[row])
        label = {
            document: 1 + (rank < n // 3) + (rank < n // 10)
            for rank, document in enumerate(most_relevant[row, :n].tolist())
        }
        qrels[query] = {
            identifier[document]: label.get(document, -int(forgotten[row, document]))
            for document in sorted(pool)
        }
        # Relevant documents come first. `sorted` is stable, so the other documents of the pool follow in the order of
        # their identifiers, and then all other documents in the order of `continuous`.
        candidates = sorted(qrels[query], key=lambda document: qrels[query][document] < 1)
        candidates = list(dict.fromkeys([*candidates, *runs["continuous"][query]]))
        runs["constant"][query] = dict.fromkeys(candidates[:depth], 1.0)
    return Collection(topics, qrels, runs)


def _retrieve(
    rng: Generator, queries: Values, documents: Values, depth: int
) -> dict[str, tuple[Integers, Values]]:
    """Return the documents and the scores of each scorer: two arrays of shape [n_queries, depth]."""
    # The errors of the scorers are correlated: they share noise in the queries, which makes some topics hard, and noise
    # in the documents.
    hardness = _bytes(rng, len(queries), 1) // 40
    queries = 8 * queries + hardness * _bell(rng, len(queries))
    documents = 8 * documents + 3 * _bell(rng, len(documents))

    def noisy_documents(noise: int) -> Values:
        return documents + noise * _bell(rng, len(documents))

    scores = {
        "continuous": _cosines(queries, noisy_documents(1)),
        "two-decimals": np.rint(2000 * _cosines(queries, noisy_documents(2))) / 100,
        "bfloat16": _round_to_bfloat16(_cosines(queries, noisy_documents(2))),
        "int8-dot": _quantised(queries) @ _quantised(noisy_documents(2)).T,
    }
    retrieved = {name: _best(values, depth) for name, values in scores.items()}
    candidates, _ = retrieved["continuous"]
    grades = np.clip(np.floor(22 * _cosines(queries, noisy_documents(3)) - 7), 0, 10)
    order, grades = _best(np.take_along_axis(grades, candidates, axis=1), depth)
    retrieved["grader-0-10"] = np.take_along_axis(candidates, order, axis=1), grades
    return retrieved


def _bytes(rng: Generator, *shape: int) -> Integers:
    return np.frombuffer(rng.bytes(math.prod(shape)), dtype=np.uint8).reshape(shape).astype(np.int64)


def _bell(rng: Generator, n: int) -> Values:
    """Draw `n` vectors of 20 integer components: sums of eight bytes, which are approximately normal."""
    sums: Integers = _bytes(rng, n, 20, 8).sum(axis=2)
    return (sums - 1020).astype(np.float64)


def _cosines(queries: Values, documents: Values) -> Values:
    squares = (queries**2).sum(axis=1)[:, np.newaxis] * (documents**2).sum(axis=1)
    cosines: Values = queries @ documents.T / np.sqrt(squares)
    return cosines


def _quantised(vectors: Values) -> Values:
    """Quantise unit vectors to the range of int8, with a scale that leaves room for outliers."""
    quantised: Values = np.rint(32 * vectors / np.sqrt((vectors**2).sum(axis=1, keepdims=True)))
    return quantised


def _best(scores: Values, depth: int) -> tuple[Integers, Values]:
    """Return the columns with the highest scores of each row, and these scores; tied columns are in ascending order."""
    columns = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
    return columns, np.take_along_axis(scores, columns, axis=1)


def _round_to_bfloat16(values: Values) -> Values:
    """Round to the nearest bfloat16 number, ties to even, in one step: rounding to float32 first could round twice."""
    rounded = BFloat16().coarsen(values.reshape(-1), np.array([0, values.size]))
    return rounded.reshape(values.shape).astype(np.float64)
