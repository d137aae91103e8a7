"""Rank features by their effectiveness when used alone, with each feature as the only score.

Many features of a search engine have few values: a flag, a grade, the number of links to a page. Used alone, they tie
most documents. If tied documents keep their order, the value of a feature changes with every shuffle, and a constant
feature is perfect if relevant documents come first. The average over all orders of tied documents is the same for every
shuffle. Tie-aware measures were invented for this purpose (McSherry and Najork, ECIR 2008).

    python examples/rank_features.py [--small]
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tieaware import Evaluator
from tieaware.samples import DiscreteLists, discrete_lists
from tieaware.ties import TieRuleName

MEASURE = "RR@10"

Floats = NDArray[np.float64]


class Ranked(NamedTuple):
    """The value of each feature under a tie rule, for several orders of the same documents."""

    ties: str
    relevant_first: Floats  # [n_features]
    relevant_last: Floats  # [n_features]
    shuffled: Floats  # [n_shuffles, n_features]


def make_features(lists: DiscreteLists, seed: int = 4) -> dict[str, Floats]:
    """Generate weak features with different numbers of distinct values: [n_docs] each."""
    rng = np.random.default_rng(seed)
    relevant = lists.labels > 0

    def view(signal: float) -> Floats:
        return rng.normal(size=len(relevant)) + signal * relevant

    return {
        "constant": np.ones(len(relevant)),
        "flag": (view(0.9) > 0.5).astype(float),
        "grade of 5": np.clip(np.rint(view(0.7) + 2), 0, 4),
        "in-degree": lists.scores,
        "continuous": view(0.5),
    }


def rank(lists: DiscreteLists, features: Floats, ties: TieRuleName, n_shuffles: int, seed: int = 5) -> Ranked:
    """Evaluate every feature, [n_docs, n_features], for several orders of the documents in each list."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(len(lists.offsets) - 1), np.diff(lists.offsets))

    def values(key: NDArray[np.generic]) -> Floats:
        order = np.lexsort((key, query))
        evaluator = Evaluator(lists.labels[order], [MEASURE], offsets=lists.offsets, ties=ties)
        return evaluator.columns(features[order])[:, 0]

    shuffled = [values(rng.random(len(query))) for _ in range(n_shuffles)]
    return Ranked(ties, values(-lists.labels), values(lists.labels), np.array(shuffled))


def span(values: Floats, feature: int) -> tuple[int, int]:
    """Return a feature's best and worst rank over the orders of documents; values is [n_orders, n_features]."""
    ranks = 1 + (values > values[:, [feature]]).sum(axis=1)
    return ranks.min(), ranks.max()


def main(arguments: list[str] | None = None) -> list[Ranked]:
    """Rank the features under both tie rules, and print how much the order of the documents matters."""
    parser = argparse.ArgumentParser(description="Rank discrete features by their own effectiveness.")
    parser.add_argument("--small", action="store_true", help="use few queries; takes a second")
    n_queries, n_shuffles = (100, 20) if parser.parse_args(arguments).small else (300, 100)

    lists = discrete_lists(n_queries, seed=1, mean_length=60, relevant=0.03)
    features = make_features(lists)
    columns = np.stack(list(features.values()), axis=1)
    results = [rank(lists, columns, ties, n_shuffles) for ties in ("average", "run_order")]

    average, run_order = results
    print(f"{n_queries} queries, {len(lists.labels)} documents; means of {MEASURE}. The documents of each list are in")
    print(f"{n_shuffles} random orders, with relevant documents first, and with relevant documents last.\n")
    print(f"{'':<19}{'average':^16}{'run_order, random orders':^36}{'relevant':>10}{'relevant':>10}")
    titles = f"{'value':>8}{'rank':>8}{'lowest':>10}{'mean':>8}{'highest':>9}{'ranks':>9}{'first':>10}{'last':>10}"
    print(f"{'feature':<12}{'values':>7}{titles}")
    for i, name in enumerate(features):
        value = run_order.shuffled[:, i]
        (place, _), (best, worst) = (span(r.shuffled, i) for r in results)
        print(
            f"{name:<12}{len(np.unique(columns[:, i])):>7}{average.shuffled[0, i]:>8.3f}{place:>8}"
            f"{value.min():>10.3f}{value.mean():>8.3f}{value.max():>9.3f}{f'{best} to {worst}':>9}"
            f"{run_order.relevant_first[i]:>10.3f}{run_order.relevant_last[i]:>10.3f}"
        )
    print()
    for r in results:
        values = np.vstack([r.shuffled, r.relevant_first, r.relevant_last])
        rankings = len(np.unique((-r.shuffled).argsort(axis=1), axis=0))
        print(
            f"{r.ties:<10}different rankings of the features in random orders: {rankings};"
            f" largest change of a value: {np.ptp(values, axis=0).max():.3f}"
        )
    return results


if __name__ == "__main__":
    main()
