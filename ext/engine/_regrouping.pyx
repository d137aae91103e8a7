"""Groups into other groups: those of the bands of a ranking, and those without unjudged documents."""
from libc.stdint cimport int64_t

from tieaware.kernels._groups cimport Groups


cdef void band(const Groups* ranked, Bands bands, int64_t n, Py_ssize_t n_weightings, Groups* banded) noexcept nogil:
    """Join the documents of one band, of a list of n in which each key is its own group, in rank order."""
    cdef Py_ssize_t key, c, low, half, length, count = 0
    cdef int64_t start, last = -1
    for key in range(ranked.count):
        # The last band that begins at the key's rank or before: start[low] <= rank < start[low + length].
        low = 0
        length = bands.count
        while length > 1:
            half = length // 2
            low += half if bands.start[low + half] <= ranked.start[key] + 1 else 0
            length -= half
        start = bands.start[low] - 1
        if start != last:
            banded.start[count] = start
            banded.size[count] = min(bands.start[low + 1] - 1 if low + 1 < bands.count else n, n) - start
            for c in range(n_weightings):
                banded.weight[c * banded.stride + count] = 0.0
            count += 1
            last = start
        for c in range(n_weightings):
            banded.weight[c * banded.stride + count - 1] += ranked.weight[c * ranked.stride + key]
    banded.count = count


cdef void condense(const Groups* groups, int judged, Groups* condensed) noexcept nogil:
    """A group starts after the judged documents of those before it, and holds its own."""
    cdef const double* weight = groups.weight + judged * groups.stride
    cdef Py_ssize_t g
    cdef int64_t before = 0
    for g in range(groups.count):
        condensed.start[g] = before
        condensed.size[g] = <int64_t>weight[g]
        before += condensed.size[g]
    condensed.count = groups.count
    # The weights are the same, and are read only.
    condensed.weight = groups.weight
    condensed.stride = groups.stride
