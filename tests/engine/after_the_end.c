/* A module whose calls of the C interface run once more after Python has ended. */
#define PY_SSIZE_T_CLEAN
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tieaware.h>

enum { MOST = 64, VALUES = 64 };

typedef struct {
    tieaware_evaluator evaluator;
    int32_t function, n_values, code;
    tieaware_scores scores;
    double numbers[VALUES], values[VALUES];
} call;

static const tieaware_functions *tieaware;
static call calls[MOST];
static int n_calls = 0;

static int32_t run(const call *one, double *values)
{
    int32_t (*const functions[])(tieaware_evaluator, const tieaware_scores *, double *, int64_t) = {
        tieaware->evaluate, tieaware->mean, tieaware->spread,
    };
    return functions[one->function](one->evaluator, &one->scores, values, one->n_values);
}

/* Prints the code of each call, and whether it has the values of the same call while Python ran. */
static void run_all(void)
{
    printf("%s\n", Py_IsInitialized() ? "Python runs" : "Python has ended");
    for (int i = 0; i < n_calls; i++) {
        double values[VALUES];
        const int32_t code = run(&calls[i], values);
        const int same = code != TIEAWARE_OK || !memcmp(values, calls[i].values, calls[i].n_values * sizeof(double));
        printf("%d %d\n", code, same);
    }
    for (int i = 0; i < n_calls; i++) tieaware->release(calls[i].evaluator);
    printf("released\n");
    fflush(stdout);
}

/* add(evaluator, function, n_values, scores as bytes, their size): makes a call now, and again after Python's end. */
static PyObject *add(PyObject *self, PyObject *args)
{
    PyObject *evaluator;
    const char *bytes;
    Py_ssize_t n_bytes;
    int size;
    call *one = &calls[n_calls];
    (void)self;
    if (!PyArg_ParseTuple(args, "Oiiy#i", &evaluator, &one->function, &one->n_values, &bytes, &n_bytes, &size))
        return NULL;
    memcpy(one->numbers, bytes, (size_t)n_bytes);
    one->scores.data = one->numbers;
    one->scores.stride = size;
    one->scores.size = n_bytes / size;
    one->scores.type = size == 8 ? TIEAWARE_FLOAT64 : TIEAWARE_FLOAT32;
    one->evaluator = tieaware->prepare(evaluator, one->function == 2 ? TIEAWARE_WITH_SPREAD : 0);
    if (one->evaluator == 0) return NULL;
    one->code = run(one, one->values);
    if (n_calls++ == 0) atexit(run_all);
    return PyLong_FromLong(one->code);
}

static PyMethodDef methods[] = {{"add", add, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "after_the_end", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_after_the_end(void)
{
    tieaware = tieaware_import();
    return tieaware == NULL ? NULL : PyModule_Create(&module);
}
