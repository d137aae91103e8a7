"""The smallest window of a document that contains all terms of a query.

Posting i belongs to the document documents[i], and has the positions positions[position_starts[i]:position_starts[i +
1]], in ascending order. Term t of the query has the postings from starts[t] to stops[t], whose documents ascend. The
kernel never reads outside these arrays, even if their content is invalid.
"""
import numpy as np
from libc.stdint cimport int32_t, int64_t

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption

cnp.import_array()

cdef int64_t LARGEST = 2147483647


cdef struct Places:
    # The positions of a term in a document. `next` is the index of the first position that the current window uses. A
    # window needs `needed` consecutive positions; `last` is the greatest index at which they can begin.
    int64_t next
    int64_t last
    # The number of occurrences of the term that a window needs.
    int64_t needed


def smallest_windows(
    const int64_t[::1] starts, const int64_t[::1] stops, const int32_t[::1] needed, const int32_t[::1] documents,
    const int64_t[::1] position_starts, const int32_t[::1] positions, const int32_t[::1] candidates,
):
    """Return the width of each candidate's smallest window that contains all terms as often as needed, or 0.

    Parameters
    ----------
    starts, stops : int64[n_terms]
        The range of postings of each query term.
    needed : int32[n_terms]
        How often a window must contain each term, at least 1.
    documents : int32[n_postings]
    position_starts : int64[n_postings + 1]
    positions : int32[n_tokens]
    candidates : int32[n]
        The documents whose windows to find, in any order.

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
    """Return the index of a document in a sorted range, or -1.

    Invariant: all documents before `start` are smaller than the document sought, and no document from `stop` on is.
    """
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
    """Return the smallest width of a window: its greatest last position of a term - its smallest first position + 1.

    Invariant: no window that begins before the current first positions of all terms is smaller than the best so far. In
    each step, the term with the smallest first position moves on to its next position. Windows that begin at the old
    position need not be looked at again, because later positions of the other terms would only make them wider.
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
