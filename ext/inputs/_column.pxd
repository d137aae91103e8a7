"""Columns of identifiers, and hash indices that find the number of an identifier in a column.

Identifier i of a column is data[offsets[i]:offsets[i + 1]].

An index is a hash table with linear probing. The number of its entries is a power of two. An entry has 64 bits: the
upper half is the upper half of the hash of an identifier, and the lower half is the number of the identifier plus one.
A free entry is 0. If the upper halves of two hashes are equal, the identifiers are compared byte by byte.

Invariant: the entry at which the search for an identifier begins, the entry that contains the identifier, and all
entries between them are in use. At least half of the entries are free, so every search ends.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cdef extern from "inputs/identifier.h" nogil:
    bint identifier_equal(const uint8_t *p, const uint8_t *q, size_t n)

cdef extern from "Python.h":
    ctypedef struct PyASCIIObject:
        Py_hash_t hash
    const char *PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *size) except NULL
    Py_hash_t PyObject_Hash(PyObject *value) except? -1
    bint PyUnicode_Check(PyObject *value)
    bint PyUnicode_CheckExact(PyObject *value)
    bint PyUnicode_IS_COMPACT_ASCII(PyObject *text)
    void *PyUnicode_DATA(PyObject *text)
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject *text)

cdef enum:
    # An entry stores the number of an identifier in 32 bits.
    LARGEST_INDEX = 0x7fffffff

# A column of identifiers. The address of an empty array is NULL, and is never dereferenced.
cdef struct IdentifierColumn:
    const uint8_t *data
    const int64_t *offsets


cdef inline IdentifierColumn column_of(const uint8_t[::1] data, const int64_t[::1] offsets) noexcept:
    cdef IdentifierColumn column
    column.data = &data[0] if data.shape[0] else NULL
    column.offsets = &offsets[0] if offsets.shape[0] else NULL
    return column


cdef inline const uint8_t *bytes_of(IdentifierColumn column, Py_ssize_t i) noexcept nogil:
    return column.data + column.offsets[i]


cdef inline Py_ssize_t size_of(IdentifierColumn column, Py_ssize_t i) noexcept nogil:
    return column.offsets[i + 1] - column.offsets[i]


cdef inline Py_ssize_t index_size(Py_ssize_t n) noexcept nogil:
    # Return the number of entries of an index of n identifiers: the smallest power of two, at least 2, of which at most
    # half are used.
    cdef Py_ssize_t size = 2
    while size < 2 * n:
        size *= 2
    return size


cdef inline uint64_t entry_of(uint64_t hashed, Py_ssize_t i) noexcept nogil:
    return hashed >> 32 << 32 | <uint64_t>(i + 1)


cdef inline Py_ssize_t find(
    const uint64_t *index, uint64_t mask, IdentifierColumn column, Py_ssize_t base,
    const uint8_t *p, Py_ssize_t n, uint64_t hashed, uint64_t *where
) noexcept nogil:
    """Find the identifier with the n bytes at p, whose hash is `hashed`.

    Return i if identifier `base` + i of the column is in the index and has these bytes. Otherwise return -1 and set
    `where` to the free entry for the identifier.
    """
    cdef uint64_t slot = hashed & mask, entry, tag = hashed >> 32
    cdef Py_ssize_t i
    while True:
        entry = index[slot]
        if entry == 0:
            where[0] = slot
            return -1
        if entry >> 32 == tag:
            i = <Py_ssize_t><uint32_t>entry - 1
            if size_of(column, base + i) == n and identifier_equal(bytes_of(column, base + i), p, n):
                return i
        slot = (slot + 1) & mask


cdef inline bint text_of(PyObject *key, const char **p, Py_ssize_t *n):
    """Set p and n to the address and length of the UTF-8 form of a str.

    Return False if the key is not a str, or has no UTF-8 form because it contains surrogates.
    """
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


cdef inline uint64_t key_hash(PyObject *key) except? 0:
    """Return Python's hash of a str, which the str itself keeps once it was the key of a dict."""
    cdef Py_hash_t known = (<PyASCIIObject *>key).hash
    return <uint64_t>(known if known != -1 else PyObject_Hash(key))
