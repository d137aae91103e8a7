"""Text into terms: words in lower case, without stop words, stemmed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

from tieaware.checks import one_of
from tieaware.extras import load

_WORD = re.compile(r"\w+")

# Those that Lucene's EnglishAnalyzer leaves out.
_STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with".split()
)


class Analyzer:
    """Words in lower case, without stop words, stemmed by PyStemmer (`tieaware[retrieval]`)."""

    def __init__(self, *, stemmer: str | None = "english", stop_words: str | Collection[str] | None = "lucene") -> None:
        self.stemmer, self.stop_words = stemmer, stop_words
        if isinstance(stop_words, str):
            one_of("stop_words", stop_words, ("lucene",))
            self._left_out: frozenset[str] = _STOP_WORDS
        else:
            self._left_out = frozenset(stop_words or ())
        self._stemmed: Callable[[list[str]], list[str]] | None = None
        if stemmer is not None:
            self._stemmed = load("Stemmer", "retrieval").Stemmer(stemmer).stemWords

    def __call__(self, text: str) -> list[str]:
        """Return the terms of a text, in its order."""
        words = [word for word in _WORD.findall(text.lower()) if word not in self._left_out]
        return words if self._stemmed is None else self._stemmed(words)


Analysis = Callable[[str], Iterable[Any]]
