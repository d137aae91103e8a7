"""The largest possible difference between a sum over hits, such as AP, and its average over the orders inside bands."""
import numpy as np
from libc.stdint cimport int32_t, int64_t

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption

cnp.import_array()


def largest_sums(const int64_t[::1] edges, const double[::1] weights, Py_ssize_t most, bint gain):
    """Find the relevant ranks for which Σ weight(x) hits(x) over the relevant ranks x differs most from its average.

    The average is taken over all orders of the documents inside the bands, and hits(x) counts the relevant documents
    down to rank x. The sum over N is AP if the weight of rank x is 1/x.

    The search is a dynamic program. V[R] is the largest difference that R relevant documents can make in the bands so
    far. The next band starts after t documents and holds n documents, r of them relevant. The new V[R + r] is the
    maximum over R and r of V[R] + best(r, R) - expected(r, R). With the relevant documents first in the band,
    best(r, R) = Σ_{i=1…r} (R + i) w_{t+i}. On average over all orders in the band,
    expected(r, R) = r/n [(R + 1) Σ w_{t+i} + (r - 1)/(n - 1) Σ (i - 1) w_{t+i}], over i = 1 … n. With `gain`, the
    relevant documents come last in the band, and the difference has the opposite sign.

    Parameters
    ----------
    edges : int64[n_bands + 1]
        Band g holds the ranks edges[g] … edges[g + 1] - 1, counted from 0. The edges increase and begin with 0.
    weights : float64[depth]
        The weight of each rank; no weight may exceed the one before. The depth is the last of the edges.
    most : int
        The largest number of relevant documents, at most the depth.
    gain : bool
        True to maximise the average minus the ranking's sum; false to maximise the ranking's sum minus the average.

    Returns
    -------
    float64[most + 1], int32[n_bands, most + 1]
        The largest difference for each number of relevant documents; and the number of relevant documents in each band
        of the best ranking with that number of relevant documents in this band and the bands before it.
    """
    cdef Py_ssize_t n_bands = edges.shape[0] - 1, band, t, n, r, before, total, i
    cdef double sum_of_weights, rest, a, one, linear, part, value
    cdef Interruption interruption = no_interruption()
    v_array, w_array = np.zeros(most + 1), np.zeros(most + 1)
    choices = np.zeros((n_bands, most + 1), dtype=np.int32)
    cdef double[::1] v = v_array, w = w_array
    cdef int32_t[:, ::1] choice = choices
    if weights.shape[0] < edges[n_bands] or most > edges[n_bands]:
        raise ValueError("there are fewer weights than ranks, or fewer ranks than relevant documents")
    with nogil:
        for band in range(n_bands):
            t = edges[band]
            n = edges[band + 1] - t
            for total in range(min(t + n, most) + 1):
                w[total] = v[total] if total <= t else -1.0
            sum_of_weights = rest = 0.0
            for i in range(n):
                sum_of_weights += weights[t + i]
                rest += i * weights[t + i]
            # The term of the ranking is linear in R: R Σ w + Σ i w over the ranks of the r relevant documents.
            one = linear = 0.0
            for r in range(1, min(n, most) + 1):
                if gain:
                    # The new relevant document is placed above the other relevant documents of the band. So each of
                    # these has one more relevant document above it.
                    linear += one + weights[t + n - r]
                    one += weights[t + n - r]
                else:
                    one += weights[t + r - 1]
                    linear += r * weights[t + r - 1]
                a = (r - 1.0) / (n - 1) if n > 1 else 0.0
                if interrupted(&interruption, t + 1):
                    break
                for before in range(min(t, most - r) + 1):
                    # In a band of one document, or of relevant documents alone, the average is the value itself.
                    part = 0.0 if r == n else before * one + linear - r * ((before + 1) * sum_of_weights + a * rest) / n
                    value = v[before] + (-part if gain else part)
                    if value > w[before + r]:
                        w[before + r] = value
                        choice[band, before + r] = <int32_t>r
            v, w = w, v
            if interruption.stopped:
                break
    check_interruption(&interruption)
    return np.asarray(v), choices
