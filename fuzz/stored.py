"""Fuzzing of results and index files: headers, types, shapes, names and numbers are rewritten.

Mostly the checksum is right. A file that is read must be usable: its results are tabulated, and its index is searched
by every method. A value, or an error of one line, is expected. Needs no compiler:
.venv/bin/python fuzz/stored.py --seconds 60
"""

from __future__ import annotations

import io
import json
import os
import random
import sys
import warnings
import zipfile
from collections import Counter
from functools import cache, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from forked import outcome, search
from numpy.typing import NDArray

import tieaware
from tieaware import Results, retrieval
from tieaware.results import storage
from tieaware.retrieval import index_file
from tieaware.retrieval.method import known_methods

warnings.simplefilter("ignore")

HOSTILE: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2, 3, 2**31, 2**62, 2**64, -(2**70), 1.5, float("nan"), float("inf"), "", "x", "AP", "a\nb",
    "\0", "\ud800", "é" * 200, [], [0], [[]], {}, {"x": 1}, ["uint8"], "float64", "int32", "text", "any",
)  # fmt: skip
NUMBERS = (0, 1, -1, 2, 3, 7, 255, 2**31 - 1, -(2**31), 2**40, 2**62, 2**63 - 1, -(2**63))
DTYPES = ("|u1", "<i4", "<i8", "<f8", "<f4", ">f8", "|b1", "<U3", "|S3", "<c16", "|O", "<M8[s]", "|V8", "<f2")


def other_json(value: Any, draw: random.Random) -> Any:
    """Return a JSON value in which one value is replaced, removed or repeated."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        name = draw.choice(list(value))
        if draw.random() < 0.1:
            return {key: each for key, each in value.items() if key != name}
        return {**value, name: other_json(value[name], draw)}
    if isinstance(value, list) and value and draw.random() < 0.8:
        i = draw.randrange(len(value))
        new = [other_json(value[i], draw)] if draw.random() < 0.8 else draw.choice(([], [value[i]] * 2))
        return [*value[:i], *new, *value[i + 1 :]]
    if isinstance(value, int) and draw.random() < 0.5:
        return value + draw.choice((-1, 1, 2))
    return draw.choice(HOSTILE)


def other_numbers(array: NDArray[Any], draw: random.Random) -> NDArray[Any]:
    """Return an array in which a few numbers, its length or its type are others."""
    array = array.copy()
    kind = draw.random()
    if kind < 0.7 and array.size and array.dtype.kind in "iuf":
        for _ in range(draw.choice((1, 1, 2, 5))):
            number = draw.choice(NUMBERS)
            with np.errstate(all="ignore"):
                where = draw.randrange(array.size)
                if array.dtype.kind == "f":
                    array.flat[where] = draw.choice((0.5, -0.0, np.nan, np.inf, -1.0, 2.0, 1e308))
                elif draw.random() < 0.5:
                    array.flat[where] += array.dtype.type(draw.choice((1, 2)))
                else:
                    array.flat[where] = np.array(number).astype(array.dtype)
    elif kind < 0.8:
        array = array[: draw.randrange(array.shape[0] + 1)] if array.ndim else array
    elif kind < 0.9:
        array = np.concatenate([array, array[:1]]) if array.ndim and len(array) else array
    else:
        with np.errstate(all="ignore"):
            array = array.astype(draw.choice((np.uint8, np.int32, np.int64, np.float64, np.float32)))
    return array


# ---- Results -------------------------------------------------------------------------------------


@cache
def results() -> tuple[Results, ...]:
    """Return results of several kinds: with a spread, with chance, with integers as queries, and without queries."""
    judged = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1}, "é": {"d": 3}}
    runs = {
        "one": {"q1": {"a": 1.0, "b": 1.0, "d": 0.5}, "q2": {"b": 2.0, "a": 1.0}},
        "two": {"q1": {"c": 3.0, "a": 3.0}},
    }
    measures = ["AP", "nDCG@3", "GMAP"]
    numbered = tieaware.evaluate({1: {5: 1}, 2: {6: 1}}, {1: {5: 2.0}}, measures)
    return (
        tieaware.evaluate(judged, runs, measures), tieaware.evaluate(judged, runs, measures, spread=True),
        tieaware.evaluate(judged, runs, measures, chance=True), numbered,
    )  # fmt: skip


def npy(array: NDArray[Any], draw: random.Random) -> bytes:
    """Return an array as the content of a .npy file, whose header may have another type, shape or order."""
    file = io.BytesIO()
    np.lib.format.write_array(file, array, allow_pickle=False)
    content = file.getvalue()
    if draw.random() < 0.3:
        header = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
        name = draw.choice(("descr", "fortran_order", "shape", "shape"))
        shapes: tuple[Any, ...] = (
            (), (0,), (-1,), (2**62,), (2**40, 2**40), (array.size,), (1, array.size), (array.size, -1), "x", (1.5,),
            None,
        )  # fmt: skip
        header[name] = draw.choice(
            {"descr": (*DTYPES, [("a", "<f8")], None), "fortran_order": (True, 1, None)}.get(name, shapes)
        )
        text = repr(header).encode() + b"\n"
        content = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + array.tobytes()
    return content


def write_npz(stored: storage.Stored, path: str, draw: random.Random) -> None:
    """Write results as Results.save does, with one member of the archive changed in some cases."""
    storage._write_npz(stored, path)
    if draw.random() < 0.6:
        return
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = draw.choice(list(members))
    array = np.lib.format.read_array(io.BytesIO(members[name]))
    if draw.random() < 0.1:
        members[draw.choice(("x.npy", "std.npy", "runs_ends.npy", "header"))] = members.pop(name)
    elif name != "header.npy":
        members[name] = npy(other_numbers(array, draw), draw)
    else:
        members[name] = npy(array, draw)
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)


def write_parquet(stored: storage.Stored, path: str, draw: random.Random) -> None:
    """Write results as Results.save does, with one column changed in some cases."""
    storage._write_parquet(stored, path)
    if draw.random() < 0.6:
        return
    table = pyarrow.parquet.read_table(path)
    i = draw.randrange(table.num_columns)
    column = table.column(i).combine_chunks()
    kind = draw.randrange(5)
    if kind == 0:
        table = table.remove_column(i)
    elif kind == 1:
        table = table.slice(0, draw.randrange(table.num_rows + 1))
    elif kind == 2:
        table = table.set_column(
            i, table.column_names[i], pa.nulls(table.num_rows, draw.choice((pa.null(), column.type)))
        )
    elif kind == 3:
        new: Any = draw.choice((list(range(table.num_rows)), [b"\xff"] * table.num_rows, [[1.0]] * table.num_rows))
        table = table.set_column(i, table.column_names[i], [new])
    else:
        table = table.set_column(i, draw.choice(("x", "run", "query", "AP")), column)
    pyarrow.parquet.write_table(table, path)


def use_results(path: str) -> None:
    """Load results, and make of them what callers make."""
    found = Results.load(path)
    repr(found), str(found.means()), found.mean(), found.to_dict(), found.summary(), found.to_pandas()
    if len(found.runs):
        str(found.table()), found.to_trec_eval(per_query=True)
    found.save(path + ".again.npz")


def check_results(draw: random.Random, folder: str) -> Counter[str]:
    one = draw.choice(results())
    path = os.path.join(folder, "results")
    name = draw.choice((".npz", ".parquet"))
    storage.write(vars(one), path + name)
    with open(path + name, "rb") as file:
        stored = storage._READERS[file.read(4)](open(path + name, "rb"))  # noqa: SIM115 (a short process)
    if draw.random() < 0.6:
        header = other_json(stored.header, draw)
        stored = stored._replace(header=header if isinstance(header, dict) else stored.header)
    elif draw.random() < 0.4:
        array = draw.choice(list(stored.arrays))
        stored.arrays[array] = other_numbers(stored.arrays[array], draw)
    elif draw.random() < 0.5:
        stored = stored._replace(queries=other_json(list(stored.queries), draw) or [])
    if draw.random() < 0.9:
        stored.header["digest"] = stored.digest()
    try:
        (write_npz if name == ".npz" else write_parquet)(stored, path, draw)
    except Exception:
        # The writer cannot write such content, and no other program would.
        return Counter(unwritten=1)
    return Counter([outcome(partial(use_results, path))])


# ---- Index files ---------------------------------------------------------------------------------


@cache
def contents() -> tuple[index_file.Content, ...]:
    """Return the contents of indexes: with zones, with static quality, and with positions."""
    texts = [(f"d{i}", " ".join(f"w{i * j % 7}" for j in range(1, 3 + i % 5))) for i in range(30)]
    zoned = [(name, {"title": text[:5], "body": text}) for name, text in texts]
    build = retrieval.Index.build
    quality = {name: i % 5 / 5 for i, (name, _) in enumerate(texts)}
    made = (
        build(texts), build(texts, quality=quality), build(texts, positions=True),
        build(zoned, zones=("title", "body")),
    )  # fmt: skip
    return tuple(index_file.Content(*index._content) for index in made)


def write_index(content: index_file.Content, path: str, draw: random.Random) -> None:
    """Write an index file with a changed header or changed arrays, mostly with a right checksum."""
    arrays = index_file._arrays(content)
    if draw.random() < 0.6:
        name = draw.choice(list(arrays))
        arrays[name] = other_numbers(np.array(arrays[name]), draw)
    header: Any = {
        "version": index_file._VERSION, "tieaware": "0", "kind": content.documents.kind, "zones": list(content.zones),
        "analyzer": index_file._analyzer_as_json(content.analyzer),
        "arrays": [[name, array.dtype.name, len(array)] for name, array in arrays.items()],
    }  # fmt: skip
    if draw.random() < 0.5:
        header = other_json(header, draw)
    digest = draw.choice((0, None, -1))
    if draw.random() < 0.9 and isinstance(header, dict):
        digest = index_file._digest(header, as_read(header, arrays))
    text = json.dumps(header | {"digest": digest} if isinstance(header, dict) else header).encode()
    size = len(text) if draw.random() < 0.97 else draw.choice((0, 2**62, len(text) - 1))
    with open(path, "wb") as file:
        file.write(index_file._MAGIC + size.to_bytes(8, "little") + text)
        for array in arrays.values():
            file.write(bytes(-file.tell() % index_file._ALIGNMENT))
            file.write(np.ascontiguousarray(array).data)
        if draw.random() < 0.05:
            file.truncate(draw.randrange(file.tell()))


def as_read(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays that a reader of this header takes for its checksum, as far as it reads any."""
    try:
        return {
            name: array[:n] if array.dtype == dtype else array.view(dtype)[:n]
            for (name, dtype, n), array in zip(header["arrays"], arrays.values(), strict=True)
        }
    except (KeyError, TypeError, ValueError):
        return arrays


def use_index(path: str, name: str) -> None:
    """Load an index, and search it by a method."""
    index = retrieval.Index.load(path)
    repr(index), index.documents.to_list()
    queries = {"q1": index.terms[:3], "q2": ["w1", "w2", "w2", "missing"], "q3": []}
    retrieval.parse_method(name).search(index, queries, k=5, threads=1)


def check_index(draw: random.Random, folder: str) -> Counter[str]:
    path = os.path.join(folder, "index")
    write_index(draw.choice(contents()), path, draw)
    return Counter([outcome(partial(use_index, path, draw.choice(sorted(known_methods()))))])


def check(draw: random.Random, folder: str) -> Counter[str]:
    """Read one file of results or one index."""
    one = draw.choice((check_results, check_index))
    counts = one(draw, folder)
    return Counter({f"{one.__name__.removeprefix('check_')}: {name}": n for name, n in counts.items()})


if __name__ == "__main__":
    sys.exit(search("stored", check, __doc__.splitlines()[0]))
