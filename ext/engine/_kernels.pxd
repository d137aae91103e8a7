from tieaware.kernels._measure cimport Kernel


# The row of a kernel, by the name that measures.py gives it; ValueError if there is none.
cdef Kernel kernel_named(name) except *
