"""Search for equal identifiers in a column: numbering of the distinct ones, copies of some, duplicates in a list.

Identifiers are a column of bytes: identifier i is data[offsets[i]:offsets[i + 1]]. The documents of query q are in the
rows list_offsets[q] … list_offsets[q + 1] - 1.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._column cimport (
    LARGEST_INDEX, Column, bytes_of, column_of, entry_of, find, index_size, size_of,
)

import numpy as np

from tieaware.errors import InputError

cnp.import_array()

cdef extern from "inputs/hashing.h":
    int identifier_seed() except -1
    uint64_t identifier_hash(const uint8_t *p, size_t n) nogil

cdef extern from "engine/portable.h" nogil:
    void tieaware_prefetch(const void *address)

cdef extern from "inputs/identifier.h" nogil:
    bint identifier_equal(const uint8_t *p, const uint8_t *q, size_t n)

identifier_seed()


cdef int check_lists(const int64_t *list_offsets, Py_ssize_t n_queries) except -1:
    cdef Py_ssize_t q, n
    for q in range(n_queries):
        if not 0 <= list_offsets[q + 1] - list_offsets[q] < LARGEST_INDEX:
            n = list_offsets[q + 1] - list_offsets[q]
            raise InputError("documents", f"a query has {n} documents, but the limit is {LARGEST_INDEX - 1}")
    return 0


cpdef cnp.ndarray frozen_view(cnp.ndarray array):
    """Return a read-only view of an array; the array itself if it is read-only."""
    cdef cnp.ndarray view
    if not cnp.PyArray_ISWRITEABLE(array):
        return array
    view = array.view()
    cnp.PyArray_CLEARFLAGS(view, cnp.NPY_ARRAY_WRITEABLE)
    return view


cdef class IdentifierArrays:
    """The arrays of `tieaware.lists.identifiers.Identifiers`, which is the only subclass. Immutable.

    Attributes
    ----------
    data, offsets : uint8[n_bytes], int64[n + 1]
        Identifier i is data[offsets[i]:offsets[i + 1]]. Both are read-only.
    kind : "text", "integer" or "any"
    """
    cdef readonly cnp.ndarray data, offsets
    cdef readonly object kind

    @classmethod
    def of(cls, cnp.ndarray data not None, cnp.ndarray offsets not None, kind="any"):
        """Return a column that uses these arrays, without checking them. Integers must be stored as decimal digits."""
        cdef IdentifierArrays self = cls.__new__(cls)
        self._set(data, offsets, kind)
        return self

    cpdef _set(self, cnp.ndarray data, cnp.ndarray offsets, kind):
        self.data = frozen_view(data)
        self.offsets = frozen_view(offsets)
        self.kind = kind

    def __len__(self):
        return self.offsets.shape[0] - 1


def number(const uint8_t[::1] data, const int64_t[::1] offsets):
    """Number the distinct identifiers of a column from 0, in the order in which they first appear.

    Returns
    -------
    numbers, firsts : int64[n], int64[n_distinct]
        The number of each identifier in the column, and the index in the column at which each number first appears.
    """
    cdef Py_ssize_t n = offsets.shape[0] - 1, i, found, n_distinct = 0
    if n >= LARGEST_INDEX:
        raise InputError("identifiers", f"there are {n} identifiers, but the limit is {LARGEST_INDEX - 1}")
    cdef Column column = column_of(data, offsets)
    numbers = np.empty(n, np.int64)
    firsts = np.empty(n, np.int64)
    cdef int64_t[::1] numbers_view = numbers, firsts_view = firsts
    cdef Py_ssize_t size = index_size(n)
    cdef uint64_t[::1] slots = np.zeros(size, np.uint64)
    cdef uint64_t hashed, where = 0
    with nogil:
        for i in range(n):
            # Consecutive identifiers are often equal, so each is first compared with the previous one.
            if i and size_of(column, i) == size_of(column, i - 1) and identifier_equal(
                bytes_of(column, i), bytes_of(column, i - 1), size_of(column, i)
            ):
                numbers_view[i] = numbers_view[i - 1]
                continue
            hashed = identifier_hash(bytes_of(column, i), size_of(column, i))
            found = find(
                &slots[0], size - 1, column, 0, bytes_of(column, i), size_of(column, i), hashed, &where
            )
            if found < 0:
                slots[where] = entry_of(hashed, i)
                numbers_view[i] = n_distinct
                firsts_view[n_distinct] = i
                n_distinct += 1
            else:
                numbers_view[i] = numbers_view[found]
    return numbers, firsts[:n_distinct].copy()


cdef enum:
    # For an identifier of up to this number of bytes, exactly this number of bytes is copied: a copy of a fixed size
    # needs no branches that depend on the length.
    SHORT = 16
    # While identifier i is copied, the memory of identifier i + AHEAD is prefetched, because the chosen identifiers may
    # be anywhere in the column.
    AHEAD = 24


def gather(const uint8_t[::1] data, const int64_t[::1] offsets, const int64_t[::1] chosen):
    """Return the identifiers with the indices `chosen`, in this order, as (data, offsets)."""
    cdef Py_ssize_t n = chosen.shape[0], n_all = offsets.shape[0] - 1, i, at, size
    new_offsets = np.empty(n + 1, np.int64)
    cdef int64_t[::1] begins = np.empty(n, np.int64), to = new_offsets
    cdef int64_t row, total = 0
    to[0] = 0
    with nogil:
        for i in range(n):
            if i + AHEAD < n:
                tieaware_prefetch(&offsets[0] + chosen[i + AHEAD])
            row = chosen[i]
            if not 0 <= row < n_all:
                with gil:
                    raise IndexError(f"index {row} is out of range for {n_all} identifiers")
            begins[i] = offsets[row]
            total += offsets[row + 1] - offsets[row]
            to[i + 1] = total
    new_data = np.empty(total, np.uint8)
    cdef uint8_t[::1] into = new_data
    with nogil:
        for i in range(n):
            if i + AHEAD < n:
                tieaware_prefetch(&data[0] + begins[i + AHEAD])
            at, size = to[i], to[i + 1] - to[i]
            # The bytes that are copied beyond the end of this identifier are overwritten by the next identifier.
            if 0 < size <= SHORT and at + SHORT <= total and begins[i] + SHORT <= data.shape[0]:
                memcpy(&into[at], &data[begins[i]], SHORT)
            elif size > 0:
                memcpy(&into[at], &data[begins[i]], size)
    return new_data, new_offsets


cdef enum:
    # The length of the longest list that `all_distinct` tests. In such a list, about eight documents find that an
    # earlier document has already set their bit among the 2^16 bits.
    SHORT_LIST = 1024


# A growing array of `n` duplicates, with room for `room`: row rows[2 k] repeats the document of row rows[2 k + 1].
cdef struct Repeats:
    int64_t *rows
    Py_ssize_t n, room


cdef bint append_repeat(Repeats *repeats, int64_t row, int64_t first) noexcept nogil:
    cdef Py_ssize_t room
    cdef void *rows
    if repeats.n == repeats.room:
        room = 2 * repeats.room + 64
        rows = realloc(repeats.rows, room * 2 * sizeof(int64_t))
        if rows == NULL:
            return False
        repeats.rows = <int64_t *>rows
        repeats.room = room
    repeats.rows[2 * repeats.n] = row
    repeats.rows[2 * repeats.n + 1] = first
    repeats.n += 1
    return True


cdef bint all_distinct(
    Column documents, Py_ssize_t begin, Py_ssize_t end, uint64_t *slots, uint32_t *hashes
) noexcept nogil:
    """Return True if all documents of a short list are different; return False if two documents may be equal.

    Each document sets one of 2^16 bits, which its hash selects. No branch depends on the value of the bit. If a
    document finds its bit already set, its hash is compared with the hashes of all documents before it in the list.
    Few documents need this comparison.
    """
    cdef Py_ssize_t i, j, n_same = 0, n = end - begin
    cdef uint32_t same[16]
    cdef uint64_t hashed, bit, word
    memset(slots, 0, (1 << 16) // 8)
    for i in range(n):
        hashed = identifier_hash(bytes_of(documents, begin + i), size_of(documents, begin + i))
        hashes[i] = <uint32_t>(hashed >> 32)
        word = hashed >> 6 & 1023
        bit = <uint64_t>1 << (hashed & 63)
        same[n_same] = <uint32_t>i
        n_same += (slots[word] & bit) != 0
        slots[word] |= bit
        if n_same == 16:
            return False
    n = 0
    for i in range(n_same):
        for j in range(same[i]):
            n += hashes[j] == hashes[same[i]]
    return n == 0


cdef bint find_duplicates(
    Column documents, const int64_t *list_offsets, Py_ssize_t n_queries, uint64_t *slots, uint32_t *hashes, bint one,
    Repeats *repeats
) noexcept nogil:
    cdef Py_ssize_t q, i, found, n, base, size
    cdef uint64_t hashed, where = 0
    cdef const uint8_t *p
    for q in range(n_queries):
        base = list_offsets[q]
        if list_offsets[q + 1] - base <= SHORT_LIST and all_distinct(
            documents, base, list_offsets[q + 1], slots, hashes
        ):
            continue
        size = index_size(list_offsets[q + 1] - base)
        memset(slots, 0, size * sizeof(uint64_t))
        for i in range(base, list_offsets[q + 1]):
            p = bytes_of(documents, i)
            n = size_of(documents, i)
            hashed = identifier_hash(p, n)
            found = find(slots, size - 1, documents, base, p, n, hashed, &where)
            if found < 0:
                slots[where] = entry_of(hashed, i - base)
                continue
            if not append_repeat(repeats, i, base + found):
                return False
            if one:
                return True
    return True


def duplicates(const uint8_t[::1] data, const int64_t[::1] offsets, const int64_t[::1] list_offsets, bint one=False):
    """Find the rows whose document already appears in an earlier row of the same query.

    Parameters
    ----------
    data, offsets, list_offsets : uint8[:], int64[n_documents + 1], int64[n_queries + 1]
        The documents as bytes and byte offsets. Those of query q are the rows list_offsets[q] …
        list_offsets[q + 1] - 1.
    one : bool
        Whether to stop at the first duplicate.

    Returns
    -------
    int64[n_found, 2]
        For each such row, its index, and the index of the first row of the query with the same document.
    """
    cdef Py_ssize_t n_queries = list_offsets.shape[0] - 1, longest, q
    check_lists(&list_offsets[0], n_queries)
    longest = 0
    for q in range(n_queries):
        longest = max(longest, list_offsets[q + 1] - list_offsets[q])
    cdef uint64_t[::1] slots = np.empty(max(index_size(longest), 1024), np.uint64)
    cdef uint32_t[::1] hashes = np.empty(SHORT_LIST, np.uint32)
    cdef Column documents = column_of(data, offsets)
    cdef Repeats repeats
    cdef bint good
    repeats.rows = NULL
    repeats.n = repeats.room = 0
    try:
        with nogil:
            good = find_duplicates(documents, &list_offsets[0], n_queries, &slots[0], &hashes[0], one, &repeats)
        if not good:
            raise MemoryError
        found = np.empty((repeats.n, 2), np.int64)
        if repeats.n:
            memcpy(cnp.PyArray_DATA(<cnp.ndarray>found), repeats.rows, repeats.n * 2 * sizeof(int64_t))
        return found
    finally:
        free(repeats.rows)
