/* The C interface of tieaware: evaluators that are prepared in Python, and called from compiled code.
 *
 * Call `tieaware_import` once, with the GIL. It returns the functions below, or NULL with an ImportError. `prepare` needs
 * the GIL too. All other functions need neither the GIL nor a Python thread. They may be called from several threads at
 * once, with the same evaluator. They never crash because of a wrong or released handle, a size, a type or a NULL, nor
 * because another thread changes the scores; the values are then arbitrary.
 *
 * Two things take the GIL: rounding scores to decimal or significant digits, for rare scores that doubles cannot round;
 * and giving a released evaluator back to Python, which the last call does that uses it. After Python has ended, such
 * rounding returns TIEAWARE_REFUSED, nothing is given back, and all else but `tieaware_import` and `prepare` works as
 * before. Do neither while another thread ends Python.
 * docs/c_interface.md has examples.
 */
#ifndef TIEAWARE_H
#define TIEAWARE_H

#include <Python.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the struct `tieaware_functions`. Within a version, functions are only added, at its end. */
#define TIEAWARE_ABI_VERSION 1
#define TIEAWARE_MODULE "tieaware.kernels._c_interface"

/* A prepared evaluator. 0 is no evaluator, and the number of a released one is never used again. */
typedef uint64_t tieaware_evaluator;

/* What a function returns; `message` explains it. */
enum tieaware_code {
    TIEAWARE_OK = 0,
    TIEAWARE_NO_EVALUATOR,
    TIEAWARE_NULL_POINTER,
    TIEAWARE_WRONG_SIZE,
    TIEAWARE_WRONG_TYPE,
    TIEAWARE_UNALIGNED,
    TIEAWARE_NAN,
    TIEAWARE_NO_SPREAD,
    TIEAWARE_NO_QUERIES,
    TIEAWARE_REFUSED,
    TIEAWARE_NO_MEMORY
};

enum tieaware_type { TIEAWARE_FLOAT64 = 0, TIEAWARE_FLOAT32 = 1 };

/* Options of `prepare`; add them up. */
enum tieaware_option { TIEAWARE_WITH_SPREAD = 1 };

/* The scores of all documents, list after list. Adjacent scores of aligned numbers are read in place. */
typedef struct {
    const void *data;
    int64_t size;   /* the number of scores */
    int64_t stride; /* the bytes from one score to the next; may be negative */
    int32_t type;   /* TIEAWARE_FLOAT64 or TIEAWARE_FLOAT32 */
} tieaware_scores;

typedef struct {
    int64_t n_queries;
    int64_t n_docs;
    int64_t n_measures;
} tieaware_sizes;

typedef struct {
    int32_t version; /* TIEAWARE_ABI_VERSION */
    int32_t size;    /* the size of this struct in bytes */
    /* Prepares a tieaware.Evaluator and keeps it alive. Needs the GIL. Returns 0 with a Python exception on failure. */
    tieaware_evaluator (*prepare)(PyObject *evaluator, int32_t options);
    /* Writes the numbers of queries, documents and measures. */
    int32_t (*sizes)(tieaware_evaluator evaluator, tieaware_sizes *sizes);
    /* Writes the value of every measure for every query: values[n_queries][n_measures]. */
    int32_t (*evaluate)(tieaware_evaluator evaluator, const tieaware_scores *scores, double *values, int64_t n_values);
    /* Writes the mean of every measure over the queries: values[n_measures]. */
    int32_t (*mean)(tieaware_evaluator evaluator, const tieaware_scores *scores, double *values, int64_t n_values);
    /* Writes mean, standard deviation, minimum and maximum over the orders of tied documents:
     * values[4][n_queries][n_measures]. The evaluator must be prepared with TIEAWARE_WITH_SPREAD. */
    int32_t (*spread)(tieaware_evaluator evaluator, const tieaware_scores *scores, double *values, int64_t n_values);
    /* Releases an evaluator; calls that still use it in other threads end normally. Takes the GIL: see above. */
    int32_t (*release)(tieaware_evaluator evaluator);
    /* Returns what a code means, in one sentence. */
    const char *(*message)(int32_t code);
} tieaware_functions;

/* Returns the functions; NULL with an ImportError if the installed tieaware has another version of them. */
static inline const tieaware_functions *tieaware_import(void)
{
    PyObject *module = PyImport_ImportModule(TIEAWARE_MODULE);
    PyObject *capsule = module == NULL ? NULL : PyObject_GetAttrString(module, "functions");
    const tieaware_functions *found = NULL;
    if (capsule != NULL)
        found = (const tieaware_functions *)PyCapsule_GetPointer(capsule, TIEAWARE_MODULE ".functions");
    Py_XDECREF(capsule);
    Py_XDECREF(module);
    if (found != NULL && (found->version != TIEAWARE_ABI_VERSION || found->size < (int32_t)sizeof(*found))) {
        PyErr_Format(PyExc_ImportError,
                     "the installed tieaware has version %d (%d bytes) of the C interface; this module was compiled for "
                     "version %d (%d bytes)",
                     (int)found->version, (int)found->size, TIEAWARE_ABI_VERSION, (int)sizeof(*found));
        return NULL;
    }
    return found;
}

/* Returns scores that are adjacent in memory. */
static inline tieaware_scores tieaware_float64(const double *data, int64_t size)
{
    const tieaware_scores scores = {data, size, (int64_t)sizeof(double), TIEAWARE_FLOAT64};
    return scores;
}

static inline tieaware_scores tieaware_float32(const float *data, int64_t size)
{
    const tieaware_scores scores = {data, size, (int64_t)sizeof(float), TIEAWARE_FLOAT32};
    return scores;
}

#ifdef __cplusplus
}
#endif

#endif
