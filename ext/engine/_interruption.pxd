"""Whether somebody interrupts a kernel: asked for between pieces of its work, about ten times a second.

A kernel says how much it has done, in steps of about a nanosecond. After some millions it looks at the clock, and after
a tenth of a second takes the GIL, under which signals are handled, and a thread of the pool learns that nobody waits
for it any more. Whatever is raised there ends the work.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport int64_t


cdef struct Interruption:
    # How many steps are left until the next look at the clock; when somebody was last asked, in seconds, 0: not yet.
    int64_t left
    double asked
    # What was raised: a reference that `check_interruption` takes.
    PyObject* error


cdef Interruption no_interruption() noexcept nogil

cdef bint asked(Interruption* interruption) noexcept nogil


cdef inline bint interrupted(Interruption* interruption, int64_t steps) noexcept nogil:
    """Whether to stop, after so many steps more. Then it does not matter what a kernel returns."""
    interruption.left -= steps
    return interruption.left < 0 and asked(interruption)


# Raise what the work was ended for, if it was.
cdef int check_interruption(Interruption* interruption) except -1
