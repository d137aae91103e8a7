"""Selection of the documents of each list that may have a weight for a measure, and lookup of their weights.

Most documents of most lists are unjudged or have the label 0, and these documents have no weight for most measures.
Judged documents without a weight are only counted, 64 at a time (labels.h). Documents that may have a weight are called
*listed*: their positions and labels are written to arrays. So no array made here is as large as the array of labels.
"""
import numpy as np
from libc.stdint cimport INT32_MAX, INT32_MIN, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._allocation cimport new_array, new_matrix, new_zeros, zero_matrix
from tieaware.kernels._exact cimport MOST_PARTS, rounded_sum

cnp.import_array()

ctypedef fused label_t:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t
    uint64_t

cdef extern from "engine/labels.h" nogil:
    enum:
        TIEAWARE_CHUNK
    bint tieaware_all_zero(const void*, Py_ssize_t)
    uint64_t tieaware_listed(const int32_t*, Py_ssize_t, int32_t, int32_t, int64_t*)

cdef extern from "engine/portable.h" nogil:
    int tieaware_lowest_bit(uint64_t)

cdef enum Outcome:
    GOOD
    NO_MEMORY
    NO_LABEL


# A growing array of listed documents: the position of each document in its list, and its label.
cdef struct Listed:
    int64_t* positions
    int32_t* labels
    Py_ssize_t n, room


cdef bint make_room(Listed* listed, Py_ssize_t more) noexcept nogil:
    """Make room in the arrays for `more` more documents; return False if the memory cannot be allocated."""
    cdef Py_ssize_t room = max(listed.n + more, 2 * listed.room)
    cdef void* grown
    if listed.n + more <= listed.room:
        return True
    grown = realloc(listed.positions, room * sizeof(int64_t))
    if grown == NULL:
        return False
    listed.positions = <int64_t*>grown
    grown = realloc(listed.labels, room * sizeof(int32_t))
    if grown == NULL:
        return False
    listed.labels = <int32_t*>grown
    listed.room = room
    return True


cdef inline bint narrow(const label_t* labels, Py_ssize_t n, int32_t* narrowed) noexcept nogil:
    """Copy n labels to 32 bits each; return False if a label needs more.

    Each label is read only once, because another thread may change it between the check and the copy.
    """
    cdef Py_ssize_t i
    cdef label_t label
    cdef uint64_t beyond = 0
    for i in range(n):
        label = labels[i]
        narrowed[i] = <int32_t>label
        if label_t is int64_t:
            # The numbers -2**31 ... 2**31 - 1, and no others, become 0 ... 2**32 - 1 by adding 2**31.
            beyond |= (<uint64_t>label + (<uint64_t>1 << 31)) >> 32
        elif label_t is uint32_t or label_t is uint64_t:
            beyond |= <uint64_t>label >> 31
    return beyond == 0


cdef void add(Listed* listed, const int32_t* labels, uint64_t bits, int64_t position) noexcept nogil:
    """Append the documents whose bits are set to `listed`, which has room. `position` is that of the first bit."""
    cdef int64_t* positions = listed.positions
    cdef int32_t* into = listed.labels
    cdef Py_ssize_t n = listed.n
    cdef int i
    while bits != 0:
        i = tieaware_lowest_bit(bits)
        positions[n] = position + i
        into[n] = labels[i]
        n += 1
        bits &= bits - 1
    listed.n = n


cdef Outcome list_all(const label_t* labels, const int64_t* offsets, Py_ssize_t n_lists, int32_t least, int32_t lowest,
                      Listed* listed, int64_t* judged_offsets, int64_t* left_out) noexcept nogil:
    """List the documents whose label is at least `least` or below `lowest`, and count the other judged documents.

    In `listed`, the documents of list q begin at index judged_offsets[q]. left_out[q] is the number of judged documents
    of list q that are not in `listed`.
    """
    cdef int32_t narrowed[TIEAWARE_CHUNK]
    cdef const int32_t* chunk = narrowed
    cdef Py_ssize_t q, i, n
    cdef int64_t at, end, n_judged
    cdef uint64_t bits
    judged_offsets[0] = 0
    for q in range(n_lists):
        at = offsets[q]
        end = offsets[q + 1]
        n_judged = 0
        # Invariant: the documents before index `at` have been counted, and the listed documents among them written.
        while at < end:
            n = min(end - at, <int64_t>TIEAWARE_CHUNK)
            if least > 0 and n == TIEAWARE_CHUNK and tieaware_all_zero(labels + at, sizeof(label_t)):
                n_judged += n
                at += n
                continue
            if label_t is int32_t:
                chunk = labels + at
            elif not narrow(labels + at, n, narrowed):
                return NO_LABEL
            bits = tieaware_listed(chunk, n, least, lowest, &n_judged)
            if bits != 0:
                if not make_room(listed, n):
                    return NO_MEMORY
                add(listed, chunk, bits, at - offsets[q])
            at += n
        judged_offsets[q + 1] = listed.n
        for i in range(judged_offsets[q], listed.n):
            n_judged -= listed.labels[i] >= 0
        left_out[q] = max(n_judged, <int64_t>0)
    return GOOD


def listed(cnp.ndarray labels not None, cnp.ndarray offsets not None, bint zeros, bint pool):
    """Find the documents with labels above 0 and, on request, those with label 0 or with labels below -1.

    Parameters
    ----------
    labels : bool or integers of any type [n_docs]
        C-contiguous, aligned and in native byte order.
    offsets : int64[n_lists + 1]
        Where each list starts; the last offset is n_docs.
    zeros : bool
        Whether to list documents with label 0.
    pool : bool
        Whether to list documents with labels below -1, which are in the pool but not judged.

    Returns
    -------
    tuple or None
        (judged_offsets, positions, labels, left_out): where the listed documents of each list begin,
        int64[n_lists + 1]; the position of each listed document in its list, int64[n]; its label, int32[n]; and the
        number of judged documents of each list that are not listed, int64[n_lists]. None if a label does not fit in
        int32.
    """
    cdef Py_ssize_t n_lists = offsets.shape[0] - 1
    cdef cnp.ndarray judged_offsets = np.empty(n_lists + 1, np.int64), left_out = np.empty(n_lists, np.int64)
    cdef cnp.ndarray positions, values
    cdef const int64_t* of_lists = <const int64_t*>cnp.PyArray_DATA(offsets)
    cdef int64_t* into = <int64_t*>cnp.PyArray_DATA(judged_offsets)
    cdef int64_t* others = <int64_t*>cnp.PyArray_DATA(left_out)
    cdef const void* data = cnp.PyArray_DATA(labels)
    cdef int size = <int>cnp.PyArray_ITEMSIZE(labels)
    cdef bint signed = cnp.PyArray_ISSIGNED(labels)
    cdef int32_t least = 0 if zeros else 1
    # Documents with labels below `lowest` are listed. No label is below the lowest number.
    cdef int32_t lowest = -1 if pool else INT32_MIN
    cdef Listed found
    cdef Outcome outcome
    found.positions = NULL
    found.labels = NULL
    found.n = found.room = 0
    try:
        with nogil:
            if signed and size == 1:
                outcome = list_all(<const int8_t*>data, of_lists, n_lists, least, lowest, &found, into, others)
            elif signed and size == 2:
                outcome = list_all(<const int16_t*>data, of_lists, n_lists, least, lowest, &found, into, others)
            elif signed and size == 4:
                outcome = list_all(<const int32_t*>data, of_lists, n_lists, least, lowest, &found, into, others)
            elif signed:
                outcome = list_all(<const int64_t*>data, of_lists, n_lists, least, lowest, &found, into, others)
            elif size == 1:
                outcome = list_all(<const uint8_t*>data, of_lists, n_lists, least, lowest, &found, into, others)
            elif size == 2:
                outcome = list_all(<const uint16_t*>data, of_lists, n_lists, least, lowest, &found, into, others)
            elif size == 4:
                outcome = list_all(<const uint32_t*>data, of_lists, n_lists, least, lowest, &found, into, others)
            else:
                outcome = list_all(<const uint64_t*>data, of_lists, n_lists, least, lowest, &found, into, others)
        if outcome == NO_MEMORY:
            raise MemoryError("no memory for the judged documents")
        if outcome == NO_LABEL:
            return None
        positions = np.empty(found.n, np.int64)
        values = np.empty(found.n, np.int32)
        if found.n > 0:
            memcpy(cnp.PyArray_DATA(positions), found.positions, found.n * sizeof(int64_t))
            memcpy(cnp.PyArray_DATA(values), found.labels, found.n * sizeof(int32_t))
    finally:
        free(found.positions)
        free(found.labels)
    return judged_offsets, positions, values, left_out


cdef void find_range(const int32_t* labels, Py_ssize_t n, int32_t* low, int32_t* high) noexcept nogil:
    """Find the lowest and the highest of n labels; low > high if there are none."""
    cdef int32_t least = INT32_MAX, most = INT32_MIN
    cdef Py_ssize_t i
    for i in range(n):
        least = min(least, labels[i])
        most = max(most, labels[i])
    low[0], high[0] = least, most


def count(cnp.ndarray labels not None, cnp.ndarray offsets not None, int64_t least):
    """Count the labels of each list that are at least `least`; return float64[n_lists]. `labels` is int32."""
    cdef Py_ssize_t n_lists = offsets.shape[0] - 1, q, i
    cdef int32_t low, high
    cdef const int32_t* label = <const int32_t*>cnp.PyArray_DATA(labels)
    cdef const int64_t* bound = <const int64_t*>cnp.PyArray_DATA(offsets)
    cdef cnp.ndarray counts = new_array(n_lists, cnp.NPY_DOUBLE)
    cdef double* into = <double*>cnp.PyArray_DATA(counts)
    cdef int64_t n
    with nogil:
        find_range(label, labels.shape[0], &low, &high)
        for q in range(n_lists):
            n = bound[q + 1] - bound[q]
            # Often all labels count. Then the lists need not be read.
            if low < least:
                n = 0
                for i in range(bound[q], bound[q + 1]):
                    n += label[i] >= least
            into[q] = <double>n
    return counts


def rounded_sums(cnp.ndarray parts not None):
    """Return the sum of each column, rounded once: float64[n]. `parts` is float64[n_parts, n], C-contiguous."""
    cdef Py_ssize_t n_parts = parts.shape[0], n = parts.shape[1], i
    cdef const double* part = <const double*>cnp.PyArray_DATA(parts)
    cdef cnp.ndarray sums = np.empty(n)
    cdef double* into = <double*>cnp.PyArray_DATA(sums)
    if n_parts > MOST_PARTS:
        raise ValueError("too many parts")
    with nogil:
        for i in range(n):
            into[i] = rounded_sum(part + i, n, n_parts)
    return sums


def highest(cnp.ndarray labels not None):
    """Return the highest label of an int32 array, or 0 if all labels are negative."""
    cdef Py_ssize_t n = labels.shape[0], i
    cdef const int32_t* label = <const int32_t*>cnp.PyArray_DATA(labels)
    cdef int32_t most = 0
    with nogil:
        for i in range(n):
            most = max(most, label[i])
    return most


def longest(cnp.ndarray offsets not None):
    """Return the length of the longest list; `offsets` is int64[n_lists + 1]."""
    cdef Py_ssize_t n_lists = offsets.shape[0] - 1, q
    cdef const int64_t* bound = <const int64_t*>cnp.PyArray_DATA(offsets)
    cdef int64_t most = 0
    for q in range(n_lists):
        most = max(most, bound[q + 1] - bound[q])
    return most


def lengths(cnp.ndarray offsets not None):
    """Return the length of each list, int64[n_lists]; `offsets` is int64[n_lists + 1]."""
    cdef Py_ssize_t n_lists = offsets.shape[0] - 1, q
    cdef const int64_t* bound = <const int64_t*>cnp.PyArray_DATA(offsets)
    cdef cnp.ndarray found
    if cnp.PyArray_TYPE(offsets) != cnp.NPY_INT64 or not cnp.PyArray_IS_C_CONTIGUOUS(offsets):
        raise ValueError("the offsets have an unexpected type or layout")
    found = new_array(n_lists, cnp.NPY_INT64)
    cdef int64_t* into = <int64_t*>cnp.PyArray_DATA(found)
    for q in range(n_lists):
        into[q] = bound[q + 1] - bound[q]
    return found


def beside(list columns not None, Py_ssize_t n_rows):
    """Return a matrix with these columns, each n_rows numbers, and two matrices of zeros of the same shape.

    They are float64[n_rows, n_columns], and the last one int64[n_rows, n_columns].
    """
    cdef Py_ssize_t n_columns = len(columns), i, row
    cdef cnp.ndarray matrix = new_matrix(n_rows, n_columns, cnp.NPY_DOUBLE), column
    cdef double* into = <double*>cnp.PyArray_DATA(matrix)
    cdef const double* number
    for i in range(n_columns):
        column = columns[i]
        if not (cnp.PyArray_TYPE(column) == cnp.NPY_DOUBLE and cnp.PyArray_IS_C_CONTIGUOUS(column)):
            column = np.ascontiguousarray(column, np.float64)
        if cnp.PyArray_NDIM(column) != 1 or column.shape[0] != n_rows:
            raise ValueError("a column has an unexpected shape")
        number = <const double*>cnp.PyArray_DATA(column)
        for row in range(n_rows):
            into[row * n_columns + i] = number[row]
    return matrix, zero_matrix(n_rows, n_columns, cnp.NPY_DOUBLE), zero_matrix(n_rows, n_columns, cnp.NPY_INT64)


def norms(cnp.ndarray totals not None, list ones not None):
    """Return the norm of each measure for each query: its total, or 1 in the columns `ones`; 0 without a total above 0.

    Both are float64[n_queries, n_measures], C-contiguous.
    """
    cdef Py_ssize_t n_rows = totals.shape[0], n_columns = totals.shape[1], i, row, column
    cdef cnp.ndarray found = new_matrix(n_rows, n_columns, cnp.NPY_DOUBLE)
    cdef double* norm = <double*>cnp.PyArray_DATA(found)
    cdef const double* total = <const double*>cnp.PyArray_DATA(totals)
    for i in range(n_rows * n_columns):
        norm[i] = total[i] if total[i] > 0.0 else 0.0
    for i in range(len(ones)):
        column = ones[i]
        if not 0 <= column < n_columns:
            raise IndexError(f"column {column} is out of range for {n_columns} measures")
        for row in range(n_rows):
            norm[row * n_columns + column] = 1.0 if total[row * n_columns + column] > 0.0 else 0.0
    return found


def weighted(cnp.ndarray offsets not None, cnp.ndarray positions not None, cnp.ndarray labels not None, int32_t first,
             cnp.ndarray by_label not None):
    """Select the weighted documents: those whose label has a non-zero weight under some weighting.

    Parameters
    ----------
    offsets, positions, labels : int64[n_lists + 1], int64[n], int32[n]
        The listed documents of each list.
    first : int
        The label of the first column of `by_label`; lower labels have the same weight as this label.
    by_label : float64[n_weightings, n_labels]
        The weight of a document of each label, C-contiguous.

    Returns
    -------
    offsets : int64[n_lists + 1]
        Where the weighted documents of each list start.
    positions, labels : int64[n_weighted], int32[n_weighted]
    weights : float64[n_weightings, n_weighted]
    """
    cdef Py_ssize_t n_lists = offsets.shape[0] - 1, n_weightings = by_label.shape[0], n_labels = by_label.shape[1]
    cdef const int64_t* bound = <const int64_t*>cnp.PyArray_DATA(offsets)
    cdef const int64_t* position = <const int64_t*>cnp.PyArray_DATA(positions)
    cdef const int32_t* label = <const int32_t*>cnp.PyArray_DATA(labels)
    cdef const double* weight = <const double*>cnp.PyArray_DATA(by_label)
    cdef cnp.ndarray is_weighted_array = new_zeros(n_labels, cnp.NPY_UINT8)
    cdef uint8_t* is_weighted = <uint8_t*>cnp.PyArray_DATA(is_weighted_array)
    cdef cnp.ndarray weighted_offsets = new_array(n_lists + 1, cnp.NPY_INT64)
    cdef int64_t* weighted_bound = <int64_t*>cnp.PyArray_DATA(weighted_offsets)
    cdef cnp.ndarray weighted_positions, weighted_labels, weights
    cdef int64_t* into_position
    cdef int32_t* into_label
    cdef double* into_weight
    cdef Py_ssize_t q, i, c, column, n_weighted = 0, k = 0, n = labels.shape[0]
    cdef int32_t low, high
    cdef bint are_all
    find_range(label, n, &low, &high)
    if n > 0 and <int64_t>high - first >= n_labels:
        raise ValueError("a label has no weight: it is beyond the last column of by_label")
    with nogil:
        for c in range(n_weightings):
            for i in range(n_labels):
                is_weighted[i] |= weight[c * n_labels + i] != 0.0
        # Often all listed documents are weighted. Then the lists need not be read.
        are_all = bound[0] == 0 and bound[n_lists] == n
        if n > 0:
            for column in range(<int64_t>max(low, first) - first, <int64_t>max(high, first) - first + 1):
                are_all = are_all and is_weighted[column]
        weighted_bound[0] = 0
        for q in range(n_lists):
            if are_all:
                n_weighted = bound[q + 1]
            else:
                for i in range(bound[q], bound[q + 1]):
                    n_weighted += is_weighted[max(label[i], first) - first]
            weighted_bound[q + 1] = n_weighted
    weighted_positions = new_array(n_weighted, cnp.NPY_INT64)
    weighted_labels = new_array(n_weighted, cnp.NPY_INT32)
    weights = new_matrix(n_weightings, n_weighted, cnp.NPY_DOUBLE)
    into_position = <int64_t*>cnp.PyArray_DATA(weighted_positions)
    into_label = <int32_t*>cnp.PyArray_DATA(weighted_labels)
    into_weight = <double*>cnp.PyArray_DATA(weights)
    if are_all:
        memcpy(into_position, position, n * sizeof(int64_t))
        memcpy(into_label, label, n * sizeof(int32_t))
        for c in range(n_weightings):
            for i in range(n):
                into_weight[c * n + i] = weight[c * n_labels + (max(label[i], first) - first)]
        return weighted_offsets, weighted_positions, weighted_labels, weights
    with nogil:
        for i in range(n):
            column = max(label[i], first) - first
            if is_weighted[column]:
                into_position[k] = position[i]
                into_label[k] = label[i]
                for c in range(n_weightings):
                    into_weight[c * n_weighted + k] = weight[c * n_labels + column]
                k += 1
    return weighted_offsets, weighted_positions, weighted_labels, weights
