from libc.stdint cimport int64_t, uint8_t

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._interruption cimport Interruption

cdef extern from "engine/noise.h" nogil:
    ctypedef struct tieaware_noise_table:
        const double* table
        double low, per_cell, n_cells
    ctypedef double tieaware_numbers
    ctypedef struct tieaware_polynomial:
        tieaware_numbers* of
        Py_ssize_t low, size
    enum:
        TIEAWARE_AT_ONCE
        TIEAWARE_N_VALUES
    void tieaware_above(const tieaware_noise_table*, const double*, const double*, const double*, Py_ssize_t,
                        Py_ssize_t, double*, double*)


cdef struct Noise:
    tieaware_noise_table table
    # The ends of the window of a document, in sizes of its noise; those of the smaller range in which it is integrated;
    # the first step of trapezoids; and whether the chances have kinks at the ends, so that there is no step.
    double low, high, least, most, step
    bint kinks


cdef struct Form:
    # A measure: whether a relevant document counts as often as there are relevant documents down to it; whether only
    # judged documents have ranks; the weights of the ranks; and by judged document, its gain and the chance that the
    # user goes on after it, NULL if that is 1.
    bint counted
    bint judged_only
    int64_t depth
    const double* slot
    const double* gain
    const double* stays


cdef struct Sum:
    # The state of a measure for a list: the sum so far, its error, and the largest error allowed; the chance that the
    # user goes on after the documents above, and the number of relevant documents among these.
    double total, error, tolerance
    double goes_on, relevant
    # The last two before the island; and the sums over the nodes of trapezoids by their number modulo 4: 0, 2, odd.
    double gone_on, found
    double fourth, second, odd


cdef struct Work:
    const Noise* noise
    const Form* forms
    Sum* sums
    # The largest error of a value of 1.
    double tolerance
    Py_ssize_t n_forms
    bint some_judged_only
    Interruption* interruption
    # By document of the list: its score and the size of its noise, 1/size or 0, its place and its window relative to
    # the island, the row of its weights, or -1, and whether it is judged. The order is descending by the upper end of
    # the window.
    double* score
    double* size
    double* inverse
    double* place
    double* low
    double* high
    int64_t* row
    uint8_t* judged
    cnp.npy_intp* order
    cnp.npy_intp* spare
    double* key
    # The active documents, whose windows reach into the panel: first those that have no weight and are judged, then
    # those that have no weight and are not, and then the `n_weighted` weighted ones. The arrays after `n_plain` have a
    # number for each active document, or, if they are chances or densities, one for each node of those at once.
    cnp.npy_intp* active
    cnp.npy_intp* gathered
    Py_ssize_t n_active, n_judged, n_plain
    double* near
    double* per_size
    double* chance
    double* density
    # The number of documents that are surely above, and the number of judged documents among them.
    int64_t above, judged_above
    # True if the other documents reach a rank within a cut-off only with a negligible chance.
    bint spent
    # The trapezoids: the distance of the nodes, and the place of node 0.
    double step, origin
    # The number of weighted documents, and the sum of the widths of their windows.
    double n_weighted, width
    # The products of the documents without a weight, and of the judged ones of these; room for one of a measure's own;
    # and A and B.
    tieaware_polynomial common
    tieaware_polynomial common_judged
    tieaware_polynomial own
    tieaware_numbers* a
    tieaware_numbers* b
    # values[m * TIEAWARE_N_VALUES + i]: the integrand of measure m at node i; sums and differences of the rules.
    double* values
    double* rule
    double* change


cdef inline bint is_weighted(const Work* w, Py_ssize_t i) noexcept nogil:
    return w.row[i] >= 0


cdef inline int64_t ranked_above(const Work* w, Py_ssize_t m) noexcept nogil:
    return w.judged_above if w.forms[m].judged_only else w.above


cdef void at_nodes(Work* w, const double* x, bint point, double* values) noexcept nogil
cdef int64_t deepest(const Work* w) noexcept nogil
