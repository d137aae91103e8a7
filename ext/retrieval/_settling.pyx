"""Band-safe search: find the documents of each band of ranks, and stop as soon as no document can change its band.

The postings of each list exist twice: in descending order of weight, and in ascending order of document. The search
reads them by descending impact, until no document without a posting read can be among the top k. Each document then has
a least and a greatest possible score: the sum of the impacts read, and this sum plus the next impact of each list in
which the document was not seen. Documents whose bounds reach over a boundary between two bands are looked up in further
lists, and the others are left as they are.

A key is a score and a document, compared first by score, then by document: the lower number comes first.
"""
import numpy as np
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._gallop cimport gallop
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware.kernels._posting_impacts cimport impact, rounding_factor
from tieaware.kernels._top cimport Entry, Heap, arrange, entry_of, rounds_of, score_of

cdef extern from "engine/portable.h":
    void tieaware_prefetch(const void* address) nogil

cnp.import_array()

cdef enum:
    # A document has a bit for each list in which it was seen, and one more that says whether it is in the pool.
    MOST_LISTS = 63
    # Postings are read in blocks of this share of all postings (1 / 256), within these limits.
    SHARE = 256
    SMALLEST_BLOCK = 8
    LARGEST_BLOCK = 1024
    SPARE_ROOM = 64
    # Slots are fetched into the cache this many documents ahead, because they are read in random order.
    AHEAD = 16

cdef uint64_t IN_POOL = <uint64_t>1 << 63


# The accumulator of a document: the sum of the impacts read, and the lists in which the document was seen.
cdef struct Slot:
    double sum
    uint64_t seen


# A document that may be among the top k, with its least and its greatest possible score. `exact` means that they are
# both the score, summed in the order of the lists.
cdef struct Candidate:
    int32_t document
    bint exact
    bint is_open
    uint64_t seen
    double sum
    double least
    double most


cdef struct BandSearch:
    Py_ssize_t n
    const int64_t* starts
    const int64_t* stops
    const double* query_weights
    const int32_t* sorted_documents
    const void* sorted_weights
    const int32_t* documents
    const void* weights
    int kind
    # A factor by which a sum may differ from the score, because of rounding.
    double rounding
    # The first unread posting of each list by descending weight, and its impact: 0 if there is none.
    int64_t* at
    double* following
    # For looking up documents in ascending order: the place in each list by document.
    int64_t* fingers
    Slot* slots
    int32_t* touched
    int64_t n_touched
    # Documents that had a sum above `bound`, which k documents are known to reach.
    int32_t* pool
    int64_t pool_size
    int64_t pool_room
    Heap heap
    int64_t k
    double bound
    int64_t n_read
    # The number of postings not read by descending impact.
    int64_t n_unread
    # How often a finger moved to a posting.
    int64_t n_stops
    Candidate* candidates
    int64_t m
    double kth_least
    # For each of the first k ranks, counted from 0, how many ranks come before the next boundary.
    const int64_t* boundaries
    # The number of postings that are read at a time from a list.
    int64_t block
    # Whether candidates are looked up in the lists by document.
    bint by_look_up
    # Whether to complete the scores of all documents that may be among the top k, or tie with the k-th.
    bint complete
    # greatest[i] is the candidate with the greatest key of all those at place i or later, by the greatest score.
    int64_t* greatest


cdef class Accumulators:
    """The memory of a search, which is kept from search to search, because allocating it would take longer.

    There is a slot for each document of the collection. All slots are empty between searches.
    """

    cdef Slot* slots
    cdef int32_t* touched
    cdef Py_ssize_t size
    cdef int32_t* pool
    cdef int64_t pool_room
    cdef Candidate* candidates
    cdef Entry* entries
    cdef int64_t* greatest
    cdef int64_t room

    def __cinit__(self, Py_ssize_t n_documents):
        self.size = max(n_documents, 1)
        self.slots = <Slot*>calloc(self.size, sizeof(Slot))
        self.touched = <int32_t*>malloc(<size_t>self.size * sizeof(int32_t))
        if self.slots == NULL or self.touched == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.slots)
        free(self.touched)
        free(self.pool)
        free(self.candidates)
        free(self.entries)
        free(self.greatest)

    cdef int make_room(self, int64_t pool_room, int64_t m) except -1:
        """Allocate memory for the pool, and for m candidates; the candidates before this are lost."""
        if pool_room > self.pool_room:
            free(self.pool)
            self.pool_room = 0
            self.pool = <int32_t*>malloc(<size_t>pool_room * sizeof(int32_t))
            if self.pool == NULL:
                raise MemoryError
            self.pool_room = pool_room
        m = max(pool_room, m + 1)
        if m > self.room:
            free(self.candidates)
            free(self.entries)
            free(self.greatest)
            self.room = 0
            m += m // 2
            self.candidates = <Candidate*>malloc(<size_t>m * sizeof(Candidate))
            self.entries = <Entry*>malloc(<size_t>m * sizeof(Entry))
            self.greatest = <int64_t*>malloc(<size_t>m * sizeof(int64_t))
            if self.candidates == NULL or self.entries == NULL or self.greatest == NULL:
                raise MemoryError
            self.room = m
        return 0


cdef void shrink_pool(BandSearch* s) noexcept nogil:
    """Keep the k documents of the pool with the largest sums, and raise the bound to the k-th."""
    cdef int64_t i
    cdef Slot* slot
    if s.pool_size < s.k:
        return
    for i in range(s.pool_size):
        s.heap.entries[i] = entry_of(s.slots[s.pool[i]].sum, s.pool[i])
    arrange(&s.heap, 0, s.pool_size, s.k, False, rounds_of(s.pool_size))
    s.bound = max(s.bound, score_of(s.heap.entries[s.k - 1]))
    for i in range(s.pool_size):
        s.pool[i] = s.heap.entries[i].document
        if i >= s.k:
            slot = s.slots + s.pool[i]
            slot.seen &= ~IN_POOL
    s.pool_size = s.k


cdef void read_block(BandSearch* s, Py_ssize_t which, int64_t stop, int32_t n_documents) noexcept nogil:
    """sum[d] += impact for the postings of a list up to `stop`."""
    cdef int64_t j
    cdef int32_t d
    cdef Slot* slot
    cdef uint64_t bit = <uint64_t>1 << which
    cdef double q = s.query_weights[which]
    for j in range(s.at[which], stop):
        d = s.sorted_documents[min(j + AHEAD, stop - 1)]
        if 0 <= d < n_documents:
            tieaware_prefetch(s.slots + d)
        d = s.sorted_documents[j]
        # Skip invalid documents: they would be outside the slots, or be touched twice.
        if not 0 <= d < n_documents or s.slots[d].seen & bit:
            continue
        slot = s.slots + d
        if slot.seen == 0:
            s.touched[s.n_touched] = d
            s.n_touched += 1
        slot.seen |= bit
        slot.sum += impact(s.sorted_weights, s.kind, j, q)
        if slot.sum > s.bound and not slot.seen & IN_POOL:
            slot.seen |= IN_POOL
            s.pool[s.pool_size] = d
            s.pool_size += 1
            if s.pool_size == s.pool_room:
                shrink_pool(s)
    s.n_read += stop - s.at[which]
    s.n_unread -= stop - s.at[which]
    s.at[which] = stop
    s.following[which] = impact(s.sorted_weights, s.kind, stop, q) if stop < s.stops[which] else 0.0


cdef inline double rest_of(BandSearch* s, uint64_t seen) noexcept nogil:
    """Return the sum of the next impacts of the lists in which a document was not seen."""
    cdef double rest = 0.0
    cdef Py_ssize_t i
    for i in range(s.n):
        if not (seen >> i) & 1:
            rest += s.following[i]
    return rest


cdef int64_t read_next(BandSearch* s, int32_t n_documents) noexcept nogil:
    """Read a block of postings from the list with the largest next impact; return the number of postings."""
    cdef Py_ssize_t i, which = 0
    cdef int64_t stop, before = s.n_read
    for i in range(s.n):
        if s.following[i] > s.following[which]:
            which = i
    stop = min(s.at[which] + s.block, s.stops[which])
    read_block(s, which, stop, n_documents)
    return s.n_read - before


cdef void read_lists(BandSearch* s, int32_t n_documents, Interruption* interruption) noexcept nogil:
    """Read until the next impacts of all lists add up to less than the bound, or to 0, when all postings were read.

    A document that was not seen in any list then has no place among the top k.
    """
    cdef double rest = rest_of(s, 0)
    cdef int64_t since = 0
    while rest > 0.0 and not rest * s.rounding < s.bound / s.rounding:
        since += read_next(s, n_documents)
        if since >= s.block + 8 * s.k:
            shrink_pool(s)
            since = 0
        if interrupted(interruption, 8 * s.block + s.n):
            return
        rest = rest_of(s, 0)
    shrink_pool(s)


cdef inline void set_bounds(BandSearch* s, Candidate* c) noexcept nogil:
    """Set the bounds of a candidate's score; if sums are exact, a complete sum is the score."""
    cdef double rest = rest_of(s, c.seen)
    c.exact = rest == 0.0 and s.rounding == 1.0
    c.least = c.sum / s.rounding
    c.most = (c.sum + rest) * s.rounding


cdef int64_t may_be_among(BandSearch* s, int32_t* documents) noexcept nogil:
    """Write the documents touched that may be among the top k; return how many there are."""
    cdef double least = s.bound / s.rounding, rest = rest_of(s, 0), most
    cdef int64_t i, n = 0
    cdef Slot* slot
    for i in range(s.n_touched):
        tieaware_prefetch(s.slots + s.touched[min(i + AHEAD, s.n_touched - 1)])
        slot = s.slots + s.touched[i]
        if (slot.sum + rest) * s.rounding >= least:
            most = (slot.sum + rest_of(s, slot.seen)) * s.rounding
            documents[n] = s.touched[i]
            n += most >= least and most > 0.0
    return n


cdef inline bint key_is_below(double a, int64_t i, double b, int64_t j) noexcept nogil:
    return a < b or (a == b and i > j)


cdef void drop(BandSearch* s) noexcept nogil:
    """Drop the candidates whose greatest key is below the k-th least key, or, without bands, whose score is.

    Store the k-th least score; at first, it is the bound.
    """
    cdef int64_t i, last, m = 0
    cdef double least
    cdef Candidate* c
    if s.m <= s.k:
        return
    for i in range(s.m):
        s.heap.entries[i] = entry_of(s.candidates[i].least, <int32_t>i)
    arrange(&s.heap, 0, s.m, s.k, False, rounds_of(s.m))
    last = s.heap.entries[s.k - 1].document
    least = s.kth_least = s.candidates[last].least
    for i in range(s.m):
        c = s.candidates + i
        s.candidates[m] = c[0]
        m += c.most >= least if s.complete else not key_is_below(c.most, i, least, last)
    s.m = m


cdef int64_t open_all(BandSearch* s, double least) noexcept nogil:
    """Mark the candidates whose scores are not complete and may reach `least`; return how many there are."""
    cdef int64_t i, n_open = 0
    cdef Candidate* c
    for i in range(s.m):
        c = s.candidates + i
        c.is_open = not c.exact and c.most >= least
        n_open += c.is_open
    return n_open


cdef int64_t open_some(BandSearch* s) noexcept nogil:
    """Mark the candidates that may change their band, and return how many may.

    Candidates are in ascending order of document, so their indices serve as documents in keys. The first k places are
    sorted by the least scores.
    Invariant: if none is marked, the candidates before each boundary have greater keys than all after it.
    """
    cdef int64_t n = min(s.k, s.m), place, i, low, high, middle, last, greatest = -1
    cdef Entry* entries = s.heap.entries
    cdef Candidate* c
    cdef int64_t n_open = 0
    # As long as there are many more than k candidates, look only at the boundary after the k-th, which needs no order.
    if s.m > 2 * s.k:
        n_open = open_all(s, s.kth_least)
        if n_open > 0:
            return n_open
    for i in range(s.m):
        entries[i] = entry_of(s.candidates[i].least, <int32_t>i)
    arrange(&s.heap, 0, s.m, n, True, rounds_of(s.m))
    if n == 0:
        return 0
    last = entries[n - 1].document
    if s.complete:
        return open_all(s, s.candidates[last].least)
    for place in range(s.m - 1, -1, -1):
        i = entries[place].document
        if greatest < 0 or key_is_below(s.candidates[greatest].most, greatest, s.candidates[i].most, i):
            greatest = i
        s.greatest[place] = greatest
    for place in range(s.m):
        i = entries[place].document
        c = s.candidates + i
        c.is_open = False
        if c.exact:
            continue
        if place >= n:
            c.is_open = key_is_below(s.candidates[last].least, last, c.most, i)
        else:
            if s.boundaries[place] < s.m:
                # May a document after the next boundary come before this one?
                middle = s.greatest[s.boundaries[place]]
                c.is_open = key_is_below(c.least, i, s.candidates[middle].most, middle)
            # Find the first place whose document this one may come before. Is there a boundary between the two?
            # Invariant: no document before `low` is below this one's greatest key, and all from `high` on are.
            low, high = 0, place
            while low < high and not c.is_open:
                middle = (low + high) >> 1
                if key_is_below(s.candidates[entries[middle].document].least, entries[middle].document, c.most, i):
                    high = middle
                else:
                    low = middle + 1
            c.is_open = c.is_open or (low < place and s.boundaries[low] <= place)
        n_open += c.is_open
    return n_open


cdef inline bint find(BandSearch* s, Py_ssize_t i, int32_t document) noexcept nogil:
    """Move the finger of a list to a document, or to the next one after it; return whether the list has it."""
    cdef int64_t at = s.fingers[i]
    if at < s.stops[i] and s.documents[at] < document:
        at = s.fingers[i] = gallop(s.documents, at, s.stops[i], document)
        s.n_stops += at < s.stops[i]
    return at < s.stops[i] and s.documents[at] == document


cdef void look_up(BandSearch* s, Candidate* c) noexcept nogil:
    """Look a candidate up in the list that may add most to its score; if there is none, compute its score."""
    cdef Py_ssize_t i, which = -1
    cdef int64_t before
    cdef Slot* slot
    for i in range(s.n):
        if not (c.seen >> i) & 1 and s.following[i] > 0.0 and (which < 0 or s.following[i] > s.following[which]):
            which = i
    if which >= 0:
        c.seen |= <uint64_t>1 << which
        before = s.n_stops
        if find(s, which, c.document):
            c.sum += impact(s.weights, s.kind, s.fingers[which], s.query_weights[which])
        s.n_read += s.n_stops - before
        # The posting is skipped if it is read later.
        slot = s.slots + c.document
        slot.seen |= c.seen
        slot.sum = c.sum
        set_bounds(s, c)
        return
    c.sum = 0.0
    for i in range(s.n):
        if find(s, i, c.document):
            c.sum += impact(s.weights, s.kind, s.fingers[i], s.query_weights[i])
    c.least = c.most = c.sum
    c.exact = True


cdef void look_up_all(BandSearch* s) noexcept nogil:
    """Look up each open candidate in one further list."""
    cdef int64_t i
    for i in range(s.n):
        s.fingers[i] = s.starts[i]
    for i in range(s.m):
        if s.candidates[i].is_open:
            look_up(s, s.candidates + i)


cdef void read_on(BandSearch* s, int32_t n_documents, Interruption* interruption) noexcept nogil:
    """Read an eighth more postings by descending impact, and set the bounds of the candidates anew."""
    cdef int64_t i, left = s.n_read // 8
    cdef Candidate* c
    while rest_of(s, 0) > 0.0 and left >= 0 and not interrupted(interruption, 8 * s.block):
        left -= read_next(s, n_documents)
    for i in range(s.m):
        c = s.candidates + i
        if not c.exact:
            c.seen, c.sum = s.slots[c.document].seen & ~IN_POOL, s.slots[c.document].sum
            set_bounds(s, c)


cdef void settle(BandSearch* s, int32_t n_documents, Interruption* interruption) noexcept nogil:
    """Look up candidates in further lists, or read on if fewer postings are left, until none can change its band."""
    cdef int64_t n_open
    s.kth_least = s.bound / s.rounding
    while not interrupted(interruption, 40 * s.m):
        n_open = open_some(s)
        if n_open == 0:
            return
        if (s.by_look_up and n_open < s.n_unread) or not rest_of(s, 0) > 0.0:
            look_up_all(s)
        else:
            read_on(s, n_documents, interruption)
        drop(s)


cdef int64_t count_and_clear(BandSearch* s) noexcept nogil:
    """Empty all slots; return the number of documents whose scores are complete."""
    cdef uint64_t unread = 0
    cdef int64_t i, n = 0
    cdef Slot* slot
    for i in range(s.n):
        if s.following[i] > 0.0:
            unread |= <uint64_t>1 << i
    for i in range(s.n_touched):
        tieaware_prefetch(s.slots + s.touched[min(i + AHEAD, s.n_touched - 1)])
        slot = s.slots + s.touched[i]
        n += not unread & ~slot.seen
        slot.sum, slot.seen = 0.0, 0
    s.n_touched = 0
    return n


def search(
    const int64_t[::1] starts, const int64_t[::1] stops, const double[::1] query_weights,
    const int32_t[::1] sorted_documents, cnp.ndarray sorted_weights, const int32_t[::1] documents,
    cnp.ndarray weights, Py_ssize_t n_documents, int64_t k, const int64_t[::1] boundaries, bint by_look_up,
    Accumulators accumulators
):
    """Find the documents of each band of the top k, or, without bands, all that may be among the top k.

    Parameters
    ----------
    starts, stops : int64[n_lists]
        The range of postings of each list, the same in both orders; at most 63 lists.
    query_weights : float64[n_lists]
        The weight of each list's term in the query, finite and not negative.
    sorted_documents, sorted_weights : int32[n_postings], and float32, uint8 or uint16[n_postings]
        The document and the weight of each posting; each list in descending order of weight.
    documents, weights : as these
        The same postings; each list in ascending order of document. Weights must not be negative.
    n_documents, k : int
        The number of documents in the collection, and the number of documents to find, from 1 to n_documents.
    boundaries : int64[k] or None
        For each of the first k ranks, the number of ranks before the next boundary between bands. None completes the
        scores of all documents that may be among the top k, or tie with the k-th.
    by_look_up : bool
        Whether to look up candidates in the lists by document, instead of reading on by descending impact.
    accumulators : Accumulators
        The memory, for as many documents; no other thread may use it during the search.

    Returns
    -------
    int32[n], float64[n], int, int, int
        The documents. With bands, they are the top k, the bands in their order, and each band in any order. Without,
        the scores are complete, and the documents ascend. Then sums of impacts, which without bands are the scores; the
        number of documents whose scores are complete; the number of comparisons; the number of postings read.
    """
    cdef BandSearch s
    cdef Interruption interruption = no_interruption()
    cdef Py_ssize_t n = starts.shape[0], i
    cdef int64_t total = 0, most, n_found, n_complete
    cdef Candidate* c
    if not (stops.shape[0] == query_weights.shape[0] == n <= MOST_LISTS):
        raise ValueError("each list must have a start, a stop and a query weight; there may be at most 63 lists")
    if sorted_documents.shape[0] != documents.shape[0]:
        raise ValueError("both orders must have the same number of postings")
    for array in (weights, sorted_weights):
        if array.ndim != 1 or not array.flags.c_contiguous or array.shape[0] != documents.shape[0]:
            raise ValueError("weights must have a weight for each posting")
    if weights.dtype not in (np.float32, np.uint8, np.uint16) or sorted_weights.dtype != weights.dtype:
        raise ValueError("weights must be float32, uint8 or uint16")
    if not (1 <= n_documents <= 0x7fffffff and 1 <= k <= n_documents and accumulators.size >= n_documents):
        raise ValueError("n_documents or k is out of its range, or there are too few accumulators")
    if boundaries is not None:
        if boundaries.shape[0] != k:
            raise ValueError("boundaries must have a number for each of the first k ranks")
        for i in range(k):
            if not i < boundaries[i] <= k:
                raise ValueError("a boundary is before its rank, or after the last")
    for i in range(n):
        if not 0 <= starts[i] <= stops[i] <= documents.shape[0]:
            raise ValueError("a list is outside the postings")
        total += stops[i] - starts[i]
    if total == 0:
        return np.empty(0, np.int32), np.empty(0), 0, 0, 0
    memset(&s, 0, sizeof(s))
    most = min(n_documents, total)
    places = np.array([starts, starts])
    following = np.zeros(n)
    cdef int64_t[:, ::1] place_rows = places
    cdef double[::1] following_row = following
    cdef int32_t[::1] rows
    s.n, s.starts, s.stops, s.query_weights = n, &starts[0], &stops[0], &query_weights[0]
    s.sorted_documents, s.sorted_weights = &sorted_documents[0], cnp.PyArray_DATA(sorted_weights)
    s.documents, s.weights, s.kind = &documents[0], cnp.PyArray_DATA(weights), weights.dtype.itemsize
    s.rounding = rounding_factor(s.query_weights, n, s.kind)
    s.at, s.fingers, s.following = &place_rows[0, 0], &place_rows[1, 0], &following_row[0]
    s.slots, s.k = accumulators.slots, min(k, most)
    s.pool_room = 2 * s.k + SPARE_ROOM
    s.n_unread = total
    s.block = min(max(total // SHARE, SMALLEST_BLOCK), LARGEST_BLOCK)
    s.complete, s.by_look_up = boundaries is None, by_look_up
    s.boundaries = NULL if boundaries is None else &boundaries[0]
    for i in range(n):
        if starts[i] < stops[i]:
            following_row[i] = impact(s.sorted_weights, s.kind, starts[i], query_weights[i])
        # At least k documents have one of the k largest impacts of a list.
        if s.k <= stops[i] - starts[i]:
            s.bound = max(s.bound, impact(s.sorted_weights, s.kind, starts[i] + s.k - 1, query_weights[i]))
    s.touched = accumulators.touched
    accumulators.make_room(s.pool_room, 0)
    s.pool, s.heap.entries = accumulators.pool, accumulators.entries
    try:
        with nogil:
            read_lists(&s, <int32_t>n_documents, &interruption)
        check_interruption(&interruption)
        rows = np.empty(s.n_touched + 1, np.int32)
        s.m = may_be_among(&s, &rows[0])
        rows = rows[:s.m]
        np.asarray(rows).sort()
        accumulators.make_room(s.pool_room, s.m)
        s.candidates, s.heap.entries, s.greatest = accumulators.candidates, accumulators.entries, accumulators.greatest
        with nogil:
            for i in range(s.m):
                c = s.candidates + i
                c.document = rows[i]
                c.seen, c.sum = s.slots[c.document].seen & ~IN_POOL, s.slots[c.document].sum
                set_bounds(&s, c)
            settle(&s, <int32_t>n_documents, &interruption)
        check_interruption(&interruption)
        n_complete = count_and_clear(&s)
        found, sums = np.empty(s.m, np.int32), np.empty(s.m)
        n_found = write(&s, found, sums)
        return found[:n_found], sums[:n_found], n_complete, s.heap.comparisons, s.n_read
    finally:
        count_and_clear(&s)


cdef int64_t write(BandSearch* s, int32_t[::1] documents, double[::1] sums) noexcept:
    """Write the documents found and their sums; return how many there are."""
    cdef int64_t i, n = 0
    cdef Candidate* c
    for i in range(s.m if s.complete else min(s.m, s.k)):
        c = s.candidates + (i if s.complete else s.heap.entries[i].document)
        documents[n], sums[n] = c.document, c.sum
        n += c.exact or not s.complete
    return n
