"""Exposure: the mean slot weight of each document over the orders of tied documents.

A slot is a rank, and its weight is how much attention it gets. Tied documents take their slots in any order, so each of
them has the mean weight of the slots of its group: ε = (D_{t+n} - D_t) / n, for a group of n documents after t others,
and prefix sums D of the slot weights.

Unlike a measure, an exposure needs the group of every document. There are three ways to find it, with equal results:

1. If the list has few distinct scores, a hash table numbers them in one pass, and only these scores are sorted.
2. Otherwise the list is sorted together with the places of its documents (sorting.h).
3. If the list is too long for that, or two scores are too close, NumPy sorts the places by score.
"""
from libc.math cimport NAN
from libc.stdint cimport int64_t, uint16_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._counting cimport score_t
from tieaware.kernels._exact cimport double_double
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware.kernels._measure cimport between
from tieaware.kernels._sorting cimport (
    TIEAWARE_LONGEST_SORTED, argsort_doubles, sort, sort_doubles, stable_argsort_doubles, tieaware_chunks_of,
    tieaware_close, tieaware_place_bits,
    tieaware_repeats, tieaware_same, tieaware_sort, tieaware_words_double, tieaware_words_float,
)

cnp.import_array()

cdef enum:
    # The size of the hash table, as a number of bits, and the most distinct scores that it holds: a quarter of it.
    TABLE_BITS = 10
    TABLE_SIZE = 1024
    MOST_DISTINCT = 256
    # Lists with more distinct scores than one in this many documents are sorted.
    DOCUMENTS_PER_SCORE = 4

# The outcome for a list. WRITTEN: its exposures were written. UNORDERED: a score is NaN. REFUSED: this way of finding
# the groups does not suit the list. EXHAUSTED: there was no memory.
cdef enum Outcome:
    WRITTEN
    UNORDERED
    REFUSED
    EXHAUSTED


cdef struct Slots:
    # The prefix sums of the slot weights, and the number of slots that have a weight.
    const double* prefix_sums
    int64_t cutoff


cdef struct Scratch:
    # The number of the distinct score of each document.
    uint16_t* number
    # The distinct scores by number, and after them NaN, which is equal to no score; how many documents have each score,
    # in two parts; and the exposure of these documents.
    double value[MOST_DISTINCT + 1]
    int64_t size[MOST_DISTINCT]
    int64_t size_of_odd[MOST_DISTINCT]
    double exposure[MOST_DISTINCT]
    double ascending[MOST_DISTINCT]
    # table[h] is the number of a distinct score, or MOST_DISTINCT.
    uint16_t table[TABLE_SIZE]
    # Working memory for sorting: room for the words of a list, twice.
    int64_t* words
    int64_t* spare


cdef inline double mean_weight(Slots slots, int64_t t, int64_t n) noexcept nogil:
    """Return ε = (D_{t+m} - D_t) / n, the mean weight of the slots t+1 … t+n; only m of them may have a weight."""
    cdef int64_t m = min(slots.cutoff - t, n)
    cdef double_double d
    if m <= 0:
        return 0.0
    d = between(slots.prefix_sums, t, m)
    return (d.high + d.low) / n


cdef inline Py_ssize_t hash_of(double score) noexcept nogil:
    """Return the index in the hash table at which the search for a score starts."""
    cdef uint64_t bits
    memcpy(&bits, &score, sizeof(double))
    return <Py_ssize_t>((bits * <uint64_t>0x9E3779B97F4A7C15) >> (64 - TABLE_BITS))


cdef inline Py_ssize_t slot_of(const Scratch* scratch, double score) noexcept nogil:
    """Return the index in the hash table at which a score is, or at which it belongs."""
    cdef Py_ssize_t h = hash_of(score)
    while scratch.table[h] != MOST_DISTINCT and scratch.value[scratch.table[h]] != score:
        h = (h + 1) & (TABLE_SIZE - 1)
    return h


cdef Outcome by_distinct(const score_t* scores, Py_ssize_t n, Slots slots, Scratch* scratch,
                         double* out) noexcept nogil:
    """Write the exposures of a list with few distinct scores.

    Invariant: `count` distinct scores have numbers, which are in the table, and all documents before i have the number
    of their score.
    """
    cdef Py_ssize_t most = min(n // DOCUMENTS_PER_SCORE, MOST_DISTINCT), count = 0, i, h
    cdef int64_t before = 0
    cdef double score
    cdef uint16_t c
    for h in range(TABLE_SIZE):
        scratch.table[h] = MOST_DISTINCT
    scratch.value[MOST_DISTINCT] = NAN
    for i in range(n):
        # Adding 0.0 makes both zeros equal in their bits.
        score = <double>scores[i] + 0.0
        c = scratch.table[hash_of(score)]
        if scratch.value[c] != score:
            if score != score:
                return UNORDERED
            h = slot_of(scratch, score)
            c = scratch.table[h]
            if c == MOST_DISTINCT:
                if count == most:
                    return REFUSED
                c = <uint16_t>count
                scratch.table[h] = c
                scratch.value[c] = scratch.ascending[c] = score
                scratch.size[c] = scratch.size_of_odd[c] = 0
                count += 1
        scratch.number[i] = c
    # Two counters for each score: an addition need not wait for the one before it if neighbours have the same score.
    for i in range(0, n - 1, 2):
        scratch.size[scratch.number[i]] += 1
        scratch.size_of_odd[scratch.number[i + 1]] += 1
    if n % 2 == 1:
        scratch.size[scratch.number[n - 1]] += 1
    sort(scratch.ascending, count)
    for i in range(count - 1, -1, -1):
        c = scratch.table[slot_of(scratch, scratch.ascending[i])]
        scratch.size[c] += scratch.size_of_odd[c]
        scratch.exposure[c] = mean_weight(slots, before, scratch.size[c])
        before += scratch.size[c]
    for i in range(n):
        out[i] = scratch.exposure[scratch.number[i]]
    return WRITTEN


cdef Outcome by_sorting(const score_t* scores, const int64_t* order, Py_ssize_t n, bint average, Slots slots,
                        Scratch* scratch, double* out) noexcept nogil:
    """Write the exposures of a list by sorting its scores together with their places."""
    cdef int64_t bits = tieaware_place_bits(n)
    cdef const int64_t* words
    cdef int64_t nan, place
    cdef Py_ssize_t i, first = 0
    cdef double exposure
    if score_t is double:
        nan = tieaware_words_double(scores, order, n, bits, scratch.words)
    else:
        nan = tieaware_words_float(scores, order, n, bits, scratch.words)
    if nan:
        return UNORDERED
    words = tieaware_sort(sort_doubles, scratch.words, n, scratch.spare)
    if score_t is double:
        if tieaware_repeats(words, n, bits) > 0 and tieaware_close(scores, order, words, n, bits):
            return REFUSED
    while first < n:
        i = first + 1
        while average and i < n and tieaware_same(words, i, bits):
            i += 1
        exposure = mean_weight(slots, first, i - first)
        while first < i:
            place = words[first] & bits
            out[place if order == NULL else order[place]] = exposure
            first += 1
    return WRITTEN


cdef Outcome by_places(const score_t* scores, const int64_t* order, Py_ssize_t n, bint average, Slots slots,
                       Scratch* scratch, double* out) noexcept nogil:
    """Write the exposures of a list of any length: NumPy sorts the places of its documents by score."""
    cdef double* key = <double*>scratch.words
    cdef cnp.npy_intp* places = <cnp.npy_intp*>scratch.spare
    cdef Py_ssize_t i, first = 0
    cdef double exposure
    for i in range(n):
        key[i] = 0.0 - <double>scores[i if order == NULL else order[i]]
        places[i] = i
        if key[i] != key[i]:
            return UNORDERED
    if (argsort_doubles if average else stable_argsort_doubles)(key, places, n, NULL) < 0:
        return EXHAUSTED
    while first < n:
        i = first + 1
        while average and i < n and key[places[i]] == key[places[first]]:
            i += 1
        exposure = mean_weight(slots, first, i - first)
        while first < i:
            out[places[first] if order == NULL else order[places[first]]] = exposure
            first += 1
    return WRITTEN


cdef Outcome of_list(const score_t* scores, const int64_t* order, Py_ssize_t n, bint average, Slots slots,
                     Scratch* scratch, double* out) noexcept nogil:
    """Write the exposures of one list, in the cheapest way that suits it."""
    cdef Outcome outcome = REFUSED
    if average and n >= DOCUMENTS_PER_SCORE:
        outcome = by_distinct(scores, n, slots, scratch, out)
    if outcome == REFUSED and n <= TIEAWARE_LONGEST_SORTED:
        outcome = by_sorting(scores, order, n, average, slots, scratch, out)
    if outcome == REFUSED:
        outcome = by_places(scores, order, n, average, slots, scratch, out)
    return outcome


def exposures(cnp.ndarray scores not None, cnp.ndarray offsets not None, cnp.ndarray order, bint average,
              cnp.ndarray prefix_sums not None, int64_t cutoff, cnp.ndarray out not None, Py_ssize_t first,
              Py_ssize_t last):
    """Write the exposures of the lists first … last - 1; return the first list with a NaN among its scores, or -1.

    All arrays are C-contiguous, aligned and in native byte order.

    Parameters
    ----------
    scores : float64[n_docs] or float32[n_docs]
    offsets : int64[n_lists + 1]
        Where each list starts, and where the last one ends.
    order : int64[n_docs] or None
        For each list, the positions of its documents in the order of tied documents; None for the order of the list.
        With `average`, None.
    average : bool
        Whether tied documents share their slots; otherwise they take them in the order of `order`.
    prefix_sums : float64[depth + 1, 2]
        The prefix sums of the slot weights; `depth` is at least the cut-off or the length of the longest list.
    cutoff : int
        The number of slots that have a weight.
    out : float64[n_docs]
    """
    cdef const int64_t* bound = <const int64_t*>cnp.PyArray_DATA(offsets)
    cdef const int64_t* tied = <const int64_t*>cnp.PyArray_DATA(order) if order is not None else NULL
    cdef const char* data = <const char*>cnp.PyArray_DATA(scores)
    cdef bint single = cnp.PyArray_TYPE(scores) == cnp.NPY_FLOAT
    cdef double* exposure = <double*>cnp.PyArray_DATA(out)
    cdef Interruption interruption = no_interruption()
    cdef Py_ssize_t longest = 0, i, n, at, n_words, failed = -1
    cdef const int64_t* own_order
    cdef Outcome outcome = WRITTEN
    cdef Scratch* scratch
    cdef Slots slots
    slots.prefix_sums = <const double*>cnp.PyArray_DATA(prefix_sums)
    slots.cutoff = cutoff
    for i in range(first, last):
        longest = max(longest, <Py_ssize_t>(bound[i + 1] - bound[i]))
    n_words = max(longest, <Py_ssize_t>tieaware_chunks_of(min(longest, <Py_ssize_t>TIEAWARE_LONGEST_SORTED)).n)
    scratch = <Scratch*>malloc(sizeof(Scratch) + 2 * n_words * 8 + longest * sizeof(uint16_t))
    if scratch == NULL:
        raise MemoryError("no memory to sort a list")
    scratch.words = <int64_t*>(scratch + 1)
    scratch.spare = scratch.words + n_words
    scratch.number = <uint16_t*>(scratch.spare + n_words)
    with nogil:
        for i in range(first, last):
            at, n = bound[i], bound[i + 1] - bound[i]
            own_order = NULL if tied == NULL else tied + at
            if single:
                outcome = of_list(<const float*>data + at, own_order, n, average, slots, scratch, exposure + at)
            else:
                outcome = of_list(<const double*>data + at, own_order, n, average, slots, scratch, exposure + at)
            if outcome != WRITTEN or interrupted(&interruption, 16 * n):
                failed = i
                break
    free(scratch)
    check_interruption(&interruption)
    if outcome == EXHAUSTED:
        raise MemoryError("no memory to sort a list")
    return failed if outcome == UNORDERED else -1
