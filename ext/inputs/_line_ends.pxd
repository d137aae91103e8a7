"""Ends of lines in TREC files: a newline, a carriage return, or a carriage return followed by a newline."""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

cdef extern from "inputs/blanks.h" nogil:
    void byte_masks(const uint8_t *text, uint64_t *blanks, uint64_t *ends)

cdef extern from "engine/portable.h" nogil:
    int lowest_bit "tieaware_lowest_bit"(uint64_t word)

cdef enum:
    NEWLINE = 10
    RETURN = 13
    # The number of bytes that a parser reads at a time. They and the columns made from them fit in a second-level
    # cache.
    STEP = 1 << 18
    # The largest allowed number of bytes of a line. A line longer than STEP bytes is parsed alone.
    LONGEST = 1 << 20


cdef inline bint ends_line(uint8_t byte) noexcept nogil:
    return byte == NEWLINE or byte == RETURN


cdef inline bint is_blank(uint8_t byte) noexcept nogil:
    return byte == c" " or 9 <= byte <= 13


cdef inline uint64_t second_halves(const uint8_t *text, uint64_t pairs, bint returned) noexcept nogil:
    """Return which of the bits in `pairs` are newlines after a carriage return.

    Bit i of `pairs` belongs to text[i]. Such a byte and the byte before it end lines. `returned` says whether a
    carriage return precedes text[0].
    """
    cdef uint64_t found = 0
    cdef int i
    while pairs:
        i = lowest_bit(pairs)
        if text[i] == NEWLINE and (text[i - 1] == RETURN if i else returned):
            found |= pairs & (0 - pairs)
        pairs &= pairs - 1
    return found


cdef inline Py_ssize_t count_line_ends(const uint8_t *text, Py_ssize_t size) noexcept nogil:
    """Return the number of newlines and carriage returns in text[:size], which is at least the number of lines.

    They are counted in 64 counters of one byte each, so that the compiler can use vector instructions. The counters are
    added to the result before they can overflow.
    """
    cdef uint8_t counts[64]
    cdef Py_ssize_t i = 0, _step, lane, n = 0
    while i + 64 <= size:
        memset(counts, 0, sizeof(counts))
        for _step in range(min(255, (size - i) // 64)):
            for lane in range(64):
                counts[lane] += (text[i + lane] == NEWLINE) | (text[i + lane] == RETURN)
            i += 64
        for lane in range(64):
            n += counts[lane]
    while i < size:
        n += ends_line(text[i])
        i += 1
    return n


cdef inline Py_ssize_t step_end(const uint8_t *text, Py_ssize_t begin, Py_ssize_t stop) noexcept nogil:
    """Return where to end a step that begins at `begin`: after the last line that ends in the next STEP bytes.

    If no line ends in these bytes, the step ends after the next line, or at `stop`.
    """
    cdef Py_ssize_t end = min(begin + STEP, stop)
    while end > begin and not ends_line(text[end - 1]):
        end -= 1
    if end > begin:
        return end
    end = min(begin + STEP, stop)
    while end < stop and not ends_line(text[end - 1]):
        end += 1
    return end
