# cython: language_level=3, boundscheck=False, wraparound=False
"""The same search in Cython: cythonize with -I of tieaware.get_include(), which has tieaware.h and tieaware.pxd."""
import numpy as np
from libc.stdint cimport int32_t

from tieaware cimport (
    TIEAWARE_OK, TIEAWARE_WRONG_SIZE, tieaware_evaluator, tieaware_float64, tieaware_functions, tieaware_import,
    tieaware_scores, tieaware_sizes,
)

cdef const tieaware_functions* tieaware = tieaware_import()


def best(evaluator, const double[::1] a, const double[::1] b, int steps):
    """Return (t, value): the mixture (1 - t) a + t b with the highest mean of the evaluator's first measure."""
    cdef tieaware_evaluator prepared = tieaware.prepare(evaluator, 0)
    cdef tieaware_sizes sizes
    cdef double t = 0.0, value = 0.0
    cdef int32_t code = TIEAWARE_WRONG_SIZE
    cdef double[::1] mixed = a.copy()
    tieaware.sizes(prepared, &sizes)
    cdef double[::1] means = np.empty(sizes.n_measures)
    if a.shape[0] == b.shape[0] > 0 and steps > 0:
        with nogil:
            code = search(prepared, a, b, mixed, means, steps, &t, &value)
    tieaware.release(prepared)
    if code != TIEAWARE_OK:
        raise ValueError(tieaware.message(code).decode())
    return t, value


cdef int32_t search(tieaware_evaluator prepared, const double[::1] a, const double[::1] b, double[::1] mixed,
                    double[::1] means, int steps, double* best_t, double* best) noexcept nogil:
    """Try t = 0, 1/steps, …, 1; return a code of tieaware."""
    cdef tieaware_scores scores = tieaware_float64(&mixed[0], mixed.shape[0])
    cdef int step
    cdef int32_t code
    cdef double t
    cdef Py_ssize_t i
    best[0] = -1.0
    for step in range(steps + 1):
        t = <double>step / steps
        for i in range(mixed.shape[0]):
            mixed[i] = (1.0 - t) * a[i] + t * b[i]
        code = tieaware.mean(prepared, &scores, &means[0], means.shape[0])
        if code != TIEAWARE_OK:
            return code
        if means[0] > best[0]:
            best[0], best_t[0] = means[0], t
    return TIEAWARE_OK
