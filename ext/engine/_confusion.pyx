"""Accuracy, specificity and fall-out at a cut-off: the measures that count nonrelevant documents of the collection.

The first k documents of the list are retrieved; the other documents of the collection are not. All counts of this
confusion matrix are linear in the number of hits. Specificity and fall-out therefore have the variance of the hits,
divided by the squared norm. Their means are computed from counts of nonrelevant documents, not as the complement of the
hits, because this would lose digits where nearly all documents of a group are relevant. Notation as in _expected.pyx.
"""
from libc.stdint cimport int64_t

cimport tieaware.kernels._spread as _spread
from tieaware.kernels._expected cimport hits_within
from tieaware.kernels._groups cimport Groups
from tieaware.kernels._measure cimport Query


cdef inline int64_t slots_within(const Groups* groups, Py_ssize_t g, int64_t k) noexcept nogil:
    """Return m, the number of slots of group g that are within the cut-off."""
    return min(max(k - groups.start[g], 0), groups.size[g])


cdef double mean_of_fall_out(const Query* q) noexcept nogil:
    """Return the expected number of nonrelevant documents within the cut-off, divided by the norm.

    It is the sum of m (n-r)/n over the groups, plus the number of slots within the cut-off that belong to no group. At
    most one group is divided by the cut-off. Its share is added last, to a whole number, so that no bit depends on
    groups without relevant documents.
    """
    cdef const Groups* groups = q.groups
    cdef int64_t m, n, k = min(q.measure.cutoff, q.n_docs)
    cdef Py_ssize_t g
    cdef double whole = k, divided = 0.0
    for g in range(groups.count):
        if q.weight[g] == 0.0:
            continue
        n = groups.size[g]
        m = slots_within(groups, g, k)
        if m == n:
            whole -= q.weight[g]
        elif m > 0:
            whole -= m
            divided = m * (n - q.weight[g]) / n
    return (whole + divided) / q.norm


cdef double mean_of_specificity(const Query* q) noexcept nogil:
    return not_retrieved(q, q.norm) / q.norm


cdef double mean_of_accuracy(const Query* q) noexcept nogil:
    """Return the expected number of hits and of nonrelevant documents that are not retrieved, divided by the norm.

    The norm is the number of documents of the collection. The second number of the query is the number of relevant
    documents.
    """
    cdef double hits = hits_within(q.groups, q.weight, q.measure.cutoff)
    return (hits + not_retrieved(q, q.norm - q.query_number)) / q.norm


cdef double variance_of_accuracy(const Query* q) noexcept nogil:
    # A hit more is also a nonrelevant document more that is not retrieved.
    return 4.0 * _spread.hits(q)


cdef double not_retrieved(const Query* q, double nonrelevant) noexcept nogil:
    """Return how many of the collection's nonrelevant documents are expected to be below the cut-off or not listed.

    It is the sum of (n-m)(n-r)/n over the groups, plus the number of such documents that belong to no group. Only the
    share of the group that the cut-off divides is no whole number.
    """
    cdef const Groups* groups = q.groups
    cdef int64_t m, n, k = min(q.measure.cutoff, q.n_docs)
    cdef Py_ssize_t g
    cdef double whole = nonrelevant - k, divided = 0.0
    for g in range(groups.count):
        if q.weight[g] == 0.0:
            continue
        n = groups.size[g]
        m = slots_within(groups, g, k)
        if m == n:
            whole += q.weight[g]
        elif m > 0:
            whole -= n - q.weight[g] - m
            divided = (n - m) * (n - q.weight[g]) / n
    return whole + divided
