"""Sparse matrices in CSR form, made without SciPy."""

from typing import Any, NamedTuple

import numpy as np


class Sparse(NamedTuple):
    """A matrix in CSR form that has only the attributes which tieaware reads."""

    indptr: Any
    indices: Any
    data: Any
    shape: Any


def sparse(there: np.ndarray, data: np.ndarray) -> Sparse:
    """Make a matrix in CSR form from the entries of `data` at which `there` is True."""
    return Sparse(np.append(0, there.sum(axis=1).cumsum()), np.nonzero(there)[1], data[there], there.shape)
