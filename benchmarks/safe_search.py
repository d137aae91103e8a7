"""Tables of docs/retrieval.md: what exact methods read and score, and what bands save.

Run `python -m benchmarks.safe_search --documents 20000`. With the million documents of the page, the methods that only
count, which are written in Python, take long. The test collections are looked for in ../shared/data, or where
TIEAWARE_DATA points. The generated documents are those of bench_retrieval.py.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_retrieval import Words
from tieaware import Qrels, evaluate
from tieaware.retrieval import (
    WAND,
    BandSafe,
    BlockMaxWAND,
    Exact,
    Index,
    MaxScore,
    Method,
    read_documents,
    read_judgments,
    read_topics,
)

COLLECTIONS = {
    "Cranfield": ("cranfield_raw", ("cran.all.1400", "cran.qry", "cranqrel"), "cranfield"),
    "MEDLINE": ("medline", ("MED.ALL", "MED.QRY", "MED.REL"), "smart"),
    "CACM": ("cacm", ("cacm.tar.gz", "topics.cacm.txt", "qrels.cacm.txt"), "cacm"),
    "Vaswani": ("vaswani_npl", ("doc-text.trec", "query-text.trec", "qrels"), "trec"),
}
# With the last rho, the only boundaries are those after the first rank and after rank K.
RHOS = (1, 1.1, 1.25, 1.5, 2, 3, 1_000_000)
KS = (10, 1000)
MEASURES = ("AP", "nDCG@10")


def shares_of(index: Index, queries: Mapping[Any, Any], k: int, methods: list[Method]) -> np.ndarray:
    """Return the numbers of postings read and documents scored by each method, divided by those of the first."""
    counts = [method.counted(index, queries, k)[1] for method in methods]
    totals = np.array([[each.postings.sum(), each.documents.sum()] for each in counts], np.float64)
    return totals / totals[0]


def collection(name: str) -> tuple[Index, dict[str, str], Qrels]:
    """Return the index, the topics and the judgments of a test collection."""
    folder, files, format = COLLECTIONS[name]
    data = Path(os.environ.get("TIEAWARE_DATA", Path(__file__).parents[2] / "shared" / "data"))
    paths = [data / folder / file for file in files]
    index = Index.build(read_documents(paths[0], format), positions=False)
    return index, read_topics(paths[1], format), read_judgments(paths[2], format)


def print_table(title: str, header: list[str], lines: list[list[str]]) -> None:
    """Print a table in Markdown."""
    print(f"\n{title}\n\n| {' | '.join(header)} |\n|---|{'--:|' * (len(header) - 1)}")
    for line in lines:
        print(f"| {' | '.join(line)} |")


def span(values: np.ndarray, digits: int = 2) -> str:
    """Return the least and the greatest of several shares."""
    low, high = f"{values.min():.{digits}f}", f"{values.max():.{digits}f}"
    return low if low == high else f"{low}–{high}"


def exact_methods(shares: np.ndarray, k: int) -> list[list[str]]:
    """Return the lines of the exact methods for the top k, except the first."""
    return [
        [f"`{name}`", f"{k:,}", *(span(shares[of, i, what]) for what in range(2) for of in (slice(4), 4))]
        for i, name in enumerate(("MaxScore", "WAND", "BlockMaxWAND", "BandSafe(rho=1)"), 1)
    ]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000, help="the number of generated documents")
    parser.add_argument("--weighting", default="bm25")
    options = parser.parse_args()
    own = {"weighting": options.weighting}
    exact: list[Method] = [Exact(**own), MaxScore(**own), WAND(**own), BlockMaxWAND(**own)]
    banded = [[BandSafe(rho=rho, look_up=look_up, **own) for rho in RHOS] for look_up in (True, False)]
    methods = [*exact, *banded[0], *banded[1]]
    shares: dict[int, list[np.ndarray]] = {k: [] for k in KS}
    losses = []
    for name in COLLECTIONS:
        index, topics, qrels = collection(name)
        for k in KS:
            shares[k].append(shares_of(index, topics, k, methods))
        runs = {"exact": exact[0].search(index, topics, 1000)}
        runs |= {str(method): method.search(index, topics, 1000) for method in banded[0]}
        means = evaluate(qrels, runs, MEASURES).mean()
        losses.append(means[1:] - means[0])
    words = Words(options.documents, max(500, options.documents // 5))
    index = Index.from_tokens((words.tokens, words.offsets), map(str, range(words.n_terms)), positions=False)
    for k in KS:
        shares[k].append(shares_of(index, words.queries, k, methods))
    all_shares = {k: np.array(each) for k, each in shares.items()}
    costs = (f"{what}, {where}" for what in ("postings", "documents") for where in ("4", "generated"))
    header = ["method", "top", *costs]
    print_table("Exact methods", header, [line for k in KS for line in exact_methods(all_shares[k], k)])
    places = [(k, of) for of in (slice(4), slice(4, 5)) for k in KS]
    where = [f"{place}, {k:,}" for place in ("4", "generated") for k in KS]
    bands, read_only = slice(4, 4 + len(RHOS)), slice(4 + len(RHOS), None)
    saved = {k: 100 * (1 - each[:, bands] / each[:, 4:5]) for k, each in all_shares.items()}
    lines = [
        [f"{rho:,}", *(span(saved[k][of, i, what]) for what in (0, 1) for k, of in places)]
        for i, rho in enumerate(RHOS)
    ]
    header = ["ρ", *(f"{what}: {each}" for what in ("postings", "documents") for each in where)]
    print_table("Saved, in per cent of what BandSafe(rho=1) reads and scores", header, lines)
    lines = [
        [f"{rho:,}", *(span(all_shares[k][of, read_only, 0][:, i]) for k, of in places)]
        for i, rho in enumerate(RHOS)
    ]
    print_table("Postings without look-ups, as a share of Exact", ["ρ", *where], lines)
    lines = [
        [f"{rho:,}", *(f"{losses[c][i, m]:+.4f}" for m in range(len(MEASURES)) for c in range(4))]
        for i, rho in enumerate(RHOS)
    ]
    print_table("Differences", ["ρ", *(f"{measure}, {name}" for measure in MEASURES for name in COLLECTIONS)], lines)


if __name__ == "__main__":
    main()
