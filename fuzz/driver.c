/* libFuzzer with an embedded Python. A target is a module in this folder with the functions one_input(bytes) and tally().

   This is an executable of its own, instead of a Python with preloaded sanitizers, so that the kernels link to a single
   runtime of libFuzzer, the address sanitizer and the undefined-behaviour sanitizer, and report their coverage to it.
   If one_input raises an exception, the driver prints it and aborts, and libFuzzer saves the input.

   Environment variables: FUZZ_TARGET is the name of the module, FUZZ_FOLDER its folder, and FUZZ_PYTHON the interpreter
   whose packages are imported. */

#include <Python.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static PyObject *one_input, *tally;

static void require(int condition)
{
    if (!condition) {
        PyErr_Print();
        fflush(NULL);
        abort();
    }
}

/* Calls tally() at exit: libFuzzer ends the process by exit(), which does not run Python's own exit handlers. */
static void print_tally(void)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *done = PyObject_CallNoArgs(tally);
    if (done == NULL)
        PyErr_Print();
    PyGILState_Release(state);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    PyConfig config;
    PyObject *module, *path;
    (void)argc;
    if (!getenv("FUZZ_TARGET") || !getenv("FUZZ_PYTHON") || !getenv("FUZZ_FOLDER")) {
        fputs("start this program with fuzz/run\n", stderr);
        exit(2);
    }
    PyConfig_InitPythonConfig(&config);
    /* Leave Ctrl-C to libFuzzer, which then prints its report. */
    config.install_signal_handlers = 0;
    PyConfig_SetBytesString(&config, &config.program_name, getenv("FUZZ_PYTHON"));
    PyStatus status = Py_InitializeFromConfig(&config);
    if (PyStatus_Exception(status))
        Py_ExitStatusException(status);
    PyConfig_Clear(&config);
    path = PyUnicode_FromString(getenv("FUZZ_FOLDER"));
    require(path != NULL && PyList_Append(PySys_GetObject("path"), path) == 0);
    module = PyImport_ImportModule(getenv("FUZZ_TARGET"));
    require(module != NULL);
    one_input = PyObject_GetAttrString(module, "one_input");
    tally = PyObject_GetAttrString(module, "tally");
    require(one_input != NULL && tally != NULL);
    atexit(print_tally);
    (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PyObject *input = PyBytes_FromStringAndSize((const char *)data, (Py_ssize_t)size);
    require(input != NULL);
    PyObject *done = PyObject_CallOneArg(one_input, input);
    require(done != NULL);
    Py_DECREF(done);
    Py_DECREF(input);
    return 0;
}
