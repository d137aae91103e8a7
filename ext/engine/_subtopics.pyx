"""Measures of diversity under ties: means over the orders of tied documents.

Notation: t documents are ranked above a group; the group has n documents, and r of them are relevant to a subtopic. m
slots of the group are within the cut-off, and slot j has the weight d_j. Weighting i of the measure is 1 for documents
that are relevant to subtopic i of their query, and subtopic i has the weight w_i.

A document that is relevant to a subtopic has the gain q^C for it, where C documents before are relevant to it too, and
q = 1 - α. So at slot x of a group, the expected gain is r/n Q B_{x-1}. Q = q^C is that of the documents of earlier
groups. B_x = E[q^H] is that of x other documents of the group: H of them, a hypergeometric number, are among the r - 1
others that are relevant. B_x is computed by adding the r - 1 documents one at a time to n - r others; see cascade.h.
"""
from libc.stdint cimport int64_t

from tieaware.kernels._exact cimport double_double
from tieaware.kernels._expected cimport average_precision, hits_within, success
from tieaware.kernels._groups cimport Groups
from tieaware.kernels._interruption cimport interrupted
from tieaware.kernels._measure cimport TOO_MANY, Query, between

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


cdef inline double power(double q, double r) noexcept nogil:
    """Return q^r for a whole number r ≥ 1, by repeated squaring."""
    cdef double result = 1.0
    cdef int64_t left = <int64_t>r
    while left > 0:
        if left & 1:
            result *= q
        q *= q
        left >>= 1
    return result


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
