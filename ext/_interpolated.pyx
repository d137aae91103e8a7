"""Interpolated precision under ties: the mean of a maximum, exact, and polynomial in the sizes of the tied groups.

Precision at the h-th relevant document is h/j, j its rank. Interpolated precision is the greatest h/j from the wanted h
on. Its expectation is an integral of P(max <= v) over v, a step function with steps at the fractions h/j; and since the
groups are independent, P(max <= v) is a product over the groups of the probability that a path stays below a line. A
group of n documents with r relevant ones has up to n r such fractions, and each takes up to n r steps.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from tieaware._groups cimport Groups

# After so many steps, most of a second, the sum is given up.
cdef double MOST_STEPS = 2e8


cdef struct Fraction:
    int64_t top
    int64_t bottom


cdef inline bint less(Fraction a, Fraction b) noexcept nogil:
    """a < b. Ranks are below 2^31, so that no product is too large."""
    return a.top * b.bottom < b.top * a.bottom


cdef inline Fraction fraction(int64_t top, int64_t bottom) noexcept nogil:
    cdef Fraction f
    f.top = top
    f.bottom = bottom
    return f


cdef inline double value_of(Fraction f) noexcept nogil:
    return <double>f.top / <double>f.bottom


cdef int64_t wanted_at(double recall, double n_relevant) noexcept nogil:
    """How many relevant documents reach a recall, rounded as trec_eval 10 does; at least 1."""
    return max(<int64_t>(recall * n_relevant + 0.5), 1)


cdef double stays_below(int64_t t, int64_t n, int64_t r, int64_t before, int64_t wanted, Fraction line,
                        double* work) noexcept nogil:
    """P(h/j <= line for each relevant document of the group that is the wanted or a later one).

    Invariant: after x slots, work[a] is the probability that a relevant documents are among them, none too early.
    """
    cdef int64_t x, a, h, earliest
    cdef double relevant, all_paths = 0.0
    # Where the last document may stand, all may.
    cdef int64_t last = min(n, ((before + r) * line.bottom + line.top - 1) // line.top - t)
    for a in range(r + 1):
        work[a] = 0.0
    work[0] = 1.0
    for x in range(1, last + 1):
        for a in range(min(r, x) - 1, -1, -1):
            relevant = work[a] * (r - a) / (n - x + 1.0)
            work[a] -= relevant
            h = before + a + 1
            earliest = (h * line.bottom + line.top - 1) // line.top - t if h >= wanted else 1
            if x >= earliest:
                work[a + 1] += relevant
        if n - x + 1 <= r:
            # Only relevant documents may be left for those who have placed too few.
            for a in range(r - (n - x)):
                work[a] = 0.0
    for a in range(r + 1):
        all_paths += work[a]
    return all_paths


cdef Moments interpolated_precision(const Groups* groups, const double* weight, int64_t wanted,
                                    double* work) noexcept nogil:
    """Mean and variance of max h/j over h >= wanted; an infinite mean, if that takes too long."""
    cdef Py_ssize_t g
    cdef int64_t t, n, r, h, j, before = 0
    cdef double below, v, above, steps = 0.0, first, second
    cdef Fraction floor = fraction(0, 1), top = fraction(0, 1), line, next_line, candidate
    cdef Moments moments
    for g in range(groups.count):
        t = groups.start[g]
        n = groups.size[g]
        r = <int64_t>weight[g]
        if r > 0 and before + r >= wanted and n > 0:
            # At worst the relevant documents are the last of the group, at best the first; h/j grows with h.
            candidate = fraction(before + r, t + n)
            if less(floor, candidate):
                floor = candidate
            candidate = fraction(before + r, t + r)
            if less(top, candidate):
                top = candidate
        before += r
    first = value_of(top)
    second = first * first
    line = top
    above = first
    while less(floor, line):
        # The next fraction below the line that occurs.
        next_line = floor
        before = 0
        for g in range(groups.count):
            t = groups.start[g]
            n = groups.size[g]
            r = <int64_t>weight[g]
            for h in range(max(before + 1, wanted), before + r + 1):
                j = max(h * line.bottom // line.top + 1, t + h - before)
                if j <= t + n - r + h - before:
                    candidate = fraction(h, j)
                    if less(next_line, candidate):
                        next_line = candidate
            before += r
        below = 1.0
        before = 0
        for g in range(groups.count):
            t = groups.start[g]
            n = groups.size[g]
            r = <int64_t>weight[g]
            if r > 0 and before + r >= wanted and n > r and less(next_line, fraction(before + r, t + r)):
                steps += <double>n * r
                below *= stays_below(t, n, r, before, wanted, next_line, work)
            before += r
        steps += before
        v = value_of(next_line)
        first -= (above - v) * below
        second -= (above - v) * (above + v) * below
        above = v
        line = next_line
        if below < 1e-18:
            break
        if steps > MOST_STEPS:
            first = INFINITY
            break
    moments.mean = first
    moments.variance = max(second - first * first, 0.0)
    return moments
