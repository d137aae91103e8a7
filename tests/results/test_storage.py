"""Results in files are loaded with the same bits, or refused with a one-line error."""

import io
import json
import os
import re
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from support.errors import message_of
from test_results import same

import tieaware
from tieaware import InputError, Results
from tieaware.results import Provenance, storage

NAMES = ("plain", "a\0", "", "\udcff broken", "ρ 🙂", "\ud83d\ude42", "x" * 300)


def results(queries=NAMES, spread=True, chance=False):
    """Return results with unusual values and unusual names."""
    shape = 2, len(queries), 3
    values = np.random.default_rng(1).random(shape)
    values[0, 0] = -0.0, np.nan, np.inf
    values.view(np.int64)[1, 0, 0] = 0x7FF8_0000_0000_BEEF
    cubes = (values, values / 3, values / 5, values / 7) if spread else (values, None, None, None)
    measures = tuple(map(tieaware.parse_measure, ("AP", "RBP(p=0.85)", "IPrec@0.1")))
    names = "map", "RBP(p=0.85)", "iprec_at_recall_0.10"
    made = Provenance("average", "decimals:2", "both", "0.0.1")
    of_chance = {"chance": values / 11, "chance_std": values / 13, "ideal": values * 17} if chance else {}
    return Results(cubes[0], ("bm25", "\udc80, “x”"), queries, measures, *cubes[1:], names, made, **of_chance)


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
@pytest.mark.parametrize(
    "saved",
    [
        results(), results(spread=False), results(chance=True), results(spread=False, chance=True),
        results((7, -(2**63), 3)), results((0, 2**64 - 1)), results(("7", "8")),
    ],
    ids=["spread", "values", "both", "chance", "integers", "unsigned", "digits"],
)
def test_saved_results_are_loaded_to_the_bit(tmp_path, saved, suffix):
    path = tmp_path / f"results{suffix.upper()}"
    path.write_text("what was here before")
    os.chmod(path, 0o640)
    saved.save(path)
    loaded = Results.load(str(path))
    assert same(loaded, saved)
    assert [type(query) for query in loaded.queries] == [type(query) for query in saved.queries]
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_results_without_a_provenance_are_saved_too(tmp_path, suffix):
    saved = Results(np.arange(3.0).reshape(1, 1, 3), ("run",), ("q",), (tieaware.AP, tieaware.RR, tieaware.AP))
    saved.save(tmp_path / f"r{suffix}")
    assert same(Results.load(tmp_path / f"r{suffix}"), saved)
    # The array of values that evaluate() returns is not contiguous in memory, and must be saved correctly.
    whole = tieaware.evaluate({"q": {"d": 1}, "p": {"e": 1}}, {"q": {"d": 1, "e": 1}}, ["AP", "RR"], spread=True)
    whole.save(tmp_path / f"s{suffix}")
    loaded = Results.load(tmp_path / f"s{suffix}")
    assert (loaded.provenance, loaded.queries) == (whole.provenance, ("q", "p"))
    np.testing.assert_array_equal(loaded.std, whole.std)


def test_other_libraries_read_the_parquet_file_as_a_frame(tmp_path):
    polars = pytest.importorskip("polars")
    saved = tieaware.evaluate({"7": {"d": 1}}, {"bm25": {"7": {"d": 1, "e": 1}}}, ["map"])
    saved.save(tmp_path / "r.parquet")
    assert polars.read_parquet(tmp_path / "r.parquet").to_dict(as_series=False) == {
        "run": ["bm25"], "query": ["7"], "map": [0.75],
    }  # fmt: skip


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_damage_is_detected_at_every_place(tmp_path, suffix):
    """A truncated file, or one with a changed byte, gives a one-line error or the unchanged results."""
    saved = results()
    path = tmp_path / f"r{suffix}"
    saved.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(3)
    damaged = [whole[:n] for n in (0, 3, 4, 50, len(whole) // 2, len(whole) - 1)]
    for place in rng.integers(0, len(whole), 60).tolist():
        damaged.append(whole[:place] + bytes([whole[place] ^ int(rng.integers(1, 256))]) + whole[place + 1 :])
    refused = unchanged = 0
    for content in damaged:
        path.write_bytes(content)
        try:
            assert same(Results.load(path), saved)
            unchanged += 1
        except InputError as error:
            message = str(error)
            refused += message.startswith(f"{path}: ") and "\n" not in message
    assert refused + unchanged == len(damaged)
    assert refused > 30


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_a_file_of_a_newer_version_is_refused(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"r{suffix}"
    monkeypatch.setattr(storage, "_VERSION", 3)
    monkeypatch.setattr(storage, "__version__", "9.1")
    results(chance=True).save(path)
    monkeypatch.undo()
    with pytest.raises(InputError, match=rf"r\{suffix}: tieaware 9.1 wrote this file in format 3; .* up to 2$"):
        Results.load(path)


def test_a_file_without_chance_keeps_the_first_format(tmp_path):
    """Earlier versions of tieaware read it."""
    for chance, version in ((False, 1), (True, 2)):
        results(chance=chance).save(tmp_path / "r.npz")
        with np.load(tmp_path / "r.npz") as arrays:
            assert json.loads(arrays["header"].tobytes())["format"] == version


def test_files_of_other_programs_are_refused(tmp_path):
    (tmp_path / "text.npz").write_bytes(b"run,AP\n")
    (tmp_path / "empty.npz").touch()
    np.savez(tmp_path / "other.npz", values=np.ones(3))
    header = np.frombuffer(json.dumps({"format": 1}).encode(), np.uint8)
    np.savez(tmp_path / "pickle.npz", header=np.array({"a": 1}, dtype=object), x=header)
    # Parquet files for other programs.
    made = Results(np.ones((1, 1, 1)), ("r",), ("q",), (tieaware.AP,))
    made.to_parquet(tmp_path / "values.parquet")
    made.means().to_parquet(tmp_path / "means.parquet")
    for path in tmp_path.iterdir():
        ending = ": not a file that Results.save wrote" if path.suffix == ".parquet" else ": .*Results.save.*"
        assert re.fullmatch(re.escape(str(path)) + ending, message_of(Results.load, path))
    assert message_of(Results.load, tmp_path / "gone.npz").endswith("gone.npz: No such file or directory")


def test_a_failed_save_leaves_the_existing_file(tmp_path, monkeypatch):
    path = tmp_path / "r.npz"
    for made, place, problem in (
        (results(), tmp_path / "r.csv", "must end in .npz or .parquet; to_csv(path) writes a CSV file"),
        (Results(np.zeros((1, 1, 0)), ("r",), ("q",), ()), path, "r.npz: results without a measure cannot be saved"),
        (results(("a", 1)), path, "names: must be all text or all integers of 64 bits"),
        (results(), tmp_path / "gone" / "r.npz", "No such file or directory"),
    ):
        assert problem in message_of(made.save, place)
    path.write_text("before")

    def full(file, **arrays):
        file.write(b"a part")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    assert message_of(results().save, path).endswith("r.npz: No space left on device")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "before"


FORGED = {
    "measures": [["AP", 7, "IPrec@0.1"], [], "AP", {"a": 1}],
    "names": [["map"], "map", [1, 2, 3], None],
    "unanswered": [["bm25"], {"bm25": "all"}, 7],
    "provenance": [
        [1, 2, 3, 4], {"ties": 7, "precision": None, "queries": "both", "version": "1"}, {"ties": "average"}, 5,
        {"ties": "none", "precision": None, "queries": "both", "version": "1"},
        {"ties": "average", "precision": None, "queries": "none", "version": "1"},
    ],
    "key": [5],
}  # fmt: skip


@pytest.mark.parametrize(
    ("suffix", "field", "value"),
    [
        (suffix, field, value)
        for suffix in (".npz", ".parquet") for field, values in FORGED.items() for value in values
        # A Parquet file has a column for each name.
        if suffix == ".npz" or field != "names" or value == [1, 2, 3]
    ],
)  # fmt: skip
def test_forged_fields_are_refused_although_the_checksum_matches(tmp_path, monkeypatch, suffix, field, value):
    """They would otherwise raise TypeError, AttributeError or KeyError later, far from the file."""
    digest = storage.Stored.digest

    def forged(stored):
        stored.header[field] = value
        return digest(stored)

    path = tmp_path / f"results{suffix}"
    monkeypatch.setattr(storage.Stored, "digest", forged)
    results().save(path)
    monkeypatch.undo()
    assert message_of(Results.load, path).startswith(f"{path}: ")


@pytest.mark.parametrize("name", ["header.npy", "values.npy", "queries_ends.npy"])
@pytest.mark.parametrize(
    ("descr", "shape"), [("<f8", (10**12,)), ("|V2000000000", (3,)), ("|V0", (10**11,)), ("<f8", (-1,)), ("<f8", (2,))]
)
def test_an_array_may_not_claim_more_than_its_bytes(tmp_path, name, descr, shape):
    """NumPy would allocate the memory before it finds out."""
    results().save(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz") as archive, zipfile.ZipFile(tmp_path / "b.npz", "w") as forged:
        for member in archive.namelist():
            content = archive.read(member)
            if member == name:
                file = io.BytesIO()
                header = {"descr": descr, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(file, header)
                content = file.getvalue() + bytes(8)
            forged.writestr(member, content)
    with pytest.raises(InputError, match=rf"b.npz: the file is damaged, .*{name} is no array of numbers, or its size"):
        Results.load(tmp_path / "b.npz")


def test_a_compressed_file_may_not_become_larger_than_it_is(tmp_path):
    """Results.save does not compress. A megabyte can become a gigabyte."""
    results().save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as arrays:
        np.savez_compressed(tmp_path / "b.npz", **{**arrays, "values": np.zeros((2, 70_000, 3))})
    with pytest.raises(InputError, match=r"b.npz: the file is damaged, .*values.npy is no array of numbers, or"):
        Results.load(tmp_path / "b.npz")


@pytest.mark.parametrize("n_runs", [0, 10**12])
def test_a_table_without_rows_may_not_claim_any_number_of_runs(tmp_path, n_runs):
    Results(np.empty((2, 0, 1)), ("a", "b"), (), (tieaware.AP,)).save(tmp_path / "a.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "a.parquet")
    header = json.loads(table.schema.metadata[b"tieaware"])
    header = {**header, "shape": [n_runs, 0, 1], "runs": None, "queries": None}
    forged = table.replace_schema_metadata({"tieaware": json.dumps(header)})
    pyarrow.parquet.write_table(forged, tmp_path / "b.parquet")
    assert "b.parquet: the file is damaged" in message_of(Results.load, tmp_path / "b.parquet")


def test_a_column_of_nulls_may_not_claim_rows(tmp_path):
    """Such a column takes no bytes, however many rows it has."""
    results().save(tmp_path / "a.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "a.parquet")
    forged = table.set_column(2, table.column_names[2], pa.nulls(len(table)))
    pyarrow.parquet.write_table(forged, tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b.parquet: the file is damaged, .*a column has no values"):
        Results.load(tmp_path / "b.parquet")
