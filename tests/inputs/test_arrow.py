"""The reader of the Arrow C data interface: every layout, and producers that violate the interface."""

import ctypes
import gc
import random
from itertools import pairwise
from typing import ClassVar

import nanoarrow
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from support.errors import message_of

import tieaware
from tieaware.errors import InputError
from tieaware.inputs import Qrels, Run
from tieaware.kernels import _arrow, _buffers


def column_of(array):
    """Read an array as the only column of a table, or as itself."""
    column = _arrow.Stream(*array.__arrow_c_array__()).read([0])
    return column[0]


def identifiers(column, *rows):
    data, offsets = column.identifiers(*(rows or (0, len(column))))
    text = data.tobytes()
    return [text[a:b] for a, b in pairwise(offsets)]


def bad_cell(read, *rows):
    """Return the row and the problem of the cell that a column refuses."""
    with pytest.raises(_buffers.BadCell) as caught:
        read(*rows)
    return caught.value.args


TEXT = ["d1", "", "a document whose name is long", "é", "d1", "d1", "x" * 12, "x" * 13, "d1"] * 3
BYTES = [text.encode() for text in TEXT]
WIDE = [b"%03d" % (i // 2) for i in range(27)]
TEXTS = {
    "utf8": pa.array(TEXT),
    "large_utf8": pa.array(TEXT, pa.large_string()), "utf8_view": pa.array(TEXT, pa.string_view()),
    "binary": pa.array(BYTES), "large_binary": pa.array(BYTES, pa.large_binary()),
    "binary_view": pa.array(BYTES, pa.binary_view()), "fixed_size_binary[3]": pa.array(WIDE, pa.binary(3)),
    **{
        f"dictionary of {name}": pa.DictionaryArray.from_arrays(
            pa.array(np.unique(TEXT, return_inverse=True)[1], index), pa.array(np.unique(TEXT).tolist(), to)
        )
        for name, index, to in [
            ("utf8", pa.uint8(), pa.string()), ("large_utf8", pa.int64(), pa.large_string()),
            ("utf8_view", pa.int16(), pa.string_view()), ("large_binary", pa.uint64(), pa.large_binary()),
        ]
    },
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("offset", [0, 1, 9])
def test_layouts_of_identifiers(name, offset):
    """Identifiers are read from a whole array, a slice or selected rows; `sections` finds where the value changes."""
    array = TEXTS[name][offset : 25]
    expected = [value.encode() if isinstance(value, str) else value for value in array.to_pylist()]
    column = column_of(array)
    assert (column.type, column.holds, len(column)) == (name, "text", len(expected))
    assert identifiers(column) == expected
    assert identifiers(column, 2, 7) == expected[2:7]
    assert identifiers(column, 3, 3) == []
    data, offsets = column.identifiers_at(np.array([5, 0, 5]))
    assert data.tobytes() == expected[5] + expected[0] + expected[5]
    assert offsets.tolist() == np.cumsum([0, *map(len, (expected[5], expected[0], expected[5]))]).tolist()
    starts = [i for i in range(1, len(expected)) if i == 1 or expected[i] != expected[i - 1]]
    assert column.sections(1, len(expected)).tolist() == starts
    for rows in ((0, 99), (-1, 2), (3, 2)):
        with pytest.raises(IndexError):
            column.identifiers(*rows)
    with pytest.raises(IndexError):
        column.identifiers_at(np.array([0, len(expected)]))


INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("name", [*INTEGERS, "float16", "float32", "float64", "bool_"])
def test_layouts_of_numbers(name):
    """The smallest and largest numbers are read exactly, also from a slice. Integer identifiers become their digits."""
    kind = getattr(pa, name)()
    dtype = kind.to_pandas_dtype()
    limits = np.iinfo(dtype) if name in INTEGERS else None
    values = np.array([7, limits.min, limits.max, 0, 10] if limits else [1, 0, 1, 1, 0], dtype)
    column = column_of(pa.array(values, kind)[1:])
    assert column.numbers(0, 4).tolist() == values[1:].tolist()
    assert column.numbers(0, 4).dtype == dtype
    assert column.numbers(1, 3).tolist() == values[2:4].tolist()
    assert column.holds == ("integer" if limits else "number")
    if limits:
        assert identifiers(column) == [b"%d" % value for value in values[1:].tolist()]
        assert column.sections(0, 4).tolist() == [0, 1, 2, 3] if limits.min else [0, 1, 2]


@pytest.mark.parametrize("name", [*TEXTS, "int32", "double", "bool", "null"])
def test_missing_values(name):
    """Missing values are found in the validity bitmap of a slice, and in the dictionary of a dictionary array."""
    made = {"int32": pa.array([1] * 27), "double": pa.array([1.0] * 27), "bool": pa.array([True] * 27)}
    array = {**TEXTS, **made, "null": pa.nulls(27)}[name]
    column = column_of(pa.concat_arrays([array[:9], pa.nulls(1, array.type), array[9:]])[4:])
    row = 0 if name == "null" else 5
    for read in (column.sections, column.numbers if name in ("double", "bool") else column.identifiers):
        if read == column.sections and name == "bool":
            continue
        assert bad_cell(read, 0, len(column)) == (row, "a missing value")
    holed = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", None]))
    assert bad_cell(column_of(holed).identifiers, 0, 2)


def test_tables_slices_and_structures():
    """The reader handles chunks, slices of tables, and structures with an offset or with missing rows."""
    table = pa.table({"q": pa.chunked_array([["a", "b"], [], ["c"]]), "s": pa.chunked_array([[1.0], [2.0, 3.0]])})
    stream = _arrow.Stream(table.slice(1).__arrow_c_stream__())
    assert stream.names == ("q", "s")
    for column in (2, -1):
        with pytest.raises(IndexError):
            _arrow.Stream(table.__arrow_c_stream__()).read([column])
    found = []
    while (batch := stream.read([1, 0])) is not None:
        found += zip(batch[0].numbers(0, len(batch[0])).tolist(), identifiers(batch[1]), strict=True)
    assert found == [(2.0, b"b"), (3.0, b"c")]
    assert stream.read([0]) is None
    struct = pa.StructArray.from_arrays([pa.array(["a", "b", "c"])], ["q"], mask=pa.array([False, False, True]))
    assert identifiers(column_of(struct[1:2])) == [b"b"]
    assert bad_cell(column_of(struct[1:]).identifiers, 0, 2) == (1, "a missing value")


def test_columns_of_other_types_are_errors_only_if_read():
    table = pa.table({"list": [[1]], "date": pa.array([0], pa.date32()), "score": [1.5], "d": [{"a": 1}]})
    columns = _arrow.Stream(table.__arrow_c_stream__()).read(range(4))
    assert [column.holds for column in columns] == ["other", "other", "number", "other"]
    for read in (columns[0].identifiers, columns[1].identifiers):
        assert bad_cell(read, 0, 1)
    with pytest.raises(TypeError, match="date32"):
        columns[1].numbers(0, 1)


def test_a_capsule_can_be_used_only_once():
    capsule = pa.table({"q": ["a"]}).__arrow_c_stream__()
    stream = _arrow.Stream(capsule)
    with pytest.raises(_arrow.BadStream, match="already used"):
        _arrow.Stream(capsule)
    assert identifiers(stream.read([0])[0]) == [b"a"]
    with pytest.raises(ValueError, match="PyCapsule"):
        _arrow.Stream(pa.array([1]).__arrow_c_array__()[0])


# ---- producers ------------------------------------------------------------------------------------

pointer = ctypes.c_void_p


class CSchema(ctypes.Structure):
    _fields_ = (
        ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", pointer), ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64), ("children", pointer), ("dictionary", pointer), ("release", pointer),
        ("private", pointer),
    )  # fmt: skip


class CArray(ctypes.Structure):
    _fields_ = (
        ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", pointer), ("children", pointer),
        ("dictionary", pointer), ("release", pointer), ("private", pointer),
    )  # fmt: skip


class CStream(ctypes.Structure):
    _fields_ = tuple((name, pointer) for name in ("get_schema", "get_next", "get_last_error", "release", "private"))


RELEASE = ctypes.CFUNCTYPE(None, pointer)
GET = ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer)
ERROR = ctypes.CFUNCTYPE(pointer, pointer)
capsule_of = ctypes.pythonapi.PyCapsule_New
capsule_of.restype, capsule_of.argtypes = ctypes.py_object, [pointer, ctypes.c_char_p, pointer]
pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
pointer_in.restype, pointer_in.argtypes = pointer, [ctypes.py_object, ctypes.c_char_p]


class Producer:
    """A stream of one column, made in Python. It gives `n_batches` arrays, then returns `code`, and counts releases."""

    # Keeps producers alive, because Python would free their buffers while C structures still point to them.
    alive: ClassVar = []

    def __init__(self, form=b"i", n_batches=2, code=0, message=b"out of luck", **wrong):
        self.alive.append(self)
        self.released = {"schema": 0, "array": 0, "stream": 0}
        self.n_batches, self.code, self.wrong = n_batches, code, wrong
        self.message = None if message is None else ctypes.create_string_buffer(message)
        self.schema_code, self.form = wrong.pop("schema_code", 0), form
        self.values = np.array([0, 1, 2, 3], wrong.pop("dtype", np.int32))
        self.data = np.frombuffer(b"abc" + bytes(61), np.uint8)
        n = wrong.pop("n_buffers", 3 if form in (b"u", b"U") else 2)
        self.buffers = (pointer * 4)(None, self.values.ctypes.data, self.data.ctypes.data, None)
        if wrong.pop("no_values", False):
            self.buffers[1] = None
        self.n_buffers = n
        self.calls = (
            GET(self.get_schema), GET(self.get_next), ERROR(lambda _: self.message and ctypes.addressof(self.message)),
            *(RELEASE(self.release_of(kind, of)) for kind, of in
              (("stream", CStream), ("schema", CSchema), ("array", CArray))),
        )  # fmt: skip
        addresses = [ctypes.cast(call, pointer).value for call in self.calls]
        self.stream = CStream(addresses[0], addresses[1], addresses[2], addresses[3], None)

    def release_of(self, kind, structure):
        def release(address):
            self.released[kind] += 1
            ctypes.cast(address, ctypes.POINTER(structure)).contents.release = None

        return release

    def get_schema(self, _, address):
        if self.schema_code:
            return self.schema_code
        release = ctypes.cast(self.calls[4], pointer).value
        schema = CSchema(self.form, b"q", None, 0, 0, None, None, release, None)
        ctypes.cast(address, ctypes.POINTER(CSchema))[0] = schema
        return 0

    def get_next(self, _, address):
        if self.n_batches == 0:
            return self.code
        self.n_batches -= 1
        n = 3 if self.form in (b"u", b"U") else 4
        array = CArray(
            self.wrong.get("length", n), 0, self.wrong.get("offset", 0), self.n_buffers, 0,
            ctypes.addressof(self.buffers), None, None, ctypes.cast(self.calls[5], pointer).value, None,
        )  # fmt: skip
        ctypes.cast(address, ctypes.POINTER(CArray))[0] = array
        return 0

    def __arrow_c_stream__(self, requested_schema=None):
        return capsule_of(ctypes.addressof(self.stream), b"arrow_array_stream", None)


def read_all(producer):
    stream = _arrow.Stream(producer.__arrow_c_stream__())
    found = []
    while (batch := stream.read([0])) is not None:
        found += identifiers(batch[0])
    return found


@pytest.mark.parametrize("form", [b"i", b"u"])
def test_every_structure_is_released_once(form):
    """The stream may be read to its end or only in part, and its columns may outlive it."""
    producer = Producer(form)
    assert read_all(producer) == ([b"0", b"1", b"2", b"3"] if form == b"i" else [b"a", b"b", b"c"]) * 2
    gc.collect()
    assert producer.released == {"schema": 1, "array": 2, "stream": 1}
    producer = Producer(form)
    stream = _arrow.Stream(producer.__arrow_c_stream__())
    (column,) = stream.read([0])
    assert producer.released == {"schema": 1, "array": 0, "stream": 0}
    del stream
    assert producer.released == {"schema": 1, "array": 0, "stream": 1}
    assert len(identifiers(column)) == len(column)
    del column
    assert producer.released == {"schema": 1, "array": 1, "stream": 1}


@pytest.mark.parametrize(
    ("wrong", "message", "arrays"),
    [
        ({"code": 5}, "out of luck", 2),
        ({"code": 5, "message": None}, "the producer failed with error 5 and no message", 2),
        ({"code": 5, "message": b"two\nlines"}, "two lines", 2),
        ({"schema_code": 22}, "out of luck", 0),
        ({"length": -1}, "an array has length -1 and offset 0", 1),
        ({"offset": 2**62}, f"an array has length 4 and offset {2**62}", 1),
        ({"n_buffers": 1}, "a column of int32 has 1 buffers, not 2", 1),
        ({"n_buffers": 3}, "a column of int32 has 3 buffers, not 2", 1),
        ({"form": b"u", "n_buffers": 2}, "a column of utf8 has 2 buffers, not 3", 1),
        ({"no_values": True}, "a column of int32 has no values", 1),
        ({"no_values": True, "form": b"b"}, "a column of bool has no values", 1),
        ({"length": 2**49}, f"an array has length {2**49} and offset 0", 1),
        ({"form": None}, "the schema was already released", 0),
    ],
)
def test_bad_producers(wrong, message, arrays):
    """Every error is one line, and every structure of the producer is released exactly once."""
    asked = list(wrong)
    producer = Producer(**wrong)
    with pytest.raises(_arrow.BadStream) as caught:
        read_all(producer)
    assert str(caught.value) == message
    caught.value.__traceback__ = None
    del caught
    gc.collect()
    schemas = 0 if "schema_code" in asked else 1
    assert producer.released == {"schema": schemas, "array": arrays, "stream": 1}


def test_a_column_without_values_may_claim_any_number_of_rows():
    """A column of nulls has no buffers. Its first row is an error, before anything is allocated for its rows."""
    stream = _arrow.Stream(Producer(b"n", 1, length=2**48, n_buffers=0).__arrow_c_stream__())
    (column,) = stream.read([0])
    assert len(column) == 2**48
    assert bad_cell(column.sections, 5, len(column)) == (5, "a missing value")


@pytest.mark.parametrize("form", [b"u", b"U"])
@pytest.mark.parametrize(
    ("offsets", "row"),
    [([0, 2, 1, 3], 1), ([0, 4, 4, 3], 0), ([-1, 1, 2, 3], 0), ([0, 1, 2, -3], 0), ([1, 0, 2, 3], 0)],
)
def test_bad_offsets(form, offsets, row):
    """The error for offsets that decrease, or exceed the last offset, names the row. No memory is read there."""
    producer = Producer(form, 1, dtype=np.int32 if form == b"u" else np.int64)
    producer.values[:] = offsets
    assert bad_cell(read_all, producer) == (row, "a value outside its buffer")


def test_bad_views_and_indices():
    """Views into missing buffers or beyond the end of a buffer, and indices beyond the dictionary, are refused."""
    long = pa.array(["x" * 20, "y" * 20], pa.string_view())
    views = np.frombuffer(long.buffers()[1], np.int32).copy()
    for at, value in ((2, 5), (2, -1), (3, 30), (3, -4), (0, -1), (0, 2**31 - 1)):
        changed = views.copy()
        changed[at] = value
        data = [None, pa.py_buffer(changed), *long.buffers()[2:]]
        array = pa.Array.from_buffers(pa.string_view(), 2, data)
        assert bad_cell(column_of(array).identifiers, 0, 2) == (0, "a value outside its buffer")
    indices = pa.array([0, 7], pa.int8())
    array = pa.DictionaryArray.from_arrays(indices, pa.array(["a"]), safe=False)
    assert bad_cell(column_of(array).identifiers, 0, 2) == (1, "a value outside its buffer")


def exported(array):
    """Export a pyarrow array or batch; return the capsules, and the C structure of the array, which may be changed."""
    capsules = array.__arrow_c_array__()
    return capsules, CArray.from_address(pointer_in(capsules[1], b"arrow_array"))


def test_offsets_beyond_the_rows_of_a_table_do_not_count():
    """A table may be shorter than its columns. The last offset is that of the column, and not that of the table."""
    offsets = pa.py_buffer(np.array([0, 100, 2, 3], np.int32))
    array = pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"abc")])
    capsules, table = exported(pa.record_batch({"d": array}))
    table.length = 1
    (column,) = _arrow.Stream(*capsules).read([0])
    for read in (column.identifiers, column.sections):
        assert bad_cell(read, 0, 1) == (0, "a value outside its buffer")


def test_views_need_the_sizes_of_their_buffers():
    capsules, array = exported(pa.array(["x" * 20], pa.string_view()))
    (pointer * array.n_buffers).from_address(array.buffers)[array.n_buffers - 1] = None
    with pytest.raises(_arrow.BadStream, match="a column of utf8_view has no sizes of its data buffers"):
        _arrow.Stream(*capsules).read([0])


def test_a_table_whose_columns_change_is_an_error():
    tables = [pa.table({name: ["q"], "doc_id": ["d"], "score": [1.0]}) for name in ("query_id", "query")]

    class Changing:
        num_rows = 1

        def __arrow_c_stream__(self, requested_schema=None):
            return tables.pop(0).__arrow_c_stream__()

    assert message_of(Run.from_arrow, Changing()) == "run: the columns of the table have changed while it was read"


def test_a_producer_that_fails_is_named():
    """The error names the argument in one line, and ends with the message of the producer's exception."""

    def batches():
        yield pa.record_batch({"qid": ["q"], "docno": ["d"], "score": [1.0]})
        raise ValueError("the network\nis down")

    schema = pa.schema([("qid", pa.string()), ("docno", pa.string()), ("score", pa.float64())])
    with pytest.raises(InputError, match=r"^run: the table cannot be read: .*the network is down"):
        tieaware.evaluate({"q": {"d": 1}}, pa.RecordBatchReader.from_batches(schema, batches()), "AP")

    class Closed:
        def __arrow_c_stream__(self, requested_schema=None):
            raise RuntimeError("closed")

    assert message_of(Qrels.from_arrow, Closed()) == "qrels: the table cannot be read: closed"


@pytest.mark.parametrize("seed", range(5))
def test_random_arrays(seed):
    """Text of any length and script is read correctly from every layout, and from slices."""
    rng = random.Random(seed)
    values = ["".join(rng.choices("aé😀b", k=rng.choice([0, 1, 3, 11, 12, 13, 40]))) for _ in range(300)]
    start, stop = sorted(rng.sample(range(301), 2))
    expected = [value.encode() for value in values[start:stop]]
    types = pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int16(), pa.string())
    for kind in types:
        array = pa.array(values).dictionary_encode() if pa.types.is_dictionary(kind) else pa.array(values, kind)
        assert identifiers(column_of(array[start:stop])) == expected
    assert identifiers(column_of(nanoarrow.c_array(values, nanoarrow.string())), start, stop) == expected
    series = pl.Series(values)[start:stop]
    assert identifiers(_arrow.Stream(series.__arrow_c_stream__()).read([0])[0]) == expected
