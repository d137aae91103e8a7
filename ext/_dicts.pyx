"""Judgments that are a dict of dicts, into columns."""

cimport cython
cimport numpy as cnp
from cpython.dict cimport PyDict_Next
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy

from tieaware._column cimport text_of

import numpy as np

cnp.import_array()

cdef extern from "Python.h":
    bint PyUnicode_CheckExact(PyObject *value)
    bint PyDict_CheckExact(PyObject *value)
    Py_ssize_t PyDict_Size(PyObject *value)
    bint PyLong_CheckExact(PyObject *value)
    bint PyBool_Check(PyObject *value)
    bint PyFloat_CheckExact(PyObject *value)
    double PyFloat_AS_DOUBLE(PyObject *value)
    long PyLong_AsLongAndOverflow(PyObject *value, int *overflow) except? -1


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


cdef bint label_of(PyObject *value, int32_t *label) except -1:
    """Set the label to an integer, a bool or a whole float, all of 32 bits; False if the value is none of these."""
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
    # No float beyond has a value in 32 bits, and NaN fits no comparison.
    if not -2147483648.0 <= number <= 2147483647.0:
        return False
    label[0] = <int32_t>number
    return label[0] == number


cdef bint append_list(dict listed, Bytes *names, int64_t *offsets, int32_t *labels, Py_ssize_t room) except -1:
    """Append the documents and labels of one query; False if they take more than this, or are not so many."""
    cdef Py_ssize_t position = 0, n = 0, size = 0
    cdef PyObject *key = NULL
    cdef PyObject *value = NULL
    cdef const char *p = NULL
    with cython.critical_section(listed):
        while PyDict_Next(listed, &position, &key, &value):
            if n == room or not PyUnicode_CheckExact(key) or not text_of(key, &p, &size):
                return False
            if not label_of(value, &labels[n]):
                return False
            if size > 0:
                append(names, p, size)
            n += 1
            offsets[n] = names.n
    return n == room


cdef object taken(Bytes *bytes):
    array = np.empty(bytes.n, np.uint8)
    if bytes.n > 0:
        memcpy(cnp.PyArray_DATA(<cnp.ndarray>array), bytes.data, bytes.n)
    return array


def columns_of(dict judgments not None):
    """Take judgments {query: {document: label}} apart, without intermediate objects.

    Returns
    -------
    tuple or None
        The identifiers of the queries, uint8[:], and their offsets, int64[n_queries + 1]; the rows of each query,
        int64[n_queries + 1]; the identifiers of the documents and their offsets; the labels, int32[n_rows]. None for
        anything but dictionaries, strings that have a UTF-8 form, and labels that are Python's own: it may still be
        good, or its errors need words.
    """
    cdef Py_ssize_t n_queries = len(judgments), q = 0, position = 0, total = 0, size = 0
    cdef PyObject *key = NULL
    cdef PyObject *value = NULL
    cdef const char *p = NULL
    cdef Bytes queries, documents
    cdef list lists = []
    query_offsets = np.zeros(n_queries + 1, np.int64)
    list_offsets = np.zeros(n_queries + 1, np.int64)
    cdef int64_t *query_bound = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>query_offsets)
    cdef int64_t *list_bound = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>list_offsets)
    cdef int64_t *bound
    cdef int32_t *label
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
        document_offsets = np.zeros(total + 1, np.int64)
        labels = np.empty(total, np.int32)
        bound = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>document_offsets)
        label = <int32_t *>cnp.PyArray_DATA(<cnp.ndarray>labels)
        for q in range(n_queries):
            total = list_bound[q]
            if not append_list(lists[q], &documents, bound + total, label + total, list_bound[q + 1] - total):
                return None
        return taken(&queries), query_offsets, list_offsets, taken(&documents), document_offsets, labels
    finally:
        free(queries.data)
        free(documents.data)
