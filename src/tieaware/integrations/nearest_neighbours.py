"""Recall at k of nearest-neighbour search, where neighbours are equally near, in the truth and in the answers.

The k nearest neighbours of a query are not unique if several points have the distance of the k-th. All of them are
right answers then. Likewise, if answers of equal distance straddle the cut-off, any of them may be the k-th: the recall
is the mean over their orders. Files of big-ann-benchmarks, ann-benchmarks and TEXMEX can be read.
"""

from __future__ import annotations

import math
import os
from itertools import product
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import flag, number, one_of, path_text, unexpected, whole_number
from tieaware.checks.arrays import Integers, Scores, Values, as_array, as_scores, element
from tieaware.errors import InputError
from tieaware.evaluator import Evaluator
from tieaware.inputs.files.byte_streams import RegularFile, regular_file
from tieaware.inputs.files.paths import reason, source_name
from tieaware.runtime.extras import load

# The tie rules that do not need identifiers.
NeighbourTieRule: TypeAlias = Literal["average", "run_order", "optimistic", "pessimistic"]
HitRule: TypeAlias = Literal["id", "distance"]
Flags: TypeAlias = npt.NDArray[np.bool_]

# The number of ids that are compared together. So many fit in the processor's second-level cache.
_IDS_AT_ONCE = 1 << 15
# The sum of a distance and its slack stays finite.
_LARGEST_SLACK = 1e100


class TruthTies(NamedTuple):
    """How many points are as near as the k-th neighbour of each query, or nearer.

    Attributes
    ----------
    counts : int64[n_queries]
        The number of points in the truth that count as right answers: k, or more if points tie with the k-th.
    cut : bool[n_queries]
        True if the last neighbour of the truth still counts, so that points beyond it may count, too.
    """

    counts: Integers
    cut: Flags


def recall(
    truth: Any,
    answers: Any,
    k: int,
    *,
    by: HitRule = "id",
    atol: float = 0.0,
    rtol: float = 0.0,
    similarity: bool = False,
    ties: NeighbourTieRule = "average",
) -> Values:
    """Return the recall at k of each query: the share of its first k answers that are among its nearest neighbours.

    All points as near as the k-th neighbour are right answers. The divisor is k, also if there are fewer answers; it is
    smaller only if the whole data set has fewer points.

    Parameters
    ----------
    truth : Neighbours, (ids, distances), or integers of shape (n_queries, depth)
        The true neighbours of each query, the nearest first. Without distances, the first k are the right answers.
    answers : Neighbours, (ids, distances), or integers of shape (n_queries, n_answers)
        The answers. Without distances, the first k are evaluated. With distances, more than k answers may be passed:
        those that are equally near at the cut-off are averaged.
    k : int
        The cut-off.
    by : str
        "id": an answer is right if it is among the right neighbours of the truth, as in big-ann-benchmarks. "distance":
        if its distance, which must be the true one, is at most that of the k-th neighbour, as in ann-benchmarks.
    atol, rtol : float
        How much farther than the k-th neighbour, at distance d, a right answer may be: ``atol + rtol * abs(d)``.
    similarity : bool
        Whether distances are similarities, such as inner products, so that larger is nearer.
    ties : str
        The tie rule for answers of equal distance.

    Returns
    -------
    float64[n_queries]

    Raises
    ------
    InputError
        If an answer is listed twice, distances are not finite or not sorted in the truth, or shapes do not fit.

    Examples
    --------
    The points 8 and 6 are equally near, so both are right answers for k = 2. The last two answers tie, too, and one of
    them is right: the second answer is right with probability 1/2.

    >>> from tieaware.integrations import nearest_neighbours
    >>> truth = [[4, 8, 6, 1]], [[0.1, 0.5, 0.5, 0.9]]
    >>> nearest_neighbours.recall(truth, [[4, 6]], 2)
    array([1.])
    >>> nearest_neighbours.recall(truth, ([[4, 6, 1]], [[0, 3, 3]]), 2)             # distances of quantised vectors
    array([0.75])
    """
    one_of("ties", ties, get_args(NeighbourTieRule))
    asked = _Asked.of(k, by, atol, rtol, similarity)
    true, given = _Lists.of(truth, "truth"), _Lists.of(answers, "answers")
    if given.distances is None:
        given = _Lists(given.ids[:, :k], None, given.padded)
    if by == "id" and given.ids.shape[1] <= k:
        found: Values = _counts_among(true, _right_points(true, given, asked), given) / k
    elif given.ids.shape[1] <= k:
        found = _right(true, given, asked).sum(axis=1) / k
    else:
        assert given.distances is not None
        scores = given.distances if similarity else -given.distances
        if given.padded:
            scores = np.where(given.ids < 0, -np.inf, scores)
        right = _right(true, given, asked).astype(np.int8)
        found = Evaluator(right, f"P@{k}", ties=ties)(scores)[:, 0]
    if not true.padded:
        return found
    values: Values = found * (k / np.clip((true.ids >= 0).sum(axis=1), 1, k))
    return values


def hits(
    truth: Any,
    answers: Any,
    k: int,
    *,
    by: HitRule = "id",
    atol: float = 0.0,
    rtol: float = 0.0,
    similarity: bool = False,
) -> Flags:
    """Return which answers are right; as labels of an `Evaluator`, they give every other measure.

    Parameters and errors are as for `recall`.

    Returns
    -------
    bool[n_queries, n_answers]
        For all answers, not for the first k only.

    Examples
    --------
    >>> import tieaware
    >>> from tieaware.integrations import nearest_neighbours
    >>> right = nearest_neighbours.hits(([[4, 8, 6]], [[0.1, 0.5, 0.5]]), [[7, 6, 8]], 2)
    >>> right
    array([[False,  True,  True]])
    >>> tieaware.Evaluator(right, ["RR", "P@2"]).spread([[3.0, 2.0, 2.0]]).mean
    array([[0.5, 0.5]])
    """
    asked = _Asked.of(k, by, atol, rtol, similarity)
    return _right(_Lists.of(truth, "truth"), _Lists.of(answers, "answers"), asked)


def truth_ties(truth: Any, k: int, *, atol: float = 0.0, rtol: float = 0.0, similarity: bool = False) -> TruthTies:
    """Count the points that are as near as the k-th neighbour of each query, or nearer.

    Parameters and errors are as for `recall`.

    Returns
    -------
    TruthTies

    Examples
    --------
    >>> from tieaware.integrations import nearest_neighbours
    >>> nearest_neighbours.truth_ties(([[4, 8, 6, 1]], [[0.1, 0.5, 0.5, 0.9]]), 2).counts
    array([3])
    """
    asked = _Asked.of(k, "id", atol, rtol, similarity)
    true = _Lists.of(truth, "truth")
    if true.distances is None:
        raise InputError("truth", "needs distances: without them, nothing is known of ties")
    counts = _right_points(true, true, asked)
    return TruthTies(counts, counts == true.distances.shape[1])


class _Asked(NamedTuple):
    """The checked options of a call."""

    k: int
    by: HitRule
    atol: float
    rtol: float
    similarity: bool

    @classmethod
    def of(cls, k: Any, by: Any, atol: Any, rtol: Any, similarity: Any) -> _Asked:
        """Check the options."""
        return cls(
            whole_number("k", k, 1), one_of("by", by, get_args(HitRule)), number("atol", atol, 0, _LARGEST_SLACK),
            number("rtol", rtol, 0, _LARGEST_SLACK), flag("similarity", similarity),
        )  # fmt: skip


class _Lists(NamedTuple):
    """Checked neighbours: ids that int64 can hold, and distances that are finite where there is a neighbour."""

    ids: Integers
    distances: Scores | None
    padded: bool  # True if there are negative ids.

    @classmethod
    def of(cls, values: Any, where: str) -> _Lists:
        """Check neighbours, which `where` names in messages."""
        ids, distances = values if isinstance(values, tuple) and len(values) == 2 else (values, None)
        numbers = as_array(ids, f"{where}.ids")
        if numbers.dtype.kind not in "iu" or numbers.ndim != 2:
            found = f"{numbers.dtype} of shape {numbers.shape}"
            raise unexpected(f"{where}.ids", "integers of shape (n_queries, depth)", found)
        if numbers.dtype == np.uint64 and numbers.max(initial=0) > np.iinfo(np.int64).max:
            raise InputError(f"{where}.ids", "the ids must be less than 2^63")
        padded = bool(numbers.min(initial=0) < 0)
        if distances is None:
            return cls(numbers, None, padded)
        scores = as_scores(distances, f"{where}.distances")
        if scores.shape != numbers.shape:
            raise unexpected(f"{where}.distances", f"the ids' shape {numbers.shape}", f"shape {scores.shape}")
        if not np.isfinite(scores).all():
            # Where there is no neighbour, the distance means nothing.
            wrong = ~np.isfinite(scores) & (numbers >= 0)
            if wrong.any():
                i = int(wrong.argmax())
                place = element(f"{where}.distances", scores.shape, i)
                raise unexpected(place, "a finite number", f"{scores.reshape(-1)[i]}")
        return cls(numbers, scores, padded)


def _right(true: _Lists, given: _Lists, asked: _Asked) -> Flags:
    """Return which answers are right."""
    points = _right_points(true, given, asked)
    if asked.by == "id":
        return _among(true, points, given)
    if true.distances is None or given.distances is None:
        raise InputError("by", "'distance' needs the distances of the truth and of the answers")
    # No answer is compared with no true neighbour: this only checks the ids.
    _counts_among(true, np.zeros_like(points), given)
    limits = _limits(true, true.distances, asked)[:, None]
    near = given.distances >= limits if asked.similarity else given.distances <= limits
    return np.asarray(near & (given.ids >= 0))


def _right_points(true: _Lists, given: _Lists, asked: _Asked) -> Integers:
    """Return how many points of the truth are right answers for each query: its first ones."""
    if len(true.ids) != len(given.ids):
        raise InputError("answers", f"must have a row for each of the {len(true.ids)} queries; found {len(given.ids)}")
    depth = true.ids.shape[1]
    if depth < asked.k:
        raise InputError("truth", f"lists {depth} neighbours of each query, fewer than k = {asked.k}")
    if true.distances is None:
        return np.full(len(true.ids), asked.k)
    _check_sorted(true, true.distances, asked.similarity)
    limits = _limits(true, true.distances, asked)
    counts = np.full(len(true.ids), asked.k)
    if true.padded:
        counts = np.minimum(counts, (true.ids >= 0).sum(axis=1))
    # Few points tie, as a rule, so most columns are never read.
    for column in range(asked.k, depth):
        distances = true.distances[:, column]
        near = distances >= limits if asked.similarity else distances <= limits
        if true.padded:
            near &= true.ids[:, column] >= 0
        if not near.any():
            break
        counts += near
    return counts


def _check_sorted(true: _Lists, distances: Scores, similarity: bool) -> None:
    """Raise InputError at the first neighbour that is nearer than the one before it, or follows padding."""
    left, right = distances[:, :-1], distances[:, 1:]
    unsorted = left < right if similarity else left > right
    if true.padded:
        unsorted = (unsorted | (true.ids[:, :-1] < 0)) & (true.ids[:, 1:] >= 0)
    if unsorted.any():
        row, column = np.argwhere(unsorted)[0].tolist()
        raise InputError(f"truth[{row}, {column + 1}]", "is nearer than the neighbour before it; sort by distance")


def _limits(true: _Lists, distances: Scores, asked: _Asked) -> Values:
    """Return the largest distance, or the smallest similarity, of a right answer of each query."""
    if true.padded:
        last = np.clip((true.ids >= 0).sum(axis=1), 1, asked.k) - 1
        furthest = distances[np.arange(len(last)), last].astype(np.float64)
    else:
        furthest = distances[:, asked.k - 1].astype(np.float64)
    slack = asked.atol + asked.rtol * np.abs(furthest)
    limits: Values = furthest - slack if asked.similarity else furthest + slack
    return limits


def _counts_among(true: _Lists, points: Integers, given: _Lists) -> Integers:
    """Return how many ids of each row are among the first `points` true ids of the row."""
    counts = np.zeros(len(points), np.int64)
    for rows in _chunks(points, given.ids.shape[1]):
        _, same = _matches(true.ids[rows], points[rows], given.ids[rows], rows.start)
        if same.size:
            starts = np.arange(0, same.size, same.shape[1])
            counts[rows] = np.add.reduceat(same.reshape(-1).view(np.int8), starts, dtype=np.int64)
    return counts


def _among(true: _Lists, points: Integers, given: _Lists) -> Flags:
    """Return which ids are among the first `points` true ids of their row."""
    n_answers = given.ids.shape[1]
    found = np.zeros(given.ids.shape, np.bool_)
    for rows in _chunks(points, n_answers):
        keys, same = _matches(true.ids[rows], points[rows], given.ids[rows], rows.start)
        matched = np.flatnonzero(same)
        positions = (keys.reshape(-1)[matched + 1] & ((1 << n_answers.bit_length()) - 1)) - 1
        found[rows].reshape(-1)[matched // max(1, same.shape[1]) * n_answers + positions] = True
    return found


def _chunks(points: Integers, n_answers: int) -> list[slice]:
    """Return ranges of rows whose ids fit in the processor's cache."""
    n_rows = max(1, _IDS_AT_ONCE // (int(points.max(initial=0)) + n_answers + 1))
    return [slice(first, first + n_rows) for first in range(0, len(points), n_rows)]


def _matches(true_ids: Integers, points: Integers, ids: Integers, first: int) -> tuple[Integers, Flags]:
    """Return sorted keys of all ids of each row, and where the next key of the row has the same id.

    A key's low bits are 0 for one of the first `points` true ids, and the position + 1 for another id. So an id that is
    found follows the true one. `first` is the index of the first row, for messages.

    Raises
    ------
    InputError
        If an id occurs twice among the true ones, or among the others.
    """
    width = int(points.max(initial=0))
    bits = ids.shape[1].bit_length()
    keys = np.concatenate((true_ids[:, :width], ids), axis=1, dtype=np.int64)
    if points.min(initial=width) < width:
        keys[:, :width][np.arange(width) >= points[:, None]] = -1
    padded = keys.min(initial=0) < 0
    if keys.max(initial=0) >> (62 - bits):
        # The keys would not fit in 64 bits: number the ids.
        _, numbers = np.unique(keys, return_inverse=True)
        keys = np.where(keys < 0, -1, numbers.reshape(keys.shape))
    if padded:
        np.maximum(keys, -1, out=keys)
    keys <<= bits
    keys[:, width:] |= np.arange(1, ids.shape[1] + 1)
    keys.sort(axis=1)
    flat = keys.reshape(-1)
    difference = np.empty_like(keys)
    np.bitwise_xor(flat[1:], flat[:-1], out=difference.reshape(-1)[:-1])
    difference[:, -1:] = -1
    # The keys of one id differ in their low bits only. As an unsigned number, the difference of others is larger.
    same = difference.view(np.uint64) < np.uint64(1 << bits)
    if padded:
        same &= keys >= 0
    twice = (keys & ((1 << bits) - 1)) != 0
    twice |= difference == 0
    twice &= same
    if twice.any():
        row, column = np.argwhere(twice)[0].tolist()
        where, repeated = ("truth", true_ids) if difference[row, column] == 0 else ("answers", ids)
        values, n = np.unique(repeated[row][repeated[row] >= 0], return_counts=True)
        raise InputError(f"{where}[{first + row}]", f"lists the point {values[n > 1][0]} more than once")
    return keys, same


# ---- files of benchmarks ----

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
