/* A Python extension in C that looks for the best mixture of two rankers, without Python in its loop.
 *
 * Compile it with -I of tieaware.get_include(). In Python: mixture.best(evaluator, a, b, steps) returns (t, value), where
 * (1 - t) a + t b has the highest mean of the evaluator's first measure.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <tieaware.h>

static const tieaware_functions *tieaware;

/* Tries t = 0, 1/steps, …, 1; returns a code of tieaware. `mixed` and `means` have room for the scores and the means. */
static int32_t search(tieaware_evaluator evaluator, const double *a, const double *b, double *mixed, int64_t n,
                      double *means, int64_t n_measures, int steps, double *best_t, double *best)
{
    const tieaware_scores scores = tieaware_float64(mixed, n);
    *best = -1.0;
    for (int step = 0; step <= steps; step++) {
        const double t = (double)step / steps;
        for (int64_t i = 0; i < n; i++)
            mixed[i] = (1.0 - t) * a[i] + t * b[i];
        const int32_t code = tieaware->mean(evaluator, &scores, means, n_measures);
        if (code != TIEAWARE_OK)
            return code;
        if (means[0] > *best) {
            *best = means[0];
            *best_t = t;
        }
    }
    return TIEAWARE_OK;
}

static PyObject *best_mixture(PyObject *module, PyObject *args)
{
    PyObject *given;
    Py_buffer a, b;
    int steps;
    double t = 0.0, value = 0.0;
    int32_t code = TIEAWARE_NO_MEMORY;
    tieaware_sizes sizes;
    if (!PyArg_ParseTuple(args, "Oy*y*i", &given, &a, &b, &steps))
        return NULL;
    const tieaware_evaluator evaluator = tieaware->prepare(given, 0);
    if (evaluator != 0) {
        tieaware->sizes(evaluator, &sizes);
        const int64_t n = sizes.n_docs;
        double *memory = (double *)malloc((size_t)(n + sizes.n_measures + 1) * sizeof(double));
        if (a.len != n * 8 || b.len != n * 8 || steps < 1) {
            code = TIEAWARE_WRONG_SIZE;
        } else if (memory != NULL) {
            Py_BEGIN_ALLOW_THREADS
            code = search(evaluator, (const double *)a.buf, (const double *)b.buf, memory, n, memory + n,
                          sizes.n_measures, steps, &t, &value);
            Py_END_ALLOW_THREADS
        }
        free(memory);
        tieaware->release(evaluator);
        if (code != TIEAWARE_OK)
            PyErr_SetString(PyExc_ValueError, tieaware->message(code));
    }
    PyBuffer_Release(&a);
    PyBuffer_Release(&b);
    return evaluator == 0 || code != TIEAWARE_OK ? NULL : Py_BuildValue("dd", t, value);
}

static PyMethodDef methods[] = {{"best", best_mixture, METH_VARARGS, "Return (t, value) of the best mixture."}, {0}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "mixture", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_mixture(void)
{
    tieaware = tieaware_import();
    return tieaware == NULL ? NULL : PyModule_Create(&definition);
}
