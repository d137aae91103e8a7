from libc.stdint cimport int64_t, uint8_t


cdef enum Kind:
    # OTHER is any type that cannot be read.
    OTHER, NULLS, BOOLEAN
    INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64
    FLOAT16, FLOAT32, FLOAT64
    # Bytes between offsets of 32 or 64 bits, in views, or of a fixed width.
    TEXT32, TEXT64, VIEWS, FIXED
    DICTIONARY


# The buffers of a column. Row i of the column is element first + i of the buffers.
cdef struct Layout:
    Kind kind
    int64_t n, first, width
    # Bits that are set where a value is present, of the column and of the table that contains it. NULL: none is missing.
    const uint8_t *valid
    const uint8_t *outer
    int64_t outer_first
    # The first buffer of the values: numbers, fixed-width values, offsets, views or bits.
    const uint8_t *values
    # The bytes into which offsets point, or the buffers into which views point and their sizes.
    const uint8_t *data
    const void **buffers
    const int64_t *sizes
    int64_t n_data
    # The values of a dictionary, whose indices are integers of `width` bytes.
    bint is_signed
    const Layout *dictionary


cdef class Column:
    cdef Layout layout
    # The object that owns the memory.
    cdef object owner
    cdef Column dictionary
    # The name of the type, and the kind of values: "text", "integer", "number", "null" or "other".
    cdef readonly str type
    cdef readonly str holds

    cdef check(self, int64_t start, int64_t stop)
    cdef tuple gathered(self, int64_t start, const int64_t *rows, int64_t n)


# The NumPy type of a kind of numbers, None for other kinds; and the kind of values as a word, as in Column.holds.
cdef object dtype_of(Kind kind)
cdef str what_holds(Kind kind)
