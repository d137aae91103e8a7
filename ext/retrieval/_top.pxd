"""Selection of the top k documents, by a heap of all documents or by keeping the best so far; comparisons are counted.

A document comes before another if its score is higher or, if the scores tie, its number is lower. In a heap, entry i is
above its children, the entries 2i + 1 and 2i + 2. The root is the first of all documents or, with `down`, the last. To
sink an entry, move it down to the bottom, always past the child that belongs above the other child, and then up to its
place. This takes one comparison a level and usually one or two more, because an entry that came from the bottom belongs
near the bottom. Looking for its place on the way down would take two comparisons a level.

These are all sorts and selections of the kernels of retrieval. Each of them pays, or is asked for by a parameter:

- quickselect, which falls back to a heap (`arrange`): the top k of any search, champions;
- a heap of all documents (`build`, `draw`): Exact(heap="all"), to count the comparisons of the textbooks;
- counts of whole-numbered scores, and a radix sort by document (_impact_sums.pyx): with 1,000 documents of 8-bit
  impacts, a search by quickselect takes 2.6 to 3.8 times as long;
- a binary search for the lowest impact that is read, in all lists at a time (_prefixes.pyx), instead of a heap;
- runs of 64 documents sorted by counting, and merged (_candidates.pyx): the union of few entries; many are united in a
  bitmap, which needs no sort;
- insertion, for a few lists or leaders (_accumulators.pyx, _clusters.pyx, _entry_bounds.pyx, _prefixes.pyx).
"""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy


# A document and its score. The score is stored as an integer, score_bits, because integers can be compared without a
# branch. The order of these integers is that of the scores.
cdef struct Entry:
    uint64_t score_bits
    int32_t document


cdef struct Heap:
    Entry* entries
    int64_t size
    int64_t comparisons


cdef inline Entry entry_of(double score, int32_t document) noexcept nogil:
    cdef Entry entry
    cdef uint64_t bits
    # Convert -0.0 to 0.0, because the two must have the same bits.
    score += 0.0
    memcpy(&bits, &score, sizeof(bits))
    entry.score_bits = ~bits if bits >> 63 else bits | <uint64_t>1 << 63
    entry.document = document
    return entry


cdef inline double score_of(Entry entry) noexcept nogil:
    cdef uint64_t bits = entry.score_bits & ~(<uint64_t>1 << 63) if entry.score_bits >> 63 else ~entry.score_bits
    cdef double score
    memcpy(&score, &bits, sizeof(score))
    return score


cdef inline bint is_above(Entry a, Entry b, bint down) noexcept nogil:
    """Return whether a comes before b, or, with `down`, after it: in the order by score and then by document."""
    return ((a.score_bits > b.score_bits) | ((a.score_bits == b.score_bits) & (a.document < b.document))) ^ down


cdef inline void sink(Heap* heap, int64_t i, bint down) noexcept nogil:
    """Move entry i down to its place in a heap that is in order except for this entry.

    Invariant: except for the hole at i, where the entry may be placed, the heap is in order.
    """
    cdef Entry* entries = heap.entries
    cdef Entry entry = entries[i]
    cdef int64_t top = i, child = 2 * i + 1, parent
    while child + 1 < heap.size:
        heap.comparisons += 1
        child += is_above(entries[child + 1], entries[child], down)
        entries[i] = entries[child]
        i = child
        child = 2 * i + 1
    if child < heap.size:
        entries[i] = entries[child]
        i = child
    while i > top:
        parent = (i - 1) >> 1
        heap.comparisons += 1
        if not is_above(entry, entries[parent], down):
            break
        entries[i] = entries[parent]
        i = parent
    entries[i] = entry


cdef inline void build(Heap* heap, bint down) noexcept nogil:
    """Turn the entries into a heap, from the bottom up, with at most two comparisons an entry."""
    cdef int64_t i = heap.size >> 1
    while i > 0:
        i -= 1
        sink(heap, i, down)


cdef inline Entry draw(Heap* heap, bint down) noexcept nogil:
    """Remove the root and return it, with at most 2 log2(size) comparisons, and mostly about half as many."""
    cdef Entry root = heap.entries[0]
    heap.size -= 1
    if heap.size > 0:
        heap.entries[0] = heap.entries[heap.size]
        sink(heap, 0, down)
    return root


# The best documents so far, in no particular order. With `all`, the entries are all documents offered. Otherwise they
# are the best k documents and about k others at most: when the array of `room` entries is full, all but the best k are
# dropped.
cdef struct Best:
    Heap heap
    int64_t k
    int64_t room
    bint all
    # True if documents are offered in ascending order of number.
    bint ascending
    # With whole ties: the dropped documents that tie with the k-th, their number, and their score as bits.
    int32_t* tied
    int64_t n_tied
    uint64_t tied_bits
    # Only documents with a score above the bound are kept. The first n_unbounded documents count as not compared with
    # the bound, because nothing can be dropped before the array is full.
    double bound
    int64_t n_unbounded
    # The number of documents that have a score.
    int64_t documents


cdef inline void offer(Best* best, int32_t document, double score) noexcept nogil:
    """Add a document to the best if its score is above the bound.

    Invariant: the entries contain the best k of all documents offered. With whole ties, all other documents that tie
    with the k-th are in the entries or in `tied`.
    """
    if not score > best.bound:
        return
    best.heap.entries[best.heap.size] = entry_of(score, document)
    best.heap.size += 1
    if best.heap.size == best.room:
        leave_out(best)


# Allocate memory for the best k of at most `most` documents; the struct must be zeroed before.
cdef int open_best(Best* best, int64_t k, int64_t most, bint whole_ties, bint all_in_heap) except -1 nogil

# Admit only documents with at least this score; at least k documents must be known to reach it.
cdef void bound_by(Best* best, double score) noexcept nogil

# Drop all entries but the best k.
cdef void leave_out(Best* best) noexcept nogil

cdef void close_best(Best* best) noexcept nogil

# Return the best documents in order, their scores, the number of documents scored, and the number of comparisons.
cdef tuple found(Best* best, bint whole_ties)


# The top documents of several queries, one query after another, with the costs of each search. The documents of query i
# are those from offsets[i] to offsets[i + 1]. The costs are the number of postings read, of documents scored and of
# comparisons.
cdef class Results:
    cdef readonly object offsets
    cdef readonly object costs
    cdef int64_t* all_offsets
    cdef int64_t* all_costs
    cdef int32_t* documents
    cdef double* scores
    cdef int64_t n_queries
    cdef int64_t n_done
    cdef int64_t n
    cdef int64_t room

    # Add the best documents of the next query, in order.
    cdef int add(self, Best* best, bint whole_ties, int64_t n_postings, int64_t n_comparisons) except -1 nogil

    # Add no documents for the next query, which was not searched to the end, and these costs.
    cdef int skip(self, int64_t n_postings, int64_t n_documents, int64_t n_comparisons) except -1 nogil

    # Return offsets, documents, scores and costs as arrays.
    cdef tuple arrays(self)
