"""A table of docs/retrieval.md: the AP of weightings and of feedback on four test collections.

Run `python -m benchmarks.quality_of_weightings`; it takes less than a minute. The collections are those of
safe_search.py.
"""

from __future__ import annotations

from benchmarks.safe_search import COLLECTIONS, collection, print_table
from tieaware import evaluate
from tieaware.retrieval import RM3, BlindFeedback, Exact, Method

WEIGHTINGS = (
    "lnc.ltc", "Lnu.ltu", "bm25", "inl2", "lm-jm:0.1", "lm-jm:0.7", "lm-dirichlet:100", "lm-dirichlet:2000",
)  # fmt: skip
FEEDBACK = (
    BlindFeedback(weighting="bm25"),
    RM3(weighting="bm25"),
    RM3(weighting="lm-jm:0.7"),
    RM3(weighting="lm-dirichlet:100"),
)


def main() -> None:
    """Evaluate all methods on all collections, and print the table."""
    methods: list[Method] = [*(Exact(weighting=weighting) for weighting in WEIGHTINGS), *FEEDBACK]
    columns = []
    for name in COLLECTIONS:
        index, topics, qrels = collection(name)
        runs = [method.search(index, topics, 1000, whole_ties=True) for method in methods]
        columns.append(evaluate(qrels, runs, ["AP@1000"]).mean().ravel())
    rows = [[f"`{method}`", *(f"{column[i]:.3f}" for column in columns)] for i, method in enumerate(methods)]
    print_table("AP", ["method", *COLLECTIONS], rows)


if __name__ == "__main__":
    main()
