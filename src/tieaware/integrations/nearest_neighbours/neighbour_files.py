"""Files of nearest-neighbour benchmarks: vectors, true neighbours and the answers of a search."""

from __future__ import annotations

import math
import os
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import path_text
from tieaware.errors import InputError
from tieaware.inputs.files.byte_streams import RegularFile, regular_file
from tieaware.inputs.files.paths import reason, source_name
from tieaware.runtime.extras import load

_INT32: np.dtype[Any] = np.dtype("<i4")
_FLOAT32: np.dtype[Any] = np.dtype("<f4")
# TEXMEX: each vector begins with its dimension, a 32-bit integer.
_VECS: dict[str, np.dtype[Any]] = {".fvecs": _FLOAT32, ".ivecs": _INT32, ".bvecs": np.dtype("u1")}
# big-ann-benchmarks: the file begins with the number of vectors and their dimension.
_BIN = {".fbin": _FLOAT32, ".ibin": _INT32, ".u8bin": _VECS[".bvecs"], ".i8bin": np.dtype("i1")}
_TRUTH = (".bin", ".ibin", ".fbin")
_HDF5 = (".hdf5", ".h5")
# The filters of HDF5 that are read, by number, with the most bytes that each makes of one: deflate (gzip), shuffle,
# fletcher32 and lzf. Others, such as scale-offset, crash if the file has wrong parameters for them.
_FILTERS = {1: 1032, 2: 1, 3: 1, 32000: 88}


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
        A file of one of these kinds. Its arrays are read into memory.

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
    array([[0.5, 0.5, 2. ]], dtype=float32)
    """
    suffix = _suffix(path, (*_TRUTH, ".ivecs", *_HDF5))
    if suffix in _HDF5:
        return _read_hdf5(path)
    if suffix == ".ivecs":
        return Neighbours(read_vectors(path))
    with regular_file(path) as file:
        n, depth = _header(file, path)
        size = n * depth * _INT32.itemsize
        has_distances = file.size == 8 + 2 * size
        if not has_distances and (file.size != 8 + size or suffix == ".fbin"):
            needed = f"{n:,} queries with {depth:,} ids and distances need {8 + 2 * size:,} bytes"
            raise InputError(source_name(path), f"{needed}; the file has {file.size:,}")
        ids = file.read(n * depth, _INT32, at=8).reshape(n, depth)
        distances = file.read(n * depth, _FLOAT32, at=8 + size).reshape(n, depth) if has_distances else None
        return Neighbours(ids, distances)


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
    with regular_file(path) as file:
        if suffix in _VECS:
            return _read_vecs(file, _VECS[suffix], path)
        dtype = _BIN[suffix]
        n, dimension = _header(file, path)
        size = 8 + n * dimension * dtype.itemsize
        if file.size != size:
            problem = f"{n:,} vectors of dimension {dimension:,} need {size:,} bytes; the file has {file.size:,}"
            raise InputError(source_name(path), problem)
        return file.read(n * dimension, dtype, at=8).reshape(n, dimension)


def _suffix(path: str | os.PathLike[str], known: tuple[str, ...]) -> str:
    """Return the suffix of a file's name in lower case, which must be a known one."""
    suffix = os.path.splitext(path_text("path", path))[1].lower()
    if suffix not in known:
        raise InputError(source_name(path), f"the name must end in one of {', '.join(dict.fromkeys(known))}")
    return suffix


def _header(file: RegularFile, path: str | os.PathLike[str]) -> tuple[int, int]:
    """Read the two numbers at the beginning of a file of big-ann-benchmarks."""
    if file.size < 8:
        found = f"the file has {file.size} bytes, fewer than its header of 8" if file.size else "the file is empty"
        raise InputError(source_name(path), found)
    n, dimension = file.read(2, "<u4").tolist()
    return n, dimension


def _read_vecs(file: RegularFile, dtype: np.dtype[Any], path: str | os.PathLike[str]) -> npt.NDArray[Any]:
    """Read the vectors of a TEXMEX file without the dimension before each; all dimensions must be equal."""
    start = file.read(min(file.size, 4))
    dimension = int(start.view(_INT32)[0]) if len(start) == 4 else 0
    if dimension <= 0:
        raise InputError(source_name(path), "the file does not begin with the dimension of a vector")
    stride = 4 + dimension * dtype.itemsize
    if file.size % stride:
        problem = f"vectors of dimension {dimension:,} take {stride:,} bytes each; the file has {file.size:,}"
        raise InputError(source_name(path), problem)
    contents = file.read(file.size)
    rows = contents.reshape(-1, stride)
    wrong = (rows[:, :4] != start).any(axis=1)
    if wrong.any():
        i = int(wrong.argmax())
        problem = f"vector {i} has the dimension {int(rows[i, :4].copy().view(_INT32)[0])}, and vector 0 {dimension}"
        raise InputError(source_name(path), problem)
    # A view of 4-byte numbers needs rows that begin at multiples of 4 bytes, which they do: so does the array.
    return rows[:, 4:] if dtype.itemsize == 1 else contents.view(dtype).reshape(len(rows), -1)[:, 1:]


def _read_hdf5(path: str | os.PathLike[str]) -> Neighbours:
    """Read the arrays "neighbors" and "distances" of a file of ann-benchmarks."""
    h5py = load("h5py", "h5py")
    with regular_file(path) as opened:
        try:
            with h5py.File(path_text("path", path), "r") as file:
                ids, distances = (_read_array(file, name, opened.size, path) for name in ("neighbors", "distances"))
        except (InputError, MemoryError):
            raise
        except Exception as error:
            # A damaged file can raise any exception in h5py.
            raise InputError(source_name(path), f"the file cannot be read as HDF5: {reason(error)}") from None
        # HDF5 fills what a cut file lacks with zeros.
        opened.check_size()
    if ids is None:
        raise InputError(source_name(path), "there is no array 'neighbors'")
    return Neighbours(ids, distances)


def _read_array(file: Any, name: str, file_size: int, path: str | os.PathLike[str]) -> Any:
    """Return a two-dimensional array of numbers from an HDF5 file, or None if there is none of this name.

    All its numbers must be stored in this file. HDF5 would follow links into any other file, also into one that the
    author of this file cannot read, or wait for a pipe. It would fill an array that is not stored with zeros.
    """
    h5py = load("h5py", "h5py")
    link = file.get(name, getlink=True)
    if link is None:
        return None
    where = source_name(path)
    if not isinstance(link, h5py.HardLink):
        raise InputError(where, f"{name!r} is a link to another place: copy the array into the file")
    array = file[name]
    # Finding the shape of a virtual array would already open other files.
    if isinstance(array, h5py.Dataset) and (array.is_virtual or array.external):
        raise InputError(where, f"{name!r} is stored in other files: copy the array into this file")
    if not isinstance(array, h5py.Dataset) or len(shape := array.shape or ()) != 2 or array.dtype.kind not in "iuf":
        raise InputError(where, f"{name!r} is not a two-dimensional array of numbers")
    properties = array.id.get_create_plist()
    filters = [properties.get_filter(i)[0] for i in range(properties.get_nfilters())]
    ratios = [_FILTERS.get(each, 0) for each in filters]
    if 0 in ratios or len(ratios) - ratios.count(1) > 1:
        raise InputError(where, f"{name!r} has filters that are not read: store it with gzip, lzf or no filter")
    if not _is_whole(array, max(ratios, default=1), file_size):
        size, stored = math.prod(shape) * array.dtype.itemsize, array.id.get_storage_size()
        found = f"an array of {size:,} bytes, of which {stored:,} are stored in a file of {file_size:,}"
        raise InputError(where, f"{name!r} is not complete: {found}")
    return array[:]


def _is_whole(array: Any, ratio: int, file_size: int) -> bool:
    """Return whether all numbers of an array are stored in the file, and take at most `ratio` times their bytes."""
    chunks = array.chunks or array.shape
    size = math.prod(chunks) * array.dtype.itemsize
    if array.chunks is None:
        return bool(size <= array.id.get_storage_size() <= file_size)
    stored: list[Any] = []
    array.id.chunk_iter(stored.append)
    firsts = [range(0, n, step) for n, step in zip(array.shape, chunks, strict=True)]
    return (
        len(stored) == math.prod(map(len, firsts))
        and {each.chunk_offset for each in stored} == set(product(*firsts))
        and sum(each.size for each in stored) <= file_size
        # HDF5 crashes on a chunk that is shorter than its checksum of 4 bytes.
        and all(size <= each.size * ratio and each.size > 4 for each in stored)
    )
