"""The registry of the kernels, and measures in the form that the kernels use.

The registry has the functions of each kernel, under the name that the definitions of measures use for it.
"""
from functools import partial

from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

cimport tieaware.kernels._blended as _blended
cimport tieaware.kernels._cascade as _cascade
cimport tieaware.kernels._compatibility as _compatibility
cimport tieaware.kernels._confusion as _confusion
cimport tieaware.kernels._expected as _expected
cimport tieaware.kernels._gain_reached as _gain_reached
cimport tieaware.kernels._interpolated as _interpolated
cimport tieaware.kernels._nth_relevant as _nth_relevant
cimport tieaware.kernels._numpy as cnp
cimport tieaware.kernels._pairs as _pairs
cimport tieaware.kernels._reading as _reading
cimport tieaware.kernels._spread as _spread
cimport tieaware.kernels._subtopic_spread as _subtopic_spread
cimport tieaware.kernels._subtopics as _subtopics
from tieaware.kernels._measure cimport Extremes, Kernel, Measure, Statistic, WorkspaceSize

cnp.import_array()

cdef int64_t NO_CUTOFF = 0x7fffffffffffffff

cdef enum:
    MOST_KERNELS = 64

cdef Kernel KERNELS[MOST_KERNELS]
cdef dict NUMBERS = {}


cdef Kernel kernel_named(name) except *:
    """Return the kernel with this name; raise ValueError if there is none."""
    if name not in NUMBERS:
        raise ValueError(f"unknown kernel {name!r}; the kernels are {', '.join(NUMBERS)}")
    return KERNELS[<Py_ssize_t>NUMBERS[name]]


cdef int register(str name, Statistic mean, Statistic variance, Extremes extremes=NULL,
                  WorkspaceSize workspace_size=NULL) except -1:
    cdef Py_ssize_t number = len(NUMBERS)
    if number == MOST_KERNELS or name in NUMBERS:
        raise AssertionError(f"kernel {name!r} is already registered, or there are more than {MOST_KERNELS} kernels")
    KERNELS[number].mean = mean
    KERNELS[number].variance = variance
    KERNELS[number].extremes = extremes
    KERNELS[number].workspace_size = workspace_size
    NUMBERS[name] = number
    return 0


register("accuracy", _confusion.mean_of_accuracy, _confusion.variance_of_accuracy)
register("area_under_curve", _pairs.mean_of_pairs, _pairs.variance_of_pairs, _pairs.extremes_of_pairs)
register("average_precision", _expected.average_precision, _spread.average_precision)
register("blended_at_first", _blended.mean_of_first, _blended.variance_of_first)
register("blended_down_to_preferred", _blended.mean_down_to_preferred, _blended.variance_down_to_preferred,
         _blended.extremes_down_to_preferred, _blended.size_down_to_preferred)
register("cascade", _cascade.mean_of_cascade, _cascade.variance_of_cascade, NULL, _cascade.size_of_cascade)
register("cascade_to_ideal", _cascade.mean_of_cascade_to_ideal, _cascade.variance_of_cascade, NULL,
         _cascade.size_of_cascade)
register("compatibility", _compatibility.mean_of_compatibility, _compatibility.variance_of_compatibility, NULL,
         _compatibility.size_of_compatibility)
register("constant", _expected.constant, _spread.none)
register("discounted", _expected.slots, _spread.discounted)
register("discounted_to_ideal", _expected.slots_of_ideal, _spread.discounted)
register("fall_out", _confusion.mean_of_fall_out, _spread.hits)
register("gain_reached", _gain_reached.mean_of_gain_reached, _gain_reached.variance_of_gain_reached,
         _gain_reached.extremes_of_gain_reached, _gain_reached.size_of_gain_reached)
register("greatest_f", _interpolated.mean_of_greatest_f, _interpolated.variance_of_greatest_f, NULL,
         _interpolated.size_of_greatest_f)
register("hits", _expected.hits, _spread.hits)
register("hits_at_r", _expected.hits_at_r, _spread.hits_at_r)
register("inferred_precision", _expected.inferred_precision, _spread.unknown, _spread.unknown_extremes)
register("interpolated", _interpolated.mean_at_recall, _interpolated.variance_at_recall, NULL,
         _interpolated.size_at_recall)
register("interpolated_11", _interpolated.mean_at_eleven_recalls, _interpolated.variance_at_eleven_recalls, NULL,
         _interpolated.size_at_eleven_recalls)
register("inverse_squares", _expected.slots, _spread.inverse_squares)
register("intents_hits", _subtopics.mean_of_intents_hits, _subtopic_spread.variance_of_intents_hits,
         _subtopic_spread.extremes, _subtopic_spread.size_of_intents_hits)
register("intents_precision", _subtopics.mean_of_intents_precision, _subtopic_spread.variance_of_intents_precision,
         _subtopic_spread.extremes, _subtopic_spread.size_of_intents_precision)
register("intents_success", _subtopics.mean_of_intents_success, _subtopic_spread.variance_of_intents_success,
         _subtopic_spread.extremes, _subtopic_spread.size_of_intents_success)
register("novelty", _subtopics.mean_of_novelty, _subtopic_spread.variance_of_novelty,
         _subtopic_spread.extremes, _subtopic_spread.size_of_novelty)
register("patience", _expected.slots, _spread.patience)
register("precision_at_relevant", _nth_relevant.mean_of_precision, _nth_relevant.variance_of_precision)
register("preference", _expected.preference, _spread.preference)
register("q_measure", _expected.q_measure, _spread.q_measure, NULL, _spread.size_of_q_measure)
register("rank", _expected.rank, _spread.search_length)
register("reading", _reading.mean_of_reading, _reading.variance_of_reading, _reading.extremes_of_reading,
         _reading.size_of_reading)
register("reciprocal_rank", _expected.reciprocal_rank, _spread.reciprocal_rank)
register("relevance_when_retrieved", _nth_relevant.relevance_when_retrieved, _nth_relevant.variance_of_precision)
register("residual", _expected.residual, _spread.patience)
register("search_length", _expected.search_length, _spread.search_length)
register("specificity", _confusion.mean_of_specificity, _spread.hits)
register("squared_hits", _expected.squared_hits, _spread.none)
register("success", _expected.success, _spread.success)


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
        A name in the registry.
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
