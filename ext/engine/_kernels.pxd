from tieaware.kernels._measure cimport Kernel


# Return the kernel that a measure's definition names; ValueError if there is none.
cdef Kernel kernel_named(name) except *
