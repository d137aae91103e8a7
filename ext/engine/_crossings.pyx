"""Growing arrays of crossings, and their sort."""
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy, memset

# A pass of sorting uses at most this many buckets. At most FEW crossings are sorted by insertion.
cdef enum:
    BUCKETS = 2048
    FEW = 24

MOST_CROSSINGS = 0xffffffff


cdef bint make_room(Crossings* crossings, Py_ssize_t more) noexcept nogil:
    cdef Py_ssize_t room = max(crossings.count + more, 2 * crossings.room)
    cdef void* grown
    if crossings.count + more > MOST_CROSSINGS:
        return False
    if crossings.count + more <= crossings.room and crossings.key != NULL:
        return True
    grown = realloc(crossings.key, room * sizeof(uint64_t))
    if grown == NULL:
        return False
    crossings.key = <uint64_t*>grown
    grown = realloc(crossings.change, room * sizeof(uint32_t))
    if grown == NULL:
        return False
    crossings.change = <uint32_t*>grown
    crossings.room = room
    return True


cdef void sort(uint64_t* key, uint32_t* change, uint64_t* spare_key, uint32_t* spare_change, Py_ssize_t n,
               bint into_spare) noexcept nogil:
    """Sort by the highest digit, and each bucket in the same way.

    One pass distributes the crossings by the highest bits in which their keys differ from the least key; then each
    bucket is sorted in the same way. So each level uses up at least six bits.
    """
    cdef uint32_t stop_of[BUCKETS]
    cdef uint64_t least, most, k
    cdef uint32_t c
    cdef Py_ssize_t i, j, digit, buckets
    cdef uint32_t before, here
    cdef int shift = 0
    cdef uint64_t* to_key = spare_key if into_spare else key
    cdef uint32_t* to_change = spare_change if into_spare else change
    if n <= FEW:
        for i in range(n):
            k, c = key[i], change[i]
            j = i
            while j > 0 and to_key[j - 1] > k:
                to_key[j], to_change[j] = to_key[j - 1], to_change[j - 1]
                j -= 1
            to_key[j], to_change[j] = k, c
        return
    least = most = key[0]
    for i in range(n):
        least, most = min(least, key[i]), max(most, key[i])
    if least == most:
        if into_spare:
            memcpy(spare_key, key, n * sizeof(uint64_t))
            memcpy(spare_change, change, n * sizeof(uint32_t))
        return
    buckets = 64
    while buckets < BUCKETS and buckets < n:
        buckets *= 2
    while (most - least) >> shift >= <uint64_t>buckets:
        shift += 1
    memset(stop_of, 0, buckets * sizeof(uint32_t))
    for i in range(n):
        stop_of[(key[i] - least) >> shift] += 1
    before = 0
    for digit in range(buckets):
        here = stop_of[digit]
        stop_of[digit] = before
        before += here
    for i in range(n):
        digit = (key[i] - least) >> shift
        j = stop_of[digit]
        stop_of[digit] += 1
        spare_key[j], spare_change[j] = key[i], change[i]
    # Now stop_of[digit] is the end of each bucket.
    i = 0
    for digit in range(buckets):
        if stop_of[digit] > <uint32_t>i:
            sort(spare_key + i, spare_change + i, key + i, change + i, stop_of[digit] - i, not into_spare)
            i = stop_of[digit]
