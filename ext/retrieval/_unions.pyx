"""Candidates: the union of some lists of documents, in ascending order.

Few documents are merged, or sorted if their lists do not ascend. Many documents are united in a bitmap.
"""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from tieaware.kernels._term_lists cimport Lists

cdef extern from "retrieval/accumulators.h":
    enum: TIEAWARE_WORD
    int tieaware_lowest(uint64_t word) nogil
    void tieaware_prefetch(const void *address) nogil

cdef extern from "retrieval/unions.h":
    enum: TIEAWARE_RUN
    void tieaware_sort_run(int32_t *documents, int n) nogil


cdef void merge_counted(Candidates* candidates, Lists* entries, int64_t at_least) noexcept nogil:
    """Merge lists of documents, and keep the documents that are in at least `at_least` of the lists.

    Invariant: all documents before the heads of the lists are merged.
    """
    cdef Py_ssize_t n_lists = entries.n, i
    cdef int64_t* heads = entries.next
    cdef const int64_t* stops = entries.stops
    cdef const int32_t* documents = entries.documents
    cdef int32_t least
    cdef int64_t times
    while True:
        least, times = 0x7fffffff, 0
        for i in range(n_lists):
            if heads[i] < stops[i]:
                least = min(least, documents[heads[i]])
        for i in range(n_lists):
            if heads[i] < stops[i] and documents[heads[i]] == least:
                heads[i] += 1
                times += 1
        if times == 0:
            return
        candidates.documents[candidates.n] = least
        # Skip an invalid document number, so that it is not used as an index.
        candidates.n += times >= at_least and 0 <= least and <uint32_t>least < candidates.n_documents


cdef void merge(Candidates* candidates, Lists* entries, int32_t* spare, const double* base) noexcept nogil:
    """Merge lists of documents one after another, and fetch their bases. The spare array has room for all entries.

    Two lists are merged without a branch, which would often be mispredicted.
    """
    cdef int32_t* merged = spare
    cdef const int32_t* first = NULL
    cdef const int32_t* second
    cdef int32_t a, b
    cdef int64_t n = 0, n_first = 0, n_second, i, j
    cdef Py_ssize_t which
    for which in range(entries.n):
        second, n_second = entries.documents + entries.next[which], entries.stops[which] - entries.next[which]
        if n_second <= 0:
            continue
        if n_first == 0:
            first, n_first = second, n_second
            continue
        # Do not write to the array that is read.
        merged = spare if first != spare else candidates.documents
        n = i = j = 0
        while i < n_first and j < n_second:
            a, b = first[i], second[j]
            merged[n] = a if a < b else b
            i += a <= b
            j += b <= a
            n += 1
        while i < n_first:
            merged[n] = first[i]
            i += 1
            n += 1
        while j < n_second:
            merged[n] = second[j]
            j += 1
            n += 1
        first, n_first = merged, n
    for i in range(n_first):
        a = first[i]
        candidates.documents[candidates.n] = a
        # Skip an invalid document number, so that it is not used as an index.
        if 0 <= a and <uint32_t>a < candidates.n_documents:
            candidates.n += 1
            if base != NULL:
                tieaware_prefetch(base + a)


cdef void sort(Candidates* candidates, const Lists* entries, int32_t* spare) noexcept nogil:
    """Sort the documents of lists that are not in ascending order. The spare array has room for all entries.

    Runs of 64 documents are sorted by counting, and merged without a branch, which would often be mispredicted.
    """
    cdef int32_t* sorted = candidates.documents
    cdef int32_t* merged = spare
    cdef int32_t a, b
    cdef int64_t n = 0, m, width = TIEAWARE_RUN, first = 0, i, j, middle, stop
    cdef Py_ssize_t which
    for which in range(entries.n):
        for i in range(entries.next[which], entries.stops[which]):
            sorted[n] = entries.documents[i]
            n += 1
    while first < n:
        tieaware_sort_run(sorted + first, <int>min(width, n - first))
        first += width
    while width < n:
        first = 0
        while first < n:
            middle, stop = min(first + width, n), min(first + 2 * width, n)
            i, j, m = first, middle, first
            while i < middle and j < stop:
                a, b = sorted[i], sorted[j]
                merged[m] = a if a <= b else b
                i += a <= b
                j += a > b
                m += 1
            memcpy(merged + m, sorted + i, <size_t>(middle - i) * sizeof(int32_t))
            m += middle - i
            memcpy(merged + m, sorted + j, <size_t>(stop - j) * sizeof(int32_t))
            first = stop
        sorted, merged = merged, sorted
        width *= 2
    for i in range(n):
        a = sorted[i]
        # Skip an invalid document number, so that it is not used as an index, and a document that was before.
        if 0 <= a and <uint32_t>a < candidates.n_documents and (
            candidates.n == 0 or candidates.documents[candidates.n - 1] != a
        ):
            candidates.documents[candidates.n] = a
            candidates.n += 1


cdef void unite(
    Candidates* candidates, Lists* entries, uint64_t initial, int n_planes, uint64_t* planes, Py_ssize_t n_words
) noexcept nogil:
    """Mark the documents of lists in the bitmap if they are in enough lists, and store them as candidates.

    Each document has a counter, whose binary digits are in the planes. It begins at `initial`, and overflows when the
    document has been in enough lists.
    """
    cdef Py_ssize_t i, word, plane
    cdef int64_t j
    cdef uint32_t document
    cdef uint64_t carry, digits
    for plane in range(n_planes):
        memset(planes + plane * n_words, 0xff if initial >> plane & 1 else 0, n_words * sizeof(uint64_t))
    for i in range(entries.n):
        for j in range(entries.starts[i], entries.stops[i]):
            document = <uint32_t>entries.documents[j]
            if document >= candidates.n_documents:
                continue
            word = document // TIEAWARE_WORD
            carry = <uint64_t>1 << (document % TIEAWARE_WORD)
            for plane in range(n_planes):
                digits = planes[plane * n_words + word]
                planes[plane * n_words + word] = digits ^ carry
                carry &= digits
            candidates.bits[word] |= carry
    for word in range(n_words):
        candidates.ranks[word] = <uint32_t>candidates.n
        carry = candidates.bits[word]
        while carry:
            candidates.documents[candidates.n] = <int32_t>(word * TIEAWARE_WORD + tieaware_lowest(carry))
            candidates.n += 1
            carry &= carry - 1
