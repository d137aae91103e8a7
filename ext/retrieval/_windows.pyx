"""The smallest window of a document that holds a query's terms.

Posting i is of the document documents[i], and has the positions positions[position_starts[i]:position_starts[i + 1]],
ascending; a term of the query has the postings from starts[t] to stops[t], their documents ascending. Whatever these
arrays hold, nothing is read outside of them.
"""
cimport numpy as cnp
import numpy as np
from libc.stdint cimport int32_t, int64_t

from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption

cnp.import_array()

cdef int64_t LARGEST = 2147483647


cdef struct Places:
    # The places of a term in a document: the next that it may have in a window, and the last such.
    int64_t next
    int64_t last
    # How many of them a window needs.
    int64_t needed


def smallest_windows(
    const int64_t[::1] starts, const int64_t[::1] stops, const int32_t[::1] needed, const int32_t[::1] documents,
    const int64_t[::1] position_starts, const int32_t[::1] positions, const int32_t[::1] candidates,
):
    """Return the width of the smallest window of each candidate that holds each term as often as it is needed, or 0.

    Parameters
    ----------
    starts, stops : int64[n_terms]
        The postings of the query's terms.
    needed : int32[n_terms]
        How often a window has each term, at least 1.
    documents : int32[n_postings]
    position_starts : int64[n_postings + 1]
    positions : int32[n_tokens]
    candidates : int32[n]
        The documents to look at, in any order.

    Returns
    -------
    int32[n]
    """
    cdef Py_ssize_t n_terms = starts.shape[0], n = candidates.shape[0], n_postings = documents.shape[0], d, t
    cdef int64_t posting, start, stop, width
    cdef Interruption interruption = no_interruption()
    if stops.shape[0] != n_terms or needed.shape[0] != n_terms or position_starts.shape[0] != n_postings + 1:
        raise ValueError("arrays of different lengths")
    widths = np.zeros(n, np.int32)
    if n == 0 or n_terms == 0 or n_postings == 0 or positions.shape[0] == 0:
        return widths
    workspace = np.empty(3 * n_terms, np.int64)
    cdef int32_t[::1] out = widths
    cdef int64_t[::1] memory = workspace
    cdef Places* places = <Places*>&memory[0]
    with nogil:
        for d in range(n):
            for t in range(n_terms):
                start, stop = clamped(starts[t], n_postings), clamped(stops[t], n_postings)
                posting = find(&documents[0], start, stop, candidates[d])
                if posting < 0:
                    break
                places[t].needed = max(needed[t], 1)
                places[t].next = clamped(position_starts[posting], positions.shape[0])
                places[t].last = clamped(position_starts[posting + 1], positions.shape[0]) - places[t].needed
                if places[t].next > places[t].last:
                    break
            else:
                width = smallest(places, n_terms, &positions[0], &interruption)
                out[d] = <int32_t>min(max(width, 0), LARGEST)
            if interrupted(&interruption, 20 * n_terms):
                break
    check_interruption(&interruption)
    return widths


cdef inline int64_t clamped(int64_t index, int64_t n) noexcept nogil:
    return min(max(index, 0), n)


cdef inline int64_t find(const int32_t* documents, int64_t start, int64_t stop, int32_t document) noexcept nogil:
    """Where a document is between two places, or -1. Invariant: all before start are smaller, none from stop on is."""
    cdef int64_t end = stop, middle
    while start < stop:
        middle = start + (stop - start) // 2
        if documents[middle] < document:
            start = middle + 1
        else:
            stop = middle
    return start if start < end and documents[start] == document else -1


cdef int64_t smallest(
    Places* places, Py_ssize_t n_terms, const int32_t* positions, Interruption* interruption
) noexcept nogil:
    """min over windows of max over terms of their last place - min of their first + 1.

    Invariant: no window that begins before the places of all terms is smaller than the best so far. What begins first
    cannot be in a smaller one with later places of the others, and moves on.
    """
    cdef int64_t first, last, begin, end, best = LARGEST
    cdef Py_ssize_t t, earliest
    while not interrupted(interruption, n_terms):
        begin, end, earliest = LARGEST, -1, 0
        for t in range(n_terms):
            first = positions[places[t].next]
            last = positions[places[t].next + places[t].needed - 1]
            if first < begin:
                begin, earliest = first, t
            if last > end:
                end = last
        best = min(best, end - begin + 1)
        places[earliest].next += 1
        if places[earliest].next > places[earliest].last:
            break
    return best
