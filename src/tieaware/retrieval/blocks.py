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
from tieaware.runtime.progress import progress

# The number of documents of a block, as in the kernel.
BLOCK = 16


class Base(NamedTuple):
    """Numbers of at least 0 that are added to the scores of documents, in descending order, such as static qualities.

    Document ``d`` has the number ``values[d]``, and is found with the number ``order[d]``.
    """

    values: Values
    order: Numbers
    of_blocks: _blocks.Base

    @classmethod
    def of(cls, values: Values, order: Numbers) -> Base:
        """Find the largest number of each block, which is that of its first document."""
        largest = values[::BLOCK]
        parts = np.zeros(len(largest))
        if len(values) and values[0] > 0:
            # The factor covers the error of the division.
            parts = np.minimum(np.ceil(largest / values[0] * (65535 * (1 + 2.0**-40))), 65535)
        return cls(values, order, _blocks.Base(values, parts.astype(np.uint16), order))


class Blocks(NamedTuple):
    """Posting lists, with the largest weights of their terms and the largest weights in each block of 16 documents.

    A list that has a bitmap has a byte for each block; other lists are shorter than the number of blocks, and are read.
    """

    lists: PostingLists
    largest: Values
    n_documents: int
    blocks: _blocks.Blocks
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
        for row, term in enumerate(progress(terms, "largest weights of blocks", shown=len(postings) > LONG)):
            own = slice(starts[term], starts[term + 1])
            _set_maxima(rows[row], postings.documents[own], weights[own], float(scales[row]))
        lists = posting_lists(starts[:-1], starts[1:], postings.documents, weights, dense, bitmaps)
        blocks = _blocks.Blocks(lists, rows, scales, largest, n)
        return cls(lists, largest, n, blocks, IdleMemory(lambda: _blocks.Memory(n)))

    def search(
        self, queries: WeightedQueries, k: int, *, at_least: Integers | None = None, base: Base | None = None,
        floors: Values | None = None, until: int | None = None, whole_ties: bool = False,
    ) -> FoundLists:  # fmt: skip
        """Return the k documents with the highest scores above 0 for each query. Parameters as for `accumulate`.

        There is a number `at_least` and a floor for each query. All documents are scored if too many blocks would have
        to be, or if a query weight is negative. Documents that were scored twice count twice, as do their postings.
        Reading the largest weights of blocks is not counted.
        """
        n, until = len(queries.queries), self.n_documents if until is None else until
        lists_needed = np.ones(n, np.int64) if at_least is None else at_least
        known = np.zeros(n) if floors is None else floors
        *found, is_complete = self.memory.lent_to(
            _blocks.search, self.blocks, None if base is None else base.of_blocks,
            _blocks.Queries(queries.terms, queries.weights, queries.offsets, lists_needed, known), min(k, LARGEST),
            until, whole_ties,
        )  # fmt: skip
        lists = FoundLists(*found)
        others = np.flatnonzero(~is_complete)
        if not len(others):
            return lists
        complete, (values, order, _) = [], (None, None, None) if base is None else base
        for i in others.tolist():
            own = slice(queries.offsets[i], queries.offsets[i + 1])
            terms, weights = queries.terms[own], queries.weights[own]
            # Bounds are added in the order of the lists, as scores are, so rounding cannot lift a score above their
            # sum.
            rest = float(np.cumsum(np.append(0.0, weights * self.largest[terms]))[-1])
            complete.append(accumulate(
                TermLists(self.lists, terms, weights), self.n_documents, k, at_least=int(lists_needed[i]), base=values,
                floor=float(known[i]), order=order, rest=rest, until=until, whole_ties=whole_ties,
            ))  # fmt: skip
        return lists.replaced(others, FoundLists.of(complete))


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
