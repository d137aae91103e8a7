"""A set of the queries that were already read from a run, which detects that a query reappears."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from tieaware.kernels._column cimport Column, bytes_of, column_of, size_of

import numpy as np

cdef extern from "inputs/hashing.h":
    int identifier_seed() except -1
    uint64_t identifier_hash(const uint8_t *p, size_t n) nogil

identifier_seed()


cdef class Seen:
    """A set of queries, which stores only their hashes. It needs at most 32 bytes per query, even for long queries.

    Two different queries with the same 64-bit hash are taken for equal. In a run of ten million queries, the
    probability that two queries have the same hash is three in a million.
    """

    cdef object slots
    cdef Py_ssize_t n

    def __cinit__(self):
        self.slots = np.zeros(1024, np.uint64)

    def add(self, const uint8_t[::1] data, const int64_t[::1] offsets):
        """Add all identifiers of a column to the set; return False if any of them was already in the set."""
        cdef Py_ssize_t i
        cdef Column column = column_of(data, offsets)
        cdef uint64_t[::1] slots
        cdef bint good = True
        if 2 * (self.n + offsets.shape[0]) > self.slots.size:
            self.grow(self.n + offsets.shape[0])
        slots = self.slots
        for i in range(offsets.shape[0] - 1):
            good &= put(&slots[0], slots.shape[0] - 1, entry_of(column, i))
            self.n += 1
        return good

    def known(self, const uint8_t[::1] data, const int64_t[::1] offsets):
        """Return the index of the first identifier in a column that the set contains; -1 if it contains none."""
        cdef Py_ssize_t i
        cdef Column column = column_of(data, offsets)
        cdef uint64_t[::1] slots = self.slots
        for i in range(offsets.shape[0] - 1):
            if has(&slots[0], slots.shape[0] - 1, entry_of(column, i)):
                return i
        return -1

    cdef grow(self, Py_ssize_t n):
        cdef uint64_t[::1] old = self.slots
        cdef Py_ssize_t size = old.shape[0], i
        while size < 2 * n:
            size *= 2
        cdef uint64_t[::1] new = np.zeros(size, np.uint64)
        for i in range(old.shape[0]):
            if old[i]:
                put(&new[0], size - 1, old[i])
        self.slots = new.base


cdef inline uint64_t entry_of(Column column, Py_ssize_t i) noexcept nogil:
    """Return the hash of identifier i. If the hash is 0, return 1 instead, because 0 marks a free slot."""
    cdef uint64_t hashed = identifier_hash(bytes_of(column, i), size_of(column, i))
    return hashed + (hashed == 0)


cdef bint put(uint64_t *slots, uint64_t mask, uint64_t hashed) noexcept nogil:
    """Add a hash to a hash table, some of whose slots must be free; return whether the hash is new."""
    cdef uint64_t slot = hashed & mask
    while slots[slot]:
        if slots[slot] == hashed:
            return False
        slot = (slot + 1) & mask
    slots[slot] = hashed
    return True


cdef bint has(const uint64_t *slots, uint64_t mask, uint64_t hashed) noexcept nogil:
    """Return whether a hash is in a hash table, some of whose slots must be free."""
    cdef uint64_t slot = hashed & mask
    while slots[slot] and slots[slot] != hashed:
        slot = (slot + 1) & mask
    return slots[slot] == hashed


def hash_of(bytes identifier not None):
    """Return the hash of an identifier. It differs between processes, so results of an evaluation must not use it."""
    return identifier_hash(<const uint8_t *>identifier, len(identifier))


def hashes(const uint8_t[::1] data, const int64_t[::1] offsets):
    """Return the hashes of all identifiers of a column, uint64[n]. They differ between processes, as for `hash_of`."""
    cdef Py_ssize_t i, n = offsets.shape[0] - 1
    cdef Column column = column_of(data, offsets)
    found = np.empty(n, np.uint64)
    cdef uint64_t[::1] into = found
    with nogil:
        for i in range(n):
            into[i] = identifier_hash(bytes_of(column, i), size_of(column, i))
    return found
