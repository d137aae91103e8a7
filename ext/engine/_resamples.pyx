"""Bootstrap resamples: how often each topic was drawn, and the quantiles of the sums of the resamples.

The number at a place in order needs no sort, but only smaller numbers before it, and greater ones after it (Hoare's
FIND). A sixteenth of the sample gives a bound of the tail that has the place, almost surely, so most numbers are only
compared with the bound.
"""
from libc.math cimport ceil, sqrt
from libc.stdint cimport int64_t

# One number of this many gives the bound.
cdef enum:
    STEP = 16


cdef double _select(double* numbers, int64_t n, int64_t place) noexcept nogil:
    """Return the number at a place in ascending order; move smaller ones before it, and greater ones after it."""
    cdef int64_t low = 0, high = n - 1, i, j
    cdef double a, b, c, pivot
    while low < high:
        a, b, c = numbers[low], numbers[(low + high) // 2], numbers[high]
        # The median of three.
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while numbers[i] < pivot:
                i += 1
            while pivot < numbers[j]:
                j -= 1
            if i <= j:
                numbers[i], numbers[j] = numbers[j], numbers[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return numbers[place]


cdef int64_t _tail(const double* numbers, int64_t n, bint is_lower, double bound, double* tail) noexcept nogil:
    """Copy the numbers up to the bound, or from it on, to the tail, and return how many they are."""
    cdef int64_t i, size = 0
    # Each number is written, and kept only if the size grows: a branch would be mispredicted.
    if is_lower:
        for i in range(n):
            tail[size] = numbers[i]
            size += numbers[i] <= bound
    else:
        for i in range(n):
            tail[size] = numbers[i]
            size += numbers[i] >= bound
    return size


cdef void _neighbours(const double* numbers, int64_t n, int64_t below, double* space, double* found) noexcept nogil:
    """Write the numbers at places `below` and `below` + 1 in ascending order; at the last place, its number twice."""
    cdef int64_t above = below + 1 if below + 1 < n else below
    cdef bint is_lower = 2 * below < n
    cdef int64_t part = n // STEP, kept = 0, before = 0, i, most
    cdef double expected = <double> part * (above + 1 if is_lower else n - below) / n, bound
    # Three standard errors beyond the expected number in the part.
    most = <int64_t> ceil(expected + 3.0 * sqrt(expected))
    if 2 * most < part:
        for i in range(part):
            space[i] = numbers[i * STEP]
        bound = _select(space, part, most if is_lower else part - 1 - most)
        kept = _tail(numbers, n, is_lower, bound, space)
        before = 0 if is_lower else n - kept
    if below < before or above - before >= kept:
        for i in range(n):
            space[i] = numbers[i]
        kept, before = n, 0
    found[0] = found[1] = _select(space, kept, below - before)
    if above > below:
        found[1] = space[above - before]
        for i in range(above - before + 1, kept):
            found[1] = min(found[1], space[i])


def neighbours(
    const double[:, ::1] samples not None, const int64_t[::1] below not None, double[::1] space not None,
    double[:, ::1] found not None,
):
    """Write the numbers at places below[i] and below[i] + 1 of each sample in ascending order.

    samples: float64[n_samples, n], n > 0, without NaN. below: int64[n_samples], from 0 to n - 1. space: float64[n].
    found: float64[n_samples, 2]; at the last place, its number twice.
    """
    cdef int64_t i, n = samples.shape[1]
    if below.shape[0] != samples.shape[0] or found.shape[0] != samples.shape[0] or found.shape[1] != 2:
        raise ValueError("below and found must have an entry for each sample")
    if n == 0 or space.shape[0] < n:
        raise ValueError("space must hold a sample, which must not be empty")
    for i in range(samples.shape[0]):
        if not 0 <= below[i] < n:
            raise ValueError("a place is outside the sample")
    with nogil:
        for i in range(samples.shape[0]):
            _neighbours(&samples[i, 0], n, below[i], &space[0], &found[i, 0])


def count_draws(const int64_t[:, ::1] drawn not None, double[:, ::1] counts not None):
    """Add to counts, float64[n_resamples, n], how often each topic is among those drawn, int64[n_resamples, k]."""
    cdef int64_t i, j, topic
    if counts.shape[0] != drawn.shape[0]:
        raise ValueError("counts must have a row for each resample")
    for i in range(drawn.shape[0]):
        for j in range(drawn.shape[1]):
            topic = drawn[i, j]
            if not 0 <= topic < counts.shape[1]:
                raise ValueError("a draw is not a topic")
            counts[i, topic] += 1.0
