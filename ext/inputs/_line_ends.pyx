"""Search for ends of lines and for the last query in the text of a TREC file."""

from libc.stdint cimport uint8_t

cdef extern from "inputs/identifier.h" nogil:
    bint identifier_equal(const uint8_t *p, const uint8_t *q, size_t n)


cdef Py_ssize_t find_last_query(const uint8_t *text, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t start, begin, end, found = 0, n = 0, stop = size
    cdef const uint8_t *query = NULL
    while stop and not ends_line(text[stop - 1]):
        stop -= 1
    if size - stop > LONGEST:
        return -1
    # The loop goes from the last line to the first: text[start:stop] is a line, and text[begin:end] is its first field.
    while stop:
        start = stop - 1
        while start and not ends_line(text[start - 1]):
            start -= 1
        begin = start
        while begin < stop and is_blank(text[begin]):
            begin += 1
        end = begin
        while end < stop and not is_blank(text[end]):
            end += 1
        stop = start
        if begin == end or text[begin] == c"#":
            continue
        if query == NULL:
            query = text + begin
            n = end - begin
        elif end - begin != n or not identifier_equal(text + begin, query, n):
            return found
        found = start
    return 0 if query != NULL or size <= LONGEST else -1


def last_query(const uint8_t[::1] text not None):
    """Return the position at which the lines of the last query begin; 0 if all complete lines have the same query.

    A line at the end of the text that is not complete is ignored. Return -1 if this line is longer than LONGEST_LINE
    bytes, or if a text longer than LONGEST_LINE bytes has no query at all. More text would not help in these cases.
    """
    cdef Py_ssize_t found
    with nogil:
        found = find_last_query(&text[0] if text.shape[0] else NULL, text.shape[0])
    return found
