cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._measure cimport Measure


cdef class KernelMeasure:
    cdef readonly str name
    cdef readonly str refusal
    cdef str kernel
    cdef Measure measure
    cdef cnp.ndarray lookup
    cdef cnp.ndarray squares
    cdef cnp.ndarray of_queries


cdef class Measures:
    cdef readonly Py_ssize_t n
    cdef list kernels
    cdef Measure* structs
