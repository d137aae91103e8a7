"""Galloping: a search that takes no longer for what is near, however long the list."""
from libc.stdint cimport int32_t, int64_t


cdef inline int64_t gallop(const int32_t* values, int64_t i, int64_t stop, int32_t sought) noexcept nogil:
    """Return the first place after i whose value is not below what is sought; that of i is."""
    cdef int64_t step = 1, middle
    while i + step < stop and values[i + step] < sought:
        i += step
        step *= 2
    stop = min(stop, i + step)
    i += 1
    # Invariant: all before i are below what is sought, none from stop on.
    while i < stop:
        middle = (i + stop) >> 1
        if values[middle] < sought:
            i = middle + 1
        else:
            stop = middle
    return i
