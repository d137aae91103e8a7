"""Bounds of the scores of documents in lists of candidates, by which entries are left out before any is scored.

The entries of a single list give a floor, a score that k candidates reach. An entry is left out if

    its impact + its base + Σ over the other terms of the largest impact that its document can have

is below the floor. A document that is in no other list has at most the largest impact of the documents that the other
list lacks. It has no impact of a term if its bit in the bitmap of the term is not set. So the bitmaps are read, the
terms with the largest impacts first, and most entries are left out before any weight of another term is looked up.
Documents that may be in several lists are found by a filter: for these, the largest impacts of the terms count. An
earlier entry of such a document may be left out, but not the last one unless its document cannot reach the floor.
"""
from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from tieaware.kernels._posting_impacts cimport impact
from tieaware.kernels._top cimport bound_by, leave_out, offer, score_of

cdef extern from "retrieval/entry_bounds.h":
    void tieaware_impacts_float(const float *weights, const double *bases, ptrdiff_t n, double query_weight,
                                double *bounds) nogil
    void tieaware_impacts_uint8(const uint8_t *weights, const double *bases, ptrdiff_t n, double query_weight,
                                double *bounds) nogil
    void tieaware_impacts_uint16(const uint16_t *weights, const double *bases, ptrdiff_t n, double query_weight,
                                 double *bounds) nogil
    void tieaware_add_lacking(const double *bases, ptrdiff_t n, double largest, double missing, double query_weight,
                              double *bounds) nogil
    void tieaware_see(const int32_t *documents, ptrdiff_t n, uint64_t *filter, uint32_t mask, uint8_t *seen) nogil
    ptrdiff_t tieaware_keep(const int32_t *documents, const double *impacts, const double *others,
                            const double *bases, const uint8_t *seen, ptrdiff_t n, double floor, uint32_t n_documents,
                            int32_t *kept_documents, double *bounds, double *kept_bases, uint8_t *kept_seen) nogil
    ptrdiff_t tieaware_test(int32_t *documents, double *bounds, double *bases, uint8_t *seen, ptrdiff_t n,
                            const uint64_t *bits, uint32_t mask, double largest, double lacking, double query_weight,
                            double floor) nogil
    ptrdiff_t tieaware_test_with_bases(int32_t *documents, double *bounds, double *bases, uint8_t *seen, ptrdiff_t n,
                                       const uint64_t *bits, uint32_t mask, double largest, double missing,
                                       double query_weight, double floor) nogil

cdef enum:
    # The number of bits of the filter for each entry: the more bits, the fewer documents share one.
    BITS_PER_ENTRY = 32
    # The number of entries whose bounds are computed at a time.
    TILE = 256

# The share of a score by which a sum of fewer than 4096 numbers in another order may be wrong because of rounding.
cdef double ROUNDING = 2.0 ** -40


cdef int open_narrowing(
    Narrowing* narrowing, int64_t most_entries, int64_t most_lists, int64_t n_documents
) except -1:
    """Allocate memory for queries with at most this many entries and lists."""
    cdef size_t n = <size_t>most_entries + 1
    narrowing.n_documents = n_documents
    narrowing.documents = <int32_t*>malloc(n * sizeof(int32_t))
    narrowing.bounds = <double*>malloc(n * sizeof(double))
    narrowing.bases = <double*>malloc(n * sizeof(double))
    narrowing.seen = <uint8_t*>malloc(n)
    narrowing.filter = <uint64_t*>malloc(bits_for(most_entries, n_documents) // 8)
    narrowing.order = <Py_ssize_t*>malloc(<size_t>(most_lists + 1) * sizeof(Py_ssize_t))
    if not (
        narrowing.documents and narrowing.bounds and narrowing.bases and narrowing.seen and narrowing.filter
        and narrowing.order
    ):
        raise MemoryError
    return 0


cdef void close_narrowing(Narrowing* narrowing) noexcept:
    free(narrowing.documents)
    free(narrowing.bounds)
    free(narrowing.bases)
    free(narrowing.seen)
    free(narrowing.filter)
    free(narrowing.order)


cdef size_t bits_for(int64_t n_entries, int64_t n_documents) noexcept nogil:
    """Return the number of bits of a filter: a power of two, and no more than needed for a bit for each document."""
    cdef size_t n = 64
    while n < <size_t>(BITS_PER_ENTRY * n_entries) and n < <size_t>n_documents:
        n *= 2
    return n


cdef bint has_bounds(const Lists* lists, const Lists* entries) noexcept nogil:
    """Return whether the weights of the query allow bounds of scores."""
    cdef Py_ssize_t i
    if lists.n != entries.n or lists.n >= 4096:
        return False
    for i in range(lists.n):
        if not (lists.query_weights[i] >= 0.0 and isfinite(lists.query_weights[i])):
            return False
    return True


cdef void find_floor(const Lists* entries, Bounds* bounds, Best* best) noexcept nogil:
    """Find the floor: the k-th highest sum of weight and base in the list with the largest k-th weight."""
    cdef Py_ssize_t i, which = -1
    cdef int64_t j
    bounds.floor, bounds.is_offered = 0.0, False
    for i in range(entries.n):
        if bounds.kth[i] > bounds.floor:
            which, bounds.floor = i, bounds.kth[i]
    bounds.floor_list = which
    if which < 0:
        return
    # At least k entries of the list reach the floor. With bases, they reach more.
    bound_by(best, bounds.floor)
    if bounds.bases == NULL:
        return
    for j in range(entries.starts[which], entries.stops[which]):
        offer(best, entries.documents[j],
              impact(entries.weights, entries.kind, j, entries.query_weights[which]) + bounds.bases[j])
    bounds.is_offered = True
    raise_floor(bounds, best)


cdef void raise_floor(Bounds* bounds, Best* best) noexcept nogil:
    """Raise the floor to the k-th highest of the sums that were offered."""
    if best.heap.size >= best.k:
        leave_out(best)
        bounds.floor = max(bounds.floor, score_of(best.heap.entries[best.k - 1]))


cdef void leave_out_lists(Lists* entries, Bounds* bounds, double floor) noexcept nogil:
    """Leave out whole lists, in ascending order of their largest impacts, while this leaves out no document of the top.

    A document that is only in the lists left out has at most their largest impacts and, in the other terms, the missing
    ones. If these depend on the base, the sum is largest for the lowest or the highest base.
    """
    cdef Py_ssize_t i, lightest
    cdef double out = 0.0, without_base, with_base
    while True:
        lightest = -1
        for i in range(entries.n):
            if entries.starts[i] < entries.stops[i] and (
                lightest < 0 or bounds.largest[i] < bounds.largest[lightest]
            ):
                lightest = i
        if lightest < 0:
            return
        without_base = out + bounds.largest[lightest]
        with_base = without_base + bounds.most_base
        for i in range(entries.n):
            if i != lightest and bounds.missing[i] >= 0.0:
                without_base += bounds.missing[i]
                if bounds.is_with_base:
                    with_base += max(0.0, bounds.missing[i] - bounds.most_base * entries.query_weights[i])
                else:
                    with_base += bounds.missing[i]
        if not max(without_base, with_base) < floor:
            return
        out += bounds.largest[lightest]
        entries.stops[lightest] = entries.starts[lightest]
        # Its missing impacts are part of its largest ones.
        bounds.missing[lightest] = -1.0


cdef void order_lists(const Lists* entries, Bounds* bounds, Py_ssize_t* order) noexcept nogil:
    """Limit the missing impacts to the largest ones, and order the lists by their missing impacts, descending."""
    cdef Py_ssize_t i, j
    for i in range(entries.n):
        if bounds.is_with_base and bounds.missing[i] >= 0.0:
            bounds.missing[i] = min(bounds.missing[i], bounds.largest[i] + entries.query_weights[i] * bounds.most_base)
        elif not 0.0 <= bounds.missing[i] <= bounds.largest[i]:
            bounds.missing[i] = INFINITY if bounds.is_with_base else bounds.largest[i]
        j = i
        while j > 0 and bounds.missing[order[j - 1]] < bounds.missing[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i


cdef void compute_impacts(const Lists* entries, Py_ssize_t i, int64_t j, int64_t n, const double* bases, double* out) \
        noexcept nogil:
    """out[m] = the impact of entry j + m of list i, plus its base, for n entries."""
    cdef double q = entries.query_weights[i]
    if entries.kind == 4:
        tieaware_impacts_float(<const float*>entries.weights + j, bases, n, q, out)
    elif entries.kind == 1:
        tieaware_impacts_uint8(<const uint8_t*>entries.weights + j, bases, n, q, out)
    else:
        tieaware_impacts_uint16(<const uint16_t*>entries.weights + j, bases, n, q, out)


cdef int64_t keep_entries(
    const Lists* entries, Py_ssize_t i, const Bounds* bounds, double floor, uint32_t mask, Narrowing* narrowing,
    int64_t kept, Best* best
) noexcept nogil:
    """Add the entries of list i that may reach the floor to those that are kept; return the number of all.

    The entries of distinct documents are offered, unless they were before.
    """
    cdef double[TILE] impacts
    cdef double[TILE] others
    cdef uint8_t[TILE] seen
    cdef double[2] rest
    cdef int64_t j = entries.starts[i], n, m
    cdef Py_ssize_t other
    cdef const double* bases = NULL
    rest[0] = rest[1] = 0.0
    for other in range(entries.n):
        if other != i:
            rest[1] += bounds.largest[other]
            if not bounds.is_with_base:
                rest[0] += bounds.missing[other]
    while j < entries.stops[i]:
        n = min(TILE, entries.stops[i] - j)
        if bounds.bases != NULL:
            bases = bounds.bases + j
        compute_impacts(entries, i, j, n, bases, impacts)
        tieaware_see(entries.documents + j, n, narrowing.filter, mask, seen)
        if bounds.is_with_base:
            memset(others, 0, sizeof(others))
            for other in range(entries.n):
                if other != i:
                    tieaware_add_lacking(bases, n, bounds.largest[other], bounds.missing[other],
                                         entries.query_weights[other], others)
            for m in range(n):
                others[m] = rest[1] if seen[m] else others[m]
        else:
            for m in range(n):
                others[m] = rest[seen[m]]
        if not (bounds.is_offered and i == bounds.floor_list):
            for m in range(n):
                if impacts[m] > best.bound and not seen[m]:
                    offer(best, entries.documents[j + m], impacts[m])
        kept += tieaware_keep(
            entries.documents + j, impacts, others, bases, seen, n, floor, <uint32_t>narrowing.n_documents,
            narrowing.documents + kept, narrowing.bounds + kept, narrowing.bases + kept, narrowing.seen + kept,
        )
        j += n
    return kept


cdef int64_t test_entries(
    const Lists* lists, Py_ssize_t i, const Bounds* bounds, double floor, Narrowing* narrowing, int64_t first,
    int64_t n
) noexcept nogil:
    """Look up n entries of list i in the bitmaps of the other terms, and return the number of those that are left."""
    cdef Py_ssize_t m, other
    cdef const uint64_t* bits
    cdef uint32_t mask
    cdef bint with_bases = bounds.is_with_base
    cdef int32_t* documents = narrowing.documents + first
    cdef double* bases = NULL if bounds.bases == NULL else narrowing.bases + first
    for m in range(lists.n):
        other = narrowing.order[m]
        if n == 0 or other == i:
            continue
        if lists.bitmap_rows != NULL and lists.bitmap_rows[other] >= 0:
            bits, mask = lists.bitmaps + lists.bitmap_rows[other] * lists.n_words, 0x7fffffff
        elif bounds.filters[other].n_words:
            bits, mask = bounds.filters[other].words, <uint32_t>(64 * bounds.filters[other].n_words - 1)
        else:
            continue
        n = (tieaware_test_with_bases if with_bases else tieaware_test)(
            documents, narrowing.bounds + first, bases, narrowing.seen + first, n, bits, mask, bounds.largest[other],
            bounds.missing[other], lists.query_weights[other], floor,
        )
    return n


cdef int64_t narrow(
    Lists* entries, const Lists* lists, Bounds* bounds, Narrowing* narrowing, Best* best
) noexcept nogil:
    """Leave out entries whose documents have a score below the floor; return the number of entries that were read.

    Entries of lists that are left out as a whole are not read. The list that gave the floor is read first, because its
    documents must be the earlier ones of those that are in several lists.
    """
    cdef size_t n_bits = bits_for(entries.n_postings, narrowing.n_documents)
    cdef int64_t n_read = 0, begin, kept = 0, left = 0, n
    cdef double total = bounds.most_base, floor
    cdef Py_ssize_t i, m
    for i in range(entries.n):
        total += bounds.largest[i]
    # No score can be wrong by more than what is subtracted from the floor.
    leave_out_lists(entries, bounds, bounds.floor - (bounds.floor + total) * ROUNDING)
    order_lists(entries, bounds, narrowing.order)
    memset(narrowing.filter, 0, n_bits // 8)
    for m in range(entries.n):
        # Begin with the list that gave the floor, in place of the first one.
        i = bounds.floor_list if m == 0 else m - (m <= bounds.floor_list)
        n_read += entries.stops[i] - entries.starts[i]
        begin = kept
        floor = bounds.floor - (bounds.floor + total) * ROUNDING
        kept = keep_entries(entries, i, bounds, floor, <uint32_t>(n_bits - 1), narrowing, kept, best)
        raise_floor(bounds, best)
        entries.starts[i], entries.stops[i] = begin, kept
    floor = bounds.floor - (bounds.floor + total) * ROUNDING
    for i in range(entries.n):
        begin, n = entries.starts[i], entries.stops[i] - entries.starts[i]
        n = test_entries(lists, i, bounds, floor, narrowing, begin, n)
        entries.next[i], entries.stops[i] = begin, begin + n
        left += n
    entries.documents = narrowing.documents
    entries.n_postings = left
    return n_read


def fill_filters(
    const int64_t[::1] starts not None, const int32_t[::1] documents not None,
    const int64_t[::1] filter_starts not None, uint64_t[::1] words not None
):
    """Set the bits of the documents of each term in its filter.

    Parameters
    ----------
    starts, documents : int64[n_terms + 1] and int32[n_postings]
        The postings of term t are starts[t] to starts[t + 1].
    filter_starts, words : int64[n_terms + 1] and uint64[n_words]
        The filter of term t has the words from filter_starts[t] to filter_starts[t + 1]: none, or a power of two. The
        bit of a document is the one whose index is its number modulo the number of bits.
    """
    cdef Py_ssize_t n_terms = starts.shape[0] - 1, t
    cdef int64_t j, n
    cdef uint64_t* filter
    cdef uint32_t at
    if filter_starts.shape[0] != n_terms + 1:
        raise ValueError("each term must have a filter")
    for t in range(n_terms):
        n = filter_starts[t + 1] - filter_starts[t]
        if not (0 <= starts[t] <= starts[t + 1] <= documents.shape[0]
                and 0 <= filter_starts[t] <= filter_starts[t + 1] <= words.shape[0] and n & (n - 1) == 0
                and n <= 1 << 25):
            raise ValueError("a filter or a list is outside its array, or the size of a filter is no power of two")
        if n == 0:
            continue
        filter = &words[filter_starts[t]]
        with nogil:
            for j in range(starts[t], starts[t + 1]):
                at = <uint32_t>documents[j] & <uint32_t>(64 * n - 1)
                filter[at >> 6] |= <uint64_t>1 << (at & 63)
