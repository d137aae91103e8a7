"""Coordinate ascent by exact lines, compared with other searches for weights that have the same time."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.ratios import Ratio
from tieaware import Evaluator
from tieaware.optimise import coordinate_ascent

SECTION = "Weights of features that searches find in the same time"
MEASURE = "nDCG@10"
Floats = npt.NDArray[np.float64]


class Search(NamedTuple):
    """The best weights that a search has found, and their mean."""

    weights: Floats
    value: float


def letor(n_queries: int, seed: int, depth: int = 30, n_features: int = 10) -> tuple[npt.NDArray[np.int64], Floats]:
    """Draw labels from 0 to 4 and features of unlike worth: some fine, some counts that tie, some noise."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n_queries, depth))
    labels = np.digitize(hidden + 0.3 * rng.normal(size=hidden.shape), [0.5, 1.2, 1.8, 2.4])
    noise = np.geomspace(0.8, 20.0, n_features)
    features = hidden[..., None] + noise * rng.normal(size=(n_queries, depth, n_features))
    features /= np.sqrt(1.0 + noise**2)
    # A feature that is skewed, and one that only says the opposite.
    features[..., 1] = np.exp(features[..., 1])
    features[..., 2] *= -1.0
    features[..., ::4] = features[..., ::4].round(1)
    return labels, features.reshape(-1, n_features)


def random_search(value: Callable[[Floats], float], n_features: int, until: float) -> Search:
    """Draw random directions until the time is over."""
    rng = np.random.default_rng(1)
    best = Search(np.ones(n_features), value(np.ones(n_features)))
    while perf_counter() < until:
        weights = rng.normal(size=n_features)
        attained = value(weights)
        if attained > best.value:
            best = Search(weights, attained)
    return best


def steps(value: Callable[[Floats], float], n_features: int, until: float) -> Search:
    """Climb as fastrank describes it: for each feature in a random order, steps that double, in both directions.

    A step changes a weight by 0.05 of it, or by 0.05 if it is 0, doubled up to 25 times; weight 0 is tried as well.
    The best weight is kept, and weights are then divided by the sum of their sizes. A climb that no longer improves
    starts again from random weights.
    """
    rng = np.random.default_rng(1)
    best = Search(np.ones(n_features), -np.inf)
    weights = np.full(n_features, 1.0 / n_features)
    while perf_counter() < until:
        found = Search(weights, value(weights))
        improved = True
        while improved and perf_counter() < until:
            improved = False
            for feature in rng.permutation(n_features):
                at = found.weights[feature]
                base = 0.05 * abs(at) if at else 0.05
                tried = [0.0] + [at + sign * base * 2.0**k for sign in (-1.0, 1.0) for k in range(25)]
                start = found
                for weight in tried:
                    candidate = start.weights.copy()
                    candidate[feature] = weight
                    if not candidate.any() or perf_counter() >= until:
                        continue
                    attained = value(candidate)
                    if attained > found.value:
                        found, improved = Search(candidate / np.abs(candidate).sum(), attained), True
        if found.value > best.value:
            best = found
        weights = rng.uniform(-1.0, 1.0, n_features)
    return best


def compared(n_queries: int, seed: int, restarts: int) -> dict[str, tuple[float, float]]:
    """Return the losses of each search, 1 - nDCG@10, for its queries and for as many others; all take the same time."""
    labels, features = letor(n_queries, seed)
    other_labels, other_features = letor(n_queries, seed + 100)
    evaluator, other = Evaluator(labels, [MEASURE]), Evaluator(other_labels, [MEASURE])
    n_features = features.shape[1]

    def value(weights: Floats) -> float:
        return float(evaluator.mean(features @ weights)[0])

    began = perf_counter()
    found = coordinate_ascent(evaluator, features, restarts=restarts)
    time = perf_counter() - began
    assert abs(value(found.weights) - found.value) < 1e-9
    results = {
        "exact lines": Search(found.weights, found.value),
        "random weights": random_search(value, n_features, perf_counter() + time),
        "fastrank's steps": steps(value, n_features, perf_counter() + time),
    }
    return {
        name: (1.0 - search.value, 1.0 - float(other.mean(other_features @ search.weights)[0]))
        for name, search in results.items()
    }


def test_ascent(report, small):
    """How much of the loss of other searches remains, for the queries of the search and for others."""
    n_queries, n_sets, restarts = (5, 1, 0) if small else (100, 5, 2)
    losses = [compared(n_queries, seed, restarts) for seed in range(n_sets)]
    for name in ("random weights", "fastrank's steps"):
        for i, queries in enumerate(("training", "held-out")):
            mine, theirs = (math.fsum(loss[of][i] for loss in losses) for of in ("exact lines", name))
            report(Ratio(
                SECTION, f"{n_queries} queries, 10 features, {n_sets} data sets: 1 - {MEASURE}, {queries} queries",
                "exact lines", name, mine / theirs, mine / theirs,
                at_most=1.0 if queries == "training" and not small else None,
            ))  # fmt: skip
