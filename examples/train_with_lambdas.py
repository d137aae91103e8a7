"""Train a linear model with LambdaMART's gradients, in NumPy and, if it is installed, in PyTorch.

`tieaware.optimise.Lambdas` turns scores into gradients of a measure; a learner needs nothing else. The first scores all
tie. The gradients tell the documents apart all the same: they are averaged over the orders of tied documents.

    python examples/train_with_lambdas.py [--small]
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tieaware import Evaluator
from tieaware.optimise import Lambdas

MEASURES = ("nDCG@10", "AP", "RR")
DEPTH = 20
STEPS = 60
RATE = 0.5

Floats = NDArray[np.float64]


class Trained(NamedTuple):
    """A trained model: its learner, its measure, and the values of this measure before and after the training."""

    learner: str
    measure: str
    before: float
    after: float


def make_lists(n_queries: int) -> tuple[Floats, NDArray[np.int64]]:
    """Generate features, of which two of four tell something about the labels, and labels from 0 to 2."""
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 3, n_queries * DEPTH) * (rng.random(n_queries * DEPTH) < 0.4)
    worth = np.array([1.0, 0.5, 0.0, 0.0])
    return labels[:, None] * worth + rng.normal(size=(len(labels), 4)), labels


def with_numpy(features: Floats, lambdas: Lambdas) -> Floats:
    """Descend along the gradient: the derivative by the weights is features.T @ gradient."""
    weights = np.zeros(features.shape[1])
    for _ in range(STEPS):
        gradient, _ = lambdas(features @ weights)
        weights -= RATE / lambdas.n_queries * (features.T @ gradient)
    return weights


def with_torch(features: Floats, lambdas: Lambdas) -> Floats:
    """Pass the gradient to `backward`, which carries it through any model to its parameters."""
    import torch

    model = torch.nn.Linear(features.shape[1], 1, bias=False, dtype=torch.float64)
    torch.nn.init.zeros_(model.weight)
    optimiser = torch.optim.SGD(model.parameters(), lr=RATE / lambdas.n_queries)
    rows = torch.from_numpy(features)
    for _ in range(STEPS):
        scores = model(rows)[:, 0]
        gradient, _ = lambdas(scores.detach().numpy())
        optimiser.zero_grad()
        scores.backward(torch.from_numpy(gradient))
        optimiser.step()
    weights: Floats = model.weight.detach().numpy()[0].copy()
    return weights


def main(arguments: list[str] | None = None) -> list[Trained]:
    """Train a model for each measure with each learner, and print what the measure gained."""
    parser = argparse.ArgumentParser(description="Train a linear model with LambdaMART's gradients.")
    parser.add_argument("--small", action="store_true", help="use few queries; takes seconds")
    n_queries = 50 if parser.parse_args(arguments).small else 1000
    features, labels = make_lists(n_queries)
    learners = {"NumPy": with_numpy}
    if find_spec("torch"):
        learners["PyTorch"] = with_torch

    results = []
    print(f"{n_queries} queries of {DEPTH} documents each; {STEPS} steps from weights of 0: all scores tie.\n")
    print(f"{'learner':<10}{'measure':<10}{'before':>8}{'after':>8}")
    for learner, train in learners.items():
        for measure in MEASURES:
            sizes = np.full(n_queries, DEPTH)
            weights = train(features, Lambdas(labels, measure, group=sizes))
            evaluator = Evaluator(labels, measure, group=sizes)
            before, after = evaluator.score(np.zeros(len(labels))), evaluator.score(features @ weights)
            results.append(Trained(learner, measure, before, after))
            print(f"{learner:<10}{measure:<10}{before:>8.3f}{after:>8.3f}")
    return results


if __name__ == "__main__":
    main()
