"""Score documents by matching zones and by the proximity of the query's words, which leaves many ties.

A weighted zone score is g if the title matches, plus 1 - g if the body matches, so it has at most four values. The
weight g is learnt from examples by least squares, in closed form. Most documents tie, so the value for a single order
of tied documents says little about the score; the mean and the spread over all orders say more. The width of the
smallest window that contains all words of the query breaks some of the ties (Manning, Raghavan and Schütze,
Introduction to Information Retrieval, sections 6.1 and 7.2.2).

    python examples/zone_scores.py [--small]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tieaware import Evaluator

MEASURES = ("AP", "RR@10", "nDCG@10")
WORDS = [
    "search", "engine", "index", "query", "rank", "score", "tie",
    "order", "list", "zone", "title", "body", "weight", "learn",
]  # fmt: skip


class Example(NamedTuple):
    """A document for a query: flags for a matching title, a matching body, and relevance."""

    title: bool
    body: bool
    relevant: bool


class Document(NamedTuple):
    """A document for a query: its example, and the length of the smallest window in its body; None if there is none."""

    example: Example
    window: int | None


class Scored(NamedTuple):
    """The values of a score per query: mean, deviation, minimum and maximum over the orders of tied documents."""

    name: str
    distinct: int
    mean: np.ndarray
    std: np.ndarray
    min: np.ndarray
    max: np.ndarray
    run_order: np.ndarray


def zone_score(weight: Fraction, example: Example) -> Fraction:
    """Add up the weights of the zones that match."""
    return weight * example.title + (1 - weight) * example.body


def learn_weight(examples: Iterable[Example]) -> Fraction:
    """Return the title weight with the least squared error. Only examples with exactly one matching zone matter."""
    counts = Counter((e.title, e.relevant) for e in examples if e.title != e.body)
    for_title = counts[True, True] + counts[False, False]
    return Fraction(for_title, counts.total()) if counts else Fraction(1, 2)


def total_error(weight: Fraction, examples: Iterable[Example]) -> Fraction:
    """Add up the squared differences between the scores and relevance (1 or 0)."""
    return sum(((e.relevant - zone_score(weight, e)) ** 2 for e in examples), Fraction(0))


def smallest_window(query: Iterable[str], text: Sequence[str]) -> int | None:
    """Return the length in words of the shortest passage that contains every query word, or None."""
    wanted, best = Counter(query), None
    missing, start = wanted.total(), 0
    for end, word in enumerate(text):
        missing -= wanted[word] > 0
        wanted[word] -= 1
        while missing == 0:
            # Invariant: text[start:end + 1] contains the query.
            best = min(best or end - start + 1, end - start + 1)
            wanted[text[start]] += 1
            missing += wanted[text[start]] > 0
            start += 1
    return best


def generate(n_queries: int, n_docs: int, seed: int = 6) -> list[list[Document]]:
    """Generate documents of random words and queries of two words; closer words make relevance more likely."""
    rng = np.random.default_rng(seed)
    lists = []
    for _ in range(n_queries):
        query = rng.choice(WORDS, 2, replace=False).tolist()
        documents = []
        for _ in range(n_docs):
            body, title = rng.choice(WORDS, 20).tolist(), rng.choice(WORDS, 8).tolist()
            window = smallest_window(query, body)
            chance = 0.02 if window is None else 0.5 / window
            example = Example(smallest_window(query, title) is not None, window is not None, rng.random() < chance)
            documents.append(Document(example, window))
        lists.append(documents)
    return lists


def evaluate(name: str, scores: list[list[float]], lists: list[list[Document]]) -> Scored:
    """Evaluate a score for all documents of all queries."""
    labels = np.array([[document.example.relevant for document in documents] for documents in lists], dtype=int)
    spread = Evaluator(labels, MEASURES).spread(np.array(scores))
    run_order = Evaluator(labels, MEASURES, ties="run_order")(np.array(scores))
    return Scored(name, len(np.unique(scores)), *spread, run_order)


def main(arguments: list[str] | None = None) -> list[Scored]:
    """Learn the weight, evaluate zones, windows and both, and print their spread over the orders of ties."""
    parser = argparse.ArgumentParser(description="Evaluate zone and proximity scores, which tie often.")
    parser.add_argument("--small", action="store_true", help="use few queries; takes a second")
    n_queries, n_docs = (30, 60) if parser.parse_args(arguments).small else (200, 200)

    training, lists = generate(n_queries, n_docs, seed=6), generate(n_queries, n_docs, seed=7)
    weight = learn_weight(document.example for documents in training for document in documents)
    zones = [[float(zone_score(weight, d.example)) for d in documents] for documents in lists]
    windows = [[(1 / d.window if d.window else 0.0) for d in documents] for documents in lists]
    both = [[z + w for z, w in zip(*row, strict=True)] for row in zip(zones, windows, strict=True)]
    results = [evaluate(*scored, lists) for scored in (("zones", zones), ("windows", windows), ("both", both))]

    print(f"{n_queries} queries, {n_docs} documents each; weight of the title: {float(weight):.3f}\n")
    print(f"{'score':<9}{'values':>7}  {'measure':<9}{'average':>8}{'std':>8}{'min':>8}{'max':>8}{'run_order':>11}")
    for scored in results:
        for i, measure in enumerate(MEASURES):
            mean, std, low, high, one = (values[:, i].mean() for values in scored[2:])
            print(
                f"{scored.name:<9}{scored.distinct:>7}  {measure:<9}{mean:>8.3f}{std:>8.3f}{low:>8.3f}{high:>8.3f}"
                f"{one:>11.3f}"
            )
    print("\nstd, min and max are over the orders of tied documents, averaged over the queries.")
    return results


if __name__ == "__main__":
    main()
