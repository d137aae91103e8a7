"""A reader of tables that another library (the producer) exports through the Arrow C stream interface.

A stream has a schema and then batches of columns. Each column consists of a few buffers. The producer passes the stream
as a C structure in a PyCapsule. The memory of a structure is freed by calling its `release` function exactly once. So
code that copies a structure out of a capsule also sets `release` in the capsule to NULL.

The types of the columns and the numbers of buffers and rows of each batch are checked before the buffers are read.
The docstring of _buffers.pyx describes how the values in the buffers are checked.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memset, strcmp

from tieaware.kernels._buffers cimport (
    BOOLEAN, DICTIONARY, FIXED, FLOAT16, FLOAT32, FLOAT64, INT8, INT16, INT32, INT64, NULLS, OTHER, TEXT32, TEXT64,
    UINT8, UINT16, UINT32, UINT64, VIEWS, Column, Kind, Layout, dtype_of, what_holds,
)

cdef extern from "inputs/arrow.h" nogil:
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

# The largest accepted offset or length of an array. Even an array of bits would take 32 TiB beyond this limit, and the
# sum of two numbers within it does not overflow int64.
cdef int64_t LARGEST = <int64_t>1 << 48


class BadStream(Exception):
    """The library that exports the data failed, or its data does not have the layout that Arrow requires."""


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


cdef class Type:
    """The type of a column, read from the schema."""

    cdef Kind kind
    cdef Py_ssize_t width
    # The type of the dictionary values if the column is dictionary-encoded; otherwise None.
    cdef Type values
    cdef str name
    # The kind of values: "text", "integer", "number" (bool or float), "null" (all missing) or "other" (not readable).
    cdef str holds
    cdef bint is_signed


cdef Type type_of(const ArrowSchema *schema):
    cdef Type self = Type.__new__(Type)
    cdef bytes form
    if schema == NULL or schema.format == NULL:
        raise BadStream("the schema has no format")
    form = schema.format
    self.kind = KINDS.get(form, OTHER)
    self.name = NAMES.get(form) or form.decode("utf-8", "replace")
    self.width = 0
    self.is_signed = form in (b"c", b"s", b"i", b"l")
    if INT8 <= self.kind <= FLOAT64:
        self.width = dtype_of(self.kind).itemsize
    if form.startswith(b"w:") and form[2:].isdigit() and len(form) < 13 and int(form[2:]) < 1 << 31:
        self.kind = FIXED
        self.width = int(form[2:])
        self.name = f"fixed_size_binary[{self.width}]"
    self.holds = what_holds(self.kind)
    if schema.dictionary != NULL:
        if not INT8 <= self.kind <= UINT64:
            raise BadStream("the indices of a dictionary are not integers")
        if schema.dictionary.dictionary != NULL:
            self.kind, self.name, self.holds = OTHER, "dictionary of dictionaries", "other"
            return self
        self.kind = DICTIONARY
        self.values = type_of(schema.dictionary)
        self.name = f"dictionary of {self.values.name}"
        self.holds = self.values.holds
    return self


cdef class Batch:
    """The Arrow array of a batch. Every column refers to this object, so its memory is not freed before the columns."""

    cdef ArrowArray array

    def __cinit__(self):
        self.array.release = NULL

    def __dealloc__(self):
        if self.array.release != NULL:
            with nogil:
                self.array.release(&self.array)


cdef Column column_of(Batch owner, Type kind, const ArrowArray *array, int64_t skipped, int64_t n):
    """Make a column from an Arrow array of type `kind`: its rows are the elements skipped … skipped + n - 1."""
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
        raise BadStream(f"a column has {array.length} rows in a table of {skipped + n} rows")
    layout.n = n
    layout.first = array.offset + skipped
    layout.last = array.offset + array.length
    layout.width = kind.width
    layout.is_signed = kind.is_signed
    if kind.kind == OTHER or kind.kind == NULLS or n == 0:
        return column
    wanted = 3 if TEXT32 <= kind.kind <= VIEWS else 2
    if array.buffers == NULL or array.n_buffers < wanted or (array.n_buffers > wanted and kind.kind != VIEWS):
        raise BadStream(f"a column of {kind.name} has {array.n_buffers} buffers, not {wanted}")
    if array.null_count != 0:
        layout.valid = <const uint8_t *>array.buffers[0]
    layout.values = <const uint8_t *>array.buffers[1]
    if layout.values == NULL and not (kind.kind == FIXED and kind.width == 0):
        raise BadStream(f"a column of {kind.name} has no values")
    if kind.kind == VIEWS:
        # A view points into one of several data buffers. The last buffer contains the sizes of these data buffers.
        layout.buffers = array.buffers
        layout.n_data = array.n_buffers - 3
        layout.sizes = <const int64_t *>array.buffers[array.n_buffers - 1]
        if layout.sizes == NULL and layout.n_data > 0:
            raise BadStream(f"a column of {kind.name} has no sizes of its data buffers")
    elif wanted == 3:
        layout.data = <const uint8_t *>array.buffers[2]
    if kind.kind == DICTIONARY:
        check_array(array.dictionary)
        column.dictionary = column_of(owner, kind.values, array.dictionary, 0, array.dictionary.length)
        layout.dictionary = &column.dictionary.layout
    return column


cdef check_array(const ArrowArray *array):
    if array == NULL or array.release == NULL:
        raise BadStream("an array was already released")
    if not (0 <= array.length <= LARGEST and 0 <= array.offset <= LARGEST):
        raise BadStream(f"an array has length {array.length} and offset {array.offset}")


cdef object released(bytes name):
    return BadStream(f"the capsule {name.decode()} was already used")


cdef class Stream:
    """A reader of the batches of a table.

    The constructor takes either a single PyCapsule with an ArrowArrayStream, or two PyCapsules with an ArrowSchema and
    an ArrowArray, which is then the only batch.

    Attributes
    ----------
    names : tuple of str
        The names of the columns. An array that is not a table is read as a table with a single column named "".
    """

    cdef ArrowArrayStream stream
    cdef readonly tuple names
    cdef tuple types
    cdef bint is_table, busy
    # The only batch if the table was passed as a schema and an array; None after the batch was read.
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
            # The schema is not released here, because the destructor of its capsule does that.
            self.describe(schema)

    def __dealloc__(self):
        if self.stream.release != NULL:
            with nogil:
                self.stream.release(&self.stream)

    cdef describe(self, const ArrowSchema *schema):
        cdef int64_t i
        cdef list types = [], names = []
        if schema.release == NULL or schema.format == NULL:
            raise BadStream("the schema was already released")
        self.is_table = strcmp(schema.format, "+s") == 0
        if not self.is_table:
            self.names = ("",)
            self.types = (type_of(schema),)
            return
        if schema.n_children < 0 or (schema.n_children > 0 and schema.children == NULL):
            raise BadStream(f"the table has {schema.n_children} columns")
        for i in range(schema.n_children):
            types.append(type_of(schema.children[i]))
            names.append(name_of(schema.children[i]))
        self.types, self.names = tuple(types), tuple(names)

    cdef object failure(self, int code):
        cdef const char *text = NULL
        with nogil:
            if self.stream.get_last_error != NULL:
                text = self.stream.get_last_error(&self.stream)
        message = "" if text == NULL else (<bytes>text).decode("utf-8", "replace")
        return BadStream(" ".join(message.split()) or f"the producer failed with error {code} and no message")

    def read(self, columns):
        """Read the next batch; return the requested columns of it, or None at the end of the table.

        Parameters
        ----------
        columns : sequence of int
            The indices of the columns to return.
        """
        cdef Batch batch
        cdef int code
        if self.busy:
            raise BadStream("another thread is reading this stream")
        self.busy = True
        try:
            if self.stream.release == NULL:
                batch, self.batch = self.batch, None
                return None if batch is None else self.columns(batch, columns)
            batch = Batch.__new__(Batch)
            with nogil:
                code = self.stream.get_next(&self.stream, &batch.array)
            if code:
                # After an error the array is undefined. With NULL as `release`, the destructor does not release it.
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
            raise IndexError(f"columns {list(columns)} are out of range for {len(self.types)} columns")
        if not self.is_table:
            for i in columns:
                found.append(column_of(batch, self.types[i], array, 0, array.length))
            return found
        if array.n_children != len(self.types) or (array.n_children > 0 and array.children == NULL):
            raise BadStream(f"a batch has {array.n_children} columns in a table of {len(self.types)} columns")
        for i in columns:
            column = column_of(batch, self.types[i], array.children[<int64_t>i], array.offset, array.length)
            if array.null_count != 0 and array.n_buffers > 0 and array.buffers != NULL:
                column.layout.outer = <const uint8_t *>array.buffers[0]
                column.layout.outer_first = array.offset
            found.append(column)
        return found


cdef str name_of(const ArrowSchema *schema):
    return "" if schema.name == NULL else (<bytes>schema.name).decode("utf-8", "replace")
