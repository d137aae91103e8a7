"""Interruption of running kernels: polled about ten times a second.

A kernel reports its progress in steps of about a nanosecond. After some millions of steps it reads the clock, and after
a tenth of a second it takes the GIL. Python then handles signals, such as Ctrl-C, and a thread of the pool finds out
whether its call was abandoned. An exception raised there ends the kernel's work.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t


cdef struct Interruption:
    # The number of steps until the next look at the clock.
    int64_t left
    # The time of the last check, in seconds; 0 before the first look at the clock.
    double polled
    # The raised exception, a strong reference that `check_interruption` takes over; NULL if there is none.
    PyObject* error


cdef Interruption no_interruption() noexcept nogil

cdef bint poll(Interruption* interruption) noexcept nogil


cdef inline bint interrupted(Interruption* interruption, int64_t steps) noexcept nogil:
    """Count `steps` more steps, and return whether to stop; the kernel's result is not used then."""
    interruption.left -= steps
    return interruption.left < 0 and poll(interruption)


# Raise the exception that ended the work, if there is one.
cdef int check_interruption(Interruption* interruption) except -1
