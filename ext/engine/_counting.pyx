"""Counting of scores: for each of a few values, how many scores of a list are above the value, and how many equal it.

The loops over the scores are in counting.h. The functions here give them one name for float64 and float32 scores. They
also poll for interruption, such as Ctrl-C, in long lists.
"""
from libc.math cimport NAN
from libc.stdint cimport int64_t
from libc.string cimport memset

from tieaware.kernels._interruption cimport Interruption, interrupted

cdef extern from "engine/counting.h" nogil:
    int64_t tieaware_count_double(const double*, Py_ssize_t, const double*, Py_ssize_t, int64_t, int64_t*, int64_t*)
    int64_t tieaware_count_float(const float*, Py_ssize_t, const double*, Py_ssize_t, int64_t, int64_t*, int64_t*)
    int64_t tieaware_count_rounded(const double*, Py_ssize_t, const double*, Py_ssize_t, int64_t, int64_t*, int64_t*,
                                   int64_t*)
    void tieaware_count_equal(const double*, Py_ssize_t, const double*, Py_ssize_t, int64_t*)
    void tieaware_rank(const double*, Py_ssize_t, int64_t*)
    int64_t tieaware_precede_double(const double*, Py_ssize_t, Py_ssize_t, const double*, const int64_t*, Py_ssize_t,
                                    int64_t, int64_t*)
    int64_t tieaware_precede_float(const float*, Py_ssize_t, Py_ssize_t, const double*, const int64_t*, Py_ssize_t,
                                   int64_t, int64_t*)
    void tieaware_locate_double(const double*, const double*, int64_t, int64_t*)
    void tieaware_locate_float(const float*, const double*, int64_t, int64_t*)

cdef extern from *:
    """
    _Static_assert(TIEAWARE_LANES == 16, "TIEAWARE_LANES must equal LANES in _counting.pxd");
    """


cdef int64_t count(const score_t* scores, Py_ssize_t n, const double* values, Py_ssize_t n_values, int64_t limit,
                   int64_t* greater, int64_t* equal, Interruption* interruption) noexcept nogil:
    cdef Py_ssize_t at = 0
    cdef int64_t nan = 0
    memset(greater, 0, n_values * sizeof(int64_t))
    memset(equal, 0, n_values * sizeof(int64_t))
    while True:
        if score_t is double:
            nan += tieaware_count_double(scores + at, min(n - at, <Py_ssize_t>CHUNK), values, n_values, limit, greater,
                                         equal)
        else:
            nan += tieaware_count_float(scores + at, min(n - at, <Py_ssize_t>CHUNK), values, n_values, limit, greater,
                                        equal)
        at += CHUNK
        if at >= n or interrupted(interruption, CHUNK * n_values // 4):
            return nan


cdef int64_t count_own(const score_t* scores, Py_ssize_t n, const double* values, Py_ssize_t n_values, int64_t limit,
                       int64_t* greater, int64_t* equal, Interruption* interruption) noexcept nogil:
    """Count with scores and values rounded to floats, which is faster, and count again with doubles where that matters.

    Rounding never swaps two numbers, but may make them equal. So a value is counted again with doubles if rounding
    changed any score and several scores round to the same float as the value, unless all these are ties.
    """
    cdef Py_ssize_t at = 0, v = 0, end
    cdef int64_t nan = 0, inexact = 0
    # Comparing all doubles with one or two values costs no more than rounding all doubles.
    if n_values <= 2:
        return count(scores, n, values, n_values, limit, greater, equal, interruption)
    if score_t is float:
        return count(scores, n, values, n_values, limit, greater, equal, interruption)
    else:
        memset(greater, 0, n_values * sizeof(int64_t))
        memset(equal, 0, n_values * sizeof(int64_t))
        while True:
            nan += tieaware_count_rounded(scores + at, min(n - at, <Py_ssize_t>CHUNK), values, n_values, limit, greater,
                                          equal, &inexact)
            at += CHUNK
            if at >= n:
                break
            if interrupted(interruption, CHUNK * n_values // 8):
                return nan
        while inexact and v < n_values:
            end = v
            # Count adjacent values again together, in one pass over the scores.
            while end < n_values and equal[end] > 1 and greater[end] < limit:
                end += 1
            if end > v and not are_ties(scores, n, values + v, end - v, equal + v, interruption):
                count(scores, n, values + v, end - v, limit, greater + v, equal + v, interruption)
            v = end + 1
        return nan


cdef bint are_ties(const double* scores, Py_ssize_t n, const double* values, Py_ssize_t n_values, const int64_t* equal,
                   Interruption* interruption) noexcept nogil:
    """Return whether equal[v] scores equal values[v], for each of the values."""
    cdef int64_t found[LANES]
    cdef Py_ssize_t v = 0, at, i, some
    while v < n_values:
        some = min(n_values - v, <Py_ssize_t>LANES)
        memset(found, 0, sizeof(found))
        at = 0
        while at < n:
            tieaware_count_equal(scores + at, min(n - at, <Py_ssize_t>CHUNK), values + v, some, found)
            at += CHUNK
            if at < n and interrupted(interruption, CHUNK * some // 8):
                return True
        for i in range(some):
            if found[i] != equal[v + i]:
                return False
        v += some
    return True


cdef int64_t precede(const score_t* scores, Py_ssize_t n, const double* values, const int64_t* positions,
                     Py_ssize_t n_values, int64_t limit, int64_t* before, Interruption* interruption) noexcept nogil:
    cdef Py_ssize_t at = 0
    cdef int64_t nan = 0
    memset(before, 0, n_values * sizeof(int64_t))
    while True:
        if score_t is double:
            nan += tieaware_precede_double(scores + at, at, min(n - at, <Py_ssize_t>CHUNK), values, positions, n_values,
                                           limit, before)
        else:
            nan += tieaware_precede_float(scores + at, at, min(n - at, <Py_ssize_t>CHUNK), values, positions, n_values,
                                          limit, before)
        at += CHUNK
        if at >= n or interrupted(interruption, CHUNK * n_values // 4):
            return nan


cdef int64_t count_equal(const score_t* scores, const int64_t* order, Py_ssize_t n, double value,
                         Interruption* interruption) noexcept nogil:
    cdef int64_t above, equal = 0, no_limit = n + 1
    cdef Py_ssize_t at = 0, i, end
    if order == NULL:
        count(scores, n, &value, 1, no_limit, &above, &equal, interruption)
        return equal
    while True:
        end = min(n, at + CHUNK)
        for i in range(at, end):
            equal += scores[order[i]] == value
        at = end
        if at >= n or interrupted(interruption, 64 * CHUNK):
            return equal


cdef void find(const score_t* lanes, const double* values, int64_t n_values, int64_t* below) noexcept nogil:
    if score_t is double:
        tieaware_locate_double(lanes, values, n_values, below)
    else:
        tieaware_locate_float(lanes, values, n_values, below)


cdef int64_t locate(const score_t* scores, Py_ssize_t n, double* values, Py_ssize_t n_values, int64_t* histogram,
                    int64_t* greater, int64_t* equal, Interruption* interruption) noexcept nogil:
    """Count by finding each score among the values with a binary search.

    Invariant: histogram[2i] counts the scores strictly between values i-1 and i, and histogram[2i+1] the scores equal
    to value i.
    """
    cdef int64_t below[LANES]
    cdef score_t lanes[LANES]
    cdef const score_t* source
    cdef Py_ssize_t at = 0, i, width, end
    cdef int64_t nan = 0, above = 0
    # A score above all values is compared with this NaN, which equals no score.
    values[n_values] = NAN
    memset(histogram, 0, (2 * n_values + 2) * sizeof(int64_t))
    while at < n:
        end = min(n, at + CHUNK)
        while at < end:
            width = min(<Py_ssize_t>LANES, end - at)
            source = scores + at
            if width < LANES:
                for i in range(LANES):
                    lanes[i] = source[min(i, width - 1)]
                source = lanes
            find(source, values, n_values, below)
            for i in range(width):
                histogram[2 * below[i] + (values[below[i]] == source[i])] += 1
                nan += source[i] != source[i]
            at += width
        if at < n and interrupted(interruption, 64 * CHUNK):
            break
    above = histogram[2 * n_values]
    for i in range(n_values - 1, -1, -1):
        greater[i] = above
        equal[i] = histogram[2 * i + 1]
        above += histogram[2 * i + 1] + histogram[2 * i]
    return nan


cdef Py_ssize_t assign_few(double* scores, Py_ssize_t n_weighted, double* values, int64_t* group,
                           int64_t* first) noexcept nogil:
    """Write the distinct values of up to LANES scores, ascending, and the group of each document; return their number.

    The place of a score is the number of greater scores. If m scores are equal, they share a place, and the next m - 1
    places stay empty. So the place of a document is the number of documents in the groups before its own.
    """
    cdef int64_t above[LANES]
    cdef int64_t taken[LANES]
    cdef int64_t number[LANES]
    cdef Py_ssize_t i, places = 0, n_values = 0
    first[0] = 0
    if n_weighted == 0:
        return 0
    if n_weighted == 1:
        values[0] = scores[0]
        group[0] = 0
        first[1] = 1
        return 1
    for i in range(n_weighted, n_weighted + 3):
        # `tieaware_rank` reads the scores four at a time, so up to three numbers after the last score are read.
        scores[i] = 0.0
    tieaware_rank(scores, n_weighted, above)
    for i in range(n_weighted):
        places += above[i]
    if places == n_weighted * (n_weighted - 1) // 2:
        # All scores differ.
        for i in range(n_weighted):
            group[i] = above[i]
            values[n_weighted - 1 - above[i]] = scores[i]
            first[i + 1] = i + 1
        return n_weighted
    for i in range(n_weighted):
        taken[i] = 0
    for i in range(n_weighted):
        taken[above[i]] = 1
    for i in range(n_weighted):
        number[i] = n_values
        # If place i is empty, the next place overwrites this.
        first[n_values] = i
        n_values += taken[i]
    first[n_values] = n_weighted
    for i in range(n_weighted):
        group[i] = number[above[i]]
        values[n_values - 1 - number[above[i]]] = scores[i]
    return n_values


cdef void assign_many(double* scores, Py_ssize_t n_weighted, const double* values, Py_ssize_t n_values,
                      int64_t* group, Interruption* interruption) noexcept nogil:
    """Write the group of each document: group 0 is that of the last, highest value. Scores below all values get -1."""
    cdef int64_t below[LANES]
    cdef Py_ssize_t i, at = 0, width, end
    if n_values == 0:
        for i in range(n_weighted):
            group[i] = -1
        return
    for i in range(LANES):
        # The scores are read LANES at a time, so the numbers after the last score are read too.
        scores[n_weighted + i] = values[0]
    while at < n_weighted:
        end = min(n_weighted, at + CHUNK)
        while at < end:
            tieaware_locate_double(scores + at, values, n_values, below)
            width = min(<Py_ssize_t>LANES, end - at)
            for i in range(width):
                group[at + i] = -1 if scores[at + i] < values[0] else n_values - 1 - below[i]
            at += width
        if at < n_weighted and interrupted(interruption, 64 * CHUNK):
            return
