"""Rules for failing a build, simulated: how often each one fails a harmless change, and how often it finds a loss.

For each pair of runs, the differences of the queries are shifted to the mean 0, so that nothing changed, or to a loss
that 50 queries should show with probability 0.8. Samples of 50 queries are then drawn with replacement, and each rule
decides. "gate" is that of `tieaware gate`, with its tolerance of 0.01.

    python examples/gate_rules.py QRELS RUN... [--measure nDCG@10] [--repeats 4000]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import tieaware
from tieaware.statistics import detectable_difference, mean_change

TOLERANCE, ALPHA, QUERIES = 0.01, 0.05, 50
RULES = ("the mean fell", f"fell by more than {TOLERANCE}", "gate")


class Row(NamedTuple):
    """The shares of failed builds of one pair, by rule: without a change, and with a loss of this size."""

    pair: str
    loss: float
    harmless: tuple[float, ...]
    harmful: tuple[float, ...]


def failures(differences: NDArray[np.float64], rng: np.random.Generator, repeats: int) -> tuple[float, ...]:
    """Return the share of samples of queries in which each rule fails the build."""
    failed = np.zeros(len(RULES))
    before = np.zeros(QUERIES)
    for _ in range(repeats):
        sample = rng.choice(differences, QUERIES)
        worse = mean_change(before, sample, confidence=1 - ALPHA).decision(TOLERANCE, ALPHA) == "worse"
        failed += (sample.mean() < 0, sample.mean() < -TOLERANCE, worse)
    return tuple((failed / repeats).tolist())


def simulate(result: tieaware.Results, repeats: int, seed: int = 0) -> list[Row]:
    """Return a row for each pair of runs: the first and the second, the third and the fourth, and so on."""
    rows, rng = [], np.random.default_rng(seed)
    for i, j in list(pairwise(range(len(result.runs))))[::2]:
        differences = result.values[j, :, 0] - result.values[i, :, 0]
        centred = differences - differences.mean()
        loss = detectable_difference(QUERIES, float(centred.var()), alpha=ALPHA)
        shares = (failures(centred - shift, rng, repeats) for shift in (0.0, loss))
        rows.append(Row(f"{result.runs[i]}, {result.runs[j]}", loss, *shares))
    return rows


def main(argv: Sequence[str] | None = None) -> list[Row]:
    """Print a table in Markdown; return its rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("qrels")
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--measure", default="nDCG@10")
    parser.add_argument("--repeats", type=int, default=4000)
    arguments = parser.parse_args(argv)
    rows = simulate(tieaware.evaluate(arguments.qrels, arguments.runs, arguments.measure), arguments.repeats)
    print(f"| pair | {' | '.join(RULES)} | true loss | {' | '.join(RULES)} |")
    print(f"|---|{'--:|' * (2 * len(RULES) + 1)}")
    for row in rows:
        shares = [[f"{share:.1%}" for share in some] for some in (row.harmless, row.harmful)]
        print(f"| {row.pair} | {' | '.join(shares[0])} | {row.loss:.3f} | {' | '.join(shares[1])} |")
    return rows


if __name__ == "__main__":
    main()
