"""The parser of TREC files: the rows do not depend on how the bytes are divided into reads."""

from __future__ import annotations

import io
import locale
import random
import struct
import sys
from fractions import Fraction
from math import isinf

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tieaware.errors import InputError
from tieaware.inputs import Reading, read_qrels, read_run
from tieaware.inputs.runs import streamed
from tieaware.inputs.runs.streamed import RunFile
from tieaware.inputs.trec import reader as trec
from tieaware.kernels import _trec
from tieaware.lists.query_lists import NotContiguous

BLANKS = b" \t\r\v\f"


def run_of(content: bytes, **options):
    return read_run(io.BytesIO(content), **options)


def rows_of(run):
    """Return the rows (query, document, score) of a Run."""
    queries, documents = list(run.queries), list(run.documents)
    return [
        (queries[q], documents[row], float(run.scores[row]))
        for q in range(len(run))
        for row in range(run.offsets[q], run.offsets[q + 1])
    ]


def plain_rows(content: bytes):
    """Read rows (query, document, score) in plain Python, grouped by query, in the order of the queries' first rows."""
    lists: dict[bytes, list[tuple[bytes, bytes, float]]] = {}
    for line in content.splitlines():
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            lists.setdefault(fields[0], []).append((fields[0], fields[2], float(fields[4])))
    return [row for rows in lists.values() for row in rows]


def bits(value: float) -> bytes:
    return struct.pack("<d", value)


# ---- lines ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"q Q0 d 1 2.5 t\n",
        b"q Q0 d 1 2.5 t",
        b"q\tQ0\td\t1\t2.5\tt\n",
        b"  q \t Q0   d\t\t1 \v 2.5 \f t  \n",
        b"q Q0 d 1 2.5 t\r\n",
        b"\n\r\n \t\nq Q0 d 1 2.5 t\n\n\n",
        b"# q Q0 e 1 1 t\nq Q0 d 1 2.5 t\n  #\n#\n",
        b"# q Q0 e 1 1 t\rq Q0 d 1 2.5 t\r\r\r\n#",
        b"q Q0 d 1 2.5 t and more columns 1 2 3\n",
        b"q Q0 d -1.5e3 2.5 t",
        # Words after the tag are ignored, as in trec_eval, unless they are a second row.
        b"q Q0 d 1 2.5 t of 6 Q0 words 2 1",
        b"q Q0 d 1 2.5 t q Q0 e 2 x t",
        b"q Q0 d 1 2.5 t q Q1 e 2 1 t",
        b"q Q0 d 1 2.5 t q Q0 e 2 1",
    ],
)
def test_a_line_may_be_written_in_many_ways(content):
    run = run_of(content)
    assert rows_of(run) == [(b"q", b"d", 2.5)]
    assert (run.name, run.tag) == ("run", "t")


def test_only_a_hash_at_the_start_of_a_line_begins_a_comment():
    run = run_of(b"q Q0 #d 1 2 t\nq Q0 e#f 1 2 #t\n")
    assert list(run.documents) == [b"#d", b"e#f"]


def test_the_tag_is_that_of_the_first_line():
    assert run_of(b"#\nq Q0 a 1 2 first line\nq Q0 b 1 2 second\n").tag == "first"


def test_judgments():
    qrels = read_qrels(io.BytesIO(b"q2 0 d -1\nq1 0.5  d +2\r\nq2 0 e 2147483647\rq1 0 e -2147483648"))
    assert list(qrels.queries) == [b"q2", b"q1"]
    assert qrels.offsets.tolist() == [0, 2, 4]
    assert list(qrels.documents) == [b"d", b"e", b"d", b"e"]
    assert qrels.labels.tolist() == [-1, 2147483647, 2, -2147483648]
    assert qrels.labels.dtype == np.int32


def test_a_query_that_is_a_prefix_of_another_is_different():
    run = run_of(b"a Q0 1 1 1 t\naa Q0 2 1 1 t\na\0 Q0 3 1 1 t\n" + b"q" * 40 + b" Q0 1 1 1 t\n")
    assert list(run.queries) == [b"a", b"aa", b"a\0", b"q" * 40]


identifiers = st.binary(min_size=1, max_size=24).map(
    lambda data: bytes(byte for byte in data if byte not in b" \t\n\r\v\f") or b"x"
)
blanks = st.lists(st.sampled_from(BLANKS.replace(b"\r", b"")), min_size=1, max_size=3).map(bytes)


@st.composite
def run_lines(draw):
    lines = []
    for number in range(draw(st.integers(1, 30))):
        query = draw(st.sampled_from([b"q1", b"q2", b"\xff\x00", b"longer than usual".replace(b" ", b"_")]))
        document = draw(identifiers) + b"-%d" % number
        score = repr(draw(st.floats(allow_nan=False))).encode()
        rank = draw(st.sampled_from([b"1", b"-2", b"+0.5", b".", b"12th"]))
        fields = [query, draw(identifiers), document, rank, score, b"t" + draw(identifiers)]
        line = draw(st.sampled_from([b"", b" ", b"\t\t"]))
        for field in fields[:-1]:
            line += field + draw(blanks)
        lines.append(line + fields[-1] + draw(st.sampled_from([b"", b"\r", b" more fields", b"  "])))
        if draw(st.booleans()):
            lines.append(draw(st.sampled_from([b"", b"  ", b"# comment", b"\r"])))
    ends = st.sampled_from([b"\n", b"\r", b"\r\n"])
    return b"".join(line + draw(ends) for line in lines[:-1]) + lines[-1] + draw(st.sampled_from([b"", b"\n", b"\r"]))


@settings(deadline=None, max_examples=80)
@given(run_lines(), st.integers(1, 200))
def test_any_bytes_and_any_blocks_are_read_as_plain_python_reads_them(content, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trec, "BUFFER", block)
        assert rows_of(run_of(content)) == plain_rows(content)


LINES = [
    b"# c", b"q1 Q0 d1 1 0.30000000000000004 t", b"", b"q1 Q0 d2 2 1e-300 t", b"q2 Q0 d1 1 7 a tag of words",
    b"q2 Q0 d3 1 7",
]  # fmt: skip


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_each_end_of_a_line_counts_once_wherever_blocks_end(end, monkeypatch):
    """The rows and the line of an error do not depend on the ends of lines, nor on where a block ends."""
    good, bad = end.join(LINES[:-1]), end.join(LINES)
    expected = [(b"q1", b"d1", 0.30000000000000004), (b"q1", b"d2", 1e-300), (b"q2", b"d1", 7.0)]
    for size in range(1, len(bad) + 1):
        monkeypatch.setattr(trec, "BUFFER", size)
        assert rows_of(run_of(good)) == rows_of(run_of(good + end)) == expected
        with pytest.raises(InputError, match=r"^<file>:6: a line of a run has 6 fields, .*, but this line has 5$"):
            run_of(bad)


@pytest.mark.parametrize("end", [b"\r", b"\r\n"])
def test_long_texts_of_any_line_end(end):
    """Steps of the parser may end between a carriage return and a newline."""
    lines = [b"q%d Q0 d%d 1 %d %s" % (i // 99, i, i, b"t" * (i % 70)) if i % 5 else b"" for i in range(1, 20_000)]
    lines = [line + b"t" if line.endswith(b" ") else line for line in lines]
    expected = rows_of(run_of(b"\n".join(lines)))
    assert rows_of(run_of(end.join(lines))) == expected
    assert len(expected) == sum(map(bool, lines))
    with pytest.raises(InputError, match=rf"^<file>:{len(lines) + 1}: "):
        run_of(end.join([*lines, b"x"]))


# ---- numbers --------------------------------------------------------------------------------------


def scores_of(texts):
    content = b"".join(b"q Q0 d%d 1 %s t\n" % (i, text.encode()) for i, text in enumerate(texts))
    return run_of(content).scores.tolist()


def rounded(text):
    """Return whether float64 does not represent a number, which could create a tie."""
    mantissa, number = text.lower().partition("e")[0].strip("+-0."), abs(float(text))
    if number == 0 or isinf(number):
        return any(digit in mantissa for digit in "123456789")
    whole, _, decimals = text.lstrip("+-0").partition(".")
    return number >= 2**53 and whole.isdigit() and decimals.strip("0") == "" and int(whole) != int(number)


def check_numbers(texts):
    for text in filter(rounded, texts):
        message = r":1: the score, field 5, must be a number, not .*, which float64 cannot represent$"
        with pytest.raises(InputError, match=message):
            scores_of([text])
    texts = [text for text in texts if not rounded(text)]
    for text, score in zip(texts, scores_of(texts) if texts else [], strict=True):
        assert bits(score) == bits(float(text)), text


NUMBERS = """
9007199254740993. 9007199254740993.0 -9007199254740993.00 9007199254740993e0 9007199254740993.5 12345678901234567890.0
12345678901234567890.5 1e400 1e401 -1e400 1e-400 1e-401 0.0e-400 000e400
0 -0 +0 0.0 -0.0 00 007 1 -1 +3 .5 5. -.5 1e5 1E5 1e+5 1e-5 1.5e308 1.8e308 -1e999 1e-999
4.9e-324 2.4e-324 2.5e-324 2.2250738585072011e-308 2.2250738585072014e-308
1.7976931348623157e308 1.7976931348623159e308 9007199254740993 9007199254740992.5
9007199254740993.0000000000000000000000000001 18446744073709551615 9999999999999999999
99999999999999999999 0.1 0.30000000000000004 123456789012345678 1e22 1e23 -1e-22 8.5e-27
1.2345678901234567e-10 0e999999999999 0e-999999999999 1e99999999 1e-99999999 1e0000000000001
00000000000000000000000000000001.5 0.00000000000000000000000000000000000000015
1.0000000000000000000000000 inf -inf +inf INF Infinity -iNfInItY
"""


@pytest.mark.parametrize("text", NUMBERS.split())
def test_numbers(text):
    check_numbers([text])


def test_long_numbers():
    """The rounding is right for numbers of thousands of digits, even if the last digit decides it."""
    check_numbers([
        "1" * 400, "0." + "0" * 3000 + "1", "0." + "0" * 300 + "1" * 3000, "1" + "0" * 308, "1" * 4000,
        "9007199254740993" + "0" * 20 + "e-20", "9007199254740993." + "0" * 5000 + "1",
        "9007199254740992.5" + "0" * 99,
    ])  # fmt: skip


@settings(deadline=None, max_examples=100)
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=50))
def test_floats_are_read_back_from_their_repr(values):
    assert [bits(score) for score in scores_of(map(repr, values))] == [bits(value) for value in values]


digits = st.text("0123456789", max_size=25)
decimals = st.builds(
    lambda sign, whole, point, part, exponent: (
        f"{sign}{whole}{point + part if point or not whole else ''}{exponent}"
    ),
    st.sampled_from(["", "", "-", "+"]),
    digits,
    st.sampled_from(["", "."]),
    digits,
    st.one_of(st.just(""), st.builds("{}{}".format, st.sampled_from("eE"), st.integers(-400, 400))),
).filter(lambda text: any(c.isdigit() for c in text.lower().split("e")[0]))


@settings(deadline=None, max_examples=150)
@given(st.lists(decimals, min_size=1, max_size=30))
@example(["5e-324", "12345678901234567e-17", "1844674407370955161.5"])
def test_decimals_are_rounded_as_python_rounds_them(texts):
    check_numbers(texts)


def test_halfway_cases():
    """The rounding is right for decimals at or next to the midpoint of two adjacent doubles."""
    random_ = random.Random(7)
    texts = []
    for _ in range(3000):
        mantissa = random_.randrange(1 << 52, 1 << 53)
        shift = random_.randrange(1, 12)
        middle = Fraction(2 * mantissa + 1, 2 << shift)
        scaled = middle * 10 ** (shift + 1)
        for off in (-1, 0, 1):
            text = str(int(scaled) + off)
            texts.append(f"{text[: -(shift + 1)]}.{text[-(shift + 1) :]}")
        # Seventeen to nineteen digits, the range of the exact division.
        texts.append(f"0.{random_.randrange(10**16, 10**19)}")
        texts.append(
            f"{random_.randrange(1, 10)}.{random_.randrange(10**16, 10**18)}e-{random_.randrange(0, 12)}"
        )
    check_numbers(texts)


def test_decimals_do_not_depend_on_the_locale():
    before = locale.setlocale(locale.LC_NUMERIC)
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8"):
        try:
            locale.setlocale(locale.LC_NUMERIC, name)
        except locale.Error:
            continue
        try:
            check_numbers(["1.5", "1.5e300", "0." + "1" * 40])
        finally:
            locale.setlocale(locale.LC_NUMERIC, before)


def test_float32_scores_tie_where_doubles_do_not():
    content = (
        b"q Q0 a 1 0.10000000000000001 t\nq Q0 b 1 0.1000000001 t\nq Q0 c 1 1e300 t\nq Q0 d 1 1e-300 t\n"
    )
    run = run_of(content, score_dtype="float32")
    assert run.scores.dtype == np.float32
    assert run.scores.tolist() == [np.float32(0.1), np.float32(0.1), np.inf, 0.0]
    assert len(set(run_of(content).scores.tolist())) == 4


# ---- streams --------------------------------------------------------------------------------------


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(trec, "BUFFER", 100)
    monkeypatch.setattr(streamed, "CHUNK_ROWS", 5)


def lines_of(n_queries, n_documents):
    return b"".join(
        b"query%d Q0 doc%d 1 %d.5 t\n" % (q, d, d)
        for q in range(n_queries)
        for d in range(n_documents + q % 7)
    )


@pytest.mark.usefixtures("small_chunks")
def test_a_stream_stops_at_a_query_that_reappears(tmp_path):
    path = tmp_path / "a.run"
    path.write_bytes(lines_of(40, 3) + b"query3 Q0 again 1 1 t\n")
    with pytest.raises(NotContiguous):
        list(RunFile(path).contiguous_chunks())
    assert len(read_run(path)) == 40


@pytest.mark.usefixtures("small_chunks")
def test_a_file_object_is_one_chunk():
    content = lines_of(40, 3) + b"query3 Q0 again 1 1 t\n"
    (run,) = RunFile(io.BytesIO(content)).contiguous_chunks()
    assert rows_of(run) == plain_rows(content)


@pytest.mark.usefixtures("small_chunks")
def test_a_stream_warns_once_about_all_duplicates(tmp_path):
    path = tmp_path / "a.run"
    content = lines_of(40, 3)
    path.write_bytes(content + content.replace(b"query", b"other").replace(b"doc1 ", b"doc0 "))
    with pytest.warns(UserWarning, match="40 duplicate rows are ignored") as caught:
        chunks = list(RunFile(path, Reading(duplicates="first")).contiguous_chunks())
    assert len(caught) == 1
    first_line = content.count(b"\n") + 2
    assert str(caught[0].message) == (
        f"{path}: 40 duplicate rows are ignored; "
        f"{path}:{first_line}: document 'doc0' of query 'other0' appears again, "
        f"first at {path}:{first_line - 1}"
    )
    assert sum(len(chunk.scores) for chunk in chunks) == 2 * content.count(b"\n") - 40
    assert len(chunks) > 20


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=30), st.integers(1, 300), st.integers(1, 20))
def test_a_stream_yields_the_rows_of_the_whole_file(tmp_path_factory, sizes, block, rows):
    content = b"".join(
        b"q%d\tQ0\td%d\t1\t%d\tt\n" % (q, d, d) + b"\n" * (d % 3)
        for q, n in enumerate(sizes)
        for d in range(n)
    )
    path = tmp_path_factory.getbasetemp() / "stream.run"
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trec, "BUFFER", block)
        patch.setattr(streamed, "CHUNK_ROWS", rows)
        chunks = list(RunFile(path).contiguous_chunks())
    assert [row for chunk in chunks for row in rows_of(chunk)] == plain_rows(content)


def test_chunks_do_not_change_after_they_were_returned():
    """Columns taken from the parser do not change while it parses further lines."""
    parser = _trec.Parser()

    def feed(text):
        parser.room(len(text))[:] = text
        assert parser.parse(len(text))

    feed(b"a Q0 d 1 1 t\nb Q0 e 1 2 t\nb Q0 f")
    taken = parser.take(1)
    first = [column.tolist() for column in taken]
    feed(b" 1 3 t\nc Q0 g 1 4 t\n")
    rest = parser.take(parser.n_sections)
    feed(b"c Q0 h 1 5 t\n" * 100)
    assert [column.tolist() for column in taken] == first
    assert [rest[i].tobytes() for i in (0, 3)] == [b"bc", b"efg"]
    assert [rest[i].tolist() for i in (5, 6, 7)] == [[2, 3, 4], [0], [2]]


def test_wrong_calls_of_the_parser_are_errors():
    parser = _trec.Parser()
    for error, call, number in (
        (OverflowError, parser.room, 1 << 31), (OverflowError, parser.room, 0),
        (ValueError, parser.parse, 10), (ValueError, parser.take, 1),
    ):  # fmt: skip
        with pytest.raises(error):
            call(number)
    assert parser.parse(0, True)
    assert [len(column) for column in parser.take(0)] == [0, 1, 1, 0, 1, 0, 0, 0]


def test_standard_input(monkeypatch):
    class Input:
        buffer = io.BytesIO(b"q Q0 d 1 2.5 t\n")

    monkeypatch.setattr(sys, "stdin", Input)
    run = read_run("-")
    assert (run.name, rows_of(run)) == ("stdin", [(b"q", b"d", 2.5)])
