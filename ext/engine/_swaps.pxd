from libc.stdint cimport int64_t


cdef enum Family:
    OF_SLOTS = 0
    OF_AP = 1
    OF_RR = 2


cdef struct Group:
    # A tie group: the number of documents above it, its size, its documents with a gain, and those above it.
    int64_t t, n, r, above
    # The change by swapping two of its documents, and the numbers for its documents without a gain and with one.
    double inside
    double head[2]
    double share[2]
    double tail[2]


cdef struct Model:
    # The weights of the slots (0 from `depth` on), the truncation level, and the parameters of the loss.
    const double* weight
    int64_t depth, truncation
    double sigma
    bint normalised
    Family family


# Fill in `inside`, `head`, `share` and `tail` of all groups; return how many groups can hold the upper document of a
# pair.
cdef Py_ssize_t fill_in(Model* model, Group* group, Py_ssize_t n_groups) noexcept nogil
