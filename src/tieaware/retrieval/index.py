"""The index: documents, terms, and the postings between them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tieaware.arrays import Values
from tieaware.checks import shown, unexpected
from tieaware.identifiers import Identifiers
from tieaware.retrieval.analysis import Analysis, Analyzer
from tieaware.retrieval.postings import Postings, postings_of

T = TypeVar("T")


class Query(NamedTuple):
    """A query's terms that the index knows, each once, ascending, and how often each occurs in it."""

    terms: NDArray[np.int64]
    frequencies: NDArray[np.int64]


class Index:
    """An inverted index in memory.

    Attributes
    ----------
    documents : Identifiers
        The documents, in the order in which they came.
    terms : list of str
        The terms, in the order in which they first came.
    postings : Postings
        Those of whole documents: of all zones, one after the other.
    zones : dict of str to Postings
        Those of each zone alone, if documents have any.
    quality : float64[n_documents] or None
        The static quality of each document, from 0 to 1.
    """

    def __init__(
        self, documents: Identifiers, terms: list[str], postings: Postings, zones: dict[str, Postings],
        quality: Values | None, analyzer: Analysis,
    ) -> None:  # fmt: skip
        self.documents, self.terms, self.postings, self.zones = documents, terms, postings, zones
        self.quality, self.analyzer = quality, analyzer
        self._numbers = {term: number for number, term in enumerate(terms)}
        self._prepared: dict[Hashable, Any] = {}

    @classmethod
    def build(
        cls, documents: Iterable[tuple[object, str | Mapping[str, str]]], *, analyzer: Analysis | None = None,
        quality: ArrayLike | None = None, positions: bool = True,
    ) -> Index:  # fmt: skip
        """Build an index of documents, which are read once."""
        analyzer = Analyzer() if analyzer is None else analyzer
        numbers: dict[str, int] = {}
        names: list[object] = []
        tokens, ends = array("i"), array("q", [0])
        for name, text in documents:
            if not isinstance(text, str):
                raise unexpected(f"documents[{len(names)}]", "text", shown(text))
            tokens.extend(numbers.setdefault(term, len(numbers)) for term in analyzer(text))
            ends.append(len(tokens))
            names.append(name)
        postings = postings_of(
            np.frombuffer(tokens, np.int32) if tokens else np.empty(0, np.int32), np.frombuffer(ends, np.int64),
            len(numbers), positions=positions,
        )  # fmt: skip
        worth = None if quality is None else np.asarray(quality, np.float64)
        return cls(Identifiers.from_sequence(names, "documents"), list(numbers), postings, {}, worth, analyzer)

    def __len__(self) -> int:
        return len(self.documents)

    def query(self, text: str | Iterable[str]) -> Query:
        """Return the terms of a query, of text that is analysed or of terms, as the index numbers them."""
        terms = self.analyzer(text) if isinstance(text, str) else text
        known = [self._numbers[term] for term in terms if term in self._numbers]
        return Query(*np.unique(np.array(known, np.int64), return_counts=True))

    def prepared(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what was made for this key before, or make it: weights, champion lists and the like."""
        if key not in self._prepared:
            self._prepared[key] = make()
        return self._prepared[key]
