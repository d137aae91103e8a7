"""The coverage of intervals of means: python -m benchmarks.coverage prints the table of docs/certainty.md."""

from __future__ import annotations

import numpy as np

from tieaware.statistics import mean_interval

METHODS = ("t", "percentile", "bca", "bootstrap-t")
SAMPLES, RESAMPLES = 4000, 2000


def drawn(rng: np.random.Generator) -> dict[str, tuple[np.ndarray, float]]:
    """Return values of 200 topics by their distribution, and the mean of the population."""
    shape = SAMPLES, 200
    return {
        "normal": (rng.normal(0.4, 0.2, shape), 0.4),
        "skewed, like AP: Beta(0.5, 1.5)": (rng.beta(0.5, 1.5, shape), 0.25),
        "0 or 1, like P@1: one in ten": ((rng.random(shape) < 0.1).astype(np.float64), 0.1),
    }


def main() -> None:
    """Print a row for each distribution and number of topics."""
    print("| values | topics | " + " | ".join(METHODS) + " |\n|---|--:|" + "--:|" * len(METHODS))
    for name, (values, mean) in drawn(np.random.default_rng(32)).items():
        for n in (10, 25, 50, 200):
            shares = []
            for method in METHODS:
                found = mean_interval(values[:, :n], method, resamples=RESAMPLES)
                shares.append(f"{((found.low <= mean) & (mean <= found.high)).mean():.3f}")
            print(f"| {name} | {n} | " + " | ".join(shares) + " |")


if __name__ == "__main__":
    main()
