"""Strategies for small collections of few words, whose scores tie, and for queries; a larger index and its queries."""

import numpy as np
from hypothesis import strategies as st

from tieaware.retrieval import Index

WORDS = ("a", "b", "c", "d")

words = st.lists(st.sampled_from(WORDS), max_size=6)
documents = st.lists(words, min_size=1, max_size=12)
# Some queries contain a word that no collection has.
queries = st.lists(st.sampled_from((*WORDS, "unknown")), max_size=5)


def named(texts):
    """Return a document (id, text) for each list of words, with ids in descending order."""
    return [(f"d{len(texts) - i}", " ".join(text)) for i, text in enumerate(texts)]


def index_of_chunks(n=40_000):
    """Return an index of n documents with frequent and rare terms; 40,000 are searched in several chunks."""
    rng = np.random.default_rng(15)
    tokens = np.minimum(rng.zipf(1.3, 5 * n) - 1, 999).astype(np.int32)
    offsets = np.append(np.sort(rng.choice(5 * n, n, replace=False)), 5 * n)
    offsets[0] = 0
    return Index.from_tokens((tokens, offsets), [str(i) for i in range(1000)])


def queries_of_chunks(n=60):
    """Return n queries of 1 to 6 terms for this index; the last term is in no document."""
    rng = np.random.default_rng(16)
    return {i: [str(t) for t in np.minimum(rng.zipf(1.3, 1 + i % 6) - 1, 1000)] for i in range(n)}
