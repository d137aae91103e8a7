cimport cython
from libc.stdint cimport int32_t, int64_t

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._coarsening cimport KernelCoarsening, Rounding
from tieaware.kernels._groups cimport Groups, GroupingScratch, PreparedLists
from tieaware.kernels._interruption cimport Interruption
from tieaware.kernels._kernel_measures cimport Measures
from tieaware.kernels._means cimport Mean
from tieaware.kernels._measure cimport Measure, Query
from tieaware.kernels._places cimport Bands


# The contents of the array of scores: float64, float32, or the counts of the weighted documents.
cdef enum Form:
    DOUBLES
    FLOATS
    COUNTS


# The working memory of one call, used for one query after another, and the reason why the call stops early, if any.
cdef struct Workspace:
    GroupingScratch* grouping
    # Working memory for the kernels: `size` numbers.
    double* numbers
    int64_t size
    # The coarse scores of a list, and whether they are float32 instead of float64; NULL if scores are not coarsened.
    void* coarse
    bint single
    # Working memory for coarsening, in the same allocation.
    void* memory
    # The scores that were coarsened last, if all lists share their scores; else NULL.
    const void* coarsened
    Interruption interruption
    # True if an allocation failed.
    bint exhausted
    # The measure whose kernel refused to compute a value because that would take too long; NULL if there is none.
    const Measure* refused
    # True if the call has to stop because it was interrupted, an allocation failed, or a kernel refused.
    bint failed


@cython.final
cdef class Engine:
    cdef PreparedLists lists
    cdef Measures measures
    cdef tuple arrays
    cdef readonly Py_ssize_t n_measures
    cdef const Measure* measure
    cdef const double* norms
    cdef const double* query_numbers
    cdef const int64_t* lookup_starts
    cdef const int64_t* judged_lengths
    cdef double undefined
    cdef int judged
    cdef bint shared_scores
    # The number of scores of a call, and that of the longest list.
    cdef Py_ssize_t n_scores
    cdef Py_ssize_t longest
    cdef KernelCoarsening coarsening
    # How scores are coarsened; NULL if they are not.
    cdef const Rounding* rounding
    cdef cnp.ndarray carries
    cdef const int32_t* carry
    cpdef Py_ssize_t evaluate(self, cnp.ndarray scores, cnp.ndarray out, Py_ssize_t first, Py_ssize_t last) except -2
    cdef void write_banded(self, Py_ssize_t query, const Groups* ranked, Bands bands, int placement, bint spread,
                           Groups* banded, Groups* best, Groups* worst, Workspace* workspace,
                           double* values) noexcept nogil
    cdef bint have_one_order(self, const Groups* tied) noexcept nogil
    cdef void write_extremes(self, Py_ssize_t query, const Groups* tied, Groups* best, Groups* worst,
                             Workspace* workspace, double* mean, Py_ssize_t n_values) noexcept nogil
    cdef Py_ssize_t write_values(self, const char* scores, Form form, Groups* groups, Workspace* workspace,
                                 double* values, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef Py_ssize_t write_spreads(self, const char* scores, Form form, Groups* tied, Groups* best, Groups* worst,
                                  Workspace* workspace, double* means, Py_ssize_t first,
                                  Py_ssize_t last) noexcept nogil
    cdef Py_ssize_t write_mean(self, const char* scores, Form form, Groups* groups, Workspace* workspace,
                               double* values, Mean* sums, double* means) noexcept nogil
    cdef bint evaluate_query(self, Py_ssize_t query, const char* scores, Form form, Groups* groups,
                             Workspace* workspace, double* values) noexcept nogil
    cdef bint write_groups(self, Py_ssize_t query, const char* scores, Form form, Groups* groups,
                           Workspace* workspace) noexcept nogil
    cdef bint write_coarse(self, Py_ssize_t query, const char* scores, bint single,
                           Workspace* workspace) noexcept nogil
    cdef void write_condensed(self, Groups* groups) noexcept nogil
    cdef void carry_digits(self, Groups* groups) noexcept nogil
    cdef void write_means(self, Py_ssize_t query, const Groups* groups, Workspace* workspace,
                          double* values) noexcept nogil
    cdef double mean_of(self, Py_ssize_t query, Py_ssize_t i, const Groups* groups, Workspace* workspace) noexcept nogil
    cdef void write_spread(self, Py_ssize_t query, const Groups* tied, Workspace* workspace, double* mean,
                           Py_ssize_t n_values) noexcept nogil
    cdef Query view_of(self, Py_ssize_t query, Py_ssize_t i, const Groups* groups) noexcept nogil
    cdef int check(self, Workspace* workspace) except -1
    cdef Groups* begin(self, Workspace* workspace) except NULL
    cdef Groups* open(self, Workspace* workspace) noexcept nogil
    cdef Groups* new_groups(self) noexcept nogil


cdef void end(Workspace* workspace, Groups* groups) noexcept nogil
cdef void release(Groups* groups) noexcept nogil
