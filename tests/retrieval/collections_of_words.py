"""Hypothesis strategies for small collections of few distinct words, whose scores tie, and for queries."""

from hypothesis import strategies as st

WORDS = ("a", "b", "c", "d")

words = st.lists(st.sampled_from(WORDS), max_size=6)
documents = st.lists(words, min_size=1, max_size=12)
# Some queries contain a word that no collection has.
queries = st.lists(st.sampled_from((*WORDS, "unknown")), max_size=5)


def named(texts):
    """Return a document (id, text) for each list of words, with ids in descending order."""
    return [(f"d{len(texts) - i}", " ".join(text)) for i, text in enumerate(texts)]
