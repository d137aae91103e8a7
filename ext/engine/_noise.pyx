"""The expectation of measures if each score has independent noise: lists, working memory and the call.

The documents of a list are sorted by the ends of their windows, and added island after island. _noise_islands.pyx
explains windows and islands, and _noise_nodes.pyx has the formulas.
"""
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware.kernels._noise_islands cimport add_islands, sort_down
from tieaware.kernels._noise_nodes cimport Form, Noise, Sum, TIEAWARE_AT_ONCE, TIEAWARE_N_VALUES, Work, tieaware_numbers

cnp.import_array()

cdef extern from "engine/noise.h" nogil:
    enum:
        TIEAWARE_RULES
        TIEAWARE_FACTORS

cdef enum:
    # The numbers of arrays in `Work` with a double or a word for each document, or with a double for each document and
    # node; and of its polynomials.
    N_ARRAYS = 9
    N_WORDS = 5
    N_CHANCES = 2
    N_POLYNOMIALS = 5


cdef struct Lists:
    # The lists as `expectations` takes them.
    const double* scores
    const double* sizes
    bint one_size, shared
    const int64_t* offsets
    const int64_t* judged_offsets
    const int64_t* positions
    const uint8_t* weighted
    const uint8_t* judged
    const int64_t* excluded_offsets
    const int64_t* excluded


cdef Py_ssize_t read_list(Work* w, const Lists* lists, Py_ssize_t q) noexcept nogil:
    """Read the documents of a list that are ranked, and sort them; return how many there are."""
    cdef int64_t start = 0 if lists.shared else lists.offsets[q], n = lists.offsets[q + 1] - lists.offsets[q], i
    cdef int64_t row = lists.judged_offsets[q], gone = 0, n_gone = 0
    cdef Py_ssize_t k = 0
    cdef double score, size
    if lists.excluded_offsets != NULL:
        gone, n_gone = lists.excluded_offsets[q], lists.excluded_offsets[q + 1]
    w.n_weighted = w.width = 0.0
    for i in range(n):
        if gone < n_gone and lists.excluded[gone] == i:
            gone += 1
            continue
        score = lists.scores[start + i]
        size = lists.sizes[0 if lists.one_size else start + i] if fabs(score) < INFINITY else 0.0
        w.score[k], w.size[k], w.row[k], w.judged[k] = score, size, -1, not w.some_judged_only
        w.low[k], w.high[k] = score + size * w.noise.low, score + size * w.noise.high
        if row < lists.judged_offsets[q + 1] and lists.positions[row] == i:
            w.judged[k] = lists.judged[row] or not w.some_judged_only
            if lists.weighted[row]:
                w.row[k] = row
                w.n_weighted += 1.0
                w.width += w.high[k] - w.low[k] if size > 0.0 else 0.0
            row += 1
        w.key[k], w.order[k] = -w.high[k], k
        k += 1
    sort_down(w.key, w.order, w.spare, w.active, k)
    return k


cdef void begin(Work* w, const double* norms, double tolerance, double beyond, const double* largest) noexcept nogil:
    """Begin the sums of a list. The tolerance is relative to the larger of the norm and the largest gain."""
    cdef Py_ssize_t m
    cdef double scale
    w.tolerance = tolerance * (1.0 - beyond)
    w.above = w.judged_above = 0
    for m in range(w.n_forms):
        scale = max(norms[m], largest[m])
        w.sums[m].total = w.sums[m].relevant = 0.0
        w.sums[m].error, w.sums[m].tolerance = tolerance * beyond * scale, w.tolerance * scale
        w.sums[m].goes_on = 1.0 if norms[m] > 0.0 else 0.0


cdef Py_ssize_t longest_of(const int64_t* offsets, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef Py_ssize_t longest = 0, q
    for q in range(first, last):
        longest = max(longest, <Py_ssize_t>(offsets[q + 1] - offsets[q]))
    return longest


cdef class Workspace:
    """The memory of `Work`, for lists of up to `longest` documents and measures of up to `depth` ranks."""
    cdef Work work
    cdef void* memory

    def __cinit__(self, Py_ssize_t longest, Py_ssize_t depth, Py_ssize_t n_forms):
        cdef Py_ssize_t n = longest + 1, m = depth + 1 + TIEAWARE_FACTORS
        cdef Py_ssize_t of_rules = (TIEAWARE_N_VALUES + TIEAWARE_RULES + 1) * n_forms
        cdef Py_ssize_t of_products = TIEAWARE_AT_ONCE * N_POLYNOMIALS * m
        cdef Py_ssize_t n_doubles = (N_ARRAYS + TIEAWARE_AT_ONCE * N_CHANCES) * n + of_products + of_rules
        cdef Py_ssize_t i
        cdef tieaware_numbers* product
        cdef Work* w = &self.work
        cdef double* at
        self.memory = malloc(n_doubles * sizeof(double) + N_WORDS * n * 8 + n_forms * sizeof(Sum) + n)
        if self.memory == NULL:
            raise MemoryError("no memory for the products of a list")
        w.sums = <Sum*>self.memory
        at = <double*>(w.sums + n_forms)
        w.score, w.size, w.place, w.low, w.high = at, at + n, at + 2 * n, at + 3 * n, at + 4 * n
        w.key, w.near, w.per_size, w.inverse = at + 5 * n, at + 6 * n, at + 7 * n, at + 8 * n
        at += N_ARRAYS * n
        w.chance, w.density = at, at + TIEAWARE_AT_ONCE * n
        at += TIEAWARE_AT_ONCE * N_CHANCES * n
        w.row = <int64_t*>at
        w.order, w.spare = <cnp.npy_intp*>(at + n), <cnp.npy_intp*>(at + 2 * n)
        w.active, w.gathered = <cnp.npy_intp*>(at + 3 * n), <cnp.npy_intp*>(at + 4 * n)
        at += N_WORDS * n
        product = <tieaware_numbers*>at + TIEAWARE_FACTORS
        for i in range(N_POLYNOMIALS):
            memset(product + i * m - TIEAWARE_FACTORS, 0, TIEAWARE_FACTORS * sizeof(tieaware_numbers))
        w.common.of, w.common_judged.of, w.own.of = product, product + m, product + 2 * m
        w.a, w.b = product + 3 * m, product + 4 * m
        at += of_products
        w.values, w.rule = at, at + TIEAWARE_N_VALUES * n_forms
        w.change = w.rule + n_forms
        w.judged = <uint8_t*>(at + of_rules)
        w.n_forms = n_forms

    def __dealloc__(self):
        free(self.memory)


cdef class KernelNoise:
    """Noise in the form that the kernel uses. Immutable.

    Parameters
    ----------
    table : float64[n_cells + 1, 8]
        The chance that the noise of a document of size 1 is above z, as a polynomial in each cell, and in one after the
        end of the table. The argument of a polynomial is -1/2 … 1/2 inside the cell.
    start, width : float
        The z at which the first cell starts, and the width of a cell.
    step : float
        The first distance of the nodes of trapezoids; 0 if the chance is a polynomial of degree 1 between the ends of
        the table, and has kinks there.
    """
    cdef Noise noise
    cdef cnp.ndarray table
    cdef double start, width

    def __init__(self, cnp.ndarray table not None, double start, double width, double step):
        self.table, self.start, self.width = table, start, width
        self.noise.table.table = <const double*>cnp.PyArray_DATA(table)
        self.noise.table.low = start
        self.noise.table.per_cell = 1.0 / width
        self.noise.table.n_cells = cnp.PyArray_DIM(table, 0) - 1
        self.noise.step, self.noise.kinks = step, step == 0.0


cdef class NoisyMeasures:
    """Measures, and the gains of judged documents, in the form that the kernel uses. Immutable.

    Parameters
    ----------
    slots, gains, stays : list of float64[n]
        For each measure, the weights of the ranks; the gain of each judged document; and the chance that the user goes
        on after it, or None if that is 1.
    counted, judged_only : list of bool
        For each measure, whether it is average precision, and whether unjudged documents have no ranks.
    """
    cdef list slots, gains, stays
    cdef Form* forms
    cdef Py_ssize_t n, depth
    cdef bint some_judged_only

    def __cinit__(self, list slots not None, list gains not None, list stays not None, list counted not None,
                  list judged_only not None):
        cdef Py_ssize_t m
        self.n = len(slots)
        self.slots, self.gains, self.stays = slots, gains, stays
        self.some_judged_only = any(judged_only)
        self.forms = <Form*>malloc(max(self.n, 1) * sizeof(Form))
        if self.forms == NULL:
            raise MemoryError("no memory for the measures")
        for m in range(self.n):
            self.forms[m].counted, self.forms[m].judged_only = counted[m], judged_only[m]
            self.forms[m].slot = <const double*>cnp.PyArray_DATA(<cnp.ndarray?>slots[m])
            self.forms[m].gain = <const double*>cnp.PyArray_DATA(<cnp.ndarray?>gains[m])
            self.forms[m].stays = NULL if stays[m] is None else <const double*>cnp.PyArray_DATA(<cnp.ndarray?>stays[m])
            self.forms[m].depth = len(slots[m])
            self.depth = max(self.depth, <Py_ssize_t>self.forms[m].depth)

    def __dealloc__(self):
        free(self.forms)


def expectations(KernelNoise noise not None, tuple window not None, tuple reach not None,
                 NoisyMeasures measures not None, cnp.ndarray scores not None, cnp.ndarray sizes not None,
                 tuple lists not None, cnp.ndarray norms not None, cnp.ndarray largest not None, double tolerance,
                 double beyond, double undefined, cnp.ndarray values not None, cnp.ndarray errors not None,
                 Py_ssize_t first, Py_ssize_t last):
    """Write the expectations and their errors for the lists first … last - 1.

    All arrays are C-contiguous, aligned and in native byte order.

    Parameters
    ----------
    noise : KernelNoise
    window, reach : tuple of two floats
        The noise of a document is negligible outside of size * low … size * high, and it is integrated in the reach.
    measures : NoisyMeasures
    scores : float64[n_docs]
        The scores, of all lists or of one that all lists share; no NaN.
    sizes : float64[n_docs] or float64[1]
        The sizes of the noise of the documents, at least 0 and finite.
    lists : tuple
        int64[n_lists + 1], where each list starts and the last one ends; int64[n_lists + 1], the same for their judged
        documents; int64[n_judged], the positions of these, ascending; uint8[n_judged], whether each has a weight for a
        measure; uint8[n_judged], whether it is judged; and int64[n_lists + 1], int64[n_excluded], those excluded, or
        None, None.
    norms : float64[n_lists, n_measures]
        The divisor of each measure for each list, 0 where it is undefined.
    largest : float64[n_measures]
        The most that one document earns.
    tolerance : float
        The largest error, relative to the norm or the largest gain.
    beyond : float
        The share of it that noise beyond the windows can change.
    undefined : float
        The value where a measure is undefined.
    values, errors : float64[n_lists, n_measures]
    """
    cdef Lists of
    cdef cnp.ndarray array
    cdef Interruption interruption = no_interruption()
    cdef const double* norm = <const double*>cnp.PyArray_DATA(norms)
    cdef const double* gain = <const double*>cnp.PyArray_DATA(largest)
    cdef double* value = <double*>cnp.PyArray_DATA(values)
    cdef double* error = <double*>cnp.PyArray_DATA(errors)
    cdef Py_ssize_t n = measures.n, q, m, n_docs
    cdef Noise of_noise = noise.noise
    cdef Workspace space
    cdef Work* w
    of.scores, of.sizes = <const double*>cnp.PyArray_DATA(scores), <const double*>cnp.PyArray_DATA(sizes)
    array = lists[0]
    of.offsets = <const int64_t*>cnp.PyArray_DATA(array)
    of.one_size = cnp.PyArray_SIZE(sizes) == 1
    of.shared = cnp.PyArray_SIZE(scores) != of.offsets[cnp.PyArray_SIZE(array) - 1]
    array = lists[1]
    of.judged_offsets = <const int64_t*>cnp.PyArray_DATA(array)
    array = lists[2]
    of.positions = <const int64_t*>cnp.PyArray_DATA(array)
    array = lists[3]
    of.weighted = <const uint8_t*>cnp.PyArray_DATA(array)
    array = lists[4]
    of.judged = <const uint8_t*>cnp.PyArray_DATA(array)
    of.excluded_offsets = of.excluded = NULL
    if lists[5] is not None:
        array = lists[5]
        of.excluded_offsets = <const int64_t*>cnp.PyArray_DATA(array)
        array = lists[6]
        of.excluded = <const int64_t*>cnp.PyArray_DATA(array)
    of_noise.low, of_noise.high = window
    of_noise.least, of_noise.most = reach
    space = Workspace(longest_of(of.offsets, first, last), measures.depth, n)
    w = &space.work
    w.noise, w.forms, w.interruption = &of_noise, measures.forms, &interruption
    w.some_judged_only = measures.some_judged_only
    with nogil:
        for q in range(first, last):
            n_docs = read_list(w, &of, q)
            begin(w, norm + q * n, tolerance, beyond, gain)
            if interrupted(&interruption, 64 * n_docs) or add_islands(w, n_docs):
                break
            for m in range(n):
                if norm[q * n + m] > 0.0:
                    value[q * n + m] = w.sums[m].total / norm[q * n + m]
                    error[q * n + m] = w.sums[m].error / norm[q * n + m]
                else:
                    value[q * n + m], error[q * n + m] = undefined, 0.0
    check_interruption(&interruption)
