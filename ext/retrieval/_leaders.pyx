"""Leaders of clusters: the leaders that are nearest to each document.

A document's products with all leaders are sums over its terms in ascending order, product[l] += weight of the term in
the document · weight of the term in leader l. They are computed document by document, so that they stay in the
first-level cache. The document's nearest leaders are those with the largest products.
"""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption

cdef extern from "retrieval/accumulators.h":
    void tieaware_add_float(double *scores, const float *weights, ptrdiff_t n, double query_weight) nogil

cnp.import_array()


cdef void insert(double product, int32_t leader, int32_t* nearest, double* products, Py_ssize_t b) noexcept nogil:
    """Insert a leader among the b nearest so far, after leaders with the same product."""
    cdef Py_ssize_t i = b - 1
    while i > 0 and products[i - 1] < product:
        products[i] = products[i - 1]
        nearest[i] = nearest[i - 1]
        i -= 1
    products[i] = product
    nearest[i] = leader


def nearest(
    const int64_t[::1] offsets, const int32_t[::1] terms, const float[::1] weights, const int64_t[::1] starts,
    const int32_t[::1] leaders, const float[::1] leader_weights, Py_ssize_t n_leaders, const int64_t[::1] rows,
    const float[:, ::1] dense_weights, Py_ssize_t b, int32_t[:, ::1] out
):
    """Find the b nearest leaders of each document.

    Parameters
    ----------
    offsets, terms, weights : int64[n_documents + 1], int32[n_entries] and float32[n_entries]
        The terms of document d, ascending, with their weights, are those from offsets[d] to offsets[d + 1].
    starts, leaders, leader_weights : int64[n_terms + 1], int32[n_leader_postings] and float32[n_leader_postings]
        The postings of the leaders: those of term t are starts[t] to starts[t + 1].
    n_leaders : int
        The number of leaders.
    rows, dense_weights : int64[n_terms] and float32[n_rows, n_leaders]
        The row of each term in dense_weights, or -1. A row has a weight for each leader, 0 for a missing posting.
    b : int
        The number of leaders to find, from 1 to n_leaders.
    out : int32[n_documents, b]
        The nearest leaders of each document; if products tie, those with the lowest numbers come first.
    """
    cdef Py_ssize_t n_documents = offsets.shape[0] - 1, n_terms = starts.shape[0] - 1, d, i, m
    cdef int64_t j, steps, row
    cdef int32_t t, leader
    cdef double weight, least
    cdef double* products
    cdef double* best
    cdef Interruption interruption = no_interruption()
    if not 1 <= b <= n_leaders <= 0x7fffffff or out.shape[0] != n_documents or out.shape[1] != b:
        raise ValueError("b must be from 1 to the number of leaders, and out must have b leaders for each document")
    if weights.shape[0] != terms.shape[0] or leader_weights.shape[0] != leaders.shape[0] or rows.shape[0] != n_terms:
        raise ValueError("each entry and each posting must have a weight, and each term a row")
    if dense_weights.shape[1] != n_leaders:
        raise ValueError("dense_weights must have a column for each leader")
    for d in range(n_documents):
        if not 0 <= offsets[d] <= offsets[d + 1] <= terms.shape[0]:
            raise ValueError("offsets: a document has terms outside the array")
    for i in range(n_terms):
        if not (0 <= starts[i] <= starts[i + 1] <= leaders.shape[0] and -1 <= rows[i] < dense_weights.shape[0]):
            raise ValueError("starts: a term has postings outside the array, or rows: a row is outside dense_weights")
    products = <double*>malloc(<size_t>(n_leaders + b + 1) * sizeof(double))
    if products == NULL:
        raise MemoryError
    best = products + n_leaders
    try:
        with nogil:
            for d in range(n_documents):
                memset(products, 0, n_leaders * sizeof(double))
                steps = n_leaders
                for i in range(offsets[d], offsets[d + 1]):
                    t = terms[i]
                    if not 0 <= t < n_terms:
                        continue
                    weight = <double>weights[i]
                    row = rows[t]
                    if row >= 0:
                        tieaware_add_float(products, &dense_weights[row, 0], n_leaders, weight)
                        steps += n_leaders // 4
                        continue
                    for j in range(starts[t], starts[t + 1]):
                        leader = leaders[j]
                        if 0 <= leader < n_leaders:
                            products[leader] += weight * <double>leader_weights[j]
                    steps += starts[t + 1] - starts[t]
                # No product is below 0, so the first leaders are the nearest until others are inserted.
                for m in range(b):
                    best[m] = -1.0
                    out[d, m] = <int32_t>m
                least = -1.0
                for m in range(n_leaders):
                    if products[m] > least:
                        insert(products[m], <int32_t>m, &out[d, 0], best, b)
                        least = best[b - 1]
                if interrupted(&interruption, steps):
                    break
        check_interruption(&interruption)
    finally:
        free(products)
