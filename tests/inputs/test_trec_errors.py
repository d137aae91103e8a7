"""Errors in files: one line that names the place and the problem."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import time
import zlib
from functools import partial

import pytest
from support.errors import message_of
from support.memory import peak_of

try:
    import zstandard
except ImportError:
    zstandard = None

from tieaware import evaluate
from tieaware.inputs import read_qrels, read_run
from tieaware.inputs.files import byte_streams, compression
from tieaware.inputs.runs import streamed
from tieaware.inputs.runs.streamed import RunFile
from tieaware.inputs.trec import reader as trec
from tieaware.kernels._trec import LONGEST_LINE

RUN = '"query Q0 document rank score tag"'
QRELS = '"query iteration document label"'
CHOICE = (
    "; read_qrels(..., duplicates='highest'), 'first' or 'last' chooses one, "
    "and subtopics=True reads labels of subtopics"
)
GOOD = b"q Q0 d 1 2.5 t\n"
# Under the sanitizer, each allocation of a decompressor takes long.
SLOWER = 10 if "libasan" in os.environ.get("LD_PRELOAD", "") else 1


@pytest.fixture
def directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def chunks_of(path):
    return list(RunFile(path).contiguous_chunks())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", f"a: the file has no lines of the form {RUN}"),
        (b"\n  \r\n# comment\n", f"a: the file has no lines of the form {RUN}"),
        (GOOD + b"\nq Q0 e 2\n", f"a:3: a line of a run has 6 fields, {RUN}, but this line has 4"),
        (b"q Q0 e x 2.5\n", f"a:1: a line of a run has 6 fields, {RUN}, but this line has 5"),
        (b"q 0 d 1\nq 0 e 1\n", f"a:1: this is a line of judgments, {QRELS}, not of a run, {RUN}"),
        (b"q 0 d x\n", f"a:1: a line of a run has 6 fields, {RUN}, but this line has 4"),
        (b"q\n", f"a:1: a line of a run has 6 fields, {RUN}, but this line has 1"),
        (GOOD + b"q Q0 e 2 high t", "a:2: the score, field 5, must be a number, not 'high'"),
        (GOOD + b"q Q0 e 2 1_0 t\n", "a:2: the score, field 5, must be a number, not '1_0'"),
        (GOOD + b"q Q0 e 2 0x1p3 t\n", "a:2: the score, field 5, must be a number, not '0x1p3'"),
        (GOOD + b"q Q0 e 2 1,5 t\n", "a:2: the score, field 5, must be a number, not '1,5'"),
        (GOOD + b"q Q0 e 2 .inf t\n", "a:2: the score, field 5, must be a number, not '.inf'"),
        (GOOD + b"q Q0 e 2 . t\n", "a:2: the score, field 5, must be a number, not '.'"),
        (GOOD + b"q Q0 e 2 e5 t\n", "a:2: the score, field 5, must be a number, not 'e5'"),
        (GOOD + b"q Q0 e 2 1e t\n", "a:2: the score, field 5, must be a number, not '1e'"),
        (GOOD + b"q Q0 e 2 --1 t\n", "a:2: the score, field 5, must be a number, not '--1'"),
        (GOOD + b"q Q0 e 2 1.2.3 t\n", "a:2: the score, field 5, must be a number, not '1.2.3'"),
        (GOOD + b"q Q0 e 2 1\0 t\n", "a:2: the score, field 5, must be a number, not '1\\x00'"),
        (GOOD + b"q Q0 e 2 \xff\x1b t\n", "a:2: the score, field 5, must be a number, not '\\\\xff\\x1b'"),
        (GOOD + b"q Q0 e 2 nan t\n", "a:2: the score, field 5, must be a number, not NaN"),
        (GOOD + b"q Q0 e 2 -NaN t\n", "a:2: the score, field 5, must be a number, not NaN"),
        (
            b"# a comment\nq Q0 d1 1 9007199254740992 t\nq Q0 d2 2 9007199254740993 t\nq Q0 d3 3 x t",
            "a:3: the score, field 5, must be a number, not 9007199254740993, which float64 cannot represent",
        ),
        (
            GOOD + b"q Q0 e 2 -18446744073709551617 t\n",
            "a:2: the score, field 5, must be a number, not -18446744073709551617, which float64 cannot represent",
        ),
        (
            GOOD + b"q Q0 e 2 1e400 t\n",
            "a:2: the score, field 5, must be a number, not 1e400, which float64 cannot represent",
        ),
        (
            GOOD + b"q Q0 e 2 -1e-400 t\n",
            "a:2: the score, field 5, must be a number, not -1e-400, which float64 cannot represent",
        ),
        # The newline between two rows was replaced by a blank, or was lost.
        (
            GOOD + b"q Q0 e 1 2 t q Q0 f 2 1 t\n",
            f"a:2: a line of a run has 6 fields, {RUN}, but this line has two rows",
        ),
        (
            GOOD + b"q Q0 e 1 2 tq Q0 f 2 1 t",
            f"a:2: a line of a run has 6 fields, {RUN}, but this line has two rows",
        ),
        (
            b"q Q0 d 1 2.5 t q Q0 e 1 2 t",
            f"a:1: a line of a run has 6 fields, {RUN}, but this line has two rows",
        ),
        (b"q Q0 d 1 2.5 tq Q0 e 1 2 t", f"a:1: a line of a run has 6 fields, {RUN}, but this line has two rows"),
        (
            GOOD + b"q Q0 e 2 " + b"x" * 1000 + b" t\n",
            f"a:2: the score, field 5, must be a number, not '{'x' * 80}'…",
        ),
        (
            GOOD + b"r Q0 d 1 2 t\n\n# comment\nq Q0 d 2 1 t\n",
            "a:5: document 'd' of query 'q' appears twice, first at a:1; to keep only the first row, pass "
            "duplicates='first'",
        ),
    ],
)
def test_bad_runs(directory, content, message):
    (directory / "a").write_bytes(content)
    assert message_of(read_run, "a") == message_of(chunks_of, "a") == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", f"a: the file has no lines of the form {QRELS}"),
        (b"q 0 d\n", f"a:1: a line of judgments has 4 fields, {QRELS}, but this line has 3"),
        (b"q 0 d 1\nq 0 e 1 x\n", f"a:2: a line of judgments has 4 fields, {QRELS}, but this line has more"),
        (b"q 0 d 1\rq 0 e 1 2.5\r", f"a:2: a line of judgments has 4 fields, {QRELS}, but this line has more"),
        (GOOD, f"a:1: this is a line of a run, {RUN}, not of judgments, {QRELS}"),
        (b"q 0 d 1\n" + GOOD, f"a:2: this is a line of a run, {RUN}, not of judgments, {QRELS}"),
        (b"q 0 d 1.0x\n", "a:1: the label, field 4, must be a number from -2147483648 to 2147483647, not '1.0x'"),
        (b"q 0 d inf\n", "a:1: the label, field 4, must be a number from -2147483648 to 2147483647, not 'inf'"),
        (b"q 0 d 3e9\n", "a:1: the label, field 4, must be a number from -2147483648 to 2147483647, not '3e9'"),
        (
            b"q 0 d 1\nq 0 e 9000000000.1234567890123456789\n",
            "a:2: the label, field 4, must be a number from -2147483648 to 2147483647, "
            "not '9000000000.1234567890123456789'",
        ),
        (b"q 0 d nan\n", "a:1: the label, field 4, is NaN; read_qrels(path, missing='unjudged') reads it as unjudged"),
        (
            b"q 0 d 0.5\nq 0 d 0.25\n",
            f"a:2: document 'd' of query 'q' has label 0.25 here, but label 0.5 at a:1{CHOICE}",
        ),
        (b"q 0 d +\n", "a:1: the label, field 4, must be a number from -2147483648 to 2147483647, not '+'"),
        (
            b"q 0 d 2147483648\n",
            "a:1: the label, field 4, must be a number from -2147483648 to 2147483647, not '2147483648'",
        ),
        (
            b"q 0 d -2147483649\n",
            "a:1: the label, field 4, must be a number from -2147483648 to 2147483647, not '-2147483649'",
        ),
        (
            b"q 0 d " + b"1" * 30,
            f"a:1: the label, field 4, must be a number from -2147483648 to 2147483647, not '{'1' * 30}'",
        ),
        (
            b"q 0 d 1\nq 0 e 1\n\nr 0 d 2\nq 0 d 1\nq 0 d 2\n",
            f"a:6: document 'd' of query 'q' has label 2 here, but label 1 at a:1{CHOICE}",
        ),
    ],
)
def test_bad_judgments(directory, content, message):
    (directory / "a").write_bytes(content)
    assert message_of(read_qrels, "a") == message


def test_a_judgment_may_be_repeated():
    qrels = read_qrels(io.BytesIO(b"q 0 d 1\nr 0 d 2\nq 0 e 0\nq 0 d 1\n"))
    assert list(qrels.documents) == [b"d", b"e", b"d"]
    assert qrels.labels.tolist() == [1, 0, 2]


def test_duplicates_first_keeps_the_first_of_repeated_documents(directory):
    (directory / "a.run").write_bytes(GOOD + b"q Q0 e 2 2 t\nr Q0 d 1 3 t\nq Q0 d 3 1 t\nq Q0 e 3 1 t\n")
    with pytest.warns(UserWarning, match="duplicate") as caught:
        run = read_run("a.run", duplicates="first")
    assert [str(warning.message) for warning in caught] == [
        "a.run: 2 duplicate rows are ignored; a.run:4: document 'd' of query 'q' appears again, first at a.run:1"
    ]
    assert caught[0].filename == __file__
    assert list(run.documents) == [b"d", b"e", b"d"]
    assert run.scores.tolist() == [2.5, 2, 3]
    assert run.offsets.tolist() == [0, 2, 3]


def test_line_numbers_after_the_first_buffer(directory, monkeypatch):
    monkeypatch.setattr(trec, "BUFFER", 64)
    monkeypatch.setattr(streamed, "CHUNK_ROWS", 4)
    lines = [b"q%d Q0 d%d 1 1 t\n" % (i // 10, i) + b"\n" * (i % 3) for i in range(200)]
    content = b"".join(lines)
    n = content.count(b"\n")
    (directory / "a").write_bytes(content + b"q19 Q0 d195 1 1 t\n")
    first = b"".join(lines[:195]).count(b"\n") + 1
    assert message_of(read_run, "a") == message_of(chunks_of, "a") == (
        f"a:{n + 1}: document 'd195' of query 'q19' appears twice, first at a:{first}; to keep only "
        "the first row, pass duplicates='first'"
    )
    (directory / "a").write_bytes(content + b"q19 Q0 d1950 1 x t\n")
    expected = f"a:{n + 1}: the score, field 5, must be a number, not 'x'"
    assert message_of(read_run, "a") == message_of(chunks_of, "a") == expected


def test_invalid_numbers_are_reported_in_linear_time(directory):
    """The check whether a malformed line is one of a run takes linear time, even if a field is very long."""
    (directory / "a").write_bytes(b"q 0 d 99999999999 " + b"9" * 200_000 + b"x 1\n")
    start = time.process_time()
    assert message_of(read_qrels, "a").endswith("must be a number from -2147483648 to 2147483647, not '99999999999'")
    (directory / "a").write_bytes(b"q Q0 d 1 nan(" + b")" * 200_000 + b"x t\n")
    assert "not 'nan()))" in message_of(read_run, "a")
    assert time.process_time() - start < 2 * SLOWER


@pytest.mark.parametrize("before", [b"", GOOD, GOOD * 20_000, b"\n" * 300_000, GOOD + b"q Q0 " + b"e" * 500_000])
def test_lines_are_at_most_a_mebibyte_long(directory, before, monkeypatch):
    """The message is the same for every buffer size, reader, number of threads, and text after the line."""
    number = before.count(b"\n") + 1
    message = f"a:{number}: the line is longer than 1,048,576 bytes"
    last_line = len(before) - (before.rfind(b"\n") + 1)
    for block in (1 << 16, 1 << 18):
        monkeypatch.setattr(trec, "BUFFER", block)
        for rest in (b"", b"\n", b" 1 1 t\n" + GOOD, b"\0" * 3_000_000):
            (directory / "a").write_bytes(before + b"x" * (LONGEST_LINE + 1 - last_line) + rest)
            for reader in (read_run, read_qrels) if number == 1 else (read_run,):
                assert message_of(reader, "a") == message
            for threads in (1, 2):
                assert message_of(evaluate, {"q": {"d": 1}}, "a", ["AP"], threads=threads) == message
        filled = before + b" " * (LONGEST_LINE - last_line - 7)
        if b"e" in before:
            (directory / "a").write_bytes(filled + b" 1 3 t ")
            assert read_run("a").scores.tolist() == [2.5, 3]


def test_a_line_without_an_end_takes_no_memory(directory):
    (directory / "a").write_bytes(b"")
    os.truncate("a", 1 << 28)
    (directory / "b").write_bytes(GOOD)
    os.truncate("b", 1 << 28)
    for name, line in (("a", 1), ("b", 2)):
        for threads in (1, 2):
            refused = partial(message_of, evaluate, {"q": {"d": 1}}, name, ["AP"], threads=threads)
            assert refused().startswith(f"{name}:{line}: ")
            assert peak_of(refused) < 1 << 25


# ---- files ----------------------------------------------------------------------------------------

CONTENT = b"".join(b"q%d Q0 document-%d 1 %d t\n" % (i // 100, i, i * 7919 % 1000) for i in range(20_000))


class Unreadable(io.RawIOBase):
    def readable(self):
        return True

    def readinto(self, buffer):
        raise OSError(5, "Input/output error")


class Sluggish(io.RawIOBase):
    """A file that returns one byte at a time."""

    def __init__(self, content):
        self.content = content

    def readable(self):
        return True

    def readinto(self, buffer):
        n = min(len(self.content), 1)
        buffer[:n], self.content = self.content[:n], self.content[n:]
        return n


def closed(file):
    file.close()
    return file


AS_TEXT = "the file is open as text: open it in binary mode, as in open(path, 'rb')"


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("none.run", "none.run: there is no such file"),
        (".", ".: there are no part files in this folder"),
        ("no\nfile", "no\\nfile: there is no such file"),
        ("a\0b", "a\\x00b: the file cannot be opened: embedded null byte"),
        ("a/" * 4000, f"{'a/' * 4000}: the file cannot be opened: File name too long"),
        ("-", "<stdin>: standard input is not available as bytes"),
        (io.StringIO("q Q0 d 1 1 t"), f"<file>: {AS_TEXT}"),
        (5, "<file>: expected a path or a file opened in binary mode, found 5"),
        (None, "<file>: expected a path or a file opened in binary mode, found None"),
        (Unreadable(), "<file>: the file cannot be read: Input/output error"),
        (closed(io.BytesIO(GOOD)), "<file>: the file cannot be read: I/O operation on closed file."),
    ],
)
def test_files_that_cannot_be_read(directory, file, message, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert message_of(read_run, file) == message_of(read_qrels, file) == message


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("bm25.run", "bm25"),
        ("bm25.run.gz", "bm25"),
        ("input.bm25.txt.zst", "input.bm25"),
        ("bm25.v1", "bm25.v1"),
        ("bm25.res.run", "bm25.res"),
        (".run", ".run"),
        ("x.trec.xz", "x"),
    ],
)
def test_a_run_is_named_after_its_file(directory, path, name):
    (directory / path).write_bytes(GOOD)
    assert read_run(path).name == name
    with open(path, "rb") as file:
        assert read_run(file).name == name
        assert not file.closed


def in_zstd(content):
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


# Each format: its compressor, and what may follow a compressed member.
FORMATS = {
    "gzip": (gzip.compress, b"\0" * 8),
    "bzip2": (bz2.compress, b"\0" * 8),
    "xz": (partial(lzma.compress, preset=0), b"\0" * 8),
    "zstd": (in_zstd, b"\x50\x2a\x4d\x18\x03\0\0\0abc"),
}
ZSTD_READERS = ("compression.zstd", "backports.zstd", "zstandard")


def only_reader(module, monkeypatch):
    """Let files of zstd be read by one module; zstandard writes them."""
    pytest.importorskip("zstandard", reason="zstandard is not installed")
    pytest.importorskip(module, reason=f"{module} is not installed")
    for other in {*ZSTD_READERS} - {module}:
        monkeypatch.setitem(sys.modules, other, None)


@pytest.fixture(params=["gzip", "gzip by zlib", "bzip2", "xz", *(f"zstd by {module}" for module in ZSTD_READERS)])
def format_(request, monkeypatch):
    """Return a format, its compressor and its padding. gzip is read by the package isal, and without isal by zlib."""
    name, _, module = request.param.partition(" by ")
    if name == "zstd":
        only_reader(module, monkeypatch)
    elif module:
        monkeypatch.setitem(sys.modules, "isal.isal_zlib", None)
        assert compression.gzip_module() is zlib
    elif name == "gzip":
        pytest.importorskip("isal", reason="isal is not installed")
        assert compression.gzip_module() is not zlib
    return name, *FORMATS[name]


@pytest.mark.parametrize("block", [7, 1 << 18])
def test_compression_is_recognised_by_content(directory, format_, block, monkeypatch):
    """A file may consist of several compressed members, which may end within a line and be followed by padding."""
    monkeypatch.setattr(byte_streams, "COMPRESSED_BUFFER", block)
    _, compress, between = format_
    content = CONTENT if block > 7 else CONTENT[:5000]
    content = content[: content.rindex(b"\n") + 1]
    expected = list(read_run(io.BytesIO(content)).documents)
    for parts in ([content], [content[:333], content[333:]], [b"", content[:1000], b"", content[1000:], b""]):
        for padding in (b"", between):
            compressed = padding.join(compress(part) for part in parts) + padding
            (directory / "a.run").write_bytes(compressed)
            assert list(read_run("a.run").documents) == expected
            assert list(read_run(io.BytesIO(compressed)).documents) == expected
    assert [document for run in RunFile("a.run").contiguous_chunks() for document in run.documents] == expected


def test_files_that_return_few_bytes_at_a_time(format_):
    compress = format_[1]
    content = CONTENT[: CONTENT.index(b"\n", 300) + 1]
    expected = list(read_run(io.BytesIO(content)).documents)
    assert list(read_run(Sluggish(content)).documents) == expected
    assert list(read_run(Sluggish(compress(content))).documents) == expected


def test_truncated_and_corrupt_files(directory, format_):
    name, compress, _ = format_
    compressed = compress(CONTENT)
    for size in (10, 30, len(compressed) // 2, len(compressed) - 9, len(compressed) - 1):
        (directory / "a.run").write_bytes(compressed[:size])
        expected = f"a.run: truncated {name} data: the file ends before its end marker"
        assert message_of(read_run, "a.run") == message_of(chunks_of, "a.run") == expected
    for position in (len(compressed) // 2, len(compressed) - (13 if name == "xz" else 6)):
        corrupt = bytearray(compressed)
        corrupt[position] ^= 0xFF
        (directory / "a.run").write_bytes(corrupt)
        assert message_of(read_run, "a.run").startswith(f"a.run: corrupt {name} data: ")
    (directory / "a.run").write_bytes(compressed + b"what does not belong here")
    assert message_of(read_run, "a.run").startswith(f"a.run: corrupt {name} data: ")
    (directory / "a.run").write_bytes(compress(b""))
    assert message_of(read_run, "a.run") == f"a.run: the file has no lines of the form {RUN}"


def test_text_that_begins_like_a_compressed_file(directory):
    (directory / "a.run").write_bytes(b"BZh9 Q0 d 1 1 t\n")
    assert list(read_run("a.run").queries) == [b"BZh9"]


def test_a_byte_order_mark_is_not_part_of_a_query(directory):
    (directory / "a.run").write_bytes(b"\xef\xbb\xbf" + GOOD + b"\xef\xbb\xbf" + GOOD)
    assert list(read_run("a.run").queries) == [b"q", b"\xef\xbb\xbfq"]


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python 3.14 reads zstd")
def test_zstd_without_a_package_says_what_to_install(directory, monkeypatch):
    for module in ("zstandard", "backports.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    (directory / "a.run").write_bytes(b"\x28\xb5\x2f\xfd" + b"\0" * 20)
    assert message_of(read_run, "a.run") == (
        "a.run: the file is compressed with zstd: install the package zstandard to read it"
    )


@pytest.mark.parametrize("reader", ZSTD_READERS)
def test_a_zstd_bomb_does_not_fill_memory(directory, reader, monkeypatch):
    """64 MB of newlines, compressed to a few KB, are read in a small buffer, and about as fast as from gzip."""
    only_reader(reader, monkeypatch)
    newlines = b"\n" * (1 << 26)
    (directory / "a.gz").write_bytes(gzip.compress(newlines, 1))
    (directory / "a.zst").write_bytes(in_zstd(newlines))
    del newlines
    assert os.path.getsize("a.zst") < 1 << 14

    def taken(path):
        start, size, room = time.process_time(), 0, memoryview(bytearray(1 << 18))
        with byte_streams.ByteStream(path) as stream:
            while n := stream.read_into(room):
                size += n
        assert size == 1 << 26
        return time.process_time() - start

    assert taken("a.zst") < SLOWER * (10 * taken("a.gz") + 0.2)
    assert peak_of(lambda: taken("a.zst")) < 40 << 20


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_many_short_members(directory, compress):
    """Reading 10,000 members takes linear time: the remaining bytes are not copied for each. Padding may be long."""
    empty = (compress(b"") + b"\0" * 5) * 10_000 + b"\0" * 3_000_000
    (directory / "a").write_bytes(compress(GOOD) + empty + compress(b"q\n"))
    start = time.process_time()
    assert message_of(read_run, "a").startswith("a:2: a line of a run has 6 fields")
    assert time.process_time() - start < 2 * SLOWER
