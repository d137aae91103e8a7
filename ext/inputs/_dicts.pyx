"""Conversion of dicts of judgments and arrays of objects to columns, and of columns of identifiers to lists of str."""

cimport cython
from cpython.dict cimport PyDict_Next
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcmp, memcpy

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._allocation cimport new_array, new_zeros
from tieaware.kernels._column cimport key_hash, text_of

import numpy as np

cnp.import_array()

cdef extern from "Python.h":
    bint PyUnicode_CheckExact(PyObject *value)
    bint PyBytes_Check(PyObject *value)
    char *PyBytes_AS_STRING(PyObject *value)
    Py_ssize_t PyBytes_GET_SIZE(PyObject *value)
    bint PyDict_CheckExact(PyObject *value)
    Py_ssize_t PyDict_Size(PyObject *value)
    bint PyLong_CheckExact(PyObject *value)
    bint PyBool_Check(PyObject *value)
    bint PyFloat_CheckExact(PyObject *value)
    double PyFloat_AS_DOUBLE(PyObject *value)
    long PyLong_AsLongAndOverflow(PyObject *value, int *overflow) except? -1


# A growing array of bytes: `n` of the `room` bytes allocated at `data` are used.
cdef struct Bytes:
    uint8_t *data
    Py_ssize_t n, room


cdef bint append(Bytes *bytes, const char *p, Py_ssize_t n) except False:
    cdef Py_ssize_t room = max(bytes.n + n, 2 * bytes.room)
    cdef void *grown
    if bytes.n + n > bytes.room:
        grown = realloc(bytes.data, room)
        if grown == NULL:
            raise MemoryError("no memory for the identifiers")
        bytes.data = <uint8_t *>grown
        bytes.room = room
    memcpy(bytes.data + bytes.n, p, n)
    bytes.n += n
    return True


cdef inline bint label_of(PyObject *value, int32_t *label) except -1:
    """Convert an int, a bool or a whole float to an int32 label.

    Return False if the value has another type or is outside the range of int32. The label is then undefined.
    """
    cdef int overflow = 0
    cdef long whole
    cdef double number
    if PyLong_CheckExact(value) or PyBool_Check(value):
        whole = PyLong_AsLongAndOverflow(value, &overflow)
        label[0] = <int32_t>whole
        return not overflow and label[0] == whole
    if not PyFloat_CheckExact(value):
        return False
    number = PyFloat_AS_DOUBLE(value)
    # NaN fails this comparison too.
    if not -2147483648.0 <= number <= 2147483647.0:
        return False
    label[0] = <int32_t>number
    return label[0] == number


cdef bint real_label_of(PyObject *value, double *label) except -1:
    """Convert an int, a bool or a float to a label. Return False if the value has another type or is too large."""
    cdef int32_t whole = 0
    if PyFloat_CheckExact(value):
        label[0] = PyFloat_AS_DOUBLE(value)
        # NaN fails this comparison too.
        return -2147483648.0 <= label[0] <= 2147483647.0
    if not label_of(value, &whole):
        return False
    label[0] = whole
    return True


cdef bint append_list(
    dict listed, Bytes *names, int64_t *offsets, uint64_t *hashes, int32_t *labels, double *reals, Py_ssize_t room
) except -1:
    """Append the documents and labels of one query to the columns; labels to `reals` unless it is NULL.

    Return False if a document or a label has a type that `columns_of` does not convert, or if the dict does not have
    `room` items because another thread has changed it.
    """
    cdef Py_ssize_t position = 0, n = 0, size = 0
    cdef PyObject *key = NULL
    cdef PyObject *value = NULL
    cdef const char *p = NULL
    with cython.critical_section(listed):
        while PyDict_Next(listed, &position, &key, &value):
            if n == room or not PyUnicode_CheckExact(key) or not text_of(key, &p, &size):
                return False
            if not (label_of(value, &labels[n]) if reals == NULL else real_label_of(value, &reals[n])):
                return False
            if size > 0:
                append(names, p, size)
            hashes[n] = key_hash(key)
            n += 1
            offsets[n] = names.n
    return n == room


cdef object taken(Bytes *bytes):
    """Return a copy of the bytes as an array, uint8[:]."""
    cdef cnp.ndarray array = new_array(bytes.n, cnp.NPY_UINT8)
    if bytes.n > 0:
        memcpy(cnp.PyArray_DATA(array), bytes.data, bytes.n)
    return array


def columns_of(dict judgments not None):
    """Convert judgments {query: {document: label}} to columns, without creating a Python object for each judgment.

    Returns
    -------
    tuple or None
        Read-only arrays: the identifiers of the queries, uint8[:], and their offsets, int64[n_queries + 1]; the offsets
        of the rows of each query, int64[n_queries + 1]; the identifiers of the documents, uint8[:], and their offsets,
        int64[n_rows + 1]; the labels, int32[n_rows], or float64[n_rows] if a label is not a whole number; Python's
        hashes of the documents, uint64[n_rows]. None if the judgments contain anything other than dicts, str with a
        UTF-8 form, and labels that are int, bool or float. They may still be valid then, so the caller must convert
        them in a slower way, which raises an error if they are not.
    """
    cdef Py_ssize_t n_queries = len(judgments), q = 0, position = 0, total = 0, size = 0
    cdef PyObject *key = NULL
    cdef PyObject *value = NULL
    cdef const char *p = NULL
    cdef Bytes queries, documents
    cdef list lists = []
    cdef cnp.ndarray query_offsets = new_zeros(n_queries + 1, cnp.NPY_INT64)
    cdef cnp.ndarray list_offsets = new_zeros(n_queries + 1, cnp.NPY_INT64)
    cdef cnp.ndarray document_offsets, labels, hashes, column
    cdef int64_t *query_bound = <int64_t *>cnp.PyArray_DATA(query_offsets)
    cdef int64_t *list_bound = <int64_t *>cnp.PyArray_DATA(list_offsets)
    cdef int64_t *bound
    cdef int32_t *label
    cdef uint64_t *hashed
    cdef double *real = NULL
    cdef Py_ssize_t before = 0, room = 0
    queries.data = documents.data = NULL
    queries.n = queries.room = documents.n = documents.room = 0
    try:
        with cython.critical_section(judgments):
            while PyDict_Next(judgments, &position, &key, &value):
                if q == n_queries or not PyDict_CheckExact(value):
                    return None
                if not PyUnicode_CheckExact(key) or not text_of(key, &p, &size):
                    return None
                if size > 0:
                    append(&queries, p, size)
                total += PyDict_Size(value)
                lists.append(<object>value)
                q += 1
                query_bound[q] = queries.n
                list_bound[q] = total
        if q != n_queries:
            return None
        document_offsets = new_zeros(total + 1, cnp.NPY_INT64)
        labels = new_array(total, cnp.NPY_INT32)
        hashes = new_array(total, cnp.NPY_UINT64)
        hashed = <uint64_t *>cnp.PyArray_DATA(hashes)
        reals = None
        bound = <int64_t *>cnp.PyArray_DATA(document_offsets)
        label = <int32_t *>cnp.PyArray_DATA(labels)
        for q in range(n_queries):
            total = list_bound[q]
            room = list_bound[q + 1] - total
            before = documents.n
            if append_list(
                lists[q], &documents, bound + total, hashed + total, label + total, real + total if real else NULL, room
            ):
                continue
            if real != NULL:
                return None
            # A label may be a real number: read this list, and those that follow, as such.
            reals = labels.astype(np.float64)
            real = <double *>cnp.PyArray_DATA(<cnp.ndarray>reals)
            documents.n = before
            if not append_list(
                lists[q], &documents, bound + total, hashed + total, label + total, real + total, room
            ):
                return None
        labels = labels if real == NULL else reals
        columns = taken(&queries), query_offsets, list_offsets, taken(&documents), document_offsets, labels, hashes
        for column in columns:
            cnp.PyArray_CLEARFLAGS(column, cnp.NPY_ARRAY_WRITEABLE)
        return columns
    finally:
        free(queries.data)
        free(documents.data)


# ---- arrays of objects ---------------------------------------------------------------------------

cdef inline bint bytes_of(PyObject *value, const char **p, Py_ssize_t *n):
    """Set p and n to the address and length of bytes, or of the UTF-8 form of a str. Else return False."""
    if value != NULL and PyBytes_Check(value):
        p[0] = PyBytes_AS_STRING(value)
        n[0] = PyBytes_GET_SIZE(value)
        return True
    return value != NULL and text_of(value, p, n)


cdef cnp.ndarray checked_objects(array, int64_t start, int64_t stop):
    if not cnp.PyArray_Check(array) or array.dtype != object or array.ndim != 1 or not array.flags.c_contiguous:
        raise TypeError("the array must be one-dimensional, contiguous, and of objects")
    if not 0 <= start <= stop <= len(array):
        raise IndexError(f"rows {start} to {stop} are out of range for {len(array)} rows")
    return array


def object_sections(array, int64_t start, int64_t stop):
    """Divide the rows start … stop - 1 into sections of consecutive equal values; return each first row, int64[:].

    Two adjacent sections may have the same value, because values of other types than str and bytes are not compared.
    In a query column, most values are the same object as the previous value, or have the same text.
    """
    cdef cnp.ndarray objects = checked_objects(array, start, stop)
    cdef PyObject **values = <PyObject **>cnp.PyArray_DATA(objects)
    cdef int64_t i, n_starts = 0
    cdef Py_ssize_t n = 0, m = 0
    cdef const char *p = NULL
    cdef const char *q = NULL
    cdef object held, before = None
    starts = np.empty(stop - start, np.int64)
    cdef int64_t *into = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>starts)
    for i in range(start, stop):
        if i > start and values[i] == <PyObject *>before:
            continue
        held = <object>values[i] if values[i] != NULL else None
        if i == start or not bytes_of(<PyObject *>held, &p, &n) or not bytes_of(<PyObject *>before, &q, &m) or (
            n != m or memcmp(p, q, n) != 0
        ):
            into[n_starts] = i
            n_starts += 1
        before = held
    return starts[:n_starts].copy()


def object_identifiers(array, int64_t start, int64_t stop):
    """Return the str and bytes in the rows start … stop - 1 as identifiers (data, offsets).

    Identifier i is data[offsets[i]:offsets[i + 1]]. Return None if a value is not str or bytes, or is a str that has no
    UTF-8 form.
    """
    cdef cnp.ndarray objects = checked_objects(array, start, stop)
    cdef PyObject **values = <PyObject **>cnp.PyArray_DATA(objects)
    cdef int64_t i
    cdef Py_ssize_t n = 0
    cdef const char *p = NULL
    cdef object held
    cdef Bytes names
    names.data = NULL
    names.n = names.room = 0
    offsets = np.zeros(stop - start + 1, np.int64)
    cdef int64_t *bound = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>offsets)
    try:
        for i in range(stop - start):
            held = <object>values[start + i] if values[start + i] != NULL else None
            if not bytes_of(<PyObject *>held, &p, &n):
                return None
            if n > 0:
                append(&names, p, n)
            bound[i + 1] = names.n
        return taken(&names), offsets
    finally:
        free(names.data)


# ---- lists of str -------------------------------------------------------------------------------------

def texts(cnp.ndarray data not None, cnp.ndarray offsets not None):
    """Convert identifiers to a list of str; bytes that are not UTF-8 become surrogates (as for "surrogateescape").

    Parameters
    ----------
    data, offsets : uint8[:], int64[n + 1]
        Identifier i is data[offsets[i]:offsets[i + 1]].
    """
    cdef const char *p = <const char *>cnp.PyArray_DATA(data)
    cdef const int64_t *bound = <const int64_t *>cnp.PyArray_DATA(offsets)
    cdef Py_ssize_t i
    cdef list found = []
    for i in range(offsets.shape[0] - 1):
        found.append(PyUnicode_DecodeUTF8(p + bound[i], bound[i + 1] - bound[i], "surrogateescape"))
    return found
