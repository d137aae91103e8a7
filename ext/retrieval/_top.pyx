"""The top k of documents with scores: what is done once for each of a query's lists of documents."""
import numpy as np
from libc.math cimport INFINITY, nextafter
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption


cdef enum:
    # With room for fewer, they would be left out too often.
    LEAST_ROOM = 64
    # So few are sorted by insertion.
    FEW = 12


cdef int open_best(Best* best, int64_t k, int64_t most, bint whole_ties, bint all_in_heap) except -1:
    """Make room for the best k of at most so many documents."""
    best.k = min(k, most)
    best.all = all_in_heap
    # There is always one more than what can be offered, or as many are left out as are kept.
    best.room = most + 1 if all_in_heap else min(2 * best.k + LEAST_ROOM, most + 1)
    best.n_unbounded = best.room
    best.heap.entries = <Entry*>malloc(<size_t>best.room * sizeof(Entry))
    if whole_ties and not all_in_heap:
        best.tied = <int32_t*>malloc(<size_t>(most + 1) * sizeof(int32_t))
    if best.heap.entries == NULL or (whole_ties and not all_in_heap and best.tied == NULL):
        raise MemoryError
    return 0


cdef void close_best(Best* best) noexcept:
    free(best.heap.entries)
    free(best.tied)


cdef void bound_by(Best* best, double score) noexcept nogil:
    """Let in only what has this score, which k documents reach."""
    best.bound = max(best.bound, nextafter(score, -INFINITY))
    best.n_unbounded = 0


cdef void leave_out(Best* best) noexcept nogil:
    """Keep the first k of more entries, and raise the bound to the score of the last of them."""
    cdef Heap* heap = &best.heap
    cdef Entry worst
    cdef double score
    cdef int64_t i
    arrange(heap, 0, heap.size, best.k, False, rounds_of(heap.size))
    worst = heap.entries[best.k - 1]
    if best.tied != NULL:
        if worst.key != best.tied_key:
            best.n_tied = 0
            best.tied_key = worst.key
        for i in range(best.k, heap.size):
            if heap.entries[i].key == worst.key:
                best.tied[best.n_tied] = heap.entries[i].document
                best.n_tied += 1
    heap.size = best.k
    score = score_of(worst)
    # Of equal scores, the one that comes first in an ascending order is among the best already.
    best.bound = score if best.ascending and best.tied == NULL else nextafter(score, -INFINITY)


cdef int rounds_of(int64_t n) noexcept nogil:
    """How often some entries may be divided: twice as often as if every time in halves."""
    cdef int rounds = 2
    while n > 0:
        rounds += 2
        n >>= 1
    return rounds


cdef void arrange(Heap* heap, int64_t start, int64_t stop, int64_t k, bint sorted, int rounds) noexcept nogil:
    """Bring the first k of all to the front, the k-th to its place and, if they are to be sorted, each of them.

    Invariant: the entries before start are before those of this part, and those from stop on behind them.
    """
    cdef int64_t middle
    while stop - start > FEW and start < k:
        if rounds == 0:
            sort_by_heap(heap, start, stop)
            return
        rounds -= 1
        middle = divide(heap, start, stop)
        if k <= middle:
            stop = middle
            continue
        if sorted:
            arrange(heap, start, middle, k, sorted, rounds)
        start = middle + 1
    if start < k:
        sort_by_insertion(heap, start, stop)


cdef int64_t divide(Heap* heap, int64_t start, int64_t stop) noexcept nogil:
    """Bring those that are before a pivot, the median of three, to the front; return where the pivot is then."""
    cdef Entry* entries = heap.entries
    cdef Entry* low = entries + start
    cdef Entry* last = entries + stop - 1
    cdef Entry* middle = entries + ((start + stop) >> 1)
    cdef Entry pivot, entry
    cdef int64_t i, m = start
    swap_if(low, last, is_above(last[0], low[0], False))
    # The first of them is not the median; of the other two, the one that comes first is.
    swap_if(middle, last, is_above(middle[0], last[0], False))
    swap_if(low, last, is_above(last[0], low[0], False))
    heap.comparisons += stop - start + 2
    pivot = last[0]
    # Without a branch, half of which would be mispredicted.
    # Invariant: entries[start:m] are before the pivot, entries[m:i] are not.
    for i in range(start, stop - 1):
        entry = entries[i]
        entries[i] = entries[m]
        entries[m] = entry
        m += is_above(entry, pivot, False)
    last[0] = entries[m]
    entries[m] = pivot
    return m


cdef inline void swap_if(Entry* a, Entry* b, bint condition) noexcept nogil:
    cdef Entry entry = a[0]
    if condition:
        a[0] = b[0]
        b[0] = entry


cdef void sort_by_insertion(Heap* heap, int64_t start, int64_t stop) noexcept nogil:
    cdef Entry* entries = heap.entries
    cdef Entry entry
    cdef int64_t i, j
    for i in range(start + 1, stop):
        entry = entries[i]
        j = i
        # Invariant: entries[start:i] are sorted but for the hole at j.
        while j > start:
            heap.comparisons += 1
            if not is_above(entry, entries[j - 1], False):
                break
            entries[j] = entries[j - 1]
            j -= 1
        entries[j] = entry


cdef void sort_by_heap(Heap* heap, int64_t start, int64_t stop) noexcept nogil:
    """Draw the last one, again and again: slower, but never much slower."""
    cdef Heap part
    cdef Entry root
    part.entries, part.size, part.comparisons = heap.entries + start, stop - start, 0
    build(&part, True)
    while part.size > 0:
        root = draw(&part, True)
        part.entries[part.size] = root
    heap.comparisons += part.comparisons


cdef int64_t draw_best(Best* best, bint whole_ties) noexcept nogil:
    """Draw from a heap of all, and leave behind it what was drawn, the best last; return how many."""
    cdef Heap* heap = &best.heap
    cdef Entry root
    cdef int64_t n = 0
    cdef uint64_t last = 0
    build(heap, False)
    while heap.size > 0 and (n < best.k or whole_ties):
        if n >= best.k:
            heap.comparisons += 1
            if heap.entries[0].key != last:
                break
        root = draw(heap, False)
        heap.entries[heap.size] = root
        last = root.key
        n += 1
    return n


cdef int64_t sort_best(Best* best) noexcept nogil:
    """Leave the best in their order; return how many there are."""
    cdef Heap* heap = &best.heap
    if heap.size > best.k:
        leave_out(best)
    arrange(heap, 0, heap.size, heap.size, True, rounds_of(heap.size))
    # What came later was compared to a bound.
    heap.comparisons += max(0, best.documents - best.n_unbounded)
    return heap.size


cdef tuple found(Best* best, bint whole_ties):
    """Return the documents and scores of the best, how many were scored, and how often scores were compared."""
    cdef int64_t i, n, size
    cdef Entry* entries = best.heap.entries
    cdef Entry entry
    cdef double tied_score
    with nogil:
        n = draw_best(best, whole_ties) if best.all else sort_best(best)
        size = n + best.heap.size if best.all else n
    documents = np.empty(n + best.n_tied, np.int32)
    scores = np.empty(n + best.n_tied)
    cdef int32_t[::1] d = documents
    cdef double[::1] s = scores
    for i in range(n):
        entry = entries[size - 1 - i if best.all else i]
        d[i] = entry.document
        s[i] = score_of(entry)
    if best.n_tied:
        tied_score = s[n - 1]
        for i in range(best.n_tied):
            d[n + i] = best.tied[i]
            s[n + i] = tied_score
        documents[n:].sort()
    return documents, scores, best.documents, best.heap.comparisons


def top(const int32_t[::1] documents, const double[::1] scores, int64_t k, bint whole_ties, bint all_in_heap):
    """Find the top k of documents, each once, in any order: what `accumulate` returns, but for the postings."""
    cdef Best best
    cdef Py_ssize_t i
    cdef Interruption interruption = no_interruption()
    if scores.shape[0] != documents.shape[0] or k < 1:
        raise ValueError("there is not a score for each document, or none is wanted")
    memset(&best, 0, sizeof(best))
    try:
        open_best(&best, k, documents.shape[0], whole_ties, all_in_heap)
        best.bound = -INFINITY
        with nogil:
            for i in range(documents.shape[0]):
                best.documents += 1
                offer(&best, documents[i], scores[i])
                if (i & 0xffff) == 0 and interrupted(&interruption, 4 * 0xffff):
                    break
        check_interruption(&interruption)
        return found(&best, whole_ties)
    finally:
        close_best(&best)
