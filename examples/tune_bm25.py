"""Tune k1 and b of BM25 on a collection that lists its relevant documents early.

At k1 = 0, BM25 ignores term frequencies, and all documents that contain the same query terms tie. Some test collections
list the judged documents first and other documents after them. An objective that keeps tied documents in collection
order then puts relevant documents first in every tie, and tunes k1 to 0. The average over all orders of tied documents
does not.

    python examples/tune_bm25.py [--small]
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tieaware import Evaluator

K1 = np.arange(0, 3.1, 0.25)
B = np.arange(0, 1.1, 0.25)


class Collection(NamedTuple):
    """A collection of documents and queries."""

    counts: NDArray[np.int64]  # [n_queries, n_terms, n_documents]: term frequencies
    lengths: NDArray[np.float64]  # [n_documents]: lengths in words
    labels: NDArray[np.int64]  # [n_queries, n_documents]: relevance, 0 to 3


class Tuned(NamedTuple):
    """The parameters that an objective selects, and their values."""

    ties: str
    k1: float
    b: float
    objective: float  # the value by the objective's own tie rule
    average: float  # the value averaged over all orders of tied documents
    held_out: float  # the same average for the held-out queries


def generate(n_queries: int, n_documents: int, n_terms: int = 3, seed: int = 7) -> Collection:
    """Draw a collection from a mixture of Poisson distributions.

    A document is about a term of the query, or mentions it in passing. Relevant documents contain every term and are
    about more of them. A document is long because it is wordy or because it covers many topics; documents on many
    topics are relevant more often.
    """
    rng = np.random.default_rng(seed)
    wordiness = rng.lognormal(0, 0.35, n_documents)
    breadth = rng.lognormal(0, 0.4, n_documents)
    labels = np.zeros((n_queries, n_documents), dtype=np.int64)
    for row in labels:
        row[rng.choice(n_documents, 4, replace=False, p=breadth / breadth.sum())] = 1, 1, 2, 3

    grade = labels[:, np.newaxis, :]
    shape = (n_queries, n_terms, n_documents)
    about = (rng.random(shape) < np.where(grade > 0, 0.5, 0.08)) * (1 + 0.8 * grade) * rng.gamma(1.2, 1.5, shape)
    in_passing = rng.choice([0.1, 0.3, 0.6], (n_queries, n_terms, 1)) * breadth
    counts = rng.poisson(wordiness * (in_passing + about))
    return Collection(np.maximum(counts, grade > 0), np.rint(60 * wordiness * breadth), labels)


def bm25(collection: Collection, k1: float, b: float) -> NDArray[np.float64]:
    """Score every document for every query, [n_queries, n_documents], rounded to two decimals as engines print them."""
    counts, lengths, _ = collection
    n_containing = (counts > 0).sum(axis=2, keepdims=True)
    idf = np.log(1 + (len(lengths) - n_containing + 0.5) / (n_containing + 0.5))
    saturation = k1 * (1 - b + b * lengths / lengths.mean())
    # An absent term weighs nothing, even if k1 is 0.
    weights = idf * (k1 + 1) * counts / np.where(counts > 0, counts + saturation, 1)
    return weights.sum(axis=1).round(2)


def tune(collection: Collection, n_tuning: int, measure: str = "nDCG@10") -> list[Tuned]:
    """Search the grid with both objectives on the first `n_tuning` queries; the others are held out."""
    held_out = Evaluator(collection.labels[n_tuning:], [measure])
    evaluators = {
        ties: Evaluator(collection.labels[:n_tuning], [measure], ties=ties) for ties in ("average", "run_order")
    }
    grid = list(product(K1, B))
    objectives = {ties: np.empty(len(grid)) for ties in evaluators}
    values = np.empty((n_tuning, 1))
    held_out_values = np.empty(len(grid))
    for i, (k1, b) in enumerate(grid):
        scores = bm25(collection, k1, b)
        for ties, evaluator in evaluators.items():
            # The inner loop: labels are prepared beforehand, and values are written to an existing array.
            objectives[ties][i] = evaluator(scores[:n_tuning], out=values).mean()
        held_out_values[i] = held_out.mean(scores[n_tuning:])[0]

    best = {ties: int(objective.argmax()) for ties, objective in objectives.items()}
    return [
        Tuned(ties, float(k1), float(b), objectives[ties][i], objectives["average"][i], held_out_values[i])
        for ties, i, (k1, b) in ((ties, i, grid[i]) for ties, i in best.items())
    ]


def main(arguments: list[str] | None = None) -> list[Tuned]:
    """Tune, and print the parameters that each objective selects."""
    parser = argparse.ArgumentParser(description="Tune BM25 with a tie-aware and a tie-oblivious objective.")
    parser.add_argument("--small", action="store_true", help="use a small collection; takes a second")
    n_tuning, n_documents = (20, 1500) if parser.parse_args(arguments).small else (40, 4000)

    collection = generate(2 * n_tuning, n_documents)
    # List documents that are relevant for a tuning query first.
    order = np.argsort(~collection.labels[:n_tuning].any(axis=0), kind="stable")
    collection = Collection(collection.counts[:, :, order], collection.lengths[order], collection.labels[:, order])
    results = tune(collection, n_tuning)

    print(f"{n_documents} documents, {n_tuning} tuning queries and {n_tuning} held-out queries,")
    print(f"{len(K1) * len(B)} pairs of k1 and b; means of nDCG@10\n")
    print(f"{'objective':<12}{'k1':>6}{'b':>6}{'value':>10}{'average':>10}{'held out':>10}")
    for r in results:
        print(f"{r.ties:<12}{r.k1:>6.2f}{r.b:>6.2f}{r.objective:>10.3f}{r.average:>10.3f}{r.held_out:>10.3f}")
    return results


if __name__ == "__main__":
    main()
