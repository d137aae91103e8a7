"""Stop boosting with a metric that averages over ties.

After the first rounds, a booster of small trees has few distinct scores, and most documents tie. LightGBM keeps tied
documents in row order (tieaware's rule `run_order`). If the data lists the relevant documents first and the sampled
negatives after them, the first tree gets a value that no later round reaches, and training stops at once. The average
over all orders of tied documents does not depend on the order of the rows.

    python examples/early_stopping.py [--small]
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import lightgbm
import numpy as np
from numpy.typing import NDArray

from tieaware import Evaluator
from tieaware.integrations.lightgbm import metric

MEASURE = "nDCG(dcg='exp-log2')@10"
DEPTH = 50
PATIENCE = 20

Floats = NDArray[np.float64]


class Lists(NamedTuple):
    """Lists of equal length."""

    features: Floats  # [n_queries, DEPTH, n_features]
    labels: NDArray[np.int64]  # [n_queries, DEPTH]

    def ordered(self, order: NDArray[np.int64]) -> Lists:
        """Reorder the documents of each list; order is [n_queries, DEPTH]."""
        queries = np.arange(len(order))[:, None]
        return Lists(self.features[queries, order], self.labels[queries, order])

    def data(self, reference: lightgbm.Dataset | None = None) -> lightgbm.Dataset:
        """Convert the lists to a LightGBM data set."""
        rows = self.features.reshape(self.labels.size, -1)
        sizes = np.full(len(self.labels), DEPTH)
        return lightgbm.Dataset(rows, self.labels.ravel(), group=sizes, reference=reference)

    def average(self, model: lightgbm.Booster) -> float:
        """Evaluate the best round of a model, averaged over queries and over all orders of tied documents."""
        scores = model.predict(self.features.reshape(self.labels.size, -1), num_iteration=model.best_iteration)
        return Evaluator(self.labels, MEASURE).score(np.asarray(scores))


class Stopped(NamedTuple):
    """The round at which training stopped, for an order of the rows and a metric."""

    rows: str
    metric: str
    best_round: int
    reported: float  # value of the metric for the validation lists in the best round
    validation: float  # value for the same lists and round, averaged over all orders of tied documents
    test: float  # the same average for the test lists


def make_lists(n_queries: int, seed: int) -> Lists:
    """Generate lists with one to five relevant documents, and weak features with three values each."""
    rng = np.random.default_rng(seed)
    relevant = rng.integers(1, 6, (n_queries, 1))
    labels = rng.permuted((np.arange(DEPTH) < relevant).astype(np.int64), axis=1)
    views = rng.normal(size=(n_queries, DEPTH, 5)) + 0.5 * labels[:, :, None]
    return Lists(np.clip(np.rint(views), -1, 1), labels)


def stop(training: Lists, validation: Lists, test: Lists, rows: str, own: bool) -> Stopped:
    """Train until LightGBM's own metric, or tieaware's, has not improved for PATIENCE rounds."""
    name = "ndcg@10" if own else MEASURE
    params = {
        "objective": "lambdarank", "metric": "ndcg" if own else "None", "eval_at": [10], "num_leaves": 3,
        "learning_rate": 0.3, "deterministic": True, "num_threads": 1, "verbosity": -1, "seed": 1,
    }  # fmt: skip
    data = training.data()
    model = lightgbm.train(
        params, data, 300, valid_sets=[validation.data(data)], valid_names=["validation"],
        feval=None if own else metric(MEASURE),
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )  # fmt: skip
    reported = model.best_score["validation"][name]
    title = "LightGBM's" if own else "average"
    return Stopped(rows, title, model.best_iteration, reported, validation.average(model), test.average(model))


def main(arguments: list[str] | None = None) -> list[Stopped]:
    """Train with three row orders of the same validation lists, and print where training stopped."""
    parser = argparse.ArgumentParser(description="Stop boosting with a metric that averages over ties.")
    parser.add_argument("--small", action="store_true", help="use few queries; takes seconds")
    n_queries = 100 if parser.parse_args(arguments).small else 500

    training, validation, test = (make_lists(n_queries, seed) for seed in (1, 2, 3))
    shuffled = np.random.default_rng(4).permuted(np.tile(np.arange(DEPTH), (n_queries, 1)), axis=1)
    orders = {
        "relevant first": np.argsort(-validation.labels, axis=1, kind="stable"),
        "shuffled": shuffled,
        "relevant last": np.argsort(validation.labels, axis=1, kind="stable"),
    }
    results = [
        stop(training, validation.ordered(order), test, rows, own)
        for rows, order in orders.items()
        for own in (True, False)
    ]

    print(f"{n_queries} queries of {DEPTH} documents each for training, validation and test; {MEASURE}.")
    print("LightGBM's metric keeps tied documents in row order (run_order).\n")
    print(f"{'validation':<16}{'':<13}{'best':>6}{'value of':>12}{'':>10}{'test':>9}")
    print(f"{'rows':<16}{'metric':<13}{'round':>6}{'metric':>12}{'average':>10}{'average':>9}")
    for each in results:
        print(
            f"{each.rows:<16}{each.metric:<13}{each.best_round:>6}{each.reported:>12.4f}"
            f"{each.validation:>10.4f}{each.test:>9.4f}"
        )
    return results


if __name__ == "__main__":
    main()
