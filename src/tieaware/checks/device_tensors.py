"""Tensors that are not in the memory of the host, read where they are by the functions of their own library.

No library is imported. The functions are those of the array API standard, or torch's functions of the same names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.tensors import as_host, check_tensor
from tieaware.errors import InputError

# DLPack's numbers of the devices whose memory the host reads: kDLCPU, kDLCUDAHost and kDLROCMHost.
_HOST = (1, 3, 11)
# Types of scores that are compared as they are, and those that float32 represents exactly, which are converted.
_OWN = ("float64", "float32")
_CONVERTED = ("float16", "bfloat16", "bool", "int8", "uint8", "int16")

# True to treat tensors in the memory of the host as if they were on a device; tests set it.
FORCED = False


def on_device(values: Any) -> bool:
    """Return whether values are a tensor of scores on one device, not the host, that `DeviceScores` can read."""
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack_device__") or _namespace(values) is None:
        return False
    try:
        device = int(values.__dlpack_device__()[0])
    except (TypeError, ValueError, RuntimeError, BufferError, AttributeError, LookupError):
        # The tensor lives on several devices, or has no data. `as_host` says so.
        return False
    name = _name(values.dtype)
    return (FORCED or device not in _HOST) and (name in (*_OWN, *_CONVERTED) or name.startswith("float8_"))


def _namespace(tensor: Any) -> Any:
    """Return the module with the functions for a tensor; None if it has none."""
    if hasattr(tensor, "__array_namespace__"):
        return tensor.__array_namespace__()
    return sys.modules["torch"] if type(tensor).__module__.partition(".")[0] == "torch" else None


def _name(dtype: Any) -> str:
    """Return the name of a type, such as "float32"."""
    return str(dtype).rpartition(".")[2]


class DeviceScores:
    """A tensor of scores for which `on_device` is true; `name` is its name in messages.

    `dtype`, the type of its blocks of scores, is numpy.float64, or numpy.float32 for all other types.
    """

    def __init__(self, tensor: Any, name: str) -> None:
        check_tensor(tensor, name)
        self._tensor = tensor
        self._name = name
        self._xp = _namespace(tensor)
        self._is_torch = self._xp.__name__ == "torch"
        self._converted = _name(tensor.dtype) not in _OWN
        self.shape: tuple[int, ...] = tuple(map(int, tensor.shape))
        self.dtype: type[np.floating[Any]] = np.float64 if _name(tensor.dtype) == "float64" else np.float32

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Turn the errors of the library into InputError, and select the device where the library needs that."""
        device = self._tensor.device if self._xp.__name__ == "cupy" else nullcontext()
        try:
            with device:
                yield
        except (TypeError, ValueError, RuntimeError, BufferError) as error:
            kind, reason = type(self._tensor).__name__, " ".join(str(error).split())
            raise InputError(self._name, f"a {kind} cannot be read on its device: {reason}") from None

    def at(self, *indices: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Return the scores at these indices, an array for each dimension, on the host."""
        with self._reading():
            return self.host(self._float(self._picked(*map(self.put, indices))))

    def rows(self, first: int, last: int, low: int, high: int, length: int) -> Any:
        """Return the columns low … high - 1 of some rows; one-dimensional scores are rows of this length."""
        with self._reading():
            if len(self.shape) == 1:
                some = self._xp.reshape(self._tensor[first * length : last * length], (last - first, length))
                return self._float(some[:, low:high])
            return self._float(self._tensor[first:last, low:high])

    def padded(self, starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64], low: int, high: int) -> Any:
        """Return the columns low … high - 1 of lists of different sizes in one dimension, filled up with -inf."""
        xp = self._xp
        with self._reading():
            columns = np.arange(low, high)
            inside = self.put(columns[None, :]) < self.put(sizes[:, None])
            places = self.put(np.minimum(starts, self.shape[0] - 1)[:, None]) + self.put(columns[None, :])
            places = xp.where(inside, places, xp.zeros_like(places))
            some = xp.reshape(self._float(self._picked(xp.reshape(places, (-1,)))), (len(starts), high - low))
            return xp.where(inside, some, xp.full_like(some, -float("inf")))

    def counts(self, block: Any, low: npt.NDArray[Any], high: npt.NDArray[Any]) -> tuple[Any, Any, Any]:
        """Count, for each row and threshold, the scores above `high` and those of at least `low`; find the maxima.

        The thresholds have the shape (rows, m). The results stay on the device. A maximum is NaN if a score is.
        """
        xp = self._xp
        with self._reading():
            wide = block[:, None, :]
            most = self.put(high)
            least = most if low is high else self.put(low)
            above = self._count(wide > most[:, :, None])
            at_least = self._count(wide >= least[:, :, None])
            return above, at_least, xp.amax(block, -1) if self._is_torch else xp.max(block, axis=-1)

    def missing(self, block: Any) -> npt.NDArray[np.int64]:
        """Count the NaNs of each row."""
        with self._reading():
            return self.host(self._count(block != block)).astype(np.int64)

    def put(self, array: npt.NDArray[Any]) -> Any:
        """Copy an array to the device."""
        options = {} if self._xp.__name__ == "cupy" else {"device": self._tensor.device}
        return self._xp.asarray(np.array(array), **options)

    def host(self, tensor: Any) -> npt.NDArray[Any]:
        """Copy a tensor to the host."""
        return as_host(tensor, self._name)

    def _picked(self, *indices: Any) -> Any:
        """Return the elements at indices that are on the device. Not every device picks floats of one byte."""
        if self._is_torch and self._tensor.dtype.is_floating_point and self._tensor.dtype.itemsize == 1:
            return self._tensor.view(self._xp.uint8)[indices].view(self._tensor.dtype)
        return self._tensor[indices]

    def _float(self, some: Any) -> Any:
        """Convert scores of a small type to float32, exactly."""
        if not self._converted:
            return some
        if self._is_torch:
            return some.to(self._xp.float32)
        return some.astype(np.float32) if hasattr(some, "astype") else self._xp.astype(some, self._xp.float32)

    def _count(self, mask: Any) -> Any:
        if self._is_torch:
            return self._xp.sum(mask, -1, dtype=self._xp.int32 if mask.shape[-1] < 2**31 else self._xp.int64)
        return self._xp.count_nonzero(mask, axis=-1)
