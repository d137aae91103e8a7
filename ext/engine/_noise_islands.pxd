cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._noise_nodes cimport Work


cdef bint add_islands(Work* w, Py_ssize_t n) noexcept nogil
cdef void sort_down(double* key, cnp.npy_intp* order, cnp.npy_intp* spare, cnp.npy_intp* moved,
                    Py_ssize_t n) noexcept nogil
