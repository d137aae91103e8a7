from tieaware._measure cimport Extremes, Kernel


# By the name that measures.py gives the kernel. The extremes are NULL, where they are those of the orders by label.
cdef Kernel variance_of(str kernel) except NULL
cdef Extremes extremes_of(str kernel) except? NULL
