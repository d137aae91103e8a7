"""Search block by block: only blocks of 16 documents whose upper bound of the scores exceeds the k-th best score.

The upper bound of a block is the sum over the query's lists of the largest impact in the block, an impact being the
query weight times the weight of a posting. Bounds are whole numbers of a unit, which is chosen for each query so that
they fit in 16 bits. The largest weight of a long list in each block is stored as a byte; the postings of short lists
are read. Bounds are rounded up, so no score exceeds the bound of its block.

The blocks with the highest bounds are scored first, so that the k-th best score is known early; then all other blocks
whose bound exceeds it. Each document of a block has a lower bound than the block, because not all lists have it. This
is known from bitmaps, so that weights are read only for the few documents whose own bound exceeds the k-th best score.
The score of a document is summed in float64 in the order of the lists, as by `accumulate`.
"""
import numpy as np
from libc.math cimport INFINITY, ceil, isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware.kernels._term_lists cimport TermLists, PostingLists, close_lists
from tieaware.kernels._top cimport Best, Results, bound_by, close_best, leave_out, offer, open_best

cdef extern from "retrieval/blocks.h":
    enum:
        TIEAWARE_BLOCK
        TIEAWARE_GROUP
        TIEAWARE_BINS
    ctypedef struct BlockList "tieaware_block_list":
        const int32_t *documents
        const void *weights
        int64_t length
        double query_weight
        const uint64_t *bits
        const uint32_t *ranks
        const void *row
        const int32_t *places
        const uint64_t *present
        const uint8_t *largest
        uint16_t factor
    int tieaware_lowest(uint64_t word) nogil
    void tieaware_raise(uint16_t *bounds, const uint8_t *largest, ptrdiff_t n, uint16_t factor, int is_first) nogil
    void tieaware_count_lists(uint8_t *counts, const uint8_t *largest, ptrdiff_t n, int is_first) nogil
    void tieaware_keep(uint16_t *bounds, const uint8_t *counts, ptrdiff_t n, uint8_t at_least) nogil
    uint16_t tieaware_base_units(uint16_t base, uint16_t factor) nogil
    void tieaware_begin(uint16_t *bounds, const uint16_t *bases, ptrdiff_t n, uint16_t factor) nogil
    void tieaware_peaks(const uint16_t *bounds, ptrdiff_t n_groups, uint16_t *peaks, int32_t *bins) nogil
    ptrdiff_t tieaware_collect(
        const uint16_t *bounds, ptrdiff_t n_groups, const uint16_t *peaks, uint32_t least, uint32_t limit,
        int32_t *blocks
    ) nogil
    void tieaware_place(
        int kind, const BlockList *list, double per_unit, uint16_t *bounds, int32_t *places, uint64_t *present,
        uint8_t *counts, ptrdiff_t n_blocks
    ) nogil
    void tieaware_prefetch(const void *address) nogil
    void tieaware_prefetch_block_bits(const BlockList *lists, ptrdiff_t n, int32_t block) nogil
    void tieaware_prefetch_places(const BlockList *lists, ptrdiff_t n, int32_t block, int size) nogil
    void tieaware_prefetch_weights(const BlockList *lists, ptrdiff_t n, int32_t block, int size) nogil
    uint64_t tieaware_reach(
        int kind, const BlockList *lists, ptrdiff_t n, int32_t block, uint16_t base_units, double per_unit,
        uint16_t least
    ) nogil
    uint64_t tieaware_score_block(
        int kind, const BlockList *lists, ptrdiff_t n, int32_t block, uint64_t those, int n_planes, uint64_t initial,
        double *sums, int64_t *n_read
    ) nogil

cdef enum:
    # Queries with more lists are refused, because their bounds would be rounded too far.
    MOST_LISTS = 64
    # The largest bound of a block. Rounding up adds at most 256 for each list and for the base.
    MOST_UNITS = 65535 - 257 * (MOST_LISTS + 1)
    # How many blocks ahead memory is prefetched: the bitmaps; where the postings are, of blocks with a document whose
    # bound is high enough; and the postings.
    FAR_AHEAD = 32
    AHEAD = 16
    NEAR_AHEAD = 8
    # The search is refused if more than one block in this number has to be scored: then it takes less time to score all
    # documents.
    FEW = 8

# A safety factor for rounding: sums of so few numbers are off by less.
cdef double ROUNDING = 1.0 + 2.0 ** -40


cdef class Memory:
    """The memory of a search, for one thread at a time: the bounds of the blocks, and places of postings.

    Places may be those of earlier queries where the list has no posting in a block.
    """

    cdef uint16_t* bounds
    cdef uint16_t* peaks
    cdef uint8_t* counts
    cdef int32_t* blocks
    # The documents of each block of `blocks` that may be among the best.
    cdef uint16_t* those
    cdef int32_t* places
    cdef uint64_t* present
    cdef int64_t n_blocks
    cdef int64_t n_words
    cdef int64_t n_lists

    def __cinit__(self, int64_t n_documents):
        cdef size_t n
        if not 0 <= n_documents <= 0x7fffffff:
            raise ValueError("n_documents is out of its range")
        self.n_blocks = (n_documents + TIEAWARE_BLOCK - 1) // TIEAWARE_BLOCK
        self.n_words = self.n_blocks // 64 + 1
        n = <size_t>(self.n_blocks + TIEAWARE_GROUP)
        self.bounds = <uint16_t*>calloc(n, sizeof(uint16_t))
        self.peaks = <uint16_t*>calloc(n, sizeof(uint16_t))
        self.counts = <uint8_t*>calloc(n, sizeof(uint8_t))
        self.blocks = <int32_t*>calloc(n, sizeof(int32_t))
        self.those = <uint16_t*>calloc(n, sizeof(uint16_t))
        if not (self.bounds and self.peaks and self.counts and self.blocks and self.those):
            raise MemoryError

    def __dealloc__(self):
        free(self.bounds)
        free(self.peaks)
        free(self.counts)
        free(self.blocks)
        free(self.those)
        free(self.places)
        free(self.present)

    cdef int make_room(self, int64_t n) except -1:
        """Make room for n lists, which have no postings yet."""
        cdef int32_t* places
        cdef uint64_t* present
        if n > self.n_lists:
            places = <int32_t*>realloc(self.places, <size_t>(n * self.n_blocks + 1) * sizeof(int32_t))
            if places == NULL:
                raise MemoryError
            self.places = places
            present = <uint64_t*>realloc(self.present, <size_t>(n * self.n_words) * sizeof(uint64_t))
            if present == NULL:
                raise MemoryError
            self.present, self.n_lists = present, n
        if n > 0:
            memset(self.present, 0, <size_t>(n * self.n_words) * sizeof(uint64_t))
        return 0


cdef class Blocks:
    """Posting lists with their largest weights, in all, and those of each long list in each block.

    The largest weight of row `row` in a block is at most scales[row] · maxima[row, block]. The byte of a block without
    postings is 0; that of any other block is at least 1.

    Parameters
    ----------
    postings : PostingLists
        The posting lists of all terms; the documents of a list ascend.
    maxima : uint8[n_rows, n_blocks]
        A row for each list that has a bitmap, in the same order.
    scales : float64[n_rows]
        The number by which the bytes of a row are multiplied.
    largest : float64[n_lists]
        The largest weight of each list.
    n_documents : int
        The number of documents in the collection.
    """

    cdef object arrays
    cdef PostingLists postings
    cdef const uint8_t* maxima
    cdef const double* scales
    cdef const double* largest
    cdef Py_ssize_t n_rows
    cdef Py_ssize_t n_blocks
    cdef int64_t n_documents

    def __cinit__(
        self, PostingLists postings not None, const uint8_t[:, ::1] maxima not None,
        const double[::1] scales not None, const double[::1] largest not None, int64_t n_documents
    ):
        if scales.shape[0] != maxima.shape[0] or largest.shape[0] != postings.n:
            raise ValueError("each row must have a scale, and each list a largest weight")
        self.arrays, self.postings, self.n_documents = (maxima, scales, largest), postings, n_documents
        self.n_rows, self.n_blocks = maxima.shape[0], maxima.shape[1]
        self.largest = &largest[0] if postings.n else NULL
        if self.n_rows and self.n_blocks:
            self.maxima, self.scales = &maxima[0, 0], &scales[0]


cdef class Base:
    """Numbers of at least 0 that are added to the scores of the documents in the lists.

    Parameters
    ----------
    values : float64[n_documents]
        The number of each document, in descending order.
    parts : uint16[n_blocks]
        The largest number of each block in 65535 parts of the largest of all, rounded up.
    order : int32[n_documents]
        The number with which each document is found.
    """

    cdef object arrays
    cdef const double* values
    cdef const uint16_t* parts
    cdef const int32_t* order
    cdef Py_ssize_t n_documents

    def __cinit__(
        self, const double[::1] values not None, const uint16_t[::1] parts not None, const int32_t[::1] order not None
    ):
        cdef Py_ssize_t n = values.shape[0]
        if order.shape[0] != n or parts.shape[0] < (n + TIEAWARE_BLOCK - 1) // TIEAWARE_BLOCK:
            raise ValueError("order must have a number for each document, and parts one for each block")
        self.arrays, self.n_documents = (values, parts, order), n
        if n:
            self.values, self.parts, self.order = &values[0], &parts[0], &order[0]


cdef class Queries:
    """Several queries; the lists of query i are offsets[i] to offsets[i + 1].

    Parameters
    ----------
    terms, weights : int64[n_lists], float64[n_lists]
        The terms of the queries, with their weights.
    offsets : int64[n_queries + 1]
    at_least : int64[n_queries]
        The number of lists in which a document must occur, at least 1.
    floors : float64[n_queries]
        A score that at least k of the documents are known to reach, or 0.
    """

    cdef const int64_t[::1] terms
    cdef const double[::1] weights
    cdef const int64_t[::1] offsets
    cdef const int64_t[::1] at_least
    cdef const double[::1] floors
    cdef Py_ssize_t n

    def __cinit__(
        self, const int64_t[::1] terms not None, const double[::1] weights not None,
        const int64_t[::1] offsets not None, const int64_t[::1] at_least not None, const double[::1] floors not None
    ):
        self.n = at_least.shape[0]
        if weights.shape[0] != terms.shape[0]:
            raise ValueError("each list must have a query weight")
        if offsets.shape[0] != self.n + 1 or floors.shape[0] != self.n:
            raise ValueError("each query must have a number of lists and a floor")
        self.terms, self.weights, self.offsets, self.at_least, self.floors = terms, weights, offsets, at_least, floors


# The state of a search. All documents before `until` are searched; a document's counter of lists begins at `initial`
# and has n_planes digits. A bound of `units` is at least units / per_unit · ROUNDING.
cdef struct BlockSearch:
    TermLists lists
    BlockList* block_lists
    Best best
    int64_t until
    int64_t n_blocks
    uint32_t at_least
    int n_planes
    uint64_t initial
    double per_unit
    # The bases of the documents, and the largest base of each block in 65535 parts of the largest of all; NULL without
    # a base. The largest of all has at most base_factor / 65536 · 65535 units.
    const double* base
    const uint16_t* base_parts
    uint16_t base_factor
    const int32_t* order


cdef int open_block_lists(BlockSearch* search, Blocks blocks, Memory memory) except -1:
    """Describe the lists for the loops over blocks; lists with a bitmap must have a row in the maxima."""
    cdef TermLists* lists = &search.lists
    cdef BlockList* one
    cdef Py_ssize_t i
    cdef int64_t row, n_short = 0
    search.block_lists = <BlockList*>calloc(<size_t>(lists.n + 1), sizeof(BlockList))
    if search.block_lists == NULL:
        raise MemoryError
    for i in range(lists.n):
        n_short += lists.bitmap_rows == NULL or lists.bitmap_rows[i] < 0
    memory.make_room(n_short)
    n_short = 0
    for i in range(lists.n):
        one = &search.block_lists[i]
        one.length, one.query_weight = lists.stops[i] - lists.starts[i], lists.query_weights[i]
        one.documents = lists.documents + lists.starts[i]
        one.weights = <const char*>lists.weights + lists.starts[i] * lists.kind
        row = -1 if lists.bitmap_rows == NULL else lists.bitmap_rows[i]
        if row < 0:
            one.places = memory.places + n_short * memory.n_blocks
            one.present = memory.present + n_short * memory.n_words
            n_short += 1
            continue
        if not (row < blocks.n_rows and search.n_blocks <= blocks.n_blocks):
            raise ValueError("maxima must have a row for each bitmap, and a byte for each block")
        one.largest = blocks.maxima + row * blocks.n_blocks
        one.factor = <uint16_t>min(65535.0, ceil(one.query_weight * blocks.scales[row] * search.per_unit * ROUNDING))
        one.bits = lists.bitmaps + row * lists.n_words
        one.ranks = lists.ranks + row * lists.n_words
        if lists.rows != NULL and lists.rows[i] >= 0:
            one.row = <const char*>lists.dense_weights + lists.rows[i] * lists.n_documents * lists.kind
    return 0


cdef void bound_blocks(BlockSearch* search, Memory memory) noexcept nogil:
    """Compute the bounds of the blocks, first those by long lists, which cannot exceed 16 bits.

    If documents must be in several lists, blocks with postings of fewer lists get the bound 0. The arrays are cleared
    only if the first number of each block is not the base or that of a long list.
    """
    cdef TermLists* lists = &search.lists
    cdef uint16_t* bounds = memory.bounds
    cdef uint8_t* counts = memory.counts if search.n_planes else NULL
    cdef BlockList* one
    cdef Py_ssize_t i
    cdef int64_t n = search.n_blocks
    cdef bint has_bounds = search.base != NULL, has_counts = counts == NULL
    memset(bounds + n, 0, TIEAWARE_GROUP * sizeof(uint16_t))
    if search.base != NULL:
        tieaware_begin(bounds, search.base_parts, n, search.base_factor)
    for i in range(lists.n):
        one = &search.block_lists[i]
        if one.bits != NULL:
            tieaware_raise(bounds, one.largest, n, one.factor, not has_bounds)
            has_bounds = True
            if counts != NULL:
                tieaware_count_lists(counts, one.largest, n, not has_counts)
                has_counts = True
    if not has_bounds:
        memset(bounds, 0, <size_t>n * sizeof(uint16_t))
    if not has_counts:
        memset(counts, 0, <size_t>n)
    for i in range(lists.n):
        one = &search.block_lists[i]
        if one.bits != NULL:
            continue
        tieaware_place(lists.kind, one, search.per_unit, bounds, <int32_t*>one.places, <uint64_t*>one.present, counts,
                       n)
    if counts != NULL:
        tieaware_keep(bounds, counts, n, <uint8_t>search.at_least)


cdef inline uint16_t least_of(BlockSearch* search) noexcept nogil:
    """Return the least bound of a block that may have a document among the best."""
    cdef double units = search.best.bound * search.per_unit / ROUNDING
    if not units >= 1.0:
        return 1
    return <uint16_t>min(units, 65535.0)


cdef uint16_t reach(const BlockSearch* search, int32_t block, uint16_t least) noexcept nogil:
    """Return the documents of a block whose bounds reach the least one."""
    cdef const TermLists* lists = &search.lists
    cdef uint16_t base = 0
    if search.base != NULL:
        base = tieaware_base_units(search.base_parts[block], search.base_factor)
    return <uint16_t>tieaware_reach(lists.kind, search.block_lists, lists.n, block, base, search.per_unit, least)


cdef void score_block(BlockSearch* search, int32_t block, uint64_t those) noexcept nogil:
    """Offer those documents of a block that are in enough lists."""
    cdef TermLists* lists = &search.lists
    cdef double[TIEAWARE_BLOCK] sums
    cdef int64_t first = <int64_t>block * TIEAWARE_BLOCK, width = min(<int64_t>TIEAWARE_BLOCK, search.until - first)
    cdef uint64_t reached
    cdef double score
    cdef int i
    those &= (<uint64_t>1 << width) - 1
    reached = tieaware_score_block(lists.kind, search.block_lists, lists.n, block, those, search.n_planes,
                                   search.initial, sums, &lists.n_read)
    while reached:
        i = tieaware_lowest(reached)
        reached &= reached - 1
        score = sums[i]
        if search.base != NULL:
            search.best.documents += 1
            score += search.base[first + i]
        elif score > 0.0:
            search.best.documents += 1
        else:
            continue
        if score > search.best.bound:
            offer(&search.best, <int32_t>(first + i) if search.order == NULL else search.order[first + i], score)


cdef void score_blocks(BlockSearch* search, Memory memory, int64_t n, Interruption* interruption) noexcept nogil:
    """Score n of the collected blocks, unless the bound of the best has reached theirs."""
    cdef const int32_t* blocks = memory.blocks
    cdef uint16_t* those = memory.those
    cdef int64_t i, ahead, bounded = 0
    cdef int kind = search.lists.kind
    cdef uint16_t least = least_of(search)
    cdef BlockList* lists = search.block_lists
    for i in range(-FAR_AHEAD, n):
        ahead = i + FAR_AHEAD
        if ahead < n:
            tieaware_prefetch_block_bits(lists, search.lists.n, blocks[ahead])
        ahead = i + AHEAD
        if 0 <= ahead < n:
            those[ahead] = reach(search, blocks[ahead], least) if memory.bounds[blocks[ahead]] >= least else 0
            if those[ahead]:
                tieaware_prefetch_places(lists, search.lists.n, blocks[ahead], kind)
        ahead = i + NEAR_AHEAD
        if 0 <= ahead < n and those[ahead]:
            tieaware_prefetch_weights(lists, search.lists.n, blocks[ahead], kind)
            if search.base != NULL:
                tieaware_prefetch(search.base + <int64_t>blocks[ahead] * TIEAWARE_BLOCK)
                tieaware_prefetch(search.base + <int64_t>blocks[ahead] * TIEAWARE_BLOCK + TIEAWARE_BLOCK // 2)
            if search.order != NULL:
                tieaware_prefetch(search.order + <int64_t>blocks[ahead] * TIEAWARE_BLOCK)
        if i >= 0 and those[i] and memory.bounds[blocks[i]] >= least:
            score_block(search, blocks[i], those[i])
            # Raise the bound, unless few documents were added since it was last raised.
            if search.best.heap.size >= max(search.best.k + 1, bounded + 1 + search.best.k // 2):
                leave_out(&search.best)
                bounded = search.best.k
                least = least_of(search)
        if interrupted(interruption, 16 * search.lists.n):
            return


cdef int64_t cut_of(const int32_t* bins, int64_t n_groups) noexcept nogil:
    """Return the highest bound that at least n groups reach by their largest bound, rounded down; 1 at the lowest."""
    cdef int64_t bin = TIEAWARE_BINS
    while bin > 0 and n_groups > 0:
        bin -= 1
        n_groups -= bins[bin]
    return max(<int64_t>1, bin << 8) if n_groups <= 0 else 1


cdef bint search_blocks(BlockSearch* search, Memory memory, Interruption* interruption) noexcept nogil:
    """Score the blocks in stages of descending bounds; return False if too many blocks would have to be scored."""
    cdef int32_t[TIEAWARE_BINS] bins
    cdef int64_t n_groups = (search.n_blocks + TIEAWARE_GROUP - 1) // TIEAWARE_GROUP
    cdef int64_t limit = 65536, scored = 0, wanted = search.best.k + 8, cut, m
    cdef Best* best = &search.best
    memset(bins, 0, sizeof(bins))
    tieaware_peaks(memory.bounds, n_groups, memory.peaks, bins)
    while limit > least_of(search):
        cut = least_of(search)
        if wanted < n_groups:
            cut = max(cut, cut_of(bins, wanted))
        wanted *= 4
        if cut >= limit:
            continue
        m = tieaware_collect(memory.bounds, n_groups, memory.peaks, <uint32_t>cut, <uint32_t>limit, memory.blocks)
        scored += m
        if scored * FEW > search.n_blocks + 64 * FEW:
            return False
        score_blocks(search, memory, m, interruption)
        if interruption.stopped:
            return True
        if best.heap.size > best.k:
            leave_out(best)
        limit = cut
    return True


cdef bint search_query(
    BlockSearch* search, Blocks blocks, Memory memory, const int64_t* terms, int64_t k, bint whole_ties, double floor,
    Results results
) except -1:
    """Search for a query whose lists are open, and add the result; return False if the query was not searched."""
    cdef TermLists* lists = &search.lists
    cdef Interruption interruption = no_interruption()
    cdef double highest = search.base[0] if search.base != NULL else 0.0, total = highest
    cdef Py_ssize_t i
    cdef bint is_complete, is_bounded = lists.n <= MOST_LISTS and highest >= 0.0
    for i in range(lists.n):
        is_bounded = is_bounded and lists.query_weights[i] >= 0.0 and blocks.largest[terms[i]] >= 0.0
        total += lists.query_weights[i] * blocks.largest[terms[i]]
    if is_bounded and total == 0.0 and search.base == NULL:
        # No score is above 0.
        results.skip(0, 0, 0)
        return True
    if not (is_bounded and total > 0.0 and isfinite(total) and isfinite(MOST_UNITS / total)):
        results.skip(0, 0, 0)
        return False
    search.per_unit = MOST_UNITS / total
    search.base_factor = <uint16_t>(highest * search.per_unit * (65536.0 / 65535.0) * ROUNDING + 1.0)
    open_block_lists(search, blocks, memory)
    # A bitmap could have bits of documents that its list lacks, so any document may have a score.
    open_best(&search.best, k, search.until if lists.bitmap_rows != NULL else min(search.until, lists.n_postings),
              whole_ties, False)
    search.best.bound = 0.0 if search.base == NULL else -INFINITY
    if floor > 0.0:
        bound_by(&search.best, floor)
    with nogil:
        bound_blocks(search, memory)
        is_complete = search_blocks(search, memory, &interruption)
    check_interruption(&interruption)
    if is_complete:
        results.add(&search.best, whole_ties, lists.n_read, 0)
    else:
        results.skip(lists.n_read, search.best.documents, search.best.heap.comparisons)
    return is_complete


def search(
    Blocks blocks not None, Base base, Queries queries not None, int64_t k, Py_ssize_t until, bint whole_ties,
    Memory memory not None
):
    """Find the top k documents for each of several queries, scoring few blocks.

    Parameters
    ----------
    blocks, base : Blocks and Base, or None
        What is searched, and what is added to the scores.
    queries : Queries
    k, until : int
        The number of documents to find, at least 1; documents from the number `until` on are left out.
    whole_ties : bool
        Whether to find all documents that tie with the k-th as well.
    memory : Memory
        Memory for this number of documents that no other thread is using.

    Returns
    -------
    (int64[n_queries + 1], int32[n], float64[n], int64[n_queries, 3], bool[n_queries])
        Offsets of the queries; their documents, best first; the scores; for each query, the numbers of postings read,
        of documents with a score and of comparisons; and whether it was searched to the end. It was not if too many
        blocks would have to be scored, a weight is negative, or no document can have a score above 0.
    """
    cdef BlockSearch state
    cdef Py_ssize_t q
    cdef int64_t a, b, at_least
    cdef Results results = Results(queries.n)
    if not (0 <= until <= blocks.n_documents <= 0x7fffffff and k >= 1):
        raise ValueError("n_documents, k or until is out of its range")
    if memory.n_blocks * TIEAWARE_BLOCK < blocks.n_documents:
        raise ValueError("memory must be that for this number of documents")
    if base is not None and base.n_documents != blocks.n_documents:
        raise ValueError("base must have a number for each document")
    complete = np.zeros(queries.n, bool)
    for q in range(queries.n):
        a, b, at_least = queries.offsets[q], queries.offsets[q + 1], queries.at_least[q]
        if not (0 <= a <= b <= queries.terms.shape[0] and at_least >= 1):
            raise ValueError("offsets or at_least is out of its range")
        if a == b or at_least > b - a:
            results.skip(0, 0, 0)
            continue
        memset(&state, 0, sizeof(state))
        state.until, state.n_blocks = until, (until + TIEAWARE_BLOCK - 1) // TIEAWARE_BLOCK
        if base is not None:
            state.base, state.base_parts, state.order = base.values, base.parts, base.order
        # A counter that overflows at the last of at_least lists.
        while at_least - 1 >> state.n_planes and state.n_planes < 8:
            state.n_planes += 1
        state.at_least, state.initial = <uint32_t>at_least, (<uint64_t>1 << state.n_planes) - <uint64_t>at_least
        try:
            blocks.postings.open_lists(&state.lists, &queries.terms[a], b - a, &queries.weights[a], blocks.n_documents)
            complete[q] = search_query(&state, blocks, memory, &queries.terms[a], k, whole_ties, queries.floors[q],
                                       results)
        finally:
            free(state.block_lists)
            close_lists(&state.lists)
            close_best(&state.best)
    return *results.arrays(), complete
