"""Measures in the form that the kernels use."""
from functools import partial

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._kernels cimport kernel_named
from tieaware.kernels._measure cimport Measure

cnp.import_array()

cdef int64_t NO_CUTOFF = 0x7fffffffffffffff


cdef const double* data_of(cnp.ndarray array) except? NULL:
    """Return a pointer to the data of a float64 array, valid while the array exists; NULL for None."""
    return <const double*>cnp.PyArray_DATA(array) if array is not None else NULL


cdef class Notation:
    """The notation of a `tieaware.measures.Measure`, which is the only subclass, and its comparison and hash."""
    cdef public str _text

    def __eq__(self, other):
        if self is other:
            return True
        if not isinstance(other, Notation):
            return NotImplemented
        return self._text == (<Notation>other)._text and self.definition is other.definition

    def __hash__(self):
        return hash(self._text)


cdef class KernelMeasure:
    """A measure in the form that the kernels use: a kernel, weightings and numbers. Immutable.

    Parameters
    ----------
    name : str
        The name of the measure in error messages.
    refusal : str, optional
        The error message for a query whose value the kernel refuses to compute.
    kernel : str
        A name in the registry of _kernels.pyx.
    weighting, n_weightings : int
        The index of the first of the adjacent weightings that the measure uses, and their number.
    squared_weighting : int
        The index of the weighting whose weights are the squares of the first weighting's weights.
    cutoff : int, optional
    measure_number : float
        The parameter of the measure that the kernel needs, such as the recall of IPrec; 0 if the kernel needs none.
    judged_only, less_is_better, always_defined, geometric : bool
        See _measure.pxd.
    lookup, squares, of_queries : float64 array, optional
        See _measure.pxd; C-contiguous.
    """
    def __init__(self, *, str name not None, str refusal=None, str kernel not None, int weighting, int n_weightings,
                 int squared_weighting, cutoff=None, double measure_number, bint judged_only, bint less_is_better,
                 bint always_defined, bint geometric, cnp.ndarray lookup=None, cnp.ndarray squares=None,
                 cnp.ndarray of_queries=None):
        self.name, self.refusal, self.kernel = name, refusal, kernel
        self.lookup, self.squares, self.of_queries = lookup, squares, of_queries
        self.measure.kernel = kernel_named(kernel)
        self.measure.weighting = weighting
        self.measure.n_weightings = n_weightings
        self.measure.squared_weighting = squared_weighting
        self.measure.cutoff = NO_CUTOFF if cutoff is None else cutoff
        self.measure.measure_number = measure_number
        self.measure.judged_only = judged_only
        self.measure.less_is_better = less_is_better
        self.measure.always_defined = always_defined
        self.measure.geometric = geometric
        self.measure.lookup = data_of(lookup)
        self.measure.squares = data_of(squares)
        self.measure.of_queries = data_of(of_queries)

    @property
    def weighting(self):
        return self.measure.weighting

    @property
    def n_weightings(self):
        return self.measure.n_weightings

    def with_lookup(self, cnp.ndarray lookup, cnp.ndarray squares, cnp.ndarray of_queries=None):
        """Return a copy of this measure with other lookup arrays."""
        cdef KernelMeasure other = KernelMeasure.__new__(KernelMeasure)
        other.name, other.refusal, other.kernel = self.name, self.refusal, self.kernel
        other.lookup, other.squares, other.of_queries = lookup, squares, of_queries
        other.measure = self.measure
        other.measure.lookup = data_of(lookup)
        other.measure.squares = data_of(squares)
        other.measure.of_queries = data_of(of_queries)
        return other

    def __reduce__(self):
        cdef const Measure* known = &self.measure
        return partial(
            KernelMeasure, name=self.name, refusal=self.refusal, kernel=self.kernel, weighting=known.weighting,
            n_weightings=known.n_weightings, squared_weighting=known.squared_weighting,
            cutoff=None if known.cutoff == NO_CUTOFF else known.cutoff, measure_number=known.measure_number,
            judged_only=known.judged_only, less_is_better=known.less_is_better, always_defined=known.always_defined,
            geometric=known.geometric, lookup=self.lookup, squares=self.squares, of_queries=self.of_queries,
        ), ()


cdef class Measures:
    """Several measures in one C array for the engine, a copy of the struct of each `KernelMeasure`. Immutable."""

    def __cinit__(self, list kernels not None):
        cdef Py_ssize_t i
        self.n = len(kernels)
        self.kernels = kernels
        self.structs = <Measure*>malloc(max(self.n, 1) * sizeof(Measure))
        if self.structs == NULL:
            raise MemoryError("no memory for the measures")
        for i in range(self.n):
            self.structs[i] = (<KernelMeasure?>kernels[i]).measure

    def __dealloc__(self):
        free(self.structs)

    def __reduce__(self):
        return Measures, (self.kernels,)
