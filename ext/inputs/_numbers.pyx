"""Conversion of text to numbers by the rule of all readers: a number that float64 does not represent is refused."""
from libc.math cimport NAN, isinf
from libc.stdint cimport uint8_t

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._decimal cimport BAD, DONE, LATER, ROUNDED, Text, read_score

import numpy as np

cnp.import_array()

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *text, char **end, void *overflow) except? -1.0


cdef bint convert_exactly(bytes number, double *value) except -1:
    cdef bytes digits, decimals
    value[0] = PyOS_string_to_double(number, NULL, NULL)
    if value[0] == 0:
        return number.lower().partition(b"e")[0].strip(b"+-0.") == b""
    if isinf(value[0]):
        return False
    digits, _, decimals = number.lstrip(b"+-0").partition(b".")
    is_whole = digits.isdigit() and decimals.strip(b"0") == b""
    return not is_whole or abs(value[0]) < 9007199254740992.0 or int(digits) == int(abs(value[0]))


cdef Text convert(bytes number, double *value) except *:
    """Read a number that blanks may surround, and NaN. Return DONE, BAD or ROUNDED."""
    cdef bytes padded, stripped = number.strip()
    cdef const uint8_t *p
    cdef Text outcome
    padded = b" " * 8 + stripped + b" " * 8
    p = <const uint8_t *><const char *>padded + 8
    outcome = read_score(p, p + len(stripped), value)
    if outcome == LATER:
        outcome = DONE if convert_exactly(stripped, value) else ROUNDED
    elif outcome == BAD and stripped.lower() in (b"nan", b"+nan", b"-nan"):
        value[0] = NAN
        outcome = DONE
    return outcome


def number(text not None):
    """Convert text, a str or bytes, to a float, by the rule that the parser has for scores.

    A number is a decimal number of ASCII digits, possibly with a sign, a point and an exponent; or inf, infinity or
    nan, in upper or lower case. Blanks may surround it.

    Raises
    ------
    ValueError
        The text is not a number.
    OverflowError
        float64 does not represent the number: it is an integer from 2^53 on, written without an exponent, that would be
        rounded; or too large; or too small to differ from 0.
    """
    cdef double value = 0
    cdef Text outcome = convert(text if isinstance(text, bytes) else text.encode("utf-8", "replace"), &value)
    if outcome == BAD:
        raise ValueError("not a number")
    if outcome == ROUNDED:
        raise OverflowError("float64 cannot represent the number")
    return value


def numbers(list texts not None, bint empty_as_nan=False):
    """Convert texts as `number` does; return float64[n], and the index of the first text that it refuses, or n.

    With `empty_as_nan`, empty texts become NaN.
    """
    cdef Py_ssize_t i, n = len(texts)
    cdef double value = 0
    converted = np.empty(n, np.float64)
    cdef double *into = <double *>cnp.PyArray_DATA(<cnp.ndarray>converted)
    for i in range(n):
        if empty_as_nan and not texts[i]:
            into[i] = NAN
        elif convert(texts[i].encode("utf-8", "replace"), &value) == DONE:
            into[i] = value
        else:
            return converted, i
    return converted, n
