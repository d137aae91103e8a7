"""Functions that make new groups of documents from the tie groups of a query, and one that completes their weights.

`band` merges the groups whose ranks lie in the same band. `condense` removes the unjudged documents from each group.
`carry` adds up the digits of weights that are real numbers.
"""
from libc.stdint cimport int32_t, int64_t

from tieaware.kernels._exact cimport MOST_PARTS, double_double, rounded_sum, two_sum
from tieaware.kernels._groups cimport Groups


cdef void band(const Groups* ranked, Bands bands, int64_t n, Py_ssize_t n_weightings, Groups* banded,
               int64_t* merged) noexcept nogil:
    cdef Py_ssize_t g, c, low, half, length, count = 0
    cdef int64_t start, last = -1
    for g in range(ranked.count):
        # Find the last band that begins at or before the rank of the document of group g, by binary search. Invariant:
        # start[low] <= rank, and rank < start[low + length] if that element exists.
        low = 0
        length = bands.count
        while length > 1:
            half = length // 2
            low += half if bands.start[low + half] <= ranked.start[g] + 1 else 0
            length -= half
        start = bands.start[low] - 1
        if start != last:
            banded.start[count] = start
            banded.size[count] = min(bands.start[low + 1] - 1 if low + 1 < bands.count else n, n) - start
            for c in range(n_weightings):
                banded.weight[c * banded.stride + count] = 0.0
            count += 1
            last = start
        merged[g] = count - 1
        for c in range(n_weightings):
            banded.weight[c * banded.stride + count - 1] += ranked.weight[c * ranked.stride + g]
    banded.count = count


cdef void carry(const int32_t* carries, Py_ssize_t n_weightings, Groups* groups) noexcept nogil:
    cdef double digits[MOST_PARTS]
    cdef double* weight
    cdef double* further
    cdef double_double s
    cdef Py_ssize_t c, j, n, g
    for c in range(n_weightings):
        n = carries[2 * c + 1]
        if n == 0:
            continue
        weight = groups.weight + c * groups.stride
        further = groups.weight + carries[2 * c] * groups.stride
        if n == 1:
            for g in range(groups.count):
                s = two_sum(weight[g], further[g])
                weight[g] = s.high
                further[g] = s.low
            continue
        for g in range(groups.count):
            digits[0] = weight[g]
            for j in range(n):
                digits[j + 1] = further[j * groups.stride + g]
            weight[g] = rounded_sum(digits, 1, n + 1)
            digits[n + 1] = -weight[g]
            further[g] = rounded_sum(digits, 1, n + 2)


cdef void condense(const Groups* groups, int judged, Groups* condensed) noexcept nogil:
    """Remove the unjudged documents from each group.

    Invariant: `before` is the number of judged documents in the groups before group g.
    """
    cdef const double* weight = groups.weight + judged * groups.stride
    cdef Py_ssize_t g
    cdef int64_t before = 0
    for g in range(groups.count):
        condensed.start[g] = before
        condensed.size[g] = <int64_t>weight[g]
        before += condensed.size[g]
    condensed.count = groups.count
    # Removing unjudged documents does not change the weight of a group, so `condensed` shares the array of weights.
    condensed.weight = groups.weight
    condensed.stride = groups.stride
