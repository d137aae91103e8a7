"""Generated texts with topics and judgments, for retrieval: each text mixes a theme's words with common words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import PCG64, Generator
from numpy.typing import NDArray

from tieaware.checks.arguments import checked_seed, whole_number
from tieaware.checks.arrays import Integers
from tieaware.output.tables import counted

_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
# The number of words of the language, and the number of words that belong to each theme.
_N_WORDS, _N_THEME_WORDS = 20_000, 60
# Shares of a document's words that are drawn from its theme, in 256ths: the least and the greatest share, and the
# shares from which on a document is relevant and highly relevant.
_LEAST, _MOST, _RELEVANT, _HIGHLY = 2, 90, 45, 70


@dataclass(frozen=True)
class Texts:
    """A test collection with texts, as plain dictionaries.

    Attributes
    ----------
    documents : dict of str to {"title": str, "body": str}
        Pass ``documents.items()`` to `tieaware.retrieval.Index.build`.
    topics : dict of str to str
        The query of each topic, two to five words.
    qrels : dict of str to {str: int}
        The labels of all documents on the topic's theme: 2 highly relevant, 1 relevant, 0 not relevant.
    quality : dict of str to float
        A static quality of each document, from 0 to 1; on average it is greater for relevant documents.
    """

    documents: dict[str, dict[str, str]]
    topics: dict[str, str]
    qrels: dict[str, dict[str, int]]
    quality: dict[str, float]

    def __repr__(self) -> str:
        return f"Texts({counted(len(self.documents), 'document')}, {counted(len(self.topics), 'topic')})"


def generate_texts(seed: int = 2008, n_documents: int = 2_000, n_topics: int = 50) -> Texts:
    """Generate a collection of texts.

    Each document has a theme. A share of its words is drawn from the words of the theme, and the others from a language
    whose r-th word has a frequency of about 1/r. A topic consists of a few words of a theme. A document of this theme
    is relevant if its share of the theme's words is large enough.

    Parameters
    ----------
    seed, n_documents, n_topics : int
        The seed, and the numbers of documents and topics. The same numbers give the same texts on every processor.

    Returns
    -------
    Texts

    Raises
    ------
    InputError
        If `seed` is negative, or another argument is below 1.

    Examples
    --------
    >>> collection = generate_texts(n_documents=100, n_topics=2)
    >>> collection.topics["t1"]
    'leke dudu sudi kibi sovo'
    >>> sorted(collection.qrels["t1"].values())[-3:]
    [1, 1, 1]
    """
    seed = checked_seed(seed)
    n_documents = whole_number("n_documents", n_documents, 1, 10**7)
    n_topics = whole_number("n_topics", n_topics, 1, 10**5)
    rng = Generator(PCG64(seed))
    words, frequencies, themes = _words(), _zipf(_N_WORDS), _themes(rng, n_topics)
    theme_frequencies = _zipf(_N_THEME_WORDS)
    names = [f"T-{i + 1:06d}" for i in range(n_documents)]
    theme_of = rng.integers(0, n_topics, n_documents)
    shares = _LEAST + rng.integers(0, _MOST - _LEAST, n_documents) * rng.integers(0, 256, n_documents) // 255
    documents, quality = {}, {}
    for name, theme, share in zip(names, theme_of.tolist(), shares.tolist(), strict=True):
        length = int(rng.integers(30, 160))
        is_theme_word = rng.integers(0, 256, length) < share
        theme_words = themes[theme][_draw(rng, theme_frequencies, length)]
        chosen = np.where(is_theme_word, theme_words, _draw(rng, frequencies, length))
        text = [words[i] for i in chosen.tolist()]
        n_title = 3 + length // 40
        documents[name] = {"title": " ".join(text[:n_title]), "body": " ".join(text[n_title:])}
        quality[name] = (int(rng.integers(0, 128)) + share) / 256
    topics, qrels = {}, {}
    for theme in range(n_topics):
        n_terms = int(rng.integers(2, 6))
        topics[f"t{theme + 1}"] = " ".join(words[i] for i in rng.permutation(themes[theme][:12])[:n_terms].tolist())
        on_theme = np.flatnonzero(theme_of == theme).tolist()
        qrels[f"t{theme + 1}"] = {names[i]: int(shares[i] >= _RELEVANT) + int(shares[i] >= _HIGHLY) for i in on_theme}
    return Texts(documents, topics, qrels, quality)


def _words() -> list[str]:
    """Return the words of the language: distinct words of two or three syllables."""
    syllables = [c + v for c in _CONSONANTS for v in _VOWELS]
    n = len(syllables)
    two = [a + b for a in syllables for b in syllables]
    rest = range(_N_WORDS - len(two))
    return [*two, *(syllables[i % n] + syllables[i // n % n] + syllables[(i * 31 + i // n // n) % n] for i in rest)]


def _zipf(n: int) -> Integers:
    """Return the cumulative sums of `n` integer weights; weight r is proportional to about 1/r."""
    return np.cumsum(2**40 // np.arange(1, n + 1))


def _draw(rng: Generator, sums: Integers, n: int) -> NDArray[np.int64]:
    """Draw `n` words with the probabilities given by the cumulative sums of their weights."""
    return np.searchsorted(sums, rng.integers(0, int(sums[-1]), n), side="right")


def _themes(rng: Generator, n: int) -> list[Integers]:
    """Draw the words of each theme, without the 100 most frequent words of the language."""
    return [rng.permutation(np.arange(100, 4_000))[:_N_THEME_WORDS] for _ in range(n)]
