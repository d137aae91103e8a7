"""Interruption of running kernels, for example by Ctrl-C. A kernel checks for it about ten times a second.

A kernel reports how many steps, of about a nanosecond each, it has taken. After some millions of steps, `interrupted`
reads the clock; if a tenth of a second has passed, it takes the GIL. Python then handles signals, such as that of
Ctrl-C. A thread of the thread pool also finds out whether its call was abandoned. If either raises an exception, the
kernel stops.

A kernel that cannot go on for another reason calls `stop`, and its caller, who has the GIL, raises the exception. So a
call from compiled code, which never polls, takes the GIL only to round rare scores to decimal digits.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t


cdef struct Interruption:
    # The number of steps until the clock is read again.
    int64_t left
    # The time of the last check for signals, in seconds; 0 before the clock is first read.
    double polled
    # True if the kernel has to stop.
    bint stopped
    # If it stopped because all scores of a list are infinite, so that they have no levels: how many they are; else 0.
    int64_t n_infinite
    # The exception that was raised, or NULL. This is a strong reference, which `check_interruption` releases.
    PyObject* error


cdef Interruption no_interruption() noexcept nogil

cdef bint poll(Interruption* interruption) noexcept nogil


cdef inline bint interrupted(Interruption* interruption, int64_t steps) noexcept nogil:
    """Count `steps` more steps; return whether the kernel has to stop. If it stops, its result is not used."""
    interruption.left -= steps
    return interruption.left < 0 and poll(interruption)


# Make every later call of `interrupted` return True.
cdef inline void stop(Interruption* interruption) noexcept nogil:
    interruption.stopped = True
    interruption.left = 0


# Stop the kernel because of an exception.
cdef void fail(Interruption* interruption, object error) noexcept

# Raise the exception that stopped the kernel, if there is one.
cdef int check_interruption(Interruption* interruption) except -1
