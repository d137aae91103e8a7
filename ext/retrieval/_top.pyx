"""Selection of the top k documents and of the largest values: functions that are not inlined into other kernels."""
import numpy as np
from libc.math cimport INFINITY, nextafter
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, qsort, realloc
from libc.string cimport memcpy, memset

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption


cnp.import_array()

cdef enum:
    # The smallest number of entries for which there is room beyond the best k. With less room, entries would have to be
    # dropped too often.
    LEAST_ROOM = 64
    # At most this many entries are sorted by insertion.
    FEW = 12


cdef int open_best(Best* best, int64_t k, int64_t most, bint whole_ties, bint all_in_heap) except -1 nogil:
    """Allocate memory for the best k of at most `most` documents."""
    best.k = min(k, most)
    best.all = all_in_heap
    # Either all documents fit, so that no entry is ever dropped, or each time about as many entries are dropped as are
    # kept.
    best.room = most + 1 if all_in_heap else min(2 * best.k + LEAST_ROOM, most + 1)
    best.n_unbounded = best.room
    best.heap.entries = <Entry*>malloc(<size_t>best.room * sizeof(Entry))
    if whole_ties and not all_in_heap:
        best.tied = <int32_t*>malloc(<size_t>(most + 1) * sizeof(int32_t))
    if best.heap.entries == NULL or (whole_ties and not all_in_heap and best.tied == NULL):
        with gil:
            raise MemoryError
    return 0


cdef void close_best(Best* best) noexcept nogil:
    free(best.heap.entries)
    free(best.tied)


cdef void bound_by(Best* best, double score) noexcept nogil:
    """Admit only documents with at least this score; at least k documents must be known to reach it."""
    best.bound = max(best.bound, nextafter(score, -INFINITY))
    best.n_unbounded = 0


cdef void leave_out(Best* best) noexcept nogil:
    """Drop all entries but the best k, and raise the bound to the score of the k-th."""
    cdef Heap* heap = &best.heap
    cdef Entry worst
    cdef double score
    cdef int64_t i
    arrange(heap, 0, heap.size, best.k, False, rounds_of(heap.size))
    worst = heap.entries[best.k - 1]
    if best.tied != NULL:
        if worst.score_bits != best.tied_bits:
            best.n_tied = 0
            best.tied_bits = worst.score_bits
        for i in range(best.k, heap.size):
            if heap.entries[i].score_bits == worst.score_bits:
                best.tied[best.n_tied] = heap.entries[i].document
                best.n_tied += 1
    heap.size = best.k
    score = score_of(worst)
    # If documents are offered in ascending order, further documents that tie with the k-th come after it, so they are
    # needed only with whole ties.
    best.bound = score if best.ascending and best.tied == NULL else nextafter(score, -INFINITY)


cdef int rounds_of(int64_t n) noexcept nogil:
    """Return how often `arrange` may divide n entries: twice as often as if each division were into halves."""
    cdef int rounds = 2
    while n > 0:
        rounds += 2
        n >>= 1
    return rounds


cdef void arrange(Heap* heap, int64_t start, int64_t stop, int64_t k, bint sorted, int rounds) noexcept nogil:
    """Move the first k entries to the front, and the k-th to its place; with `sorted`, sort the first k.

    Quickselect, with a limit on the number of divisions. Invariant: all entries before start come before those from
    start to stop, and all entries from stop on come after them.
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
    """Move the entries that come before a pivot, the median of three, to the front; return the index of the pivot."""
    cdef Entry* entries = heap.entries
    cdef Entry* low = entries + start
    cdef Entry* last = entries + stop - 1
    cdef Entry* middle = entries + ((start + stop) >> 1)
    cdef Entry pivot, entry
    cdef int64_t i, m = start
    swap_if(low, last, is_above(last[0], low[0], False))
    # The entry that comes last of the three is at `middle` now. The other two are put in order, so that the median is
    # at `last`.
    swap_if(middle, last, is_above(middle[0], last[0], False))
    swap_if(low, last, is_above(last[0], low[0], False))
    heap.comparisons += stop - start + 2
    pivot = last[0]
    # Do not branch on the comparison: half of the branches would be mispredicted.
    # Invariant: entries[start:m] come before the pivot, and entries[m:i] do not.
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
        # Invariant: entries[start:i] are sorted, except for the hole at j.
        while j > start:
            heap.comparisons += 1
            if not is_above(entry, entries[j - 1], False):
                break
            entries[j] = entries[j - 1]
            j -= 1
        entries[j] = entry


cdef void sort_by_heap(Heap* heap, int64_t start, int64_t stop) noexcept nogil:
    """Sort by a heap whose root is the entry that comes last. This is slower on average, but never quadratic."""
    cdef Heap rest
    cdef Entry root
    rest.entries, rest.size, rest.comparisons = heap.entries + start, stop - start, 0
    build(&rest, True)
    while rest.size > 0:
        root = draw(&rest, True)
        rest.entries[rest.size] = root
    heap.comparisons += rest.comparisons


cdef int64_t draw_best(Best* best, bint whole_ties) noexcept nogil:
    """Draw the best documents from a heap of all documents, and return how many were drawn.

    The drawn entries are stored after the heap, in reverse order.
    """
    cdef Heap* heap = &best.heap
    cdef Entry root
    cdef int64_t n = 0
    cdef uint64_t last = 0
    build(heap, False)
    while heap.size > 0 and (n < best.k or whole_ties):
        if n >= best.k:
            heap.comparisons += 1
            if heap.entries[0].score_bits != last:
                break
        root = draw(heap, False)
        heap.entries[heap.size] = root
        last = root.score_bits
        n += 1
    return n


cdef int64_t sort_best(Best* best) noexcept nogil:
    """Sort the best entries, and return how many there are."""
    cdef Heap* heap = &best.heap
    if heap.size > best.k:
        leave_out(best)
    arrange(heap, 0, heap.size, heap.size, True, rounds_of(heap.size))
    # Each document after the first n_unbounded was compared once with the bound.
    heap.comparisons += max(0, best.documents - best.n_unbounded)
    return heap.size


cdef int64_t order_best(Best* best, bint whole_ties) noexcept nogil:
    """Draw or sort the best documents, and return how many there are with all that tie with the last."""
    return (draw_best(best, whole_ties) if best.all else sort_best(best)) + best.n_tied


cdef int compare(const void* a, const void* b) noexcept nogil:
    return ((<const int32_t*>a)[0] > (<const int32_t*>b)[0]) - ((<const int32_t*>a)[0] < (<const int32_t*>b)[0])


cdef void write(Best* best, int64_t n, int32_t* documents, double* scores) noexcept nogil:
    """Write the n best documents, which `order_best` has put in order, and their scores."""
    cdef int64_t i, n_sorted = n - best.n_tied, last = n_sorted + best.heap.size - 1
    cdef Entry entry
    for i in range(n_sorted):
        entry = best.heap.entries[last - i if best.all else i]
        documents[i] = entry.document
        scores[i] = score_of(entry)
    for i in range(n_sorted, n):
        documents[i] = best.tied[i - n_sorted]
        scores[i] = scores[n_sorted - 1]
    if best.n_tied:
        qsort(documents + n_sorted, best.n_tied, sizeof(int32_t), compare)


cdef tuple found(Best* best, bint whole_ties):
    """Return the best documents in order, their scores, the number of documents scored, and that of comparisons."""
    cdef int64_t n
    with nogil:
        n = order_best(best, whole_ties)
    cdef cnp.ndarray documents = np.empty(n, np.int32)
    cdef cnp.ndarray scores = np.empty(n)
    write(best, n, <int32_t*>cnp.PyArray_DATA(documents), <double*>cnp.PyArray_DATA(scores))
    return documents, scores, best.documents, best.heap.comparisons


cdef class Results:
    """The top documents of several queries, one query after another, with the costs of each search."""

    def __cinit__(self, int64_t n_queries):
        cdef cnp.ndarray offsets = np.zeros(n_queries + 1, np.int64), costs = np.zeros((n_queries, 3), np.int64)
        self.offsets, self.costs, self.n_queries = offsets, costs, n_queries
        self.all_offsets, self.all_costs = <int64_t*>cnp.PyArray_DATA(offsets), <int64_t*>cnp.PyArray_DATA(costs)

    def __dealloc__(self):
        free(self.documents)
        free(self.scores)

    cdef int add(self, Best* best, bint whole_ties, int64_t n_postings, int64_t n_comparisons) except -1 nogil:
        """Add the best documents of the next query, in order."""
        cdef int64_t n = order_best(best, whole_ties), room
        cdef void* documents
        cdef void* scores
        cdef int64_t* costs
        if self.n_done == self.n_queries:
            with gil:
                raise ValueError("all queries have their results")
        costs = self.all_costs + 3 * self.n_done
        if self.n + n > self.room:
            room = 2 * (self.n + n) + 64
            documents = realloc(self.documents, <size_t>room * sizeof(int32_t))
            if documents != NULL:
                self.documents = <int32_t*>documents
            scores = realloc(self.scores, <size_t>room * sizeof(double))
            if scores != NULL:
                self.scores = <double*>scores
            if documents == NULL or scores == NULL:
                with gil:
                    raise MemoryError
            self.room = room
        write(best, n, self.documents + self.n, self.scores + self.n)
        # The build that checks for None cannot compile `self.n += n` without the GIL.
        self.n = self.n + n
        self.n_done = self.n_done + 1
        self.all_offsets[self.n_done] = self.n
        costs[0], costs[1], costs[2] = n_postings, best.documents, best.heap.comparisons + n_comparisons
        return 0

    cdef int skip(self, int64_t n_postings, int64_t n_documents, int64_t n_comparisons) except -1 nogil:
        """Add no documents for the next query, which was not searched to the end, and these costs."""
        cdef int64_t* costs
        if self.n_done == self.n_queries:
            with gil:
                raise ValueError("all queries have their results")
        costs = self.all_costs + 3 * self.n_done
        self.n_done = self.n_done + 1
        self.all_offsets[self.n_done] = self.n
        costs[0], costs[1], costs[2] = n_postings, n_documents, n_comparisons
        return 0

    cdef tuple arrays(self):
        """Return offsets, documents, scores and costs as arrays."""
        cdef cnp.ndarray documents = np.empty(self.n, np.int32), scores = np.empty(self.n)
        if self.n:
            memcpy(cnp.PyArray_DATA(documents), self.documents, self.n * sizeof(int32_t))
            memcpy(cnp.PyArray_DATA(scores), self.scores, self.n * sizeof(double))
        return self.offsets, documents, scores, self.costs


def top(const int32_t[::1] documents, const double[::1] scores, int64_t k, bint whole_ties):
    """Find the top k of distinct documents, given in any order; return what `found` returns."""
    cdef Best best
    cdef Py_ssize_t i
    cdef Interruption interruption = no_interruption()
    if scores.shape[0] != documents.shape[0] or k < 1:
        raise ValueError("scores must have a score for each document, and k must be at least 1")
    memset(&best, 0, sizeof(best))
    try:
        open_best(&best, k, documents.shape[0], whole_ties, False)
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


def largest(const int64_t[::1] starts, const double[::1] values, const int64_t[::1] sizes):
    """Mark the postings of each term with the largest values, such as those of a champion list.

    Parameters
    ----------
    starts : int64[n_terms + 1]
        The postings of term t are starts[t] to starts[t + 1].
    values : float64[n_postings]
        The value of each posting.
    sizes : int64[n_terms]
        The number of postings to mark for each term. If values tie for the last places, the first are marked.

    Returns
    -------
    bool[n_postings]
    """
    cdef Py_ssize_t n_terms = sizes.shape[0], t
    cdef int64_t n, a, i, longest = 0
    cdef Heap heap
    cdef Interruption interruption = no_interruption()
    if starts.shape[0] != n_terms + 1:
        raise ValueError("starts must have a start for each term")
    for t in range(n_terms):
        if not 0 <= starts[t] <= starts[t + 1] <= values.shape[0] or sizes[t] < 0:
            raise ValueError("starts: a term has postings outside the values, or a negative size")
        longest = max(longest, starts[t + 1] - starts[t])
    cdef cnp.ndarray marks = np.zeros(values.shape[0], bool)
    cdef uint8_t* marks_at = <uint8_t*>cnp.PyArray_DATA(marks)
    memset(&heap, 0, sizeof(heap))
    heap.entries = <Entry*>malloc(<size_t>(longest + 1) * sizeof(Entry))
    if heap.entries == NULL:
        raise MemoryError
    try:
        with nogil:
            for t in range(n_terms):
                # Clamp both numbers, because another thread may change the starts after they were checked.
                a = max(0, min(starts[t], values.shape[0]))
                n = max(0, min(longest, min(starts[t + 1], values.shape[0]) - a))
                for i in range(n):
                    heap.entries[i] = entry_of(values[a + i], <int32_t>i)
                if sizes[t] < n:
                    arrange(&heap, 0, n, sizes[t], False, rounds_of(n))
                for i in range(min(n, sizes[t])):
                    marks_at[a + heap.entries[i].document] = 1
                if interrupted(&interruption, 4 * n + 1):
                    break
        check_interruption(&interruption)
        return marks
    finally:
        free(heap.entries)
