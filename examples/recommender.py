"""Evaluate recommenders on the whole catalogue, and compare with sampled negatives and sorted ties.

A recommender ranks every item that a user has not bought yet. Two shortcuts are common, and both mislead. The first
shortcut samples a hundred items and ranks the held-out items among them. Values are then usually several times as high,
and systems may swap ranks (Krichene and Rendle, KDD 2020). The second shortcut sorts scores as if no two were equal, so
that tied items stay in the order of their numbers. Items are usually numbered by their first sale, which puts popular
items first; even a constant recommender profits from this order.

    python examples/recommender.py [--small]
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from implicit.als import AlternatingLeastSquares
from implicit.nearest_neighbours import ItemItemRecommender
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tieaware import Evaluator

MEASURES = ("nDCG@10", "R@10", "RR@10")
N_SAMPLED = 100

Floats = NDArray[np.float64]


class Purchases(NamedTuple):
    """Purchases as users × items matrices: for training, and held out."""

    seen: sp.csr_array
    held_out: sp.csr_array


class Evaluated(NamedTuple):
    """The values of a recommender: means over users in the order of MEASURES, [n_measures] each."""

    name: str
    tied: float  # percentage of a user's unseen items that tie with another unseen item
    mean: Floats
    min: Floats
    max: Floats
    sampled: Floats
    run_order: Floats  # ties in the order of the items: what a stable sort gives
    reversed: Floats  # ties in the reverse order: what a reversed stable sort gives
    partitioned: Floats  # ties as np.argpartition leaves them


def make_purchases(n_users: int, n_items: int, seed: int = 1) -> Purchases:
    """Generate purchases by popularity and one of ten tastes, and number the items by first sale."""
    rng = np.random.default_rng(seed)
    n_tastes = 10
    popularity = 1.0 / np.arange(1, n_items + 1) ** 0.6
    taste_of_item = rng.integers(0, n_tastes, n_items)
    tastes = rng.dirichlet(np.full(n_tastes, 0.05), n_users)
    sales = []
    for user in range(n_users):
        wanted = popularity * (0.02 + tastes[user, taste_of_item])
        bought = rng.choice(n_items, rng.integers(20, 60), replace=False, p=wanted / wanted.sum())
        sales += [(user, item) for item in bought]
    # implicit expects 32-bit indices.
    log = np.array(sales, np.int32)[rng.permutation(len(sales))]
    first_sale = np.full(n_items, len(log))
    np.minimum.at(first_sale, log[:, 1], np.arange(len(log)))
    number = np.argsort(np.argsort(first_sale, kind="stable"), kind="stable").astype(np.int32)

    is_held_out = rng.random(len(log)) < 0.2
    seen, held_out = (
        sp.csr_array((np.ones(len(part)), (part[:, 0], number[part[:, 1]])), (n_users, n_items))
        for part in (log[~is_held_out], log[is_held_out])
    )
    return Purchases(seen, held_out)


def recommend(seen: sp.csr_array) -> dict[str, NDArray[np.floating]]:
    """Score all items for all users by each recommender: [n_users, n_items] each."""
    matrix = sp.csr_matrix(seen)
    factors = AlternatingLeastSquares(factors=32, iterations=10, random_state=0, num_threads=1)
    factors.fit(matrix, show_progress=False)
    neighbours = ItemItemRecommender(K=10, num_threads=1)
    neighbours.fit(matrix, show_progress=False)
    popularity = np.broadcast_to(seen.sum(axis=0), seen.shape)
    return {
        "ALS": factors.user_factors @ factors.item_factors.T,
        "item-kNN": (matrix @ neighbours.similarity).toarray(),
        "popularity": popularity,
        "popularity, binned": np.floor(np.log2(1 + popularity)),
        "constant": np.zeros(seen.shape),
    }


def sample(purchases: Purchases, seed: int = 2) -> tuple[NDArray[np.int64], NDArray[np.int64], Evaluator]:
    """Sample items to add to the held-out items of each user; return the lists' users and items, and an evaluator."""
    rng = np.random.default_rng(seed)
    users, items, labels, sizes = [], [], [], []
    for user in range(purchases.seen.shape[0]):
        relevant = purchases.held_out[[user]].indices
        known = np.concatenate((purchases.seen[[user]].indices, relevant))
        others = rng.choice(np.setdiff1d(np.arange(purchases.seen.shape[1]), known), N_SAMPLED, replace=False)
        items += [relevant, others]
        labels += [np.ones(len(relevant), int), np.zeros(N_SAMPLED, int)]
        sizes.append(len(relevant) + N_SAMPLED)
        users.append(np.full(sizes[-1], user))
    lists = Evaluator(np.concatenate(labels), MEASURES, group=sizes, undefined=np.nan)
    return np.concatenate(users), np.concatenate(items), lists


def places(order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Convert rankings of all items, [n_users, n_items], to scores that do not tie."""
    return -np.argsort(order, axis=1)


def partition(scores: NDArray[np.floating], depth: int = 10) -> NDArray[np.int64]:
    """Rank as many tools do: select the top scores with np.argpartition, and sort only these."""
    order = np.argpartition(-scores, depth, axis=1)
    top = np.take_along_axis(scores, order[:, :depth], axis=1)
    within = np.argsort(-top, axis=1, kind="stable")
    return np.hstack((np.take_along_axis(order[:, :depth], within, axis=1), order[:, depth:]))


def evaluate(purchases: Purchases, recommenders: dict[str, NDArray[np.floating]]) -> list[Evaluated]:
    """Evaluate all recommenders exactly, with sampled items, and with sorted ties."""
    seen, held_out = purchases
    # undefined=nan leaves users without held-out items out of the means.
    exact, stable = (
        Evaluator.from_sparse(held_out, MEASURES, exclude=seen, ties=ties, undefined=np.nan)
        for ties in ("average", "run_order")
    )
    users, items, lists = sample(purchases)
    results = []
    for name, scores in recommenders.items():
        spread = exact.spread(scores)
        # Common practice: give seen items the lowest score, and sort.
        masked = scores.astype(np.float64)
        masked[seen.nonzero()] = -np.inf
        backwards = np.argsort(masked, axis=1, kind="stable")[:, ::-1]
        results.append(
            Evaluated(
                name, tied_share(masked),
                mean=np.nanmean(spread.mean, axis=0), min=np.nanmean(spread.min, axis=0),
                max=np.nanmean(spread.max, axis=0),
                sampled=lists.mean(scores[users, items]), run_order=stable.mean(scores),
                reversed=exact.mean(places(backwards)), partitioned=exact.mean(places(partition(masked))),
            )
        )  # fmt: skip
    return results


def tied_share(masked: Floats) -> float:
    """Return the percentage of unseen items that tie with another item of the same user."""
    tied = ranked = 0
    for row in masked:
        sizes = np.unique(row[row > -np.inf], return_counts=True)[1]
        tied, ranked = tied + sizes[sizes > 1].sum(), ranked + sizes.sum()
    return 100 * tied / ranked


def main(arguments: list[str] | None = None) -> list[Evaluated]:
    """Evaluate the recommenders, and print the values of each method."""
    parser = argparse.ArgumentParser(description="Evaluate recommenders on the whole catalogue.")
    parser.add_argument("--small", action="store_true", help="use few users and items; takes a second")
    n_users, n_items = (200, 800) if parser.parse_args(arguments).small else (1_000, 3_000)

    # implicit must use one thread: with more, the factors would differ between machines.
    with threadpool_limits(1, "blas"):
        purchases = make_purchases(n_users, n_items)
        results = evaluate(purchases, recommend(purchases.seen))

    print(f"{n_users:,} users, {n_items:,} items, {purchases.seen.nnz:,} purchases for training, ", end="")
    print(f"{purchases.held_out.nnz:,} held out\n")
    print(f"{'':<20}{'all items':^30}{f'{N_SAMPLED} sampled items':^30}".rstrip())
    print(f"{'recommender':<20}" + "".join(f"{measure:>10}" for measure in 2 * MEASURES))
    for r in results:
        print(f"{r.name:<20}" + "".join(f"{value:>10.4f}" for value in (*r.mean, *r.sampled)))
    print(f"\n{MEASURES[0]} of all items, by the order of ties\n")
    titles = f"{'run_order':>11}{'reversed':>10}{'partition':>11}{'average':>10}{'least':>9}{'greatest':>10}"
    print(f"{'recommender':<20}{'tied':>6}{titles}")
    for r in results:
        print(
            f"{r.name:<20}{r.tied:>5.0f}%{r.run_order[0]:>11.4f}{r.reversed[0]:>10.4f}{r.partitioned[0]:>11.4f}"
            f"{r.mean[0]:>10.4f}{r.min[0]:>9.4f}{r.max[0]:>10.4f}"
        )
    return results


if __name__ == "__main__":
    main()
