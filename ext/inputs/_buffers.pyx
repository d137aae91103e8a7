"""Conversion of columns to identifiers and numbers, where the columns are in the memory of another library; and of
Python's integers to identifiers.

The values of a column are in buffers that the library (the producer) has allocated. Three things in the buffers are
checked before they are used: offsets must ascend and must not exceed the last offset, indices of dictionary values must
be less than the number of values, and views must point into a buffer of known size. The sizes of other buffers are not
known, so the producer is trusted to make them large enough.

The results are written to new arrays. No write leaves these arrays, even if another thread changes the buffers of the
producer while they are read.
"""
from cpython.long cimport PyLong_AsLongLongAndOverflow
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

cimport tieaware.kernels._numpy as cnp

cnp.import_array()

cdef extern from "inputs/identifier.h" nogil:
    bint identifier_equal(const uint8_t *p, const uint8_t *q, size_t n)

cdef enum:
    # The largest number of characters of a 64-bit integer, such as "-9223372036854775808".
    LONGEST_NUMBER = 20


class BadCell(Exception):
    """A value in a column cannot be read. The arguments are the row of the value and a description of the value."""


cdef dict DTYPES = {
    BOOLEAN: "?", INT8: "i1", UINT8: "u1", INT16: "i2", UINT16: "u2", INT32: "i4", UINT32: "u4", INT64: "i8",
    UINT64: "u8", FLOAT16: "f2", FLOAT32: "f4", FLOAT64: "f8",
}
cdef dict KINDS_OF_DTYPES = {
    np.dtype(dtype): kind for kind, dtype in DTYPES.items() if kind != BOOLEAN
}


cdef object dtype_of(Kind kind):
    """Return the NumPy type of a kind of numbers; None for any other kind."""
    return np.dtype(DTYPES[kind]) if kind in DTYPES else None


cdef str what_holds(Kind kind):
    """Return what the values of a kind are: "text", "integer", "number", "null" or "other"."""
    if TEXT32 <= kind <= FIXED:
        return "text"
    if INT8 <= kind <= UINT64:
        return "integer"
    if kind == NULLS:
        return "null"
    return "other" if kind == OTHER else "number"


# The bytes of one value, which are bytes[0] … bytes[n - 1]. For an integer they are its decimal digits, which are
# stored in `digits`.
cdef struct Cell:
    const uint8_t *bytes
    int64_t n
    uint8_t digits[LONGEST_NUMBER]


cdef enum Found:
    GOOD, MISSING, BROKEN


cdef inline bint is_set(const uint8_t *bits, int64_t i) noexcept nogil:
    return bits[i >> 3] >> (i & 7) & 1


cdef inline bint is_missing(const Layout *layout, int64_t row) noexcept nogil:
    if layout.valid != NULL and not is_set(layout.valid, layout.first + row):
        return True
    return layout.outer != NULL and not is_set(layout.outer, layout.outer_first + row)


cdef inline uint64_t load(const uint8_t *p, int64_t width) noexcept nogil:
    """Read an unsigned integer of 1, 2, 4 or 8 bytes at an address that need not be aligned."""
    cdef uint16_t two
    cdef uint32_t four
    cdef uint64_t eight
    if width == 1:
        return p[0]
    if width == 2:
        memcpy(&two, p, 2)
        return two
    if width == 4:
        memcpy(&four, p, 4)
        return four
    memcpy(&eight, p, 8)
    return eight


cdef inline int64_t load_signed(const uint8_t *p, int64_t width) noexcept nogil:
    cdef uint64_t word = load(p, width)
    if width == 1:
        return <int8_t>word
    if width == 2:
        return <int16_t>word
    if width == 4:
        return <int32_t>word
    return <int64_t>word


cdef inline void write_digits(Cell *cell, uint64_t number, bint negative) noexcept nogil:
    """Set the cell to the decimal digits of an integer, which are written from the last digit to the first."""
    cdef int64_t i = LONGEST_NUMBER
    if negative:
        number = 0 - number
    while True:
        i -= 1
        cell.digits[i] = <uint8_t>(48 + number % 10)
        number //= 10
        if number == 0:
            break
    if negative:
        i -= 1
        cell.digits[i] = c"-"
    cell.bytes = cell.digits + i
    cell.n = LONGEST_NUMBER - i


cdef inline Found read_offsets(const Layout *layout, int64_t i, int64_t size, Cell *cell) noexcept nogil:
    cdef int64_t begin = load_signed(layout.values + size * i, size)
    cdef int64_t end = load_signed(layout.values + size * (i + 1), size)
    cdef int64_t last = load_signed(layout.values + size * layout.last, size)
    if not 0 <= begin <= end <= last or (layout.data == NULL and end > begin):
        return BROKEN
    cell.bytes = layout.data + begin
    cell.n = end - begin
    return GOOD


cdef inline Found read_view(const Layout *layout, int64_t i, Cell *cell) noexcept nogil:
    """Set the cell to the bytes of the value in view i.

    A view has 16 bytes. The first four contain the length of the value. If the length is at most 12, the value follows.
    Otherwise its first four bytes follow, then the number of the buffer that contains the value, and the offset of the
    value in this buffer.
    """
    cdef const uint8_t *view = layout.values + 16 * i
    cdef int64_t n = load_signed(view, 4), buffer, begin
    if n < 0:
        return BROKEN
    cell.n = n
    cell.bytes = view + 4
    if n > 12:
        buffer = load_signed(view + 8, 4)
        begin = load_signed(view + 12, 4)
        if not 0 <= buffer < layout.n_data or begin < 0 or layout.buffers[2 + buffer] == NULL:
            return BROKEN
        if layout.sizes != NULL and begin + n > layout.sizes[buffer]:
            return BROKEN
        cell.bytes = <const uint8_t *>layout.buffers[2 + buffer] + begin
    return GOOD


cdef Found read_cell(const Layout *layout, int64_t row, Cell *cell) noexcept nogil:
    """Set the cell to the bytes of the identifier in a row: text, bytes or the digits of an integer."""
    cdef int64_t i = layout.first + row
    cdef int64_t index
    if is_missing(layout, row):
        return MISSING
    if layout.kind == TEXT32:
        return read_offsets(layout, i, 4, cell)
    if layout.kind == TEXT64:
        return read_offsets(layout, i, 8, cell)
    if layout.kind == VIEWS:
        return read_view(layout, i, cell)
    if layout.kind == FIXED:
        cell.bytes = layout.values + i * layout.width
        cell.n = layout.width
        return GOOD
    if layout.kind == DICTIONARY:
        index = load_signed(layout.values + i * layout.width, layout.width)
        if not layout.is_signed and layout.width < 8:
            index = <int64_t>load(layout.values + i * layout.width, layout.width)
        if index < 0:
            return MISSING if layout.is_signed else BROKEN
        return read_cell(layout.dictionary, index, cell) if index < layout.dictionary.n else BROKEN
    if INT8 <= layout.kind <= UINT64:
        if layout.is_signed:
            index = load_signed(layout.values + i * layout.width, layout.width)
            write_digits(cell, <uint64_t>index, index < 0)
        else:
            write_digits(cell, load(layout.values + i * layout.width, layout.width), False)
        return GOOD
    return MISSING if layout.kind == NULLS else BROKEN


cdef int64_t fill_offsets(
    const Layout *layout, int64_t start, const int64_t *rows, int64_t n, int64_t *offsets, Found *found
) noexcept nogil:
    """Set offsets[0] … offsets[n] to the offsets of n identifiers when they are stored one after another.

    The identifiers are those in the rows rows[0] … rows[n - 1], or in start … start + n - 1 if `rows` is NULL. Return
    the number of identifiers before the first that is missing or invalid; n if there is none.
    """
    cdef int64_t i
    cdef Cell cell
    offsets[0] = 0
    for i in range(n):
        found[0] = read_cell(layout, rows[i] if rows != NULL else start + i, &cell)
        if found[0] != GOOD:
            return i
        offsets[i + 1] = offsets[i] + cell.n
    return n


cdef int64_t fill_data(
    const Layout *layout, int64_t start, const int64_t *rows, int64_t n, const int64_t *offsets, uint8_t *data
) noexcept nogil:
    """Copy the n identifiers of `fill_offsets` to their offsets in `data`.

    Return the number of identifiers before the first whose length has changed since `fill_offsets`, because another
    thread has written to the buffers; n if there is none.
    """
    cdef int64_t i
    cdef Cell cell
    for i in range(n):
        if read_cell(layout, rows[i] if rows != NULL else start + i, &cell) != GOOD:
            return i
        if cell.n != offsets[i + 1] - offsets[i]:
            return i
        if cell.n:
            memcpy(data + offsets[i], cell.bytes, cell.n)
    return n


cdef int64_t rebase(
    const Layout *layout, int64_t start, int64_t n, int64_t size, int64_t least, int64_t most, int64_t *offsets
) noexcept nogil:
    """Copy the offsets of n contiguous identifiers, reduced by `least`, the offset of the first identifier.

    `most` is the offset at which the last identifier ends. Return the number of identifiers before the first with an
    invalid offset; n if there is none.
    """
    cdef const uint8_t *values = layout.values + size * (layout.first + start)
    cdef int64_t i
    offsets[0] = 0
    for i in range(n):
        offsets[i + 1] = load_signed(values + size * (i + 1), size) - least
        if not offsets[i] <= offsets[i + 1] <= most - least:
            return i
    return n


cdef int64_t first_missing(const Layout *layout, int64_t start, int64_t stop) noexcept nogil:
    """Return the first of the rows start … stop - 1 whose value is missing; `stop` if no value is missing."""
    cdef int64_t row
    if layout.valid == NULL and layout.outer == NULL and layout.kind != NULLS:
        return stop
    for row in range(start, stop):
        if layout.kind == NULLS or is_missing(layout, row):
            return row
    return stop


cdef int64_t find_sections(
    const Layout *layout, int64_t start, int64_t stop, int64_t *starts, Found *found, int64_t *bad
) noexcept nogil:
    """Set starts[k] to the first row of section k; return the number of sections.

    A section is a sequence of consecutive rows with equal values. If a value is missing or invalid, set `bad` to its
    row and `found` to the reason.
    """
    cdef int64_t n = 0, row, width = layout.width
    cdef const uint8_t *p = layout.values + layout.first * width
    cdef Cell cells[2]
    found[0] = GOOD
    if width:
        # Values of a fixed width, including indices of dictionary values, are compared as bytes.
        bad[0] = first_missing(layout, start, stop)
        if bad[0] < stop:
            found[0] = MISSING
            return 0
        for row in range(start, stop):
            starts[n] = row
            n += row == start or not identifier_equal(p + row * width, p + (row - 1) * width, width)
        return n
    for row in range(start, stop):
        found[0] = read_cell(layout, row, &cells[row & 1])
        if found[0] != GOOD:
            bad[0] = row
            return 0
        starts[n] = row
        n += row == start or cells[0].n != cells[1].n or not identifier_equal(
            cells[0].bytes, cells[1].bytes, cells[0].n
        )
    return n


cdef class Column:
    """A column of a batch.

    The methods convert the rows start … stop - 1, and raise BadCell for the first of these rows that is invalid.
    """

    @staticmethod
    def of_array(array):
        """Make a column from a one-dimensional NumPy array of numbers."""
        cdef Column self = Column.__new__(Column)
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
        memset(&self.layout, 0, sizeof(Layout))
        self.layout.kind = KINDS_OF_DTYPES[array.dtype]
        self.layout.n = array.size
        self.layout.width = array.dtype.itemsize
        self.layout.is_signed = array.dtype.kind == "i"
        self.layout.values = <const uint8_t *>cnp.PyArray_DATA(<cnp.ndarray>array)
        self.owner = array
        self.type = array.dtype.name
        self.holds = what_holds(self.layout.kind)
        return self

    @staticmethod
    def of_identifiers(data, offsets, str holds="text"):
        """Make a column from identifiers: identifier i is data[offsets[i]:offsets[i + 1]]."""
        cdef Column self = Column.__new__(Column)
        data = np.ascontiguousarray(data, np.uint8)
        offsets = np.ascontiguousarray(offsets, np.int64)
        memset(&self.layout, 0, sizeof(Layout))
        self.layout.kind = TEXT64
        self.layout.n = self.layout.last = offsets.size - 1
        self.layout.values = <const uint8_t *>cnp.PyArray_DATA(<cnp.ndarray>offsets)
        self.layout.data = <const uint8_t *>cnp.PyArray_DATA(<cnp.ndarray>data)
        self.owner = data, offsets
        self.type = "identifiers"
        self.holds = holds
        return self

    @staticmethod
    def of_codes(codes, Column values not None):
        """Make a column whose row i has the value values[codes[i]], or a missing value if codes[i] is -1."""
        cdef Column self = Column.of_array(codes)
        if not INT8 <= self.layout.kind <= UINT64 or values.layout.kind == DICTIONARY:
            raise TypeError("the codes must be integers, and the values must not be a dictionary")
        self.dictionary = values
        self.layout.kind = DICTIONARY
        self.layout.dictionary = &values.layout
        self.type = "categorical"
        self.holds = values.holds
        return self

    def __len__(self):
        return self.layout.n

    cdef check(self, int64_t start, int64_t stop):
        if not 0 <= start <= stop <= self.layout.n:
            raise IndexError(f"rows {start} to {stop} are out of range for {self.layout.n} rows")

    def sections(self, int64_t start, int64_t stop):
        """Divide the rows into sections of consecutive rows with equal values; return the first row of each, int64[:].

        Two adjacent sections may have the same value.
        """
        cdef Found found = GOOD
        cdef int64_t n, bad = 0
        self.check(start, stop)
        if self.layout.kind == NULLS and stop > start:
            # Such a column has no buffers, so a producer may claim more rows than fit in memory.
            raise bad_cell(start, MISSING)
        starts = np.empty(stop - start, np.int64)
        cdef int64_t *into = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>starts)
        with nogil:
            n = find_sections(&self.layout, start, stop, into, &found, &bad)
        if found != GOOD:
            raise bad_cell(bad, found)
        return starts[:n].copy()

    def identifiers(self, int64_t start, int64_t stop):
        """Return the identifiers in the rows start … stop - 1 as (data, offsets).

        Identifier i is data[offsets[i]:offsets[i + 1]]. An integer is converted to its decimal digits.
        """
        cdef int64_t size = 4 if self.layout.kind == TEXT32 else 8, n = stop - start, least, most, good
        cdef const uint8_t *values = self.layout.values
        self.check(start, stop)
        if n == 0 or (self.layout.kind != TEXT32 and self.layout.kind != TEXT64):
            return self.gathered(start, NULL, n)
        good = first_missing(&self.layout, start, stop)
        if good < stop:
            raise bad_cell(good, MISSING)
        # The identifiers of these rows are contiguous in the buffer, so all of them are copied at once.
        least = load_signed(values + size * (self.layout.first + start), size)
        most = load_signed(values + size * (self.layout.first + stop), size)
        if not 0 <= least <= most <= load_signed(values + size * self.layout.last, size):
            return self.gathered(start, NULL, n)
        if self.layout.data == NULL and most > least:
            raise bad_cell(start, BROKEN)
        offsets = np.empty(n + 1, np.int64)
        data = np.empty(most - least, np.uint8)
        cdef int64_t *bound = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>offsets)
        cdef uint8_t *into = <uint8_t *>cnp.PyArray_DATA(<cnp.ndarray>data)
        with nogil:
            good = rebase(&self.layout, start, n, size, least, most, bound)
            if most > least:
                memcpy(into, self.layout.data + least, most - least)
        if good < n or bound[n] != most - least:
            raise bad_cell(start + min(good, n - 1), BROKEN)
        return data, offsets

    def identifiers_at(self, const int64_t[::1] rows not None):
        """Return the identifiers in the rows with these indices as (data, offsets), as for `identifiers`."""
        cdef Py_ssize_t i
        cdef int64_t n = rows.shape[0]
        # The indices are copied because they are checked only once, and another thread could change the array of the
        # caller after the check.
        chosen = np.array(rows)
        cdef const int64_t *row = <const int64_t *>cnp.PyArray_DATA(<cnp.ndarray>chosen)
        for i in range(n):
            if not 0 <= row[i] < self.layout.n:
                raise IndexError(f"row {row[i]} is out of range for {self.layout.n} rows")
        return self.gathered(0, row, n)

    cdef tuple gathered(self, int64_t start, const int64_t *rows, int64_t n):
        cdef int64_t good
        cdef Found found = GOOD
        offsets = np.empty(n + 1, np.int64)
        cdef int64_t *bound = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>offsets)
        with nogil:
            good = fill_offsets(&self.layout, start, rows, n, bound, &found)
        if good < n:
            raise bad_cell(rows[good] if rows != NULL else start + good, found)
        data = np.empty(bound[n], np.uint8)
        cdef uint8_t *into = <uint8_t *>cnp.PyArray_DATA(<cnp.ndarray>data)
        with nogil:
            good = fill_data(&self.layout, start, rows, n, bound, into)
        if good < n:
            raise bad_cell(rows[good] if rows != NULL else start + good, BROKEN)
        return data, offsets

    def numbers(self, int64_t start, int64_t stop, bint nulls_as_nan=False):
        """Return a copy of the numbers in the rows start … stop - 1, as an array of the same type.

        With `nulls_as_nan`, the array is float64 if a value is missing, and this value is NaN.
        """
        cdef int64_t n = stop - start, i, bad
        self.check(start, stop)
        bad = first_missing(&self.layout, start, stop)
        if bad < stop and not nulls_as_nan:
            raise bad_cell(bad, MISSING)
        if self.layout.kind == NULLS:
            return np.full(n, np.nan)
        if self.layout.kind not in DTYPES:
            raise TypeError(self.type)
        numbers = np.empty(n, DTYPES[self.layout.kind])
        cdef uint8_t *into = <uint8_t *>cnp.PyArray_DATA(<cnp.ndarray>numbers)
        cdef int64_t width = self.layout.width
        with nogil:
            if self.layout.kind == BOOLEAN:
                for i in range(n):
                    into[i] = is_set(self.layout.values, self.layout.first + start + i)
            elif n:
                memcpy(into, self.layout.values + width * (self.layout.first + start), n * width)
        if bad < stop:
            numbers = numbers.astype(np.float64)
            for i in range(bad - start, n):
                if is_missing(&self.layout, start + i):
                    numbers[i] = np.nan
        return numbers


def digits(list numbers not None):
    """Return the decimal digits of Python's integers as (data, offsets); None if one does not fit in 64 bits.

    The digits of integer i are data[offsets[i]:offsets[i + 1]].
    """
    cdef Py_ssize_t n = len(numbers), i
    cdef long long number
    cdef int overflow = 0
    cdef Cell cell
    cdef bytearray written = bytearray(n * LONGEST_NUMBER)
    cdef char *into = written
    cdef int64_t at = 0
    offsets = np.zeros(n + 1, np.int64)
    cdef int64_t *bound = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>offsets)
    for i in range(n):
        number = PyLong_AsLongLongAndOverflow(numbers[i], &overflow)
        if overflow:
            return None
        write_digits(&cell, <uint64_t>number, number < 0)
        memcpy(into + at, cell.bytes, cell.n)
        at += cell.n
        bound[i + 1] = at
    return np.frombuffer(written, np.uint8, at).copy(), offsets


cdef object bad_cell(int64_t row, Found found):
    return BadCell(row, "a missing value" if found == MISSING else "a value outside its buffer")
