"""The largest possible difference between the AP of a ranking and its average over the orders inside bands of ranks."""
cimport numpy as cnp
import numpy as np
from libc.stdint cimport int32_t, int64_t

from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption

cnp.import_array()


def average_precision(const int64_t[::1] starts, Py_ssize_t depth, bint gain):
    """Find a ranking of relevant and nonrelevant documents whose AP differs most from its average over the bands.

    The search is a dynamic program. V[R] is the largest sum of differences that R relevant documents can make in the
    bands so far, without the division of AP by the number N of relevant documents. The next band starts after t
    documents and holds n documents, r of them relevant. The new V[R + r] is the maximum over R and r of
    V[R] + best(r, R) - expected(r, R). With the relevant documents first in the band,
    best(r, R) = Σ_{i=1…r} (R + i) / (t + i). On average over all orders in the band,
    expected(r, R) = r/n [(R + 1) ΔH + a (n - (t + 1) ΔH)], where a = (r - 1)/(n - 1) and ΔH = Σ_{i=1…n} 1/(t + i). With
    `gain`, the relevant documents come last in the band, and the difference has the opposite sign. The result is the
    largest V[N] / N.

    Parameters
    ----------
    starts : int64[n_bands]
        The first rank of each band, from 1.
    depth : int
        The number of ranks.
    gain : bool
        True to maximise the average minus the ranking's AP; false to maximise the ranking's AP minus the average.

    Returns
    -------
    float, int8[depth]
        The largest difference, and the ranking that has it: 1 for each rank with a relevant document, else 0.
    """
    cdef Py_ssize_t n_bands = starts.shape[0], band, t, n, r, before, total
    cdef double harmonic, rest, a, one, linear, part, value
    cdef bint better
    cdef Interruption interruption = no_interruption()
    best = np.full(depth + 1, -np.inf)
    following = np.empty(depth + 1)
    cdef double[::1] v = best, w = following
    chosen = np.zeros((n_bands, depth + 1), dtype=np.int32)
    cdef int32_t[:, ::1] choice = chosen
    v[0] = 0.0
    with nogil:
        for band in range(n_bands):
            t = starts[band] - 1
            n = (starts[band + 1] - 1 if band + 1 < n_bands else depth) - t
            for total in range(t + n + 1):
                w[total] = v[total] if total <= t else -1.0
            harmonic = rest = 0.0
            for r in range(1, n + 1):
                harmonic += 1.0 / (t + r)
                # `rest` is n - (t+1) ΔH, computed without cancellation as Σ (i-1) / (t+i).
                rest += (r - 1.0) / (t + r)
            # The ranking's contribution is linear in R: R Σ 1/j + Σ i/j over the ranks j of the r relevant documents.
            one = linear = 0.0
            for r in range(1, n + 1):
                if gain:
                    # The new relevant document is placed above the other relevant documents of the band. So each of
                    # these has one more relevant document above it.
                    linear += one + 1.0 / (t + n - r + 1)
                    one += 1.0 / (t + n - r + 1)
                else:
                    one += 1.0 / (t + r)
                    linear += <double>r / (t + r)
                a = (r - 1.0) / (n - 1) if n > 1 else 0.0
                if interrupted(&interruption, t + 1):
                    break
                for before in range(t + 1):
                    # In a band of one document, the average is the value itself.
                    part = 0.0 if n == 1 else before * one + linear - r * ((before + 1) * harmonic + a * rest) / n
                    value = v[before] + (-part if gain else part)
                    better = value > w[before + r]
                    if better:
                        w[before + r] = value
                        choice[band, before + r] = <int32_t>r
            v, w = w, v
            if interruption.error != NULL:
                break
    check_interruption(&interruption)
    counts = np.asarray(v)[1:] / np.arange(1, depth + 1)
    labels = np.zeros(depth, dtype=np.int8)
    if depth == 0 or not counts.max() > 0.0:
        return 0.0, labels
    total = int(np.argmax(counts)) + 1
    largest = float(counts[total - 1])
    for band in range(n_bands - 1, -1, -1):
        t = starts[band] - 1
        n = (starts[band + 1] - 1 if band + 1 < n_bands else depth) - t
        r = choice[band, total]
        if r:
            labels[t + n - r if gain else t:t + n if gain else t + r] = 1
        total -= r
    return largest, labels
