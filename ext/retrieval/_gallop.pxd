"""Galloping search in a sorted list: its time depends on the distance to the value, not on the length of the list."""
from libc.stdint cimport int32_t, int64_t


cdef inline int64_t gallop(const int32_t* values, int64_t i, int64_t stop, int32_t sought) noexcept nogil:
    """Return the first index after i whose value is at least `sought`; the value at i must be smaller."""
    cdef int64_t step = 1, middle
    while i + step < stop and values[i + step] < sought:
        i += step
        step *= 2
    stop = min(stop, i + step)
    i += 1
    # Invariant: all values before i are smaller than `sought`, and no value from `stop` on is.
    while i < stop:
        middle = (i + stop) >> 1
        if values[middle] < sought:
            i = middle + 1
        else:
            stop = middle
    return i
