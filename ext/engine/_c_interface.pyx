"""The C interface: prepared evaluators that compiled code calls without Python (src/tieaware/include/tieaware.h).

A handle names a slot (handles.h), which owns an engine for the values and, if wanted, one for the spread. A call
borrows working memory from the slot, and returns it for the next call, so that calls do not allocate.
"""
from cpython.exc cimport PyErr_NoMemory
from cpython.pycapsule cimport PyCapsule_New
from cpython.pythread cimport (
    PyThread_acquire_lock, PyThread_allocate_lock, PyThread_release_lock, PyThread_type_lock, WAIT_LOCK,
)
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XINCREF, PyObject
from libc.stdint cimport int32_t, int64_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from tieaware.kernels._engine cimport DOUBLES, FLOATS, Engine, Form, Workspace, end, release as release_groups
from tieaware.kernels._groups cimport Groups
from tieaware.kernels._means cimport Mean, extend, mean_of_none, rounded
from tieaware.kernels.tieaware cimport (
    TIEAWARE_ABI_VERSION, TIEAWARE_FLOAT32, TIEAWARE_FLOAT64, TIEAWARE_NAN, TIEAWARE_NO_EVALUATOR, TIEAWARE_NO_MEMORY,
    TIEAWARE_NO_QUERIES, TIEAWARE_NO_SPREAD, TIEAWARE_NULL_POINTER, TIEAWARE_OK, TIEAWARE_REFUSED, TIEAWARE_UNALIGNED,
    TIEAWARE_WITH_SPREAD, TIEAWARE_WRONG_SIZE, TIEAWARE_WRONG_TYPE, tieaware_functions, tieaware_scores, tieaware_sizes,
)

cdef extern from "Python.h":
    bint Py_IsInitialized() nogil

cdef extern from "engine/handles.h" nogil:
    enum:
        TIEAWARE_SPARES
        TIEAWARE_KINDS
        TIEAWARE_ENGINES
    ctypedef struct tieaware_slot:
        void** engine
        void** spare
        int64_t* columns
        int64_t output
    uint64_t tieaware_fill_slot(void*, void*, void*, int64_t*, int64_t)
    void tieaware_empty_slot(tieaware_slot*, uint64_t)
    tieaware_slot* tieaware_enter(uint64_t)
    bint tieaware_leave(tieaware_slot*)
    bint tieaware_retire(tieaware_slot*, uint64_t)
    void** tieaware_place(tieaware_slot*, int)
    void* tieaware_swap(void**, void*)

# The outputs of a call. The number of an output is the index of the engine that computes it.
cdef enum Output:
    VALUES
    SPREAD
    MEANS

# The index of the engine of the measures whose extreme is taken from their spread.
cdef enum:
    EXTREMES = 2

# The steps until a kernel polls for Ctrl-C: never, because polling takes the GIL.
cdef int64_t NEVER = 0x7fffffffffffffff


# The working memory of one call. It fits one engine.
cdef struct Memory:
    Workspace workspace
    Groups* groups
    # For a spread.
    Groups* best
    Groups* worst
    # For means: the values of one query, and the sums so far.
    double* values
    Mean* sums
    # For measures whose extreme is taken from their spread: memory for their engine, its four outputs, and all values.
    Memory* extremes
    double* outputs
    double* whole
    # Scores that were not adjacent or not aligned; allocated when they are first needed.
    void* adjacent


cdef void free_memory(Memory* memory) noexcept nogil:
    if memory != NULL:
        end(&memory.workspace, memory.groups)
        release_groups(memory.best)
        release_groups(memory.worst)
        free_memory(memory.extremes)
        free(memory.outputs)
        free(memory.values)
        free(memory.adjacent)
        free(memory)


cdef Memory* new_memory(void* engine, bint spread) noexcept nogil:
    """Return newly allocated working memory for calls of an engine; NULL if that fails."""
    cdef Memory* memory = <Memory*>malloc(sizeof(Memory))
    cdef Py_ssize_t n = max((<Engine>engine).n_measures, 1)
    if memory == NULL:
        return NULL
    memory.groups = (<Engine>engine).open(&memory.workspace)
    if memory.groups == NULL:
        free(memory)
        return NULL
    memory.best = (<Engine>engine).new_groups() if spread else NULL
    memory.worst = (<Engine>engine).new_groups() if spread else NULL
    memory.values = <double*>malloc(n * (sizeof(double) + sizeof(Mean)))
    memory.sums = <Mean*>(memory.values + n)
    memory.adjacent = memory.outputs = NULL
    memory.extremes = NULL
    if memory.values == NULL or (spread and (memory.best == NULL or memory.worst == NULL)):
        free_memory(memory)
        return NULL
    return memory


cdef Memory* memory_for(tieaware_slot* slot, int kind) noexcept nogil:
    """Return newly allocated working memory for calls of one kind; NULL if that fails."""
    cdef Memory* memory = new_memory(slot.engine[kind], kind == SPREAD)
    if memory != NULL and slot.engine[EXTREMES] != NULL:
        memory.extremes = new_memory(slot.engine[EXTREMES], True)
        allocate_outputs(<Engine>slot.engine[EXTREMES], <Engine>slot.engine[kind], memory)
        if memory.extremes == NULL or memory.outputs == NULL:
            free_memory(memory)
            return NULL
    return memory


cdef void allocate_outputs(Engine extremes, Engine engine, Memory* memory) noexcept nogil:
    cdef Py_ssize_t n = 4 * extremes.n_measures * engine.lists.n_queries
    memory.outputs = <double*>malloc((n + engine.n_measures * engine.lists.n_queries + 1) * sizeof(double))
    memory.whole = memory.outputs + n


cdef inline void reset(Workspace* workspace) noexcept nogil:
    """Prepare the workspace for the next call."""
    workspace.interruption.left = NEVER
    workspace.interruption.stopped = False
    workspace.exhausted = workspace.failed = False
    workspace.refused = NULL
    workspace.coarsened = NULL


cdef int32_t copy_scores(const tieaware_scores* scores, Memory* memory) noexcept nogil:
    """Copy scores that are not adjacent or not aligned."""
    cdef size_t size = 8 if scores.type == TIEAWARE_FLOAT64 else 4
    cdef const char* source = <const char*>scores.data
    cdef char* copied
    cdef int64_t i
    if memory.adjacent == NULL:
        memory.adjacent = malloc(8 * scores.size)
        if memory.adjacent == NULL:
            return TIEAWARE_NO_MEMORY
    copied = <char*>memory.adjacent
    for i in range(scores.size):
        memcpy(copied + i * size, source + i * scores.stride, size)
    return TIEAWARE_OK


cdef inline bint are_adjacent(const tieaware_scores* scores) noexcept nogil:
    cdef int64_t size = 8 if scores.type == TIEAWARE_FLOAT64 else 4
    return (scores.stride == size or scores.size < 2) and <uintptr_t>scores.data % size == 0


cdef inline int32_t check(Engine engine, Output output, const tieaware_scores* scores, const double* values,
                          int64_t n_values) noexcept nogil:
    """Return the code of what is wrong with the arguments of a call, if anything is."""
    cdef int64_t n = engine.n_measures
    if scores == NULL or (scores.data == NULL and scores.size > 0) or (values == NULL and n_values > 0):
        return TIEAWARE_NULL_POINTER
    if scores.type != TIEAWARE_FLOAT64 and scores.type != TIEAWARE_FLOAT32:
        return TIEAWARE_WRONG_TYPE
    if output == MEANS and engine.lists.n_queries == 0:
        return TIEAWARE_NO_QUERIES
    if output != MEANS:
        n *= engine.lists.n_queries * (4 if output == SPREAD else 1)
    if scores.size != engine.n_scores or n_values != n:
        return TIEAWARE_WRONG_SIZE
    return TIEAWARE_UNALIGNED if <uintptr_t>values % sizeof(double) else TIEAWARE_OK


cdef int32_t code_of(Py_ssize_t failed, Workspace* workspace) noexcept nogil:
    """Return the code of a call; `failed` is the query that failed, or -1."""
    if workspace.interruption.error != NULL:
        # There was no memory for the digits of a score.
        with gil:
            Py_DECREF(<object>workspace.interruption.error)
        workspace.interruption.error = NULL
        return TIEAWARE_NO_MEMORY
    if workspace.exhausted:
        return TIEAWARE_NO_MEMORY
    # It stopped because a list has no levels, or Python has ended and cannot round a score to decimal digits.
    if workspace.interruption.stopped or workspace.refused != NULL:
        return TIEAWARE_REFUSED
    return TIEAWARE_NAN if failed >= 0 else TIEAWARE_OK


cdef int32_t write_extremes(Engine engine, Engine extremes, const tieaware_slot* slot, const char* data, Form form,
                            Memory* memory, double* values) noexcept nogil:
    """Write the values of the measures whose extreme is taken from their spread."""
    cdef Py_ssize_t n = engine.lists.n_queries, n_columns = extremes.n_measures, query, i
    cdef Memory* own = memory.extremes
    cdef const double* taken = memory.outputs + slot.output * n * n_columns
    reset(&own.workspace)
    if (extremes.write_spreads(data, form, own.groups, own.best, own.worst, &own.workspace, memory.outputs, 0, n) >= 0
            or own.workspace.failed):
        return code_of(0, &own.workspace)
    for query in range(n):
        for i in range(n_columns):
            values[query * engine.n_measures + slot.columns[i]] = taken[query * n_columns + i]
    return TIEAWARE_OK


cdef void write_means(Engine engine, const double* values, Mean* sums, double* means) noexcept nogil:
    cdef Py_ssize_t query, i
    for i in range(engine.n_measures):
        sums[i] = mean_of_none(engine.measure[i].geometric)
        for query in range(engine.lists.n_queries):
            extend(&sums[i], values[query * engine.n_measures + i])
        means[i] = rounded(&sums[i])


cdef inline int32_t run(Engine engine, Output output, const tieaware_slot* slot, const tieaware_scores* scores,
                        double* values, Memory* memory) noexcept nogil:
    """Compute one output; the arguments are checked."""
    cdef const char* data = <const char*>scores.data
    cdef Form form = FLOATS if scores.type == TIEAWARE_FLOAT32 else DOUBLES
    cdef Py_ssize_t n = engine.lists.n_queries, failed
    cdef double* means = NULL
    cdef int32_t code
    if not are_adjacent(scores):
        code = copy_scores(scores, memory)
        if code != TIEAWARE_OK:
            return code
        data = <const char*>memory.adjacent
    elif data == NULL:
        # There are no scores. A null pointer would mean that all documents are tied.
        data = <const char*>&memory.adjacent
    reset(&memory.workspace)
    if memory.extremes != NULL:
        if output == MEANS:
            means, values = values, memory.whole
        failed = engine.write_values(data, form, memory.groups, &memory.workspace, values, 0, n)
        if failed < 0:
            code = write_extremes(engine, <Engine>slot.engine[EXTREMES], slot, data, form, memory, values)
            if code != TIEAWARE_OK:
                return code
            if output == MEANS:
                write_means(engine, values, memory.sums, means)
    elif output == VALUES:
        failed = engine.write_values(data, form, memory.groups, &memory.workspace, values, 0, n)
    elif output == MEANS:
        failed = engine.write_mean(data, form, memory.groups, &memory.workspace, memory.values, memory.sums, values)
    else:
        failed = engine.write_spreads(data, form, memory.groups, memory.best, memory.worst, &memory.workspace, values,
                                      0, n)
    if failed < 0 and not memory.workspace.failed:
        return TIEAWARE_OK
    return code_of(failed, &memory.workspace)


cdef inline int32_t call(uint64_t handle, Output output, const tieaware_scores* scores, double* values,
                         int64_t n_values) noexcept nogil:
    cdef int kind = SPREAD if output == SPREAD else VALUES
    cdef tieaware_slot* slot = tieaware_enter(handle)
    cdef Memory* memory
    cdef void** place
    cdef int32_t code
    if slot == NULL:
        return TIEAWARE_NO_EVALUATOR
    if slot.engine[kind] == NULL:
        code = TIEAWARE_NO_SPREAD
    else:
        code = check(<Engine>slot.engine[kind], output, scores, values, n_values)
    if code == TIEAWARE_OK:
        place = tieaware_place(slot, kind)
        memory = <Memory*>tieaware_swap(place, NULL)
        if memory == NULL:
            memory = memory_for(slot, kind)
        if memory == NULL:
            code = TIEAWARE_NO_MEMORY
        else:
            code = run(<Engine>slot.engine[kind], output, slot, scores, values, memory)
            memory = <Memory*>tieaware_swap(place, memory)
            if memory != NULL:
                free_memory(memory)
    if tieaware_leave(slot):
        empty(slot, handle)
    return code


cdef int32_t evaluate(uint64_t handle, const tieaware_scores* scores, double* values, int64_t n_values) noexcept nogil:
    return call(handle, VALUES, scores, values, n_values)


cdef int32_t mean(uint64_t handle, const tieaware_scores* scores, double* values, int64_t n_values) noexcept nogil:
    return call(handle, MEANS, scores, values, n_values)


cdef int32_t spread(uint64_t handle, const tieaware_scores* scores, double* values, int64_t n_values) noexcept nogil:
    return call(handle, SPREAD, scores, values, n_values)


cdef void write_sizes(Engine engine, tieaware_sizes* sizes) noexcept nogil:
    sizes.n_queries, sizes.n_docs, sizes.n_measures = engine.lists.n_queries, engine.n_scores, engine.n_measures


cdef int32_t sizes(uint64_t handle, tieaware_sizes* sizes) noexcept nogil:
    cdef tieaware_slot* slot = tieaware_enter(handle)
    cdef int32_t code = TIEAWARE_OK
    if slot == NULL:
        return TIEAWARE_NO_EVALUATOR
    if sizes == NULL:
        code = TIEAWARE_NULL_POINTER
    else:
        write_sizes(<Engine>slot.engine[0], sizes)
    if tieaware_leave(slot):
        empty(slot, handle)
    return code


cdef int32_t release(uint64_t handle) noexcept nogil:
    cdef tieaware_slot* slot = tieaware_enter(handle)
    cdef bint released
    if slot == NULL:
        return TIEAWARE_NO_EVALUATOR
    released = tieaware_retire(slot, handle)
    if tieaware_leave(slot):
        empty(slot, handle)
    return TIEAWARE_OK if released else TIEAWARE_NO_EVALUATOR


cdef void empty(tieaware_slot* slot, uint64_t handle) noexcept nogil:
    """Free what a released slot owns, and make the slot available again."""
    cdef int i
    for i in range(TIEAWARE_KINDS * TIEAWARE_SPARES):
        free_memory(<Memory*>tieaware_swap(&slot.spare[i], NULL))
    # After the interpreter's end, no reference can be given back. The slot is then left as it is.
    if not Py_IsInitialized():
        return
    free(slot.columns)
    slot.columns = NULL
    with gil:
        for i in range(TIEAWARE_ENGINES):
            if slot.engine[i] != NULL:
                Py_DECREF(<object>slot.engine[i])
                slot.engine[i] = NULL
        PyThread_acquire_lock(lock, WAIT_LOCK)
        tieaware_empty_slot(slot, handle)
        PyThread_release_lock(lock)


# The message of each code, in the order of the codes in tieaware.h.
cdef const char* MESSAGES[11]
MESSAGES[:] = [
    b"no error",
    b"the evaluator was released, or never prepared",
    b"a pointer is NULL",
    b"the number of scores or of values is not that of the evaluator",
    b"the type of the scores must be TIEAWARE_FLOAT64 or TIEAWARE_FLOAT32",
    b"the address of the values must be a multiple of 8",
    b"a score is NaN",
    b"the evaluator was prepared without TIEAWARE_WITH_SPREAD",
    b"a mean needs at least one query",
    b"a value would take too long to compute, or the precision cannot round a score",
    b"no memory for the working memory of a call",
]


cdef const char* message(int32_t code) noexcept nogil:
    if TIEAWARE_OK <= code <= TIEAWARE_NO_MEMORY:
        return MESSAGES[code]
    return b"unknown code"


cdef uint64_t prepare(PyObject* evaluator, int32_t options) except 0 with gil:
    """Prepare an evaluator for calls from compiled code; return its handle."""
    cdef Engine values, spread, extremes
    cdef uint64_t handle
    cdef int64_t* columns
    cdef Py_ssize_t i
    engines = getattr(<object>evaluator, "_engines", None) if evaluator != NULL else None
    if engines is None:
        raise TypeError(f"expected a tieaware.Evaluator, found {type(<object>evaluator).__name__}"
                        if evaluator != NULL else "expected a tieaware.Evaluator, found NULL")
    if options & ~TIEAWARE_WITH_SPREAD:
        raise ValueError(f"unknown options {options}; this version of tieaware knows TIEAWARE_WITH_SPREAD")
    values, spread, extremes, places, output = engines(bool(options & TIEAWARE_WITH_SPREAD))
    columns = <int64_t*>malloc((len(places) + 1) * sizeof(int64_t))
    if columns == NULL:
        PyErr_NoMemory()
    for i in range(len(places)):
        columns[i] = places[i]
    PyThread_acquire_lock(lock, WAIT_LOCK)
    handle = tieaware_fill_slot(<void*>values, pointer_to(spread), pointer_to(extremes), columns, output)
    PyThread_release_lock(lock)
    if handle == 0:
        free(columns)
        PyErr_NoMemory()
    Py_INCREF(values)
    Py_XINCREF(<PyObject*>pointer_to(spread))
    Py_XINCREF(<PyObject*>pointer_to(extremes))
    return handle


cdef void* pointer_to(Engine engine) noexcept:
    """Return a borrowed reference to an engine; NULL for None."""
    return <void*>engine if engine is not None else NULL


# Held while the list of empty slots changes.
cdef PyThread_type_lock lock = PyThread_allocate_lock()
if lock == NULL:
    raise MemoryError("no memory for a lock")

cdef tieaware_functions table
table.version = TIEAWARE_ABI_VERSION
table.size = sizeof(tieaware_functions)
# The header declares the argument as an object; here it is a pointer, which may be NULL.
(<void**>&table.prepare)[0] = <void*>prepare
table.sizes = sizes
table.evaluate = evaluate
table.mean = mean
table.spread = spread
table.release = release
table.message = message

functions = PyCapsule_New(&table, "tieaware.kernels._c_interface.functions", NULL)
