"""Ideal rankings of documents that are relevant to several subtopics, built document by document as ndeval does.

The document with the largest gain comes next. Of documents with equal gains, it is the first one in an order that the
caller gives. This greedy choice is not always the best ranking; finding that one is NP-hard.
"""
import numpy as np
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption

cnp.import_array()


def greedy_gains(cnp.ndarray codes not None, cnp.ndarray offsets not None, cnp.ndarray relevant not None,
                 cnp.ndarray weights not None, double alpha, Py_ssize_t depth, double rounding):
    """Return the gains of the first `depth` documents of the ideal ranking of each query: float64[n_documents].

    The gains of a query start where its documents do, and are 0 after the last gain.

    Parameters
    ----------
    codes : int64[n_documents]
        The combination of each document, query by query; among documents with equal gains, earlier ones are preferred.
    offsets : int64[n_queries + 1]
        The documents of query q are the indices offsets[q] … offsets[q + 1] - 1.
    relevant : bool[n_codes, n_subtopics]
        The subtopics of each combination.
    weights : float64[n_queries, n_subtopics]
        The weight of each subtopic of a query.
    alpha : float
        A document's gain for a subtopic is its weight times (1 - alpha)^C, for C earlier documents with the subtopic.
    depth : int
    rounding : float
        Gains are equal if they differ by at most this share.
    """
    cdef Py_ssize_t n = codes.shape[0], n_queries = offsets.shape[0] - 1, n_codes = relevant.shape[0]
    cdef Py_ssize_t n_subtopics = relevant.shape[1], q, i, c, e, first, last, rank, n_found, best, left
    cdef cnp.ndarray gains = np.zeros(n)
    cdef const int64_t* code = <const int64_t*>cnp.PyArray_DATA(codes)
    cdef const int64_t* offset = <const int64_t*>cnp.PyArray_DATA(offsets)
    cdef const cnp.npy_bool* has = <const cnp.npy_bool*>cnp.PyArray_DATA(relevant)
    cdef const double* weight = <const double*>cnp.PyArray_DATA(weights)
    cdef double* into = <double*>cnp.PyArray_DATA(gains)
    # For each document, the next one of its query with the same combination, or -1. For each combination of the query,
    # `head` is its first document that is not ranked yet, and `tail` its last document; found[:n_found] are they.
    cdef int64_t* following = <int64_t*>malloc(max(n, 1) * sizeof(int64_t))
    cdef int64_t* head = <int64_t*>malloc(max(n_codes, 1) * sizeof(int64_t))
    cdef int64_t* tail = <int64_t*>malloc(max(n_codes, 1) * sizeof(int64_t))
    cdef int64_t* found = <int64_t*>malloc(max(n_codes, 1) * sizeof(int64_t))
    cdef double* rest = <double*>malloc(max(n_subtopics, 1) * sizeof(double))
    cdef double* terms = <double*>malloc(max(n_subtopics, 1) * sizeof(double))
    cdef double gain, most
    cdef Interruption interruption = no_interruption()
    try:
        if following == NULL or head == NULL or tail == NULL or found == NULL or rest == NULL or terms == NULL:
            raise MemoryError("no memory for ideal rankings")
        with nogil:
            for c in range(n_codes):
                head[c] = -1
            for q in range(n_queries):
                first, last = offset[q], offset[q + 1]
                n_found = 0
                for i in range(first, last):
                    following[i] = -1
                    c = code[i]
                    if head[c] < 0:
                        head[c] = i
                        found[n_found] = c
                        n_found += 1
                    else:
                        following[tail[c]] = i
                    tail[c] = i
                for i in range(n_subtopics):
                    rest[i] = weight[q * n_subtopics + i]
                for rank in range(min(depth, last - first)):
                    best = -1
                    most = 0.0
                    if interrupted(&interruption, n_found * n_subtopics):
                        break
                    left = 0
                    for e in range(n_found):
                        c = found[e]
                        if head[c] < 0:
                            continue
                        found[left] = c
                        left += 1
                        gain = gain_of(has + c * n_subtopics, rest, terms, n_subtopics)
                        if gain > most * (1.0 + rounding):
                            most, best = gain, c
                        elif best >= 0 and gain >= most * (1.0 - rounding) and head[c] < head[best]:
                            most, best = gain, c
                    n_found = left
                    if best < 0:
                        break
                    into[first + rank] = most
                    head[best] = following[head[best]]
                    for i in range(n_subtopics):
                        if has[best * n_subtopics + i]:
                            rest[i] *= 1.0 - alpha
                for i in range(first, last):
                    head[code[i]] = -1
        check_interruption(&interruption)
    finally:
        free(following)
        free(head)
        free(tail)
        free(found)
        free(rest)
        free(terms)
    return gains


cdef double gain_of(const cnp.npy_bool* has, const double* rest, double* terms, Py_ssize_t n) noexcept nogil:
    """Return the sum of rest[i] over the subtopics i that a document has, added from the smallest to the largest.

    So equal terms give equal sums, for any numbers of the subtopics. Other terms may give them but for rounding.
    """
    cdef Py_ssize_t i, j, n_terms = 0
    cdef double total = 0.0
    for i in range(n):
        if has[i]:
            j = n_terms
            while j > 0 and terms[j - 1] > rest[i]:
                terms[j] = terms[j - 1]
                j -= 1
            terms[j] = rest[i]
            n_terms += 1
    for i in range(n_terms):
        total += terms[i]
    return total
