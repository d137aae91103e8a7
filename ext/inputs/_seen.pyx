"""The queries that were handed over, so that one that comes back is noticed."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from tieaware.kernels._column cimport Column, bytes_of, column_of, size_of

import numpy as np

cdef extern from "inputs/hashing.h":
    int identifier_seed() except -1
    uint64_t identifier_hash(const uint8_t *p, size_t n) nogil

identifier_seed()


cdef class Seen:
    """The queries that were handed over, by their hashes alone: at most 32 bytes a query, however long it is.

    Two queries of one hash (among ten million, a chance of three in a million) look like the same.
    """

    cdef object table
    cdef Py_ssize_t n

    def __cinit__(self):
        self.table = np.zeros(1024, np.uint64)

    def add(self, const uint8_t[::1] data, const int64_t[::1] offsets):
        """Add the identifiers of a column; return whether all of them are new."""
        cdef Py_ssize_t i
        cdef Column column = column_of(data, offsets)
        cdef uint64_t[::1] table
        cdef bint good = True
        if 2 * (self.n + offsets.shape[0]) > self.table.size:
            self.grow(self.n + offsets.shape[0])
        table = self.table
        for i in range(offsets.shape[0] - 1):
            good &= put(&table[0], table.shape[0] - 1, entry_of(column, i))
            self.n += 1
        return good

    def known(self, const uint8_t[::1] data, const int64_t[::1] offsets):
        """Return the first identifier of a column that was added before, or -1."""
        cdef Py_ssize_t i
        cdef Column column = column_of(data, offsets)
        cdef uint64_t[::1] table = self.table
        for i in range(offsets.shape[0] - 1):
            if has(&table[0], table.shape[0] - 1, entry_of(column, i)):
                return i
        return -1

    cdef grow(self, Py_ssize_t n):
        cdef uint64_t[::1] old = self.table
        cdef Py_ssize_t size = old.shape[0], i
        while size < 2 * n:
            size *= 2
        cdef uint64_t[::1] new = np.zeros(size, np.uint64)
        for i in range(old.shape[0]):
            if old[i]:
                put(&new[0], size - 1, old[i])
        self.table = new.base


cdef inline uint64_t entry_of(Column column, Py_ssize_t i) noexcept nogil:
    """The hash of an identifier, but for zero, which marks what is free."""
    cdef uint64_t hashed = identifier_hash(bytes_of(column, i), size_of(column, i))
    return hashed + (hashed == 0)


cdef bint put(uint64_t *table, uint64_t mask, uint64_t hashed) noexcept nogil:
    """Enter a hash into a table that is not full; return whether it was not there."""
    cdef uint64_t slot = hashed & mask
    while table[slot]:
        if table[slot] == hashed:
            return False
        slot = (slot + 1) & mask
    table[slot] = hashed
    return True


cdef bint has(const uint64_t *table, uint64_t mask, uint64_t hashed) noexcept nogil:
    """Return whether a hash is in a table that is not full."""
    cdef uint64_t slot = hashed & mask
    while table[slot] and table[slot] != hashed:
        slot = (slot + 1) & mask
    return table[slot] == hashed


def hash_of(bytes identifier not None):
    """The hash of an identifier in this process, by which no result goes."""
    return identifier_hash(<const uint8_t *>identifier, len(identifier))


def hashes(const uint8_t[::1] data, const int64_t[::1] offsets):
    """The hashes of a column of identifiers in this process, by which no result goes: uint64[n]."""
    cdef Py_ssize_t i, n = offsets.shape[0] - 1
    cdef Column column = column_of(data, offsets)
    found = np.empty(n, np.uint64)
    cdef uint64_t[::1] into = found
    with nogil:
        for i in range(n):
            into[i] = identifier_hash(bytes_of(column, i), size_of(column, i))
    return found
