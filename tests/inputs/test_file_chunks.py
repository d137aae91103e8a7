"""Reading a file with several threads gives the rows, errors and warnings of one thread."""

from __future__ import annotations

import gzip
import io
import itertools
import os
import threading
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tieaware
from tieaware.errors import InputError
from tieaware.inputs import Reading, RunFile
from tieaware.inputs.files.byte_streams import ByteStream
from tieaware.inputs.runs import streamed
from tieaware.inputs.trec.reader import FileChunks, Malformed, NotParallel
from tieaware.kernels import _line_ends, _trec

MEASURES = ("AP", "RR", "nDCG@10", "P@5")


@pytest.fixture
def small(monkeypatch):
    """Read files of any size in chunks of 200 bytes."""
    monkeypatch.setattr(streamed, "SMALLEST", 1)
    monkeypatch.setattr(streamed, "CHUNK", 200)


@pytest.fixture
def path(tmp_path):
    """Return the path of a run that the test writes."""
    return tmp_path / "a.run"


@pytest.fixture
def taken(monkeypatch):
    """Return a list to which the size of each chunk that a thread takes is appended."""
    sizes: list[int] = []
    plain = FileChunks.__iter__

    def noted(self):
        for chunk in plain(self):
            sizes.append(chunk.size)
            yield chunk

    monkeypatch.setattr(FileChunks, "__iter__", noted)
    return sizes


def lines_of(n_queries, n_documents, first=0):
    return b"".join(
        b"query%d Q0 doc%d 1 %d.5 t\n" % (q, d, d * 7919 % 5)
        for q in range(first, first + n_queries)
        for d in range(n_documents + q % 7)
    )


QRELS = {f"query{q}": {f"doc{d}": int((q + d) % 3 == 0) for d in range(0, 12, 2)} for q in range(60)}


def outcome(path, threads, **options):
    """Evaluate a file; return the values or the error message, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            run = RunFile(path, Reading(**options))
            result = tieaware.evaluate(QRELS, run, MEASURES, threads=threads).values.tobytes()
        except InputError as error:
            result = str(error)
    return result, [str(warning.message) for warning in caught]


def assert_alike(path, **options):
    expected = outcome(path, 1, **options)
    for threads in (2, 3):
        assert outcome(path, threads, **options) == expected
    return expected


# ---- where a text is divided --------------------------------------------------------------------------


def plain_last_query(text: bytes) -> int:
    """Find the last query line by line, in plain Python."""
    position, starts = 0, []
    for line in text[: max(text.rfind(b"\n"), text.rfind(b"\r")) + 1].splitlines(keepends=True) if text else []:
        starts.append((line.split(), position))
        position += len(line)
    named = [(fields[0], start) for fields, start in starts if fields and not fields[0].startswith(b"#")]
    groups = [list(group) for _, group in itertools.groupby(named, key=lambda pair: pair[0])]
    return groups[-1][0][1] if len(groups) > 1 else 0


fragments = st.sampled_from(
    [
        b"q", b"qq", b"r", b"#", b"# q", b" ", b"\t", b"\n", b"\n\n", b"q a b\n", b"r a b\n", b" q x\n", b"other one\n",
        b"\r", b"\r\n", b"r a\r",
    ]
)  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(st.lists(fragments, max_size=30).map(b"".join))
@example(b"")
@example(b"q")
@example(b"q\nr")
@example(b"q\n#\nr\n")
def test_the_last_query_begins_where_plain_python_finds_it(text):
    assert _line_ends.last_query(memoryview(text)) == plain_last_query(text)


@pytest.mark.parametrize("end", [b"\r", b"\r\n"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_lines_end_in_any_way_for_any_number_of_threads(end, suffix, tmp_path, monkeypatch):
    """The values, and the line of an error, are those of the same file with newlines."""
    monkeypatch.setattr(streamed, "SMALLEST", 1)
    monkeypatch.setattr(streamed, "CHUNK", 400)
    rows = lines_of(30, 3) + lines_of(1, 50, 30) + lines_of(20, 1, 31)
    path = tmp_path / f"a.run{suffix}"

    def write(content):
        path.write_bytes(gzip.compress(content) if suffix else content)

    write(rows)
    expected = assert_alike(path)
    write(rows.replace(b"\n", end))
    assert assert_alike(path) == expected
    write((rows + b"q 0\n" + rows).replace(b"\n", end))
    line = rows.count(b"\n") + 1
    assert assert_alike(path)[0].startswith(f"{path}:{line}: ")


def test_parsing_a_chunk_leaves_the_next_chunk_unchanged():
    """A chunk that ends with a carriage return is complete. The bytes after it belong to the next chunk."""
    text = b"q1 Q0 d1 1 1 t\rq2 Q0 d1 1 1 t\r"
    parser = _trec.Parser(False)
    buffer = parser.room(len(text))
    buffer[:] = text
    cut = _line_ends.last_query(buffer)
    assert parser.parse(cut, final=True)
    assert buffer.tobytes() == text


def test_chunks_contain_whole_queries_and_all_rows(path):
    content = b"# comment\n\n" + lines_of(30, 3) + lines_of(1, 50, 30) + b"\n# more\n" + lines_of(20, 1, 31)
    path.write_bytes(content)
    whole = tieaware.read_run(path)
    for size in (1, 50, 200, 1000, len(content) - 1, len(content), len(content) + 1):
        with ByteStream(path) as stream:
            chunks = FileChunks(stream, size)
            parsed = [chunks.parse(chunk) for chunk in chunks]
        queries = [query for run in parsed for query in run.queries]
        assert queries == list(whole.queries)
        assert [document for run in parsed for document in run.documents] == list(whole.documents)
        assert [score for run in parsed for score in run.values.tolist()] == whole.scores.tolist()
        assert [np.diff(run.offsets).sum() for run in parsed] == [len(run.values) for run in parsed]
        assert len(parsed) > 10 or size >= 200


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (b"x Q0 d 1 high t\n", Malformed),
        (b"x Q0 d 1 1\n", Malformed),
        (None, Malformed),
        (b"x Q0 d 1 1 t\n" * 2, NotParallel),
        (b"query3 Q0 z 1 1 t\n", NotParallel),
    ],
)
def test_some_files_must_be_read_in_order(path, lines, reason):
    """These are files that are malformed or empty, or have duplicates or a query whose lines are not contiguous."""
    path.write_bytes(lines_of(20, 3) + lines + lines_of(20, 3, 20) if lines else b"# nothing\n")
    with ByteStream(path) as stream:
        chunks = FileChunks(stream, 200)
        with pytest.raises(reason):
            list(map(chunks.parse, chunks))


# ---- values, errors and warnings ------------------------------------------------------------------


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_values_are_the_same_for_any_number_of_threads(path, compress, taken):
    path.write_bytes(compress(lines_of(60, 8)))
    values, _ = assert_alike(path)
    assert len(values) == 60 * len(MEASURES) * 8
    assert len(taken) > 80
    taken.clear()
    assert_alike(path, score_dtype="float32")
    assert taken


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "middle",
    [
        b"",
        b"query25 Q0 doc0 1 high t\n",
        b"query25 Q0 doc0 1 1\n",
        b"query25 0 doc0 1\n",
        b"query25 Q0 doc0 1 1 t\n" * 2,
        b"query3 Q0 doc90 1 1 t\n",
        b"query3 Q0 doc90 1 1 t\nquery25 Q0 doc0 1 high t\n",
        b"query3 Q0 doc0 1 1 t\n",
        b"\n# comment\n" * 100,
        b"\xef\xbb\xbfquery25 Q0 doc0 1 1 t\n" * 20,
        b"".join(b"\xef\xbb\xbfquery25 Q0 doc%d 1 1 t\n" % i for i in range(20)),
    ],
)
def test_errors_and_warnings_are_the_same_for_any_number_of_threads(path, middle):
    for rest in (b"", b"query55 Q0 doc4 1 1 t\n", b"query55 Q0 doc4 1 nan t\n"):
        path.write_bytes(b"\xef\xbb\xbf# first\n" + lines_of(25, 6) + middle + lines_of(34, 6, 26) + rest)
        for duplicates in ("error", "first"):
            assert_alike(path, duplicates=duplicates)
    path.write_bytes(middle * 30)
    assert_alike(path)


@pytest.mark.usefixtures("small")
def test_a_damaged_compressed_file_is_an_error(tmp_path):
    path = tmp_path / "a.run.gz"
    whole = gzip.compress(lines_of(60, 8))
    damaged = [(whole[:size], "truncated") for size in (12, len(whole) // 2, len(whole) - 1)]
    for at in (len(whole) // 2, len(whole) - 6):
        damaged.append((whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :], "corrupt"))
    for content, problem in damaged:
        path.write_bytes(content)
        assert f"{problem} gzip data" in assert_alike(path)[0]


@pytest.mark.usefixtures("small")
def test_errors_of_an_evaluation_are_raised(path):
    class Fails:
        def coarsen(self, scores, offsets):
            raise ZeroDivisionError("of mine")

        def __str__(self):
            return "fails"

    path.write_bytes(lines_of(60, 8))
    for threads in (1, 2):
        with pytest.raises(ZeroDivisionError, match="of mine"):
            tieaware.evaluate(QRELS, path, MEASURES, precision=Fails(), threads=threads)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("ties", ["trec_eval", "run_order", "pessimistic"])
def test_every_tie_rule_has_the_same_values(path, ties):
    path.write_bytes(lines_of(60, 8))
    expected = tieaware.evaluate(QRELS, path, MEASURES, ties=ties, threads=1)
    found = tieaware.evaluate(QRELS, path, MEASURES, ties=ties, threads=2)
    np.testing.assert_array_equal(found.values, expected.values)


def test_a_large_file_in_chunks_of_the_usual_size(path, taken):
    """The file has a line of the largest length, and a query that is longer than a chunk."""
    long = b"query3 Q0 " + b"d" * 1_000_000 + b" 1 9 t\n"
    many = b"".join(b"query4 Q0 doc%d 1 %d t\n" % (d, d % 1000) for d in range(250_000))
    path.write_bytes(lines_of(3, 3000) + long + many + lines_of(55, 6000, 5))
    assert path.stat().st_size > 16 << 20
    assert_alike(path)
    assert len(taken) >= 6
    assert max(taken) > streamed.CHUNK


def test_small_files_are_read_in_order_and_so_is_every_file_with_one_thread(path, taken):
    path.write_bytes(lines_of(60, 8))
    outcome(path, 8)
    path.write_bytes(lines_of(60, 8) + b"\n" * streamed.SMALLEST)
    outcome(path, 1)
    assert taken == []
    outcome(path, 2)
    assert taken


@pytest.mark.usefixtures("small")
def test_a_stream_that_can_be_read_only_once_is_read_once(taken):
    content = lines_of(60, 8)
    expected = tieaware.evaluate(QRELS, {"a": io.BytesIO(content)}, MEASURES, threads=1).values
    np.testing.assert_array_equal(tieaware.evaluate(QRELS, io.BytesIO(content), MEASURES, threads=2).values, expected)
    reader, writer = os.pipe()
    with open(writer, "wb") as file:
        thread = threading.Thread(target=lambda: (file.write(content), file.close()))
        thread.start()
        found = tieaware.evaluate(QRELS, f"/dev/fd/{reader}", MEASURES, threads=2).values
        thread.join()
    os.close(reader)
    np.testing.assert_array_equal(found, expected)
    assert taken == []


@pytest.mark.parametrize("path", ["none.run", "a\0b", "", "."])
def test_a_path_without_a_file_is_an_error(path):
    assert outcome(path, 2) == outcome(path, 1)
