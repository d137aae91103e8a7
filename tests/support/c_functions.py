"""The functions of the C interface, called through ctypes: without a compiler, and without the GIL."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint64, c_void_p, py_object
from typing import Any

import numpy as np

from tieaware.kernels import _c_interface

OK, NO_EVALUATOR, NULL_POINTER, WRONG_SIZE, WRONG_TYPE, UNALIGNED = range(6)
NAN, NO_SPREAD, NO_QUERIES, REFUSED, NO_MEMORY = range(6, 11)
WITH_SPREAD = 1
TYPES = {np.dtype(np.float64): 0, np.dtype(np.float32): 1}


class Scores(ctypes.Structure):
    _fields_ = (("data", c_void_p), ("size", c_int64), ("stride", c_int64), ("type", c_int32))


class Sizes(ctypes.Structure):
    _fields_ = (("n_queries", c_int64), ("n_docs", c_int64), ("n_measures", c_int64))


CALL = ctypes.CFUNCTYPE(c_int32, c_uint64, POINTER(Scores), c_void_p, c_int64)


class Functions(ctypes.Structure):
    _fields_ = (
        ("version", c_int32),
        ("size", c_int32),
        ("prepare", ctypes.PYFUNCTYPE(c_uint64, py_object, c_int32)),
        ("sizes", ctypes.CFUNCTYPE(c_int32, c_uint64, POINTER(Sizes))),
        ("evaluate", CALL),
        ("mean", CALL),
        ("spread", CALL),
        ("release", ctypes.CFUNCTYPE(c_int32, c_uint64)),
        ("message", ctypes.CFUNCTYPE(c_char_p, c_int32)),
    )


def imported() -> Functions:
    """Return the struct of functions that the header finds."""
    address = ctypes.pythonapi.PyCapsule_GetPointer
    address.restype, address.argtypes = c_void_p, (py_object, c_char_p)
    name = b"tieaware.kernels._c_interface.functions"
    return Functions.from_address(address(_c_interface.functions, name))


FUNCTIONS = imported()


def scores_of(array: Any, stride: int | None = None) -> Scores:
    """Describe a one-dimensional array of float64 or float32, with its stride."""
    return Scores(array.ctypes.data, array.size, stride or array.strides[0], TYPES[array.dtype])


def called(name: str, handle: int, scores: Any, shape: tuple[int, ...]) -> tuple[int, Any]:
    """Call evaluate, mean or spread; return the code and the values."""
    values = np.full(shape, -7.0)
    described = scores if isinstance(scores, Scores) else scores_of(scores)
    code = getattr(FUNCTIONS, name)(handle, ctypes.byref(described), values.ctypes.data, values.size)
    return code, values
