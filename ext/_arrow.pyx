"""Columns of other libraries, as they lie in memory, into identifiers and numbers.

Tables come by the Arrow C stream interface: a schema, then batches of columns, each a few buffers. A producer gives
them in capsules, and takes back what a capsule, a stream or an array holds when its `release` is called: once. Who
takes a structure out of a capsule sets the `release` of what is left there to NULL.

What is known is checked: the kinds of the columns before anything is read, the number of buffers and rows of each
batch, that offsets ascend and stay below the last, and that indices and views are within what they point into, as far
as its size is told. The sizes of most buffers are not: for these the producer is trusted. What is written is bounded by
what was allocated, whatever the buffers hold when they are read a second time.
"""

cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset, strcmp

import numpy as np

cnp.import_array()

cdef extern from "arrow.h" nogil:
    struct ArrowSchema:
        const char *format
        const char *name
        int64_t n_children
        ArrowSchema **children
        ArrowSchema *dictionary
        void (*release)(ArrowSchema *) noexcept nogil

    struct ArrowArray:
        int64_t length, null_count, offset, n_buffers, n_children
        const void **buffers
        ArrowArray **children
        ArrowArray *dictionary
        void (*release)(ArrowArray *) noexcept nogil

    struct ArrowArrayStream:
        int (*get_schema)(ArrowArrayStream *, ArrowSchema *) noexcept nogil
        int (*get_next)(ArrowArrayStream *, ArrowArray *) noexcept nogil
        const char *(*get_last_error)(ArrowArrayStream *) noexcept nogil
        void (*release)(ArrowArrayStream *) noexcept nogil

cdef extern from "identifier.h" nogil:
    bint identifier_equal(const uint8_t *p, const uint8_t *q, size_t n)

cdef enum:
    LONGEST_NUMBER = 20

# No offset or length is as large; so no sum of two of them wraps around.
cdef int64_t LARGEST = <int64_t>1 << 61


class BadCell(Exception):
    """A value that cannot be read: its row, and what it is instead."""


class BadStream(Exception):
    """A producer that failed, or gave what is none of Arrow's layouts."""


# ---- kinds of columns ----------------------------------------------------------------------------

cdef enum Kind:
    # Of another type, which can only be left unread.
    OTHER, NULLS, BOOLEAN
    INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64
    FLOAT16, FLOAT32, FLOAT64
    # Bytes: between offsets of 32 or 64 bits, in views, or all of one width.
    TEXT32, TEXT64, VIEWS, FIXED
    DICTIONARY

cdef dict KINDS = {
    b"n": NULLS, b"b": BOOLEAN, b"c": INT8, b"C": UINT8, b"s": INT16, b"S": UINT16, b"i": INT32, b"I": UINT32,
    b"l": INT64, b"L": UINT64, b"e": FLOAT16, b"f": FLOAT32, b"g": FLOAT64, b"u": TEXT32, b"z": TEXT32, b"U": TEXT64,
    b"Z": TEXT64, b"vu": VIEWS, b"vz": VIEWS,
}
cdef dict NAMES = {
    b"n": "null", b"b": "bool", b"c": "int8", b"C": "uint8", b"s": "int16", b"S": "uint16", b"i": "int32",
    b"I": "uint32", b"l": "int64", b"L": "uint64", b"e": "float16", b"f": "float32", b"g": "float64", b"u": "utf8",
    b"z": "binary", b"U": "large_utf8", b"Z": "large_binary", b"vu": "utf8_view", b"vz": "binary_view",
    b"tdD": "date32", b"tdm": "date64", b"+l": "list", b"+L": "large_list", b"+s": "struct", b"+m": "map",
}
cdef dict DTYPES = {
    BOOLEAN: "?", INT8: "i1", UINT8: "u1", INT16: "i2", UINT16: "u2", INT32: "i4", UINT32: "u4", INT64: "i8",
    UINT64: "u8", FLOAT16: "f2", FLOAT32: "f4", FLOAT64: "f8",
}
cdef dict KINDS_OF_DTYPES = {
    np.dtype(dtype): kind for kind, dtype in DTYPES.items() if kind != BOOLEAN
}


cdef class Type:
    """What the schema says of a column."""

    cdef Kind kind
    cdef Py_ssize_t width
    # Of the values that a dictionary holds; None for any other column.
    cdef Type values
    cdef str name
    # "text", "integer", "number" (which is no identifier), "null" or "other".
    cdef str holds
    cdef bint is_signed


cdef Type type_of(const ArrowSchema *schema):
    cdef Type self = Type.__new__(Type)
    cdef bytes form
    if schema == NULL or schema.format == NULL:
        raise BadStream("a schema without a format")
    form = schema.format
    self.kind = KINDS.get(form, OTHER)
    self.name = NAMES.get(form) or form.decode("utf-8", "replace")
    self.width = 0
    self.is_signed = form in (b"c", b"s", b"i", b"l")
    if self.kind in DTYPES and self.kind != BOOLEAN:
        self.width = np.dtype(DTYPES[self.kind]).itemsize
    if form.startswith(b"w:") and form[2:].isdigit() and int(form[2:]) < 1 << 31:
        self.kind = FIXED
        self.width = int(form[2:])
        self.name = f"fixed_size_binary[{self.width}]"
    self.holds = what_holds(self.kind)
    if schema.dictionary != NULL:
        if not INT8 <= self.kind <= UINT64:
            raise BadStream("a dictionary whose indices are no integers")
        if schema.dictionary.dictionary != NULL:
            self.kind, self.name, self.holds = OTHER, "dictionary of dictionaries", "other"
            return self
        self.kind = DICTIONARY
        self.values = type_of(schema.dictionary)
        self.name = f"dictionary of {self.values.name}"
        self.holds = self.values.holds
    return self


cdef str what_holds(Kind kind):
    if TEXT32 <= kind <= FIXED:
        return "text"
    if INT8 <= kind <= UINT64:
        return "integer"
    if kind == NULLS:
        return "null"
    return "other" if kind == OTHER else "number"


# ---- columns -------------------------------------------------------------------------------------

# Row i is at first + i in the buffers.
cdef struct Layout:
    Kind kind
    int64_t n, first, width
    # Bits that are set where there is a value; those of the table around the column, too. NULL: everywhere.
    const uint8_t *valid
    const uint8_t *outer
    int64_t outer_first
    # What comes first of the values: the values of one width, offsets, views or bits.
    const uint8_t *values
    # What offsets and views point into.
    const uint8_t *data
    const void **buffers
    const int64_t *sizes
    int64_t n_data
    # What the indices, integers of this width, point into.
    bint is_signed
    const Layout *dictionary


# The bytes of one value; the digits, if it is a number.
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
    """Read an unsigned number of up to eight bytes, wherever it lies."""
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
    """Write a number from the end of its room towards the front."""
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
    cdef int64_t last = load_signed(layout.values + size * (layout.first + layout.n), size)
    if not 0 <= begin <= end <= last or (layout.data == NULL and end > begin):
        return BROKEN
    cell.bytes = layout.data + begin
    cell.n = end - begin
    return GOOD


cdef inline Found read_view(const Layout *layout, int64_t i, Cell *cell) noexcept nogil:
    """A view is its length, then up to 12 bytes; or of more, the first four, their buffer, and where in it they are."""
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
    """Find the bytes of a value that is text, bytes or an integer."""
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
    """Set the offsets of n identifiers, at these rows or from start on; return how many of them are good."""
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
    """Copy n identifiers to where their offsets say; return how many of them are still what they were."""
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
    """Set the offsets of n identifiers that lie from least to most; return how many ascend in there."""
    cdef const uint8_t *values = layout.values + size * (layout.first + start)
    cdef int64_t i
    offsets[0] = 0
    for i in range(n):
        offsets[i + 1] = load_signed(values + size * (i + 1), size) - least
        if not offsets[i] <= offsets[i + 1] <= most - least:
            return i
    return n


cdef int64_t first_missing(const Layout *layout, int64_t start, int64_t stop) noexcept nogil:
    """Return the first row without a value, or stop."""
    cdef int64_t row
    if layout.valid == NULL and layout.outer == NULL and layout.kind != NULLS:
        return stop
    for row in range(start, stop):
        if layout.kind == NULLS or is_missing(layout, row):
            return row
    return stop


cdef int64_t find_segments(
    const Layout *layout, int64_t start, int64_t stop, int64_t *starts, Found *found, int64_t *bad
) noexcept nogil:
    """Set where runs of one value begin; return how many there are."""
    cdef int64_t n = 0, row, width = layout.width
    cdef const uint8_t *p = layout.values + layout.first * width
    cdef Cell cells[2]
    found[0] = GOOD
    if width:
        # Of integers, indices and the like, bytes alone tell.
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
    """A column of a batch. Its methods take rows from `start` to `stop`, and raise BadCell at the first that is bad."""

    cdef Layout layout
    # What owns the memory.
    cdef object owner
    cdef Column dictionary
    # The name of its type, and what it holds: "text", "integer", "number", "null" or "other".
    cdef readonly str type
    cdef readonly str holds

    @staticmethod
    def of_array(array):
        """Wrap a flat NumPy array of numbers."""
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
        """Wrap identifiers: their bytes, and where they begin and end."""
        cdef Column self = Column.__new__(Column)
        data = np.ascontiguousarray(data, np.uint8)
        offsets = np.ascontiguousarray(offsets, np.int64)
        memset(&self.layout, 0, sizeof(Layout))
        self.layout.kind = TEXT64
        self.layout.n = offsets.size - 1
        self.layout.values = <const uint8_t *>cnp.PyArray_DATA(<cnp.ndarray>offsets)
        self.layout.data = <const uint8_t *>cnp.PyArray_DATA(<cnp.ndarray>data)
        self.owner = data, offsets
        self.type = "identifiers"
        self.holds = holds
        return self

    @staticmethod
    def of_codes(codes, Column values not None):
        """Make a column of which each row names a value by its place; -1 names none."""
        cdef Column self = Column.of_array(codes)
        if not INT8 <= self.layout.kind <= UINT64 or values.layout.kind == DICTIONARY:
            raise TypeError("integers, and a column without a dictionary, are expected")
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
            raise IndexError(f"rows {start} to {stop} of {self.layout.n}")

    def segments(self, int64_t start, int64_t stop):
        """Return where sequences of rows of one value begin, int64[:]; two may be of one value."""
        cdef Found found = GOOD
        cdef int64_t n, bad = 0
        self.check(start, stop)
        starts = np.empty(stop - start, np.int64)
        cdef int64_t *into = <int64_t *>cnp.PyArray_DATA(<cnp.ndarray>starts)
        with nogil:
            n = find_segments(&self.layout, start, stop, into, &found, &bad)
        if found != GOOD:
            raise bad_cell(bad, found)
        return starts[:n].copy()

    def identifiers(self, int64_t start, int64_t stop):
        """Return (data, offsets) of rows that hold text, bytes or integers."""
        cdef int64_t size = 4 if self.layout.kind == TEXT32 else 8, n = stop - start, least, most, good
        cdef const uint8_t *values = self.layout.values
        self.check(start, stop)
        if n == 0 or (self.layout.kind != TEXT32 and self.layout.kind != TEXT64):
            return self.gathered(start, NULL, n)
        good = first_missing(&self.layout, start, stop)
        if good < stop:
            raise bad_cell(good, MISSING)
        # The bytes are together already.
        least = load_signed(values + size * (self.layout.first + start), size)
        most = load_signed(values + size * (self.layout.first + stop), size)
        if not 0 <= least <= most <= load_signed(values + size * (self.layout.first + self.layout.n), size):
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
        """Return (data, offsets) of these rows."""
        cdef Py_ssize_t i
        cdef int64_t n = rows.shape[0]
        # Of its own, for the bounds are checked once.
        chosen = np.array(rows)
        cdef const int64_t *row = <const int64_t *>cnp.PyArray_DATA(<cnp.ndarray>chosen)
        for i in range(n):
            if not 0 <= row[i] < self.layout.n:
                raise IndexError(f"row {row[i]} of {self.layout.n}")
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

    def numbers(self, int64_t start, int64_t stop):
        """Return a copy of rows that hold numbers, as an array of their type."""
        cdef int64_t n = stop - start, i, bad
        self.check(start, stop)
        bad = first_missing(&self.layout, start, stop)
        if bad < stop:
            raise bad_cell(bad, MISSING)
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
        return numbers


cdef object bad_cell(int64_t row, Found found):
    return BadCell(row, "a missing value" if found == MISSING else "a value outside of its buffer")


# ---- streams -------------------------------------------------------------------------------------

cdef class Batch:
    """An array that its columns keep until none of them is used any more."""

    cdef ArrowArray array

    def __cinit__(self):
        self.array.release = NULL

    def __dealloc__(self):
        if self.array.release != NULL:
            with nogil:
                self.array.release(&self.array)


cdef Column column_of(Batch owner, Type kind, const ArrowArray *array, int64_t skipped, int64_t n):
    """Describe rows skipped to skipped + n of an array."""
    cdef Column column = Column.__new__(Column)
    cdef Layout *layout = &column.layout
    cdef int64_t wanted
    memset(layout, 0, sizeof(Layout))
    column.owner = owner
    column.type = kind.name
    column.holds = kind.holds
    layout.kind = kind.kind
    check_array(array)
    if skipped + n > array.length:
        raise BadStream(f"a column of {array.length} rows in a table of {skipped + n}")
    layout.n = n
    layout.first = array.offset + skipped
    layout.width = kind.width
    layout.is_signed = kind.is_signed
    if kind.kind == OTHER or kind.kind == NULLS or n == 0:
        return column
    wanted = 3 if TEXT32 <= kind.kind <= VIEWS else 2
    if array.buffers == NULL or array.n_buffers < wanted or (array.n_buffers > wanted and kind.kind != VIEWS):
        raise BadStream(f"{array.n_buffers} buffers for a column of {kind.name}, which has {wanted}")
    if array.null_count != 0:
        layout.valid = <const uint8_t *>array.buffers[0]
    layout.values = <const uint8_t *>array.buffers[1]
    if layout.values == NULL and kind.width + wanted > 2:
        raise BadStream(f"a column of {kind.name} without values")
    if kind.kind == VIEWS:
        # The last holds the sizes of those that views point into.
        layout.buffers = array.buffers
        layout.n_data = array.n_buffers - 3
        layout.sizes = <const int64_t *>array.buffers[array.n_buffers - 1]
    elif wanted == 3:
        layout.data = <const uint8_t *>array.buffers[2]
    if kind.kind == DICTIONARY:
        check_array(array.dictionary)
        column.dictionary = column_of(owner, kind.values, array.dictionary, 0, array.dictionary.length)
        layout.dictionary = &column.dictionary.layout
    return column


cdef check_array(const ArrowArray *array):
    if array == NULL or array.release == NULL:
        raise BadStream("an array that was released")
    if not (0 <= array.length <= LARGEST and 0 <= array.offset <= LARGEST):
        raise BadStream(f"an array of length {array.length} and offset {array.offset}")


cdef object released(bytes name):
    return BadStream(f"a capsule {name.decode()} that was used before")


cdef class Stream:
    """Batches of columns, from a capsule "arrow_array_stream", or two of "arrow_schema" and "arrow_array".

    Attributes
    ----------
    names : tuple of str
        Of the columns; what is no table is one column without a name.
    """

    cdef ArrowArrayStream stream
    cdef readonly tuple names
    cdef tuple types
    cdef bint is_table, busy
    # Of what is one array, that array; until it was read.
    cdef Batch batch

    def __cinit__(self, *capsules):
        cdef ArrowArrayStream *stream
        cdef ArrowSchema *schema
        cdef ArrowArray *array
        cdef ArrowSchema own
        cdef int code
        self.stream.release = NULL
        self.busy = False
        if len(capsules) == 1:
            stream = <ArrowArrayStream *>PyCapsule_GetPointer(capsules[0], "arrow_array_stream")
            if stream.release == NULL:
                raise released(b"arrow_array_stream")
            self.stream = stream[0]
            stream.release = NULL
            own.release = NULL
            with nogil:
                code = self.stream.get_schema(&self.stream, &own)
            if code:
                raise self.failure(code)
            try:
                self.describe(&own)
            finally:
                if own.release != NULL:
                    own.release(&own)
        else:
            schema = <ArrowSchema *>PyCapsule_GetPointer(capsules[0], "arrow_schema")
            array = <ArrowArray *>PyCapsule_GetPointer(capsules[1], "arrow_array")
            if schema.release == NULL or array.release == NULL:
                raise released(b"arrow_array")
            self.batch = Batch.__new__(Batch)
            self.batch.array = array[0]
            array.release = NULL
            # The capsule releases the schema.
            self.describe(schema)

    def __dealloc__(self):
        if self.stream.release != NULL:
            with nogil:
                self.stream.release(&self.stream)

    cdef describe(self, const ArrowSchema *schema):
        cdef int64_t i
        if schema.release == NULL or schema.format == NULL:
            raise BadStream("a schema that was released")
        self.is_table = strcmp(schema.format, "+s") == 0
        if not self.is_table:
            self.names = ("",)
            self.types = (type_of(schema),)
            return
        if schema.n_children < 0 or (schema.n_children > 0 and schema.children == NULL):
            raise BadStream(f"a table of {schema.n_children} columns")
        self.types = tuple([type_of(schema.children[i]) for i in range(schema.n_children)])
        self.names = tuple([name_of(schema.children[i]) for i in range(schema.n_children)])

    cdef object failure(self, int code):
        cdef const char *text = NULL
        with nogil:
            if self.stream.get_last_error != NULL:
                text = self.stream.get_last_error(&self.stream)
        message = "" if text == NULL else (<bytes>text).decode("utf-8", "replace")
        return BadStream(" ".join(message.split()) or f"error {code} of a producer that does not say more")

    def read(self, columns):
        """Read a batch; return these of its columns, or None at the end.

        Parameters
        ----------
        columns : sequence of int
        """
        cdef Batch batch
        cdef int code
        if self.busy:
            raise BadStream("a stream that another thread is reading")
        self.busy = True
        try:
            if self.stream.release == NULL:
                batch, self.batch = self.batch, None
                return None if batch is None else self.columns(batch, columns)
            batch = Batch.__new__(Batch)
            with nogil:
                code = self.stream.get_next(&self.stream, &batch.array)
            if code:
                # Nothing was given, whatever is there.
                batch.array.release = NULL
                raise self.failure(code)
            return None if batch.array.release == NULL else self.columns(batch, columns)
        finally:
            self.busy = False

    cdef list columns(self, Batch batch, columns):
        cdef const ArrowArray *array = &batch.array
        cdef Column column
        cdef list found = []
        check_array(array)
        if not all(0 <= i < len(self.types) for i in columns):
            raise IndexError(f"columns {list(columns)} of {len(self.types)}")
        if not self.is_table:
            return [column_of(batch, self.types[i], array, 0, array.length) for i in columns]
        if array.n_children != len(self.types) or (array.n_children > 0 and array.children == NULL):
            raise BadStream(f"a batch of {array.n_children} columns in a table of {len(self.types)}")
        for i in columns:
            column = column_of(batch, self.types[i], array.children[<int64_t>i], array.offset, array.length)
            if array.null_count != 0 and array.n_buffers > 0 and array.buffers != NULL:
                column.layout.outer = <const uint8_t *>array.buffers[0]
                column.layout.outer_first = array.offset
            found.append(column)
        return found


cdef str name_of(const ArrowSchema *schema):
    return "" if schema.name == NULL else (<bytes>schema.name).decode("utf-8", "replace")
