"""Postings: for each term, the documents that it occurs in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tieaware.arrays import Offsets

Numbers: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """The documents of each term, ascending, with how often it occurs in each and where.

    Parameters
    ----------
    starts : int64[n_terms + 1]
        The postings of term ``t`` are ``starts[t]`` to ``starts[t + 1]``.
    documents : int32[n_postings]
        The number of the document, ascending within a term.
    frequencies : int32[n_postings]
        How often the term occurs in it, at least 1.
    lengths : int32[n_documents]
        How many tokens each document has.
    positions : int32[n_tokens] or None
        Where in its document the term occurs, ascending: for each posting so many as its frequency, one posting after
        the other. None, if the index was built without.
    """

    starts: Offsets
    documents: Numbers
    frequencies: Numbers
    lengths: Numbers
    positions: Numbers | None = None

    @property
    def document_frequencies(self) -> NDArray[np.int64]:
        """In how many documents each term occurs."""
        return np.diff(self.starts)


def postings_of(tokens: Numbers, offsets: Offsets, n_terms: int, *, positions: bool) -> Postings:
    """Return the postings of documents, whose tokens are numbers of terms.

    Parameters
    ----------
    tokens : int32[n_tokens]
        The numbers of the terms, document after document, all from 0 to ``n_terms - 1``.
    offsets : int64[n_documents + 1]
        The tokens of document ``d`` are ``offsets[d]`` to ``offsets[d + 1]``.
    """
    lengths = np.diff(offsets)
    owners = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    places = (np.arange(len(tokens)) - np.repeat(offsets[:-1], lengths)).astype(np.int32)
    order = np.lexsort((places, owners, tokens))
    terms, owners, places = tokens[order], owners[order], places[order]
    is_first = np.ones(len(terms), bool)
    is_first[1:] = (terms[1:] != terms[:-1]) | (owners[1:] != owners[:-1])
    first = np.flatnonzero(is_first)
    frequencies = np.diff(np.append(first, len(terms))).astype(np.int32)
    starts = np.searchsorted(terms[first], np.arange(n_terms + 1)).astype(np.int64)
    return Postings(starts, owners[first], frequencies, lengths.astype(np.int32), places if positions else None)
