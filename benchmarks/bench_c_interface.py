"""The C interface: calls of one list from C in a loop, against one call of as many lists, which is the kernel alone."""

from __future__ import annotations

import ctypes
import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieaware
from benchmarks.compiling import library, needs_compiler
from benchmarks.ratios import seconds
from benchmarks.workloads import assert_reference, distinct_scores, labels
from tieaware.kernels import _c_interface

CALLS = 200
# The most that a call may take beyond the kernel, in seconds.
OVERHEAD = 50e-9
SECTION = "C interface"
PYTHON_H = Path(sysconfig.get_path("include")) / "Python.h"


def loop_in_c(folder: Path) -> tuple[Any, Any]:
    """Compile the loop; return it, and the address of the functions of the C interface."""
    folders = [f"-I{tieaware.get_include()}", f"-I{PYTHON_H.parent}"]
    loop = ctypes.PyDLL(library("c_interface_loop.c", folder, *folders)).evaluate_often
    integer, pointer = ctypes.c_int64, ctypes.c_void_p
    loop.argtypes = pointer, ctypes.c_uint64, pointer, integer, pointer, integer, integer
    address = ctypes.pythonapi.PyCapsule_GetPointer
    address.restype, address.argtypes = pointer, (ctypes.py_object, ctypes.c_char_p)
    return loop, address(_c_interface.functions, b"tieaware.kernels._c_interface.functions")


@needs_compiler
@pytest.mark.skipif(not PYTHON_H.exists(), reason="no Python.h")
@pytest.mark.parametrize("measures", [("RR@10",), ("AP", "RR@10", "nDCG@10", "R@1000")], ids=["one", "four"])
@pytest.mark.parametrize("length", [20, 100])
def test_calls(compare, tmp_path, length, measures):
    loop, functions = loop_in_c(tmp_path)
    prepare = ctypes.PYFUNCTYPE(ctypes.c_uint64, ctypes.py_object, ctypes.c_int32)(
        ctypes.c_void_p.from_address(functions + 8).value
    )
    judged, scores = labels(1, length, 3), distinct_scores(1, length)
    many, same = np.tile(judged, (CALLS, 1)), np.tile(scores, (CALLS, 1))
    one, all_of_them = (prepare(tieaware.Evaluator(each, measures), 0) for each in (judged, many))
    value, values = np.empty((1, len(measures))), np.empty((CALLS, len(measures)))

    def from_c() -> None:
        assert loop(functions, one, scores.ctypes.data, length, value.ctypes.data, value.size, CALLS) == 0

    def kernel() -> None:
        assert loop(functions, all_of_them, same.ctypes.data, same.size, values.ctypes.data, values.size, 1) == 0

    def check() -> None:
        from_c()
        kernel()
        assert {row.tobytes() for row in values} == {value.tobytes()}
        assert_reference(value, scores, judged, measures, lists=[0])

    alone = min(seconds(kernel) for _ in range(200)) / CALLS
    n = len(measures)
    compare(
        SECTION, f"{CALLS} calls from C of one list of {length}, {n} measure{'s' if n > 1 else ''}", check=check,
        contender=from_c, baseline=kernel, to="one call of all lists",
        at_most=round(1 + OVERHEAD / alone, 2), calls=20,
    )  # fmt: skip
