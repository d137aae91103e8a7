"""The postings with the largest values of each term, such as champion lists.

The n-th largest value is found by radix selection: values are counted by their highest digit, then those with the digit
of the n-th largest value by the next digit, and so on. The time is linear in the number of postings for any values.
"""
import numpy as np
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption

cnp.import_array()

cdef enum:
    DIGIT_BITS = 11
    DIGITS = 1 << DIGIT_BITS
    # Sorting few values by insertion takes less time than counting digits.
    FEW = 24

ctypedef fused Value:
    double
    float
    uint8_t
    uint16_t


cdef inline uint64_t bits_of(double value) noexcept nogil:
    """Return an integer for a value; the order of these integers is that of the values."""
    cdef uint64_t bits
    # Convert -0.0 to 0.0, because the two must have the same bits.
    value += 0.0
    memcpy(&bits, &value, sizeof(bits))
    return ~bits if bits >> 63 else bits | <uint64_t>1 << 63


cdef uint64_t nth_of_few(uint64_t* keys, int64_t n, int64_t nth) noexcept nogil:
    """Sort the keys in descending order by insertion, and return the n-th, counted from 1."""
    cdef int64_t i, j
    cdef uint64_t key
    for i in range(1, n):
        key = keys[i]
        j = i
        while j > 0 and keys[j - 1] < key:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key
    return keys[nth - 1]


cdef uint64_t nth_largest(uint64_t* keys, int64_t n, int64_t nth) noexcept nogil:
    """Return the n-th largest key, counted from 1. The keys are overwritten.

    Invariant: the n keys left have the same digits above `shift`, and the sought key is the nth largest of them.
    """
    cdef int64_t[DIGITS] counts
    cdef int64_t i, m, digit
    cdef int shift = 64
    while n > FEW and shift > 0:
        shift = max(0, shift - DIGIT_BITS)
        memset(counts, 0, sizeof(counts))
        for i in range(n):
            counts[keys[i] >> shift & (DIGITS - 1)] += 1
        digit = DIGITS - 1
        while nth > counts[digit]:
            nth -= counts[digit]
            digit -= 1
        m = 0
        for i in range(n):
            keys[m] = keys[i]
            m += <int64_t>(keys[i] >> shift & (DIGITS - 1)) == digit
        n = m
    return nth_of_few(keys, n, nth) if shift > 0 else keys[0]


cdef void mark(const Value* values, int64_t n, int64_t size, uint64_t* keys, uint8_t* marks) noexcept nogil:
    """Mark the `size` largest values; of the values that tie for the last places, the first are marked."""
    cdef int64_t i, n_tied = size
    cdef uint64_t nth, key
    if size == 0:
        return
    for i in range(n):
        keys[i] = bits_of(<double>values[i])
    nth = nth_largest(keys, n, size)
    for i in range(n):
        n_tied -= bits_of(<double>values[i]) > nth
    for i in range(n):
        key = bits_of(<double>values[i])
        marks[i] = key > nth or (key == nth and n_tied > 0)
        n_tied -= key == nth


def largest(const int64_t[::1] starts, cnp.ndarray values, const int64_t[::1] sizes):
    """Mark the postings of each term with the largest values.

    Parameters
    ----------
    starts : int64[n_terms + 1]
        The postings of term t are starts[t] to starts[t + 1].
    values : float64, float32, uint8 or uint16[n_postings]
        The value of each posting.
    sizes : int64[n_terms]
        The number of postings to mark for each term. If values tie for the last places, the first are marked.

    Returns
    -------
    uint8[n_postings]
        1 for the marked postings, 0 for the others.
    """
    cdef Py_ssize_t n_terms = sizes.shape[0], t
    cdef int64_t n, a, longest = 0
    cdef Interruption interruption = no_interruption()
    cdef const char* data
    cdef int kind
    if starts.shape[0] != n_terms + 1 or values.ndim != 1 or not values.flags.c_contiguous:
        raise ValueError("starts must have a start for each term, and values must be contiguous")
    if values.dtype not in (np.float64, np.float32, np.uint8, np.uint16):
        raise ValueError("values must be float64, float32, uint8 or uint16")
    for t in range(n_terms):
        if not 0 <= starts[t] <= starts[t + 1] <= values.shape[0] or sizes[t] < 0:
            raise ValueError("starts: a term has postings outside the values, or a negative size")
        longest = max(longest, starts[t + 1] - starts[t])
    cdef cnp.ndarray marks = np.zeros(values.shape[0], np.uint8)
    cdef uint8_t* marks_at = <uint8_t*>cnp.PyArray_DATA(marks)
    cdef uint64_t* keys = <uint64_t*>malloc(<size_t>(longest + 1) * sizeof(uint64_t))
    if keys == NULL:
        raise MemoryError
    data, kind = <const char*>cnp.PyArray_DATA(values), values.dtype.itemsize
    try:
        with nogil:
            for t in range(n_terms):
                a = starts[t]
                # Clamp the length, because another thread may change the starts after they were checked.
                n = max(0, min(longest, starts[t + 1] - a))
                if sizes[t] >= n:
                    memset(marks_at + a, 1, n)
                elif kind == 8:
                    mark(<const double*>data + a, n, sizes[t], keys, marks_at + a)
                elif kind == 4:
                    mark(<const float*>data + a, n, sizes[t], keys, marks_at + a)
                elif kind == 2:
                    mark(<const uint16_t*>data + a, n, sizes[t], keys, marks_at + a)
                else:
                    mark(<const uint8_t*>data + a, n, sizes[t], keys, marks_at + a)
                if interrupted(&interruption, 4 * n + 1):
                    break
        check_interruption(&interruption)
        return marks
    finally:
        free(keys)
