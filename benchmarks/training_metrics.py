"""A metric of torchmetrics, compared with torchmetrics' own: .venv-tools/bin/python -m benchmarks.training_metrics.

Separate from the other benchmarks, because it needs torch. It prints the figures of docs/tools/training_loops.md.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchmarks.ratios import seconds, summarise
from tieaware.runtime.extras import load

OWN = {"nDCG": "RetrievalNormalizedDCG", "RR": "RetrievalMRR"}


def step(metric: Any, *inputs: Any) -> float:
    """Update a metric, compute it and reset it, as at the end of an epoch."""
    metric.update(*inputs)
    value = float(metric.compute())
    metric.reset()
    return value


def main() -> None:
    """Print how many times as long torchmetrics takes."""
    from tieaware.integrations.torchmetrics import RankingMetric

    torch, retrieval = load("torch", "torch"), load("torchmetrics.retrieval", "torchmetrics")
    torch.set_num_threads(1)
    n, depth, rounds = (100, 10, 2) if "--small" in sys.argv else (8000, 40, 7)
    rng = np.random.default_rng(2287)
    # No scores tie, and all are positive, so that both compute the same.
    preds = torch.tensor(rng.permuted(np.tile(np.arange(1.0, depth + 1), (n, 1)), axis=1), dtype=torch.float32)
    target = torch.tensor(rng.random((n, depth)) < 0.1).long()
    indexes = torch.arange(n)[:, None].expand(n, depth)
    print(f"| {n:,} queries × {depth} | with indexes | a query per row |\n|---|--:|--:|")
    for name, own in OWN.items():
        theirs, ours = getattr(retrieval, own)(), RankingMetric(name)
        expected = step(theirs, preds, target, indexes)
        cells = []
        for inputs in ((preds, target, indexes), (preds, target)):
            assert abs(step(ours, *inputs) - expected) < 1e-6 * expected
            pairs = [
                (seconds(lambda: step(theirs, preds, target, indexes)),  # noqa: B023 (called at once)
                 seconds(lambda inputs=inputs: step(ours, *inputs), calls=3))  # noqa: B023
                for _ in range(rounds)
            ]  # fmt: skip
            _, of_least = summarise(*zip(*pairs, strict=True))
            cells.append(f"{of_least:.0f}")
        print(f"| torchmetrics' {own} ÷ tieaware's {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
