"""Files of nearest-neighbour benchmarks: vectors, true neighbours and the answers of a search."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.errors import InputError
from tieaware.inputs.files import reason, source_name
from tieaware.runtime.extras import load

_INT32: np.dtype[Any] = np.dtype("<i4")
_FLOAT32: np.dtype[Any] = np.dtype("<f4")
# TEXMEX: each vector begins with its dimension, a 32-bit integer.
_VECS: dict[str, np.dtype[Any]] = {".fvecs": _FLOAT32, ".ivecs": _INT32, ".bvecs": np.dtype("u1")}
# big-ann-benchmarks: the file begins with the number of vectors and their dimension.
_BIN = {".fbin": _FLOAT32, ".ibin": _INT32, ".u8bin": _VECS[".bvecs"], ".i8bin": np.dtype("i1")}
_TRUTH = (".bin", ".ibin", ".fbin")
_HDF5 = (".hdf5", ".h5")


class Neighbours(NamedTuple):
    """The nearest neighbours of each query, the nearest first.

    Attributes
    ----------
    ids : integers, shape (n_queries, depth)
        The neighbours. A negative number means that there is none, as in faiss.
    distances : real numbers, shape (n_queries, depth), or None
        The distance, or similarity, of each neighbour.

    Examples
    --------
    >>> from tieaware.integrations.nearest_neighbours import Neighbours
    >>> Neighbours([[7, 3]], [[0.5, 0.5]]).ids
    [[7, 3]]
    """

    ids: npt.ArrayLike
    distances: npt.ArrayLike | None = None


def read_neighbours(path: str | os.PathLike[str]) -> Neighbours:
    """Read true neighbours, or the answers of a search.

    Parameters
    ----------
    path : str or path
        A file of one of these kinds. Arrays are memory-mapped, except those in HDF5.

        - ``.bin``, ``.ibin``, ``.fbin`` of big-ann-benchmarks: two 32-bit integers, the number of queries and the
          depth, then all ids, then all distances. The file's size says whether it has distances.
        - ``.ivecs`` of TEXMEX: the ids. Distances are in an ``.fvecs`` file, if there are any: see `read_vectors`.
        - ``.hdf5``, ``.h5`` of ann-benchmarks, a data set or a result: its arrays ``neighbors`` and ``distances``.

    Returns
    -------
    Neighbours
        The distances are None if the file has none.

    Raises
    ------
    InputError
        If the file cannot be read, or is not what its name says.
    MissingExtraError
        If the file is HDF5 and h5py is not installed.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "truth.bin"
    >>> header, ids, distances = np.uint32([1, 3]), np.int32([[4, 8, 6]]), np.float32([[0.5, 0.5, 2.0]])
    >>> _ = path.write_bytes(header.tobytes() + ids.tobytes() + distances.tobytes())
    >>> read_neighbours(path).distances
    memmap([[0.5, 0.5, 2. ]], dtype=float32)
    """
    suffix = _suffix(path, (*_TRUTH, ".ivecs", *_HDF5))
    if suffix in _HDF5:
        return _read_hdf5(path)
    if suffix == ".ivecs":
        return Neighbours(read_vectors(path))
    contents = _mapped(path)
    n, depth = _header(contents, path)
    size = n * depth * _INT32.itemsize
    body = contents[8:]
    has_distances = len(body) == 2 * size
    if not has_distances and (len(body) != size or suffix == ".fbin"):
        found = f"the file has {len(contents):,}"
        raise InputError(
            source_name(path), f"{n:,} queries with {depth:,} ids and distances need {8 + 2 * size:,} bytes; {found}"
        )
    ids = body[:size].view(_INT32).reshape(n, depth)
    return Neighbours(ids, body[size:].view(_FLOAT32).reshape(n, depth) if has_distances else None)


def read_vectors(path: str | os.PathLike[str]) -> npt.NDArray[Any]:
    """Read vectors: the ids or the distances of neighbours, or the points themselves.

    Parameters
    ----------
    path : str or path
        A file of TEXMEX (``.fvecs``, ``.ivecs``, ``.bvecs``) or of big-ann-benchmarks (``.fbin``, ``.ibin``,
        ``.u8bin``, ``.i8bin``).

    Returns
    -------
    array of float32, int32, uint8 or int8, shape (n, dimension)
        Memory-mapped, for reading.

    Raises
    ------
    InputError
        If the file cannot be read, or is not what its name says.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "truth.ivecs"
    >>> _ = path.write_bytes(np.int32([2, 7, 3, 2, 5, 7]).tobytes())     # each vector begins with its dimension, 2
    >>> read_vectors(path).tolist()
    [[7, 3], [5, 7]]
    """
    suffix = _suffix(path, (*_VECS, *_BIN))
    contents = _mapped(path)
    if suffix in _VECS:
        return _split_vecs(contents, _VECS[suffix], path)
    dtype = _BIN[suffix]
    n, dimension = _header(contents, path)
    size = 8 + n * dimension * dtype.itemsize
    if len(contents) != size:
        problem = f"{n:,} vectors of dimension {dimension:,} need {size:,} bytes; the file has {len(contents):,}"
        raise InputError(source_name(path), problem)
    return contents[8:].view(dtype).reshape(n, dimension)


def _suffix(path: str | os.PathLike[str], known: tuple[str, ...]) -> str:
    """Return the suffix of a file's name in lower case, which must be a known one."""
    suffix = os.path.splitext(os.fsdecode(path))[1].lower()
    if suffix not in known:
        raise InputError(source_name(path), f"the name must end in one of {', '.join(dict.fromkeys(known))}")
    return suffix


def _mapped(path: str | os.PathLike[str]) -> npt.NDArray[np.uint8]:
    """Map the bytes of a file into memory, for reading."""
    try:
        if os.path.getsize(path) == 0:
            raise InputError(source_name(path), "the file is empty")
        return np.memmap(path, np.uint8, "r")
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(source_name(path), f"the file cannot be read: {reason(error)}") from None


def _header(contents: npt.NDArray[np.uint8], path: str | os.PathLike[str]) -> tuple[int, int]:
    """Return the two numbers at the beginning of a file of big-ann-benchmarks."""
    if len(contents) < 8:
        raise InputError(source_name(path), f"the file has {len(contents)} bytes, fewer than its header of 8")
    n, dimension = contents[:8].view("<u4").tolist()
    return n, dimension


def _split_vecs(
    contents: npt.NDArray[np.uint8], dtype: np.dtype[Any], path: str | os.PathLike[str]
) -> npt.NDArray[Any]:
    """Return the vectors of a TEXMEX file without the dimension before each; all dimensions must be equal."""
    dimension = int(contents[:4].view(_INT32)[0]) if len(contents) >= 4 else 0
    if dimension <= 0:
        raise InputError(source_name(path), "the file does not begin with the dimension of a vector")
    stride = 4 + dimension * dtype.itemsize
    if len(contents) % stride:
        problem = f"vectors of dimension {dimension:,} take {stride:,} bytes each; the file has {len(contents):,}"
        raise InputError(source_name(path), problem)
    rows = contents.reshape(-1, stride)
    wrong = (rows[:, :4] != rows[0, :4]).any(axis=1)
    if wrong.any():
        i = int(wrong.argmax())
        problem = f"vector {i} has the dimension {int(rows[i, :4].copy().view(_INT32)[0])}, and vector 0 {dimension}"
        raise InputError(source_name(path), problem)
    # A view of 4-byte numbers needs rows that begin at multiples of 4 bytes, which they do: so does the file.
    return rows[:, 4:] if dtype.itemsize == 1 else contents.view(dtype).reshape(len(rows), -1)[:, 1:]


def _read_hdf5(path: str | os.PathLike[str]) -> Neighbours:
    """Read the arrays "neighbors" and "distances" of a file of ann-benchmarks."""
    h5py = load("h5py", "h5py")
    try:
        with h5py.File(path, "r") as file:
            if "neighbors" not in file:
                raise InputError(source_name(path), "there is no array 'neighbors'")
            return Neighbours(_read_array(file, "neighbors", path), _read_array(file, "distances", path))
    except (OSError, RuntimeError, KeyError) as error:
        raise InputError(source_name(path), f"the file cannot be read as HDF5: {reason(error)}") from None


def _read_array(file: Any, name: str, path: str | os.PathLike[str]) -> Any:
    """Return a two-dimensional array of numbers from an HDF5 file, or None if there is none of this name."""
    if name not in file:
        return None
    shape, dtype = (getattr(file[name], attribute, None) for attribute in ("shape", "dtype"))
    if shape is None or dtype is None or len(shape) != 2 or dtype.kind not in "iuf":
        raise InputError(source_name(path), f"{name!r} is not a two-dimensional array of numbers")
    return file[name][:]
