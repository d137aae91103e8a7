"""Postings: for each term, the documents that contain it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Offsets
from tieaware.errors import InputError
from tieaware.kernels import _postings
from tieaware.runtime.progress import stage

Result = TypeVar("Result")
Numbers: TypeAlias = NDArray[np.int32]

# The largest number of a document, term or token: all of these numbers are stored as int32.
LARGEST = 2**31 - 1
# Preparing more postings than this can take seconds, so its progress is shown on a terminal.
LONG = 10**7
# The number of postings between two steps of that progress.
_STEP = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """The postings of all terms: for each term, the documents that contain it, with frequencies and positions.

    Attributes
    ----------
    starts : int64[n_terms + 1]
        The postings of term ``t`` are ``starts[t]`` to ``starts[t + 1]``.
    documents : int32[n_postings]
        The document of each posting, ascending within a term.
    frequencies : int32[n_postings]
        How often the term occurs in the document, at least 1.
    lengths : int32[n_documents]
        The number of tokens of each document.
    positions : int32[n_tokens] or None
        The positions of the term in the document, counted from 0, ascending. Each posting has as many positions as its
        frequency, and the positions of one posting follow those of the previous posting. None if the index was built
        without positions.
    terms : sequence of str
        The terms, for weightings that need their bytes. Empty for postings outside an index, and for those of zones.
    """

    starts: Offsets
    documents: Numbers
    frequencies: Numbers
    lengths: Numbers
    positions: Numbers | None = None
    terms: Sequence[str] = ()

    @property
    def n_terms(self) -> int:
        """The number of terms."""
        return len(self.starts) - 1

    @property
    def document_frequencies(self) -> Integers:
        """The number of documents that contain each term."""
        return np.diff(self.starts)

    def __len__(self) -> int:
        return len(self.documents)


def over_terms(title: str, starts: Offsets, work: Callable[[int, int], Result]) -> list[Result]:
    """Call ``work(first, stop)`` for consecutive ranges of terms, with progress, and return the results in order.

    A range has about as many postings as a step of the progress, and at least one term.

    Parameters
    ----------
    title : str
        The name of the stage that shows the progress.
    starts : int64[n_terms + 1]
        The first posting of each term.
    """
    n_terms = len(starts) - 1
    steps = np.searchsorted(starts, np.arange(0, starts[-1], _STEP))
    edges = np.unique(np.concatenate(([0], steps, [n_terms]))).tolist()
    results = []
    with stage(title, n_terms, unit=" terms", shown=int(starts[-1]) > LONG) as advance:
        for first, stop in pairwise(edges):
            results.append(work(first, stop))
            advance(stop - first)
    return results


def postings_of(tokens: Numbers, offsets: Offsets, n_terms: int, *, positions: bool, where: str = "tokens") -> Postings:
    """Build the postings of documents whose tokens are term numbers.

    Parameters
    ----------
    tokens : int32[n_tokens]
        The term numbers of all documents, one document after another. No other thread may change this array or the
        offsets during the call.
    offsets : int64[n_documents + 1]
        The tokens of document ``d`` are ``offsets[d]`` to ``offsets[d + 1]``.
    n_terms : int
        The number of terms. A token outside 0 to ``n_terms - 1`` raises InputError.
    positions : bool
        Whether to store the positions of the tokens.
    where : str
        The name of the tokens in an error message.
    """
    lengths = np.diff(offsets)
    if len(lengths) > LARGEST or lengths.max(initial=0) > LARGEST:
        raise InputError(where, f"there may be at most {LARGEST:,} documents, and at most as many tokens in a document")
    built = _postings.build(tokens, offsets, n_terms, positions)
    if isinstance(built, int):
        raise unexpected(f"{where}[{built}]", f"a term number from 0 to {n_terms - 1}", str(tokens[built]))
    starts, documents, frequencies, stored_positions = built
    return Postings(starts, documents, frequencies, lengths.astype(np.int32), stored_positions)
