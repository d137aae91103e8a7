"""Recall at k of nearest-neighbour search: the formulas of two benchmarks, ties in truth and answers, and files."""

import os
import struct
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.errors import message_of, refusal

from tieaware import InputError
from tieaware.integrations import nearest_neighbours
from tieaware.integrations.nearest_neighbours import Neighbours, hits, read_neighbours, read_vectors, recall, truth_ties

h5py = pytest.importorskip("h5py")
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")


def by_big_ann(ids, distances, answers, k):
    """Return the recall of one query as big-ann-benchmarks describes it: the k-th neighbour's ties count as well."""
    last = k
    while last < len(ids) and abs(distances[last] - distances[k - 1]) < 1e-6:
        last += 1
    return len(set(ids[:last].tolist()) & set(answers.tolist())) / k


def by_ann_benchmarks(truth, answers, k, epsilon):
    """Return the recall of one query as ann-benchmarks describes it: by the distances of the answers alone."""
    return sum(distance <= truth[k - 1] + epsilon for distance in answers[:k].tolist()) / k


@pytest.fixture
def searched():
    """Ids and rounded distances of the true neighbours of 300 queries, and answers of which three in four are wrong."""
    rng = np.random.default_rng(519)
    points = rng.permuted(np.tile(np.arange(500, dtype=np.int32), (300, 1)), axis=1)
    distances = np.sort(rng.random((300, 40)).round(2), axis=1).astype(np.float32)
    chosen = np.argsort(rng.random((300, 80)), axis=1)[:, :10]
    answers = np.take_along_axis(points, chosen // 4, axis=1)
    answers = np.where(chosen % 4 == 0, answers, 1000 + chosen).astype(np.int32)
    return SimpleNamespace(ids=points[:, :40], distances=distances, answers=answers)


@pytest.mark.parametrize("k", [1, 5, 10])
@pytest.mark.parametrize("similarity", [False, True])
def test_recall_by_id_is_that_of_big_ann(searched, k, similarity):
    distances = -searched.distances if similarity else searched.distances
    rows = zip(searched.ids, distances, searched.answers[:, :k], strict=True)
    expected = np.array([by_big_ann(*row, k) for row in rows])
    found = recall((searched.ids, distances), searched.answers[:, :k], k, atol=1e-6, similarity=similarity)
    np.testing.assert_array_equal(found, expected)
    assert 0 < found.mean() < 1
    assert (truth_ties((searched.ids, distances), k, similarity=similarity).counts > k).any()


@pytest.mark.parametrize("epsilon", [0.0, 1e-3, 0.205])
def test_recall_by_distance_is_that_of_ann_benchmarks(searched, epsilon):
    answered = np.random.default_rng(2).random((300, 10)).round(2).astype(np.float32)
    expected = [by_ann_benchmarks(*row, 10, epsilon) for row in zip(searched.distances, answered, strict=True)]
    answers = Neighbours(np.tile(np.arange(10), (300, 1)), answered)
    found = recall((searched.ids, searched.distances), answers, 10, by="distance", atol=epsilon)
    np.testing.assert_array_equal(found, expected)


def test_relative_slack_widens_with_the_distance():
    truth = Neighbours([[1, 2, 3], [1, 2, 3]], [[1.0, 10.0, 10.5], [1.0, 10.0, 11.5]])
    assert recall(truth, [[2, 3], [2, 3]], 2, rtol=0.1).tolist() == [1.0, 0.5]
    negative = Neighbours(truth.ids, -np.asarray(truth.distances))
    assert recall(negative, [[2, 3], [2, 3]], 2, rtol=0.1, similarity=True).tolist() == [1.0, 0.5]


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_tied_answers_are_averaged_over_their_orders(k):
    """The three answers in the middle tie, so every order of them is equally likely."""
    truth = [[1, 2, 3, 4, 5]], [[0.0, 1.0, 2.0, 3.0, 4.0]]
    ids, distances = np.array([1, 9, 3, 8, 4]), np.array([0.0, 5.0, 5.0, 5.0, 6.0])
    orders = [recall(truth, ids[None, [0, *order, 4]][:, :k], k)[0] for order in permutations((1, 2, 3))]
    of = {ties: recall(truth, (ids[None], distances[None]), k, ties=ties)[0] for ties in ("optimistic", "pessimistic")}
    assert recall(truth, (ids[None], distances[None]), k)[0] == pytest.approx(np.mean(orders), rel=1e-15)
    assert (of["pessimistic"], of["optimistic"]) == (min(orders), max(orders))
    similar = truth[0], -np.asarray(truth[1])
    assert recall(similar, (ids[None], -distances[None]), k, similarity=True, ties="run_order")[0] == orders[0]


def test_missing_answers_count_as_misses_and_missing_points_do_not():
    """A data set of two points, padded with -1 as faiss pads it, has only two right answers for k = 3."""
    truth = [[7, 8, -1], [7, 8, 9]], [[1.0, 2.0, np.inf], [1.0, 2.0, 3.0]]
    assert recall(truth, ([[8, -1, -1], [8, -1, -1]], [[1.0, np.nan, np.inf]] * 2), 3).tolist() == [1 / 2, 1 / 3]
    assert recall(truth[0], [[8, -1], [8, -1]], 3).tolist() == [1 / 2, 1 / 3]
    assert recall(truth, ([[8, -1, -1, -1]] * 2, [[1.0, 0.0, 0.0, 0.0]] * 2), 3).tolist() == [1 / 2, 1 / 3]
    assert recall([[-1, -1]], [[3, 4]], 2).tolist() == [0.0]


def test_truth_that_ends_among_ties_says_so():
    found = truth_ties(([[1, 2, 3], [1, 2, 3], [1, 2, 3]], [[0, 1, 1], [0, 1, 2], [0, 0, 0]]), 2)
    assert found.counts.tolist() == [3, 2, 3]
    assert found.cut.tolist() == [True, False, True]


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_ids_of_any_size(searched, dtype):
    """Ids that leave no bits for the positions are numbered; the answers stay the same."""
    largest = np.iinfo(dtype).max if dtype != np.uint64 else 2**63 - 1
    truth = (largest - searched.ids.astype(dtype)).astype(dtype), searched.distances
    expected = hits((searched.ids, searched.distances), searched.answers, 10)
    np.testing.assert_array_equal(hits(truth, (largest - searched.answers.astype(dtype)).astype(dtype), 10), expected)


def test_padding_may_be_any_negative_number():
    assert hits([[3, 4]], [[np.iinfo(np.int64).min, 4, -7]], 2).tolist() == [[False, True, False]]


@pytest.mark.parametrize(
    ("truth", "answers", "options", "message"),
    [
        ([[1, 2]], [[7, 7, 5]], {}, "answers[0]: lists the point 7 more than once"),
        ([[1, 2]] * 300, [[1, 2, 5]] * 271 + [[2, 2, 5]] * 29, {}, "answers[271]: lists the point 2 more than once"),
        ([[1, 1]], [[1, 5]], {}, "truth[0]: lists the point 1 more than once"),
        (([[1, 2]], [[1.0, 2.0]]), ([[7, 7]], [[1.0, 1.0]]), {"by": "distance"},
         "answers[0]: lists the point 7 more than once"),
        ([[1, 2]], [[1, 2]], {"k": 3}, "truth: lists 2 neighbours of each query, fewer than k = 3"),
        (([[1, 2]], [[2.0, 1.0]]), [[1, 2]], {},
         "truth[0, 1]: is nearer than the neighbour before it; sort by distance"),
        (([[1, 2]], [[1.0, 2.0]]), [[1, 2]], {"similarity": True},
         "truth[0, 1]: is nearer than the neighbour before it; sort by distance"),
        (([[1, 2]], [[1.0, np.nan]]), [[1, 2]], {},
         "truth.distances[0, 1]: expected a finite number, found nan"),
        (([[1, 2]], [[1.0, 2.0]]), [[1, 2]], {"by": "distance"},
         "by: 'distance' needs the distances of the truth and of the answers"),
        (([[1, 2]], [[1.0]]), [[1, 2]], {}, "truth.distances: expected the ids' shape (1, 2), found shape (1, 1)"),
        ([1, 2], [[1, 2]], {},
         "truth.ids: expected integers of shape (n_queries, depth), found int64 of shape (2,)"),
        ([[1.5, 2]], [[1, 2]], {},
         "truth.ids: expected integers of shape (n_queries, depth), found float64 of shape (1, 2)"),
        ([[1, 2]], [[1, 2], [1, 2]], {}, "answers: must have a row for each of the 1 queries; found 2"),
        (np.array([[2**63, 1]], np.uint64), [[1, 2]], {}, "truth.ids: the ids must be less than 2^63"),
        ([[1, 2]], [[1, 2]], {"k": 0}, "k: expected a whole number of at least 1, found 0"),
        ([[1, 2]], [[1, 2]], {"atol": np.inf}, "atol: expected a number from 0 to 1e+100, found inf"),
    ],
)  # fmt: skip
def test_unusable_neighbours_are_refused(truth, answers, options, message):
    assert message_of(recall, truth, answers, **{"k": 2, **options}) == message


def as_texmex(path, rows):
    path.write_bytes(b"".join(np.int32(len(row)).tobytes() + row.tobytes() for row in rows))


def as_big_ann(path, rows, *distances):
    path.write_bytes(np.uint32(rows.shape).tobytes() + b"".join(each.tobytes() for each in (rows, *distances)))


def as_ann_benchmarks(path, ids, *distances):
    with h5py.File(path, "w") as file:
        for name, array in zip(("neighbors", "distances"), (ids, *distances), strict=False):
            file[name] = array


@pytest.mark.parametrize(
    ("name", "write"),
    [*((f"truth{end}", as_big_ann) for end in (".bin", ".ibin", ".fbin")), ("truth.hdf5", as_ann_benchmarks)],
)
def test_files_of_ids_and_distances(tmp_path, searched, name, write):
    write(tmp_path / name, searched.ids, searched.distances)
    found = read_neighbours(tmp_path / name)
    np.testing.assert_array_equal(found.ids, searched.ids)
    np.testing.assert_array_equal(found.distances, searched.distances)


@pytest.mark.parametrize(
    ("name", "write"), [("a.ibin", as_big_ann), ("a.ivecs", as_texmex), ("a.h5", as_ann_benchmarks)]
)
def test_files_of_ids_alone(tmp_path, searched, name, write):
    write(tmp_path / name, searched.answers)
    found = read_neighbours(str(tmp_path / name))
    np.testing.assert_array_equal(found.ids, searched.answers)
    assert found.distances is None


@pytest.mark.parametrize(
    ("name", "write", "dtype"),
    [
        *((f"a.{end}bin", as_big_ann, dtype) for end, dtype in (("f", "f4"), ("i", "i4"), ("u8", "u1"), ("i8", "i1"))),
        *((f"a.{end}vecs", as_texmex, dtype) for end, dtype in (("f", "f4"), ("i", "i4"), ("b", "u1"))),
    ],
)
def test_files_of_vectors(tmp_path, name, write, dtype):
    vectors = np.arange(12).reshape(4, 3).astype(dtype)
    write(tmp_path / name, vectors)
    found = read_vectors(tmp_path / name)
    assert found.dtype == vectors.dtype
    np.testing.assert_array_equal(found, vectors)


BIN = np.uint32([2, 3]).tobytes()


@pytest.mark.parametrize(
    ("name", "contents", "message"),
    [
        ("truth.txt", b"", "the name must end in one of .bin, .ibin, .fbin, .ivecs, .hdf5, .h5"),
        ("truth.bin", b"", "the file is empty"),
        ("truth.bin", b"1234567", "the file has 7 bytes, fewer than its header of 8"),
        ("truth.bin", BIN + bytes(23), "2 queries with 3 ids and distances need 56 bytes; the file has 31"),
        ("truth.fbin", BIN + bytes(24), "2 queries with 3 ids and distances need 56 bytes; the file has 32"),
        ("truth.bin", b"\xff" * 8 + bytes(48),
         "4,294,967,295 queries with 4,294,967,295 ids and distances need 147,573,952,520,956,936,208 bytes; "
         "the file has 56"),
        ("truth.ivecs", b"\x02\0", "the file does not begin with the dimension of a vector"),
        ("truth.ivecs", np.int32([-3, 1, 1]).tobytes(), "the file does not begin with the dimension of a vector"),
        ("truth.ivecs", np.int32([2, 1, 1, 2]).tobytes(),
         "vectors of dimension 2 take 12 bytes each; the file has 16"),
        ("truth.ivecs", np.int32([2, 1, 1, 3, 1, 1]).tobytes(), "vector 1 has the dimension 3, and vector 0 2"),
        ("truth.hdf5", b"\x89HDF but no more", "the file cannot be read as HDF5: "),
    ],
)  # fmt: skip
def test_unusable_files_are_refused(tmp_path, name, contents, message):
    path = tmp_path / name
    path.write_bytes(contents)
    assert message_of(read_neighbours, path).startswith(f"{path}: {message}")


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "folder.bin").mkdir()
    for name in ("missing.bin", "missing.hdf5", "folder.bin"):
        assert message_of(read_neighbours, tmp_path / name).startswith(f"{tmp_path / name}: the file cannot be read")
    (tmp_path / "points.u8bin").write_bytes(BIN + bytes(5))
    with pytest.raises(InputError, match=r"2 vectors of dimension 3 need 14 bytes; the file has 13$"):
        read_vectors(tmp_path / "points.u8bin")


def cutting(monkeypatch, owner, name, path, size):
    """Let another process cut the file to this size just before a function runs."""
    function = getattr(owner, name)

    def cut(*arguments, **options):
        os.truncate(path, size)
        return function(*arguments, **options)

    monkeypatch.setattr(owner, name, cut)


@pytest.mark.parametrize("suffix", [".bin", ".ivecs"])
def test_a_file_that_is_cut_while_it_is_read_is_refused(tmp_path, monkeypatch, searched, suffix):
    """If the file were mapped into memory, SIGBUS would end the process."""
    path = tmp_path / f"truth{suffix}"
    (as_texmex if suffix == ".ivecs" else as_big_ann)(path, searched.ids)
    cutting(monkeypatch, nearest_neighbours.RegularFile, "read", path, 100)
    with pytest.raises(InputError, match=f"{path}: the file was cut while it was read: [0-9,]+ bytes are missing"):
        read_neighbours(path)


def test_an_hdf5_file_that_is_cut_while_it_is_read_is_refused(tmp_path, monkeypatch):
    """HDF5 returns zeros for the missing numbers."""
    path = tmp_path / "truth.h5"
    with h5py.File(path, "w") as file:
        file["neighbors"] = np.arange(1_000_000).reshape(1000, 1000)
    cutting(monkeypatch, nearest_neighbours, "_read_array", path, 1_000_000)
    with pytest.raises(InputError, match=f"{path}: the file has changed while it was read"):
        read_neighbours(path)


@needs_pipes
@pytest.mark.parametrize("name", ["truth.bin", "truth.ivecs", "truth.h5"])
def test_pipes_are_not_waited_for(tmp_path, name):
    os.mkfifo(tmp_path / name)
    assert "the file cannot be read: it is a folder, a pipe or a device" in message_of(read_neighbours, tmp_path / name)


IDS = np.arange(60, dtype=np.int32).reshape(6, 10)


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize(
    "options",
    [
        {}, {"chunks": (4, 4)}, {"chunks": (100, 100), "maxshape": (None, None)}, {"compression": "lzf"},
        {"compression": "gzip", "shuffle": True, "fletcher32": True, "chunks": (4, 4)},
    ],
)  # fmt: skip
def test_arrays_in_hdf5_however_they_are_stored(tmp_path, libver, options):
    """Real ids differ, but those that compress best are read, too: an array of zeros."""
    with h5py.File(tmp_path / "a.h5", "w", libver=libver) as file:
        file.create_dataset("neighbors", data=IDS, **options)
        options = options and {**options, "chunks": (3000, 400)}
        file.create_dataset("distances", data=np.zeros((3000, 400)), **options)
    found = read_neighbours(tmp_path / "a.h5")
    np.testing.assert_array_equal(found.ids, IDS)
    np.testing.assert_array_equal(found.distances, np.zeros((3000, 400)))


def arrays(**values):
    return lambda file, folder: [file.create_dataset(name, data=value) for name, value in values.items()]


def external(file, folder):
    (folder / "other").write_bytes(IDS.tobytes())
    file.create_dataset("neighbors", IDS.shape, IDS.dtype, external=[(str(folder / "other"), 0, IDS.nbytes)])


def virtual(file, folder):
    os.mkfifo(folder / "pipe.h5")
    layout = h5py.VirtualLayout(IDS.shape, IDS.dtype, maxshape=(None, 10))
    source = h5py.VirtualSource(str(folder / "pipe.h5"), "a", IDS.shape, maxshape=(None, 10))
    layout[: h5py.h5s.UNLIMITED] = source[: h5py.h5s.UNLIMITED]
    file.create_virtual_dataset("neighbors", layout)


def linked(file, folder):
    os.mkfifo(folder / "pipe.h5")
    file["neighbors"] = h5py.ExternalLink(str(folder / "pipe.h5"), "/a")


def linked_to_itself(file, folder):
    file["neighbors"] = h5py.SoftLink("/neighbors")


def not_stored(written, **options):
    def make(file, folder):
        array = file.create_dataset("neighbors", shape=(10**9, 800), dtype="i8", **options)
        if written:
            array[:written] = 7

    return make


def filtered(**options):
    return lambda file, folder: file.create_dataset("neighbors", data=IDS, **options)


NO_NUMBERS = "is not a two-dimensional array of numbers"
ELSEWHERE = "'neighbors' is stored in other files: copy the array into this file"
LINK = "'neighbors' is a link to another place: copy the array into the file"
INCOMPLETE = "'neighbors' is not complete: an array of 6,400,000,000,000 bytes, of which"
FILTERS = "'neighbors' has filters that are not read: store it with gzip, lzf or no"
CHUNKED = {"chunks": (1000, 800)}


@needs_pipes
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (arrays(other=[[1]]), "there is no array 'neighbors'"),
        (arrays(neighbors=[1, 2]), f"'neighbors' {NO_NUMBERS}"),
        (arrays(neighbors=[[b"a"]]), f"'neighbors' {NO_NUMBERS}"),
        (arrays(neighbors=[[1]], distances=3.0), f"'distances' {NO_NUMBERS}"),
        (arrays(**{"neighbors/of a group": [[1]]}), f"'neighbors' {NO_NUMBERS}"),
        # HDF5 would return the bytes of the other file as ids, or wait for the pipe.
        (external, ELSEWHERE), (virtual, ELSEWHERE),
        (linked, LINK), (linked_to_itself, LINK),
        # These are refused before memory is taken.
        (not_stored(0), INCOMPLETE), (not_stored(0, **CHUNKED), INCOMPLETE), (not_stored(1000, **CHUNKED), INCOMPLETE),
        (not_stored(0, **CHUNKED, compression="gzip"), INCOMPLETE),
        (not_stored(1000, **CHUNKED, compression="gzip"), INCOMPLETE),
        # These filters crash on wrong parameters.
        (filtered(scaleoffset=0), FILTERS), (filtered(compression="szip"), FILTERS),
    ],
)  # fmt: skip
def test_unusable_arrays_in_hdf5(tmp_path, make, message):
    with h5py.File(tmp_path / "a.h5", "w", libver="latest") as file:
        make(file, tmp_path)
    assert message_of(read_neighbours, tmp_path / "a.h5").startswith(f"{tmp_path / 'a.h5'}: {message}")


def test_a_piece_that_is_shorter_than_its_checksum_is_refused(tmp_path):
    """HDF5 would crash."""
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", libver="earliest") as file:
        array = file.create_dataset("neighbors", data=IDS, chunks=(4, 4), compression="gzip", fletcher32=True)
        size = array.id.get_chunk_info_by_coord((0, 4)).size
    entry = struct.pack("<IIQQQ", size, 0, 0, 4, 0)
    assert path.read_bytes().count(entry) == 1
    path.write_bytes(path.read_bytes().replace(entry, struct.pack("<IIQQQ", 0, 0, 0, 4, 0)))
    assert "'neighbors' is not complete: an array of 240 bytes, of which" in message_of(read_neighbours, path)


@given(
    st.sampled_from([".bin", ".ibin", ".fbin", ".ivecs", ".hdf5"]), st.lists(st.integers(-2, 9), max_size=12),
    st.binary(max_size=5),
)  # fmt: skip
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused_in_one_line(tmp_path, suffix, numbers, rest):
    """A file of small numbers is often consistent, so that some are read, and `recall` takes what was read."""
    path = tmp_path / f"truth{suffix}"
    path.write_bytes(np.int32(numbers).tobytes() + rest)

    def read():
        found = read_neighbours(path)
        recall(found, np.asarray(found.ids)[:, :1], 1)

    refusal(read)
