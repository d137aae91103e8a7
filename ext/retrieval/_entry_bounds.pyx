"""Bounds of the scores of documents in lists of candidates, by which entries are left out before any is scored.

The entries of a single list give a floor, a score that k candidates reach. An entry is left out if

    its impact + its base + Σ over the other terms of the largest impact that its document can have

is below the floor. A document that is in no other list has at most the largest impact of the documents that the other
list lacks. It has no impact of a term if its bit in the filter or the bitmap of the term is not set. So these are read,
the terms with the largest impacts first, and most entries are left out before any weight of another term is looked up.
Documents that may be in several lists are found by a filter: for these, the largest impacts of the terms count. An
earlier entry of such a document may be left out, but not the last one unless its document cannot reach the floor.
"""
from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from tieaware.kernels._top cimport bound_by, leave_out, offer, score_of

cdef extern from "retrieval/accumulators.h":
    int tieaware_lowest(uint64_t word) nogil

cdef extern from "retrieval/entry_bounds.h":
    void tieaware_impacts(int kind, const void *weights, ptrdiff_t first, const double *bases, ptrdiff_t n,
                          double query_weight, double *bounds) nogil
    void tieaware_add_lacking(const double *bases, ptrdiff_t n, double largest, double missing, double query_weight,
                              double *bounds) nogil
    enum: TIEAWARE_ENTRIES
    uint64_t tieaware_see(const int32_t *documents, int n, uint64_t *filter, uint32_t mask) nogil
    uint64_t tieaware_bound(const double *impacts, const double *others, double rest, uint64_t seen, double least,
                            double *bounds) nogil
    uint64_t tieaware_reach(const double *bounds, double floor) nogil
    uint64_t tieaware_valid(const int32_t *documents, int n, uint32_t n_documents) nogil
    void tieaware_prefetch_bits(const int32_t *documents, uint64_t marks, const uint64_t *bits, uint32_t mask) nogil
    uint64_t tieaware_absent(const int32_t *documents, uint64_t marks, const uint64_t *bits, uint32_t mask) nogil
    uint64_t tieaware_lower(double *bounds, uint64_t absent, uint64_t seen, double largest, double missing,
                            double floor) nogil
    uint64_t tieaware_lower_with_bases(double *bounds, const double *bases, int n, uint64_t absent, uint64_t seen,
                                       double largest, double missing, double query_weight, double floor) nogil

cdef enum:
    # The number of bits of the filter for each entry: the more bits, the fewer documents share one.
    BITS_PER_ENTRY = 32
    # The number of words in a line of memory.
    LINE = 8

# The share of a score by which a sum of fewer than 4096 numbers in another order may be wrong because of rounding.
cdef double ROUNDING = 2.0 ** -40


cdef int open_narrowing(
    Narrowing* narrowing, int64_t most_entries, int64_t most_lists, int64_t n_documents, bint ascending
) except -1:
    """Allocate memory for queries with at most this many entries and lists."""
    cdef size_t n = <size_t>most_entries + 1, n_tiles = n // TIEAWARE_ENTRIES + 1
    narrowing.n_documents, narrowing.ascending = n_documents, ascending
    narrowing.documents = <int32_t*>malloc(n * sizeof(int32_t))
    narrowing.bounds = <double*>malloc(n * sizeof(double))
    narrowing.tiles = <Tile*>malloc(n_tiles * sizeof(Tile))
    narrowing.filter = <uint64_t*>malloc(bits_for(most_entries, n_documents) // 8)
    narrowing.order = <Py_ssize_t*>malloc(<size_t>(most_lists + 1) * sizeof(Py_ssize_t))
    if not (narrowing.documents and narrowing.bounds and narrowing.tiles and narrowing.filter and narrowing.order):
        raise MemoryError
    return 0


cdef void close_narrowing(Narrowing* narrowing) noexcept:
    free(narrowing.documents)
    free(narrowing.bounds)
    free(narrowing.tiles)
    free(narrowing.filter)
    free(narrowing.order)


cdef size_t bits_for(int64_t n_entries, int64_t n_documents) noexcept nogil:
    """Return the number of bits of a filter: a power of two, and no more than needed for a bit for each document."""
    cdef size_t n = 64
    while n < <size_t>(BITS_PER_ENTRY * n_entries) and n < <size_t>n_documents:
        n *= 2
    return n


cdef bint has_bounds(const TermLists* lists, const TermLists* entries) noexcept nogil:
    """Return whether the weights of the query allow bounds of scores."""
    cdef Py_ssize_t i
    if lists.n != entries.n or lists.n >= 4096:
        return False
    for i in range(lists.n):
        if not (lists.query_weights[i] >= 0.0 and isfinite(lists.query_weights[i])):
            return False
    return True


cdef void find_floor(const TermLists* entries, Bounds* bounds, Best* best) noexcept nogil:
    """Find the floor: the k-th highest sum of weight and base in the list with the largest k-th weight."""
    cdef double[TIEAWARE_ENTRIES] impacts
    cdef Py_ssize_t i, which = -1
    cdef int64_t j
    cdef int m, n
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
    j = entries.starts[which]
    while j < entries.stops[which]:
        n = <int>min(TIEAWARE_ENTRIES, entries.stops[which] - j)
        tieaware_impacts(entries.kind, entries.weights, j, bounds.bases + j, n, entries.query_weights[which], impacts)
        for m in range(n):
            offer(best, entries.documents[j + m], impacts[m])
        j += n
    bounds.is_offered = True
    raise_floor(bounds, best)


cdef void raise_floor(Bounds* bounds, Best* best) noexcept nogil:
    """Raise the floor to the k-th highest of the sums that were offered."""
    cdef int64_t k = best.k
    # If no sum was offered since the last time, the k-th is the floor.
    if best.heap.size > k or (best.heap.size == k and score_of(best.heap.entries[k - 1]) > bounds.floor):
        leave_out(best)
        bounds.floor = max(bounds.floor, score_of(best.heap.entries[k - 1]))


cdef void leave_out_lists(TermLists* entries, Bounds* bounds, double floor) noexcept nogil:
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


cdef void order_lists(const TermLists* entries, Bounds* bounds, Py_ssize_t* order) noexcept nogil:
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


cdef bint bits_of(const TermLists* lists, const Bounds* bounds, Py_ssize_t i, const uint64_t** bits, uint32_t* mask) \
        noexcept nogil:
    """Find the filter or the bitmap of term i; return whether it has one."""
    if bounds.filters[i].n_words > 0:
        bits[0], mask[0] = bounds.filters[i].words, <uint32_t>(64 * bounds.filters[i].n_words - 1)
        return True
    if lists.bitmap_rows != NULL and lists.bitmap_rows[i] >= 0:
        bits[0], mask[0] = lists.bitmaps + lists.bitmap_rows[i] * lists.n_words, 0x7fffffff
        return True
    return False


cdef bint fetches_bits(
    const TermLists* entries, const TermLists* lists, Py_ssize_t i, const Narrowing* narrowing
) noexcept nogil:
    """Return whether the bits of the entries of list i have to be prefetched.

    If the entries of a long list ascend, bits that are looked up one after the other often share a line of memory, and
    the processor prefetches the next line itself.
    """
    return not narrowing.ascending or LINE * (entries.stops[i] - entries.starts[i]) < lists.n_words


cdef void bound_entries(
    const TermLists* entries, const TermLists* lists, Py_ssize_t i, const Bounds* bounds, uint32_t mask,
    Narrowing* narrowing,
    Best* best
) noexcept nogil:
    """Make the tiles of list i, with upper bounds of the scores of its entries.

    The entries of distinct documents are offered, unless they were before.
    """
    cdef double[TIEAWARE_ENTRIES] impacts
    # The largest sum of the other impacts, for a document that is in no other list; `rest` is that for any document.
    cdef double[TIEAWARE_ENTRIES] others
    cdef double rest = 0.0, missing = 0.0
    cdef int64_t j = entries.starts[i]
    cdef int m, n
    cdef bint fetches = fetches_bits(entries, lists, i, narrowing)
    cdef bint is_offered = bounds.is_offered and i == bounds.floor_list
    cdef Py_ssize_t other
    cdef uint64_t offered
    cdef Tile* tile
    cdef const int32_t* documents
    cdef const double* bases = NULL
    for other in range(entries.n):
        if other != i:
            rest += bounds.largest[other]
            if not bounds.is_with_base:
                missing += bounds.missing[other]
    for m in range(TIEAWARE_ENTRIES):
        impacts[m], others[m] = 0.0, missing
    while j < entries.stops[i]:
        n = <int>min(TIEAWARE_ENTRIES, entries.stops[i] - j)
        documents = entries.documents + j
        if bounds.bases != NULL:
            bases = bounds.bases + j
        tieaware_impacts(entries.kind, entries.weights, j, bases, n, entries.query_weights[i], impacts)
        if bounds.is_with_base:
            memset(others, 0, sizeof(others))
            for other in range(entries.n):
                if other != i:
                    tieaware_add_lacking(bases, n, bounds.largest[other], bounds.missing[other],
                                         entries.query_weights[other], others)
        tile = &narrowing.tiles[narrowing.n_tiles]
        narrowing.n_tiles += 1
        tile.list, tile.first, tile.n, tile.fetches = i, j, n, fetches
        # The arrays have older numbers after those of this tile.
        tile.marks = ~<uint64_t>0 >> (TIEAWARE_ENTRIES - n)
        tile.seen = tieaware_see(documents, n, narrowing.filter, mask)
        offered = tieaware_bound(impacts, others, rest, tile.seen, best.bound, tile.bounds) & ~tile.seen & tile.marks
        # An invalid document number must not be used as an index.
        tile.marks &= tieaware_valid(documents, n, <uint32_t>narrowing.n_documents)
        while offered and not is_offered:
            m = tieaware_lowest(offered)
            offer(best, documents[m], impacts[m])
            offered &= offered - 1
        j += n


cdef void fetch_bits(
    const TermLists* entries, const TermLists* lists, const Bounds* bounds, const Narrowing* narrowing,
    const Tile* tile,
    Py_ssize_t place
) noexcept nogil:
    """Prefetch the bits of the marked entries of a tile for the next other term, from this place in the order on."""
    cdef const uint64_t* bits
    cdef uint32_t mask
    cdef Py_ssize_t other
    while place < lists.n and tile.marks and tile.fetches:
        other = narrowing.order[place]
        if other != tile.list and bits_of(lists, bounds, other, &bits, &mask):
            tieaware_prefetch_bits(entries.documents + tile.first, tile.marks, bits, mask)
            return
        place += 1


cdef void look_up_bits(
    const TermLists* entries, const TermLists* lists, Py_ssize_t other, const Bounds* bounds, double floor, Tile* tile
) noexcept nogil:
    """Look up the marked entries of a tile among the bits of another term.

    The bounds of those that are absent become lower, and only those that reach the floor remain marked.
    """
    cdef const uint64_t* bits
    cdef uint32_t mask
    cdef uint64_t absent
    if tile.marks == 0 or other == tile.list or not bits_of(lists, bounds, other, &bits, &mask):
        return
    absent = tieaware_absent(entries.documents + tile.first, tile.marks, bits, mask)
    if absent and bounds.is_with_base:
        tile.marks &= tieaware_lower_with_bases(
            tile.bounds, bounds.bases + tile.first, tile.n, absent, tile.seen, bounds.largest[other],
            bounds.missing[other], lists.query_weights[other], floor,
        )
    elif absent:
        tile.marks &= tieaware_lower(tile.bounds, absent, tile.seen, bounds.largest[other], bounds.missing[other],
                                     floor)


cdef int64_t keep_marked(const TermLists* entries, Narrowing* narrowing, int64_t kept) noexcept nogil:
    """Keep the marked entries of all tiles, after the first `kept` ones; return the number of all that are kept."""
    cdef Py_ssize_t t
    cdef uint64_t marks
    cdef Tile* tile
    cdef int m
    for t in range(narrowing.n_tiles):
        tile = &narrowing.tiles[t]
        marks = tile.marks
        while marks:
            m = tieaware_lowest(marks)
            narrowing.documents[kept], narrowing.bounds[kept] = entries.documents[tile.first + m], tile.bounds[m]
            kept += 1
            marks &= marks - 1
    return kept


cdef int64_t narrow(
    TermLists* entries, const TermLists* lists, Bounds* bounds, Narrowing* narrowing, Best* best
) noexcept nogil:
    """Leave out entries whose documents have a score below the floor; return the number of entries that were read.

    Entries of lists that are left out as a whole are not read. The list that gave the floor is read first, because its
    documents must be the earlier ones of those that are in several lists. The entries of a list whose bounds reach the
    floor are looked up term by term, and the bits for the next term are prefetched meanwhile. The floor rises with each
    list, so at the end the bounds of all entries are compared with it once more.
    """
    cdef size_t n_bits = bits_for(entries.n_postings, narrowing.n_documents)
    cdef int64_t n_read = 0, kept = 0, j, stop
    cdef double total = bounds.most_base, floor
    cdef Py_ssize_t i, m, t, place
    cdef Tile* tile
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
        narrowing.n_tiles = 0
        bound_entries(entries, lists, i, bounds, <uint32_t>(n_bits - 1), narrowing, best)
        raise_floor(bounds, best)
        floor = bounds.floor - (bounds.floor + total) * ROUNDING
        for t in range(narrowing.n_tiles):
            tile = &narrowing.tiles[t]
            tile.marks &= tieaware_reach(tile.bounds, floor)
            fetch_bits(entries, lists, bounds, narrowing, tile, 0)
        for place in range(lists.n):
            for t in range(narrowing.n_tiles):
                look_up_bits(entries, lists, narrowing.order[place], bounds, floor, &narrowing.tiles[t])
                fetch_bits(entries, lists, bounds, narrowing, &narrowing.tiles[t], place + 1)
        entries.starts[i] = entries.next[i] = kept
        kept = keep_marked(entries, narrowing, kept)
        entries.stops[i] = kept
    entries.documents, entries.n_postings = narrowing.documents, 0
    for i in range(entries.n):
        stop, entries.stops[i] = entries.stops[i], entries.starts[i]
        for j in range(entries.starts[i], stop):
            narrowing.documents[entries.stops[i]] = narrowing.documents[j]
            entries.stops[i] += not narrowing.bounds[j] < floor
        entries.n_postings += entries.stops[i] - entries.starts[i]
    return n_read


def fill_filters(
    const int64_t[::1] starts not None, const int64_t[::1] stops not None, const int32_t[::1] documents not None,
    const int64_t[::1] filter_starts not None, uint64_t[::1] words not None
):
    """Set the bits of the documents of each list in its filter.

    Parameters
    ----------
    starts, stops, documents : int64[n_lists], int64[n_lists] and int32[n_postings]
        The documents of list i are starts[i] to stops[i].
    filter_starts, words : int64[n_lists + 1] and uint64[n_words]
        The filter of list i has the words from filter_starts[i] to filter_starts[i + 1]: none, or a power of two. The
        bit of a document is the one whose index is its number modulo the number of bits.
    """
    cdef Py_ssize_t n_lists = starts.shape[0], i
    cdef int64_t j, n
    cdef uint64_t* filter
    cdef uint32_t at
    if stops.shape[0] != n_lists or filter_starts.shape[0] != n_lists + 1:
        raise ValueError("each list must have a stop and a filter")
    for i in range(n_lists):
        n = filter_starts[i + 1] - filter_starts[i]
        if not (0 <= starts[i] <= stops[i] <= documents.shape[0]
                and 0 <= filter_starts[i] <= filter_starts[i + 1] <= words.shape[0] and n & (n - 1) == 0
                and n <= 1 << 25):
            raise ValueError("a filter or a list is outside its array, or the size of a filter is no power of two")
        if n == 0:
            continue
        filter = &words[filter_starts[i]]
        with nogil:
            for j in range(starts[i], stops[i]):
                at = <uint32_t>documents[j] & <uint32_t>(64 * n - 1)
                filter[at >> 6] |= <uint64_t>1 << (at & 63)
