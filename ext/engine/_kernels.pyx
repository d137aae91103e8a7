"""All kernels in one table: a row for each, by the name that measures.py gives it."""
from tieaware.kernels cimport _cascade, _expected, _interpolated, _pairs, _spread
from tieaware.kernels._measure cimport Extremes, Kernel, Statistic, WorkspaceSize

cdef enum:
    MOST_ROWS = 64

cdef Kernel ROWS[MOST_ROWS]
cdef dict NUMBERS = {}


cdef Kernel kernel_named(name) except *:
    if name not in NUMBERS:
        raise ValueError(f"kernel: expected one of {', '.join(NUMBERS)}, found {name!r}")
    return ROWS[<Py_ssize_t>NUMBERS[name]]


cdef int row(str name, Statistic mean, Statistic variance, Extremes extremes=NULL,
             WorkspaceSize workspace_size=NULL) except -1:
    cdef Py_ssize_t number = len(NUMBERS)
    if number == MOST_ROWS or name in NUMBERS:
        raise AssertionError(f"kernel {name!r}: expected a new name, and at most {MOST_ROWS} rows")
    ROWS[number].mean = mean
    ROWS[number].variance = variance
    ROWS[number].extremes = extremes
    ROWS[number].workspace_size = workspace_size
    NUMBERS[name] = number
    return 0


row("area_under_curve", _pairs.mean_of_pairs, _pairs.variance_of_pairs, _pairs.extremes_of_pairs)
row("average_precision", _expected.average_precision, _spread.average_precision)
row("cascade", _cascade.mean_of_cascade, _cascade.variance_of_cascade, NULL, _cascade.size_of_cascade)
row("constant", _expected.constant, _spread.none)
row("discounted", _expected.slots, _spread.discounted)
row("discounted_to_ideal", _expected.slots_of_ideal, _spread.discounted)
row("hits", _expected.hits, _spread.hits)
row("hits_at_r", _expected.hits_at_r, _spread.hits_at_r)
row("inferred_precision", _expected.inferred_precision, _spread.unknown, _spread.unknown_extremes)
row("interpolated", _interpolated.mean_at_recall, _interpolated.variance_at_recall, NULL, _interpolated.size_at_recall)
row("interpolated_11", _interpolated.mean_at_eleven_recalls, _interpolated.variance_at_eleven_recalls, NULL,
    _interpolated.size_at_eleven_recalls)
row("patience", _expected.slots, _spread.patience)
row("preference", _expected.preference, _spread.preference)
row("q_measure", _expected.q_measure, _spread.q_measure, NULL, _spread.size_of_q_measure)
row("reciprocal_rank", _expected.reciprocal_rank, _spread.reciprocal_rank)
row("residual", _expected.residual, _spread.patience)
row("search_length", _expected.search_length, _spread.search_length)
row("squared_hits", _expected.squared_hits, _spread.none)
row("success", _expected.success, _spread.success)
