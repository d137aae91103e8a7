"""Columns of identifiers, and the tables that find one.

Identifier i of a column is data[offsets[i]:offsets[i + 1]].

A table has a power of two of 64-bit entries. An entry holds the upper half of an identifier's hash and, below
it, the identifier's number plus one; 0 is a free entry. Equal hashes are told apart by the bytes.
Invariant: between the entry where the search for an identifier begins and the one where it lies, none is
free; and at least half of the entries are free, so every search ends.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cdef extern from "inputs/identifier.h" nogil:
    bint identifier_equal(const uint8_t *p, const uint8_t *q, size_t n)

cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *size) except NULL
    bint PyUnicode_Check(PyObject *value)
    bint PyUnicode_IS_COMPACT_ASCII(PyObject *text)
    void *PyUnicode_DATA(PyObject *text)
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject *text)

cdef enum:
    # An entry numbers the identifiers of one table in 32 bits.
    LARGEST_TABLE = 0x7fffffff

# A column of identifiers. The address of an empty array is not used.
cdef struct Column:
    const uint8_t *data
    const int64_t *offsets


cdef inline Column column_of(const uint8_t[::1] data, const int64_t[::1] offsets) noexcept:
    cdef Column column
    column.data = &data[0] if data.shape[0] else NULL
    column.offsets = &offsets[0] if offsets.shape[0] else NULL
    return column


cdef inline const uint8_t *bytes_of(Column column, Py_ssize_t i) noexcept nogil:
    return column.data + column.offsets[i]


cdef inline Py_ssize_t size_of(Column column, Py_ssize_t i) noexcept nogil:
    return column.offsets[i + 1] - column.offsets[i]


cdef inline Py_ssize_t table_size(Py_ssize_t n) noexcept nogil:
    # The least power of two that leaves half of the entries free, and at least two.
    cdef Py_ssize_t size = 2
    while size < 2 * n:
        size *= 2
    return size


cdef inline uint64_t entry_of(uint64_t hashed, Py_ssize_t i) noexcept nogil:
    return hashed >> 32 << 32 | <uint64_t>(i + 1)


cdef inline Py_ssize_t find(
    const uint64_t *table, uint64_t mask, Column column, Py_ssize_t base,
    const uint8_t *p, Py_ssize_t n, uint64_t hashed, uint64_t *where
) noexcept nogil:
    """Return which identifier, counted from base, the n bytes at p are; or -1, and table[where] is free."""
    cdef uint64_t slot = hashed & mask, entry, tag = hashed >> 32
    cdef Py_ssize_t i
    while True:
        entry = table[slot]
        if entry == 0:
            where[0] = slot
            return -1
        if entry >> 32 == tag:
            i = <Py_ssize_t><uint32_t>entry - 1
            if size_of(column, base + i) == n and identifier_equal(bytes_of(column, base + i), p, n):
                return i
        slot = (slot + 1) & mask


cdef inline bint text_of(PyObject *key, const char **p, Py_ssize_t *n):
    """Set p and n to the UTF-8 of a str; False if the key is none, or has none."""
    if not PyUnicode_Check(key):
        return False
    if PyUnicode_IS_COMPACT_ASCII(key):
        p[0] = <const char *>PyUnicode_DATA(key)
        n[0] = PyUnicode_GET_LENGTH(key)
        return True
    try:
        p[0] = PyUnicode_AsUTF8AndSize(key, n)
    except UnicodeEncodeError:
        return False
    return True
