"""Arrays of other libraries as NumPy's: detached, on the host, of a type that NumPy has.

No library is imported: an object is asked for the methods that arrays have.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import unexpected

_HOST = 1  # DLPack's kDLCPU


def is_tensor(values: Any) -> bool:
    """Whether a value, or a type, says that it can be read as an array, and is not NumPy's."""
    kind = values if isinstance(values, type) else type(values)
    readable = hasattr(values, "__array__") or hasattr(values, "__dlpack__") or hasattr(values, "__array_interface__")
    return readable and not issubclass(kind, np.ndarray | np.generic)


def as_host(tensor: Any, where: str) -> npt.NDArray[Any]:
    """Return a tensor as an array on the host, whatever its device; floats of under 32 bits as float32, which is exact.

    Raises
    ------
    InputError
        If NumPy cannot read it, such as one that is sparse or quantised.
    """
    try:
        if hasattr(tensor, "detach"):
            tensor = tensor.detach()
        if hasattr(tensor, "cpu"):
            tensor = tensor.cpu()
        # NumPy has no bfloat16, and no float of 8 bits.
        dtype: Any = getattr(tensor, "dtype", None)
        if getattr(dtype, "is_floating_point", False) and dtype.itemsize < 4:
            tensor = tensor.float()
        return _read(tensor)
    except (TypeError, ValueError, RuntimeError, BufferError, OverflowError, AttributeError, LookupError) as error:
        why = " ".join(str(error).split())
        raise unexpected(where, "an array of numbers", f"a {type(tensor).__name__}: {why}") from None


def _read(tensor: Any) -> npt.NDArray[Any]:
    """Return the array that an object offers; from another device by DLPack, where the object can be copied so."""
    if hasattr(tensor, "__array__") or hasattr(tensor, "__array_interface__"):
        try:
            return np.asarray(tensor)
        except TypeError:
            # CuPy has none implicitly; whatever else cannot be read has said why.
            with suppress(Exception):
                return _of_dlpack(tensor)
            raise
    return _of_dlpack(tensor)


def _of_dlpack(tensor: Any) -> npt.NDArray[Any]:
    if tensor.__dlpack_device__()[0] == _HOST:
        return np.from_dlpack(tensor)
    return np.from_dlpack(tensor, device="cpu")


def as_builtin_dtype(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array of a type that another package registered, such as ml_dtypes' bfloat16, exactly as float32."""
    if array.dtype.isbuiltin == 2 and np.can_cast(array.dtype, np.float32):
        return array.astype(np.float32)
    return array
