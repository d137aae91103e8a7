"""Conversion of other libraries' arrays to NumPy: detached, on the host, of a type that NumPy has.

No library is imported here: objects are recognised by the methods that arrays have.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.errors import InputError

_HOST = 1  # DLPack's kDLCPU


def is_tensor(values: Any) -> bool:
    """Return whether a value, or a type, can be read as an array, and is not one of NumPy's."""
    kind = values if isinstance(values, type) else type(values)
    readable = hasattr(values, "__array__") or hasattr(values, "__dlpack__") or hasattr(values, "__array_interface__")
    return readable and not issubclass(kind, np.ndarray | np.generic)


def as_host(tensor: Any, where: str) -> npt.NDArray[Any]:
    """Copy a tensor from any device to an array on the host; floats of fewer than 32 bits become float32, exactly.

    Raises
    ------
    InputError
        If NumPy cannot read it, such as a sparse or quantised tensor.
    """
    try:
        if hasattr(tensor, "detach"):
            tensor = tensor.detach()
        if hasattr(tensor, "cpu"):
            tensor = tensor.cpu()
        # NumPy has no bfloat16 and no 8-bit floats.
        dtype: Any = getattr(tensor, "dtype", None)
        if getattr(dtype, "is_floating_point", False) and dtype.itemsize < 4:
            tensor = tensor.float()
        return _read(tensor)
    except (TypeError, ValueError, RuntimeError, BufferError, OverflowError, AttributeError, LookupError) as error:
        reason = " ".join(str(error).split())
        raise InputError(where, f"a {type(tensor).__name__} cannot be read as an array of numbers: {reason}") from None


def _read(tensor: Any) -> npt.NDArray[Any]:
    """Read a tensor as an array; with DLPack if it is on another device."""
    if hasattr(tensor, "__array__") or hasattr(tensor, "__array_interface__"):
        try:
            return np.asarray(tensor)
        except TypeError:
            # CuPy refuses an implicit copy to the host, but exports DLPack. If DLPack fails too, NumPy's error is the
            # better explanation.
            with suppress(Exception):
                return _from_dlpack(tensor)
            raise
    return _from_dlpack(tensor)


def _from_dlpack(tensor: Any) -> npt.NDArray[Any]:
    if tensor.__dlpack_device__()[0] == _HOST:
        return np.from_dlpack(tensor)
    return np.from_dlpack(tensor, device="cpu")


def as_builtin_dtype(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert an array of a type that another package registered, such as ml_dtypes' bfloat16, exactly to float32."""
    if array.dtype.isbuiltin == 2 and np.can_cast(array.dtype, np.float32):
        return array.astype(np.float32)
    return array
