"""Small collections of few words, so that scores tie, and queries for them."""

from hypothesis import strategies as st

WORDS = ("a", "b", "c", "d")

words = st.lists(st.sampled_from(WORDS), max_size=6)
documents = st.lists(words, min_size=1, max_size=12)
# With a word that no collection has.
queries = st.lists(st.sampled_from((*WORDS, "unknown")), max_size=5)


def named(texts):
    """Documents of lists of words, with ids that are not in their order."""
    return [(f"d{len(texts) - i}", " ".join(text)) for i, text in enumerate(texts)]
