"""The top k of documents with scores: what is done once for each of a query's lists of documents."""
import numpy as np
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from tieaware._interruption cimport Interruption, check_interruption, interrupted, no_interruption


cdef int open_best(Best* best, int64_t k, int64_t most, bint whole_ties, bint all_in_heap) except -1:
    """Make room for the best k of at most so many documents."""
    best.k = min(k, most)
    best.all = all_in_heap
    best.heap.entries = <Entry*>malloc(<size_t>((most if all_in_heap else best.k) + 1) * sizeof(Entry))
    if whole_ties and not all_in_heap:
        best.tied = <int32_t*>malloc(<size_t>(most + 1) * sizeof(int32_t))
    if best.heap.entries == NULL or (whole_ties and not all_in_heap and best.tied == NULL):
        raise MemoryError
    return 0


cdef void close_best(Best* best) noexcept:
    free(best.heap.entries)
    free(best.tied)


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
    """Draw the worst of the best, one after the other, and leave them in their order; return how many there are."""
    cdef Heap* heap = &best.heap
    cdef Entry root
    cdef int64_t n = heap.size
    if n < best.k:
        build(heap, True)
    else:
        # Each but the first k was compared to the worst of the best.
        heap.comparisons += best.documents - n
    while heap.size > 0:
        root = draw(heap, True)
        heap.entries[heap.size] = root
    return n


cdef tuple found(Best* best, bint whole_ties):
    """Return the documents and scores of the best, how many were scored, and how often scores were compared."""
    cdef int64_t i, n, size = best.heap.size
    cdef Entry* entries = best.heap.entries
    cdef Entry entry
    cdef double tied_score
    with nogil:
        n = draw_best(best, whole_ties) if best.all else sort_best(best)
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
