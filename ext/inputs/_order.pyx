"""Sorting of documents by identifier, for the tie rules that order tied documents by identifier.

Identifiers are a column of bytes: identifier i is data[offsets[i]:offsets[i + 1]]. The documents of query q are in the
rows list_offsets[q] … list_offsets[q + 1] - 1.
"""

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from tieaware.kernels._column cimport Column, bytes_of, column_of, size_of

import numpy as np

cdef extern from "inputs/identifier.h" nogil:
    uint64_t load_prefix(const uint8_t *p, size_t n)
    int identifier_compare(const uint8_t *p, size_t n, const uint8_t *q, size_t m)


# A row with the bytes by which it is usually compared: `prefix` consists of the eight bytes of its identifier that
# follow the common prefix of all identifiers of the list. If two rows differ in `prefix`, the row with the greater
# `prefix` comes first. For the ascending order, the bits of `prefix` are inverted to achieve this.
cdef struct Keyed:
    uint64_t prefix
    int64_t row


cdef inline bint precedes(Column column, Keyed a, Keyed b, bint descending) noexcept nogil:
    cdef int compared
    if a.prefix != b.prefix:
        return a.prefix > b.prefix
    compared = identifier_compare(
        bytes_of(column, a.row), size_of(column, a.row), bytes_of(column, b.row), size_of(column, b.row)
    )
    return compared > 0 if descending else compared < 0


cdef Py_ssize_t common_prefix(Column column, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t i, k, n = size_of(column, start)
    cdef const uint8_t *first = bytes_of(column, start)
    cdef const uint8_t *p
    for i in range(start + 1, stop):
        n = min(n, size_of(column, i))
        p = bytes_of(column, i)
        for k in range(n):
            if p[k] != first[k]:
                n = k
                break
        if n == 0:
            break
    return n


@cython.cdivision(True)
cdef Keyed *sort(Column column, Keyed *keys, Keyed *spare, Py_ssize_t n, bint descending) noexcept nogil:
    """Sort n keys by a stable merge sort; return the array that contains the result, which is `keys` or `spare`.

    Invariant: before each pass, keys[i:i + width] is sorted for every multiple i of `width`. The pass doubles `width`.
    """
    cdef Py_ssize_t width = 8, start, middle, stop, i, j, k, second
    cdef Keyed key
    for i in range(1, n):
        # Each range of eight keys is sorted by insertion, so that the invariant holds for the first width.
        start = i - i % width
        key = keys[i]
        j = i
        while j > start and precedes(column, key, keys[j - 1], descending):
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key
    while width < n:
        start = 0
        while start < n:
            middle = min(start + width, n)
            stop = min(middle + width, n)
            i = start
            j = middle
            k = start
            while i < middle and j < stop:
                # The next key is chosen by arithmetic and not by a branch, which the processor could not predict.
                second = keys[j].prefix > keys[i].prefix
                if keys[j].prefix == keys[i].prefix:
                    second = precedes(column, keys[j], keys[i], descending)
                spare[k] = keys[j if second else i]
                j += second
                i += not second
                k += 1
            memcpy(spare + k, keys + i, (middle - i) * sizeof(Keyed))
            memcpy(spare + k + (middle - i), keys + j, (stop - j) * sizeof(Keyed))
            start = stop
        keys, spare = spare, keys
        width *= 2
    return keys


def order(
    const uint8_t[::1] data, const int64_t[::1] offsets, const int64_t[::1] list_offsets, bint descending
):
    """Sort the documents of each query by identifier, compared byte by byte.

    In ascending order, an identifier that is a proper prefix of another identifier comes before it.

    Parameters
    ----------
    data, offsets, list_offsets : uint8[:], int64[n_documents + 1], int64[n_queries + 1]
        The identifiers of the documents, and the rows of each query.
    descending : bool
        Whether the greatest identifier comes first.

    Returns
    -------
    int64[n_documents]
        For each query in turn, the positions of its documents in the sorted order. A position is the index of a
        document in the list of its query, from 0.
    """
    cdef Py_ssize_t n_queries = list_offsets.shape[0] - 1, q, i, n, longest = 0, skip
    cdef Column column = column_of(data, offsets)
    for q in range(n_queries):
        longest = max(longest, list_offsets[q + 1] - list_offsets[q])
    order = np.empty(list_offsets[n_queries] if n_queries > 0 else 0, np.int64)
    cdef int64_t[::1] into = order
    cdef Keyed *keys = <Keyed *>malloc((2 * longest + 1) * sizeof(Keyed))
    cdef Keyed *ordered
    if keys == NULL:
        raise MemoryError
    with nogil:
        for q in range(n_queries):
            n = list_offsets[q + 1] - list_offsets[q]
            if n == 0:
                continue
            skip = common_prefix(column, list_offsets[q], list_offsets[q + 1])
            for i in range(n):
                keys[i].row = list_offsets[q] + i
                keys[i].prefix = load_prefix(
                    bytes_of(column, list_offsets[q] + i) + skip, size_of(column, list_offsets[q] + i) - skip
                )
                if not descending:
                    keys[i].prefix = ~keys[i].prefix
            ordered = sort(column, keys, keys + longest, n, descending)
            for i in range(n):
                into[list_offsets[q] + i] = ordered[i].row - list_offsets[q]
    free(keys)
    return order
