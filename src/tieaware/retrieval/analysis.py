"""Text analysis: splitting a text into lower-case words, removing stop words, and stemming the other words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeAlias

from tieaware.checks.arguments import one_of, sequence, shown, unexpected
from tieaware.runtime.extras import load

#: A callable that takes a text and returns its terms in the order of the text.
Analysis: TypeAlias = Callable[[str], Iterable[str]]

_WORD = re.compile(r"\w+")

# The stop words of Lucene's English analyzer.
_LUCENE = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not",
    "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will",
    "with",
))  # fmt: skip


class Analyzer:
    """An analyzer that splits text into lower-case words, removes stop words, and stems the words that remain.

    A word is a sequence of letters, digits and underscores.

    Parameters
    ----------
    stemmer : str or None
        The name of a stemmer of PyStemmer (``pip install 'tieaware[retrieval]'``), such as "english" or "porter"; None
        for no stemming.
    stop_words : "lucene", "scikit-learn", sequence of str or None
        The words to remove before stemming: Lucene's 33 English stop words, the 318 stop words of scikit-learn (which
        must be installed), the words of the sequence, or, for None, no words.

    Raises
    ------
    InputError
        The stemmer or the list of stop words is unknown, or a stop word is no string.
    ImportError
        PyStemmer or scikit-learn is not installed; the message says how to install it.

    Examples
    --------
    >>> Analyzer(stemmer="english")("The flows of a boundary layer; and of layers.")
    ['flow', 'boundari', 'layer', 'layer']
    >>> Analyzer(stemmer=None, stop_words=["and"])("Boundaries and layers")
    ['boundaries', 'layers']
    """

    def __init__(self, *, stemmer: str | None = "english", stop_words: str | Iterable[str] | None = "lucene") -> None:
        self.stemmer = stemmer
        is_named = isinstance(stop_words, str | None)
        self.stop_words: Any = stop_words if is_named else sequence("stop_words", stop_words, "str")
        self._left_out = _left_out(self.stop_words)
        self._stemmed = _stemming(stemmer)

    def __call__(self, text: str) -> list[str]:
        """Return the terms of a text, in the order of the text.

        Parameters
        ----------
        text : str

        Returns
        -------
        list of str
        """
        left_out = self._left_out
        words = [word for word in _WORD.findall(text.lower()) if word not in left_out]
        return words if self._stemmed is None else self._stemmed(words)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Analyzer, stemmer=self.stemmer, stop_words=self.stop_words), ()

    def __repr__(self) -> str:
        return f"Analyzer(stemmer={self.stemmer!r}, stop_words={shown(self.stop_words)})"


def _left_out(stop_words: Any) -> frozenset[str]:
    if isinstance(stop_words, str):
        one_of("stop_words", stop_words, ("lucene", "scikit-learn"))
        if stop_words == "lucene":
            return _LUCENE
        return frozenset(load("sklearn.feature_extraction.text", "scikit-learn").ENGLISH_STOP_WORDS)
    for i, word in enumerate(stop_words or ()):
        if not isinstance(word, str):
            raise unexpected(f"stop_words[{i}]", "a string", shown(word))
    return frozenset(stop_words or ())


def _stemming(stemmer: str | None) -> Callable[[list[str]], list[str]] | None:
    if stemmer is None:
        return None
    package = load("Stemmer", "retrieval")
    one_of("stemmer", stemmer, package.algorithms())
    stemmed: Callable[[list[str]], list[str]] = package.Stemmer(stemmer).stemWords
    return stemmed
