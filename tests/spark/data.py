"""Judgments and runs with ties, unjudged documents, unjudged queries and unanswered queries."""

import numpy as np
import pandas as pd

# The second name has characters that SQL, CSV and Python treat specially.
RUNS = ("bm25", "dense, 2`'\"")


def judgments(n_queries=12, seed=1):
    rng = np.random.default_rng(seed)
    rows = [
        (f"q{q}", f"d{d}", int(rng.integers(-1, 4)))
        for q in range(n_queries)
        for d in rng.choice(60, 1 + q % 9, replace=False)
    ]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])


def rankings(n_queries=14, seed=2):
    """Return the rows of the runs in random order. The runs answer more queries than are judged."""
    rng = np.random.default_rng(seed)
    rows = [
        (run, f"q{q}", f"d{d}", float(rng.integers(0, 6)))
        for i, run in enumerate(RUNS)
        for q in range(i, n_queries, i + 1)
        for d in rng.choice(60, 1 + 3 * q, replace=False)
    ]
    frame = pd.DataFrame(rows, columns=["system", "query_id", "doc_id", "score"])
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)
