"""Measures of diversity under ties: means over the orders of tied documents.

Notation: t documents are ranked above a group; the group has n documents, and r of them are relevant to a subtopic. m
slots of the group are within the cut-off, and slot j has the weight d_j. Weighting i of the measure is 1 for documents
that are relevant to subtopic i of their query, and subtopic i has the weight w_i.

A document that is relevant to a subtopic has the gain q^C for it, where C documents before are relevant to it too, and
q = 1 - α. So at slot x of a group, the expected gain is r/n Q B_{x-1}. Q = q^C is that of the documents of earlier
groups. B_x = E[q^H] is that of x other documents of the group: H of them, a hypergeometric number, are among the r - 1
others that are relevant. B_x is computed by adding the r - 1 documents one at a time to n - r others; see cascade.h.

`greedy_gains` builds ideal rankings document by document, as ndeval does. The document with the largest gain comes
next, and among equal gains, the first one in an order that the caller gives. This greedy choice is not
always the best ranking; finding that one is NP-hard.
"""
import numpy as np
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._exact cimport double_double
from tieaware.kernels._expected cimport average_precision, hits_within, success
from tieaware.kernels._groups cimport Groups
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware.kernels._measure cimport TOO_MANY, Query, between

cnp.import_array()

cdef extern from "engine/cascade.h" nogil:
    void tieaware_join_products(double* products, int m, int64_t i, double q)

# The kernel refuses to compute a value that takes more steps than this, which would last a few seconds.
cdef double MOST_STEPS = 3e9

# B_x is at most (1 - s)^x, with s = α (r-1)/(n-1). After REACH/s slots, it is below 2^-64 and no longer counts.
cdef double REACH = 45.0


cdef double mean_of_novelty(const Query* q) noexcept nogil:
    """Return Σ_i w_i Σ Q r/n Σ_{x≤m} B_{x-1} d_{t+x} over subtopics and groups, divided by the norm.

    The workspace holds w_i Q for each subtopic, the expected gain of each slot of a group, and B.
    """
    cdef const Groups* groups = q.groups
    cdef Subtopics subtopics = subtopics_of(q)
    cdef double* left = q.workspace
    cdef double* gains = left + subtopics.n
    cdef double* products
    cdef int64_t t, n, m, x, i, k = q.measure.cutoff, reach
    cdef Py_ssize_t g
    cdef double r, same, gain, total = 0.0
    cdef double_double d
    for i in range(subtopics.n):
        left[i] = subtopics.weight[i]
    for g in range(groups.count):
        t = groups.start[g]
        n = groups.size[g]
        if t >= k:
            break
        if n == 1:
            gain = 0.0
            for i in range(subtopics.n):
                if q.weight[i * groups.stride + g] > 0.0:
                    gain += left[i]
                    left[i] *= 1.0 - q.measure.measure_number
            if gain > 0.0:
                d = between(q.measure.lookup, t, 1)
                total += gain * (d.high + d.low)
            continue
        m = reached(q, &subtopics, g)
        products = gains + m
        for x in range(m):
            gains[x] = 0.0
        # The gain that is the same in all slots.
        same = 0.0
        for i in range(subtopics.n):
            r = q.weight[i * groups.stride + g]
            if r == 0.0 or left[i] == 0.0:
                continue
            gain = left[i] * r / n
            if r == 1.0 or q.measure.measure_number == 0.0:
                same += gain
            else:
                reach = reached_by(q, g, r)
                if not add_gains(q, n, <int64_t>r, min(m, reach), gain, gains, products):
                    return 0.0
            left[i] *= power(1.0 - q.measure.measure_number, r)
        if same > 0.0:
            d = between(q.measure.lookup, t, min(n, k - t))
            total += same * (d.high + d.low)
        for x in range(m):
            if gains[x] > 0.0:
                d = between(q.measure.lookup, t + x, 1)
                total += gains[x] * (d.high + d.low)
    return total / q.norm


cdef bint add_gains(const Query* q, int64_t n, int64_t r, int64_t m, double gain, double* gains,
                    double* products) noexcept nogil:
    """Add gain · B_x to each of the gains[:m]; return False if the call was interrupted.

    products[m - 1 - x] is B_x.
    """
    cdef int64_t x, i
    for x in range(m):
        products[x] = 1.0
    for i in range(n - r + 1, n):
        if interrupted(q.interruption, m):
            return False
        tieaware_join_products(products, <int>(m - 1), i, 1.0 - q.measure.measure_number)
    for x in range(m):
        gains[x] += gain * products[m - 1 - x]
    return True


cdef inline int64_t reached_by(const Query* q, Py_ssize_t g, double r) noexcept nogil:
    """Return how many slots of a group are within the cut-off and not negligible for a subtopic of r > 1 documents."""
    cdef int64_t n = q.groups.size[g], m = min(n, q.measure.cutoff - q.groups.start[g])
    cdef double stops = q.measure.measure_number * (r - 1.0)
    if m > REACH and stops * m > REACH * (n - 1):
        return <int64_t>(REACH * (n - 1) / stops) + 1
    return m


cdef int64_t reached(const Query* q, const Subtopics* subtopics, Py_ssize_t g) noexcept nogil:
    """Return the number of slots for which gains of a group are computed one by one."""
    cdef int64_t i, m = 0
    cdef double r
    if q.measure.measure_number == 0.0:
        return 0
    for i in range(subtopics.n):
        r = q.weight[i * q.groups.stride + g]
        if r > 1.0:
            m = max(m, reached_by(q, g, r))
    return m


cdef int64_t size_of_mean_of_novelty(const Query* q) noexcept nogil:
    cdef Subtopics subtopics = subtopics_of(q)
    cdef int64_t i, m, most = 0
    cdef double r, steps = 0.0
    cdef Py_ssize_t g
    for g in range(q.groups.count):
        if q.groups.start[g] >= q.measure.cutoff:
            break
        if q.groups.size[g] == 1:
            continue
        m = reached(q, &subtopics, g)
        most = max(most, m)
        if m > REACH:
            for i in range(subtopics.n):
                r = q.weight[i * q.groups.stride + g]
                if r > 1.0:
                    steps += r * reached_by(q, g, r)
    if steps > MOST_STEPS or most > 0x7ffffffe:
        return TOO_MANY
    return subtopics.n + 2 * most


cdef double mean_of_intents_hits(const Query* q) noexcept nogil:
    """Return Σ_i w_i (expected documents within the cut-off that are relevant to subtopic i), divided by the norm."""
    cdef Subtopics subtopics = subtopics_of(q)
    cdef int64_t i
    cdef double total = 0.0
    for i in range(subtopics.n):
        if subtopics.weight[i] > 0.0:
            total += subtopics.weight[i] * hits_within(q.groups, q.weight + i * q.groups.stride, q.measure.cutoff)
    return total / q.norm


cdef double mean_of_intents_precision(const Query* q) noexcept nogil:
    """Return Σ_i w_i times the expected average precision for subtopic i, whose number of documents is in w_i."""
    cdef Subtopics subtopics = subtopics_of(q)
    cdef Query of_one = q[0]
    cdef int64_t i
    cdef double total = 0.0
    of_one.norm = 1.0
    for i in range(subtopics.n):
        if subtopics.weight[i] > 0.0:
            of_one.weight = q.weight + i * q.groups.stride
            total += subtopics.weight[i] * average_precision(&of_one)
    return total


cdef double mean_of_intents_success(const Query* q) noexcept nogil:
    """Return Σ_i w_i times the probability that a document within the cut-off is relevant to subtopic i."""
    cdef Subtopics subtopics = subtopics_of(q)
    cdef Query of_one = q[0]
    cdef int64_t i
    cdef double total = 0.0
    for i in range(subtopics.n):
        if subtopics.weight[i] > 0.0:
            of_one.weight = q.weight + i * q.groups.stride
            total += subtopics.weight[i] * success(&of_one)
    return total


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
