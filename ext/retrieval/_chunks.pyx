"""The accumulators of a chunk of documents, the functions that add posting lists to them, and those that take scores.

TermLists are added in their order, and a score is summed in this order in float64. An invalid document number ends its
list, so no memory outside the accumulators is read or written.
"""
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from tieaware.kernels._gallop cimport gallop
from tieaware.kernels._top cimport offer

cdef extern from "retrieval/accumulators.h":
    int tieaware_lowest(uint64_t word) nogil
    void tieaware_add(
        int kind, double *scores, const void *weights, ptrdiff_t first, ptrdiff_t n, double query_weight
    ) nogil
    void tieaware_set(
        int kind, double *scores, const void *weights, ptrdiff_t first, ptrdiff_t n, double query_weight
    ) nogil
    void tieaware_prefetch_bytes(const char *start, ptrdiff_t n) nogil
    int64_t tieaware_survey(const double *scores, uint64_t *marks, ptrdiff_t n_words, double bound) nogil

cdef extern from "retrieval/bitmaps.h":
    void tieaware_count_bits(const uint64_t *list, ptrdiff_t n_words, uint64_t *planes, ptrdiff_t stride, int n_planes,
                             uint64_t *reached) nogil
    int64_t tieaware_survey_among(double *scores, const double *base, ptrdiff_t n, const uint64_t *reached,
                                  uint64_t *marks, ptrdiff_t n_words, double bound) nogil

cdef enum:
    # The number of words to survey at a time. A word stands for 64 accumulators, and all of these accumulators must fit
    # in the first-level cache.
    SURVEYED_WORDS = 64
    # A chunk is dense if a list contains at least one in eight of its documents.
    DENSE = 8

ctypedef fused Weight:
    float
    uint8_t
    uint16_t


cdef inline int64_t add(
    const int32_t* documents, const Weight* weights, int64_t i, int64_t stop, double query_weight, Chunk* chunk
) noexcept nogil:
    """scores[d] += query_weight · weight for the postings from i on in this chunk.

    Return the index of the first posting after the chunk.
    """
    cdef uint32_t first = chunk.first, size = chunk.size, at
    cdef double* scores = chunk.scores
    cdef uint64_t* marks = chunk.marks
    cdef int64_t begin = i
    if i + size // DENSE < stop and <uint32_t>documents[i + size // DENSE] - first < size:
        chunk.is_dense = True
    if chunk.is_dense:
        while i < stop:
            at = <uint32_t>documents[i] - first
            if at >= size:
                break
            scores[at] += query_weight * <double>weights[i]
            i += 1
        # The postings of the next chunk, probably about as many, are far from those of the other lists.
        tieaware_prefetch_bytes(<const char*>(documents + i), min(stop - i, i - begin) * sizeof(int32_t))
        tieaware_prefetch_bytes(<const char*>(weights + i), min(stop - i, i - begin) * sizeof(Weight))
        return i
    while i < stop:
        at = <uint32_t>documents[i] - first
        if at >= size:
            break
        scores[at] += query_weight * <double>weights[i]
        marks[at // TIEAWARE_WORD] |= <uint64_t>1 << (at % TIEAWARE_WORD)
        i += 1
    return i


cdef inline void clear(Chunk* chunk) noexcept nogil:
    """Clear the accumulators, unless they are clear."""
    if chunk.n_dirty:
        memset(chunk.scores, 0, chunk.n_dirty * sizeof(double))
        chunk.n_dirty = 0


cdef inline int64_t passed(TermLists* lists, Py_ssize_t i, uint32_t document) noexcept nogil:
    """Return the index of the first posting of list i, from the next unread one on, that is not before a document."""
    cdef int64_t j = lists.next[i]
    if j < lists.stops[i] and lists.documents[j] < <int32_t>document:
        j = gallop(lists.documents, j, lists.stops[i], <int32_t>document)
    return j


cdef void count_row(TermLists* lists, Py_ssize_t i, Chunk* chunk, uint32_t document) noexcept nogil:
    """Count the postings of list i before this document as read, if its row was added to the chunks before."""
    cdef int64_t end
    if chunk.is_uncounted[i]:
        chunk.is_uncounted[i] = False
        end = passed(lists, i, document)
        lists.n_read += end - lists.next[i]
        lists.next[i] = end


cdef int64_t add_list(TermLists* lists, Py_ssize_t i, Chunk* chunk) noexcept nogil:
    """Add the postings of list i in this chunk; return the index of the list's first posting that is not counted.

    Without counters of lists, the postings of a row are counted only by `count_row`.
    """
    cdef int64_t before, j
    cdef double q = lists.query_weights[i]
    if not chunk.is_uncounted[i]:
        # The list may have been optional in earlier chunks, so that some of its postings there were not read.
        lists.next[i] = passed(lists, i, chunk.first)
    before = lists.next[i]
    if lists.rows != NULL and lists.rows[i] >= 0 and isfinite(q):
        add_row(lists, i, chunk)
        if chunk.reached == NULL:
            chunk.is_uncounted[i] = True
            return before
        j = passed(lists, i, chunk.first + chunk.size)
        lists.n_read += j - before
        return j
    clear(chunk)
    if lists.kind == 4:
        j = add(lists.documents, <const float*>lists.weights, before, lists.stops[i], q, chunk)
    elif lists.kind == 1:
        j = add(lists.documents, <const uint8_t*>lists.weights, before, lists.stops[i], q, chunk)
    else:
        j = add(lists.documents, <const uint16_t*>lists.weights, before, lists.stops[i], q, chunk)
    lists.n_read += j - before
    return j


cdef void add_row(TermLists* lists, Py_ssize_t i, Chunk* chunk) noexcept nogil:
    """Add a list in dense form, several documents at a time. Adding 0 for a missing posting does not change a sum.

    The weights of as many documents after the chunk are prefetched, because the next chunk probably needs them.
    """
    cdef Py_ssize_t size = chunk.size, at = lists.rows[i] * lists.n_documents + chunk.first
    cdef Py_ssize_t following = min(size, lists.n_documents - chunk.first - size)
    cdef double q = lists.query_weights[i]
    chunk.is_dense = True
    tieaware_prefetch_bytes(<const char*>lists.dense_weights + (at + size) * lists.kind, following * lists.kind)
    if chunk.n_dirty:
        if size < chunk.n_dirty:
            memset(chunk.scores + size, 0, (chunk.n_dirty - size) * sizeof(double))
        chunk.n_dirty = 0
        tieaware_set(lists.kind, chunk.scores, lists.dense_weights, at, size, q)
    else:
        tieaware_add(lists.kind, chunk.scores, lists.dense_weights, at, size, q)


cdef void count_list(TermLists* lists, Py_ssize_t i, int64_t end, Chunk* chunk) noexcept nogil:
    """Add 1 to the counters of the chunk's documents in list i, whose postings before `end` were added."""
    cdef Py_ssize_t word, plane
    cdef int64_t j
    cdef uint32_t at
    cdef uint64_t carry, digits
    if lists.bitmap_rows != NULL and lists.bitmap_rows[i] >= 0 and chunk.first % TIEAWARE_WORD == 0:
        tieaware_count_bits(
            lists.bitmaps + lists.bitmap_rows[i] * lists.n_words + chunk.first // TIEAWARE_WORD, words_of(chunk.size),
            chunk.planes, chunk.n_words, chunk.n_planes, chunk.reached,
        )
        return
    for j in range(lists.next[i], end):
        at = <uint32_t>lists.documents[j] - chunk.first
        if at >= chunk.size:
            continue
        word = at // TIEAWARE_WORD
        carry = <uint64_t>1 << (at % TIEAWARE_WORD)
        for plane in range(chunk.n_planes):
            digits = chunk.planes[plane * chunk.n_words + word]
            chunk.planes[plane * chunk.n_words + word] = digits ^ carry
            carry &= digits
        chunk.reached[word] |= carry


cdef void begin_counting(Chunk* chunk) noexcept nogil:
    """Reset the counters of a chunk."""
    cdef int plane
    memset(chunk.reached, 0, chunk.n_words * sizeof(uint64_t))
    for plane in range(chunk.n_planes):
        memset(chunk.planes + plane * chunk.n_words, 0xff if chunk.initial >> plane & 1 else 0,
               chunk.n_words * sizeof(uint64_t))


cdef void finish(Chunk* chunk) noexcept nogil:
    """Clear the accumulators of a chunk whose scores were taken: those of a dense chunk later, when this is needed."""
    if chunk.is_dense:
        # The last word may be incomplete.
        chunk.n_dirty = words_of(chunk.size) * TIEAWARE_WORD
    chunk.is_dense = False


cdef void take(Chunk* chunk, Best* best) noexcept nogil:
    """Offer all documents of a chunk with a score above 0, in ascending order, and clear the accumulators."""
    cdef Py_ssize_t n_words = words_of(chunk.size), word, start = 0, stop
    cdef uint64_t marks
    cdef Py_ssize_t i
    while start < n_words:
        stop = min(n_words, start + SURVEYED_WORDS)
        if chunk.is_dense:
            best.documents += tieaware_survey(
                chunk.scores + start * TIEAWARE_WORD, chunk.marks + start, stop - start, best.bound
            )
        for word in range(start, stop):
            marks = chunk.marks[word]
            while marks:
                i = word * TIEAWARE_WORD + tieaware_lowest(marks)
                marks &= marks - 1
                if not chunk.is_dense:
                    best.documents += chunk.scores[i] > 0.0
                offer(best, <int32_t>(chunk.first + i), chunk.scores[i])
                chunk.scores[i] = 0.0
            chunk.marks[word] = 0
        start = stop
    finish(chunk)


cdef void take_counted(Chunk* chunk, Best* best, const double* base, const int32_t* order) noexcept nogil:
    """Offer the documents of a chunk that are in enough lists, and clear the accumulators.

    Without a base, only documents with a score above 0 are offered. `order`, if there is one, has the number with which
    each document is offered.
    """
    cdef Py_ssize_t n_words = words_of(chunk.size), word, start = 0, stop, i
    cdef uint64_t marks
    cdef uint32_t document
    cdef double score
    if chunk.size % TIEAWARE_WORD:
        chunk.reached[n_words - 1] &= (<uint64_t>1 << (chunk.size % TIEAWARE_WORD)) - 1
    while start < n_words:
        stop = min(n_words, start + SURVEYED_WORDS)
        if chunk.is_dense:
            best.documents += tieaware_survey_among(
                chunk.scores + start * TIEAWARE_WORD, NULL if base == NULL else base + start * TIEAWARE_WORD,
                chunk.size - start * TIEAWARE_WORD, chunk.reached + start, chunk.marks + start, stop - start,
                best.bound,
            )
        for word in range(start, stop):
            marks = chunk.marks[word]
            chunk.marks[word] = 0
            while marks:
                i = word * TIEAWARE_WORD + tieaware_lowest(marks)
                marks &= marks - 1
                score = chunk.scores[i]
                document = chunk.first + <uint32_t>i
                if not chunk.is_dense:
                    chunk.scores[i] = 0.0
                    if not chunk.reached[word] >> (i % TIEAWARE_WORD) & 1:
                        continue
                    if base != NULL:
                        score = score + base[i]
                    best.documents += base != NULL or score > 0.0
                if base != NULL or score > 0.0:
                    offer(best, <int32_t>document if order == NULL else order[document], score)
        start = stop
    finish(chunk)


cdef int open_chunk(Chunk* chunk, Py_ssize_t size, Py_ssize_t n_lists, uint32_t at_least) except -1:
    """Allocate zeroed accumulators for `size` documents, rounded up to complete words of marks, and n_lists lists.

    If `at_least` is above 0, the lists that contain a document are counted up to this number.
    """
    cdef size_t n_words = words_of(size) + 1
    chunk.scores = <double*>calloc(n_words * TIEAWARE_WORD, sizeof(double))
    chunk.marks = <uint64_t*>calloc(n_words, sizeof(uint64_t))
    chunk.is_uncounted = <uint8_t*>calloc(n_lists + 1, sizeof(uint8_t))
    chunk.n_words = n_words
    if at_least:
        while at_least - 1 >> chunk.n_planes:
            chunk.n_planes += 1
        chunk.initial = (<uint64_t>1 << chunk.n_planes) - at_least
        chunk.reached = <uint64_t*>calloc(n_words, sizeof(uint64_t))
        chunk.planes = <uint64_t*>calloc(n_words * (chunk.n_planes + 1), sizeof(uint64_t))
    if not (chunk.scores and chunk.marks and chunk.is_uncounted) or (at_least and not (chunk.reached and chunk.planes)):
        raise MemoryError
    return 0


cdef void close_chunk(Chunk* chunk) noexcept:
    free(chunk.scores)
    free(chunk.marks)
    free(chunk.is_uncounted)
    free(chunk.reached)
    free(chunk.planes)
