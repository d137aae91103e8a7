"""A seeded collection of texts with topics and judgments, for retrieval: words from themes over a common language."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import PCG64, Generator
from numpy.typing import NDArray

from tieaware.checks.arguments import whole_number
from tieaware.checks.arrays import Integers

_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
# How many words the language has, and how many of them a theme prefers.
_N_WORDS, _N_OF_THEME = 20_000, 60
# In 256ths: how much of a document is about its theme, at least and at most; and how much of that makes it relevant.
_LEAST, _MOST, _RELEVANT, _HIGHLY = 2, 90, 45, 70


@dataclass(frozen=True)
class Texts:
    """A test collection with texts: plain dictionaries.

    Attributes
    ----------
    documents : dict of str to {"title": str, "body": str}
        Pass ``documents.items()`` to `tieaware.retrieval.Index.build`.
    topics : dict of str to str
        The query of each topic, two to five words.
    qrels : dict of str to {str: int}
        All documents on the topic's theme: 2 highly relevant, 1 relevant, 0 not.
    quality : dict of str to float
        A static quality of each document, from 0 to 1, greater for relevant ones on average.
    """

    documents: dict[str, dict[str, str]]
    topics: dict[str, str]
    qrels: dict[str, dict[str, int]]
    quality: dict[str, float]


def generate_texts(seed: int = 2008, n_documents: int = 2_000, n_topics: int = 50) -> Texts:
    """Generate a collection of texts.

    Each document has a theme, and draws a share of its words from those of the theme, the others from a language whose
    r-th word has a frequency of about 1/r. A topic asks for a theme, with a few of its words; those documents of the
    theme are relevant that have enough of it.

    Parameters
    ----------
    seed, n_documents, n_topics : int
        The same give the same texts, on every processor.

    Returns
    -------
    Texts

    Raises
    ------
    InputError
        If `seed` is negative, or another number below 1.

    Examples
    --------
    >>> collection = generate_texts(n_documents=100, n_topics=2)
    >>> collection.topics["t1"]
    'leke dudu sudi kibi sovo'
    >>> sorted(collection.qrels["t1"].values())[-3:]
    [1, 1, 1]
    """
    seed = whole_number("seed", seed, 0)
    n_documents = whole_number("n_documents", n_documents, 1, 10**7)
    n_topics = whole_number("n_topics", n_topics, 1, 10**5)
    rng = Generator(PCG64(seed))
    words, language, themes = _words(), _zipf(_N_WORDS), _themes(rng, n_topics)
    of_theme = _zipf(_N_OF_THEME)
    names = [f"T-{i + 1:06d}" for i in range(n_documents)]
    about = rng.integers(0, n_topics, n_documents)
    shares = _LEAST + rng.integers(0, _MOST - _LEAST, n_documents) * rng.integers(0, 256, n_documents) // 255
    documents, quality = {}, {}
    for name, theme, share in zip(names, about.tolist(), shares.tolist(), strict=True):
        length = int(rng.integers(30, 160))
        is_about = rng.integers(0, 256, length) < share
        chosen = np.where(is_about, themes[theme][_drawn(rng, of_theme, length)], _drawn(rng, language, length))
        text = [words[i] for i in chosen.tolist()]
        n_title = 3 + length // 40
        documents[name] = {"title": " ".join(text[:n_title]), "body": " ".join(text[n_title:])}
        quality[name] = (int(rng.integers(0, 128)) + share) / 256
    topics, qrels = {}, {}
    for theme in range(n_topics):
        n_terms = int(rng.integers(2, 6))
        topics[f"t{theme + 1}"] = " ".join(words[i] for i in rng.permutation(themes[theme][:12])[:n_terms].tolist())
        mine = np.flatnonzero(about == theme).tolist()
        qrels[f"t{theme + 1}"] = {names[i]: int(shares[i] >= _RELEVANT) + int(shares[i] >= _HIGHLY) for i in mine}
    return Texts(documents, topics, qrels, quality)


def _words() -> list[str]:
    """Return the words of the language: two or three syllables, each word once."""
    syllables = [c + v for c in _CONSONANTS for v in _VOWELS]
    n = len(syllables)
    two = [a + b for a in syllables for b in syllables]
    rest = range(_N_WORDS - len(two))
    return [*two, *(syllables[i % n] + syllables[i // n % n] + syllables[(i * 31 + i // n // n) % n] for i in rest)]


def _zipf(n: int) -> Integers:
    """Return the sums of weights of about 1/r, whole numbers."""
    return np.cumsum(2**40 // np.arange(1, n + 1))


def _drawn(rng: Generator, sums: Integers, n: int) -> NDArray[np.int64]:
    return np.searchsorted(sums, rng.integers(0, int(sums[-1]), n), side="right")


def _themes(rng: Generator, n: int) -> list[Integers]:
    """Return the words of each theme, none of the most frequent of the language."""
    return [rng.permutation(np.arange(100, 4_000))[:_N_OF_THEME] for _ in range(n)]
