"""Tensors like those of torch, without torch."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

NUMPY_CALL = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."


class Tensor:
    """A tensor like torch's. NumPy can read it only if it is detached, in host memory, and of a type that NumPy has."""

    def __init__(self, values, dtype="float32", device="cuda", requires_grad=False):
        self._values = np.asarray(values, dtype)
        self._device, self.requires_grad = device, requires_grad
        small = self._values.dtype.isbuiltin != 1
        is_float = small or self._values.dtype.kind == "f"
        self.dtype = SimpleNamespace(is_floating_point=is_float, itemsize=self._values.dtype.itemsize)

    def detach(self):
        return Tensor(self._values, self._values.dtype, self._device, False)

    def cpu(self):
        return Tensor(self._values, self._values.dtype, "cpu", self.requires_grad)

    def float(self):
        return Tensor(self._values, "float32", self._device, self.requires_grad)

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad:
            raise RuntimeError(NUMPY_CALL)
        if self._device != "cpu":
            raise TypeError("can't convert cuda:0 device type tensor to numpy.")
        if self._values.dtype.isbuiltin != 1:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self._values.astype(dtype) if dtype else self._values

    def __dlpack__(self, **options):
        raise BufferError("Can't export tensors that require gradient")

    def __dlpack_device__(self):
        return (2, 0)

    def __float__(self):
        return float(self._values)

    def __len__(self):
        return len(self._values)

    def __iter__(self):
        return (Tensor(value, self._values.dtype, requires_grad=self.requires_grad) for value in self._values)
