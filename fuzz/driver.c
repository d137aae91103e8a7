/* libFuzzer with Python inside: a target is a module of this folder, with a function one_input(bytes).

   An executable of its own, and not Python with the sanitizers loaded first, so that the kernels find in it the one
   runtime of libFuzzer, of the address sanitizer and of the undefined behaviour sanitizer, and report to that what they
   cover. What one_input raises is a find: it is printed, and the process aborts, upon which libFuzzer keeps the input.

   The environment: FUZZ_TARGET is the module, FUZZ_PYTHON the interpreter whose packages are taken, FUZZ_FOLDER where the
   module is. */

#include <Python.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static PyObject *one_input, *tally;

static void must(int good)
{
    if (!good) {
        PyErr_Print();
        fflush(NULL);
        abort();
    }
}

/* libFuzzer ends by exit(), which Python does not hear of. */
static void tell(void)
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
        fputs("to be started by fuzz/run\n", stderr);
        exit(2);
    }
    PyConfig_InitPythonConfig(&config);
    /* Ctrl-C ends libFuzzer, with its report. */
    config.install_signal_handlers = 0;
    PyConfig_SetBytesString(&config, &config.program_name, getenv("FUZZ_PYTHON"));
    PyStatus status = Py_InitializeFromConfig(&config);
    if (PyStatus_Exception(status))
        Py_ExitStatusException(status);
    PyConfig_Clear(&config);
    path = PyUnicode_FromString(getenv("FUZZ_FOLDER"));
    must(path != NULL && PyList_Append(PySys_GetObject("path"), path) == 0);
    module = PyImport_ImportModule(getenv("FUZZ_TARGET"));
    must(module != NULL);
    one_input = PyObject_GetAttrString(module, "one_input");
    tally = PyObject_GetAttrString(module, "tally");
    must(one_input != NULL && tally != NULL);
    atexit(tell);
    (void)argv;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PyObject *input = PyBytes_FromStringAndSize((const char *)data, (Py_ssize_t)size);
    must(input != NULL);
    PyObject *done = PyObject_CallOneArg(one_input, input);
    must(done != NULL);
    Py_DECREF(done);
    Py_DECREF(input);
    return 0;
}
