from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport PyObject, Py_DECREF, Py_INCREF
from libc.stdint cimport int64_t

cdef extern from *:
    """
    #include <time.h>
    static double tieaware_seconds(void) {
        struct timespec now;
        timespec_get(&now, TIME_UTC);
        return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    }
    """
    double tieaware_seconds() nogil

cdef int64_t STEPS = 1 << 22
cdef double INTERVAL = 0.1

# A callback that raises an exception if the current thread belongs to the thread pool and its call was abandoned.
cdef object is_awaited = None


def ask_also(check):
    """Set a callback for each check of a kernel for interruption. If it raises an exception, the kernel stops."""
    global is_awaited
    is_awaited = check


cdef Interruption no_interruption() noexcept nogil:
    cdef Interruption interruption
    interruption.left = STEPS
    interruption.polled = 0.0
    interruption.stopped = False
    interruption.n_infinite = 0
    interruption.error = NULL
    return interruption


cdef bint poll(Interruption* interruption) noexcept nogil:
    cdef double now = tieaware_seconds()
    if interruption.stopped:
        return True
    interruption.left = STEPS
    if interruption.polled == 0.0:
        interruption.polled = now
    # The difference is negative if the clock was set back.
    if 0.0 <= now - interruption.polled < INTERVAL:
        return False
    interruption.polled = now
    with gil:
        try:
            PyErr_CheckSignals()
            if is_awaited is not None:
                is_awaited()
        except BaseException as error:
            fail(interruption, error)
    return interruption.stopped


cdef void fail(Interruption* interruption, object error) noexcept:
    Py_INCREF(error)
    interruption.error = <PyObject*>error
    stop(interruption)


cdef int check_interruption(Interruption* interruption) except -1:
    cdef object error
    if interruption.error != NULL:
        error = <object>interruption.error
        interruption.error = NULL
        Py_DECREF(error)
        raise error
    return 0
