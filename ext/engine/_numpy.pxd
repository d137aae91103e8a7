"""The part of NumPy's C interface that the kernels use.

Cython reads declarations again for every kernel. NumPy's own take it longer than most kernels, and make every kernel
import twenty classes.
"""

cdef extern from "Python.h":
    void Py_INCREF(object)

cdef extern from "numpy/arrayobject.h":
    ctypedef Py_ssize_t npy_intp
    ctypedef unsigned char npy_bool
    ctypedef unsigned char npy_uint8

    ctypedef enum NPY_TYPES:
        NPY_UINT8
        NPY_INT32
        NPY_UINT32
        NPY_INT64
        NPY_UINT64
        NPY_FLOAT
        NPY_DOUBLE

    ctypedef enum NPY_SORTKIND:
        NPY_QUICKSORT
        NPY_MERGESORT

    enum:
        NPY_ARRAY_WRITEABLE

    ctypedef struct PyArray_Descr:
        char kind

    ctypedef class numpy.ndarray [object PyArrayObject, check_size ignore]:
        @property
        cdef inline int ndim(self) noexcept nogil:
            return PyArray_NDIM(self)

        @property
        cdef inline npy_intp *shape(self) noexcept nogil:
            return PyArray_DIMS(self)

        @property
        cdef inline npy_intp size(self) noexcept nogil:
            return PyArray_SIZE(self)

    int _import_array() except -1

    PyArray_Descr *PyArray_DESCR(ndarray) nogil
    void *PyArray_DATA(ndarray) nogil
    npy_intp *PyArray_DIMS(ndarray) nogil
    npy_intp PyArray_DIM(ndarray, size_t) nogil
    npy_intp PyArray_SIZE(ndarray) nogil
    npy_intp PyArray_ITEMSIZE(ndarray) nogil
    int PyArray_NDIM(ndarray) nogil
    int PyArray_TYPE(ndarray) nogil
    bint PyArray_IS_C_CONTIGUOUS(ndarray) nogil
    bint PyArray_ISALIGNED(ndarray) nogil
    bint PyArray_ISNOTSWAPPED(ndarray) nogil
    bint PyArray_ISSIGNED(ndarray) nogil
    bint PyArray_ISWRITEABLE(ndarray) nogil
    void PyArray_CLEARFLAGS(ndarray, int flags) nogil

    bint PyArray_Check(object)
    bint PyArray_CheckExact(object)
    object PyArray_EMPTY(int n_dims, npy_intp *shape, int type, int fortran)
    object PyArray_ZEROS(int n_dims, npy_intp *shape, int type, int fortran)
    object PyArray_SimpleNewFromData(int n_dims, npy_intp *shape, int type, void *data)
    # It takes over the caller's reference to `base`.
    int PyArray_SetBaseObject(ndarray, object base) except -1


cdef inline int set_array_base(ndarray array, object base) except -1:
    Py_INCREF(base)
    return PyArray_SetBaseObject(array, base)


cdef inline int import_array() except -1:
    return _import_array()
