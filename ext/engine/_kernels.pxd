from tieaware.kernels._measure cimport Kernel


# Return the kernel with this name; raise ValueError if there is none.
cdef Kernel kernel_named(name) except *
