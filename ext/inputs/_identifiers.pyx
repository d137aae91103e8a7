"""Columns of identifiers: numbering of the distinct ones, copies, duplicates in a list, sorting, and sets of hashes.

Identifiers are a column of bytes: identifier i is data[offsets[i]:offsets[i + 1]]. The documents of query q are in the
rows list_offsets[q] … list_offsets[q + 1] - 1.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._column cimport (
    LARGEST_INDEX, IdentifierColumn, bytes_of, column_of, entry_of, find, index_size, size_of,
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
    int identifier_compare(const uint8_t *p, size_t n, const uint8_t *q, size_t m)
    uint64_t load_prefix(const uint8_t *p, size_t n)

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
    cdef IdentifierColumn column = column_of(data, offsets)
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
    IdentifierColumn documents, Py_ssize_t begin, Py_ssize_t end, uint64_t *slots, uint32_t *hashes
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
    IdentifierColumn documents, const int64_t *list_offsets, Py_ssize_t n_queries, uint64_t *slots, uint32_t *hashes,
    bint one, Repeats *repeats
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
    cdef IdentifierColumn documents = column_of(data, offsets)
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


# ---- sorting by identifier, for the tie rules that order tied documents so ----

# A row with the bytes by which it is usually compared: `prefix` consists of the eight bytes of its identifier that
# follow the common prefix of all identifiers of the list. If two rows differ in `prefix`, the row with the greater
# `prefix` comes first. For the ascending order, the bits of `prefix` are inverted to achieve this.
cdef struct Keyed:
    uint64_t prefix
    int64_t row


cdef inline bint precedes(IdentifierColumn column, Keyed a, Keyed b, bint descending) noexcept nogil:
    cdef int compared
    if a.prefix != b.prefix:
        return a.prefix > b.prefix
    compared = identifier_compare(
        bytes_of(column, a.row), size_of(column, a.row), bytes_of(column, b.row), size_of(column, b.row)
    )
    return compared > 0 if descending else compared < 0


cdef Py_ssize_t common_prefix(IdentifierColumn column, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
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


cdef Keyed *sort(IdentifierColumn column, Keyed *keys, Keyed *spare, Py_ssize_t n, bint descending) noexcept nogil:
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
    cdef IdentifierColumn column = column_of(data, offsets)
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


# ---- queries that were already read ----

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
        cdef IdentifierColumn column = column_of(data, offsets)
        cdef uint64_t[::1] slots
        cdef bint good = True
        if 2 * (self.n + offsets.shape[0]) > self.slots.size:
            self.grow(self.n + offsets.shape[0])
        slots = self.slots
        for i in range(offsets.shape[0] - 1):
            good &= put(&slots[0], slots.shape[0] - 1, own_hash(column, i))
            self.n += 1
        return good

    def known(self, const uint8_t[::1] data, const int64_t[::1] offsets):
        """Return the index of the first identifier in a column that the set contains; -1 if it contains none."""
        cdef Py_ssize_t i
        cdef IdentifierColumn column = column_of(data, offsets)
        cdef uint64_t[::1] slots = self.slots
        for i in range(offsets.shape[0] - 1):
            if has(&slots[0], slots.shape[0] - 1, own_hash(column, i)):
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


cdef inline uint64_t own_hash(IdentifierColumn column, Py_ssize_t i) noexcept nogil:
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


def hashes(const uint8_t[::1] data, const int64_t[::1] offsets):
    """Return the hashes of all identifiers of a column, uint64[n].

    They differ between processes, so results of an evaluation must not use them.
    """
    cdef Py_ssize_t i, n = offsets.shape[0] - 1
    cdef IdentifierColumn column = column_of(data, offsets)
    found = np.empty(n, np.uint64)
    cdef uint64_t[::1] into = found
    with nogil:
        for i in range(n):
            into[i] = identifier_hash(bytes_of(column, i), size_of(column, i))
    return found
