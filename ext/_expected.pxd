from tieaware._measure cimport Kernel


# By the name that measures.py gives it.
cdef Kernel expectation_of(str kernel) except NULL
