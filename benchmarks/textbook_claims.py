"""The table of docs/retrieval.md on the claims of the textbook: inexact methods on four test collections.

Run `python -m benchmarks.textbook_claims`; it takes about a minute. The collections are those of safe_search.py. Below
the table, the script prints what documents with three terms find, and counts the steps of ClusterPruning from one value
of b1 or b2 to the next that find no less.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.safe_search import COLLECTIONS, collection, print_table
from tieaware.experiments import inexact
from tieaware.retrieval import AtLeast, Champions, ClusterPruning, Exact, HighIdf, ImpactOrdered, Method, Tiers

B1, B2 = (1, 2, 3), (1, 2, 5, 10)
SHOWN: tuple[Method, ...] = (
    *(Champions(r=r) for r in (10, 20, 50, 100)), HighIdf(share=0.5), AtLeast(m=2), Tiers(quantiles=(0.9,)),
    *(ClusterPruning(b1=b1, b2=b2) for b1 in (1, 3) for b2 in (1, 5)),
    *(ImpactOrdered(postings=share) for share in (0.1, 0.5)),
    *(Exact(weighting=weighting) for weighting in ("bm25", "impact:8", "impact:4", "impact:2", "impact:1")),
)  # fmt: skip
OTHERS: tuple[Method, ...] = (
    AtLeast(m=3), *(ClusterPruning(b1=b1, b2=b2) for b1 in B1 for b2 in B2 if b1 == 2 or b2 in (2, 10)),
)  # fmt: skip
SIGNIFICANT = 0.05


def ends(values: list[float]) -> str:
    """Return the lowest and the highest of some values; one number if they are equal."""
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low}–{high}"


def steps(found: dict[tuple[int, int], float]) -> Iterator[bool]:
    """Yield for each step from one b1 or b2 to the next whether it finds at least as much."""
    for i, b1 in enumerate(B1):
        for j, b2 in enumerate(B2):
            if i + 1 < len(B1):
                yield found[B1[i + 1], b2] >= found[b1, b2]
            if j + 1 < len(B2):
                yield found[b1, B2[j + 1]] >= found[b1, b2]


def main() -> None:
    """Compare all methods with exact search on all collections, and print the table."""
    methods = [*SHOWN, *OTHERS]
    of_ten, of_thousand = [], []
    for name in COLLECTIONS:
        index, topics, qrels = collection(name)
        of_ten.append(inexact(index, topics, qrels, methods, ["AP"], k=10, threads=1))
        of_thousand.append(inexact(index, topics, qrels, methods, ["AP"], k=1000, threads=1))
    rows = []
    for i, method in enumerate([Exact(), *SHOWN]):
        overlap = [float(outcome.overlap[i].mean()) for outcome in of_ten]
        values = [
            f"{outcome.results.mean()[i, 0]:.3f}{'*' * bool(i and outcome.adjusted[0][i - 1] <= SIGNIFICANT)}"
            for outcome in of_thousand
        ]
        tied = [float(outcome.tied[i]) for outcome in of_thousand]
        postings = [float(outcome.shares[i]) for outcome in of_thousand]
        rows.append([f"`{method}`", ends(postings), ends(overlap), *values, f"{min(tied):.3f}–{max(tied):.3f}"])
    headings = ["method", "postings", "top 10", *(f"AP: {name}" for name in COLLECTIONS), "tied"]
    print_table(f"Holm's correction for {len(methods)} methods", headings, rows)
    place = 1 + methods.index(AtLeast(m=3))
    three = [float(outcome.overlap[place].mean()) for outcome in of_ten]
    print(f"\nAtLeast(m=3) finds {ends(three)} of the exact top 10")
    more = []
    for outcome in (*of_ten, *of_thousand):
        places = {(b1, b2): outcome.methods.index(str(ClusterPruning(b1=b1, b2=b2))) for b1 in B1 for b2 in B2}
        for of_methods in (outcome.overlap.mean(axis=1), outcome.results.mean()[:, 0]):
            more += steps({pair: float(of_methods[place]) for pair, place in places.items()})
    print(f"{int(np.sum(more))} of {len(more)} steps of ClusterPruning find at least as much, by overlap and by AP")


if __name__ == "__main__":
    main()
