"""An index of judgments, and the judged documents of a run.

Identifiers are a column of bytes: identifier i is data[offsets[i]:offsets[i + 1]]. The documents of query q are in the
rows list_offsets[q] … list_offsets[q + 1] - 1.
"""

cimport cython
from cpython.dict cimport PyDict_Next
from cpython.object cimport PyObject, PyTypeObject
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._allocation cimport new_array, new_zeros
from tieaware.kernels._column cimport (
    LARGEST_INDEX, IdentifierColumn, bytes_of, column_of, entry_of, find, index_size, key_hash, size_of, text_of,
)
from tieaware.kernels._identifiers cimport check_lists

import numpy as np

from tieaware.errors import InputError

cnp.import_array()

cdef extern from "inputs/hashing.h":
    int identifier_seed() except -1
    uint64_t identifier_hash(const uint8_t *p, size_t n) nogil

cdef extern from "Python.h":
    bint PyUnicode_Check(PyObject *value)
    bint PyUnicode_CheckExact(PyObject *value)
    bint PyUnicode_IS_COMPACT_ASCII(PyObject *text)
    bint PyBytes_Check(PyObject *value)
    bint PyDict_CheckExact(PyObject *value)
    Py_ssize_t PyDict_Size(PyObject *value)
    bint PyFloat_Check(PyObject *value)
    double PyFloat_AS_DOUBLE(PyObject *value)
    double PyFloat_AsDouble(PyObject *value) except? -1.0
    bint PyLong_Check(PyObject *value)
    bint PyObject_TypeCheck(PyObject *value, PyTypeObject *kind)

cdef object COMPLEX = np.complexfloating
cdef object LONG_DOUBLE = np.longdouble
cdef object ARRAY = np.ndarray
cdef object SCALAR = np.generic

identifier_seed()


cdef int check_flat(cnp.ndarray array, char kind, int size) except -1:
    # Kind and size are compared, not NumPy type numbers, because some platforms have two types with the same kind and
    # size, such as int and long.
    if not (cnp.PyArray_DESCR(array).kind == kind and cnp.PyArray_ITEMSIZE(array) == size
            and cnp.PyArray_NDIM(array) == 1 and cnp.PyArray_IS_C_CONTIGUOUS(array)
            and cnp.PyArray_ISALIGNED(array) and cnp.PyArray_ISNOTSWAPPED(array)):
        raise ValueError("a column has an unexpected type or layout")
    return 0


# The positions and labels of the judged documents found so far: `n` documents, with room for `room` documents. The
# position of a document is its index in the list of its query, from 0.
cdef struct Found:
    int64_t *positions
    int32_t *labels
    Py_ssize_t n, room


# The bit masks of one query for the hashes that Python keeps in every str; NULL if these are not known.
cdef struct KeyFilter:
    const uint64_t *words
    uint64_t mask
    # True if no document of the query is judged.
    bint is_empty


cdef inline bint is_unjudged(KeyFilter filtered, PyObject *key) except -1:
    """Return True if a key of a dict is certainly an identifier, and not judged. The text of the key is not read."""
    cdef uint64_t hashed
    if not PyUnicode_CheckExact(key) or not PyUnicode_IS_COMPACT_ASCII(key):
        return False
    if filtered.words == NULL:
        return filtered.is_empty
    hashed = key_hash(key)
    # The word and the bit are those of `Index.filter_word` and of its constructor.
    return not filtered.words[hashed >> 32 & filtered.mask] >> (hashed >> 58) & 1


cdef class Index:
    """An index of judgments, which finds queries and their judged documents.

    Parameters
    ----------
    queries, query_offsets : uint8[:], int64[n_queries + 1]
        The identifiers of the queries, each once, as bytes and byte offsets.
    list_offsets : int64[n_queries + 1]
        The judgments of query q are the rows list_offsets[q] … list_offsets[q + 1] - 1 of `documents` and `labels`.
    documents, document_offsets : uint8[:], int64[n_judged + 1]
        The identifiers of the judged documents, each once per query, as bytes and byte offsets.
    labels : int32[n_judged]
        The relevance label of each judgment.
    hashes : uint64[n_judged], optional
        Python's hash of each judged document, if all of them are str: it tells without the text of a str that it is
        none of these documents.
    """

    # References to the arrays to which the pointers below point, so that these arrays are not freed.
    cdef object arrays
    cdef IdentifierColumn queries, documents
    cdef const int64_t *list_offsets
    cdef const int32_t *labels
    # `query_index` is the hash index of the queries. `indices` contains a hash index of the documents of each query:
    # that of query q begins at indices[index_offsets[q]].
    cdef uint64_t *query_index
    cdef uint64_t *indices
    cdef int64_t *index_offsets
    # Bit masks that tell quickly that a document is not judged. There is one word of 64 bits for every four entries of
    # `indices`. Each judged document sets the bit that its hash selects. Most documents of a run are not judged, and
    # their bit is not set, so the processor predicts the branch on the bit well.
    cdef uint64_t *filters
    # The same, but for the hashes that Python keeps in every str; NULL if these are not known.
    cdef uint64_t *key_filters
    cdef uint64_t query_mask
    cdef readonly Py_ssize_t n_queries

    def __cinit__(
        self, cnp.ndarray queries not None, cnp.ndarray query_offsets not None, cnp.ndarray list_offsets not None,
        cnp.ndarray documents not None, cnp.ndarray document_offsets not None, cnp.ndarray labels not None,
        cnp.ndarray hashes=None,
    ):
        cdef Py_ssize_t q, i, size
        cdef const uint64_t *key = NULL
        cdef uint64_t hashed
        cdef int64_t total = 0
        # The arguments are not typed memoryviews: for few judgments, acquiring six memoryviews would take longer than
        # all the rest.
        check_flat(queries, b"u", 1)
        check_flat(query_offsets, b"i", 8)
        check_flat(list_offsets, b"i", 8)
        check_flat(documents, b"u", 1)
        check_flat(document_offsets, b"i", 8)
        check_flat(labels, b"i", 4)
        if hashes is not None:
            check_flat(hashes, b"u", 8)
            if hashes.shape[0] != labels.shape[0]:
                raise ValueError("the columns differ in length")
            key = <const uint64_t *>cnp.PyArray_DATA(hashes)
        self.n_queries = list_offsets.shape[0] - 1
        if query_offsets.shape[0] != list_offsets.shape[0] or document_offsets.shape[0] != labels.shape[0] + 1:
            raise ValueError("the columns differ in length")
        if self.n_queries >= LARGEST_INDEX:
            raise InputError("queries", f"there are {self.n_queries} queries, but the limit is {LARGEST_INDEX - 1}")
        self.queries.data = <const uint8_t *>cnp.PyArray_DATA(queries)
        self.queries.offsets = <const int64_t *>cnp.PyArray_DATA(query_offsets)
        self.documents.data = <const uint8_t *>cnp.PyArray_DATA(documents)
        self.documents.offsets = <const int64_t *>cnp.PyArray_DATA(document_offsets)
        self.list_offsets = <const int64_t *>cnp.PyArray_DATA(list_offsets)
        self.labels = <const int32_t *>cnp.PyArray_DATA(labels)
        check_lists(self.list_offsets, self.n_queries)
        cdef int64_t word
        for q in range(self.n_queries):
            total += max(index_size(self.n_judged(q)), 4)
        cdef Py_ssize_t n_entries = index_size(self.n_queries)
        # One array holds all indices and filters: for few judgments, every further array would take as long as filling
        # it.
        cdef cnp.ndarray words = new_zeros(
            self.n_queries + 1 + n_entries + total + total // 4 * (1 if hashes is None else 2), cnp.NPY_UINT64
        )
        self.index_offsets = <int64_t *>cnp.PyArray_DATA(words)
        self.query_index = <uint64_t *>self.index_offsets + self.n_queries + 1
        self.indices = self.query_index + n_entries
        self.filters = self.indices + total
        self.key_filters = NULL if hashes is None else self.filters + total // 4
        self.query_mask = n_entries - 1
        for q in range(self.n_queries):
            self.index_offsets[q + 1] = self.index_offsets[q] + max(index_size(self.n_judged(q)), 4)
        self.arrays = queries, query_offsets, list_offsets, documents, document_offsets, labels, words
        with nogil:
            for q in range(self.n_queries):
                self.insert(self.query_index, self.query_mask, self.queries, 0, q)
                size = self.index_offsets[q + 1] - self.index_offsets[q]
                for i in range(self.list_offsets[q + 1] - self.list_offsets[q]):
                    hashed = self.insert(
                        self.indices + self.index_offsets[q], size - 1, self.documents, self.list_offsets[q], i
                    )
                    word = self.filter_word(q, hashed)
                    self.filters[word] = self.filters[word] | <uint64_t>1 << (hashed >> 58)
                    if key != NULL:
                        hashed = key[self.list_offsets[q] + i]
                        word = self.filter_word(q, hashed)
                        self.key_filters[word] = self.key_filters[word] | <uint64_t>1 << (hashed >> 58)

    cdef inline int64_t filter_word(self, Py_ssize_t q, uint64_t hashed) noexcept nogil:
        # The word is selected by bits of the hash that select neither the entry of the index nor the bit in the word.
        cdef int64_t size = self.index_offsets[q + 1] - self.index_offsets[q]
        return self.index_offsets[q] // 4 + (hashed >> 32 & (size // 4 - 1))

    cdef uint64_t insert(
        self, uint64_t *slots, uint64_t mask, IdentifierColumn column, Py_ssize_t base, Py_ssize_t i
    ) noexcept nogil:
        """Add identifier `base` + i of a column to an index, as number i; return the hash of the identifier."""
        cdef const uint8_t *p = bytes_of(column, base + i)
        cdef Py_ssize_t n = size_of(column, base + i)
        cdef uint64_t hashed = identifier_hash(p, n), where = 0
        if find(slots, mask, column, base, p, n, hashed, &where) < 0:
            slots[where] = entry_of(hashed, i)
        return hashed

    cdef Py_ssize_t find_query(self, const uint8_t *p, Py_ssize_t n) noexcept nogil:
        """Return the number that a query has in the judgments, or -1 if the query is not judged."""
        cdef uint64_t where = 0
        return find(self.query_index, self.query_mask, self.queries, 0, p, n, identifier_hash(p, n), &where)

    cdef inline Py_ssize_t n_judged(self, Py_ssize_t q) noexcept nogil:
        return self.list_offsets[q + 1] - self.list_offsets[q]

    cdef inline KeyFilter key_filter(self, Py_ssize_t q) noexcept nogil:
        """Return the bit masks of the keys of query q, which is -1 for a query that is not judged."""
        cdef KeyFilter filtered
        filtered.words = NULL if q < 0 or self.key_filters == NULL else self.key_filters + self.index_offsets[q] // 4
        filtered.mask = 0 if q < 0 else (self.index_offsets[q + 1] - self.index_offsets[q]) // 4 - 1
        filtered.is_empty = q < 0
        return filtered

    cdef inline bint look_up(
        self, Py_ssize_t q, const uint8_t *p, Py_ssize_t n, int64_t position, Found *found
    ) noexcept nogil:
        """Append a document to `found` if it is judged for query q. Return False if `found` has no room for it."""
        cdef uint64_t where = 0, hashed = identifier_hash(p, n)
        cdef const uint64_t *slots = self.indices + self.index_offsets[q]
        cdef uint64_t mask = self.index_offsets[q + 1] - self.index_offsets[q] - 1
        cdef Py_ssize_t i
        if not self.filters[self.filter_word(q, hashed)] >> (hashed >> 58) & 1:
            return True
        i = find(slots, mask, self.documents, self.list_offsets[q], p, n, hashed, &where)
        if i < 0:
            return True
        if found.n == found.room:
            return False
        found.positions[found.n] = position
        found.labels[found.n] = self.labels[self.list_offsets[q] + i]
        found.n += 1
        return True


cdef class JudgedColumns:
    """The attributes of `tieaware.inputs.Qrels`, which is the only subclass and does not let callers set them."""
    cdef public object queries, offsets, documents, labels, name, n_columns, _hashes, _index, _judgments, _of_subtopics

    def _hold(self, queries, offsets, documents, labels, name, n_columns, hashes, judgments):
        self.queries, self.offsets, self.documents, self.labels = queries, offsets, documents, labels
        self.name, self.n_columns, self._hashes, self._judgments = name, n_columns, hashes, judgments


def match(
    Index index not None, const uint8_t[::1] queries, const int64_t[::1] query_offsets,
    const int64_t[::1] list_offsets, const uint8_t[::1] documents, const int64_t[::1] document_offsets,
):
    """Find the judged documents of a run, which must contain each query once, and each document once per query.

    Parameters
    ----------
    index : Index
    queries, query_offsets : uint8[:], int64[n_queries + 1]
        The queries of the run, as bytes and byte offsets.
    list_offsets : int64[n_queries + 1]
        The documents of query q are the rows list_offsets[q] … list_offsets[q + 1] - 1 of `documents`.
    documents, document_offsets : uint8[:], int64[n_documents + 1]
        The document of each row, as bytes and byte offsets.

    Returns
    -------
    found_rows : int64[n_queries]
        For each query of the run, the number of this query in the judgments; -1 if the query is not judged.
    judged_offsets : int64[n_queries + 1]
        The judged documents of query q are the elements judged_offsets[q] … judged_offsets[q + 1] - 1 of `positions`
        and `labels`.
    positions : int64[n_found]
        The position of each judged document in its list, from 0, ascending.
    labels : int32[n_found]
        The label of each judged document.
    """
    cdef Py_ssize_t n_queries = list_offsets.shape[0] - 1, q, i, row
    cdef IdentifierColumn query_column = column_of(queries, query_offsets)
    cdef IdentifierColumn column = column_of(documents, document_offsets)
    cdef Found found
    cdef bint good = True
    found_rows = np.empty(n_queries, np.int64)
    judged_offsets = np.zeros(n_queries + 1, np.int64)
    cdef int64_t[::1] found_row = found_rows, judged_bound = judged_offsets
    found.n = found.room = 0
    with nogil:
        for q in range(n_queries):
            row = index.find_query(bytes_of(query_column, q), size_of(query_column, q))
            found_row[q] = row
            if row >= 0:
                found.room += min(list_offsets[q + 1] - list_offsets[q], index.n_judged(row))
    positions = np.empty(found.room, np.int64)
    labels = np.empty(found.room, np.int32)
    found.positions = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>positions)
    found.labels = <int32_t *>cnp.PyArray_DATA(<cnp.ndarray>labels)
    with nogil:
        for q in range(n_queries):
            row = found_row[q]
            if row >= 0:
                for i in range(list_offsets[q], list_offsets[q + 1]):
                    if not index.look_up(row, bytes_of(column, i), size_of(column, i), i - list_offsets[q], &found):
                        good = False
                        break
            judged_bound[q + 1] = found.n
    if not good:
        raise ValueError("a document appears twice for a query")
    positions.resize(found.n, refcheck=False)
    labels.resize(found.n, refcheck=False)
    return found_rows, judged_offsets, positions, labels


cdef bint score_of(PyObject *value, double *score):
    """Convert a number to a float64 score.

    Return False for NaN, a number that may be rounded, a tensor that requires gradients, and any other type.
    """
    if PyFloat_Check(value):
        score[0] = PyFloat_AS_DOUBLE(value)
    elif (
        PyUnicode_Check(value) or PyBytes_Check(value) or PyObject_TypeCheck(value, <PyTypeObject *>COMPLEX)
        or PyObject_TypeCheck(value, <PyTypeObject *>LONG_DOUBLE) or PyObject_TypeCheck(value, <PyTypeObject *>ARRAY)
    ):
        # PyFloat_AsDouble must not get these types, because it does not reject all their values: it takes the real part
        # of a complex number, rounds a long double, and ignores the mask of a masked array.
        return False
    else:
        try:
            if not PyLong_Check(value) and not PyObject_TypeCheck(value, <PyTypeObject *>SCALAR):
                if getattr(<object>value, "requires_grad", False) is True:
                    return False
            score[0] = PyFloat_AsDouble(value)
        except (TypeError, ValueError, OverflowError):
            return False
        # From 2^53 on, float64 does not represent every integer, so the conversion may have rounded the number.
        if fabs(score[0]) >= 9007199254740992.0:
            return False
    return score[0] == score[0]


cdef Py_ssize_t walk_list(
    Index index, dict ranking, Py_ssize_t query, double *scores, Py_ssize_t room, Found *found
):
    """Read the documents and scores of one query, and append its judged documents to `found`.

    Return the number of documents; -1 if `match_dict` cannot convert a document or a score, or if another thread has
    changed the dict. `query` is the number of the query in the judgments, or -1 if the query is not judged.
    """
    cdef Py_ssize_t position = 0, n = 0, size = 0
    cdef PyObject *key = NULL
    cdef PyObject *value = NULL
    cdef const char *p = NULL
    cdef object held_key, held_value
    cdef KeyFilter filtered = index.key_filter(query)
    with cython.critical_section(ranking):
        while PyDict_Next(ranking, &position, &key, &value):
            if n == room:
                return -1
            if PyFloat_Check(value):
                scores[n] = PyFloat_AS_DOUBLE(value)
                if scores[n] != scores[n]:
                    return -1
            else:
                # The conversion may call a __float__ method that changes the dict. References keep the items alive.
                held_key = <object>key
                held_value = <object>value
                key = <PyObject *>held_key
                if not score_of(<PyObject *>held_value, &scores[n]) or len(ranking) != room:
                    return -1
            if is_unjudged(filtered, key):
                n += 1
                continue
            if not text_of(key, &p, &size):
                return -1
            if query >= 0 and not index.look_up(query, <const uint8_t *>p, size, n, found):
                return -1
            n += 1
    return n


def match_dict(Index index not None, dict run not None):
    """Find the judged documents of a run {query: {document: score}}, without converting it to columns first.

    Returns
    -------
    tuple or None
        (found_rows, list_offsets, scores, judged_offsets, positions, labels). `list_offsets` are the offsets of the
        rows of each query, int64[n_queries + 1], and `scores` are float64[n_documents]; the other arrays are those of
        `match`. None if the run contains anything other than dicts, str with a UTF-8 form, and numbers. It may still be
        valid then, so the caller must convert it in a slower way, which raises an error if it is not.
    """
    cdef Py_ssize_t n_queries = len(run), q = 0, position = 0, total = 0, size = 0, n
    cdef PyObject *key = NULL
    cdef PyObject *value = NULL
    cdef const char *p = NULL
    cdef Found found
    cdef list rankings = []
    found.n = found.room = 0
    cdef cnp.ndarray found_rows = new_array(n_queries, cnp.NPY_INT64)
    cdef cnp.ndarray list_offsets = new_zeros(n_queries + 1, cnp.NPY_INT64)
    cdef cnp.ndarray judged_offsets = new_zeros(n_queries + 1, cnp.NPY_INT64)
    cdef cnp.ndarray scores, positions, labels
    cdef int64_t *found_row = <int64_t *>cnp.PyArray_DATA(found_rows)
    cdef int64_t *list_bound = <int64_t *>cnp.PyArray_DATA(list_offsets)
    cdef int64_t *judged_bound = <int64_t *>cnp.PyArray_DATA(judged_offsets)
    with cython.critical_section(run):
        while PyDict_Next(run, &position, &key, &value):
            if q == n_queries or not PyDict_CheckExact(value) or not text_of(key, &p, &size):
                return None
            found_row[q] = index.find_query(<const uint8_t *>p, size)
            n = PyDict_Size(value)
            total += n
            list_bound[q + 1] = total
            if found_row[q] >= 0:
                found.room += min(n, index.n_judged(found_row[q]))
            rankings.append(<object>value)
            q += 1
    if q != n_queries:
        return None
    scores = new_array(total, cnp.NPY_DOUBLE)
    positions = new_array(found.room, cnp.NPY_INT64)
    labels = new_array(found.room, cnp.NPY_INT32)
    found.positions = <int64_t *>cnp.PyArray_DATA(positions)
    found.labels = <int32_t *>cnp.PyArray_DATA(labels)
    cdef double *into = <double *>cnp.PyArray_DATA(scores)
    for q in range(n_queries):
        n = list_bound[q + 1] - list_bound[q]
        if walk_list(index, rankings[q], found_row[q], into + list_bound[q], n, &found) != n:
            return None
        judged_bound[q + 1] = found.n
    if found.n < found.room:
        positions.resize(found.n, refcheck=False)
        labels.resize(found.n, refcheck=False)
    return found_rows, list_offsets, scores, judged_offsets, positions, labels


def in_order(cnp.ndarray rows not None, Py_ssize_t n):
    """Return whether the array `rows`, int64, is exactly 0, 1 … n - 1."""
    cdef const int64_t *row = <const int64_t *>cnp.PyArray_DATA(rows)
    cdef Py_ssize_t i
    if rows.shape[0] != n:
        return False
    for i in range(n):
        if row[i] != i:
            return False
    return True
