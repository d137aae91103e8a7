"""Conversion of the tensors of other libraries, such as PyTorch, to NumPy arrays in the memory of the host.

None of these libraries is imported: their tensors are recognised by the methods that array types have.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.errors import InputError

_HOST = 1  # DLPack's kDLCPU


def is_tensor(values: Any) -> bool:
    """Return whether a value (or the values of a type) can be read as an array, but is not a NumPy array."""
    kind = values if isinstance(values, type) else type(values)
    readable = hasattr(values, "__array__") or hasattr(values, "__dlpack__") or hasattr(values, "__array_interface__")
    return readable and not issubclass(kind, np.ndarray | np.generic)


def check_tensor(tensor: Any, where: str) -> None:
    """Check that a tensor requires no gradients, which no measure has, and lives on one device."""
    # Such a tensor, of torch for example, records operations for gradients.
    if getattr(tensor, "requires_grad", False) is True:
        problem = "a tensor must not require gradients, because none flow through a measure: pass its detach()"
        raise InputError(where, problem)
    devices = _n_devices(tensor)
    if devices > 1:
        is_dtensor = hasattr(tensor, "full_tensor")
        remedy = "pass its full_tensor()" if is_dtensor else "copy it to one, as jax.device_put does"
        raise InputError(where, f"a tensor must be on one device, and this one is on {devices}: {remedy}")


def _n_devices(tensor: Any) -> int:
    """Return the number of devices on which an array of JAX or a DTensor of torch is; 1 for all others."""
    try:
        if hasattr(tensor, "device_mesh"):
            return int(tensor.device_mesh.size())
        return len(getattr(getattr(tensor, "sharding", None), "device_set", ())) or 1
    except (TypeError, ValueError, RuntimeError, AttributeError):
        # Another library's attribute of that name, or an array that JAX traces, whose conversion explains the problem.
        return 1


def as_host(tensor: Any, where: str) -> npt.NDArray[Any]:
    """Copy a tensor from any device to an array on the host; floats of fewer than 32 bits become float32, exactly.

    InputError is raised as by `check_tensor`, or if NumPy cannot read it, e.g. because it is sparse or quantised.
    """
    check_tensor(tensor, where)
    try:
        if hasattr(tensor, "cpu"):
            tensor = tensor.cpu()
        # NumPy has neither bfloat16 nor 8-bit floats, so convert them to float32.
        dtype: Any = getattr(tensor, "dtype", None)
        if getattr(dtype, "is_floating_point", False) and dtype.itemsize < 4:
            tensor = tensor.float()
        return _read(tensor)
    except (TypeError, ValueError, RuntimeError, BufferError, OverflowError, AttributeError, LookupError) as error:
        reason = " ".join(str(error).split())
        raise InputError(where, f"a {type(tensor).__name__} cannot be read as an array of numbers: {reason}") from None


def _read(tensor: Any) -> npt.NDArray[Any]:
    """Read a tensor as an array; use DLPack if it is on another device, such as a GPU."""
    if hasattr(tensor, "__array__") or hasattr(tensor, "__array_interface__"):
        try:
            return np.asarray(tensor)
        except TypeError:
            # CuPy refuses an implicit copy to the host, but exports DLPack. If DLPack fails, too, raise NumPy's error,
            # which explains the problem better.
            with suppress(Exception):
                return _from_dlpack(tensor)
            raise
    return _from_dlpack(tensor)


def _from_dlpack(tensor: Any) -> npt.NDArray[Any]:
    on_host = tensor.__dlpack_device__()[0] == _HOST
    return np.from_dlpack(tensor if on_host else _OnHost(tensor))


class _OnHost:
    """The copy on the host of a tensor on another device; the argument `device` of `from_dlpack` needs NumPy 2.1."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def __dlpack__(self, **options: Any) -> Any:
        return self._tensor.__dlpack__(**{**options, "dl_device": (_HOST, 0)})

    def __dlpack_device__(self) -> tuple[int, int]:
        return _HOST, 0


def as_builtin_dtype(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Convert an array of a type that another package registered, such as ml_dtypes' bfloat16, exactly to float32."""
    if array.dtype.isbuiltin == 2 and np.can_cast(array.dtype, np.float32):
        return array.astype(np.float32)
    return array
