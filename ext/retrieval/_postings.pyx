"""Building and checking of postings: for each term, its documents in ascending order, with frequencies and positions.

The postings of term t are those from starts[t] to starts[t + 1]. The tokens are read document after document, so
comparing the current document with the last posting of a term shows whether the term needs a new posting. Nothing has
to be sorted, and only the returned arrays grow with the collection.
"""
import numpy as np
from libc.stdint cimport int32_t, int64_t

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption

cnp.import_array()

# The number of tokens to process between two checks for an interruption.
cdef enum:
    CHUNK = 1 << 16


# The state of a term. `last` is one more than the number of the last document that contained the term. `posting` and
# `position` are the indices where the next posting and the next position of the term are written.
cdef struct Term:
    int64_t last
    int64_t posting
    int64_t position


def build(const int32_t[::1] tokens, const int64_t[::1] offsets, Py_ssize_t n_terms, bint positions):
    """Build postings: return starts, documents, frequencies and positions (None if `positions` is false).

    The tokens of document d are those from offsets[d] to offsets[d + 1]; the offsets ascend from 0 to the number of
    tokens. If a token is not a term number, return its index instead. No other thread may change the arrays during the
    call.
    """
    cdef Py_ssize_t n_documents = offsets.shape[0] - 1, wrong = -1
    cdef cnp.ndarray states = np.zeros(n_terms, dtype=[("last", "i8"), ("posting", "i8"), ("position", "i8")])
    cdef Term* terms = <Term*>cnp.PyArray_DATA(states)
    cdef cnp.ndarray starts = np.empty(n_terms + 1, np.int64)
    cdef cnp.ndarray documents, frequencies, places = None
    cdef int32_t* places_at = NULL
    cdef Interruption interruption = no_interruption()
    with nogil:
        wrong = count(&tokens[0] if tokens.shape[0] else NULL, &offsets[0], n_documents, terms, n_terms, &interruption)
    check_interruption(&interruption)
    if wrong >= 0:
        return wrong
    sum_up(terms, n_terms, <int64_t*>cnp.PyArray_DATA(starts))
    documents = np.empty(starts[n_terms], np.int32)
    frequencies = np.empty(starts[n_terms], np.int32)
    if positions:
        places = np.empty(tokens.shape[0], np.int32)
        places_at = <int32_t*>cnp.PyArray_DATA(places)
    with nogil:
        fill(
            &tokens[0] if tokens.shape[0] else NULL, &offsets[0], n_documents, terms,
            <int32_t*>cnp.PyArray_DATA(documents), <int32_t*>cnp.PyArray_DATA(frequencies), places_at, &interruption,
        )
    check_interruption(&interruption)
    return starts, documents, frequencies, places


cdef Py_ssize_t count(const int32_t* tokens, const int64_t* offsets, Py_ssize_t n_documents, Term* terms,
                      Py_ssize_t n_terms, Interruption* interruption) noexcept nogil:
    """Count the postings and the tokens of each term; return the index of the first invalid token, or -1 for none.

    Invariant: terms[t].last is one more than the last document so far that contains term t, or 0.
    """
    cdef Py_ssize_t d, i
    cdef int64_t since = 0
    cdef Term* term
    for d in range(n_documents):
        for i in range(offsets[d], offsets[d + 1]):
            if not 0 <= tokens[i] < n_terms:
                return i
            term = &terms[tokens[i]]
            term.position += 1
            term.posting += term.last != d + 1
            term.last = d + 1
        since += offsets[d + 1] - offsets[d] + 1
        if since >= CHUNK:
            if interrupted(interruption, 2 * since):
                return -1
            since = 0
    return -1


cdef void sum_up(Term* terms, Py_ssize_t n_terms, int64_t* starts) noexcept nogil:
    """Replace the counts of each term by the indices where its postings and its positions begin."""
    cdef Py_ssize_t t
    cdef int64_t n_postings = 0, n_positions = 0, more
    for t in range(n_terms):
        starts[t] = n_postings
        more = terms[t].posting
        terms[t].posting = n_postings
        n_postings += more
        more = terms[t].position
        terms[t].position = n_positions
        n_positions += more
        terms[t].last = 0
    starts[n_terms] = n_postings


cdef void fill(const int32_t* tokens, const int64_t* offsets, Py_ssize_t n_documents, Term* terms, int32_t* documents,
               int32_t* frequencies, int32_t* places, Interruption* interruption) noexcept nogil:
    """Write the postings and positions; the next posting of term t is written at terms[t].posting.

    The space for each term was computed from the same tokens by `count`, so the tokens must not have changed since.
    """
    cdef Py_ssize_t d, i
    cdef int64_t since = 0
    cdef Term* term
    for d in range(n_documents):
        for i in range(offsets[d], offsets[d + 1]):
            term = &terms[tokens[i]]
            if term.last != d + 1:
                term.last = d + 1
                documents[term.posting] = <int32_t>d
                frequencies[term.posting] = 0
                term.posting += 1
            frequencies[term.posting - 1] += 1
            if places != NULL:
                places[term.position] = <int32_t>(i - offsets[d])
                term.position += 1
        since += offsets[d + 1] - offsets[d] + 1
        if since >= CHUNK:
            if interrupted(interruption, 4 * since):
                return
            since = 0


def transposed(const int64_t[::1] offsets, const int32_t[::1] columns, const int32_t[::1] frequencies,
               Py_ssize_t n_terms):
    """Transpose a CSR matrix of documents × terms: return starts, documents and frequencies of the postings.

    All column numbers must be from 0 to n_terms - 1.
    """
    cdef Py_ssize_t n_documents = offsets.shape[0] - 1, d, i
    cdef cnp.ndarray starts = np.zeros(n_terms + 1, np.int64)
    cdef cnp.ndarray documents = np.empty(columns.shape[0], np.int32)
    cdef cnp.ndarray counts = np.empty(columns.shape[0], np.int32)
    cdef int64_t* next_of
    cdef int32_t* documents_at = <int32_t*>cnp.PyArray_DATA(documents)
    cdef int32_t* counts_at = <int32_t*>cnp.PyArray_DATA(counts)
    cdef cnp.ndarray ends
    np.cumsum(np.bincount(columns, minlength=n_terms), out=starts[1:])
    ends = starts.copy()
    next_of = <int64_t*>cnp.PyArray_DATA(ends)
    with nogil:
        for d in range(n_documents):
            for i in range(offsets[d], offsets[d + 1]):
                documents_at[next_of[columns[i]]] = <int32_t>d
                counts_at[next_of[columns[i]]] = frequencies[i]
                next_of[columns[i]] += 1
    return starts, documents, counts


def first_disorder(const int64_t[::1] starts, const int32_t[::1] documents, const int32_t[::1] frequencies,
                   Py_ssize_t n_documents):
    """Return the index of the first invalid posting, or -1 if all postings are valid.

    The documents of a term must ascend from 0 to at most n_documents - 1, with frequencies of at least 1. The starts
    must ascend from 0 to the number of postings.
    """
    cdef Py_ssize_t t, i, wrong = -1
    cdef int32_t before
    cdef Interruption interruption = no_interruption()
    with nogil:
        for t in range(starts.shape[0] - 1):
            before = -1
            for i in range(starts[t], starts[t + 1]):
                if not before < documents[i] < n_documents or frequencies[i] < 1:
                    wrong = i
                    break
                before = documents[i]
            if wrong >= 0 or interrupted(&interruption, starts[t + 1] - starts[t] + 1):
                break
    check_interruption(&interruption)
    return wrong
