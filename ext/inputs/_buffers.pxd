from libc.stdint cimport int64_t, uint8_t


cdef enum Kind:
    # Of another type, which can only be left unread.
    OTHER, NULLS, BOOLEAN
    INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64
    FLOAT16, FLOAT32, FLOAT64
    # Bytes: between offsets of 32 or 64 bits, in views, or all of one width.
    TEXT32, TEXT64, VIEWS, FIXED
    DICTIONARY


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


cdef class Column:
    cdef Layout layout
    # What owns the memory.
    cdef object owner
    cdef Column dictionary
    # The name of its type, and what it holds: "text", "integer", "number", "null" or "other".
    cdef readonly str type
    cdef readonly str holds

    cdef check(self, int64_t start, int64_t stop)
    cdef tuple gathered(self, int64_t start, const int64_t *rows, int64_t n)


# The NumPy type of numbers of a kind, None for other kinds; and what such a column holds.
cdef object dtype_of(Kind kind)
cdef str what_holds(Kind kind)
