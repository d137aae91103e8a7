# Convert a number that `read_score` left for later, with the function that Python uses, in any locale. Return whether
# float64 represents the number: see ROUNDED in _decimal.pxd.
cdef bint convert_exactly(bytes number, double *value) except -1
