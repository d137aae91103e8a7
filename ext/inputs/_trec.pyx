"""A parser of TREC runs and judgments, which converts text to columns of queries, documents and scores or labels.

A line of a run is `query Q0 document rank score tag`, and a line of judgments is `query iteration document label`.
Fields are separated by blanks. A newline, a carriage return, or a carriage return and a newline end a line. Lines
without a field and lines whose first field begins with `#` are skipped.

A text is read in two passes. The first pass writes the positions at which fields begin and end to the array `marks`,
and the positions at which lines end to the array `ends`. The second pass goes through the lines by these positions, and
appends each line to the columns.

The positions in `marks` ascend. Fields begin at the even elements of `marks` and end at the odd elements. So if the
first field of a line begins at marks[j], field k of the line, counted from 0, consists of the bytes marks[j + 2 k] …
marks[j + 2 k + 1] - 1. The line has a field k if marks[j + 2 k] is less than the position of its end.
"""

from libc.math cimport NAN
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memmove, memset

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._decimal cimport BAD, DONE, LATER, Text, read_label, read_score
from tieaware.kernels._line_ends cimport (
    LONGEST, RETURN, STEP, byte_masks, count_line_ends, ends_line, second_halves, step_end,
)
from tieaware.kernels._numbers cimport convert_exactly

import numpy as np

cnp.import_array()

cdef extern from "inputs/identifier.h" nogil:
    bint identifier_equal(const uint8_t *p, const uint8_t *q, size_t n)

cdef extern from "engine/portable.h" nogil:
    int lowest_bit "tieaware_lowest_bit"(uint64_t word)

cdef enum:
    # The number of bytes after the used part of a buffer that may be read or written, because the first pass reads 64
    # bytes at a time and identifiers are copied in units of 16 bytes.
    SLACK = 64
    # The largest number of bytes of a buffer, because positions in it are stored in 32 bits.
    LONGEST_BUFFER = 0x7fffffff
    # The largest label that is not written as a whole number.
    LARGEST_LABEL = 0x7fffffff

LONGEST_LINE = LONGEST


# ---- lines ---------------------------------------------------------------------------------------

cdef struct Columns:
    # The number of used elements of each column. A section is a sequence of consecutive lines of one query.
    Py_ssize_t n_documents, n_rows, n_queries, n_sections, n_jumps, n_later
    uint8_t *documents
    int64_t *document_offsets
    double *values
    uint8_t *queries
    int64_t *query_offsets
    int64_t *list_offsets
    # The line number of a row is not stored for each row, but only for the first row and after skipped lines: row
    # jump_rows[k] is on line jump_lines[k], and the rows up to the next jump are on the lines that follow.
    int64_t *jump_rows
    int64_t *jump_lines
    # The numbers that only a slower conversion rounds correctly. They are converted after the second pass. Each number
    # has four elements: its row, the positions where its text begins and ends, and its line number.
    int64_t *later
    uint32_t *marks
    uint32_t *ends
    # The number of lines read so far, and the line number of the last row.
    Py_ssize_t line, row_line
    # The positions where the tag of the first row and the first malformed line begin and end.
    Py_ssize_t tag_begin, tag_end, bad_begin, bad_end
    # `missing`: the labels may be missing (nan). `has_reals`: one of them is not written as a whole number.
    bint missing, has_reals
    # `surplus`: further fields of a line are ignored. `returned`: the last byte read was a carriage return.
    bint surplus, returned


cdef Py_ssize_t find_marks(Columns *columns, const uint8_t *text, Py_ssize_t stop) noexcept nogil:
    """Fill `marks` and `ends` (see the module docstring) for text[:stop]; return the number of ends.

    A mark is a position where a blank follows another byte, or another byte follows a blank. The text is read as if a
    blank preceded it. If b is the bit mask of the blanks, the marks are the bits of b xor (b shifted by one).
    """
    cdef uint64_t blanks, lines, changes, pairs, before = 1, ended = columns.returned
    cdef Py_ssize_t base = 0, n_marks = 0, n_ends = 0
    cdef uint32_t *marks = columns.marks
    cdef uint32_t *ends = columns.ends
    while base < stop:
        byte_masks(text + base, &blanks, &lines)
        changes = blanks ^ (blanks << 1 | before)
        before = blanks >> 63
        while changes:
            marks[n_marks] = <uint32_t>(base + lowest_bit(changes))
            n_marks += 1
            changes &= changes - 1
        pairs = lines & (lines << 1 | ended)
        ended = lines >> 63
        if pairs:
            # The newline of a carriage return and a newline does not end a second line.
            lines ^= second_halves(text + base, pairs, columns.returned if base == 0 else text[base - 1] == RETURN)
        while lines:
            ends[n_ends] = <uint32_t>(base + lowest_bit(lines))
            n_ends += 1
            lines &= lines - 1
        base += 64
    # The last 64 bytes may extend beyond the end of the text, so ends of lines may have been found there.
    while n_ends and ends[n_ends - 1] >= stop:
        n_ends -= 1
    # The second pass reads twelve marks of a line without checking that the line has twelve. After the last mark, it
    # must find positions beyond every line.
    for base in range(12):
        marks[n_marks + base] = 0xffffffff
    columns.returned = text[stop - 1] == RETURN
    return n_ends


cdef inline bint is_in_range(double label) noexcept nogil:
    return -LARGEST_LABEL - 1.0 <= label <= LARGEST_LABEL


cdef Text read_real_label(const uint8_t *p, const uint8_t *end, double *label, bint missing) noexcept nogil:
    """Read [p, end) as a label that is not written as a whole number; also as NaN if labels may be missing."""
    cdef Text outcome = read_score(p, end, label)
    if outcome == DONE and not is_in_range(label[0]):
        return BAD
    if outcome == BAD and missing and end - p == 3 and (
        p[0] | 0x20 == c"n" and p[1] | 0x20 == c"a" and p[2] | 0x20 == c"n"
    ):
        label[0] = NAN
        return DONE
    return outcome


cdef bint is_shifted(const uint8_t *text, const uint32_t *marks, bint more) noexcept nogil:
    """Return whether the fields of a line of a run are shifted, as by a document id with a space.

    Then field 4 is not a number; or, if the line has `more` than six fields, field 5 is a rank and field 6 the score.
    The first field of the line begins at marks[0].
    """
    cdef Py_ssize_t i
    cdef double score
    # Numbers begin with a digit, a sign, or a point. In ASCII, only a comma and a slash are between these.
    if <uint8_t>(text[marks[6]] - c"+") > c"9" - c"+":
        return True
    for i in range(marks[8], marks[9] if more else marks[8]):
        if not c"0" <= text[i] <= c"9":
            return False
    return more and read_score(text + marks[10], text + marks[11], &score) != BAD


cdef bint holds_second_row(const uint8_t *text, const uint32_t *marks, uint32_t end) noexcept nogil:
    """Return whether a line of a run contains a second row, because the end of the first is missing or is a blank.

    The first field of the line begins at marks[0]. The second row begins in the sixth field, with whose tag its query
    is then merged, or in the seventh. Its second field (usually Q0) is that of the first row, and its fifth is a
    number.
    """
    cdef Py_ssize_t n = 6, first, size = <Py_ssize_t>marks[3] - marks[2]
    cdef const uint32_t *row
    cdef double score
    while marks[2 * n] < end:
        n += 1
    for first in range(5, 7):
        row = marks + 2 * first
        if (
            n >= first + 6 and <Py_ssize_t>row[3] - row[2] == size
            and identifier_equal(text + row[2], text + marks[2], size)
            and read_score(text + row[8], text + row[9], &score) != BAD
        ):
            return True
    return False


cdef bint read_lines(Columns *columns, const uint8_t *text, Py_ssize_t stop, bint judgments) noexcept nogil:
    """Append the lines of text[:stop] to the columns. The text must not be empty, and must end where a line ends.

    Stop at the first malformed line, and return False if there is one.
    """
    cdef const uint32_t *marks = columns.marks
    cdef uint8_t *documents = columns.documents
    cdef int64_t *document_offsets = columns.document_offsets
    cdef double *values = columns.values
    # If the first field of a line begins at marks[j], its last required field begins at marks[j + last].
    cdef Py_ssize_t last = 6 if judgments else 10
    # Its label or score begins at marks[j + number].
    cdef Py_ssize_t number = 6 if judgments else 8
    cdef Py_ssize_t n_documents = columns.n_documents, n_rows = columns.n_rows
    cdef Py_ssize_t line = columns.line, row_line = columns.row_line
    cdef Py_ssize_t n_ends, i, j = 0, k, n, begin, after = 0
    # The address and length of the query of the current section.
    cdef const uint8_t *query = columns.queries
    cdef Py_ssize_t n_query = -1
    cdef uint32_t end
    cdef bint more
    cdef Text outcome
    n_ends = find_marks(columns, text, stop)
    if columns.n_sections:
        query = columns.queries + columns.query_offsets[columns.n_sections - 1]
        n_query = columns.query_offsets[columns.n_sections] - columns.query_offsets[columns.n_sections - 1]
    columns.n_later = 0
    for i in range(n_ends):
        end = columns.ends[i]
        line += 1
        begin = marks[j]
        if begin >= end:
            continue
        if text[begin] == c"#":
            while marks[j] < end:
                j += 2
            continue

        outcome = BAD
        if marks[j + last] < end:
            if judgments:
                outcome = read_label(text + marks[j + 6], text + marks[j + 7], &values[n_rows])
                if outcome == BAD:
                    outcome = read_real_label(
                        text + marks[j + 6], text + marks[j + 7], &values[n_rows], columns.missing
                    )
                    columns.has_reals = True
            else:
                outcome = read_score(text + marks[j + 8], text + marks[j + 9], &values[n_rows])
            after = j + last + 2
            while marks[after] < end:
                after += 2
            more = after > j + last + 2
            # As in trec_eval, further fields of a judgment are an error, and those of a run are not.
            if not columns.surplus and (
                more if judgments
                else is_shifted(text, marks + j, more) or (more and holds_second_row(text, marks + j, end))
            ):
                outcome = BAD
        if outcome == BAD:
            columns.bad_begin = begin
            columns.bad_end = end
            break
        if outcome == LATER:
            columns.later[4 * columns.n_later] = n_rows
            columns.later[4 * columns.n_later + 1] = marks[j + number]
            columns.later[4 * columns.n_later + 2] = marks[j + number + 1]
            columns.later[4 * columns.n_later + 3] = line
            columns.n_later += 1
        if line != row_line + 1 or n_rows == 0:
            columns.jump_rows[columns.n_jumps] = n_rows
            columns.jump_lines[columns.n_jumps] = line
            columns.n_jumps += 1
            if columns.tag_begin < 0 and not judgments:
                columns.tag_begin = marks[j + 10]
                columns.tag_end = marks[j + 11]
        row_line = line

        n = <Py_ssize_t>marks[j + 1] - begin
        if n != n_query or not identifier_equal(text + begin, query, n):
            query = columns.queries + columns.query_offsets[columns.n_sections]
            n_query = n
            memcpy(<uint8_t *>query, text + begin, n)
            columns.list_offsets[columns.n_sections] = n_rows
            columns.n_sections += 1
            columns.query_offsets[columns.n_sections] = columns.query_offsets[columns.n_sections - 1] + n

        # The document is copied in units of 16 bytes. The bytes copied beyond its end are overwritten by the next
        # document. Those of the last document are in the SLACK bytes after the column.
        begin = marks[j + 4]
        n = <Py_ssize_t>marks[j + 5] - begin
        memcpy(documents + n_documents, text + begin, 16)
        for k in range(16, n, 16):
            memcpy(documents + n_documents + k, text + begin + k, 16)
        n_documents += n
        n_rows += 1
        document_offsets[n_rows] = n_documents

        j = after
    columns.n_documents = n_documents
    columns.n_rows = n_rows
    columns.n_queries = columns.query_offsets[columns.n_sections]
    columns.line = line
    columns.row_line = row_line
    return columns.bad_end == 0


# ---- the parser ----------------------------------------------------------------------------------

cdef object roomy(object column, Py_ssize_t size):
    """Return the column if it has at least `size` elements; otherwise enlarge it, or copy it to a larger array."""
    if size <= column.size:
        return column
    if column.size < 2:
        # resize() would fill the new array with zeros, although most of it is never used.
        larger = np.empty(size, column.dtype)
        larger[:column.size] = column
        return larger
    # The size grows by at least half, so that the time for appending is constant per element on average.
    column.resize(max(size, column.size + column.size // 2), refcheck=False)
    return column


cdef object first_elements(object column, Py_ssize_t size):
    """Shrink the column in place to its first `size` elements, and return it."""
    column.resize(size, refcheck=False)
    return column


cdef class Parser:
    """A parser of a run or of judgments, whose text arrives in several buffers.

    Repeatedly write text into the buffer that `room(size)` returns, and call `parse(n)` with the number of bytes
    written. After the last text, call `parse(0, True)`. `take` returns the columns.

    At the first malformed line, `parse` returns False and the parser stops. `line` is then the number of this line, and
    `bad_line` its text, or the first LONGEST_LINE + 1 bytes of it.

    Only one thread at a time may use a parser: a second thread gets a RuntimeError.

    Parameters
    ----------
    judgments : bool
        Whether the text contains judgments; otherwise it contains a run.
    continued : bool
        Whether the text begins in the middle of a file, so that a byte order mark is not removed from its beginning.
    missing : bool
        Whether the label "nan" is allowed, which means that a document has no label.
    surplus : bool
        Whether a line may have any further fields, which are ignored. Otherwise a line of judgments with further fields
        is malformed, and so is a line of a run whose rank is not a number, whose fields are shifted, or whose further
        fields contain a second row.
    """

    cdef bint judgments, continued, busy
    cdef Columns columns
    cdef Py_ssize_t n_text
    cdef object text, marks, ends, later
    cdef object documents, document_offsets, values, queries, query_offsets, list_offsets, jump_rows, jump_lines
    cdef readonly bytes bad_line, tag

    def __cinit__(self, bint judgments=False, bint continued=False, bint missing=False, bint surplus=False):
        self.judgments = judgments
        self.columns.missing = missing
        self.columns.surplus = surplus
        self.continued = continued
        self.text = np.empty(SLACK, np.uint8)
        self.marks = np.empty(0, np.uint32)
        self.ends = np.empty(0, np.uint32)
        self.later = np.empty(0, np.int64)
        self.columns.tag_begin = -1
        self.start()

    cdef start(self):
        self.documents = np.empty(0, np.uint8)
        self.document_offsets = np.zeros(1, np.int64)
        self.values = np.empty(0, np.float64)
        self.queries = np.empty(0, np.uint8)
        self.query_offsets = np.zeros(1, np.int64)
        self.list_offsets = np.empty(0, np.int64)
        self.jump_rows = np.empty(0, np.int64)
        self.jump_lines = np.empty(0, np.int64)
        self.columns.n_documents = self.columns.n_rows = self.columns.n_queries = 0
        self.columns.n_sections = self.columns.n_jumps = 0

    @property
    def n_sections(self):
        """The number of sections (sequences of consecutive rows of one query). The last section may not be complete."""
        return self.columns.n_sections

    @property
    def n_rows(self):
        """The number of rows that were parsed and not taken yet."""
        return self.columns.n_rows

    @property
    def line(self):
        """The line number of the last line that was parsed, from 1; 0 at the beginning."""
        return self.columns.line

    @property
    def has_reals(self):
        """True if a label that was parsed is not written as a whole number."""
        return self.columns.has_reals

    cdef enter(self):
        if self.busy:
            raise RuntimeError("only one thread at a time can use a Parser")
        self.busy = True

    def room(self, Py_ssize_t size):
        """Return a memoryview of `size` bytes, into which the caller writes the next text.

        Each view is for one call of `parse`. After the next call of `room` or `parse`, do not write into it: the buffer
        may have been replaced, or that part of it may hold other text.
        """
        self.enter()
        try:
            if size < 1 or size > LONGEST_BUFFER or self.n_text + size + SLACK > LONGEST_BUFFER:
                raise OverflowError("a buffer must be smaller than 2 GiB")
            if self.text.size < self.n_text + size + SLACK:
                # A new array is allocated, because the caller may still use a memoryview of the old array.
                text = np.empty(self.n_text + self.n_text // 2 + size + SLACK, np.uint8)
                text[:self.n_text] = self.text[:self.n_text]
                self.text = text
            return memoryview(self.text)[self.n_text:self.n_text + size]
        finally:
            self.busy = False

    def parse(self, Py_ssize_t written, bint final=False):
        """Parse the complete lines of the text written; keep the rest for the next call, or parse it too if `final`.

        Return False if a line is malformed.
        """
        cdef Py_ssize_t stop, begin, end
        cdef uint8_t *text
        self.enter()
        try:
            if self.bad_line is not None:
                return False
            if not 0 <= written <= self.text.size - SLACK - self.n_text:
                raise ValueError("more bytes were written than the buffer has")
            text = <uint8_t *>cnp.PyArray_DATA(<cnp.ndarray>self.text)
            written += self.n_text
            # A byte after a complete line may be the first of the next chunk, so nothing is written there.
            if final and written and not ends_line(text[written - 1]):
                text[written] = c"\n"
                written += 1
            stop = written
            # No line ends in the first n_text bytes, which were kept by the previous call.
            while stop > self.n_text and not ends_line(text[stop - 1]):
                stop -= 1
            if stop == self.n_text:
                stop = 0
            elif self.columns.line == 0 and not self.continued and memcmp(text, b"\xef\xbb\xbf", 3) == 0:
                # Some editors write a byte order mark at the beginning of a UTF-8 file. It is not part of the first
                # query, so it is replaced by blanks.
                memset(text, c" ", 3)
            if stop:
                self.reserve(text, stop)
            begin = 0
            while begin < stop:
                end = step_end(text, begin, stop)
                if end - begin - 1 > LONGEST:
                    return self.too_long(text + begin)
                if not self.read_step(text + begin, end - begin):
                    return False
                begin = end
            if written - stop > LONGEST:
                return self.too_long(text + stop)
            memmove(text, text + stop, written - stop)
            self.n_text = written - stop
            return True
        finally:
            self.busy = False

    cdef bint too_long(self, const uint8_t *line) except -1:
        self.columns.line += 1
        self.bad_line = line[:LONGEST + 1]
        return False

    cdef bint read_step(self, const uint8_t *text, Py_ssize_t size) except -1:
        """Append complete lines, for which `reserve` has allocated memory. Return False if one of them is malformed."""
        cdef bint good
        if self.marks.size < size + 2 * SLACK:
            # New arrays are allocated instead of enlarging the old arrays, whose contents are not needed. Usually only
            # a small part of the new memory is ever written.
            self.marks = np.empty(size + size // 2 + 2 * SLACK, np.uint32)
            self.ends = np.empty(size + size // 2 + 2 * SLACK, np.uint32)
        self.columns.marks = <uint32_t *>cnp.PyArray_DATA(<cnp.ndarray>self.marks)
        self.columns.ends = <uint32_t *>cnp.PyArray_DATA(<cnp.ndarray>self.ends)
        with nogil:
            good = read_lines(&self.columns, text, size, self.judgments)
        if not self.convert_later(text, size):
            return False
        if not good:
            self.bad_line = text[self.columns.bad_begin:self.columns.bad_end]
            return False
        if self.tag is None and self.columns.tag_begin >= 0:
            self.tag = text[self.columns.tag_begin:self.columns.tag_end]
        return True

    cdef reserve(self, const uint8_t *text, Py_ssize_t size):
        """Allocate enough memory for all lines in a text of `size` bytes, so that `read_lines` needs no checks."""
        cdef Columns *columns = &self.columns
        cdef Py_ssize_t n_lines = size // 8 + 1      # the shortest line that makes a row is "q 0 d 1\n"
        if size > STEP:
            # Lines are counted, because most lines are several times as long as the shortest possible line.
            n_lines = min(n_lines, count_line_ends(text, size))
        self.later = roomy(self.later, 4 * n_lines)
        self.documents = roomy(self.documents, columns.n_documents + size + SLACK)
        self.document_offsets = roomy(self.document_offsets, columns.n_rows + n_lines + 1)
        self.values = roomy(self.values, columns.n_rows + n_lines)
        self.queries = roomy(self.queries, columns.n_queries + size)
        self.query_offsets = roomy(self.query_offsets, columns.n_sections + n_lines + 1)
        self.list_offsets = roomy(self.list_offsets, columns.n_sections + n_lines)
        self.jump_rows = roomy(self.jump_rows, columns.n_jumps + n_lines)
        self.jump_lines = roomy(self.jump_lines, columns.n_jumps + n_lines)
        columns.later = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>self.later)
        columns.documents = <uint8_t *>cnp.PyArray_DATA(<cnp.ndarray>self.documents)
        columns.document_offsets = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>self.document_offsets)
        columns.values = <double *>cnp.PyArray_DATA(<cnp.ndarray>self.values)
        columns.queries = <uint8_t *>cnp.PyArray_DATA(<cnp.ndarray>self.queries)
        columns.query_offsets = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>self.query_offsets)
        columns.list_offsets = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>self.list_offsets)
        columns.jump_rows = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>self.jump_rows)
        columns.jump_lines = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>self.jump_lines)

    cdef bint convert_later(self, const uint8_t *text, Py_ssize_t size) except -1:
        """Convert the numbers that `read_score` left for later.

        Return False, and set `bad_line`, if float64 does not represent one of them, or it is too large for a label.
        """
        cdef Py_ssize_t i, begin, end
        cdef const int64_t *later = self.columns.later
        cdef bytes number
        cdef double value
        for i in range(self.columns.n_later):
            begin, end = later[4 * i + 1], later[4 * i + 2]
            number = text[begin:end]
            if not convert_exactly(number, &value) or (self.judgments and not is_in_range(value)):
                while begin and not ends_line(text[begin - 1]):
                    begin -= 1
                while end < size and not ends_line(text[end]):
                    end += 1
                self.bad_line = text[begin:end]
                self.columns.line = later[4 * i + 3]
                return False
            self.columns.values[later[4 * i]] = value
        return True

    def take(self, Py_ssize_t n_sections):
        """Return the columns of the first `n_sections` sections, and keep those of the other sections for a later call.

        Returns
        -------
        tuple of ndarray
            queries, query_offsets, list_offsets, documents, document_offsets, values, jump_rows, jump_lines.
            Query i is queries[query_offsets[i]:query_offsets[i + 1]], and document i likewise. list_offsets are the
            first row of each section and, at the end, the number of rows. values are the scores or labels as float64.
            jump_rows are the first row and all rows whose line does not directly follow the line of the previous row;
            jump_lines are the line numbers of these rows.
        """
        cdef Columns *columns = &self.columns
        self.enter()
        try:
            if not 0 <= n_sections <= columns.n_sections:
                raise ValueError(f"n_sections must be from 0 to {columns.n_sections}")
            if n_sections == columns.n_sections:
                list_offsets = np.append(self.list_offsets[:n_sections], columns.n_rows)
                taken = (
                    first_elements(self.queries, columns.n_queries),
                    first_elements(self.query_offsets, n_sections + 1),
                    list_offsets,
                    first_elements(self.documents, columns.n_documents),
                    first_elements(self.document_offsets, columns.n_rows + 1),
                    first_elements(self.values, columns.n_rows),
                    first_elements(self.jump_rows, columns.n_jumps),
                    first_elements(self.jump_lines, columns.n_jumps),
                )
                self.start()
                return taken
            return self.take_before(n_sections)
        finally:
            self.busy = False

    cdef tuple take_before(self, Py_ssize_t n_sections):
        cdef Columns *columns = &self.columns
        cdef Py_ssize_t row = self.list_offsets[n_sections]
        cdef Py_ssize_t query = self.query_offsets[n_sections], document = self.document_offsets[row]
        cdef Py_ssize_t n_jumps = np.searchsorted(self.jump_rows[:columns.n_jumps], row, side="right")
        cdef Py_ssize_t kept
        taken = (
            self.queries[:query].copy(),
            self.query_offsets[:n_sections + 1].copy(),
            self.list_offsets[:n_sections + 1].copy(),
            self.documents[:document].copy(),
            self.document_offsets[:row + 1].copy(),
            self.values[:row].copy(),
            self.jump_rows[:n_jumps].copy(),
            self.jump_lines[:n_jumps].copy(),
        )
        # The rows that are kept move to the front of each column. The line number of the first row that is kept is
        # computed from the last jump that is returned.
        kept = columns.n_sections - n_sections
        self.list_offsets[:kept] = self.list_offsets[n_sections:n_sections + kept] - row
        self.query_offsets[:kept + 1] = self.query_offsets[n_sections:n_sections + kept + 1] - query
        kept = columns.n_rows - row
        self.document_offsets[:kept + 1] = self.document_offsets[row:row + kept + 1] - document
        self.values[:kept] = self.values[row:row + kept]
        kept = columns.n_queries - query
        self.queries[:kept] = self.queries[query:query + kept]
        kept = columns.n_documents - document
        self.documents[:kept] = self.documents[document:document + kept]
        line = self.jump_lines[n_jumps - 1] + row - self.jump_rows[n_jumps - 1]
        kept = columns.n_jumps - n_jumps
        self.jump_rows[1:kept + 1] = self.jump_rows[n_jumps:n_jumps + kept] - row
        self.jump_lines[1:kept + 1] = self.jump_lines[n_jumps:n_jumps + kept]
        self.jump_rows[0] = 0
        self.jump_lines[0] = line
        columns.n_sections -= n_sections
        columns.n_queries -= query
        columns.n_rows -= row
        columns.n_documents -= document
        columns.n_jumps = kept + 1
        return taken
