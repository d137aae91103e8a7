from libc.stdint cimport int64_t, uint8_t


cdef enum Kind:
    # OTHER is every type that cannot be read. In a column of type NULLS, all values are missing.
    OTHER, NULLS, BOOLEAN
    INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64
    FLOAT16, FLOAT32, FLOAT64
    # Text or bytes: TEXT32 and TEXT64 have offsets of 32 and 64 bits, VIEWS has Arrow views, and in FIXED all values
    # have the same number of bytes.
    TEXT32, TEXT64, VIEWS, FIXED
    DICTIONARY


# The buffers of a column in Arrow layout. Row i of the column is element `first` + i of the buffers. `n` is the number
# of rows. `width` is the number of bytes of a value, or 0 if the values are bits or differ in length.
cdef struct Layout:
    Kind kind
    int64_t n, first, width
    # For TEXT32 and TEXT64: the index of the last offset, beyond which no text ends.
    int64_t last
    # Bit masks of the rows that have a value: `valid` of the column, `outer` of the table that contains it. A row has a
    # value if its bit is set in both. A mask that is NULL stands for a mask whose bits are all set.
    const uint8_t *valid
    const uint8_t *outer
    int64_t outer_first
    # The contents depend on `kind`. For TEXT32 and TEXT64, they are the offsets of the texts in `data`; for VIEWS, the
    # Arrow views; for DICTIONARY, indices in `dictionary`; for all other kinds, the values of the column themselves.
    const uint8_t *values
    # `data` contains the bytes into which offsets point. The buffers into which views point are buffers[2] to
    # buffers[2 + n_data - 1], and `sizes` are their sizes.
    const uint8_t *data
    const void **buffers
    const int64_t *sizes
    int64_t n_data
    # For kind DICTIONARY, `dictionary` is a column of the distinct values, and each index in it is an integer of
    # `width` bytes, signed if `is_signed`.
    bint is_signed
    const Layout *dictionary


cdef class Column:
    cdef Layout layout
    # The Python object that owns the memory of the buffers: the reference keeps the memory allocated.
    cdef object owner
    cdef Column dictionary
    # `type` is the name of the type for messages. `holds` is what the values are: "text", "integer", "number" (bool or
    # float), "null" (all missing) or "other" (not readable).
    cdef readonly str type
    cdef readonly str holds

    cdef check(self, int64_t start, int64_t stop)
    cdef tuple gathered(self, int64_t start, const int64_t *rows, int64_t n)


# dtype_of returns the NumPy type of a kind of numbers, and None for other kinds. what_holds returns the word that
# Column.holds has for a kind.
cdef object dtype_of(Kind kind)
cdef str what_holds(Kind kind)
