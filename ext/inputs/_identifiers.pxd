from libc.stdint cimport int64_t


# Raise InputError if a list is longer than an index can be, where the documents of query q are in the rows
# list_offsets[q] … list_offsets[q + 1] - 1.
cdef int check_lists(const int64_t *list_offsets, Py_ssize_t n_queries) except -1
