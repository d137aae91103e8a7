"""Bootstrap resamples: how often each topic was drawn, and the quantiles of the sums of the resamples.

The number at a place in order needs no sort, but only smaller numbers before it, and greater ones after it (Hoare's
FIND). A sixteenth of the sample gives bounds of the two tails that have the places, almost surely, so most numbers are
only compared with the bounds.
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


cdef int64_t _most(int64_t below, int64_t n, int64_t part) noexcept nogil:
    """Return the place, from its end, of a number of the part that bounds the tail of a place; -1 for a place amid."""
    cdef int64_t size = below + 2 if 2 * below < n else n - below
    cdef double expected = <double> part * size / n
    # Three standard errors beyond the expected number in the part.
    cdef int64_t most = <int64_t> ceil(expected + 3.0 * sqrt(expected))
    return most if 2 * most < part else -1


cdef bint _found(double* tail, int64_t kept, int64_t before, int64_t below, int64_t n, double* found) noexcept nogil:
    """Write two neighbouring places of a sample, if the tail, which begins at place `before`, has both."""
    cdef int64_t above = below + 1 if below + 1 < n else below, i
    if below < before or above - before >= kept:
        return False
    found[0] = found[1] = _select(tail, kept, below - before)
    if above > below:
        found[1] = tail[above - before]
        for i in range(above - before + 1, kept):
            found[1] = min(found[1], tail[i])
    return True


cdef void _neighbours(
    const double* numbers, int64_t n, int64_t low, int64_t high, double* space, double* found
) noexcept nogil:
    """Write the numbers at places `low` and `low` + 1, then those at `high` and `high` + 1."""
    cdef int64_t part = n // STEP, n_lows = 0, n_highs = 0, i
    cdef int64_t of_low = _most(low, n, part), of_high = _most(high, n, part)
    cdef double* lows = space
    cdef double* highs = space + n
    cdef double number, low_bound, high_bound
    cdef bint has_low = False, has_high = False
    if 2 * low < n <= 2 * high and of_low >= 0 and of_high >= 0:
        for i in range(part):
            lows[i] = numbers[i * STEP]
        low_bound = _select(lows, part, of_low)
        high_bound = _select(lows, part, part - 1 - of_high)
        # Each number is written, and kept only if the size grows: a branch would be mispredicted.
        for i in range(n):
            number = numbers[i]
            lows[n_lows] = number
            n_lows += number <= low_bound
            highs[n_highs] = number
            n_highs += number >= high_bound
        has_low = _found(lows, n_lows, 0, low, n, found)
        has_high = _found(highs, n_highs, n - n_highs, high, n, found + 2)
    if not (has_low and has_high):
        for i in range(n):
            lows[i] = numbers[i]
        _found(lows, n, 0, low, n, found)
        _found(lows, n, 0, high, n, found + 2)


def neighbours(
    const double[:, ::1] samples not None, const int64_t[:, ::1] below not None, double[::1] space not None,
    double[:, ::1] found not None,
):
    """Write the numbers at two places, and at the places after them, of each sample in ascending order.

    samples: float64[n_samples, n], n > 0, without NaN. below: int64[n_samples, 2], from 0 to n - 1; fast if one place
    is in the lower tail, and the other in the upper one. space: float64[2 n]. found: float64[n_samples, 4]; at the last
    place, its number twice.
    """
    cdef int64_t i, n = samples.shape[1]
    if below.shape[0] != samples.shape[0] or below.shape[1] != 2:
        raise ValueError("below must have two places for each sample")
    if found.shape[0] != samples.shape[0] or found.shape[1] != 4:
        raise ValueError("found must have four numbers for each sample")
    if n == 0 or space.shape[0] < 2 * n:
        raise ValueError("space must hold two samples, which must not be empty")
    for i in range(samples.shape[0]):
        if not (0 <= below[i, 0] < n and 0 <= below[i, 1] < n):
            raise ValueError("a place is outside the sample")
    with nogil:
        for i in range(samples.shape[0]):
            _neighbours(&samples[i, 0], n, below[i, 0], below[i, 1], &space[0], &found[i, 0])


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
