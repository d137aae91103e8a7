"""Postings: for each term, the documents that contain it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Offsets
from tieaware.errors import InputError
from tieaware.kernels import _postings
from tieaware.runtime.progress import stage

Result = TypeVar("Result")
Numbers: TypeAlias = NDArray[np.int32]
DocumentWeights: TypeAlias = NDArray[np.float32 | np.uint8 | np.uint16]

# The largest number of a document, term or token: all of these numbers are stored as int32.
LARGEST = 2**31 - 1
# Preparing more postings than this can take seconds, so its progress is shown on a terminal.
LONG = 10**7
# The number of postings between two steps of that progress.
_STEP = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """The postings of all terms: for each term, the documents that contain it, with frequencies and positions.

    Those of term ``t`` are ``starts[t]`` to ``starts[t + 1]``: documents in ascending order, and how often the term
    occurs in each of them, at least once. `lengths` has the number of tokens of each document.

    If the index was built with positions, each posting has as many of them as its frequency: the positions of the term
    in the document, ascending from 0, after those of the previous posting. The terms are for weightings that need their
    bytes; they are empty for postings outside an index, and for those of zones.
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


class Vectors(NamedTuple):
    """The term vectors of documents: document ``d`` has the terms ``terms[starts[d]:starts[d + 1]]``, ascending."""

    starts: Offsets
    terms: Numbers
    weights: DocumentWeights

    @classmethod
    def of(cls, postings: Postings, weights: DocumentWeights) -> Vectors:
        """Transpose the postings with their weights."""
        return cls(*_transposed(postings.starts, postings.documents, weights, len(postings.lengths)))

    def sizes(self, documents: Integers | Numbers) -> Integers:
        """Return the number of distinct terms of each of some documents."""
        return self.starts[documents + 1] - self.starts[documents]

    def rows(self, documents: Integers | Numbers) -> Integers:
        """Return the indices of the entries of some documents, one document after another."""
        return ranges(self.starts[documents], self.sizes(documents))

    def by_term(self, documents: Integers | Numbers, n_terms: int) -> tuple[Offsets, Numbers, DocumentWeights]:
        """Return starts, documents and weights of the postings of some documents, which are numbered from 0."""
        rows, offsets = self.rows(documents), np.append(0, np.cumsum(self.sizes(documents)))
        return _transposed(offsets, self.terms[rows], self.weights[rows], n_terms)


def _transposed(
    offsets: Offsets, columns: Numbers, weights: DocumentWeights, n: int
) -> tuple[Offsets, Numbers, DocumentWeights]:
    """Transpose a sparse matrix of n columns; the kernel moves its weights as integers of 32 bits."""
    is_float = weights.dtype == np.float32
    starts, rows, moved = _postings.transposed(
        offsets, columns, weights.view(np.int32) if is_float else weights.astype(np.int32), n
    )
    return starts, rows, moved.view(np.float32) if is_float else moved.astype(weights.dtype)


def ranges(starts: Integers, sizes: Integers) -> Integers:
    """Return the numbers of several ranges, one after the other, given their first numbers and sizes."""
    ends = np.cumsum(sizes)
    n = int(ends[-1]) if len(ends) else 0
    return np.arange(n) + np.repeat(starts - ends + sizes, sizes)


def over_terms(title: str, starts: Offsets, work: Callable[[int, int], Result]) -> list[Result]:
    """Call ``work(first, stop)`` for consecutive ranges of terms, with progress, and return the results in order.

    A range has about as many postings as a step of the progress, and at least one term. The title names the progress.
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


def postings_of(tokens: Numbers, offsets: Offsets, n_terms: int, *, positions: bool) -> Postings:
    """Build the postings of documents whose tokens are term numbers.

    The tokens of document ``d`` are ``offsets[d]`` to ``offsets[d + 1]``; no other thread may change the arrays during
    the call. A token outside 0 to ``n_terms - 1`` raises InputError.
    """
    lengths = np.diff(offsets)
    if len(lengths) > LARGEST or lengths.max(initial=0) > LARGEST:
        problem = f"there may be at most {LARGEST:,} documents, and at most as many tokens in a document"
        raise InputError("tokens", problem)
    built = _postings.build(tokens, offsets, n_terms, positions)
    if isinstance(built, int):
        raise unexpected(f"tokens[{built}]", f"a term number from 0 to {n_terms - 1}", str(tokens[built]))
    starts, documents, frequencies, stored_positions = built
    return Postings(starts, documents, frequencies, lengths.astype(np.int32), stored_positions)
