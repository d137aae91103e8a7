"""The top k of documents with scores: a heap of all, or the best so far; comparisons are counted.

One document is before another if its score is higher or, where they tie, its number lower. In a heap entry i is above
the entries 2i + 1 and 2i + 2: the first one of all at the root, or with `down` the last one. What sinks goes to the
bottom past the upper one of each two, and then up again to its place: a comparison a level and mostly one or two more,
instead of two a level, as it has come from the bottom.
"""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy


# The key of a score: of two scores, the higher has the greater. Integers are compared without a branch.
cdef struct Entry:
    uint64_t key
    int32_t document


cdef struct Heap:
    Entry* entries
    int64_t size
    int64_t comparisons


cdef inline Entry entry_of(double score, int32_t document) noexcept nogil:
    cdef Entry entry
    cdef uint64_t bits
    # Minus zero is zero.
    score += 0.0
    memcpy(&bits, &score, sizeof(bits))
    entry.key = ~bits if bits >> 63 else bits | <uint64_t>1 << 63
    entry.document = document
    return entry


cdef inline double score_of(Entry entry) noexcept nogil:
    cdef uint64_t bits = entry.key & ~(<uint64_t>1 << 63) if entry.key >> 63 else ~entry.key
    cdef double score
    memcpy(&score, &bits, sizeof(score))
    return score


cdef inline bint is_above(Entry a, Entry b, bint down) noexcept nogil:
    """Whether a is before b; or with `down` behind it."""
    return ((a.key > b.key) | ((a.key == b.key) & (a.document < b.document))) ^ down


cdef inline void sink(Heap* heap, int64_t i, bint down) noexcept nogil:
    """Bring the entry i to its place, below which alone something may be out of order.

    Invariant: but for the hole at i, where the entry may go, all are in order.
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
    """Make a heap of the entries, from the bottom up: at most two comparisons an entry."""
    cdef int64_t i = heap.size >> 1
    while i > 0:
        i -= 1
        sink(heap, i, down)


cdef inline Entry draw(Heap* heap, bint down) noexcept nogil:
    """Take the root away: at most 2 log2(size) comparisons, and mostly about half of them."""
    cdef Entry root = heap.entries[0]
    heap.size -= 1
    if heap.size > 0:
        heap.entries[0] = heap.entries[heap.size]
        sink(heap, 0, down)
    return root


# The best so far, in no order: with `all` every document, else the first k and room for as many more, which are left
# out again when there is no room any more.
cdef struct Best:
    Heap heap
    int64_t k
    int64_t room
    bint all
    # Whether documents are offered in ascending order.
    bint ascending
    # With whole ties, those that were left out and have the score of the worst.
    int32_t* tied
    int64_t n_tied
    uint64_t tied_key
    # Only what is above it needs to be offered: from the beginning, or after how many documents.
    double bound
    int64_t n_unbounded
    # How many documents have a score.
    int64_t documents


cdef inline void offer(Best* best, int32_t document, double score) noexcept nogil:
    """Take a document among the best, if it may be one of them.

    Invariant: the first k of all that were offered are among the entries, and with whole ties the others that have the
    score of the worst of them are there or in `tied`.
    """
    if not score > best.bound:
        return
    best.heap.entries[best.heap.size] = entry_of(score, document)
    best.heap.size += 1
    if best.heap.size == best.room:
        leave_out(best)


# Make room for the best k of at most so many documents; the struct is zero before.
cdef int open_best(Best* best, int64_t k, int64_t most, bint whole_ties, bint all_in_heap) except -1

# Let in only what has this score, if it is known that k documents reach it.
cdef void bound_by(Best* best, double score) noexcept nogil

# Keep the first k of the entries.
cdef void leave_out(Best* best) noexcept nogil

cdef void close_best(Best* best) noexcept

# The documents and scores of the best, in their order; how many have a score; how often scores were compared.
cdef tuple found(Best* best, bint whole_ties)
