"""Interruption of kernels: polls for signals and for abandoned work, about ten times a second.

A kernel reports its steps of about a nanosecond. After some million steps it reads the clock, and after a tenth of a
second it takes the GIL and runs Python's signal handlers; in a thread of a pool it also checks whether the result is
still awaited. If that raises an error, the kernel stops.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t


cdef struct Interruption:
    # The number of steps until the clock is read next; and the time of the last poll in seconds, 0 before the first.
    int64_t left
    double polled
    # The error that was raised: a reference that `check_interruption` takes over.
    PyObject* error


cdef Interruption no_interruption() noexcept nogil

cdef bint poll(Interruption* interruption) noexcept nogil


cdef inline bint interrupted(Interruption* interruption, int64_t steps) noexcept nogil:
    """Report a number of steps; return whether to stop. The result of a stopped kernel is ignored."""
    interruption.left -= steps
    return interruption.left < 0 and poll(interruption)


# Raise the error that stopped a kernel, if any.
cdef int check_interruption(Interruption* interruption) except -1
