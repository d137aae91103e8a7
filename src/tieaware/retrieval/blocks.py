"""Search block by block: documents are scored only in blocks whose upper bound exceeds the K-th best score so far."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arrays import Integers, Values
from tieaware.kernels import _blocks
from tieaware.kernels._term_lists import PostingLists
from tieaware.retrieval.accumulators import (
    Bitmaps,
    DenseLists,
    FoundLists,
    IdleMemory,
    TermLists,
    accumulate,
    posting_lists,
)
from tieaware.retrieval.index import Index
from tieaware.retrieval.method import WeightedQueries, bitmaps_of, dense_lists, posting_weights
from tieaware.retrieval.postings import LARGEST, LONG, DocumentWeights, Numbers, Postings
from tieaware.runtime.progress import stage

# The number of documents of a block, as in the kernel.
BLOCK = 16


class Base(NamedTuple):
    """Numbers of at least 0 that are added to the scores of documents, in descending order, such as static qualities.

    Attributes
    ----------
    values : float64[n_documents]
        The number of each document.
    parts : uint16[n_blocks]
        The largest number of each block in 65535 parts of the largest of all, rounded up.
    order : int32[n_documents]
        The number with which each document is found.
    """

    values: Values
    parts: NDArray[np.uint16]
    order: Numbers

    @classmethod
    def of(cls, values: Values, order: Numbers) -> Base:
        """Find the largest number of each block, which is that of its first document."""
        of_blocks = values[::BLOCK]
        parts = np.zeros(len(of_blocks))
        if len(values) and values[0] > 0:
            # The factor covers the error of the division.
            parts = np.minimum(np.ceil(of_blocks / values[0] * (65535 * (1 + 2.0**-40))), 65535)
        return cls(values, parts.astype(np.uint16), order)


class Blocks(NamedTuple):
    """Posting lists, with the largest weights of their terms and the largest weights in each block of 16 documents.

    A list that has a bitmap has a byte for each block; other lists are shorter than the number of blocks, and are read.
    """

    lists: PostingLists
    maxima: _blocks.Maxima
    largest: Values
    n_documents: int
    memory: IdleMemory[_blocks.Memory]

    @classmethod
    def of(cls, postings: Postings, weights: DocumentWeights, dense: DenseLists, bitmaps: Bitmaps) -> Blocks:
        """Find the largest weights, and round those of the blocks up to multiples of 1/255 of the term's largest."""
        starts, n = postings.starts, len(postings.lengths)
        df = postings.document_frequencies
        largest = np.zeros(len(df))
        if len(weights):
            largest[df > 0] = np.maximum.reduceat(weights, starts[:-1][df > 0])
        terms = np.flatnonzero(bitmaps.rows >= 0)
        rows, scales = np.zeros((len(terms), -(-n // BLOCK)), np.uint8), largest[terms] / 255
        with stage("largest weights of blocks", len(terms), shown=len(postings) > LONG) as advance:
            for row, term in enumerate(terms):
                own = slice(starts[term], starts[term + 1])
                _set_maxima(rows[row], postings.documents[own], weights[own], float(scales[row]))
                advance(1)
        lists = posting_lists(starts[:-1], starts[1:], postings.documents, weights, dense, bitmaps)
        return cls(lists, _blocks.Maxima(rows, scales), largest, n, IdleMemory(lambda: _blocks.Memory(n)))

    def search(
        self, queries: WeightedQueries, k: int, *, at_least: Integers | None = None, base: Base | None = None,
        floors: Values | None = None, until: int | None = None, whole_ties: bool = False,
    ) -> FoundLists:  # fmt: skip
        """Return the k documents with the highest scores above 0 for each query, as `accumulate` does.

        All documents are scored if too many blocks would have to be, or if a query weight is negative. Documents that
        were scored twice count twice, as do their postings. Reading the largest weights of blocks is not counted.

        Parameters
        ----------
        at_least : int64[n_queries], optional
            The smallest number of lists that a document must be in to be found; by default 1.
        base : Base, optional
            Numbers that are added to the scores. With a base, documents with a score of 0 are also found.
        floors : float64[n_queries], optional
            A score that at least k documents are known to reach. Not allowed with `base` or `at_least`.
        until : int, optional
            The number of documents to search; by default all.
        """
        n, until = len(queries.queries), self.n_documents if until is None else until
        values, parts, order = (None, None, None) if base is None else base
        largest = self.largest[queries.terms]
        lists_needed = np.ones(n, np.int64) if at_least is None else at_least
        highest = float(values[0]) if values is not None and len(values) else 0.0
        offsets, documents, scores, costs, is_complete = self.memory.lent_to(
            _blocks.search, self.lists, self.maxima, queries.terms, queries.weights, largest, queries.offsets,
            lists_needed, np.zeros(n) if floors is None else floors, self.n_documents, min(k, LARGEST), values, parts,
            order, until, whole_ties, highest,
        )  # fmt: skip
        lists = FoundLists(offsets, documents, scores, costs)
        others = np.flatnonzero(~is_complete)
        if not len(others):
            return lists
        found = []
        for i in others.tolist():
            own = slice(queries.offsets[i], queries.offsets[i + 1])
            # Bounds are added in the order of the lists, as scores are, so rounding cannot lift a score above their
            # sum.
            rest = float(np.cumsum(np.append(0.0, queries.weights[own] * largest[own]))[-1])
            found.append(accumulate(
                TermLists(self.lists, queries.terms[own], queries.weights[own]), self.n_documents, k,
                at_least=int(lists_needed[i]), base=values, floor=0.0 if floors is None else float(floors[i]),
                order=order, rest=rest, until=until, whole_ties=whole_ties,
            ))  # fmt: skip
        return lists.replaced(others, FoundLists.of(found))


def _set_maxima(row: NDArray[np.uint8], documents: Numbers, weights: DocumentWeights, scale: float) -> None:
    """Set the bytes of a list's blocks: the largest weight of each block as a multiple of the scale, rounded up.

    A block with a posting has a byte of at least 1, even if all of its weights are 0.
    """
    blocks = documents // BLOCK
    firsts = np.flatnonzero(np.diff(blocks, prepend=-1))
    largest = np.maximum.reduceat(weights, firsts).astype(np.float64)
    row[blocks[firsts]] = np.clip(np.ceil(largest / scale), 1, 255) if scale > 0 else 1


def blocks_of(index: Index, name: str) -> Blocks:
    """Return the posting lists of the index, with the largest weights of their blocks."""

    def make() -> Blocks:
        return Blocks.of(index.postings, posting_weights(index, name), dense_lists(index, name), bitmaps_of(index))

    return index.prepared(("largest weights of blocks", name), make)
