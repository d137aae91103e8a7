"""Postings: for each term, the documents that it occurs in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Offsets
from tieaware.kernels import _postings

Numbers: TypeAlias = NDArray[np.int32]

# Documents and tokens have numbers of 32 bits.
LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """The documents of each term, ascending, with how often it occurs in each, and where.

    Attributes
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
        Where in its document the term occurs, from 0, ascending: for each posting so many as its frequency, one posting
        after the other. None, if the index was built without.
    """

    starts: Offsets
    documents: Numbers
    frequencies: Numbers
    lengths: Numbers
    positions: Numbers | None = None

    @property
    def n_terms(self) -> int:
        """The number of terms."""
        return len(self.starts) - 1

    @property
    def document_frequencies(self) -> Integers:
        """In how many documents each term occurs."""
        return np.diff(self.starts)

    def __len__(self) -> int:
        return len(self.documents)


def postings_of(
    tokens: Numbers, offsets: Offsets, n_terms: int, *, positions: bool, where: str = "tokens"
) -> Postings:
    """Return the postings of documents, whose tokens are numbers of terms.

    Parameters
    ----------
    tokens : int32[n_tokens]
        The numbers of the terms, document after document. Nobody else may have this array, nor the next.
    offsets : int64[n_documents + 1]
        The tokens of document ``d`` are ``offsets[d]`` to ``offsets[d + 1]``.
    n_terms : int
        The tokens are from 0 to ``n_terms - 1``; another raises InputError.
    positions : bool
        Whether to keep where each token was.
    where : str
        What an error calls the tokens.
    """
    lengths = np.diff(offsets)
    if len(lengths) > LARGEST or lengths.max(initial=0) > LARGEST:
        raise unexpected(where, f"at most {LARGEST:,} documents, and tokens of each", f"{lengths.max():,} tokens")
    built = _postings.build(tokens, offsets, n_terms, positions)
    if isinstance(built, int):
        raise unexpected(f"{where}[{built}]", f"the number of one of {n_terms} terms, from 0", str(tokens[built]))
    starts, documents, frequencies, places = built
    return Postings(starts, documents, frequencies, lengths.astype(np.int32), places)
