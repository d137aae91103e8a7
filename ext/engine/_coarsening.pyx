"""Coarsening of scores: rounding to binary formats, decimals, significant digits and levels, bands of ranks, near ties.

The loops that round are in coarsening.h. They round all scores but a few, such as 1e-30 to three significant digits.
Those are converted to decimal digits and back by Python's own functions, which are slower and take the GIL.
"""
import numpy as np
from cpython.mem cimport PyMem_Free
from cpython.ref cimport PyObject
from libc.math cimport INFINITY, NAN, ldexp
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._counting cimport score_t
from tieaware.kernels._interruption cimport (
    Interruption, check_interruption, fail, interrupted, no_interruption, stop,
)
from tieaware.kernels._sorting cimport Sort, sort_doubles

from tieaware.errors import NoRangeError

cnp.import_array()

cdef extern from "Python.h":
    bint Py_IsInitialized() nogil
    char* PyOS_double_to_string(double value, char format, int precision, int flags, int* kind)
    double PyOS_string_to_double(const char* text, char** end, PyObject* overflow) except? -1.0

cdef extern from "engine/coarsening.h" nogil:
    enum:
        TIEAWARE_COARSE_TILE
        TIEAWARE_DECADES
        TIEAWARE_EXPONENTS
    void tieaware_round_binary(const double*, Py_ssize_t, tieaware_format, float*)
    int64_t tieaware_decimal_values(const double*, Py_ssize_t, double, int64_t, double*)
    int64_t tieaware_decimal_keys(const double*, Py_ssize_t, double, int64_t, double*)
    int64_t tieaware_significant(const double*, Py_ssize_t, const tieaware_decades*, double*)
    int64_t tieaware_extremes(const double*, Py_ssize_t, double*, double*)
    void tieaware_levels(const double*, Py_ssize_t, double, double, int64_t, double, double*)

cdef extern from "engine/banding.h" nogil:
    ctypedef struct tieaware_banding:
        int64_t* place
    size_t tieaware_banding_size(Py_ssize_t)
    tieaware_banding tieaware_banding_in(void*, Py_ssize_t)
    void tieaware_write_band_keys(const double*, Py_ssize_t, const int64_t*, const float*, Sort, tieaware_banding,
                                  float*)
    void tieaware_write_band_values(const double*, Py_ssize_t, const int64_t*, const double*, Sort,
                                    tieaware_banding, double*)
    int64_t tieaware_has_nan(const double*, Py_ssize_t)

cdef extern from "engine/near_ties.h" nogil:
    void tieaware_chain(const double*, Py_ssize_t, tieaware_tolerance, Sort, tieaware_banding, double*, float*,
                        double*)

# Half of the extreme finite scores of a list, and whether no score is infinite. Without finite scores, low > high.
cdef struct ScoreRange:
    double low, high
    bint finite

cdef enum Kind:
    FLOAT32
    FORMAT
    DECIMALS
    SIGNIFICANT
    LEVELS
    BANDS
    GAP

cdef enum:
    # The largest k for which a double represents 10^k exactly.
    LARGEST_POWER = 22
    # The largest number of significant digits that doubles suffice to round to.
    MOST_DIGITS = 15
    # The bias of the binary exponents of doubles.
    BIAS = 1023
    # How many steps of an interruption it takes to convert a score to decimal digits and back.
    STEPS_OF_DIGITS = 1000
    # How many steps of an interruption it takes to rank a list, for each of its scores.
    STEPS_OF_RANKING = 16
    # Floats represent all whole numbers up to this one.
    MOST_KEYS = 1 << 24

# The significant bits and the lowest and highest exponents of normal numbers of the binary formats besides float32.
cdef dict FORMATS = {"float16": (11, -14, 15), "bfloat16": (8, -126, 127)}


cdef class KernelCoarsening:
    """A coarsening that a kernel computes. Immutable.

    Parameters
    ----------
    name : str
        "float32", "float16", "bfloat16", "decimals", "significant", "levels", "bands" or "gap".
    number : int
        The number of decimals, digits or levels, or for bands the length of the longest list; 0 for a binary format.
    starts : int64[n_bands], optional
        For bands: the first rank of each band, ascending from 1. The coarse scores of band b are 1/b.
    atol, rtol : float, optional
        For gap: the absolute tolerance, and the one relative to the scores.
    """

    def __init__(self, str name not None, int64_t number=0, cnp.ndarray starts=None, double atol=0.0, double rtol=0.0):
        cdef Rounding* rounding = &self.rounding
        self.arguments = name, number, starts, atol, rtol
        self.single = name == "float32" or name in FORMATS
        self.whole_list = name in ("levels", "bands", "gap")
        self.longest = np.iinfo(np.intp).max
        if name == "float32":
            rounding.kind = FLOAT32
        elif name in FORMATS:
            rounding.kind = FORMAT
            bits, lowest, highest = FORMATS[name]
            # Next to 2^e * 2^(53 - bits), doubles are as far apart as numbers of the format are next to 2^e.
            rounding.format.shift = ldexp(1.0, 53 - bits)
            rounding.format.least = ldexp(rounding.format.shift, lowest)
            rounding.format.most = ldexp(rounding.format.shift, highest + 1)
            rounding.format.overflow = ldexp(1.0, highest + 1)
        elif name == "decimals":
            rounding.kind = DECIMALS
            rounding.digits = <int>number
            rounding.power = float(f"1e{number}")
            rounding.exact = number <= LARGEST_POWER
        elif name == "significant":
            rounding.kind = SIGNIFICANT
            rounding.digits = <int>number
            rounding.decades = new_decades(<int>number)
            if rounding.decades == NULL:
                raise MemoryError("no memory for the powers of ten")
        elif name == "levels":
            rounding.kind = LEVELS
            rounding.n_levels = <double>number
        elif name == "bands":
            rounding.kind = BANDS
            self.longest = number
            self.set_bands(starts)
        elif name == "gap":
            rounding.kind = GAP
            rounding.tolerance.absolute, rounding.tolerance.relative = atol, rtol
        else:
            raise ValueError(f"unknown coarsening {name!r}")

    cdef int set_bands(self, cnp.ndarray starts) except -1:
        """Set the arrays of bands. Each has one element more, so that there is a band after the last."""
        if starts is None or self.longest < 0 or self.longest > 0 and (not len(starts) or starts[0] != 1):
            raise ValueError("bands must begin with rank 1")
        before = np.append(np.require(starts, np.int64) - 1, np.iinfo(np.int64).max)
        if not (before[1:] > before[:-1]).all():
            raise ValueError("bands must ascend")
        number = np.arange(1.0, len(before) + 1.0)
        self.bands = before, (-number).astype(np.float32), 1.0 / number
        self.rounding.starts = <const int64_t*>cnp.PyArray_DATA(<cnp.ndarray>self.bands[0])
        self.rounding.keys = <const float*>cnp.PyArray_DATA(<cnp.ndarray>self.bands[1])
        self.rounding.values = <const double*>cnp.PyArray_DATA(<cnp.ndarray>self.bands[2])
        self.rounding.has_keys = len(before) <= MOST_KEYS
        return 0

    def __dealloc__(self):
        free(<void*>self.rounding.decades)

    def __reduce__(self):
        return KernelCoarsening, self.arguments

    def coarsen(self, cnp.ndarray scores not None, cnp.ndarray offsets not None):
        """Return the coarse scores of lists; they are float32 for a binary format, else float64.

        Parameters
        ----------
        scores : float64[n_docs] or float32[n_docs]
            NaN stays NaN. Other dtypes are converted to float64.
        offsets : int64[n_lists + 1]
            Ascending from 0 to n_docs. Only levels, bands and gap depend on the division into lists.

        Raises
        ------
        InputError
            For levels, if a list has scores and all are infinite.
        """
        scores = np.require(scores, np.float32 if scores.dtype == np.float32 else np.float64, ["C", "A"])
        offsets = np.require(offsets, np.int64, ["C", "A"])
        cdef Py_ssize_t n = scores.shape[0], n_lists = offsets.shape[0] - 1, i
        cdef int64_t whole[2]
        cdef const int64_t* starts = <const int64_t*>cnp.PyArray_DATA(offsets)
        cdef const char* data = <const char*>cnp.PyArray_DATA(scores)
        cdef Py_ssize_t size = 4 if self.single else 8
        cdef bint single = cnp.PyArray_TYPE(scores) == cnp.NPY_FLOAT
        cdef cnp.ndarray coarse = np.empty(n, np.float32 if self.single else np.float64)
        cdef char* out = <char*>cnp.PyArray_DATA(coarse)
        cdef bint is_single
        cdef Py_ssize_t longest = 0
        cdef void* memory = NULL
        cdef Interruption interruption = no_interruption()
        if n_lists < 0 or self.whole_list and not (offsets[0] == 0 and offsets[n_lists] == n
                                                   and bool((offsets[1:] >= offsets[:n_lists]).all())):
            raise ValueError("offsets must ascend from 0 to the number of scores")
        whole[0], whole[1] = 0, n
        if not self.whole_list:
            starts, n_lists = whole, 1
        for i in range(n_lists):
            longest = max(longest, <Py_ssize_t>(starts[i + 1] - starts[i]))
        if longest > self.longest:
            raise ValueError(f"there are no bands for lists of more than {self.longest:,} documents")
        working = np.empty(memory_size(&self.rounding, longest), np.uint8)
        memory = cnp.PyArray_DATA(<cnp.ndarray>working)
        with nogil:
            for i in range(n_lists):
                if single:
                    coarsen(&self.rounding, <const float*>data + starts[i], starts[i + 1] - starts[i], False,
                            out + size * starts[i], &is_single, memory, &interruption)
                else:
                    coarsen(&self.rounding, <const double*>data + starts[i], starts[i + 1] - starts[i], False,
                            out + size * starts[i], &is_single, memory, &interruption)
                if interruption.stopped:
                    break
        check_coarsening(&self.rounding, &interruption)
        return coarse


cdef tieaware_decades* new_decades(int digits) except? NULL:
    """Return a newly allocated array of decades for a number of significant digits; NULL if that fails.

    Doubles suffice to round a number if it is multiplied or divided by a power of ten that a double represents.
    """
    cdef tieaware_decades* decades = <tieaware_decades*>malloc(sizeof(tieaware_decades))
    cdef int64_t exponent, i = 0
    # 10^power is the factor for the numbers of a decade, if power is positive; else they are divided by 10^-power.
    cdef int power
    if decades == NULL:
        return NULL
    for i in range(TIEAWARE_DECADES + 1):
        power = LARGEST_POWER + 1 - <int>i
        decades.from_[i] = 0.0 if i == 0 else least_double_of(digits - 1 - power)
        decades.times[i] = decades.over[i] = NAN
        if -LARGEST_POWER <= power <= LARGEST_POWER and digits <= MOST_DIGITS:
            decades.times[i] = float(f"1e{max(power, 0)}")
            decades.over[i] = float(f"1e{max(-power, 0)}")
    # No number is beyond the last decade.
    decades.from_[TIEAWARE_DECADES] = INFINITY
    i = 0
    for exponent in range(TIEAWARE_EXPONENTS):
        while decades.from_[i + 1] <= ldexp(1.0, <int>exponent - BIAS) < INFINITY:
            i += 1
        decades.first[exponent] = i
    return decades


def least_double_of(k):
    """Return the least double that is at least 10^k, for a Python int k, so that the powers below are exact."""
    nearest = float(f"1e{k}")
    numerator, denominator = nearest.as_integer_ratio()
    is_below = numerator * 10 ** max(-k, 0) < denominator * 10 ** max(k, 0)
    return float(np.nextafter(nearest, INFINITY)) if is_below else nearest


cdef bint coarsen(const Rounding* rounding, const score_t* scores, Py_ssize_t n, bint keys, void* out, bint* single,
                  void* memory, Interruption* interruption) noexcept nogil:
    cdef ScoreRange scores_range
    single[0] = rounding.kind == FLOAT32 or rounding.kind == FORMAT
    if rounding.kind == FLOAT32:
        return convert(scores, n, <float*>out, interruption)
    if rounding.kind == BANDS or rounding.kind == GAP:
        single[0] = keys and (n <= MOST_KEYS if rounding.kind == GAP else rounding.has_keys)
        write_ranked(rounding, scores, n, out, single[0], memory)
        return not interrupted(interruption, STEPS_OF_RANKING * n)
    if rounding.kind == LEVELS:
        find_range(scores, n, &scores_range, interruption)
        if scores_range.low > scores_range.high and not interruption.stopped and all_infinite(scores, n):
            interruption.n_infinite = n
            stop(interruption)
            return False
    keys = keys and rounding.kind == DECIMALS
    if keys and coarsen_tiles(rounding, scores, n, &scores_range, True, out, interruption):
        return True
    return not interruption.stopped and coarsen_tiles(rounding, scores, n, &scores_range, False, out, interruption)


cdef bint convert(const score_t* scores, Py_ssize_t n, float* out, Interruption* interruption) noexcept nogil:
    """Convert scores to float32."""
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = <float>scores[i]
    return not interrupted(interruption, n)


cdef inline const double* tile_of(const score_t* scores, Py_ssize_t n, double* tile) noexcept nogil:
    """Return the scores of a tile as float64."""
    cdef Py_ssize_t i
    if score_t is double:
        return scores
    else:
        for i in range(n):
            tile[i] = scores[i]
        return tile


cdef void find_range(const score_t* scores, Py_ssize_t n, ScoreRange* found, Interruption* interruption) noexcept nogil:
    cdef double tile[TIEAWARE_COARSE_TILE]
    cdef Py_ssize_t at = 0, width
    found.low, found.high, found.finite = INFINITY, -INFINITY, True
    while at < n and not interrupted(interruption, TIEAWARE_COARSE_TILE):
        width = min(n - at, <Py_ssize_t>TIEAWARE_COARSE_TILE)
        if tieaware_extremes(tile_of(scores + at, width, tile), width, &found.low, &found.high):
            found.finite = False
        at += width


cdef bint all_infinite(const score_t* scores, Py_ssize_t n) noexcept nogil:
    """Return whether a list has scores and all are infinite."""
    cdef Py_ssize_t i
    for i in range(n):
        if scores[i] != INFINITY and scores[i] != -INFINITY:
            return False
    return n > 0


cdef int check_coarsening(const Rounding* rounding, Interruption* interruption) except -1:
    """Raise the error for which a kernel that coarsens scores stopped, if it did."""
    cdef int64_t n = interruption.n_infinite
    check_interruption(interruption)
    if n > 0:
        what = "one score, which is infinite" if n == 1 else f"{n:,} scores, which are all infinite"
        problem = f"divides the range of the finite scores of each list, but a list has {what}"
        raise NoRangeError(f"precision=levels:{<int64_t>rounding.n_levels}", problem)
    return 0


cdef bint coarsen_tiles(const Rounding* rounding, const score_t* scores, Py_ssize_t n, const ScoreRange* scores_range,
                        bint keys, void* out, Interruption* interruption) noexcept nogil:
    """Write the coarse scores or the keys of one list; return False if there are no keys or the call has to stop."""
    cdef double tile[TIEAWARE_COARSE_TILE]
    cdef const double* wide
    cdef double* coarse
    cdef Py_ssize_t at = 0, width
    cdef int64_t left = 0
    while at < n:
        width = min(n - at, <Py_ssize_t>TIEAWARE_COARSE_TILE)
        wide = tile_of(scores + at, width, tile)
        coarse = <double*>out + at
        if rounding.kind == FORMAT:
            tieaware_round_binary(wide, width, rounding.format, <float*>out + at)
        elif rounding.kind == LEVELS:
            tieaware_levels(wide, width, scores_range.low, scores_range.high, scores_range.finite, rounding.n_levels,
                            coarse)
        elif rounding.kind == DECIMALS:
            if keys:
                left = tieaware_decimal_keys(wide, width, rounding.power, rounding.exact, coarse)
            else:
                left = tieaware_decimal_values(wide, width, rounding.power, rounding.exact, coarse)
        else:
            left = tieaware_significant(wide, width, rounding.decades, coarse)
        if left and (keys or not round_digits(rounding, wide, width, coarse, interruption)):
            return False
        at += width
        if interrupted(interruption, width):
            return False
    return True


cdef bint round_digits(const Rounding* rounding, const double* scores, Py_ssize_t n, double* coarse,
                       Interruption* interruption) noexcept nogil:
    """Round the scores whose coarse score is NaN, by Python's own functions; return False if the call has to stop."""
    cdef Py_ssize_t i
    cdef bint is_decimals = rounding.kind == DECIMALS
    for i in range(n):
        if coarse[i] != coarse[i] and scores[i] == scores[i]:
            # Compiled code may call when Python has ended, and there is no GIL.
            if not Py_IsInitialized():
                stop(interruption)
                return False
            coarse[i] = digits_of(scores[i], c'f' if is_decimals else c'e',
                                  rounding.digits if is_decimals else rounding.digits - 1, interruption)
            if interrupted(interruption, STEPS_OF_DIGITS):
                return False
    return True


cdef double digits_of(double x, char format, int precision, Interruption* interruption) noexcept with gil:
    """Return a number after it was formatted with a precision; on an error, leave it in the interruption."""
    cdef char* text
    try:
        text = PyOS_double_to_string(x, format, precision, 0, NULL)
        if text == NULL:
            raise MemoryError("no memory for the digits of a score")
        try:
            return PyOS_string_to_double(text, NULL, NULL)
        finally:
            PyMem_Free(text)
    except BaseException as error:
        fail(interruption, error)
        return NAN


cdef size_t memory_size(const Rounding* rounding, Py_ssize_t n) noexcept nogil:
    if rounding.kind == BANDS or rounding.kind == GAP:
        return n * sizeof(double) + tieaware_banding_size(n)
    return 0


cdef void write_ranked(const Rounding* rounding, const score_t* scores, Py_ssize_t n, void* out, bint single,
                       void* memory) noexcept nogil:
    """Write the key or the value of the band or group of each document; NaN for all documents if a score is NaN."""
    cdef double* tile = <double*>memory
    cdef tieaware_banding banding = tieaware_banding_in(tile + n, n)
    cdef float* keys = <float*>out if single else NULL
    cdef double* values = <double*>out
    cdef Py_ssize_t i
    # Copy the scores: they are read several times, and buckets must be those of scores between the extremes.
    for i in range(n):
        tile[i] = scores[i]
    if tieaware_has_nan(tile, n):
        for i in range(n):
            if single:
                keys[i] = NAN
            else:
                values[i] = NAN
    elif rounding.kind == GAP:
        tieaware_chain(tile, n, rounding.tolerance, sort_doubles, banding, <double*>banding.place, keys, values)
    elif single:
        tieaware_write_band_keys(tile, n, rounding.starts, rounding.keys, sort_doubles, banding, keys)
    else:
        tieaware_write_band_values(tile, n, rounding.starts, rounding.values, sort_doubles, banding, values)
