"""Combine features linearly into a grade from 0 to 10, with weights found by exact line searches and by CMA-ES.

Grades tie, and training data often lists the relevant documents of a query first. An objective that keeps tied
documents in that order gives a perfect value to a scorer that grades every document alike. CMA-ES therefore moves
towards weights that make every grade 0, or every grade 10. On held-out queries such a scorer is no better than chance.
An objective that averages over all orders of tied documents finds weights that work on held-out queries.

As a function of one weight, the value is a step function, without slopes that an optimiser could follow. For sums that
are not rounded to grades, `tieaware.optimise.coordinate_ascent` knows the whole function, and takes the best weight.

Needs cmaes: pip install cmaes.

    python examples/combine_features.py [--small]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from cmaes import CMA
from numpy.typing import NDArray

from tieaware import Evaluator
from tieaware.optimise import coordinate_ascent

MEASURE = "nDCG@10"
START = np.full(4, 0.25)

Floats = NDArray[np.float64]
Objective = Callable[[Floats], Floats]  # maps candidates, [n_candidates, n_features], to values, [n_candidates]


class Combined(NamedTuple):
    """The weights that an optimiser finds for an objective, and their values."""

    optimiser: str
    ties: str
    weights: Floats
    objective: float  # the value by the objective's own tie rule
    average: float  # the value averaged over all orders of tied documents
    held_out: float  # the same average for the held-out queries
    distinct: float  # the number of distinct grades in a list, averaged over the held-out queries


def generate(n_queries: int, seed: int, depth: int = 20) -> tuple[Floats, NDArray[np.int64]]:
    """Draw features, [n_queries * depth, 4], and labels, [n_queries, depth], with relevant documents first.

    The features are between 0 and 1: a similarity, a grade with five levels, a flag, and noise.
    """
    rng = np.random.default_rng(seed)
    labels = rng.integers(1, 4, (n_queries, depth)) * (rng.random((n_queries, depth)) < 0.2)
    labels[:, 0] = np.maximum(labels[:, 0], 1)
    labels = -np.sort(-labels, axis=1)

    def view(noise: float) -> Floats:
        return np.clip(0.2 * labels + noise * rng.normal(size=labels.shape), 0, 1)

    features = view(0.35), np.rint(4 * view(0.5)) / 4, (view(0.6) > 0.5).astype(float), rng.random(labels.shape)
    return np.stack(features, axis=-1).reshape(-1, len(features)), labels


def grades(weights: Floats, features: Floats) -> Floats:
    """Grade documents from 0 to 10: [n_documents], or [n_candidates, n_documents] if weights has several rows."""
    return np.clip(np.rint(10 * weights @ features.T), 0, 10)


def value(evaluator: Evaluator, features: Floats, candidates: Floats) -> Floats:
    """Evaluate candidates, [n_candidates, n_features]; return [n_candidates]."""
    return evaluator.many(grades(candidates, features))[:, 0]


def evolution(objective: Objective, generations: int = 60, seed: int = 1) -> Floats:
    """Maximise with CMA-ES, one generation per evaluation."""
    optimiser = CMA(mean=START, sigma=0.2, seed=seed)
    best, best_value = START, -np.inf
    for _ in range(generations):
        candidates = np.array([optimiser.ask() for _ in range(optimiser.population_size)])
        values = objective(candidates)
        optimiser.tell([(candidate, -value) for candidate, value in zip(candidates, values, strict=True)])
        if values.max() > best_value:
            best, best_value = candidates[values.argmax()], values.max()
    return best


def main(arguments: list[str] | None = None) -> list[Combined]:
    """Optimise, and print the weights that each optimiser finds for each objective."""
    parser = argparse.ArgumentParser(description="Combine features with a tie-aware and a tie-oblivious objective.")
    parser.add_argument("--small", action="store_true", help="use few queries; takes a second")
    n_queries = 30 if parser.parse_args(arguments).small else 300

    features, labels = generate(n_queries, seed=1)
    held_out_features, held_out_labels = generate(n_queries, seed=2)
    evaluators = {ties: Evaluator(labels, [MEASURE], ties=ties) for ties in ("average", "run_order")}
    held_out = Evaluator(held_out_labels, [MEASURE])

    def result(optimiser: str, ties: str, weights: Floats) -> Combined:
        seen, average = (evaluators[rule].mean(grades(weights, features))[0] for rule in (ties, "average"))
        scores = grades(weights, held_out_features)
        distinct = float(np.mean([len(np.unique(row)) for row in scores.reshape(labels.shape)]))
        return Combined(optimiser, ties, weights, seen, average, held_out.mean(scores)[0], distinct)

    results = [result("exact lines", "average", coordinate_ascent(evaluators["average"], features).weights)]
    for ties, evaluator in evaluators.items():
        results.append(result("CMA-ES", ties, evolution(partial(value, evaluator, features))))

    print(f"{n_queries} training queries, relevant documents first; {n_queries} held-out queries; means of {MEASURE}\n")
    print(f"{'optimiser':<13}{'objective':<11}{'weights':^28}{'value':>9}{'average':>9}{'held out':>10}{'grades':>8}")
    for r in results:
        found = "".join(f"{weight:>7.2f}" for weight in r.weights)
        values = f"{r.objective:>9.3f}{r.average:>9.3f}{r.held_out:>10.3f}{r.distinct:>8.1f}"
        print(f"{r.optimiser:<13}{r.ties:<11}{found}{values}")
    return results


if __name__ == "__main__":
    main()
